//! What one run noted as extras, described: allocations of an iteration, latencies of single operations.
//!
//! Every number is a mean over launches, which weigh alike; only the merged histogram and the distribution are of all operations, for looking at.

use serde::Serialize;

use crate::compare::estimate::Estimate;
use crate::model::{Allocations, Latencies, LatencyWindow, LaunchSeries, Measurement};
use perfcheck_stats::{
    HdrHistogram, HdrPrecision, TInterval, WeightedEcdf, mean, paired_mean_ratio, sample_variance,
};

use super::latencies::LatencyComparison;

/// A window that is shorter than a second says nothing of a whole one; the last one usually is.
const FEWEST_WINDOWS: usize = 2;

/// What an iteration allocated: means over launches of the means of their counted iterations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocationSummary {
    /// Allocations of the thread that ran the iteration.
    pub count: f64,
    /// Bytes of these.
    pub bytes: f64,
    /// The most bytes alive at once.
    pub peak_bytes: f64,
    /// Allocations of other threads meanwhile.
    pub other_count: f64,
    /// Bytes of these.
    pub other_bytes: f64,
    /// Whether all iterations of all launches allocated the same.
    pub exact: bool,
    /// Iterations counted, in all launches.
    pub iterations: usize,
    /// Launches that counted.
    pub launches: usize,
}

impl AllocationSummary {
    /// `None` where nothing was counted.
    pub fn of(measurement: &Measurement) -> Option<Self> {
        let launches = super::allocations::counted(measurement);
        let of = |pick: fn(&Allocations) -> u64| {
            mean(&super::allocations::launch_means(&launches, pick))
        };
        let mut all = launches.iter().copied().flatten();
        let first = all.next()?;
        Some(Self {
            count: of(|found| found.count)?,
            bytes: of(|found| found.bytes)?,
            peak_bytes: of(|found| found.peak_bytes)?,
            other_count: of(|found| found.other_count)?,
            other_bytes: of(|found| found.other_bytes)?,
            exact: all.all(|found| found == first),
            iterations: launches.iter().map(|launch| launch.len()).sum(),
            launches: launches.len(),
        })
    }
}

/// A number that each launch has, over the launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverLaunches {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (k - 1); `None` for one launch.
    pub sd: Option<f64>,
    /// The mean with Student's interval; `None` for one launch.
    pub interval: Option<Estimate>,
}

impl OverLaunches {
    fn of(values: &[f64], level: f64) -> Option<Self> {
        let mean = mean(values)?;
        let interval = TInterval::of(values, level);
        Some(Self {
            mean,
            sd: sample_variance(values).map(f64::sqrt),
            interval: interval.map(|found| Estimate::with(found.mean, found.interval())),
        })
    }

    /// SD / mean.
    pub fn cv(&self) -> Option<f64> {
        self.sd
            .filter(|_| self.mean != 0.0)
            .map(|sd| sd / self.mean)
    }
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileSummary {
    /// Which, as a fraction; 1 is the longest operation.
    pub quantile: f64,
    /// Over the launches, nanoseconds.
    pub ns: OverLaunches,
    /// Of all operations in one histogram, nanoseconds.
    pub merged_ns: u64,
}

/// What the operations took in one second of the launches that lasted so long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowSummary {
    /// Launches that had operations or errors in it.
    pub launches: usize,
    /// Operations that succeeded, all launches together.
    pub operations: u64,
    /// Operations that failed.
    pub errors: u64,
    /// The mean over launches of their 50th, 95th and 99th percentile, nanoseconds; `None` where nothing succeeded.
    pub percentiles_ns: Option<[f64; 3]>,
}

/// What single operations took.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencySummary {
    /// Launches with operations that succeeded.
    pub launches: usize,
    /// Operations that succeeded, all launches together.
    pub operations: u64,
    /// Operations that failed.
    pub errors: u64,
    /// What the first of them said, each once.
    pub messages: Vec<String>,
    /// Operations that took longer than the histogram reaches.
    pub clamped: u64,
    /// How finely the histograms tell operations apart; of several the coarsest.
    pub precision: HdrPrecision,
    /// Operations of a launch.
    pub operations_per_launch: OverLaunches,
    /// Operations a second of a launch, by the times of all its operations.
    pub operations_per_second: OverLaunches,
    /// Those of [`LatencyComparison::QUANTILES`].
    pub percentiles: Vec<PercentileSummary>,
    /// Mean of all operations, nanoseconds, each in the middle of its counter.
    pub merged_mean_ns: f64,
    /// Their deviation, of the population.
    pub merged_sd_ns: f64,
    /// The distribution of single operations, from those drawn at random.
    pub distribution: Option<WeightedEcdf>,
    /// Second by second.
    pub windows: Vec<WindowSummary>,
    /// Median of the last whole second over that of the first, less 1, over the launches that had two; the interval is Student's.
    pub drift: Option<Estimate>,
}

