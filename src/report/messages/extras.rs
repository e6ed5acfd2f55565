//! Extras of launches: allocations of iterations, latencies of single operations.

use serde::Serialize;

use perfcheck_analysis::compare::{
    Estimate, LatencyBootstrap, LatencyComparison, LatencySummary, OverLaunches,
};
use perfcheck_analysis::model::{Allocations, Latencies, Nanos, Verdict};

/// What one launch counted: arrays with an entry for each iteration that was counted.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LaunchAllocations {
    /// How often memory was allocated or enlarged by the thread that ran the iteration.
    count: Vec<u64>,
    /// How many bytes these allocations asked for.
    bytes: Vec<u64>,
    /// The most bytes alive at once beyond those alive when the iteration began.
    peak_bytes: Vec<u64>,
    /// How often other threads allocated meanwhile.
    other_count: Vec<u64>,
    /// How many bytes these threads asked for.
    other_bytes: Vec<u64>,
}

/// What the operations of one launch took.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LaunchLatencies<'a> {
    /// The counters of the histogram that are not 0: pairs of index and operations, ascending (docs/src/protocol.md, section 10).
    counters: &'a [(u32, u64)],
    /// How many significant digits the histogram tells apart: where its counters lie.
    digits: u8,
    /// How many operations took longer than the histogram reaches; they are in its last counter.
    clamped: u64,
    /// How many operations failed; they are in no counter.
    errors: u64,
    /// What the first errors said.
    error_messages: &'a [String],
    /// What ended within each second, from the first sample on.
    windows: Vec<LaunchWindow>,
}

/// What ended within one second of a launch.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LaunchWindow {
    /// How many operations succeeded.
    operations: u64,
    /// How many operations failed.
    errors: u64,
    /// The median of those that succeeded, nanoseconds; null without any.
    p50_ns: Option<Nanos>,
    /// Their 95th percentile, nanoseconds.
    p95_ns: Option<Nanos>,
    /// Their 99th percentile, nanoseconds.
    p99_ns: Option<Nanos>,
}

/// The latencies of single operations in one run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "LatencySummary"))]
pub(crate) struct LatenciesOfRun<'a> {
    /// How many operations succeeded.
    operations: u64,
    /// How many operations failed.
    errors: u64,
    /// What the first errors said, each once.
    error_messages: &'a [String],
    /// How many operations took more than an hour.
    clamped: u64,
    /// How many launches there were.
    launches: usize,
    /// The operations of a launch.
    operations_per_launch: NumberOverLaunches,
    /// The operations per second of a launch.
    operations_per_second: NumberOverLaunches,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1, the longest.
    percentiles: Vec<Percentile>,
    /// The mean of all operations together, nanoseconds.
    merged_mean_ns: f64,
    /// The standard deviation of all operations together, as of a population, nanoseconds.
    merged_std_dev_ns: f64,
    /// How many significant digits the histograms tell apart.
    digits: u8,
    /// By how much of itself a percentile may be too low, a fraction.
    relative_error: f64,
}

/// A number that each launch has, over the launches.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NumberOverLaunches {
    /// The mean.
    mean: f64,
    /// The standard deviation (k - 1); null for one launch.
    std_dev: Option<f64>,
    /// The standard deviation over the mean; null for one launch.
    cv: Option<f64>,
    /// The mean with Student's interval; null for one launch.
    interval: Option<Estimate>,
}

/// A percentile of latencies. What is over launches is in nanoseconds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Percentile {
    /// Which percentile it is, as a fraction; 1 is the longest operation.
    quantile: f64,
    /// The percentile of all operations in one histogram, nanoseconds.
    merged_ns: u64,
    #[serde(flatten)]
    ns: NumberOverLaunches,
}

/// Latencies over launches, with percentile bootstrap intervals: of the sorted resamples those of the indices int(a / 2 B) and int((1 - a / 2) B) - 1.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatenciesResampled {
    /// How many launches are resampled.
    launches: usize,
    /// How many resamples there are, B.
    resamples: usize,
    /// Whether there is one launch: all intervals are points then.
    ci_degenerate: bool,
    /// The operations of a launch.
    operations: Estimate,
    /// The operations per second of a launch.
    operations_per_second: Estimate,
    /// The mean time of a launch's operations, nanoseconds.
    mean_ns: Estimate,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1, the longest.
    percentiles: Vec<ResampledPercentile>,
}

/// A percentile of latencies over launches.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ResampledPercentile {
    /// Which percentile it is, as a fraction; 1 is the longest operation.
    quantile: f64,
    /// Its mean over launches, nanoseconds.
    ns: Estimate,
}

