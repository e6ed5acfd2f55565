//! Pairs benchmarks of two builds, finds those that need no measurement, and assigns benchmarks to shards, one per job.
//!
//! Invariant: the assignment depends on the names of benchmarks alone, so that independent jobs with separate stores agree on it.

use std::collections::{BTreeMap, BTreeSet};

use super::machine_code::CodeEquality;
use perfcheck_analysis::findings::{BenchmarkNote, FailedTarget, Row, Sameness};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, RequestedReference, Shard, ShardId, Verdict,
};
use perfcheck_bench::measure::{DiscoveredBenches, Filter, PairedTarget, TargetFailure};
use perfcheck_build::cargo::BenchTarget;

/// Returns targets whose benchmarks are not all known, each once.
pub(crate) fn failed_targets<'f>(
    failures: impl IntoIterator<Item = &'f TargetFailure>,
) -> Vec<FailedTarget> {
    let mut found: Vec<FailedTarget> = Vec::new();
    for failure in failures {
        let mut known = found.iter_mut();
        let same = |one: &&mut FailedTarget| {
            one.package == failure.package && one.target == failure.target
        };
        match known.find(same) {
            Some(known) => known.message = format!("{}; {}", known.message, failure.message),
            None => found.push(FailedTarget {
                package: failure.package.clone(),
                target: failure.target.clone(),
                message: failure.message.clone(),
            }),
        }
    }
    found
}

fn names_of_failed(found: &DiscoveredBenches) -> BTreeSet<TargetName> {
    let failures = found.failures.iter();
    failures
        .map(|failure| (failure.package.clone(), failure.target.clone()))
        .collect()
}

/// Pairs of benchmarks to measure, and benchmarks settled without measurement.
#[derive(Default)]
pub(crate) struct Pairing {
    pub(crate) pairs: Vec<PairedTarget>,
    /// Verdicts that need no measurement
    pub(crate) settled: Vec<Row<'static>>,
    pub(crate) failed_targets: Vec<FailedTarget>,
}

impl Pairing {
    /// Pairs the benchmarks of both builds. Benchmarks in `declined` were not measured before, so even equal code proves nothing about them.
    pub(crate) fn from_benches(
        found: BySide<DiscoveredBenches>,
        alike: &CodeByTarget,
        declined: &BTreeSet<BenchmarkKey>,
        control: bool,
        versions_may_differ: bool,
    ) -> Self {
        let mut pairing = Self {
            failed_targets: failed_targets(&found.candidate.failures),
            ..Self::default()
        };
        let failed_here = names_of_failed(&found.candidate);
        let failed_there = names_of_failed(&found.base);
        let mut base: BTreeMap<_, _> = found
            .base
            .targets
            .into_iter()
            .map(|found| (target_name(&found.target), found))
            .collect();
        for candidate in found.candidate.targets {
            let Some(other) = base.remove(&target_name(&candidate.target)) else {
                let remark = if failed_there.contains(&target_name(&candidate.target)) {
                    BenchmarkNote::TargetFailed { in_base: true }
                } else {
                    BenchmarkNote::OnlyCandidate
                };
                pairing.settle(candidate.benchmarks, Verdict::New, Some(remark));
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
            pairing.settle(
                only_candidate,
                Verdict::New,
                Some(BenchmarkNote::OnlyCandidate),
            );
            let gone = other.benchmarks.into_iter();
            let gone = gone.filter(|benchmark| !here.contains(&benchmark.key));
            pairing.settle(gone.collect(), Verdict::Missing, None);
            let same_version = |benchmark: &Benchmark| {
                let other = versions.get(&benchmark.key);
                versions_may_differ || other == Some(&benchmark.version)
            };
            let (mut both, others): (Vec<_>, Vec<_>) = both.into_iter().partition(same_version);
            pairing.settle(
                others,
                Verdict::Incomparable,
                Some(BenchmarkNote::OtherVersion),
            );
            if !candidate.harness.is_alike(&other.harness) {
                pairing.settle(
                    both,
                    Verdict::Incomparable,
                    Some(BenchmarkNote::OtherHarness),
                );
                continue;
            }
            if let Some(CodeEquality::Wholly(same)) = alike.get(&target_name(&candidate.target))
                && !control
            {
                let asks = |benchmark: &Benchmark| declined.contains(&benchmark.key);
                let (open, settled) = both.into_iter().partition(asks);
                pairing.settle_as(settled, *same);
                both = open;
                if both.is_empty() {
                    continue;
                }
            }
            pairing.pairs.push(PairedTarget {
                targets: BySide {
                    base: other.target,
                    candidate: candidate.target,
                },
                benchmarks: both,
                harnesses: BySide {
                    base: other.harness,
                    candidate: candidate.harness,
                },
                layouts: None,
            });
        }
        for gone in base.into_values() {
            if failed_here.contains(&target_name(&gone.target)) {
                pairing.settle(
                    gone.benchmarks,
                    Verdict::Failed,
                    Some(BenchmarkNote::TargetFailed { in_base: false }),
                );
            } else {
                pairing.settle(gone.benchmarks, Verdict::Missing, None);
            }
        }
        pairing
    }

    /// Adds the pairs with another base.
    pub(crate) fn extend(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.settled.extend(other.settled);
        self.failed_targets.extend(other.failed_targets);
    }

    /// Returns all benchmarks, measured or not.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &BenchmarkKey> {
        let measured = self.pairs.iter().flat_map(|pair| &pair.benchmarks);
        let measured = measured.map(|benchmark| &benchmark.key);
        measured.chain(self.settled.iter().map(|row| &row.key))
    }

