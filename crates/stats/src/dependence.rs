//! Checks of samples: whether the values of a series are independent, whether their level drifts, and whether the values have several modes.

use super::description::sum;
use super::description::{
    Description, deviations, mean, mean_difference, squared_deviations, standard_error,
};
use super::quantile::{Quantile, median};
use super::rank_tests::{MannWhitney, MannWhitneyMethod};

/// Returns the lag-1 autocorrelation of `values`, a number from -1 to 1. The values must be in the order in which they were measured. The formula is
/// `sum (x_i - m)(x_{i+1} - m) / sum (x_i - m)^2` (Box and Jenkins 1976).
///
/// Returns `None` if there are fewer than three values, if they have no spread, or if one of them is not finite.
pub fn lag_one_autocorrelation(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let neighbours = deviations(values).zip(deviations(values).skip(1));
    let products = sum(neighbours.map(|(one, next)| one * next));
    let squares = squared_deviations(values);
    (squares > 0.0)
        .then(|| products / squares)
        .filter(|r| r.is_finite())
}

/// A comparison of the first and second half of a series, to detect a drift of its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitHalves {
    /// Two-sided Mann-Whitney p-value of both halves, by [`MannWhitneyMethod::Automatic`].
    pub p: f64,
    /// Relative change from the mean of the first half to that of the second half. `None` unless the mean of the first half is positive.
    pub change: Option<f64>,
    /// Difference of the means, second minus first, in units of its standard error. `None` if both halves are constant.
    pub standard_errors: Option<f64>,
}

impl SplitHalves {
    /// Splits `values` in the middle and compares both halves. The values must be in the order in which they were measured. If their number is odd,
    /// the second half is longer by one. Returns `None` if there are fewer than four values or if one of them is not finite.
    pub fn compare(values: &[f64]) -> Option<Self> {
        if values.len() < 4 || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let (first, second) = values.split_at(values.len() / 2);
        let (before, after) = (mean(first)?, mean(second)?);
        let error = standard_error(first)?.hypot(standard_error(second)?);
        let distance = mean_difference(second, first)? / error;
        Some(Self {
            p: MannWhitney::from_groups(first, second)?.p_value(MannWhitneyMethod::Automatic)?,
            change: (before > 0.0).then(|| after / before - 1.0),
            standard_errors: distance.is_finite().then_some(distance),
        })
    }

    /// Reports whether the means differ by more than `change`, a fraction of the first mean, and also by more than `standard_errors` standard errors.
    /// If neither half has spread, only `change` counts.
    pub fn has_drifted(&self, change: f64, standard_errors: f64) -> bool {
        let far = self
            .standard_errors
            .is_none_or(|errors| errors.abs() > standard_errors);
        far && self.change.is_some_and(|seen| seen.abs() > change)
    }
}

/// The largest number of bins of a histogram. Without it, a far outlier would need millions of bins.
const MOST_BINS: f64 = 10_000.0;

/// Returns Gregg's mvalue of `values`, a number without a unit that tells whether they have several modes (Gregg 2014, "Frequency Trails: Modes and
/// Modality"). It is 2 for one mode, and about 4 for two equal modes.
///
/// The mvalue is `sum |h_i - h_{i-1}| / max h`, where `h_i` is the number of values in bin i of a histogram with an empty bin at each end. The bins
/// follow the rule of Freedman and Diaconis (1981): their width is 2 IQR / n^(1/3), and there are `ceil(range / width)` of them, but at most 10,000.
/// If the interquartile range is 0, or if there are fewer than two values, the result is 2. Returns `None` if there are no values or if one of them
/// is not finite.
pub fn mvalue(values: &[f64]) -> Option<f64> {
    let described = Description::compute(values)?;
    let mut sorted = values.to_vec();
    let q1 = Quantile::Linear.select(&mut sorted, 0.25)?;
    let q3 = Quantile::Linear.select(&mut sorted, 0.75)?;
    let width = 2.0 * (q3 - q1) / (values.len() as f64).cbrt();
    let range = described.max - described.min;
    if width <= 0.0 || !range.is_finite() {
        return Some(2.0);
    }
    let bins = (range / width).ceil().clamp(1.0, MOST_BINS);
    let mut heights = vec![0_u32; bins as usize + 2];
    for value in values {
        let bin = ((value - described.min) / range * bins)
            .floor()
            .min(bins - 1.0);
        heights[bin as usize + 1] += 1;
    }
    let highest = heights.iter().copied().max()?;
    let steps: u32 = heights
        .windows(2)
        .map(|pair| pair[0].abs_diff(pair[1]))
        .sum();
    Some(f64::from(steps) / f64::from(highest))
}

/// Divides `values` into two groups, and returns the medians of the groups, the smaller first. The sorted values are cut so that each group has at
/// least `least_share` of them. Of all such cuts, the function chooses the cut with the smallest sum of distances from the medians of the groups
/// (one-dimensional 2-medians, Vinod 1969).
///
/// Returns `None` if no such cut lies between two different values, or if a value is not finite.
pub fn two_groups(values: &[f64], least_share: f64) -> Option<[f64; 2]> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let mut sums = vec![0.0];
    sums.extend(sorted.iter().scan(0.0, |sum, value| {
        *sum += value - sorted[0];
        Some(*sum)
    }));
    // The sum of distances from a median is the sum of the upper half minus that of the lower half.
    let distances = |from: usize, to: usize| {
        let half = (to - from) / 2;
        sums[to] - sums[to - half] - (sums[from + half] - sums[from])
    };
    let fewest = ((count as f64 * least_share).ceil() as usize).max(1);
    let cuts = (fewest..count).take_while(|at| count - at >= fewest);
    let best = cuts
        .filter(|at| sorted[at - 1] < sorted[*at])
        .min_by(|a, b| {
            let [a, b] = [a, b].map(|at| distances(0, *at) + distances(*at, count));
            a.total_cmp(&b)
        })?;
    let (fast, slow) = sorted.split_at(best);
    Some([median(fast)?, median(slow)?])
}