impl From<&LatencyBootstrap> for LatenciesResampled {
    fn from(found: &LatencyBootstrap) -> Self {
        let percentiles = found.percentiles_ns.iter();
        Self {
            launches: found.launches,
            resamples: LatencyBootstrap::RESAMPLES,
            ci_degenerate: found.is_degenerate(),
            operations: found.operations,
            operations_per_second: found.operations_per_second,
            mean_ns: found.mean_ns,
            percentiles: percentiles
                .map(|(quantile, ns)| ResampledPercentile {
                    quantile: *quantile,
                    ns: *ns,
                })
                .collect(),
        }
    }
}

/// How latencies went, second by second.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatencyCourse {
    /// What ended within each second, over launches.
    windows: Vec<CourseWindow>,
    /// The median of the last whole second over that of the first, less 1; null for fewer than two whole seconds.
    drift: Option<Estimate>,
    /// The times within which 1, 2, ... 100 % of the operations ended, nanoseconds, of single times drawn at random; null without these.
    distribution_ns: Option<Vec<f64>>,
}

/// What ended within one second, over launches.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CourseWindow {
    /// How many launches lasted so long.
    launches: usize,
    /// How many operations succeeded.
    operations: u64,
    /// How many operations failed.
    errors: u64,
    /// The mean over launches of the median, nanoseconds; null without operations.
    p50_ns: Option<f64>,
    /// The mean over launches of the 95th percentile, nanoseconds.
    p95_ns: Option<f64>,
    /// The mean over launches of the 99th percentile, nanoseconds.
    p99_ns: Option<f64>,
}

/// How the latencies of single operations differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LatencyChanges {
    /// The changes of the percentiles 0.5, 0.95, 0.99, 0.999 and 1, the longest.
    percentiles: Vec<ChangedPercentile>,
}

/// A percentile on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedPercentile {
    /// Which percentile it is, as a fraction; 1 is the longest operation.
    quantile: f64,
    /// The mean over the launches of the reference, nanoseconds.
    base_ns: f64,
    /// The mean over the launches of the run in question, nanoseconds.
    candidate_ns: f64,
    /// The change, a fraction with its interval.
    change: Estimate,
    /// What the interval says.
    verdict: Verdict,
}

impl LaunchAllocations {
    /// `None` where nothing was counted.
    pub fn of(counted: &[Allocations]) -> Option<Self> {
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

impl<'a> From<&'a Latencies> for LaunchLatencies<'a> {
    fn from(found: &'a Latencies) -> Self {
        let windows = found.windows.iter().map(|window| {
            let some = |ns| (window.operations > 0).then_some(ns);
            LaunchWindow {
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

impl<'a> From<&'a LatencySummary> for LatenciesOfRun<'a> {
    fn from(found: &'a LatencySummary) -> Self {
        let percentiles = found.percentiles.iter().map(|one| Percentile {
            quantile: one.quantile,
            merged_ns: one.merged_ns,
            ns: (&one.ns).into(),
        });
        Self {
            operations: found.operations,
            errors: found.errors,
            error_messages: &found.messages,
            clamped: found.clamped,
            launches: found.launches,
            operations_per_launch: (&found.operations_per_launch).into(),
            operations_per_second: (&found.operations_per_second).into(),
            percentiles: percentiles.collect(),
            merged_mean_ns: found.merged_mean_ns,
            merged_std_dev_ns: found.merged_sd_ns,
            digits: found.precision.digits(),
            relative_error: found.precision.error(),
        }
    }
}

impl From<&OverLaunches> for NumberOverLaunches {
    fn from(found: &OverLaunches) -> Self {
        Self {
            mean: found.mean,
            std_dev: found.sd,
            cv: found.cv(),
            interval: found.interval,
        }
    }
}

impl From<&LatencySummary> for LatencyCourse {
    fn from(found: &LatencySummary) -> Self {
        let windows = found.windows.iter().map(|window| {
            let percentiles = window.percentiles_ns;
            let [p50_ns, p95_ns, p99_ns] = percentiles.map_or([None; 3], |all| all.map(Some));
            CourseWindow {
                launches: window.launches,
                operations: window.operations,
                errors: window.errors,
                p50_ns,
                p95_ns,
                p99_ns,
            }
        });
        let share = |percent: u32| f64::from(percent) / 100.0;
        let distribution = found.distribution.as_ref().map(|distribution| {
            let percents = 1..=100;
            percents
                .filter_map(|percent| distribution.quantile(share(percent)))
                .collect()
        });
        Self {
            windows: windows.collect(),
            drift: found.drift,
            distribution_ns: distribution,
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
