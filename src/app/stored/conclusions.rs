//! Stored conclusions: written at the end of a run, read by every command that reports on the run later.

use std::collections::BTreeMap;

use crate::app::context::Context;
use crate::app::error::AppError;
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::findings::{
    Conclusion, Evidence, Findings, RoundsEvidence, Row, Verdicts, summarize_all,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Measurement, Run, RunId, RunVerdict, Side, Work,
};
use perfcheck_engine::store::{Store, StoreError};

/// Reads the conclusion of `run`; `None` if the run has not ended, or another program measured it.
pub(in crate::app) fn conclusion_of(
    store: &Store,
    run: RunId,
) -> Result<Option<Conclusion<'static>>, AppError> {
    let Some(bytes) = store.conclusion(run)? else {
        return Ok(None);
    };
    match Conclusion::from_bytes(&bytes) {
        Ok(concluded) => Ok(Some(concluded)),
        Err(error) => Err(AppError::ForeignConclusion {
            run,
            reason: error.0,
        }),
    }
}

/// Combines the conclusion of a stored run with its measurements, by key.
pub(in crate::app) fn findings_of<'m>(
    context: &Context,
    store: &Store,
    run: &'m Run,
    measured: &'m [Measurement],
    told: &Work<'_>,
) -> Result<Findings<'m>, AppError> {
    if let Some(concluded) = conclusion_of(store, run.id)? {
        return Ok(Findings::of(
            run,
            concluded.with_measurements(measured, run, told),
        ));
    }
    let (rows, verdicts) = match judged_again(context, store, run, measured)? {
        Some((rows, verdicts)) => (rows, Some(verdicts)),
        None => (rows_of_columns(store, run, measured, told)?, None),
    };
    Ok(Findings {
        run,
        rows,
        verdicts,
        failed_targets: Vec::new(),
        exit_code: 0,
    })
}

/// Reads the plan of a run that was measured side by side.
pub(in crate::app) fn plan_of(run: &Run) -> Option<Plan> {
    serde_json::from_str(run.plan.as_deref()?).ok()
}

/// Judges the candidate of an interrupted pair, which has no stored conclusion, from its plan and the rounds so far.
fn judged_again<'m>(
    context: &Context,
    store: &Store,
    run: &Run,
    measured: &'m [Measurement],
) -> Result<Option<(Vec<Row<'m>>, Verdicts)>, AppError> {
    let pair = run.pair.filter(|pair| pair.side == Side::Candidate);
    let (Some(pair), Some(plan)) = (pair, plan_of(run)) else {
        return Ok(None);
    };
    let base = store.measurements(pair.partner, None)?;
    let settled = unmeasured(store, run, measured)?;
    let evidence = Evidence::Paired(RoundsEvidence {
        runs: BySide {
            base: pair.partner,
            candidate: run.id,
        },
        earlier: &earlier_of(store, run)?,
        base: &base,
        candidate: measured,
        plan: &plan,
        decision: &run.begun.decision,
        noise_threshold: None,
        settled: &settled,
        cost: None,
        reference: &format!("run {}", pair.partner),
        host: context.host_class(&run.begun.environment),
    });
    let rows = evidence.rows(&Work::silent());
    let verdicts = evidence.basis(&rows);
    Ok(Some((rows, verdicts)))
}

/// Returns the reference run of each verdict, if the run was measured side by side with an earlier build.
pub(in crate::app) fn earlier_of(
    store: &Store,
    run: &Run,
) -> Result<BTreeMap<BenchmarkKey, RunId>, StoreError> {
    let verdicts = store.verdicts(run.id)?.into_iter();
    Ok(verdicts
        .filter_map(|known| Some((known.key, known.reference?)))
        .collect())
}

/// Returns rows for verdicts on benchmarks that the run did not measure, from the columns of the store.
pub(in crate::app) fn unmeasured(
    store: &Store,
    run: &Run,
    measured: &[Measurement],
) -> Result<Vec<Row<'static>>, AppError> {
    let is_measured = |known: &RunVerdict| {
        let mut measured = measured.iter();
        measured.any(|found| found.benchmark.key == known.key)
    };
    let verdicts = store.verdicts(run.id)?.into_iter();
    Ok(verdicts
        .filter(|known| !is_measured(known))
        .map(|known| Row::unmeasured(known.key, known.verdict, known.reference))
        .collect())
}

/// Builds the rows of a run from the columns of the store alone, if it has no readable conclusion.
fn rows_of_columns<'m>(
    store: &Store,
    run: &Run,
    measured: &'m [Measurement],
    told: &Work<'_>,
) -> Result<Vec<Row<'m>>, AppError> {
    let known: BTreeMap<_, _> = store
        .verdicts(run.id)?
        .into_iter()
        .map(|known| (known.key.clone(), known))
        .collect();
    let summaries = summarize_all(measured, &run.begun.decision, run.begun.seed, told);
    let mut rows: Vec<Row<'m>> = measured
        .iter()
        .zip(summaries)
        .map(|(measurement, summary)| {
            let known = known.get(&measurement.benchmark.key);
            Row {
                reference: known
                    .and_then(|known| known.reference)
                    .into_iter()
                    .map(Some)
                    .collect(),
                ..Row::described(measurement, summary)
            }
        })
        .collect();
    rows.extend(unmeasured(store, run, measured)?);
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(rows)
}
