//! Exact tests of paired differences: Wilcoxon's signed-rank test with the interval that inverts it, and the sign-flip test.
//!
//! The distributions are computed completely, and nothing is drawn at random. For more than 200 differences, the signed-rank test is not exact, but
//! uses the normal distribution.

/// The largest number of differences for which the exact distribution is computed. For more differences, the normal distribution is used instead,
/// which has longer tails.
const MOST_EXACT: usize = 200;

/// Wilcoxon's signed-rank test of paired differences and its inversion into bounds, prepared for repeated use (Wilcoxon 1945; Hodges and Lehmann
/// 1963).
///
/// p-values are exact up to 200 differences. For more, they are those of the normal distribution with continuity correction.
///
/// The test only assumes that the differences are symmetric about a shift. Then the number of Walsh averages above the shift has the same
/// distribution for any distribution of the differences. Bounds are Walsh averages, which are means of two differences (Hollander, Wolfe and Chicken
/// 2014, sections 3.1 to 3.3).
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRank {
    /// The means of all pairs of differences, in ascending order. Each difference also forms a pair with itself.
    averages: Vec<f64>,
    /// `tails[c]` is the probability that at least c averages are above the shift, if the differences are symmetric about the shift.
    tails: Vec<f64>,
}

impl SignedRank {
    /// Prepares the test of n finite `differences`, which must have the same unit. It takes n^2 log n steps and memory for n^2 / 2 numbers. Returns
    /// `None` if there are no differences or if one of them is not finite.
    ///
    /// ```
    /// use perfcheck_stats::SignedRank;
    /// let test = SignedRank::new(&[1.0, 2.0, 3.0]).expect("finite differences");
    /// assert_eq!(test.estimate(), 2.0);
    /// ```
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

    /// Returns the Hodges-Lehmann estimate of the shift: the median of the Walsh averages, which are the means of all pairs of differences.
    pub fn estimate(&self) -> f64 {
        let middle = self.averages.len() / 2;
        if self.averages.len() % 2 == 1 {
            self.averages[middle]
        } else {
            f64::midpoint(self.averages[middle - 1], self.averages[middle])
        }
    }

    /// Returns the one-sided p-value for "the shift is above `shift`": P(at least as many averages above `shift` as observed | the differences are
    /// symmetric about `shift`).
    pub fn p_above(&self, shift: f64) -> f64 {
        let above = self.averages.len() - self.averages.partition_point(|x| *x <= shift);
        self.tails[above]
    }

    /// Returns the one-sided p-value for "the shift is below `shift`": P(at least as many averages below `shift` as observed | the differences are
    /// symmetric about `shift`).
    pub fn p_below(&self, shift: f64) -> f64 {
        self.tails[self.averages.partition_point(|x| *x < shift)]
    }

    /// Returns the one-sided lower bound of the shift at `level`. Here `level` is the probability of error. The bound is minus infinity if there are
    /// too few differences for the level. The bound is above a shift exactly if [`Self::p_above`] of this shift is at most `level`.
    pub fn lower_bound(&self, level: f64) -> f64 {
        match self.critical_count(level) {
            Some(count) => self.averages[self.averages.len() - count],
            None => f64::NEG_INFINITY,
        }
    }

    /// Returns the one-sided upper bound of the shift at `level`. Here `level` is the probability of error. The bound is infinity if there are too
    /// few differences for the level. The bound is below a shift exactly if [`Self::p_below`] of this shift is at most `level`.
    pub fn upper_bound(&self, level: f64) -> f64 {
        match self.critical_count(level) {
            Some(count) => self.averages[count - 1],
            None => f64::INFINITY,
        }
    }

    /// Returns the smallest number of averages above a shift with which the test rejects the shift at `level`. Returns `None` if no number is large
    /// enough.
    fn critical_count(&self, level: f64) -> Option<usize> {
        let count = self.tails.partition_point(|tail| *tail > level);
        (count >= 1 && count < self.tails.len()).then_some(count)
    }
}

/// Returns P(T >= c) for c = 0, 1, ..., n (n + 1) / 2, where T is the number of Walsh averages above the shift.
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

/// Returns the one-sided p-value for "each difference could equally well have the other sign" against the alternative that differences tend to be
/// positive (Fisher 1935, section 21). It is P(sum of the differences with random signs >= sum of `differences`).
///
/// Differences are integers in any order, such as multiples of a grid. Memory grows with the sum of their magnitudes, time also with their number.
/// Without differences, or if all are zero, p is 1.
///
/// If the sides are exchangeable, each difference has either sign with probability 1/2, whatever the distribution of the magnitudes.
pub fn sign_flip_upper_tail(differences: &[i64]) -> f64 {
    let span: i64 = differences.iter().map(|d| d.abs()).sum();
    let observed: i64 = differences.iter().sum();
    let chances = chances_of_sums(differences.iter().map(|d| d.unsigned_abs() as usize));
    // The sum with random signs is 2 p - `span`, where p is the sum of the magnitudes with a positive sign. It reaches `observed` if p is at least
    // (`observed` + `span`) / 2, which is an integer.
    let least = i64::midpoint(observed, span) as usize;
    chances[least..].iter().rev().sum::<f64>().min(1.0)
}

/// Returns how probable each sum of a random selection of `sizes` is. Each size is selected with probability 1/2. Entry i of the result is the
/// probability that the selected sizes add up to i, for each i from 0 to the sum of all `sizes`.
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
    use proptest::prelude::*;

    use super::*;

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
        // Five of the averages 1, 1.5, 2, 2, 2.5 and 3 are above 1, and five are below 3. Of the eight ways to sign the ranks 1, 2 and 3, two have
        // positive ranks that sum to 5 or more.
        let test = SignedRank::new(&[1.0, 2.0, 3.0]).expect("three");
        assert_eq!((test.p_above(1.0), test.p_below(3.0)), (0.25, 0.25));
        assert_eq!((test.p_above(0.9), test.p_below(3.1)), (0.125, 0.125));
    }

    #[test]
    fn too_few_differences_have_no_bounds() {
        let test = SignedRank::new(&[1.0, 2.0, 3.0]).expect("three");
        assert_eq!(test.lower_bound(0.1), f64::NEG_INFINITY);
        assert_eq!(test.lower_bound(0.125), 1.0);
        assert_eq!(test.upper_bound(0.125), 3.0);
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
            prop_assert_eq!(test.lower_bound(level) > shift, test.p_above(shift) <= level);
            prop_assert_eq!(test.upper_bound(level) < shift, test.p_below(shift) <= level);
        }

        #[test]
        fn exchanging_the_sides_mirrors_everything(x in prop::collection::vec(-5.0..5.0_f64, 1..25)) {
            let test = SignedRank::new(&x).expect("differences");
            let mirrored = SignedRank::new(&x.iter().map(|x| -x).collect::<Vec<_>>()).expect("differences");
            prop_assert_eq!(test.lower_bound(0.05), -mirrored.upper_bound(0.05));
            prop_assert_eq!(test.p_above(0.3), mirrored.p_below(-0.3));
            prop_assert!((test.estimate() + mirrored.estimate()).abs() < 1e-12);
        }
    }

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
