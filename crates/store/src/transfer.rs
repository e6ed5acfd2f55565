//! Transfers whole runs between stores in one transaction: everything except kept executables.

use std::collections::BTreeMap;

use rusqlite::params;

use super::conditions::KnownConditions;
use super::encoding::{FlagValues, Json, WordColumn, read_allocations, read_latencies};
use super::error::{Attempt, Fault};
use super::processes::{insert_counts, insert_process};
use super::runs::{end_run, insert_base, insert_run, mark_side, read_key};
use super::sql::{Durability, Sql};
use super::steps::accept_levels;
use super::workspaces::{check_baseline_name, name_run};
use super::{Store, StoreError, WorkspaceId, encoding};
use perfcheck_analysis::model::{
    BenchmarkInProcess, BenchmarkKey, CountedBenchmark, Extras, NewRun, PortableRunId,
    ProcessOutcome, ProcessRecord, ProgressReporter, Purpose, RunEnd, RunId, Side, Source,
    TargetFacts, Timestamp,
};

/// A function that computes the end of a run from the new numbers of all runs that are transferred together.
pub type RunEndFn = Box<dyn Fn(&[RunId]) -> RunEnd>;

/// A whole run, read from one store to be inserted into another.
pub struct TransferredRun {
    /// The facts that were known when the run began.
    pub head: NewRun,
    /// Source of the numbers, if they were imported from another program.
    pub source: Option<Source>,
    /// The other side, if the run is one of a side-by-side measurement.
    pub pair: Option<TransferredPair>,
    /// Processes of the run.
    pub processes: Vec<ProcessRecord>,
    /// Instruction counts and time samples of the run's benchmarks.
    pub counted: Vec<CountedBenchmark>,
    /// Computes the end of the run from the new numbers of all runs that are transferred together, because its verdicts and its conclusion name other
    /// runs by their numbers.
    pub end: RunEndFn,
    /// Benchmarks whose level was accepted individually.
    pub accepted: Vec<BenchmarkKey>,
    /// Baselines to set to this run. Existing baselines of these names are moved to it.
    pub baselines: Vec<String>,
}

impl TransferredRun {
    /// Returns the index of the candidate among the transferred runs, if this run is a base.
    pub(super) fn candidate_index(&self) -> Option<usize> {
        let base = self.pair.as_ref().filter(|pair| pair.side == Side::Base);
        base.map(|pair| pair.partner)
    }
}

/// One side of a side-by-side measurement.
#[derive(Debug, Clone)]
pub struct TransferredPair {
    /// Index of the other side among the transferred runs.
    pub partner: usize,
    /// The side of this run.
    pub side: Side,
    /// Purpose of the measurement.
    pub purpose: Purpose,
    /// The plan of the measurement, as it was recorded.
    pub plan: String,
}

/// Whether this store has a run that another store has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownRun {
    /// The run is stored under this number.
    Stored(RunId),
    /// The run was stored and then removed. Only a team's store remembers this.
    Removed,
    /// The run was never stored.
    Unknown,
}

impl Store {
    /// Inserts runs with all their data in one transaction, and returns their numbers.
    pub fn insert_transferred(
        &mut self,
        workspace: WorkspaceId,
        runs: &[TransferredRun],
        progress: &ProgressReporter<'_>,
    ) -> Result<Vec<RunId>, StoreError> {
        let processes = runs.iter().flat_map(|run| &run.processes);
        let all = processes.map(|process| process.benchmarks.len()).sum();
        for name in runs.iter().flat_map(|run| &run.baselines) {
            check_baseline_name(name)?;
        }
        self.write(Durability::PowerLoss, |sql| {
            #[cfg(feature = "postgres")]
            if let Sql::Postgres(session) = sql {
                let ended = session.insert_runs(workspace, runs, progress)?;
                for (run, (id, finished)) in runs.iter().zip(&ended) {
                    record_acceptance_and_baselines(sql, workspace, *id, run, *finished)?;
                }
                return Ok(ended.into_iter().map(|(id, _)| id).collect());
            }
            let ids = number_runs(runs, |run, candidate| match candidate {
                None => insert_run(sql, workspace, &run.head),
                Some(candidate) => insert_base(sql, workspace, &run.head, candidate),
            })?;
            let mut done = 0;
            for (run, id) in runs.iter().zip(&ids) {
                insert(sql, workspace, *id, run, &ids, &mut || {
                    progress.report(done, all);
                    done += 1;
                })?;
            }
            Ok(ids)
        })
    }

