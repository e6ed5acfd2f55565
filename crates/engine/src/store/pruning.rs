//! Removing runs: what they take, what rests on them, and giving the space back.
//!
//! Runs go in one transaction, with everything that nothing else refers to. The file is made smaller after that: a kill in between leaves a
//! whole store with unused room in it.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::access::Survives;
use super::columns::{Count, Unsigned, WordColumn};
use super::error::Attempt;
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
        self.read(|connection| {
            let mut names = connection.prepare("SELECT name FROM baselines WHERE run = ?1 ORDER BY name")?;
            let mut statement = connection.prepare(
                "SELECT r.id, r.started, r.status, r.acceptance, r.git_branch, r.git_commit, r.partner,
                        (SELECT count(*) FROM run_benchmarks WHERE run = r.id),
                        (SELECT coalesce(sum(length(s.samples) + coalesce(length(s.allocations), 0)
                                             + coalesce(length(s.latencies), 0)), 0)
                         FROM launches l JOIN series s ON s.launch = l.id WHERE l.run = r.id)
                 FROM runs r WHERE r.workspace = ?1 ORDER BY r.id DESC",
            )?;
            let mut rows = statement.query([workspace.0])?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next()? {
        let run = RunId(row.get(0)?);
                runs.push(StoredRun {
                    run,
                    started: Timestamp(row.get(1)?),
                    status: row.get::<_, WordColumn<_>>(2)?.0,
                    acceptance: row.get::<_, WordColumn<_>>(3)?.0,
                    branch: row.get(4)?,
                    commit: row.get(5)?,
                    partner: row.get::<_, Option<_>>(6)?.map(RunId),
                    benchmarks: row.get::<_, Count>(7)?.0,
                    baselines: names
                        .query_map([run.0], |row| row.get(0))?
                        .collect::<Result<_, _>>()?,
                    bytes: row.get::<_, Unsigned>(8)?.0,
                });
            }
            Ok(runs)
        })
    }

    /// Removes runs of a workspace with all that they measured, in one transaction; both sides of an A/B measurement go together. What a
    /// baseline names stays.
    pub fn remove_runs(
        &mut self,
        workspace: WorkspaceId,
        runs: &[RunId],
    ) -> Result<RemovedRuns, StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            let mut wanted = BTreeSet::new();
            for run in runs {
                let partner: Option<RunId> = connection
                    .prepare_cached("SELECT partner FROM runs WHERE id = ?1 AND workspace = ?2")?
                    .query_row(params![run.0, workspace.0], |row| {
                        Ok(row.get::<_, Option<_>>(0)?.map(RunId))
                    })
                    .map_err(|error| match error {
                        rusqlite::Error::QueryReturnedNoRows => {
                            StoreError::NoSuchRun { run: *run }.into()
                        }
                        other => super::error::Fault::Sqlite(other),
                    })?;
                wanted.extend([Some(*run), partner].into_iter().flatten());
            }
            let mut outcome = RemovedRuns::default();
            for run in wanted {
                let is_named = connection
                    .prepare_cached(
                        "SELECT 1 FROM baselines b JOIN runs r ON r.id = ?1 WHERE b.run IN (r.id, r.partner)",
                    )?
                    .exists([run.0])?;
                if is_named {
                    outcome.skipped.push(run);
                } else {
                    // The partner may have taken it along.
                    connection
                        .prepare_cached("DELETE FROM runs WHERE id = ?1")?
                        .execute([run.0])?;
                    outcome.removed.push(run);
                }
            }
            forget_orphans(connection)?;
            Ok(outcome)
        })
    }

    /// Makes the file as small as what is in it. Needs room for a copy meanwhile; where it fails or is killed the store is whole, and later runs
    /// use the room.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        let attempt = || -> Attempt<()> {
            self.connection.pragma_update(None, "synchronous", "FULL")?;
            self.connection.execute_batch("VACUUM")?;
            // With a log the new file is in there; readers may keep it from being copied back for now.
            self.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        };
        attempt().map_err(|fault| fault.at(self.path(), self.busy_timeout))
    }

    /// Bytes of the database and of its log.
    pub fn file_bytes(&self) -> u64 {
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

/// Rows that runs shared and that none refers to any more.
fn forget_orphans(connection: &Connection) -> Attempt<()> {
    connection.execute_batch(
        "DELETE FROM benchmarks WHERE runs = 0
             AND id NOT IN (SELECT benchmark FROM run_benchmarks)
             AND id NOT IN (SELECT benchmark FROM unmeasured);
         DELETE FROM conditions WHERE id NOT IN (SELECT conditions FROM run_benchmarks);
         DELETE FROM environments WHERE id NOT IN (SELECT environment FROM runs);",
    )?;
    Ok(())
}
