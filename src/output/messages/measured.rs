//! Messages about the measurement of one benchmark: the raw series with allocations of iterations and latencies of single operations, and every
//! statistic (`show --stats`).

use serde::Serialize;

use super::run::ChangedThresholds;
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, Estimate, InstructionSummary, LatencyComparison,
    LatencyOverTime, LatencySummary, ProcessStatistics, Summary, UsageChange, UsageComparison,
    UsageSummary,
};
use perfcheck_analysis::findings::{Findings, Row};
use perfcheck_analysis::model::{
    Allocations, Benchmark, BenchmarkKey, Failure, HdrCounter, Latencies, Measurement, Metric,
    Nanos, ProcessSeries, RunId, Sample, SamplingMode, SamplingSettings, Thresholds, Throughput,
    Verdict,
};

/// The measurement of a benchmark, with the raw series. If two builds were measured side by side, this is the candidate; `show BASE` prints the base.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkMeasured<'a> {
    /// Number of the run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The version string that the author of the benchmark set; null if there is none.
    version: Option<&'a str>,
    /// Bytes and elements that one iteration processes.
    throughput: Throughput,
    /// Throughput in the words of the benchmark's author, if it is neither in bytes nor in elements, such as `Frames(3)`; otherwise null.
    other_throughput: Option<&'a str>,
    /// Metric of the samples.
    metric: &'a Metric,
    /// Cargo features with which the package was built; empty if there are none.
    features: &'a [String],
    /// Settings by which the benchmark was sampled.
    sampling: SamplingSettingsMessage,
    /// Confidence level of the intervals in `summary`.
    confidence_level: f64,
    /// Summary of the samples that the verdict is based on; null without samples.
    summary: Option<&'a Summary>,
    /// Rates, in units per second; null unless the metric is a rate.
    rate_per_second: Option<Rates>,
    /// Allocations per iteration; null if the bench does not count them.
    allocations: Option<AllocationSummary>,
    /// Instructions per iteration; null if they were not counted.
    instructions: Option<InstructionSummary>,
    /// Resources that a run of a program used; null for a bench, and if the system does not report them.
    usage: Option<UsageSummary>,
    /// Latencies of single operations; null if operations were not timed one by one, or none succeeded.
    latencies: Option<&'a LatencySummary>,
    /// The raw samples of each process, or of each round if the builds were measured side by side.
    processes: Vec<MeasuredProcess<'a>>,
    /// Processes that failed, with their messages; empty if none failed.
    failures: &'a [Failure],
}

/// The sampling settings of a benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SamplingSettingsMessage {
    /// Number of processes in a run.
    processes: u32,
    /// Number of samples of each process. Null means as many as fit into the measurement time.
    samples: Option<u32>,
    /// Warm-up time of a process, in nanoseconds.
    warm_up_ns: Nanos,
    /// Number of warm-up iterations, if the user set a number in place of a time; otherwise null.
    warm_up_iterations: Option<u32>,
    /// Measurement time of a process, in nanoseconds.
    measurement_ns: Nanos,
    /// How iterations are distributed over the samples of a process.
    mode: SamplingMode,
}

/// Rates in units per second. They are the reciprocals of the times per unit.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rates {
    /// Harmonic mean of the rates, with its interval.
    mean: Estimate,
    /// Median of the rates, with its interval.
    median: Estimate,
}

/// The raw samples of one process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MeasuredProcess<'a> {
    /// Index of the process in the run, from 0.
    process: u32,
    /// Smallest step of the clock, in nanoseconds; 0 if unknown.
    quantum_ns: Nanos,
    /// The warm-up, summed up in one entry. `linear` and `flat` do not contain it.
    warm_up: Samples,
    /// Linear phase: samples of d, 2d, ..., Nd iterations. It may be empty.
    linear: Samples,
    /// Flat phase: samples of equal numbers of iterations. It may be empty.
    flat: Samples,
    /// Allocations of single iterations in an untimed pass; null if they were not counted.
    allocations: Option<ProcessAllocations>,
    /// Resources that a run of a program used; null for a bench, and if the system does not report them.
    usage: Option<RunUsageMessage>,
    /// Latencies of single operations; null if they were not timed.
    latencies: Option<ProcessLatencies<'a>>,
}

