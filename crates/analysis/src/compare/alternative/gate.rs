//! Several runs of one benchmark at once: Kruskal and Wallis's test as a gate before single comparisons.

use serde::Serialize;

use super::observations::SideSamples;
use crate::compare::question::Rules;
use crate::model::Measurement;
use perfcheck_stats::{ManyToOne, derived_seed};

/// A test of all runs together, before each is compared with the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateGroup {
    /// Kruskal and Wallis's H of all runs together.
    pub h: f64,
    /// The p-value of H.
    pub p_value: f64,
    /// Whether it is below the level, so that single differences count.
    pub open: bool,
    /// For each candidate the p of Mann and Whitney's test against the reference, corrected by Holm's procedure; 1 behind a closed gate.
    #[serde(skip)]
    pub adjusted: Vec<f64>,
}

/// The gate of `candidates` against `reference`, all of one benchmark. `None` where a run has fewer observations than a test of ranks needs.
pub fn across_runs(
    reference: &Measurement,
    candidates: &[&Measurement],
    rules: &Rules,
) -> Option<GateGroup> {
    let decision = &rules.decision;
    let seed = derived_seed(rules.seed, &reference.benchmark.key.to_string());
    let observed =
        |run: &Measurement| SideSamples::of(&[run], seed).observations(&decision.analysis);
    let base = observed(reference);
    let others: Vec<Vec<f64>> = candidates.iter().map(|run| observed(run)).collect();
    let needed = decision.thresholds.min_per_group as usize;
    if base.len() < needed || others.iter().any(|other| other.len() < needed) {
        return None;
    }
    let groups: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
    let level = decision.significance_level;
    let found = ManyToOne::of(&base, &groups, level)?;
    Some(GateGroup {
        h: found.gate.h,
        p_value: found.gate.p,
        open: groups.len() == 1 || found.gate.p < level,
        adjusted: found.adjusted,
    })
}
