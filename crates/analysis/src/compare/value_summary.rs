//! The summary of the values of an imported benchmark.

use serde::Serialize;

use super::diagnostics::Diagnostic;
use crate::model::SampleCounts;

/// The summary of one column of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueSummary {
    /// How many values were read, skipped, removed and used.
    #[serde(flatten)]
    pub counts: SampleCounts,
    /// How many values the outlier policy replaced.
    pub replaced: usize,
    /// The bounds beyond which values are outliers; null if the policy has none.
    #[serde(rename = "fences_ns")]
    pub fences: Option<ValueBounds>,
    /// The mean of the values in the summary, per iteration: in nanoseconds, or in the unit of an amount.
    pub mean: f64,
    /// The interval of the mean, of the kind that `interval` of the `source` names; null for fewer than five values.
    pub mean_interval: Option<ValueBounds>,
    /// The median of the values in the summary.
    pub median: f64,
    /// How often the operation runs per second.
    pub per_second: PerSecond,
    /// Absurd values, by the thresholds `mean-over-median` and `absurd-seconds`.
    pub absurd: Vec<Diagnostic>,
    /// How many values are 0, that is, below the resolution of the clock.
    pub zeros: usize,
}

/// A lower and an upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueBounds {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

/// Operations per second: 1e9 over a time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PerSecond {
    /// Computed from the mean.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean: f64,
    /// Computed from the longest value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min: f64,
    /// Computed from the shortest value; null if that is 0.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max: f64,
}
