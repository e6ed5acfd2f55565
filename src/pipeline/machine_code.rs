//! Compares the machine code of two builds before they are measured. This shows which benchmarks cannot differ and need not be measured, which
//! functions have changed, and how much larger the executables are.

use std::collections::BTreeMap;

use super::prepare::TargetName;
use perfcheck_analysis::findings::{ChangedFunction, CodeChange, RunNote, Sameness, SizeChange};
use perfcheck_analysis::model::{BySide, ExecutableSize, ProgramBenchmark};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::sides::SideTarget;
use perfcheck_code::{
    EntryOffsets, FunctionChange, Reach, UnsupportedExecutable, compare, find_grown_functions,
    measure_sizes,
};

/// The extent to which two executables of a bench target run the same code.
#[derive(Debug)]
pub(crate) enum CodeEquality {
    /// All code that can run is the same.
    Wholly(Sameness),
    /// The code is the same until execution reaches one of these entry points.
    Outside(EntryOffsets),
}

/// For each bench target, the extent to which both executables run the same code.
pub(crate) type CodeByTarget = BTreeMap<TargetName, CodeEquality>;

/// The result of comparing two executables of a bench target.
pub(crate) struct ExecutableComparison {
    /// How much of the code is the same on both sides. `None` if nothing is known to be the same.
    pub(crate) same: Option<CodeEquality>,
    /// A note on how the code differs, or why this is unknown.
    pub(crate) remark: Option<RunNote>,
}

impl ExecutableComparison {
    /// The result for identical files.
    pub(crate) const IDENTICAL: Self = Self {
        same: Some(CodeEquality::Wholly(Sameness::Executable)),
        remark: None,
    };
    /// The result without any information.
    pub(crate) const NONE: Self = Self {
        same: None,
        remark: None,
    };

    pub(crate) fn compare(target: &BenchTarget, executables: &BySide<Vec<u8>>) -> Self {
        if executables.base == executables.candidate {
            return Self::IDENTICAL;
        }
        let (package, target) = (target.package.clone(), target.target.clone());
        let found = match compare(&executables.base, &executables.candidate) {
            Ok(found) => found,
            // Add no note: the format is unsupported on most platforms, and readers cannot change that.
            Err(UnsupportedExecutable::Format | UnsupportedExecutable::OtherProcessor) => {
                return Self::NONE;
            }
            Err(unknown) => {
                return Self {
                    same: None,
                    remark: Some(RunNote::CodeUnknown {
                        package,
                        target,
                        reference: None,
                        reason: unknown.to_string(),
                    }),
                };
            }
        };
        let functions = found.functions.into_iter().map(to_changed_function);
        let differs = found.reach != Reach::Same || functions.len() > 0;
        Self {
            remark: differs
                .then(|| RunNote::CodeDiffers(CodeChange::new(package, target, functions))),
            same: match found.reach {
                Reach::Same => Some(CodeEquality::Wholly(Sameness::Reachable)),
                Reach::Differs(entrances) => Some(CodeEquality::Outside(entrances)),
                Reach::Everywhere => None,
            },
        }
    }
}

/// Compares the code of two executables.
pub(crate) fn compare_code(base: &BenchTarget, candidate: &BenchTarget) -> ExecutableComparison {
    let read = |target: &BenchTarget| std::fs::read(target.executable());
    match (read(base), read(candidate)) {
        (Ok(base), Ok(other)) => {
            let executables = BySide {
                base,
                candidate: other,
            };
            ExecutableComparison::compare(candidate, &executables)
        }
        // Running the unreadable executable will report the error.
        _ => ExecutableComparison::NONE,
    }
}

/// Compares the code of two built sides. Each side contains paths of the directory in which it was built. These do not count as a difference.
pub(crate) fn compare_sides(base: &SideTarget, candidate: &SideTarget) -> ExecutableComparison {
    if base.is_identical_to(candidate) {
        return ExecutableComparison::IDENTICAL;
    }
    match (
        base.with_paths_of(candidate),
        candidate.with_paths_of(candidate),
    ) {
        (Ok(base), Ok(other)) => {
            let executables = BySide {
                base,
                candidate: other,
            };
            ExecutableComparison::compare(&candidate.target, &executables)
        }
        _ => ExecutableComparison::NONE,
    }
}

fn to_changed_function(one: FunctionChange) -> ChangedFunction {
    ChangedFunction {
        name: one.name,
        bytes: BySide {
            base: one.base,
            candidate: one.candidate,
        },
        same_code: one.same_code,
    }
}

/// Returns the size of the executable of a target. Returns `None` if it is unreadable or of an unsupported format, or if it is cargo.
pub(crate) fn read_size(target: &BenchTarget) -> Option<ExecutableSize> {
    if ProgramBenchmark::is_build(&target.target) {
        return None;
    }
    size_of_file(&std::fs::read(target.executable()).ok()?)
}

fn size_of_file(executable: &[u8]) -> Option<ExecutableSize> {
    let sizes = measure_sizes(executable).ok()?;
    Some(ExecutableSize {
        text: sizes.text,
        data: sizes.data,
        bss: sizes.bss,
        stripped: sizes.stripped,
    })
}

/// Compares the sizes of two executables. Returns `None` if they are unreadable or of an unsupported format.
pub(crate) fn compare_sizes(base: &BenchTarget, candidate: &BenchTarget) -> Option<RunNote> {
    let read = |target: &BenchTarget| std::fs::read(target.executable()).ok();
    let (old, new) = (read(base)?, read(candidate)?);
    let size = BySide {
        base: size_of_file(&old)?,
        candidate: size_of_file(&new)?,
    };
    let functions = if size.candidate.compared_bytes() > size.base.compared_bytes() {
        find_grown_functions(&old, &new, SizeChange::MOST_FUNCTIONS).unwrap_or_default()
    } else {
        Vec::new()
    };
    Some(RunNote::Size(Box::new(SizeChange::new(
        candidate.package.clone(),
        candidate.target.clone(),
        size,
        functions.into_iter().map(to_changed_function).collect(),
    ))))
}
