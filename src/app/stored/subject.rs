//! Builds the history of a benchmark from stored data: the runs that count, their values, and the trend.

use std::collections::{BTreeMap, BTreeSet};

use super::placing::{PlacedRuns, PlacingRules};
use crate::escape::shell_command;
use crate::report::{
    BaselineChange, BenchmarkHistory, ExcludedRun, ExclusionReason, HistoryPoint, ProcessorChange,
    ProcessorDisagreement, RunTrend,
};
use perfcheck_analysis::compare::{
    Comparability, Difference, Estimate, Fact, RunSeries, Trend, TrendPoint, TrendRules,
    find_differences, summarize,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, Measurement, Run, RunId, Verdict,
};
use perfcheck_engine::host;
use perfcheck_engine::store::{BranchFilter, History, PastMeasurement, RunLinks};

/// Maximum number of runs outside the shown history that are searched for a measurement.
const MOST_LOOKED_AT: usize = 100;
/// Bootstrap resamples for intervals of medians, which serve display only.
const RESAMPLES: u32 = 1_000;
/// Fixed seed, so that the permutations of a history do not depend on its newest run.
const SEED: u64 = 0;

/// A benchmark with its stored data.
pub(super) struct HistorySubject<'a> {
    pub(super) key: &'a BenchmarkKey,
    /// The shown runs, oldest first, and their measurements
    pub(super) past: &'a [&'a PastMeasurement],
    pub(super) runs: &'a [Option<&'a Measurement>],
    pub(super) links: &'a RunLinks,
    pub(super) history: &'a History,
    pub(super) branch: BranchFilter<'a>,
    /// Facts that may differ between runs
    pub(super) allowed: &'a [Fact],
    /// Whether to compute the median of each run
    pub(super) has_medians: bool,
}

/// A measured run outside the shown history, in the same part of the network as the newest run.
#[derive(Clone, Copy)]
pub(super) enum UnshownRun<'a> {
    /// Not searched yet
    Unread,
    /// The result of the search
    Read(Option<&'a (RunId, Measurement)>),
}

/// The request for one of these runs, the first that measured the benchmark: no shown run in the newest run's part did.
pub(super) struct NeedsUnshownRun(pub(super) Vec<RunId>);

