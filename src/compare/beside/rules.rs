//! By which rules allocations and latencies are compared, taken from those of the comparison that carries them.

use super::{AllocationComparison, LatencyComparison};
use crate::compare::comparison::Comparison;
use crate::compare::paired::Plan;
use crate::compare::question::{Question, Rules};
use crate::model::Measurement;

/// How launches of two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// Not at all.
    Independent,
    /// Launches of the same ordinal were one round of an A/B measurement.
    ByRound,
}

/// By which rules is decided what lies beside the times.
#[derive(Debug, Clone, Copy)]
pub(super) struct BesideRules {
    /// Relative change that counts as noise, a fraction.
    pub(super) noise_threshold: f64,
    /// Level of the permutation test; two-sided, for each number by itself.
    pub(super) significance_level: f64,
    /// Level of the intervals, for each percentile by itself.
    pub(super) confidence_level: f64,
    pub(super) resamples: u32,
    /// Seed of everything random.
    pub(super) seed: u64,
}

impl Comparison {
    /// Adds what was noted beside the times of two builds that were measured in turn by this plan.
    #[must_use]
    pub fn beside_in_turn(self, base: &Measurement, candidate: &Measurement, plan: &Plan) -> Self {
        let rules = BesideRules {
            noise_threshold: self.noise_threshold,
            significance_level: plan.significance_level,
            confidence_level: plan.confidence_level,
            resamples: plan.resamples,
            seed: plan.seed,
        };
        self.with_beside(&[base], candidate, Pairing::ByRound, &rules)
    }

    /// Adds what stored runs noted beside the times.
    pub(in crate::compare) fn beside_of(self, question: &Question<'_>, rules: &Rules) -> Self {
        let beside = BesideRules {
            noise_threshold: question.noise_threshold,
            significance_level: rules.decision.significance_level,
            confidence_level: rules.decision.confidence_level,
            resamples: rules.decision.resamples,
            seed: rules.seed,
        };
        let base = &question.reference.averaged;
        let mut found = self.with_beside(base, question.candidate, Pairing::Independent, &beside);
        found.latencies = found
            .latencies
            .map(|latencies| latencies.drifting(question, rules));
        found
    }

    fn with_beside(
        mut self,
        base: &[&Measurement],
        candidate: &Measurement,
        pairing: Pairing,
        rules: &BesideRules,
    ) -> Self {
        self.allocations = AllocationComparison::of(base, candidate, rules);
        self.latencies = LatencyComparison::of(base, candidate, pairing, rules);
        self
    }
}
