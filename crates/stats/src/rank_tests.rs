//! Rank tests of independent groups: Mann and Whitney's of two (Wilcoxon 1945; Mann and Whitney 1947), Kruskal and Wallis's of several (1952).
//!
//! Tied values share the mean of their ranks. With few values, distributions are exact: without ties by Mann and Whitney's recurrence, with ties over
//! all assignments of the group labels.

use super::{chi_squared, normal};

/// The ranks of several pooled groups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks {
    /// For each group, the sum of its ranks.
    pub sums: Vec<f64>,
    /// Number of all values.
    pub count: usize,
    /// Sum of t^3 - t over all groups of tied values, where t is the number of values in a group.
    pub ties: f64,
}

impl Ranks {
    /// Ranks the values of all `groups` together. Returns `None` if a group is empty or a value is not a number.
    pub fn compute(groups: &[&[f64]]) -> Option<Self> {
        if groups.iter().any(|group| group.is_empty()) {
            return None;
        }
        let mut pooled: Vec<(f64, usize)> = groups
            .iter()
            .enumerate()
            .flat_map(|(label, group)| group.iter().map(move |value| (*value, label)))
            .collect();
        if pooled.iter().any(|(value, _)| value.is_nan()) {
            return None;
        }
        pooled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranks = Self {
            sums: vec![0.0; groups.len()],
            count: pooled.len(),
            ties: 0.0,
        };
        let mut before = 0;
        // Compare with `==` rather than the total order, because 0 and -0 are tied.
        for tied in pooled.chunk_by(|a, b| a.0 == b.0) {
            let rank = before as f64 + (tied.len() + 1) as f64 / 2.0;
            for (_, label) in tied {
                ranks.sums[*label] += rank;
            }
            let t = tied.len() as f64;
            ranks.ties += t * t * t - t;
            before += tied.len();
        }
        Some(ranks)
    }
}

/// The largest number of pairs of values for which the exact distribution is computed. This takes a fraction of a second.
const MOST_PAIRS: usize = 10_000;

/// Returns P(U <= u) for u = 0, 1, ..., `m` `n`, where U counts the pairs in which the value of the first group is the larger one.
///
/// The recurrence goes over groups of i and j values. The largest value belongs to the first group with probability i / (i + j), and then exceeds all
/// j values of the second group. Returns `None` if a group is empty or if there are more than 10,000 pairs.
pub(super) fn distribution(m: usize, n: usize) -> Option<Vec<f64>> {
    // The distribution is symmetric in the two groups, so the smaller one can determine the length of the table.
    let (m, n) = (m.max(n), m.min(n));
    if n == 0 || m.checked_mul(n)? > MOST_PAIRS {
        return None;
    }
    // row[j][u] is P(U = u) for i values against j.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        for j in 1..=n {
            let first = i as f64 / (i + j) as f64;
            let mut chances = vec![0.0; i * j + 1];
            for (u, chance) in row[j].iter().enumerate() {
                chances[u + j] += first * chance;
            }
            for (chance, smaller) in chances.iter_mut().zip(&row[j - 1]) {
                *chance += (1.0 - first) * smaller;
            }
            row[j] = chances;
        }
    }
    let mut sum = 0.0;
    Some(
        row[n]
            .iter()
            .map(|chance| {
                sum += chance;
                f64::min(sum, 1.0)
            })
            .collect(),
    )
}

crate::words! {
    /// Method for the p-value of a [`MannWhitney`] test.
    MannWhitneyMethod {
        Automatic = "auto": "Exact for up to 20 values without ties, else asymptotic-cc (newer NBenchmark)",
        /// Exact p-values need values without ties and at most 10,000 pairs. For values with ties, see [`MannWhitney::permutation_p`].
        Exact = "exact": "From all permutations of the values; only without ties",
        Asymptotic = "asymptotic": "Normal approximation, corrected for ties (early NBenchmark)",
        /// Asymptotic with continuity correction, as `SciPy`'s asymptotic method.
        AsymptoticCorrected = "asymptotic-cc": "The same with a continuity correction (serializer benchmarks)",
    }
}

