//! An estimated value with its interval, in the form that is used everywhere outside the statistics crate; the verdict that follows from the bounds
//! of a change; and the uncertainty of a relative change.
//!
//! All tests turn bounds into a verdict here, so that they judge alike. Limits on changes and metrics other than the time are decided from the
//! uncertainty. It is kept as standard errors of the logarithm, because an interval can be computed only at the end: its level depends on how many
//! benchmarks share the error budget.

use serde::{Deserialize, Deserializer, Serialize};

use super::question::{Question, TestPolicy};
use super::run_level::pool_run_variance;
use crate::model::{Measurement, Thresholds, Verdict};
use perfcheck_stats::{
    ClusterStatistic, FEWEST_FOR_BOOTSTRAP, Interval, IntervalMethod, IntervalScale,
    LogStandardError, PairedRatio, Resampling, Smoothness, mean,
};

/// An estimated value with its interval. A bound that the data cannot give is infinite in Rust and null in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The estimated value; null if it is not finite.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub estimate: f64,
    /// The lower bound of the interval; null if the data cannot give one.
    #[serde(deserialize_with = "lower")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub lower: f64,
    /// The upper bound of the interval; null if the data cannot give one.
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

/// Chooses how to compute an interval over `clusters` clusters. A cluster is a process, or a sample if there is only one process.
pub(super) fn choose_interval_method(clusters: usize, thresholds: &Thresholds) -> IntervalMethod {
    IntervalMethod::for_clusters_from(clusters, thresholds.bootstrap_min_processes as usize)
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
    /// Chooses the method for the interval. For medians, the bootstrap is used from fewer clusters on. Otherwise the interval would come from the
    /// jackknife, which is not consistent for a median.
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

    /// Computes the relative change of a statistic with its interval: a bootstrap interval, or Student's if a side has few clusters. If a side has a
    /// single cluster, its spread is unknown and there are no bounds. Returns `None` if the change has no finite value.
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

    /// Computes the relative change with its interval if cluster i of one side belongs to cluster i of the other. Whatever affects both clusters of a
    /// pair alike does not widen the interval.
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

    /// Creates an estimate whose bounds are infinite.
    pub fn unbounded(estimate: f64) -> Self {
        Self {
            estimate,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }
}

/// A relative change with its standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The change, a fraction.
    estimate: f64,
    /// The standard error that follows from the differences between processes, or between rounds. `None` if it is not known.
    within: Option<LogStandardError>,
    /// The standard error that follows from the drift between runs. `None` if both sides were measured side by side.
    between: Option<LogStandardError>,
}

impl Uncertainty {
    /// Creates a change without a known uncertainty.
    pub fn unknown(estimate: f64) -> Self {
        Self {
            estimate,
            within: None,
            between: None,
        }
    }

    /// Computes the change and its uncertainty if the clusters of the two sides are independent. Returns `None` if the change has no finite value.
    pub(super) fn from_independent(
        candidate: &impl ClusterStatistic,
        base: &impl ClusterStatistic,
        smoothness: Smoothness,
    ) -> Option<Self> {
        let estimate = candidate.observed() / base.observed() - 1.0;
        estimate.is_finite().then(|| Self {
            estimate,
            within: LogStandardError::estimate_ratio(candidate, base, smoothness),
            between: None,
        })
    }

    /// Computes the change and its uncertainty if the clusters are rounds that were measured side by side: cluster i of one side is paired with
    /// cluster i of the other.
    pub(super) fn from_pairs(
        ratio: &PairedRatio<impl ClusterStatistic>,
        smoothness: Smoothness,
    ) -> Option<Self> {
        let estimate = ratio.observed() - 1.0;
        estimate.is_finite().then(|| Self {
            estimate,
            within: LogStandardError::estimate(ratio, smoothness),
            between: None,
        })
    }

    /// Adds the standard error that follows from the drift between stored runs.
    #[must_use]
    pub(super) fn with_drift(self, between: Option<LogStandardError>) -> Self {
        Self { between, ..self }
    }