/// The resources that a run of a program used.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunUsageMessage {
    /// CPU time in user and system mode, in nanoseconds: the mean over the runs in the samples of this process.
    cpu_ns: Nanos,
    /// Largest memory at any time of a run, in bytes; null if it was not measured in this process.
    peak_bytes: Option<u64>,
}

/// Samples in the order in which they were taken, as arrays of equal length.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Samples {
    /// Number of iterations in each sample.
    iterations: Vec<u64>,
    /// Time of each sample in nanoseconds; if the metric is an amount, the amount in its unit.
    elapsed_ns: Vec<Nanos>,
}

impl<'a> BenchmarkMeasured<'a> {
    /// Creates the message about `measurement`, which belongs to `row`. The caller computes `latencies` with [`LatencySummary::from_measurement`].
    pub fn from_measurement(
        findings: &'a Findings<'a>,
        row: &'a Row<'a>,
        measurement: &'a Measurement,
        latencies: Option<&'a LatencySummary>,
    ) -> Self {
        let benchmark = &measurement.benchmark;
        let summary = row.summary.as_ref();
        Self {
            run: findings.run.id,
            benchmark: &row.key,
            version: benchmark.version.as_deref(),
            throughput: benchmark.throughput,
            other_throughput: benchmark.other_throughput.as_deref(),
            metric: &benchmark.metric,
            features: &measurement.target_facts.features,
            sampling: (&measurement.sampling).into(),
            confidence_level: findings.confidence_level(),
            summary,
            rate_per_second: summary.and_then(|summary| Rates::from_summary(benchmark, summary)),
            allocations: AllocationSummary::from_measurement(measurement),
            instructions: InstructionSummary::from_measurement(measurement),
            usage: UsageSummary::from_measurement(measurement, findings.confidence_level()),
            latencies,
            processes: measurement
                .processes
                .iter()
                .map(MeasuredProcess::from)
                .collect(),
            failures: &measurement.failures,
        }
    }
}

impl From<&SamplingSettings> for SamplingSettingsMessage {
    fn from(settings: &SamplingSettings) -> Self {
        Self {
            processes: settings.processes,
            samples: settings.samples,
            warm_up_ns: settings.warm_up,
            warm_up_iterations: settings.warm_up_iterations,
            measurement_ns: settings.measurement,
            mode: settings.mode,
        }
    }
}

impl Rates {
    /// Returns the rates of a benchmark. Returns `None` if its metric is not a rate.
    fn from_summary(benchmark: &Benchmark, summary: &Summary) -> Option<Self> {
        matches!(benchmark.metric, Metric::Rate { .. }).then(|| Self {
            mean: to_rate(&summary.mean),
            median: to_rate(&summary.median),
        })
    }
}

/// Converts the time of one unit to units per second. The upper bound of the time gives the lower bound of the rate, and vice versa.
fn to_rate(time: &Estimate) -> Estimate {
    Estimate {
        estimate: 1e9 / time.estimate,
        lower: 1e9 / time.upper,
        upper: if time.lower > 0.0 {
            1e9 / time.lower
        } else {
            f64::INFINITY
        },
    }
}

impl<'a> From<&'a ProcessSeries> for MeasuredProcess<'a> {
    fn from(process: &'a ProcessSeries) -> Self {
        let series = &process.series;
        Self {
            process: process.process,
            quantum_ns: process.quantum,
            warm_up: Samples::from(std::slice::from_ref(&series.warm_up)),
            linear: Samples::from(&series.linear[..]),
            flat: Samples::from(&series.flat[..]),
            allocations: ProcessAllocations::from_allocations(&process.extras.allocations),
            usage: process
                .conduct
                .and_then(|found| found.run)
                .map(|run| RunUsageMessage {
                    cpu_ns: run.cpu,
                    peak_bytes: run.peak_memory,
                }),
            latencies: process
                .extras
                .latencies
                .as_ref()
                .map(ProcessLatencies::from),
        }
    }
}

impl From<&[Sample]> for Samples {
    fn from(samples: &[Sample]) -> Self {
        Self {
            iterations: samples.iter().map(|sample| sample.iterations).collect(),
            elapsed_ns: samples.iter().map(|sample| sample.elapsed).collect(),
        }
    }
}

