//! Removes runs: lists their sizes and dependents, deletes them, and returns the space to the system.
//!
//! Runs are removed in one transaction, with all rows that only they refer to. The file is shrunk afterwards; a kill
//! in between leaves an intact store with unused space.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rusqlite::params;

use super::access::Durability;
use super::columns::{RowCount, Unsigned, WordColumn};
use super::error::Attempt;
use super::expiry::RunProcesses;
use super::open::{Database, StoreFile};
use super::sql::{AT_ONCE, Sql, join_numbers};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{Acceptance, RunId, RunStatus, Timestamp};

/// A run as seen by a policy for pruning.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Run number.
    pub run: RunId,
    /// Start of the run.
    pub started: Timestamp,
    /// Whether it is complete.
    pub status: RunStatus,
    /// Whether it may be a reference.
    pub acceptance: Acceptance,
    /// Branch.
    pub branch: Option<String>,
    /// Commit.
    pub commit: Option<String>,
    /// The other side of a side-by-side measurement. Both are kept or removed together.
    pub partner: Option<RunId>,
    /// Number of benchmarks measured.
    pub benchmarks: usize,
    /// Baselines that name it. A run with a baseline is not removed.
    pub baselines: Vec<String>,
    /// Size of its samples in the file, in bytes.
    pub bytes: u64,
}

/// The result of a removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedRuns {
    /// The removed runs, including partners.
    pub removed: Vec<RunId>,
    /// Runs that were kept because a baseline names them or their partner.
    pub skipped: Vec<RunId>,
}

impl Store {
    /// Returns all runs of a workspace with their sizes, newest first. Reads the whole history.
    pub fn stored_runs(&self, workspace: WorkspaceId) -> Result<Vec<StoredRun>, StoreError> {
        let mut bytes = BTreeMap::new();
        let names = self.baselines(workspace)?;
        for of_month in self.runs_by_month(workspace, None)? {
            for some in of_month.chunks(AT_ONCE) {
                self.read(|sql| add_bytes(sql, some, &mut bytes))?;
            }
        }
        self.read(|sql| {
            sql.all(
                "SELECT r.id, r.started, r.status, r.acceptance, r.git_branch, r.git_commit, r.partner,
                        (SELECT count(*) FROM run_benchmarks WHERE run = r.id)
                 FROM runs r WHERE r.workspace = ?1 ORDER BY abs(r.id) DESC, r.id DESC",
                params![workspace.0],
                |row| {
                    let run = RunId(row.get(0)?);
                    let of_run = names.iter().filter(|name| name.run == run);
                    Ok(StoredRun {
                        run,
                        started: Timestamp(row.get(1)?),
                        status: row.get::<WordColumn<_>>(2)?.0,
                        acceptance: row.get::<WordColumn<_>>(3)?.0,
                        branch: row.get(4)?,
                        commit: row.get(5)?,
                        partner: row.get::<Option<_>>(6)?.map(RunId),
                        benchmarks: row.get::<RowCount>(7)?.0,
                        baselines: of_run.map(|name| name.name.clone()).collect(),
                        bytes: bytes.get(&run).copied().unwrap_or(0),
                    })
                },
            )
        })
    }

