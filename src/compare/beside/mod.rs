//! What is compared beside times: allocations by an exact rule, latencies percentile by percentile.
//!
//! Pure, like the rest of `compare`. Nothing here enters the verdict about the time of an iteration: a comparison carries it along, with
//! verdicts of its own. The unit of replication is the launch; operations of different launches are never pooled for a test.

mod allocations;
mod description;
mod latencies;

pub use allocations::{AllocationComparison, CountChange};
pub use description::{
    AllocationSummary, LatencySummary, OverLaunches, PercentileSummary, WindowSummary,
};
pub use latencies::{LatencyComparison, PercentileChange};

use super::comparison::Comparison;
use super::paired::Plan;
use super::question::{Question, Rules};
use crate::model::Measurement;

/// How launches of two sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pairing {
    /// Not at all.
    Independent,
    /// Launches of the same ordinal were one round of an A/B measurement.
    ByRound,
}

/// By which rules is decided what lies beside the times.
#[derive(Debug, Clone, Copy)]
struct BesideRules {
    /// Relative change that counts as noise, a fraction.
    noise_threshold: f64,
    /// Level of the permutation test; two-sided, for each number by itself.
    significance_level: f64,
    /// Level of the intervals, for each percentile by itself.
    confidence_level: f64,
    resamples: u32,
    /// Seed of everything random.
    seed: u64,
}

impl Comparison {
    /// Adds what was noted beside the times of two builds that were measured in turn by this plan.
    #[must_use]
    pub fn beside_in_turn(self, base: &Measurement, new: &Measurement, plan: &Plan) -> Self {
        let rules = BesideRules {
            noise_threshold: self.noise_threshold,
            significance_level: plan.significance_level,
            confidence_level: plan.confidence_level,
            resamples: plan.resamples,
            seed: plan.seed,
        };
        self.with_beside(&[base], new, Pairing::ByRound, &rules)
    }

    /// Adds what stored runs noted beside the times.
    pub(super) fn beside_of(self, question: &Question<'_>, rules: &Rules) -> Self {
        let beside = BesideRules {
            noise_threshold: question.noise_threshold,
            significance_level: rules.decision.significance_level,
            confidence_level: rules.decision.confidence_level,
            resamples: rules.decision.resamples,
            seed: rules.seed,
        };
        let base = &question.reference.averaged;
        self.with_beside(base, question.new, Pairing::Independent, &beside)
    }

    fn with_beside(
        mut self,
        base: &[&Measurement],
        new: &Measurement,
        pairing: Pairing,
        rules: &BesideRules,
    ) -> Self {
        self.allocations = AllocationComparison::of(base, new, rules);
        self.latencies = LatencyComparison::of(base, new, pairing, rules);
        self
    }
}

#[cfg(test)]
mod tests;
