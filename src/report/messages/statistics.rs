//! Every statistic of a benchmark (`show --stats`).

use serde::Serialize;

use super::extras::{LatenciesOfRun, LatenciesResampled, LatencyCourse};
use super::measured::SampleSummary;
use super::run::ChangedThresholds;
use perfcheck_analysis::compare::{
    AllocationSummary, BenchmarkRecord, Diagnostic, Estimate, InstructionSummary, LatencyBootstrap,
    LatencySummary, SampleDescription, Variability,
};
use perfcheck_analysis::model::{
    BenchmarkKey, Measurement, Metric, Outliers, RunId, Thresholds, Throughput, Verdict,
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
    /// Its latencies with intervals over resampled launches, where operations were timed one by one.
    pub bootstrap: Option<LatencyBootstrap>,
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
    statistics: Option<Statistics<'a>>,
    /// The `bytes` of `allocations`.
    mean_allocated_bytes: Option<f64>,
    /// What iterations allocated; null where the bench does not count.
    allocations: Option<AllocationSummary>,
    /// The instructions of an iteration; null where they were not counted.
    instructions: Option<InstructionSummary>,
    /// What single operations took; null where they were not timed one by one or none succeeded.
    latencies: Option<LatenciesOfRun<'a>>,
    /// The latencies with percentile bootstrap intervals over launches, bounded by whole indices; null without latencies.
    latency_bootstrap: Option<LatenciesResampled>,
    /// How latencies went; null without latencies.
    course: Option<LatencyCourse>,
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

/// The statistics of samples, in nanoseconds per iteration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Statistics<'a> {
    #[serde(flatten)]
    summary: SampleSummary,
    /// The standard error of the mean over launches; null for fewer than two launches.
    std_err_ns: Option<f64>,
    /// Student's t times the standard error; null for fewer than two launches.
    margin_ns: Option<f64>,
    /// The mean of the launches' means, with the interval that the margin gives on the scale of logarithms; null for fewer than two launches.
    mean_over_launches_ns: Option<Estimate>,
    /// All samples, as if each were an observation of its own.
    of_samples: SamplesAsObservations,
    /// The same for the samples of each launch by themselves.
    within_launches: Vec<SamplesAsObservations>,
    /// The median of the launches' means, with bounds that assume no distribution; null for so few launches that none reach the level.
    median_of_launches_ns: Option<Estimate>,
    /// How often such bounds enclose that median, at least, a fraction.
    median_coverage: Option<f64>,
    /// The mean with its interval by the bias-corrected and accelerated bootstrap over launches.
    mean_bca_ns: Option<Estimate>,
    /// The coefficient of variation of the samples, a fraction; null for one sample.
    cv: Option<f64>,
    /// What that says by the thresholds `cv-stable` and `cv-high`: `stable`, `ordinary` or `high`; null for one sample.
    variability: Option<&'static str>,
    /// Percentiles by nearest rank: each is a sample that was measured.
    percentiles_ns: Percentiles,
    /// What is beyond a threshold.
    diagnostics: &'a [Diagnostic],
    /// The step of the clock over the iterations of a typical sample; null where the clock is not known.
    clock_step_ns: Option<f64>,
    /// Whether the interval of the median reaches less than half of that step to either side.
    narrower_than_clock: bool,
    /// The most threads that were alive in a launch; above 1 others may have run beside the samples. Null where the system does not tell.
    threads: Option<u32>,
    /// At most this share of the samples lost the processor to other work, a fraction; null where the system does not tell.
    interrupted_share: Option<f64>,
}

/// Percentiles of samples, nanoseconds per iteration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Percentiles {
    p5: f64,
    p25: f64,
    p75: f64,
    p95: f64,
    p99: f64,
}

