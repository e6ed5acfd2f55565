//! The data of a table of runs: a column per run and a line per benchmark.

use clap::ValueEnum;
use serde::Serialize;

use perfcheck_analysis::compare::{BLOCK, Difference, Estimate, GateGroup};
use perfcheck_analysis::findings::{LimitReport, Method, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, DecisionSettings, FilterReport, Metric, RunId, Statistic, Tally, Verdict,
};

/// The statistics that a table of runs shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownStatistics {
    /// The value that was compared, and the change that was judged
    Judged,
    /// A single statistic, and its change
    One(Statistic),
    /// Every statistic of mmtests' block
    Block,
}

impl ShownStatistics {
    /// Returns the statistics in display order.
    pub fn statistics(self) -> Vec<Statistic> {
        match self {
            Self::Judged => vec![Statistic::Median],
            Self::One(figure) => vec![figure],
            Self::Block => BLOCK.to_vec(),
        }
    }

    /// Returns a statistic's name as `--statistic` spells it.
    pub fn name_of(self, figure: Statistic) -> String {
        match self {
            Self::Judged => "judged".to_owned(),
            Self::One(_) | Self::Block => figure.to_string(),
        }
    }

    /// Reports whether the line of `figure` carries the verdict's mark. In a block only the mean does.
    pub(super) fn has_mark(self, figure: Statistic) -> bool {
        self != Self::Block || figure == Statistic::Mean
    }
}

/// The form of values in text and Markdown; CSV and messages have both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValueForm {
    /// Times, rates or amounts, as measured
    #[value(name = "time")]
    Values,
    /// Ratios to the reference; above 1 is worse
    #[value(name = "ratio")]
    Ratios,
}

/// A table that compares several runs with the first one.
#[derive(Debug, Clone)]
pub struct RunTable {
    /// The statistics shown
    pub shown: ShownStatistics,
    /// The form of the values
    pub terms: ValueForm,
    /// The reference, then the other runs in the order of the command line
    pub columns: Vec<RunColumn>,
    /// Benchmarks that any of the runs has, in display order
    pub lines: Vec<ColumnsLine>,
    /// Number of benchmarks that a filter hides
    pub hidden: usize,
    /// The confidence and significance levels in force, and the other settings of the decision
    pub decision: DecisionSettings,
    /// Exit status of the command
    pub exit_code: u8,
}

/// A run in a table of runs.
#[derive(Debug, Clone)]
pub struct RunColumn {
    /// Number of the run
    pub run: RunId,
    /// The user's name for the run, or its number
    pub name: String,
    /// Method of the comparison; `None` for the reference
    pub method: Option<Method>,
    /// Number of benchmarks with each verdict
    pub tally: Tally,
    /// Facts in which the run differs from the reference, yet stays comparable
    pub warnings: Vec<Difference>,
    /// Notes on the comparison
    pub remarks: Vec<RunNote>,
    /// Results of checking the limits
    pub limits: LimitReport,
    /// Geometric mean of the run's ratios to the reference
    pub together: Option<ColumnGeometricMean>,
    /// Samples that a filter leaves out of the values; `None` without a filter
    pub left_out: Option<FilterReport>,
}

impl RunColumn {
    /// Reports whether the user named the run other than by its number.
    pub(super) fn is_named(&self) -> bool {
        self.name != self.run.to_string()
    }

    /// Returns `main (run 3)`, or `run 3` if the run has no other name.
    pub(super) fn title(&self) -> String {
        if self.is_named() {
            format!("{} (run {})", self.name, self.run)
        } else {
            format!("run {}", self.run)
        }
    }

    /// Returns `main`, or `run 3` if the run has no other name.
    pub(super) fn short(&self) -> String {
        if self.is_named() {
            self.name.clone()
        } else {
            format!("run {}", self.run)
        }
    }
}

/// The geometric mean of the ratios of all benchmarks in a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColumnGeometricMean {
    /// The mean; above 1 is worse
    pub ratio: f64,
    /// Number of benchmarks that have a ratio
    pub used: usize,
    /// Number of benchmarks without a ratio, or with a ratio of zero
    pub excluded: usize,
}

/// A benchmark in all columns.
#[derive(Debug, Clone)]
pub struct ColumnsLine {
    /// The benchmark
    pub key: BenchmarkKey,
    /// Unit and meaning of its values
    pub metric: Metric,
    /// Result of the test of all runs together that precedes the single comparisons, if that test is requested
    pub gate: Option<GateGroup>,
    /// One cell for each column
    pub cells: Vec<ColumnCell>,
}

/// A benchmark in one column.
#[derive(Debug, Clone, Default)]
pub struct ColumnCell {
    /// Value of each shown statistic, and how much worse it is than the reference's, a fraction
    pub figures: Vec<(Option<f64>, Option<f64>)>,
    /// The verdict; `None` in the reference and for benchmarks without a comparison
    pub verdict: Option<Verdict>,
    /// The change that was judged
    pub judged: Option<Estimate>,
    /// The p-value, adjusted for the benchmarks of the column
    pub p_value: Option<f64>,
    /// Differences that make the benchmark incomparable
    pub blocking: Vec<Difference>,
}