impl HistorySubject<'_> {
    /// Returns the history; `None` without runs.
    pub(super) fn history<'n>(
        &self,
        baselines: impl Iterator<Item = (&'n str, RunId)>,
        outside: UnshownRun<'_>,
    ) -> Result<Option<BenchmarkHistory>, NeedsUnshownRun> {
        let (key, past) = (self.key, self.past);
        let Some(newest) = past.last() else {
            return Ok(None);
        };
        let heads: Vec<&Run> = past
            .iter()
            .map(|past| &self.history.runs[&past.run])
            .collect();
        let differing: Vec<Vec<Difference>> = past
            .iter()
            .map(|one| self.differences_from_newest(newest, one))
            .collect();
        let decision = &self.history.runs[&newest.run].begun.decision;
        let measured = self.runs.iter().rev().flatten().next();
        let rules = TrendRules {
            noise_threshold: measured.map_or(decision.noise_threshold, |run| run.noise_threshold),
            confidence_level: decision.confidence_level,
            seed: SEED,
        };
        let branch = heads.last().and_then(|head| branch(head));
        let placed = PlacedRuns::from_links(
            self.links,
            &PlacingRules {
                branch,
                allowed: self.allowed,
                course: &rules,
                newest: newest.run,
            },
        );
        let series = self.series(&placed, &differing, outside)?;
        let is_elsewhere = mark_other_branches(&heads, self.branch);
        let counted: Vec<usize> = (0..past.len())
            .filter(|place| series.values[*place].is_some() && !is_elsewhere[*place])
            .collect();
        let points = self.points(&placed, &series.values, &counted, &heads);
        let course = Trend::from_points(&points, &rules, &key.to_string());
        let since_baselines = baselines
            .filter_map(|(name, run)| {
                let place = counted.iter().position(|place| past[*place].run == run)?;
                let last = past[*counted[place + 1..].last()?].run;
                let by_edges = placed.change(run, last);
                let by_values = || course.change_since(&points, place, rules.confidence_level);
                Some(BaselineChange {
                    name: name.to_owned(),
                    run,
                    change: by_edges.or_else(by_values)?,
                })
            })
            .collect();
        let first_of_newest = self.first_with_newest(&placed, &counted);
        let points = (0..past.len())
            .map(|place| {
                let (past, head) = (past[place], heads[place]);
                let left_out = match (series.values[place], &differing[place]) {
                    (Some(_), _) if is_elsewhere[place] => {
                        Some(ExclusionReason::OtherBranch.into())
                    }
                    (Some(_), _) => None,
                    _ if placed.is_of_another_class(past.run) => {
                        Some(ExclusionReason::OtherProcessor.into())
                    }
                    (None, differing) if !differing.is_empty() => Some(ExcludedRun {
                        why: ExclusionReason::Incomparable,
                        differences: differing.clone(),
                    }),
                    _ if past.verdict == Some(Verdict::Failed) => {
                        Some(ExclusionReason::Failed.into())
                    }
                    _ => Some(ExclusionReason::OtherSamples.into()),
                };
                let since = first_of_newest.filter(|_| left_out.is_none());
                HistoryPoint {
                    run: past.run,
                    started: host::to_rfc3339(head.begun.started),
                    git: head.begun.git.clone(),
                    acceptance: head.acceptance,
                    accepted: past.accepted || is_accepted(head),
                    verdict: past.verdict,
                    change: past.change,
                    since_first: since.and_then(|first| placed.change(first, past.run)),
                    value: series.values[place].map(f64::exp),
                    median: self.median(place, &placed, rules.confidence_level),
                    left_out,
                }
            })
            .collect();
        Ok(Some(BenchmarkHistory {
            key: key.clone(),
            metric: newest.conditions.metric.clone(),
            location: series.location,
            noise_threshold: rules.noise_threshold,
            confidence_level: rules.confidence_level,
            points,
            counted,
            course,
            trends: trends_of_runs(&placed),
            processors: find_processor_differences(&placed),
            since_baselines,
            accept: shell_command("cargo perfcheck accept", &[&key.id], ""),
        }))
    }

    /// Returns the median of a run if it is wanted and on the scale of the history's values: side-by-side samples have a different length than
    /// samples of runs measured alone.
    fn median(&self, place: usize, placed: &PlacedRuns, level: f64) -> Option<Estimate> {
        let is_alone = |past: &&PastMeasurement| !placed.is_in_turn(past.run);
        let is_on_scale = is_alone(&self.past[place]) || !self.past.iter().any(is_alone);
        let run = self.runs[place].filter(|_| self.has_medians && is_on_scale)?;
        summarize(run, level, RESAMPLES, SEED).map(|summary| summary.median)
    }

    /// Returns the facts that make a run incomparable with the newest one.
    fn differences_from_newest(
        &self,
        newest: &PastMeasurement,
        one: &PastMeasurement,
    ) -> Vec<Difference> {
        let of = |past: &PastMeasurement| &self.history.runs[&past.run].begun.environment;
        let differences = find_differences(
            &circumstances(newest, of(newest)),
            &circumstances(one, of(one)),
        );
        differences.allowing(self.allowed).blocking
    }

    /// Returns the values of runs, oldest first, on the scale of runs comparable with the newest one. Side-by-side runs are placed by their
    /// comparisons, anchored at measured values in the same part: of runs measured alone if there are any.
    fn series(
        &self,
        placed: &PlacedRuns,
        differing: &[Vec<Difference>],
        outside: UnshownRun<'_>,
    ) -> Result<RunSeries, NeedsUnshownRun> {
        let (past, runs) = (self.past, self.runs);
        let count = past.len();
        let is_ok = |at: &usize| past[*at].verdict != Some(Verdict::Failed);
        let part = |at: usize| placed.place(past[at].run).map(|(part, _)| part);
        let of_newest = past.last().and_then(|past| Some(placed.place(past.run)?.0));
        let is_usable = |at: &usize| is_ok(at) && runs[*at].is_some() && differing[*at].is_empty();
        let is_by_edges = |at: usize| placed.is_in_turn(past[at].run) && part(at).is_some();
        let is_apart = |at: usize| placed.is_of_another_class(past[at].run);
        let alone: Vec<usize> = (0..count)
            .filter(|at| is_usable(at) && !is_by_edges(*at) && !is_apart(*at))
            .collect();
        let parts: BTreeSet<usize> = (0..count).filter_map(part).collect();
        // For each part, choose the runs whose values anchor its level.
        let mut anchors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for of in &parts {
            let here = |at: &usize| part(*at) == Some(*of);
            let choices: [Vec<usize>; 3] = [
                alone.iter().copied().filter(here).collect(),
                (0..count).filter(here).filter(is_usable).collect(),
                (0..count)
                    .filter(here)
                    .filter(|at| is_ok(at) && runs[*at].is_some() && Some(*of) == of_newest)
                    .collect(),
            ];
            let chosen = choices.into_iter().find(|choice| !choice.is_empty());
            anchors.extend(chosen.map(|chosen| (*of, chosen)));
        }
        let outside = match (of_newest.filter(|of| !anchors.contains_key(of)), outside) {
            (None, _) => None,
            (Some(_), UnshownRun::Read(found)) => found,
            (Some(part), UnshownRun::Unread) => {
                return Err(NeedsUnshownRun(
                    placed.runs_of(part).take(MOST_LOOKED_AT).collect(),
                ));
            }
        };
        // The anchors in the newest run's part determine how values are read. Otherwise few samples there would exclude every run placed relative to
        // them.
        let mut measured: Vec<usize> = alone
            .iter()
            .copied()
            .chain(anchors.values().flatten().copied())
            .collect();
        measured.sort_unstable();
        measured.dedup();
        measured.sort_by_key(|at| part(*at) == of_newest && of_newest.is_some());
        let all: Vec<Option<&Measurement>> = measured
            .iter()
            .map(|at| runs[*at])
            .chain(outside.map(|(_, measured)| Some(measured)))
            .collect();
        let of_all = RunSeries::from_runs(&all);
        let known: BTreeMap<usize, f64> = measured
            .iter()
            .zip(&of_all.values)
            .filter_map(|(at, value)| Some((*at, (*value)?)))
            .collect();
        let mut scales: BTreeMap<usize, f64> = anchors
            .into_iter()
            .filter_map(|(part, anchors)| {
                let of = |at: &usize| Some(known.get(at)? - placed.place(past[*at].run)?.1);
                let found: Vec<f64> = anchors.iter().filter_map(of).collect();
                let sum: f64 = found.iter().sum();
                (!found.is_empty()).then(|| (part, sum / found.len() as f64))
            })
            .collect();
        if let (Some(part), Some((run, _)), Some(Some(value))) =
            (of_newest, outside, of_all.values.last())
        {
            scales.extend(placed.place(*run).map(|(_, placed)| (part, value - placed)));
        }
        let value = |at: usize| {
            if is_by_edges(at) {
                let (part, placed) = placed.place(past[at].run)?;
                return Some(scales.get(&part)? + placed);
            }
            alone.contains(&at).then(|| known.get(&at).copied())?
        };
        Ok(RunSeries {
            location: of_all.location,
            values: (0..count)
                .map(|at| value(at).filter(|_| is_ok(&at)))
                .collect(),
        })
    }

    /// Returns the points of the trend: the runs that count.
    fn points(
        &self,
        placed: &PlacedRuns,
        values: &[Option<f64>],
        counted: &[usize],
        heads: &[&Run],
    ) -> Vec<TrendPoint> {
        // The last run of each part so far.
        let mut last: BTreeMap<usize, RunId> = BTreeMap::new();
        let points = counted.iter().filter_map(|at| {
            let run = self.past[*at].run;
            let place = placed.place(run);
            let before = place.and_then(|(part, _)| last.insert(part, run));
            Some(TrendPoint {
                value: values[*at]?,
                accepted: self.past[*at].accepted || is_accepted(heads[*at]),
                is_placed: place.is_some() && placed.is_in_turn(run),
                shown: before.and_then(|before| placed.step(before, run)),
            })
        });
        points.collect()
    }

    /// Returns the first counted run that edges connect with the newest counted run.
    fn first_with_newest(&self, placed: &PlacedRuns, counted: &[usize]) -> Option<RunId> {
        let run = |at: &usize| self.past[*at].run;
        let (part, _) = placed.place(run(counted.last()?))?;
        let mut runs = counted.iter().map(run);
        runs.find(|run| placed.place(*run).is_some_and(|(other, _)| other == part))
    }
}

