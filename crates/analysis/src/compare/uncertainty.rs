//! How far a relative change may be off, at any level: what limits and verdicts about something else than time decide by.
//!
//! Kept as standard errors of the logarithm, because the level of a bound is known only when all that share it are.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::question::{Question, Rules};
use super::run_level::between_runs;
use crate::model::Measurement;
use perfcheck_stats::{ClusterStatistic, LogStandardError, PairedRatio, Smoothness, mean};

/// A relative change with its standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The change, a fraction.
    estimate: f64,
    /// From launch to launch, or round to round; `None` where that is not known.
    within: Option<LogStandardError>,
    /// From run to run; `None` where both sides were measured in turn.
    between: Option<LogStandardError>,
}

impl Uncertainty {
    /// Nothing is known but the change.
    pub fn unknown(estimate: f64) -> Self {
        Self {
            estimate,
            within: None,
            between: None,
        }
    }

    /// Of independent clusters. `None` where the change has no finite value.
    pub(super) fn of(
        candidate: &impl ClusterStatistic,
        base: &impl ClusterStatistic,
        smoothness: Smoothness,
    ) -> Option<Self> {
        let estimate = candidate.observed() / base.observed() - 1.0;
        estimate.is_finite().then(|| Self {
            estimate,
            within: LogStandardError::of_ratio(candidate, base, smoothness),
            between: None,
        })
    }

    /// Of rounds that were measured in turn: cluster i of both sides are a pair.
    pub(super) fn of_pairs(
        ratio: &PairedRatio<impl ClusterStatistic>,
        smoothness: Smoothness,
    ) -> Option<Self> {
        let estimate = ratio.observed() - 1.0;
        estimate.is_finite().then(|| Self {
            estimate,
            within: LogStandardError::of(ratio, smoothness),
            between: None,
        })
    }

    /// The same of runs that may have drifted apart so far.
    #[must_use]
    pub(super) fn drifting(self, between: Option<LogStandardError>) -> Self {
        Self { between, ..self }
    }

    /// The change with its two-sided interval: the wider one of what launches and what runs allow.
    pub fn at(&self, level: f64) -> Estimate {
        let Some(within) = self.within else {
            return Estimate::unbounded(self.estimate);
        };
        // Not one step apart in any launch: no drift hides a change so exactly.
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

/// How far the new run and the reference may have drifted apart: docs/src/statistics/stored.md, steps 1 to 3, with the mean of the logarithms of the
/// launches' values as the value of a run. `None` where no run of the reference has a value.
pub(super) fn drift(
    question: &Question<'_>,
    rules: &Rules,
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
    let (variance, df) = between_runs(levels, rules.host);
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
        let rules = Rules {
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
            drift(&question, &rules, |_| vec![100.0; 5])
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
