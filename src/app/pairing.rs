//! Which benchmarks of two builds are measured against which, and which need no measurement.

use std::collections::{BTreeMap, BTreeSet};

use super::findings;
use crate::cargo::BenchTarget;
use crate::findings::FailedTarget;
use crate::measure::{Discovered, PairedTarget, TargetFailure};
use crate::model::{Benchmark, BenchmarkKey, BySide, Verdict};

/// Why a benchmark of the work tree has nothing to be measured against.
const NEW: &str = "the reference does not have it (with `--against REV`, `--benches-from worktree` lays the current benchmarks over the older revision)";
/// Why two benchmarks of one name are not compared.
const OTHER_VERSION: &str = "the author gave it another version (`--allow-different benchmark-version` compares all the same)";
/// Why two benchmarks of one name cannot be measured in turn.
const OTHER_HARNESS: &str = "it is written against another harness there";
/// Why nothing is known of a benchmark whose target gave nothing on one side.
const REFERENCE_FAILED: &str =
    "the reference's bench target failed before its benchmarks were known; the error is above";
const FAILED: &str = "the bench target failed before its benchmarks were known; the error is above";
/// Why nothing was measured.
pub(super) const IDENTICAL: &str =
    "both sides are the same executable, byte for byte (`--control` measures all the same)";

/// A verdict that needs no measurement.
pub(super) struct Settled {
    pub(super) key: BenchmarkKey,
    pub(super) verdict: Verdict,
    pub(super) remark: Option<String>,
}

/// The failures of both sides, with the side where it is not the candidate.
fn failed_targets(found: &BySide<Discovered>) -> Vec<FailedTarget> {
    let of_base = found.base.failures.iter().map(|failure| TargetFailure {
        message: format!("in the reference: {}", failure.message),
        ..failure.clone()
    });
    let all: Vec<TargetFailure> = found
        .candidate
        .failures
        .iter()
        .cloned()
        .chain(of_base)
        .collect();
    findings::failed_targets(&all)
}

/// Which benchmarks are measured against which, and which are left alone.
#[derive(Default)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<PairedTarget>,
    /// Verdicts that need no measurement.
    pub(super) settled: Vec<Settled>,
    pub(super) failed_targets: Vec<FailedTarget>,
    /// The candidate's targets, measured or not.
    pub(super) targets: Vec<BenchTarget>,
}

impl Pairing {
    pub(super) fn of(
        found: BySide<Discovered>,
        identical: &BTreeSet<TargetName>,
        control: bool,
        versions_may_differ: bool,
    ) -> Self {
        let mut pairing = Self {
            failed_targets: failed_targets(&found),
            targets: found
                .candidate
                .targets
                .iter()
                .map(|found| found.target.clone())
                .collect(),
            ..Self::default()
        };
        let failed = |found: &Discovered| -> BTreeSet<TargetName> {
            let failures = found.failures.iter();
            failures
                .map(|failure| (failure.package.clone(), failure.target.clone()))
                .collect()
        };
        let (failed_here, failed_there) = (failed(&found.candidate), failed(&found.base));
        let mut base: BTreeMap<_, _> = found
            .base
            .targets
            .into_iter()
            .map(|found| (name(&found.target), found))
            .collect();
        for candidate in found.candidate.targets {
            // It may well have the benchmarks: nobody knows.
            if failed_there.contains(&name(&candidate.target)) {
                pairing.settle(
                    candidate.benchmarks,
                    Verdict::Failed,
                    Some(REFERENCE_FAILED),
                );
                continue;
            }
            let Some(other) = base.remove(&name(&candidate.target)) else {
                pairing.settle(candidate.benchmarks, Verdict::New, Some(NEW));
                continue;
            };
            let ids = |benchmarks: &[Benchmark]| -> BTreeSet<BenchmarkKey> {
                benchmarks.iter().map(|b| b.key.clone()).collect()
            };
            let (here, there) = (ids(&candidate.benchmarks), ids(&other.benchmarks));
            let versions: BTreeMap<BenchmarkKey, Option<String>> = other
                .benchmarks
                .iter()
                .map(|benchmark| (benchmark.key.clone(), benchmark.version.clone()))
                .collect();
            let is_there = |benchmark: &Benchmark| there.contains(&benchmark.key);
            let (both, only_candidate): (Vec<_>, Vec<_>) =
                candidate.benchmarks.into_iter().partition(is_there);
            pairing.settle(only_candidate, Verdict::New, Some(NEW));
            let gone = other.benchmarks.into_iter();
            let gone = gone.filter(|benchmark| !here.contains(&benchmark.key));
            pairing.settle(gone.collect(), Verdict::Missing, None);
            let same_version = |benchmark: &Benchmark| {
                let other = versions.get(&benchmark.key);
                versions_may_differ || other == Some(&benchmark.version)
            };
            let (both, others): (Vec<_>, Vec<_>) = both.into_iter().partition(same_version);
            pairing.settle(others, Verdict::Incomparable, Some(OTHER_VERSION));
            if !candidate.kind.is_alike(&other.kind) {
                pairing.settle(both, Verdict::Incomparable, Some(OTHER_HARNESS));
                continue;
            }
            if !control && identical.contains(&name(&candidate.target)) {
                pairing.settle(both, Verdict::Unchanged, Some(IDENTICAL));
                continue;
            }
            pairing.pairs.push(PairedTarget {
                targets: BySide {
                    base: other.target,
                    candidate: candidate.target,
                },
                benchmarks: both,
                kinds: BySide {
                    base: other.kind,
                    candidate: candidate.kind,
                },
            });
        }
        for gone in base.into_values() {
            if failed_here.contains(&name(&gone.target)) {
                pairing.settle(gone.benchmarks, Verdict::Failed, Some(FAILED));
            } else {
                pairing.settle(gone.benchmarks, Verdict::Missing, None);
            }
        }
        pairing
    }

    fn settle(&mut self, benchmarks: Vec<Benchmark>, verdict: Verdict, remark: Option<&str>) {
        self.settled
            .extend(benchmarks.into_iter().map(|benchmark| Settled {
                key: benchmark.key,
                verdict,
                remark: remark.map(str::to_owned),
            }));
    }

    pub(super) fn planned(&self) -> usize {
        self.pairs.iter().map(|pair| pair.benchmarks.len()).sum()
    }
}

/// Package and target.
pub(super) type TargetName = (String, String);

/// The name of a target.
pub(super) fn name(target: &BenchTarget) -> TargetName {
    (target.package.clone(), target.target.clone())
}
