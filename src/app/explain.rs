//! `cargo perfcheck explain BENCH`: how a stored verdict came about, from what is stored alone.

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::naming::{alike, candidates, list};
use super::options::StoreOptions;
use super::replay::Replay;
use crate::compare::HostSigns;
use crate::exit_code::ExitCode;
use crate::host;
use crate::model::{BenchmarkKey, Measurement, Metric, Run, RunId, RunStatus, Side};
use crate::report::{Explanation, MeasuredSide, Replayed, write_explanation};
use crate::store::{Store, StoreError, WorkspaceId};

/// Runs the command: about the verdict of `run`, else about the newest one there is.
pub fn explain(
    bench: &str,
    run: Option<&str>,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let (key, head) = match run {
        Some(word) => {
            let head = asked_for(&store, resolve_run(&store, workspace, word)?)?;
            (of_run(&store, workspace, bench, &head)?, head)
        }
        None => newest(&store, workspace, bench)?,
    };
    let replay = Replay::of(&store, workspace, &context, &head)?;
    let Some(stored) = replay.stored.get(&key) else {
        return Err(without_verdict(&key, &head));
    };
    let replayed = replay.found.get(&key);
    let measurement = replay
        .measurements
        .iter()
        .find(|measurement| measurement.benchmark.key == key);
    let confirmed = replayed.and_then(|replayed| replayed.confirmed.as_ref());
    let again = match confirmed {
        Some(confirmed) => measured(&store, confirmed.candidate, &key)?,
        None => None,
    };
    let candidate = match (again, measurement) {
        (Some(again), _) => Some(again),
        (None, Some(measurement)) => Some(side(&head, measurement)),
        (None, None) => None,
    };
    let explanation = Explanation {
        key: &key,
        metric: measurement.map_or(&Metric::Time, |found| &found.benchmark.metric),
        run: &head,
        verdict: stored.verdict,
        change: stored.change,
        reference: stored.reference,
        candidate,
        base: reference(&store, replayed, &key)?,
        signs: HostSigns::of(replay.measurements.iter()),
        failures: measurement.map_or(&[][..], |measurement| &measurement.failures),
        replayed,
        plan: replay.plan.as_ref(),
    };
    write_explanation(world.stdout, &explanation, common.output.format)?;
    Ok(ExitCode::Clean)
}

/// The run whose verdicts are meant: of an A/B measurement the candidate has them.
pub(super) fn asked_for(store: &Store, run: RunId) -> Result<Run, StoreError> {
    let head = store.run(run)?;
    match head.pair.filter(|pair| pair.side == Side::Base) {
        Some(pair) => store.run(pair.partner),
        None => Ok(head),
    }
}

/// The benchmark of this run that is meant.
fn of_run(
    store: &Store,
    workspace: WorkspaceId,
    bench: &str,
    head: &Run,
) -> Result<BenchmarkKey, AppError> {
    let verdicts = store.verdicts(head.id)?;
    let with_verdict: Vec<&BenchmarkKey> = verdicts.iter().map(|verdict| &verdict.key).collect();
    if let Some(key) = one_of(&candidates(bench, &with_verdict), bench)? {
        return Ok(key.clone());
    }
    let all = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = all.iter().map(|benchmark| &benchmark.key).collect();
    Err(match one_of(&candidates(bench, &all), bench)? {
        Some(key) => without_verdict(key, head),
        None => no_such(bench, &with_verdict, &format!("run {} has", head.id)),
    })
}

/// The benchmark that is meant, and the newest run that has a verdict about it.
fn newest(
    store: &Store,
    workspace: WorkspaceId,
    bench: &str,
) -> Result<(BenchmarkKey, Run), AppError> {
    let measured = store.benchmarks(workspace)?;
    // What was never measured may have a verdict all the same: it is missing, or new to an A/B measurement.
    let latest = match store.latest_run(workspace)? {
        Some(run) => store.verdicts(run)?,
        None => Vec::new(),
    };
    let mut all: Vec<&BenchmarkKey> = measured
        .iter()
        .map(|benchmark| &benchmark.key)
        .chain(latest.iter().map(|verdict| &verdict.key))
        .collect();
    all.sort_unstable();
    all.dedup();
    let Some(key) = one_of(&candidates(bench, &all), bench)? else {
        return Err(no_such(bench, &all, "the store has"));
    };
    match store.newest_verdict(workspace, key)? {
        Some(run) => Ok((key.clone(), store.run(run)?)),
        None => Err(AppError::NoVerdict(format!(
            "no complete run has a verdict about `{}` yet\n  help: `cargo perfcheck --exact {}` measures and compares it; `cargo perfcheck show` prints what was measured",
            key.id.escape_debug(),
            super::next_steps::shell_quoted(&key.id)
        ))),
    }
}

/// `None` where nothing fits, an error where several do.
fn one_of<'k>(
    found: &[&'k BenchmarkKey],
    bench: &str,
) -> Result<Option<&'k BenchmarkKey>, AppError> {
    match found {
        [] => Ok(None),
        [key] => Ok(Some(*key)),
        _ => Err(AppError::Usage(format!(
            "`{bench}` may be any of {} benchmarks{}",
            found.len(),
            list("name one of", found)
        ))),
    }
}

fn no_such(bench: &str, all: &[&BenchmarkKey], whose: &str) -> AppError {
    let near = alike(bench, all);
    let named = if near.is_empty() {
        list(whose, all)
    } else {
        list("did you mean", &near)
    };
    AppError::Usage(format!(
        "{whose} no benchmark `{bench}`{named}\n  help: `cargo perfcheck list` lists the benchmarks in the store"
    ))
}

fn without_verdict(key: &BenchmarkKey, head: &Run) -> AppError {
    let why = match head.status {
        RunStatus::Incomplete => "it did not come to its end",
        RunStatus::Complete => "it neither measured nor missed it",
    };
    AppError::NoVerdict(format!(
        "run {} has no verdict about `{}`: {why}\n  help: without `--run` the newest verdict is explained",
        head.id,
        key.id.escape_debug()
    ))
}

/// What the runs measured that it was compared with.
fn reference(
    store: &Store,
    replayed: Option<&Replayed>,
    key: &BenchmarkKey,
) -> Result<Vec<MeasuredSide>, StoreError> {
    let mut sides = Vec::new();
    for run in replayed.map_or(&[][..], |replayed| &replayed.reference) {
        sides.extend(measured(store, *run, key)?);
    }
    Ok(sides)
}

fn measured(
    store: &Store,
    run: RunId,
    key: &BenchmarkKey,
) -> Result<Option<MeasuredSide>, StoreError> {
    let head = store.run(run)?;
    let measurements = store.measurements(run, Some(std::slice::from_ref(key)))?;
    Ok(measurements.first().map(|found| side(&head, found)))
}

pub(super) fn side(head: &Run, measurement: &Measurement) -> MeasuredSide {
    let launches = measurement.launches.iter();
    let samples = launches.map(|launch| launch.series.deciding().len());
    let counts: Vec<usize> = samples.filter(|samples| *samples > 0).collect();
    MeasuredSide {
        run: head.id,
        started: host::to_rfc3339(head.started),
        git: head.git.clone(),
        launches: counts.len(),
        samples: counts.iter().sum(),
    }
}
