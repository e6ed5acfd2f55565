//! Messages about imported, exported, pushed and reported runs.

use serde::Serialize;

use perfcheck_analysis::compare::ValueSummary;
use perfcheck_analysis::model::{BenchmarkKey, Metric, RunId, Source};

/// The result of an import.
#[derive(Debug)]
pub struct ImportFindings<'a> {
    /// The run; `None` if nothing was to be stored.
    pub run: Option<RunId>,
    /// Source of the values.
    pub source: &'a Source,
    /// Number of processes that the files distinguish.
    pub launches: usize,
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
    /// Summary of the values.
    #[serde(flatten)]
    pub summary: ValueSummary,
}

/// An imported benchmark with its run.
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
    /// Number of benchmarks.
    benchmarks: usize,
    /// Number of processes that the files distinguish.
    launches: usize,
    /// Source of the values.
    source: &'a Source,
}

/// A run that another store exported, imported into this one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RunImported"))]
pub struct ImportedRun {
    /// Number of the run in this store; null for a new run with `--dry-run`.
    pub run: Option<RunId>,
    /// Whether this store had the run already; then nothing was stored.
    pub known: bool,
    /// File that contains the run.
    pub file: String,
    /// Start of the measurement, RFC 3339.
    pub started: String,
    /// Number of benchmarks.
    pub benchmarks: usize,
    /// Number of processes.
    pub launches: usize,
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
    /// Number of runs that the team's store had already.
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
            launches: findings.launches,
            source: findings.source,
        }
    }
}
