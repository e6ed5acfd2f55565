//! Selection of the earlier run with which each benchmark is measured side by side.
//!
//! It is the newest accepted run of the branch that knows the benchmark, else of the branch that this one forked from, else of the time before the
//! first commit. A run knows the benchmarks that it measured, and those whose code it found to equal its own reference. So a run with a filter
//! becomes the reference of its own benchmarks only. Benchmarks that a run left undecided keep their former reference, unless the user accepts the
//! run.

use std::collections::{BTreeMap, BTreeSet};

use super::references::{is_ancestor, is_before_commits, parent_branch};
use crate::error::AppError;
use perfcheck_analysis::model::{Acceptance, BenchmarkKey, Run, Verdict};
use perfcheck_host::Checkout;
use perfcheck_store::{Store, StoreError, WorkspaceId};

/// Maximum number of accepted runs examined per branch.
const HORIZON: usize = 100;

/// An earlier run, with the benchmarks to measure side by side with its build.
pub(crate) struct EarlierRun {
    pub(crate) run: Run,
    pub(crate) benchmarks: BTreeSet<BenchmarkKey>,
}

/// Returns the earlier runs of `benchmarks`, newest first. Benchmarks unknown to all of them are assigned to the newest. Returns none if no run is
/// accepted yet.
///
/// `can_launch` reports whether a build of a run exists or could be made. A run without a build passes the benchmarks that it found unchanged to an
/// older run, whose level they have.
pub(crate) fn earlier_runs(
    store: &Store,
    workspace: WorkspaceId,
    checkout: Option<&Checkout>,
    branch: Option<&str>,
    benchmarks: BTreeSet<BenchmarkKey>,
    can_launch: &mut dyn FnMut(&Run) -> bool,
) -> Result<Vec<EarlierRun>, AppError> {
    let mut open = benchmarks;
    let mut found = Vec::new();
    let mut newest = None;
    let mut take = |runs: Vec<Run>, open: &mut BTreeSet<BenchmarkKey>| {
        for run in runs {
            let known = known_benchmarks(store, &run)?;
            let is_unchanged = |key: &BenchmarkKey| known.get(key) == Some(&KnownLevel::Older);
            let passes_on = open.iter().any(is_unchanged) && !can_launch(&run);
            let (taken, rest): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(open)
                .into_iter()
                .partition(|key| known.contains_key(key) && !(passes_on && is_unchanged(key)));
            *open = rest;
            newest.get_or_insert_with(|| run.clone());
            // The newest run receives unknown benchmarks, and reveals missing ones.
            if found.is_empty() && !passes_on || !taken.is_empty() {
                found.push(EarlierRun {
                    run,
                    benchmarks: taken,
                });
            }
            if open.is_empty() {
                break;
            }
        }
        Ok::<(), StoreError>(())
    };
    take(store.accepted_runs(workspace, branch, HORIZON)?, &mut open)?;
    if let (Some(checkout), false) = (checkout, open.is_empty()) {
        let branches = store.accepted_branches(workspace)?;
        let branches = branches.iter().map(String::as_str);
        if let Some(parent) = parent_branch(checkout, branch, branches)? {
            let runs = store.accepted_runs(workspace, Some(&parent), HORIZON)?;
            // Prefer runs whose commit this branch contains.
            let (mut own, mut others) = (Vec::new(), Vec::new());
            for run in runs {
                if is_ancestor(checkout, &run)? {
                    own.push(run);
                } else {
                    others.push(run);
                }
            }
            take(own, &mut open)?;
            take(others, &mut open)?;
        }
    }
    if let (Some(_), false) = (branch, open.is_empty()) {
        let runs = store.accepted_runs(workspace, None, HORIZON)?;
        take(
            runs.into_iter().filter(is_before_commits).collect(),
            &mut open,
        )?;
    }
    match (found.first_mut(), newest) {
        (Some(first), _) => first.benchmarks.append(&mut open),
        (None, Some(run)) => found.push(EarlierRun {
            run,
            benchmarks: open,
        }),
        (None, None) => {}
    }
    Ok(found)
}

/// Origin of an accepted run's level of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KnownLevel {
    /// The level of an older run, from which it did not differ
    Older,
    Own,
}

/// Returns the benchmarks for which an accepted run is a reference.
fn known_benchmarks(
    store: &Store,
    run: &Run,
) -> Result<BTreeMap<BenchmarkKey, KnownLevel>, StoreError> {
    if run.acceptance == Acceptance::Pending {
        let steps = store.accepted_steps(run.id)?.into_iter();
        return Ok(steps.map(|key| (key, KnownLevel::Own)).collect());
    }
    let is_meant = run.acceptance == Acceptance::ByCommand;
    let level = |verdict| match verdict {
        Verdict::Missing | Verdict::Failed => None,
        _ if is_meant => Some(KnownLevel::Own),
        Verdict::Inconclusive | Verdict::Suspect => None,
        Verdict::Unchanged => Some(KnownLevel::Older),
        _ => Some(KnownLevel::Own),
    };
    let verdicts = store.verdicts(run.id)?.into_iter();
    Ok(verdicts
        .filter_map(|found| Some((found.key, level(found.verdict)?)))
        .collect())
}
