//! Descriptions of the extras of one run: allocations of an iteration, latencies of single operations.
//!
//! Every number is a mean over processes with equal weight. Only the merged histogram and the distribution pool all operations; they are for display.

use serde::{Serialize, Serializer};

use crate::compare::estimate::Estimate;
use crate::model::{Allocations, Latencies, LatencyWindow, Measurement, ProcessSeries};
use perfcheck_stats::{
    HdrHistogram, TInterval, WeightedEcdf, mean, paired_mean_ratio, sample_variance,
};

use super::latencies::LatencyComparison;

/// The fewest windows of a process from which its drift is estimated. The last window, which may be shorter than a second, and windows without a
/// successful operation do not count.
const FEWEST_WINDOWS: usize = 2;

/// The allocations of an iteration: means over processes of the means of their counted iterations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocationSummary {
    /// Allocations of the thread that ran the iteration.
    pub count: f64,
    /// Bytes of these allocations.
    pub bytes: f64,
    /// The most bytes alive at once.
    pub peak_bytes: f64,
    /// Allocations of other threads while the iteration ran.
    pub other_count: f64,
    /// Bytes of the other threads' allocations.
    pub other_bytes: f64,
    /// Whether all iterations of all processes allocated the same.
    pub exact: bool,
    /// Number of iterations counted, in all processes.
    pub iterations: usize,
    /// Number of processes that counted.
    pub processes: usize,
}

impl AllocationSummary {
    /// Summarizes the counted allocations of `measurement`; `None` if nothing was counted.
    pub fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let processes = super::counts::allocation_counts(measurement);
        let of =
            |pick: fn(&Allocations) -> u64| mean(&super::counts::process_means(&processes, pick));
        let mut all = processes.iter().copied().flatten();
        let first = all.next()?;
        Some(Self {
            count: of(|found| found.count)?,
            bytes: of(|found| found.bytes)?,
            peak_bytes: of(|found| found.peak_bytes)?,
            other_count: of(|found| found.other_count)?,
            other_bytes: of(|found| found.other_bytes)?,
            exact: all.all(|found| found == first),
            iterations: processes.iter().map(|process| process.len()).sum(),
            processes: processes.len(),
        })
    }
}

/// A number that each process has, summarized over the processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverProcesses {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, with k - 1 in the denominator; null for one process.
    #[serde(rename = "std_dev")]
    pub sd: Option<f64>,
    /// The coefficient of variation (standard deviation divided by mean); null for one process.
    pub cv: Option<f64>,
    /// The mean with its interval: Student's, unless the enclosing member names another one; null without an interval, for example Student's for one
    /// process.
    pub interval: Option<Estimate>,
}

impl OverProcesses {
    pub(super) fn summarize(values: &[f64], level: f64) -> Option<Self> {
        let mean = mean(values)?;
        let interval = TInterval::compute(values, level);
        let sd = sample_variance(values).map(f64::sqrt);
        Some(Self {
            mean,
            sd,
            cv: sd.filter(|_| mean != 0.0).map(|sd| sd / mean),
            interval: interval.map(|found| Estimate::from_interval(found.mean, found.interval())),
        })
    }
}

/// A percentile of latencies. Numbers over processes are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileSummary {
    /// The percentile as a fraction; 1 is the longest operation.
    pub quantile: f64,
    /// The percentile of all operations in one histogram, in nanoseconds.
    pub merged_ns: u64,
    /// The percentiles of the single processes, summarized, in nanoseconds.
    #[serde(flatten)]
    pub ns: OverProcesses,
}

/// The operations of all processes that ended within one second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowSummary {
    /// How many processes had operations that ended within this second.
    pub processes: usize,
    /// How many operations succeeded.
    pub operations: u64,
    /// How many operations failed.
    pub errors: u64,
    /// The mean over processes of the median, in nanoseconds; null without operations.
    pub p50_ns: Option<f64>,
    /// The mean over processes of the 95th percentile, in nanoseconds.
    pub p95_ns: Option<f64>,
    /// The mean over processes of the 99th percentile, in nanoseconds.
    pub p99_ns: Option<f64>,
}

