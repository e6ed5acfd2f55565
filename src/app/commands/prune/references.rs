//! What the next run rests on: the runs that pruning leaves on branches that are still there.
//!
//! One run would do as the value to compare with. But how far runs drift is known from many, and without that a stored comparison can only say
//! `inconclusive`: so the present segment of each benchmark stays, as far as references reach into it.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::error::AppError;
use crate::app::stored::earlier::earlier_runs;
use crate::app::stored::references::MOST_RUNS;
use crate::app::stored::segments::{earlier_of_same_noise, segments};
use perfcheck_analysis::model::{BenchmarkKey, RunId, Verdict};
use perfcheck_engine::store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, StoreError, WorkspaceId,
};

/// Benchmarks whose whole past is in memory at once.
const AT_ONCE: usize = 16;

/// The runs that the next one would be compared with, on any branch and kind of processor. Reads the whole history.
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
            found.extend(of_benchmark(past, &history));
        }
    }
    // Those whose builds the next run is measured beside, and those that take their place where a build is lost.
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

/// Those of one benchmark, of which `past` are the accepted runs, newest first.
fn of_benchmark(past: &[PastMeasurement], history: &History) -> Vec<RunId> {
    let mut places: BTreeMap<(Option<&str>, &str), Vec<&PastMeasurement>> = BTreeMap::new();
    // With what failed nothing is compared.
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

/// Behind each run that measured nothing of some benchmarks, as both sides ran the same code: the runs whose level it has in these.
pub(in crate::app) fn passed_on(
    store: &Store,
    workspace: WorkspaceId,
) -> Result<BTreeMap<RunId, Vec<RunId>>, StoreError> {
    let mut found: BTreeMap<RunId, Vec<RunId>> = BTreeMap::new();
    for (run, behind) in store.same_code(workspace)? {
        found.entry(run).or_default().push(behind);
    }
    Ok(found)
}
