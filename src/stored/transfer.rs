//! Converts runs between the form in which the store keeps them and a portable form, in which they do not contain run numbers of a particular store.
//!
//! Also resolves the address of a team's store, and finds baselines in it that this machine does not have.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::conclusions::read_conclusion;
use crate::error::AppError;
use crate::interchange::{
    PortableConclusion, PortableHead, PortablePair, PortableRun, PortableVerdict,
};
use crate::session::{Context, World};
use perfcheck_analysis::findings::{Conclusion, RunNote};
use perfcheck_analysis::model::{PortableRunId, ProgressReporter, Run, RunEnd, RunId, RunVerdict};
use perfcheck_store::{
    RunSummary, Store, StoreError, TransferredPair, TransferredRun, WorkspaceId, public_location,
};

/// Returns runs of a workspace in portable form. `runs` must include the partner of each side of a pair.
pub(crate) fn portable_runs(
    store: &Store,
    workspace: WorkspaceId,
    runs: &[RunId],
    progress: &ProgressReporter<'_>,
) -> Result<Vec<PortableRun>, AppError> {
    let places: HashMap<RunId, usize> = runs.iter().copied().zip(0..).collect();
    let names = store.baselines(workspace)?;
    let read = runs.iter().enumerate().map(|(done, run)| {
        progress.report(done, runs.len());
        let names = names.iter().filter(|baseline| baseline.run == *run);
        let names = names.map(|baseline| baseline.name.clone()).collect();
        portable_run(store, *run, &places, names)
    });
    read.collect()
}

fn portable_run(
    store: &Store,
    id: RunId,
    places: &HashMap<RunId, usize>,
    baselines: Vec<String>,
) -> Result<PortableRun, AppError> {
    let RunSummary { run, exit_code, .. } = store.run_summary(id)?;
    let (Some(finished), Some(exit_code)) = (run.finished, exit_code) else {
        return Err(AppError::Usage(format!(
            "run {id} is incomplete: only complete runs can be exported\n  help: use `cargo perfcheck store runs` to list the stored runs"
        )));
    };
    let pair = match (run.pair, store.purpose(id)?) {
        (Some(pair), Some(purpose)) => Some(PortablePair {
            partner: places.get(&pair.partner).copied().unwrap_or_default(),
            side: pair.side,
            purpose,
        }),
        _ => None,
    };
    let mut references = HashMap::new();
    let mut named = |run: RunId| {
        *references.entry(run).or_insert_with(|| {
            // The run may have been deleted since.
            store.run(run).ok().as_ref().map(portable_reference)
        })
    };
    let accepted = store.accepted_steps(id)?;
    let conclusion =
        read_conclusion(store, id)?.map(|concluded| portable_conclusion(concluded, &mut named));
    Ok(PortableRun {
        head: PortableHead {
            begun: run.begun.without_build(),
            finished,
            acceptance: run.acceptance,
            exit_code,
            pair,
            plan: run.plan,
            source: run.source,
            baselines,
        },
        processes: store.process_records(id)?,
        counted: store.counts(id)?,
        conclusion,
        verdicts: (store.verdicts(id)?.into_iter())
            .map(|found| PortableVerdict {
                verdict: found.verdict,
                typical_ns: found.typical_ns,
                change: found.change,
                standard_error: found.standard_error,
                reference: found.reference.and_then(&mut named),
                accepted: accepted.contains(&found.key),
                benchmark: found.key,
            })
            .collect(),
    })
}

/// Returns what identifies a run in every store. Its number does not, because each store has its own numbers.
pub(crate) fn portable_reference(run: &Run) -> PortableRunId {
    PortableRunId {
        started: run.begun.started,
        seed: run.begun.seed,
        side: run.pair.map(|pair| pair.side),
    }
}

/// Returns the number of a run in this store, if it is stored.
pub(crate) fn find_run(
    reference: PortableRunId,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<RunId>, StoreError> {
    let found = store.find_runs_begun(workspace, reference)?;
    Ok(found.first().copied())
}

/// Returns the runs to which the verdicts and the conclusion of a run refer.
pub(crate) fn referenced_runs(run: &PortableRun) -> impl Iterator<Item = PortableRunId> {
    let of_verdicts = run.verdicts.iter().filter_map(|found| found.reference);
    let concluded = run.conclusion.iter();
    of_verdicts.chain(concluded.flat_map(|concluded| concluded.runs.values().copied()))
}

/// Makes a conclusion independent of this store, by adding the identity of each run that it names. A run that is no longer stored has no identity.
fn portable_conclusion(
    mut concluded: Conclusion<'static>,
    named: &mut dyn FnMut(RunId) -> Option<PortableRunId>,
) -> PortableConclusion {
    let mut runs = BTreeMap::new();
    let mut known = |run: RunId| {
        runs.insert(run, named(run)?);
        Some(run)
    };
    for run in concluded.runs_in_sentences() {
        known(run);
    }
    concluded.renumber(&mut known);
    PortableConclusion { concluded, runs }
}

/// Where to find a run to which a transferred run refers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReferencePlace {
    /// The run is in the store.
    Stored(RunId),
    /// The run is at this index among the runs that are transferred together.
    Together(usize),
    /// The run is neither in the store nor among the transferred runs.
    Nowhere,
}

