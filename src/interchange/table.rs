//! Reads tables of separated values: maps rows by the column map, and reports errors with line and column.
//!
//! The column map: the user's declaration of the meaning of each column of a table.
//!
//! `id=Serializer/TestData/Mode,value.ser=TimeSer[ns],value.deser=TimeDeser,repetition=Index,launch=Session`

use clap::{ArgAction, Args};
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::error::{ExchangeError, MalformedRow};
use super::groups::{ImportedGroups, RawRow, ReadOptions, RowCollector, RowPosition};
use super::input::InputContent;
use super::unit::{Decimal, DecimalMark, ValueUnit};
use perfcheck_analysis::model::{ProgressReporter, limits};

/// Number of rows between checks for an interruption.
const ROWS_BETWEEN_LOOKS: u64 = 1 << 12;

/// The layout of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct TableLayout {
    /// Split columns at this character, or at `tab`
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = parse_separator)]
    pub separator: u8,
    /// Read the first line as a row, and name columns by number
    #[arg(id = "no_header", long = "no-header", action = ArgAction::SetFalse)]
    pub header: bool,
    /// Read fractions written as 1,5
    #[arg(long)]
    pub decimal_comma: bool,
}

fn parse_separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if ["tab", "\\t"].contains(&text) => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => {
            Err("a quotation mark or line end separates no columns".to_owned())
        }
        [byte] => Ok(*byte),
        _ => Err("it is one ASCII character, or `tab`".to_owned()),
    }
}

/// Reads `files` as one set of measurements, polling `interrupted`.
pub fn read_tables(
    files: &[InputContent],
    map: &ColumnMap,
    layout: TableLayout,
    reading: &ReadOptions,
    interrupted: &dyn Fn() -> bool,
    told: &ProgressReporter<'_>,
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
            told.report(before + byte, bytes);
            interrupted()
        })?;
        before += file.bytes.len();
    }
    collector.finish(files)
}

/// One file of the set.
struct TableReader<'a> {
    file: &'a InputContent,
    number: usize,
    map: &'a ColumnMap,
    layout: TableLayout,
}

/// Indices of the columns.
struct ColumnIndices {
    id: Vec<usize>,
    values: Vec<usize>,
    repetition: Option<usize>,
    launch: Option<usize>,
    iterations: Option<usize>,
    unit: Option<usize>,
    dimensions: Vec<usize>,
    /// Number of columns that every row must have; `None` without a header: any number that includes the mapped columns
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
            launch: one(&map.launch)?,
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
                "without a line of names there is no column `{column}`\n  help: columns are named by their number: `#1`"
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

    /// Reads a row; the error names the column and the reason.
    fn parse_row(
        &self,
        record: &ByteRecord,
        places: &ColumnIndices,
        place: RowPosition,
    ) -> Result<RawRow, (Option<String>, String)> {
        if let Some(expected) = places.columns.filter(|expected| *expected != record.len()) {
            let found = record.len();
            return Err((None, format!("has {found} columns and not {expected}")));
        }
        let cell =
            |column: &InputColumn, at: usize| -> Result<Cow<'_, str>, (Option<String>, String)> {
                let said = |reason: &str| (Some(column.to_string()), reason.to_owned());
                let bytes = record.get(at).ok_or_else(|| said("is not there"))?;
                let text = std::str::from_utf8(bytes).map_err(|_| said("is not UTF-8"))?;
                Ok(Cow::Borrowed(text))
            };
        let mut id = String::new();
        for (column, at) in self.map.id.iter().zip(&places.id) {
            let text = cell(column, *at)?;
            let said = |reason: &str| Err((Some(column.to_string()), reason.to_owned()));
            if text.is_empty() {
                return said("is empty, and part of the id");
            }
            if text.contains(['\n', '\r']) {
                return said("has a line break: a quotation mark that is not closed?");
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
                let reason = format!("`{short}` is not a whole number from {least} on");
                (Some(column.to_string()), reason)
            })
        };
        let launch = match self.map.launch.as_ref().zip(places.launch) {
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
            launch,
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

/// Line numbers for ascending positions in a file.
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

    /// Returns the line of the first byte from `byte` on that is not a line end: a record's position may be before empty lines.
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

/// A column, by its name in the first line or by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputColumn {
    /// By name
    Named(String),
    /// By number, from 1
    Numbered(usize),
}