    /// Returns the complete runs of a workspace with this identity, which is the same in all stores.
    pub fn find_runs_begun(
        &self,
        workspace: WorkspaceId,
        run: PortableRunId,
    ) -> Result<Vec<RunId>, StoreError> {
        self.read(|sql| runs_begun(sql, workspace, run))
    }

    /// Looks up runs by the identity that they have in all stores. A team's store is queried once for all of them.
    pub fn known_runs(
        &self,
        workspace: WorkspaceId,
        runs: &[PortableRunId],
    ) -> Result<Vec<KnownRun>, StoreError> {
        self.read(|sql| {
            #[cfg(feature = "postgres")]
            if let Sql::Postgres(session) = sql {
                return session.known_runs(workspace, runs);
            }
            let known = runs.iter().map(|run| {
                let found = runs_begun(sql, workspace, *run)?;
                let found = found.first();
                Ok(found.map_or(KnownRun::Unknown, |run| KnownRun::Stored(*run)))
            });
            known.collect()
        })
    }

    /// Returns the purpose of a run. Returns `None` for a run of a single build, unless it measured one part of a suite.
    pub fn purpose(&self, run: RunId) -> Result<Option<Purpose>, StoreError> {
        self.read(|sql| {
            let purpose: Option<WordColumn<Purpose>> = sql.one(
                "SELECT purpose FROM runs WHERE id = ?1",
                params![run.0],
                |row| row.get(0),
            )?;
            Ok(purpose.map(|WordColumn(purpose)| purpose))
        })
    }

    /// Returns the processes of a run with all their results, by target, number and attempt.
    pub fn process_records(&self, run: RunId) -> Result<Vec<ProcessRecord>, StoreError> {
        let heads = self.processes(run)?;
        self.read(|sql| {
            let mut known = KnownConditions::default();
            heads
                .into_iter()
                .map(|head| {
                    let id: i64 = sql.one(
                        "SELECT id FROM processes WHERE run = ?1 AND package = ?2 AND target = ?3
                         AND ordinal = ?4 AND attempt = ?5",
                        params![run.0, head.package, head.target, head.ordinal, head.attempt],
                        |row| row.get(0),
                    )?;
                    let (target_facts, benchmarks) =
                        read_process_results(sql, &mut known, run, id)?;
                    Ok(ProcessRecord {
                        head,
                        target_facts,
                        benchmarks,
                    })
                })
                .collect()
        })
    }
}

/// Gives each transferred run the number that `number` returns for it. Candidates are numbered before bases, so that `number` also gets the number of
/// the candidate if the run is a base.
pub(super) fn number_runs(
    runs: &[TransferredRun],
    mut number: impl FnMut(&TransferredRun, Option<RunId>) -> Attempt<RunId>,
) -> Attempt<Vec<RunId>> {
    let mut numbers: BTreeMap<usize, RunId> = BTreeMap::new();
    let (bases, others): (Vec<usize>, Vec<usize>) =
        (0..runs.len()).partition(|place| runs[*place].candidate_index().is_some());
    for place in others.into_iter().chain(bases) {
        let run = &runs[place];
        let candidate = run.candidate_index().and_then(|place| numbers.get(&place));
        numbers.insert(place, number(run, candidate.copied())?);
    }
    Ok(numbers.into_values().collect())
}

