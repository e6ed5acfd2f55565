//! Messages of commands that list the store: benchmarks, runs, baselines, workspaces.

use serde::Serialize;

use super::run::VerdictCounts;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, GitState, Metric, Pair, Run, RunId, RunStatus, ShardId,
    Source, Tally, Verdict,
};

/// A benchmark was found but not measured (`cargo perfcheck list`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkFound<'a> {
    /// The benchmark.
    pub benchmark: &'a BenchmarkKey,
}

/// A benchmark in the store (`history` without a benchmark).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkLine {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// Number of runs that measured it.
    pub runs: usize,
    /// Newest complete run that measured it; if none is complete, the newest.
    pub last_run: RunId,
    /// Start of that run, RFC 3339.
    pub last_started: String,
    /// Median in that run, in nanoseconds per iteration; null without samples.
    pub typical_ns: Option<f64>,
    /// Medians in the last runs, at most 16, oldest first, in nanoseconds per iteration; null for a run without samples.
    pub last_values_ns: Vec<Option<f64>>,
    /// Metric of the samples.
    pub metric: Metric,
    /// Change against the reference of the last run, as a fraction; null without a comparison.
    pub change: Option<f64>,
    /// Verdict of the last run; null if it has none.
    pub verdict: Option<Verdict>,
}

/// A stored run, as an entry of a list.
#[derive(Debug, Clone)]
pub struct RunLine {
    /// The run without its samples.
    pub run: Run,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Age of the run, in words.
    pub ago: String,
    /// Baselines that name the run.
    pub names: Vec<String>,
    /// Number of benchmarks that the run started.
    pub benchmarks: usize,
    /// Number of benchmarks with each verdict.
    pub tally: Tally,
    /// Benchmarks whose level in this run the user accepted individually.
    pub accepted_benchmarks: Vec<BenchmarkKey>,
}

/// A stored run (`store runs`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListedRun<'a> {
    /// Number of the run.
    run: RunId,
    /// Start of the run, RFC 3339.
    started: &'a str,
    /// Whether the run is complete.
    status: RunStatus,
    /// Whether the run as a whole may serve as a reference.
    acceptance: Acceptance,
    /// Names of the baselines that point to the run.
    baselines: &'a [String],
    /// Checkout that was measured; null outside a repository.
    git: Option<&'a GitState>,
    /// Host and build of the run.
    environment: &'a Environment,
    /// Random seed of the run.
    seed: u64,
    /// Number of benchmarks that the run started.
    benchmarks: usize,
    /// Number of benchmarks with each verdict.
    verdicts: VerdictCounts,
    /// Benchmarks whose level in this run the user accepted individually.
    accepted_benchmarks: &'a [BenchmarkKey],
    /// Source of an imported run; null for a run that was measured here.
    source: Option<&'a Source>,
    /// Other side of a side-by-side measurement; null for any other run.
    pair: Option<Pair>,
    /// Part of the suite that the run measured (`--partition`); null if it measured all.
    part: Option<ShardId>,
}

impl<'a> From<&'a RunLine> for ListedRun<'a> {
    fn from(line: &'a RunLine) -> Self {
        let run = &line.run;
        Self {
            run: run.id,
            started: &line.started,
            status: run.status,
            acceptance: run.acceptance,
            baselines: &line.names,
            git: run.begun.git.as_ref(),
            environment: &run.begun.environment,
            seed: run.begun.seed,
            benchmarks: line.benchmarks,
            verdicts: (&line.tally).into(),
            accepted_benchmarks: &line.accepted_benchmarks,
            source: run.source.as_ref(),
            pair: run.pair,
            part: run.begun.partition.as_ref().map(|found| found.part),
        }
    }
}

/// A baseline (`baseline list`).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BaselineLine {
    /// Name of the baseline.
    pub name: String,
    /// Run that the baseline names.
    pub run: RunId,
    /// Start of that run, RFC 3339.
    pub started: String,
    /// Age of that run, in words.
    #[serde(skip)]
    pub ago: String,
    /// Checkout that the run measured; null outside a repository.
    pub git: Option<GitState>,
    /// Side-by-side measurement that the run is a side of.
    #[serde(skip)]
    pub pair: Option<Pair>,
}

/// A workspace in the store (`store adopt`).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkspaceLine {
    /// Key of the workspace in the store.
    pub key: String,
    /// Directory in which the workspace was last seen.
    pub label: String,
    /// Number of runs.
    pub runs: usize,
    /// Whether the command was called in this workspace.
    pub own: bool,
}
