//! From the store to the histories of benchmarks: which runs count, their values, and the course that these take.

use std::collections::BTreeMap;

use crate::app::naming::shell_quoted;
use crate::report::{BenchmarkHistory, HistoryPoint, LeftOut, SinceBaseline};
use perfcheck_analysis::compare::{
    Circumstances, Course, CoursePoint, CourseRules, Difference, Fact, RunSeries, differences,
    summarize,
};
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Run, RunId, Timestamp, Verdict};
use perfcheck_engine::host;
use perfcheck_engine::store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, StoreError, WorkspaceId,
};

/// Series of so many benchmarks are in memory at once.
const AT_ONCE: usize = 16;
/// Of the intervals of medians, which are for the eye.
const RESAMPLES: u32 = 1_000;
/// The permutations of a history do not depend on its newest run.
const SEED: u64 = 0;

/// Which part of the history is wanted.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct HistoryRequest<'a> {
    pub(in crate::app) branch: BranchFilter<'a>,
    /// At most so many runs of each benchmark, the newest.
    pub(in crate::app) limit: usize,
    /// Only runs that began then or later.
    pub(in crate::app) since: Option<Timestamp>,
    /// Facts that may differ.
    pub(in crate::app) allowed: &'a [Fact],
    /// Whether the median of each run is wanted with its interval, which takes time.
    pub(in crate::app) medians: bool,
}

/// The histories of `benchmarks`, in their order; those that no such run measured are left out.
///
/// A history has the complete runs that are no side of an A/B measurement, oldest first. Runs that the newest one cannot be compared with are in it, but
/// not in its course.
pub(in crate::app) fn histories(
    store: &Store,
    workspace: WorkspaceId,
    benchmarks: &[BenchmarkKey],
    request: &HistoryRequest<'_>,
) -> Result<Vec<BenchmarkHistory>, StoreError> {
    let query = HistoryQuery {
        branch: request.branch,
        runs: RunFilter::Alone,
        before: None,
        limit: request.limit,
    };
    let baselines = store.baselines(workspace)?;
    let mut found = Vec::new();
    for keys in benchmarks.chunks(AT_ONCE) {
        let history = store.history(workspace, keys, &query)?;
        let mut measured: BTreeMap<(RunId, BenchmarkKey), Measurement> = BTreeMap::new();
        for run in history.runs.keys() {
            for measurement in store.measurements(*run, Some(keys))? {
                measured.insert((*run, measurement.benchmark.key.clone()), measurement);
            }
        }
        for key in keys {
            let past = chronological(key, &history, request.since);
            let runs: Vec<Option<&Measurement>> = past
                .iter()
                .map(|past| measured.get(&(past.run, key.clone())))
                .collect();
            let named = baselines.iter().map(|one| (one.name.as_str(), one.run));
            found.extend(history_of(key, &past, &runs, &history, named, request));
        }
    }
    Ok(found)
}

/// The runs of a benchmark, oldest first: imported ones may be older than their numbers say.
fn chronological<'h>(
    key: &BenchmarkKey,
    history: &'h History,
    since: Option<Timestamp>,
) -> Vec<&'h PastMeasurement> {
    let started = |past: &PastMeasurement| history.runs[&past.run].started;
    let of_key = history.benchmarks.get(key).into_iter().flatten();
    let mut past: Vec<&PastMeasurement> = of_key
        .filter(|past| since.is_none_or(|since| started(past) >= since))
        .collect();
    past.sort_by_key(|past| (started(past), past.run));
    past
}

