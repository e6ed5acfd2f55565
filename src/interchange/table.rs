//! Reads tables of separated values: maps rows by the column map, and reports errors with line and column.

use crate::interchange::{ColumnMap, InputColumn};
use clap::{ArgAction, Args};
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::borrow::Cow;

use super::error::{ExchangeError, MalformedRow};
use super::groups::{ImportedGroups, RawRow, ReadOptions, RowCollector, RowPosition};
use super::input::InputContent;
use super::unit::{Decimal, DecimalMark, ValueUnit};
use perfcheck_analysis::model::{ProgressReporter, limits};

/// How many rows are read before the next check for an interrupt.
const ROWS_BETWEEN_LOOKS: u64 = 1 << 12;

/// The layout of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct TableLayout {
    /// Split columns at this character; `tab` means a tab
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = parse_separator)]
    pub separator: u8,
    /// Read the first line as values, not as column names; refer to columns by number
    #[arg(id = "no_header", long = "no-header", action = ArgAction::SetFalse)]
    pub header: bool,
    /// Read numbers with a decimal comma, e.g. 1,5
    #[arg(long)]
    pub decimal_comma: bool,
}

fn parse_separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if ["tab", "\\t"].contains(&text) => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => {
            Err("a quotation mark or line end cannot separate columns".to_owned())
        }
        [byte] => Ok(*byte),
        _ => Err("expected one ASCII character, or `tab`".to_owned()),
    }
}

/// Reads `files` as one set of measurements. Stops with the error `Interrupted` once `interrupted` returns true.
pub fn read_tables(
    files: &[InputContent],
    map: &ColumnMap,
    layout: TableLayout,
    reading: &ReadOptions,
    interrupted: &dyn Fn() -> bool,
    progress: &ProgressReporter<'_>,
) -> Result<ImportedGroups, ExchangeError> {
    let bytes = files.iter().map(|file| file.bytes.len()).sum();
    let mut before = 0;
    let mut collector = RowCollector::new(map, reading, files)?;
    for (number, file) in files.iter().enumerate() {
        TableReader {
            file,
            number,
            map,
            layout,
        }
        .read(&mut collector, &|byte| {
            progress.report(before + byte, bytes);
            interrupted()
        })?;
        before += file.bytes.len();
    }
    collector.finish(files)
}

/// Reads one of the files.
struct TableReader<'a> {
    file: &'a InputContent,
    number: usize,
    map: &'a ColumnMap,
    layout: TableLayout,
}

/// The index of each column that the column map names.
struct ColumnIndices {
    id: Vec<usize>,
    values: Vec<usize>,
    repetition: Option<usize>,
    process: Option<usize>,
    iterations: Option<usize>,
    unit: Option<usize>,
    dimensions: Vec<usize>,
    /// Number of columns that every row must have. `None` without a header: then a row needs only the columns that the map names.
    columns: Option<usize>,
}