/// The latencies second by second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyOverTime {
    /// The operations of all processes that ended within each second.
    pub windows: Vec<WindowSummary>,
    /// The change of the median from the first to the last whole second, a fraction with Student's interval; null for fewer than two whole seconds.
    pub drift: Option<Estimate>,
    /// The times within which 1, 2, ... 100 % of the operations ended, in nanoseconds. They are estimated from randomly drawn operations; null
    /// without these.
    #[serde(rename = "distribution_ns", serialize_with = "in_percents")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<f64>>"))]
    pub distribution: Option<WeightedEcdf>,
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn in_percents<S: Serializer>(
    distribution: &Option<WeightedEcdf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let times = distribution.as_ref().map(|distribution| {
        let shares = (1..=100).map(|percent| f64::from(percent) / 100.0);
        let times = shares.filter_map(|share| distribution.quantile(share));
        times.collect::<Vec<f64>>()
    });
    times.serialize(serializer)
}

/// The latencies of single operations in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencySummary {
    /// How many operations succeeded.
    pub operations: u64,
    /// How many operations failed.
    pub errors: u64,
    /// The distinct messages of the first errors.
    #[serde(rename = "error_messages")]
    pub messages: Vec<String>,
    /// How many operations took more than an hour.
    pub clamped: u64,
    /// How many processes had operations that succeeded.
    pub processes: usize,
    /// The number of operations of a process.
    pub operations_per_process: OverProcesses,
    /// The operations per second of a process: a second divided by the mean latency.
    pub operations_per_second: OverProcesses,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest operation).
    pub percentiles: Vec<PercentileSummary>,
    /// The mean of all operations together, in nanoseconds, each taken as the middle of its histogram bucket.
    pub merged_mean_ns: f64,
    /// The population standard deviation of all operations together, in nanoseconds.
    #[serde(rename = "merged_std_dev_ns")]
    pub merged_sd_ns: f64,
    /// The significant digits of the histograms; the coarsest one counts.
    pub digits: u8,
    /// Relative error by which a percentile may be too low, a fraction.
    pub relative_error: f64,
    /// Percentiles below this are exact, nanoseconds.
    #[serde(skip)]
    pub exact_below: u64,
    /// The latencies second by second.
    #[serde(skip)]
    pub course: LatencyOverTime,
}

impl LatencySummary {
    /// Summarizes the latencies of `measurement`, with intervals at `confidence_level`; `None` if no operation succeeded.
    pub fn from_measurement(measurement: &Measurement, confidence_level: f64) -> Option<Self> {
        let noted: Vec<&Latencies> = recorded_latencies(measurement).collect();
        let histograms: Vec<HdrHistogram> = noted
            .iter()
            .filter_map(|found| found.histogram())
            .filter(|histogram| histogram.total() > 0)
            .collect();
        let (first, others) = histograms.split_first()?;
        let merged = others
            .iter()
            .try_fold(first.clone(), |sum, next| sum.merge(next))?;
        let over = |value: &dyn Fn(&HdrHistogram) -> Option<f64>| {
            let values: Vec<f64> = histograms.iter().filter_map(value).collect();
            OverProcesses::summarize(&values, confidence_level)
        };
        let percentiles = LatencyComparison::QUANTILES.into_iter().map(|quantile| {
            Some(PercentileSummary {
                quantile,
                ns: over(&|process| process.percentile(quantile).map(|ns| ns as f64))?,
                merged_ns: merged.percentile(quantile)?,
            })
        });
        let mut messages: Vec<String> = Vec::new();
        for message in noted.iter().flat_map(|found| &found.messages) {
            if !messages.contains(message) {
                messages.push(message.clone());
            }
        }
        let precision = merged.precision();
        Some(Self {
            processes: histograms.len(),
            operations: merged.total(),
            errors: noted.iter().map(|found| found.errors).sum(),
            messages,
            clamped: noted.iter().map(|found| found.clamped).sum(),
            operations_per_process: over(&|process| Some(process.total() as f64))?,
            operations_per_second: over(&|process| {
                process.mean().filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns)
            })
            .unwrap_or_default(),
            percentiles: percentiles.collect::<Option<_>>()?,
            merged_mean_ns: merged.mean()?,
            merged_sd_ns: merged.population_deviation()?,
            digits: precision.digits(),
            relative_error: precision.error(),
            exact_below: precision.exact_below(),
            course: LatencyOverTime {
                windows: windows(&noted),
                drift: estimate_drift(&noted, confidence_level),
                distribution: distribution(&noted),
            },
        })
    }

    /// Returns the percentile `quantile` (a fraction).
    pub fn at(&self, quantile: f64) -> Option<&PercentileSummary> {
        self.percentiles
            .iter()
            .find(|found| found.quantile == quantile)
    }
}

