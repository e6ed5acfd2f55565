//! Computes effect sizes, which show how large a difference is, whatever its p-value: Cliff's delta, Hedges' g, and the shift with its interval. Also
//! computes the summary that the user requested: the center of each side after an outlier policy, and how many samples the policy left out.
//!
//! No verdict depends on these numbers.

use serde::{Deserialize, Serialize};

use super::procedures::{SideSamples, center_of_samples};
use crate::compare::estimate::Estimate;
use crate::compare::filter::to_outlier_policy;
use crate::compare::question::{Question, TestPolicy};
use crate::compare::summary::{is_first_apart, times_with_first};
use crate::model::{DecisionSettings, Measurement, Observations, Outliers, Statistic};
use perfcheck_stats::{
    CleanedSample, EffectSize, FirstSampleTreatment, HodgesLehmann, HodgesLehmannRanks,
    MannWhitney, MannWhitneyMethod, PairedLogRatio, cliffs_delta, derived_seed, hedges_g,
};

/// Effect sizes: how large the difference between the two sides is, whatever its p-value. A positive number means that the candidate is slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// What counts as one observation: the value of a process, or a single sample.
    pub observations: Observations,
    /// Cliff's delta, from -1 to 1: the probability that an observation of the candidate is larger than one of the reference, minus the probability
    /// that it is smaller. Null if it cannot be computed.
    pub cliffs_delta: Option<f64>,
    /// The size of Cliff's delta as a word: `negligible`, `small`, `medium` or `large`. Null if `cliffs_delta` is null.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub label: Option<EffectSize>,
    /// Hedges' g: the difference of the means divided by the pooled standard deviation, corrected for few observations. Null if a side has fewer than
    /// two observations or neither side varies.
    pub hedges_g: Option<f64>,
    /// The shift between the sides: the median of all differences between an observation of the candidate and one of the reference, in nanoseconds
    /// per iteration, with its interval at the confidence level. The bounds are null if there are too few observations for them.
    pub shift_ns: Option<Estimate>,
    /// The change over pairs of processes, as a fraction with Student's interval at the confidence level: the geometric mean of the ratios, minus 1.
    /// The first processes of both sides form a pair, then the second ones, and so on. Null unless the observations are processes, the reference is a
    /// single run, and there are at least two pairs.
    pub paired_change: Option<Estimate>,
}

/// If there are at most this many pairs of values, the interval of the shift is computed from exact ranks. With more pairs, the normal distribution
/// approximates the ranks.
const MOST_EXACT_PAIRS: usize = 10_000;

/// Computes the effect sizes of one question. Returns `None` if a side has no observations.
pub(in crate::compare) fn compute_effects(
    question: &Question<'_>,
    rules: &TestPolicy,
) -> Option<Effects> {
    let analysis = &rules.decision.analysis;
    let seed = derived_seed(rules.seed, &question.candidate.benchmark.key.to_string());
    let observed = |runs: &[&Measurement]| {
        SideSamples::from_runs(runs, &rules.decision, seed).observations(analysis)
    };
    let (candidate, base) = (
        observed(&[question.candidate]),
        observed(&question.reference.averaged),
    );
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
        label: delta.map(|delta| EffectSize::classify(delta, bounds)),
        hedges_g: hedges_g(&candidate, &base),
        shift_ns: estimate_shift(&candidate, &base, rules.decision.confidence_level),
        paired_change: (analysis.observations == Observations::Processes
            && question.reference.averaged.len() == 1)
            .then(|| paired_change(&candidate, &base, rules.decision.confidence_level))
            .flatten(),
    })
}

fn paired_change(candidate: &[f64], base: &[f64], level: f64) -> Option<Estimate> {
    let paired = PairedLogRatio::compute(candidate, base, level)?;
    Some(Estimate {
        estimate: paired.ratio - 1.0,
        lower: paired.interval.lower - 1.0,
        upper: paired.interval.upper - 1.0,
    })
}

/// Computes the shift (the median of all pairwise differences) with its interval. A coarse clock causes ties. Then the plain median difference and
/// its bounds would be whole steps of the clock, so values between the steps are computed from the mid-distribution.
fn estimate_shift(candidate: &[f64], base: &[f64], level: f64) -> Option<Estimate> {
    let shift = HodgesLehmann::from_groups(candidate, base)?;
    let ranks = if candidate.len() * base.len() <= MOST_EXACT_PAIRS {
        HodgesLehmannRanks::Exact
    } else {
        HodgesLehmannRanks::Normal
    };
    // The number of observations that an interval needs does not depend on ties. So if the plain interval is missing, there is none with ties either.
    let interval = shift.interval(level, ranks);
    let (estimate, interval) = if MannWhitney::from_groups(candidate, base)?.is_without_ties() {
        (shift.estimate()?, interval)
    } else {
        let between = shift.interval_mid_distribution(level, MannWhitneyMethod::Asymptotic);
        (shift.estimate_mid_distribution()?, interval.and(between))
    };
    Some(match interval {
        Some(interval) => Estimate::from_interval(estimate, interval),
        None => Estimate::unbounded(estimate),
    })
}