/// A column of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueColumn {
    /// The last part of its benchmarks' ids; with `None`, the column's name if there are several columns of values
    pub label: Option<String>,
    /// The column
    pub column: InputColumn,
    /// The column's own unit
    pub unit: Option<ValueUnit>,
}

/// The meaning of each column of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMap {
    /// The columns that form a benchmark's id
    pub id: Vec<InputColumn>,
    /// The columns of values; each one is a benchmark of its own
    pub values: Vec<ValueColumn>,
    /// The ordinal of a measurement within its process, a whole number
    pub repetition: Option<InputColumn>,
    /// The process or session that a row belongs to
    pub launch: Option<InputColumn>,
    /// The number of iterations whose total a row's values are
    pub iterations: Option<InputColumn>,
    /// The unit of a row's values
    pub unit: Option<InputColumn>,
    /// Further properties of a benchmark: not part of its id, but a dimension of pivots
    pub dimensions: Vec<InputColumn>,
}

const KEYS: &str = "id, value, value.LABEL, repetition, launch, iterations, unit and dimension";

impl fmt::Display for InputColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Numbered(number) => write!(f, "#{number}"),
        }
    }
}

impl FromStr for InputColumn {
    type Err = ExchangeError;

    fn from_str(text: &str) -> Result<Self, ExchangeError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(map_error("a column has no name".to_owned()));
        }
        match text.strip_prefix('#') {
            None => Ok(Self::Named(text.to_owned())),
            Some(number) => number
                .parse()
                .ok()
                .filter(|number| (1..=100_000).contains(number))
                .map(Self::Numbered)
                .ok_or_else(|| {
                    map_error(format!("`{text}` is no number of a column, such as `#1`"))
                }),
        }
    }
}

impl FromStr for ValueColumn {
    type Err = ExchangeError;

    /// Parses `TimeSer` or `TimeSer[ns]`.
    fn from_str(text: &str) -> Result<Self, ExchangeError> {
        let (column, unit) = match text
            .trim()
            .strip_suffix(']')
            .and_then(|x| x.rsplit_once('['))
        {
            Some((column, unit)) => (column, Some(unit.parse().map_err(map_error)?)),
            None => (text, None),
        };
        Ok(Self {
            label: None,
            column: column.parse()?,
            unit,
        })
    }
}

impl ColumnMap {
    /// Parses one or several lists of `KEY=COLUMN`, separated by commas.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, ExchangeError> {
        let mut map = Self::default();
        let entries = texts.iter().flat_map(|text| text.as_ref().split(','));
        for entry in entries.map(str::trim).filter(|entry| !entry.is_empty()) {
            let (key, column) = entry.split_once('=').ok_or_else(|| {
                map_error(format!(
                    "`{entry}` is not KEY=COLUMN; keys are {KEYS}\n  help: a column whose name has a comma is named by its number, as `value=#3`"
                ))
            })?;
            map.add_entry(key.trim(), column)?;
        }
        if map.id.is_empty() {
            return Err(map_error(
                "it names no column for ids\n  help: `id=Serializer/TestData`, from one or several columns".to_owned(),
            ));
        }
        if map.values.is_empty() {
            return Err(map_error(
                "it names no column of values\n  help: `value=TimeSer`, or several: `value.ser=TimeSer,value.deser=TimeDeser`".to_owned(),
            ));
        }
        map.check_labels()?;
        Ok(map)
    }

    fn add_entry(&mut self, key: &str, column: &str) -> Result<(), ExchangeError> {
        let place = match key {
            "id" if self.id.is_empty() => {
                self.id = column
                    .split('/')
                    .map(str::parse)
                    .collect::<Result<_, _>>()?;
                return Ok(());
            }
            "id" => return Err(duplicate_error("id")),
            "value" => {
                self.values.push(column.parse()?);
                return Ok(());
            }
            "dimension" => {
                self.dimensions.push(column.parse()?);
                return Ok(());
            }
            "repetition" => &mut self.repetition,
            "launch" | "session" => &mut self.launch,
            "iterations" => &mut self.iterations,
            "unit" => &mut self.unit,
            _ => {
                let label = key.strip_prefix("value.").filter(|label| !label.is_empty());
                let Some(label) = label else {
                    return Err(map_error(format!("`{key}` is no key; keys are {KEYS}")));
                };
                self.values.push(ValueColumn {
                    label: Some(label.to_owned()),
                    ..column.parse()?
                });
                return Ok(());
            }
        };
        if place.is_some() {
            return Err(duplicate_error(key));
        }
        *place = Some(column.parse()?);
        Ok(())
    }

    /// Fails if two columns of values have the same label: their benchmarks would have the same id.
    fn check_labels(&self) -> Result<(), ExchangeError> {
        let labels = self.labels();
        for (at, label) in labels.iter().enumerate() {
            if labels[..at].contains(label) {
                return Err(map_error(match label {
                    Some(label) => format!("two values are called `{label}`"),
                    None => "several values need labels".to_owned(),
                }));
            }
        }
        Ok(())
    }

    /// Returns the part that each column of values adds to the ids; `None` for a single column without a label.
    pub fn labels(&self) -> Vec<Option<String>> {
        let several = self.values.len() > 1;
        self.values
            .iter()
            .map(|value| {
                let name = || several.then(|| value.column.to_string());
                value.label.clone().or_else(name)
            })
            .collect()
    }

    /// Returns the names of the parts of ids.
    pub fn id_parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = self.id.iter().map(ToString::to_string).collect();
        if self.labels().iter().any(Option::is_some) {
            parts.push("value".to_owned());
        }
        parts
    }
}

