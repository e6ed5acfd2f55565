//! Histograms of integers with a bounded relative error: counters become wider as values grow.
//!
//! The counters are those of an HDR histogram of one to five digits (Tene 2012, as `BenchForge` uses it). For three digits there are 2048 counters of
//! width 1, then 1024 for each further power of two. Only counts are kept, and not single values, so a value is known only up to a relative error.

use serde::{Deserialize, Serialize};

use super::description::sum;

/// The resolution of a histogram in significant decimal digits, from 1 to 5, and the resulting positions of its counters.
///
/// With `E` = 2^ceil(log2(2 x 10^digits)), each value below `E` has its own counter. From `E` on, each power of two has `E` / 2 counters. Counters
/// have indices from 0 to [`Self::last_index`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HdrPrecision {
    digits: u8,
}

impl Default for HdrPrecision {
    /// Returns the resolution of three digits.
    fn default() -> Self {
        Self { digits: 3 }
    }
}

impl HdrPrecision {
    /// The largest value that a histogram can hold: an hour in nanoseconds. Larger values are counted as this one.
    pub const HIGHEST: u64 = 3_600_000_000_000;

    /// Returns the resolution of the given number of significant digits. Returns `None` if this number is below 1 or above 5.
    pub fn from_digits(digits: u8) -> Option<Self> {
        (1..=5).contains(&digits).then_some(Self { digits })
    }

    /// Returns the number of significant digits.
    pub fn digits(self) -> u8 {
        self.digits
    }

    /// Returns the value below which each value has its own counter: 2^ceil(log2(2 x 10^digits)).
    pub fn exact_below(self) -> u64 {
        (2 * 10_u64.pow(self.digits.into())).next_power_of_two()
    }

    /// Returns the number of counters that each power of two has, for values that have no counter of their own.
    fn counters_per_power(self) -> u32 {
        (self.exact_below() / 2) as u32
    }

    /// Returns the largest relative error of a percentile: 1/1024 for three digits. A percentile is never above the true order statistic.
    pub fn error(self) -> f64 {
        2.0 / self.exact_below() as f64
    }

    /// Returns the index of the counter of `value`.
    pub fn index_of(self, value: u64) -> u32 {
        let value = value.min(Self::HIGHEST);
        if value < self.exact_below() {
            return value as u32;
        }
        let half = self.counters_per_power();
        let shift = value.ilog2() - half.ilog2();
        half * shift + (value >> shift) as u32
    }

    /// Returns the index of the last counter.
    pub fn last_index(self) -> u32 {
        self.index_of(Self::HIGHEST)
    }

    /// Returns the smallest value that the counter `index` covers, and the number of integers that the counter covers.
    fn span(self, index: u32) -> (u64, u64) {
        if u64::from(index) < self.exact_below() {
            return (u64::from(index), 1);
        }
        let half = self.counters_per_power();
        let shift = index / half - 1;
        (u64::from(index - half * shift) << shift, 1 << shift)
    }

    /// Returns the smallest value that the counter `index` covers. Returns `None` if there is no such counter.
    pub fn lowest_value(self, index: u32) -> Option<u64> {
        (index <= self.last_index()).then(|| self.span(index).0)
    }
}

/// A counter of a histogram. Files contain it as the pair (index, count).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u64)", into = "(u32, u64)")]
pub struct HdrCounter {
    /// Index of the counter, which determines the values that it counts.
    pub index: u32,
    /// Number of values.
    pub count: u64,
}

impl From<(u32, u64)> for HdrCounter {
    fn from((index, count): (u32, u64)) -> Self {
        Self { index, count }
    }
}

impl From<HdrCounter> for (u32, u64) {
    fn from(counter: HdrCounter) -> Self {
        (counter.index, counter.count)
    }
}

/// A high-dynamic-range histogram of integers, such as latencies in nanoseconds. It keeps each value to a few significant digits (Tene 2012).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HdrHistogram {
    precision: HdrPrecision,
    /// The counters that are not 0, in ascending order of their indices.
    counters: Vec<HdrCounter>,
    total: u64,
}

impl HdrHistogram {
    /// Builds a histogram from counters, which may be in any order. If several counters have the same index, their counts are added. Returns `None`
    /// if there is no counter with one of the indices, or if there are 2^64 values or more.
    pub fn from_counters(
        precision: HdrPrecision,
        counters: impl IntoIterator<Item = HdrCounter>,
    ) -> Option<Self> {
        let counters = counters.into_iter().filter(|counter| counter.count > 0);
        let mut sorted: Vec<HdrCounter> = counters.collect();
        sorted.sort_unstable_by_key(|counter| counter.index);
        let mut histogram = Self {
            precision,
            ..Self::default()
        };
        for counter in sorted {
            if counter.index > precision.last_index() {
                return None;
            }
            histogram.total = histogram.total.checked_add(counter.count)?;
            match histogram.counters.last_mut() {
                Some(last) if last.index == counter.index => last.count += counter.count,
                _ => histogram.counters.push(counter),
            }
        }
        Some(histogram)
    }

    /// Builds a histogram from single values in n log n steps. The values may be in any order.
    ///
    /// ```
    /// use perfcheck_stats::{HdrHistogram, HdrPrecision};
    /// let histogram = HdrHistogram::from_values(HdrPrecision::default(), 1..=1000).expect("few values");
    /// assert_eq!(histogram.percentile(0.99), Some(990));
    /// ```
    pub fn from_values(
        precision: HdrPrecision,
        values: impl IntoIterator<Item = u64>,
    ) -> Option<Self> {
        let counters = values.into_iter().map(|value| HdrCounter {
            index: precision.index_of(value),
            count: 1,
        });
        Self::from_counters(precision, counters)
    }

