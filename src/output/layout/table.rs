//! Tables with sections of rows, which may be grouped by bench target and group of benchmarks. They are written as text, Markdown or comma-separated
//! values.

use clap::ValueEnum;
use std::collections::HashMap;
use std::hash::Hash;
use std::io::{self, Write};

use super::cell::Cell;
use super::column;
use super::column::{Column, FittedColumn, GAP, Kind, cell_lines, pad};
use crate::output::view::{RowOrder, wrap_prose};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::model::BenchmarkKey;

/// A table: its columns, and the sections into which its rows are divided.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    sections: Vec<Section>,
    /// If this is set, columns that do not fit continue in further blocks below, each of which repeats this number of first columns. If it is `None`,
    /// columns that do not fit are left out.
    labels: Option<usize>,
}

/// The rows below one heading, with remarks about them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    /// The title. It is on the line of the column headings if it fits there.
    pub(crate) title: Option<String>,
    pub(crate) rows: Vec<SectionRow>,
    /// Remarks that follow the rows, with one sentence in each.
    pub(crate) remarks: Vec<String>,
}

/// A line of a section: a heading or a row.
#[derive(Debug, Clone)]
pub(crate) enum SectionRow {
    /// A heading of the rows that follow.
    Title(String),
    /// The row that consists of the cells with this index in each column.
    At(usize),
}

impl Table {
    /// Creates a table with a single section. All columns must have equally many cells.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        let rows = columns.first().map_or(0, |column| column.cells().len());
        let all = Section {
            rows: (0..rows).map(SectionRow::At).collect(),
            ..Section::default()
        };
        Self {
            columns,
            sections: vec![all],
            labels: None,
        }
    }

    /// Creates a table from its rows. The first `labels` cells of a row are its labels, and the others are values. Values that do not fit continue in
    /// blocks below, which repeat the labels.
    pub(crate) fn from_rows(labels: usize, heading: &[String], rows: Vec<Vec<Cell>>) -> Self {
        let mut cells: Vec<Vec<Cell>> = vec![Vec::with_capacity(rows.len()); heading.len()];
        for row in rows {
            for (column, cell) in cells.iter_mut().zip(row) {
                column.push(cell);
            }
        }
        let columns = heading.iter().zip(cells).enumerate();
        let columns = columns.map(|(at, (heading, cells))| {
            if at < labels {
                Column::name(heading, cells)
            } else {
                Column::number(heading, cells)
            }
        });
        Self::new(columns.collect()).in_blocks_after(labels)
    }

    /// Divides the rows into these sections.
    pub(crate) fn in_sections(mut self, sections: Vec<Section>) -> Self {
        let titles = sections
            .iter()
            .filter_map(|section| section.title.as_deref());
        let widths = titles.map(|title| units::width(&units::escape_line(title)));
        if let Some(names) = self.columns.first_mut() {
            names.make_room_for_titles(widths);
        }
        Self { sections, ..self }
    }

    /// Makes columns that do not fit continue in further blocks below, each of which repeats the first `labels` columns. So no column is left out.
    pub(crate) fn in_blocks_after(self, labels: usize) -> Self {
        Self {
            labels: Some(labels),
            ..self
        }
    }

    /// Shortens the names of rows and headings to one line of `room` columns. Their middle is left out, because their ends distinguish them.
    pub(crate) fn with_names_on_one_line(mut self, room: usize) -> Self {
        if let Some(names) = self.columns.first_mut() {
            for cell in names.forms.iter_mut().flat_map(|form| &mut form.cells) {
                *cell = units::shorten_middle(&cell.raw(), room).into();
            }
        }
        for section in &mut self.sections {
            for row in &mut section.rows {
                if let SectionRow::Title(title) = row {
                    *title = units::shorten_middle(title, room);
                }
            }
        }
        self
    }

    /// Adds remarks to each section. `remarks` gets the indices of the section's rows and returns the remarks, with one sentence in each.
    pub(crate) fn with_remarks(mut self, remarks: impl Fn(&[usize]) -> Vec<String>) -> Self {
        for section in &mut self.sections {
            let places = section.rows.iter().filter_map(|row| match row {
                SectionRow::Title(_) => None,
                SectionRow::At(at) => Some(*at),
            });
            section.remarks = remarks(&places.collect::<Vec<_>>());
        }
        self
    }

    /// Writes the table in a format. As text, its lines have at most `room` columns.
    pub(crate) fn write_as(
        &self,
        writer: &mut dyn Write,
        format: TableFormat,
        room: usize,
    ) -> io::Result<()> {
        match format {
            TableFormat::Text => self.write(writer, room),
            TableFormat::Markdown => write_markdown(writer, &self.columns),
            TableFormat::Csv => write_csv(writer, &self.columns),
        }
    }

    /// Writes the table as text in lines of `room` columns.
    pub(crate) fn write(&self, writer: &mut dyn Write, room: usize) -> io::Result<()> {
        let blocks = match self.labels {
            Some(labels) => column::split_into_blocks(&self.columns, labels, room),
            None => vec![column::fit_columns(&self.columns, room)],
        };
        for (index, columns) in blocks.into_iter().enumerate() {
            if index > 0 {
                writeln!(writer)?;
            }
            let block = Block { columns, room };
            for (index, section) in self.sections.iter().enumerate() {
                // Rows without a heading belong to the section above them.
                let begins = index == 0 || section.title.is_some();
                if index > 0 && begins {
                    writeln!(writer)?;
                }
                if begins {
                    block.write_heading(writer, section.title.as_deref())?;
                }
                block.write_section(writer, section)?;
            }
        }
        Ok(())
    }
}