/// The allocations that one process counted. All arrays have one entry for each counted iteration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProcessAllocations {
    /// Number of times that the thread of the iteration allocated or enlarged memory.
    count: Vec<u64>,
    /// Bytes that these allocations requested.
    bytes: Vec<u64>,
    /// Peak of live bytes, beyond those that were alive when the iteration began.
    peak_bytes: Vec<u64>,
    /// Number of times that other threads allocated or enlarged memory during the iteration.
    other_count: Vec<u64>,
    /// Bytes that these allocations of other threads requested.
    other_bytes: Vec<u64>,
}

/// The latencies of the operations of one process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProcessLatencies<'a> {
    /// Nonzero counters of the histogram: pairs of index and number of operations, ascending (docs/internals/src/protocol.md, section 10).
    #[cfg_attr(test, schemars(with = "&[(u32, u64)]"))]
    counters: &'a [HdrCounter],
    /// Precision of the histogram in significant decimal digits. It determines the range of times that each counter covers.
    digits: u8,
    /// Number of operations that took longer than the histogram can represent. The last counter includes them.
    clamped: u64,
    /// Number of failed operations. No counter includes them.
    errors: u64,
    /// The first few messages of failed operations; empty if none failed.
    error_messages: &'a [String],
    /// The operations that completed in each second of the process. The first second begins with the first sample.
    windows: Vec<SecondOfLatencies>,
}

/// The operations that completed within one second of a process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SecondOfLatencies {
    /// Number of successful operations.
    operations: u64,
    /// Number of failed operations.
    errors: u64,
    /// Median of the successful operations, in nanoseconds; null if there are none.
    p50_ns: Option<Nanos>,
    /// 95th percentile of the successful operations, in nanoseconds; null if there are none.
    p95_ns: Option<Nanos>,
    /// 99th percentile of the successful operations, in nanoseconds; null if there are none.
    p99_ns: Option<Nanos>,
}

/// How the latencies of single operations changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatencyChanges {
    /// Changes of the percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest operation).
    percentiles: Vec<ChangedPercentile>,
}

/// A percentile of the latencies on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedPercentile {
    /// The percentile, as a fraction; 1 is the longest operation.
    quantile: f64,
    /// Mean of the percentile over the processes of the reference, in nanoseconds.
    base_ns: f64,
    /// Mean of the percentile over the processes of the candidate, in nanoseconds.
    candidate_ns: f64,
    /// The change with its interval, as a fraction.
    change: Estimate,
    /// Verdict that the interval implies.
    verdict: Verdict,
}

/// How the resources that a run of a program uses changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct UsageChanges {
    /// CPU time of a run in user and system mode, in nanoseconds.
    cpu_ns: ChangedUsage,
    /// Largest memory of a run at any time, in bytes; null if a side did not measure it.
    peak_bytes: Option<ChangedUsage>,
}

/// A resource on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedUsage {
    /// Mean over the processes of the reference.
    base: f64,
    /// Mean over the processes of the candidate.
    candidate: f64,
    /// The change with its interval, as a fraction.
    change: Estimate,
    /// Verdict that the interval implies.
    verdict: Verdict,
}

impl From<&UsageComparison> for UsageChanges {
    fn from(found: &UsageComparison) -> Self {
        Self {
            cpu_ns: (&found.cpu).into(),
            peak_bytes: found.peak_memory.as_ref().map(ChangedUsage::from),
        }
    }
}

impl From<&UsageChange> for ChangedUsage {
    fn from(found: &UsageChange) -> Self {
        Self {
            base: found.base,
            candidate: found.candidate,
            change: found.change,
            verdict: found.verdict,
        }
    }
}

impl ProcessAllocations {
    /// Collects the allocations of all counted iterations. Returns `None` if nothing was counted.
    pub fn from_allocations(counted: &[Allocations]) -> Option<Self> {
        let column = |pick: fn(&Allocations) -> u64| counted.iter().map(pick).collect();
        (!counted.is_empty()).then(|| Self {
            count: column(|found| found.count),
            bytes: column(|found| found.bytes),
            peak_bytes: column(|found| found.peak_bytes),
            other_count: column(|found| found.other_count),
            other_bytes: column(|found| found.other_bytes),
        })
    }
}