/// Returns the trends, identified by their runs.
fn trends_of_runs(placed: &PlacedRuns) -> Vec<RunTrend> {
    let trends = placed.placement.trends().into_iter();
    let named = trends.map(|trend| RunTrend {
        first_run: placed.first_run(trend.first),
        last_run: placed.first_run(trend.last),
        change: trend.change,
    });
    named.collect()
}

/// Returns the differences between processors, if they disagree.
fn find_processor_differences(placed: &PlacedRuns) -> Option<ProcessorDisagreement> {
    let found = placed.placement.disagreement.as_ref()?;
    let changes = found.changes.iter().map(|one| ProcessorChange {
        processor: placed.processor(one.class).to_owned(),
        change: one.change,
    });
    Some(ProcessorDisagreement {
        p_value: found.p_value,
        run: found.place.map(|place| placed.first_run(place)),
        changes: changes.collect(),
        shown: placed.processor(placed.newest_class).to_owned(),
    })
}

/// Marks runs of other branches than the newest run's if all branches are shown: levels may differ between branches without a commit that changed
/// them.
fn mark_other_branches(heads: &[&Run], asked: BranchFilter<'_>) -> Vec<bool> {
    let newest = heads.last().map(|run| branch(run));
    let differs = |run: &&Run| matches!(asked, BranchFilter::Any) && Some(branch(run)) != newest;
    heads.iter().map(differs).collect()
}

fn circumstances<'a>(past: &'a PastMeasurement, environment: &'a Environment) -> Comparability<'a> {
    Comparability {
        environment,
        target: &past.conditions.target,
        version: past.conditions.version.as_deref(),
        metric: &past.conditions.metric,
    }
}

fn is_accepted(run: &Run) -> bool {
    run.acceptance == Acceptance::ByCommand
}

/// Returns the branch of a run; `None` for a detached `HEAD` or outside git.
fn branch(run: &Run) -> Option<&str> {
    run.begun.git.as_ref()?.branch.as_deref()
}
