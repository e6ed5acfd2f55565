//! What is in the store: benchmarks, runs, baselines, workspaces.

use serde::Serialize;

use super::run::VerdictCounts;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, GitState, Metric, Pair, Run, RunId, RunStatus, Source,
    SuitePart, Tally, Verdict,
};

/// A benchmark was found and not measured (`cargo perfcheck list`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkFound<'a> {
    /// The benchmark.
    pub benchmark: &'a BenchmarkKey,
}

/// A benchmark that the store knows (`history` without a benchmark).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkLine {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// How many runs measured it.
    pub runs: usize,
    /// The newest run that measured it and came to its end; without any, the newest.
    pub last_run: RunId,
    /// When that run began, RFC 3339.
    pub last_started: String,
    /// The median that the last run measured, nanoseconds per iteration; null without samples.
    pub typical_ns: Option<f64>,
    /// The same of the last runs, at most 16, oldest first; null where a run has no samples of it.
    pub last_values_ns: Vec<Option<f64>>,
    /// What its samples mean.
    pub metric: Metric,
    /// Its change against the reference of the last run, a fraction; null without a comparison.
    pub change: Option<f64>,
    /// The verdict of the last run about it; null where that run has none.
    pub verdict: Option<Verdict>,
}

/// A stored run, as lists are given it.
#[derive(Debug, Clone)]
pub struct RunLine {
    /// Its head.
    pub run: Run,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long ago that was, for people.
    pub ago: String,
    /// The baselines that name it.
    pub names: Vec<String>,
    /// How many benchmarks it launched.
    pub benchmarks: usize,
    /// Its verdicts.
    pub tally: Tally,
    /// The benchmarks whose level in this run was accepted by itself.
    pub accepted_benchmarks: Vec<BenchmarkKey>,
}

/// A stored run (`store runs`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListedRun<'a> {
    /// The number of the run.
    run: RunId,
    /// When it began, RFC 3339.
    started: &'a str,
    /// How far it came.
    status: RunStatus,
    /// Whether it may serve as a reference by itself.
    acceptance: Acceptance,
    /// The names of the baselines that point to it.
    baselines: &'a [String],
    /// The checkout that it measured; null outside of a repository.
    git: Option<&'a GitState>,
    /// The machine and the build.
    environment: &'a Environment,
    /// The seed of everything random in the run.
    seed: u64,
    /// How many benchmarks it launched.
    benchmarks: usize,
    /// Each verdict with its count.
    verdicts: VerdictCounts,
    /// The benchmarks whose level in this run the user accepted by itself.
    accepted_benchmarks: &'a [BenchmarkKey],
    /// Where it was imported from; null for a run that was measured here.
    source: Option<&'a Source>,
    /// The other side of an A/B measurement; null for any other run.
    pair: Option<Pair>,
    /// Which part of a suite it measured (`--partition`); null for a run of all.
    part: Option<SuitePart>,
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
    /// The name of the baseline.
    pub name: String,
    /// The run that it names.
    pub run: RunId,
    /// When that run began, RFC 3339.
    pub started: String,
    /// How long ago that was, for people.
    #[serde(skip)]
    pub ago: String,
    /// The checkout that the run measured; null outside of a repository.
    pub git: Option<GitState>,
    /// What that run is a side of.
    #[serde(skip)]
    pub pair: Option<Pair>,
}

/// A workspace that the store knows (`store adopt`).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkspaceLine {
    /// What the store knows it by.
    pub key: String,
    /// Where it was last seen.
    pub label: String,
    /// How many runs it has.
    pub runs: usize,
    /// Whether it is the workspace that the command was called in.
    pub own: bool,
}
