//! Latencies of a run as `BenchForge` states them: percentile bootstrap intervals over launches, by its rule of indices.
//!
//! Operations of different launches are never pooled: what is resampled are the numbers of the launches. It describes and decides nothing; few launches
//! have few distinct resamples, so that these intervals cover too seldom.

use serde::Serialize;

use crate::compare::estimate::Estimate;
use crate::model::Measurement;
use perfcheck_stats::{
    ClusterMean, ClusterStatistic, HdrHistogram, PercentileRule, Resampling, Stream, derived_seed,
    percentile_interval_by,
};

use super::latencies::LatencyComparison;

/// Latencies over launches, with percentile bootstrap intervals: of the sorted resamples those of the indices int(a / 2 B) and int((1 - a / 2) B) - 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyBootstrap {
    /// How many launches are resampled.
    pub launches: usize,
    /// How many resamples there are, B.
    pub resamples: usize,
    /// Whether there is one launch: all intervals are points then.
    pub ci_degenerate: bool,
    /// The operations of a launch.
    pub operations: Estimate,
    /// The operations per second of a launch.
    pub operations_per_second: Estimate,
    /// The mean time of a launch's operations, nanoseconds.
    pub mean_ns: Estimate,
    /// The percentiles 0.5, 0.95, 0.99, 0.999 and 1, the longest.
    pub percentiles: Vec<ResampledPercentile>,
}

/// A percentile of latencies over launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResampledPercentile {
    /// Which percentile it is, as a fraction; 1 is the longest operation.
    pub quantile: f64,
    /// Its mean over launches, nanoseconds.
    pub ns: Estimate,
}

impl LatencyBootstrap {
    /// Resamples, of which those of the indices 250 and 9749 bound a 95 % interval.
    const RESAMPLES: usize = 10_000;

    /// `None` where no operation succeeded. Intervals have this level; the same seed gives the same ones.
    pub fn of(measurement: &Measurement, confidence_level: f64, seed: u64) -> Option<Self> {
        let launches = measurement.launches.iter();
        let histograms: Vec<HdrHistogram> = launches
            .filter_map(|launch| launch.extras.latencies.as_ref()?.histogram())
            .filter(|histogram| histogram.total() > 0)
            .collect();
        let seed = derived_seed(seed, &measurement.benchmark.key.to_string());
        let over = |name: &str, value: &dyn Fn(&HdrHistogram) -> Option<f64>| {
            let values: Vec<f64> = histograms.iter().filter_map(value).collect();
            let mean = ClusterMean::new(&values.chunks(1).collect::<Vec<_>>());
            let resampling = Resampling {
                resamples: Self::RESAMPLES,
                stream: Stream { seed, name },
            };
            let rule = PercentileRule::WholeIndices;
            let interval = percentile_interval_by(&mean, confidence_level, rule, resampling)?;
            Some(Estimate::with(mean.observed(), interval))
        };
        let percentiles = LatencyComparison::QUANTILES.into_iter().map(|quantile| {
            let name = format!("latency-p{}", quantile * 100.0);
            let ns = over(&name, &|launch| {
                launch.percentile(quantile).map(|ns| ns as f64)
            })?;
            Some(ResampledPercentile { quantile, ns })
        });
        Some(Self {
            launches: histograms.len(),
            resamples: Self::RESAMPLES,
            ci_degenerate: histograms.len() < 2,
            operations: over("latency-operations", &|launch| Some(launch.total() as f64))?,
            operations_per_second: over("latency-rate", &|launch| {
                launch.mean().filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns)
            })?,
            mean_ns: over("latency-mean", &HdrHistogram::mean)?,
            percentiles: percentiles.collect::<Option<_>>()?,
        })
    }
}