fn runs_begun(sql: Sql<'_>, workspace: WorkspaceId, run: PortableRunId) -> Attempt<Vec<RunId>> {
    sql.all(
        "SELECT id FROM runs WHERE workspace = ?1 AND started = ?2 AND seed = ?3
         AND role IS NOT DISTINCT FROM ?4 AND status = 'complete' ORDER BY id",
        params![
            workspace.0,
            run.started.0,
            run.seed.cast_signed(),
            run.side.map(WordColumn)
        ],
        |row| row.get(0).map(RunId),
    )
}

fn insert(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    id: RunId,
    run: &TransferredRun,
    ids: &[RunId],
    stored: &mut dyn FnMut(),
) -> Attempt<()> {
    if let Some(source) = &run.source {
        sql.run(
            "UPDATE runs SET source = ?2 WHERE id = ?1",
            params![id.0, Json(source)],
        )?;
    }
    if let Some(pair) = &run.pair {
        mark_side(sql, id, (pair.side, &pair.plan, pair.purpose))?;
    }
    for process in &run.processes {
        insert_process(sql, workspace, id, process, stored)?;
    }
    insert_counts(sql, id, &run.counted)?;
    let end = (run.end)(ids);
    end_run(sql, id, &end)?;
    record_acceptance_and_baselines(sql, workspace, id, run, end.finished)
}

/// Records accepted levels and baselines of an inserted run.
fn record_acceptance_and_baselines(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    id: RunId,
    run: &TransferredRun,
    now: Timestamp,
) -> Attempt<()> {
    accept_levels(sql, workspace, id, &run.accepted, now)?;
    for name in &run.baselines {
        name_run(sql, workspace, name, id)?;
    }
    Ok(())
}

/// Reads the results of a process in the order of its requests, and the facts about its target.
fn read_process_results(
    sql: Sql<'_>,
    known: &mut KnownConditions,
    run: RunId,
    process: i64,
) -> Attempt<(TargetFacts, Vec<BenchmarkInProcess>)> {
    let outcomes = "
        SELECT b.package, b.target, b.name, rb.conditions, s.samples, s.led, s.allocations, s.latencies, NULL, NULL, s.position
         FROM run_benchmarks rb JOIN series s ON s.run_benchmark = rb.id AND s.process = ?1 JOIN benchmarks b ON b.id = rb.benchmark
         WHERE rb.run = ?2
         UNION ALL
         SELECT b.package, b.target, b.name, rb.conditions, NULL, NULL, NULL, NULL, f.side, f.message, f.position
         FROM failures f JOIN run_benchmarks rb ON rb.id = f.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark
         WHERE f.process = ?1
         ORDER BY 11";
    let mut facts = TargetFacts::default();
    let mut benchmarks = Vec::new();
    sql.each(outcomes, params![process, run.0], |row| {
        let conditions = known.get(sql, row.get(3)?)?;
        facts.clone_from(&conditions.target);
        let side: Option<WordColumn<Side>> = row.get(8)?;
        let outcome = if let Some(WordColumn(side)) = side {
            ProcessOutcome::Failed {
                side,
                message: row.get(9)?,
            }
        } else {
            let bytes = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
            ProcessOutcome::Measured(encoding::decode(bytes).map_err(Fault::Content)?)
        };
        benchmarks.push(BenchmarkInProcess {
            benchmark: conditions.benchmark(read_key(row, 0)?),
            sampling: conditions.sampling,
            noise_threshold: conditions.noise_threshold,
            outcome,
            extras: Extras {
                led: row.get::<FlagValues>(5)?.0,
                allocations: read_allocations(row.get_ref(6)?).map_err(Fault::Content)?,
                latencies: read_latencies(row.get_ref(7)?).map_err(Fault::Content)?,
            },
        });
        Ok(())
    })?;
    Ok((facts, benchmarks))
}
