//! Records single operations of a latency benchmark (the bench protocol, section 10): a histogram of times, a random choice of
//! times, errors, and results for each second.
//!
//! Invariant: memory for a benchmark of usual length is allocated before the benchmark starts, and recording happens after the second clock reading,
//! so recording is not part of any time.

use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::clock::OperationClock;
use crate::sampler::Sampler;

const NS_PER_WINDOW: u64 = 1_000_000_000;

/// The number of one-second windows for which memory is reserved in advance: an hour. A longer benchmark allocates more.
const USUAL_WINDOWS: usize = 3600;

/// The number of error messages that are kept.
const MESSAGES: usize = 5;

/// The number of characters of an error message that are kept.
const LONGEST_MESSAGE: usize = 1000;

/// The results of one second of a latency benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordedWindow {
    /// Successful operations
    pub(crate) operations: u64,
    pub(crate) errors: u64,
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p95_ns: Option<u64>,
    pub(crate) p99_ns: Option<u64>,
}

/// Records operations while a sample is taken, and ignores them at other times.
#[derive(Debug)]
pub(crate) struct LatencyRecorder {
    clock: OperationClock,
    recording: bool,
    /// Start of the first sample
    began: Option<Instant>,
    all: TimeCounts,
    reservoir: Reservoir,
    errors: u64,
    messages: Vec<String>,
    /// The windows that have ended, without the current one
    windows: Vec<RecordedWindow>,
    in_window: TimeCounts,
    errors_in_window: u64,
}

impl LatencyRecorder {
    /// Makes an empty recorder.
    pub(crate) fn new() -> Self {
        Self {
            clock: OperationClock::default(),
            recording: false,
            began: None,
            all: TimeCounts::new(LatencyDigits::default()),
            reservoir: Reservoir::new(),
            errors: 0,
            messages: Vec::with_capacity(MESSAGES),
            windows: Vec::with_capacity(USUAL_WINDOWS),
            in_window: TimeCounts::new(LatencyDigits::default()),
            errors_in_window: 0,
        }
    }

    /// Sets the options that only the driver knows: the source of times, the seed of the random choice, and the resolution of the histogram.
    pub(crate) fn prepare(&mut self, clock: OperationClock, seed: u64, digits: LatencyDigits) {
        self.clock = clock;
        if self.all.digits() != digits {
            self.all = TimeCounts::new(digits);
            self.in_window = TimeCounts::new(digits);
        }
        self.reservoir.seed(seed);
    }

    /// Records an operation that ran between two clock readings, and returns its reported time. This differs from the measured time if
    /// there is a scripted clock or a slowdown.
    pub(crate) fn record(
        &mut self,
        start: Instant,
        end: Instant,
        error: Option<&dyn Display>,
    ) -> Duration {
        let measured = end.saturating_duration_since(start);
        let (true, Some(began)) = (self.recording, self.began) else {
            return measured;
        };
        let (elapsed_ns, ended_ns) = self
            .clock
            .reported_times(measured, end.saturating_duration_since(began));
        self.close_windows_before(ended_ns / NS_PER_WINDOW);
        match error {
            None => {
                self.all.record(elapsed_ns);
                self.in_window.record(elapsed_ns);
                self.reservoir.offer(elapsed_ns);
            }
            Some(error) => {
                self.errors += 1;
                self.errors_in_window += 1;
                if self.messages.len() < MESSAGES {
                    self.messages.push(truncated_message(error));
                }
            }
        }
        Duration::from_nanos(elapsed_ns)
    }

    fn close_windows_before(&mut self, window: u64) {
        while (self.windows.len() as u64) < window {
            let ended = self.open_window();
            self.windows.push(ended);
            self.in_window.clear();
            self.errors_in_window = 0;
        }
    }

    fn open_window(&self) -> RecordedWindow {
        RecordedWindow {
            operations: self.in_window.total(),
            errors: self.errors_in_window,
            p50_ns: self.in_window.percentile(500),
            p95_ns: self.in_window.percentile(950),
            p99_ns: self.in_window.percentile(990),
        }
    }

