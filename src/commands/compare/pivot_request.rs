//! The value of `--pivot`, such as `rows=part1,cols=run,value=time+p95`. It says which properties of benchmarks (run, package, target, id, parts of
//! ids) form the rows and columns, which values the cells show, and with which cell relative values such as ratios compare.

use std::fmt;
use std::str::FromStr;

use crate::naming::Dimension;
use perfcheck_analysis::model::{Statistic, StatisticSet, worded};

/// The parsed value of `--pivot`.
#[derive(Debug, Clone, PartialEq)]
pub struct PivotRequest {
    /// The dimensions that form the rows.
    pub rows: Vec<Dimension>,
    /// The dimensions that form the columns. If there are none, the table has a single column.
    pub cols: Vec<Dimension>,
    /// The values that each cell shows.
    pub values: Vec<PivotValue>,
    /// The reference cell for relative values. `None` means the first run if runs alone form the rows or the columns, and otherwise the fastest cell
    /// of each column.
    pub versus: Option<Versus>,
}

impl PivotRequest {
    /// Returns the cell with which relative values such as ratios compare: the one that the user chose, or else the default for these rows and
    /// columns.
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
                return Err(format!("`{part}` is not KEY=VALUE; {EXPECTED}"));
            };
            let again = match key.trim() {
                "rows" => rows.replace(parse_list(list)?).is_some(),
                "cols" | "columns" => cols.replace(parse_list(list)?).is_some(),
                "value" | "values" => values.replace(parse_list(list)?).is_some(),
                "versus" => versus.replace(list.trim().parse()?).is_some(),
                other => return Err(format!("`{other}` is not a part of a pivot; {EXPECTED}")),
            };
            if again {
                return Err(format!("`{}` is given twice", key.trim()));
            }
        }
        let rows: Vec<Dimension> = rows.ok_or_else(|| format!("`rows` is missing; {EXPECTED}"))?;
        let cols: Vec<Dimension> = cols.unwrap_or_default();
        if let Some(both) = rows.iter().find(|dimension| cols.contains(dimension)) {
            return Err(format!("`{both}` cannot be in both rows and cols"));
        }
        Ok(Self {
            rows,
            cols,
            values: values.unwrap_or_else(|| vec![PivotValue::Time]),
            versus,
        })
    }
}

const EXPECTED: &str =
    "expected rows=DIMENSION[+DIMENSION...][,cols=...][,value=VALUE[+VALUE...]][,versus=REFERENCE]";

fn parse_list<T: FromStr<Err = String>>(list: &str) -> Result<Vec<T>, String> {
    list.split('+').map(str::parse).collect()
}

/// A value that the cells of a pivot can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PivotValue {
    /// The mean of the processes' means. For rates, this is the harmonic mean, in units per second.
    Time,
    /// Operations per second at the mean time.
    Ops,
    /// Operations per second at the longest time.
    MinOps,
    /// Operations per second at the shortest time.
    MaxOps,
    /// Number of samples.
    Samples,
    /// A statistic of the samples, such as `median` or `p95`. These are the statistics that `compare --statistic` knows.
    Statistic(Statistic),
    /// Mean divided by the mean of the reference. A ratio above 1 is slower.
    Ratio,
    /// The ratio of means, expressed as a change.
    Change,
    /// A statistic divided by the same statistic of the reference. A ratio above 1 is worse.
    StatisticRatio(Statistic),
    /// Operations per second divided by the operations per second of the reference. A ratio above 1 is faster.
    OpsRatio,
    /// Cliff's delta against the reference. A positive value is slower.
    CliffsDelta,
    /// Hedges' g against the reference. A positive value is slower.
    HedgesG,
    /// p-value of the Mann-Whitney test against the reference, adjusted for the number of cells in the table.
    PValue,
}

