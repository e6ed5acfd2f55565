//! Imports output of other benchmark programs and tables of separated values, as one run or several.

use super::options::ImportOptions;
use super::record::{
    ImportRow, ParsedFiles, build_run, build_source, environment_from_facts, summarize_benchmarks,
    warn,
};
use crate::error::AppError;
use crate::interchange::{
    ColumnMap, ExchangeError, FileFormat, ForeignInput, ForeignRun, InputContent, ReadOptions,
    read_runs, read_tables,
};
use crate::options::{CommonOptions, ComparisonOptions};
use crate::output::{self, ImportFindings, write_import};
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{Environment, Source};
use perfcheck_store::{Store, WorkspaceId, check_baseline_name};

/// A run about to be stored.
struct PendingRun<'a> {
    foreign: &'a ForeignRun,
    rows: Vec<ImportRow>,
    source: Source,
    environment: Environment,
    baseline: Option<String>,
}

/// Reads the files and stores their runs, all or none.
pub(super) fn import_foreign(
    requested: &ForeignInput<'_>,
    format: FileFormat,
    options: &ImportOptions,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let unit = options.unit.as_ref();
    let mut found = world.with_progress("Reading", 0, |progress| {
        read_runs(requested, unit, progress)
    })?;
    keep_named(&mut found, options)?;
    store_runs(&found, format, None, options, context, common, world)
}

/// Stores runs, all or none. `map` is the column map of a table.
pub(super) fn store_runs(
    found: &[ForeignRun],
    format: FileFormat,
    map: Option<&ColumnMap>,
    options: &ImportOptions,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let thresholds = &context.tables.workspace.thresholds;
    let mut pending = Vec::new();
    for foreign in found {
        let read = parsed_run(foreign, format, map);
        let rows = world.with_progress("Describing", read.benchmarks(), |progress| {
            summarize_benchmarks(&read, options, thresholds, progress)
        });
        pending.push(PendingRun {
            source: build_source(&read, options, thresholds, &rows),
            rows,
            environment: environment_from_facts(&options.facts)?,
            baseline: options.save_baseline.clone(),
            foreign,
        });
    }
    if world.interrupt.is_requested() {
        return Err(ExchangeError::Interrupted.into());
    }
    let mut stored = vec![None; pending.len()];
    if options.dry_run {
        for run in &mut pending {
            run.baseline = run.baseline.take().or_else(|| run.foreign.name.clone());
        }
    } else {
        let (mut store, workspace) = context.open_store()?;
        for run in &mut pending {
            choose_name(run, options, &store, workspace, world)?;
        }
        // Use the settings of a comparison of stored runs.
        let decision = ComparisonOptions::default().decision(&context.tables.workspace);
        let runs: Vec<_> = (pending.iter())
            .map(|pending| {
                build_run(
                    &parsed_run(pending.foreign, format, map),
                    &pending.rows,
                    &pending.source,
                    options,
                    &decision,
                    pending.environment.clone(),
                    pending.baseline.iter().cloned().collect(),
                )
            })
            .collect();
        let count = pending.iter().map(|run| run.rows.len()).sum();
        let numbers = world.with_progress("Storing", count, |progress| {
            store.insert_transferred(workspace, &runs, progress)
        })?;
        stored = numbers.into_iter().map(Some).collect();
    }
    for (mut pending, run) in pending.into_iter().zip(stored) {
        if common.output.order() == Order::Name {
            pending.rows.sort_by(|a, b| a.shown.key.cmp(&b.shown.key));
        }
        for caveat in &pending.foreign.caveats {
            output::write_warning(world.stderr, caveat)?;
        }
        warn(
            &pending.foreign.imported,
            &pending.source,
            &pending.rows,
            world,
        )?;
        let findings = ImportFindings {
            run,
            source: &pending.source,
            processes: pending.foreign.imported.processes.len(),
            baseline: pending.baseline.as_deref(),
            rows: pending.rows.into_iter().map(|row| row.shown).collect(),
            quiet: common.output.quiet,
        };
        write_import(world.stdout, &findings, common.output.format)?;
    }
    Ok(ExitCode::Clean)
}

fn parsed_run<'a>(
    foreign: &'a ForeignRun,
    format: FileFormat,
    map: Option<&'a ColumnMap>,
) -> ParsedFiles<'a> {
    ParsedFiles {
        imported: &foreign.imported,
        format: format.name(),
        files: foreign.files.clone(),
        map,
        unit: foreign.unit.clone(),
    }
}

/// Keeps the runs that `--run` selects, and checks that `--save-baseline` names a single run.
fn keep_named(found: &mut Vec<ForeignRun>, options: &ImportOptions) -> Result<(), AppError> {
    let names: Vec<String> = found.iter().filter_map(|run| run.name.clone()).collect();
    let there = names.join(", ");
    for wanted in &options.runs {
        if !names.contains(wanted) {
            return Err(AppError::Usage(format!(
                "`--run {wanted}`: no run has this name; the runs are {there}"
            )));
        }
    }
    if !options.runs.is_empty() {
        let wanted =
            |run: &ForeignRun| (run.name.as_ref()).is_some_and(|name| options.runs.contains(name));
        found.retain(wanted);
    }
    match &options.save_baseline {
        Some(name) if found.len() > 1 => Err(AppError::Usage(format!(
            "`--save-baseline {name}` needs a single run, but there are several: {there}\n  help: select one with `--run NAME`, or omit `--save-baseline` to keep their names"
        ))),
        _ => Ok(()),
    }
}

/// Saves the run as a baseline under the name that the file gives to the run, if this name is valid and not yet used.
fn choose_name(
    run: &mut PendingRun<'_>,
    options: &ImportOptions,
    store: &Store,
    workspace: WorkspaceId,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let Some(name) = run.foreign.name.as_ref().filter(|_| run.baseline.is_none()) else {
        return Ok(());
    };
    if check_baseline_name(name).is_err() {
        let warning = format!(
            "`{name}` is not a valid baseline name, so this run was imported without a name; use `--run` with `--save-baseline` to name it"
        );
        output::write_warning(world.stderr, &warning)?;
        return Ok(());
    }
    match store.baseline(workspace, name)? {
        Some(taken) if !options.move_names => {
            let warning = format!(
                "`{name}` still names run {taken}; use `--move-names` to move this name to the imported run, or `--save-baseline` to choose another name"
            );
            output::write_warning(world.stderr, &warning)?;
        }
        _ => run.baseline = Some(name.clone()),
    }
    Ok(())
}

/// Reads the files and stores them as one run.
pub(super) fn import_table(
    files: &[InputContent],
    options: &ImportOptions,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let map = ColumnMap::parse(&options.columns)?;
    let reading = ReadOptions {
        unit: options.unit.clone(),
        guess_units: options.guess_units,
        lenient: options.lenient,
    };
    let interrupt = world.interrupt;
    let imported = world.with_progress("Reading", 0, |progress| {
        let interrupted = || interrupt.is_requested();
        read_tables(
            files,
            &map,
            options.layout,
            &reading,
            &interrupted,
            progress,
        )
    })?;
    let run = ForeignRun {
        imported,
        files: files.iter().map(InputContent::source).collect(),
        name: None,
        unit: String::new(),
        caveats: Vec::new(),
    };
    let map = Some(&map);
    store_runs(
        &[run],
        FileFormat::Csv,
        map,
        options,
        context,
        common,
        world,
    )
}
