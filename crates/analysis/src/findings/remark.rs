//! Remarks that accompany verdicts, as data; the output layers turn them into sentences.

use serde::{Deserialize, Serialize};

use super::code::{CodeChange, ComparedBuilds, Sameness};
use crate::model::{BenchmarkKey, BySide, FilterReport, RunId, ShardId};

/// A remark on one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchmarkNote {
    /// The time budget ended after so few processes that no verdict is possible.
    CutShort {
        /// Number of processes.
        launches: usize,
    },
    /// The ways to settle an inconclusive side-by-side comparison.
    Undecided {
        /// Approximate number of rounds needed in all; `None` if no number is known to suffice.
        rounds: Option<u64>,
        /// Duration of these rounds, in seconds, if the duration of those measured is known.
        seconds: Option<f64>,
        /// Whether the time for the benchmark had ended.
        ran_out_of_time: bool,
        /// The noise threshold, a fraction, with which the benchmark would be unchanged; `None` if the change may be real.
        noise_threshold: Option<f64>,
    },
    /// Nothing was measured: both sides are the same.
    Same(Sameness),
    /// Nothing was measured: the base does not have the benchmark.
    OnlyCandidate,
    /// Nothing was measured: the author gave the benchmark another version.
    OtherVersion,
    /// Nothing was measured: the two sides use different harnesses.
    OtherHarness,
    /// The base failed, so there is nothing to compare with.
    BaseFailed,
    /// The benchmark is unknown, because a bench target failed before it announced its benchmarks.
    TargetFailed {
        /// Whether the target of the base failed; otherwise that of the candidate.
        in_base: bool,
    },
}

/// A remark on a comparison as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunNote {
    /// The baseline could not be run again, so only stored numbers decide.
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
        /// Whether the user asked for the current benches but the revision does not build with them.
        current_does_not_build: bool,
    },
    /// The machine code of a bench target differs between the sides.
    CodeDiffers(CodeChange),
    /// The differences in the machine code of a bench target are unknown.
    CodeUnknown {
        /// Name of the package.
        package: String,
        /// Name of the bench target.
        target: String,
        /// The run whose build could not be compared, if there are several references.
        reference: Option<RunId>,
        /// Why they are unknown.
        reason: String,
    },
    /// Instructions were requested but not counted.
    NotCounted {
        /// The benchmarks concerned.
        benchmarks: Vec<BenchmarkKey>,
        /// Why they were not counted.
        reason: String,
    },
    /// Sampled functions were requested but are not known.
    NotSampled {
        /// The benchmarks concerned.
        benchmarks: Vec<BenchmarkKey>,
        /// Why they are not known.
        reason: String,
    },
    /// Benchmarks declined to be measured.
    Skipped {
        /// The benchmarks concerned.
        benchmarks: Vec<BenchmarkKey>,
        /// The reason, in the author's words.
        reason: String,
    },
    /// The two sides use different versions of a dependency.
    DependencyDiffers {
        /// Name of the dependency.
        name: String,
        /// The versions on each side.
        versions: BySide<Vec<String>>,
    },
    /// Flags for stored samples have no effect on rounds.
    NotForRounds {
        /// The flags.
        flags: Vec<String>,
    },
    /// A hypervisor gave much of the processors' time to other machines.
    Stolen {
        /// The share of the processors' time, a fraction.
        share: f64,
    },
    /// A side was imported: another program measured it.
    Imported,
    /// The description of a run omits the samples that its import left out.
    LeftOut {
        /// The run.
        run: RunId,
        /// The samples left out.
        left_out: FilterReport,
    },
    /// The processes of an imported side cannot be told apart.
    LaunchesUnknown,
    /// The host of an imported side is unknown, so it counts as a shared machine.
    HostUnknown,
    /// One run was measured side by side with another build, the other run alone.
    SampledDifferently {
        /// The run that was measured side by side.
        in_turn: RunId,
        /// The run that was measured alone.
        alone: RunId,
    },
    /// Two runs that were measured side by side are compared as two independent runs.
    RoundsAsLaunches,
    /// A run was stopped early.
    Incomplete {
        /// The run.
        run: RunId,
    },
    /// Executables ran as built: their code has a single layout on each side.
    AsBuilt {
        /// Their bench targets.
        targets: Vec<String>,
        /// Why they could not be relinked.
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
        /// The parts measured on each machine, by its processor and kernel.
        hosts: Vec<(String, Vec<ShardId>)>,
    },
    /// The conclusion comes from another store with other run numbers; finished sentences still contain those.
    ConcludedElsewhere,
}

impl RunNote {
    /// Sets the run whose build the remark is about, if it is about machine code.
    #[must_use]
    pub fn with_reference(self, run: RunId) -> Self {
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

    /// Narrows a remark about missing counts to the benchmarks that `is_missed` selects; `None` if no benchmark is left.
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

    /// Returns the functions that differ, if the remark is about them.
    pub fn code(&self) -> Option<&CodeChange> {
        match self {
            Self::CodeDiffers(change) => Some(change),
            _ => None,
        }
    }
}
