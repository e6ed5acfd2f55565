//! `cargo perfcheck show RUN [BENCH]`: shows the measurements of a stored run; with `--stats` all statistics, with `--report svg` a picture.

use std::collections::BTreeMap;

use super::draw::draw;
use super::options::ShowOptions;
use crate::app::context::{Context, World, resolve_run};
use crate::app::deliver::working::with_progress;
use crate::app::deliver::write::write_findings;
use crate::app::error::AppError;
use crate::app::naming::{find_candidates, list_keys, similar_keys};
use crate::app::options::StoreOptions;
use crate::app::stored::conclusions::read_findings;
use crate::app::stored::imported::describe_absurdities;
use crate::escape::shell_command;
use crate::report::{
    BenchmarkStatistics, MessageFormat, write_outcome_of_run, write_run_head, write_statistics,
    write_warning,
};
use perfcheck_analysis::compare::{
    BenchmarkRecord, HostControls, ProcessStatistics, summarize_with,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Findings, Row, SortKey, summarize_all};
use perfcheck_analysis::model::{
    BenchmarkKey, DecisionSettings, Measurement, Run, RunId, RunVerdict, Verdict,
};
use perfcheck_engine::store::{Store, WorkspaceId};

/// Runs the command.
pub fn show(
    options: &ShowOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let (store, workspace) = context.open_required()?;
    let run = resolve_run(&store, workspace, &options.run);
    let run = match (run, &options.bench) {
        (Err(error @ AppError::NoSuchRun { .. }), None) => {
            return Err(mistaken_run_error(&options.run, &store, workspace)?.unwrap_or(error));
        }
        (run, _) => run?,
    };
    let measurements = store.measurements(run, None)?;
    let all: Vec<&BenchmarkKey> = measurements
        .iter()
        .map(|found| &found.benchmark.key)
        .collect();
    let only = match &options.bench {
        Some(bench) => Some(resolve_benchmark(bench, &all, run)?.clone()),
        None => None,
    };
    let name = format!("run {run}");
    let thresholds = &context.tables.workspace.thresholds;
    let is_shown = |key: &BenchmarkKey| only.as_ref().is_none_or(|only| only == key);
    let measurements: Vec<Measurement> = measurements
        .into_iter()
        .filter(|found| is_shown(&found.benchmark.key))
        .collect();
    // With `--stats`, absurd values appear among the statistics of their benchmark instead.
    if !options.stats {
        for said in describe_absurdities(&name, &measurements, thresholds) {
            write_warning(world.stderr, &said)?;
        }
    }
    if let Some(wanted) = &options.picture {
        return draw(
            &store.run(run)?,
            &measurements,
            wanted.file.as_deref(),
            world,
        );
    }
    if !options.stats {
        let is_whole = only.is_none();
        return show_measurements(&store, run, (&measurements, is_whole), common, world);
    }
    let head = store.run(run)?;
    let decision = DecisionSettings {
        analysis: options
            .explicit_analysis()
            .unwrap_or(head.begun.decision.analysis),
        thresholds: options
            .method
            .map_or(head.begun.decision.thresholds, |method| {
                method.decision_settings().thresholds
            }),
        ..head.begun.decision
    };
    let shown = DescriptionRules {
        is_shown: &is_shown,
        decision,
    };
    show_statistics(&context, &store, &head, &shown, common, world)
}

/// Returns an error that explains the mistake if a word in place of a run names a benchmark.
fn mistaken_run_error(
    word: &str,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<AppError>, AppError> {
    let stored = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = stored.iter().map(|benchmark| &benchmark.key).collect();
    let found = find_candidates(word, &all);
    let show = shell_command("cargo perfcheck show", &["latest", word], "");
    let history = shell_command("cargo perfcheck history", &[word], "");
    Ok((!found.is_empty()).then(|| {
        AppError::Usage(format!(
            "no run is called `{word}`{}\n  help: `{show}` shows what the newest run measured of it, `{history}` its course over runs",
            list_keys("these benchmarks are", &found)
        ))
    }))
}

/// Resolves a word to a benchmark.
fn resolve_benchmark<'k>(
    bench: &str,
    all: &[&'k BenchmarkKey],
    run: RunId,
) -> Result<&'k BenchmarkKey, AppError> {
    match find_candidates(bench, all)[..] {
        [key] => Ok(key),
        [] => {
            let near = similar_keys(bench, all);
            let offered = if near.is_empty() {
                list_keys("it has", all)
            } else {
                list_keys("did you mean", &near)
            };
            Err(AppError::Usage(format!(
                "run {run} has no benchmark `{bench}`{offered}\n  help: `cargo perfcheck show {run}` shows all that it has"
            )))
        }
        ref several => Err(AppError::Usage(format!(
            "`{bench}` may be any of {} benchmarks{}",
            several.len(),
            list_keys("name one of", several)
        ))),
    }
}