fn recorded_latencies(measurement: &Measurement) -> impl Iterator<Item = &Latencies> {
    let processes = measurement.processes.iter();
    processes.filter_map(|process: &ProcessSeries| process.extras.latencies.as_ref())
}

fn distribution(noted: &[&Latencies]) -> Option<WeightedEcdf> {
    let drawn: Vec<(u64, Vec<f64>)> = noted
        .iter()
        .map(|found| {
            let operations = found.counts.iter().map(|counter| counter.count).sum();
            let values = found.reservoir.iter().map(|ns| ns.as_f64()).collect();
            (operations, values)
        })
        .collect();
    let samples: Vec<(u64, &[f64])> = drawn
        .iter()
        .map(|(operations, values)| (*operations, &values[..]))
        .collect();
    WeightedEcdf::from_samples(&samples)
}

fn windows(noted: &[&Latencies]) -> Vec<WindowSummary> {
    let longest = noted
        .iter()
        .map(|found| found.windows.len())
        .max()
        .unwrap_or(0);
    (0..longest)
        .map(|second| {
            let of_processes: Vec<&LatencyWindow> = noted
                .iter()
                .filter_map(|found| found.windows.get(second))
                .filter(|window| window.operations + window.errors > 0)
                .collect();
            let percentile = |pick: fn(&LatencyWindow) -> f64| {
                let with = of_processes.iter().filter(|window| window.operations > 0);
                mean(&with.map(|window| pick(window)).collect::<Vec<_>>())
            };
            WindowSummary {
                processes: of_processes.len(),
                operations: of_processes.iter().map(|window| window.operations).sum(),
                errors: of_processes.iter().map(|window| window.errors).sum(),
                p50_ns: percentile(|window| window.p50.as_f64()),
                p95_ns: percentile(|window| window.p95.as_f64()),
                p99_ns: percentile(|window| window.p99.as_f64()),
            }
        })
        .collect()
}

/// Compares the last whole second with the first, process by process. The last window of a process is incomplete and left out.
fn estimate_drift(noted: &[&Latencies], level: f64) -> Option<Estimate> {
    let (first, last): (Vec<f64>, Vec<f64>) = noted
        .iter()
        .filter_map(|found| {
            let (_, whole) = found.windows.split_last()?;
            let whole: Vec<&LatencyWindow> = whole
                .iter()
                .filter(|window| window.operations > 0)
                .collect();
            if whole.len() < FEWEST_WINDOWS {
                return None;
            }
            Some((whole.first()?.p50.as_f64(), whole.last()?.p50.as_f64()))
        })
        .unzip();
    if let Some(found) = paired_mean_ratio(&last, &first, level) {
        return Some(Estimate {
            estimate: found.value - 1.0,
            lower: found.interval.lower - 1.0,
            upper: found.interval.upper - 1.0,
        });
    }
    let ratio = mean(&last)? / mean(&first)?;
    ratio.is_finite().then(|| Estimate::unbounded(ratio - 1.0))
}