impl TableReader<'_> {
    fn read(
        &self,
        collector: &mut RowCollector<'_>,
        interrupted: &dyn Fn(usize) -> bool,
    ) -> Result<(), ExchangeError> {
        let mut reader = ReaderBuilder::new()
            .delimiter(self.layout.separator)
            .has_headers(self.layout.header)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(&self.file.bytes[..]);
        let header: Vec<String> = if self.layout.header {
            let header = reader
                .byte_headers()
                .map_err(|error| self.reader_error(&error))?;
            header
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect()
        } else {
            Vec::new()
        };
        let places = self.resolve_columns(&header)?;
        let mut lines = LineNumbers::new(&self.file.bytes);
        let mut record = ByteRecord::new();
        let mut rows: u64 = 0;
        while reader
            .read_byte_record(&mut record)
            .map_err(|error| self.reader_error(&error))?
        {
            rows += 1;
            let byte = record.position().map_or(0, csv::Position::byte);
            if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) && interrupted(byte as usize) {
                return Err(ExchangeError::Interrupted);
            }
            let line = lines.line_at(byte);
            let place = RowPosition {
                file: self.number,
                line,
            };
            match self.parse_row(&record, &places, place) {
                Ok(row) => collector.add(row)?,
                Err((column, reason)) => collector.reject(MalformedRow {
                    file: self.number,
                    name: self.file.name.clone(),
                    line,
                    column,
                    reason,
                }),
            }
        }
        Ok(())
    }

    /// Converts an error of the CSV reader. The file is in memory, so I/O cannot be the cause.
    fn reader_error(&self, error: &csv::Error) -> ExchangeError {
        ExchangeError::File {
            path: self.file.name.clone().into(),
            source: std::io::Error::other(error.to_string()),
        }
    }

    fn resolve_columns(&self, header: &[String]) -> Result<ColumnIndices, ExchangeError> {
        let place = |column: &InputColumn| self.resolve_column(column, header);
        let one = |column: &Option<InputColumn>| column.as_ref().map(place).transpose();
        let map = self.map;
        Ok(ColumnIndices {
            id: map.id.iter().map(place).collect::<Result<_, _>>()?,
            values: (map.values.iter().map(|value| place(&value.column)))
                .collect::<Result<_, _>>()?,
            repetition: one(&map.repetition)?,
            process: one(&map.process)?,
            iterations: one(&map.iterations)?,
            unit: one(&map.unit)?,
            dimensions: map.dimensions.iter().map(place).collect::<Result<_, _>>()?,
            columns: self.layout.header.then_some(header.len()),
        })
    }

    fn resolve_column(
        &self,
        column: &InputColumn,
        header: &[String],
    ) -> Result<usize, ExchangeError> {
        let missing = || ExchangeError::NoColumn {
            name: self.file.name.clone(),
            column: column.to_string(),
            there: header.to_vec(),
        };
        match column {
            InputColumn::Numbered(number) if self.layout.header && *number > header.len() => {
                Err(missing())
            }
            InputColumn::Numbered(number) => Ok(number - 1),
            InputColumn::Named(_) if !self.layout.header => Err(ExchangeError::ColumnMap(format!(
                "with `--no-header`, no column is named `{column}`\n  help: use a column number: `#1`"
            ))),
            InputColumn::Named(name) => {
                let mut found = (header.iter().enumerate()).filter(|(_, there)| *there == name);
                let (first, _) = found.next().ok_or_else(missing)?;
                match found.next() {
                    None => Ok(first),
                    Some((second, _)) => Err(ExchangeError::SeveralColumns {
                        name: self.file.name.clone(),
                        column: name.clone(),
                        first: first + 1,
                        second: second + 1,
                    }),
                }
            }
        }
    }

    /// Parses a row. The error consists of the column (`None` for the whole row) and the reason.
    fn parse_row(
        &self,
        record: &ByteRecord,
        places: &ColumnIndices,
        place: RowPosition,
    ) -> Result<RawRow, (Option<String>, String)> {
        if let Some(expected) = places.columns.filter(|expected| *expected != record.len()) {
            let found = record.len();
            return Err((None, format!("has {found} columns instead of {expected}")));
        }
        let cell =
            |column: &InputColumn, at: usize| -> Result<Cow<'_, str>, (Option<String>, String)> {
                let error = |reason: &str| (Some(column.to_string()), reason.to_owned());
                let bytes = record.get(at).ok_or_else(|| error("is missing"))?;
                let text = std::str::from_utf8(bytes).map_err(|_| error("is not UTF-8"))?;
                Ok(Cow::Borrowed(text))
            };
        let mut id = String::new();
        for (column, at) in self.map.id.iter().zip(&places.id) {
            let text = cell(column, *at)?;
            let malformed = |reason: &str| Err((Some(column.to_string()), reason.to_owned()));
            if text.is_empty() {
                return malformed("is empty, but part of the id");
            }
            if text.contains(['\n', '\r']) {
                return malformed("contains a line break: is a closing quotation mark missing?");
            }
            if !id.is_empty() {
                id.push('/');
            }
            id.push_str(&escape_id_part(&text));
        }
        limits::check_name(&id).map_err(|why| (None, format!("has an id that {why}")))?;
        let mark = if self.layout.decimal_comma {
            DecimalMark::Comma
        } else {
            DecimalMark::Point
        };
        let mut values = Vec::with_capacity(places.values.len());
        for (value, at) in self.map.values.iter().zip(&places.values) {
            let text = cell(&value.column, *at)?;
            let read = Decimal::parse(&text, mark);
            values.push(read.map_err(|reason| (Some(value.column.to_string()), reason))?);
        }
        let whole = |column: &Option<InputColumn>, at: Option<usize>, least: u64| {
            let Some((column, at)) = column.as_ref().zip(at) else {
                return Ok(None);
            };
            let text = cell(column, at)?;
            let number = text.parse().ok().filter(|number| *number >= least);
            number.map(Some).ok_or_else(|| {
                let short: String = text.chars().take(40).collect();
                let reason = format!("`{short}` is not a whole number of {least} or more");
                (Some(column.to_string()), reason)
            })
        };
        let process = match self.map.process.as_ref().zip(places.process) {
            Some((column, at)) => Some(cell(column, at)?.into_owned()),
            None => None,
        };
        let unit = match self.map.unit.as_ref().zip(places.unit) {
            Some((column, at)) => {
                let unit = cell(column, at)?.parse::<ValueUnit>();
                Some(unit.map_err(|reason| (Some(column.to_string()), reason))?)
            }
            None => None,
        };
        let dimensions = self.map.dimensions.iter().zip(&places.dimensions);
        let dimensions = dimensions.map(|(column, at)| Ok(cell(column, *at)?.into_owned()));
        Ok(RawRow {
            dimensions: dimensions.collect::<Result<_, _>>()?,
            place,
            id,
            process,
            repetition: whole(&self.map.repetition, places.repetition, 0)?,
            iterations: whole(&self.map.iterations, places.iterations, 1)?.unwrap_or(1),
            unit,
            values,
        })
    }
}

