//! Message parts about allocations of iterations and latencies of single operations.

use serde::Serialize;

use perfcheck_analysis::compare::{Estimate, LatencyComparison};
use perfcheck_analysis::model::{Allocations, Latencies, Nanos, Verdict};

/// The allocations that one process counted. All arrays have one entry for each counted iteration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProcessAllocations {
    /// Number of times that the thread of the iteration allocated or enlarged memory.
    count: Vec<u64>,
    /// Bytes that these allocations requested.
    bytes: Vec<u64>,
    /// Peak of live bytes, beyond those that were alive when the iteration began.
    peak_bytes: Vec<u64>,
    /// Number of allocations by other threads during the iteration.
    other_count: Vec<u64>,
    /// Bytes that other threads requested.
    other_bytes: Vec<u64>,
}

/// The latencies of the operations of one process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProcessLatencies<'a> {
    /// Nonzero counters of the histogram: pairs of index and number of operations, ascending (docs/internals/src/protocol.md, section 10).
    counters: &'a [(u32, u64)],
    /// Precision of the histogram in significant digits, which determines the range of each counter.
    digits: u8,
    /// Number of operations that took longer than the histogram's range; its last counter includes them.
    clamped: u64,
    /// Number of failed operations; no counter includes them.
    errors: u64,
    /// First error messages.
    error_messages: &'a [String],
    /// Operations completed in each second, counted from the first sample.
    windows: Vec<SecondOfLatencies>,
}

/// The operations that completed within one second of a process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SecondOfLatencies {
    /// Number of successful operations.
    operations: u64,
    /// Number of failed operations.
    errors: u64,
    /// Median of the successful operations, in nanoseconds; null if there are none.
    p50_ns: Option<Nanos>,
    /// 95th percentile of the successful operations, in nanoseconds; null if there are none.
    p95_ns: Option<Nanos>,
    /// 99th percentile of the successful operations, in nanoseconds; null if there are none.
    p99_ns: Option<Nanos>,
}

/// The changes of the latencies of single operations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatencyChanges {
    /// Changes of the percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest operation).
    percentiles: Vec<ChangedPercentile>,
}

/// A percentile on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedPercentile {
    /// The percentile, as a fraction; 1 is the longest operation.
    quantile: f64,
    /// Mean over the processes of the reference, in nanoseconds.
    base_ns: f64,
    /// Mean over the processes of the candidate, in nanoseconds.
    candidate_ns: f64,
    /// The change with its interval, as a fraction.
    change: Estimate,
    /// Verdict that the interval implies.
    verdict: Verdict,
}

impl ProcessAllocations {
    /// Returns `None` if nothing was counted.
    pub fn from_allocations(counted: &[Allocations]) -> Option<Self> {
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

impl<'a> From<&'a Latencies> for ProcessLatencies<'a> {
    fn from(found: &'a Latencies) -> Self {
        let windows = found.windows.iter().map(|window| {
            let some = |ns| (window.operations > 0).then_some(ns);
            SecondOfLatencies {
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
