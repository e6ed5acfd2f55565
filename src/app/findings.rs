//! From measurements and their references to rows with verdicts.

use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::error::AppError;
use super::options::Order;
use super::reference::{Chosen, References};
use crate::compare::{
    Comparison, Difference, HostClass, Question, Reference, Rules, Summary, compare, summarize_by,
};
use crate::findings::{FailedTarget, Row};
use crate::measure::TargetFailure;
use crate::model::{BenchmarkKey, DecisionSettings, Measurement, RunId, RunVerdict, Verdict};
use crate::store::{Store, StoreError};

/// Everything that rows are made from.
pub(super) struct Evidence<'a, 'm> {
    pub(super) store: &'a Store,
    /// What the run measured, by key.
    pub(super) measurements: &'m [Measurement],
    pub(super) references: &'a References,
    pub(super) rules: &'a Rules,
    /// Noise threshold that the user or the workspace set for a benchmark, if any.
    pub(super) noise_threshold: &'a dyn Fn(&Measurement) -> f64,
    /// Whether a benchmark should be there again if the reference has it.
    pub(super) in_scope: &'a dyn Fn(&BenchmarkKey) -> bool,
    /// Bench targets (package, target) that could not be driven.
    pub(super) failed_targets: &'a BTreeSet<(String, String)>,
}

/// Targets of which not all benchmarks are known, each once.
pub(super) fn failed_targets<'f>(
    failures: impl IntoIterator<Item = &'f TargetFailure>,
) -> Vec<FailedTarget> {
    let mut found: Vec<FailedTarget> = Vec::new();
    for failure in failures {
        let mut known = found.iter_mut();
        let same = |one: &&mut FailedTarget| {
            one.package == failure.package && one.target == failure.target
        };
        match known.find(same) {
            Some(known) => known.message = format!("{}; {}", known.message, failure.message),
            None => found.push(FailedTarget {
                package: failure.package.clone(),
                target: failure.target.clone(),
                message: failure.message.clone(),
            }),
        }
    }
    found
}

/// Rows, by key.
pub(super) fn rows<'m>(evidence: &Evidence<'_, 'm>) -> Result<Vec<Row<'m>>, AppError> {
    let past = past_measurements(evidence)?;
    let summaries = summarize_all(
        evidence.measurements,
        &evidence.rules.decision,
        evidence.rules.seed,
    );
    let comparisons = comparisons(evidence, &past);
    let mut rows: Vec<Row<'m>> = evidence
        .measurements
        .iter()
        .zip(summaries)
        .zip(comparisons)
        .map(|((measurement, summary), comparison)| {
            let key = &measurement.benchmark.key;
            let chosen = &evidence.references.chosen[key];
            row(measurement, summary, comparison, chosen)
        })
        .collect();
    rows.extend(missing(evidence)?);
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(rows)
}

/// Descriptions of measurements, in their order.
pub(super) fn summarize_all(
    measurements: &[Measurement],
    decision: &DecisionSettings,
    seed: u64,
) -> Vec<Option<Summary>> {
    measurements
        .par_iter()
        .map(|measurement| summarize_by(measurement, decision, seed))
        .collect()
}

/// Puts rows into the order in which they are shown.
pub(super) fn sort(rows: &mut [Row<'_>], order: Order) {
    // What has no value comes last.
    let change = |row: &Row<'_>| {
        let comparison = row.comparison.as_ref();
        comparison
            .and_then(|comparison| comparison.change)
            .map_or(f64::NEG_INFINITY, |change| change.estimate)
    };
    let time = |row: &Row<'_>| {
        let summary = row.summary.as_ref();
        summary.map_or(f64::NEG_INFINITY, |summary| summary.median.estimate)
    };
    rows.sort_by(|a, b| {
        let first = match order {
            Order::Name => Ordering::Equal,
            Order::Change => change(b).total_cmp(&change(a)),
            Order::Time => time(b).total_cmp(&time(a)),
            Order::WorstFirst => (a.verdict.cmp(&b.verdict)).then(change(b).total_cmp(&change(a))),
        };
        first.then_with(|| a.key.in_natural_order(&b.key))
    });
}

/// What the store keeps of the rows.
pub(super) fn verdicts(rows: &[Row<'_>]) -> Vec<RunVerdict> {
    rows.iter()
        .filter_map(|row| {
            Some(RunVerdict {
                key: row.key.clone(),
                verdict: row.verdict?,
                typical_ns: row.summary.as_ref().map(|summary| summary.median.estimate),
                change: row
                    .comparison
                    .as_ref()
                    .and_then(|comparison| comparison.change)
                    .map(|change| change.estimate),
                reference: row.reference.first().copied(),
            })
        })
        .collect()
}

/// Facts that differ without forbidding the comparison, each once.
pub(super) fn warnings(references: &References) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for choice in references.chosen.values() {
        if let Chosen::Runs { warnings, .. } = choice {
            for warning in warnings {
                if !found.contains(warning) {
                    found.push(warning.clone());
                }
            }
        }
    }
    found
}

