//! What users accepted by command: whole runs, and new levels of single benchmarks; and the way back from both.

use rusqlite::{Connection, params};

use super::access::Survives;
use super::columns::WordColumn;
use super::conditions::find_benchmark;
use super::error::Attempt;
use super::runs::{key_at, side_of};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{Acceptance, BenchmarkKey, RunId, Side, Timestamp};

impl Store {
    /// The user declares the run a reference: it starts a new segment of the history. The base side of an A/B
    /// measurement is none.
    pub fn accept(&mut self, run: RunId) -> Result<(), StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            refuse_base_side(connection, run)?;
            connection.execute(
                "UPDATE runs SET acceptance = ?2, accepted_from = acceptance
                 WHERE id = ?1 AND acceptance <> ?2",
                params![run.0, WordColumn(Acceptance::ByCommand)],
            )?;
            Ok(())
        })
    }

    /// Takes that back: the run is again what it was at its end. Tells what that is; `None` where nobody had accepted it.
    pub fn withdraw(&mut self, run: RunId) -> Result<Option<Acceptance>, StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            let found: (WordColumn<Acceptance>, Option<WordColumn<Acceptance>>) = connection
                .query_row(
                    "SELECT acceptance, accepted_from FROM runs WHERE id = ?1",
                    [run.0],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )?;
            let (WordColumn(Acceptance::ByCommand), before) = found else {
                return Ok(None);
            };
            // One that was accepted by an older version, or imported as accepted, had a reason to be.
            let before = before.map_or(Acceptance::Pending, |WordColumn(before)| before);
            connection.execute(
                "UPDATE runs SET acceptance = ?2, accepted_from = NULL WHERE id = ?1",
                params![run.0, WordColumn(before)],
            )?;
            Ok(Some(before))
        })
    }

    /// The user declares what `run` measured of these benchmarks their new level: for them alone it is a reference and begins a segment.
    /// Tells those for which that is new; what the run did not measure is passed over.
    pub fn accept_steps(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
        benchmarks: &[BenchmarkKey],
        now: Timestamp,
    ) -> Result<Vec<BenchmarkKey>, StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            refuse_base_side(connection, run)?;
            accept_levels(connection, workspace, run, benchmarks, now)
        })
    }

    /// Takes that back. Tells for which benchmarks there was something to take back.
    pub fn withdraw_steps(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
        benchmarks: &[BenchmarkKey],
    ) -> Result<Vec<BenchmarkKey>, StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            let mut delete = connection
                .prepare_cached("DELETE FROM accepted_steps WHERE benchmark = ?1 AND run = ?2")?;
            changed(connection, workspace, benchmarks, |benchmark| {
                delete.execute(params![benchmark, run.0])
            })
        })
    }

    /// The benchmarks whose level in this run was accepted, sorted.
    pub fn accepted_steps(&self, run: RunId) -> Result<Vec<BenchmarkKey>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT b.package, b.target, b.name FROM accepted_steps s JOIN benchmarks b ON b.id = s.benchmark
                 WHERE s.run = ?1 ORDER BY 1, 2, 3",
            )?;
            let keys = statement.query_map([run.0], |row| key_at(row, 0))?;
            Ok(keys.collect::<Result<_, _>>()?)
        })
    }
}

/// Writes down which levels were accepted in a run, and tells those that are new.
pub(super) fn accept_levels(
    connection: &Connection,
    workspace: WorkspaceId,
    run: RunId,
    benchmarks: &[BenchmarkKey],
    now: Timestamp,
) -> Attempt<Vec<BenchmarkKey>> {
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO accepted_steps (benchmark, run, accepted)
         SELECT benchmark, run, ?3 FROM run_benchmarks WHERE benchmark = ?1 AND run = ?2",
    )?;
    changed(connection, workspace, benchmarks, |benchmark| {
        insert.execute(params![benchmark, run.0, now.0])
    })
}

fn refuse_base_side(connection: &Connection, run: RunId) -> Attempt<()> {
    if side_of(connection, run)? == Some(Side::Base) {
        return Err(StoreError::BaseSide { run }.into());
    }
    Ok(())
}

/// Those of `benchmarks` for which `change` changed a row.
fn changed(
    connection: &Connection,
    workspace: WorkspaceId,
    benchmarks: &[BenchmarkKey],
    mut change: impl FnMut(i64) -> rusqlite::Result<usize>,
) -> Attempt<Vec<BenchmarkKey>> {
    let mut found = Vec::new();
    for key in benchmarks {
        if let Some(benchmark) = find_benchmark(connection, workspace, key)?
            && change(benchmark)? > 0
        {
            found.push(key.clone());
        }
    }
    Ok(found)
}
