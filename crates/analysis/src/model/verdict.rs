//! The verdicts of a comparison.

use serde::Serialize;
use std::collections::BTreeMap;

use perfcheck_stats::words;

words! {
    /// The result for one benchmark, worst first.
    Verdict {
        Regressed = "regressed": "Slower, beyond the noise threshold.",
        Suspect = "suspect": "The t-score says slower or faster, the drift between runs could explain it.",
        Failed = "failed": "It could not be measured.",
        Incomparable = "incomparable": "Measured under conditions that cannot be compared.",
        Missing = "missing": "In the reference, not in this run.",
        Inconclusive = "inconclusive": "Neither a change nor its absence could be shown.",
        New = "new": "Nothing to compare with.",
        Unchanged = "unchanged": "Shown equivalent: the whole interval lies inside the noise threshold.",
        Improved = "improved": "Faster, beyond the noise threshold.",
    }
}

impl Verdict {
    /// Reports whether the verdict comes from a comparison of two measurements.
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
}

/// Number of benchmarks with each verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Tally(BTreeMap<Verdict, usize>);

impl Tally {
    /// Returns the number of benchmarks with `verdict`.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.0.get(&verdict).copied().unwrap_or(0)
    }

    /// Returns the verdicts that occur, worst first, with their counts.
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
