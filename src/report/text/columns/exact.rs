//! Writes a table of runs for machines: unrounded numbers, as CSV or as messages.

use std::io::{self, Write};

use super::content::RunTable;
use crate::report::layout::{Cell, Table};
use crate::report::messages::{
    BenchmarkColumns, JsonMessage, LimitExceeded, unit_of_statistic, write_message,
};

/// Returns the table with exact values and, for each run, change, verdict and adjusted p.
pub(super) fn exact_table(found: &RunTable) -> Table {
    let number = |value: Option<f64>| {
        value.map_or_else(Cell::missing, |value| {
            Cell::number(value, value.to_string())
        })
    };
    let labels = ["package", "target", "id", "statistic", "unit"];
    let mut heading: Vec<String> = labels.map(str::to_owned).to_vec();
    for (column, at) in found.columns.iter().zip(0..) {
        let name = format!("{} (run {})", column.name, column.run);
        heading.push(name.clone());
        if at > 0 {
            heading
                .extend(["worse by", "verdict", "adjusted p"].map(|what| format!("{name} {what}")));
        }
    }
    let mut rows = Vec::new();
    for line in &found.lines {
        for (at, figure) in found.shown.statistics().into_iter().enumerate() {
            let key = &line.key;
            let name = found.shown.name_of(figure);
            let mut row: Vec<Cell> = [&key.package, &key.target, &key.id, &name]
                .map(|text| Cell::from(text.clone()))
                .to_vec();
            row.push(Cell::from(unit_of_statistic(figure, &line.metric)));
            for (cell, column) in line.cells.iter().zip(0..) {
                let (value, change) = cell.figures.get(at).copied().unwrap_or_default();
                row.push(number(value));
                if column > 0 {
                    row.push(number(change));
                    let verdict = cell.verdict.map(|verdict| Cell::from(verdict.word()));
                    row.push(verdict.unwrap_or_else(Cell::missing));
                    row.push(number(cell.p_value));
                }
            }
            rows.push(row);
        }
    }
    Table::from_rows(labels.len(), &heading, rows)
}

pub(super) fn write_json(writer: &mut dyn Write, found: &RunTable) -> io::Result<()> {
    for line in &found.lines {
        let message = BenchmarkColumns::from_line(found, line);
        write_message(writer, JsonMessage::BenchmarkColumns(message))?;
    }
    for column in &found.columns {
        for exceeded in &column.limits.exceeded {
            let message = LimitExceeded::from_exceeded(column.run, exceeded);
            write_message(writer, JsonMessage::LimitExceeded(message))?;
        }
    }
    write_message(writer, JsonMessage::ColumnsFinished(found.into()))
}
