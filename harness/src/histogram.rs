//! A histogram of times with counters that are never wider than 1/1024 of their value (docs/PROTOCOL.md, section 10): exact below 2048 ns, then
//! 1024 counters for each power of two, up to an hour. Recording is a shift and an increment. The memory is had, and touched, at the beginning.

use std::hint::black_box;
use std::ops::Range;

/// Values below this have a counter of their own; each power of two above has half as many.
const EXACT: u64 = 2048;

/// Counters of a power of two.
const HALF: u64 = EXACT / 2;

/// The longest time that is told apart: an hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// One for each value below 2048, and 31 times 1024.
const COUNTERS: usize = 33_792;

/// How often which times occurred.
#[derive(Debug)]
pub(crate) struct TimeCounts {
    counters: Vec<u64>,
    total: u64,
    clamped: u64,
    /// Where counters that are not 0 can be.
    touched: Range<usize>,
}

impl TimeCounts {
    /// Without values.
    pub(crate) fn new() -> Self {
        let mut counters = Vec::with_capacity(COUNTERS);
        // A zero that the compiler does not know is written: the pages are there before the first value is.
        counters.resize(COUNTERS, black_box(0));
        Self {
            counters,
            total: 0,
            clamped: 0,
            touched: 0..0,
        }
    }

    /// Adds a time.
    pub(crate) fn record(&mut self, ns: u64) {
        self.clamped += u64::from(ns > HIGHEST_NS);
        let index = index_of(ns.min(HIGHEST_NS));
        self.counters[index] += 1;
        self.total += 1;
        if self.touched.is_empty() {
            self.touched = index..index + 1;
        } else {
            self.touched.start = self.touched.start.min(index);
            self.touched.end = self.touched.end.max(index + 1);
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.counters[self.touched.clone()].fill(0);
        (self.total, self.clamped) = (0, 0);
        self.touched = 0..0;
    }

    /// How many values there are.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// How many of them were longer than an hour.
    pub(crate) fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The index of the first counter that may not be 0, and the counters from there to the last such one.
    pub(crate) fn counts(&self) -> (usize, &[u64]) {
        (self.touched.start, &self.counters[self.touched.clone()])
    }

    /// The lower bound of the counter of the value of rank `ceil(q n)`, at least 1, with q in thousandths. None without values.
    pub(crate) fn percentile(&self, thousandths: u64) -> Option<u64> {
        // In whole numbers: 0.07 of 100 values are 7 of them.
        let rank = (self.total * thousandths).div_ceil(1000).max(1);
        let mut below = 0;
        for index in self.touched.clone() {
            below += self.counters[index];
            if below >= rank {
                return Some(lower_bound(index));
            }
        }
        None
    }
}

/// The counter of a time of at most an hour.
fn index_of(ns: u64) -> usize {
    if ns < EXACT {
        return ns as usize;
    }
    let shift = u64::from(ns.ilog2()) - u64::from(HALF.ilog2());
    (HALF * shift + (ns >> shift)) as usize
}

/// The smallest time that a counter counts.
fn lower_bound(index: usize) -> u64 {
    let index = index as u64;
    if index < EXACT {
        return index;
    }
    let shift = index / HALF - 1;
    (index - HALF * shift) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters that are not 0, with their indices.
    fn filled(histogram: &TimeCounts) -> Vec<(usize, u64)> {
        let (first, counts) = histogram.counts();
        let indexed = (first..).zip(counts.iter().copied());
        indexed.filter(|&(_, count)| count > 0).collect()
    }

    #[test]
    fn b4_recording_and_clearing_keep_counts_and_bounds() {
        let mut histogram = TimeCounts::new();
        assert_eq!(histogram.percentile(500), None);
        assert_eq!(filled(&histogram), []);
        for ns in [5, 5000, 5, 0] {
            histogram.record(ns);
        }
        assert_eq!(filled(&histogram), [(0, 1), (5, 2), (2 * 1024 + 1250, 1)]);
        assert_eq!((histogram.total(), histogram.clamped()), (4, 0));
        histogram.clear();
        assert_eq!((histogram.total(), filled(&histogram).len()), (0, 0));
        assert!(histogram.counters.iter().all(|&count| count == 0));
    }

    #[test]
    fn b5_counters_are_2048_and_then_1024_for_each_power_of_two_up_to_an_hour() {
        assert_eq!((EXACT, HALF, COUNTERS), (2048, 1024, 33_792));
        assert_eq!(index_of(2047), 2047);
        assert_eq!(index_of(2048), 2048);
        assert_eq!(index_of(4095), 3071);
        assert_eq!(index_of(4096), 3072);
        assert_eq!(index_of((1 << 42) - 1), COUNTERS - 1);
        assert_eq!(HIGHEST_NS.ilog2(), 41);
        for index in 0..COUNTERS {
            assert_eq!(index_of(lower_bound(index)), index);
        }
        for index in 1..COUNTERS {
            assert_eq!(index_of(lower_bound(index) - 1), index - 1, "no gaps");
        }
    }

    #[test]
    fn b5_what_takes_longer_than_an_hour_is_clamped_and_counted() {
        let mut histogram = TimeCounts::new();
        histogram.record(HIGHEST_NS);
        histogram.record(HIGHEST_NS + 1);
        histogram.record(u64::MAX);
        assert_eq!((histogram.total(), histogram.clamped()), (3, 2));
        assert_eq!(filled(&histogram), [(33_420, 3)]);
    }

    #[test]
    fn b6_a_counter_is_within_one_1024th_of_its_values() {
        let bound_of = |ns| lower_bound(index_of(ns));
        assert_eq!((bound_of(4099), bound_of(1_234_567)), (4096, 1_233_920));
        for ns in 0..=2047 {
            assert_eq!(bound_of(ns), ns);
        }
        let mut ns = 2048_u64;
        while ns <= HIGHEST_NS {
            let error = ns - bound_of(ns);
            assert!(error * 1024 <= ns, "{ns}: {error}");
            ns += ns / 997 + 1;
        }
    }

    #[test]
    fn b7_percentiles_are_order_statistics_of_the_counters_lower_bounds() {
        let mut histogram = TimeCounts::new();
        (1..=10_000).for_each(|ns| histogram.record(ns));
        let percentiles = [0, 500, 950, 990, 999, 1000].map(|q| histogram.percentile(q).unwrap());
        assert_eq!(percentiles, [1, 5000, 9496, 9896, 9984, 10_000]);
        let mut few = TimeCounts::new();
        (1..=100).for_each(|ns| few.record(ns));
        assert_eq!(
            few.percentile(70),
            Some(7),
            "not 8, as 0.07 * 100 is in floating point"
        );
    }
}
