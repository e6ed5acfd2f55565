//! Imported runs: stored whole or not at all, in one transaction.

use rusqlite::{Connection, params};

use super::access::Survives;
use super::baselines::{check_baseline_name, name_run};
use super::columns::Json;
use super::error::Attempt;
use super::launches::insert_launch;
use super::runs::{end_run, insert_run};
use super::{LaunchRecord, NewRun, RunEnd, Store, StoreError, WorkspaceId};
use crate::model::{RunId, Source};

/// A run that another program measured.
#[derive(Debug, Clone)]
pub struct ImportedRun {
    /// Its head.
    pub head: NewRun,
    /// Where its numbers come from.
    pub source: Source,
    /// Its launches.
    pub launches: Vec<LaunchRecord>,
    /// Its end.
    pub end: RunEnd,
    /// The baseline that is to name it.
    pub baseline: Option<String>,
}

impl Store {
    /// Stores a run with everything that belongs to it. When this returns all of it survives a loss of power; if it fails, nothing is there.
    pub fn import_run(
        &mut self,
        workspace: WorkspaceId,
        run: &ImportedRun,
    ) -> Result<RunId, StoreError> {
        if let Some(name) = &run.baseline {
            check_baseline_name(name)?;
        }
        self.write(Survives::PowerLoss, |connection| {
            insert(connection, workspace, run)
        })
    }
}

fn insert(connection: &Connection, workspace: WorkspaceId, run: &ImportedRun) -> Attempt<RunId> {
    let id = insert_run(connection, workspace, &run.head)?;
    connection.execute(
        "UPDATE runs SET source = ?2 WHERE id = ?1",
        params![id, Json(&run.source)],
    )?;
    for launch in &run.launches {
        insert_launch(connection, workspace, id, launch)?;
    }
    end_run(connection, id, &run.end)?;
    if let Some(name) = &run.baseline {
        name_run(connection, workspace, name, id)?;
    }
    Ok(id)
}
