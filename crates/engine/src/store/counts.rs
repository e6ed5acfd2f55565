//! Stores the instruction counts and time samples of benchmarks in a run.

use rusqlite::params;

use super::access::Durability;
use super::columns::Json;
use super::error::Attempt;
use super::runs::read_key;
use super::sql::{Sql, StoredRow};
use super::{Store, StoreError};
use perfcheck_analysis::model::{
    BenchmarkCounts, CountedBenchmark, FunctionCount, InstructionCount, RunId, TimeSamples,
};

impl Store {
    /// Stores the counts of benchmarks that the run has measured.
    pub fn record_counts(
        &mut self,
        run: RunId,
        counted: &[CountedBenchmark],
    ) -> Result<(), StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            insert_counts(sql, run, counted)
        })
    }

    /// Returns all counts of a run, by benchmark.
    pub fn counts(&self, run: RunId) -> Result<Vec<CountedBenchmark>, StoreError> {
        self.read(|sql| {
            let mut found: Vec<CountedBenchmark> = Vec::new();
            sql.each(
                "SELECT c.iterations, c.total, c.functions, b.package, b.target, b.name
                 FROM counts c JOIN run_benchmarks rb ON rb.id = c.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark
                 WHERE rb.run = ?1 ORDER BY 4, 5, 6, c.position",
                params![run.0],
                |row| {
                    let benchmark = read_key(row, 3)?;
                    if found.last().is_none_or(|last| last.benchmark != benchmark) {
                        found.push(CountedBenchmark {
                            benchmark,
                            counts: BenchmarkCounts::default(),
                        });
                    }
                    let last = found.last_mut().map(|last| &mut last.counts);
                    last.map_or(Ok(()), |counts| Ok(add_count(counts, row, 0)?))
                },
            )?;
            Ok(found)
        })
    }
}

/// A row of the table `counts`.
pub(super) struct CountRow<'c> {
    /// Iterations counted; `None` for time samples.
    pub(super) iterations: Option<i64>,
    pub(super) total: i64,
    pub(super) functions: &'c [FunctionCount],
}

/// Returns the rows of a benchmark, in the order of their positions.
pub(super) fn count_rows(counts: &BenchmarkCounts) -> impl Iterator<Item = CountRow<'_>> {
    let instructions = counts.instructions.iter().map(|count| CountRow {
        iterations: Some(count.iterations.cast_signed()),
        total: count.instructions.cast_signed(),
        functions: &count.functions,
    });
    let time = counts.time.iter().map(|time| CountRow {
        iterations: None,
        total: time.samples.cast_signed(),
        functions: &time.functions,
    });
    instructions.chain(time)
}

/// Inserts counts in the given order.
pub(super) fn insert_counts(sql: Sql<'_>, run: RunId, counted: &[CountedBenchmark]) -> Attempt<()> {
    const INSERT: &str =
        "INSERT INTO counts (run_benchmark, position, iterations, total, functions)
         SELECT rb.id, CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS BIGINT), CAST(?8 AS TEXT) FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark
         WHERE rb.run = ?1 AND b.package = ?2 AND b.target = ?3 AND b.name = ?4";
    for CountedBenchmark { benchmark, counts } in counted {
        for (position, row) in (0_i64..).zip(count_rows(counts)) {
            sql.run(
                INSERT,
                params![
                    run.0,
                    benchmark.package,
                    benchmark.target,
                    benchmark.id,
                    position,
                    row.iterations,
                    row.total,
                    Json(&row.functions),
                ],
            )?;
        }
    }
    Ok(())
}

/// Adds a row to the counts; `first` is the first of its three columns.
pub(super) fn add_count(
    counts: &mut BenchmarkCounts,
    row: &StoredRow<'_>,
    first: usize,
) -> rusqlite::Result<()> {
    let total = row.get::<i64>(first + 1)?.cast_unsigned();
    let functions = row.get::<Json<_>>(first + 2)?.0;
    match row.get::<Option<i64>>(first)? {
        Some(iterations) => counts.instructions.push(InstructionCount {
            iterations: iterations.cast_unsigned(),
            instructions: total,
            functions,
        }),
        None => {
            counts.time = Some(TimeSamples {
                samples: total,
                functions,
            });
        }
    }
    Ok(())
}
