//! The rules for comparing extras, which follow from the rules for comparing times. Also the level of a verdict about another metric than the time:
//! the level of one interval, or of all tests of counts together.

use serde::{Deserialize, Serialize};

/// The level of a verdict about another metric than the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedLevel {
    /// How many intervals or tests share the level.
    pub family: usize,
    /// How it is shared.
    #[serde(flatten)]
    pub share: LevelShare,
}

/// The share of one benchmark in the level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum LevelShare {
    /// The verdict is from an interval.
    Interval {
        /// The level of all intervals together, two-sided.
        confidence_level: f64,
        /// The level of this interval.
        interval_level: f64,
    },
    /// The verdict is from a test that shares the level by Holm's procedure.
    Ranks {
        /// The level of all tests together, two-sided.
        significance_level: f64,
        /// The p-value of this test before adjustment.
        unadjusted_p_value: f64,
    },
}

impl SharedLevel {
    /// Computes the level of each of `family` two-sided intervals that together have `confidence_level` (Bonferroni).
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

    /// Returns the level of this interval, or of all tests of counts together.
    pub fn effective_level(&self) -> f64 {
        match self.share {
            LevelShare::Interval { interval_level, .. } => interval_level,
            LevelShare::Ranks {
                significance_level, ..
            } => significance_level,
        }
    }
}

/// How the processes of the two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessPairing {
    /// Processes are independent.
    Independent,
    /// Processes with the same number belong to one round of a side-by-side measurement.
    ByRound,
}

/// The rules for comparing extras.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtrasPolicy {
    /// Relative change that counts as noise, a fraction.
    pub(super) noise_threshold: f64,
    /// Two-sided level of each test of a count.
    pub(super) significance_level: f64,
    /// Level of the interval of each percentile.
    pub(super) confidence_level: f64,
    pub(super) resamples: u32,
    /// Seed of all random numbers.
    pub(super) seed: u64,
}