impl LatencySummary {
    /// `None` where no operation succeeded. Intervals have this level.
    pub fn of(measurement: &Measurement, confidence_level: f64) -> Option<Self> {
        let noted: Vec<&Latencies> = noted(measurement).collect();
        let histograms: Vec<HdrHistogram> = noted
            .iter()
            .filter_map(|found| found.histogram())
            .filter(|histogram| histogram.total() > 0)
            .collect();
        let (first, others) = histograms.split_first()?;
        let merged = others
            .iter()
            .try_fold(first.clone(), |sum, next| sum.merged(next))?;
        let over = |value: &dyn Fn(&HdrHistogram) -> Option<f64>| {
            let values: Vec<f64> = histograms.iter().filter_map(value).collect();
            OverLaunches::of(&values, confidence_level)
        };
        let percentiles = LatencyComparison::QUANTILES.into_iter().map(|quantile| {
            Some(PercentileSummary {
                quantile,
                ns: over(&|launch| launch.percentile(quantile).map(|ns| ns as f64))?,
                merged_ns: merged.percentile(quantile)?,
            })
        });
        let mut messages: Vec<String> = Vec::new();
        for message in noted.iter().flat_map(|found| &found.messages) {
            if !messages.contains(message) {
                messages.push(message.clone());
            }
        }
        Some(Self {
            launches: histograms.len(),
            operations: merged.total(),
            errors: noted.iter().map(|found| found.errors).sum(),
            messages,
            clamped: noted.iter().map(|found| found.clamped).sum(),
            precision: merged.precision(),
            operations_per_launch: over(&|launch| Some(launch.total() as f64))?,
            operations_per_second: over(&|launch| {
                launch.mean().filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns)
            })
            .unwrap_or(OverLaunches {
                mean: 0.0,
                sd: None,
                interval: None,
            }),
            percentiles: percentiles.collect::<Option<_>>()?,
            merged_mean_ns: merged.mean()?,
            merged_sd_ns: merged.population_deviation()?,
            distribution: distribution(&noted),
            windows: windows(&noted),
            drift: drift(&noted, confidence_level),
        })
    }

    /// The percentile of this fraction.
    pub fn at(&self, quantile: f64) -> Option<&PercentileSummary> {
        self.percentiles
            .iter()
            .find(|found| found.quantile == quantile)
    }
}

fn noted(measurement: &Measurement) -> impl Iterator<Item = &Latencies> {
    let launches = measurement.launches.iter();
    launches.filter_map(|launch: &LaunchSeries| launch.extras.latencies.as_ref())
}

fn distribution(noted: &[&Latencies]) -> Option<WeightedEcdf> {
    let drawn: Vec<(u64, Vec<f64>)> = noted
        .iter()
        .map(|found| {
            let operations = found.counts.iter().map(|(_, count)| count).sum();
            let values = found.reservoir.iter().map(|ns| ns.as_f64()).collect();
            (operations, values)
        })
        .collect();
    let samples: Vec<(u64, &[f64])> = drawn
        .iter()
        .map(|(operations, values)| (*operations, &values[..]))
        .collect();
    WeightedEcdf::of(&samples)
}

fn windows(noted: &[&Latencies]) -> Vec<WindowSummary> {
    let longest = noted
        .iter()
        .map(|found| found.windows.len())
        .max()
        .unwrap_or(0);
    (0..longest)
        .map(|second| {
            let of_launches: Vec<&LatencyWindow> = noted
                .iter()
                .filter_map(|found| found.windows.get(second))
                .filter(|window| window.operations + window.errors > 0)
                .collect();
            let percentile = |pick: fn(&LatencyWindow) -> f64| {
                let with = of_launches.iter().filter(|window| window.operations > 0);
                mean(&with.map(|window| pick(window)).collect::<Vec<_>>())
            };
            let percentiles = [
                percentile(|window| window.p50.as_f64()),
                percentile(|window| window.p95.as_f64()),
                percentile(|window| window.p99.as_f64()),
            ];
            WindowSummary {
                launches: of_launches.len(),
                operations: of_launches.iter().map(|window| window.operations).sum(),
                errors: of_launches.iter().map(|window| window.errors).sum(),
                percentiles_ns: match percentiles {
                    [Some(p50), Some(p95), Some(p99)] => Some([p50, p95, p99]),
                    _ => None,
                },
            }
        })
        .collect()
}

/// The last whole second against the first, launch by launch. The last window of a launch is not over.
fn drift(noted: &[&Latencies], level: f64) -> Option<Estimate> {
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
