//! Reads the histories of benchmarks from the store. For each benchmark, decides which runs count, computes their values, and finds the levels that
//! the values form.

use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::placing::{PlacedRuns, PlacingRules};
use crate::error::AppError;
use crate::output::{
    BaselineChange, BenchmarkHistory, ExcludedRun, ExclusionReason, HistoryPoint, ProcessorChange,
    ProcessorDisagreement, RunTrend,
};
use crate::sanitize::shell_command;
use perfcheck_analysis::compare::{
    Comparability, Difference, Estimate, Fact, RunSeries, Trend, TrendPoint, TrendRules,
    estimate_at_level, find_differences, summarize,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, Measurement, Metric, Run, RunId, Statistic, Timestamp,
    Unit, Verdict,
};
use perfcheck_store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, RunLink, RunLinks, Store,
    StoreError, WorkspaceId,
};

/// Maximum number of runs per benchmark whose side-by-side comparisons are read.
const MOST_LINKS: usize = 1_000;
/// Number of benchmarks whose samples are in memory at once.
const AT_ONCE: usize = 64;

/// The part of the history to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryRequest<'a> {
    pub(crate) branch: BranchFilter<'a>,
    /// How many of the newest runs of each benchmark are read at most.
    pub(crate) limit: usize,
    /// Runs that stand before this time in the history are left out. `None` leaves out none.
    pub(crate) since: Option<Timestamp>,
    /// Facts that may differ between the runs of a history.
    pub(crate) allowed: &'a [Fact],
    /// The metric whose values are read. `Time` stands for whatever the samples measure.
    pub(crate) metric: Statistic,
    /// Whether to compute the interval of each run's median, which takes time.
    pub(crate) medians: bool,
}

/// Returns the histories of `benchmarks`, in their order. Leaves out benchmarks that no run within the request measured.
///
/// A history contains the complete runs that the request covers, oldest first. Runs that cannot be compared with the newest run are listed, but do
/// not count for the levels. The levels of runs that were measured side by side are estimated from all their comparisons together. Such comparisons
/// do not depend on how fast the machine happened to be.
pub(crate) fn histories(
    store: &Store,
    workspace: WorkspaceId,
    benchmarks: &[BenchmarkKey],
    request: &HistoryRequest<'_>,
) -> Result<Vec<BenchmarkHistory>, AppError> {
    let query = HistoryQuery {
        branch: request.branch,
        runs: RunFilter::Own,
        before: None,
        limit: request.limit,
    };
    let baselines = store.baselines(workspace)?;
    let mut found = Vec::new();
    for keys in benchmarks.chunks(AT_ONCE) {
        let mut history = store.history(workspace, keys, &query)?;
        let mut links = BTreeMap::new();
        for key in keys {
            let found = store.run_links(workspace, key, MOST_LINKS)?;
            add_unmeasured(&mut history, key, &found.links, store, request)?;
            links.insert(key, found);
        }
        let mut measured: BTreeMap<(RunId, BenchmarkKey), Measurement> = BTreeMap::new();
        let runs: Vec<RunId> = history.runs.keys().copied().collect();
        for (run, found) in store.measurements_of_runs(&runs, Some(keys))? {
            let found = found.into_iter();
            measured.extend(found.map(|one| ((run, one.benchmark.key.clone()), one)));
        }
        let pasts = keys.iter().map(|key| {
            let past = chronological(key, &history, request.since);
            let runs = past.iter();
            let runs: Vec<Option<&Measurement>> = runs
                .map(|past| measured.get(&(past.run, key.clone())))
                .collect();
            (past, runs)
        });
        let pasts: Vec<_> = pasts.collect();
        let subjects = keys
            .iter()
            .zip(&pasts)
            .map(|(key, (past, runs))| HistorySubject {
                key,
                past,
                runs,
                links: &links[key],
                history: &history,
                branch: request.branch,
                allowed: request.allowed,
                metric: request.metric,
                has_medians: request.medians,
            });
        let subjects: Vec<HistorySubject<'_>> = subjects.collect();
        let named = || baselines.iter().map(|one| (one.name.as_str(), one.run));
        let attempts: Vec<_> = subjects
            .par_iter()
            .map(|subject| subject.history(named(), UnshownRun::Unread))
            .collect();
        for (subject, attempt) in subjects.iter().zip(attempts) {
            let history = match attempt {
                Ok(history) => history,
                Err(NeedsUnshownRun(runs)) => {
                    let measured = first_measured(store, subject.key, runs)?;
                    let unshown = UnshownRun::Read(measured.as_ref());
                    subject.history(named(), unshown).ok().flatten()
                }
            };
            found.extend(history);
        }
    }
    Ok(found)
}

