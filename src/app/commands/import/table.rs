//! Imports tables of separated values.

use super::foreign::store_runs;
use super::options::ImportOptions;
use crate::app::context::{Context, World};
use crate::app::deliver::working::working;
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::exchange::{ColumnMap, FileFormat, ForeignRun, InputContent, Reading, read_tables};
use perfcheck_analysis::exit_code::ExitCode;

/// Reads the files and stores them as one run.
pub(super) fn import(
    files: &[InputContent],
    options: &ImportOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let map = ColumnMap::read(&options.columns)?;
    let reading = Reading {
        unit: options.unit.clone(),
        guess_units: options.guess_units,
        lenient: options.lenient,
    };
    let interrupt = world.interrupt;
    let imported = working("Reading", 0, world, |told| {
        let interrupted = || interrupt.requested();
        read_tables(files, &map, options.layout, &reading, &interrupted, told)
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
