//! Names of runs, and which runs can have one.

use crate::app::error::AppError;
use perfcheck_analysis::findings::Conclusion;
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

/// Gives a run of which this was concluded the name that the user wants; what to say of that. `place` leads commands to the store.
///
/// A run that was compared with that very name and found wanting does not get it: the next run would be
/// compared with the bad one, and the gate would have switched itself off.
pub(in crate::app) fn give_name_unless_worse(
    store: &mut Store,
    (workspace, run): (WorkspaceId, RunId),
    name: &str,
    concluded: &Conclusion<'_>,
    baseline: Option<&(RunId, String)>,
    place: &str,
) -> Result<String, StoreError> {
    match baseline {
        Some((before, compared_with)) if compared_with == name && !concluded.is_good() => {
            Ok(format!(
                "Baseline `{name}` is still run {before}. If the change is intended: cargo perfcheck baseline save {name} {run}{place}"
            ))
        }
        _ => give_name(store, workspace, name, run),
    }
}
