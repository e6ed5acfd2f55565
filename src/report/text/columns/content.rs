//! What runs side by side are: columns, and a line for each benchmark.

use clap::ValueEnum;
use serde::Serialize;

use perfcheck_analysis::compare::{BLOCK, Difference, Estimate, GateGroup};
use perfcheck_analysis::findings::{Limits, Method, RunRemark};
use perfcheck_analysis::model::{
    BenchmarkKey, DecisionSettings, LeftOutSamples, Metric, RunId, Statistic, Tally, Verdict,
};

/// What columns show of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The value that was compared, and the change that was judged.
    Judged,
    /// This figure, and how it changed.
    One(Statistic),
    /// Every figure of mmtests' block.
    Block,
}

impl Shown {
    /// The figures, in order.
    pub fn figures(self) -> Vec<Statistic> {
        match self {
            Self::Judged => vec![Statistic::Median],
            Self::One(figure) => vec![figure],
            Self::Block => BLOCK.to_vec(),
        }
    }

    /// What one of them is called, as `--statistic` has it.
    pub fn name_of(self, figure: Statistic) -> String {
        match self {
            Self::Judged => "judged".to_owned(),
            Self::One(_) | Self::Block => figure.to_string(),
        }
    }

    /// Whether the verdict is marked on the line of `figure`: in a block on the mean alone.
    pub(super) fn marks(self, figure: Statistic) -> bool {
        self != Self::Block || figure == Statistic::Mean
    }
}

/// The terms in which values stand in text and Markdown; CSV and messages have all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValueTerms {
    /// Times, rates or amounts, as they were measured
    #[value(name = "time")]
    Values,
    /// Ratios; above 1 is worse
    #[value(name = "ratio")]
    Ratios,
}

/// Runs side by side.
#[derive(Debug, Clone)]
pub struct SideBySide {
    /// What is shown.
    pub shown: Shown,
    /// The terms of the values.
    pub terms: ValueTerms,
    /// The reference, then the others as the user named them.
    pub columns: Vec<RunColumn>,
    /// The benchmarks that any of them has, in the order in which they are to be shown.
    pub lines: Vec<ColumnsLine>,
    /// Benchmarks that are not to be shown.
    pub hidden: usize,
    /// Levels in force.
    pub decision: DecisionSettings,
    /// The status that the process ends with.
    pub exit_code: u8,
}

/// A run among others.
#[derive(Debug, Clone)]
pub struct RunColumn {
    /// Its number.
    pub run: RunId,
    /// What the user called it.
    pub name: String,
    /// How its verdicts were reached; `None` for the reference.
    pub method: Option<Method>,
    /// How often each verdict was given.
    pub tally: Tally,
    /// Facts in which it differs from the reference without being incomparable.
    pub warnings: Vec<Difference>,
    /// What else a reader must know of its comparison, a sentence each.
    pub remarks: Vec<RunRemark>,
    /// What the limits made of it.
    pub limits: Limits,
    /// What all of its benchmarks changed by together.
    pub together: Option<Together>,
    /// What is left out of its figures, where there is a filter.
    pub left_out: Option<LeftOutSamples>,
}

impl RunColumn {
    /// Whether the user called the run something else than its number.
    pub(super) fn is_named(&self) -> bool {
        self.name != self.run.to_string()
    }

    /// `main (run 3)`, or `run 3` where the user said no more.
    pub(super) fn title(&self) -> String {
        if self.is_named() {
            format!("{} (run {})", self.name, self.run)
        } else {
            format!("run {}", self.run)
        }
    }

    /// `main`, or `run 3`.
    pub(super) fn short(&self) -> String {
        if self.is_named() {
            self.name.clone()
        } else {
            format!("run {}", self.run)
        }
    }
}

/// The geometric mean of the ratios of a column's benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Together {
    /// The mean; above 1 is worse.
    pub ratio: f64,
    /// How many benchmarks it is of.
    pub used: usize,
    /// How many benchmarks have no ratio, or one of zero.
    pub excluded: usize,
}

/// A benchmark in all columns.
#[derive(Debug, Clone)]
pub struct ColumnsLine {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// What its values mean.
    pub metric: Metric,
    /// What a test of all runs together says before they are compared one by one, where one was asked for.
    pub gate: Option<GateGroup>,
    /// One for each column.
    pub cells: Vec<ColumnCell>,
}

/// A benchmark in one column.
#[derive(Debug, Clone, Default)]
pub struct ColumnCell {
    /// The figures that are shown, in their order, with how much worse each is than the reference's.
    pub figures: Vec<(Option<f64>, Option<f64>)>,
    /// The verdict; `None` in the reference and where nothing is known of it.
    pub verdict: Option<Verdict>,
    /// The change that was judged.
    pub judged: Option<Estimate>,
    /// Its p-value, adjusted for the benchmarks of the column.
    pub p_value: Option<f64>,
    /// What makes it incomparable.
    pub blocking: Vec<Difference>,
}
