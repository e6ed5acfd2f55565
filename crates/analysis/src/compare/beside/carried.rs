//! What a comparison carries beside the times: allocations and latencies, compared by rules that follow from its own.

use super::rules::{BesideRules, Pairing};
use super::{AllocationComparison, LatencyComparison};
use crate::compare::comparison::Comparison;
use crate::compare::paired::Plan;
use crate::compare::question::{Question, Rules};
use crate::model::Measurement;

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
