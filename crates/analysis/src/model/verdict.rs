//! The words that a comparison can end with.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What was found about one benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Slower, beyond the noise threshold.
    Regressed,
    /// The t-score says slower or faster, the drift between runs could explain it.
    Suspect,
    /// It could not be measured.
    Failed,
    /// Measured under conditions that cannot be compared.
    Incomparable,
    /// In the reference, not in this run.
    Missing,
    /// Neither a change nor its absence could be shown.
    Inconclusive,
    /// Nothing to compare with.
    New,
    /// Shown equivalent: the whole interval lies inside the noise threshold.
    Unchanged,
    /// Faster, beyond the noise threshold.
    Improved,
}

impl Verdict {
    /// All of them, worst first.
    pub const ALL: [Self; 9] = [
        Self::Regressed,
        Self::Suspect,
        Self::Failed,
        Self::Incomparable,
        Self::Missing,
        Self::Inconclusive,
        Self::New,
        Self::Unchanged,
        Self::Improved,
    ];

    /// Whether it rests on a comparison of two measurements.
    pub fn is_compared(self) -> bool {
        match self {
            Self::Regressed
            | Self::Suspect
            | Self::Inconclusive
            | Self::Unchanged
            | Self::Improved => true,
            Self::Failed | Self::Incomparable | Self::Missing | Self::New => false,
        }
    }

    /// The word, as users write and read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Suspect => "suspect",
            Self::Failed => "failed",
            Self::Incomparable => "incomparable",
            Self::Missing => "missing",
            Self::Inconclusive => "inconclusive",
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Improved => "improved",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.word() == text)
            .ok_or_else(|| {
                let words: Vec<&str> = Self::ALL.iter().map(|verdict| verdict.word()).collect();
                format!(
                    "`{text}` is not a verdict; the verdicts are {}",
                    words.join(", ")
                )
            })
    }
}

/// How often each verdict was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Tally(BTreeMap<Verdict, usize>);

impl Tally {
    /// How often `verdict` was given.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.0.get(&verdict).copied().unwrap_or(0)
    }

    /// The verdicts that were given, worst first, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Verdict, usize)> + '_ {
        self.0.iter().map(|(verdict, count)| (*verdict, *count))
    }
}

impl FromIterator<Verdict> for Tally {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        let mut counts = BTreeMap::new();
        for verdict in verdicts {
            *counts.entry(verdict).or_insert(0) += 1;
        }
        Self(counts)
    }
}
