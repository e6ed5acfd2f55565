//! Messages of `coverage`: one about each function, and one about all of them.

use serde::Serialize;

use perfcheck_analysis::model::BenchmarkKey;

/// How well the benchmarks see a function of the workspace.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "FunctionCovered"))]
pub struct CoveredFunction {
    /// Name of the function: crate, modules, type, function.
    pub function: String,
    /// Name of its package.
    pub package: String,
    /// Its source file, relative to the workspace's directory.
    pub file: String,
    /// Line on which the function begins, counted from 1.
    pub first_line: u32,
    /// Line on which the function ends.
    pub last_line: u32,
    /// Whether the selected benchmarks execute the function.
    pub execution: FunctionExecution,
    /// The benchmark that would notice the smallest slowdown of the function. Null if none measures it.
    pub benchmark: Option<BenchmarkKey>,
    /// The function's share of the instructions of that benchmark, as a fraction. 0 if no benchmark measures the function.
    pub share: f64,
    /// The smallest slowdown of the function that this benchmark would find, as a fraction. Null if no benchmark measures the function.
    pub slowdown: Option<f64>,
    /// The instructions of each line in an iteration of that benchmark.
    #[serde(skip)]
    pub lines: Vec<CoveredLine>,
}

/// The instructions of a source line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoveredLine {
    /// The number of the line, counted from 1.
    pub line: u32,
    /// The instructions in one iteration.
    pub instructions: f64,
}

/// Whether benchmarks execute a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FunctionExecution {
    /// The timed code of a benchmark executes instructions of the function.
    Timed,
    /// The function is executed, but no timed instruction is its own: it runs outside the timed code, or the compiler has removed all of it.
    Untimed,
    /// No process that runs the benchmarks executes the function.
    Never,
    /// No benchmark that was counted executes the function, but some could not be counted.
    Unknown,
}

/// How small a change a benchmark shows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkSensitivity {
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// Instructions of an iteration.
    pub instructions: f64,
    /// The smallest slowdown of the benchmark that would be found, as a fraction.
    pub smallest_change: f64,
    /// Whether that slowdown comes from a stored side-by-side run. Otherwise it is an assumption.
    pub is_measured: bool,
}

/// How well benchmarks see the functions of the workspace. This message follows those about the functions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "CoverageFinished"))]
pub struct CoverageFindings {
    /// The functions, sorted by file and line.
    #[serde(skip)]
    pub rows: Vec<CoveredFunction>,
    /// Number of functions.
    pub functions: usize,
    /// Number of functions of which a slowdown of `within` or less would be found.
    pub covered: usize,
    /// Number of functions that are never executed.
    pub never_executed: usize,
    /// The slowdown of `--within`, as a fraction.
    pub within: f64,
    /// The share of `--fail-under`, as a fraction. Null without the flag.
    pub fail_under: Option<f64>,
    /// The benchmarks that were counted.
    pub benchmarks: Vec<BenchmarkSensitivity>,
    /// Selected packages that are left out because other packages use them only as dev-dependencies.
    pub left_out: Vec<String>,
    /// Remarks on missing counts and functions, a sentence each.
    pub remarks: Vec<String>,
    /// Exit status of the command.
    pub exit_code: u8,
}

impl CoveredFunction {
    /// Reports whether a slowdown of `within` or less would be found.
    pub fn is_covered(&self, within: f64) -> bool {
        self.slowdown.is_some_and(|slowdown| slowdown <= within)
    }
}

impl CoverageFindings {
    /// Returns the share of functions of which a slowdown would be found. It is 0 if there are no functions, so that a check of nothing fails.
    pub fn covered_share(&self) -> f64 {
        self.covered as f64 / self.functions.max(1) as f64
    }

    /// Reports whether the share is smaller than that of `--fail-under`.
    pub fn is_too_low(&self) -> bool {
        self.fail_under
            .is_some_and(|least| self.covered_share() < least)
    }
}