impl fmt::Display for ColumnMap {
    /// Writes the map in the syntax in which users declare it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id: Vec<String> = self.id.iter().map(ToString::to_string).collect();
        write!(f, "id={}", id.join("/"))?;
        for value in &self.values {
            match &value.label {
                Some(label) => write!(f, ",value.{label}={}", value.column)?,
                None => write!(f, ",value={}", value.column)?,
            }
            if let Some(unit) = &value.unit {
                write!(f, "[{unit}]")?;
            }
        }
        for (key, column) in [
            ("repetition", &self.repetition),
            ("launch", &self.launch),
            ("iterations", &self.iterations),
            ("unit", &self.unit),
        ] {
            if let Some(column) = column {
                write!(f, ",{key}={column}")?;
            }
        }
        for column in &self.dimensions {
            write!(f, ",dimension={column}")?;
        }
        Ok(())
    }
}

fn map_error(what: String) -> ExchangeError {
    ExchangeError::ColumnMap(what)
}

fn duplicate_error(key: &str) -> ExchangeError {
    let help = if key == "id" {
        "\n  help: several columns make one id with `/` between them: `id=A/B`"
    } else {
        ""
    };
    map_error(format!("`{key}` is given twice{help}"))
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

    #[test]
    fn a_map_is_read_and_written_as_it_was_declared() {
        let text = "id=Serializer/TestData/#3,value.ser=TimeSer[ticks:100ns],value.deser=TimeDeser,repetition=Index,launch=Session,iterations=N,unit=Unit,dimension=Language";
        let map = ColumnMap::parse(&[text]).unwrap();
        assert_eq!(map.to_string(), text);
        assert_eq!(map.id_parts(), ["Serializer", "TestData", "#3", "value"]);
        let labels: Vec<_> = map.labels().into_iter().flatten().collect();
        assert_eq!(labels, ["ser", "deser"]);
        let parts = [
            "id = Serializer/TestData/#3",
            "value.ser=TimeSer[ticks:100ns], value.deser=TimeDeser",
            "repetition=Index,session=Session",
            "iterations=N,unit=Unit,dimension=Language",
        ];
        assert_eq!(ColumnMap::parse(&parts).unwrap(), map);
    }

    #[test]
    fn one_value_adds_nothing_to_the_ids_and_several_add_their_columns() {
        let labels = |text: &str| ColumnMap::parse(&[text]).unwrap().labels();
        assert_eq!(labels("id=a,value=b"), [None]);
        let found: Vec<_> = labels("id=a,value=b,value=c")
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(found, ["b", "c"]);
    }

    #[test]
    fn a_map_that_makes_no_sense_says_what_would() {
        for (text, hint) in [
            ("value=b", "no column for ids"),
            ("id=a", "no column of values"),
            ("id=a,b", "KEY=COLUMN"),
            ("id=a,value=b,time=c", "`time` is no key"),
            ("id=a,id=c,value=b", "given twice"),
            ("id=a,value=b,unit=c,unit=d", "given twice"),
            ("id=a//c,value=b", "no name"),
            ("id=#0,value=b", "no number"),
            ("id=a,value=b[parsec]", "is no unit"),
            ("id=a,value.x=b,value.x=c", "two values are called"),
        ] {
            let error = ColumnMap::parse(&[text]).unwrap_err().to_string();
            assert!(error.contains(hint), "{text}: {error}");
        }
    }
}
