//! A histogram of times whose counters become wider as times grow (the bench protocol, section 10). With three significant digits, times below
//! 2048 ns are exact, and each power of two above has 1024 counters, up to an hour. Recording is a shift and an increment. All memory is allocated
//! and touched in the constructor.

use std::hint::black_box;
use std::ops::Range;

/// The longest time with a counter of its own: an hour. Longer times count as an hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// The resolution of a histogram, in significant decimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LatencyDigits(u8);

impl LatencyDigits {
    /// The environment variable in which a parent asks for another resolution.
    pub(crate) const VARIABLE: &'static str = "PERFCHECK_LATENCY_DIGITS";

    /// Parses the variable's value. An empty text means three digits.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(Self::default()),
            "1" | "2" | "3" | "4" | "5" => Ok(Self(text.as_bytes()[0] - b'0')),
            _ => Err(format!("{}: {text:?} is none of 1 to 5", Self::VARIABLE)),
        }
    }

    /// Returns the number of digits.
    pub(crate) fn get(self) -> u8 {
        self.0
    }
}

impl Default for LatencyDigits {
    fn default() -> Self {
        Self(3)
    }
}

/// A histogram of times.
#[derive(Debug)]
pub(crate) struct TimeCounts {
    geometry: Geometry,
    counters: Vec<u64>,
    total: u64,
    clamped: u64,
    /// Range outside of which all counters are 0
    touched: Range<usize>,
}

/// The mapping from times to counters.
#[derive(Debug, Clone, Copy)]
struct Geometry {
    digits: LatencyDigits,
    /// Times below this have a counter each; each power of two above has half as many
    exact: u64,
}

impl TimeCounts {
    /// Makes an empty histogram.
    pub(crate) fn new(digits: LatencyDigits) -> Self {
        let geometry = Geometry::from_digits(digits);
        let length = geometry.index_of(HIGHEST_NS.next_power_of_two() - 1) + 1;
        let mut counters = Vec::with_capacity(length);
        // `black_box` hides the zero, so that the memory is really written: its pages exist before the first value is recorded.
        counters.resize(length, black_box(0));
        Self {
            geometry,
            counters,
            total: 0,
            clamped: 0,
            touched: 0..0,
        }
    }

    /// Returns the resolution.
    pub(crate) fn digits(&self) -> LatencyDigits {
        self.geometry.digits
    }

    /// Adds a time.
    pub(crate) fn record(&mut self, ns: u64) {
        self.clamped += u64::from(ns > HIGHEST_NS);
        let index = self.geometry.index_of(ns.min(HIGHEST_NS));
        self.counters[index] += 1;
        self.total += 1;
        if self.touched.is_empty() {
            self.touched = index..index + 1;
        } else {
            self.touched.start = self.touched.start.min(index);
            self.touched.end = self.touched.end.max(index + 1);
        }
    }

    /// Removes all values.
    pub(crate) fn clear(&mut self) {
        self.counters[self.touched.clone()].fill(0);
        (self.total, self.clamped) = (0, 0);
        self.touched = 0..0;
    }

    /// Returns the number of values.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of values longer than an hour.
    pub(crate) fn clamped(&self) -> u64 {
        self.clamped
    }

    /// Returns the counters from the first to the last that may not be 0, and the index of the first.
    pub(crate) fn counts(&self) -> (usize, &[u64]) {
        (self.touched.start, &self.counters[self.touched.clone()])
    }

    /// Returns a percentile: the lower bound of the counter that holds the value of rank `ceil(q n)`, at least 1, with q in thousandths. None if
    /// the histogram is empty.
    pub(crate) fn percentile(&self, thousandths: u64) -> Option<u64> {
        // Integer arithmetic is exact: 0.07 of 100 values are 7, but 0.07 * 100 is more than 7 in floating point.
        let rank = (self.total * thousandths).div_ceil(1000).max(1);
        let mut below = 0;
        for index in self.touched.clone() {
            below += self.counters[index];
            if below >= rank {
                return Some(self.geometry.lower_bound(index));
            }
        }
        None
    }
}

impl Geometry {
    fn from_digits(digits: LatencyDigits) -> Self {
        let exact = (2 * 10_u64.pow(digits.0.into())).next_power_of_two();
        Self { digits, exact }
    }

    /// Returns the number of counters for each power of two.
    fn counters_per_power(self) -> u64 {
        self.exact / 2
    }

