//! What the values of an imported benchmark come to.

use serde::Serialize;

use super::diagnostics::Diagnostic;
use crate::model::SampleCounts;

/// What one column of values comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueSummary {
    /// Where its values went.
    #[serde(flatten)]
    pub counts: SampleCounts,
    /// How many values the policy replaced.
    pub replaced: usize,
    /// The bounds beyond which values are outliers; null where the policy has none.
    #[serde(rename = "fences_ns")]
    pub fences: Option<ValueBounds>,
    /// The mean of the values in the summary, per iteration: nanoseconds, or of an amount its unit.
    pub mean: f64,
    /// The interval of the mean, as `interval` of the `source` says; null for fewer than five values.
    pub mean_interval: Option<ValueBounds>,
    /// The median of the values in the summary.
    pub median: f64,
    /// How often the operation runs per second.
    pub per_second: PerSecond,
    /// What is absurd of its values, by the thresholds `mean-over-median` and `absurd-seconds`.
    pub absurd: Vec<Diagnostic>,
    /// How many values are 0: less than the clock could see.
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

/// Operations per second: 1e9 over a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PerSecond {
    /// Of the mean.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean: f64,
    /// Of the longest value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min: f64,
    /// Of the shortest value; null where that is 0.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max: f64,
}