/// Reads the first of these runs that measured the benchmark.
fn first_measured(
    store: &Store,
    key: &BenchmarkKey,
    runs: Vec<RunId>,
) -> Result<Option<(RunId, Measurement)>, StoreError> {
    for run in runs {
        let found = store.measurements(run, Some(std::slice::from_ref(key)))?;
        if let Some(measured) = found.into_iter().find(|one| !one.processes.is_empty()) {
            return Ok(Some((run, measured)));
        }
    }
    Ok(None)
}

/// Returns the runs of a benchmark, oldest first. An imported run and a run of an old commit may be older than runs with smaller numbers.
fn chronological<'h>(
    key: &BenchmarkKey,
    history: &'h History,
    since: Option<Timestamp>,
) -> Vec<&'h PastMeasurement> {
    let of_key = history.benchmarks.get(key).into_iter().flatten();
    let mut past: Vec<&PastMeasurement> = of_key
        .filter(|past| since.is_none_or(|since| past.at >= since))
        .collect();
    past.sort_by_key(|past| (past.at, past.run));
    past
}

/// Adds runs that did not measure the benchmark because both sides ran the same code. Such a run has the same level as its reference.
fn add_unmeasured(
    history: &mut History,
    key: &BenchmarkKey,
    links: &[RunLink],
    store: &Store,
    request: &HistoryRequest<'_>,
) -> Result<(), StoreError> {
    let Some(past) = history.benchmarks.get_mut(key) else {
        return Ok(());
    };
    // The conditions of an unmeasured run are not stored for each benchmark, so they are taken from the newest run that measured it.
    let Some(newest) = past.first().cloned() else {
        return Ok(());
    };
    let measured: BTreeSet<RunId> = past.iter().map(|past| past.run).collect();
    let is_wanted = |link: &&RunLink| {
        let is_new = !measured.contains(&link.code.run);
        let is_selected = (request.branch).selects(link.code.run, link.branch.as_deref());
        link.base.is_some() && link.verdict == Verdict::Unchanged && is_new && is_selected
    };
    let mut wanted: Vec<&RunLink> = links.iter().filter(is_wanted).collect();
    wanted.sort_by_key(|link| Reverse((link.at, link.code.run)));
    for link in wanted.into_iter().take(request.limit) {
        if let Entry::Vacant(head) = history.runs.entry(link.code.run) {
            head.insert(store.run(link.code.run)?);
        }
        past.push(PastMeasurement {
            run: link.code.run,
            at: link.at,
            verdict: Some(link.verdict),
            typical_ns: None,
            change: None,
            reference: link.base.as_ref().map(|base| base.run),
            accepted: false,
            ..newest.clone()
        });
    }
    past.sort_by_key(|past| Reverse((past.at, past.run)));
    past.truncate(request.limit);
    Ok(())
}

/// How many runs that the history does not show are searched at most for one that measured the benchmark.
const MOST_LOOKED_AT: usize = 100;
/// Number of bootstrap resamples for the intervals of medians, which are only displayed.
const RESAMPLES: u32 = 1_000;
/// Seed of all random numbers in a history, such as those of the permutations with which changes of level are tested. It is always the same, so that
/// the levels do not depend on which run is the newest.
const SEED: u64 = 0;

/// A benchmark with its stored data.
pub(super) struct HistorySubject<'a> {
    pub(super) key: &'a BenchmarkKey,
    /// The shown runs, oldest first. `runs` has the measurement of each.
    pub(super) past: &'a [&'a PastMeasurement],
    pub(super) runs: &'a [Option<&'a Measurement>],
    pub(super) links: &'a RunLinks,
    pub(super) history: &'a History,
    pub(super) branch: BranchFilter<'a>,
    /// Facts that may differ between the runs of a history.
    pub(super) allowed: &'a [Fact],
    pub(super) metric: Statistic,
    /// Whether to compute the median of each run.
    pub(super) has_medians: bool,
}

