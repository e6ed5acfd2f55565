//! Reads the histories of benchmarks from the store: their runs and measurements.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::subject::{HistorySubject, NeedsUnshownRun, UnshownRun};
use crate::app::error::AppError;
use crate::report::BenchmarkHistory;
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::model::{BenchmarkKey, Measurement, RunId, Timestamp, Verdict};
use perfcheck_engine::store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, RunLink, Store, StoreError,
    WorkspaceId,
};

/// Maximum number of runs read per benchmark.
const MOST_LINKS: usize = 1_000;
/// Number of benchmarks whose samples are in memory at once.
const AT_ONCE: usize = 64;

/// The part of the history to read.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct HistoryRequest<'a> {
    pub(in crate::app) branch: BranchFilter<'a>,
    /// Maximum number of newest runs per benchmark
    pub(in crate::app) limit: usize,
    /// Earliest start of the runs
    pub(in crate::app) since: Option<Timestamp>,
    /// Facts that may differ between runs
    pub(in crate::app) allowed: &'a [Fact],
    /// Whether to compute the interval of each run's median, which takes time
    pub(in crate::app) medians: bool,
}

/// Returns the histories of `benchmarks`, in their order, without those that no such run measured.
///
/// A history contains complete runs within the request, oldest first. Runs incomparable with the newest one are listed, but do not count for the
/// trend. Runs measured side by side are placed by all such comparisons together, which cancels the speed of the machine in each run.
pub(in crate::app) fn histories(
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
        if let Some(measured) = found.into_iter().find(|one| !one.launches.is_empty()) {
            return Ok(Some((run, measured)));
        }
    }
    Ok(None)
}

/// Returns the runs of a benchmark, oldest first. Imported runs may be older than their numbers suggest.
fn chronological<'h>(
    key: &BenchmarkKey,
    history: &'h History,
    since: Option<Timestamp>,
) -> Vec<&'h PastMeasurement> {
    let started = |past: &PastMeasurement| history.runs[&past.run].begun.started;
    let of_key = history.benchmarks.get(key).into_iter().flatten();
    let mut past: Vec<&PastMeasurement> = of_key
        .filter(|past| since.is_none_or(|since| started(past) >= since))
        .collect();
    past.sort_by_key(|past| (started(past), past.run));
    past
}

/// Adds runs that did not measure the benchmark because both sides ran the same code: each has the level of its reference.
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
    let Some(like) = past.first().cloned() else {
        return Ok(());
    };
    let measured: BTreeSet<RunId> = past.iter().map(|past| past.run).collect();
    let same = |link: &&RunLink| {
        let is_new = !measured.contains(&link.code.run);
        link.base.is_some() && link.verdict == Verdict::Unchanged && is_new
    };
    for link in links.iter().filter(same).take(request.limit) {
        if matches!(request.branch, BranchFilter::Only(wanted) if wanted != link.branch.as_deref())
        {
            continue;
        }
        if let Entry::Vacant(head) = history.runs.entry(link.code.run) {
            head.insert(store.run(link.code.run)?);
        }
        past.push(PastMeasurement {
            run: link.code.run,
            verdict: Some(link.verdict),
            typical_ns: None,
            change: None,
            reference: link.base.as_ref().map(|base| base.run),
            accepted: false,
            ..like.clone()
        });
    }
    past.sort_by_key(|past| std::cmp::Reverse(past.run));
    past.truncate(request.limit);
    Ok(())
}
