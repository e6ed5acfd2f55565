//! Messages of `compare --pivot`: one for each row, and one that describes the table.

use serde::Serialize;

use perfcheck_analysis::model::{FilterReport, Metric, RunId};

/// A description of a pivot table. It follows the rows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PivotFinished"))]
pub struct PivotTable {
    /// Dimensions of the rows.
    #[serde(rename = "rows")]
    pub row_names: Vec<String>,
    /// Dimensions of the columns.
    #[serde(rename = "columns")]
    pub column_names: Vec<String>,
    /// Names of the values in each cell.
    #[serde(skip)]
    pub values: Vec<String>,
    /// Labels of each column, by dimension.
    #[serde(skip)]
    pub columns: Vec<Vec<String>>,
    /// The rows.
    #[serde(skip)]
    pub rows: Vec<PivotRow>,
    /// Reference of relative values; null if no value is relative.
    pub versus: Option<String>,
    /// Samples that filters left out, for each run with a filter of its own or by `--outliers`.
    pub filters: Vec<PivotFilter>,
    /// Remarks about the table, a sentence each.
    #[serde(rename = "remarks")]
    pub notes: Vec<String>,
    /// Warnings, a sentence each.
    pub warnings: Vec<String>,
}

/// A run of a pivot table with a filter, and the samples that the filter left out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotFilter {
    /// Number of the run.
    pub run: RunId,
    /// The name under which the user gave the run.
    pub name: String,
    /// The filter and its counts of samples.
    #[serde(flatten)]
    pub left_out: FilterReport,
}

/// A row of a pivot table.
#[derive(Debug, Clone)]
pub struct PivotRow {
    /// Labels of the row, by dimension.
    pub labels: Vec<String>,
    /// Cells of each column: one for each value.
    pub cells: Vec<Vec<PivotCell>>,
}

/// A cell of a pivot table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotCell {
    /// The number, not rounded; null if there is none.
    pub number: Option<f64>,
    /// Unit of the number: `ns`, `ops/s` or another rate, `count`, `fraction`, `ratio`, `effect-size`, `probability`, or the unit of the metric.
    #[serde(rename = "unit", serialize_with = "serialize_unit")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: PivotKind,
    /// Size of an effect in a word, or `significant` if the p-value is below the level; else null.
    pub word: Option<&'static str>,
    /// Whether other cells are relative to this one.
    pub is_reference: bool,
    /// Whether the number is missing because the run cannot be compared with the reference's.
    pub is_incomparable: bool,
    /// Number of benchmarks that the cell summarizes.
    pub benchmarks: usize,
}

/// The kind of a number, which determines its unit and form.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PivotKind {
    /// A number in the unit of the metric.
    Metric(Metric),
    /// Operations per second.
    OperationRate,
    /// A count.
    #[default]
    Count,
    /// A share of a whole, without a sign.
    Share,
    /// A change, as a fraction.
    Change,
    /// A ratio.
    Ratio,
    /// An effect size with its sign.
    Effect,
    /// A p-value.
    PValue,
}

/// A row of a pivot table, as a message.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PivotRow"))]
pub(crate) struct PivotRowMessage<'a> {
    /// Labels of the row, by dimension.
    row: &'a [String],
    /// The cells, column by column.
    cells: Vec<PlacedCell<'a>>,
}

/// A cell with its column and the name of its value.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlacedCell<'a> {
    /// Labels of the column, by dimension.
    column: &'a [String],
    /// Name of the value, as the pivot table names it.
    value: &'a str,
    #[serde(flatten)]
    cell: &'a PivotCell,
}

impl<'a> PivotRowMessage<'a> {
    pub fn from_row(table: &'a PivotTable, row: &'a PivotRow) -> Self {
        let columns = table.columns.iter().zip(&row.cells);
        let cells = columns.flat_map(|(column, cells)| {
            let values = table.values.iter().zip(cells);
            values.map(move |(value, cell)| PlacedCell {
                column,
                value,
                cell,
            })
        });
        Self {
            row: &row.labels,
            cells: cells.collect(),
        }
    }
}

fn serialize_unit<S: serde::Serializer>(
    kind: &PivotKind,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match kind {
        PivotKind::Metric(Metric::Time) => serializer.serialize_str("ns"),
        PivotKind::Metric(Metric::Rate { unit }) => serializer.serialize_str(&format!("{unit}/s")),
        PivotKind::Metric(Metric::Amount { unit }) => serializer.serialize_str(unit),
        PivotKind::OperationRate => serializer.serialize_str("ops/s"),
        PivotKind::Count => serializer.serialize_str("count"),
        PivotKind::Share | PivotKind::Change => serializer.serialize_str("fraction"),
        PivotKind::Ratio => serializer.serialize_str("ratio"),
        PivotKind::Effect => serializer.serialize_str("effect-size"),
        PivotKind::PValue => serializer.serialize_str("probability"),
    }
}
