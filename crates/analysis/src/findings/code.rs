//! What the machine code of two builds says: in what they are the same, and which functions differ.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::limits::{MOST_CHANGED_FUNCTIONS, cut_name};
use crate::model::{BenchmarkKey, BySide, RunId};

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
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// The run whose build it differs from, where benchmarks of this run have several references; null where they have one.
    pub reference: Option<RunId>,
    /// First those that cost benchmarks more or less, in instructions or in sampled time; then those that changed, that were added, that were removed, the longest first; then
    /// those whose own code is the same.
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
    /// Whether its own code is the same on both sides: data that it refers to differ, or may differ.
    #[serde(default)]
    pub same_code: bool,
}

/// Two builds of a bench target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedBuilds<'r> {
    /// The package.
    pub package: &'r str,
    /// The bench target.
    pub target: &'r str,
    /// The run that the base was built for, where there are several references.
    pub reference: Option<RunId>,
}

impl ComparedBuilds<'_> {
    /// Whether both have a benchmark that is compared with these `references`.
    pub fn have(&self, key: &BenchmarkKey, references: &[Option<RunId>]) -> bool {
        let is_reference = self.reference.is_none() || references.contains(&self.reference);
        is_reference && key.package == self.package && key.target == self.target
    }
}

impl CodeChange {
    /// The functions of a target, as many as are stored.
    pub fn of(
        package: String,
        target: String,
        functions: impl ExactSizeIterator<Item = ChangedFunction>,
    ) -> Self {
        Self {
            package,
            target,
            reference: None,
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

    /// The builds that it is about.
    pub fn builds(&self) -> ComparedBuilds<'_> {
        ComparedBuilds {
            package: &self.package,
            target: &self.target,
            reference: self.reference,
        }
    }

    /// Puts the functions of these names first.
    pub(super) fn put_first(&mut self, names: &BTreeSet<&str>) {
        let functions = &mut self.functions;
        functions.sort_by_key(|function| !names.contains(&*function.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_execute_more_come_before_those_that_are_longer() {
        let functions = ["report", "scan", "grow"].map(|name| ChangedFunction {
            name: name.to_owned(),
            bytes: BySide::default(),
            same_code: false,
        });
        let mut change = CodeChange::of("p".to_owned(), "t".to_owned(), functions.into_iter());
        change.put_first(&["grow", "elsewhere", "scan"].into());
        let names: Vec<&str> = change.functions.iter().map(|one| &*one.name).collect();
        assert_eq!(names, ["scan", "grow", "report"]);
    }
}
