//! Adds the extras (allocations, instructions, sampled time, latencies and resources) to a comparison of times, and decides verdicts about other metrics than
//! the time.
//!
//! As with the time, all benchmarks of a comparison share one significance or confidence level. Intervals are widened by Bonferroni's correction, and
//! the p-values of counts are corrected by Holm's procedure. Counts that do not vary need no test, so they take no share of the level.

use crate::compare::extras::rules::{ExtrasPolicy, ProcessPairing};
use crate::compare::{LevelShare, SharedLevel};

use super::{
    AllocationComparison, CountChange, InstructionComparison, LatencyComparison, PercentileChange,
    SampledTime, UsageComparison,
};
use crate::compare::comparison::{Comparison, Decision};
use crate::compare::note::Note;
use crate::compare::paired::Plan;
use crate::compare::question::{Question, TestPolicy};
use crate::model::{BySide, DecisionSettings, Measurement, Statistic, Verdict};
use perfcheck_stats::Correction;

impl Comparison {
    /// Replaces the verdicts about the time with verdicts about the metric `subject`. A benchmark that could not be measured stays `failed`. A
    /// benchmark that does not have this metric becomes `inconclusive`, with a note.
    pub fn judge_by_metric(
        comparisons: &mut [Self],
        subject: Statistic,
        decision: &DecisionSettings,
    ) {
        if subject == Statistic::Time {
            return;
        }
        let mut judged: Vec<&mut Self> = comparisons
            .iter_mut()
            .filter(|one| one.verdict != Verdict::Failed)
            .collect();
        for one in &mut judged {
            one.clear_time_result();
        }
        let p_values: Vec<f64> = judged
            .iter()
            .filter_map(|one| one.count(subject)?.p_value)
            .collect();
        let mut adjusted = Correction::Holm.adjust(&p_values).into_iter();
        let intervals = judged
            .iter()
            .filter(|one| one.percentile(subject).is_some())
            .count();
        for one in judged {
            if let Some(count) = one.count(subject) {
                let adjusted = count.p_value.and_then(|_| adjusted.next());
                one.judge_by_count(count, adjusted, p_values.len(), decision);
            } else if let Some(found) = one.percentile(subject).copied() {
                one.judge_by_percentile(&found, intervals, decision.confidence_level);
            } else {
                one.verdict = Verdict::Inconclusive;
                one.notes.push(Note::NoSuchMetric { metric: subject });
            }
        }
    }

    /// Removes the results about the time.
    fn clear_time_result(&mut self) {
        self.basis = Decision::OtherMetric(None);
        self.smallest_callable = None;
        self.description.effects = None;
        self.change = None;
        self.compared = None;
        self.p_value = None;
        self.notes.clear();
    }

    fn judge_by_count(
        &mut self,
        mut count: CountChange,
        adjusted: Option<f64>,
        family: usize,
        decision: &DecisionSettings,
    ) {
        let level = decision.significance_level;
        if let (Some(p), Some(adjusted)) = (count.p_value, adjusted) {
            self.basis = Decision::OtherMetric(Some(SharedLevel {
                family,
                share: LevelShare::Ranks {
                    significance_level: level,
                    unadjusted_p_value: p,
                },
            }));
            if count.has_changed() && adjusted >= level {
                count.verdict = Verdict::Inconclusive;
                self.notes
                    .push(Note::CountsNotSignificant { p, adjusted, level });
            }
        }
        self.change = count.change();
        self.compared = self.change.map(|_| BySide {
            base: count.base,
            candidate: count.candidate,
        });
        self.p_value = adjusted;
        self.verdict = count.verdict;
    }

    fn judge_by_percentile(
        &mut self,
        found: &PercentileChange,
        family: usize,
        confidence_level: f64,
    ) {
        let shared = SharedLevel::bonferroni(confidence_level, family);
        let change = found.uncertainty.interval_at(shared.effective_level());
        self.verdict = found.judge(&change, self.noise_threshold);
        self.change = Some(change);
        self.compared = Some(BySide {
            base: found.base_ns,
            candidate: found.candidate_ns,
        });
        self.basis = Decision::OtherMetric(Some(shared));
    }
}

impl Comparison {
    /// Adds the extras of two builds that were measured side by side according to `plan`.
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
        found.usage = found
            .usage
            .map(|usage| usage.with_drift(question, rules, &extras));
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
        // The change of the time is needed here, even if the verdict will be about another metric and this result is cleared.
        let sampled = |ns| SampledTime::compare(base, candidate, ns);
        self.sampled_time = self.compared.and_then(sampled);
        self.latencies = LatencyComparison::compare(base, candidate, pairing, rules);
        self.usage = UsageComparison::compare(base, candidate, pairing, rules);
        self
    }
}
