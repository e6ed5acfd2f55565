//! Messages of commands about stored data: listings of benchmarks, runs, baselines and workspaces; imported, exported, pushed and reported runs; runs
//! that `store prune` and `store remove` remove.

use serde::Serialize;

use super::run::VerdictCounts;
use perfcheck_analysis::compare::ValueSummary;
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
    /// Number of runs that measured the benchmark.
    pub runs: usize,
    /// Newest complete run that measured the benchmark. If none is complete, the newest run.
    pub last_run: RunId,
    /// Start of `last_run`, RFC 3339.
    pub last_started: String,
    /// Median of the benchmark in `last_run`, in nanoseconds per iteration or in the unit of the metric; null if the run has no samples.
    pub typical_ns: Option<f64>,
    /// Medians of the benchmark in the last runs, at most 16, oldest first, in nanoseconds per iteration or in the unit of the metric. Null for a run
    /// without samples.
    pub last_values_ns: Vec<Option<f64>>,
    /// Metric of the samples.
    pub metric: Metric,
    /// Change that `last_run` found against its reference, as a fraction; null without a comparison.
    pub change: Option<f64>,
    /// Verdict of `last_run`; null if it has none.
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
    /// How many benchmarks of the run got each verdict.
    pub tally: Tally,
    /// Benchmarks whose values in this run the user accepted as new levels one by one, without accepting the whole run.
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
    /// Names of the baselines that point to the run; empty without one.
    baselines: &'a [String],
    /// Checkout that was measured; null outside a repository.
    git: Option<&'a GitState>,
    /// Host and build of the run.
    environment: &'a Environment,
    /// Seed of the random numbers of the run.
    seed: u64,
    /// Number of benchmarks that the run started.
    benchmarks: usize,
    /// How many benchmarks of the run got each verdict.
    verdicts: VerdictCounts,
    /// Benchmarks whose values in this run the user accepted as new levels one by one, without accepting the whole run. Empty if there are none.
    accepted_benchmarks: &'a [BenchmarkKey],
    /// Source of an imported run; null for a run that was measured here.
    source: Option<&'a Source>,
    /// For a run of a side-by-side measurement, which side it is and the run of the other side; null for any other run.
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
    /// Start of the named run, RFC 3339.
    pub started: String,
    /// Age of the named run, in words.
    #[serde(skip)]
    pub ago: String,
    /// Checkout that the run measured; null outside a repository.
    pub git: Option<GitState>,
    /// For a run of a side-by-side measurement, which side it is and the run of the other side.
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
    /// Number of runs of the workspace.
    pub runs: usize,
    /// Whether this is the workspace in which the command was called.
    pub own: bool,
}

/// The result of an import.
#[derive(Debug)]
pub struct ImportFindings<'a> {
    /// The run that stores the values; `None` if nothing was to be stored.
    pub run: Option<RunId>,
    /// Files, columns and filters that the values come from.
    pub source: &'a Source,
    /// Number of processes that the files distinguish.
    pub processes: usize,
    /// Baseline that names the run, if any.
    pub baseline: Option<&'a str>,
    /// The benchmarks, in the order in which they are shown.
    pub rows: Vec<ImportedBenchmark>,
    /// Whether to print only the summary.
    pub quiet: bool,
}

/// An imported benchmark with a summary of its values, all of which are stored.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedBenchmark {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// Metric of the samples.
    pub metric: Metric,
    /// Counts and statistics of the values.
    #[serde(flatten)]
    pub summary: ValueSummary,
}

/// An imported benchmark with the run that stores it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkImported<'a> {
    /// Number of the run; null with `--dry-run`.
    pub run: Option<RunId>,
    #[serde(flatten)]
    pub row: &'a ImportedBenchmark,
}

/// The result of an import. It follows the messages about the benchmarks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ImportFinished<'a> {
    /// Number of the run; null with `--dry-run`.
    run: Option<RunId>,
    /// Baseline that names the run; null without one.
    baseline: Option<&'a str>,
    /// Number of imported benchmarks.
    benchmarks: usize,
    /// Number of processes that the files distinguish.
    processes: usize,
    /// Files, columns and filters that the values come from.
    source: &'a Source,
}

