//! Where the numbers of an imported run come from: another program measured them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{SampleCounts, SampleFilter};

/// Everything that is needed to understand and to repeat an import.
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
    /// What else the columns say of benchmarks.
    pub dimensions: Vec<SourceDimension>,
    /// The columns that were read as values, with their units.
    pub values: Vec<SourceValue>,
    /// Whether launches were told apart, by a column or by the file. Otherwise a run is one launch, and its repetitions are no
    /// independent evidence.
    pub launches_known: bool,
    /// What is left out wherever the run is described. The first repetitions, where those go, are stored as the warm-up of their launches.
    pub filter: SampleFilter,
    /// How the intervals of the import's means were drawn.
    pub interval: SourceInterval,
    /// What became of the values.
    pub counts: SampleCounts,
    /// Rows that could not be read and were skipped (`--lenient`).
    pub rows_skipped: u64,
}

/// An imported id, or a part of one, as its cells had it: with the `/` that are written `%2F` there.
pub fn as_in_cells(id: &str) -> String {
    id.replace("%2F", "/").replace("%252", "%2")
}

/// How the percentile bootstrap intervals of means are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceInterval {
    /// The level.
    pub confidence_level: f64,
    /// How many resamples.
    pub resamples: u32,
    /// The seed from which each benchmark's own is derived.
    pub seed: u64,
}

/// A column that says something of benchmarks and is no part of their ids, such as the language of an implementation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceDimension {
    /// Its name, or its number as `#3`.
    pub name: String,
    /// What it says of each id.
    pub labels: BTreeMap<String, String>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceFile {
    /// Its name without directories; `-` for the standard input.
    pub name: String,
    /// BLAKE3 of its content, in hexadecimal digits.
    pub blake3: String,
    /// Its size.
    pub bytes: u64,
}

/// A column that was read as values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceValue {
    /// The part of the id that it gives, where it gives one.
    pub label: Option<String>,
    /// Its name, or its number as `#3`.
    pub column: String,
    /// Its unit: declared, `by row`, or `guessed`.
    pub unit: String,
}

impl Source {
    /// What it is, for people: `csv: a.csv, b.csv`.
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
