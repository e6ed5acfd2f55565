//! Remarks that accompany verdicts, and findings about the machine code of two builds: whether it is the same, and which functions differ. Both are
//! data, which the output layers turn into sentences.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use crate::model::limits::{MOST_CHANGED_FUNCTIONS, cut_name};
use crate::model::{BenchmarkKey, BySide, ExecutableSize, FilterReport, RunId, ShardId};

/// A remark on one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchmarkNote {
    /// The time budget ended after so few processes that no verdict is possible.
    CutShort {
        /// Number of processes.
        processes: usize,
    },
    /// The side-by-side comparison is inconclusive. The fields say what would settle it.
    Undecided {
        /// Approximate number of rounds that are needed in all. `None` if no number is known to be enough.
        rounds: Option<u64>,
        /// Expected duration of this many rounds, in seconds. `None` if it is unknown how long the measured rounds took.
        seconds: Option<f64>,
        /// Whether the time budget of the benchmark ended before it was settled.
        ran_out_of_time: bool,
        /// The noise threshold, as a fraction, with which the benchmark would be unchanged. `None` if the change may be real.
        noise_threshold: Option<f64>,
    },
    /// The benchmark was not measured, because both sides are the same.
    Same(Sameness),
    /// The benchmark was not measured, because the base does not have it.
    OnlyCandidate,
    /// The benchmark was not measured, because its author gave it another version.
    OtherVersion,
    /// The benchmark was not measured, because the two sides use different harnesses.
    OtherHarness,
    /// All failures of the benchmark are on the side of the base, so there is nothing to compare with.
    BaseFailed,
    /// A bench target failed before it announced its benchmarks, so it is unknown whether it has this benchmark.
    TargetFailed {
        /// Whether the target of the base failed. If false, the target of the candidate failed.
        in_base: bool,
    },
    /// The start of the process is a large part of the time of a program.
    StartUp {
        /// Time of a program that does nothing, in nanoseconds.
        empty_ns: f64,
        /// Median time of the program, in nanoseconds.
        median_ns: f64,
    },
}

/// A remark on a comparison as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunNote {
    /// The reference could not be run again, so the run is compared with stored numbers only.
    StoredAlone {
        /// Why the reference could not be run again.
        reason: String,
    },
    /// The source of a bench target differs between the sides.
    BenchDiffers {
        /// Name of the package.
        package: String,
        /// Name of the bench target.
        target: String,
        /// The files that differ.
        files: Vec<String>,
        /// Whether the user asked for the current benches but the revision does not build with them.
        current_does_not_build: bool,
    },
    /// The machine code of a bench target differs between the sides.
    CodeDiffers(CodeChange),
    /// The sizes of the executables of a bench target.
    Size(Box<SizeChange>),
    /// It is unknown which functions differ between the two executables of a bench target.
    CodeUnknown {
        /// Name of the package.
        package: String,
        /// Name of the bench target.
        target: String,
        /// The run whose build could not be compared, if there are several references.
        reference: Option<RunId>,
        /// Why the differences are unknown.
        reason: String,
    },
    /// The user asked for instruction counts, but some benchmarks have none.
    NotCounted {
        /// The benchmarks without instruction counts.
        benchmarks: Vec<BenchmarkKey>,
        /// Why their instructions were not counted.
        reason: String,
    },
    /// The user asked for the times of functions from a profiler, but some benchmarks have none.
    NotSampled {
        /// The benchmarks without times of functions.
        benchmarks: Vec<BenchmarkKey>,
        /// Why these times are not known.
        reason: String,
    },
    /// Some benchmarks declined to be measured.
    Skipped {
        /// The benchmarks that declined.
        benchmarks: Vec<BenchmarkKey>,
        /// The reason that their author gave.
        reason: String,
    },
    /// The two sides use different versions of a dependency.
    DependencyDiffers {
        /// Name of the dependency.
        name: String,
        /// The versions on each side.
        versions: BySide<Vec<String>>,
    },
    /// Both builds were measured side by side, but some settings only affect builds that are measured alone.
    NotForRounds {
        /// The flags of the command line that had no effect.
        flags: Vec<String>,
        /// The keys in Cargo.toml that had no effect.
        keys: Vec<String>,
        /// The settings in the code of benchmarks that had no effect.
        code: Vec<String>,
    },
    /// A hypervisor gave much of the processors' time to other machines.
    Stolen {
        /// The share of the processors' time that other machines got, as a fraction.
        share: f64,
    },
    /// One of the sides was imported, so another program measured it.
    Imported,
    /// An import left out samples of a run, so the description of the run omits them, too.
    LeftOut {
        /// The run.
        run: RunId,
        /// The filter of the import, with the numbers of samples that it kept and left out.
        left_out: FilterReport,
    },
    /// It is unknown which samples of an imported side belong to the same process.
    ProcessesUnknown,
    /// The host of an imported side is unknown, so it counts as a shared machine.
    HostUnknown,
    /// One run was measured side by side with another build, the other run alone.
    SampledDifferently {
        /// The run that was measured side by side.
        side_by_side: RunId,
        /// The run that was measured alone.
        alone: RunId,
    },
    /// Two runs that were measured side by side are compared as two independent runs.
    RoundsAsProcesses,
    /// A run was stopped early.
    Incomplete {
        /// The run.
        run: RunId,
    },
    /// Executables ran as they were built, so their code has a single layout on each side.
    AsBuilt {
        /// The bench targets of these executables.
        targets: Vec<String>,
        /// Why the executables could not be relinked in other layouts.
        why: String,
    },
    /// A reported change is so small that another layout of the same code could cause it.
    SmallChanges,
    /// Parts of the suite are missing.
    PartsMissing {
        /// The missing parts.
        parts: Vec<ShardId>,
    },
    /// Parts of the suite were measured on different machines.
    HostsDiffer {
        /// Each machine, described by its processor and kernel, and the parts that were measured on it.
        hosts: Vec<(String, Vec<ShardId>)>,
    },
    /// The conclusion comes from another store with other run numbers. Sentences that were stored with it still contain those numbers.
    ConcludedElsewhere,
}

