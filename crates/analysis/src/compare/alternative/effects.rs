//! How large a difference is, whatever its p: Cliff's delta, Hedges' g, and the shift with its interval.

use serde::{Deserialize, Serialize};

use super::observations::SideSamples;
use crate::compare::estimate::Estimate;
use crate::compare::question::{Question, Rules};
use crate::model::Observations;
use perfcheck_stats::{
    EffectSize, HodgesLehmann, HodgesLehmannRanks, PairedLogRatio, cliffs_delta, derived_seed,
    hedges_g,
};

/// Effect sizes; positive is slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// What counts as one observation.
    pub observations: Observations,
    /// P(new > base) - P(new < base).
    pub cliffs_delta: Option<f64>,
    /// The size of Cliff's delta in a word.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub label: Option<EffectSize>,
    /// The difference of the means in pooled deviations, corrected for few observations; `None` where neither side varies.
    pub hedges_g: Option<f64>,
    /// The median of all pairwise differences, in nanoseconds, with its interval at the confidence level. Bounds that so few
    /// observations do not give are infinite.
    pub shift_ns: Option<Estimate>,
    /// The mean change over launches that are paired by their number, a fraction, with Student's interval at the confidence level; of two
    /// runs whose observations are launches.
    pub paired_change: Option<Estimate>,
}

/// Pairs up to which the shift's interval is exact.
const MOST_EXACT_PAIRS: usize = 10_000;

/// The effect sizes of one question; `None` where a side has no observations.
pub(in crate::compare) fn effects(question: &Question<'_>, rules: &Rules) -> Option<Effects> {
    let analysis = &rules.decision.analysis;
    let seed = derived_seed(rules.seed, &question.candidate.benchmark.key.to_string());
    let candidate = SideSamples::of(&[question.candidate], seed).observations(analysis);
    let base = SideSamples::of(&question.reference.averaged, seed).observations(analysis);
    if candidate.is_empty() || base.is_empty() {
        return None;
    }
    let thresholds = &rules.decision.thresholds;
    let bounds = [
        thresholds.cliff_negligible,
        thresholds.cliff_small,
        thresholds.cliff_medium,
    ];
    let delta = cliffs_delta(&candidate, &base);
    Some(Effects {
        observations: analysis.observations,
        cliffs_delta: delta,
        label: delta.map(|delta| EffectSize::within(delta, bounds)),
        hedges_g: hedges_g(&candidate, &base),
        shift_ns: shift(&candidate, &base, rules.decision.confidence_level),
        paired_change: (analysis.observations == Observations::Launches
            && question.reference.averaged.len() == 1)
            .then(|| paired_change(&candidate, &base, rules.decision.confidence_level))
            .flatten(),
    })
}

fn paired_change(candidate: &[f64], base: &[f64], level: f64) -> Option<Estimate> {
    let paired = PairedLogRatio::of(candidate, base, level)?;
    Some(Estimate {
        estimate: paired.ratio - 1.0,
        lower: paired.interval.lower - 1.0,
        upper: paired.interval.upper - 1.0,
    })
}

fn shift(candidate: &[f64], base: &[f64], level: f64) -> Option<Estimate> {
    let shift = HodgesLehmann::of(candidate, base)?;
    let ranks = if candidate.len() * base.len() <= MOST_EXACT_PAIRS {
        HodgesLehmannRanks::Exact
    } else {
        HodgesLehmannRanks::Normal
    };
    let estimate = shift.estimate()?;
    Some(match shift.interval(level, ranks) {
        Some(interval) => Estimate::with(estimate, interval),
        None => Estimate::unbounded(estimate),
    })
}
