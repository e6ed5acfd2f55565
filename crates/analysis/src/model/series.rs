//! Samples of a benchmark from one process or from both sides of a round, and extras: measurements besides the samples, such as allocations and
//! latencies.
//!
//! Invariant: samples are exact integers as the bench process reported them.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::Side;
use perfcheck_stats::{HdrCounter, HdrHistogram, HdrPrecision, quotient};

/// A time as a whole number of nanoseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Returns the number as a float, for statistics.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

/// One timed interval: the body ran `iterations` times in `elapsed`. It is stored as the pair `(iterations, elapsed)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, Nanos)", into = "(u64, Nanos)")]
pub struct Sample {
    /// Number of times that the body ran, at least 1.
    pub iterations: u64,
    /// Time of the whole interval.
    pub elapsed: Nanos,
}

impl From<(u64, Nanos)> for Sample {
    fn from((iterations, elapsed): (u64, Nanos)) -> Self {
        Self {
            iterations,
            elapsed,
        }
    }
}

impl From<Sample> for (u64, Nanos) {
    fn from(sample: Sample) -> Self {
        (sample.iterations, sample.elapsed)
    }
}

impl Sample {
    /// A sample of one iteration whose duration is unknown.
    pub const UNTIMED: Self = Self {
        iterations: 1,
        elapsed: Nanos(0),
    };

    /// Returns the nanoseconds per iteration, rounded only once. An imported decimal number is therefore restored as the float nearest to it.
    pub fn per_iteration(self) -> f64 {
        quotient(u128::from(self.elapsed.0), u128::from(self.iterations))
    }

    /// Returns the shortest time per iteration among `samples`, in nanoseconds. Samples of 0 ns are ignored. If there are no other samples, the
    /// result is infinite.
    pub fn quickest_ns<'s>(samples: impl IntoIterator<Item = &'s Self>) -> f64 {
        let times = samples.into_iter().map(|sample| sample.per_iteration());
        times.filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min)
    }
}

/// The samples of one benchmark in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// All iterations of the warm-up and the time that they took. They are never part of the samples.
    pub warm_up: Sample,
    /// The linear phase: samples of d, 2d, ..., Nd iterations. It may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linear: Vec<Sample>,
    /// The flat phase: samples of the same number of iterations. It may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flat: Vec<Sample>,
}

impl Series {
    /// Returns the samples that decide: the flat phase, or the linear phase if there is no flat one.
    pub fn deciding_samples(&self) -> &[Sample] {
        if self.flat.is_empty() {
            &self.linear
        } else {
            &self.flat
        }
    }

    /// Returns samples that are comparable with each other: all samples of the flat phase or, without a flat phase, the linear samples with at least
    /// half as many iterations as the longest sample. Shorter samples reach lower times per iteration, so they would bias a comparison.
    pub fn comparable_samples(&self) -> Vec<Sample> {
        let deciding = self.deciding_samples().iter().copied();
        if !self.flat.is_empty() {
            return deciding.collect();
        }
        let longest = deciding.clone().map(|sample| sample.iterations).max();
        deciding
            .filter(|sample| Some(sample.iterations.saturating_mul(2)) >= longest)
            .collect()
    }
}

/// The samples of a benchmark in one round, in the order in which they were taken. Samples 2q and 2q + 1 of both sides form quad q.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The samples of the base.
    pub base: Vec<Sample>,
    /// The samples of the candidate.
    pub candidate: Vec<Sample>,
    /// For each quad, whether the candidate took the first sample. Empty if this is unknown.
    pub led: Vec<bool>,
    /// Number of the code layout of the executables, from 0. `None` if they ran as they were built.
    pub layout: Option<u32>,
}

impl Round {
    /// Returns the samples of `side`.
    pub fn samples(&self, side: Side) -> &[Sample] {
        match side {
            Side::Base => &self.base,
            Side::Candidate => &self.candidate,
        }
    }
}

/// Measurements of a benchmark in one process besides its samples. A part that was not measured is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// For each quad (two flat samples of each side, in the order ABBA or BAAB), whether this side took the first sample. Empty unless two builds
    /// were measured side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub led: Vec<bool>,
    /// Allocations of single iterations, in the order of the iterations. They are counted in a separate pass that is not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocations: Vec<Allocations>,
    /// Latencies of single operations, for benchmarks that time each operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Latencies>,
}

impl Extras {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Allocations of one iteration, without set-up, tear-down and the harness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    /// Number of times that the thread of the iteration allocated or enlarged memory. If the iteration ended on another thread than it began on,
    /// `count`, `bytes` and `peak_bytes` cover the whole process.
    pub count: u64,
    /// Bytes of the allocations in `count`.
    pub bytes: u64,
    /// Largest number of bytes alive at once, beyond those alive when the iteration began.
    pub peak_bytes: u64,
    /// Allocations of other threads during the iteration.
    pub other_count: u64,
    /// Bytes of the allocations of other threads.
    pub other_bytes: u64,
}

