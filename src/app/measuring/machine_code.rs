//! What the machine code of two builds says before anything is measured: benchmarks that cannot differ, and the functions that do.

use perfcheck_analysis::findings::{ChangedFunction, CodeChange, RunRemark, Sameness};
use perfcheck_analysis::model::BySide;
use perfcheck_code::{Entrances, Reach, Unknown, compare};
use perfcheck_engine::cargo::BenchTarget;

/// In how far two executables of a bench target run the same.
#[derive(Debug)]
pub(in crate::app) enum SameCode {
    /// Whatever runs is the same.
    Wholly(Sameness),
    /// What runs is the same until one of them comes to where code that differs is entered.
    Outside(Entrances),
}

/// What the code of two executables of a bench target says.
pub(in crate::app) struct CodeVerdict {
    /// `None`: nothing is known to be the same.
    pub(in crate::app) same: Option<SameCode>,
    /// What a reader must know of it.
    pub(in crate::app) remark: Option<RunRemark>,
}

impl CodeVerdict {
    /// Both are the same file.
    pub(in crate::app) const IDENTICAL: Self = Self {
        same: Some(SameCode::Wholly(Sameness::Executable)),
        remark: None,
    };
    /// There is nothing to be said of them.
    pub(in crate::app) const NONE: Self = Self {
        same: None,
        remark: None,
    };

    /// Compares two executables.
    pub(in crate::app) fn of(target: &BenchTarget, executables: &BySide<Vec<u8>>) -> Self {
        if executables.base == executables.candidate {
            return Self::IDENTICAL;
        }
        let (package, target) = (target.package.clone(), target.target.clone());
        let found = match compare(&executables.base, &executables.candidate) {
            Ok(found) => found,
            // Everywhere but on this one kind of machine it is so: nothing that a reader could change.
            Err(Unknown::Format) => return Self::NONE,
            Err(unknown) => {
                return Self {
                    same: None,
                    remark: Some(RunRemark::CodeUnknown {
                        package,
                        target,
                        reference: None,
                        reason: unknown.to_string(),
                    }),
                };
            }
        };
        let functions = found.functions.into_iter().map(|one| ChangedFunction {
            name: one.name,
            bytes: BySide {
                base: one.base,
                candidate: one.candidate,
            },
            same_code: one.same_code,
        });
        let differs = found.reach != Reach::Same || functions.len() > 0;
        Self {
            remark: differs
                .then(|| RunRemark::CodeDiffers(CodeChange::of(package, target, functions))),
            same: match found.reach {
                Reach::Same => Some(SameCode::Wholly(Sameness::Reachable)),
                Reach::Differs(entrances) => Some(SameCode::Outside(entrances)),
                Reach::Everywhere => None,
            },
        }
    }
}