impl ReferencePlace {
    /// Returns the number of the run, given the numbers of the runs transferred `together`.
    fn number(self, together: &[RunId]) -> Option<RunId> {
        match self {
            Self::Stored(run) => Some(run),
            Self::Together(place) => together.get(place).copied(),
            Self::Nowhere => None,
        }
    }
}

/// Builds the record of a run for the store. `named` has the locations of the runs to which this run refers.
pub(crate) fn to_record(
    run: PortableRun,
    baselines: Vec<String>,
    named: HashMap<PortableRunId, ReferencePlace>,
) -> TransferredRun {
    let PortableRun {
        head,
        processes,
        counted,
        verdicts,
        conclusion,
    } = run;
    let accepted = verdicts.iter().filter(|found| found.accepted);
    let accepted = accepted.map(|found| found.benchmark.clone()).collect();
    let pair = head.pair.map(|pair| TransferredPair {
        partner: pair.partner,
        side: pair.side,
        purpose: pair.purpose,
        plan: head.plan.unwrap_or_default(),
    });
    let end = move |together: &[RunId]| {
        let number = |reference: &PortableRunId| named.get(reference)?.number(together);
        RunEnd {
            finished: head.finished,
            acceptance: head.acceptance,
            exit_code: head.exit_code,
            verdicts: (verdicts.iter())
                .map(|found| RunVerdict {
                    key: found.benchmark.clone(),
                    verdict: found.verdict,
                    typical_ns: found.typical_ns,
                    change: found.change,
                    standard_error: found.standard_error,
                    reference: found.reference.as_ref().and_then(number),
                })
                .collect(),
            conclusion: conclusion
                .as_ref()
                .map(|found| with_local_numbers(found, number).to_bytes()),
        }
    };
    TransferredRun {
        head: head.begun,
        source: head.source,
        pair,
        processes,
        counted,
        end: Box::new(end),
        accepted,
        baselines,
    }
}

/// Returns the conclusion with its run numbers replaced by those of this store. `number` returns the number that a run has here.
pub(crate) fn with_local_numbers(
    found: &PortableConclusion,
    number: impl Fn(&PortableRunId) -> Option<RunId>,
) -> Conclusion<'static> {
    let mut concluded = found.concluded.clone();
    let mut here = |run: RunId| number(found.runs.get(&run)?);
    if concluded
        .runs_in_sentences()
        .iter()
        .any(|run| here(*run) != Some(*run))
    {
        concluded.add_remark(RunNote::ConcludedElsewhere);
    }
    concluded.renumber(&mut here);
    concluded
}

/// Returns the address of the team's store from the command line, the environment or the workspace's table, in this order.
pub(crate) fn resolve_team_address(
    context: &Context,
    given: Option<&str>,
    world: &World<'_>,
) -> Result<Option<String>, AppError> {
    let named = given.map(str::to_owned);
    if let Some(named) = named.or_else(|| world.variables.team_store.clone()) {
        return Ok(Some(named));
    }
    let table = context.tables.workspace.team_store.as_ref();
    if table.is_some_and(|table| public_location(Path::new(table)) != Path::new(table)) {
        return Err(AppError::Usage(
            "`team-store` in Cargo.toml contains a password, which everyone with access to the repository can read\n  help: remove the password and set PGPASSFILE or PGPASSWORD"
                .to_owned(),
        ));
    }
    Ok(table.cloned())
}

/// A named run in the team's store.
pub(crate) struct TeamBaseline {
    /// Number of the run in the team's store.
    pub(crate) run: RunId,
    /// Commit of the run. It is built on this machine, because the team's store has no executables.
    pub(crate) commit: String,
}

/// Returns the run that the baseline `name` names in the team's store. Returns `None` if there is no team's store or it has no such baseline.
pub(crate) fn find_team_baseline(
    context: &Context,
    name: &str,
    world: &World<'_>,
) -> Result<Option<TeamBaseline>, AppError> {
    let Some(address) = resolve_team_address(context, None, world)? else {
        return Ok(None);
    };
    let Ok(key) = context.team_key() else {
        return Ok(None);
    };
    let Some(team) = Store::open_existing(address.as_ref())? else {
        return Ok(None);
    };
    let Some(workspace) = team.find_workspace(&key)? else {
        return Ok(None);
    };
    let baselines = team.baselines(workspace)?;
    let Some(found) = baselines.iter().find(|found| found.name == name) else {
        return Ok(None);
    };
    match team.run(found.run)?.begun.git.filter(|git| !git.dirty) {
        Some(git) => Ok(Some(TeamBaseline {
            run: found.run,
            commit: git.commit,
        })),
        None => Err(AppError::Usage(format!(
            "`{name}` is run {} of the team's store; it was measured with uncommitted changes, so its code cannot be built here\n  help: name a run without uncommitted changes: cargo perfcheck baseline save {name} RUN --store {}",
            found.run,
            team.path().display()
        ))),
    }
}
