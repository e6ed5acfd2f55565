//! The specification of a pivot: `rows=part1,cols=run,value=time+p95`.

use std::str::FromStr;

use super::dimension::Dimension;
use super::value::{PivotValue, Versus};

/// The specification of a pivot.
#[derive(Debug, Clone, PartialEq)]
pub struct PivotRequest {
    /// Dimensions of rows
    pub rows: Vec<Dimension>,
    /// Dimensions of columns; empty for a single column
    pub cols: Vec<Dimension>,
    /// Values of each cell
    pub values: Vec<PivotValue>,
    /// Reference of relative values; `None` for the first run if runs are rows or columns, else the fastest of each column
    pub versus: Option<Versus>,
}

impl PivotRequest {
    /// Returns the reference of relative values.
    pub(super) fn reference(&self) -> Versus {
        self.versus
            .unwrap_or(match (&self.rows[..], &self.cols[..]) {
                (_, [Dimension::Run]) => Versus::FirstColumn,
                ([Dimension::Run], _) => Versus::FirstRow,
                _ => Versus::FastestInColumn,
            })
    }
}

impl FromStr for PivotRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut rows, mut cols, mut values, mut versus) = (None, None, None, None);
        for part in text.split(',') {
            let Some((key, list)) = part.split_once('=') else {
                return Err(format!("`{part}` is no KEY=VALUE; {EXPECTED}"));
            };
            let again = match key.trim() {
                "rows" => rows.replace(parse_list(list)?).is_some(),
                "cols" | "columns" => cols.replace(parse_list(list)?).is_some(),
                "value" | "values" => values.replace(parse_list(list)?).is_some(),
                "versus" => versus.replace(list.trim().parse()?).is_some(),
                other => return Err(format!("`{other}` is no part of a pivot; {EXPECTED}")),
            };
            if again {
                return Err(format!("`{}` is given twice", key.trim()));
            }
        }
        let rows: Vec<Dimension> = rows.ok_or_else(|| format!("`rows` is missing; {EXPECTED}"))?;
        let cols: Vec<Dimension> = cols.unwrap_or_default();
        if let Some(both) = rows.iter().find(|dimension| cols.contains(dimension)) {
            return Err(format!("`{both}` cannot be a row and a column at once"));
        }
        Ok(Self {
            rows,
            cols,
            values: values.unwrap_or_else(|| vec![PivotValue::Time]),
            versus,
        })
    }
}

const EXPECTED: &str = "a pivot is rows=DIMENSION[+DIMENSION...][,cols=...][,value=VALUE[+VALUE...]][,versus=REFERENCE]";

fn parse_list<T: FromStr<Err = String>>(list: &str) -> Result<Vec<T>, String> {
    list.split('+').map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pivot_is_read_from_pairs() {
        let found: PivotRequest = "rows=part1+mode,cols=run,value=time+p95".parse().unwrap();
        assert_eq!(
            found.rows,
            [Dimension::Part(0), Dimension::Named("mode".into())]
        );
        assert_eq!(found.cols, [Dimension::Run]);
        let values: Vec<String> = found.values.iter().map(ToString::to_string).collect();
        assert_eq!(values, ["time", "p95"]);
        assert_eq!(found.reference(), Versus::FirstColumn);
        let short: PivotRequest = "rows=id".parse().unwrap();
        assert_eq!((short.values, short.cols), (vec![PivotValue::Time], vec![]));
    }

    #[test]
    fn the_reference_is_the_first_run_or_the_fastest_and_can_be_said() {
        let reference = |text: &str| text.parse::<PivotRequest>().unwrap().reference();
        assert_eq!(reference("rows=run,cols=id"), Versus::FirstRow);
        assert_eq!(
            reference("rows=group,cols=function"),
            Versus::FastestInColumn
        );
        assert_eq!(
            reference("rows=id,cols=run,versus=fastest-in-row"),
            Versus::FastestInRow
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_could() {
        for (text, word) in [
            ("rows", "KEY=VALUE"),
            ("cols=run", "`rows` is missing"),
            ("rows=id,rows=run", "given twice"),
            ("rows=id,colour=red", "`colour`"),
            ("rows=id,value=speed", "cliffs-delta"),
            ("rows=id,versus=best", "fastest-in-column"),
            ("rows=id,cols=id", "at once"),
            ("rows=", "a dimension is missing"),
        ] {
            let message = text.parse::<PivotRequest>().unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
