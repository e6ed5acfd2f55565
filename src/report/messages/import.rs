//! What an import brought, what an export wrote, and where a page went.

use serde::Serialize;

use perfcheck_analysis::compare::ValueSummary;
use perfcheck_analysis::model::{BenchmarkKey, Metric, RunId, Source};

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
    /// What its values come to.
    #[serde(flatten)]
    pub summary: ValueSummary,
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
