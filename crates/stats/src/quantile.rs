//! Quantiles, and the empirical distribution of several random samples that represent unequal numbers of operations.
//!
//! Benchmark tools use three different definitions of a quantile. Each caller names the one that it needs.

crate::words! {
    /// Definition of a sample quantile.
    Quantile {
        /// The order statistic of rank ceil(p n), at least 1 (Hyndman and Fan 1996, definition 1).
        InvertedCdf = "inverted-cdf": "Nearest rank (NBenchmark, BenchForge)",
        /// Linear interpolation at position (n - 1) p (Hyndman and Fan 1996, definition 7).
        Linear = "linear": "Linear interpolation (Criterion, serializer benchmarks)",
        /// The order statistic of rank max(1, floor(p n)).
        FloorRank = "floor-rank": "Rank rounded down (mmtests)",
    }
}

impl Quantile {
    /// Returns the `p` quantile of `sorted` in constant time. The values must be ascending. Returns `None` if there are no values or if `p` is
    /// outside 0..=1.
    ///
    /// ```
    /// use perfcheck_stats::Quantile;
    /// let sorted = [1.0, 2.0, 3.0, 4.0];
    /// assert_eq!(Quantile::Linear.select_sorted(&sorted, 0.5), Some(2.5));
    /// assert_eq!(Quantile::InvertedCdf.select_sorted(&sorted, 0.5), Some(2.0));
    /// ```
    pub fn select_sorted(self, sorted: &[f64], p: f64) -> Option<f64> {
        let last = sorted.len().checked_sub(1)?;
        let (below, weight) = self.position(sorted.len(), p)?;
        let low = sorted[below];
        if weight == 0.0 {
            return Some(low);
        }
        Some(interpolate(low, sorted[(below + 1).min(last)], weight))
    }

    /// Returns the `p` quantile of `values` in linear time and reorders the values. NaN counts as the largest value. Returns `None` if there are no
    /// values or if `p` is outside 0..=1.
    pub fn select(self, values: &mut [f64], p: f64) -> Option<f64> {
        let (below, weight) = self.position(values.len(), p)?;
        let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
        let low = *low;
        if weight == 0.0 {
            return Some(low);
        }
        let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
        Some(interpolate(low, next, weight))
    }

    /// Returns where the `p` quantile lies among `count` ascending values: the index of the value at or below the quantile, and the weight that the
    /// next value has in the interpolation.
    fn position(self, count: usize, p: f64) -> Option<(usize, f64)> {
        if count == 0 || !(0.0..=1.0).contains(&p) {
            return None;
        }
        let n = count as f64;
        let nth = |rank: f64| (rank.max(1.0) as usize - 1).min(count - 1);
        Some(match self {
            Self::InvertedCdf => (nth((p * n).ceil()), 0.0),
            // Without the factor, 0.29 times 100 would be rounded down to 28.
            Self::FloorRank => (nth((p * n * (1.0 + f64::EPSILON)).floor()), 0.0),
            Self::Linear => {
                let position = p * (n - 1.0);
                (position.floor() as usize, position.fract())
            }
        })
    }
}

fn interpolate(low: f64, high: f64, weight: f64) -> f64 {
    // Equal ends are returned as they are, because the formula would turn two infinities into NaN.
    if low == high {
        low
    } else {
        low + (high - low) * weight
    }
}

/// Returns the median of `values` in linear time. For an even number of values, it is the mean of the two middle ones. NaN counts as the largest
/// value. Returns `None` if there are no values.
///
/// ```
/// use perfcheck_stats::median;
/// assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(median(&[]), None);
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    Quantile::Linear.select(&mut values.to_vec(), 0.5)
}

/// A step of a [`WeightedEcdf`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EcdfStep {
    /// A value that occurs in the samples.
    pub value: f64,
    /// Share of operations that took at most this value.
    pub share: f64,
}

/// The weighted empirical distribution function of several random samples: the share of all operations with at most a given value.
///
/// A reservoir holds the same number of values whether they were drawn from ten thousand operations or from ten million. If they were simply pooled,
/// the values of a short measurement would have too much weight. Here each value represents the number of operations measured per value.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedEcdf {
    /// Steps in ascending order of values and shares. No value occurs twice.
    steps: Vec<EcdfStep>,
}

impl WeightedEcdf {
    /// Merges `samples` in n log n steps. Each sample is a number of operations and the values drawn from them, all in one unit. Samples without
    /// values or operations are left out. Returns `None` if no sample is left or if a value is not finite.
    pub fn from_samples(samples: &[(u64, &[f64])]) -> Option<Self> {
        let mut weighted: Vec<(f64, f64)> = samples
            .iter()
            .flat_map(|(operations, values)| {
                let weight = *operations as f64 / values.len() as f64;
                values.iter().map(move |value| (*value, weight))
            })
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        if weighted.is_empty() || weighted.iter().any(|(value, _)| !value.is_finite()) {
            return None;
        }
        weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let mut steps: Vec<EcdfStep> = Vec::new();
        for (value, weight) in weighted {
            sum += weight;
            match steps.last_mut() {
                Some(last) if last.value == value => last.share = sum / total,
                _ => steps.push(EcdfStep {
                    value,
                    share: sum / total,
                }),
            }
        }
        // Remove the rounding error of the last share.
        if let Some(last) = steps.last_mut() {
            last.share = 1.0;
        }
        Some(Self { steps })
    }