    /// Returns the index of the counter for a time of at most an hour.
    fn index_of(self, ns: u64) -> usize {
        if ns < self.exact {
            return ns as usize;
        }
        let shift = u64::from(ns.ilog2()) - u64::from(self.counters_per_power().ilog2());
        (self.counters_per_power() * shift + (ns >> shift)) as usize
    }

    /// Returns the smallest time that a counter counts.
    fn lower_bound(self, index: usize) -> u64 {
        let index = index as u64;
        if index < self.exact {
            return index;
        }
        let shift = index / self.counters_per_power() - 1;
        (index - self.counters_per_power() * shift) << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the counters that are not 0, with their indices.
    fn filled(histogram: &TimeCounts) -> Vec<(usize, u64)> {
        let (first, counts) = histogram.counts();
        let indexed = (first..).zip(counts.iter().copied());
        indexed.filter(|&(_, count)| count > 0).collect()
    }

    #[test]
    fn b4_recording_and_clearing_keep_counts_and_bounds() {
        let mut histogram = TimeCounts::new(LatencyDigits::default());
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
        let usual = Geometry::from_digits(LatencyDigits::default());
        let counters = TimeCounts::new(LatencyDigits::default()).counters.len();
        assert_eq!(
            (usual.exact, usual.counters_per_power(), counters),
            (2048, 1024, 33_792)
        );
        let (index_of, lower_bound) = (|ns| usual.index_of(ns), |at| usual.lower_bound(at));
        assert_eq!(index_of(2047), 2047);
        assert_eq!(index_of(2048), 2048);
        assert_eq!(index_of(4095), 3071);
        assert_eq!(index_of(4096), 3072);
        assert_eq!(index_of((1 << 42) - 1), counters - 1);
        assert_eq!(HIGHEST_NS.ilog2(), 41);
        for index in 0..counters {
            assert_eq!(index_of(lower_bound(index)), index);
        }
        for index in 1..counters {
            assert_eq!(index_of(lower_bound(index) - 1), index - 1, "no gaps");
        }
    }

    #[test]
    fn b5_what_takes_longer_than_an_hour_is_clamped_and_counted() {
        let mut histogram = TimeCounts::new(LatencyDigits::default());
        histogram.record(HIGHEST_NS);
        histogram.record(HIGHEST_NS + 1);
        histogram.record(u64::MAX);
        assert_eq!((histogram.total(), histogram.clamped()), (3, 2));
        assert_eq!(filled(&histogram), [(33_420, 3)]);
    }

    #[test]
    fn b6_a_counter_is_within_one_1024th_of_its_values() {
        let usual = Geometry::from_digits(LatencyDigits::default());
        let bound_of = |ns| usual.lower_bound(usual.index_of(ns));
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
        let mut histogram = TimeCounts::new(LatencyDigits::default());
        (1..=10_000).for_each(|ns| histogram.record(ns));
        let percentiles = [0, 500, 950, 990, 999, 1000].map(|q| histogram.percentile(q).unwrap());
        assert_eq!(percentiles, [1, 5000, 9496, 9896, 9984, 10_000]);
        let mut few = TimeCounts::new(LatencyDigits::default());
        (1..=100).for_each(|ns| few.record(ns));
        assert_eq!(
            few.percentile(70),
            Some(7),
            "not 8, as 0.07 * 100 is in floating point"
        );
    }

    #[test]
    fn b5_other_numbers_of_digits_have_their_own_counters_without_gaps() {
        // 2^ceil(log2(2 x 10^digits))
        for (digits, exact) in [
            ("1", 32),
            ("2", 256),
            ("3", 2048),
            ("4", 32_768),
            ("5", 262_144),
        ] {
            let geometry = Geometry::from_digits(LatencyDigits::parse(digits).unwrap());
            assert_eq!(geometry.exact, exact);
            let mut ns = 1;
            while ns <= HIGHEST_NS {
                let below = geometry.lower_bound(geometry.index_of(ns));
                assert!((ns - below) * exact / 2 <= ns, "{digits}: {ns}");
                assert_eq!(geometry.index_of(below), geometry.index_of(ns));
                ns += ns / 97 + 1;
            }
        }
        for bad in ["0", "6", "3.0", "+3", " 3"] {
            assert!(LatencyDigits::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(LatencyDigits::parse(""), Ok(LatencyDigits::default()));
    }
}
