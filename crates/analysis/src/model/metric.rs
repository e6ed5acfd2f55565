//! What the numbers of a benchmark are: its metric says how a sample is read and which direction is worse.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a sample of a benchmark means.
///
/// Whatever the metric, a sample is a fraction of two whole numbers and less of it is better: a rate is stored as the time that
/// its units took. So one procedure decides about all of them, and the mean of a rate is the harmonic one by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Metric {
    /// `elapsed` nanoseconds for `iterations` iterations; less is better.
    #[default]
    Time,
    /// `iterations` units in `elapsed` nanoseconds, shown as units per second; more units are better.
    Rate {
        /// What is counted, e.g. `ops` or `bytes`.
        unit: String,
    },
    /// `elapsed` of the unit for `iterations` iterations; less is better.
    Amount {
        /// What is counted, e.g. `instructions`.
        unit: String,
    },
}

impl Metric {
    /// Whether samples are times of iterations, as all measured here are.
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// Whether `elapsed` is time, which a clock can be too coarse for. Amounts are exact, however small.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Self::Amount { .. })
    }
}

impl fmt::Display for Metric {
    /// `time`, `rate of ops`, `amount of bytes`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Rate { unit } => write!(f, "rate of {unit}"),
            Self::Amount { unit } => write!(f, "amount of {unit}"),
        }
    }
}