/// A second mode above the bulk of a sample: large outliers so close together that they are not noise (`NBenchmark`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowMode {
    /// Number of values in the mode.
    pub count: usize,
    /// Share of all values that are in the mode, as a fraction.
    pub share: f64,
    /// Mean of the values in the mode, in their unit.
    pub mean: f64,
    /// Coefficient of variation of the values in the mode, as a fraction.
    pub cv: f64,
}

impl SlowMode {
    /// Looks for a mode among the values above the upper fence of `values` (Q3 + 1.5 IQR, with nearest-rank quartiles). They form a mode if there are
    /// at least `fewest` of them, if they are at least `least_share` of all values, and if their coefficient of variation is at most `highest_cv`.
    /// Returns `None` if there is no such mode, or if a value is not finite.
    pub fn detect(
        values: &[f64],
        fewest: usize,
        least_share: f64,
        highest_cv: f64,
    ) -> Option<Self> {
        use super::outliers::{IqrFence, OutlierPolicy};
        let fence = OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK)
            .apply(values)?
            .bounds?
            .upper;
        let slow: Vec<f64> = values.iter().copied().filter(|x| *x > fence).collect();
        let share = slow.len() as f64 / values.len() as f64;
        let described = Description::compute(&slow)?;
        let cv = described.cv()?;
        (slow.len() >= fewest && share >= least_share && cv <= highest_cv).then_some(Self {
            count: slow.len(),
            share,
            mean: described.mean,
            cv,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_few_values_have_no_autocorrelation() {
        assert_eq!(lag_one_autocorrelation(&[0.1; 60]), None);
        assert_eq!(lag_one_autocorrelation(&[1.0, 2.0]), None);
        assert_eq!(lag_one_autocorrelation(&[1.0, f64::NAN, 2.0]), None);
        // +1 -1 +1 -1: -3/4
        assert_eq!(
            lag_one_autocorrelation(&[1.0, -1.0, 1.0, -1.0]),
            Some(-0.75)
        );
    }

    #[test]
    fn a_ramp_depends_on_its_past_and_a_zigzag_does_not() {
        let ramp: Vec<f64> = (0..50).map(f64::from).collect();
        let zigzag: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        assert!(lag_one_autocorrelation(&ramp).unwrap() > 0.9);
        assert!(lag_one_autocorrelation(&zigzag).unwrap() < -0.9);
    }

    #[test]
    fn a_step_drifts_even_where_neither_half_varies() {
        let mut step = vec![100.0; 25];
        step.extend([111.0; 25]);
        let halves = SplitHalves::compare(&step).unwrap();
        assert!(halves.has_drifted(0.1, 4.0) && halves.p < 0.001);
        assert_eq!(halves.standard_errors, None);
        let still = SplitHalves::compare(&[100.0; 50]).unwrap();
        assert!(!still.has_drifted(0.1, 4.0) && still.p >= 0.001);
        assert_eq!(SplitHalves::compare(&[1.0, 2.0, 3.0]), None);
        assert_eq!(
            SplitHalves::compare(&[0.0, 0.0, 1.0, 1.0]).unwrap().change,
            None
        );
    }

    fn around(centre: f64, count: u32) -> Vec<f64> {
        (0..count).map(|i| centre + f64::from(i * 7 % 11)).collect()
    }

    #[test]
    fn one_hill_has_modal_value_two_and_two_hills_more() {
        assert_eq!(mvalue(&[1.0, 2.0, 2.0, 2.0, 3.0]), Some(2.0));
        let mut two = around(100.0, 40);
        two.extend(around(300.0, 40));
        assert!(mvalue(&two).unwrap() > 2.4);
    }

    #[test]
    fn two_groups_are_cut_where_distances_are_least_and_a_few_values_are_none() {
        // The cut is between 3 and 10, not between 1 and 2.
        let values = [12.0, 1.0, 3.0, 10.0, 2.0, 11.0];
        assert_eq!(two_groups(&values, 0.1), Some([2.0, 11.0]));
        // The far value is farthest from all others, but it is only one of eleven: less than a fifth.
        let mut far = vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 11.0];
        far.push(1e3);
        assert_eq!(two_groups(&far, 0.05), Some([3.0, 1e3]));
        assert_eq!(two_groups(&far, 0.2), Some([2.0, 11.0]));
        assert_eq!(two_groups(&[5.0; 9], 0.1), None);
        assert_eq!(two_groups(&[], 0.1), None);
        assert_eq!(two_groups(&[1.0, f64::INFINITY], 0.1), None);
    }

    #[test]
    fn without_spread_there_is_one_mode_and_without_values_none() {
        assert_eq!(mvalue(&[5.0; 9]), Some(2.0));
        assert_eq!(mvalue(&[5.0]), Some(2.0));
        assert_eq!(mvalue(&[]), None);
        assert_eq!(mvalue(&[f64::INFINITY]), None);
        // The last value would need more bins than the maximum, and still counts.
        let mut far = around(0.0, 50);
        far.push(1e12);
        assert!(mvalue(&far).is_some());
    }
}
