//! Names of runs, and conditions for naming a run.

use crate::error::AppError;
use crate::session::NamedRun;
use perfcheck_analysis::model::{RunId, RunStatus};
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// Gives a run a name and reports it. Moves the name if another run has it.
pub(crate) fn give_name(
    store: &mut Store,
    workspace: WorkspaceId,
    name: &str,
    run: RunId,
) -> Result<String, StoreError> {
    Ok(match store.set_baseline(workspace, name, run)? {
        Some(before) if before != run => {
            format!("Baseline `{name}` is now run {run}; it was run {before}.")
        }
        _ => format!("Baseline `{name}` is run {run}."),
    })
}

/// Refuses an interrupted run: later runs would be compared with only a part of the suite.
pub(crate) fn refuse_incomplete(store: &Store, run: RunId) -> Result<(), AppError> {
    if store.run(run)?.status == RunStatus::Incomplete {
        return Err(AppError::Usage(format!(
            "run {run} is incomplete and cannot be a reference\n  help: `cargo perfcheck` measures a complete run; `cargo perfcheck store runs` lists the stored runs"
        )));
    }
    Ok(())
}

/// Explains that a name stays with the run that it named. `place` has the flags that lead commands to the store.
///
/// A run that was compared with this name and is worse does not get it: otherwise the next run would be compared with the slower one, which would
/// disable the gate.
pub(crate) fn explain_kept_name(named: &NamedRun, run: RunId, place: &str) -> String {
    let NamedRun { run: before, name } = named;
    format!(
        "Baseline `{name}` is still run {before}. If the change is intended: cargo perfcheck baseline save {name} {run}{place}"
    )
}