    /// Returns the histogram of successful operations.
    pub(crate) fn histogram(&self) -> &TimeCounts {
        &self.all
    }

    /// Returns the number of failed operations.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns the messages of the first errors.
    pub(crate) fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Returns at most `wanted` single times, chosen at random.
    pub(crate) fn reservoir_ns(&self, wanted: usize) -> Vec<u64> {
        self.reservoir.draw_sample(wanted)
    }

    /// Returns the windows that have ended since the first sample began, and the current window.
    pub(crate) fn windows(&self) -> (&[RecordedWindow], Option<RecordedWindow>) {
        let open = self.began.map(|_| self.open_window());
        (&self.windows, open)
    }
}

/// Takes one sample and records its operations. Returns the sum of their times.
pub(crate) fn sample_operations(
    latencies: &RefCell<LatencyRecorder>,
    sampler: &mut Sampler<'_>,
    iterations: u64,
) -> Duration {
    {
        let mut latencies = latencies.borrow_mut();
        latencies.recording = true;
        latencies.began.get_or_insert_with(Instant::now);
    }
    let elapsed = sampler(iterations);
    let mut latencies = latencies.borrow_mut();
    latencies.recording = false;
    latencies.clock.end_sample();
    elapsed
}

/// Returns the message of an error, cut if it is long.
fn truncated_message(error: &dyn Display) -> String {
    let mut text = String::new();
    let written = write!(text, "{error}");
    if written.is_err() {
        text.push_str("(an error that has no message)");
    }
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        text.truncate(end);
    }
    text
}

/// The longest time that a histogram can hold: an hour. Longer times count as an hour.
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
            _ => Err(format!("{}: {text:?} is not from 1 to 5", Self::VARIABLE)),
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
///
/// Counters become wider as times grow. With three significant digits, times below 2048 ns are exact, and each power of two above has 1024 counters,
/// up to an hour. Recording is a shift and an increment. All memory is allocated and touched in the constructor.
#[derive(Debug)]
pub(crate) struct TimeCounts {
    geometry: Geometry,
    counters: Vec<u64>,
    total: u64,
    clamped: u64,
    /// All counters outside this range are 0
    touched: Range<usize>,
}

/// The mapping from times to counters.
#[derive(Debug, Clone, Copy)]
struct Geometry {
    digits: LatencyDigits,
    /// Times below `exact` have one counter each. Each power of two above has `exact / 2` counters
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

    /// Returns the index of the first nonzero counter, and all counters from it to the last nonzero one.
    pub(crate) fn counts(&self) -> (usize, &[u64]) {
        (self.touched.start, &self.counters[self.touched.clone()])
    }