/// Columns that are written next to each other. A table has several blocks if its columns continue below.
struct Block<'t> {
    columns: Vec<FittedColumn<'t>>,
    room: usize,
}

impl Block<'_> {
    /// Writes the headings of all columns. The title of a section is on the same line if it fits, and on a line of its own otherwise.
    fn write_heading(&self, writer: &mut dyn Write, title: Option<&str>) -> io::Result<()> {
        let of = |column: &FittedColumn<'_>, line: usize| {
            let cell = column.form.heading.get(line);
            cell.map_or_else(String::new, Cell::colored_text)
        };
        let has_heading = |line: &usize| {
            let mut columns = self.columns.iter();
            columns.any(|column| !of(column, *line).is_empty())
        };
        let heights = self.columns.iter().map(|column| column.form.heading.len());
        let lines = 0..heights.max().unwrap_or(0);
        let mut title = title.map(|title| terminal::heading(units::escape_line(title)));
        let room = self.columns.first().map_or(0, |column| column.width);
        if let Some(long) = title.take_if(|title| units::width(title) > room || !has_heading(&0)) {
            writeln!(writer, "{long}")?;
        }
        for line in lines.filter(has_heading) {
            let title = title.take();
            self.write_line(writer, |at, column| {
                let text = match &title {
                    Some(title) if at == 0 => title.clone(),
                    _ => of(column, line),
                };
                pad(column.kind, &text, column.width)
            })?;
        }
        Ok(())
    }

    fn write_section(&self, writer: &mut dyn Write, section: &Section) -> io::Result<()> {
        for row in &section.rows {
            match row {
                SectionRow::Title(title) => self.write_full_width(writer, title)?,
                SectionRow::At(at) => self.write_row(writer, *at)?,
            }
        }
        for remark in &section.remarks {
            let text = format!("  {}", wrap_prose(remark, self.room, "    "));
            for line in text.split('\n') {
                writeln!(writer, "{}", terminal::faint(line))?;
            }
        }
        Ok(())
    }

    /// Writes a text across all columns, in as many lines as it needs. All of these lines are indented as much as `text`.
    fn write_full_width(&self, writer: &mut dyn Write, text: &str) -> io::Result<()> {
        let text = units::escape_line(text);
        let words = text.trim_start_matches(' ');
        let (indent, _) = text.split_at(text.len() - words.len());
        for part in units::wrap_anywhere(words, self.room.saturating_sub(indent.len())) {
            writeln!(writer, "{indent}{part}")?;
        }
        Ok(())
    }

    fn write_row(&self, writer: &mut dyn Write, at: usize) -> io::Result<()> {
        let mut cells = Vec::new();
        for column in &self.columns {
            let cell = &column.form.cells[at];
            let text = column.width - column.mark_width.min(column.width);
            if column.kind == Kind::RowName && cell.width() > column.width {
                self.write_full_width(writer, &cell.raw())?;
                cells.push(Vec::new());
            } else {
                cells.push(cell_lines(column.kind, cell, text));
            }
        }
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            self.write_line(writer, |place, column| {
                let text = cells[place].get(line).map_or("", String::as_str);
                let marks = column.mark_width;
                let text = pad(column.kind, text, column.width.saturating_sub(marks));
                if marks == 0 {
                    return text;
                }
                let mark = match line {
                    0 => column.form.cells[at].colored_mark(),
                    _ => String::new(),
                };
                format!("{text} {}", pad(Kind::Fact, &mark, marks - 1))
            })?;
        }
        Ok(())
    }

    fn write_line(
        &self,
        writer: &mut dyn Write,
        text: impl Fn(usize, &FittedColumn<'_>) -> String,
    ) -> io::Result<()> {
        let columns = self.columns.iter().enumerate();
        let cells: Vec<String> = columns.map(|(at, column)| text(at, column)).collect();
        let line = cells.join(&" ".repeat(GAP));
        writeln!(writer, "{}", line.trim_end())
    }
}

