//! What the cells of a pivot say, and what they are relative to.

use std::fmt;
use std::str::FromStr;

use perfcheck_analysis::model::{Statistic, StatisticSet, worded};

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PivotValue {
    /// The mean of the launches' means; of rates the harmonic one, in units per second.
    Time,
    /// Operations per second by that mean.
    Ops,
    /// Operations per second by the longest time.
    MinOps,
    /// Operations per second by the shortest time.
    MaxOps,
    /// Number of samples.
    Samples,
    /// A statistic of columns.
    Statistic(Statistic),
    /// Mean over that of the reference; above 1 is slower.
    Ratio,
    /// The same as a change.
    Change,
    /// A statistic over that of the reference; above 1 is worse.
    StatisticRatio(Statistic),
    /// Operations per second over those of the reference; above 1 is faster.
    OpsRatio,
    /// Cliff's delta against the reference; positive is slower.
    CliffsDelta,
    /// Hedges' g against the reference; positive is slower.
    HedgesG,
    /// p of Mann and Whitney's test against the reference, adjusted for the table.
    PValue,
}

impl PivotValue {
    /// The words of those that are no statistic.
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

    /// Whether it says something against a reference.
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

    /// Whether it says how much longer or larger something is.
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

    /// Whether it says how long something takes.
    pub(super) fn is_a_time(self) -> bool {
        match self {
            Self::Statistic(statistic) => !statistic.is_spread(),
            _ => self == Self::Time,
        }
    }

    /// Whether it is of single samples, which several benchmarks do not have in common.
    pub(super) fn is_of_samples(self) -> bool {
        matches!(self, Self::CliffsDelta | Self::HedgesG | Self::PValue)
    }
}

impl fmt::Display for PivotValue {
    /// As users write it.
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
            Some(statistic) => Self::StatisticRatio(statistic_of(statistic, text)?),
            None => Self::Statistic(statistic_of(text, text)?),
        })
    }
}

/// The statistic of a word; the error is about `value`, which it is part of.
fn statistic_of(word: &str, value: &str) -> Result<Statistic, String> {
    Statistic::read(word, StatisticSet::Columns).map_err(|_| {
        format!(
            "`{value}` is no value of a pivot; there are time, ops, min-ops, max-ops, samples, ratio, change, ratio-ops, ratio-STATISTIC, cliffs-delta, hedges-g, p-value, {}",
            StatisticSet::Columns.words().join(", ")
        )
    })
}

worded! {
    /// Which cell others are relative to.
    Versus, "is no reference of a pivot; there are" {
        /// The fastest one of the column.
        FastestInColumn = "fastest-in-column",
        /// The fastest one of the row.
        FastestInRow = "fastest-in-row",
        /// The first one of the row.
        FirstColumn = "first-column",
        /// The first one of the column.
        FirstRow = "first-row",
    }
}

impl Versus {
    /// Whether the reference was chosen for its numbers.
    pub(super) fn is_selected(self) -> bool {
        matches!(self, Self::FastestInColumn | Self::FastestInRow)
    }

    /// Which cells have a reference in common, in words.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::FastestInColumn => "the fastest of each column",
            Self::FastestInRow => "the fastest of each row",
            Self::FirstColumn => "the first column",
            Self::FirstRow => "the first row",
        }
    }
}
