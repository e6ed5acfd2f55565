//! Removing runs: what they take, what rests on them, and giving the space back.
//!
//! Runs go in one transaction, with everything that nothing else refers to. The file is made smaller after that: a kill in between leaves a
//! whole store with unused room in it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rusqlite::params;

use super::access::Survives;
use super::columns::{Count, Unsigned, WordColumn};
use super::error::Attempt;
use super::expiry::RunLaunches;
use super::open::{Database, StoreFile};
use super::sql::{AT_ONCE, Sql, numbered};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{Acceptance, RunId, RunStatus, Timestamp};

/// A run as a policy looks at it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Its number.
    pub run: RunId,
    /// When it began.
    pub started: Timestamp,
    /// How far it came.
    pub status: RunStatus,
    /// Whether it may be a reference.
    pub acceptance: Acceptance,
    /// The branch that it was measured on.
    pub branch: Option<String>,
    /// The commit.
    pub commit: Option<String>,
    /// The other side of an A/B measurement, which goes and stays with it.
    pub partner: Option<RunId>,
    /// How many benchmarks it launched.
    pub benchmarks: usize,
    /// The baselines that name it; then it stays.
    pub baselines: Vec<String>,
    /// Bytes that its samples take in the file.
    pub bytes: u64,
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedRuns {
    /// The runs that are gone, partners included.
    pub removed: Vec<RunId>,
    /// Runs that a baseline names, or the partner of which one does; they are still there.
    pub skipped: Vec<RunId>,
}

impl Store {
    /// All runs of a workspace with what they take, newest first. Reads the whole history.
    pub fn stored_runs(&self, workspace: WorkspaceId) -> Result<Vec<StoredRun>, StoreError> {
        let mut bytes = BTreeMap::new();
        let names = self.baselines(workspace)?;
        for of_month in self.by_month(workspace, None)? {
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
                        benchmarks: row.get::<Count>(7)?.0,
                        baselines: of_run.map(|name| name.name.clone()).collect(),
                        bytes: bytes.get(&run).copied().unwrap_or(0),
                    })
                },
            )
        })
    }

    /// Removes runs of a workspace with all that they measured, in one transaction; both sides of an A/B measurement go together. What a
    /// baseline names stays.
    pub fn remove_runs(
        &mut self,
        workspace: WorkspaceId,
        runs: &[RunId],
    ) -> Result<RemovedRuns, StoreError> {
        self.write(Survives::PowerLoss, |sql| {
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
                    // The partner may have taken it along.
                    sql.run("DELETE FROM runs WHERE id = ?1", params![run.0])?;
                    outcome.removed.push(run);
                }
            }
            forget_orphans(sql)?;
            Ok(outcome)
        })
    }

    /// Makes the file as small as what is in it. Needs room for a copy meanwhile; where it fails or is killed the store is whole, and later runs
    /// use the room.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.database.file() else {
            // A server reclaims room by itself, and knows better when.
            return Ok(());
        };
        let attempt = || -> Attempt<()> {
            file.connection.pragma_update(None, "synchronous", "FULL")?;
            file.connection.execute_batch("VACUUM")?;
            // With a log the new file is in there; readers may keep it from being copied back for now.
            file.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        };
        attempt().map_err(|fault| {
            let error = fault.at(file.path(), file.busy_timeout);
            // SQLite takes a read that fails for damage. What can be read and holds together is none.
            let is_damage = matches!(error, StoreError::Corrupt { .. });
            if is_damage && file.holds_together() {
                return StoreError::Io {
                    path: file.path().to_owned(),
                    action: "read",
                    source: io::Error::other("a read failed that works now"),
                };
            }
            error
        })
    }

    /// Bytes of the database and of its log.
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
    /// Whether SQLite finds nothing wrong with all that is stored.
    fn holds_together(&self) -> bool {
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

/// Adds what the samples of runs take, whose launches lie close together.
fn add_bytes(sql: Sql<'_>, runs: &[RunLaunches], bytes: &mut BTreeMap<RunId, u64>) -> Attempt<()> {
    let first = runs.iter().map(|run| run.first).min().unwrap_or(0);
    let last = runs.iter().map(|run| run.last).max().unwrap_or(0);
    let query = format!(
        "SELECT l.run, CAST(sum(length(s.samples) + coalesce(length(s.allocations), 0) + coalesce(length(s.latencies), 0)) AS BIGINT)
         FROM launches l JOIN series s ON s.launch = l.id
         WHERE l.run IN ({}) AND s.launch BETWEEN {first} AND {last} GROUP BY l.run",
        numbered(runs.iter().map(|run| run.run.0))
    );
    sql.each(&query, &[], |row| {
        bytes.insert(RunId(row.get(0)?), row.get::<Unsigned>(1)?.0);
        Ok(())
    })
}

/// Rows that runs shared and that none refers to any more.
fn forget_orphans(sql: Sql<'_>) -> Attempt<()> {
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
