//! What the machine code of two builds says: in what they are the same, and which functions differ.

use serde::{Deserialize, Serialize};

use crate::model::BySide;
use crate::model::limits::{MOST_CHANGED_FUNCTIONS, cut_name};

/// In what both sides of a benchmark that was not measured are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sameness {
    /// They are the same executable, byte for byte.
    Executable,
    /// Their executables differ in nothing that they can come to when they run.
    Reachable,
    /// Nothing in which their executables differ ran with the benchmark.
    Run,
}

/// The functions in which the two executables of a bench target differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeChange {
    /// Name of the bench target.
    pub target: String,
    /// Those that changed, then those that were added, then those that were removed, the longest first.
    pub functions: Vec<ChangedFunction>,
    /// How many more there are.
    pub left_out: usize,
}

/// A function that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFunction {
    /// Its name without hashes: instances of a generic function may share one.
    pub name: String,
    /// The bytes of its code; null on the side that does not have it.
    pub bytes: BySide<Option<u64>>,
}

impl CodeChange {
    /// The functions of a target, as many as are stored.
    pub fn of(target: String, functions: impl ExactSizeIterator<Item = ChangedFunction>) -> Self {
        Self {
            target,
            left_out: functions.len().saturating_sub(MOST_CHANGED_FUNCTIONS),
            functions: functions
                .take(MOST_CHANGED_FUNCTIONS)
                .map(|function| ChangedFunction {
                    name: cut_name(function.name),
                    ..function
                })
                .collect(),
        }
    }
}
