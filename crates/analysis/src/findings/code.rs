//! Findings about the machine code of two builds: where they are the same, and the functions that differ.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::limits::{MOST_CHANGED_FUNCTIONS, cut_name};
use crate::model::{BenchmarkKey, BySide, RunId};

/// Why both sides of a benchmark that was not measured are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sameness {
    /// They are the same executable, byte for byte.
    Executable,
    /// Their executables have no difference that they can reach when they run.
    Reachable,
    /// No difference between their executables ran with the benchmark.
    Run,
}

/// The functions that differ between the two executables of a bench target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeChange {
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// The run whose build it differs from, if benchmarks of this run have several references; null if they have one.
    pub reference: Option<RunId>,
    /// First the functions whose cost changed, in instructions or sampled time; then changed, added and removed functions, each longest first; then
    /// functions whose own code is the same.
    pub functions: Vec<ChangedFunction>,
    /// Number of functions left out.
    pub left_out: usize,
}

/// A function that differs between the two sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFunction {
    /// Name without hashes; instances of a generic function may share one.
    pub name: String,
    /// Length of its code in bytes; null on the side that does not have it.
    pub bytes: BySide<Option<u64>>,
    /// Whether its own code is the same on both sides, so that only data that it refers to differ or may differ.
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
    /// The run that the base was built for, if there are several references.
    pub reference: Option<RunId>,
}

impl ComparedBuilds<'_> {
    /// Reports whether both builds have a benchmark that is compared with these `references`.
    pub fn covers(&self, key: &BenchmarkKey, references: &[Option<RunId>]) -> bool {
        let is_reference = self.reference.is_none() || references.contains(&self.reference);
        is_reference && key.package == self.package && key.target == self.target
    }
}

impl CodeChange {
    /// Lists the functions of a target, as many as are stored.
    pub fn new(
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

    /// Returns the builds that are compared.
    pub fn builds(&self) -> ComparedBuilds<'_> {
        ComparedBuilds {
            package: &self.package,
            target: &self.target,
            reference: self.reference,
        }
    }

    /// Moves the functions with these names to the front.
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
        let mut change = CodeChange::new("p".to_owned(), "t".to_owned(), functions.into_iter());
        change.put_first(&["grow", "elsewhere", "scan"].into());
        let names: Vec<&str> = change.functions.iter().map(|one| &*one.name).collect();
        assert_eq!(names, ["scan", "grow", "report"]);
    }
}
