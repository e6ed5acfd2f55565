//! Stores processes. Each is recorded as a whole, in one transaction, as soon as it has ended.

use rusqlite::params;

use super::access::Durability;
use super::codec;
use super::columns::{FlagColumn, Json, Unsigned};
use super::conditions::{Conditions, intern_benchmark};
use super::error::Attempt;
use super::extras::{AllocationsColumn, LatenciesColumn};
use super::runs::workspace_of_open_run;
use super::sql::Sql;
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{
    BenchmarkInProcess, Harness, Nanos, ProcessHead, ProcessOutcome, ProcessRecord, RunId,
    TargetFacts, Timestamp,
};

impl Store {
    /// Adds a process to a run that has not ended. Once this returns, the data survives the death of this program.
    pub fn record_launch(&mut self, run: RunId, launch: &ProcessRecord) -> Result<(), StoreError> {
        self.write(Durability::Kill, |sql| {
            let workspace = workspace_of_open_run(sql, run)?;
            insert_launch(sql, workspace, run, launch, &mut || ())
        })
    }

    /// Lists the processes of a run by target, number and attempt.
    pub fn launches(&self, run: RunId) -> Result<Vec<ProcessHead>, StoreError> {
        self.read(|sql| {
            sql.all(
                "SELECT package, target, ordinal, attempt, started, padding_bytes,
                        harness, harness_version, quantum_ns, failure, conduct, layout
                 FROM launches WHERE run = ?1 ORDER BY package, target, ordinal, attempt",
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

/// Inserts a process with all its results.
pub(super) fn insert_launch(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    run: RunId,
    launch: &ProcessRecord,
    stored: &mut dyn FnMut(),
) -> Attempt<()> {
    let launch_id = insert_head(sql, run, &launch.head)?;
    for (position, launched) in (0_i64..).zip(&launch.benchmarks) {
        let benchmark = intern_benchmark(sql, workspace, &launched.benchmark.key)?;
        let run_benchmark =
            upsert_run_benchmark(sql, run, benchmark, &launch.target_facts, launched)?;
        insert_outcome(sql, [run_benchmark, launch_id, position], launched)?;
        stored();
    }
    Ok(())
}

fn insert_head(sql: Sql<'_>, run: RunId, head: &ProcessHead) -> Attempt<i64> {
    let harness = head.harness.as_ref();
    sql.one(
        "INSERT INTO launches (run, package, target, ordinal, attempt, started, padding_bytes,
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

/// Returns the row of the benchmark in the run. If processes differ in their conditions, the last one that measured
/// the benchmark wins: an executable may learn more about a benchmark by starting it.
fn upsert_run_benchmark(
    sql: Sql<'_>,
    run: RunId,
    benchmark: i64,
    target_facts: &TargetFacts,
    launched: &BenchmarkInProcess,
) -> Attempt<i64> {
    let conditions = Conditions::from_launched(target_facts, launched).intern(sql)?;
    let measured = matches!(launched.outcome, ProcessOutcome::Measured(_));
    sql.one(
        "INSERT INTO run_benchmarks (run, benchmark, conditions) VALUES (?1, ?2, ?3)
         ON CONFLICT (benchmark, run)
         DO UPDATE SET conditions = CASE WHEN ?4 <> 0 THEN excluded.conditions ELSE run_benchmarks.conditions END
         RETURNING id",
        params![run.0, benchmark, conditions, measured],
        |row| row.get(0),
    )
}

/// Inserts the outcome of a benchmark. `place` is the row of the benchmark in the run, the process, and the position.
fn insert_outcome(sql: Sql<'_>, place: [i64; 3], launched: &BenchmarkInProcess) -> Attempt<()> {
    let [run_benchmark, launch, position] = place;
    match &launched.outcome {
        ProcessOutcome::Measured(series) => sql.run(
            "INSERT INTO series (run_benchmark, launch, position, samples, led, allocations, latencies)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                run_benchmark,
                launch,
                position,
                codec::encode(series),
                FlagColumn(&launched.extras.led),
                AllocationsColumn(&launched.extras.allocations),
                LatenciesColumn(launched.extras.latencies.as_ref()),
            ],
        )?,
        ProcessOutcome::Failed(message) => sql.run(
            "INSERT INTO failures (run_benchmark, launch, position, message) VALUES (?1, ?2, ?3, ?4)",
            params![run_benchmark, launch, position, message],
        )?,
    };
    Ok(())
}