/// The center of each side (a statistic of its samples after an outlier policy), and the change between the two centers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Centers {
    /// The statistic that gives the center of a side, such as the median.
    pub center: Statistic,
    /// The outlier policy that was applied before the centers were computed.
    pub outliers: Outliers,
    /// The center of the candidate.
    pub candidate: SideCenter,
    /// The center of the reference.
    pub base: SideCenter,
    /// The relative change of the center, candidate / base - 1. Null if it is not finite.
    pub change: Option<f64>,
}

/// The center of one side, with the numbers of its samples: `raw` = `skipped` + `removed` + `used`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCenter {
    /// The center, in nanoseconds per iteration.
    pub value_ns: f64,
    /// How many samples were measured.
    pub raw: usize,
    /// How many samples were left out because they were the first of their process.
    pub skipped: usize,
    /// How many samples were left out as outliers.
    pub removed: usize,
    /// How many samples were used, including those whose value was replaced.
    pub used: usize,
}

/// Computes the centers of both sides. Returns `None` unless a summary was requested and both sides have a center.
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

/// Computes the center of one side. Slope and subselection use whole processes, so no outlier policy applies to them.
fn compute_side_center(
    runs: &[&Measurement],
    seed: u64,
    decision: &DecisionSettings,
) -> Option<SideCenter> {
    let (analysis, thresholds) = (&decision.analysis, &decision.thresholds);
    let of_whole = |center: fn(&SideSamples) -> Option<f64>| {
        let side = SideSamples::from_runs(runs, decision, seed);
        let raw = side.processes.iter().map(Vec::len).sum();
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
            let processes = runs.iter().flat_map(|run| &run.processes);
            let processes: Vec<Vec<f64>> = processes
                .map(|process| times_with_first(process, apart))
                .filter(|times| !times.is_empty())
                .collect();
            let processes: Vec<&[f64]> = processes.iter().map(Vec::as_slice).collect();
            let cleaned = CleanedSample::clean(
                &processes,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement};
    use crate::compare::{HostClass, Reference};
    use crate::model::Analysis;

    #[test]
    fn the_change_of_pairs_has_students_bounds_as_fractions() {
        let found = paired_change(&[110.0, 121.0], &[100.0, 100.0], 0.95).unwrap();
        // The logarithms are one and two times ln 1.1: their mean is 1.5 times ln 1.1, with an error of 0.5 times ln 1.1. Student's t with one degree
        // of freedom is the Cauchy distribution.
        let (step, t) = (1.1_f64.ln(), (0.475 * std::f64::consts::PI).tan());
        let fraction = |steps: f64| (steps * step).exp() - 1.0;
        for (found, expected) in [
            (found.estimate, fraction(1.5)),
            (found.lower, fraction(1.5 - 0.5 * t)),
            (found.upper, fraction(1.5 + 0.5 * t)),
        ] {
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        }
    }

    #[test]
    fn the_shift_of_more_than_ten_thousand_pairs_has_bounds_by_the_normal_distribution() {
        // The differences are all values from -1999.5 to 8004.5, in steps of one.
        let base: Vec<f64> = (0..2001).map(f64::from).collect();
        let candidate: Vec<f64> = (0..5).map(|at| f64::from(at) * 2001.0 + 0.5).collect();
        let found = estimate_shift(&candidate, &base, 0.95).unwrap();
        // The lower rank is the integer part of 10,005 / 2 - 1.96 sqrt(10,005 (5 + 2001 + 1) / 12), which is 2467.
        assert_eq!(
            (found.lower, found.estimate, found.upper),
            (466.5, 3002.5, 5538.5)
        );
    }

    #[test]
    fn only_processes_of_two_runs_are_pairs() {
        let run = |times: &[f64]| {
            let processes = (0..)
                .zip(times)
                .map(|(k, time)| flat_process(k, 1_000, &[*time]));
            measurement(processes.collect())
        };
        let (candidate, base) = (run(&[110.0, 121.0]), run(&[100.0, 100.0]));
        let paired = |observations, averaged: Vec<&Measurement>| {
            let analysis = Analysis {
                observations,
                ..Analysis::default()
            };
            let rules = TestPolicy {
                decision: DecisionSettings {
                    analysis,
                    ..DecisionSettings::default()
                },
                host: HostClass::Dedicated,
                seed: 7,
            };
            let reference = Reference {
                averaged,
                spread: vec![],
                earlier: vec![],
            };
            let question = Question {
                candidate: &candidate,
                reference: &reference,
                noise_threshold: 0.02,
            };
            let effects = compute_effects(&question, &rules).expect("observations");
            effects.paired_change.map(|change| change.estimate)
        };
        let change = paired(Observations::Processes, vec![&base]).expect("pairs");
        assert!(
            (change - (1.1_f64.powf(1.5) - 1.0)).abs() < 1e-9,
            "{change}"
        );
        assert_eq!(paired(Observations::Processes, vec![&base, &base]), None);
        assert_eq!(paired(Observations::Samples, vec![&base]), None);
        assert_eq!(paired(Observations::Filtered, vec![&base]), None);
    }
}