fn row<'a>(
    measurement: &'a Measurement,
    summary: Option<Summary>,
    comparison: Option<Comparison>,
    chosen: &Chosen,
) -> Row<'a> {
    let (verdict, reference, blocking) = match (chosen, &comparison) {
        (_, _) if measurement.launches.is_empty() => (Verdict::Failed, Vec::new(), Vec::new()),
        (Chosen::Runs { averaged, .. }, Some(comparison)) => {
            (comparison.verdict, averaged.clone(), Vec::new())
        }
        (Chosen::Incomparable(run, blocking), _) => {
            (Verdict::Incomparable, vec![*run], blocking.clone())
        }
        (Chosen::New | Chosen::Runs { .. }, _) if too_few(measurement) => {
            (Verdict::Failed, Vec::new(), Vec::new())
        }
        (Chosen::New | Chosen::Runs { .. }, _) => (Verdict::New, Vec::new(), Vec::new()),
    };
    Row {
        key: measurement.benchmark.key.clone(),
        measurement: Some(measurement),
        summary,
        verdict: Some(verdict),
        comparison,
        reference,
        blocking,
        seconds: None,
        remarks: Vec::new(),
    }
}

/// Too many of its launches failed.
fn too_few(measurement: &Measurement) -> bool {
    !measurement.failures.is_empty() && measurement.launches.len() < crate::model::MIN_LAUNCHES
}

/// The measurements of all reference runs, by run and key.
fn past_measurements(
    evidence: &Evidence<'_, '_>,
) -> Result<BTreeMap<(RunId, BenchmarkKey), Measurement>, StoreError> {
    let mut wanted: BTreeMap<RunId, Vec<BenchmarkKey>> = BTreeMap::new();
    for (key, choice) in &evidence.references.chosen {
        if let Chosen::Runs {
            averaged,
            spread,
            earlier,
            ..
        } = choice
        {
            let runs = averaged.iter().chain(spread);
            let runs: BTreeSet<RunId> = runs.chain(earlier.iter().flatten()).copied().collect();
            for run in runs {
                wanted.entry(run).or_default().push(key.clone());
            }
        }
    }
    let mut past = BTreeMap::new();
    for (run, keys) in wanted {
        for measurement in evidence.store.measurements(run, Some(&keys))? {
            past.insert((run, measurement.benchmark.key.clone()), measurement);
        }
    }
    Ok(past)
}

/// The comparison of each measurement that has a reference.
fn comparisons(
    evidence: &Evidence<'_, '_>,
    past: &BTreeMap<(RunId, BenchmarkKey), Measurement>,
) -> Vec<Option<Comparison>> {
    let references: Vec<Option<Reference<'_>>> = evidence
        .measurements
        .iter()
        .map(|measurement| {
            let key = &measurement.benchmark.key;
            let Chosen::Runs {
                averaged,
                spread,
                earlier,
                ..
            } = &evidence.references.chosen[key]
            else {
                return None;
            };
            if measurement.launches.is_empty() {
                return None;
            }
            let load = |runs: &[RunId]| -> Vec<&Measurement> {
                runs.iter()
                    .filter_map(|run| past.get(&(*run, key.clone())))
                    .filter(|measurement| !measurement.launches.is_empty())
                    .collect()
            };
            let reference = Reference {
                averaged: load(averaged),
                spread: load(spread),
                earlier: earlier.iter().map(|runs| load(runs)).collect(),
            };
            (!reference.averaged.is_empty()).then_some(reference)
        })
        .collect();
    let mut questions = Vec::new();
    let mut places = Vec::new();
    for (place, reference) in references.iter().enumerate() {
        if let Some(reference) = reference {
            let candidate = &evidence.measurements[place];
            questions.push(Question {
                candidate,
                reference,
                noise_threshold: (evidence.noise_threshold)(candidate),
            });
            places.push(place);
        }
    }
    let mut found = vec![None; references.len()];
    for (place, comparison) in places.into_iter().zip(compare(&questions, evidence.rules)) {
        found[place] = Some(comparison);
    }
    found
}

/// Benchmarks of the reference that the run does not have.
fn missing<'m>(evidence: &Evidence<'_, 'm>) -> Result<Vec<Row<'m>>, StoreError> {
    let Some(expected) = evidence.references.expected else {
        return Ok(Vec::new());
    };
    let here: BTreeSet<&BenchmarkKey> = evidence
        .measurements
        .iter()
        .map(|measurement| &measurement.benchmark.key)
        .collect();
    let there = evidence.store.verdicts(expected)?;
    Ok(there
        .into_iter()
        .filter(|there| !matches!(there.verdict, Verdict::Missing | Verdict::Failed))
        .filter(|there| !here.contains(&there.key) && (evidence.in_scope)(&there.key))
        .map(|there| {
            let target = (there.key.package.clone(), there.key.target.clone());
            let verdict = if evidence.failed_targets.contains(&target) {
                Verdict::Failed
            } else {
                Verdict::Missing
            };
            Row::unmeasured(there.key, verdict, expected)
        })
        .collect())
}

/// Whether the machine is shared: as the workspace says, else as the machine looks.
pub(super) fn host_class(said: Option<bool>, looks_shared: bool) -> HostClass {
    if said.unwrap_or(looks_shared) {
        HostClass::Shared
    } else {
        HostClass::Dedicated
    }
}