    /// Returns the quantile q of the times, where q is given in thousandths. The result is the lower bound of the counter that holds the value of
    /// rank `ceil(q n)`, or of rank 1 if that is 0. Returns `None` if the histogram is empty.
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

/// The number of operation times that a reservoir keeps.
const PLACES: usize = 10_000;

/// A random choice of single times from a stream of unknown length (Vitter 1985, algorithm R).
///
/// Each time has the same chance. The generator is seeded, so the same times give the same choice.
#[derive(Debug)]
pub(crate) struct Reservoir {
    kept_ns: Vec<u64>,
    seen: u64,
    draws: SplitMix,
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
#[derive(Debug, Clone, Copy)]
struct SplitMix {
    state: u64,
}

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`. The high half of the product favors no number by more than `bound` / 2^64 (Lemire 2019).
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

impl Reservoir {
    /// Makes an empty reservoir and touches all its memory.
    pub(crate) fn new() -> Self {
        let mut kept_ns = Vec::new();
        kept_ns.resize(PLACES, std::hint::black_box(0));
        kept_ns.clear();
        Self {
            kept_ns,
            seen: 0,
            draws: SplitMix { state: 0 },
        }
    }

    /// Restarts the generator with this seed.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.draws = SplitMix { state: seed };
    }

    /// Returns the seed for a benchmark in a process.
    pub(crate) fn derive_seed(id: &str, process: u64) -> u64 {
        // FNV-1a.
        let hash = id.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        SplitMix {
            state: hash ^ process.rotate_left(32),
        }
        .next()
    }

    /// Offers a time. The first `PLACES` times are kept; the n-th replaces a random one with probability `PLACES` / n.
    pub(crate) fn offer(&mut self, ns: u64) {
        self.seen += 1;
        if self.kept_ns.len() < PLACES {
            self.kept_ns.push(ns);
            return;
        }
        let place = self.draws.below(self.seen) as usize;
        if let Some(kept) = self.kept_ns.get_mut(place) {
            *kept = ns;
        }
    }

    /// Returns at most `wanted` of the kept times. Each subset of that size has the same chance (Knuth 1997, algorithm 3.4.2 S). If the first times
    /// were taken instead, the oldest ones would be favored.
    pub(crate) fn draw_sample(&self, wanted: usize) -> Vec<u64> {
        let mut draws = self.draws;
        let mut needed = wanted.min(self.kept_ns.len()) as u64;
        let mut left = self.kept_ns.len() as u64;
        let mut chosen = Vec::with_capacity(needed as usize);
        for &ns in &self.kept_ns {
            if draws.below(left) < needed {
                chosen.push(ns);
                needed -= 1;
            }
            left -= 1;
        }
        chosen
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

    fn seeded(id: &str, process: u64) -> Reservoir {
        let mut reservoir = Reservoir::new();
        reservoir.seed(Reservoir::derive_seed(id, process));
        reservoir
    }

    /// Returns the chi-square statistic of the kept values against a uniform choice of 0..n, over 100 bins.
    fn chi_square(kept: &[u64], n: u64) -> f64 {
        let mut bins = [0_u32; 100];
        for &value in kept {
            bins[(value * 100 / n) as usize] += 1;
        }
        let expected = kept.len() as f64 / 100.0;
        bins.iter()
            .map(|&count| (f64::from(count) - expected).powi(2) / expected)
            .sum()
    }

    #[test]
    fn b9_the_first_ten_thousand_are_kept_and_no_more() {
        let mut reservoir = seeded("read", 1);
        (0..10_000).for_each(|ns| reservoir.offer(ns));
        assert_eq!(
            reservoir.draw_sample(20_000),
            (0..10_000).collect::<Vec<_>>()
        );
        reservoir.offer(10_000);
        assert_eq!(reservoir.kept_ns.len(), 10_000);
    }

    /// The 99.9 % quantile of chi-square with 99 degrees of freedom is 148.23. If half of the kept times were among the first ten thousand,
    /// the statistic would exceed 20,000.
    #[test]
    fn b9_every_time_has_the_same_chance() {
        for process in 0..5 {
            let mut reservoir = seeded("read", process);
            (0..1_000_000).for_each(|ns| reservoir.offer(ns));
            let all = reservoir.draw_sample(PLACES);
            assert_eq!(all.len(), PLACES);
            assert!(chi_square(&all, 1_000_000) < 148.23);
            let some = reservoir.draw_sample(1000);
            assert_eq!(some.len(), 1000);
            assert!(chi_square(&some, 1_000_000) < 148.23);
        }
    }

    #[test]
    fn b9_the_choice_follows_from_id_and_process() {
        let kept = |id, process| {
            let mut reservoir = seeded(id, process);
            (0..20_000).for_each(|ns| reservoir.offer(ns));
            reservoir.draw_sample(100)
        };
        assert_eq!(kept("a", 3), kept("a", 3));
        assert_ne!(kept("a", 3), kept("a", 4));
        assert_ne!(kept("a", 3), kept("b", 3));
    }
}
