//! Stores processes, and the instruction counts and time samples of benchmarks in a run.
//!
//! Invariant: each process is recorded as a whole, in one transaction, as soon as it has ended.

use crate::Conditions;
use crate::conditions::intern_benchmark;
use rusqlite::params;

use super::encoding::{AllocationsColumn, FlagColumn, Json, LatenciesColumn, Unsigned, WordColumn};
use super::error::Attempt;
use super::runs::{read_key, workspace_of_open_run};
use super::sql::{Durability, Sql, StoredRow};
use super::{Store, StoreError, WorkspaceId, encoding};
use perfcheck_analysis::model::{
    BenchmarkCounts, BenchmarkInProcess, CountedBenchmark, FunctionCount, Harness,
    InstructionCount, Nanos, ProcessHead, ProcessOutcome, ProcessRecord, RunId, TargetFacts,
    TimeSamples, Timestamp,
};

impl Store {
    /// Adds a process to a run that has not ended. Once this function returns, the data survives a kill of the program.
    pub fn record_process(
        &mut self,
        run: RunId,
        process: &ProcessRecord,
    ) -> Result<(), StoreError> {
        self.write(Durability::Kill, |sql| {
            let workspace = workspace_of_open_run(sql, run)?;
            insert_process(sql, workspace, run, process, &mut || ())
        })
    }

    /// Lists the processes of a run by target, number and attempt.
    pub fn processes(&self, run: RunId) -> Result<Vec<ProcessHead>, StoreError> {
        self.read(|sql| {
            sql.all(
                "SELECT package, target, ordinal, attempt, started, padding_bytes,
                        harness, harness_version, quantum_ns, failure, conduct, layout
                 FROM processes WHERE run = ?1 ORDER BY package, target, ordinal, attempt",
                params![run.0],
                |row| {
                    let harness = match row.get(6)? {
                        Some(name) => Some(Harness {
                            name,
                            version: row.get(7)?,
                            quantum: Nanos(row.get::<Unsigned>(8)?.0),
                        }),
                        None => None,
                    };
                    Ok(ProcessHead {
                        package: row.get(0)?,
                        target: row.get(1)?,
                        ordinal: row.get(2)?,
                        attempt: row.get(3)?,
                        started: Timestamp(row.get(4)?),
                        padding_bytes: row.get(5)?,
                        layout: row.get(11)?,
                        harness,
                        failure: row.get(9)?,
                        conduct: row.get::<Option<Json<_>>>(10)?.map(|Json(conduct)| conduct),
                    })
                },
            )
        })
    }
}

/// Inserts a process with all its results, and calls `stored` after each benchmark.
pub(super) fn insert_process(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    run: RunId,
    process: &ProcessRecord,
    stored: &mut dyn FnMut(),
) -> Attempt<()> {
    let process_id = insert_head(sql, run, &process.head)?;
    for (position, in_process) in (0_i64..).zip(&process.benchmarks) {
        let benchmark = intern_benchmark(sql, workspace, &in_process.benchmark.key)?;
        let run_benchmark =
            upsert_run_benchmark(sql, run, benchmark, &process.target_facts, in_process)?;
        insert_outcome(sql, [run_benchmark, process_id, position], in_process)?;
        stored();
    }
    Ok(())
}

fn insert_head(sql: Sql<'_>, run: RunId, head: &ProcessHead) -> Attempt<i64> {
    let harness = head.harness.as_ref();
    sql.one(
        "INSERT INTO processes (run, package, target, ordinal, attempt, started, padding_bytes,
                                   harness, harness_version, quantum_ns, failure, conduct, layout)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING id",
        params![
            run.0,
            head.package,
            head.target,
            head.ordinal,
            head.attempt,
            head.started.0,
            head.padding_bytes,
            harness.map(|harness| &harness.name),
            harness.map(|harness| &harness.version),
            harness.map(|harness| Unsigned::from(harness.quantum)),
            head.failure,
            head.conduct.map(Json),
            head.layout,
        ],
        |row| row.get(0),
    )
}

/// Returns the row id of the benchmark in the run, and inserts the row if it is new. If processes differ in their conditions, the row gets those of
/// the last process that measured the benchmark: an executable may learn more about a benchmark by starting it.
fn upsert_run_benchmark(
    sql: Sql<'_>,
    run: RunId,
    benchmark: i64,
    target_facts: &TargetFacts,
    in_process: &BenchmarkInProcess,
) -> Attempt<i64> {
    let conditions = Conditions::from_launched(target_facts, in_process).intern(sql)?;
    let measured = matches!(in_process.outcome, ProcessOutcome::Measured(_));
    sql.one(
        "INSERT INTO run_benchmarks (run, benchmark, conditions) VALUES (?1, ?2, ?3)
         ON CONFLICT (benchmark, run)
         DO UPDATE SET conditions = CASE WHEN ?4 <> 0 THEN excluded.conditions ELSE run_benchmarks.conditions END
         RETURNING id",
        params![run.0, benchmark, conditions, measured],
        |row| row.get(0),
    )
}

/// Inserts the outcome of a benchmark in a process. `place` has the row id of the benchmark in the run (`run_benchmarks`), the row id of the process,
/// and the position of the benchmark in the process.
fn insert_outcome(sql: Sql<'_>, place: [i64; 3], in_process: &BenchmarkInProcess) -> Attempt<()> {
    let [run_benchmark, process, position] = place;
    match &in_process.outcome {
        ProcessOutcome::Measured(series) => sql.run(
            "INSERT INTO series (run_benchmark, process, position, samples, led, allocations, latencies)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                run_benchmark,
                process,
                position,
                encoding::encode(series),
                FlagColumn(&in_process.extras.led),
                AllocationsColumn(&in_process.extras.allocations),
                LatenciesColumn(in_process.extras.latencies.as_ref()),
            ],
        )?,
        ProcessOutcome::Failed { side, message } => sql.run(
            "INSERT INTO failures (run_benchmark, process, position, side, message) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run_benchmark, process, position, WordColumn(side), message],
        )?,
    };
    Ok(())
}

impl Store {
    /// Stores the instruction counts and time samples of benchmarks that the run has measured.
    pub fn record_counts(
        &mut self,
        run: RunId,
        counted: &[CountedBenchmark],
    ) -> Result<(), StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            insert_counts(sql, run, counted)
        })
    }

    /// Returns all instruction counts and time samples of a run, sorted by benchmark.
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
    /// Number of iterations in which the instructions were counted. `None` for time samples.
    pub(super) iterations: Option<i64>,
    pub(super) total: i64,
    pub(super) functions: &'c [FunctionCount],
}

/// Returns the rows in which the counts of a benchmark are stored, in the order of their positions.
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

/// Inserts the counts of benchmarks in the given order.
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

/// Adds the count of a row to `counts`. It is read from three columns, the first of which is `first`.
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