/// A run that the history does not show, but that side-by-side comparisons connect with the newest run. These comparisons give only ratios between
/// runs. If no shown run has a measured value from which the other values can be computed, the value of this run is used.
#[derive(Clone, Copy)]
pub(super) enum UnshownRun<'a> {
    /// The store has not been searched for such a run yet.
    Unread,
    /// The run that the search has found, if any.
    Read(Option<&'a (RunId, Measurement)>),
}

/// The error by which [`HistorySubject::history`] asks its caller to read the first of these runs that measured the benchmark. This is necessary if
/// side-by-side comparisons connect the newest run with other runs, but the history shows none of these that measured the benchmark.
pub(super) struct NeedsUnshownRun(pub(super) Vec<RunId>);

impl HistorySubject<'_> {
    /// Returns the history, or `None` if it has no runs.
    pub(super) fn history<'n>(
        &self,
        baselines: impl Iterator<Item = (&'n str, RunId)>,
        outside: UnshownRun<'_>,
    ) -> Result<Option<BenchmarkHistory>, NeedsUnshownRun> {
        let (key, past) = (self.key, self.past);
        let Some(newest) = past.last() else {
            return Ok(None);
        };
        if self.metric != Statistic::Time {
            return Ok(self.history_of_metric(baselines));
        }
        let heads: Vec<&Run> = past
            .iter()
            .map(|past| &self.history.runs[&past.run])
            .collect();
        let differing: Vec<Vec<Difference>> = past
            .iter()
            .map(|one| self.differences_from_newest(newest, one))
            .collect();
        let begun = &self.history.runs[&newest.run].begun;
        let is_acceptable = begun.past.is_none();
        let rules = self.rules(newest);
        let branch = match self.branch {
            BranchFilter::Any => BranchFilter::Only(heads.last().and_then(|head| branch(head))),
            shown => shown,
        };
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
                let left_out = match series.values[place] {
                    Some(_) if is_elsewhere[place] => Some(ExclusionReason::OtherBranch.into()),
                    Some(_) => None,
                    None => Some(explain_exclusion(past, &differing[place], &placed)),
                };
                let since = first_of_newest.filter(|_| left_out.is_none());
                HistoryPoint {
                    accepted: past.accepted || is_accepted(head),
                    verdict: past.verdict,
                    change: past.change,
                    since_first: since.and_then(|first| placed.change(first, past.run)),
                    value: series.values[place].map(f64::exp),
                    median: self.median(place, &placed, rules.confidence_level),
                    left_out,
                    ..describe_run(past, head)
                }
            })
            .collect();
        Ok(Some(BenchmarkHistory {
            key: key.clone(),
            statistic: self.metric,
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
            accept: is_acceptable.then(|| shell_command("cargo perfcheck accept", &[&key.id], "")),
        }))
    }

    fn rules(&self, newest: &PastMeasurement) -> TrendRules {
        let decision = &self.history.runs[&newest.run].begun.decision;
        let measured = self.runs.iter().rev().flatten().next();
        TrendRules {
            noise_threshold: measured.map_or(decision.noise_threshold, |run| run.noise_threshold),
            confidence_level: decision.confidence_level,
            seed: SEED,
        }
    }

    /// Returns the history of a metric other than the time, or `None` if no run has it. Each run has the value that it measured itself, because the
    /// comparisons of runs that were measured side by side are about times.
    fn history_of_metric<'n>(
        &self,
        baselines: impl Iterator<Item = (&'n str, RunId)>,
    ) -> Option<BenchmarkHistory> {
        let measured = self.past.iter().zip(self.runs);
        let found: Vec<(&PastMeasurement, f64)> = measured
            .filter_map(|(past, run)| Some((*past, metric_value((*run)?, self.metric)?)))
            .collect();
        let (newest, _) = *found.last()?;
        let rules = self.rules(newest);
        let heads = found.iter().map(|(past, _)| &self.history.runs[&past.run]);
        let heads: Vec<&Run> = heads.collect();
        let is_elsewhere = mark_other_branches(&heads, self.branch);
        let point = |(place, (past, value)): (usize, &(&PastMeasurement, f64))| {
            let differences = self.differences_from_newest(newest, past);
            let left_out = if is_elsewhere[place] {
                Some(ExclusionReason::OtherBranch.into())
            } else {
                (!differences.is_empty()).then_some(ExcludedRun {
                    why: ExclusionReason::Incomparable,
                    differences,
                })
            };
            HistoryPoint {
                value: left_out.is_none().then_some(*value),
                left_out,
                ..describe_run(past, heads[place])
            }
        };
        let points: Vec<HistoryPoint> = found.iter().enumerate().map(point).collect();
        let is_counted = |place: &usize| points[*place].left_out.is_none();
        let counted: Vec<usize> = (0..points.len()).filter(is_counted).collect();
        let values = counted.iter().map(|place| found[*place].1.ln());
        let values = trend_points(values, self.metric);
        let course = Trend::from_points(&values, &rules, &self.key.to_string());
        let since_baselines = baselines.filter_map(|(name, run)| {
            let place = counted.iter().position(|place| points[*place].run == run)?;
            let change = course.change_since(&values, place, rules.confidence_level)?;
            let name = name.to_owned();
            Some(BaselineChange { name, run, change })
        });
        Some(BenchmarkHistory {
            key: self.key.clone(),
            statistic: self.metric,
            metric: metric_unit(self.metric),
            location: None,
            noise_threshold: rules.noise_threshold,
            confidence_level: rules.confidence_level,
            since_baselines: since_baselines.collect(),
            points,
            counted,
            course,
            trends: Vec::new(),
            processors: None,
            accept: None,
        })
    }

    /// Returns the median of a run, if the request asks for medians and if the median can be shown beside the values of the history. It cannot if
    /// this run was measured side by side and others were measured alone, because the samples then differ in length.
    fn median(&self, place: usize, placed: &PlacedRuns, level: f64) -> Option<Estimate> {
        let is_alone = |past: &&PastMeasurement| !placed.is_paired(past.run);
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

    /// Returns the values of the runs, oldest first, such that they can be compared with the value of the newest run. A run that was measured alone
    /// has its measured value. For runs that were measured side by side, the comparisons give only the ratios between their values. At least one
    /// measured value among them, preferably of a run measured alone, turns these ratios into values.
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
        let is_by_edges = |at: usize| placed.is_paired(past[at].run) && part(at).is_some();
        let is_apart = |at: usize| placed.is_of_another_class(past[at].run);
        let alone: Vec<usize> = (0..count)
            .filter(|at| is_usable(at) && !is_by_edges(*at) && !is_apart(*at))
            .collect();
        let parts: BTreeSet<usize> = (0..count).filter_map(part).collect();
        // Here, a part is a set of runs that side-by-side comparisons connect. For each part, choose the runs (anchors) whose measured values turn
        // the ratios between the runs of the part into values.
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
        // Put the anchors of the part that has the newest run last: `RunSeries` gives values only to runs that are comparable with the last one, and
        // the values of all other runs in the part depend on these anchors.
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

    /// Returns the runs that count, as points from which the levels of the history are estimated.
    fn points(
        &self,
        placed: &PlacedRuns,
        values: &[Option<f64>],
        counted: &[usize],
        heads: &[&Run],
    ) -> Vec<TrendPoint> {
        // The last run so far in each part, a set of runs that side-by-side comparisons connect.
        let mut last: BTreeMap<usize, RunId> = BTreeMap::new();
        let points = counted.iter().filter_map(|at| {
            let run = self.past[*at].run;
            let place = placed.place(run);
            let before = place.and_then(|(part, _)| last.insert(part, run));
            Some(TrendPoint {
                value: values[*at]?,
                accepted: self.past[*at].accepted || is_accepted(heads[*at]),
                is_placed: place.is_some() && placed.is_paired(run),
                shown: before.and_then(|before| placed.step(before, run)),
            })
        });
        points.collect()
    }

    /// Returns the oldest of the counted runs that side-by-side comparisons connect with the newest counted run.
    fn first_with_newest(&self, placed: &PlacedRuns, counted: &[usize]) -> Option<RunId> {
        let run = |at: &usize| self.past[*at].run;
        let (part, _) = placed.place(run(counted.last()?))?;
        let mut runs = counted.iter().map(run);
        runs.find(|run| placed.place(*run).is_some_and(|(other, _)| other == part))
    }
}

