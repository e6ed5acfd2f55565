//! Between the store's records and runs as they are exchanged: the same facts, without numbers that mean something in one store alone.

use std::collections::HashMap;

use crate::app::error::AppError;
use crate::exchange::{
    PortableHead, PortablePair, PortableReference, PortableRun, PortableVerdict,
};
use perfcheck_analysis::model::{NewRun, RunEnd, RunId, RunVerdict};
use perfcheck_engine::store::{RunSummary, Store, TransferredPair, TransferredRun, WorkspaceId};

/// Runs of a workspace as they are exchanged; the partner of each one that is a side of a pair must be among them.
pub(in crate::app) fn portable_runs(
    store: &Store,
    workspace: WorkspaceId,
    runs: &[RunId],
) -> Result<Vec<PortableRun>, AppError> {
    let places: HashMap<RunId, usize> = runs.iter().copied().zip(0..).collect();
    let names = store.baselines(workspace)?;
    runs.iter()
        .map(|run| {
            let names = names.iter().filter(|baseline| baseline.run == *run);
            let names = names.map(|baseline| baseline.name.clone()).collect();
            portable(store, *run, &places, names)
        })
        .collect()
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
            "run {id} has not ended: only whole runs can be exported\n  help: `cargo perfcheck runs` lists them"
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
    let verdicts = store.verdicts(id)?;
    let accepted = store.accepted_steps(id)?;
    for reference in verdicts.iter().filter_map(|verdict| verdict.reference) {
        references.entry(reference).or_insert_with(|| {
            // It may have been deleted since.
            let found = store.run(reference).ok();
            found.map(|run| PortableReference {
                started: run.started,
                seed: run.seed,
                side: run.pair.map(|pair| pair.side),
            })
        });
    }
    Ok(PortableRun {
        head: PortableHead {
            begun: NewRun {
                started: run.started,
                git: run.git,
                environment: run.environment,
                load: run.load,
                seed: run.seed,
                decision: run.decision,
                tool_version: run.tool_version,
            },
            finished,
            acceptance: run.acceptance,
            exit_code,
            pair,
            plan: run.plan,
            source: run.source,
            baselines,
        },
        launches: store.launch_records(id)?,
        verdicts: (verdicts.into_iter())
            .map(|found| PortableVerdict {
                verdict: found.verdict,
                typical_ns: found.typical_ns,
                change: found.change,
                reference: (found.reference).and_then(|run| references.get(&run).copied()?),
                accepted: accepted.contains(&found.key),
                benchmark: found.key,
            })
            .collect(),
    })
}

/// The run that a verdict is against.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) enum ReferencePlace {
    /// It is in the store.
    Stored(RunId),
    /// It is taken over together with this one, as the run of this place.
    Together(usize),
    /// It is in neither.
    Nowhere,
}

/// A run as the store takes it. `reference` finds the runs that its verdicts are against.
pub(in crate::app) fn transferred(
    run: PortableRun,
    baselines: Vec<String>,
    mut reference: impl FnMut(PortableReference) -> Result<ReferencePlace, AppError>,
) -> Result<TransferredRun, AppError> {
    let head = run.head;
    let mut verdicts = Vec::new();
    let mut against = Vec::new();
    let accepted = run.verdicts.iter().filter(|found| found.accepted);
    let accepted = accepted.map(|found| found.benchmark.clone()).collect();
    for (place, found) in run.verdicts.into_iter().enumerate() {
        let named = match found.reference {
            Some(named) => reference(named)?,
            None => ReferencePlace::Nowhere,
        };
        if let ReferencePlace::Together(run) = named {
            against.push((place, run));
        }
        verdicts.push(RunVerdict {
            key: found.benchmark,
            verdict: found.verdict,
            typical_ns: found.typical_ns,
            change: found.change,
            reference: match named {
                ReferencePlace::Stored(run) => Some(run),
                ReferencePlace::Together(_) | ReferencePlace::Nowhere => None,
            },
        });
    }
    Ok(TransferredRun {
        head: head.begun,
        source: head.source,
        pair: head.pair.map(|pair| TransferredPair {
            partner: pair.partner,
            side: pair.side,
            purpose: pair.purpose,
            plan: head.plan.unwrap_or_default(),
        }),
        launches: run.launches,
        against,
        end: RunEnd {
            conclusion: None,
            finished: head.finished,
            acceptance: head.acceptance,
            exit_code: head.exit_code,
            verdicts,
        },
        accepted,
        baselines,
    })
}
