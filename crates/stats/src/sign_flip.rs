//! The exact sign-flip test: were these differences as likely to come out with the other sign?
//!
//! Under exchange of the sides each difference keeps its size and takes either sign with probability 1/2, whatever its
//! distribution (Fisher 1935, section 21). The distribution of the sum is computed whole, on a grid: nothing is drawn.

/// The one-sided p of "these differences are as likely to come out with the other sign", against larger ones: P(sum of the flipped differences >= sum
/// of `differences`) (Fisher 1935, section 21).
///
/// Differences are whole numbers in any order, such as multiples of a grid. Time and memory grow with the sum of their sizes, time with their number
/// besides. Without differences, and for zeros alone, p is 1.
pub fn sign_flip_upper_tail(differences: &[i64]) -> f64 {
    let span: i64 = differences.iter().map(|d| d.abs()).sum();
    let observed: i64 = differences.iter().sum();
    let chances = chances_of_sums(differences.iter().map(|d| d.unsigned_abs() as usize));
    // Sum = 2 plus - span >= observed; both have the parity of span.
    let least = i64::midpoint(observed, span) as usize;
    chances[least..].iter().rev().sum::<f64>().min(1.0)
}

/// P(the sizes that come out with a plus add up to i) for i = 0, 1, ..., their sum, each plus or not with probability 1/2.
pub(super) fn chances_of_sums(sizes: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
    let mut chances = vec![0.0_f64; sizes.clone().sum::<usize>() + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for size in sizes {
        reached += size;
        for i in (0..=reached).rev() {
            let plus = if i >= size { chances[i - size] } else { 0.0 };
            let minus = if i + size <= reached { chances[i] } else { 0.0 };
            chances[i] = 0.5 * (plus + minus);
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_enumeration(x: &[i64]) -> f64 {
        let observed: i64 = x.iter().sum();
        let all = 1_u32 << x.len();
        let hits = (0..all).filter(|signs| {
            let flipped = x
                .iter()
                .enumerate()
                .map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d });
            flipped.sum::<i64>() >= observed
        });
        hits.count() as f64 / f64::from(all)
    }

    #[test]
    fn ten_times_the_same_sign_has_one_chance_in_1024() {
        assert_eq!(sign_flip_upper_tail(&[3; 10]), 1.0 / 1024.0);
        assert_eq!(sign_flip_upper_tail(&[-3; 10]), 1.0);
        assert_eq!(sign_flip_upper_tail(&[]), 1.0);
        assert_eq!(sign_flip_upper_tail(&[0, 0]), 1.0);
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_all_sign_patterns(x in prop::collection::vec(-9i64..9, 0..10)) {
            prop_assert!((sign_flip_upper_tail(&x) - by_enumeration(&x)).abs() < 1e-12);
        }
    }
}