/// Returns what is known of a run in a history, without values.
fn describe_run(past: &PastMeasurement, head: &Run) -> HistoryPoint {
    let committed = head.begun.past.as_ref().map(|past| past.committed);
    HistoryPoint {
        run: past.run,
        started: perfcheck_host::to_rfc3339(head.begun.started),
        committed: committed.map(perfcheck_host::to_rfc3339),
        at: past.at,
        git: head.begun.git.clone(),
        acceptance: head.acceptance,
        accepted: false,
        verdict: None,
        change: None,
        since_first: None,
        value: None,
        median: None,
        left_out: None,
    }
}

/// Returns the value of a metric other than the time in one run, if it is positive: the levels of a history are computed from logarithms.
fn metric_value(run: &Measurement, metric: Statistic) -> Option<f64> {
    let value = if metric == Statistic::Size {
        run.target_facts.size?.compared_bytes() as f64
    } else {
        // The confidence level does not matter, because only the estimate is used.
        estimate_at_level(run, metric, 0.5)?.estimate
    };
    Some(value).filter(|value| *value > 0.0)
}

/// Returns the unit in which the values of a metric other than the time are shown.
fn metric_unit(metric: Statistic) -> Metric {
    let unit = match metric.unit() {
        Unit::Time => return Metric::Time,
        Unit::Bytes => "bytes",
        Unit::Count => "instructions",
    };
    Metric::Amount {
        unit: unit.to_owned(),
    }
}

