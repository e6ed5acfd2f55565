//! Histograms of whole numbers with a bounded relative error: counters whose width grows with the value.
//!
//! The geometry is that of an HDR histogram of three digits (Tene 2012, as `BenchForge` uses it): 2048 counters of width 1, then 1024 for each
//! further power of two. Only counters enter: single values are gone, which is what the error bound is about.

/// Values below this have a counter each.
const EXACT: u64 = 2048;
/// Counters of each further power of two.
const HALF: u32 = 1024;

/// A high-dynamic-range histogram of whole numbers, such as latencies in nanoseconds: it counts each value to three digits (Tene 2012).
///
/// Values below 2048 have a counter each; above, 1024 counters share each power of two. Counters have indices from 0 to [`Self::last_index`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HdrHistogram {
    /// Index and count of each counter, ascending, without zeros.
    counters: Vec<(u32, u64)>,
    total: u64,
}

impl HdrHistogram {
    /// No percentile lies below the true order statistic by more than this fraction of itself.
    pub const ERROR: f64 = 1.0 / 1024.0;
    /// The largest value that has a counter, an hour in nanoseconds; larger ones count as it.
    pub const HIGHEST: u64 = 3_600_000_000_000;

    /// Returns the index of the counter of `value`.
    pub fn index_of(value: u64) -> u32 {
        let value = value.min(Self::HIGHEST);
        if value < EXACT {
            return value as u32;
        }
        let shift = value.ilog2() - 10;
        HALF * shift + (value >> shift) as u32
    }

    /// Returns the index of the last counter.
    pub fn last_index() -> u32 {
        Self::index_of(Self::HIGHEST)
    }

    /// The smallest value of the counter `index`, and how many values it holds.
    fn span(index: u32) -> (u64, u64) {
        if u64::from(index) < EXACT {
            return (u64::from(index), 1);
        }
        let shift = index / HALF - 1;
        (u64::from(index - HALF * shift) << shift, 1 << shift)
    }

    /// Returns the smallest value that the counter `index` counts; `None` where there is no such counter.
    pub fn lowest_of(index: u32) -> Option<u64> {
        (index <= Self::last_index()).then(|| Self::span(index).0)
    }

    /// Builds a histogram from (index, count) in any order; counts of the same index are added. `None` for an index without a counter, or 2^64 values
    /// or more.
    pub fn of_counters(counters: impl IntoIterator<Item = (u32, u64)>) -> Option<Self> {
        let mut sorted: Vec<(u32, u64)> = counters.into_iter().filter(|(_, n)| *n > 0).collect();
        sorted.sort_unstable_by_key(|(index, _)| *index);
        let mut histogram = Self::default();
        for (index, count) in sorted {
            if index > Self::last_index() {
                return None;
            }
            histogram.total = histogram.total.checked_add(count)?;
            match histogram.counters.last_mut() {
                Some((last, sum)) if *last == index => *sum += count,
                _ => histogram.counters.push((index, count)),
            }
        }
        Some(histogram)
    }

    /// Builds a histogram from single values in any order; n log n steps.
    pub fn of_values(values: impl IntoIterator<Item = u64>) -> Option<Self> {
        Self::of_counters(values.into_iter().map(|value| (Self::index_of(value), 1)))
    }

    /// Returns the histogram of the values of both: counters are added. `None` for 2^64 values or more.
    pub fn merged(&self, other: &Self) -> Option<Self> {
        Self::of_counters(self.counters.iter().chain(&other.counters).copied())
    }

    /// Returns how many values were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The quantile of fraction `quantile` (0.99 for the 99th percentile): the smallest value of the counter that holds the value of rank
    /// max(1, ceil(`quantile` total)). `None` without values, or for a fraction outside 0..=1.
    pub fn percentile(&self, quantile: f64) -> Option<u64> {
        if self.total == 0 || !(0.0..=1.0).contains(&quantile) {
            return None;
        }
        let rank = (quantile * self.total as f64).ceil().max(1.0);
        let target = (rank as u64).min(self.total);
        let mut seen = 0;
        self.counters.iter().find_map(|(index, count)| {
            seen += count;
            (seen >= target).then(|| Self::span(*index).0)
        })
    }

    /// The mean, every value standing in the middle of its counter; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.middles().map(|(value, count)| value * count).sum();
        (self.total > 0).then(|| sum / self.total as f64)
    }

    /// The standard deviation of the population (over n) about [`Self::mean`], every value in the middle of its counter; 0 for one value.
    /// `None` without values.
    pub fn population_deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: f64 = self
            .middles()
            .map(|(value, count)| (value - mean).powi(2) * count)
            .sum();
        Some((squares / self.total as f64).sqrt())
    }

    /// The counters as (middle, count).
    fn middles(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.counters.iter().map(|(index, count)| {
            let (lowest, width) = Self::span(*index);
            (lowest as f64 + (width - 1) as f64 / 2.0, *count as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counters_follow_each_other_without_gaps_up_to_an_hour() {
        let mut next = 0;
        for index in 0..=HdrHistogram::last_index() {
            let (lowest, width) = HdrHistogram::span(index);
            assert_eq!(lowest, next, "{index}");
            next = lowest + width;
        }
        assert!(next > HdrHistogram::HIGHEST);
        assert_eq!(
            HdrHistogram::lowest_of(HdrHistogram::last_index() + 1),
            None
        );
        assert_eq!(HdrHistogram::index_of(u64::MAX), HdrHistogram::last_index());
    }

    #[test]
    fn nothing_recorded_has_no_percentile_and_nonsense_none_either() {
        let none = HdrHistogram::default();
        assert_eq!((none.percentile(0.5), none.mean()), (None, None));
        let one = HdrHistogram::of_values([7]).unwrap();
        for quantile in [-0.1, 1.1, f64::NAN] {
            assert_eq!(one.percentile(quantile), None);
        }
        assert_eq!(one.percentile(0.0), Some(7));
        assert_eq!(one.population_deviation(), Some(0.0));
        assert_eq!(HdrHistogram::of_counters([(u32::MAX, 1)]), None);
        assert_eq!(HdrHistogram::of_counters([(1, u64::MAX), (2, 1)]), None);
    }

    proptest! {
        #[test]
        fn a_percentile_is_at_most_its_error_below_the_order_statistic(
            mut values in prop::collection::vec(0..HdrHistogram::HIGHEST, 1..200), quantile in 0.0..=1.0_f64,
        ) {
            let histogram = HdrHistogram::of_values(values.iter().copied()).unwrap();
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (values[rank - 1], histogram.percentile(quantile).unwrap());
            prop_assert!(found <= exact);
            prop_assert!((exact - found) as f64 <= HdrHistogram::ERROR * exact as f64, "{found} for {exact}");
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            a in prop::collection::vec(0..HdrHistogram::HIGHEST, 0..60), b in prop::collection::vec(0..5_000_u64, 0..60),
        ) {
            let of = |values: &[u64]| HdrHistogram::of_values(values.iter().copied()).unwrap();
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(of(&a).merged(&of(&b)), Some(of(&all)));
            prop_assert_eq!(of(&b).merged(&of(&a)), Some(of(&all)));
        }
    }
}
