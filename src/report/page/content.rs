//! What the page is given.

use crate::report::text::history::BenchmarkHistory;
use perfcheck_analysis::compare::{BenchmarkRecord, ChangeShape, Difference, HostSigns, Shape};
use perfcheck_analysis::findings::{Limits, Method, Row, RunRemark};
use perfcheck_analysis::model::{Measurement, Metric, Run, RunId};

/// Everything that a page shows.
#[derive(Debug)]
pub struct Page<'a> {
    /// What it is about: the name of the workspace's directory.
    pub workspace: String,
    /// The run.
    pub run: &'a Run,
    /// What its verdicts compare it with, in words.
    pub reference: Option<String>,
    /// All runs that something is shown of, the run itself first.
    pub runs: Vec<PageRun<'a>>,
    /// Level of the intervals of times.
    pub confidence_level: f64,
    /// Facts that differ without making the sides incomparable.
    pub warnings: Vec<Difference>,
    /// What else a reader must know of the whole.
    pub remarks: Vec<RunRemark>,
    /// What the limits made of it.
    pub limits: Limits,
    /// What the page leaves out so that its size stays within bounds, a sentence each.
    pub omissions: Vec<String>,
    /// The benchmarks in the order in which they are shown first.
    pub benchmarks: Vec<PageBenchmark<'a>>,
}

/// A run with what it saw of its host.
#[derive(Debug)]
pub struct PageRun<'a> {
    /// Its head.
    pub head: &'a Run,
    /// When it began, RFC 3339.
    pub started: String,
    /// What it saw of its host.
    pub signs: HostSigns,
}

/// One benchmark.
#[derive(Debug)]
pub struct PageBenchmark<'a> {
    /// What is known of it, without the measurement.
    pub row: &'a Row<'a>,
    /// What its samples mean.
    pub metric: &'a Metric,
    /// The change as it was written down; the comparison may not be known any more.
    pub stored_change: Option<f64>,
    /// The method by which it was compared, where it was.
    pub method: Option<Method>,
    /// What the run measured.
    pub candidate: Option<PageSide<'a>>,
    /// What it was compared with; of several runs the newest.
    pub base: Option<PageSide<'a>>,
    /// How resampled changes lie.
    pub change: Option<ChangeShape>,
    /// Its course over the runs of the branch.
    pub history: Option<&'a BenchmarkHistory>,
    /// How the verdict came about: what a sentence is about, and the sentence.
    pub sentences: Vec<(&'static str, String)>,
}

impl<'a> PageBenchmark<'a> {
    /// The sides that were measured, the candidate first.
    pub fn sides(&self) -> impl Iterator<Item = &PageSide<'a>> {
        [&self.candidate, &self.base].into_iter().flatten()
    }
}

/// One side of a benchmark.
#[derive(Debug)]
pub struct PageSide<'a> {
    /// The run.
    pub run: RunId,
    /// What was measured.
    pub measurement: &'a Measurement,
    /// The statistics, as `show --stats` has them.
    pub record: BenchmarkRecord,
    /// What is drawn.
    pub shape: Shape,
}
