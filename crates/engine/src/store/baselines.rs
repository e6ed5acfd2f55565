//! Baselines: names for runs.

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::access::Survives;
use super::error::{Attempt, Fault};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::RunId;

/// A name for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The name, unique in its workspace.
    pub name: String,
    /// The run.
    pub run: RunId,
}

/// Bytes of a baseline's name: it stands in tables.
const LONGEST_NAME: usize = 100;

/// Refuses what cannot name a baseline: a run is also named by its number, by `latest` or by `@commit`, and options
/// begin with a dash.
pub fn check_baseline_name(name: &str) -> Result<(), StoreError> {
    let reason = if name.is_empty() {
        "it is empty"
    } else if name == "latest" {
        "it means the newest run"
    } else if name == "HEAD" {
        "it means a commit"
    } else if name
        .split('/')
        .any(|part| part.is_empty() || part.starts_with('.'))
    {
        "a part of it is empty or begins with `.`"
    } else if name.len() > LONGEST_NAME {
        "it is longer than 100 characters"
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        "a number means the run of that number"
    } else if name.starts_with('@') {
        "`@` means a commit"
    } else if name.starts_with('-') {
        "a leading `-` means an option"
    } else if !name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte))
    {
        "it has a character other than letters, digits, `.`, `_`, `/` and `-`"
    } else {
        return Ok(());
    };
    Err(StoreError::BadName {
        name: name.to_owned(),
        reason,
    })
}

impl Store {
    /// The baselines of a workspace, by name.
    pub fn baselines(&self, workspace: WorkspaceId) -> Result<Vec<Baseline>, StoreError> {
        self.read(|connection| list(connection, workspace))
    }

    /// The run that a baseline names, if there is one of this name.
    pub fn baseline(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<RunId>, StoreError> {
        self.read(|connection| find(connection, workspace, name))
    }

    /// Lets `name` name a run of this workspace. Tells which run it named before.
    pub fn set_baseline(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        run: RunId,
    ) -> Result<Option<RunId>, StoreError> {
        check_baseline_name(name)?;
        self.write(Survives::PowerLoss, |connection| {
            let is_ours = connection
                .prepare("SELECT 1 FROM runs WHERE id = ?1 AND workspace = ?2")?
                .exists(params![run.0, workspace.0])?;
            if !is_ours {
                return Err(StoreError::NoSuchRun { run }.into());
            }
            name_run(connection, workspace, name, run)
        })
    }

    /// Gives a baseline another name, which must be free.
    pub fn rename_baseline(
        &mut self,
        workspace: WorkspaceId,
        from: &str,
        to: &str,
    ) -> Result<(), StoreError> {
        check_baseline_name(to)?;
        self.write(Survives::PowerLoss, |connection| {
            let renamed = connection.execute(
                "UPDATE baselines SET name = ?3 WHERE workspace = ?1 AND name = ?2",
                params![workspace.0, from, to],
            );
            match renamed {
                Ok(0) => Err(no_such(connection, workspace, from)?),
                Ok(_) => Ok(()),
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Err(StoreError::BaselineExists {
                        name: to.to_owned(),
                    }
                    .into())
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    /// Forgets a name. The run stays. Tells which run it named.
    pub fn remove_baseline(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<RunId, StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            let removed = connection
                .query_row(
                    "DELETE FROM baselines WHERE workspace = ?1 AND name = ?2 RETURNING run",
                    params![workspace.0, name],
                    |row| row.get(0).map(RunId),
                )
                .optional()?;
            match removed {
                Some(run) => Ok(run),
                None => Err(no_such(connection, workspace, name)?),
            }
        })
    }
}

fn list(connection: &Connection, workspace: WorkspaceId) -> Attempt<Vec<Baseline>> {
    let mut statement =
        connection.prepare("SELECT name, run FROM baselines WHERE workspace = ?1 ORDER BY name")?;
    let baselines = statement.query_map([workspace.0], |row| {
        Ok(Baseline {
            name: row.get(0)?,
            run: RunId(row.get(1)?),
        })
    })?;
    Ok(baselines.collect::<Result<_, _>>()?)
}

/// Lets a name that was checked name a run of this workspace. Tells which run it named before.
pub(super) fn name_run(
    connection: &Connection,
    workspace: WorkspaceId,
    name: &str,
    run: RunId,
) -> Attempt<Option<RunId>> {
    let before = find(connection, workspace, name)?;
    connection.execute(
        "INSERT INTO baselines (workspace, name, run) VALUES (?1, ?2, ?3)
         ON CONFLICT (workspace, name) DO UPDATE SET run = excluded.run",
        params![workspace.0, name, run.0],
    )?;
    Ok(before)
}

fn find(connection: &Connection, workspace: WorkspaceId, name: &str) -> Attempt<Option<RunId>> {
    Ok(connection
        .query_row(
            "SELECT run FROM baselines WHERE workspace = ?1 AND name = ?2",
            params![workspace.0, name],
            |row| row.get(0).map(RunId),
        )
        .optional()?)
}

fn no_such(connection: &Connection, workspace: WorkspaceId, name: &str) -> Attempt<Fault> {
    let existing = list(connection, workspace)?;
    Ok(Fault::Store(StoreError::NoSuchBaseline {
        name: name.to_owned(),
        existing: existing.into_iter().map(|baseline| baseline.name).collect(),
    }))
}
