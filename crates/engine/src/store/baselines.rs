//! Baselines: names for runs.

use rusqlite::params;

use super::access::Durability;
use super::error::{Attempt, Fault};
use super::sql::Sql;
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

/// Longest name in bytes, because names are shown in tables.
const LONGEST_NAME: usize = 100;

/// Rejects invalid names of a baseline. Numbers, `latest` and `@commit` already denote runs, and options begin with a
/// dash.
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
    } else if name.parse::<RunId>().is_ok() {
        "it means the base of the run of that number"
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
    /// Lists the baselines of a workspace, by name.
    pub fn baselines(&self, workspace: WorkspaceId) -> Result<Vec<Baseline>, StoreError> {
        self.read(|sql| list(sql, workspace))
    }

    /// Returns the run of a baseline, if the name exists.
    pub fn baseline(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<RunId>, StoreError> {
        self.read(|sql| find(sql, workspace, name))
    }

    /// Makes `name` denote a run of this workspace, and returns the run that it denoted before.
    pub fn set_baseline(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        run: RunId,
    ) -> Result<Option<RunId>, StoreError> {
        check_baseline_name(name)?;
        self.write(Durability::PowerLoss, |sql| {
            let is_ours = sql.exists(
                "SELECT 1 FROM runs WHERE id = ?1 AND workspace = ?2",
                params![run.0, workspace.0],
            )?;
            if !is_ours {
                return Err(StoreError::NoSuchRun(run).into());
            }
            name_run(sql, workspace, name, run)
        })
    }

    /// Renames a baseline; the new name must be free.
    pub fn rename_baseline(
        &mut self,
        workspace: WorkspaceId,
        from: &str,
        to: &str,
    ) -> Result<(), StoreError> {
        check_baseline_name(to)?;
        self.write(Durability::PowerLoss, |sql| {
            if from != to && find(sql, workspace, to)?.is_some() {
                return Err(StoreError::BaselineExists(to.to_owned()).into());
            }
            let renamed = sql.run(
                "UPDATE baselines SET name = ?3 WHERE workspace = ?1 AND name = ?2",
                params![workspace.0, from, to],
            )?;
            match renamed {
                0 => Err(no_such(sql, workspace, from)?),
                _ => Ok(()),
            }
        })
    }

    /// Removes a baseline, but not its run. Returns the run.
    pub fn remove_baseline(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<RunId, StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            let removed = sql.first(
                "DELETE FROM baselines WHERE workspace = ?1 AND name = ?2 RETURNING run",
                params![workspace.0, name],
                |row| row.get(0).map(RunId),
            )?;
            match removed {
                Some(run) => Ok(run),
                None => Err(no_such(sql, workspace, name)?),
            }
        })
    }
}

fn list(sql: Sql<'_>, workspace: WorkspaceId) -> Attempt<Vec<Baseline>> {
    sql.all(
        "SELECT name, run FROM baselines WHERE workspace = ?1 ORDER BY name",
        params![workspace.0],
        |row| {
            Ok(Baseline {
                name: row.get(0)?,
                run: RunId(row.get(1)?),
            })
        },
    )
}

/// Makes a valid name denote a run of this workspace, and returns the run that it denoted before.
pub(super) fn name_run(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    name: &str,
    run: RunId,
) -> Attempt<Option<RunId>> {
    let before = find(sql, workspace, name)?;
    sql.run(
        "INSERT INTO baselines (workspace, name, run) VALUES (?1, ?2, ?3)
         ON CONFLICT (workspace, name) DO UPDATE SET run = excluded.run",
        params![workspace.0, name, run.0],
    )?;
    Ok(before)
}

fn find(sql: Sql<'_>, workspace: WorkspaceId, name: &str) -> Attempt<Option<RunId>> {
    sql.first(
        "SELECT run FROM baselines WHERE workspace = ?1 AND name = ?2",
        params![workspace.0, name],
        |row| row.get(0).map(RunId),
    )
}

fn no_such(sql: Sql<'_>, workspace: WorkspaceId, name: &str) -> Attempt<Fault> {
    let existing = list(sql, workspace)?;
    Ok(Fault::Store(StoreError::NoSuchBaseline {
        name: name.to_owned(),
        existing: existing.into_iter().map(|baseline| baseline.name).collect(),
    }))
}
