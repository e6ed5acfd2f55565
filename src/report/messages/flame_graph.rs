//! Where the flame graph of a benchmark went (`explain --flamegraph`).

use serde::Serialize;

use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId};

/// A differential flame graph was written to a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FlameGraphWritten<'a> {
    /// The run that has the verdict; its build is the candidate.
    pub run: RunId,
    /// The run whose build is the base.
    pub base_run: RunId,
    /// The benchmark.
    pub benchmark: &'a BenchmarkKey,
    /// Where the file is.
    pub path: &'a str,
    /// How large the file is.
    pub bytes: usize,
    /// The instructions of an iteration in each build, as they are drawn.
    pub instructions: BySide<f64>,
}
