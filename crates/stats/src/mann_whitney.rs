//! Mann and Whitney's test of two independent groups (Wilcoxon 1945; Mann and Whitney 1947).

use super::normal;
use super::ranks::Ranks;
use super::u_distribution;

crate::words! {
    /// Method for the p-value of a [`MannWhitney`] test
    MannWhitneyMethod {
        Automatic = "auto": "Exact for up to 20 values without ties, else asymptotic-cc (NBenchmark, later)",
        /// Without ties, up to 10,000 pairs (with ties see [`MannWhitney::permutation_p`]).
        Exact = "exact": "From all orders of the values; without ties",
        Asymptotic = "asymptotic": "Normal, corrected for ties (NBenchmark, at first)",
        /// Asymptotic with continuity correction, as `SciPy`'s asymptotic method.
        AsymptoticCorrected = "asymptotic-cc": "The same with continuity correction (serializers)",
    }
}

impl MannWhitneyMethod {
    /// Returns the amount by which U is moved toward half of the pairs before an asymptotic p.
    pub(super) fn continuity_correction(self) -> f64 {
        if self == Self::Asymptotic { 0.0 } else { 0.5 }
    }
}

/// Mann and Whitney's test of two independent groups, also known as Wilcoxon's rank-sum test (Wilcoxon 1945; Mann and Whitney 1947).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    first: usize,
    second: usize,
    /// U of the first group: the number of pairs in which its value is the larger one; ties count half
    pub u_first: f64,
    /// Sum of t^3 - t over groups of t tied values
    ties: f64,
}

impl MannWhitney {
    /// Ranks the two groups, which may have any order and length: U1 = R1 - n1 (n1 + 1) / 2, with R1 the sum of the mid-ranks of `first`. N log N
    /// steps. `None` for an empty group or a value that is not a number.
    pub fn from_groups(first: &[f64], second: &[f64]) -> Option<Self> {
        let ranks = Ranks::compute(&[first, second])?;
        let n = first.len() as f64;
        Some(Self {
            first: first.len(),
            second: second.len(),
            u_first: ranks.sums[0] - n * (n + 1.0) / 2.0,
            ties: ranks.ties,
        })
    }

    /// Returns U of the second group, n1 n2 - U1.
    pub fn u_second(&self) -> f64 {
        self.pairs() - self.u_first
    }

    /// Returns the smaller U.
    pub fn u(&self) -> f64 {
        self.u_first.min(self.u_second())
    }

    /// Reports whether no two values are equal.
    pub fn is_without_ties(&self) -> bool {
        self.ties == 0.0
    }

    /// Returns the size of the smaller group.
    pub fn smaller_group(&self) -> usize {
        self.first.min(self.second)
    }

    /// Returns Cliff's delta, (U1 - U2) / (n1 n2): positive where the first group's values are larger.
    pub fn delta(&self) -> f64 {
        (self.u_first - self.u_second()) / self.pairs()
    }

    fn pairs(&self) -> f64 {
        self.first as f64 * self.second as f64
    }

    /// Returns the two-sided p-value for "both groups have the same distribution" by `method`.
    ///
    /// Exact: twice the smaller tail, at most 1; `None` with ties or too many pairs. Asymptotic: 2 P(Z >= z), z = (|U - mean| - correction) / sd,
    /// `mean = n1 n2 / 2`, `sd^2 = n1 n2 / 12 ((N + 1) - ties / (N (N - 1)))`, correction 0 or 1/2. If all values are equal, p is 1.
    pub fn p_value(&self, method: MannWhitneyMethod) -> Option<f64> {
        match method {
            exact if self.is_exact_with(exact) => self.exact(),
            asymptotic => Some(self.asymptotic(asymptotic.continuity_correction())),
        }
    }

    /// Reports whether `method` computes an exact p for these groups, if it computes one at all.
    pub fn is_exact_with(&self, method: MannWhitneyMethod) -> bool {
        match method {
            MannWhitneyMethod::Exact => true,
            MannWhitneyMethod::Automatic => {
                self.first + self.second <= 20 && self.is_without_ties()
            }
            MannWhitneyMethod::Asymptotic | MannWhitneyMethod::AsymptoticCorrected => false,
        }
    }