impl<'a> From<&'a Latencies> for ProcessLatencies<'a> {
    fn from(found: &'a Latencies) -> Self {
        let windows = found.windows.iter().map(|window| {
            let some = |ns| (window.operations > 0).then_some(ns);
            SecondOfLatencies {
                operations: window.operations,
                errors: window.errors,
                p50_ns: some(window.p50),
                p95_ns: some(window.p95),
                p99_ns: some(window.p99),
            }
        });
        Self {
            counters: &found.counts,
            digits: found.digits,
            clamped: found.clamped,
            errors: found.errors,
            error_messages: &found.messages,
            windows: windows.collect(),
        }
    }
}

impl From<&LatencyComparison> for LatencyChanges {
    fn from(found: &LatencyComparison) -> Self {
        let percentiles = found.percentiles.iter().map(|one| ChangedPercentile {
            quantile: one.quantile,
            base_ns: one.base_ns,
            candidate_ns: one.candidate_ns,
            change: one.change,
            verdict: one.verdict,
        });
        Self {
            percentiles: percentiles.collect(),
        }
    }
}

/// A benchmark of a run with all its statistics.
#[derive(Debug, Clone)]
pub struct BenchmarkStatistics<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// The measurement, process by process.
    pub measurement: &'a Measurement,
    /// Summary of the samples; `None` without samples.
    pub record: Option<BenchmarkRecord>,
    /// Statistics that were computed in each process and then summarized over all processes; `None` without samples.
    pub over_processes: Option<ProcessStatistics>,
    /// Verdict of the run about the benchmark, if it has one.
    pub verdict: Option<Verdict>,
    /// Change that the verdict is based on, as a fraction; `None` without a comparison.
    pub change: Option<f64>,
    /// Adjusted p-value that the verdict is based on, if it is stored.
    pub p_value: Option<f64>,
    /// The values of `thresholds` that applied to the run.
    pub thresholds: Thresholds,
}

/// Every statistic of a benchmark in one run (`show --stats`).
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
    /// Bytes and elements that one iteration processes.
    throughput: Throughput,
    /// Throughput in the words of the benchmark's author, if it is neither in bytes nor in elements; otherwise null.
    other_throughput: Option<&'a str>,
    /// Confidence level of all intervals.
    confidence_level: f64,
    /// Statistics of the samples; null without samples.
    statistics: Option<&'a BenchmarkRecord>,
    /// The same value as `bytes` of `allocations`, as a member of its own; null if the bench does not count allocations.
    mean_allocated_bytes: Option<f64>,
    /// Allocations per iteration; null if the bench does not count them.
    allocations: Option<AllocationSummary>,
    /// Instructions per iteration; null if they were not counted.
    instructions: Option<InstructionSummary>,
    /// Resources that a run of a program used; null for a bench, and if the system does not report them.
    usage: Option<UsageSummary>,
    /// Latencies of single operations; null if operations were not timed one by one, or none succeeded.
    latencies: Option<&'a LatencySummary>,
    /// Statistics that were computed in each process and then summarized over all processes. Their percentile bootstrap intervals have whole order
    /// statistics as bounds. Null without samples.
    over_processes: Option<&'a ProcessStatistics>,
    /// How the latencies changed during the processes, second by second; null without latencies.
    course: Option<&'a LatencyOverTime>,
    /// Verdict of the run about the benchmark; null if there is none.
    verdict: Option<Verdict>,
    /// Change that the verdict is based on, as a fraction; null without a comparison.
    change: Option<f64>,
    /// P-value of the deciding test, as in `benchmark-compared`; null if nothing was compared, or if the derivation of the verdict is not stored.
    p_value: Option<f64>,
    /// Thresholds of the run whose values differ from their defaults: an object that has the value of each such threshold under its name.
    thresholds: ChangedThresholds,
}

impl<'a> BenchmarkStatisticsMessage<'a> {
    /// Creates the message about `one`. The caller computes `latencies` with [`LatencySummary::from_measurement`] at `confidence_level`.
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
            usage: UsageSummary::from_measurement(one.measurement, confidence_level),
            latencies,
            over_processes: one.over_processes.as_ref(),
            course: latencies.map(|found| &found.course),
            verdict: one.verdict,
            change: one.change,
            p_value: one.p_value,
            thresholds: (&one.thresholds).into(),
        }
    }
}
