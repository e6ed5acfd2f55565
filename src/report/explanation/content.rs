//! What an explanation is made from, and the sentences that it is made of.

use crate::escape::shell_command;
use perfcheck_analysis::compare::{Comparison, HostSigns, Plan};
use perfcheck_analysis::findings::{CodeChange, Method, Row};
use perfcheck_analysis::model::{BenchmarkKey, Failure, GitState, Metric, Run, RunId, Verdict};

/// What one run measured of the benchmark.
#[derive(Debug, Clone)]
pub struct MeasuredSide {
    /// The run.
    pub run: RunId,
    /// When it began, RFC 3339.
    pub started: String,
    /// The checkout.
    pub git: Option<GitState>,
    /// Launches with samples; with A/B rounds.
    pub launches: usize,
    /// Samples that decide, of all launches together.
    pub samples: usize,
}

/// Everything that is known of one verdict.
#[derive(Debug, Clone)]
pub struct Explanation<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// What its samples mean.
    pub metric: &'a Metric,
    /// The run that has the verdict.
    pub run: &'a Run,
    /// The verdict, as it was written down.
    pub verdict: Verdict,
    /// The change, as it was written down, a fraction.
    pub change: Option<f64>,
    /// The run that it was compared with, as it was written down.
    pub reference: Option<RunId>,
    /// What the run in question measured; with A/B the candidate's side. `None` without measurement.
    pub candidate: Option<MeasuredSide>,
    /// What the runs measured that it was compared with, newest first, as far as they are still there.
    pub base: Vec<MeasuredSide>,
    /// What the run saw of its host.
    pub signs: HostSigns,
    /// The launches that failed.
    pub failures: &'a [Failure],
    /// What was found, as it was stored; `None` where that is not known.
    pub row: Option<&'a Row<'a>>,
    /// How the verdict was reached; `None` where that is not known.
    pub method: Option<Method>,
    /// The functions in which the executables of both sides differ, where that is known.
    pub code: Option<&'a CodeChange>,
    /// The plan of an A/B measurement.
    pub plan: Option<&'a Plan>,
}

impl Explanation<'_> {
    /// The comparison that the verdict rests on, where there was one.
    pub(crate) fn comparison(&self) -> Option<&Comparison> {
        self.row?.comparison.as_ref()
    }
}

/// How commands find the benchmark again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkArguments {
    /// The word for the benchmark, not quoted.
    pub word: String,
    /// The flags that lead to its workspace and store, a space before each.
    pub place: String,
}

impl BenchmarkArguments {
    /// Writes `command` about the benchmark, with `flags` that have a space before each.
    pub(super) fn command(&self, command: &str, flags: &str) -> String {
        let flags = format!("{flags}{}", self.place);
        shell_command(command, &[&self.word], &flags)
    }
}