/// A run that another store exported, imported into this one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RunImported"))]
pub struct ImportedRun {
    /// Number of the run in this store; null for a new run with `--dry-run`.
    pub run: Option<RunId>,
    /// Whether this store already had the run. If so, nothing was stored.
    pub known: bool,
    /// File that contains the run.
    pub file: String,
    /// Start of the measurement, RFC 3339.
    pub started: String,
    /// Number of benchmarks.
    pub benchmarks: usize,
    /// Number of processes.
    pub processes: usize,
    /// Whether the run is the base of a side-by-side measurement.
    #[serde(skip)]
    pub is_base: bool,
    /// Baselines that name the run.
    pub baselines: Vec<String>,
}

/// Runs were exported to a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExportFinished<'a> {
    /// Numbers of the exported runs.
    pub runs: &'a [RunId],
    /// Name of the format.
    pub format: &'a str,
    /// Path of the file.
    pub path: &'a str,
}

/// Runs were sent to a team's store (`store push`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PushResult {
    /// The team's store, without user and password.
    pub store: String,
    /// Numbers of the runs in the team's store.
    pub sent: Vec<RunId>,
    /// Number of runs that were not sent because the team's store already had them.
    pub already: usize,
}

/// A page was written to a file (`report --report html=FILE`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReportWritten<'a> {
    /// Run that the page describes.
    pub run: RunId,
    /// Format of the file.
    pub format: PageFormat,
    /// Path of the file.
    pub path: &'a str,
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Number of benchmarks on the page.
    pub benchmarks: usize,
}

/// The format of a page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageFormat {
    /// A self-contained HTML file.
    Html,
}

impl<'a> From<&ImportFindings<'a>> for ImportFinished<'a> {
    fn from(findings: &ImportFindings<'a>) -> Self {
        Self {
            run: findings.run,
            baseline: findings.baseline,
            benchmarks: findings.rows.len(),
            processes: findings.processes,
            source: findings.source,
        }
    }
}

/// What pruning does with a run, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PruneDecision {
    /// The run is removed.
    Goes,
    /// A rule of the policy keeps the run. There is no message about such a run.
    Kept,
    /// The run stays because a baseline names it.
    Named,
    /// The run stays because later runs are compared with it.
    Reference,
    /// The run stays because it may still be measuring.
    UnderWay,
    /// The run stays because it is one side of a side-by-side measurement whose other side stays.
    Together,
}

/// A run that is removed, or that stays although no rule keeps it (`store prune`, `store remove`).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PruneLine {
    /// Number of the run.
    pub run: RunId,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Branch that was measured; null for a detached `HEAD` or outside a repository.
    pub branch: Option<String>,
    /// Full hash of the commit that was measured; null outside a repository.
    pub commit: Option<String>,
    /// Names of the baselines that point to the run.
    pub baselines: Vec<String>,
    /// Number of benchmarks that the run started.
    pub benchmarks: usize,
    /// Size of the samples of the run in bytes.
    pub bytes: u64,
    /// What pruning does with the run, and why.
    pub fate: PruneDecision,
}

/// A summary of a removal of runs or samples, whether or not it was carried out.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PruneFinished {
    /// Whether the removal was carried out; if not, this message describes what would happen.
    pub executed: bool,
    /// Whether only the samples of the runs are removed, so that the runs stay in the history.
    pub samples_only: bool,
    /// Number of runs to remove, or whose samples are to be removed.
    pub going: usize,
    /// Number of runs that stay.
    pub staying: usize,
    /// Size of the samples of the runs to remove, in bytes.
    pub bytes: u64,
    /// Number of runs that were removed, or that lost their samples; null if nothing was done.
    pub removed: Option<usize>,
    /// Disk space that was freed, in bytes; null if nothing was done.
    pub freed_bytes: Option<u64>,
}
