//! An estimated value with its interval, in the one form that is used outside the statistics crate.

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::Thresholds;
use perfcheck_stats::{
    ClusterStatistic, FEWEST_FOR_BOOTSTRAP, Interval, IntervalMethod, IntervalScale,
    LogStandardError, PairedRatio, Resampling, Smoothness,
};

/// A value with its interval. A bound that the data cannot give is infinite here and null in messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub estimate: f64,
    /// The lower bound; null if the data cannot give one.
    #[serde(deserialize_with = "lower")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub lower: f64,
    /// The upper bound; null if the data cannot give one.
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

/// Chooses how an interval over `clusters` processes is computed, or over that many samples of a single process.
pub(super) fn choose_interval_method(clusters: usize, thresholds: &Thresholds) -> IntervalMethod {
    IntervalMethod::for_clusters_from(clusters, thresholds.bootstrap_min_launches as usize)
}

/// The rules for the interval of a relative change.
#[derive(Clone, Copy)]
pub(super) struct ChangeInterval<'a> {
    pub level: f64,
    pub resampling: Resampling<'a>,
    pub smoothness: Smoothness,
    pub thresholds: &'a Thresholds,
}

impl ChangeInterval<'_> {
    /// Chooses the method. Medians are bootstrapped from a smaller number of clusters on, because the jackknife of a median is not consistent.
    fn method(&self, clusters: usize) -> IntervalMethod {
        match self.smoothness {
            Smoothness::Median if clusters >= FEWEST_FOR_BOOTSTRAP => IntervalMethod::Bootstrap,
            Smoothness::Median | Smoothness::Smooth => {
                choose_interval_method(clusters, self.thresholds)
            }
        }
    }

    fn has_few_medians(&self, clusters: usize) -> bool {
        self.smoothness == Smoothness::Median && self.method(clusters) == IntervalMethod::StudentT
    }
}

impl Estimate {
    /// Converts a difference of logarithms with its bounds into a relative change.
    pub(super) fn from_logarithms(estimate: f64, lower: f64, upper: f64) -> Self {
        Self {
            estimate: estimate.exp_m1(),
            lower: lower.exp_m1(),
            upper: upper.exp_m1(),
        }
    }

    pub(super) fn from_interval(estimate: f64, interval: Interval) -> Self {
        Self {
            estimate,
            lower: interval.lower,
            upper: interval.upper,
        }
    }

    /// Computes the relative change of a statistic with its interval: a bootstrap interval, or Student's if a side has few clusters. `None` if the
    /// change has no finite value. A side with a single cluster has no known spread, so there are no bounds.
    pub(super) fn relative_change(
        candidate: &impl ClusterStatistic,
        base: &impl ClusterStatistic,
        rule: ChangeInterval<'_>,
    ) -> Option<Self> {
        let estimate = candidate.observed() / base.observed() - 1.0;
        if !estimate.is_finite() {
            return None;
        }
        let fewer = candidate.clusters().min(base.clusters());
        let interval_by = |method: IntervalMethod| {
            method.relative_change_interval(candidate, base, rule.level, rule.resampling)
        };
        let mut interval = if rule.has_few_medians(fewer) {
            LogStandardError::estimate_ratio(candidate, base, rule.smoothness)
                .map(|error| error.change_interval(estimate, rule.level))
        } else {
            interval_by(rule.method(fewer))
        };
        if estimate == -1.0 && fewer > 1 {
            // Student's interval uses logarithms, and 0 has none.
            interval = interval.or_else(|| interval_by(IntervalMethod::Bootstrap));
        }
        Some(interval.map_or(Self::unbounded(estimate), |found| {
            Self::from_interval(estimate, found)
        }))
    }

    /// Computes the relative change of clusters that are paired (cluster i of both sides): influences that both share do not widen the interval.
    pub(super) fn relative_change_of_pairs(
        ratio: &PairedRatio<impl ClusterStatistic>,
        rule: ChangeInterval<'_>,
    ) -> Option<Self> {
        let estimate = ratio.observed() - 1.0;
        if !estimate.is_finite() {
            return None;
        }
        let interval = if rule.has_few_medians(ratio.clusters()) {
            LogStandardError::estimate(ratio, rule.smoothness)
                .map(|error| error.change_interval(estimate, rule.level))
        } else {
            let method = rule.method(ratio.clusters());
            let scale = IntervalScale::Logarithmic;
            let found = method.interval(ratio, scale, rule.level, rule.resampling);
            found.map(|found| Interval {
                lower: found.lower - 1.0,
                upper: found.upper - 1.0,
            })
        };
        Some(interval.map_or(Self::unbounded(estimate), |found| {
            Self::from_interval(estimate, found)
        }))
    }

    /// Creates a value without bounds.
    pub fn unbounded(estimate: f64) -> Self {
        Self {
            estimate,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_stats::{ClusterMedian, Stream};

    #[test]
    fn the_change_of_a_median_of_few_is_as_uncertain_as_its_launches_are_apart() {
        let candidate = [100.0, 101.0, 102.0, 103.0, 110.0];
        let base = [90.0, 92.0, 91.0, 95.0, 93.0];
        let median = |values: &[f64]| ClusterMedian::new(&values.chunks(1).collect::<Vec<_>>());
        let rule = ChangeInterval {
            level: 0.95,
            resampling: Resampling {
                resamples: 1_000,
                stream: Stream {
                    seed: 1,
                    name: "change",
                },
            },
            smoothness: Smoothness::Median,
            thresholds: &Thresholds::default(),
        };
        let found = Estimate::relative_change(&median(&candidate), &median(&base), rule).unwrap();
        // NumPy and SciPy: for each side se = max(jackknife of the logarithm of the median, sqrt(pi / 2) * np.log(x).std(ddof=1) / sqrt(5)), that is
        // 0.0210976 and 0.0116534; v = sum(se**2); df = v**2 / sum(se**4 / 4); m = stats.t.ppf(.975, df) * sqrt(v);
        // np.expm1(np.log(102 / 92) - m) and + m
        assert!(
            (found.lower - 0.045_754_490_025_496_26).abs() < 1e-9,
            "{found:?}"
        );
        assert!(
            (found.upper - 0.175_425_074_311_055_1).abs() < 1e-9,
            "{found:?}"
        );
        // With eight per side the interval is a bootstrap interval, within the extremes of the ratios.
        let (more, base) = (
            [100.0, 101.0, 102.0, 103.0, 110.0, 104.0, 105.0, 99.0],
            [90.0; 8],
        );
        let found = Estimate::relative_change(&median(&more), &median(&base), rule).unwrap();
        assert!(
            found.lower >= 0.1 && found.upper <= 110.0 / 90.0 - 1.0,
            "{found:?}"
        );
    }
}
