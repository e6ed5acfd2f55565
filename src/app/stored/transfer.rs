//! Converts between records of the store and portable runs, which contain the same facts without numbers of a particular store.

use std::collections::{BTreeMap, HashMap};

use super::conclusions::conclusion_of;
use crate::app::error::AppError;
use crate::exchange::{
    PortableConclusion, PortableHead, PortablePair, PortableReference, PortableRun, PortableVerdict,
};
use perfcheck_analysis::findings::{Conclusion, RunRemark};
use perfcheck_analysis::model::{Run, RunEnd, RunId, RunVerdict, Work};
use perfcheck_engine::store::{
    RunSummary, Store, StoreError, TransferredPair, TransferredRun, WorkspaceId,
};

/// Returns runs of a workspace in portable form. `runs` must include the partner of each side of a pair.
pub(in crate::app) fn portable_runs(
    store: &Store,
    workspace: WorkspaceId,
    runs: &[RunId],
    told: &Work<'_>,
) -> Result<Vec<PortableRun>, AppError> {
    let places: HashMap<RunId, usize> = runs.iter().copied().zip(0..).collect();
    let names = store.baselines(workspace)?;
    let read = runs.iter().enumerate().map(|(done, run)| {
        told.reached(done, runs.len());
        let names = names.iter().filter(|baseline| baseline.run == *run);
        let names = names.map(|baseline| baseline.name.clone()).collect();
        portable(store, *run, &places, names)
    });
    read.collect()
}

fn portable(
    store: &Store,
    id: RunId,
    places: &HashMap<RunId, usize>,
    baselines: Vec<String>,
) -> Result<PortableRun, AppError> {
    let RunSummary { run, exit_code, .. } = store.run_summary(id)?;
    let (Some(finished), Some(exit_code)) = (run.finished, exit_code) else {
        return Err(AppError::Usage(format!(
            "run {id} has not ended: only whole runs can be exported\n  help: `cargo perfcheck store runs` lists them"
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
            store.run(run).ok().as_ref().map(reference_to)
        })
    };
    let accepted = store.accepted_steps(id)?;
    let conclusion =
        conclusion_of(store, id)?.map(|concluded| portable_conclusion(concluded, &mut named));
    Ok(PortableRun {
        head: PortableHead {
            begun: run.begun.elsewhere(),
            finished,
            acceptance: run.acceptance,
            exit_code,
            pair,
            plan: run.plan,
            source: run.source,
            baselines,
        },
        launches: store.launch_records(id)?,
        counted: store.counted(id)?,
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

/// Returns the store-independent identity of a run.
pub(in crate::app) fn reference_to(run: &Run) -> PortableReference {
    PortableReference {
        started: run.begun.started,
        seed: run.begun.seed,
        side: run.pair.map(|pair| pair.side),
    }
}

/// Returns the number of a run in this store, if it is stored.
pub(in crate::app) fn number_of(
    reference: PortableReference,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<RunId>, StoreError> {
    let PortableReference {
        started,
        seed,
        side,
    } = reference;
    let found = store.runs_begun(workspace, started, seed, side)?;
    Ok(found.first().copied())
}

/// Returns the runs to which the verdicts and the conclusion of a run refer.
pub(in crate::app) fn references(run: &PortableRun) -> impl Iterator<Item = PortableReference> {
    let of_verdicts = run.verdicts.iter().filter_map(|found| found.reference);
    let concluded = run.conclusion.iter();
    of_verdicts.chain(concluded.flat_map(|concluded| concluded.runs.values().copied()))
}

/// Makes a conclusion store-independent. Runs that are no longer stored have no identity.
fn portable_conclusion(
    mut concluded: Conclusion<'static>,
    named: &mut dyn FnMut(RunId) -> Option<PortableReference>,
) -> PortableConclusion {
    let mut runs = BTreeMap::new();
    let mut known = |run: RunId| {
        runs.insert(run, named(run)?);
        Some(run)
    };
    for run in concluded.in_prose() {
        known(run);
    }
    concluded.renumber(&mut known);
    PortableConclusion { concluded, runs }
}

/// Location of a run to which another run refers.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) enum ReferencePlace {
    /// In the store
    Stored(RunId),
    /// Among the runs transferred together, at this index
    Together(usize),
    /// In neither
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

/// Builds the record of a run for the store. `named` has the locations of the runs to which it refers.
pub(in crate::app) fn transferred(
    run: PortableRun,
    baselines: Vec<String>,
    named: HashMap<PortableReference, ReferencePlace>,
) -> TransferredRun {
    let PortableRun {
        head,
        launches,
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
        let number = |reference: &PortableReference| named.get(reference)?.number(together);
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
                .map(|found| renumbered(found, number).to_bytes()),
        }
    };
    TransferredRun {
        head: head.begun,
        source: head.source,
        pair,
        launches,
        counted,
        end: Box::new(end),
        accepted,
        baselines,
    }
}

/// Returns the conclusion with this store's run numbers.
pub(in crate::app) fn renumbered(
    found: &PortableConclusion,
    number: impl Fn(&PortableReference) -> Option<RunId>,
) -> Conclusion<'static> {
    let mut concluded = found.concluded.clone();
    let mut here = |run: RunId| number(found.runs.get(&run)?);
    if concluded
        .in_prose()
        .iter()
        .any(|run| here(*run) != Some(*run))
    {
        concluded.remark(RunRemark::ConcludedElsewhere);
    }
    concluded.renumber(&mut here);
    concluded
}
