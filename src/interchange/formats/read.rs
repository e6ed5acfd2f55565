//! Selects the reader of a format, and detects a format by the content of a file.

use super::json::parse;
use clap::ValueEnum;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::PathBuf;

use super::super::error::ExchangeError;
use super::super::input::InputContent;
use super::super::portable;
use super::super::unit::ValueUnit;
use super::gathering::ForeignRun;
use super::{critcmp, criterion_tree, divan, hyperfine, libtest};
use perfcheck_analysis::model::ProgressReporter;

/// The files or directories to read.
pub enum ForeignInput<'a> {
    /// Directories that Criterion wrote.
    Trees(&'a [PathBuf]),
    /// Files of one format.
    Files(&'a [InputContent], FileFormat),
}

/// Reads the runs from the input. `unit` is the unit of Criterion's values, because its files name none. `None` means nanoseconds.
pub fn read_runs(
    requested: &ForeignInput<'_>,
    unit: Option<&ValueUnit>,
    progress: &ProgressReporter<'_>,
) -> Result<Vec<ForeignRun>, ExchangeError> {
    let nanoseconds = ValueUnit::nanoseconds();
    let unit = unit.unwrap_or(&nanoseconds);
    match requested {
        ForeignInput::Trees(directories) => criterion_tree::read(directories, unit, progress),
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

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// A table such as CSV, described by `--columns`
    Csv,
    /// The output of `cargo perfcheck store export`
    #[value(name = "jsonl")]
    Portable,
    /// A `target/criterion` directory; each baseline is a run
    Criterion,
    /// The output of `critcmp --export`
    Critcmp,
    /// The output of `hyperfine --export-json`
    Hyperfine,
    /// The tree that divan prints
    Divan,
    /// The output of libtest, or of Criterion with `--output-format bencher`
    #[value(alias = "bencher")]
    Libtest,
}

impl FileFormat {
    /// Returns the name that `--format` accepts.
    pub fn name(self) -> String {
        let word = self.to_possible_value();
        word.map_or_else(String::new, |word| word.get_name().to_owned())
    }
}

/// The members by which the formats in JSON are told apart.
#[derive(Deserialize)]
struct DistinctiveMembers {
    #[serde(default)]
    benchmarks: Option<IgnoredAny>,
    #[serde(default)]
    results: Option<IgnoredAny>,
    #[serde(default)]
    name: Option<IgnoredAny>,
}

/// Detects the format of a file. Tables of values cannot be detected: they need a column map.
pub fn detect(file: &InputContent) -> Result<FileFormat, ExchangeError> {
    let unknown = || ExchangeError::UnknownFormat(file.name.clone());
    let bytes = (file.bytes.strip_prefix(b"\xef\xbb\xbf")).unwrap_or(&file.bytes);
    if portable::is_portable(bytes) {
        return Ok(FileFormat::Portable);
    }
    if bytes.trim_ascii_start().starts_with(b"{") {
        return match parse(file)? {
            DistinctiveMembers {
                benchmarks: Some(_),
                name: Some(_),
                ..
            } => Ok(FileFormat::Critcmp),
            DistinctiveMembers {
                results: Some(_), ..
            } => Ok(FileFormat::Hyperfine),
            DistinctiveMembers { .. } => Err(unknown()),
        };
    }
    let text = file.text()?;
    if !libtest::LibtestOutput::parse(text).results.is_empty() {
        Ok(FileFormat::Libtest)
    } else if text.lines().any(|line| divan::find_head(line).is_some()) {
        Ok(FileFormat::Divan)
    } else {
        Err(unknown())
    }
}
