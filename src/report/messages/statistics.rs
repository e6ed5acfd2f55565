//! The message of `show --stats`: every statistic of a benchmark.

use serde::Serialize;

use super::run::ChangedThresholds;
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, InstructionSummary, LatencyOverTime, LatencySummary,
    ProcessStatistics,
};
use perfcheck_analysis::model::{
    BenchmarkKey, Measurement, Metric, RunId, Thresholds, Throughput, Verdict,
};

/// A benchmark of a run with all its statistics.
#[derive(Debug, Clone)]
pub struct BenchmarkStatistics<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// The measurement, process by process.
    pub measurement: &'a Measurement,
    /// Summary of the samples; `None` without samples.
    pub record: Option<BenchmarkRecord>,
    /// Statistics of processes, over all processes; `None` without samples.
    pub over_launches: Option<ProcessStatistics>,
    /// Verdict of the run about the benchmark, if it has one.
    pub verdict: Option<Verdict>,
    /// Change that the verdict is based on, as a fraction.
    pub change: Option<f64>,
    /// Adjusted p-value that the verdict is based on, if it is stored.
    pub p_value: Option<f64>,
    /// Thresholds of the run.
    pub thresholds: Thresholds,
}

/// Every statistic of a benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkStatistics"))]
pub(crate) struct BenchmarkStatisticsMessage<'a> {
    /// Number of the run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// Metric of the samples.
    metric: &'a Metric,
    /// Amount that one iteration processes.
    throughput: Throughput,
    /// Throughput in the author's own unit, if it is not bytes or elements.
    other_throughput: Option<&'a str>,
    /// Confidence level of all intervals.
    confidence_level: f64,
    /// Statistics of the samples; null without samples.
    statistics: Option<&'a BenchmarkRecord>,
    /// Same value as `bytes` of `allocations`.
    mean_allocated_bytes: Option<f64>,
    /// Allocations per iteration; null if the bench does not count them.
    allocations: Option<AllocationSummary>,
    /// Instructions per iteration; null if they were not counted.
    instructions: Option<InstructionSummary>,
    /// Latencies of single operations; null if operations were not timed one by one, or none succeeded.
    latencies: Option<&'a LatencySummary>,
    /// Statistics of processes, over all processes, with percentile bootstrap intervals whose bounds are whole order statistics; null without
    /// samples.
    over_launches: Option<&'a ProcessStatistics>,
    /// Latencies over the time of the processes; null without latencies.
    course: Option<&'a LatencyOverTime>,
    /// Verdict of the run about the benchmark; null if there is none.
    verdict: Option<Verdict>,
    /// Change that the verdict is based on, as a fraction; null without a comparison.
    change: Option<f64>,
    /// P-value of the deciding test, as in `benchmark-compared`; null if nothing was compared, or if the derivation of the verdict is not stored.
    p_value: Option<f64>,
    /// Thresholds of the run that differ from the default, by name.
    thresholds: ChangedThresholds,
}

impl<'a> BenchmarkStatisticsMessage<'a> {
    /// Creates the message about `one`; `latencies` are computed by [`LatencySummary::from_statistics`] at `confidence_level`.
    pub fn from_statistics(
        run: RunId,
        one: &'a BenchmarkStatistics<'a>,
        latencies: Option<&'a LatencySummary>,
        confidence_level: f64,
    ) -> Self {
        let benchmark = &one.measurement.benchmark;
        let allocations = AllocationSummary::from_measurement(one.measurement);
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
            instructions: InstructionSummary::from_measurement(one.measurement),
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