    /// Returns each value with the share of operations that are at or below it. Values and shares are ascending.
    pub fn steps(&self) -> &[EcdfStep] {
        &self.steps
    }

    /// Returns the share, from 0 to 1, of operations that are at most `value`. It takes log n steps.
    pub fn share_at(&self, value: f64) -> f64 {
        let below = self.steps.partition_point(|step| step.value <= value);
        below
            .checked_sub(1)
            .map_or(0.0, |last| self.steps[last].share)
    }

    /// Returns the smallest value that at least the share `p` of operations did not exceed. It takes log n steps. Returns `None` if `p` is outside
    /// 0..=1.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        let index = self.steps.partition_point(|step| step.share < p);
        self.steps.get(index).map(|step| step.value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn up_to(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn quartiles_of_one_to_twenty_differ_by_definition_as_in_numpy() {
        let x = up_to(20);
        // np.percentile(range(1, 21), [25, 75]) with method='inverted_cdf' and with the default method
        assert_eq!(Quantile::InvertedCdf.select_sorted(&x, 0.25), Some(5.0));
        assert_eq!(Quantile::InvertedCdf.select_sorted(&x, 0.75), Some(15.0));
        assert_eq!(Quantile::Linear.select_sorted(&x, 0.25), Some(5.75));
        assert_eq!(Quantile::Linear.select_sorted(&x, 0.75), Some(15.25));
    }

    #[test]
    fn nearest_rank_takes_the_19th_of_20_and_the_95th_and_99th_of_100() {
        assert_eq!(
            Quantile::InvertedCdf.select_sorted(&up_to(20), 0.95),
            Some(19.0)
        );
        assert_eq!(
            Quantile::InvertedCdf.select_sorted(&up_to(100), 0.95),
            Some(95.0)
        );
        assert_eq!(
            Quantile::InvertedCdf.select_sorted(&up_to(100), 0.99),
            Some(99.0)
        );
        // 0.07 * 100 is 7.000000000000001 in binary floating point: the result is the eighth value, as in numpy.
        assert_eq!(
            Quantile::InvertedCdf.select_sorted(&up_to(100), 0.07),
            Some(8.0)
        );
    }

    #[test]
    fn floor_rank_takes_the_ninth_of_ten_at_95_percent() {
        assert_eq!(
            Quantile::FloorRank.select_sorted(&up_to(10), 0.95),
            Some(9.0)
        );
        assert_eq!(
            Quantile::FloorRank.select_sorted(&up_to(10), 0.01),
            Some(1.0)
        );
        assert_eq!(
            Quantile::FloorRank.select_sorted(&up_to(100), 0.29),
            Some(29.0)
        );
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(
            Quantile::InvertedCdf.select_sorted(&up_to(4), 0.5),
            Some(2.0)
        );
    }

    #[test]
    fn nothing_and_levels_outside_the_unit_interval_have_no_quantile() {
        assert_eq!(Quantile::Linear.select_sorted(&[], 0.5), None);
        assert_eq!(Quantile::Linear.select_sorted(&[1.0], 1.5), None);
        assert_eq!(Quantile::Linear.select_sorted(&[1.0], f64::NAN), None);
        assert_eq!(median(&[]), None);
    }

    proptest! {
        #[test]
        fn selection_agrees_with_sorting(mut x in prop::collection::vec(-1e6f64..1e6, 1..60), p in 0.0f64..=1.0) {
            for kind in [Quantile::InvertedCdf, Quantile::Linear, Quantile::FloorRank] {
                let selected = kind.select(&mut x.clone(), p);
                x.sort_by(f64::total_cmp);
                prop_assert_eq!(selected, kind.select_sorted(&x, p));
            }
        }
    }

    #[test]
    fn samples_without_values_say_nothing() {
        assert_eq!(WeightedEcdf::from_samples(&[]), None);
        assert_eq!(WeightedEcdf::from_samples(&[(5, &[]), (0, &[1.0])]), None);
        assert_eq!(WeightedEcdf::from_samples(&[(1, &[f64::NAN])]), None);
        let one = WeightedEcdf::from_samples(&[(5, &[]), (3, &[2.0])]).unwrap();
        assert_eq!((one.share_at(1.9), one.share_at(2.0)), (0.0, 1.0));
        assert_eq!((one.quantile(0.0), one.quantile(1.1)), (Some(2.0), None));
    }

    proptest! {
        #[test]
        fn it_rises_from_nothing_to_all_and_quantiles_invert_it(
            a in prop::collection::vec(0.0..9.0_f64, 1..30), b in prop::collection::vec(0.0..9.0_f64, 1..30), p in 0.001..1.0_f64,
        ) {
            let ecdf = WeightedEcdf::from_samples(&[(1_000, &a), (10, &b)]).unwrap();
            prop_assert!(ecdf.steps.windows(2).all(|pair| pair[0].value < pair[1].value && pair[0].share < pair[1].share));
            prop_assert_eq!((ecdf.share_at(-1.0), ecdf.share_at(9.0)), (0.0, 1.0));
            let value = ecdf.quantile(p).unwrap();
            prop_assert!(ecdf.share_at(value) >= p);
        }
    }
}
