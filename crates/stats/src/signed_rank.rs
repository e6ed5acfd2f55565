//! Wilcoxon's signed-rank test and the interval that is its inversion (Wilcoxon 1945; Hodges and Lehmann 1963).
//!
//! If differences are symmetric about a shift, the number of their Walsh averages above it has a distribution that does not depend on theirs: the
//! test is exact for any number of them. Bounds are Walsh averages (Hollander, Wolfe and Chicken 2014, sections 3.1 to 3.3).

use super::sign_flip::chances_of_sums;

/// Up to so many differences the distribution is computed whole; beyond, the normal one stands in, whose tails are longer.
const MOST_EXACT: usize = 200;

/// Wilcoxon's signed-rank test of paired differences and its inversion into bounds, prepared for many questions (Wilcoxon 1945; Hodges and Lehmann
/// 1963).
///
/// p-values are exact up to 200 differences; beyond, those of the normal distribution with continuity correction stand in.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRank {
    /// The means of all pairs of differences, each with itself too; ascending.
    averages: Vec<f64>,
    /// tails[c]: P(at least c averages above the shift).
    tails: Vec<f64>,
}

impl SignedRank {
    /// Prepares the test of n finite `differences`, in any order and of one unit; n^2 log n steps and n^2 / 2 numbers of memory. `None` without any
    /// or with one that is not finite.
    pub fn new(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() || !differences.iter().all(|x| x.is_finite()) {
            return None;
        }
        let mut averages: Vec<f64> = differences
            .iter()
            .enumerate()
            .flat_map(|(i, x)| differences[i..].iter().map(move |y| f64::midpoint(*x, *y)))
            .collect();
        averages.sort_by(f64::total_cmp);
        Some(Self {
            averages,
            tails: tails(differences.len()),
        })
    }

    /// Returns the Hodges-Lehmann estimate of the shift, in the unit of the differences: the median of the Walsh averages, which are the means of all
    /// pairs.
    pub fn estimate(&self) -> f64 {
        let middle = self.averages.len() / 2;
        if self.averages.len() % 2 == 1 {
            self.averages[middle]
        } else {
            f64::midpoint(self.averages[middle - 1], self.averages[middle])
        }
    }

    /// The one-sided p of "the shift lies above `shift`": P(as many averages above it as there are, or more | the differences are symmetric about
    /// `shift`).
    pub fn p_above(&self, shift: f64) -> f64 {
        let above = self.averages.len() - self.averages.partition_point(|x| *x <= shift);
        self.tails[above]
    }

    /// The one-sided p of "the shift lies below `shift`": P(as many averages below it as there are, or more | the differences are symmetric about
    /// `shift`).
    pub fn p_below(&self, shift: f64) -> f64 {
        self.tails[self.averages.partition_point(|x| *x < shift)]
    }

    /// The one-sided lower bound of the shift at `level`, its probability of error: it lies above a shift exactly if `p_above` of that is at most
    /// `level`. Minus infinity where the differences are too few.
    pub fn lower(&self, level: f64) -> f64 {
        match self.count(level) {
            Some(count) => self.averages[self.averages.len() - count],
            None => f64::NEG_INFINITY,
        }
    }

    /// The one-sided upper bound of the shift at `level`: it lies below a shift exactly if `p_below` of that is at most `level`. Infinity where the
    /// differences are too few.
    pub fn upper(&self, level: f64) -> f64 {
        match self.count(level) {
            Some(count) => self.averages[count - 1],
            None => f64::INFINITY,
        }
    }

    /// The smallest number of averages above that is rejected at `level`.
    fn count(&self, level: f64) -> Option<usize> {
        let count = self.tails.partition_point(|tail| *tail > level);
        (count >= 1 && count < self.tails.len()).then_some(count)
    }
}

/// P(T >= c) for c = 0, 1, ..., n (n + 1) / 2.
fn tails(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    if n > MOST_EXACT {
        let (count, n) = (most, n as f64);
        let (mean, sd) = (
            n * (n + 1.0) / 4.0,
            (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt(),
        );
        return (0..=count)
            .map(|c| super::normal::upper_tail((c as f64 - 0.5 - mean) / sd))
            .collect();
    }
    let mut chances = chances_of_sums(1..=n);
    let mut tail: f64 = 0.0;
    for chance in chances.iter_mut().rev() {
        tail += *chance;
        *chance = tail.min(1.0);
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tails_agree_with_scipy() {
        // wilcoxon([1.2, -0.3, 2.5, 0.8, 3.1, -0.9, 1.7, 2.2], alternative='greater', method='exact').pvalue
        let x = [1.2, -0.3, 2.5, 0.8, 3.1, -0.9, 1.7, 2.2];
        let test = SignedRank::new(&x).expect("differences");
        assert!((test.p_above(0.0) - 0.027_343_75).abs() < 1e-12);
        assert_eq!(
            SignedRank::new(&[1.0; 10]).expect("ten").p_above(0.0),
            1.0 / 1024.0
        );
    }

    #[test]
    fn an_average_at_the_shift_lies_neither_above_nor_below() {
        // Averages 1, 1.5, 2, 2, 2.5, 3: five lie on the other side of the last. Of the eight signs of ranks 1, 2, 3 two have a sum of 5 or more.
        let test = SignedRank::new(&[1.0, 2.0, 3.0]).expect("three");
        assert_eq!((test.p_above(1.0), test.p_below(3.0)), (0.25, 0.25));
        assert_eq!((test.p_above(0.9), test.p_below(3.1)), (0.125, 0.125));
    }

    #[test]
    fn too_few_differences_have_no_bounds() {
        let test = SignedRank::new(&[1.0, 2.0, 3.0]).expect("three");
        assert_eq!(test.lower(0.1), f64::NEG_INFINITY);
        assert_eq!(test.lower(0.125), 1.0);
        assert_eq!(test.upper(0.125), 3.0);
        assert_eq!(SignedRank::new(&[]), None);
        assert_eq!(SignedRank::new(&[f64::NAN]), None);
    }

    #[test]
    fn the_normal_tails_join_the_exact_ones() {
        let exact = tails(MOST_EXACT);
        let normal = tails(MOST_EXACT + 1);
        let at = |tails: &[f64], share: f64| tails[(tails.len() as f64 * share) as usize];
        for share in [0.5, 0.55, 0.6] {
            let ratio = at(&normal, share) / at(&exact, share);
            assert!((0.8..1.25).contains(&ratio), "{share}: {ratio}");
        }
    }

    proptest! {
        #[test]
        fn bounds_and_p_values_are_one_inversion(
            x in prop::collection::vec(-5.0..5.0_f64, 1..25), shift in -3.0..3.0_f64, level in 1e-6..0.4_f64,
        ) {
            let test = SignedRank::new(&x).expect("differences");
            prop_assert_eq!(test.lower(level) > shift, test.p_above(shift) <= level);
            prop_assert_eq!(test.upper(level) < shift, test.p_below(shift) <= level);
        }

        #[test]
        fn exchanging_the_sides_mirrors_everything(x in prop::collection::vec(-5.0..5.0_f64, 1..25)) {
            let test = SignedRank::new(&x).expect("differences");
            let mirrored = SignedRank::new(&x.iter().map(|x| -x).collect::<Vec<_>>()).expect("differences");
            prop_assert_eq!(test.lower(0.05), -mirrored.upper(0.05));
            prop_assert_eq!(test.p_above(0.3), mirrored.p_below(-0.3));
            prop_assert!((test.estimate() + mirrored.estimate()).abs() < 1e-12);
        }
    }
}
