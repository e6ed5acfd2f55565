//! Computes statistics over the processes of a run as `BenchForge` defines them: mean, deviation, and a percentile bootstrap interval with
//! `BenchForge`'s rule for the indices of the bounds.
//!
//! Operations of different processes are never pooled, because the numbers of whole processes are resampled. No verdict depends on these statistics.
//! Few processes have few distinct resamples, so the intervals contain the true value too rarely.

use crate::compare::LatencyComparison;
use serde::Serialize;

use super::description::OverProcesses;
use crate::compare::estimate::Estimate;
use crate::compare::summary::described_times;
use crate::model::{Measurement, Metric};
use perfcheck_stats::{
    ClusterMean, HdrHistogram, PercentileRule, Quantile, Resampling, Stream, derived_seed, mean,
    percentile_interval_with,
};

/// Statistics of each process, summarized over all processes as `BenchForge` does. The intervals are percentile bootstrap intervals: their bounds are
/// the sorted resamples with the indices int(a / 2 B) and int((1 - a / 2) B) - 1, where B is the number of resamples and a is one minus the
/// confidence level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessStatistics {
    /// What the statistics of a process are computed from: single operations, or samples.
    pub observations: ObservationKind,
    /// How many processes have observations. The bootstrap resamples whole processes.
    pub processes: usize,
    /// How many resamples of the bootstrap were drawn (B).
    pub resamples: usize,
    /// Whether there is only one process, so that all intervals are points.
    pub ci_degenerate: bool,
    /// The number of observations of each process, summarized over the processes.
    pub count: OverProcesses,
    /// The operations or iterations per second of each process, summarized over the processes. Null if the benchmark measures an amount instead of
    /// time.
    pub per_second: Option<OverProcesses>,
    /// The mean of the observations of each process, in nanoseconds, summarized over the processes.
    pub mean_ns: OverProcesses,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest time), in this order.
    pub percentiles: Vec<ProcessPercentile>,
}

/// The observations of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ObservationKind {
    /// Operations that the bench timed one by one.
    Operations,
    /// Samples, if operations were not timed one by one. An imported value is usually one operation.
    Samples,
}

/// A percentile of each process, summarized over the processes, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessPercentile {
    /// The percentile as a fraction, such as 0.99; 1 is the longest time.
    pub quantile: f64,
    /// The percentile of each process by nearest rank, summarized over the processes. The members of this summary are members of this object.
    #[serde(flatten)]
    pub ns: OverProcesses,
}

/// The observations of one process: a histogram of single operations, or samples.
enum ObservedTimes {
    Histogram(HdrHistogram),
    Samples(Vec<f64>),
}

impl ObservedTimes {
    fn count(&self) -> f64 {
        match self {
            Self::Histogram(found) => found.total() as f64,
            Self::Samples(times) => times.len() as f64,
        }
    }

    fn mean(&self) -> Option<f64> {
        match self {
            Self::Histogram(found) => found.mean(),
            Self::Samples(times) => mean(times),
        }
    }

    fn percentile(&self, quantile: f64) -> Option<f64> {
        match self {
            Self::Histogram(found) => found.percentile(quantile).map(|ns| ns as f64),
            Self::Samples(times) => Quantile::InvertedCdf.select(&mut times.clone(), quantile),
        }
    }
}

impl ProcessStatistics {
    /// The number of resamples. A 95 % interval reaches from sorted resample 250 to sorted resample 9749.
    const RESAMPLES: usize = 10_000;

    /// Computes the statistics of `measurement`, with intervals at `confidence_level`; `None` if nothing was measured. The same seed gives the same
    /// intervals.
    pub fn from_measurement(
        measurement: &Measurement,
        confidence_level: f64,
        seed: u64,
    ) -> Option<Self> {
        let (observations, processes) = observed_times(measurement);
        let seed = derived_seed(seed, &measurement.benchmark.key.to_string());
        let over = |name: &str, value: &dyn Fn(&ObservedTimes) -> Option<f64>| {
            let values: Vec<f64> = processes.iter().filter_map(value).collect();
            let mean = ClusterMean::new(&values.chunks(1).collect::<Vec<_>>());
            let resampling = Resampling {
                resamples: Self::RESAMPLES,
                stream: Stream { seed, name },
            };
            let rule = PercentileRule::WholeIndices;
            let interval = percentile_interval_with(&mean, confidence_level, rule, resampling)?;
            let mut found = OverProcesses::summarize(&values, confidence_level)?;
            found.interval = Some(Estimate::from_interval(found.mean, interval));
            Some(found)
        };
        let percentiles = LatencyComparison::QUANTILES.into_iter().map(|quantile| {
            let name = format!("latency-p{}", quantile * 100.0);
            let ns = over(&name, &|process| process.percentile(quantile))?;
            Some(ProcessPercentile { quantile, ns })
        });
        let per_second = |process: &ObservedTimes| {
            let ns = process.mean().filter(|ns| *ns > 0.0)?;
            Some(1e9 / ns)
        };
        let is_amount = matches!(measurement.benchmark.metric, Metric::Amount { .. });
        Some(Self {
            observations,
            processes: processes.len(),
            resamples: Self::RESAMPLES,
            ci_degenerate: processes.len() < 2,
            count: over("latency-operations", &|process| Some(process.count()))?,
            per_second: (!is_amount)
                .then(|| over("latency-rate", &per_second))
                .flatten(),
            mean_ns: over("latency-mean", &ObservedTimes::mean)?,
            percentiles: percentiles.collect::<Option<_>>()?,
        })
    }
}

/// Returns the observations of each process that has any: operations if the bench timed them one by one, else the described samples.
fn observed_times(measurement: &Measurement) -> (ObservationKind, Vec<ObservedTimes>) {
    let processes = measurement.processes.iter();
    let histograms: Vec<ObservedTimes> = processes
        .filter_map(|process| process.extras.latencies.as_ref()?.histogram())
        .filter(|histogram| histogram.total() > 0)
        .map(ObservedTimes::Histogram)
        .collect();
    if histograms.is_empty() {
        let samples = described_times(measurement).into_iter();
        let samples = samples.map(ObservedTimes::Samples).collect();
        (ObservationKind::Samples, samples)
    } else {
        (ObservationKind::Operations, histograms)
    }
}
