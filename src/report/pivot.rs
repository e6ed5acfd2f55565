//! Pivot tables: text, Markdown, CSV, or a message for each row.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::json::{SCHEMA, write_object};
use super::layout::{Cell, Table, TableFormat};
use super::status::write_warning_within;
use super::table::p_value;
use super::theme;
use super::units;
use crate::escape;
use crate::model::Metric;
use crate::report::view::MessageFormat;

/// A pivot, laid out.
#[derive(Debug, Clone)]
pub struct PivotTable {
    /// What rows are told apart by.
    pub row_names: Vec<String>,
    /// What columns are told apart by.
    pub column_names: Vec<String>,
    /// What each cell says.
    pub values: Vec<String>,
    /// The labels of each column, by dimension.
    pub columns: Vec<Vec<String>>,
    /// The rows.
    pub rows: Vec<PivotRow>,
    /// What relative values are relative to; `None` without such values.
    pub versus: Option<String>,
    /// What else to know, a sentence each.
    pub notes: Vec<String>,
    /// What to look at, a sentence each.
    pub warnings: Vec<String>,
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PivotCell {
    /// Its number, exact; `None`: there is none.
    pub number: Option<f64>,
    /// What kind of number.
    pub kind: PivotKind,
    /// A word about its size.
    pub word: Option<&'static str>,
    /// Whether it is what others are relative to.
    pub is_reference: bool,
    /// Whether it is without a number because its run cannot be compared with that of the reference.
    pub is_incomparable: bool,
    /// How many benchmarks it stands for.
    pub benchmarks: usize,
}

/// How a number is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PivotKind {
    /// As the metric says.
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

impl PivotKind {
    fn text(&self, number: f64) -> String {
        match self {
            Self::Metric(metric) => units::reading(metric, number),
            Self::OperationRate => units::reading(
                &Metric::Rate {
                    unit: "ops".to_owned(),
                },
                number,
            ),
            Self::Count => format!("{number:.0}"),
            Self::Share => format!("{:.2} %", number * 100.0),
            Self::Change => units::change(number),
            Self::Ratio => format!("{number:.4}"),
            Self::Effect => format!("{number:+.3}").replace('-', "−"),
            Self::PValue => p_value(number),
        }
    }

    fn unit(&self) -> String {
        match self {
            Self::Metric(Metric::Time) => "ns".to_owned(),
            Self::Metric(Metric::Rate { unit }) => format!("{unit}/s"),
            Self::Metric(Metric::Amount { unit }) => unit.clone(),
            Self::OperationRate => "ops/s".to_owned(),
            Self::Count => "count".to_owned(),
            Self::Share | Self::Change => "fraction".to_owned(),
            Self::Ratio => "ratio".to_owned(),
            Self::Effect => "effect-size".to_owned(),
            Self::PValue => "probability".to_owned(),
        }
    }
}

/// Writes a pivot in lines of so many columns. `format`: for people as text, unless they want another form; JSON is a message a row.
pub fn write_pivot(
    writer: &mut dyn Write,
    table: &PivotTable,
    message_format: MessageFormat,
    format: TableFormat,
    columns: usize,
) -> io::Result<()> {
    if message_format == MessageFormat::Json {
        return write_json(writer, table);
    }
    laid_out(table).write_as(writer, format, columns)?;
    match format {
        TableFormat::Csv => Ok(()),
        TableFormat::Markdown => {
            for line in table.notes.iter().chain(&table.warnings) {
                writeln!(writer, "\n{}", escape::markdown(line))?;
            }
            Ok(())
        }
        TableFormat::Text => {
            if !(table.notes.is_empty() && table.warnings.is_empty()) {
                writeln!(writer)?;
            }
            for note in &table.notes {
                for line in units::filled(&theme::printable(note), columns.min(110)) {
                    writeln!(writer, "{line}")?;
                }
            }
            for warning in &table.warnings {
                write_warning_within(writer, warning, columns)?;
            }
            Ok(())
        }
    }
}

fn laid_out(table: &PivotTable) -> Table {
    let mut heading = table.row_names.clone();
    for labels in &table.columns {
        for value in &table.values {
            let column = labels.join(" / ");
            heading.push(match (&*column, table.values.len()) {
                ("", _) => value.clone(),
                (_, 1) => column,
                _ => format!("{column} {value}"),
            });
        }
    }
    let rows = table.rows.iter().map(|row| {
        let labels = row.labels.iter().map(|label| Cell::from(label.clone()));
        labels
            .chain(row.cells.iter().flatten().map(cell_of))
            .collect()
    });
    Table::of_rows(table.row_names.len(), &heading, rows.collect())
}

fn cell_of(cell: &PivotCell) -> Cell {
    let Some(number) = cell.number else {
        return if cell.is_incomparable {
            Cell::from("n/c")
        } else {
            Cell::nothing()
        };
    };
    let mut text = cell.kind.text(number);
    let word = if cell.is_reference {
        Some("reference")
    } else {
        cell.word
    };
    if let Some(word) = word {
        text = format!("{text} {word}");
    }
    Cell::number(number, text)
}

fn write_json(writer: &mut dyn Write, table: &PivotTable) -> io::Result<()> {
    for row in &table.rows {
        let columns = table.columns.iter().zip(&row.cells);
        let cells: Vec<Value> = columns
            .flat_map(|(labels, cells)| {
                table.values.iter().zip(cells).map(move |(value, cell)| {
                    json!({
                        "column": labels,
                        "value": value,
                        "number": cell.number,
                        "unit": cell.kind.unit(),
                        "word": cell.word,
                        "is_reference": cell.is_reference,
                        "is_incomparable": cell.is_incomparable,
                        "benchmarks": cell.benchmarks,
                    })
                })
            })
            .collect();
        let message = json!({
            "reason": "pivot-row",
            "schema": SCHEMA,
            "row": row.labels,
            "cells": cells,
        });
        write_object(writer, &message)?;
    }
    let finished = json!({
        "reason": "pivot-finished",
        "schema": SCHEMA,
        "rows": table.row_names,
        "columns": table.column_names,
        "versus": table.versus,
        "remarks": table.notes,
        "warnings": table.warnings,
    });
    write_object(writer, &finished)
}
