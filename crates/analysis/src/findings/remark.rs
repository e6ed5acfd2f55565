//! What a reader should know beside verdicts, as data: sinks say it in words.

use serde::{Deserialize, Serialize};

use super::code::{CodeChange, ComparedBuilds, Sameness};
use crate::model::{BenchmarkKey, BySide, LeftOutSamples, RunId, SuitePart};

/// Something that a reader should know of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remark {
    /// The time budget left time for so few launches that no verdict can rest on them.
    CutShort {
        /// The launches that there were.
        launches: usize,
    },
    /// What would settle an inconclusive A/B comparison.
    Undecided {
        /// The rounds in all that it takes, about; `None`: no number of them is known to.
        rounds: Option<u64>,
        /// How long these take, in seconds, where it is known how long those seen took.
        seconds: Option<f64>,
        /// Whether the benchmark was measured no longer because its time had ended.
        ran_out_of_time: bool,
        /// The noise threshold, a fraction, with which it would be unchanged; `None` where the change may be real.
        noise_threshold: Option<f64>,
    },
    /// Nothing was measured: both sides are the same.
    Same(Sameness),
    /// Nothing was measured: the base does not have the benchmark.
    OnlyCandidate,
    /// Nothing was measured: the author gave the benchmark another version.
    OtherVersion,
    /// Nothing was measured: the two sides are written against different harnesses.
    OtherHarness,
    /// The base failed, so that there is nothing to compare with.
    BaseFailed,
    /// Nothing is known of the benchmark, because a bench target failed before its benchmarks were known.
    TargetFailed {
        /// Whether the base's target failed; else the candidate's did.
        in_base: bool,
    },
}

/// Something that a reader should know of a comparison as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunRemark {
    /// The baseline could not be run again: stored numbers alone decide.
    StoredAlone {
        /// Why it could not be run again.
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
        /// Whether the current benches were asked for, and the revision does not build with them.
        current_does_not_build: bool,
    },
    /// The machine code of a bench target differs between the sides.
    CodeDiffers(CodeChange),
    /// Nobody knows in what the machine code of a bench target differs.
    CodeUnknown {
        /// Name of the package.
        package: String,
        /// Name of the bench target.
        target: String,
        /// The run whose build it was not compared with, where there are several references.
        reference: Option<RunId>,
        /// Why.
        reason: String,
    },
    /// Instructions were to be counted and were not.
    NotCounted {
        /// Of these benchmarks.
        benchmarks: Vec<BenchmarkKey>,
        /// Why not.
        reason: String,
    },
    /// Which functions take the time was to be known, and is not.
    NotSampled {
        /// Of these benchmarks.
        benchmarks: Vec<BenchmarkKey>,
        /// Why not.
        reason: String,
    },
    /// Benchmarks declined to be measured.
    Skipped {
        /// These benchmarks.
        benchmarks: Vec<BenchmarkKey>,
        /// Why, in the words of their author.
        reason: String,
    },
    /// A dependency has other versions on the two sides.
    DependencyDiffers {
        /// Name of the package.
        name: String,
        /// The versions of each side.
        versions: BySide<Vec<String>>,
    },
    /// Flags about stored samples do not apply to rounds.
    NotForRounds {
        /// The flags that were given.
        flags: Vec<String>,
    },
    /// A hypervisor gave much of the processors' time to others.
    Stolen {
        /// The share of the processors' time, a fraction.
        share: f64,
    },
    /// A side was imported: another program measured it.
    Imported,
    /// A run is described without what its import left out.
    LeftOut {
        /// The run.
        run: RunId,
        /// What that was.
        left_out: LeftOutSamples,
    },
    /// Nothing tells the launches of an imported side apart.
    LaunchesUnknown,
    /// Nobody said where an imported side was measured, so it counts as a shared machine.
    HostUnknown,
    /// One run was measured in turn with another build, the other one alone.
    SampledDifferently {
        /// The run that was measured in turn.
        in_turn: RunId,
        /// The run that was measured alone.
        alone: RunId,
    },
    /// Two runs that were measured in turn are compared as runs of their own.
    RoundsAsLaunches,
    /// A run was stopped before its end.
    Incomplete {
        /// The run.
        run: RunId,
    },
    /// Executables ran as they were built: their code has one layout on each side.
    AsBuilt {
        /// The names of their bench targets.
        targets: Vec<String>,
        /// Why they could not be linked anew.
        why: String,
    },
    /// A called change is so small that another layout of the same code could make it.
    SmallChanges,
    /// Parts of the suite are missing.
    PartsMissing {
        /// These.
        parts: Vec<SuitePart>,
    },
    /// Parts of the suite were measured on machines that differ.
    HostsDiffer {
        /// The parts of each machine, by its processor and kernel.
        hosts: Vec<(String, Vec<SuitePart>)>,
    },
    /// It was concluded in another store, which had other numbers for the runs: sentences that were written there name them by these.
    ConcludedElsewhere,
}

impl RunRemark {
    /// The same with the run that it is about the build of, where it is about machine code.
    #[must_use]
    pub fn beside(self, run: RunId) -> Self {
        let reference = Some(run);
        match self {
            Self::CodeDiffers(change) => Self::CodeDiffers(CodeChange {
                reference,
                ..change
            }),
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

    /// Narrows a remark about missing counts to the benchmarks that `is_missed` names; `None` if no benchmark is left.
    #[must_use]
    pub fn not_counted_of(self, is_missed: impl Fn(&BenchmarkKey) -> bool) -> Option<Self> {
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

    /// The builds that it is about, if it is about those of one bench target.
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

    /// The functions that differ, if it is about these.
    pub fn code(&self) -> Option<&CodeChange> {
        match self {
            Self::CodeDiffers(change) => Some(change),
            _ => None,
        }
    }
}
