//! Names of runs.

use perfcheck_analysis::model::RunId;
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
