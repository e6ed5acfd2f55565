//! Whole runs out of one store and into another: everything but kept executables, in one transaction.

use rusqlite::{Connection, params};

use super::access::Survives;
use super::baselines::{check_baseline_name, name_run};
use super::codec;
use super::columns::{FlagsRead, Json, WordColumn};
use super::conditions::KnownConditions;
use super::error::{Attempt, Fault};
use super::extras::{allocations_of, latencies_of};
use super::instructions::insert_counts;
use super::launches::insert_launch;
use super::runs::{end_run, insert_run, key_at};
use super::steps::accept_levels;
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{
    BenchmarkKey, CountedInstructions, Extras, LaunchOutcome, LaunchRecord, LaunchedBenchmark,
    NewRun, Purpose, RunEnd, RunId, Side, Source, TargetFacts, Timestamp, Work,
};

/// The end of a run, once it is known which numbers the runs get that are taken over together.
pub type EndByNumbers = Box<dyn Fn(&[RunId]) -> RunEnd>;

/// A whole run, as one store keeps it and another one may take it.
pub struct TransferredRun {
    /// Its head.
    pub head: NewRun,
    /// Where its numbers come from, if another program measured them.
    pub source: Option<Source>,
    /// The other side, if it is one of an A/B measurement.
    pub pair: Option<TransferredPair>,
    /// Its launches.
    pub launches: Vec<LaunchRecord>,
    /// What was counted of its benchmarks.
    pub instructions: Vec<CountedInstructions>,
    /// Its end, which may name runs that are taken over together with this one: it is handed their numbers.
    pub end: EndByNumbers,
    /// The benchmarks whose level in it was accepted by itself.
    pub accepted: Vec<BenchmarkKey>,
    /// The baselines that are to name it. A name that is taken moves.
    pub baselines: Vec<String>,
}

/// One side of an A/B measurement.
#[derive(Debug, Clone)]
pub struct TransferredPair {
    /// Place of the other side among the runs that are taken over together.
    pub partner: usize,
    /// Which side this is.
    pub side: Side,
    /// What it was measured for.
    pub purpose: Purpose,
    /// The plan, as it was written down.
    pub plan: String,
}

impl Store {
    /// Takes over runs with everything that belongs to them: all or none. A base must come before its candidate. Tells their numbers.
    pub fn take_over(
        &mut self,
        workspace: WorkspaceId,
        runs: &[TransferredRun],
        told: &Work<'_>,
    ) -> Result<Vec<RunId>, StoreError> {
        let launches = runs.iter().flat_map(|run| &run.launches);
        let all = launches.map(|launch| launch.benchmarks.len()).sum();
        for name in runs.iter().flat_map(|run| &run.baselines) {
            check_baseline_name(name)?;
        }
        self.write(Survives::PowerLoss, |connection| {
            let ids: Vec<RunId> = (runs.iter())
                .map(|run| insert_run(connection, workspace, &run.head))
                .collect::<Result<_, _>>()?;
            let mut done = 0;
            for (run, id) in runs.iter().zip(&ids) {
                insert(connection, workspace, *id, run, &ids, &mut || {
                    told.reached(done, all);
                    done += 1;
                })?;
            }
            Ok(ids)
        })
    }

