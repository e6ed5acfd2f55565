//! What `import` is asked for.

use std::path::PathBuf;

use crate::exchange::{Cleaning, FileFormat, TableLayout, ValueUnit};
use perfcheck_analysis::compare::outlier_policy;
use perfcheck_analysis::model::{Outliers, Thresholds};
use perfcheck_stats::{FirstSample, Quantile};

/// A fact about where values were measured, as the user states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// Which.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What the summary of an import leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportFilter {
    /// Whether the first row of each launch is its warm-up.
    pub drop_first: bool,
    /// Which values count as outliers, in each column by itself.
    pub outliers: Outliers,
    /// The fence of `outliers`, where the command line names one; else the workspace's threshold.
    pub fence: Option<f64>,
    /// Whether a row that is an outlier in one column is one in all.
    pub paired: bool,
}

impl ImportFilter {
    /// At these thresholds; quartiles are interpolated, as the serializer methodology has them.
    pub(super) fn cleaning(&self, thresholds: &Thresholds) -> Cleaning {
        let thresholds = self.in_force(thresholds);
        Cleaning {
            first: self.first(),
            policy: outlier_policy(self.outliers, Quantile::Linear, &thresholds),
            paired: self.paired,
        }
    }

    /// What becomes of the first row of each launch.
    pub(super) fn first(&self) -> FirstSample {
        if self.drop_first {
            FirstSample::Dropped
        } else {
            FirstSample::Used
        }
    }

    /// The policy for the record, with its fence.
    pub(super) fn name(&self, thresholds: &Thresholds) -> String {
        let thresholds = self.in_force(thresholds);
        match self.outliers {
            Outliers::Iqr => format!("iqr_{}", thresholds.iqr_fence),
            Outliers::Mad => format!("mad_{}", thresholds.mad_fence),
            other => other.word().to_owned(),
        }
    }

    fn in_force(&self, thresholds: &Thresholds) -> Thresholds {
        Thresholds {
            iqr_fence: self.fence.unwrap_or(thresholds.iqr_fence),
            mad_fence: self.fence.unwrap_or(thresholds.mad_fence),
            ..*thresholds
        }
    }
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
    /// How the summary is made.
    pub filter: ImportFilter,
    /// Package and bench target that the benchmarks are stored under; without them `imported` and the format.
    pub place: Option<(String, String)>,
    /// What is known of the machine and the build.
    pub facts: Vec<StatedFact>,
    /// The name of the run.
    pub baseline: Option<String>,
    /// Of files with several runs, those of these names.
    pub only: Vec<String>,
    /// Names that files give their runs move to these, where others have them.
    pub move_names: bool,
    /// Only say what would be stored.
    pub dry_run: bool,
}
