//! Values of a pivot's cells, and their references.

use std::fmt;
use std::str::FromStr;

use perfcheck_analysis::model::{Statistic, StatisticSet, worded};

/// A value of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PivotValue {
    /// Mean of the processes' means; for rates the harmonic mean, in units per second
    Time,
    /// Operations per second at the mean time
    Ops,
    /// Operations per second at the longest time
    MinOps,
    /// Operations per second at the shortest time
    MaxOps,
    /// Number of samples
    Samples,
    /// A statistic that columns can show
    Statistic(Statistic),
    /// Mean divided by that of the reference; above 1 is slower
    Ratio,
    /// The ratio of means, expressed as a change
    Change,
    /// A statistic divided by that of the reference; above 1 is worse
    StatisticRatio(Statistic),
    /// Operations per second divided by those of the reference; above 1 is faster
    OpsRatio,
    /// Cliff's delta against the reference; positive is slower
    CliffsDelta,
    /// Hedges' g against the reference; positive is slower
    HedgesG,
    /// p-value of the Mann-Whitney test against the reference, adjusted for the table
    PValue,
}

impl PivotValue {
    /// The words of values that are not statistics.
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

    /// Reports whether the value is a ratio or change of a magnitude.
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

    /// Reports whether the value is a duration.
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

/// Parses a statistic. `value` is the text that errors quote, of which `word` is a part.
fn parse_statistic(word: &str, value: &str) -> Result<Statistic, String> {
    Statistic::parse(word, StatisticSet::Columns).map_err(|_| {
        format!(
            "`{value}` is no value of a pivot; there are time, ops, min-ops, max-ops, samples, ratio, change, ratio-ops, ratio-STATISTIC, cliffs-delta, hedges-g, p-value, {}",
            StatisticSet::Columns.words().join(", ")
        )
    })
}

worded! {
    /// The reference cell of relative values.
    Versus, "is no reference of a pivot; there are" {
        /// The fastest cell of the column
        FastestInColumn = "fastest-in-column",
        /// The fastest cell of the row
        FastestInRow = "fastest-in-row",
        /// The first cell of the row
        FirstColumn = "first-column",
        /// The first cell of the column
        FirstRow = "first-row",
    }
}

impl Versus {
    /// Reports whether the reference is selected by its value.
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
