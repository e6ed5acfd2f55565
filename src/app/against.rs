//! `cargo perfcheck --against ...`: the work tree and another build, measured in turn.

use std::path::Path;

use super::context::{Context, World};
use super::error::AppError;
use super::findings::{sort, summarize_all, verdicts};
use super::options::{Against, AgainstOptions, RunOptions, StoreOptions};
use super::paired::{Paired, PairedRun, Pairing, Settled, paired_decision, plan};
use super::prepare::{build, find_benchmarks, list_only, nothing_found};
use super::run::{git_state, write};
use crate::cargo::BenchTarget;
use crate::exit_code::ExitCode;
use crate::host;
use crate::measure::{Discovered, Sides};
use crate::model::{Acceptance, DecisionSettings, Environment, GitState, RunId, Tally, Verdict};
use crate::report::{Findings, Method, Row, Verdicts};
use crate::store::{RunEnd, RunVerdict, Store, StoreError, check_baseline_name};

/// Runs the command.
pub(super) fn against(
    options: &RunOptions,
    how: &AgainstOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(name) = &options.save_baseline {
        check_baseline_name(name)?;
    }
    let load = host::load();
    let mut context = Context::load(&world.variables, common)?;
    context.tables.layers.command_line = options.layer;
    let built = sides(how, &context, common, world)?;
    let found = Sides {
        base: find_benchmarks(options, built.targets.base, &context, world)?,
        new: find_benchmarks(options, built.targets.new, &context, world)?,
    };
    if options.no_run {
        return list_only(&found.new, common.output.format, world);
    }
    if no_benchmarks(&found.new) {
        return Err(nothing_found(options, &found.new));
    }
    let seed = options.comparison.seed.unwrap_or_else(host::fresh_seed);
    let pairing = Pairing::of(found, how.control);
    let decision = paired_decision(options, &context);
    let run = PairedRun {
        options,
        context: &context,
        environment: &built.environment,
        git: Sides {
            base: built.base_git,
            new: git_state(&context, world),
        },
        decision,
        plan: plan(
            &decision,
            how.rounds,
            how.time_budget,
            pairing.planned(),
            seed,
        ),
        time_budget: how.time_budget,
        load,
    };
    let mut store = context.store()?;
    let workspace = store.workspace(&context.key(), &context.label())?;
    let found = run.measure(&mut store, workspace, pairing.pairs, world)?;
    let mut rows = rows(&found, &pairing.settled, &decision, seed);
    let tally: Tally = rows.iter().filter_map(|row| row.verdict).collect();
    let fail_on = options.comparison.fail_on(&context.tables.workspace);
    let mut exit_code = ExitCode::of_verdicts(&tally, &fail_on, true);
    if pairing.failed_targets {
        exit_code = exit_code.and(ExitCode::BenchmarkFailed);
    }
    finish(&mut store, &found.runs, exit_code, verdicts(&rows))?;
    let mut last_words = Vec::new();
    if let Some(name) = &options.save_baseline {
        store.set_baseline(workspace, name, found.runs.new)?;
        last_words.push(format!("Saved as baseline `{name}`."));
    }
    sort(&mut rows, common.output.order);
    let head = store.run(found.runs.new)?;
    let findings = Findings {
        run: &head,
        rows,
        verdicts: Some(Verdicts {
            reference: format!("{} (run {})", built.words, found.runs.base),
            decision,
            method: Method::Paired,
            warnings: Vec::new(),
            advice: last_words,
        }),
        confidence_level: decision.confidence_level,
        exit_code: exit_code.number(),
    };
    write(&findings, common, world)?;
    Ok(exit_code)
}

/// Ends both runs of a pair. Neither is a reference for stored runs: they sample in another way.
pub(super) fn finish(
    store: &mut Store,
    runs: &Sides<RunId>,
    exit_code: ExitCode,
    verdicts: Vec<RunVerdict>,
) -> Result<(), StoreError> {
    let end = |verdicts| RunEnd {
        finished: host::now(),
        acceptance: Acceptance::Pending,
        exit_code: exit_code.number(),
        verdicts,
    };
    store.finish_pair((runs.base, &end(Vec::new())), (runs.new, &end(verdicts)))
}

/// Both builds, and how the reference is called.
struct Built {
    targets: Sides<Vec<BenchTarget>>,
    environment: Environment,
    base_git: Option<GitState>,
    words: String,
}

fn sides(
    how: &AgainstOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<Built, AppError> {
    let (toolchain, new) = build(context, common, world)?;
    let environment = Environment {
        host: host::detect(world.variables.ci),
        build: toolchain,
    };
    match &how.reference {
        Against::Executable(path) => Ok(Built {
            targets: Sides {
                base: vec![with_executable(&new, path)?],
                new,
            },
            environment,
            base_git: None,
            words: format!("the executable {}", path.display()),
        }),
        Against::Revision(_) | Against::MergeBase(_) => Err(AppError::Usage("soon".to_owned())),
    }
}

/// The bench target that `path` is an earlier build of, with that executable.
fn with_executable(targets: &[BenchTarget], path: &Path) -> Result<BenchTarget, AppError> {
    let path = path.canonicalize().map_err(|error| {
        AppError::Usage(format!(
            "there is no executable {}: {error}",
            path.display()
        ))
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash to the target's name.
    let stem = name.rsplit_once('-').map_or(&*name, |(stem, _)| stem);
    let called = |target: &&BenchTarget| target.target == stem || target.target == name;
    let found: Vec<&BenchTarget> = targets.iter().filter(called).collect();
    let target = match (&found[..], targets) {
        ([target], _) => *target,
        (_, [target]) => target,
        _ => {
            return Err(AppError::Usage(format!(
                "which bench target is {} an earlier build of?\n  help: name it, e.g. `--bench {}`",
                path.display(),
                targets.first().map_or("NAME", |target| &target.target)
            )));
        }
    };
    let mut target = target.clone();
    match target.first_arguments.last_mut() {
        // Behind a runner.
        Some(executable) => *executable = path.into(),
        None => target.program = path,
    }
    Ok(target)
}

fn no_benchmarks(found: &Discovered) -> bool {
    found
        .targets
        .iter()
        .all(|target| target.benchmarks.is_empty())
}

/// Rows of what was measured and of what needed no measurement, by key.
fn rows<'m>(
    found: &'m Paired,
    settled: &[Settled],
    decision: &DecisionSettings,
    seed: u64,
) -> Vec<Row<'m>> {
    let measured = &found.measured.new;
    let summaries = summarize_all(measured, decision, seed);
    let mut rows: Vec<Row<'m>> = measured
        .iter()
        .zip(summaries)
        .map(|(measurement, summary)| {
            let key = &measurement.benchmark.key;
            let comparison = found.comparisons.get(key).cloned();
            let spent = found.spent.iter().find(|spent| spent.key == *key);
            Row {
                key: key.clone(),
                measurement: Some(measurement),
                summary,
                verdict: Some(
                    comparison
                        .as_ref()
                        .map_or(Verdict::Failed, |comparison| comparison.verdict),
                ),
                comparison,
                reference: vec![found.runs.base],
                blocking: Vec::new(),
                seconds: spent.map(|spent| spent.time.as_secs_f64()),
                remarks: Vec::new(),
            }
        })
        .collect();
    rows.extend(settled.iter().map(|settled| Row {
        key: settled.key.clone(),
        measurement: None,
        summary: None,
        verdict: Some(settled.verdict),
        comparison: None,
        reference: vec![found.runs.base],
        blocking: Vec::new(),
        seconds: None,
        remarks: settled.remark.iter().cloned().collect(),
    }));
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows
}
