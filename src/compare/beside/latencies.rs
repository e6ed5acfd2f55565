//! Latencies of two sides, percentile by percentile, over the percentiles of the single launches.

use serde::Serialize;

use crate::compare::comparison::Estimate;
use crate::model::Verdict;

/// How the latencies of single operations differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyComparison {
    /// The median, the 95th, 99th and 99.9th percentile and the longest operation, in this order.
    pub percentiles: Vec<PercentileChange>,
}

/// One percentile on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PercentileChange {
    /// Which, as a fraction: 0.99, and 1 for the longest.
    pub quantile: f64,
    /// The mean over the launches of the reference, nanoseconds.
    pub base_ns: f64,
    /// The mean over the launches of the run, nanoseconds.
    pub new_ns: f64,
    /// new / base - 1 with its interval.
    pub change: Estimate,
    /// What the interval says, beyond the noise threshold and whatever the histogram and the clock cannot tell apart.
    pub verdict: Verdict,
}
