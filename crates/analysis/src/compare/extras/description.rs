//! Describes the extras of one run: allocations of an iteration, and latencies of single operations.
//!
//! Every number is a mean over processes, which all have the same weight. Only the merged histogram and the distribution pool the operations of all
//! processes. Both are only for display.

use serde::{Serialize, Serializer};

use crate::compare::estimate::Estimate;
use crate::model::{Allocations, Latencies, LatencyWindow, Measurement, ProcessSeries};
use perfcheck_stats::{
    HdrHistogram, TInterval, WeightedEcdf, mean, paired_mean_ratio, sample_variance,
};

use super::latencies::LatencyComparison;

/// The fewest windows (seconds) of a process from which its drift is estimated. The last window, which may be shorter than a second, and windows
/// without a successful operation do not count.
const FEWEST_WINDOWS: usize = 2;

/// The allocations of an iteration in one run. Each number is a mean over processes, and the number of a process is the mean over its counted
/// iterations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocationSummary {
    /// How often the thread that ran the iteration allocated memory.
    pub count: f64,
    /// How many bytes the thread that ran the iteration allocated.
    pub bytes: f64,
    /// The most bytes that were alive at once, beyond those that were alive when the iteration began.
    pub peak_bytes: f64,
    /// How often other threads allocated memory while the iteration ran.
    pub other_count: f64,
    /// How many bytes other threads allocated while the iteration ran.
    pub other_bytes: f64,
    /// Whether these numbers were the same in all counted iterations of all processes.
    pub exact: bool,
    /// Number of iterations that were counted, in all processes together.
    pub iterations: usize,
    /// Number of processes that counted allocations.
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

/// A summary of a number that each process has: its mean, spread and interval over the processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverProcesses {
    /// The mean over the processes.
    pub mean: f64,
    /// The standard deviation over the processes, with the number of processes minus 1 in the denominator; null if there is only one process.
    #[serde(rename = "std_dev")]
    pub sd: Option<f64>,
    /// The coefficient of variation (standard deviation divided by mean), as a fraction; null if there is only one process or the mean is 0.
    pub cv: Option<f64>,
    /// The mean with its interval. The interval is Student's unless the enclosing object names another one. Null if there is no interval, such as
    /// Student's interval of a single process.
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

/// A percentile of the latencies of single operations, in nanoseconds: of all operations together, and summarized over the processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileSummary {
    /// The percentile as a fraction, such as 0.99; 1 is the longest operation.
    pub quantile: f64,
    /// The percentile of the operations of all processes together, merged into one histogram, in nanoseconds.
    pub merged_ns: u64,
    /// The percentile of each process, summarized over the processes, in nanoseconds. The members of this summary are members of this object.
    #[serde(flatten)]
    pub ns: OverProcesses,
}

/// The operations that ended in the same second of the measurement, in all processes together. The seconds of each process are counted from the
/// beginning of its first sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowSummary {
    /// How many processes had operations that ended within this second, whether they succeeded or failed.
    pub processes: usize,
    /// How many of the operations succeeded.
    pub operations: u64,
    /// How many of the operations failed.
    pub errors: u64,
    /// The median latency: the mean over processes of their medians, in nanoseconds. Null if no operation succeeded.
    pub p50_ns: Option<f64>,
    /// The 95th percentile of the latencies: the mean over processes, in nanoseconds. Null if no operation succeeded.
    pub p95_ns: Option<f64>,
    /// The 99th percentile of the latencies: the mean over processes, in nanoseconds. Null if no operation succeeded.
    pub p99_ns: Option<f64>,
}

/// How the latencies of a benchmark developed while its processes ran, second by second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyOverTime {
    /// The operations of all processes by the second in which they ended, the first second first.
    pub windows: Vec<WindowSummary>,
    /// The change of the median latency from the first whole second of the processes to the last, as a fraction with Student's interval. Null if no
    /// process ran for two whole seconds with successful operations.
    pub drift: Option<Estimate>,
    /// An array of 100 times in nanoseconds: the latencies within which 1, 2, ... 100 % of the operations ended. They are estimated from randomly
    /// drawn operations. Null if none were drawn.
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
    /// The messages of the first operations that failed, each different message once.
    #[serde(rename = "error_messages")]
    pub messages: Vec<String>,
    /// How many operations took more than an hour, which the histograms count as an hour.
    pub clamped: u64,
    /// How many processes had operations that succeeded.
    pub processes: usize,
    /// The number of successful operations of each process, summarized over the processes.
    pub operations_per_process: OverProcesses,
    /// The operations per second of each process, which is a second divided by its mean latency, summarized over the processes.
    pub operations_per_second: OverProcesses,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest operation), in this order.
    pub percentiles: Vec<PercentileSummary>,
    /// The mean latency of the operations of all processes together, in nanoseconds. Each operation counts as the middle of its bucket in the
    /// histogram.
    pub merged_mean_ns: f64,
    /// The population standard deviation (divided by n) of the latencies of all operations together, in nanoseconds.
    #[serde(rename = "merged_std_dev_ns")]
    pub merged_sd_ns: f64,
    /// The number of significant digits to which the histograms keep latencies. If they differ between processes, it is the smallest.
    pub digits: u8,
    /// The largest relative error by which a percentile may be too low, as a fraction, because the histograms round latencies down.
    pub relative_error: f64,
    /// Percentiles below this number of nanoseconds are exact, because the histogram does not round them.
    #[serde(skip)]
    pub exact_below: u64,
    /// How the latencies developed second by second.
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

    /// Returns the summary of the percentile `quantile`, a fraction.
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

/// Estimates how the median latency changed from the first whole second of a process to the last. The last window of a process is incomplete and left
/// out.
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
