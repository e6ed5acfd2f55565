//! The requested summary: a center of each side after an outlier policy, with the numbers of samples that the policy left out.
//!
//! It describes; tests never use the samples that a policy leaves.

use serde::{Deserialize, Serialize};

use super::observations::{SideSamples, center_of_samples};
use crate::compare::outliers::to_outlier_policy;
use crate::compare::question::{Question, TestPolicy};
use crate::compare::summary::{is_first_apart, times_with_first};
use crate::model::{DecisionSettings, Measurement, Outliers, Statistic};
use perfcheck_stats::{CleanedSample, FirstSampleTreatment, derived_seed};

/// A center of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Centers {
    /// The statistic.
    pub center: Statistic,
    /// The outlier policy that was applied before.
    pub outliers: Outliers,
    /// The center of the candidate.
    pub candidate: SideCenter,
    /// The center of the reference.
    pub base: SideCenter,
    /// new / base - 1.
    pub change: Option<f64>,
}

/// A center of one side: raw = skipped + removed + used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCenter {
    /// The center, in nanoseconds per iteration.
    pub value_ns: f64,
    /// Samples measured.
    pub raw: usize,
    /// First samples of processes that were left out.
    pub skipped: usize,
    /// Outliers left out.
    pub removed: usize,
    /// Samples used, replaced ones included.
    pub used: usize,
}

/// Computes the summary of one question if one was requested and both sides have it.
pub(in crate::compare) fn compute_centers(
    question: &Question<'_>,
    rules: &TestPolicy,
) -> Option<Centers> {
    let analysis = &rules.decision.analysis;
    if !analysis.summarizes() {
        return None;
    }
    let seed = derived_seed(rules.seed, &question.candidate.benchmark.key.to_string());
    let of = |runs: &[&Measurement]| compute_side_center(runs, seed, &rules.decision);
    let candidate = of(&[question.candidate])?;
    let base = of(&question.reference.averaged)?;
    let change = candidate.value_ns / base.value_ns - 1.0;
    Some(Centers {
        center: analysis.center_in_force(),
        outliers: analysis.outliers,
        candidate,
        base,
        change: change.is_finite().then_some(change),
    })
}

/// Computes the center of one side. Slope and subselection use whole processes: no policy applies to them.
fn compute_side_center(
    runs: &[&Measurement],
    seed: u64,
    decision: &DecisionSettings,
) -> Option<SideCenter> {
    let (analysis, thresholds) = (&decision.analysis, &decision.thresholds);
    let of_whole = |center: fn(&SideSamples) -> Option<f64>| {
        let side = SideSamples::from_runs(runs, decision, seed);
        let raw = side.launches.iter().map(Vec::len).sum();
        Some(SideCenter {
            value_ns: center(&side)?,
            raw,
            skipped: 0,
            removed: 0,
            used: raw,
        })
    };
    match analysis.center_in_force() {
        Statistic::Slope => of_whole(SideSamples::slope),
        Statistic::Subselection => of_whole(|side| Some(side.subselection()?.centre)),
        center => {
            let apart = runs.iter().any(|run| is_first_apart(run));
            let launches = runs.iter().flat_map(|run| &run.launches);
            let launches: Vec<Vec<f64>> = launches
                .map(|launch| times_with_first(launch, apart))
                .filter(|times| !times.is_empty())
                .collect();
            let launches: Vec<&[f64]> = launches.iter().map(Vec::as_slice).collect();
            let cleaned = CleanedSample::clean(
                &launches,
                FirstSampleTreatment::dropped_if(analysis.drop_first || apart),
                to_outlier_policy(analysis.outliers, analysis.quantile_in_force(), thresholds),
            )?;
            Some(SideCenter {
                value_ns: center_of_samples(center, analysis, &cleaned.used)?,
                raw: cleaned.counts.raw,
                skipped: cleaned.counts.warm_up_skipped,
                removed: cleaned.counts.outliers_removed,
                used: cleaned.counts.used,
            })
        }
    }
}
