//! References of future runs, which pruning keeps on existing branches.
//!
//! A single run would suffice as the compared value. But drift between runs can be estimated from many runs only, and without that estimate a stored
//! comparison stays `inconclusive`. So pruning keeps the present segment of each benchmark, as far back as references reach.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::error::AppError;
use crate::app::stored::earlier::earlier_runs;
use crate::app::stored::references::MOST_RUNS;
use crate::app::stored::segments::{earlier_of_same_noise, segments};
use perfcheck_analysis::model::{BenchmarkKey, RunId, Verdict};
use perfcheck_engine::store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, StoreError, WorkspaceId,
};

/// Number of benchmarks whose complete history is in memory at once.
const AT_ONCE: usize = 16;

/// Returns the runs that the next run would be compared with, on any branch and kind of processor. Reads the whole history.
pub(in crate::app) fn later_references(
    store: &Store,
    workspace: WorkspaceId,
) -> Result<BTreeSet<RunId>, AppError> {
    let query = HistoryQuery {
        branch: BranchFilter::Any,
        runs: RunFilter::Accepted,
        before: None,
        limit: usize::MAX,
    };
    let stored = store.benchmarks(workspace)?;
    let keys: Vec<BenchmarkKey> = stored.into_iter().map(|benchmark| benchmark.key).collect();
    let mut found = BTreeSet::new();
    for keys in keys.chunks(AT_ONCE) {
        let history = store.history(workspace, keys, &query)?;
        for past in history.benchmarks.values() {
            found.extend(references_of_benchmark(past, &history));
        }
    }
    // Add the runs whose builds the next run is measured with, and those that replace them if a build is lost.
    let branches = store.accepted_branches(workspace)?;
    let branches = branches.iter().map(|branch| Some(branch.as_str()));
    for branch in branches.chain([None]) {
        for is_kept in [true, false] {
            let all = keys.iter().cloned().collect();
            let earlier = earlier_runs(store, workspace, None, branch, all, &mut |_| is_kept)?;
            found.extend(earlier.into_iter().map(|earlier| earlier.run.id));
        }
    }
    Ok(found)
}

/// Returns the references of one benchmark, given its accepted runs `past`, newest first.
fn references_of_benchmark(past: &[PastMeasurement], history: &History) -> Vec<RunId> {
    let mut places: BTreeMap<(Option<&str>, &str), Vec<&PastMeasurement>> = BTreeMap::new();
    // Failed measurements are never references.
    for one in past
        .iter()
        .filter(|one| one.verdict != Some(Verdict::Failed))
    {
        let run = &history.runs[&one.run];
        let branch = run.begun.git.as_ref().and_then(|git| git.branch.as_deref());
        let place = (branch, run.begun.environment.host.cpu.as_str());
        places.entry(place).or_default().push(one);
    }
    let mut found = Vec::new();
    for past in places.values() {
        let segments = segments(past, history);
        let Some(present) = segments.first() else {
            continue;
        };
        let runs: Vec<RunId> = present.ids().take(MOST_RUNS).collect();
        let earlier = earlier_of_same_noise(&segments, 0, MOST_RUNS - runs.len());
        found.extend(runs);
        found.extend(earlier.into_iter().flatten());
    }
    found
}

/// Maps each run that skipped measuring benchmarks because both sides ran the same code to the runs whose measurements apply instead.
pub(in crate::app) fn runs_relied_on(
    store: &Store,
    workspace: WorkspaceId,
) -> Result<BTreeMap<RunId, Vec<RunId>>, StoreError> {
    let mut found: BTreeMap<RunId, Vec<RunId>> = BTreeMap::new();
    for (run, behind) in store.same_code_runs(workspace)? {
        found.entry(run).or_default().push(behind);
    }
    Ok(found)
}
