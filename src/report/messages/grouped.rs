//! Messages of `compare --group-by`, which compares benchmarks of one run with each other.

use serde::Serialize;

use crate::report::text::columns::ValueForm;
use perfcheck_analysis::compare::Contender;
use perfcheck_analysis::model::{FilterReport, Metric, RunId};

/// The benchmarks of one run, arranged in rows and columns by a part of their ids.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "GroupFinished"))]
pub struct GroupComparison {
    /// Number of the run.
    pub run: RunId,
    /// The name under which the user gave the run.
    #[serde(skip)]
    pub name: String,
    /// The regular expression.
    pub pattern: String,
    /// Captured texts, in the order of the columns.
    pub columns: Vec<String>,
    /// The rows, in the order in which they are shown.
    #[serde(skip)]
    pub rows: Vec<GroupedRow>,
    /// Geometric mean of the ratios of each column, over the rows that have all columns; null if there are fewer than two such rows.
    pub geometric_means: Option<Vec<f64>>,
    /// Number of benchmarks that the expression does not match.
    pub left_out: usize,
    /// Number of matching benchmarks without a cell, because they have no value above zero, or another metric than the first benchmark of their row.
    pub without_value: usize,
    /// Samples that are left out by the filter of the run or by `--outliers`; null if all samples are used.
    pub filtered: Option<FilterReport>,
    /// Significance level: 1 minus the confidence that the truly fastest benchmark is among those called `fastest` or `open`.
    pub level: f64,
    /// Whether times or ratios are shown.
    #[serde(skip)]
    pub terms: ValueForm,
}

/// A row of alternatives, of which the fastest is sought.
#[derive(Debug, Clone)]
pub struct GroupedRow {
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// The id, with `*` in place of the captured text.
    pub name: String,
    /// Metric of the values.
    pub metric: Metric,
    /// One entry for each column; `None` if there is no such benchmark, or no sample of it.
    pub cells: Vec<Option<GroupedCell>>,
}

/// A benchmark, compared with its alternatives.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupedCell {
    /// Complete id of the benchmark.
    pub id: String,
    /// Number of processes with samples.
    pub launches: usize,
    /// Its standing among the alternatives.
    #[serde(flatten)]
    pub contender: Contender,
}

/// A row of benchmarks that are alternatives to each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GroupMessage<'a> {
    /// Name of the package.
    package: &'a str,
    /// Name of the bench target.
    target: &'a str,
    /// Common part of the ids, with `*` in place of the captured text.
    row: &'a str,
    /// Metric of all samples in the row.
    metric: &'a Metric,
    /// One entry for each column that has a benchmark in this row.
    cells: Vec<GroupCell<'a>>,
}

/// A benchmark with its column.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GroupCell<'a> {
    /// Captured text of the column.
    column: &'a str,
    #[serde(flatten)]
    cell: &'a GroupedCell,
}

impl<'a> GroupMessage<'a> {
    pub fn from_row(found: &'a GroupComparison, row: &'a GroupedRow) -> Self {
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
