//! Imports tables of separated values.

use super::foreign::store_runs;
use super::options::ImportOptions;
use crate::app::context::{Context, World};
use crate::app::deliver::working::with_progress;
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::exchange::{ColumnMap, FileFormat, ForeignRun, InputContent, ReadOptions, read_tables};
use perfcheck_analysis::exit_code::ExitCode;

/// Reads the files and stores them as one run.
pub(super) fn import_table(
    files: &[InputContent],
    options: &ImportOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let map = ColumnMap::parse(&options.columns)?;
    let reading = ReadOptions {
        unit: options.unit.clone(),
        guess_units: options.guess_units,
        lenient: options.lenient,
    };
    let interrupt = world.interrupt;
    let imported = with_progress("Reading", 0, world, |told| {
        let interrupted = || interrupt.is_requested();
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
