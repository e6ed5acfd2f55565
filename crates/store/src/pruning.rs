//! Removes runs, or only the samples of runs. Also lists runs with their sizes and baselines, and returns unused space to the system.
//!
//! Invariants: runs are removed in one transaction, together with all rows to which no other run refers. Runs whose samples are removed keep their
//! verdicts and conclusions. The file is shrunk afterwards, so a kill in between leaves an intact store with unused space.

use rusqlite::params;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use super::encoding::{RowCount, Unsigned, WordColumn};
use super::error::Attempt;
use super::open::{Database, StoreFile};
use super::sql::{AT_ONCE, Durability, Sql, join_numbers};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::compare::run_point;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, ProgressReporter, RunId, RunPoint, RunStatus, Timestamp,
};

/// The facts about a run by which a policy decides whether to remove it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Run number.
    pub run: RunId,
    /// Start of the run.
    pub started: Timestamp,
    /// Whether the run is complete.
    pub status: RunStatus,
    /// Whether the run may be a reference.
    pub acceptance: Acceptance,
    /// Branch of the checkout. `None` for a detached `HEAD` or outside of git.
    pub branch: Option<String>,
    /// Commit of the checkout. `None` outside of git.
    pub commit: Option<String>,
    /// The other side of a side-by-side measurement. Both sides are kept or removed together. `None` for a run of a single build.
    pub partner: Option<RunId>,
    /// Number of benchmarks measured.
    pub benchmarks: usize,
    /// Baselines that name the run. A run with a baseline is not removed.
    pub baselines: Vec<String>,
    /// Size of the run's stored samples, in bytes. It is 0 if they were removed.
    pub bytes: u64,
}

/// The result of a removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedRuns {
    /// The removed runs. If one side of a side-by-side measurement was removed, the other side is among them.
    pub removed: Vec<RunId>,
    /// Runs that were kept because a baseline names them or the other side of their pair.
    pub skipped: Vec<RunId>,
}

impl Store {
    /// Returns all runs of a workspace with their sizes, newest first. This reads the whole history.
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