    /// Returns the change with its two-sided interval at `level`. Of the interval from processes and the interval from runs, the wider one is used.
    pub fn interval_at(&self, level: f64) -> Estimate {
        let Some(within) = self.within else {
            return Estimate::unbounded(self.estimate);
        };
        // All process values are equal. That would hardly happen if the runs had drifted, so the drift is ignored.
        let is_identical = self.estimate == 0.0 && within.standard_error == 0.0;
        let between = self.between.filter(|_| !is_identical);
        let between = between.map_or(0.0, |found| found.margin(level));
        let margin = within.margin(level).max(between);
        if margin == 0.0 {
            return Estimate {
                estimate: self.estimate,
                lower: self.estimate,
                upper: self.estimate,
            };
        }
        let centre = self.estimate.ln_1p();
        Estimate {
            estimate: self.estimate,
            lower: (centre - margin).exp_m1(),
            upper: (centre + margin).exp_m1(),
        }
    }
}

/// Estimates how far the new run and the reference may have drifted apart, by steps 1 to 3 of docs/internals/src/statistics/stored.md. The value of a
/// run is the mean of the logarithms of its processes' values, which `processes` returns. Returns `None` if no run of the reference has a value.
pub(super) fn estimate_drift(
    question: &Question<'_>,
    rules: &TestPolicy,
    processes: impl Fn(&Measurement) -> Vec<f64>,
) -> Option<LogStandardError> {
    let value = |run: &Measurement| {
        let logarithms: Vec<f64> = processes(run).into_iter().map(f64::ln).collect();
        mean(&logarithms).filter(|value| value.is_finite())
    };
    let values =
        |runs: &[&Measurement]| -> Vec<f64> { runs.iter().filter_map(|run| value(run)).collect() };
    let reference = question.reference;
    let averaged = values(&reference.averaged).len();
    let levels = std::iter::once(values(&reference.spread))
        .chain(reference.earlier.iter().map(|level| values(level)));
    let (variance, df) = pool_run_variance(levels, rules.host);
    (averaged > 0).then(|| LogStandardError {
        standard_error: (variance * (1.0 + 1.0 / averaged as f64)).sqrt(),
        df,
    })
}

/// The interval of a relative change or of a log ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChangeBounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl ChangeBounds {
    /// Returns `Regressed` or `Improved` if the whole interval lies beyond the threshold, and `Unchanged` if the whole interval lies within the
    /// threshold.
    pub(super) fn judge(self, threshold: f64) -> Verdict {
        self.judge_with_resolution(threshold, threshold)
    }

    /// Judges the interval of a value that is measured more coarsely than the threshold. For a change, the whole interval must lie beyond `callable`,
    /// the smallest change that can be reported. For `Unchanged`, it must lie within `threshold`.
    pub(super) fn judge_with_resolution(self, threshold: f64, callable: f64) -> Verdict {
        if self.lower > callable {
            Verdict::Regressed
        } else if self.upper < -callable {
            Verdict::Improved
        } else if self.lower >= -threshold && self.upper <= threshold {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        }
    }
}