/// Escapes a part of an id: `/` separates parts, so a slash within a part becomes `%2F`.
fn escape_id_part(text: &str) -> Cow<'_, str> {
    if text.contains('/') || text.contains("%2") {
        Cow::Owned(text.replace("%2", "%252").replace('/', "%2F"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Finds the line numbers of positions in a file. The positions must be asked for in ascending order.
struct LineNumbers<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> LineNumbers<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
        }
    }

    /// Returns the line on which the record at `byte` begins. Empty lines before the record are skipped, because the reader's position may be before
    /// them.
    fn line_at(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte)
            .unwrap_or(usize::MAX)
            .min(self.bytes.len());
        let ends = |c: &u8| matches!(c, b'\r' | b'\n');
        let to = byte + self.bytes[byte..].iter().take_while(|c| ends(c)).count();
        if to > self.at {
            let pieces = self.bytes[self.at..to].split(|c| *c == b'\n');
            self.line += pieces.count() as u64 - 1;
            self.at = to;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::as_in_cells;

    #[test]
    fn lines_are_counted_past_empty_ones_and_with_either_end() {
        let text = b"a\r\n\r\nb\nc";
        let mut lines = LineNumbers::new(text);
        assert_eq!(
            [lines.line_at(0), lines.line_at(1), lines.line_at(7)],
            [1, 3, 4]
        );
    }

    #[test]
    fn parts_of_ids_stay_apart() {
        assert_eq!(escape_id_part("application/json"), "application%2Fjson");
        assert_eq!(escape_id_part("a%2Fb"), "a%252Fb");
        assert_eq!(escape_id_part("50 %"), "50 %");
        assert_ne!(escape_id_part("a%2Fb"), escape_id_part("a%252Fb"));
        for cell in [
            "a/b", "a%2Fb", "a%252Fb", "%25/2F", "%/2F", "100%2", "plain",
        ] {
            assert_eq!(as_in_cells(&escape_id_part(cell)), cell);
        }
    }
}
