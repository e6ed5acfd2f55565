//! Merges two workspaces, after a project has moved or got an id.

use rusqlite::params;

use super::access::Durability;
use super::error::Attempt;
use super::sql::Sql;
use super::{Store, StoreError, WorkspaceId};

/// The rows that [`Store::adopt`] moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AdoptionSummary {
    /// Number of runs.
    pub runs: usize,
    /// Number of baselines.
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

/// Moves the runs of benchmarks that exist in both workspaces to the benchmark of `into`.
fn merge_benchmarks(sql: Sql<'_>, from: WorkspaceId, into: WorkspaceId) -> Attempt<usize> {
    let pairs: Vec<(i64, i64)> = sql.all(
        "SELECT ours.id, theirs.id FROM benchmarks ours
         JOIN benchmarks theirs USING (package, target, name)
         WHERE ours.workspace = ?1 AND theirs.workspace = ?2",
        params![from.0, into.0],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (old, kept) in &pairs {
        // Triggers count only inserted and deleted rows, but these are updated.
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
