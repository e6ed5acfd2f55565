//! The exact sign-flip test of paired differences.
//!
//! If the sides are exchangeable, each difference keeps its magnitude and has either sign with probability 1/2, for any distribution (Fisher 1935,
//! section 21). The distribution of the sum is computed completely, on a grid; nothing is drawn at random.

/// Returns the one-sided p-value for "each difference could equally well have the other sign", against larger differences: P(sum of the
/// differences with random signs >= sum of `differences`) (Fisher 1935, section 21).
///
/// Differences are integers in any order, such as multiples of a grid. Memory grows with the sum of their magnitudes, time also with their number.
/// Without differences, or if all are zero, p is 1.
pub fn sign_flip_upper_tail(differences: &[i64]) -> f64 {
    let span: i64 = differences.iter().map(|d| d.abs()).sum();
    let observed: i64 = differences.iter().sum();
    let chances = chances_of_sums(differences.iter().map(|d| d.unsigned_abs() as usize));
    // The sum is 2 plus - span, with plus the sum of positive magnitudes, and must reach `observed`; both have the parity of `span`.
    let least = i64::midpoint(observed, span) as usize;
    chances[least..].iter().rev().sum::<f64>().min(1.0)
}

/// Returns P(the sizes with a positive sign add up to i) for i = 0, 1, ..., their sum, if each is positive with probability 1/2.
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
