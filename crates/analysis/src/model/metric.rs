//! The meaning of a benchmark's numbers: its metric says how to read a sample and which direction is worse.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The meaning of a benchmark's samples.
///
/// With every metric, a sample is a fraction of two whole numbers, and less is better: a rate is stored as the time that its units took. One
/// procedure can therefore judge all metrics, and the mean of a rate is its harmonic mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Metric {
    /// `elapsed` nanoseconds for `iterations` iterations; less is better.
    #[default]
    Time,
    /// `iterations` units in `elapsed` nanoseconds, shown as units per second; more units are better.
    Rate {
        /// Name of the unit, e.g. `ops` or `bytes`.
        unit: String,
    },
    /// `elapsed` of the unit for `iterations` iterations; less is better.
    Amount {
        /// Name of the unit, e.g. `instructions`.
        unit: String,
    },
}

impl Metric {
    /// Reports whether samples are times of iterations, as in all benchmarks measured by this tool.
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// Reports whether `elapsed` is a time, for which a clock can be too coarse. Amounts are exact, however small.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Self::Amount { .. })
    }
}

impl fmt::Display for Metric {
    /// Writes `time`, `rate of ops` or `amount of bytes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Rate { unit } => write!(f, "rate of {unit}"),
            Self::Amount { unit } => write!(f, "amount of {unit}"),
        }
    }
}
