//! What an import brought, what an export wrote, and where a page went.

use serde::Serialize;

use perfcheck_analysis::compare::Diagnostic;
use perfcheck_analysis::model::{BenchmarkKey, Metric, RunId, SampleCounts, Source};

/// What an import brought.
#[derive(Debug)]
pub struct ImportFindings<'a> {
    /// The run; `None` where nothing was to be stored.
    pub run: Option<RunId>,
    /// Where it comes from.
    pub source: &'a Source,
    /// How many launches were told apart.
    pub launches: usize,
    /// The name that the run got.
    pub baseline: Option<&'a str>,
    /// In the order in which they are to be shown.
    pub rows: Vec<ImportedBenchmark>,
    /// Only what it comes to.
    pub quiet: bool,
}

/// A benchmark that was imported, as its values are summarised. All of them are stored.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedBenchmark {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// What its samples mean.
    pub metric: Metric,
    /// Where its values went.
    #[serde(flatten)]
    pub counts: SampleCounts,
    /// How many values the policy replaced.
    pub replaced: usize,
    /// The bounds beyond which values are outliers; null where the policy has none.
    #[serde(rename = "fences_ns")]
    pub fences: Option<ValueBounds>,
    /// The mean of the values in the summary, per iteration: nanoseconds, or of an amount its unit.
    pub mean: f64,
    /// The interval of the mean, as `interval` of the `source` says; null for fewer than five values.
    pub mean_interval: Option<ValueBounds>,
    /// The median of the values in the summary.
    pub median: f64,
    /// How often the operation runs per second.
    pub per_second: PerSecond,
    /// What is absurd of its values, by the thresholds `mean-over-median` and `absurd-seconds`.
    pub absurd: Vec<Diagnostic>,
    /// How many values are 0: less than the clock could see.
    pub zeros: usize,
}

/// A benchmark that was imported, with its run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkImported<'a> {
    /// The number of the run; null with `--dry-run`.
    pub run: Option<RunId>,
    #[serde(flatten)]
    pub row: &'a ImportedBenchmark,
}

/// A lower and an upper bound.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValueBounds {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

/// Operations per second: 1e9 over a time.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PerSecond {
    /// Of the mean.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub mean: f64,
    /// Of the longest value.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub min: f64,
    /// Of the shortest value; null where that is 0.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub max: f64,
}

/// What an import brought; after its benchmarks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ImportFinished<'a> {
    /// The number of the run; null with `--dry-run`.
    run: Option<RunId>,
    /// The name that the run got; null without one.
    baseline: Option<&'a str>,
    /// How many benchmarks there are.
    benchmarks: usize,
    /// How many launches were told apart.
    launches: usize,
    /// Where the values come from.
    source: &'a Source,
}

/// A run that was exported elsewhere and imported here.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RunImported"))]
pub struct TakenOver {
    /// Its number here; null with `--dry-run` for a run that is new.
    pub run: Option<RunId>,
    /// Whether it was here already; then nothing was stored.
    pub known: bool,
    /// The file that it is in.
    pub file: String,
    /// When it was measured, RFC 3339.
    pub started: String,
    /// How many benchmarks it has.
    pub benchmarks: usize,
    /// How many launches it has.
    pub launches: usize,
    /// Whether it is the base of an A/B measurement.
    #[serde(skip)]
    pub is_base: bool,
    /// The names that it got.
    pub baselines: Vec<String>,
}

/// Runs were exported to a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExportFinished<'a> {
    /// The numbers of the runs that were asked for.
    pub runs: &'a [RunId],
    /// The name of the format.
    pub format: &'a str,
    /// Where the file is.
    pub path: &'a str,
}

/// Runs were sent to a team's store (`store push`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pushed {
    /// The store, without user and password.
    pub store: String,
    /// The numbers that the runs have there.
    pub sent: Vec<RunId>,
    /// How many runs of this store were there already.
    pub already: usize,
}

/// A page was written to a file (`report --report html=FILE`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReportWritten<'a> {
    /// The run that the page is about.
    pub run: RunId,
    /// The format of the file.
    pub format: PageFormat,
    /// Where the file is.
    pub path: &'a str,
    /// How large the file is.
    pub bytes: usize,
    /// How many benchmarks are on the page.
    pub benchmarks: usize,
}

/// The format of a page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageFormat {
    /// One file of HTML that needs no other.
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
