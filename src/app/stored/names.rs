//! Names of runs, and which runs can have one.

use crate::app::error::AppError;
use perfcheck_analysis::model::{RunId, RunStatus};
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// Gives a run a name, and says so: a name that another run had has moved.
pub(in crate::app) fn give_name(
    store: &mut Store,
    workspace: WorkspaceId,
    name: &str,
    run: RunId,
) -> Result<String, StoreError> {
    Ok(match store.set_baseline(workspace, name, run)? {
        Some(before) if before != run => {
            format!("Baseline `{name}` was run {before}, is run {run} now.")
        }
        _ => format!("Baseline `{name}` is run {run}."),
    })
}

/// Refuses a run that was interrupted: later runs would be compared with a part of it.
pub(in crate::app) fn refuse_incomplete(store: &Store, run: RunId) -> Result<(), AppError> {
    if store.run(run)?.status == RunStatus::Incomplete {
        return Err(AppError::Usage(format!(
            "run {run} is incomplete and cannot be a reference\n  help: `cargo perfcheck` measures a whole run; `cargo perfcheck store runs` lists the others"
        )));
    }
    Ok(())
}
