//! Tables as Markdown and as comma-separated values.

use clap::ValueEnum;
use std::io::{self, Write};

use super::cell::Cell;
use super::column::{Column, Kind};
use crate::escape;

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns
    Text,
    /// A Markdown table
    Markdown,
    /// Comma-separated values, exact
    Csv,
}

/// Writes columns as a Markdown table. Markup in cells is escaped.
pub(super) fn write_markdown(writer: &mut dyn Write, columns: &[Column]) -> io::Result<()> {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let heading = headings(columns).map(|text| escape::markdown(&text));
    writeln!(writer, "{}", line(heading.collect()))?;
    let sides = columns.iter().map(|column| match column.kind {
        Kind::Number => "--:",
        _ => ":--",
    });
    writeln!(writer, "{}", line(sides.map(str::to_owned).collect()))?;
    for row in rows(columns) {
        let cells = row.map(|cell| {
            if cell.is_missing() {
                cell.raw()
            } else {
                escape::markdown(cell.raw().trim_end())
            }
        });
        writeln!(writer, "{}", line(cells.collect()))?;
    }
    Ok(())
}

/// Writes columns as CSV. Cells that a spreadsheet would read as formulas are escaped.
pub(super) fn write_csv(writer: &mut dyn Write, columns: &[Column]) -> io::Result<()> {
    let heading: Vec<String> = headings(columns)
        .map(|text| escape::csv_cell(&text))
        .collect();
    // RFC 4180 requires these line ends.
    write!(writer, "{}\r\n", heading.join(","))?;
    for row in rows(columns) {
        let cells: Vec<String> = row
            .map(|cell| match cell.exact() {
                Some(number) => number.to_string(),
                None if cell.is_missing() => String::new(),
                None => escape::csv_cell(&cell.raw()),
            })
            .collect();
        write!(writer, "{}\r\n", cells.join(","))?;
    }
    Ok(())
}

fn headings(columns: &[Column]) -> impl Iterator<Item = String> {
    columns.iter().map(|column| {
        let heading = &column.forms[0].heading;
        heading.iter().map(Cell::raw).collect::<Vec<_>>().join(" ")
    })
}

fn rows(columns: &[Column]) -> impl Iterator<Item = impl Iterator<Item = &Cell>> {
    let count = columns.first().map_or(0, |column| column.cells().len());
    (0..count).map(move |at| columns.iter().map(move |column| &column.cells()[at]))
}
