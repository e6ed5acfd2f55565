//! Pivot tables, row by row (`compare --pivot`).

use serde::Serialize;

use perfcheck_analysis::model::{LeftOutSamples, Metric, RunId};

/// A pivot, laid out. As a message, after its rows, it says how to read them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PivotFinished"))]
pub struct PivotTable {
    /// The dimensions that tell rows apart.
    #[serde(rename = "rows")]
    pub row_names: Vec<String>,
    /// The dimensions that tell columns apart.
    #[serde(rename = "columns")]
    pub column_names: Vec<String>,
    /// What each cell says.
    #[serde(skip)]
    pub values: Vec<String>,
    /// The labels of each column, by dimension.
    #[serde(skip)]
    pub columns: Vec<Vec<String>>,
    /// The rows.
    #[serde(skip)]
    pub rows: Vec<PivotRow>,
    /// What relative values are relative to; null without such values.
    pub versus: Option<String>,
    /// What was left out of the runs that have a filter, of their own or by `--outliers`.
    pub filters: Vec<PivotFilter>,
    /// What else to know, a sentence each.
    #[serde(rename = "remarks")]
    pub notes: Vec<String>,
    /// What to look at, a sentence each.
    pub warnings: Vec<String>,
}

/// A run of a pivot of which samples are left out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotFilter {
    /// Its number.
    pub run: RunId,
    /// As the user named it.
    pub name: String,
    /// What is left out.
    #[serde(flatten)]
    pub left_out: LeftOutSamples,
}

/// A row of a pivot.
#[derive(Debug, Clone)]
pub struct PivotRow {
    /// Its labels, by dimension.
    pub labels: Vec<String>,
    /// For each column, a cell for each value.
    pub cells: Vec<Vec<PivotCell>>,
}

/// A cell of a pivot.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotCell {
    /// The number, exact; null where there is none.
    pub number: Option<f64>,
    /// The unit of the number: `ns`, `ops/s` or another rate, `count`, `fraction`, `ratio`, `effect-size`, `probability`, or the unit of the metric.
    #[serde(rename = "unit", serialize_with = "unit")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: PivotKind,
    /// The size of an effect in a word, or `significant` for a p below the level; else null.
    pub word: Option<&'static str>,
    /// Whether it is what others are relative to.
    pub is_reference: bool,
    /// Whether it has no number because its run cannot be compared with that of the reference.
    pub is_incomparable: bool,
    /// How many benchmarks it stands for.
    pub benchmarks: usize,
}

/// How a number is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PivotKind {
    /// It is read as the metric says.
    Metric(Metric),
    /// Operations per second.
    OperationRate,
    /// A count.
    #[default]
    Count,
    /// A share of one, without a sign.
    Share,
    /// A change, a fraction.
    Change,
    /// A ratio.
    Ratio,
    /// An effect size with its sign.
    Effect,
    /// A p-value.
    PValue,
}

/// A row of a pivot, as a message.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PivotRow"))]
pub(crate) struct PivotRowMessage<'a> {
    /// The labels of the row, by dimension.
    row: &'a [String],
    /// The cells, column by column.
    cells: Vec<PlacedCell<'a>>,
}

/// A cell with its place.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlacedCell<'a> {
    /// The labels of its column, by dimension.
    column: &'a [String],
    /// What it says, as the pivot names it.
    value: &'a str,
    #[serde(flatten)]
    cell: &'a PivotCell,
}

impl<'a> PivotRowMessage<'a> {
    pub fn of(table: &'a PivotTable, row: &'a PivotRow) -> Self {
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

fn unit<S: serde::Serializer>(kind: &PivotKind, serializer: S) -> Result<S::Ok, S::Error> {
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