/// The history of one benchmark from what was read of it; `None` without runs.
fn history_of<'n>(
    key: &BenchmarkKey,
    past: &[&PastMeasurement],
    runs: &[Option<&Measurement>],
    history: &History,
    baselines: impl Iterator<Item = (&'n str, RunId)>,
    request: &HistoryRequest<'_>,
) -> Option<BenchmarkHistory> {
    let newest = *past.last()?;
    let heads: Vec<&Run> = past.iter().map(|past| &history.runs[&past.run]).collect();
    let differing: Vec<Vec<Difference>> = past
        .iter()
        .map(|one| {
            let of = |past: &PastMeasurement| history.runs[&past.run].environment.clone();
            let (candidate, base) = (of(newest), of(one));
            differences(
                &circumstances(newest, &candidate),
                &circumstances(one, &base),
            )
            .allowing(request.allowed)
            .blocking
        })
        .collect();
    let usable: Vec<Option<&Measurement>> = runs
        .iter()
        .zip(past.iter().zip(&differing))
        .map(|(run, (past, differing))| {
            run.filter(|_| differing.is_empty() && past.verdict != Some(Verdict::Failed))
        })
        .collect();
    let series = RunSeries::of(&usable);
    let is_elsewhere = elsewhere(&heads, request.branch);
    let counted: Vec<usize> = (0..past.len())
        .filter(|place| series.values[*place].is_some() && !is_elsewhere[*place])
        .collect();
    let points: Vec<CoursePoint> = counted
        .iter()
        .filter_map(|place| {
            Some(CoursePoint {
                value: series.values[*place]?,
                accepted: past[*place].accepted || is_accepted(heads[*place]),
            })
        })
        .collect();
    let decision = &heads.last()?.decision;
    let rules = CourseRules {
        noise_threshold: runs
            .iter()
            .rev()
            .flatten()
            .next()
            .map_or(decision.noise_threshold, |run| run.noise_threshold),
        confidence_level: decision.confidence_level,
        seed: SEED,
    };
    let course = Course::of(&points, &rules, &key.to_string());
    let place_of = |run: RunId| counted.iter().position(|place| past[*place].run == run);
    let since_baselines = baselines
        .filter_map(|(name, run)| {
            Some(SinceBaseline {
                name: name.to_owned(),
                run,
                change: course.change_since(&points, place_of(run)?, rules.confidence_level)?,
            })
        })
        .collect();
    let points = (0..past.len())
        .map(|place| {
            let (past, head) = (past[place], heads[place]);
            let left_out = match (series.values[place], &differing[place]) {
                (Some(_), _) if is_elsewhere[place] => Some(LeftOut::OtherBranch),
                (Some(_), _) => None,
                (None, differing) if !differing.is_empty() => {
                    Some(LeftOut::Incomparable(differing.clone()))
                }
                _ if past.verdict == Some(Verdict::Failed) => Some(LeftOut::Failed),
                _ => Some(LeftOut::OtherSamples),
            };
            let median = runs[place]
                .filter(|_| request.medians)
                .and_then(|run| summarize(run, rules.confidence_level, RESAMPLES, SEED))
                .map(|summary| summary.median);
            HistoryPoint {
                run: past.run,
                started: host::to_rfc3339(head.started),
                git: head.git.clone(),
                acceptance: head.acceptance,
                accepted: past.accepted || is_accepted(head),
                verdict: past.verdict,
                change: past.change,
                value: series.values[place].map(f64::exp),
                median,
                left_out,
            }
        })
        .collect();
    Some(BenchmarkHistory {
        key: key.clone(),
        metric: newest.metric.clone(),
        location: series.location,
        noise_threshold: rules.noise_threshold,
        confidence_level: rules.confidence_level,
        points,
        counted,
        course,
        since_baselines,
        accept_words: shell_quoted(&key.id),
    })
}

/// Which runs are of another branch than the newest, where all are asked for: branches may be at levels that no commit led from one to the other.
fn elsewhere(heads: &[&Run], asked: BranchFilter<'_>) -> Vec<bool> {
    let branch = |run: &&Run| run.git.as_ref().map(|git| git.branch.clone());
    let newest = heads.last().map(branch);
    let differs = |run: &&Run| matches!(asked, BranchFilter::Any) && Some(branch(run)) != newest;
    heads.iter().map(differs).collect()
}

fn circumstances<'a>(
    past: &'a PastMeasurement,
    environment: &'a perfcheck_analysis::model::Environment,
) -> Circumstances<'a> {
    Circumstances {
        environment,
        target: &past.target_facts,
        version: past.version.as_deref(),
        metric: &past.metric,
    }
}

fn is_accepted(run: &Run) -> bool {
    run.acceptance == perfcheck_analysis::model::Acceptance::ByCommand
}