    /// Reports whether any benchmark is compared with the other build. New and missing benchmarks are not.
    pub(crate) fn compares_any(&self) -> bool {
        let is_alone = |row: &Row<'_>| matches!(row.verdict, Some(Verdict::New | Verdict::Missing));
        !self.pairs.is_empty() || !self.settled.iter().all(is_alone)
    }

    /// Keeps only `wanted` benchmarks.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&BenchmarkKey) -> bool) {
        for pair in &mut self.pairs {
            pair.benchmarks.retain(|benchmark| wanted(&benchmark.key));
        }
        self.pairs.retain(|pair| !pair.benchmarks.is_empty());
        self.settled.retain(|row| wanted(&row.key));
    }

    /// Settles benchmarks without measurement because both sides run the same code.
    pub(crate) fn settle_as(&mut self, benchmarks: Vec<Benchmark>, same: Sameness) {
        self.settle(
            benchmarks,
            Verdict::Unchanged,
            Some(BenchmarkNote::Same(same)),
        );
    }

    fn settle(
        &mut self,
        benchmarks: Vec<Benchmark>,
        verdict: Verdict,
        remark: Option<BenchmarkNote>,
    ) {
        let remarks: Vec<BenchmarkNote> = remark.into_iter().collect();
        let rows = benchmarks.into_iter().map(|benchmark| Row {
            remarks: remarks.clone(),
            ..Row::unmeasured(benchmark.key, verdict, None)
        });
        self.settled.extend(rows);
    }

    /// Reports whether there is something to measure, and all of it has identical executables on both sides.
    pub(crate) fn is_identical(&self, alike: &CodeByTarget) -> bool {
        let mut pairs = self.pairs.iter();
        let same = |pair: &PairedTarget| alike.get(&target_name(&pair.targets.candidate));
        !self.pairs.is_empty()
            && pairs
                .all(|pair| matches!(same(pair), Some(CodeEquality::Wholly(Sameness::Executable))))
    }

    pub(crate) fn planned(&self) -> usize {
        self.pairs.iter().map(|pair| pair.benchmarks.len()).sum()
    }
}

/// The extent to which executables of bench targets run the same code.
pub(crate) type CodeByTarget = BTreeMap<TargetName, CodeEquality>;

/// Package and target.
pub(crate) type TargetName = (String, String);

/// Returns the name of a target.
pub(crate) fn target_name(target: &BenchTarget) -> TargetName {
    (target.package.clone(), target.target.clone())
}

/// The requested shard.
pub(crate) struct ShardRequest<'a> {
    pub(crate) part: ShardId,
    pub(crate) filter: &'a Filter,
    pub(crate) reference: RequestedReference,
}

/// The benchmarks of one shard.
pub(crate) struct ShardPlan {
    own: BTreeSet<BenchmarkKey>,
    /// Facts about the whole suite that the shard's run records
    pub(crate) partition: Shard,
}

impl ShardPlan {
    /// Assigns `all` benchmarks round-robin in natural order: neighbors, which are often similar, go to different jobs.
    pub(crate) fn assign<'k>(
        asked: ShardRequest<'_>,
        all: impl Iterator<Item = &'k BenchmarkKey>,
        control: bool,
    ) -> Self {
        let all: BTreeSet<&BenchmarkKey> = all.collect();
        let mut ordered: Vec<&BenchmarkKey> = all.into_iter().collect();
        ordered.sort_by(|a, b| a.cmp_natural(b));
        let mut digest = blake3::Hasher::new();
        for part in ordered
            .iter()
            .flat_map(|key| [&key.package, &key.target, &key.id])
        {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let dealt = ordered.iter().enumerate();
        let own = dealt.filter(|(place, _)| asked.part.contains_position(*place));
        Self {
            own: own.map(|(_, key)| (*key).clone()).collect(),
            partition: Shard {
                part: asked.part,
                benchmarks: ordered.len(),
                suite: digest.finalize().to_hex().to_string(),
                reference: asked.reference,
                control,
                filter: asked.filter.words.clone(),
                exact: asked.filter.exact,
            },
        }
    }

    /// Reports whether a benchmark belongs to the shard.
    pub(crate) fn has(&self, key: &BenchmarkKey) -> bool {
        self.own.contains(key)
    }

    /// Reports whether the shard has no benchmark because there are fewer benchmarks than shards.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}