    fn exact(&self) -> Option<f64> {
        if !self.is_without_ties() {
            return None;
        }
        let cumulated = u_distribution::distribution(self.first, self.second)?;
        Some((2.0 * cumulated[self.u() as usize]).min(1.0))
    }

    /// Returns the variance of U if both groups have the same distribution, corrected for ties; 0 if all values are equal.
    pub(super) fn variance(&self) -> f64 {
        let all = (self.first + self.second) as f64;
        let tied = self.ties / (all * (all - 1.0));
        let variance = self.pairs() / 12.0 * (all + 1.0 - tied);
        // If all values are equal, the two terms cancel except for rounding.
        if variance <= self.pairs() * all * 1e-14 {
            0.0
        } else {
            variance
        }
    }

    fn asymptotic(&self, correction: f64) -> f64 {
        let variance = self.variance();
        if variance == 0.0 {
            return 1.0;
        }
        let distance = (self.u_first - self.pairs() / 2.0).abs() - correction;
        (2.0 * normal::upper_tail(distance / variance.sqrt())).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::MannWhitneyMethod::{Asymptotic, AsymptoticCorrected, Automatic, Exact};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_constants_give_one_and_empty_groups_no_test() {
        let same = MannWhitney::from_groups(&[5.0; 3], &[5.0; 40]).unwrap();
        for method in [Asymptotic, AsymptoticCorrected, Automatic] {
            assert_eq!(same.p_value(method), Some(1.0));
        }
        assert_eq!(same.p_value(Exact), None);
        assert_eq!(MannWhitney::from_groups(&[], &[1.0]), None);
        assert_eq!(MannWhitney::from_groups(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn p_is_exact_up_to_twenty_values_of_both_groups_together() {
        let first: Vec<f64> = (0..10).map(|i| f64::from(2 * i + 1)).collect();
        let mut second: Vec<f64> = first.iter().map(|value| value + 3.5).collect();
        let p = |second: &[f64]| {
            MannWhitney::from_groups(&first, second)
                .unwrap()
                .p_value(Automatic)
                .unwrap()
        };
        // scipy.stats.mannwhitneyu(first, second, method="exact"); the asymptotic one is 0.2899.
        assert!((p(&second) - 0.314_999_242_243_824_4).abs() < 1e-12);
        // One more value switches to method="asymptotic"; the exact p is 0.1971.
        second.push(50.0);
        assert!(
            (p(&second) - 0.192_666_695_998_871_98).abs() < 1e-12,
            "{}",
            p(&second)
        );
    }

    #[test]
    fn single_values_are_never_significant() {
        let test = MannWhitney::from_groups(&[1.0], &[2.0]).unwrap();
        assert_eq!(test.p_value(Exact), Some(1.0));
        assert_eq!(test.p_value(AsymptoticCorrected), Some(1.0));
        assert_eq!(test.smaller_group(), 1);
    }

    proptest! {
        #[test]
        fn exchanging_the_groups_exchanges_the_us_and_leaves_p(
            a in prop::collection::vec(0_u8..20, 1..12), b in prop::collection::vec(0_u8..20, 1..12),
        ) {
            let floats = |x: &[u8]| x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let (a, b) = (floats(&a), floats(&b));
            let (ab, ba) = (MannWhitney::from_groups(&a, &b).unwrap(), MannWhitney::from_groups(&b, &a).unwrap());
            prop_assert_eq!(ab.u_first, ba.u_second());
            prop_assert_eq!(ab.delta(), -ba.delta());
            for method in [Exact, Asymptotic, AsymptoticCorrected, Automatic] {
                prop_assert_eq!(ab.p_value(method), ba.p_value(method));
            }
        }

        #[test]
        fn u_counts_pairs(a in prop::collection::vec(0_u8..9, 1..9), b in prop::collection::vec(0_u8..9, 1..9)) {
            let floats = |x: &[u8]| x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let won = |x: u8, y: u8| f64::from(u8::from(x > y)) + f64::from(u8::from(x == y)) / 2.0;
            let counted: f64 = a.iter().flat_map(|x| b.iter().map(move |y| won(*x, *y))).sum();
            prop_assert_eq!(MannWhitney::from_groups(&floats(&a), &floats(&b)).unwrap().u_first, counted);
        }
    }
}
