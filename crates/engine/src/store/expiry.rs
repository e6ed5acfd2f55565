//! Removes the samples of runs. The runs themselves, their verdicts and conclusions stay in the history.
//!
//! A file removes the samples of some runs at a time. A team's store removes whole months, because each month has its
//! own table, which is dropped.

use std::collections::{BTreeMap, HashSet};

use rusqlite::params;

use super::access::Durability;
use super::error::Attempt;
use super::sql::{Sql, join_numbers};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::compare::run_point;
use perfcheck_analysis::model::{BenchmarkKey, ProgressReporter, RunId, RunPoint, Timestamp};

/// Number of runs whose samples are loaded at once.
const RUNS_AT_ONCE: usize = 20;
/// In a file, the samples of this many successive run numbers are removed together.
const RUNS_OF_A_FILE: i64 = 100;
/// In a team's store, the month is stored in the bits of the process's row id above this one.
const BITS_BELOW_MONTH: u32 = 44;

impl Store {
    /// Returns the time up to which samples are removed if `limit` is requested: in a team's store, the beginning of
    /// that month.
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

    /// Removes the samples of these runs of a workspace; the runs stay. Runs that a baseline names keep their
    /// samples. Returns the runs whose samples were removed. The runs of a month are handled in one transaction.
    pub fn remove_samples(
        &mut self,
        workspace: WorkspaceId,
        runs: &[RunId],
        told: &ProgressReporter<'_>,
    ) -> Result<Vec<RunId>, StoreError> {
        let mut removed = Vec::new();
        for of_month in self.runs_by_month(workspace, Some(runs))? {
            let of_month: Vec<RunId> = of_month.iter().map(|run| run.run).collect();
            let mut points = Vec::new();
            for some in of_month.chunks(RUNS_AT_ONCE) {
                told.report(removed.len() + points.len(), runs.len());
                for (run, found) in self.measurements_of_runs(some, None)? {
                    let found = found.into_iter();
                    let found = found.map(|one| (run_point(&one), one.benchmark.key));
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

    /// Groups the runs of a workspace that have processes, or those of `wanted`, by the table of their samples. In a
    /// file the groups are ranges of run numbers.
    pub(super) fn runs_by_month(
        &self,
        workspace: WorkspaceId,
        wanted: Option<&[RunId]>,
    ) -> Result<Vec<Vec<RunProcesses>>, StoreError> {
        let is_file = self.database.file().is_some();
        let wanted: Option<HashSet<RunId>> = wanted.map(|runs| runs.iter().copied().collect());
        self.read(|sql| {
            let mut months: BTreeMap<i64, Vec<RunProcesses>> = BTreeMap::new();
            let launches =
                "SELECT l.run, min(l.id), max(l.id) FROM launches l JOIN runs r ON r.id = l.run
                 WHERE r.workspace = ?1 GROUP BY l.run ORDER BY l.run";
            sql.each(launches, params![workspace.0], |row| {
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

fn insert_points(sql: Sql<'_>, run: RunId, points: &[(RunPoint, BenchmarkKey)]) -> Attempt<()> {
    const INSERT: &str = "INSERT INTO points (run_benchmark, launches, samples, from_ramp, low_quantile, median)
         SELECT rb.id, CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS BIGINT), CAST(?8 AS DOUBLE PRECISION), CAST(?9 AS DOUBLE PRECISION)
         FROM runs r JOIN benchmarks b ON b.workspace = r.workspace JOIN run_benchmarks rb ON rb.benchmark = b.id AND rb.run = r.id
         WHERE r.id = ?1 AND b.package = ?2 AND b.target = ?3 AND b.name = ?4
         ON CONFLICT (run_benchmark) DO NOTHING";
    #[cfg(feature = "postgres")]
    if let Sql::Postgres(session) = sql {
        return session.insert_points(run, points);
    }
    let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    for (point, key) in points {
        sql.run(
            INSERT,
            params![
                run.0,
                key.package,
                key.target,
                key.id,
                count(point.launches),
                count(point.samples),
                i64::from(point.from_ramp),
                point.low_quantile,
                point.median,
            ],
        )?;
    }
    Ok(())
}

fn remove_series(sql: Sql<'_>, runs: &[RunId]) -> Attempt<()> {
    let numbers = join_numbers(runs.iter().map(|run| run.0));
    if runs.is_empty() {
        return Ok(());
    }
    if sql.is_file() {
        let series = format!(
            "DELETE FROM series WHERE launch IN (SELECT id FROM launches WHERE run IN ({numbers}))"
        );
        return sql.run(&series, &[]).map(drop);
    }
    let month = format!("SELECT perfcheck.expire_series(ARRAY[{numbers}]::BIGINT[])");
    sql.each(&month, &[], |_| Ok(()))
}