    /// Shrinks the file to the size of its content. Meanwhile, this needs disk space for a copy. If it fails or is killed, the store is intact, and
    /// later runs use the free space in it. A team's store is left as it is.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.database.file() else {
            // A database server reclaims space by itself.
            return Ok(());
        };
        let attempt = || -> Attempt<()> {
            file.connection.pragma_update(None, "synchronous", "FULL")?;
            file.connection.execute_batch("VACUUM")?;
            // In WAL mode, the log has the shrunk content at first. Copy it back to the file, unless readers prevent it for now.
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
                    source: io::Error::other("a read failed temporarily"),
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

/// Adds the sizes of the samples of runs. The row ids of their processes should be close together, because the query searches all row ids between the
/// smallest and the largest.
fn add_bytes(sql: Sql<'_>, runs: &[RunProcesses], bytes: &mut BTreeMap<RunId, u64>) -> Attempt<()> {
    let first = runs.iter().map(|run| run.first).min().unwrap_or(0);
    let last = runs.iter().map(|run| run.last).max().unwrap_or(0);
    let query = format!(
        "SELECT l.run, CAST(sum(length(s.samples) + coalesce(length(s.allocations), 0) + coalesce(length(s.latencies), 0)) AS BIGINT)
         FROM processes l JOIN series s ON s.process = l.id
         WHERE l.run IN ({}) AND s.process BETWEEN {first} AND {last} GROUP BY l.run",
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

/// Number of runs whose samples are in memory at once.
const RUNS_AT_ONCE: usize = 20;
/// Number of successive run numbers whose samples are removed together from a file.
const RUNS_OF_A_FILE: i64 = 100;
/// In a team's store, the row id of a process contains its month, in the bits above this number of low bits.
const BITS_BELOW_MONTH: u32 = 44;

impl Store {
    /// Returns the time before which samples are removed if the user asks for `limit`. In a file, that is `limit` itself. In a team's store, it is
    /// the beginning of the month (UTC), because the samples of a month are removed together.
    pub fn removal_limit(&self, limit: Timestamp) -> Result<Timestamp, StoreError> {
        if self.database.file().is_some() {
            return Ok(limit);
        }
        self.read(|sql| {
            sql.one(
                "SELECT CAST(extract(epoch FROM date_trunc('month', to_timestamp(CAST(?1 AS BIGINT) / 1e9), 'UTC')) AS BIGINT) * 1000000000",
                params![limit.0],
                |row| row.get(0).map(Timestamp),
            )
        })
    }

    /// Removes the samples of these runs of a workspace, but not the runs. Runs that a baseline names, and the other sides of their pairs, keep their
    /// samples. Returns the runs whose samples were removed. Each month (in a file, each range of run numbers) is handled in one transaction.
    pub fn remove_samples(
        &mut self,
        workspace: WorkspaceId,
        runs: &[RunId],
        progress: &ProgressReporter<'_>,
    ) -> Result<Vec<RunId>, StoreError> {
        let mut removed = Vec::new();
        for of_month in self.runs_by_month(workspace, Some(runs))? {
            let of_month: Vec<RunId> = of_month.iter().map(|run| run.run).collect();
            let mut points = Vec::new();
            for some in of_month.chunks(RUNS_AT_ONCE) {
                progress.report(removed.len() + points.len(), runs.len());
                for (run, found) in self.measurements_of_runs(some, None)? {
                    let found = found.into_iter();
                    let found = found.map(|one| BenchmarkPoint {
                        point: run_point(&one),
                        key: one.benchmark.key,
                    });
                    points.push((run, found.collect::<Vec<_>>()));
                }
            }
            self.write(Durability::PowerLoss, |sql| {
                let mut going = Vec::new();
                for (run, points) in &points {
                    let is_named = sql.exists(
                        "SELECT 1 FROM baselines b JOIN runs r ON r.id = ?1 WHERE b.run IN (r.id, r.partner)",
                        params![run.0],
                    )?;
                    if !is_named {
                        insert_points(sql, *run, points)?;
                        going.push(*run);
                    }
                }
                remove_series(sql, &going)?;
                removed.extend(going);
                Ok(())
            })?;
        }
        Ok(removed)
    }

    /// Groups the runs of a workspace such that the samples of each group can be removed together. In a team's store, a group has the runs of one
    /// month, whose samples share a table. In a file, a group has the runs in one range of run numbers. Runs without processes are left out. If
    /// `wanted` is given, the result has only runs that are in it.
    pub(super) fn runs_by_month(
        &self,
        workspace: WorkspaceId,
        wanted: Option<&[RunId]>,
    ) -> Result<Vec<Vec<RunProcesses>>, StoreError> {
        let is_file = self.database.file().is_some();
        let wanted: Option<HashSet<RunId>> = wanted.map(|runs| runs.iter().copied().collect());
        self.read(|sql| {
            let mut months: BTreeMap<i64, Vec<RunProcesses>> = BTreeMap::new();
            let processes =
                "SELECT l.run, min(l.id), max(l.id) FROM processes l JOIN runs r ON r.id = l.run
                 WHERE r.workspace = ?1 GROUP BY l.run ORDER BY l.run";
            sql.each(processes, params![workspace.0], |row| {
                let found = RunProcesses {
                    run: RunId(row.get(0)?),
                    first: row.get(1)?,
                    last: row.get(2)?,
                };
                if wanted
                    .as_ref()
                    .is_none_or(|wanted| wanted.contains(&found.run))
                {
                    let month = if is_file {
                        found.run.0.abs() / RUNS_OF_A_FILE
                    } else {
                        found.first >> BITS_BELOW_MONTH
                    };
                    months.entry(month).or_default().push(found);
                }
                Ok(())
            })?;
            Ok(months.into_values().collect())
        })
    }
}

/// A run with the row ids of its first and last process.
pub(super) struct RunProcesses {
    pub(super) run: RunId,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// The summary that replaces the samples of a benchmark in a run.
pub(super) struct BenchmarkPoint {
    pub(super) key: BenchmarkKey,
    pub(super) point: RunPoint,
}

fn insert_points(sql: Sql<'_>, run: RunId, points: &[BenchmarkPoint]) -> Attempt<()> {
    const INSERT: &str = "INSERT INTO points (run_benchmark, processes, samples, from_ramp, low_quantile, median)
         SELECT rb.id, CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS BIGINT), CAST(?8 AS DOUBLE PRECISION), CAST(?9 AS DOUBLE PRECISION)
         FROM runs r JOIN benchmarks b ON b.workspace = r.workspace JOIN run_benchmarks rb ON rb.benchmark = b.id AND rb.run = r.id
         WHERE r.id = ?1 AND b.package = ?2 AND b.target = ?3 AND b.name = ?4
         ON CONFLICT (run_benchmark) DO NOTHING";
    #[cfg(feature = "postgres")]
    if let Sql::Postgres(session) = sql {
        return session.insert_points(run, points);
    }
    let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    for BenchmarkPoint { key, point } in points {
        sql.run(
            INSERT,
            params![
                run.0,
                key.package,
                key.target,
                key.id,
                count(point.processes),
                count(point.samples),
                i64::from(point.from_ramp),
                point.low_quantile,
                point.median,
            ],
        )?;
    }
    Ok(())
}

/// Removes the samples of these runs. In a team's store, the runs must be of one month. That month has a table of its own, which the server replaces.
fn remove_series(sql: Sql<'_>, runs: &[RunId]) -> Attempt<()> {
    let numbers = join_numbers(runs.iter().map(|run| run.0));
    if runs.is_empty() {
        return Ok(());
    }
    if sql.is_file() {
        let series = format!(
            "DELETE FROM series WHERE process IN (SELECT id FROM processes WHERE run IN ({numbers}))"
        );
        return sql.run(&series, &[]).map(drop);
    }
    let month = format!("SELECT perfcheck.expire_series(ARRAY[{numbers}]::BIGINT[])");
    sql.each(&month, &[], |_| Ok(()))
}