    /// Merges two histograms. The result has the coarser of their two resolutions. A value of the finer histogram counts as the lowest value of its
    /// counter. Returns `None` if there are 2^64 values or more.
    pub fn merge(&self, other: &Self) -> Option<Self> {
        let precision = self.precision.min(other.precision);
        let coarser = |one: &Self| {
            let from = one.precision;
            let counters = one.counters.iter();
            counters
                .map(|counter| HdrCounter {
                    index: precision.index_of(from.span(counter.index).0),
                    count: counter.count,
                })
                .collect::<Vec<_>>()
        };
        Self::from_counters(precision, [coarser(self), coarser(other)].concat())
    }

    /// Returns the resolution.
    pub fn precision(&self) -> HdrPrecision {
        self.precision
    }

    /// Returns the number of values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the quantile for the fraction `quantile`, which is 0.99 for the 99th percentile. The result is the smallest value of the counter that
    /// contains the value of rank max(1, ceil(`quantile` total)). Returns `None` if there are no values, or if the fraction is outside 0..=1.
    pub fn percentile(&self, quantile: f64) -> Option<u64> {
        if self.total == 0 || !(0.0..=1.0).contains(&quantile) {
            return None;
        }
        let rank = (quantile * self.total as f64).ceil().max(1.0);
        let target = (rank as u64).min(self.total);
        let mut seen = 0;
        self.counters.iter().find_map(|counter| {
            seen += counter.count;
            (seen >= target).then(|| self.precision.span(counter.index).0)
        })
    }

    /// Returns the mean of the values, each of which counts as the middle of its counter. Returns `None` if there are no values.
    pub fn mean(&self) -> Option<f64> {
        let weighted = self.middles().map(|(value, count)| value * count);
        (self.total > 0).then(|| sum(weighted) / self.total as f64)
    }

    /// Returns the standard deviation of the population (divided by n) about [`Self::mean`]. Each value counts as the middle of its counter. The
    /// deviation of a single value is 0. Returns `None` if there are no values.
    pub fn population_deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares = self
            .middles()
            .map(|(value, count)| (value - mean).powi(2) * count);
        Some((sum(squares) / self.total as f64).sqrt())
    }

    /// Returns, for each counter that is not 0, the middle of the values that it covers, and its count.
    fn middles(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.counters.iter().map(|counter| {
            let (lowest, width) = self.precision.span(counter.index);
            let middle = lowest as f64 + (width - 1) as f64 / 2.0;
            (middle, counter.count as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn precisions() -> impl Iterator<Item = HdrPrecision> {
        (1..=5).map(|digits| HdrPrecision::from_digits(digits).unwrap())
    }

    #[test]
    fn half_of_the_counters_of_a_power_of_two_are_what_a_value_is_off_by() {
        let errors = [16.0, 128.0, 1_024.0, 16_384.0, 131_072.0].map(|parts| 1.0 / parts);
        assert_eq!(
            precisions().map(HdrPrecision::error).collect::<Vec<_>>(),
            errors
        );
    }

    #[test]
    fn counters_follow_each_other_without_gaps_up_to_an_hour() {
        for precision in precisions() {
            let mut next = 0;
            for index in 0..=precision.last_index() {
                let (lowest, width) = precision.span(index);
                assert_eq!(lowest, next, "{index}");
                next = lowest + width;
            }
            assert!(next > HdrPrecision::HIGHEST);
            assert_eq!(precision.lowest_value(precision.last_index() + 1), None);
            assert_eq!(precision.index_of(u64::MAX), precision.last_index());
        }
        assert_eq!(
            (HdrPrecision::from_digits(0), HdrPrecision::from_digits(6)),
            (None, None)
        );
    }

    #[test]
    fn nothing_recorded_has_no_percentile_and_nonsense_none_either() {
        let none = HdrHistogram::default();
        let precision = none.precision();
        assert_eq!((none.percentile(0.5), none.mean()), (None, None));
        let one = HdrHistogram::from_values(precision, [7]).unwrap();
        for quantile in [-0.1, 1.1, f64::NAN] {
            assert_eq!(one.percentile(quantile), None);
        }
        assert_eq!(one.percentile(0.0), Some(7));
        assert_eq!(one.population_deviation(), Some(0.0));
        assert_eq!(
            HdrHistogram::from_counters(precision, [(u32::MAX, 1)].map(HdrCounter::from)),
            None
        );
        assert_eq!(
            HdrHistogram::from_counters(precision, [(1, u64::MAX), (2, 1)].map(HdrCounter::from)),
            None
        );
    }

    proptest! {
        #[test]
        fn a_percentile_is_at_most_its_error_below_the_order_statistic(
            mut values in prop::collection::vec(0..HdrPrecision::HIGHEST, 1..200), quantile in 0.0..=1.0_f64, digits in 1..=5_u8,
        ) {
            let precision = HdrPrecision::from_digits(digits).unwrap();
            let histogram = HdrHistogram::from_values(precision, values.iter().copied()).unwrap();
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (values[rank - 1], histogram.percentile(quantile).unwrap());
            prop_assert!(found <= exact);
            prop_assert!((exact - found) as f64 <= precision.error() * exact as f64, "{found} for {exact}");
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            a in prop::collection::vec(0..HdrPrecision::HIGHEST, 0..60), b in prop::collection::vec(0..5_000_u64, 0..60), fine in 3..=5_u8,
        ) {
            let of = |digits, values: &[u64]| {
                HdrHistogram::from_values(HdrPrecision::from_digits(digits).unwrap(), values.iter().copied()).unwrap()
            };
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(of(fine, &a).merge(&of(3, &b)), Some(of(3, &all)));
            prop_assert_eq!(of(3, &b).merge(&of(fine, &a)), Some(of(3, &all)));
        }
    }
}
