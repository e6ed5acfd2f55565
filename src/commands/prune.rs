//! `cargo perfcheck store prune` and `store remove`: turn a policy into a plan, show it, and remove exactly the runs shown.
//!
//! Pruning keeps the runs with which future runs on existing branches will be compared. For each benchmark, these are the newest runs at its present
//! level, as many as a comparison uses. A single run would be enough to know the level. But how much runs drift can only be estimated from many runs,
//! and without this estimate, a comparison of stored runs stays `inconclusive`.

use clap::Args;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{AppError, first_line};
use crate::options::CommonOptions;
use crate::output::{PruneDecision, PruneLine, PruneScope, PruneSummary, write_prune};
use crate::session::{Context, World, resolve_run};
use crate::stored::references::{
    ReferenceResolver, ReferenceSelector, has_level, newest_level_runs,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{BenchmarkKey, RunId, RunStatus, Timestamp};
use perfcheck_store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RemovedRuns, RunFilter, Store,
    StoreError, StoredRun, WorkspaceId,
};

/// An incomplete run is removed only if it is at least this old, because a younger run may still be in progress.
const UNDER_WAY_NANOSECONDS: i64 = 24 * 3_600_000_000_000;

/// Options of `store prune`. A run is removed if no rule keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct PruneOptions {
    /// Keep the newest N runs
    #[arg(long, value_name = "N")]
    pub keep_last: Option<usize>,
    /// Keep the newest N runs of each branch
    #[arg(long, value_name = "N")]
    pub keep_per_branch: Option<usize>,
    /// Remove only runs older than this date or age, e.g. 2026-01-31 or 90d
    #[arg(long, value_name = "WHEN")]
    pub older_than: Option<String>,
    /// Remove only runs of this branch
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Remove only samples: the runs keep their verdicts and their place in the history
    #[arg(long)]
    pub samples: bool,
    /// Remove the listed runs instead of only listing them
    #[arg(long = "yes")]
    pub execute: bool,
}

/// Runs `store prune`.
pub fn prune(
    options: &PruneOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if *options
        == (PruneOptions {
            execute: options.execute,
            samples: options.samples,
            ..PruneOptions::default()
        })
    {
        return Err(AppError::Usage(
            "no rule says which runs to keep\n  help: e.g. `cargo perfcheck store prune --keep-last 100` or `--older-than 90d --keep-per-branch 10`; without `--yes`, nothing is removed"
                .to_owned(),
        ));
    }
    let mut context = Context::load(common, world)?;
    if options.execute {
        context = context.for_writing();
    }
    let limit = match &options.older_than {
        Some(text) => Some(perfcheck_host::parse_moment(text).map_err(AppError::Usage)?),
        None => None,
    };
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let limit = match limit {
        Some(limit) if options.samples => Some(store.removal_limit(limit)?),
        limit => limit,
    };
    let runs = store.stored_runs(workspace)?;
    let references = later_references(&store, workspace)?;
    let behind = runs_relied_on(&store, workspace)?;
    let known = match context.checkout() {
        Some(checkout) => checkout.branches()?,
        None => None,
    };
    let fates = PrunePolicy {
        options,
        limit,
        now: perfcheck_host::now(),
        branches: known.as_ref(),
        references: &references,
        behind: &behind,
    }
    .fates(&runs);
    drop(store);
    let goes = if options.samples {
        PruneScope::Samples
    } else {
        PruneScope::Runs
    };
    show_and_execute(
        &runs,
        &fates,
        goes,
        options.execute,
        &context,
        common,
        world,
    )
}

/// Runs `store remove`.
pub fn remove_runs(
    words: &[String],
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?.for_writing();
    let (store, workspace) = context.open_required()?;
    let runs = store.stored_runs(workspace)?;
    let mut wanted = BTreeSet::new();
    for word in words {
        let run = resolve_run(&store, workspace, word)?;
        let partner = runs
            .iter()
            .find(|one| one.run == run)
            .and_then(|one| one.partner);
        wanted.extend([Some(run), partner].into_iter().flatten());
    }
    let mut wanted_runs = runs.iter().filter(|run| wanted.contains(&run.run));
    if let Some(run) = wanted_runs.find(|run| run.status == RunStatus::Incomplete)
        && store.is_in_use_for_measuring()
    {
        return Err(AppError::Usage(format!(
            "run {run} is incomplete, and a measurement is still using this store\n  help: wait until the measurement ends, or stop it with Ctrl-C; then run `cargo perfcheck store remove {run}`",
            run = run.run
        )));
    }
    let named: Vec<String> = runs
        .iter()
        .filter(|run| wanted.contains(&run.run))
        .flat_map(|run| {
            run.baselines
                .iter()
                .map(|name| format!("run {} is the baseline `{name}`", run.run))
        })
        .collect();
    if !named.is_empty() {
        return Err(AppError::Usage(format!(
            "{}\n  help: remove the name first: `cargo perfcheck baseline remove NAME`",
            named.join(", ")
        )));
    }
    let fates = runs
        .iter()
        .map(|run| {
            (
                run.run,
                if wanted.contains(&run.run) {
                    PruneDecision::Goes
                } else {
                    PruneDecision::Kept
                },
            )
        })
        .collect();
    drop(store);
    show_and_execute(
        &runs,
        &fates,
        PruneScope::Runs,
        true,
        &context,
        common,
        world,
    )
}

