//! The uncertainty of a relative change, from which bounds at any level can be computed. Limits, and verdicts about other metrics than the time,
//! decide by it.
//!
//! It is kept as standard errors of the logarithm, because the level of a bound is known only after all benchmarks that share it.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::question::{Question, TestPolicy};
use super::run_level::pool_run_variance;
use crate::model::Measurement;
use perfcheck_stats::{ClusterStatistic, LogStandardError, PairedRatio, Smoothness, mean};

/// A relative change with its standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The change, a fraction.
    estimate: f64,
    /// Standard error from process to process, or round to round; `None` if it is not known.
    within: Option<LogStandardError>,
    /// Standard error from run to run; `None` if both sides were measured side by side.
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

    /// Computes the ratio of independent clusters. `None` if the change has no finite value.
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

    /// Computes the ratio of rounds that were measured side by side: cluster i of one side is paired with cluster i of the other.
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

    /// Adds the drift between stored runs.
    #[must_use]
    pub(super) fn with_drift(self, between: Option<LogStandardError>) -> Self {
        Self { between, ..self }
    }

    /// Returns the change with its two-sided interval: the wider of those from processes and from runs.
    pub fn interval_at(&self, level: f64) -> Estimate {
        let Some(within) = self.within else {
            return Estimate::unbounded(self.estimate);
        };
        // All processes are equal to the clock step: drift between runs would not cancel a change so exactly.
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

/// Estimates how far the new run and the reference may have drifted apart: docs/internals/src/statistics/stored.md, steps 1 to 3, with the mean of
/// the logarithms of the processes' values as the value of a run. `None` if no run of the reference has a value.
pub(super) fn estimate_drift(
    question: &Question<'_>,
    rules: &TestPolicy,
    launches: impl Fn(&Measurement) -> Vec<f64>,
) -> Option<LogStandardError> {
    let value = |run: &Measurement| {
        let logarithms: Vec<f64> = launches(run).into_iter().map(f64::ln).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::floors;
    use crate::compare::{HostClass, Reference};
    use crate::model::DecisionSettings;

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
        // The prior is 1 % with four degrees of freedom: 0.01 sqrt(1 + 1 / m), for m = 1, 2 and 4 in Python.
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
}