impl MannWhitneyMethod {
    /// Returns the amount by which U is moved toward half of the pairs before the asymptotic p is computed.
    pub(super) fn continuity_correction(self) -> f64 {
        if self == Self::Asymptotic { 0.0 } else { 0.5 }
    }
}

/// Mann and Whitney's test of two independent groups, also known as Wilcoxon's rank-sum test (Wilcoxon 1945; Mann and Whitney 1947).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    first: usize,
    second: usize,
    /// U of the first group: the number of pairs in which its value is the larger one. Ties count as half.
    pub u_first: f64,
    /// Sum of t^3 - t over all groups of tied values, where t is the number of values in a group.
    ties: f64,
}

impl MannWhitney {
    /// Ranks the values of both groups together and computes U1 = R1 - n1 (n1 + 1) / 2, where R1 is the sum of the mid-ranks of `first`. This takes N
    /// log N steps. Returns `None` if a group is empty or a value is not a number.
    ///
    /// ```
    /// use perfcheck_stats::{MannWhitney, MannWhitneyMethod};
    /// let test = MannWhitney::from_groups(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).expect("two groups");
    /// assert_eq!((test.u_first, test.delta()), (9.0, 1.0));
    /// let p = test.p_value(MannWhitneyMethod::Automatic).expect("it has a p-value for all groups");
    /// assert!((p - 0.1).abs() < 1e-12); // 2 of the 20 ways to divide six values
    /// ```
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

    /// Returns Cliff's delta, (U1 - U2) / (n1 n2). It is positive if the values of the first group tend to be larger.
    pub fn delta(&self) -> f64 {
        (self.u_first - self.u_second()) / self.pairs()
    }

    fn pairs(&self) -> f64 {
        self.first as f64 * self.second as f64
    }

    /// Returns the two-sided p-value for "both groups have the same distribution" by `method`.
    ///
    /// If `method` is exact, p is twice the smaller tail, but at most 1. Returns `None` if there are ties or too many pairs. If `method` is
    /// asymptotic, p is 2 P(Z >= z) with z = (|U - mean| - correction) / sd, `mean = n1 n2 / 2` and `sd^2 = n1 n2 / 12 ((N + 1) - ties / (N (N -
    /// 1)))`. The correction is 0 or 1/2. If all values are equal, p is 1.
    pub fn p_value(&self, method: MannWhitneyMethod) -> Option<f64> {
        match method {
            exact if self.is_exact_with(exact) => self.exact(),
            asymptotic => Some(self.asymptotic(asymptotic.continuity_correction())),
        }
    }

    /// Reports whether `method` uses the exact p-value for these groups. Even then there may be no p-value, for example for
    /// [`MannWhitneyMethod::Exact`] with ties.
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
        let cumulated = distribution(self.first, self.second)?;
        Some((2.0 * cumulated[self.u() as usize]).min(1.0))
    }

    /// Returns the variance of U under the assumption that both groups have the same distribution. It is corrected for ties, and it is 0 if all
    /// values are equal.
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

/// The largest number of pairs of values for which the exact distribution with ties is computed. This takes milliseconds.
const MOST_PERMUTED_PAIRS: usize = 900;