/// Latencies of single operations in one process. docs/internals/src/protocol.md defines which values each counter of the histogram covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// Number of significant digits that the histogram distinguishes.
    #[serde(default = "default_digits")]
    pub digits: u8,
    /// The counters of the histogram that are not 0, in ascending order.
    pub counts: Vec<HdrCounter>,
    /// Number of operations that took longer than the histogram covers. Its last counter includes them.
    pub clamped: u64,
    /// Number of operations that failed. No counter includes them.
    pub errors: u64,
    /// Messages of the first errors.
    pub messages: Vec<String>,
    /// Times of randomly drawn operations, in ascending order. Each operation had the same probability to be drawn.
    pub reservoir: Vec<Nanos>,
    /// Windows of one second each, counted from the beginning of the first sample.
    pub windows: Vec<LatencyWindow>,
}

fn default_digits() -> u8 {
    HdrPrecision::default().digits()
}

impl Default for Latencies {
    /// Returns latencies without operations. Their histogram has three digits.
    fn default() -> Self {
        Self {
            digits: default_digits(),
            counts: Vec::new(),
            clamped: 0,
            errors: 0,
            messages: Vec::new(),
            reservoir: Vec::new(),
            windows: Vec::new(),
        }
    }
}

impl Latencies {
    /// Returns the histogram of the latencies. Returns `None` if the stored counters and digits do not form a histogram.
    pub fn histogram(&self) -> Option<HdrHistogram> {
        HdrHistogram::from_counters(
            HdrPrecision::from_digits(self.digits)?,
            self.counts.iter().copied(),
        )
    }
}

/// The operations that were completed within one second of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWindow {
    /// Number of operations that succeeded.
    pub operations: u64,
    /// Number of operations that failed.
    pub errors: u64,
    /// Median time of the operations that succeeded. It is 0 if there are none.
    pub p50: Nanos,
    /// 95th percentile of the times of the operations that succeeded.
    pub p95: Nanos,
    /// 99th percentile of the times of the operations that succeeded.
    pub p99: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_sample_is_one_that_takes_time() {
        let samples = [(10, Nanos(0)), (10, Nanos(50)), (4, Nanos(12))].map(Sample::from);
        assert_eq!(Sample::quickest_ns(&samples), 3.0);
        assert_eq!(Sample::quickest_ns(&samples[..1]), f64::INFINITY);
    }

    #[test]
    fn measurements_besides_the_samples_are_empty_only_without_any_of_them() {
        assert!(Extras::default().is_empty());
        let with_order = Extras {
            led: vec![false],
            ..Extras::default()
        };
        let with_allocations = Extras {
            allocations: vec![Allocations::default()],
            ..Extras::default()
        };
        let with_latencies = Extras {
            latencies: Some(Latencies::default()),
            ..Extras::default()
        };
        for extras in [with_order, with_allocations, with_latencies] {
            assert!(!extras.is_empty(), "{extras:?}");
        }
    }

    fn sample(iterations: u64, elapsed: u64) -> Sample {
        Sample {
            iterations,
            elapsed: Nanos(elapsed),
        }
    }

    #[test]
    fn nanoseconds_are_durations_of_the_same_length_as_far_as_they_have_digits() {
        let duration = Duration::from_nanos(1_500_000_007);
        assert_eq!(Nanos::from(duration), Nanos(1_500_000_007));
        assert_eq!(Duration::from(Nanos(1_500_000_007)), duration);
        assert_eq!(Nanos::from(Duration::MAX), Nanos(u64::MAX));
        assert_eq!(Nanos(250).as_f64(), 250.0);
    }

    #[test]
    fn a_sample_is_a_pair_and_its_time_is_per_iteration() {
        let one = sample(4, 10);
        assert_eq!(Sample::from((4, Nanos(10))), one);
        assert_eq!(<(u64, Nanos)>::from(one), (4, Nanos(10)));
        assert_eq!(one.per_iteration(), 2.5);
    }

    #[test]
    fn flat_samples_decide_or_else_those_of_the_ramp_from_half_of_the_longest_on() {
        let linear = [1, 2, 3, 4].map(|k| sample(k, 10 * k));
        let flat = [sample(2, 20), sample(2, 22)];
        let ramp = Series {
            warm_up: sample(1, 10),
            linear: linear.to_vec(),
            flat: Vec::new(),
        };
        assert_eq!(ramp.deciding_samples(), linear);
        assert_eq!(ramp.comparable_samples(), linear[1..]);
        let both = Series {
            flat: flat.to_vec(),
            ..ramp
        };
        assert_eq!(both.deciding_samples(), flat);
        assert_eq!(both.comparable_samples(), flat);
    }

    #[test]
    fn a_round_has_the_samples_of_each_side() {
        let (base, candidate) = (vec![sample(1, 10)], vec![sample(1, 12)]);
        let round = Round {
            base: base.clone(),
            candidate: candidate.clone(),
            led: vec![true],
            layout: None,
        };
        assert_eq!(round.samples(Side::Base), base);
        assert_eq!(round.samples(Side::Candidate), candidate);
    }

    #[test]
    fn latencies_have_a_histogram_of_three_digits_unless_they_say_another_number() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.digits, 3);
        assert_eq!(latencies.histogram().map(|found| found.total()), Some(0));
        latencies.counts = vec![HdrCounter {
            index: 100,
            count: 2,
        }];
        let found = latencies.histogram().expect("three digits");
        assert_eq!((found.total(), found.percentile(1.0)), (2, Some(100)));
        assert_eq!(found.precision().digits(), 3);
        latencies.digits = 0;
        assert_eq!(latencies.histogram(), None);
    }
}
