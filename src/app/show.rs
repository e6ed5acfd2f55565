//! `cargo perfcheck show RUN`: what a stored run measured; with `--stats` every statistic of it.

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::findings::{sort, summarize_all};
use super::options::StoreOptions;
use super::replay::Replay;
use super::run::write;
use crate::compare::{BenchmarkRecord, HostSigns};
use crate::exit_code::ExitCode;
use crate::model::{Run, RunId, Verdict};
use crate::report::{
    BenchmarkStatistics, Findings, MessageFormat, Row, write_run_head, write_statistics,
};
use crate::store::{Store, WorkspaceId};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The table of a run.
    Table,
    /// Every statistic.
    Statistics,
}

/// Runs the command.
pub fn show(
    run: &str,
    detail: Detail,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let run = resolve_run(&store, workspace, run)?;
    match detail {
        Detail::Table => table(&store, run, common, world),
        Detail::Statistics => statistics(&store, workspace, run, &context, common, world),
    }
}

fn table(
    store: &Store,
    run: RunId,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let summary = store.run_summary(run)?;
    let measurements = store.measurements(run, None)?;
    let decision = summary.run.decision;
    let mut rows: Vec<Row<'_>> = measurements
        .iter()
        .zip(summarize_all(&measurements, &decision, summary.run.seed))
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
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let head: Run = store.run(run)?;
    let level = head.decision.confidence_level;
    let replay = Replay::of(store, workspace, context, &head)?;
    let measurements = &replay.measurements;
    let summaries = summarize_all(measurements, &head.decision, head.seed);
    let mut all: Vec<BenchmarkStatistics<'_>> = measurements
        .iter()
        .zip(summaries)
        .map(|(measurement, summary)| {
            let key = &measurement.benchmark.key;
            let replayed = replay.found.get(key).filter(|found| found.agrees);
            let comparison = replayed.and_then(|found| found.comparison.as_ref());
            BenchmarkStatistics {
                key,
                record: summary.and_then(|found| BenchmarkRecord::of(measurement, &found, level)),
                verdict: measurement.verdict,
                change: replay.stored.get(key).and_then(|stored| stored.change),
                p_value: comparison.and_then(|found| found.p_value),
            }
        })
        .collect();
    if common.output.order == super::options::Order::WorstFirst {
        // What has no verdict comes last.
        let rank = |verdict: Option<Verdict>| (verdict.is_none(), verdict);
        let change = |found: &BenchmarkStatistics<'_>| found.change.unwrap_or(f64::NEG_INFINITY);
        all.sort_by(|a, b| {
            rank(a.verdict)
                .cmp(&rank(b.verdict))
                .then(change(b).total_cmp(&change(a)))
                .then(a.key.cmp(b.key))
        });
    }
    if common.output.format == MessageFormat::Human {
        write_run_head(world.stdout, &head, &HostSigns::of(measurements.iter()))?;
    }
    write_statistics(world.stdout, run, &all, level, common.output.format)?;
    Ok(ExitCode::Clean)
}