impl RunNote {
    /// Returns the note with `run` as the reference, if it is a note about an executable that was compared with a build of that run. Returns any other
    /// note unchanged.
    #[must_use]
    pub fn with_reference(self, run: RunId) -> Self {
        let reference = Some(run);
        match self {
            Self::CodeDiffers(change) => Self::CodeDiffers(CodeChange {
                reference,
                ..change
            }),
            Self::Size(change) => Self::Size(Box::new(SizeChange {
                reference,
                ..*change
            })),
            Self::CodeUnknown {
                package,
                target,
                reason,
                ..
            } => Self::CodeUnknown {
                package,
                target,
                reference,
                reason,
            },
            other => other,
        }
    }

    /// Restricts a remark about instructions that were not counted to the benchmarks for which `is_missed` is true. Returns `None` if no benchmark is
    /// left. All other remarks are returned unchanged.
    #[must_use]
    pub fn narrow_not_counted(self, is_missed: impl Fn(&BenchmarkKey) -> bool) -> Option<Self> {
        match self {
            Self::NotCounted {
                mut benchmarks,
                reason,
            } => {
                benchmarks.retain(|key| is_missed(key));
                (!benchmarks.is_empty()).then_some(Self::NotCounted { benchmarks, reason })
            }
            other => Some(other),
        }
    }

    /// Returns the builds that the remark is about, if it is about one bench target.
    pub fn builds(&self) -> Option<ComparedBuilds<'_>> {
        match self {
            Self::BenchDiffers {
                package, target, ..
            } => Some(ComparedBuilds {
                package,
                target,
                reference: None,
            }),
            Self::CodeDiffers(change) => Some(change.builds()),
            Self::CodeUnknown {
                package,
                target,
                reference,
                ..
            } => Some(ComparedBuilds {
                package,
                target,
                reference: *reference,
            }),
            _ => None,
        }
    }

    /// Returns the sizes of an executable, if the remark is about them.
    pub fn size(&self) -> Option<&SizeChange> {
        match self {
            Self::Size(change) => Some(change),
            _ => None,
        }
    }

    /// Returns the functions that differ, if the remark is about them.
    pub fn code(&self) -> Option<&CodeChange> {
        match self {
            Self::CodeDiffers(change) => Some(change),
            _ => None,
        }
    }
}

