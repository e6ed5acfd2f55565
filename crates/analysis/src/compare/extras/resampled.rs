//! Latencies of a run as `BenchForge` states them: percentile bootstrap intervals over launches, by its rule of indices.
//!
//! Operations of different launches are never pooled: what is resampled are the numbers of the launches. It describes and decides nothing; few launches
//! have few distinct resamples, so that these intervals cover too seldom.

use crate::compare::estimate::Estimate;
use crate::model::Measurement;
use perfcheck_stats::{
    ClusterMean, ClusterStatistic, HdrHistogram, PercentileRule, Resampling, Stream, derived_seed,
    percentile_interval_by,
};

use super::latencies::LatencyComparison;

/// Means over launches with `BenchForge`'s bootstrap intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyBootstrap {
    /// Launches with operations that succeeded.
    pub launches: usize,
    /// Operations of a launch.
    pub operations: Estimate,
    /// Operations a second of a launch.
    pub operations_per_second: Estimate,
    /// The mean time of a launch's operations, nanoseconds.
    pub mean_ns: Estimate,
    /// Those of [`LatencyComparison::QUANTILES`], nanoseconds.
    pub percentiles_ns: Vec<(f64, Estimate)>,
}

impl LatencyBootstrap {
    /// Resamples, of which those of the indices 250 and 9749 bound a 95 % interval.
    pub const RESAMPLES: usize = 10_000;

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
            let found = over(&name, &|launch| {
                launch.percentile(quantile).map(|ns| ns as f64)
            });
            Some((quantile, found?))
        });
        Some(Self {
            launches: histograms.len(),
            operations: over("latency-operations", &|launch| Some(launch.total() as f64))?,
            operations_per_second: over("latency-rate", &|launch| {
                launch.mean().filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns)
            })?,
            mean_ns: over("latency-mean", &HdrHistogram::mean)?,
            percentiles_ns: percentiles.collect::<Option<_>>()?,
        })
    }

    /// Whether the intervals are points because there is nothing to resample.
    pub fn is_degenerate(&self) -> bool {
        self.launches < 2
    }
}
