//! The message about the measurement of one benchmark, with the raw series.

use serde::Serialize;

use super::extras::{ProcessAllocations, ProcessLatencies};
use perfcheck_analysis::compare::{
    AllocationSummary, Estimate, InstructionSummary, LatencySummary, Summary,
};
use perfcheck_analysis::findings::{Findings, Row};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, Failure, Measurement, Metric, Nanos, ProcessSeries, RunId, Sample,
    SamplingMode, SamplingSettings, Throughput,
};

/// The measurement of a benchmark, with the raw series. If two builds were measured side by side, this is the candidate; `show BASE` prints the base.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkMeasured<'a> {
    /// Number of the run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The author's version of the benchmark; null without one.
    version: Option<&'a str>,
    /// Amount that one iteration processes.
    throughput: Throughput,
    /// Throughput in the author's own unit, if it is not bytes or elements: `Frames(3)`.
    other_throughput: Option<&'a str>,
    /// Metric of the samples.
    metric: &'a Metric,
    /// Features with which cargo built the package.
    features: &'a [String],
    /// Sampling settings.
    sampling: SamplingSettingsMessage,
    /// Confidence level of the intervals in `summary`.
    confidence_level: f64,
    /// Summary of the samples that the verdict is based on; null without samples.
    summary: Option<&'a Summary>,
    /// Units per second; null unless the metric is a rate.
    rate_per_second: Option<Rates>,
    /// Allocations per iteration; null if the bench does not count them.
    allocations: Option<AllocationSummary>,
    /// Instructions per iteration; null if they were not counted.
    instructions: Option<InstructionSummary>,
    /// Latencies of single operations; null if operations were not timed one by one, or none succeeded.
    latencies: Option<&'a LatencySummary>,
    /// Raw series of each process, or of each round if measured side by side.
    launches: Vec<MeasuredProcess<'a>>,
    /// Processes that failed.
    failures: &'a [Failure],
}

/// The sampling settings of a benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SamplingSettingsMessage {
    /// Number of processes in a run.
    launches: u32,
    /// Number of samples of each process; null: as many as fit in the time.
    samples: Option<u32>,
    /// Warm-up time of a process, in nanoseconds.
    warm_up_ns: Nanos,
    /// Number of warm-up iterations, if set in place of a time; else null.
    warm_up_iterations: Option<u32>,
    /// Measurement time of a process, in nanoseconds.
    measurement_ns: Nanos,
    /// Distribution of iterations over samples.
    mode: SamplingMode,
}

/// Units per second: reciprocals of the times per unit.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rates {
    /// Harmonic mean.
    mean: Estimate,
    /// Median.
    median: Estimate,
}

/// The series of one process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MeasuredProcess<'a> {
    /// Index of the process in the run, from 0.
    launch: u32,
    /// Smallest step of the clock, in nanoseconds; 0 if unknown.
    quantum_ns: Nanos,
    /// Warm-up as one total, which is never part of the samples.
    warm_up: Samples,
    /// Linear phase: samples of d, 2d, ..., Nd iterations. It may be empty.
    linear: Samples,
    /// Flat phase: samples of equal numbers of iterations. It may be empty.
    flat: Samples,
    /// Allocations of single iterations in an untimed pass; null if they were not counted.
    allocations: Option<ProcessAllocations>,
    /// Latencies of single operations; null if they were not timed.
    latencies: Option<ProcessLatencies<'a>>,
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
    /// Creates the message about `measurement`, which belongs to `row`; `latencies` are computed by [`LatencySummary::from_summary`].
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
            latencies,
            launches: measurement
                .launches
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
            launches: settings.launches,
            samples: settings.samples,
            warm_up_ns: settings.warm_up,
            warm_up_iterations: settings.warm_up_iterations,
            measurement_ns: settings.measurement,
            mode: settings.mode,
        }
    }
}

impl Rates {
    /// Returns the rates of a benchmark; `None` unless its metric is a rate.
    fn from_summary(benchmark: &Benchmark, summary: &Summary) -> Option<Self> {
        matches!(benchmark.metric, Metric::Rate { .. }).then(|| Self {
            mean: to_rate(&summary.mean),
            median: to_rate(&summary.median),
        })
    }
}

/// Converts the time of one unit into units per second, which exchanges the bounds.
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
    fn from(launch: &'a ProcessSeries) -> Self {
        let series = &launch.series;
        Self {
            launch: launch.launch,
            quantum_ns: launch.quantum,
            warm_up: Samples::from(std::slice::from_ref(&series.warm_up)),
            linear: Samples::from(&series.linear[..]),
            flat: Samples::from(&series.flat[..]),
            allocations: ProcessAllocations::from_allocations(&launch.extras.allocations),
            latencies: launch.extras.latencies.as_ref().map(ProcessLatencies::from),
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
