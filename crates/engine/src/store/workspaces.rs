//! Workspaces: the owners of benchmarks, runs and baselines.

use rusqlite::params;

use super::access::Durability;
use super::columns::RowCount;
use super::{Store, StoreError};

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

    /// Returns all workspaces, by key.
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