/// Shows the plan, and carries it out if requested.
fn show_and_execute(
    runs: &[StoredRun],
    fates: &BTreeMap<RunId, PruneDecision>,
    goes: PruneScope,
    execute: bool,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let lines: Vec<PruneLine> = runs
        .iter()
        .map(|run| PruneLine {
            run: run.run,
            started: perfcheck_host::to_rfc3339(run.started),
            branch: run.branch.clone(),
            commit: run.commit.clone(),
            baselines: run.baselines.clone(),
            benchmarks: run.benchmarks,
            bytes: run.bytes,
            fate: fates[&run.run],
        })
        .collect();
    let going: Vec<RunId> = fates
        .iter()
        .filter(|(_, fate)| **fate == PruneDecision::Goes)
        .map(|(run, _)| *run)
        .collect();
    let done = match (execute, going.is_empty()) {
        (true, false) => Some(execute_plan(context, goes, &going, world)?),
        _ => None,
    };
    let summary = PruneSummary {
        removed: done.as_ref().map(|done| done.removed),
        freed_bytes: done.map(|done| done.freed_bytes),
        goes,
        is_quiet: common.output.quiet,
    };
    write_prune(world.stdout, &lines, &summary, common.output.format)?;
    Ok(ExitCode::Clean)
}

struct PruneOutcome {
    removed: usize,
    freed_bytes: u64,
}

/// Removes the runs or their samples, then shrinks the database file.
fn execute_plan(
    context: &Context,
    goes: PruneScope,
    going: &[RunId],
    world: &mut World<'_>,
) -> Result<PruneOutcome, AppError> {
    let (mut store, workspace) = context.open_store()?;
    let before = store.bytes()?;
    let outcome = match goes {
        PruneScope::Runs => store.remove_runs(workspace, going)?,
        PruneScope::Samples => {
            let removed = world.with_progress("Removing samples", going.len(), |progress| {
                store.remove_samples(workspace, going, progress)
            })?;
            let gone: BTreeSet<RunId> = removed.iter().copied().collect();
            let skipped = going.iter().filter(|run| !gone.contains(run));
            RemovedRuns {
                skipped: skipped.copied().collect(),
                removed,
            }
        }
    };
    for run in &outcome.skipped {
        writeln!(
            world.stderr,
            "Run {run} is kept: it became a baseline in the meantime."
        )?;
    }
    if let Err(error) = store.compact() {
        writeln!(
            world.stderr,
            "warning: the data was removed, but the store's file could not be shrunk ({}); later runs will reuse the space",
            first_line(&error)
        )?;
    }
    Ok(PruneOutcome {
        removed: outcome.removed.len(),
        freed_bytes: before.saturating_sub(store.bytes()?),
    })
}

/// The rules of pruning, with the data they depend on.
struct PrunePolicy<'a> {
    options: &'a PruneOptions,
    /// Runs that started at this time or later are kept.
    limit: Option<Timestamp>,
    now: Timestamp,
    /// The branches that still exist. `None` if this is unknown.
    branches: Option<&'a BTreeSet<String>>,
    /// Runs that serve as references of the next run.
    references: &'a BTreeSet<RunId>,
    /// For each run that did not measure all of its benchmarks, the runs whose measurements it relies on.
    behind: &'a BTreeMap<RunId, Vec<RunId>>,
}