impl From<&Estimate> for ChangeBounds {
    fn from(change: &Estimate) -> Self {
        Self {
            lower: change.lower,
            upper: change.upper,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::floors;
    use crate::compare::{HostClass, Reference};
    use crate::model::DecisionSettings;
    use perfcheck_stats::{ClusterMean, ClusterMedian, Stream};

    fn interval_rule(smoothness: Smoothness, thresholds: &Thresholds) -> ChangeInterval<'_> {
        ChangeInterval {
            level: 0.95,
            resampling: Resampling {
                resamples: 1_000,
                stream: Stream {
                    seed: 1,
                    name: "change",
                },
            },
            smoothness,
            thresholds,
        }
    }

    #[test]
    fn the_change_of_a_median_of_few_is_as_uncertain_as_its_processes_are_apart() {
        let candidate = [100.0, 101.0, 102.0, 103.0, 110.0];
        let base = [90.0, 92.0, 91.0, 95.0, 93.0];
        let median = |values: &[f64]| ClusterMedian::new(&values.chunks(1).collect::<Vec<_>>());
        let thresholds = Thresholds::default();
        let rule = interval_rule(Smoothness::Median, &thresholds);
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
        // With eight processes per side the interval comes from the bootstrap, and lies within the extremes of the ratios.
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

    #[test]
    fn the_drift_of_a_run_comes_on_top_of_that_of_the_mean_of_its_reference() {
        let run = floors(&[100.0; 5], 10);
        let rules = TestPolicy {
            decision: DecisionSettings::default(),
            host: HostClass::Dedicated,
            seed: 1,
        };
        let error = |averaged: usize| {
            let reference = Reference {
                averaged: vec![&run; averaged],
                spread: vec![&run],
                earlier: vec![],
            };
            let question = Question {
                candidate: &run,
                reference: &reference,
                noise_threshold: 0.01,
            };
            estimate_drift(&question, &rules, |_| vec![100.0; 5])
        };
        // The prior standard deviation is 1 % with four degrees of freedom. The expected values are 0.01 sqrt(1 + 1 / m) for m = 1, 2 and 4, computed
        // in Python.
        for (averaged, expected) in [
            (1, 0.014_142_135_623_730_95),
            (2, 0.012_247_448_713_915_89),
            (4, 0.011_180_339_887_498_95),
        ] {
            let found = error(averaged).unwrap();
            assert!((found.standard_error - expected).abs() < 1e-15, "{found:?}");
            assert_eq!(found.df, 4.0);
        }
        assert_eq!(error(0), None);
    }

    #[test]
    fn drift_widens_every_interval_but_that_of_equal_values() {
        // The margin is t(4, .975) = 2.7764451051977987 times the standard error of 1 %.
        let error = |standard_error| LogStandardError {
            standard_error,
            df: 4.0,
        };
        let margin = 2.776_445_105_197_798_7 * 0.01;
        for (estimate, within) in [(0.0_f64, 0.001), (0.05, 0.0)] {
            let uncertainty = Uncertainty {
                estimate,
                within: Some(error(within)),
                between: Some(error(0.01)),
            };
            let found = uncertainty.interval_at(0.95);
            for (bound, margin) in [(found.lower, -margin), (found.upper, margin)] {
                let expected = (estimate.ln_1p() + margin).exp_m1();
                assert!((bound - expected).abs() < 1e-12, "{found:?}");
            }
        }
        let same = Uncertainty {
            estimate: 0.0,
            within: Some(error(0.0)),
            between: Some(error(0.01)),
        };
        let found = same.interval_at(0.95);
        assert_eq!((found.lower, found.upper), (0.0, 0.0));
    }

    #[test]
    fn only_a_side_that_is_zero_throughout_is_bootstrapped_where_logarithms_fail() {
        let thresholds = Thresholds::default();
        let rule = interval_rule(Smoothness::Smooth, &thresholds);
        let mean = |values: &[f64]| ClusterMean::new(&values.chunks(1).collect::<Vec<_>>());
        let base = mean(&[5.0, 6.0, 7.0]);
        let of_zeros = Estimate::relative_change(&mean(&[0.0; 3]), &base, rule).unwrap();
        assert_eq!((of_zeros.lower, of_zeros.upper), (-1.0, -1.0));
        // Student's interval comes from the jackknife. Without the second process the mean is 0, which has no logarithm.
        let lone = Estimate::relative_change(&mean(&[0.0, 6.0, 0.0]), &base, rule).unwrap();
        assert!(!lone.upper.is_finite(), "{lone:?}");
        let lone = Estimate::relative_change(&mean(&[0.0]), &base, rule).unwrap();
        assert!(!lone.upper.is_finite(), "{lone:?}");
    }

    #[test]
    fn bounds_are_called_strictly_beyond_the_threshold_and_unchanged_up_to_it() {
        let judge = |lower, upper| ChangeBounds { lower, upper }.judge(0.01);
        assert_eq!(judge(0.0101, 0.02), Verdict::Regressed);
        assert_eq!(judge(0.01, 0.02), Verdict::Inconclusive);
        assert_eq!(judge(-0.02, -0.0101), Verdict::Improved);
        assert_eq!(judge(-0.02, -0.01), Verdict::Inconclusive);
        assert_eq!(judge(-0.01, 0.01), Verdict::Unchanged);
        assert_eq!(judge(-0.0101, 0.01), Verdict::Inconclusive);
        assert_eq!(judge(-0.01, 0.0101), Verdict::Inconclusive);
        assert_eq!(judge(f64::NAN, f64::NAN), Verdict::Inconclusive);
        assert_eq!(judge(f64::NEG_INFINITY, 0.0), Verdict::Inconclusive);
    }

    #[test]
    fn a_coarse_value_needs_a_larger_change_and_is_unchanged_as_before() {
        let judge = |lower, upper| ChangeBounds { lower, upper }.judge_with_resolution(0.01, 0.05);
        assert_eq!(judge(0.02, 0.03), Verdict::Inconclusive);
        assert_eq!(judge(0.051, 0.06), Verdict::Regressed);
        assert_eq!(judge(-0.06, -0.051), Verdict::Improved);
        assert_eq!(judge(-0.01, 0.01), Verdict::Unchanged);
    }
}
