//! Selects the reader of a format.
//!
//! Detects the format of a file by its content.
//!
//! Parses JSON of other programs: errors have line and column, and objects with duplicate members are refused.

use clap::ValueEnum;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use super::super::error::{ExchangeError, reason_without_place};
use super::super::input::InputContent;
use super::super::portable;
use super::super::unit::ValueUnit;
use super::gathering::{ForeignRun, format_error};
use super::{critcmp, criterion_tree, divan, hyperfine, libtest};
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

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// A table of separated values, with `--columns`
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

/// The members that distinguish JSON formats.
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

/// Parses a whole file. The parser bounds nesting to 128 levels.
pub(super) fn parse<T: DeserializeOwned>(file: &InputContent) -> Result<T, ExchangeError> {
    parse_named(&file.name, &file.bytes)
}

/// Parses `bytes`; errors name `name`.
pub(super) fn parse_named<T: DeserializeOwned>(
    name: &str,
    bytes: &[u8],
) -> Result<T, ExchangeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| {
        let mut reason = reason_without_place(&error);
        if let Some(word) = non_finite_word(bytes, &error) {
            reason = format!("`{word}` is no number in JSON; write null or a number instead");
        }
        format_error(
            &format!("{name}:{}:{}", error.line(), error.column()),
            reason,
        )
    })
}

/// Returns the word for a non-finite number at the place where the parser stopped. JSON has no such words, but programs that print floats
/// themselves write them.
fn non_finite_word(bytes: &[u8], error: &serde_json::Error) -> Option<&'static str> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let line = lines.nth(error.line().checked_sub(1)?)?;
    let rest = line.get(error.column().checked_sub(1)?..)?;
    let words = ["NaN", "Infinity", "nan", "inf"].into_iter();
    words
        .into_iter()
        .find(|word| rest.starts_with(word.as_bytes()))
}

/// The members of an object in order; a duplicate name is an error.
#[derive(Debug, Clone)]
pub(super) struct JsonMembers<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonMembers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersReader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersReader<T> {
            type Value = JsonMembers<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut seen = std::collections::HashSet::new();
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if !seen.insert(name.clone()) {
                        return Err(serde::de::Error::custom(format!("`{name}` is there twice")));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(MembersReader(PhantomData))
    }
}
