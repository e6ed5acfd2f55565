//! Tells what an interrupted measurement of two builds has decided.

use crate::app::context::World;
use crate::app::deliver::write::write;
use crate::app::error::AppError;
use crate::app::measuring::in_turn::InTurn;
use crate::app::stored::conclusions::findings_of;
use perfcheck_analysis::compare::Note;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Row;
use perfcheck_analysis::model::{Verdict, Work};
use perfcheck_engine::store::Store;

/// Writes the verdicts that the rounds so far have given, and returns the error with which the command ends. So many benchmarks were
/// `planned`; `left` says what is left behind.
pub(super) fn tell_decided(
    interrupted: &InTurn<'_>,
    planned: usize,
    left: &str,
    store: &Store,
    world: &mut World<'_>,
) -> Result<AppError, AppError> {
    let nothing = || AppError::Interrupted(left.to_owned());
    let Some(runs) = interrupted.begun else {
        return Ok(nothing());
    };
    let (context, common) = (interrupted.request.context, interrupted.request.common);
    let head = store.run(runs.candidate)?;
    let measured = store.measurements(runs.candidate, None)?;
    let mut findings = findings_of(context, store, &head, &measured, &Work::silent())?;
    findings.rows.retain(is_decided);
    let decided = findings.rows.len();
    if decided == 0 {
        return Ok(nothing());
    }
    common.output.order().sort(&mut findings.rows);
    findings.exit_code = ExitCode::Interrupted.number();
    write(&findings, common, world)?;
    Ok(AppError::Interrupted(format!(
        " with {decided} of {planned} benchmarks decided{left}"
    )))
}

/// Whether more rounds would not change the verdict.
fn is_decided(row: &Row<'_>) -> bool {
    let notes = row.comparison.iter().flat_map(|found| &found.notes);
    let mut unsearched = notes.filter(|note| matches!(note, Note::SlowPathsNotSearched { .. }));
    match row.verdict {
        Some(Verdict::Unchanged) => unsearched.next().is_none(),
        None | Some(Verdict::Inconclusive) => false,
        Some(Verdict::Failed) => row
            .measurement
            .is_some_and(|found| !found.failures.is_empty()),
        Some(_) => true,
    }
}
