//! The two sides of a comparison, and a value for each of them.

use serde::{Deserialize, Serialize};
use std::fmt;

use perfcheck_stats::words;

/// One of the two sides of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The side that the candidate is compared with. If measured side by side, it never becomes a reference for other runs.
    Base,
    /// The side that the verdicts are about.
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

/// A value for each side.
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

    /// Returns the value of `side` for modification.
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
        Revision = "revision": "Use the revision's own",
        WorkTree = "worktree": "Use those of the work tree",
    }
}
