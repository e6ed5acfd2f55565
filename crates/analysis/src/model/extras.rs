//! Extras: what a launch measures of a benchmark besides its samples, such as allocations and latencies.

use serde::{Deserialize, Serialize};

use super::Nanos;
use perfcheck_stats::{HdrHistogram, HdrPrecision};

/// What a launch measured of a benchmark besides its samples; each part is empty where it was not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// In A/B, for each quad (two flat samples) whether this side was sampled first, as in ABBA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub led: Vec<bool>,
    /// What single iterations of an untimed pass allocated, in the order run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocations: Vec<Allocations>,
    /// What single operations took, of benchmarks that time each one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Latencies>,
}

impl Extras {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What one iteration allocated. Set-up, tear-down and the harness are not part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    /// How often memory was allocated or enlarged by the thread that ran the iteration; by the whole process, if the iteration
    /// ended on another thread than it began on.
    pub count: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// The most bytes alive at once beyond those alive when the iteration began.
    pub peak_bytes: u64,
    /// Allocations of other threads meanwhile.
    pub other_count: u64,
    /// Bytes of these.
    pub other_bytes: u64,
}

/// What the single operations of one launch took. docs/src/protocol.md gives the geometry of the histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// How many significant digits the histogram tells apart.
    #[serde(default = "usual_digits")]
    pub digits: u8,
    /// Counters that are not 0, ascending: index, operations.
    pub counts: Vec<(u32, u64)>,
    /// Operations that took longer than the histogram reaches; they are in its last counter.
    pub clamped: u64,
    /// Operations that failed; they are in no counter.
    pub errors: u64,
    /// What the first errors said.
    pub messages: Vec<String>,
    /// Times of operations drawn at random, each with the same probability; ascending.
    pub reservoir: Vec<Nanos>,
    /// One second each, from the first sample on.
    pub windows: Vec<LatencyWindow>,
}

fn usual_digits() -> u8 {
    HdrPrecision::default().digits()
}

impl Default for Latencies {
    /// None, in a histogram of three digits.
    fn default() -> Self {
        Self {
            digits: usual_digits(),
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
    /// The histogram; `None` where its counters are none of such a one.
    pub fn histogram(&self) -> Option<HdrHistogram> {
        HdrHistogram::of_counters(
            HdrPrecision::of_digits(self.digits)?,
            self.counts.iter().copied(),
        )
    }
}

/// What ended within one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWindow {
    /// Operations that succeeded.
    pub operations: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Median of those that succeeded; 0 without any.
    pub p50: Nanos,
    /// 95th percentile.
    pub p95: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
}
