//! Writes pivot tables as text, Markdown, CSV, or a message for each row.

use std::io::{self, Write};

use super::status::write_warning_within;
use crate::escape;
use crate::report::layout::{Cell, Table, TableFormat};
use crate::report::messages::{
    JsonMessage, PivotCell, PivotKind, PivotRowMessage, PivotTable, write_message,
};
use crate::report::view::MessageFormat;
use crate::report::{theme, units};
use perfcheck_analysis::model::Metric;

/// Writes a pivot table in lines of at most `columns`. `format` applies to human output; JSON is one message per row.
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
    build_table(table).write_as(writer, format, columns)?;
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
                for line in units::wrap_words(&theme::escape_terminal_text(note), columns.min(110))
                {
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

fn build_table(table: &PivotTable) -> Table {
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
    Table::from_rows(table.row_names.len(), &heading, rows.collect())
}

fn cell_of(cell: &PivotCell) -> Cell {
    let Some(number) = cell.number else {
        return if cell.is_incomparable {
            Cell::from("n/c")
        } else {
            Cell::missing()
        };
    };
    let mut text = format_number(&cell.kind, number);
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

/// Formats `number` in the unit of `kind`.
fn format_number(kind: &PivotKind, number: f64) -> String {
    match kind {
        PivotKind::Metric(metric) => units::format_reading(metric, number),
        PivotKind::OperationRate => units::format_reading(
            &Metric::Rate {
                unit: "ops".to_owned(),
            },
            number,
        ),
        PivotKind::Count => format!("{number:.0}"),
        PivotKind::Share => format!("{:.2} %", number * 100.0),
        PivotKind::Change => units::change(number),
        PivotKind::Ratio => format!("{number:.4}"),
        PivotKind::Effect => units::effect(number),
        PivotKind::PValue => units::p_value(number),
    }
}

fn write_json(writer: &mut dyn Write, table: &PivotTable) -> io::Result<()> {
    for row in &table.rows {
        write_message(
            writer,
            JsonMessage::PivotRow(PivotRowMessage::from_row(table, row)),
        )?;
    }
    write_message(writer, JsonMessage::PivotFinished(table))
}