/// Samples described as if each were an observation of its own, after an outlier policy. Everything is of the samples used; intervals assume that samples
/// are independent. Times are nanoseconds per iteration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SamplesAsObservations {
    /// The launch that they are from; null for those of all launches.
    launch: Option<u32>,
    /// What was done about outliers.
    outliers: Outliers,
    /// How many samples there are: raw = skipped + removed + used.
    raw: usize,
    /// How many first samples of launches were left out.
    skipped: usize,
    /// How many outliers were removed.
    removed: usize,
    /// How many outliers were replaced by the bound that they lie beyond.
    replaced: usize,
    /// How many samples are used, replaced ones included.
    used: usize,
    /// The mean with Student's interval; with Yuen's where outliers were removed or replaced.
    mean_ns: Estimate,
    /// The standard error of the mean; null for fewer than two samples.
    std_err_ns: Option<f64>,
    /// Student's t times the standard error; null for fewer than two samples.
    margin_ns: Option<f64>,
    /// The degrees of freedom of that t; null for fewer than two samples.
    degrees_of_freedom: Option<f64>,
    /// The median.
    median_ns: f64,
    /// The standard deviation; null for one sample.
    std_dev_ns: Option<f64>,
    /// The coefficient of variation, a fraction; null for one sample.
    cv: Option<f64>,
    /// The median absolute deviation from the median, unscaled.
    mad_ns: f64,
    /// Percentiles.
    percentiles_ns: Percentiles,
    /// The smallest sample.
    min_ns: f64,
    /// The largest sample.
    max_ns: f64,
}

impl SamplesAsObservations {
    fn of(launch: Option<u32>, found: &SampleDescription) -> Self {
        let (counts, of_used) = (found.counts, &found.of_used);
        let interval = of_used.interval;
        Self {
            launch,
            outliers: found.outliers,
            raw: counts.raw,
            skipped: counts.warm_up_skipped,
            removed: counts.outliers_removed,
            replaced: found.replaced,
            used: counts.used,
            mean_ns: found.mean(),
            std_err_ns: of_used.standard_error,
            margin_ns: interval.map(|found| found.margin),
            degrees_of_freedom: interval.map(|found| found.df),
            median_ns: of_used.median,
            std_dev_ns: of_used.sd,
            cv: of_used.cv,
            mad_ns: of_used.mad,
            percentiles_ns: of_used.percentiles.into(),
            min_ns: of_used.min,
            max_ns: of_used.max,
        }
    }
}

impl From<[f64; 5]> for Percentiles {
    fn from([p5, p25, p75, p95, p99]: [f64; 5]) -> Self {
        Self {
            p5,
            p25,
            p75,
            p95,
            p99,
        }
    }
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
            statistics: one.record.as_ref().map(Statistics::from),
            mean_allocated_bytes: allocations.map(|found| found.bytes),
            allocations,
            instructions: InstructionSummary::of(one.measurement),
            latencies: latencies.map(LatenciesOfRun::from),
            latency_bootstrap: one.bootstrap.as_ref().map(LatenciesResampled::from),
            course: latencies.map(LatencyCourse::from),
            verdict: one.verdict,
            change: one.change,
            p_value: one.p_value,
            thresholds: (&one.thresholds).into(),
        }
    }
}

impl<'a> From<&'a BenchmarkRecord> for Statistics<'a> {
    fn from(record: &'a BenchmarkRecord) -> Self {
        let over = record.over_launches;
        let disturbance = record.disturbance;
        Self {
            summary: (&record.summary).into(),
            std_err_ns: over.map(|over| over.standard_error),
            margin_ns: over.map(|over| over.margin),
            mean_over_launches_ns: record.mean_of_launches(),
            of_samples: SamplesAsObservations::of(None, &record.of_samples),
            within_launches: (record.within_launches.iter())
                .map(|(launch, found)| SamplesAsObservations::of(Some(*launch), found))
                .collect(),
            median_of_launches_ns: record.median_of_launches,
            median_coverage: record.median_coverage,
            mean_bca_ns: record.mean_bca,
            cv: record.cv,
            variability: record.variability.map(Variability::word),
            percentiles_ns: record.percentiles.into(),
            diagnostics: &record.diagnostics,
            clock_step_ns: disturbance.clock_step_ns,
            narrower_than_clock: disturbance.narrower_than_clock,
            threads: disturbance.threads,
            interrupted_share: disturbance.interrupted,
        }
    }
}