impl MannWhitney {
    /// Returns the two-sided permutation p-value for "both groups have the same distribution", given the tied values (Mann and Whitney 1947; for ties
    /// Pratt and Gibbons 1981, section 5.3). Of all ways to divide the values into two groups of these sizes, it is the share of those whose rank sum
    /// is at least as far from its mean as the observed one. Without ties it is the exact p. Above 900 pairs it is the asymptotic p with continuity
    /// correction. Returns `None` if a group is empty or a value is not a number.
    pub fn permutation_p(first: &[f64], second: &[f64]) -> Option<f64> {
        // The two-sided p is the same for both groups; the rank sums of the smaller one need less memory and time.
        let (first, second) = if first.len() <= second.len() {
            (first, second)
        } else {
            (second, first)
        };
        let test = MannWhitney::from_groups(first, second)?;
        if first.len().checked_mul(second.len())? > MOST_PERMUTED_PAIRS {
            return test.p_value(MannWhitneyMethod::AsymptoticCorrected);
        }
        let mut pooled: Vec<f64> = first.iter().chain(second).copied().collect();
        pooled.sort_unstable_by(f64::total_cmp);
        // Twice a mid-rank is an integer.
        let mut doubled = Vec::with_capacity(pooled.len());
        for tied in pooled.chunk_by(|a, b| a == b) {
            let rank = 2 * doubled.len() + tied.len() + 1;
            doubled.extend(std::iter::repeat_n(rank, tied.len()));
        }
        let n = first.len();
        let most: usize = doubled[doubled.len() - n..].iter().sum();
        // ways[k][s] is the number of ways in which k of the values so far have the doubled rank sum s.
        let mut ways = vec![vec![0.0_f64; most + 1]; n + 1];
        ways[0][0] = 1.0;
        for (placed, rank) in doubled.iter().enumerate() {
            for k in (1..=n.min(placed + 1)).rev() {
                let (fewer, more) = ways.split_at_mut(k);
                let (from, to) = (&fewer[k - 1], &mut more[0]);
                let reached: usize = doubled[placed + 1 - k..placed].iter().sum();
                for (sum, ways) in from[..=reached].iter().enumerate() {
                    to[sum + rank] += ways;
                }
            }
        }
        // Compute the doubled rank sum that belongs to U, and its mean.
        let offset = (n * (n + 1)) as f64;
        let observed = 2.0 * test.u_first + offset;
        let mean = (n * (pooled.len() + 1)) as f64;
        let (mut extreme, mut all) = (0.0, 0.0);
        for (sum, ways) in ways[n].iter().enumerate() {
            all += ways;
            if (sum as f64 - mean).abs() >= (observed - mean).abs() {
                extreme += ways;
            }
        }
        Some((extreme / all).min(1.0))
    }
}

/// Kruskal and Wallis's test of several independent groups (Kruskal and Wallis 1952).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// Statistic H, `12 / (N (N + 1)) sum(R_i^2 / n_i) - 3 (N + 1)`, divided by `1 - ties / (N^3 - N)`.
    pub h: f64,
    /// Asymptotic p-value, P(chi-square with k - 1 degrees of freedom >= H).
    pub p: f64,
}

