//! Which format a file is of, by what is in it.

use clap::ValueEnum;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::input::InputContent;
use super::super::portable;
use super::{divan, go, libtest};

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// A table of separated values, with `--columns`
    Csv,
    /// What `cargo perfcheck store export` writes
    #[value(name = "jsonl")]
    Portable,
    /// A `target/criterion` directory: every baseline a run
    Criterion,
    /// `critcmp --export`
    Critcmp,
    /// `hyperfine --export-json`
    Hyperfine,
    /// Google Benchmark's `--benchmark_format=json`
    #[value(name = "google-benchmark", alias = "google")]
    Google,
    /// `go test -bench`, as benchstat reads it
    #[value(alias = "benchstat")]
    Go,
    /// `pytest --benchmark-json`
    #[value(name = "pytest-benchmark", alias = "pytest")]
    Pytest,
    /// The tree that divan prints
    Divan,
    /// The lines that libtest prints, or Criterion with `--output-format bencher`
    #[value(alias = "bencher")]
    Libtest,
}

impl FileFormat {
    /// Its name, as `--format` takes it.
    pub fn name(self) -> String {
        let word = self.to_possible_value();
        word.map_or_else(String::new, |word| word.get_name().to_owned())
    }
}

/// The members that tell JSON formats apart.
#[derive(Deserialize)]
struct TellingMembers {
    #[serde(default)]
    benchmarks: Option<IgnoredAny>,
    #[serde(default)]
    results: Option<IgnoredAny>,
    #[serde(default)]
    machine_info: Option<IgnoredAny>,
    #[serde(default)]
    context: Option<IgnoredAny>,
    #[serde(default)]
    name: Option<IgnoredAny>,
}

/// The format of a file, if its content shows one. Tables of values do not: they need a column map.
pub fn detect(file: &InputContent) -> Option<FileFormat> {
    if portable::looks_like(&file.bytes) {
        return Some(FileFormat::Portable);
    }
    let bytes = (file.bytes.strip_prefix(b"\xef\xbb\xbf")).unwrap_or(&file.bytes);
    if bytes.trim_ascii_start().starts_with(b"{") {
        let members: TellingMembers = serde_json::from_slice(bytes).ok()?;
        return match members {
            TellingMembers {
                benchmarks: Some(_),
                machine_info: Some(_),
                ..
            } => Some(FileFormat::Pytest),
            TellingMembers {
                benchmarks: Some(_),
                context: Some(_),
                ..
            } => Some(FileFormat::Google),
            TellingMembers {
                benchmarks: Some(_),
                name: Some(_),
                ..
            } => Some(FileFormat::Critcmp),
            TellingMembers {
                results: Some(_), ..
            } => Some(FileFormat::Hyperfine),
            _ => None,
        };
    }
    let text = str::from_utf8(bytes).ok()?;
    text.lines().find_map(|line| {
        if libtest::result(line).is_some() {
            Some(FileFormat::Libtest)
        } else if divan::head(line).is_some() {
            Some(FileFormat::Divan)
        } else if go::is_result(line) {
            Some(FileFormat::Go)
        } else {
            None
        }
    })
}
