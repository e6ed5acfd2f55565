//! The input of the page.

use crate::output::text::history::BenchmarkHistory;
use perfcheck_analysis::compare::{BenchmarkRecord, ChangeShape, Difference, HostControls, Shape};
use perfcheck_analysis::findings::{LimitReport, Method, Row, RunNote};
use perfcheck_analysis::model::{Measurement, Metric, Run, RunId};

/// The content of a page.
#[derive(Debug)]
pub struct Page<'a> {
    /// Name of the workspace's directory, which is the title.
    pub workspace: String,
    /// The run.
    pub run: &'a Run,
    /// Reference of the verdicts, in words.
    pub reference: Option<String>,
    /// All runs that the page shows, the run itself first.
    pub runs: Vec<PageRun<'a>>,
    /// Confidence level of the intervals of times.
    pub confidence_level: f64,
    /// Differences between the sides that do not prevent a comparison.
    pub warnings: Vec<Difference>,
    /// Remarks about the comparison as a whole.
    pub remarks: Vec<RunNote>,
    /// The limits and the benchmarks that exceed them.
    pub limits: LimitReport,
    /// Omissions that keep the page small, a sentence each.
    pub omissions: Vec<String>,
    /// The benchmarks in their initial order.
    pub benchmarks: Vec<PageBenchmark<'a>>,
}

/// A run with the signs of its host's condition.
#[derive(Debug)]
pub struct PageRun<'a> {
    /// The run without its samples.
    pub head: &'a Run,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// Signs of the host's condition during the run.
    pub signs: HostControls,
}

/// A benchmark on the page.
#[derive(Debug)]
pub struct PageBenchmark<'a> {
    /// The findings, without the measurement.
    pub row: &'a Row<'a>,
    /// Metric of the samples.
    pub metric: &'a Metric,
    /// The stored change, which is available even if the comparison can no longer be computed.
    pub stored_change: Option<f64>,
    /// Method of the comparison, if there was one.
    pub method: Option<Method>,
    /// Measurement of the run.
    pub candidate: Option<PageSide<'a>>,
    /// Measurement of the reference; if there are several runs, the newest.
    pub base: Option<PageSide<'a>>,
    /// Distribution of the resampled changes.
    pub change: Option<ChangeShape>,
    /// History of the benchmark on the branch.
    pub history: Option<&'a BenchmarkHistory>,
    /// Explanation of the verdict: the topic of each sentence, and the sentence.
    pub sentences: Vec<(&'static str, String)>,
}

impl<'a> PageBenchmark<'a> {
    /// Returns the sides that were measured, the candidate first.
    pub fn sides(&self) -> impl Iterator<Item = &PageSide<'a>> {
        [&self.candidate, &self.base].into_iter().flatten()
    }
}

/// One side of a benchmark.
#[derive(Debug)]
pub struct PageSide<'a> {
    /// The run.
    pub run: RunId,
    /// The measurement.
    pub measurement: &'a Measurement,
    /// The statistics, as in `show --stats`.
    pub record: BenchmarkRecord,
    /// The shape of the distribution, for drawing.
    pub shape: Shape,
}
