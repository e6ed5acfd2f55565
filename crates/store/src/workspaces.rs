//! Workspaces, which own benchmarks, runs and baselines. Two workspaces can be merged, for example after a project has moved or got an id. A baseline
//! is a name for a run.

use rusqlite::params;

use super::encoding::RowCount;
use super::error::{Attempt, Fault};
use super::sql::{Durability, Sql};
use super::{Store, StoreError};
use perfcheck_analysis::model::RunId;

/// Row id of a workspace in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceId(pub(super) i64);

/// A workspace and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSummary {
    /// Row id.
    pub id: WorkspaceId,
    /// Key, unique in the store.
    pub key: String,
    /// Name shown to users: the path where the workspace was last used.
    pub label: String,
    /// Number of runs.
    pub runs: usize,
}

impl Store {
    /// Returns the workspace with this key, and creates it if it does not exist. The label replaces an older one.
    pub fn ensure_workspace(&mut self, key: &str, label: &str) -> Result<WorkspaceId, StoreError> {
        let known = self.read(|sql| {
            sql.first(
                "SELECT id FROM workspaces WHERE key = ?1 AND label = ?2",
                params![key, label],
                |row| row.get(0).map(WorkspaceId),
            )
        })?;
        if let Some(workspace) = known {
            return Ok(workspace);
        }
        self.write(Durability::Kill, |sql| {
            sql.one(
                "INSERT INTO workspaces (key, label) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET label = excluded.label RETURNING id",
                params![key, label],
                |row| row.get(0).map(WorkspaceId),
            )
        })
    }

    /// Returns the workspace with this key, if it exists.
    pub fn find_workspace(&self, key: &str) -> Result<Option<WorkspaceId>, StoreError> {
        self.read(|sql| {
            sql.first(
                "SELECT id FROM workspaces WHERE key = ?1",
                params![key],
                |row| row.get(0).map(WorkspaceId),
            )
        })
    }

    /// Returns all workspaces, sorted by key.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceSummary>, StoreError> {
        self.read(|sql| {
            sql.all(
                "SELECT id, key, label, (SELECT count(*) FROM runs WHERE workspace = workspaces.id)
                 FROM workspaces ORDER BY key",
                &[],
                |row| {
                    Ok(WorkspaceSummary {
                        id: WorkspaceId(row.get(0)?),
                        key: row.get(1)?,
                        label: row.get(2)?,
                        runs: row.get::<RowCount>(3)?.0,
                    })
                },
            )
        })
    }
}

/// The rows that [`Store::adopt`] moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AdoptionSummary {
    /// Number of runs that were moved.
    pub runs: usize,
    /// Number of baselines that were moved.
    pub baselines: usize,
    /// Number of benchmarks that both workspaces had, whose histories are now merged.
    pub merged_benchmarks: usize,
}

impl Store {
    /// Moves all runs, benchmarks and baselines of `from` into `into`, and removes `from`.
    ///
    /// Benchmarks of the same package, target and id are merged. If both workspaces have a baseline of the same name,
    /// it is an error and nothing is moved. Runs keep their numbers.
    pub fn adopt(
        &mut self,
        from: WorkspaceId,
        into: WorkspaceId,
    ) -> Result<AdoptionSummary, StoreError> {
        if from == into {
            return Ok(AdoptionSummary::default());
        }
        self.write(Durability::PowerLoss, |sql| {
            let names = clashing_baselines(sql, from, into)?;
            if !names.is_empty() {
                return Err(StoreError::NameClash(names).into());
            }
            let moved = |table: &str| {
                sql.run(
                    &format!("UPDATE {table} SET workspace = ?2 WHERE workspace = ?1"),
                    params![from.0, into.0],
                )
            };
            let merged_benchmarks = merge_benchmarks(sql, from, into)?;
            moved("benchmarks")?;
            let adopted = AdoptionSummary {
                runs: moved("runs")?,
                baselines: moved("baselines")?,
                merged_benchmarks,
            };
            sql.run("DELETE FROM workspaces WHERE id = ?1", params![from.0])?;
            Ok(adopted)
        })
    }
}

fn clashing_baselines(sql: Sql<'_>, from: WorkspaceId, into: WorkspaceId) -> Attempt<Vec<String>> {
    sql.all(
        "SELECT name FROM baselines WHERE workspace = ?1
         INTERSECT SELECT name FROM baselines WHERE workspace = ?2 ORDER BY 1",
        params![from.0, into.0],
        |row| row.get(0),
    )
}

/// Merges the benchmarks that exist in both workspaces: their runs move from the benchmark of `from` to the benchmark of `into`. Returns how many
/// benchmarks were merged.
fn merge_benchmarks(sql: Sql<'_>, from: WorkspaceId, into: WorkspaceId) -> Attempt<usize> {
    let pairs: Vec<(i64, i64)> = sql.all(
        "SELECT ours.id, theirs.id FROM benchmarks ours
         JOIN benchmarks theirs USING (package, target, name)
         WHERE ours.workspace = ?1 AND theirs.workspace = ?2",
        params![from.0, into.0],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (old, kept) in &pairs {
        // Add the counts here, because the triggers count only inserted and deleted rows, and these rows are updated.
        sql.run(
            "UPDATE benchmarks SET runs = runs + (SELECT runs FROM benchmarks WHERE id = ?1) WHERE id = ?2",
            params![old, kept],
        )?;
        for table in ["run_benchmarks", "unmeasured"] {
            sql.run(
                &format!("UPDATE {table} SET benchmark = ?2 WHERE benchmark = ?1"),
                params![old, kept],
            )?;
        }
        sql.run("DELETE FROM benchmarks WHERE id = ?1", params![old])?;
    }
    Ok(pairs.len())
}

/// A name for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The name, unique in its workspace.
    pub name: String,
    /// The run.
    pub run: RunId,
}

/// The largest length of a baseline's name, in bytes. It is limited because names are shown in tables.
const LONGEST_NAME: usize = 100;

/// Rejects names that are not valid for a baseline. Numbers, `latest` and `@commit` are not valid, because they already denote runs. A name must not
/// begin with a dash, because options do.
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
        "a number means the run with that number"
    } else if name.parse::<RunId>().is_ok() {
        "it means the reference side of a run"
    } else if name.starts_with('@') {
        "`@` means a commit"
    } else if name.starts_with('-') {
        "a leading `-` means an option"
    } else if !name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte))
    {
        "it contains a character other than letters, digits, `.`, `_`, `/` and `-`"
    } else {
        return Ok(());
    };
    Err(StoreError::BadName {
        name: name.to_owned(),
        reason,
    })
}

impl Store {
    /// Lists the baselines of a workspace, sorted by name.
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

    /// Renames a baseline. The new name must not be in use.
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