/// Why a benchmark was not measured: nothing that matters to it differs between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sameness {
    /// The executables of both sides are the same, byte for byte.
    Executable,
    /// The executables differ, but no code that the benchmark can reach differs.
    Reachable,
    /// The executables differ, but none of the code that differs ran with the benchmark.
    Run,
}

/// The functions that differ between the two executables of a bench target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeChange {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// Number of the run whose build the candidate is compared with. Null if all benchmarks of the candidate are compared with the same build.
    pub reference: Option<RunId>,
    /// The functions whose cost changed come first (in instructions or sampled time). Then follow changed, added and removed functions, the longest
    /// of each kind first. Functions whose own code is the same come last.
    pub functions: Vec<ChangedFunction>,
    /// Number of functions that differ but are not in `functions`, because there are too many.
    pub left_out: usize,
}

/// A function that differs between the two executables of a bench target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFunction {
    /// Name without hashes. Instances of a generic function may share a name.
    pub name: String,
    /// Length of the function's code in bytes. Null on the side that does not have the function.
    pub bytes: BySide<Option<u64>>,
    /// Whether the function's own code is the same on both sides, so that only data that the code refers to differ, or may differ.
    #[serde(default)]
    pub same_code: bool,
}

/// The sizes of the executable of a bench target on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeChange {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target, or `program:` and the name of the binary.
    pub target: String,
    /// Number of the run whose build the candidate is compared with. Null if all benchmarks of the candidate are compared with the same build.
    pub reference: Option<RunId>,
    /// The sizes on each side, in bytes.
    pub size: BySide<ExecutableSize>,
    /// The functions that grew most, at most ten, the largest growth first. Empty if the executable did not grow, or if it has no symbols.
    pub functions: Vec<ChangedFunction>,
    /// Whether a limit applies to the size.
    pub limited: bool,
}

impl SizeChange {
    /// The largest number of functions that are named.
    pub const MOST_FUNCTIONS: usize = 10;

    /// Creates the change without a limit. `functions` are those that grew, at most [`Self::MOST_FUNCTIONS`] of them.
    pub fn new(
        package: String,
        target: String,
        size: BySide<ExecutableSize>,
        functions: Vec<ChangedFunction>,
    ) -> Self {
        let functions = functions.into_iter().map(|function| ChangedFunction {
            name: cut_name(function.name),
            ..function
        });
        Self {
            package,
            target,
            reference: None,
            size,
            functions: functions.collect(),
            limited: false,
        }
    }

    /// Reports whether this is the executable of a bench target.
    pub(super) fn belongs_to(&self, package: &str, target: &str) -> bool {
        self.package == package && self.target == target
    }

    /// Returns the relative change of the compared size, as a fraction.
    pub fn relative(&self) -> f64 {
        let [base, candidate] =
            [self.size.base, self.size.candidate].map(|size| size.compared_bytes() as f64);
        (candidate - base) / base.max(1.0)
    }

    /// Reports whether the sizes have a limit or changed by at least `threshold`, a fraction.
    pub(super) fn is_notable(&self, threshold: f64) -> bool {
        self.limited || self.relative().abs() >= threshold
    }
}

/// Two builds of a bench target that are compared.
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
    /// Reports whether these builds belong to the target of the benchmark `key`, which is compared with `references`.
    pub fn covers(&self, key: &BenchmarkKey, references: &[Option<RunId>]) -> bool {
        let is_reference = self.reference.is_none() || references.contains(&self.reference);
        is_reference && key.package == self.package && key.target == self.target
    }
}

impl CodeChange {
    /// Creates the code change of a target from the functions that differ. Keeps as many functions as may be stored, and counts the rest.
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
    use crate::compare::fixtures::key;

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

    fn code_unknown(reference: Option<RunId>) -> RunNote {
        RunNote::CodeUnknown {
            package: "p".to_owned(),
            target: "t".to_owned(),
            reference,
            reason: "stripped".to_owned(),
        }
    }

