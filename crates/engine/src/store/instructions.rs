//! Instructions that were counted of the benchmarks of a run.

use rusqlite::params;

use super::access::Survives;
use super::columns::Json;
use super::error::Attempt;
use super::runs::key_at;
use super::sql::{Sql, StoredRow};
use super::{Store, StoreError};
use perfcheck_analysis::model::{CountedInstructions, InstructionCount, RunId};

impl Store {
    /// Keeps what was counted of benchmarks that the run has measured.
    pub fn record_instructions(
        &mut self,
        run: RunId,
        counted: &[CountedInstructions],
    ) -> Result<(), StoreError> {
        self.write(Survives::PowerLoss, |sql| insert_counts(sql, run, counted))
    }

    /// All that was counted in a run, by benchmark.
    pub fn instructions(&self, run: RunId) -> Result<Vec<CountedInstructions>, StoreError> {
        self.read(|sql| {
            let mut found: Vec<CountedInstructions> = Vec::new();
            sql.each(
                "SELECT c.iterations, c.instructions, c.functions, b.package, b.target, b.name
                 FROM counts c JOIN run_benchmarks rb ON rb.id = c.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark
                 WHERE rb.run = ?1 ORDER BY 4, 5, 6, c.position",
                params![run.0],
                |row| {
                    let benchmark = key_at(row, 3)?;
                    let count = count_at(row, 0)?;
                    match found.last_mut() {
                        Some(last) if last.benchmark == benchmark => last.counts.push(count),
                        _ => found.push(CountedInstructions {
                            benchmark,
                            counts: vec![count],
                        }),
                    }
                    Ok(())
                },
            )?;
            Ok(found)
        })
    }
}

/// Inserts counts, in the order in which they are given.
pub(super) fn insert_counts(
    sql: Sql<'_>,
    run: RunId,
    counted: &[CountedInstructions],
) -> Attempt<()> {
    const INSERT: &str =
        "INSERT INTO counts (run_benchmark, position, iterations, instructions, functions)
         SELECT rb.id, CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS BIGINT), CAST(?8 AS TEXT) FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark
         WHERE rb.run = ?1 AND b.package = ?2 AND b.target = ?3 AND b.name = ?4";
    for CountedInstructions { benchmark, counts } in counted {
        for (position, count) in (0_i64..).zip(counts) {
            sql.run(
                INSERT,
                params![
                    run.0,
                    benchmark.package,
                    benchmark.target,
                    benchmark.id,
                    position,
                    count.iterations.cast_signed(),
                    count.instructions.cast_signed(),
                    Json(&count.functions),
                ],
            )?;
        }
    }
    Ok(())
}

/// A count in three columns from `first` on.
pub(super) fn count_at(row: &StoredRow<'_>, first: usize) -> rusqlite::Result<InstructionCount> {
    Ok(InstructionCount {
        iterations: row.get::<i64>(first)?.cast_unsigned(),
        instructions: row.get::<i64>(first + 1)?.cast_unsigned(),
        functions: row.get::<Json<_>>(first + 2)?.0,
    })
}
