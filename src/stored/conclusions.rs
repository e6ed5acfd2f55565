//! Reads stored conclusions. A run stores its conclusion at the end, and commands that report on the run later read it.

use std::collections::BTreeMap;

use crate::error::AppError;
use crate::session::Context;
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::findings::{
    ComparisonContext, Conclusion, Evidence, Findings, PairedEvidence, Row, summarize_all,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Measurement, ProgressReporter, Run, RunId, RunVerdict, Side,
};
use perfcheck_store::{Store, StoreError};

/// Reads the stored conclusion of `run`. Returns `None` if the run was interrupted or is still measuring, or if it was imported from another program.
pub(crate) fn read_conclusion(
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

/// Returns what a stored run found: its conclusion, combined with its measurements. An interrupted side-by-side measurement is judged by the rounds
/// that it stored.
pub(crate) fn read_findings<'m>(
    context: &Context,
    store: &Store,
    run: &'m Run,
    measured: &'m [Measurement],
    progress: &ProgressReporter<'_>,
) -> Result<Findings<'m>, AppError> {
    if let Some(concluded) = read_conclusion(store, run.id)? {
        return Ok(Findings::new(
            run,
            concluded.with_measurements(measured, run, progress),
        ));
    }
    let (rows, verdicts) = match judge_interrupted(context, store, run, measured)? {
        Some((rows, verdicts)) => (rows, Some(verdicts)),
        None => (rows_from_columns(store, run, measured, progress)?, None),
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
pub(crate) fn parse_plan(run: &Run) -> Option<Plan> {
    serde_json::from_str(run.plan.as_deref()?).ok()
}

/// Judges the candidate of an interrupted pair from its plan and the stored rounds, because it has no stored conclusion.
fn judge_interrupted<'m>(
    context: &Context,
    store: &Store,
    run: &Run,
    measured: &'m [Measurement],
) -> Result<Option<(Vec<Row<'m>>, ComparisonContext)>, AppError> {
    let pair = run.pair.filter(|pair| pair.side == Side::Candidate);
    let (Some(pair), Some(plan)) = (pair, parse_plan(run)) else {
        return Ok(None);
    };
    let base = store.measurements(pair.partner, None)?;
    let settled = unmeasured_rows(store, run, measured)?;
    let evidence = Evidence::Paired(PairedEvidence {
        runs: BySide {
            base: pair.partner,
            candidate: run.id,
        },
        earlier: &read_references(store, run)?,
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
    let rows = evidence.rows(&ProgressReporter::silent());
    let verdicts = evidence.basis(&rows);
    Ok(Some((rows, verdicts)))
}

/// Returns the reference run of each verdict that has one.
pub(crate) fn read_references(
    store: &Store,
    run: &Run,
) -> Result<BTreeMap<BenchmarkKey, RunId>, StoreError> {
    let verdicts = store.verdicts(run.id)?.into_iter();
    Ok(verdicts
        .filter_map(|known| Some((known.key, known.reference?)))
        .collect())
}

/// Returns a row for each benchmark that has a verdict in the store but was not measured by the run.
pub(crate) fn unmeasured_rows(
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

/// Builds the rows of a run without a conclusion from the verdicts in the store and the run's measurements.
fn rows_from_columns<'m>(
    store: &Store,
    run: &Run,
    measured: &'m [Measurement],
    progress: &ProgressReporter<'_>,
) -> Result<Vec<Row<'m>>, AppError> {
    let known: BTreeMap<_, _> = store
        .verdicts(run.id)?
        .into_iter()
        .map(|known| (known.key.clone(), known))
        .collect();
    let summaries = summarize_all(measured, &run.begun.decision, run.begun.seed, progress);
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
                ..Row::from_measurement(measurement, summary)
            }
        })
        .collect();
    rows.extend(unmeasured_rows(store, run, measured)?);
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(rows)
}
