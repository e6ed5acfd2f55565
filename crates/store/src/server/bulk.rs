//! Sends whole runs, or the summary values that replace removed samples of a run, in a few statements.
//!
//! Invariant: the number of statements is independent of the number of benchmarks. Each table gets one statement, and each parameter of the statement
//! is an array with a whole column.

use rusqlite::types::Value;
use std::collections::HashMap;
use std::hash::Hash;
use tokio_postgres::types::{ToSql, Type};

use super::session::TeamSession;
use super::values::SqlValue;
use crate::conditions::Conditions;
use crate::encoding::{AllocationsColumn, FlagColumn, Json, LatenciesColumn, pack, word};
use crate::error::{Attempt, Fault};
use crate::processes::count_rows;
use crate::pruning::BenchmarkPoint;
use crate::transfer::{KnownRun, TransferredRun, number_runs};
use crate::{StoreError, WorkspaceId, encoding};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, PortableRunId, ProcessOutcome, ProgressReporter, RunEnd, RunId,
    RunPoint, RunStatus, RunVerdict, Timestamp,
};

/// Distinct values in the order of their first occurrence.
struct Interned<T>(HashMap<T, usize>, Vec<T>);

impl<T: Clone + Eq + Hash> Interned<T> {
    fn new() -> Self {
        Self(HashMap::new(), Vec::new())
    }

    /// Returns the index of a value, and adds it if it is new.
    fn intern(&mut self, thing: &T) -> usize {
        if let Some(place) = self.0.get(thing) {
            return *place;
        }
        self.0.insert(thing.clone(), self.1.len());
        self.1.push(thing.clone());
        self.1.len() - 1
    }
}

/// The distinct rows that the transferred runs refer to. Until the server assigns row ids, an index identifies a row.
struct TransferRows {
    environments: Interned<String>,
    conditions: Interned<String>,
    benchmarks: Interned<BenchmarkKey>,
    /// Pairs of the index of a run and the index of a benchmark in it.
    run_benchmarks: Interned<(usize, usize)>,
    /// For each of `run_benchmarks`, the index of its conditions.
    measured_under: Vec<usize>,
    processes: usize,
}