/// Writes the table of the run's measurements, with the verdicts from its end. Shows the outcome if `is_whole`.
fn show_measurements(
    store: &Store,
    run: RunId,
    (measurements, is_whole): (&[Measurement], bool),
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let summary = store.run_summary(run)?;
    let head = &summary.run;
    let summaries = with_progress("Describing", measurements.len(), world, |told| {
        summarize_all(measurements, &head.begun.decision, head.begun.seed, told)
    });
    let mut rows: Vec<Row<'_>> = measurements
        .iter()
        .zip(summaries)
        .map(|(measurement, summary)| Row::from_measurement(measurement, summary))
        .collect();
    common.output.order().sort(&mut rows);
    if common.output.format == MessageFormat::Human {
        write_run_head(
            world.stdout,
            head,
            &HostControls::from_measurements(measurements.iter()),
        )?;
    }
    let findings = Findings {
        run: head,
        rows,
        verdicts: None,
        failed_targets: Vec::new(),
        exit_code: summary.exit_code.unwrap_or(0),
    };
    write_findings(&findings, common, world)?;
    let ended = summary.exit_code.filter(|_| is_whole);
    if let (MessageFormat::Human, Some(exit_code)) = (common.output.format, ended) {
        // Missing benchmarks have a verdict but no row.
        let verdicts = store.verdicts(run)?;
        let benchmarks = verdicts.len().max(measurements.len());
        let is_same =
            |known: &&RunVerdict| known.verdict == Verdict::Unchanged && known.typical_ns.is_none();
        let same = verdicts.iter().filter(is_same).count();
        let tally = verdicts.iter().map(|known| known.verdict).collect();
        let counts = (tally, benchmarks, same);
        let columns = common.output.view().columns;
        write_outcome_of_run(world.stdout, run, exit_code, counts, columns)?;
    }
    Ok(ExitCode::Clean)
}

/// The selection of benchmarks and the settings of their description.
struct DescriptionRules<'a> {
    is_shown: &'a dyn Fn(&BenchmarkKey) -> bool,
    decision: DecisionSettings,
}

fn show_statistics(
    context: &Context,
    store: &Store,
    head: &Run,
    shown: &DescriptionRules<'_>,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let run = head.id;
    let measured = store.measurements(run, None)?;
    let findings = with_progress("Describing", measured.len(), world, |told| {
        read_findings(context, store, head, &measured, told)
    })?;
    let columns: BTreeMap<BenchmarkKey, RunVerdict> = store
        .verdicts(run)?
        .into_iter()
        .map(|known| (known.key.clone(), known))
        .collect();
    let mut all: Vec<BenchmarkStatistics<'_>> = findings
        .rows
        .iter()
        .filter(|row| (shown.is_shown)(&row.key))
        .filter_map(|row| {
            let measurement = row.measurement?;
            let seed = head.begun.seed;
            let anew = (shown.decision.thresholds != head.begun.decision.thresholds)
                .then(|| summarize_with(measurement, &shown.decision, seed))
                .flatten();
            let summary = anew.as_ref().or(row.summary.as_ref());
            Some(BenchmarkStatistics {
                key: &row.key,
                measurement,
                record: summary.and_then(|found| {
                    BenchmarkRecord::from_measurement(
                        measurement,
                        found,
                        &shown.decision,
                        head.begun.seed,
                    )
                }),
                over_launches: ProcessStatistics::from_measurement(
                    measurement,
                    head.begun.decision.confidence_level,
                    head.begun.seed,
                ),
                verdict: measurement.verdict,
                change: columns.get(&row.key).and_then(|known| known.change),
                p_value: row.comparison.as_ref().and_then(|found| found.p_value),
                thresholds: head.begun.decision.thresholds,
            })
        })
        .collect();
    let order = common.output.order();
    all.sort_by(|a, b| order.compare(&sort_key(a), &sort_key(b)));
    if common.output.format == MessageFormat::Human {
        write_run_head(
            world.stdout,
            head,
            &HostControls::from_measurements(measured.iter()),
        )?;
    }
    let level = head.begun.decision.confidence_level;
    write_statistics(world.stdout, run, &all, level, common.output.format)?;
    Ok(ExitCode::Clean)
}

fn sort_key<'k>(found: &BenchmarkStatistics<'k>) -> SortKey<'k> {
    SortKey {
        key: found.key,
        verdict: found.verdict,
        change: found.change,
        time: found
            .record
            .as_ref()
            .map(|record| record.summary.median.estimate),
    }
}