impl PrunePolicy<'_> {
    /// Decides for each run whether it is kept. `runs` must be all runs of a workspace, newest first.
    fn fates(&self, runs: &[StoredRun]) -> BTreeMap<RunId, PruneDecision> {
        let mut of_branch: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        let mut fates = BTreeMap::new();
        for (place, run) in runs.iter().enumerate() {
            let before = of_branch.entry(run.branch.as_deref()).or_default();
            fates.insert(run.run, self.fate(run, place, *before));
            *before += 1;
        }
        self.keep_behind(runs, &mut fates);
        keep_together(runs, &mut fates);
        if self.options.samples {
            // Runs without samples have nothing to remove.
            for run in runs.iter().filter(|run| run.bytes == 0) {
                if let Some(fate @ PruneDecision::Goes) = fates.get_mut(&run.run) {
                    *fate = PruneDecision::Kept;
                }
            }
        }
        fates
    }

    /// Decides whether a single run is kept, without regard to other runs that depend on it. `place` is the number of newer runs, and `before` is the
    /// number of newer runs on the same branch.
    fn fate(&self, run: &StoredRun, place: usize, before: usize) -> PruneDecision {
        let options = self.options;
        let is_kept = options.keep_last.is_some_and(|keep| place < keep)
            || options.keep_per_branch.is_some_and(|keep| before < keep)
            || self.limit.is_some_and(|limit| run.started >= limit)
            || (options.branch.is_some() && options.branch != run.branch);
        let may_be_under_way = run.status == RunStatus::Incomplete
            && self.now.0.saturating_sub(run.started.0) < UNDER_WAY_NANOSECONDS;
        if is_kept {
            PruneDecision::Kept
        } else if !run.baselines.is_empty() {
            PruneDecision::Named
        } else if self.references.contains(&run.run) && self.branch_exists(run) {
            PruneDecision::Reference
        } else if may_be_under_way {
            PruneDecision::UnderWay
        } else {
            PruneDecision::Goes
        }
    }

    /// Keeps runs whose measurements a kept run relies on.
    fn keep_behind(&self, runs: &[StoredRun], fates: &mut BTreeMap<RunId, PruneDecision>) {
        let stays = |run: &&StoredRun| fates[&run.run] != PruneDecision::Goes;
        let mut open: Vec<RunId> = runs.iter().filter(stays).map(|run| run.run).collect();
        while let Some(run) = open.pop() {
            for behind in self.behind.get(&run).into_iter().flatten() {
                if let Some(fate @ PruneDecision::Goes) = fates.get_mut(behind) {
                    *fate = PruneDecision::Reference;
                    open.push(*behind);
                }
            }
        }
    }

    /// Reports whether the branch of a run still exists. Nothing will be compared with runs of a deleted branch.
    fn branch_exists(&self, run: &StoredRun) -> bool {
        match (&run.branch, self.branches) {
            (Some(branch), Some(there)) => there.contains(branch),
            _ => true,
        }
    }
}

/// Keeps both sides of a side-by-side measurement if either is kept.
fn keep_together(runs: &[StoredRun], fates: &mut BTreeMap<RunId, PruneDecision>) {
    let stays = |fates: &BTreeMap<RunId, PruneDecision>, run: RunId| {
        fates
            .get(&run)
            .is_some_and(|fate| *fate != PruneDecision::Goes)
    };
    for run in runs {
        let with_partner = run.partner.is_some_and(|partner| stays(fates, partner));
        if !stays(fates, run.run) && with_partner {
            fates.insert(run.run, PruneDecision::Together);
        }
    }
}

#[cfg(test)]
mod tests;

/// Number of benchmarks whose complete history is in memory at once.
const AT_ONCE: usize = 16;

/// Returns the runs that the next run would be compared with, on any branch and kind of processor. Reads the whole history.
pub(crate) fn later_references(
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
    // Add the runs whose builds are measured together with the next run, and the runs that replace them if a build is lost.
    let branches = store.accepted_branches(workspace)?;
    let branches = branches.iter().map(|branch| Some(branch.as_str()));
    let resolver = ReferenceResolver {
        store,
        workspace,
        checkout: None,
    };
    for branch in branches.chain([None]) {
        let last = ReferenceSelector::LastAccepted {
            before: None,
            branch,
        };
        for is_kept in [true, false] {
            let all = keys.iter().cloned().collect();
            let earlier = resolver.resolve_builds(&last, all, &mut |_| is_kept)?;
            found.extend(earlier.into_iter().map(|earlier| earlier.run.id));
        }
    }
    Ok(found)
}

/// Returns the runs that later runs of a benchmark would be compared with, for each branch and kind of processor. `past` has the accepted runs of the
/// benchmark, newest first.
fn references_of_benchmark(past: &[PastMeasurement], history: &History) -> Vec<RunId> {
    let mut places: BTreeMap<(Option<&str>, &str), Vec<&PastMeasurement>> = BTreeMap::new();
    for one in past.iter().filter(|one| has_level(one)) {
        let run = &history.runs[&one.run];
        let branch = run.begun.git.as_ref().and_then(|git| git.branch.as_deref());
        let place = (branch, run.begun.environment.host.cpu.as_str());
        places.entry(place).or_default().push(one);
    }
    let mut found = Vec::new();
    for past in places.values() {
        if let Some(level) = newest_level_runs(past, history) {
            found.extend(level.runs);
            found.extend(level.earlier.into_iter().flatten());
        }
    }
    found
}

/// Returns the runs that skipped benchmarks because both sides ran the same code, each with the runs whose measurements apply instead.
pub(crate) fn runs_relied_on(
    store: &Store,
    workspace: WorkspaceId,
) -> Result<BTreeMap<RunId, Vec<RunId>>, StoreError> {
    let mut found: BTreeMap<RunId, Vec<RunId>> = BTreeMap::new();
    for (run, behind) in store.same_code_runs(workspace)? {
        found.entry(run).or_default().push(behind);
    }
    Ok(found)
}