impl Table {
    /// Creates a table with a row for each benchmark in `keys`. `columns` are those beside the names of the benchmarks. Without benchmarks, the table
    /// is empty.
    pub(crate) fn from_benchmarks(
        keys: &[&BenchmarkKey],
        arrangement: RowOrder,
        columns: Vec<Column>,
    ) -> Self {
        let (names, sections) = rows_of_benchmarks(keys, arrangement);
        let columns = std::iter::once(names).chain(columns);
        Self::new(columns.collect()).in_sections(sections)
    }
}

/// Divides the benchmarks in `keys` into sections. Returns the column with their names, and the sections. Targets and groups are in the order of
/// their first benchmark.
fn rows_of_benchmarks(keys: &[&BenchmarkKey], arrangement: RowOrder) -> (Column, Vec<Section>) {
    let mut targets = group_rows_by((0..keys.len()).map(|at| (target(keys[at]), at)));
    let mut names: Vec<String> = keys.iter().map(|key| indented_id(&key.id)).collect();
    if arrangement == RowOrder::List && targets.len() > 1 {
        for (name, key) in names.iter_mut().zip(keys) {
            *name = format!("  {}: {}", target(key), units::escape_id(&key.id));
        }
        targets = vec![(String::new(), (0..keys.len()).collect())];
    }
    let sections = targets.into_iter().map(|(title, rows)| Section {
        title: Some(title).filter(|title| !title.is_empty()),
        rows: match arrangement {
            RowOrder::Groups => arrange_by_group(&rows, keys, &mut names),
            RowOrder::Targets | RowOrder::List => rows.into_iter().map(SectionRow::At).collect(),
        },
        remarks: Vec::new(),
    });
    let sections = sections.collect();
    let names = names.into_iter().map(Cell::from).collect();
    (Column::row_names(names), sections)
}

fn indented_id(id: &str) -> String {
    format!("  {}", units::escape_id(id))
}

fn target(key: &BenchmarkKey) -> String {
    format!("{}/{}", key.package, key.target)
}

/// Collects the rows that have the same name. Names are in the order of their first row.
fn group_rows_by<N: Clone + Eq + Hash>(
    named: impl Iterator<Item = (N, usize)>,
) -> Vec<(N, Vec<usize>)> {
    let mut found: Vec<(N, Vec<usize>)> = Vec::new();
    let mut places: HashMap<N, usize> = HashMap::new();
    for (name, row) in named {
        let place = *places.entry(name).or_insert_with_key(|name| {
            found.push((name.clone(), Vec::new()));
            found.len() - 1
        });
        found[place].1.push(row);
    }
    found
}

/// Arranges the rows of a bench target by group. Below the heading of a group, a name is shortened to the part of the id that follows the group. A
/// group with one benchmark gets no heading.
fn arrange_by_group(
    rows: &[usize],
    keys: &[&BenchmarkKey],
    names: &mut [String],
) -> Vec<SectionRow> {
    let group = |at: usize| keys[at].id.rsplit_once('/').map(|(group, _)| group);
    let found = group_rows_by(rows.iter().map(|at| (group(*at), *at)));
    // Rows without a heading come first, otherwise they would seem to belong to the group above them.
    let (named, nameless): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(name, rows)| name.is_some() && rows.len() > 1);
    let alone = nameless.into_iter().flat_map(|(_, rows)| rows);
    let mut lines: Vec<SectionRow> = alone.map(SectionRow::At).collect();
    for (group, rows) in named {
        let group = group.map(units::escape_id).unwrap_or_default();
        lines.push(SectionRow::Title(format!("  {group}/")));
        for at in rows {
            let id = &keys[at].id;
            let name = id.rsplit_once('/').map_or(&**id, |(_, name)| name);
            names[at] = format!("    {}", units::escape_id(name));
            lines.push(SectionRow::At(at));
        }
    }
    lines
}

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns
    Text,
    /// A Markdown table
    Markdown,
    /// Comma-separated values, unrounded
    Csv,
}

/// Writes columns as a Markdown table. Markup in cells is escaped, so that it is shown as it is.
pub(super) fn write_markdown(writer: &mut dyn Write, columns: &[Column]) -> io::Result<()> {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let heading = headings(columns).map(|text| sanitize::markdown(&text));
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
                sanitize::markdown(cell.raw().trim_end())
            }
        });
        writeln!(writer, "{}", line(cells.collect()))?;
    }
    Ok(())
}

/// Writes columns as CSV. Cells that a spreadsheet would read as formulas are escaped.
pub(super) fn write_csv(writer: &mut dyn Write, columns: &[Column]) -> io::Result<()> {
    let heading: Vec<String> = headings(columns)
        .map(|text| sanitize::csv_cell(&text))
        .collect();
    // RFC 4180 requires these line ends.
    write!(writer, "{}\r\n", heading.join(","))?;
    for row in rows(columns) {
        let cells: Vec<String> = row
            .map(|cell| match cell.exact() {
                Some(number) => number.to_string(),
                None if cell.is_missing() => String::new(),
                None => sanitize::csv_cell(&cell.raw()),
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