/// Returns the points of a history from the logarithms of its values. A size is exact, so each change of it shows that a level begins.
fn trend_points(values: impl Iterator<Item = f64>, metric: Statistic) -> Vec<TrendPoint> {
    let is_exact = metric == Statistic::Size;
    let mut before = None;
    let points = values.map(|value: f64| {
        let last: Option<f64> = before.replace(value);
        let has_changed = last.is_some_and(|last| last.total_cmp(&value).is_ne());
        TrendPoint {
            value,
            accepted: false,
            is_placed: is_exact,
            shown: (is_exact && has_changed).then_some(0.0),
        }
    });
    points.collect()
}

/// Says why a run has no value. `differing` has the facts that make it incomparable with the newest run.
fn explain_exclusion(
    past: &PastMeasurement,
    differing: &[Difference],
    placed: &PlacedRuns,
) -> ExcludedRun {
    if placed.is_of_another_class(past.run) {
        ExclusionReason::OtherProcessor.into()
    } else if !differing.is_empty() {
        ExcludedRun {
            why: ExclusionReason::Incomparable,
            differences: differing.to_vec(),
        }
    } else if past.verdict == Some(Verdict::Failed) {
        ExclusionReason::Failed.into()
    } else {
        ExclusionReason::OtherSamples.into()
    }
}

/// Returns the stretches of the history without a step in which values still drift in one direction, each with its first and its last run.
fn trends_of_runs(placed: &PlacedRuns) -> Vec<RunTrend> {
    let trends = placed.placement.trends().into_iter();
    let named = trends.map(|trend| RunTrend {
        first_run: placed.first_run(trend.first),
        last_run: placed.first_run(trend.last),
        change: trend.change,
    });
    named.collect()
}

/// If side-by-side comparisons on different processors disagree, returns the change on each processor.
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

/// Marks the runs that belong to another branch than the newest run, if all branches are shown. Levels of different branches may differ although no
/// commit of the history changed the level.
fn mark_other_branches(heads: &[&Run], filter: BranchFilter<'_>) -> Vec<bool> {
    let newest = heads.last().map(|run| branch(run));
    let differs = |run: &&Run| matches!(filter, BranchFilter::Any) && Some(branch(run)) != newest;
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
