//! A value with its interval: the one form of it outside the statistics.

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::Thresholds;
use perfcheck_stats::{
    ClusterStatistic, Interval, IntervalMethod, IntervalScale, PairedRatio, Resampling,
};

/// A value with its interval. A bound that the data do not give is infinite here, and null in messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub estimate: f64,
    /// The lower bound; null where the data do not give one.
    #[serde(deserialize_with = "lower")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub lower: f64,
    /// The upper bound; null where the data do not give one.
    #[serde(deserialize_with = "upper")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub upper: f64,
}

fn lower<'d, D: Deserializer<'d>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
}

fn upper<'d, D: Deserializer<'d>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// How intervals over so many launches are found; of one launch, over so many samples.
pub(super) fn interval_method(clusters: usize, thresholds: &Thresholds) -> IntervalMethod {
    IntervalMethod::for_clusters_from(clusters, thresholds.bootstrap_min_launches as usize)
}

impl Estimate {
    /// The relative change that a difference of logarithms means.
    pub(super) fn from_logarithms(estimate: f64, lower: f64, upper: f64) -> Self {
        Self {
            estimate: estimate.exp_m1(),
            lower: lower.exp_m1(),
            upper: upper.exp_m1(),
        }
    }

    pub(super) fn with(estimate: f64, interval: Interval) -> Self {
        Self {
            estimate,
            lower: interval.lower,
            upper: interval.upper,
        }
    }

    /// The relative change of a statistic, with its interval: a bootstrap's, or Student's where a side has few clusters. `None` where it has
    /// no finite value. A side of one cluster says nothing of its spread: unbounded.
    pub(super) fn relative_change(
        candidate: &impl ClusterStatistic,
        base: &impl ClusterStatistic,
        level: f64,
        resampling: Resampling<'_>,
        thresholds: &Thresholds,
    ) -> Option<Self> {
        let estimate = candidate.observed() / base.observed() - 1.0;
        if !estimate.is_finite() {
            return None;
        }
        let fewer = candidate.clusters().min(base.clusters());
        let interval_by = |method: IntervalMethod| {
            method.relative_change_interval(candidate, base, level, resampling)
        };
        let mut interval = interval_by(interval_method(fewer, thresholds));
        if estimate == -1.0 && fewer > 1 {
            // Student's interval is one of logarithms, and 0 has none.
            interval = interval.or_else(|| interval_by(IntervalMethod::Bootstrap));
        }
        Some(interval.map_or(Self::unbounded(estimate), |found| {
            Self::with(estimate, found)
        }))
    }

    /// The same where cluster i of both sides are a pair: what both share does not widen the interval.
    pub(super) fn relative_change_of_pairs(
        ratio: &PairedRatio<impl ClusterStatistic>,
        level: f64,
        resampling: Resampling<'_>,
    ) -> Option<Self> {
        let estimate = ratio.observed() - 1.0;
        if !estimate.is_finite() {
            return None;
        }
        let method = IntervalMethod::for_clusters(ratio.clusters());
        let interval = method.interval(ratio, IntervalScale::Logarithmic, level, resampling);
        Some(interval.map_or(Self::unbounded(estimate), |found| Self {
            estimate,
            lower: found.lower - 1.0,
            upper: found.upper - 1.0,
        }))
    }

    /// A value without bounds.
    pub fn unbounded(estimate: f64) -> Self {
        Self {
            estimate,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }
}
