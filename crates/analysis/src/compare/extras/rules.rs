//! The rules for comparing extras (allocations, instructions and latencies), which follow from the rules for comparing times. If the verdict is about
//! such a metric instead of the time, this module also determines how the benchmarks of a run share the level.

use serde::{Deserialize, Serialize};

/// The confidence or significance level behind a verdict about another metric than the time, and how the benchmarks of a run share this level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedLevel {
    /// How many intervals or tests share the level.
    pub family: usize,
    /// The level that all benchmarks have together, with the level of this benchmark's interval or the p-value of its test. These numbers are members
    /// of this object.
    #[serde(flatten)]
    pub share: LevelShare,
}

/// The level that all benchmarks have together, with the level of one benchmark's interval or the p-value of its test. The members show whether the
/// verdict follows from an interval or from a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum LevelShare {
    /// The verdict follows from an interval. All intervals have the same part of the error probability.
    Interval {
        /// The two-sided confidence level that all intervals have together, as a fraction.
        confidence_level: f64,
        /// The two-sided confidence level of this interval alone, as a fraction.
        interval_level: f64,
    },
    /// The verdict follows from a test. All tests share the level by Holm's procedure.
    Ranks {
        /// The two-sided significance level that all tests have together, as a fraction.
        significance_level: f64,
        /// The p-value of this test, before it is adjusted for the number of tests.
        unadjusted_p_value: f64,
    },
}

impl SharedLevel {
    /// Divides a level among `family` two-sided intervals, so that all of them together have `confidence_level` (Bonferroni).
    pub fn bonferroni(confidence_level: f64, family: usize) -> Self {
        let interval_level = 1.0 - (1.0 - confidence_level) / family.max(1) as f64;
        Self {
            family,
            share: LevelShare::Interval {
                confidence_level,
                interval_level,
            },
        }
    }

    /// Returns the level of the interval. If the verdict follows from a test, returns the level that all tests have together.
    pub fn effective_level(&self) -> f64 {
        match self.share {
            LevelShare::Interval { interval_level, .. } => interval_level,
            LevelShare::Ranks {
                significance_level, ..
            } => significance_level,
        }
    }
}

/// Whether processes of the two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessPairing {
    /// The processes of one side are independent of those of the other.
    Independent,
    /// Processes with the same number belong to one round of a side-by-side measurement.
    ByRound,
}

/// The rules for comparing extras.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtrasPolicy {
    /// The largest relative change that still counts as noise, as a fraction.
    pub(super) noise_threshold: f64,
    /// The two-sided significance level of each test of a count.
    pub(super) significance_level: f64,
    /// The confidence level of the interval of each latency percentile.
    pub(super) confidence_level: f64,
    pub(super) resamples: u32,
    /// Seed of all random numbers.
    pub(super) seed: u64,
}
