//! Tables of separated values.

use super::facts::environment;
use super::options::ImportOptions;
use super::record::{Read, benchmarks, run, source};
use super::warnings::warn;
use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::{ComparisonOptions, StoreOptions};
use crate::exchange::{ColumnMap, ExchangeError, InputContent, Reading, read_tables};
use crate::report::{ImportFindings, write_import};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::DecisionSettings;

/// Reads the files, stores them as one run.
pub(super) fn import(
    files: &[InputContent],
    options: &ImportOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let map = ColumnMap::read(&options.columns)?;
    let environment = environment(&options.facts)?;
    let reading = Reading {
        unit: options.unit.clone(),
        guess_units: options.guess_units,
        lenient: options.lenient,
    };
    let interrupted = || world.interrupt.requested();
    let imported = read_tables(files, &map, options.layout, &reading, &interrupted)?;
    let read = Read {
        imported: &imported,
        format: "csv",
        files: files.iter().map(InputContent::source).collect(),
        map: Some(&map),
        unit: String::new(),
    };
    let thresholds = &context.tables.workspace.thresholds;
    let mut rows = benchmarks(&read, options, thresholds);
    let source = source(&read, options, thresholds, &rows);
    if world.interrupt.requested() {
        return Err(ExchangeError::Interrupted.into());
    }
    let stored = if options.dry_run {
        None
    } else {
        let baselines = options.baseline.iter().cloned().collect();
        let decision = decision(context);
        let run = run(
            &read,
            &rows,
            &source,
            options,
            decision,
            environment,
            baselines,
        );
        let mut store = context.store()?;
        let workspace = store.workspace(&context.key(), &context.label())?;
        store.take_over(workspace, &[run])?.pop()
    };
    if common.output.order == Order::Name {
        rows.sort_by(|a, b| a.shown.key.cmp(&b.shown.key));
    }
    warn(
        &imported,
        &source,
        &rows,
        thresholds.mean_over_median,
        world,
    )?;
    let findings = ImportFindings {
        run: stored,
        source: &source,
        launches: imported.launches.len(),
        baseline: options.baseline.as_deref(),
        rows: rows.into_iter().map(|row| row.shown).collect(),
        quiet: common.output.quiet,
    };
    write_import(world.stdout, &findings, common.output.format)?;
    Ok(ExitCode::Clean)
}

/// The settings that an imported run is stored with: those of runs that are compared as stored.
pub(super) fn decision(context: &Context) -> DecisionSettings {
    ComparisonOptions::default().decision(&context.tables.workspace)
}
