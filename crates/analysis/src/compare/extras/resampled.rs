//! Statistics over the processes of a run as `BenchForge` defines them: mean, deviation, and a percentile bootstrap interval with its rule for the
//! indices of the bounds.
//!
//! Operations of different processes are never pooled: the numbers of the processes are resampled. No verdict depends on them. Few processes have few
//! distinct resamples, so these intervals contain the true value too rarely.

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

/// Statistics of the single processes, summarized over all processes. The intervals are percentile bootstrap intervals: their bounds are the sorted
/// resamples with the indices int(a / 2 B) and int((1 - a / 2) B) - 1, where a is one minus the confidence level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessStatistics {
    /// The measurements that the statistics of a process summarize.
    pub observations: ObservationKind,
    /// How many processes are resampled.
    pub processes: usize,
    /// How many resamples there are, B.
    pub resamples: usize,
    /// Whether there is only one process, so that all intervals are points.
    pub ci_degenerate: bool,
    /// The number of observations of a process.
    pub count: OverProcesses,
    /// The operations or iterations per second of a process; null for amounts.
    pub per_second: Option<OverProcesses>,
    /// The mean of a process, in nanoseconds.
    pub mean_ns: OverProcesses,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1 (the longest time).
    pub percentiles: Vec<ProcessPercentile>,
}

/// The times whose percentiles are computed for each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ObservationKind {
    /// Operations that the bench timed one by one.
    Operations,
    /// Samples, if operations were not timed one by one. An imported value is usually one operation.
    Samples,
}

/// A percentile over processes, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessPercentile {
    /// The quantile, a fraction; 1 is the longest time.
    pub quantile: f64,
    /// The percentiles of the single processes, by nearest rank, summarized.
    #[serde(flatten)]
    pub ns: OverProcesses,
}

/// The observations of one process.
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
    /// Number of resamples. The sorted resamples with the indices 250 and 9749 bound a 95 % interval.
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
