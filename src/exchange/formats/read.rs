//! Selects the reader of a format.

use std::path::PathBuf;

use super::super::error::ExchangeError;
use super::super::input::InputContent;
use super::super::unit::ValueUnit;
use super::gathering::ForeignRun;
use super::{FileFormat, critcmp, criterion_tree, divan, hyperfine, libtest};
use perfcheck_analysis::model::ProgressReporter;

/// The files or directories to read.
pub enum ForeignInput<'a> {
    /// Directories that Criterion wrote
    Trees(&'a [PathBuf]),
    /// Files of one format
    Files(&'a [InputContent], FileFormat),
}

/// Reads the runs. `unit` applies to Criterion's values, whose files do not name a unit.
pub fn read_runs(
    requested: &ForeignInput<'_>,
    unit: Option<&ValueUnit>,
    told: &ProgressReporter<'_>,
) -> Result<Vec<ForeignRun>, ExchangeError> {
    let nanoseconds = ValueUnit::nanoseconds();
    let unit = unit.unwrap_or(&nanoseconds);
    match requested {
        ForeignInput::Trees(directories) => criterion_tree::read(directories, unit, told),
        ForeignInput::Files(files, format) => match format {
            FileFormat::Critcmp => critcmp::read(files, unit),
            FileFormat::Hyperfine => hyperfine::read(files),
            FileFormat::Divan => divan::read(files),
            FileFormat::Libtest => libtest::read(files),
            FileFormat::Csv | FileFormat::Portable | FileFormat::Criterion => {
                Err(ExchangeError::UnknownFormat(
                    files
                        .first()
                        .map_or_else(String::new, |file| file.name.clone()),
                ))
            }
        },
    }
}
