//! Tables, and their output as text.

use std::io::{self, Write};

use super::cell::Cell;
use super::column::{Column, Kind, cell_lines, pad};
use super::fit::{self, FittedColumn, GAP};
use super::forms::{self, TableFormat};
use crate::report::view::wrap_prose;
use crate::report::{theme, units};

/// The columns of a table, and the sections of its rows.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    sections: Vec<Section>,
    /// If columns do not fit: `None` leaves some out; otherwise further blocks contain them, each with this number of first columns repeated.
    labels: Option<usize>,
}

/// The rows below one heading, with remarks about them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    /// Title, shown on the line of the column headings if it fits.
    pub(crate) title: Option<String>,
    pub(crate) rows: Vec<SectionRow>,
    /// Remarks below the rows, a sentence each.
    pub(crate) remarks: Vec<String>,
}

/// A line of a section.
#[derive(Debug, Clone)]
pub(crate) enum SectionRow {
    /// A heading of some rows.
    Title(String),
    /// The row with this index.
    At(usize),
}

impl Table {
    /// Creates a table of columns that have equally many cells.
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

    /// Creates a table from rows. The first `labels` cells of a row name it, the others are values. Columns that do not fit are continued below.
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

    /// Arranges the rows in sections.
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

    /// Continues columns that do not fit in further blocks, each with the first `labels` columns. No column is left out.
    pub(crate) fn in_blocks_after(self, labels: usize) -> Self {
        Self {
            labels: Some(labels),
            ..self
        }
    }

    /// Shortens row names in the middle to one line of `room` columns: their ends distinguish them.
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

    /// Adds remarks to each section. `remarks` receives the indices of the section's rows and returns a sentence for each remark.
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

    /// Writes the table in a format; text in lines of `room` columns.
    pub(crate) fn write_as(
        &self,
        writer: &mut dyn Write,
        format: TableFormat,
        room: usize,
    ) -> io::Result<()> {
        match format {
            TableFormat::Text => self.write(writer, room),
            TableFormat::Markdown => forms::write_markdown(writer, &self.columns),
            TableFormat::Csv => forms::write_csv(writer, &self.columns),
        }
    }

    /// Writes the table as text in lines of `room` columns.
    pub(crate) fn write(&self, writer: &mut dyn Write, room: usize) -> io::Result<()> {
        let blocks = match self.labels {
            Some(labels) => fit::split_into_blocks(&self.columns, labels, room),
            None => vec![fit::fit_columns(&self.columns, room)],
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

/// Columns that are next to each other.
struct Block<'t> {
    columns: Vec<FittedColumn<'t>>,
    room: usize,
}

impl Block<'_> {
    /// Writes the headings of all columns, with the title before them if it fits.
    fn write_heading(&self, writer: &mut dyn Write, title: Option<&str>) -> io::Result<()> {
        let of = |column: &FittedColumn<'_>, line: usize| {
            let cell = column.form.heading.get(line);
            cell.map_or_else(String::new, Cell::colored_text)
        };
        let told = |line: &usize| {
            let mut columns = self.columns.iter();
            columns.any(|column| !of(column, *line).is_empty())
        };
        let heights = self.columns.iter().map(|column| column.form.heading.len());
        let lines = 0..heights.max().unwrap_or(0);
        let mut title = title.map(|title| theme::heading(units::escape_line(title)));
        let room = self.columns.first().map_or(0, |column| column.width);
        if let Some(long) = title.take_if(|title| units::width(title) > room || !told(&0)) {
            writeln!(writer, "{long}")?;
        }
        for line in lines.filter(told) {
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
                writeln!(writer, "{}", theme::faint(line))?;
            }
        }
        Ok(())
    }

    /// Writes a text that is in no column, in as many lines as it needs.
    fn write_full_width(&self, writer: &mut dyn Write, text: &str) -> io::Result<()> {
        for part in units::wrap_anywhere(&units::escape_line(text), self.room) {
            writeln!(writer, "{part}")?;
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