    /// Removes runs of a workspace with all their measurements, in one transaction. Both sides of a side-by-side
    /// measurement are removed together. Runs with a baseline are kept.
    pub fn remove_runs(
        &mut self,
        workspace: WorkspaceId,
        runs: &[RunId],
    ) -> Result<RemovedRuns, StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            let mut wanted = BTreeSet::new();
            for run in runs {
                let partner: Option<RunId> = sql
                    .first(
                        "SELECT partner FROM runs WHERE id = ?1 AND workspace = ?2",
                        params![run.0, workspace.0],
                        |row| Ok(row.get::<Option<_>>(0)?.map(RunId)),
                    )?
                    .ok_or(StoreError::NoSuchRun(*run))?;
                wanted.extend([Some(*run), partner].into_iter().flatten());
            }
            let mut outcome = RemovedRuns::default();
            for run in wanted {
                let is_named = sql.exists(
                    "SELECT 1 FROM baselines b JOIN runs r ON r.id = ?1 WHERE b.run IN (r.id, r.partner)",
                    params![run.0],
                )?;
                if is_named {
                    outcome.skipped.push(run);
                } else {
                    // The run may be gone already, deleted together with its partner.
                    sql.run("DELETE FROM runs WHERE id = ?1", params![run.0])?;
                    outcome.removed.push(run);
                }
            }
            delete_unreferenced(sql)?;
            Ok(outcome)
        })
    }

    /// Shrinks the file to the size of its content. Needs space for a copy meanwhile. If this fails or is killed, the
    /// store is intact, and later runs use the free space.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.database.file() else {
            // A database server reclaims space by itself.
            return Ok(());
        };
        let attempt = || -> Attempt<()> {
            file.connection.pragma_update(None, "synchronous", "FULL")?;
            file.connection.execute_batch("VACUUM")?;
            // In WAL mode the shrunk file is in the log; readers may delay copying it back.
            file.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        };
        attempt().map_err(|fault| {
            let error = fault.into_error(file.path(), file.busy_timeout);
            // SQLite reports a failed read as corruption. If everything can be read now, the file is not damaged.
            let is_damage = matches!(error, StoreError::Corrupt { .. });
            if is_damage && file.passes_quick_check() {
                return StoreError::Io {
                    path: file.path().to_owned(),
                    action: "read",
                    source: io::Error::other("a read failed that works now"),
                };
            }
            error
        })
    }

    /// Returns the size of the database and its log in bytes.
    pub fn bytes(&self) -> Result<u64, StoreError> {
        match &self.database {
            Database::File(file) => Ok(file.bytes()),
            #[cfg(feature = "postgres")]
            Database::Server(_) => self.read(|sql| {
                let Unsigned(bytes) = sql.one(
                    "SELECT CAST(sum(pg_total_relation_size(c.oid)) AS BIGINT)
                     FROM pg_class c WHERE c.relnamespace = 'perfcheck'::regnamespace AND c.relkind = 'r'",
                    &[],
                    |row| row.get(0),
                )?;
                Ok(bytes)
            }),
        }
    }
}

impl StoreFile {
    /// Reports whether SQLite's quick check finds no errors.
    fn passes_quick_check(&self) -> bool {
        let found =
            (self.connection).query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        found.is_ok_and(|found| found == "ok")
    }

    fn bytes(&self) -> u64 {
        let log = {
            let mut log = self.path().as_os_str().to_owned();
            log.push("-wal");
            log
        };
        [self.path().as_os_str(), &log]
            .into_iter()
            .filter_map(|path| std::fs::metadata(path).ok())
            .map(|metadata| metadata.len())
            .sum()
    }
}

/// Adds the sizes of the samples of runs. The row ids of their processes should be close together.
fn add_bytes(sql: Sql<'_>, runs: &[RunProcesses], bytes: &mut BTreeMap<RunId, u64>) -> Attempt<()> {
    let first = runs.iter().map(|run| run.first).min().unwrap_or(0);
    let last = runs.iter().map(|run| run.last).max().unwrap_or(0);
    let query = format!(
        "SELECT l.run, CAST(sum(length(s.samples) + coalesce(length(s.allocations), 0) + coalesce(length(s.latencies), 0)) AS BIGINT)
         FROM launches l JOIN series s ON s.launch = l.id
         WHERE l.run IN ({}) AND s.launch BETWEEN {first} AND {last} GROUP BY l.run",
        join_numbers(runs.iter().map(|run| run.run.0))
    );
    sql.each(&query, &[], |row| {
        bytes.insert(RunId(row.get(0)?), row.get::<Unsigned>(1)?.0);
        Ok(())
    })
}

/// Deletes shared rows to which no run refers any more.
fn delete_unreferenced(sql: Sql<'_>) -> Attempt<()> {
    for statement in [
        "DELETE FROM benchmarks WHERE runs = 0
             AND id NOT IN (SELECT benchmark FROM run_benchmarks)
             AND id NOT IN (SELECT benchmark FROM unmeasured)",
        "DELETE FROM conditions WHERE id NOT IN (SELECT conditions FROM run_benchmarks)",
        "DELETE FROM environments WHERE id NOT IN (SELECT environment FROM runs)",
    ] {
        sql.run(statement, &[])?;
    }
    Ok(())
}
