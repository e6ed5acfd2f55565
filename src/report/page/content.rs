//! What the page is given.

use crate::report::text::history::BenchmarkHistory;
use perfcheck_analysis::compare::{
    BenchmarkRecord, ChangeShape, Comparison, Difference, Estimate, HostSigns, Shape,
};
use perfcheck_analysis::findings::{Limits, Method, Remark, RunRemark};
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Metric, Run, RunId, Verdict};

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
    /// What the rules of `--fail` made of it.
    pub limits: Limits,
    /// What the page leaves out so that its size stays within bounds, a sentence each.
    pub omissions: Vec<String>,
    /// In the order in which they are shown first.
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
    /// Which.
    pub key: &'a BenchmarkKey,
    /// What its samples mean.
    pub metric: &'a Metric,
    /// The verdict, where there is one.
    pub verdict: Option<Verdict>,
    /// The change as it was written down, where the comparison is not known any more.
    pub stored_change: Option<f64>,
    /// How it was reached, where two measurements were compared.
    pub comparison: Option<&'a Comparison>,
    /// By which method.
    pub method: Option<Method>,
    /// What the run measured.
    pub candidate: Option<PageSide<'a>>,
    /// What it was compared with; of several runs the newest.
    pub base: Option<PageSide<'a>>,
    /// Runs whose mean is the reference.
    pub reference_runs: Vec<RunId>,
    /// How resampled changes lie.
    pub change: Option<ChangeShape>,
    /// Its course over the runs of the branch.
    pub history: Option<&'a BenchmarkHistory>,
    /// How the verdict came about: what a sentence is about, and the sentence.
    pub sentences: Vec<(&'static str, String)>,
    /// What makes the sides incomparable.
    pub blocking: Vec<Difference>,
    /// What else a reader must know.
    pub remarks: &'a [Remark],
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

/// The estimates of a side in the order in which the page's script knows them (`ESTIMATES_OF` in `assets/data.js`).
pub(super) fn estimates(record: &BenchmarkRecord) -> [Option<Estimate>; 8] {
    let summary = &record.summary;
    [
        Some(summary.mean),
        record.mean_of_launches(),
        record.mean_bca,
        Some(summary.median),
        record.median_of_launches,
        summary.sd,
        Some(summary.mad),
        summary.slope,
    ]
}
