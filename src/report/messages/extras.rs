//! Extras of launches: allocations of iterations, latencies of single operations.

use serde::Serialize;

use perfcheck_analysis::compare::{Estimate, LatencyComparison};
use perfcheck_analysis::model::{Allocations, Latencies, Nanos, Verdict};

/// What one launch counted: arrays with an entry for each iteration that was counted.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LaunchAllocations {
    /// How often memory was allocated or enlarged by the thread that ran the iteration.
    count: Vec<u64>,
    /// How many bytes these allocations asked for.
    bytes: Vec<u64>,
    /// The most bytes alive at once beyond those alive when the iteration began.
    peak_bytes: Vec<u64>,
    /// How often other threads allocated meanwhile.
    other_count: Vec<u64>,
    /// How many bytes these threads asked for.
    other_bytes: Vec<u64>,
}

/// What the operations of one launch took.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LaunchLatencies<'a> {
    /// The counters of the histogram that are not 0: pairs of index and operations, ascending (docs/src/protocol.md, section 10).
    counters: &'a [(u32, u64)],
    /// How many significant digits the histogram tells apart: where its counters lie.
    digits: u8,
    /// How many operations took longer than the histogram reaches; they are in its last counter.
    clamped: u64,
    /// How many operations failed; they are in no counter.
    errors: u64,
    /// What the first errors said.
    error_messages: &'a [String],
    /// What ended within each second, from the first sample on.
    windows: Vec<LaunchWindow>,
}

/// What ended within one second of a launch.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LaunchWindow {
    /// How many operations succeeded.
    operations: u64,
    /// How many operations failed.
    errors: u64,
    /// The median of those that succeeded, nanoseconds; null without any.
    p50_ns: Option<Nanos>,
    /// Their 95th percentile, nanoseconds.
    p95_ns: Option<Nanos>,
    /// Their 99th percentile, nanoseconds.
    p99_ns: Option<Nanos>,
}

/// How the latencies of single operations differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatencyChanges {
    /// The changes of the percentiles 0.5, 0.95, 0.99, 0.999 and 1, the longest.
    percentiles: Vec<ChangedPercentile>,
}

/// A percentile on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedPercentile {
    /// Which percentile it is, as a fraction; 1 is the longest operation.
    quantile: f64,
    /// The mean over the launches of the reference, nanoseconds.
    base_ns: f64,
    /// The mean over the launches of the run in question, nanoseconds.
    candidate_ns: f64,
    /// The change, a fraction with its interval.
    change: Estimate,
    /// What the interval says.
    verdict: Verdict,
}

impl LaunchAllocations {
    /// `None` where nothing was counted.
    pub fn of(counted: &[Allocations]) -> Option<Self> {
        let column = |pick: fn(&Allocations) -> u64| counted.iter().map(pick).collect();
        (!counted.is_empty()).then(|| Self {
            count: column(|found| found.count),
            bytes: column(|found| found.bytes),
            peak_bytes: column(|found| found.peak_bytes),
            other_count: column(|found| found.other_count),
            other_bytes: column(|found| found.other_bytes),
        })
    }
}

impl<'a> From<&'a Latencies> for LaunchLatencies<'a> {
    fn from(found: &'a Latencies) -> Self {
        let windows = found.windows.iter().map(|window| {
            let some = |ns| (window.operations > 0).then_some(ns);
            LaunchWindow {
                operations: window.operations,
                errors: window.errors,
                p50_ns: some(window.p50),
                p95_ns: some(window.p95),
                p99_ns: some(window.p99),
            }
        });
        Self {
            counters: &found.counts,
            digits: found.digits,
            clamped: found.clamped,
            errors: found.errors,
            error_messages: &found.messages,
            windows: windows.collect(),
        }
    }
}

impl From<&LatencyComparison> for LatencyChanges {
    fn from(found: &LatencyComparison) -> Self {
        let percentiles = found.percentiles.iter().map(|one| ChangedPercentile {
            quantile: one.quantile,
            base_ns: one.base_ns,
            candidate_ns: one.candidate_ns,
            change: one.change,
            verdict: one.verdict,
        });
        Self {
            percentiles: percentiles.collect(),
        }
    }
}
