//! Instructions that were counted of the benchmarks of a run.

use rusqlite::{Connection, params};

use super::access::Survives;
use super::columns::Json;
use super::error::Attempt;
use super::runs::key_at;
use super::{Store, StoreError};
use perfcheck_analysis::model::{CountedInstructions, InstructionCount, RunId};

impl Store {
    /// Keeps what was counted of benchmarks that the run has measured.
    pub fn record_instructions(
        &mut self,
        run: RunId,
        counted: &[CountedInstructions],
    ) -> Result<(), StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            insert_counts(connection, run, counted)
        })
    }

    /// All that was counted in a run, by benchmark.
    pub fn instructions(&self, run: RunId) -> Result<Vec<CountedInstructions>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT DISTINCT b.package, b.target, b.name, rb.id
                 FROM counts c JOIN run_benchmarks rb ON rb.id = c.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark
                 WHERE rb.run = ?1 ORDER BY 1, 2, 3",
            )?;
            let mut rows = statement.query([run.0])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(CountedInstructions {
                    benchmark: key_at(row, 0)?,
                    counts: counts_of(connection, row.get(3)?)?,
                });
            }
            Ok(found)
        })
    }
}

/// Inserts counts, in the order in which they are given.
pub(super) fn insert_counts(
    connection: &Connection,
    run: RunId,
    counted: &[CountedInstructions],
) -> Attempt<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO counts (run_benchmark, position, iterations, instructions, functions)
         SELECT rb.id, ?5, ?6, ?7, ?8 FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark
         WHERE rb.run = ?1 AND b.package = ?2 AND b.target = ?3 AND b.name = ?4",
    )?;
    for CountedInstructions { benchmark, counts } in counted {
        for (position, count) in (0_i64..).zip(counts) {
            insert.execute(params![
                run.0,
                benchmark.package,
                benchmark.target,
                benchmark.id,
                position,
                count.iterations.cast_signed(),
                count.instructions.cast_signed(),
                Json(&count.functions),
            ])?;
        }
    }
    Ok(())
}

/// What was counted of a benchmark, in the order counted.
pub(super) fn counts_of(
    connection: &Connection,
    run_benchmark: i64,
) -> Attempt<Vec<InstructionCount>> {
    let mut statement = connection.prepare_cached(
        "SELECT iterations, instructions, functions FROM counts WHERE run_benchmark = ?1 ORDER BY position",
    )?;
    let counts = statement.query_map([run_benchmark], |row| {
        Ok(InstructionCount {
            iterations: row.get::<_, i64>(0)?.cast_unsigned(),
            instructions: row.get::<_, i64>(1)?.cast_unsigned(),
            functions: row.get::<_, Json<_>>(2)?.0,
        })
    })?;
    Ok(counts.collect::<Result<_, _>>()?)
}
