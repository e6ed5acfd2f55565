//! Benchmarks of one run side by side (`compare --group-by`).

use serde::Serialize;

use crate::report::text::columns::ValueTerms;
use perfcheck_analysis::compare::Contender;
use perfcheck_analysis::model::{LeftOutSamples, Metric, RunId};

/// One run, laid out by a part of its ids.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "GroupFinished"))]
pub struct Grouped {
    /// The number of the run.
    pub run: RunId,
    /// What the user called it.
    #[serde(skip)]
    pub name: String,
    /// The regular expression.
    pub pattern: String,
    /// What it captured, in the order of the columns.
    pub columns: Vec<String>,
    /// The rest of the ids, in the order in which they are to be shown.
    #[serde(skip)]
    pub rows: Vec<GroupedRow>,
    /// The geometric mean of the ratios of each column, over the rows that have all columns; null for fewer than two of these.
    pub geometric_means: Option<Vec<f64>>,
    /// How many benchmarks the expression does not match.
    pub left_out: usize,
    /// How many benchmarks it matches that have no cell: without a value above zero, or of another metric than the first of their row.
    pub without_value: usize,
    /// What is left out of the values by the filter of the run or by `--outliers`; null where all samples are described.
    pub filtered: Option<LeftOutSamples>,
    /// One less the confidence that the fastest is among those called `fastest` or `open`.
    pub level: f64,
    /// Whether times or ratios are shown.
    #[serde(skip)]
    pub terms: ValueTerms,
}

/// A row: contenders for the fastest.
#[derive(Debug, Clone)]
pub struct GroupedRow {
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// The id with `*` for what the columns tell apart.
    pub name: String,
    /// What its values mean.
    pub metric: Metric,
    /// One for each column; `None` where there is no such benchmark, or no sample of it.
    pub cells: Vec<Option<GroupedCell>>,
}

/// A benchmark beside its alternatives.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupedCell {
    /// The whole id of the benchmark.
    pub id: String,
    /// How many launches have samples.
    pub launches: usize,
    /// How it stands.
    #[serde(flatten)]
    pub contender: Contender,
}

/// A row of benchmarks that are alternatives to each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GroupMessage<'a> {
    /// The name of the package.
    package: &'a str,
    /// The name of the bench target.
    target: &'a str,
    /// What the ids have in common, with `*` for what was captured.
    row: &'a str,
    /// What the samples of all of them mean.
    metric: &'a Metric,
    /// One for each column that there is a benchmark of.
    cells: Vec<GroupCell<'a>>,
}

/// A benchmark with the column that it stands in.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GroupCell<'a> {
    /// What was captured.
    column: &'a str,
    #[serde(flatten)]
    cell: &'a GroupedCell,
}

impl<'a> GroupMessage<'a> {
    pub fn of(found: &'a Grouped, row: &'a GroupedRow) -> Self {
        let columns = found.columns.iter().zip(&row.cells);
        let cells = columns.filter_map(|(column, cell)| {
            let cell = cell.as_ref()?;
            Some(GroupCell { column, cell })
        });
        Self {
            package: &row.package,
            target: &row.target,
            row: &row.name,
            metric: &row.metric,
            cells: cells.collect(),
        }
    }
}
