//! What the limits of a run made of it: those that a benchmark did not keep, and those that said nothing.

use serde::{Deserialize, Serialize};

use crate::compare::{Estimate, SharedLevel};
use crate::exit_code::ExitCode;
use crate::model::{BenchmarkKey, Unit};

/// What the rules of `--fail` and of Cargo.toml say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gates {
    /// Rules that a benchmark did not keep, in the order of the benchmarks.
    pub violations: Vec<Violation>,
    /// Rules that said nothing, and why, a sentence each.
    pub remarks: Vec<String>,
}

impl Gates {
    /// The status of a command whose limits these are.
    pub fn exit_code(&self) -> ExitCode {
        if self.violations.is_empty() {
            ExitCode::Clean
        } else {
            ExitCode::Regression
        }
    }
}

/// A rule that a benchmark did not keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The rule as it was written.
    pub rule: String,
    /// The statistic's word.
    pub statistic: String,
    /// What its numbers are.
    pub unit: Unit,
    /// Whether it is about the change, a fraction, or about the value.
    pub is_change: bool,
    /// The limit.
    pub limit: f64,
    /// What was found, all of it above the limit.
    pub found: Estimate,
    /// The level of the interval or test that this rests on, and who shares it; `None` of counts that do not vary, and of the change that the
    /// verdict rests on, which has its own.
    pub shared_level: Option<SharedLevel>,
}
