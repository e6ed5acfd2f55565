//! The level that one verdict of a family has: that of its interval, or that of all tests by ranks.

use serde::{Deserialize, Serialize};

/// The level of a verdict that is not about the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedLevel {
    /// How many intervals, or tests, share it.
    pub family: usize,
    /// How.
    #[serde(flatten)]
    pub share: Share,
}

/// What one of the benchmarks has of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Share {
    /// An interval.
    Interval {
        /// Of all intervals together, two-sided.
        confidence_level: f64,
        /// Of this one.
        interval_level: f64,
    },
    /// A test by ranks.
    Ranks {
        /// Of all tests together, two-sided.
        significance_level: f64,
        /// p of this one, before it was adjusted.
        unadjusted_p_value: f64,
    },
}

impl SharedLevel {
    /// That of each of `family` two-sided intervals that together have `confidence_level` (Bonferroni).
    pub fn of_interval(confidence_level: f64, family: usize) -> Self {
        let interval_level = 1.0 - (1.0 - confidence_level) / family.max(1) as f64;
        Self {
            family,
            share: Share::Interval {
                confidence_level,
                interval_level,
            },
        }
    }

    /// The level of this interval, or of all tests.
    pub fn own(&self) -> f64 {
        match self.share {
            Share::Interval { interval_level, .. } => interval_level,
            Share::Ranks {
                significance_level, ..
            } => significance_level,
        }
    }
}