impl PivotValue {
    /// The words for the values that are not statistics.
    const PLAIN: [(&str, Self); 11] = [
        ("time", Self::Time),
        ("ops", Self::Ops),
        ("min-ops", Self::MinOps),
        ("max-ops", Self::MaxOps),
        ("samples", Self::Samples),
        ("ratio", Self::Ratio),
        ("change", Self::Change),
        ("ratio-ops", Self::OpsRatio),
        ("cliffs-delta", Self::CliffsDelta),
        ("hedges-g", Self::HedgesG),
        ("p-value", Self::PValue),
    ];

    /// Reports whether the value is relative to a reference.
    pub(super) fn is_relative(self) -> bool {
        matches!(
            self,
            Self::Ratio
                | Self::Change
                | Self::StatisticRatio(_)
                | Self::OpsRatio
                | Self::CliffsDelta
                | Self::HedgesG
                | Self::PValue
        )
    }

    /// Reports whether the value says how much slower a cell is than the reference, so that `--sort change` can sort by it.
    pub(super) fn is_a_change(self) -> bool {
        matches!(
            self,
            Self::Ratio
                | Self::Change
                | Self::StatisticRatio(_)
                | Self::CliffsDelta
                | Self::HedgesG
        )
    }

    /// Reports whether `--sort time` can sort by the value: it is the mean, or a statistic that is not a spread.
    pub(super) fn is_a_time(self) -> bool {
        match self {
            Self::Statistic(statistic) => !statistic.is_spread(),
            _ => self == Self::Time,
        }
    }

    /// Reports whether the value needs single samples, which exist only for cells with one benchmark.
    pub(super) fn is_of_samples(self) -> bool {
        matches!(self, Self::CliffsDelta | Self::HedgesG | Self::PValue)
    }
}

impl fmt::Display for PivotValue {
    /// Formats the value as users write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statistic(statistic) => statistic.fmt(f),
            Self::StatisticRatio(statistic) => write!(f, "ratio-{statistic}"),
            plain => {
                let known = Self::PLAIN.iter().find(|(_, value)| value == plain);
                f.pad(known.map_or("", |(word, _)| word))
            }
        }
    }
}

impl FromStr for PivotValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some((_, value)) = Self::PLAIN.iter().find(|(word, _)| *word == text) {
            return Ok(*value);
        }
        Ok(match text.strip_prefix("ratio-") {
            Some(statistic) => Self::StatisticRatio(parse_statistic(statistic, text)?),
            None => Self::Statistic(parse_statistic(text, text)?),
        })
    }
}

/// Parses `word`, the part of `value` that names a statistic. Errors quote the whole `value`.
fn parse_statistic(word: &str, value: &str) -> Result<Statistic, String> {
    Statistic::parse(word, StatisticSet::Columns).map_err(|_| {
        format!(
            "`{value}` is not a valid pivot value; use one of time, ops, min-ops, max-ops, samples, ratio, change, ratio-ops, ratio-STATISTIC, cliffs-delta, hedges-g, p-value, {}",
            StatisticSet::Columns.words().join(", ")
        )
    })
}

worded! {
    /// The cell that the relative values of a pivot are relative to.
    Versus, "is not a valid pivot reference; use one of" {
        /// The fastest cell of the column.
        FastestInColumn = "fastest-in-column",
        /// The fastest cell of the row.
        FastestInRow = "fastest-in-row",
        /// The first cell of the row.
        FirstColumn = "first-column",
        /// The first cell of the column.
        FirstRow = "first-row",
    }
}

impl Versus {
    /// Reports whether the reference cell is selected by its value (the fastest) rather than by its position.
    pub(super) fn is_selected(self) -> bool {
        matches!(self, Self::FastestInColumn | Self::FastestInRow)
    }

    /// Describes the reference in words.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::FastestInColumn => "the fastest of each column",
            Self::FastestInRow => "the fastest of each row",
            Self::FirstColumn => "the first column",
            Self::FirstRow => "the first row",
        }
    }
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
            ("rows=id,cols=id", "both rows and cols"),
            ("rows=", "a dimension is missing"),
        ] {
            let message = text.parse::<PivotRequest>().unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
