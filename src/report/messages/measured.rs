//! What a run measured of a benchmark, with the raw series.

use serde::Serialize;

use super::extras::{LaunchAllocations, LaunchLatencies};
use perfcheck_analysis::compare::{
    AllocationSummary, Estimate, InstructionSummary, LatencySummary, Summary,
};
use perfcheck_analysis::findings::{Findings, Row};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, Failure, LaunchSeries, Measurement, Metric, Nanos, RunId, Sample,
    SamplingMode, SamplingSettings, Throughput,
};

/// What a run measured of a benchmark, with the raw series. Of an A/B measurement it is the candidate's; `show BASE` has the base's.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkMeasured<'a> {
    /// The number of the run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The author's version of the benchmark; null without one.
    version: Option<&'a str>,
    /// What one iteration processes.
    throughput: Throughput,
    /// The same in the author's words where it is neither bytes nor elements: `Frames(3)`.
    other_throughput: Option<&'a str>,
    /// What the samples mean.
    metric: &'a Metric,
    /// The features of the package as cargo built it.
    features: &'a [String],
    /// How it was sampled.
    sampling: SamplingAsSet,
    /// The level of the intervals in `summary`.
    confidence_level: f64,
    /// The samples that decide, described; null without samples.
    summary: Option<&'a Summary>,
    /// Units per second; null unless the metric is a rate.
    rate_per_second: Option<Rates>,
    /// What iterations allocated; null where the bench does not count.
    allocations: Option<AllocationSummary>,
    /// The instructions of an iteration; null where they were not counted.
    instructions: Option<InstructionSummary>,
    /// What single operations took; null where they were not timed one by one or none succeeded.
    latencies: Option<&'a LatencySummary>,
    /// The raw series; of an A/B measurement a launch is a round.
    launches: Vec<MeasuredLaunch<'a>>,
    /// The launches that failed.
    failures: &'a [Failure],
}

/// How a benchmark was sampled, as it was set.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SamplingAsSet {
    /// How many processes a run launches.
    launches: u32,
    /// How many samples a launch takes; null: as many as fit.
    samples: Option<u32>,
    /// The time that a launch warms up, nanoseconds.
    warm_up_ns: Nanos,
    /// The iterations of the warm-up, where they were counted in place of its time; else null.
    warm_up_iterations: Option<u32>,
    /// The time that a launch measures, nanoseconds.
    measurement_ns: Nanos,
    /// How iterations are laid out over samples.
    mode: SamplingMode,
}

/// Units per second: reciprocals of the times of a unit.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rates {
    /// The harmonic mean.
    mean: Estimate,
    /// The median.
    median: Estimate,
}

/// The series of one launch.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MeasuredLaunch<'a> {
    /// Which launch of the run it is, from 0.
    launch: u32,
    /// The smallest step of the clock, nanoseconds; 0 where no clock is known.
    quantum_ns: Nanos,
    /// The warm-up as one total; never part of the samples.
    warm_up: Samples,
    /// The linear phase: d, 2d, ..., Nd iterations. It may be empty.
    linear: Samples,
    /// The flat phase: the same number of iterations in every sample. It may be empty.
    flat: Samples,
    /// What single iterations of an untimed pass allocated; null where they were not counted.
    allocations: Option<LaunchAllocations>,
    /// What single operations took; null where they were not timed.
    latencies: Option<LaunchLatencies<'a>>,
}

/// Samples in the order taken, as arrays of equal length.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Samples {
    /// How often the body ran in each sample.
    iterations: Vec<u64>,
    /// The time of each sample, nanoseconds; of an amount its units.
    elapsed_ns: Vec<Nanos>,
}

impl<'a> BenchmarkMeasured<'a> {
    /// What `row` has of `measurement`; `latencies` are those of [`LatencySummary::of`].
    pub fn of(
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
            rate_per_second: summary.and_then(|summary| Rates::of(benchmark, summary)),
            allocations: AllocationSummary::of(measurement),
            instructions: InstructionSummary::of(measurement),
            latencies,
            launches: measurement
                .launches
                .iter()
                .map(MeasuredLaunch::from)
                .collect(),
            failures: &measurement.failures,
        }
    }
}

impl From<&SamplingSettings> for SamplingAsSet {
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
    /// The rates of a benchmark whose metric is one.
    fn of(benchmark: &Benchmark, summary: &Summary) -> Option<Self> {
        matches!(benchmark.metric, Metric::Rate { .. }).then(|| Self {
            mean: per_second(&summary.mean),
            median: per_second(&summary.median),
        })
    }
}

/// The rate that a time of one unit means.
fn per_second(time: &Estimate) -> Estimate {
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

impl<'a> From<&'a LaunchSeries> for MeasuredLaunch<'a> {
    fn from(launch: &'a LaunchSeries) -> Self {
        let series = &launch.series;
        Self {
            launch: launch.launch,
            quantum_ns: launch.quantum,
            warm_up: Samples::from(std::slice::from_ref(&series.warm_up)),
            linear: Samples::from(&series.linear[..]),
            flat: Samples::from(&series.flat[..]),
            allocations: LaunchAllocations::of(&launch.extras.allocations),
            latencies: launch.extras.latencies.as_ref().map(LaunchLatencies::from),
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
