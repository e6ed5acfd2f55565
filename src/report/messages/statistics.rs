//! Every statistic of a benchmark (`show --stats`).

use serde::Serialize;

use super::run::ChangedThresholds;
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, InstructionSummary, LatencyCourse, LatencySummary,
    LaunchStatistics,
};
use perfcheck_analysis::model::{
    BenchmarkKey, Measurement, Metric, RunId, Thresholds, Throughput, Verdict,
};

/// One benchmark of a run.
#[derive(Debug, Clone)]
pub struct BenchmarkStatistics<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// What was measured, launch by launch.
    pub measurement: &'a Measurement,
    /// Its description; `None` without samples.
    pub record: Option<BenchmarkRecord>,
    /// The statistics of launches, over all launches; `None` without samples.
    pub over_launches: Option<LaunchStatistics>,
    /// The verdict of the run, if it has one.
    pub verdict: Option<Verdict>,
    /// The change that it rests on, a fraction.
    pub change: Option<f64>,
    /// The p-value that it rests on, adjusted, where it is stored.
    pub p_value: Option<f64>,
    /// The thresholds of the run.
    pub thresholds: Thresholds,
}

/// Every statistic of a benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkStatistics"))]
pub(crate) struct BenchmarkStatisticsMessage<'a> {
    /// The number of the run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// What its samples mean.
    metric: &'a Metric,
    /// What one iteration processes.
    throughput: Throughput,
    /// The same in the author's words where it is neither bytes nor elements.
    other_throughput: Option<&'a str>,
    /// The level of all intervals.
    confidence_level: f64,
    /// The statistics of its samples; null without samples.
    statistics: Option<&'a BenchmarkRecord>,
    /// The `bytes` of `allocations`.
    mean_allocated_bytes: Option<f64>,
    /// What iterations allocated; null where the bench does not count.
    allocations: Option<AllocationSummary>,
    /// The instructions of an iteration; null where they were not counted.
    instructions: Option<InstructionSummary>,
    /// What single operations took; null where they were not timed one by one or none succeeded.
    latencies: Option<&'a LatencySummary>,
    /// The statistics of launches over all launches, with percentile bootstrap intervals, bounded by whole indices; null without samples.
    over_launches: Option<&'a LaunchStatistics>,
    /// How latencies went; null without latencies.
    course: Option<&'a LatencyCourse>,
    /// The verdict of the run about it; null where it has none.
    verdict: Option<Verdict>,
    /// The change that the verdict rests on, a fraction; null without a comparison.
    change: Option<f64>,
    /// The p-value of the deciding test, as in `benchmark-compared`; null where nothing was compared or nothing is stored of
    /// how it was decided.
    p_value: Option<f64>,
    /// The thresholds of the run that are not the default, by name.
    thresholds: ChangedThresholds,
}

impl<'a> BenchmarkStatisticsMessage<'a> {
    /// The statistics of `one`; `latencies` are those of [`LatencySummary::of`] at the level.
    pub fn of(
        run: RunId,
        one: &'a BenchmarkStatistics<'a>,
        latencies: Option<&'a LatencySummary>,
        confidence_level: f64,
    ) -> Self {
        let benchmark = &one.measurement.benchmark;
        let allocations = AllocationSummary::of(one.measurement);
        Self {
            run,
            benchmark: one.key,
            metric: &benchmark.metric,
            throughput: benchmark.throughput,
            other_throughput: benchmark.other_throughput.as_deref(),
            confidence_level,
            statistics: one.record.as_ref(),
            mean_allocated_bytes: allocations.map(|found| found.bytes),
            allocations,
            instructions: InstructionSummary::of(one.measurement),
            latencies,
            over_launches: one.over_launches.as_ref(),
            course: latencies.map(|found| &found.course),
            verdict: one.verdict,
            change: one.change,
            p_value: one.p_value,
            thresholds: (&one.thresholds).into(),
        }
    }
}
