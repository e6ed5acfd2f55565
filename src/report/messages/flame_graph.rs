//! The message of `explain --flamegraph`.

use serde::Serialize;

use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId};

/// A differential flame graph was written to a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FlameGraphWritten<'a> {
    /// Run that has the verdict; its build is the candidate.
    pub run: RunId,
    /// Run whose build is the base.
    pub base_run: RunId,
    /// The benchmark.
    pub benchmark: &'a BenchmarkKey,
    /// Path of the file.
    pub path: &'a str,
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Instructions of an iteration in each build, as drawn.
    pub instructions: BySide<f64>,
}
