//! The input of an explanation.

use crate::sanitize::shell_command;
use perfcheck_analysis::compare::{Comparison, HostControls, Plan};
use perfcheck_analysis::findings::{CodeChange, Method, Row};
use perfcheck_analysis::model::{BenchmarkKey, Failure, GitState, Metric, Run, RunId, Verdict};

/// The measurement of a benchmark in one run.
#[derive(Debug, Clone)]
pub struct MeasuredSide {
    /// The run
    pub run: RunId,
    /// Start of the run, RFC 3339
    pub started: String,
    /// The checkout
    pub git: Option<GitState>,
    /// Processes with samples; rounds, if measured side by side
    pub launches: usize,
    /// Samples that count, of all processes together
    pub samples: usize,
}

/// All facts about one verdict.
#[derive(Debug, Clone)]
pub struct Explanation<'a> {
    /// The benchmark
    pub key: &'a BenchmarkKey,
    /// Unit and meaning of its samples
    pub metric: &'a Metric,
    /// The run that has the verdict
    pub run: &'a Run,
    /// The verdict, as stored
    pub verdict: Verdict,
    /// The change, as stored, a fraction
    pub change: Option<f64>,
    /// The reference run, as stored
    pub reference: Option<RunId>,
    /// The measurement of the run, or of the candidate if measured side by side; `None` if the benchmark was not measured
    pub candidate: Option<MeasuredSide>,
    /// The measurements of the reference runs that still exist, newest first
    pub base: Vec<MeasuredSide>,
    /// Properties of the host that the run measured
    pub signs: HostControls,
    /// Processes that failed
    pub failures: &'a [Failure],
    /// The stored findings; `None` if they are unknown
    pub row: Option<&'a Row<'a>>,
    /// Method of the comparison; `None` if it is unknown
    pub method: Option<Method>,
    /// Functions that differ between the executables of both sides, if known
    pub code: Option<&'a CodeChange>,
    /// Plan of a side-by-side measurement
    pub plan: Option<&'a Plan>,
}

impl Explanation<'_> {
    /// Returns the comparison behind the verdict, if there was one.
    pub(crate) fn comparison(&self) -> Option<&Comparison> {
        self.row?.comparison.as_ref()
    }
}

/// The command-line arguments that select the benchmark again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkSelector {
    /// Argument that names the benchmark, not quoted
    pub word: String,
    /// Flags that select its workspace and store, each after a space
    pub place: String,
}

impl BenchmarkSelector {
    /// Returns `command` for the benchmark, with `flags` that each follow a space.
    pub(super) fn command(&self, command: &str, flags: &str) -> String {
        let flags = format!("{flags}{}", self.place);
        shell_command(command, &[&self.word], &flags)
    }
}
