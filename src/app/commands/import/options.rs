//! What `store import` is asked for.

use std::path::PathBuf;

use crate::exchange::{FileFormat, TableLayout, ValueUnit};
use perfcheck_analysis::model::{SampleFilter, SourceInterval, Thresholds};

/// A fact about where values were measured, as the user states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// The name of the fact.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What is imported, and how.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ImportOptions {
    /// The files, one session each; `-` is the standard input.
    pub files: Vec<PathBuf>,
    /// Their format; where there is none, what is in them tells.
    pub format: Option<FileFormat>,
    /// The column map.
    pub columns: Vec<String>,
    /// How the tables are laid out.
    pub layout: TableLayout,
    /// The unit of values that have none of their own.
    pub unit: Option<ValueUnit>,
    /// Take large values for ticks.
    pub guess_units: bool,
    /// Skip rows that cannot be read.
    pub lenient: bool,
    /// What is left out wherever the run is described; where it names no fence, the workspace's threshold holds.
    pub filter: SampleFilter,
    /// Level of the intervals of the means; without it the workspace's threshold.
    pub confidence_level: Option<f64>,
    /// Their resamples.
    pub resamples: Option<u32>,
    /// Their seed.
    pub seed: Option<u64>,
    /// Package and bench target that the benchmarks are stored under; without them `imported` and the format.
    pub place: Option<(String, String)>,
    /// What is known of the machine and the build.
    pub facts: Vec<StatedFact>,
    /// The name of the run.
    pub save_baseline: Option<String>,
    /// Of files with several runs, those of these names.
    pub runs: Vec<String>,
    /// Names that files give their runs move to these, where others have them.
    pub move_names: bool,
    /// Only say what would be stored.
    pub dry_run: bool,
}

impl ImportOptions {
    /// How the intervals of means are drawn.
    pub(super) fn interval(&self, thresholds: &Thresholds) -> SourceInterval {
        SourceInterval {
            confidence_level: self.confidence_level.unwrap_or(thresholds.import_level),
            resamples: self.resamples.unwrap_or(thresholds.import_resamples as u32),
            seed: self.seed.unwrap_or(thresholds.import_seed as u64),
        }
    }
}
