//! What looks slower than a stored run is measured again, in turn with that run's executables or a new build of its commit.
//! Only what that confirms is a regression.

use std::collections::{BTreeMap, BTreeSet};

use super::in_turn::{InTurn, finish, pair_left_incomplete};
use super::measured::MeasuredInTurn;
use super::pairing::Pairing;
use super::request::Request;
use super::rerun::RunAgain;
use super::trial::settle_by_trial;
use crate::app::context::World;
use crate::app::error::AppError;
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Row, SecondLook, Terms, conclude};
use perfcheck_analysis::model::{BenchmarkKey, BySide, Purpose, RunId, Verdict};
use perfcheck_engine::measure::Discovered;
use perfcheck_engine::store::{Store, WorkspaceId};

/// Measures the rows that look slower again, and puts what comes of it in their place.
pub(in crate::app) fn confirm(
    rows: &mut [Row<'_>],
    request: &Request<'_>,
    store: &mut Store,
    workspace: WorkspaceId,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let mut hits: BTreeMap<RunId, BTreeSet<BenchmarkKey>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.looks_slower()) {
        if let Some(Some(reference)) = row.reference.first() {
            hits.entry(*reference).or_default().insert(row.key.clone());
        }
    }
    for (reference, keys) in hits {
        announce(reference, keys.len(), request, world)?;
        let again = match measure_again(reference, &keys, request, (store, workspace), world) {
            // What was measured stays; that it was not confirmed is all that is lost.
            Err(error) if error.exit_code() != ExitCode::Interrupted => Err(error.to_string()),
            other => other?,
        };
        let hit = rows.iter_mut().filter(|row| keys.contains(&row.key));
        match &again {
            Err(reason) => {
                hit.for_each(|row| row.look_again(reference, &SecondLook::Impossible(reason)));
            }
            Ok((measured, settled)) => {
                let rows = measured.rows(settled);
                let second = SecondLook::Measured {
                    runs: measured.runs,
                    rows: &rows,
                };
                hit.for_each(|row| row.look_again(reference, &second));
            }
        }
    }
    Ok(())
}

fn announce(
    reference: RunId,
    count: usize,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let which = match count {
        1 => "1 benchmark that looks".to_owned(),
        count => format!("{count} benchmarks that look"),
    };
    let what = format!("{which} slower than run {reference}, by measuring both in turn");
    request.announce("Confirming", what, world)
}

type ConfirmingRun = (MeasuredInTurn, Vec<Row<'static>>);

/// Measures `keys` again, in turn with the run `reference`; a text says why that cannot be.
fn measure_again(
    reference: RunId,
    keys: &BTreeSet<BenchmarkKey>,
    request: &Request<'_>,
    (store, workspace): (&mut Store, WorkspaceId),
    world: &mut World<'_>,
) -> Result<Result<ConfirmingRun, String>, AppError> {
    let head = store.run(reference)?;
    let again = RunAgain {
        head: &head,
        words: format!("run {reference}"),
        request,
    };
    let (built, found) = match again.sides(store, world)? {
        Ok(both) => both,
        Err(reason) => {
            return Ok(Err(reason.unwrap_or_else(|| {
                format!("run {reference} cannot be compared with the work tree any more")
            })));
        }
    };
    let only_hits = |mut found: Discovered| {
        for target in &mut found.targets {
            let benchmarks = &mut target.benchmarks;
            benchmarks.retain(|benchmark| keys.contains(&benchmark.key));
        }
        found
    };
    let found = BySide {
        base: only_hits(found.base),
        candidate: only_hits(found.candidate),
    };
    let mut pairing = Pairing::of(
        found,
        &built.alike,
        false,
        request.comparison.allows(Fact::BenchmarkVersion),
    );
    settle_by_trial(&mut pairing, &built.alike, request, world)?;
    let mut turns = InTurn::of(
        request,
        &built.environment,
        head.git.clone(),
        pairing.planned(),
        Purpose::Confirmation,
    );
    let as_built = built.relinking.prepare(&mut pairing.pairs, request.seed);
    let measured = turns.measure(store, workspace, pairing.pairs, world)?;
    let host = request.context.host_class(&built.environment);
    let left = pair_left_incomplete(&measured.runs);
    let concluded = (world.interrupt).while_computing(&left, || {
        let mut basis = measured.basis(built.words.clone(), host);
        basis.remarks.extend(as_built);
        conclude(
            measured.rows(&pairing.settled),
            basis,
            Terms::of_verdicts(&[Verdict::Regressed]),
        )
    });
    finish(store, &measured.runs, &concluded)?;
    drop(concluded);
    Ok(Ok((measured, pairing.settled)))
}
