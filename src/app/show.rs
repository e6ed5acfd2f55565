//! `cargo perfcheck show RUN [BENCH]`: what a stored run measured; with `--stats` every statistic of it, with `--svg` a picture.

use std::cmp::Ordering;
use std::path::PathBuf;

use super::context::{Context, World, resolve_run};
use super::draw::draw;
use super::error::AppError;
use super::findings::{sort, summarize_all};
use super::naming::{alike, candidates, list};
use super::next_steps::shell_quoted;
use super::options::{Order, StoreOptions};
use super::replay::Replay;
use super::run::write;
use crate::compare::{BenchmarkRecord, HostSigns};
use crate::exit_code::ExitCode;
use crate::findings::{Findings, Row};
use crate::model::{BenchmarkKey, Measurement, Run, RunId, Verdict};
use crate::report::{BenchmarkStatistics, MessageFormat, write_run_head, write_statistics};
use crate::store::{Store, WorkspaceId};

/// How much is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// The table of a run.
    Table,
    /// Every statistic.
    Statistics,
    /// A picture in this file; `-` is stdout.
    Picture(PathBuf),
}

/// Runs the command.
pub fn show(
    run: &str,
    bench: Option<&str>,
    detail: &Detail,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let run = match (resolve_run(&store, workspace, run), bench) {
        (Err(error @ AppError::NoSuchRun { .. }), None) => {
            return Err(benchmark_meant(run, &store, workspace)?.unwrap_or(error));
        }
        (run, _) => run?,
    };
    let measurements = store.measurements(run, None)?;
    let all: Vec<&BenchmarkKey> = measurements
        .iter()
        .map(|found| &found.benchmark.key)
        .collect();
    let only = match bench {
        Some(bench) => Some(meant(bench, &all, run)?.clone()),
        None => None,
    };
    let is_shown = |key: &BenchmarkKey| only.as_ref().is_none_or(|only| only == key);
    let measurements: Vec<Measurement> = measurements
        .into_iter()
        .filter(|found| is_shown(&found.benchmark.key))
        .collect();
    match detail {
        Detail::Table => table(&store, run, &measurements, common, world),
        Detail::Statistics => {
            statistics(&store, workspace, run, &is_shown, &context, common, world)
        }
        Detail::Picture(file) => draw(&store.run(run)?, &measurements, file, world),
    }
}

/// That a word in a run's place is a benchmark's, if it is.
fn benchmark_meant(
    word: &str,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<AppError>, AppError> {
    let stored = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = stored.iter().map(|benchmark| &benchmark.key).collect();
    let found = candidates(word, &all);
    let quoted = shell_quoted(word);
    Ok((!found.is_empty()).then(|| {
        AppError::Usage(format!(
            "no run is called `{word}`{}\n  help: `cargo perfcheck show latest {quoted}` shows what the newest run measured of it, `cargo perfcheck history {quoted}` its course over runs",
            list("these benchmarks are", &found)
        ))
    }))
}

/// The benchmark that a word stands for.
fn meant<'k>(
    bench: &str,
    all: &[&'k BenchmarkKey],
    run: RunId,
) -> Result<&'k BenchmarkKey, AppError> {
    match candidates(bench, all)[..] {
        [key] => Ok(key),
        [] => {
            let near = alike(bench, all);
            let offered = if near.is_empty() {
                list("it has", all)
            } else {
                list("did you mean", &near)
            };
            Err(AppError::Usage(format!(
                "run {run} has no benchmark `{bench}`{offered}\n  help: `cargo perfcheck show {run}` shows all that it has"
            )))
        }
        ref several => Err(AppError::Usage(format!(
            "`{bench}` may be any of {} benchmarks{}",
            several.len(),
            list("name one of", several)
        ))),
    }
}

fn table(
    store: &Store,
    run: RunId,
    measurements: &[Measurement],
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let summary = store.run_summary(run)?;
    let decision = summary.run.decision;
    let mut rows: Vec<Row<'_>> = measurements
        .iter()
        .zip(summarize_all(measurements, &decision, summary.run.seed))
        .map(|(measurement, summary)| Row {
            key: measurement.benchmark.key.clone(),
            measurement: Some(measurement),
            summary,
            verdict: measurement.verdict,
            comparison: None,
            reference: Vec::new(),
            blocking: Vec::new(),
            seconds: None,
            remarks: Vec::new(),
        })
        .collect();
    sort(&mut rows, common.output.order);
    if common.output.format == MessageFormat::Human {
        write_run_head(
            world.stdout,
            &summary.run,
            &HostSigns::of(measurements.iter()),
        )?;
    }
    let findings = Findings {
        run: &summary.run,
        rows,
        verdicts: None,
        failed_targets: Vec::new(),
        confidence_level: decision.confidence_level,
        exit_code: summary.exit_code.unwrap_or(0),
    };
    write(&findings, common, world)?;
    Ok(ExitCode::Clean)
}

fn statistics(
    store: &Store,
    workspace: WorkspaceId,
    run: RunId,
    is_shown: &dyn Fn(&BenchmarkKey) -> bool,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let head: Run = store.run(run)?;
    let level = head.decision.confidence_level;
    let thresholds = &head.decision.thresholds;
    let replay = Replay::of(store, workspace, context, &head)?;
    let measurements = &replay.measurements;
    let summaries = summarize_all(measurements, &head.decision, head.seed);
    let mut all: Vec<BenchmarkStatistics<'_>> = measurements
        .iter()
        .zip(summaries)
        .filter(|(measurement, _)| is_shown(&measurement.benchmark.key))
        .map(|(measurement, summary)| {
            let key = &measurement.benchmark.key;
            let replayed = replay.found.get(key).filter(|found| found.agrees);
            let comparison = replayed.and_then(|found| found.comparison.as_ref());
            BenchmarkStatistics {
                key,
                measurement,
                record: summary.and_then(|found| {
                    BenchmarkRecord::of(measurement, &found, &head.decision, head.seed)
                }),
                verdict: measurement.verdict,
                change: replay.stored.get(key).and_then(|stored| stored.change),
                p_value: comparison.and_then(|found| found.p_value),
                thresholds: *thresholds,
            }
        })
        .collect();
    // What has no verdict, no change or no value comes last.
    let rank = |verdict: Option<Verdict>| (verdict.is_none(), verdict);
    let change = |found: &BenchmarkStatistics<'_>| found.change.unwrap_or(f64::NEG_INFINITY);
    let time = |found: &BenchmarkStatistics<'_>| {
        let record = found.record.as_ref();
        record.map_or(f64::NEG_INFINITY, |record| record.summary.median.estimate)
    };
    all.sort_by(|a, b| {
        let first = match common.output.order {
            Order::Name => Ordering::Equal,
            Order::Change => change(b).total_cmp(&change(a)),
            Order::Time => time(b).total_cmp(&time(a)),
            Order::WorstFirst => {
                (rank(a.verdict).cmp(&rank(b.verdict))).then(change(b).total_cmp(&change(a)))
            }
        };
        first.then_with(|| a.key.in_natural_order(b.key))
    });
    if common.output.format == MessageFormat::Human {
        write_run_head(world.stdout, &head, &HostSigns::of(measurements.iter()))?;
    }
    write_statistics(world.stdout, run, &all, level, common.output.format)?;
    Ok(ExitCode::Clean)
}
