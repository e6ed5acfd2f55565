//! Records that a user accepted a whole run, or only the measurements of single benchmarks in a run as their new level, and withdraws such an
//! acceptance.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;

use super::conditions::find_benchmark;
use super::encoding::WordColumn;
use super::error::Attempt;
use super::runs::{RUN_COLUMNS, query_side, read_key, read_run};
use super::sql::{AT_ONCE, Durability, Sql, join_numbers};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{Acceptance, BenchmarkKey, Run, RunId, Side, Timestamp};

impl Store {
    /// Returns the runs of a branch that are accepted, as a whole or only for some benchmarks, newest first. Incomplete runs and the base sides of
    /// side-by-side measurements are left out.
    pub fn accepted_runs(
        &self,
        workspace: WorkspaceId,
        branch: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Run>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|sql| {
            let values = params![workspace.0, branch, limit];
            sql.all(&accepted_runs_sql(), values, read_run)
        })
    }

    /// Returns the branches that have accepted runs.
    pub fn accepted_branches(
        &self,
        workspace: WorkspaceId,
    ) -> Result<BTreeSet<String>, StoreError> {
        self.read(|sql| {
            let branches = sql.all(ACCEPTED_BRANCHES, params![workspace.0], |row| row.get(0))?;
            Ok(branches.into_iter().collect())
        })
    }

    /// Returns the builds that later runs may measure side by side: those of runs with a baseline, and of the newest
    /// accepted run of each branch.
    pub fn needed_builds(&self, workspace: WorkspaceId) -> Result<Vec<String>, StoreError> {
        self.read(|sql| sql.all(NEEDED_BUILDS, params![workspace.0], |row| row.get(0)))
    }

    /// Accepts the run as a reference, which begins a new segment of the history. The base of a side-by-side
    /// measurement cannot be accepted.
    pub fn accept(&mut self, run: RunId) -> Result<(), StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            reject_base(sql, run)?;
            sql.run(
                "UPDATE runs SET acceptance = ?2, accepted_from = acceptance
                 WHERE id = ?1 AND acceptance <> ?2",
                params![run.0, WordColumn(Acceptance::ByCommand)],
            )?;
            Ok(())
        })
    }

    /// Withdraws the acceptance by [`Self::accept`], and restores the acceptance that the run had when it ended. Returns the restored acceptance, or
    /// `None` if the run was not accepted by command.
    pub fn withdraw_acceptance(&mut self, run: RunId) -> Result<Option<Acceptance>, StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            let found: (WordColumn<Acceptance>, Option<WordColumn<Acceptance>>) = sql.one(
                "SELECT acceptance, accepted_from FROM runs WHERE id = ?1",
                params![run.0],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let (WordColumn(Acceptance::ByCommand), before) = found else {
                return Ok(None);
            };
            // The earlier state is unknown if an older version accepted the run, or if it was imported as accepted.
            let before = before.map_or(Acceptance::Pending, |WordColumn(before)| before);
            sql.run(
                "UPDATE runs SET acceptance = ?2, accepted_from = NULL WHERE id = ?1",
                params![run.0, WordColumn(before)],
            )?;
            Ok(Some(before))
        })
    }

    /// Accepts the measurement of these benchmarks in `run` as their new level. The run becomes a reference for these benchmarks only, and begins a
    /// segment of their history. Returns the newly accepted benchmarks. Benchmarks that the run did not measure are skipped. The base of a
    /// side-by-side measurement cannot be accepted.
    pub fn accept_steps(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
        benchmarks: &[BenchmarkKey],
        now: Timestamp,
    ) -> Result<Vec<BenchmarkKey>, StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            reject_base(sql, run)?;
            accept_levels(sql, workspace, run, benchmarks, now)
        })
    }

    /// Withdraws the acceptance by [`Self::accept_steps`]. Returns the benchmarks that were accepted before.
    pub fn withdraw_steps(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
        benchmarks: &[BenchmarkKey],
    ) -> Result<Vec<BenchmarkKey>, StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            filter_changed(sql, workspace, benchmarks, |benchmark| {
                sql.run(
                    "DELETE FROM accepted_steps WHERE benchmark = ?1 AND run = ?2",
                    params![benchmark, run.0],
                )
            })
        })
    }

    /// Returns the benchmarks whose measurement in this run was accepted as a new level, sorted.
    pub fn accepted_steps(&self, run: RunId) -> Result<Vec<BenchmarkKey>, StoreError> {
        let mut found = self.accepted_steps_of_runs(&[run])?;
        Ok(found.remove(&run).unwrap_or_default())
    }

    /// Like [`Self::accepted_steps`], but for several runs. Runs without accepted levels are left out.
    pub fn accepted_steps_of_runs(
        &self,
        runs: &[RunId],
    ) -> Result<BTreeMap<RunId, Vec<BenchmarkKey>>, StoreError> {
        self.read(|sql| {
            let mut found: BTreeMap<RunId, Vec<BenchmarkKey>> = BTreeMap::new();
            for some in runs.chunks(AT_ONCE) {
                let steps = format!(
                    "SELECT b.package, b.target, b.name, s.run FROM accepted_steps s JOIN benchmarks b ON b.id = s.benchmark
                     WHERE s.run IN ({}) ORDER BY 1, 2, 3",
                    join_numbers(some.iter().map(|run| run.0))
                );
                sql.each(&steps, &[], |row| {
                    let of_run = found.entry(RunId(row.get(3)?)).or_default();
                    of_run.push(read_key(row, 0)?);
                    Ok(())
                })?;
            }
            Ok(found)
        })
    }
}

