//! Adds the extras to a comparison of times: allocations, instructions, sampled time and latencies, compared by rules that follow from its own.

use super::rules::{ExtrasPolicy, ProcessPairing};
use super::{AllocationComparison, InstructionComparison, LatencyComparison, SampledTime};
use crate::compare::comparison::Comparison;
use crate::compare::paired::Plan;
use crate::compare::question::{Question, TestPolicy};
use crate::model::Measurement;

impl Comparison {
    /// Adds the extras of two builds that were measured side by side by this plan.
    #[must_use]
    pub fn with_paired_extras(
        self,
        base: &Measurement,
        candidate: &Measurement,
        plan: &Plan,
    ) -> Self {
        let rules = ExtrasPolicy {
            noise_threshold: self.noise_threshold,
            significance_level: plan.significance_level,
            confidence_level: plan.confidence_level,
            resamples: plan.resamples,
            seed: plan.benchmark_seed(&candidate.benchmark.key),
        };
        self.with_extras(&[base], candidate, ProcessPairing::ByRound, &rules)
    }

    /// Adds the extras of stored runs.
    pub(in crate::compare) fn with_stored_extras(
        self,
        question: &Question<'_>,
        rules: &TestPolicy,
    ) -> Self {
        let extras = ExtrasPolicy {
            noise_threshold: question.noise_threshold,
            significance_level: rules.decision.significance_level,
            confidence_level: rules.decision.confidence_level,
            resamples: rules.decision.resamples,
            seed: rules.seed,
        };
        let base = &question.reference.averaged;
        let mut found = self.with_extras(
            base,
            question.candidate,
            ProcessPairing::Independent,
            &extras,
        );
        found.latencies = found
            .latencies
            .map(|latencies| latencies.with_drift(question, rules));
        found
    }

    fn with_extras(
        mut self,
        base: &[&Measurement],
        candidate: &Measurement,
        pairing: ProcessPairing,
        rules: &ExtrasPolicy,
    ) -> Self {
        self.allocations = AllocationComparison::compare(base, candidate, rules);
        self.instructions = InstructionComparison::compare(base, candidate, rules);
        // Use the change of the time, even if the verdict will be about another metric.
        let sampled = |ns| SampledTime::compare(base, candidate, ns);
        self.sampled_time = self.compared.and_then(sampled);
        self.latencies = LatencyComparison::compare(base, candidate, pairing, rules);
        self
    }
}
