//! Making two workspaces one, after a project has moved or got an id.

use rusqlite::{Connection, params};

use super::access::Survives;
use super::error::Attempt;
use super::{Store, StoreError, WorkspaceId};

/// What was moved by [`Store::adopt`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Runs.
    pub runs: usize,
    /// Baselines.
    pub baselines: usize,
    /// Benchmarks that both workspaces had, whose histories are now one.
    pub merged_benchmarks: usize,
}

impl Store {
    /// Moves all runs, benchmarks and baselines of `from` into `into` and removes `from`.
    ///
    /// Benchmarks of the same package, target and id become one. Baselines of the same name in both are an error,
    /// and then nothing is moved. Runs keep their numbers.
    pub fn adopt(&mut self, from: WorkspaceId, into: WorkspaceId) -> Result<Adopted, StoreError> {
        if from == into {
            return Ok(Adopted::default());
        }
        self.write(Survives::PowerLoss, |connection| {
            let names = clashing_baselines(connection, from, into)?;
            if !names.is_empty() {
                return Err(StoreError::NameClash { names }.into());
            }
            let moved = |table: &str| {
                connection.execute(
                    &format!("UPDATE {table} SET workspace = ?2 WHERE workspace = ?1"),
                    params![from.0, into.0],
                )
            };
            let merged_benchmarks = merge_benchmarks(connection, from, into)?;
            moved("benchmarks")?;
            let adopted = Adopted {
                runs: moved("runs")?,
                baselines: moved("baselines")?,
                merged_benchmarks,
            };
            connection.execute("DELETE FROM workspaces WHERE id = ?1", [from.0])?;
            Ok(adopted)
        })
    }
}

fn clashing_baselines(
    connection: &Connection,
    from: WorkspaceId,
    into: WorkspaceId,
) -> Attempt<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT name FROM baselines WHERE workspace = ?1
         INTERSECT SELECT name FROM baselines WHERE workspace = ?2 ORDER BY 1",
    )?;
    let names = statement.query_map([from.0, into.0], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Gives the runs of benchmarks that `into` has as well to the benchmark of `into`.
fn merge_benchmarks(
    connection: &Connection,
    from: WorkspaceId,
    into: WorkspaceId,
) -> Attempt<usize> {
    let mut statement = connection.prepare(
        "SELECT ours.id, theirs.id FROM benchmarks ours
         JOIN benchmarks theirs USING (package, target, name)
         WHERE ours.workspace = ?1 AND theirs.workspace = ?2",
    )?;
    let pairs: Vec<(i64, i64)> = statement
        .query_map([from.0, into.0], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (old, kept) in &pairs {
        // The triggers count rows that come and go; these only change hands.
        connection.execute(
            "UPDATE benchmarks SET runs = runs + (SELECT runs FROM benchmarks WHERE id = ?1) WHERE id = ?2",
            [old, kept],
        )?;
        for table in ["run_benchmarks", "unmeasured"] {
            connection.execute(
                &format!("UPDATE {table} SET benchmark = ?2 WHERE benchmark = ?1"),
                [old, kept],
            )?;
        }
        connection.execute("DELETE FROM benchmarks WHERE id = ?1", [old])?;
    }
    Ok(pairs.len())
}