    /// The complete runs of a workspace that began at this time with this seed, as this side of a pair.
    pub fn runs_begun(
        &self,
        workspace: WorkspaceId,
        started: Timestamp,
        seed: u64,
        side: Option<Side>,
    ) -> Result<Vec<RunId>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM runs WHERE workspace = ?1 AND started = ?2 AND seed = ?3
                 AND role IS ?4 AND status = 'complete' ORDER BY id",
            )?;
            let rows = statement.query_map(
                params![
                    workspace.0,
                    started.0,
                    seed.cast_signed(),
                    side.map(WordColumn)
                ],
                |row| row.get(0).map(RunId),
            )?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What a pair was measured for.
    pub fn purpose(&self, run: RunId) -> Result<Option<Purpose>, StoreError> {
        self.read(|connection| {
            let purpose: Option<WordColumn<Purpose>> = connection
                .prepare_cached("SELECT purpose FROM runs WHERE id = ?1")?
                .query_row([run.0], |row| row.get(0))?;
            Ok(purpose.map(|WordColumn(purpose)| purpose))
        })
    }

    /// Every launch of a run with all that it gave, by target, ordinal and attempt.
    pub fn launch_records(&self, run: RunId) -> Result<Vec<LaunchRecord>, StoreError> {
        let heads = self.launches(run)?;
        self.read(|connection| {
            let mut known = KnownConditions::default();
            heads
                .into_iter()
                .map(|head| {
                    let id: i64 = connection
                        .prepare_cached(
                            "SELECT id FROM launches WHERE run = ?1 AND package = ?2 AND target = ?3
                             AND ordinal = ?4 AND attempt = ?5",
                        )?
                        .query_row(
                            params![run.0, head.package, head.target, head.ordinal, head.attempt],
                            |row| row.get(0),
                        )?;
                    let (target_facts, benchmarks) = launched(connection, &mut known, id)?;
                    Ok(LaunchRecord {
                        head,
                        target_facts,
                        benchmarks,
                    })
                })
                .collect()
        })
    }
}

fn insert(
    connection: &Connection,
    workspace: WorkspaceId,
    id: RunId,
    run: &TransferredRun,
    ids: &[RunId],
    stored: &mut dyn FnMut(),
) -> Attempt<()> {
    if let Some(source) = &run.source {
        connection.execute(
            "UPDATE runs SET source = ?2 WHERE id = ?1",
            params![id.0, Json(source)],
        )?;
    }
    if let Some(pair) = &run.pair {
        connection.execute(
            "UPDATE runs SET partner = ?2, role = ?3, plan = ?4, purpose = ?5 WHERE id = ?1",
            params![
                id.0,
                ids.get(pair.partner).map(|run| run.0),
                WordColumn(pair.side),
                pair.plan,
                WordColumn(pair.purpose)
            ],
        )?;
    }
    for launch in &run.launches {
        insert_launch(connection, workspace, id, launch, stored)?;
    }
    insert_counts(connection, id, &run.instructions)?;
    let end = (run.end)(ids);
    end_run(connection, id, &end)?;
    accept_levels(connection, workspace, id, &run.accepted, end.finished)?;
    for name in &run.baselines {
        name_run(connection, workspace, name, id)?;
    }
    Ok(())
}

/// What a launch gave, in the order of asking, with the facts of its target.
fn launched(
    connection: &Connection,
    known: &mut KnownConditions,
    launch: i64,
) -> Attempt<(TargetFacts, Vec<LaunchedBenchmark>)> {
    let mut statement = connection.prepare_cached(
        "SELECT b.package, b.target, b.name, rb.conditions, s.samples, s.led, s.allocations, s.latencies, NULL, s.position
         FROM series s JOIN run_benchmarks rb ON rb.id = s.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark
         WHERE s.launch = ?1
         UNION ALL
         SELECT b.package, b.target, b.name, rb.conditions, NULL, NULL, NULL, NULL, f.message, f.position
         FROM failures f JOIN run_benchmarks rb ON rb.id = f.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark
         WHERE f.launch = ?1
         ORDER BY 10",
    )?;
    let mut rows = statement.query([launch])?;
    let mut facts = TargetFacts::default();
    let mut benchmarks = Vec::new();
    while let Some(row) = rows.next()? {
        let conditions = known.get(connection, row.get(3)?)?;
        facts.clone_from(&conditions.target);
        let message: Option<String> = row.get(8)?;
        let outcome = if let Some(message) = message {
            LaunchOutcome::Failed(message)
        } else {
            let bytes = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
            LaunchOutcome::Measured(codec::decode(bytes).map_err(Fault::Content)?)
        };
        benchmarks.push(LaunchedBenchmark {
            benchmark: conditions.benchmark(key_at(row, 0)?),
            sampling: conditions.sampling,
            noise_threshold: conditions.noise_threshold,
            outcome,
            extras: Extras {
                led: row.get::<_, FlagsRead>(5)?.0,
                allocations: allocations_of(row.get_ref(6)?).map_err(Fault::Content)?,
                latencies: latencies_of(row.get_ref(7)?).map_err(Fault::Content)?,
            },
        });
    }
    Ok((facts, benchmarks))
}