    #[test]
    fn remarks_about_machine_code_name_the_run_that_they_are_given_and_others_stay() {
        let change = CodeChange::new("p".to_owned(), "t".to_owned(), std::iter::empty());
        assert_eq!(change.reference, None);
        let of_run = CodeChange {
            reference: Some(RunId(3)),
            ..change.clone()
        };
        let named = |remark: RunNote| remark.with_reference(RunId(3));
        assert_eq!(
            named(RunNote::CodeDiffers(change)),
            RunNote::CodeDiffers(of_run)
        );
        assert_eq!(named(code_unknown(None)), code_unknown(Some(RunId(3))));
        assert_eq!(named(RunNote::Imported), RunNote::Imported);
    }

    #[test]
    fn what_was_not_counted_is_narrowed_to_what_is_missed_or_goes() {
        let not_counted = |ids: &[&str]| RunNote::NotCounted {
            benchmarks: ids.iter().map(|id| key(id)).collect(),
            reason: "no valgrind".to_owned(),
        };
        let narrowed = |ids: &[&str]| not_counted(ids).narrow_not_counted(|key| key.id != "b");
        assert_eq!(narrowed(&["a", "b", "c"]), Some(not_counted(&["a", "c"])));
        assert_eq!(narrowed(&["b"]), None);
        let other = RunNote::SmallChanges;
        assert_eq!(other.clone().narrow_not_counted(|_| false), Some(other));
    }

    #[test]
    fn three_kinds_of_remarks_are_about_the_builds_of_a_target_and_one_about_its_functions() {
        let builds = |reference| ComparedBuilds {
            package: "p",
            target: "t",
            reference,
        };
        let benches = RunNote::BenchDiffers {
            package: "p".to_owned(),
            target: "t".to_owned(),
            files: Vec::new(),
            current_does_not_build: false,
        };
        let change = CodeChange {
            reference: Some(RunId(4)),
            ..CodeChange::new("p".to_owned(), "t".to_owned(), std::iter::empty())
        };
        let code = RunNote::CodeDiffers(change.clone());
        let unknown = code_unknown(Some(RunId(5)));
        assert_eq!(benches.builds(), Some(builds(None)));
        assert_eq!(code.builds(), Some(builds(Some(RunId(4)))));
        assert_eq!(unknown.builds(), Some(builds(Some(RunId(5)))));
        assert_eq!(RunNote::Imported.builds(), None);
        assert_eq!(code.code(), Some(&change));
        assert_eq!((benches.code(), unknown.code()), (None, None));
    }

    #[test]
    fn builds_cover_the_benchmarks_of_their_target_that_are_compared_with_their_run() {
        let (run, other) = (Some(RunId(4)), Some(RunId(5)));
        let covers = |key: &BenchmarkKey, reference, references: &[Option<RunId>]| {
            let builds = ComparedBuilds {
                package: "p",
                target: "t",
                reference,
            };
            builds.covers(key, references)
        };
        let here = key("b");
        assert!(covers(&here, None, &[]) && covers(&here, None, &[other]));
        assert!(covers(&here, run, &[other, run]));
        assert!(!covers(&here, run, &[other]) && !covers(&here, run, &[]));
        let elsewhere = |package: &str, target: &str| BenchmarkKey {
            package: package.to_owned(),
            target: target.to_owned(),
            ..here.clone()
        };
        assert!(!covers(&elsewhere("q", "t"), run, &[run]));
        assert!(!covers(&elsewhere("p", "u"), run, &[run]));
    }

    #[test]
    fn as_many_functions_as_may_be_stored_are_kept_with_names_that_are_not_too_long() {
        let change_of = |count: usize| {
            let functions = (0..count).map(|place| ChangedFunction {
                name: format!("{place}{}", "x".repeat(1_000)),
                bytes: BySide::default(),
                same_code: true,
            });
            CodeChange::new("p".to_owned(), "t".to_owned(), functions)
        };
        let all = change_of(MOST_CHANGED_FUNCTIONS);
        assert_eq!((all.functions.len(), all.left_out), (100, 0));
        let some = change_of(MOST_CHANGED_FUNCTIONS + 2);
        assert_eq!((some.functions.len(), some.left_out), (100, 2));
        let last = &some.functions[99];
        assert_eq!(last.name, format!("99{}…", "x".repeat(995)));
        assert!(last.same_code);
    }
}
