//! The verdicts of a comparison, its two sides, and a value for each side.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

use perfcheck_stats::words;

words! {
    /// The result for one benchmark, worst first.
    Verdict {
        Regressed = "regressed": "Slower, beyond the noise threshold.",
        Suspect = "suspect": "Looks slower, but drift between runs or the number of benchmarks could explain it.",
        Failed = "failed": "Could not be measured.",
        Incomparable = "incomparable": "Measured under conditions that are not comparable.",
        Missing = "missing": "In the reference, but not in this run.",
        Inconclusive = "inconclusive": "It is uncertain whether there is a change.",
        New = "new": "Nothing to compare with.",
        Unchanged = "unchanged": "No change beyond the noise threshold: the whole interval is within it.",
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

/// How many benchmarks got each verdict. Verdicts that no benchmark got are left out.
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

/// One of the two sides of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The side that the candidate is compared with. If it was measured side by side, no other run is compared with it.
    Base,
    /// The side that the verdicts are about, such as the current work tree.
    Candidate,
}

impl Side {
    /// Both sides, the base first.
    pub const BOTH: [Self; 2] = [Self::Base, Self::Candidate];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "the reference",
            Self::Candidate => "the new run",
        })
    }
}

/// A value for each side of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BySide<T> {
    /// Value of the base.
    pub base: T,
    /// Value of the candidate.
    pub candidate: T,
}

impl<T> BySide<T> {
    /// Returns the value of `side`.
    pub fn get(&self, side: Side) -> &T {
        match side {
            Side::Base => &self.base,
            Side::Candidate => &self.candidate,
        }
    }

    /// Returns the value of `side` by mutable reference.
    pub fn get_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Base => &mut self.base,
            Side::Candidate => &mut self.candidate,
        }
    }
}

words! {
    /// The source of the bench targets when a revision is built.
    #[derive(Default)]
    BenchesFrom {
        #[default]
        Revision = "revision": "Use the benches of the revision",
        WorkTree = "worktree": "Use the benches of the work tree",
    }
}

words! {
    /// The harness on which Criterion benches run.
    #[derive(Default)]
    CriterionHarness {
        #[default]
        Perfcheck = "perfcheck": "Perfcheck's harness, if the benches compile with it",
        AsIs = "as-is": "Criterion itself",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_verdicts_come_from_a_comparison() {
        use Verdict::{Improved, Inconclusive, Regressed, Suspect, Unchanged};
        let compared = Verdict::ALL.iter().filter(|verdict| verdict.is_compared());
        let expected = [Regressed, Suspect, Inconclusive, Unchanged, Improved];
        assert!(compared.eq(&expected));
    }

    #[test]
    fn verdicts_are_counted_and_told_worst_first() {
        use Verdict::{Failed, Improved, Regressed};
        let verdicts = [Improved, Failed, Improved, Improved];
        let tally: Tally = verdicts.into_iter().collect();
        assert_eq!((tally.count(Improved), tally.count(Failed)), (3, 1));
        assert_eq!(tally.count(Regressed), 0);
        let all: Vec<_> = tally.iter().collect();
        assert_eq!(all, [(Failed, 1), (Improved, 3)]);
        assert_eq!(Tally::default().iter().next(), None);
    }

    #[test]
    fn each_side_has_its_name_and_its_value() {
        assert_eq!(Side::BOTH, [Side::Base, Side::Candidate]);
        let names = Side::BOTH.map(|side| side.to_string());
        assert_eq!(names, ["the reference", "the new run"]);
        let mut values = BySide {
            base: 1,
            candidate: 2,
        };
        assert_eq!(Side::BOTH.map(|side| *values.get(side)), [1, 2]);
        *values.get_mut(Side::Base) = 3;
        *values.get_mut(Side::Candidate) = 4;
        let expected = BySide {
            base: 3,
            candidate: 4,
        };
        assert_eq!(values, expected);
    }
}
