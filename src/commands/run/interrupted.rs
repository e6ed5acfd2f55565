//! Reports the verdicts that an interrupted side-by-side measurement has reached.

use crate::delivery::reports::write_findings;
use crate::error::AppError;
use crate::pipeline::paired::BegunPair;
use crate::session::World;
use crate::stored::conclusions::read_findings;
use perfcheck_analysis::compare::Note;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Row;
use perfcheck_analysis::model::{ProgressReporter, Verdict};
use perfcheck_store::Store;

/// Writes the verdicts from the rounds so far, and returns the error that ends the command. `planned` is the number of benchmarks; `left` describes
/// the state that the interrupt leaves.
pub(super) fn publish_decided(
    interrupted: &BegunPair<'_>,
    planned: usize,
    left: &str,
    store: &Store,
    world: &mut World<'_>,
) -> Result<AppError, AppError> {
    let nothing = || AppError::Interrupted(left.to_owned());
    let request = interrupted.measurement.request;
    let (context, common) = (request.context, request.common);
    let run = interrupted.runs.candidate;
    let head = store.run(run)?;
    let measured = store.measurements(run, None)?;
    let mut findings = read_findings(
        context,
        store,
        &head,
        &measured,
        &ProgressReporter::silent(),
    )?;
    findings.rows.retain(is_decided);
    let decided = findings.rows.len();
    if decided == 0 {
        return Ok(nothing());
    }
    common.output.order().sort(&mut findings.rows);
    findings.exit_code = ExitCode::Interrupted.number();
    write_findings(&findings, common, world)?;
    Ok(AppError::Interrupted(format!(
        " with {decided} of {planned} benchmarks decided{left}"
    )))
}

/// Reports whether more rounds would not change the verdict.
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
