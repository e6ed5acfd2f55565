//! Extras: measurements of a benchmark besides its samples, such as allocations and latencies.

use serde::{Deserialize, Serialize};

use super::Nanos;
use perfcheck_stats::{HdrHistogram, HdrPrecision};

/// Measurements of a benchmark in one process besides its samples. Each part is empty unless requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// If measured side by side: for each quad (two flat samples), whether this side was sampled first, as in ABBA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub led: Vec<bool>,
    /// Allocations of single iterations in an untimed pass, in the order of the iterations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocations: Vec<Allocations>,
    /// Latencies of single operations, for benchmarks that time each one.
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
    /// Number of times that the thread of the iteration allocated or enlarged memory; of the whole process, if the iteration ended on another thread
    /// than it began on.
    pub count: u64,
    /// Bytes of these allocations.
    pub bytes: u64,
    /// Largest number of bytes alive at once, beyond those alive when the iteration began.
    pub peak_bytes: u64,
    /// Allocations of other threads during the iteration.
    pub other_count: u64,
    /// Bytes of the allocations of other threads.
    pub other_bytes: u64,
}

/// Latencies of single operations in one process. docs/internals/src/protocol.md describes the geometry of the histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// Number of significant digits that the histogram distinguishes.
    #[serde(default = "default_digits")]
    pub digits: u8,
    /// Counters other than 0, ascending: index, operations.
    pub counts: Vec<(u32, u64)>,
    /// Operations that took longer than the histogram covers; its last counter includes them.
    pub clamped: u64,
    /// Operations that failed; no counter includes them.
    pub errors: u64,
    /// Messages of the first errors.
    pub messages: Vec<String>,
    /// Times of randomly drawn operations, each with the same probability; ascending.
    pub reservoir: Vec<Nanos>,
    /// Windows of one second each, counted from the first sample.
    pub windows: Vec<LatencyWindow>,
}

fn default_digits() -> u8 {
    HdrPrecision::default().digits()
}

impl Default for Latencies {
    /// Returns an empty histogram of three digits.
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
    /// Returns the histogram, or `None` if the counters do not belong to a histogram of these digits.
    pub fn histogram(&self) -> Option<HdrHistogram> {
        HdrHistogram::from_counters(
            HdrPrecision::from_digits(self.digits)?,
            self.counts.iter().copied(),
        )
    }
}

/// Operations completed in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWindow {
    /// Operations that succeeded.
    pub operations: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Median time of the operations that succeeded; 0 if there are none.
    pub p50: Nanos,
    /// Their 95th percentile.
    pub p95: Nanos,
    /// Their 99th percentile.
    pub p99: Nanos,
}