impl TransferRows {
    fn from_runs(runs: &[TransferredRun]) -> Attempt<Self> {
        let mut shared = Self {
            environments: Interned::new(),
            conditions: Interned::new(),
            benchmarks: Interned::new(),
            run_benchmarks: Interned::new(),
            measured_under: Vec::new(),
            processes: 0,
        };
        for (place, run) in runs.iter().enumerate() {
            shared.environments.intern(&json(&run.head.environment)?);
            for process in &run.processes {
                shared.processes += 1;
                for in_process in &process.benchmarks {
                    let conditions = Conditions::from_launched(&process.target_facts, in_process);
                    let conditions = shared.conditions.intern(&conditions.facts()?);
                    let benchmark = shared.benchmarks.intern(&in_process.benchmark.key);
                    let at = shared.run_benchmarks.intern(&(place, benchmark));
                    match shared.measured_under.get_mut(at) {
                        None => shared.measured_under.push(conditions),
                        // The last process that measured the benchmark determines the conditions, as in a store in a file.
                        Some(under)
                            if matches!(in_process.outcome, ProcessOutcome::Measured(_)) =>
                        {
                            *under = conditions;
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        Ok(shared)
    }
}

/// The row ids that the server assigned. There is one list for each kind of row, in the order of the methods below.
struct AssignedIds([Vec<i64>; 6]);

impl AssignedIds {
    fn environment(&self, place: usize) -> i64 {
        self.0[0][place]
    }
    fn conditions(&self, place: usize) -> i64 {
        self.0[1][place]
    }
    fn benchmark(&self, place: usize) -> i64 {
        self.0[2][place]
    }
    fn run(&self, place: usize) -> i64 {
        self.0[3][place]
    }
    fn run_benchmark(&self, place: usize) -> i64 {
        self.0[4][place]
    }
    fn process(&self, place: usize) -> i64 {
        self.0[5][place]
    }
}

/// The columns of a statement, with one value per row.
#[derive(Default)]
struct Columns(Vec<(Type, Box<dyn ToSql + Sync>)>);

impl Columns {
    fn add<T: ToSql + Sync + 'static>(&mut self, r#type: Type, values: Vec<T>) {
        self.0.push((r#type, Box::new(values)));
    }

    fn numbers(&mut self, values: impl IntoIterator<Item = impl Into<Option<i64>>>) {
        let values: Vec<Option<i64>> = values.into_iter().map(Into::into).collect();
        self.add(Type::INT8_ARRAY, values);
    }

    fn texts(&mut self, values: impl IntoIterator<Item = impl Into<Option<String>>>) {
        // A text in PostgreSQL cannot contain NUL.
        let values = values.into_iter().map(|text| {
            let text: Option<String> = text.into();
            text.map(|text| text.replace('\0', "\u{fffd}"))
        });
        self.add(Type::TEXT_ARRAY, values.collect::<Vec<Option<String>>>());
    }

    fn blobs(&mut self, values: Vec<Option<Vec<u8>>>) {
        self.add(Type::BYTEA_ARRAY, values);
    }

    fn measures(&mut self, values: Vec<Option<f64>>) {
        self.add(Type::FLOAT8_ARRAY, values);
    }

    /// Inserts one row per value into the named columns of a table. Returns the number of inserted rows.
    fn insert(self, session: &TeamSession, table: &str, columns: &str) -> Attempt<usize> {
        let places: Vec<String> = (1..=self.0.len()).map(|at| format!("${at}")).collect();
        let statement = format!(
            "INSERT INTO {table} ({columns}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING",
            places.join(", ")
        );
        let values: Vec<(&(dyn ToSql + Sync), Type)> = (self.0.iter())
            .map(|(r#type, values)| (&**values, r#type.clone()))
            .collect();
        session.change(&statement, &values)
    }
}

impl TeamSession {
    /// Inserts runs with all their data, except baselines and accepted levels. Returns their run numbers and end
    /// times.
    pub(crate) fn insert_runs(
        &self,
        workspace: WorkspaceId,
        runs: &[TransferredRun],
        progress: &ProgressReporter<'_>,
    ) -> Attempt<Vec<(RunId, Timestamp)>> {
        let mut shared = TransferRows::from_runs(runs)?;
        let numbers = self.begin_transfer(workspace, &mut shared, runs)?;
        let ids: Vec<RunId> = (0..runs.len()).map(|at| RunId(numbers.run(at))).collect();
        let ends: Vec<RunEnd> = runs.iter().map(|run| (run.end)(&ids)).collect();
        self.insert_heads(workspace, runs, &shared, &numbers, (&ids, &ends))?;
        VerdictRows::from_ends(&ends, &shared).insert(self, &shared, &numbers)?;
        self.insert_processes(runs, &shared, &numbers, progress)?;
        let finished = ends.iter().map(|end| end.finished);
        Ok(ids.into_iter().zip(finished).collect())
    }

    /// Looks up runs by the identity that they have in all stores.
    pub(crate) fn known_runs(
        &self,
        workspace: WorkspaceId,
        runs: &[PortableRunId],
    ) -> Attempt<Vec<KnownRun>> {
        let started: Vec<i64> = runs.iter().map(|run| run.started.0).collect();
        let seeds: Vec<i64> = runs.iter().map(|run| run.seed.cast_signed()).collect();
        let sides: Vec<String> = (runs.iter())
            .map(|run| run.side.map_or_else(String::new, word))
            .collect();
        let rows = self.rows(
            "SELECT r.id, g.seed IS NOT NULL FROM unnest($2, $3, $4) WITH ORDINALITY a(started, seed, role, place)
             LEFT JOIN runs r ON r.workspace = $1 AND r.started = a.started AND r.seed = a.seed
                 AND coalesce(r.role, '') = a.role COLLATE \"C\" AND r.status = 'complete'
             LEFT JOIN removed_runs g ON g.workspace = $1 AND g.started = a.started AND g.seed = a.seed
                 AND g.role = a.role COLLATE \"C\"
             ORDER BY a.place",
            &[
                (&workspace.0, Type::INT8),
                (&started, Type::INT8_ARRAY),
                (&seeds, Type::INT8_ARRAY),
                (&sides, Type::TEXT_ARRAY),
            ],
        )?;
        rows.iter()
            .map(|row| {
                let stored: Option<i64> = row.try_get(0).map_err(Fault::Server)?;
                let removed: bool = row.try_get(1).map_err(Fault::Server)?;
                Ok(match (stored, removed) {
                    (Some(run), _) => KnownRun::Stored(RunId(run)),
                    (None, true) => KnownRun::Removed,
                    (None, false) => KnownRun::Unknown,
                })
            })
            .collect()
    }

    fn begin_transfer(
        &self,
        workspace: WorkspaceId,
        shared: &mut TransferRows,
        runs: &[TransferredRun],
    ) -> Attempt<AssignedIds> {
        // A run may have a verdict for a benchmark that it did not measure.
        for run in runs {
            for found in (run.end)(&[]).verdicts {
                shared.benchmarks.intern(&found.key);
            }
        }
        let column = |part: fn(&BenchmarkKey) -> &String| -> Vec<String> {
            let keys = shared.benchmarks.1.iter();
            keys.map(|key| part(key).replace('\0', "\u{fffd}"))
                .collect()
        };
        let processes: Vec<i64> = (runs.iter())
            .flat_map(|run| run.processes.iter().map(|_| run.head.started.0))
            .collect();
        let bases = runs
            .iter()
            .filter_map(TransferredRun::candidate_index)
            .count();
        let counts = [runs.len() - bases, shared.run_benchmarks.1.len()];
        let [new_runs, run_benchmarks] =
            counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let (packages, targets) = (column(|key| &key.package), column(|key| &key.target));
        let names = column(|key| &key.id);
        let rows = self.rows(
            "SELECT kind, number FROM perfcheck.begin_transfer($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            &[
                (&workspace.0, Type::INT8),
                (&shared.environments.1, Type::TEXT_ARRAY),
                (&shared.conditions.1, Type::TEXT_ARRAY),
                (&packages, Type::TEXT_ARRAY),
                (&targets, Type::TEXT_ARRAY),
                (&names, Type::TEXT_ARRAY),
                (&new_runs, Type::INT8),
                (&run_benchmarks, Type::INT8),
                (&processes, Type::INT8_ARRAY),
            ],
        )?;
        let mut numbers: [Vec<i64>; 6] = Default::default();
        for row in rows {
            let kind: i32 = row.try_get(0).map_err(Fault::Server)?;
            let number: i64 = row.try_get(1).map_err(Fault::Server)?;
            let of_kind = usize::try_from(kind)
                .ok()
                .and_then(|kind| numbers.get_mut(kind));
            of_kind
                .ok_or_else(|| Fault::Content("it returned an id of an unknown kind".into()))?
                .push(number);
        }
        let expected = [
            shared.environments.1.len(),
            shared.conditions.1.len(),
            shared.benchmarks.1.len(),
        ];
        if numbers
            .iter()
            .zip(expected)
            .any(|(found, wanted)| found.len() != wanted)
        {
            return Err(Fault::Content(
                "it did not return every requested id".into(),
            ));
        }
        let mut given = std::mem::take(&mut numbers[3]).into_iter().map(RunId);
        let run_numbers = number_runs(runs, |_, candidate| {
            let number = candidate.map(RunId::base).or_else(|| given.next());
            number.ok_or_else(|| Fault::Content("it returned too few run numbers".into()))
        })?;
        numbers[3] = run_numbers.into_iter().map(|run| run.0).collect();
        Ok(AssignedIds(numbers))
    }

    fn insert_heads(
        &self,
        workspace: WorkspaceId,
        runs: &[TransferredRun],
        shared: &TransferRows,
        numbers: &AssignedIds,
        (ids, ends): (&[RunId], &[RunEnd]),
    ) -> Attempt<()> {
        let pairs = || runs.iter().map(|run| run.pair.as_ref());
        let git = || runs.iter().map(|run| run.head.git.as_ref());
        let mut columns = Columns::default();
        columns.numbers(ids.iter().map(|run| run.0));
        columns.numbers(runs.iter().map(|_| workspace.0));
        let mut environments = Vec::new();
        for run in runs {
            let facts = json(&run.head.environment)?;
            environments.push(numbers.environment(shared.environments.0[&facts]));
        }
        columns.numbers(environments);
        columns.texts(runs.iter().map(|_| word(RunStatus::Complete)));
        columns.texts(runs.iter().zip(ends).map(|(run, end)| {
            let acceptance = if run.candidate_index().is_some() {
                Acceptance::Pending
            } else {
                end.acceptance
            };
            word(acceptance)
        }));
        columns.numbers(runs.iter().map(|run| run.head.started.0));
        columns.numbers(ends.iter().map(|end| end.finished.0));
        columns.numbers(ends.iter().map(|end| i64::from(end.exit_code)));
        columns.texts(git().map(|git| git.map(|git| git.commit.clone())));
        columns.texts(git().map(|git| git.and_then(|git| git.branch.clone())));
        columns.numbers(git().map(|git| git.map(|git| i64::from(git.dirty))));
        columns.measures(runs.iter().map(|run| run.head.load).collect());
        columns.numbers(runs.iter().map(|run| run.head.seed.cast_signed()));
        let decisions: Vec<String> = (runs.iter())
            .map(|run| json(&run.head.decision))
            .collect::<Result<_, _>>()?;
        columns.texts(decisions);
        columns.texts(runs.iter().map(|run| run.head.tool_version.clone()));
        columns.numbers(pairs().map(|pair| pair.map(|pair| ids[pair.partner].0)));
        columns.texts(pairs().map(|pair| pair.map(|pair| word(pair.side))));
        columns.texts(pairs().map(|pair| pair.map(|pair| word(pair.purpose))));
        columns.texts(pairs().map(|pair| pair.map(|pair| pair.plan.clone())));
        let sources: Vec<Option<String>> = (runs.iter())
            .map(|run| run.source.as_ref().map(json).transpose())
            .collect::<Result<_, _>>()?;
        columns.texts(sources);
        let conclusions: Vec<Option<Vec<u8>>> = (ends.iter())
            .map(|end| end.conclusion.as_deref().map(pack).transpose())
            .collect::<Result<_, _>>()?;
        columns.blobs(conclusions);
        let past = || runs.iter().map(|run| run.head.past.as_ref());
        columns.numbers(past().map(|past| past.map(|past| past.committed.0)));
        columns.texts(past().map(|past| past.map(|past| past.series.clone())));
        let stored = columns.insert(
            self,
            "runs",
            "id, workspace, environment, status, acceptance, started, finished, exit_code, git_commit, git_branch, git_dirty, \
             load, seed, decision, tool_version, partner, role, purpose, plan, source, conclusion, committed, series",
        )?;
        if stored != runs.len() {
            return Err(StoreError::AlreadyThere.into());
        }
        Ok(())
    }

    fn insert_processes(
        &self,
        runs: &[TransferredRun],
        shared: &TransferRows,
        numbers: &AssignedIds,
        progress: &ProgressReporter<'_>,
    ) -> Attempt<()> {
        let mut heads = Columns::default();
        let processes = || runs.iter().flat_map(|run| &run.processes);
        let of_run = runs.iter().enumerate();
        let of_run = of_run.flat_map(|(at, run)| run.processes.iter().map(move |_| at));
        heads.numbers((0..shared.processes).map(|at| numbers.process(at)));
        heads.numbers(of_run.map(|at| numbers.run(at)));
        heads.texts(processes().map(|process| process.head.package.clone()));
        heads.texts(processes().map(|process| process.head.target.clone()));
        heads.numbers(processes().map(|process| i64::from(process.head.ordinal)));
        heads.numbers(processes().map(|process| i64::from(process.head.attempt)));
        heads.numbers(processes().map(|process| process.head.started.0));
        heads.numbers(processes().map(|process| i64::from(process.head.padding_bytes)));
        heads.numbers(processes().map(|process| process.head.layout.map(i64::from)));
        let harness = || processes().map(|process| process.head.harness.as_ref());
        heads.texts(harness().map(|harness| harness.map(|harness| harness.name.clone())));
        heads.texts(harness().map(|harness| harness.map(|harness| harness.version.clone())));
        heads.numbers(
            harness().map(|harness| harness.map(|harness| harness.quantum.0.cast_signed())),
        );
        heads.texts(processes().map(|process| process.head.failure.clone()));
        let conduct: Vec<Option<String>> = processes()
            .map(|process| process.head.conduct.as_ref().map(json).transpose())
            .collect::<Result<_, _>>()?;
        heads.texts(conduct);
        heads.insert(
            self,
            "processes",
            "id, run, package, target, ordinal, attempt, started, padding_bytes, layout, harness, harness_version, quantum_ns, \
             failure, conduct",
        )?;
        self.insert_outcomes(runs, shared, numbers, progress)
    }

    fn insert_outcomes(
        &self,
        runs: &[TransferredRun],
        shared: &TransferRows,
        numbers: &AssignedIds,
        progress: &ProgressReporter<'_>,
    ) -> Attempt<()> {
        let mut measured = [Vec::new(), Vec::new(), Vec::new()];
        let (mut samples, mut led) = (Vec::new(), Vec::new());
        let (mut allocations, mut latencies) = (Vec::new(), Vec::new());
        let mut failed = [Vec::new(), Vec::new(), Vec::new()];
        let (mut sides, mut messages) = (Vec::new(), Vec::new());
        let mut process_at = 0;
        let all = runs.iter().flat_map(|run| &run.processes);
        let all: usize = all.map(|process| process.benchmarks.len()).sum();
        let mut done = 0;
        for (at, run) in runs.iter().enumerate() {
            for process in &run.processes {
                for (position, in_process) in (0_i64..).zip(&process.benchmarks) {
                    progress.report(done, all);
                    done += 1;
                    let benchmark = shared.benchmarks.0[&in_process.benchmark.key];
                    let place = [
                        numbers.run_benchmark(shared.run_benchmarks.0[&(at, benchmark)]),
                        numbers.process(process_at),
                        position,
                    ];
                    match &in_process.outcome {
                        ProcessOutcome::Measured(series) => {
                            push_row(&mut measured, place);
                            samples.push(Some(encoding::encode(series)));
                            led.push(text(&FlagColumn(&in_process.extras.led))?);
                            allocations
                                .push(blob(&AllocationsColumn(&in_process.extras.allocations))?);
                            let found = LatenciesColumn(in_process.extras.latencies.as_ref());
                            latencies.push(blob(&found)?);
                        }
                        ProcessOutcome::Failed { side, message } => {
                            push_row(&mut failed, place);
                            sides.push(word(side));
                            messages.push(message.clone());
                        }
                    }
                }
                process_at += 1;
            }
        }
        let mut columns = Columns::default();
        for values in measured {
            columns.numbers(values);
        }
        columns.blobs(samples);
        columns.texts(led);
        columns.blobs(allocations);
        columns.blobs(latencies);
        columns.insert(
            self,
            "series",
            "run_benchmark, process, position, samples, led, allocations, latencies",
        )?;
        if !messages.is_empty() {
            let mut columns = Columns::default();
            for values in failed {
                columns.numbers(values);
            }
            columns.texts(sides);
            columns.texts(messages);
            columns.insert(
                self,
                "failures",
                "run_benchmark, process, position, side, message",
            )?;
        }
        self.insert_counts(runs, shared, numbers)
    }

    fn insert_counts(
        &self,
        runs: &[TransferredRun],
        shared: &TransferRows,
        numbers: &AssignedIds,
    ) -> Attempt<()> {
        let mut places: [Vec<i64>; 2] = Default::default();
        let (mut iterations, mut totals, mut functions) = (Vec::new(), Vec::new(), Vec::new());
        for (at, run) in runs.iter().enumerate() {
            for found in &run.counted {
                let benchmark = shared.benchmarks.0.get(&found.benchmark);
                let Some(place) = benchmark.and_then(|it| shared.run_benchmarks.0.get(&(at, *it)))
                else {
                    continue;
                };
                for (position, row) in (0_i64..).zip(count_rows(&found.counts)) {
                    push_row(&mut places, [numbers.run_benchmark(*place), position]);
                    iterations.push(row.iterations);
                    totals.push(row.total);
                    functions.push(json(&row.functions)?);
                }
            }
        }
        if functions.is_empty() {
            return Ok(());
        }
        let mut columns = Columns::default();
        for values in places {
            columns.numbers(values);
        }
        columns.numbers(iterations);
        columns.numbers(totals);
        columns.texts(functions);
        columns
            .insert(
                self,
                "counts",
                "run_benchmark, position, iterations, total, functions",
            )
            .map(drop)
    }
}

/// The verdicts of the runs. Each is identified by the index of its run and the index of its benchmark.
struct VerdictRows(Vec<((usize, usize), RunVerdict)>);

impl VerdictRows {
    fn from_ends(ends: &[RunEnd], shared: &TransferRows) -> Self {
        let all = ends.iter().enumerate().flat_map(|(at, end)| {
            let found = end.verdicts.iter();
            found.map(move |found| ((at, shared.benchmarks.0[&found.key]), found.clone()))
        });
        Self(all.collect())
    }

    /// Inserts a row for each benchmark that a run measured, and one for each benchmark that only has a verdict.
    fn insert(
        self,
        session: &TeamSession,
        shared: &TransferRows,
        numbers: &AssignedIds,
    ) -> Attempt<()> {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        let places = &shared.run_benchmarks.1;
        let found: HashMap<(usize, usize), _> = self.0.into_iter().collect();
        let measured = || places.iter().map(|place| found.get(place));
        let mut columns = Columns::default();
        columns.numbers((0..places.len()).map(|at| numbers.run_benchmark(at)));
        columns.numbers(places.iter().map(|(run, _)| numbers.run(*run)));
        columns.numbers(
            places
                .iter()
                .map(|(_, benchmark)| numbers.benchmark(*benchmark)),
        );
        columns.numbers(
            shared
                .measured_under
                .iter()
                .map(|at| numbers.conditions(*at)),
        );
        columns.texts(measured().map(|found| found.map(|it| word(it.verdict))));
        columns.measures(measured().map(|found| finite(found?.typical_ns)).collect());
        columns.measures(measured().map(|found| finite(found?.change)).collect());
        columns.measures(
            measured()
                .map(|found| finite(found?.standard_error))
                .collect(),
        );
        columns.numbers(measured().map(|found| Some(found?.reference?.0)));
        columns.insert(
            session,
            "run_benchmarks",
            "id, run, benchmark, conditions, verdict, typical_ns, change, standard_error, reference",
        )?;
        let mut missed: Vec<_> = (found.iter())
            .filter(|(place, _)| !shared.run_benchmarks.0.contains_key(*place))
            .collect();
        if missed.is_empty() {
            return Ok(());
        }
        missed.sort_by_key(|(place, _)| **place);
        let mut columns = Columns::default();
        columns.numbers(missed.iter().map(|((run, _), _)| numbers.run(*run)));
        columns.numbers(missed.iter().map(|((_, it), _)| numbers.benchmark(*it)));
        columns.texts(missed.iter().map(|(_, found)| word(found.verdict)));
        columns.numbers(
            missed
                .iter()
                .map(|(_, found)| found.reference.map(|run| run.0)),
        );
        columns
            .insert(session, "unmeasured", "run, benchmark, verdict, reference")
            .map(drop)
    }
}

fn push_row<const N: usize>(columns: &mut [Vec<i64>; N], row: [i64; N]) {
    for (column, value) in columns.iter_mut().zip(row) {
        column.push(value);
    }
}

fn json<T: serde::Serialize>(facts: &T) -> Attempt<String> {
    Ok(text(&Json(facts))?.unwrap_or_default())
}

fn text(value: &dyn rusqlite::ToSql) -> Attempt<Option<String>> {
    match SqlValue::from_sqlite(value)?.0 {
        Value::Text(text) => Ok(Some(text)),
        _ => Ok(None),
    }
}

fn blob(value: &dyn rusqlite::ToSql) -> Attempt<Option<Vec<u8>>> {
    match SqlValue::from_sqlite(value)?.0 {
        Value::Blob(bytes) => Ok(Some(bytes)),
        _ => Ok(None),
    }
}

impl TeamSession {
    /// Stores the summary values that replace the samples of a run.
    pub(crate) fn insert_points(&self, run: RunId, points: &[BenchmarkPoint]) -> Attempt<()> {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let text = |part: fn(&BenchmarkKey) -> &String| -> Vec<String> {
            let parts = points
                .iter()
                .map(|one| part(&one.key).replace('\0', "\u{fffd}"));
            parts.collect()
        };
        let numbers = |part: &dyn Fn(&RunPoint) -> i64| -> Vec<i64> {
            points.iter().map(|one| part(&one.point)).collect()
        };
        let measures = |part: &dyn Fn(&RunPoint) -> Option<f64>| -> Vec<Option<f64>> {
            points.iter().map(|one| part(&one.point)).collect()
        };
        self.change(
            "INSERT INTO points (run_benchmark, processes, samples, from_ramp, low_quantile, median)
             SELECT rb.id, p.processes, p.samples, p.from_ramp, p.low_quantile, p.median
             FROM unnest($2, $3, $4, $5, $6, $7, $8, $9) p(package, target, name, processes, samples, from_ramp, low_quantile, median)
             JOIN runs r ON r.id = $1
             JOIN benchmarks b ON b.workspace = r.workspace AND b.package = p.package COLLATE \"C\"
                 AND b.target = p.target COLLATE \"C\" AND b.name = p.name COLLATE \"C\"
             JOIN run_benchmarks rb ON rb.benchmark = b.id AND rb.run = r.id
             ON CONFLICT DO NOTHING",
            &[
                (&run.0, Type::INT8),
                (&text(|key| &key.package), Type::TEXT_ARRAY),
                (&text(|key| &key.target), Type::TEXT_ARRAY),
                (&text(|key| &key.id), Type::TEXT_ARRAY),
                (&numbers(&|point| count(point.processes)), Type::INT8_ARRAY),
                (&numbers(&|point| count(point.samples)), Type::INT8_ARRAY),
                (&numbers(&|point| i64::from(point.from_ramp)), Type::INT8_ARRAY),
                (&measures(&|point| point.low_quantile), Type::FLOAT8_ARRAY),
                (&measures(&|point| point.median), Type::FLOAT8_ARRAY),
            ],
        )
        .map(drop)
    }
}
