//! The origin of the numbers of an imported run: another program measured them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{SampleCounts, SampleFilter};

/// Everything needed to understand and to repeat an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// The format that was read, e.g. `csv`.
    pub format: String,
    /// The files, in the order given.
    pub files: Vec<SourceFile>,
    /// The column map as it was declared.
    pub columns: String,
    /// Names of the parts of each id, in order. An id is its parts with `/` between them; a `/` within a part is written `%2F`.
    pub id_parts: Vec<String>,
    /// Further labels of benchmarks, by column.
    pub dimensions: Vec<SourceDimension>,
    /// The columns that were read as values, with their units.
    pub values: Vec<SourceValue>,
    /// Whether a column or the file tells the processes apart. Otherwise the run counts as one process, and its repetitions are not independent
    /// evidence.
    pub launches_known: bool,
    /// Samples that descriptions of the run leave out. If it drops the first repetitions, they are stored as the warm-up of their processes.
    pub filter: SampleFilter,
    /// Parameters of the intervals of the import's means.
    pub interval: SourceInterval,
    /// Numbers of values that were read, left out and kept.
    pub counts: SampleCounts,
    /// Rows that could not be read and were skipped (`--lenient`).
    pub rows_skipped: u64,
}

/// Returns an imported id, or a part of one, as its cells contained it: each `%2F` becomes a `/` again.
pub fn as_in_cells(id: &str) -> String {
    id.replace("%2F", "/").replace("%252", "%2")
}

/// Parameters of the percentile bootstrap intervals of means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceInterval {
    /// The confidence level.
    pub confidence_level: f64,
    /// The number of resamples.
    pub resamples: u32,
    /// The seed from which the seed of each benchmark is derived.
    pub seed: u64,
}

/// A column that labels benchmarks without being part of their ids, such as the language of an implementation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceDimension {
    /// Name of the column, or its number as `#3`.
    pub name: String,
    /// The label of each id.
    pub labels: BTreeMap<String, String>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceFile {
    /// Name of the file without directories; `-` for the standard input.
    pub name: String,
    /// BLAKE3 hash of the content, in hexadecimal digits.
    pub blake3: String,
    /// Size of the file.
    pub bytes: u64,
}

/// A column that was read as values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceValue {
    /// The part of the id that the column provides, if any.
    pub label: Option<String>,
    /// Name of the column, or its number as `#3`.
    pub column: String,
    /// Unit of the values: declared, `by row`, or `guessed`.
    pub unit: String,
}

impl Source {
    /// Describes the source for people: `csv: a.csv, b.csv`.
    pub fn summary(&self) -> String {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        match names[..] {
            [first, second, third, _, ..] => format!(
                "{}: {first}, {second}, {third} and {} more",
                self.format,
                names.len() - 3
            ),
            _ => format!("{}: {}", self.format, names.join(", ")),
        }
    }
}