/// The query for accepted runs. Parameters: workspace, branch, limit.
pub(super) fn accepted_runs_sql() -> String {
    format!(
        "SELECT {RUN_COLUMNS} FROM runs r INDEXED BY runs_by_branch JOIN environments e ON e.id = r.environment
         WHERE r.workspace = ?1 AND r.git_branch IS NOT DISTINCT FROM ?2 AND r.status = 'complete' AND r.role IS DISTINCT FROM 'base'
           AND (r.acceptance <> 'pending' OR EXISTS (SELECT 1 FROM accepted_steps s WHERE s.run = r.id))
         ORDER BY r.id DESC LIMIT ?3"
    )
}

/// The query for the branches of accepted runs. Parameter: workspace.
pub(super) const ACCEPTED_BRANCHES: &str = "
    SELECT DISTINCT git_branch FROM runs
    WHERE workspace = ?1 AND acceptance <> 'pending' AND git_branch IS NOT NULL";

/// The query for the builds that later runs may need. Parameter: workspace.
const NEEDED_BUILDS: &str = "
    SELECT r.build FROM baselines b JOIN runs r ON r.id = b.run WHERE b.workspace = ?1 AND r.build IS NOT NULL
    UNION
    SELECT r.build FROM runs r
    WHERE r.id IN (SELECT max(id) FROM runs WHERE workspace = ?1 AND acceptance <> 'pending' GROUP BY git_branch)
      AND r.build IS NOT NULL";

/// Records the accepted levels of a run, and returns the benchmarks that were not accepted before.
pub(super) fn accept_levels(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    run: RunId,
    benchmarks: &[BenchmarkKey],
    now: Timestamp,
) -> Attempt<Vec<BenchmarkKey>> {
    filter_changed(sql, workspace, benchmarks, |benchmark| {
        sql.run(
            "INSERT INTO accepted_steps (benchmark, run, accepted)
             SELECT benchmark, run, CAST(?3 AS BIGINT) FROM run_benchmarks WHERE benchmark = ?1 AND run = ?2
             ON CONFLICT DO NOTHING",
            params![benchmark, run.0, now.0],
        )
    })
}

fn reject_base(sql: Sql<'_>, run: RunId) -> Attempt<()> {
    if query_side(sql, run)? == Some(Side::Base) {
        return Err(StoreError::BaseSide(run).into());
    }
    Ok(())
}

/// Returns the benchmarks for which `change` changed a row.
fn filter_changed(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    benchmarks: &[BenchmarkKey],
    mut change: impl FnMut(i64) -> Attempt<usize>,
) -> Attempt<Vec<BenchmarkKey>> {
    let mut found = Vec::new();
    for key in benchmarks {
        if let Some(benchmark) = find_benchmark(sql, workspace, key)?
            && change(benchmark)? > 0
        {
            found.push(key.clone());
        }
    }
    Ok(found)
}
