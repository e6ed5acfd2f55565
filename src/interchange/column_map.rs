//! The column map: the user's declaration of the meaning of each column of a table.
//!
//! `id=Serializer/TestData/Mode,value.ser=TimeSer[ns],value.deser=TimeDeser,repetition=Index,process=Session`

use std::fmt;
use std::str::FromStr;

use super::error::ExchangeError;
use super::unit::ValueUnit;

/// A column, by its name in the first line or by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputColumn {
    /// By its name, which must occur once in the first line.
    Named(String),
    /// By its number, from 1.
    Numbered(usize),
}

/// A column of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueColumn {
    /// The text that becomes the last part of the ids of the benchmarks in this column. If it is `None`, the name of the column becomes that part. If
    /// this is the only column of values, the ids then have no such part.
    pub label: Option<String>,
    /// Name or number of the column.
    pub column: InputColumn,
    /// Unit of the values in this column; `None` if a column of units or an option gives it.
    pub unit: Option<ValueUnit>,
}

/// The meaning of each column of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMap {
    /// The columns that form a benchmark's id, in the order of its parts.
    pub id: Vec<InputColumn>,
    /// The columns of values. The values of one id in different columns belong to different benchmarks.
    pub values: Vec<ValueColumn>,
    /// The column with a whole number by which the measurements of a process are ordered. If it is `None`, rows keep the order of the file.
    pub repetition: Option<InputColumn>,
    /// The column with the process or session that a row belongs to. If `None`, each file is one process.
    pub process: Option<InputColumn>,
    /// The column that has the number of iterations of each row. If there is such a column, the values of a row are totals over its iterations. If it
    /// is `None`, they are per iteration.
    pub iterations: Option<InputColumn>,
    /// The column with the unit of a row's values.
    pub unit: Option<InputColumn>,
    /// Columns with further properties of a benchmark. They are dimensions of pivot tables but not part of the id.
    pub dimensions: Vec<InputColumn>,
}

const KEYS: &str = "id, value, value.LABEL, repetition, process, iterations, unit and dimension";

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
                .ok_or_else(|| map_error(format!("`{text}` is not a column number such as `#1`"))),
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
                    "`{entry}` is not KEY=COLUMN; keys are {KEYS}\n  help: if a column name contains a comma, use its number: `value=#3`"
                ))
            })?;
            map.add_entry(key.trim(), column)?;
        }
        if map.id.is_empty() {
            return Err(map_error(
                "`id` is missing\n  help: name one or more columns, e.g. `id=Serializer/TestData`"
                    .to_owned(),
            ));
        }
        if map.values.is_empty() {
            return Err(map_error(
                "`value` is missing\n  help: name a column, e.g. `value=TimeSer`, or several: `value.ser=TimeSer,value.deser=TimeDeser`".to_owned(),
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
            "process" | "session" => &mut self.process,
            "iterations" => &mut self.iterations,
            "unit" => &mut self.unit,
            _ => {
                let label = key.strip_prefix("value.").filter(|label| !label.is_empty());
                let Some(label) = label else {
                    return Err(map_error(format!("`{key}` is not a key; keys are {KEYS}")));
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
                    Some(label) => format!("two value columns have the label `{label}`"),
                    None => "several value columns need labels".to_owned(),
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

    /// Returns the name of each part of the ids, by which pivot tables select it.
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
            ("process", &self.process),
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
        "\n  help: to make one id of several columns, put `/` between them: `id=A/B`"
    } else {
        ""
    };
    map_error(format!("`{key}` is given twice{help}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_and_written_as_it_was_declared() {
        let text = "id=Serializer/TestData/#3,value.ser=TimeSer[ticks:100ns],value.deser=TimeDeser,repetition=Index,process=Session,iterations=N,unit=Unit,dimension=Language";
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
            ("value=b", "`id` is missing"),
            ("id=a", "`value` is missing"),
            ("id=a,b", "KEY=COLUMN"),
            ("id=a,value=b,time=c", "`time` is not a key"),
            ("id=a,id=c,value=b", "given twice"),
            ("id=a,value=b,unit=c,unit=d", "given twice"),
            ("id=a//c,value=b", "no name"),
            ("id=#0,value=b", "not a column number"),
            ("id=a,value=b[parsec]", "is not a unit"),
            (
                "id=a,value.x=b,value.x=c",
                "two value columns have the label",
            ),
        ] {
            let error = ColumnMap::parse(&[text]).unwrap_err().to_string();
            assert!(error.contains(hint), "{text}: {error}");
        }
    }
}