impl KruskalWallis {
    /// Tests whether all `groups` have the same distribution, in N log N steps. The groups may have any lengths. If all values are equal, H is 0 and
    /// p is 1. Returns `None` if there are fewer than two groups, if a group is empty, or if a value is not a number.
    pub fn test(groups: &[&[f64]]) -> Option<Self> {
        let ranks = Ranks::compute(groups)?;
        if groups.len() < 2 {
            return None;
        }
        let n = ranks.count as f64;
        let spread = 1.0 - ranks.ties / (n * n * n - n);
        if spread <= 1e-14 {
            return Some(Self { h: 0.0, p: 1.0 });
        }
        // Sum about the mean rank: the textbook formula would lose digits by cancellation.
        let centre = f64::midpoint(n, 1.0);
        let between: f64 = ranks
            .sums
            .iter()
            .zip(groups)
            .map(|(sum, group)| {
                let size = group.len() as f64;
                size * (sum / size - centre).powi(2)
            })
            .sum();
        let h = 12.0 / (n * (n + 1.0)) * between / spread;
        let df = (groups.len() - 1) as f64;
        Some(Self {
            h,
            p: chi_squared::upper_tail(h, df)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::MannWhitneyMethod::{Asymptotic, AsymptoticCorrected, Automatic, Exact};
    use super::*;

    #[test]
    fn tied_values_share_the_mean_of_their_ranks() {
        // 1 | 2 2 2 | 5 with ranks 1, 3, 3, 3, 5
        let ranks = Ranks::compute(&[&[2.0, 1.0], &[2.0, 5.0, 2.0]]).unwrap();
        assert_eq!(ranks.sums, [4.0, 11.0]);
        assert_eq!((ranks.count, ranks.ties), (5, 24.0));
        assert_eq!(Ranks::compute(&[&[0.0], &[-0.0]]).unwrap().ties, 6.0);
    }

    #[test]
    fn empty_groups_and_what_is_no_number_have_no_ranks() {
        assert_eq!(Ranks::compute(&[&[1.0], &[]]), None);
        assert_eq!(Ranks::compute(&[&[1.0], &[f64::NAN]]), None);
    }

    #[test]
    fn three_against_three_has_twenty_orders() {
        let cumulated = distribution(3, 3).unwrap();
        // 1, 1, 2, 3, 3, 3, 3, 2, 1, 1 of 20
        let expected = [1, 2, 4, 7, 10, 13, 16, 18, 19, 20].map(|k| f64::from(k) / 20.0);
        for (found, expected) in cumulated.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{cumulated:?}");
        }
        assert_eq!(cumulated.len(), 10);
    }

    #[test]
    fn the_groups_are_exchangeable_and_large_ones_are_refused() {
        assert_eq!(distribution(2, 7), distribution(7, 2));
        assert_eq!(distribution(0, 3), None);
        assert_eq!(distribution(101, 100), None);
        assert_eq!(distribution(usize::MAX, 2), None);
    }

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

    #[test]
    fn tied_values_have_the_share_of_their_permutations() {
        // {1, 2} against {2, 3}: the six pairs of the ranks 1, 2.5, 2.5, 4 have the sums 3.5, 3.5, 5, 5, 6.5, 6.5.
        assert_eq!(
            MannWhitney::permutation_p(&[1.0, 2.0], &[2.0, 3.0]),
            Some(2.0 / 3.0)
        );
        assert_eq!(MannWhitney::permutation_p(&[5.0; 3], &[5.0; 4]), Some(1.0));
        // Complete separation of five and five: 2 of 252, tied or not.
        let p = MannWhitney::permutation_p(&[1.0; 5], &[2.0; 5]).unwrap();
        assert!((p - 2.0 / 252.0).abs() < 1e-15, "{p}");
        assert_eq!(MannWhitney::permutation_p(&[], &[1.0]), None);
        assert_eq!(MannWhitney::permutation_p(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn many_values_are_tested_by_the_normal_approximation() {
        let (a, b): (Vec<f64>, Vec<f64>) =
            (0..40).map(|i| (f64::from(i), f64::from(i) + 9.0)).unzip();
        let expected = MannWhitney::from_groups(&a, &b)
            .unwrap()
            .p_value(MannWhitneyMethod::AsymptoticCorrected);
        assert_eq!(MannWhitney::permutation_p(&a, &b), expected);
    }

    #[test]
    fn one_value_against_many_is_ranked_in_little_room_whichever_side_it_is_on() {
        let many: Vec<f64> = (0..900).map(f64::from).collect();
        // The single value is below all others or above all: 2 of 901 places.
        let expected = Some(2.0 / 901.0);
        assert_eq!(MannWhitney::permutation_p(&[-1.0], &many), expected);
        assert_eq!(MannWhitney::permutation_p(&many, &[-1.0]), expected);
    }

    proptest! {
        #[test]
        fn without_ties_it_is_the_exact_p(values in prop::collection::hash_set(0_u32..1000, 2..18), split in 1_usize..17) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (a, b) = values.split_at(split.min(values.len() - 1));
            let exact = MannWhitney::from_groups(a, b).unwrap().p_value(MannWhitneyMethod::Exact).unwrap();
            prop_assert!((MannWhitney::permutation_p(a, b).unwrap() - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn constants_do_not_differ_and_what_is_no_group_has_no_test() {
        let same = KruskalWallis::test(&[&[2.0; 3], &[2.0; 4]]).unwrap();
        assert_eq!((same.h, same.p), (0.0, 1.0));
        assert_eq!(KruskalWallis::test(&[&[1.0, 2.0]]), None);
        assert_eq!(KruskalWallis::test(&[&[1.0, 2.0], &[]]), None);
        assert_eq!(KruskalWallis::test(&[]), None);
        let balanced = KruskalWallis::test(&[&[1.0, 4.0], &[2.0, 3.0]]).unwrap();
        assert_eq!((balanced.h, balanced.p), (0.0, 1.0));
    }
}
