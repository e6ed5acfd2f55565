//! Pairs each benchmark of the work tree with the build that it is measured against. Gives verdicts to benchmarks that need no measurement, and
//! selects the benchmarks in the shard that this job measures.
//!
//! A benchmark that runs the same code on both sides needs no measurement: it is unchanged. If the executables alone do not show whether this is so,
//! a trial runs the benchmark on both sides, with a trap at each entrance to code that differs. A process that hits a trap dies, and its benchmark is
//! measured as usual. In the trial, Criterion benchmarks run only their iterations, without Criterion's analysis and reports, so that differences in
//! these do not count. All other benchmarks are measured for one round. A program that starts other processes is never settled by a trial.
//!
//! Invariant: the shards depend only on the names of benchmarks, so that independent jobs with separate stores agree on them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::path::Path;
use tracing::info_span;

use super::build::BuildPair;
use super::cache_build::cache_directory;
use super::machine_code::{CodeByTarget, CodeEquality};
use super::prepare::{TargetName, failed_targets};
use super::reference::ReferenceBuild;
use super::request::Request;
use crate::error::AppError;
use crate::session::{Context, World};
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::findings::{BenchmarkNote, FailedTarget, Row, RunNote, Sameness};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, NullObserver, ProcessOutcome, ProcessRecord,
    RequestedReference, RunId, Shard, ShardId, Verdict,
};
use perfcheck_bench::child::{ChildError, ProcessContext};
use perfcheck_bench::measure::{
    Campaign, CampaignEnd, CampaignSink, DiscoveredBenches, Filter, HarnessKind, PairedPlan,
    PairedTarget, RoundSettings, find_childless, rehearse,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::sides::{MeasuringLock, StagedExecutables};
use perfcheck_code::{EntryOffsets, insert_traps};
use perfcheck_host::os::EXECUTABLES_CAN_CHANGE;
use perfcheck_host::process::without_core_dumps;

/// The user's wishes about pairing.
pub(crate) struct PairingRules<'a> {
    /// The shard to measure, if the suite is split.
    pub(crate) part: Option<ShardRequest<'a>>,
    /// Whether to measure identical executables, as a control.
    pub(crate) wants_control: bool,
    /// Whether to also measure benchmarks that run the same code, because a baseline needs their numbers.
    pub(crate) measures_all: bool,
    /// Benchmarks that declined to be measured in an earlier run. For them, equal code does not show that they are unchanged.
    pub(crate) declined: BTreeSet<BenchmarkKey>,
}

/// The benchmarks of a side-by-side measurement, with the builds that they belong to.
pub(crate) struct PairedSuite {
    pub(crate) pairing: Pairing,
    /// The builds, newest reference first. The executables stay in place until these values are dropped.
    pub(crate) builds: Vec<BuildPair>,
    /// For each benchmark whose base is the build of an earlier run, that run.
    pub(crate) earlier: BTreeMap<BenchmarkKey, RunId>,
    /// The names of all bases in messages.
    pub(crate) reference: String,
    /// Remarks about the builds.
    pub(crate) remarks: Vec<RunNote>,
    /// Whether both sides run the same executables.
    pub(crate) is_control: bool,
    /// Number of benchmarks that share the significance level.
    pub(crate) planned: usize,
    pub(crate) shard: Option<ShardPlan>,
    /// The lock that keeps other measurements from disturbing this one. `None` if nothing is measured or there is no cache directory.
    pub(crate) lock: Option<MeasuringLock>,
}

/// Pairs the benchmarks of the work tree with those of each reference.
pub(crate) fn pair_builds(
    references: Vec<ReferenceBuild>,
    rules: PairingRules<'_>,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<PairedSuite, AppError> {
    let _stage = info_span!("pair").entered();
    let has_several = references.len() > 1;
    let versions_may_differ = request.comparison.allows(Fact::BenchmarkVersion);
    let mut remarks = Vec::new();
    let mut earlier = BTreeMap::new();
    let mut is_control = rules.wants_control;
    let mut paired = Vec::new();
    for reference in references {
        let ReferenceBuild { builds, found, .. } = reference;
        let run = reference.earlier.as_ref().map(|earlier| earlier.run.id);
        add_remarks(&mut remarks, &builds.remarks, run.filter(|_| has_several));
        if let Some(one) = reference.earlier {
            let base = found.base.targets.iter();
            let keys = base.flat_map(|found| &found.benchmarks);
            let keys = keys.map(|benchmark| benchmark.key.clone());
            earlier.extend(keys.chain(one.benchmarks).map(|key| (key, one.run.id)));
        }
        let pairing = Pairing::from_benches(
            found,
            &builds.code_equality,
            &rules.declined,
            rules.measures_all,
            versions_may_differ,
        );
        is_control &= pairing.is_identical(&builds.code_equality);
        paired.push((pairing, builds));
    }
    let keys = paired.iter().flat_map(|(pairing, _)| pairing.keys());
    let shard = rules
        .part
        .map(|part| ShardPlan::assign(part, keys, is_control));
    // All benchmarks of the suite share the significance level, those of other shards too. A shard does not know which benchmarks the other shards
    // need not measure, so it counts all of them.
    let of_all_parts: usize = paired.iter().map(|(pairing, _)| pairing.planned()).sum();
    let mut suite = Pairing::default();
    let (mut all_builds, mut names) = (Vec::new(), Vec::new());
    let mut lock = None;
    for (mut pairing, builds) in paired {
        if let Some(shard) = &shard {
            pairing.retain(|key| shard.has(key));
        }
        if lock.is_none() && !pairing.pairs.is_empty() {
            lock = request.measuring_lock(world)?;
        }
        if !rules.measures_all {
            settle_by_trial(&mut pairing, &builds.code_equality, request, world)?;
        }
        let relinked = builds
            .relinking
            .prepare(&mut pairing.pairs, request.seed, world);
        remarks.extend(relinked);
        if pairing.compares_any() {
            names.push(builds.words.clone());
        }
        suite.extend(pairing);
        all_builds.push(builds);
    }
    let measured = suite.pairs.iter().flat_map(|target| &target.benchmarks);
    let layers = &request.context.tables.layers;
    remarks.extend(layers.note_unused_in_rounds(&measured.collect::<Vec<_>>()));
    if names.is_empty() {
        names.extend(all_builds.first().map(|builds| builds.words.clone()));
    }
    Ok(PairedSuite {
        planned: match shard {
            Some(_) => of_all_parts,
            None => suite.planned(),
        },
        pairing: suite,
        builds: all_builds,
        earlier,
        reference: names.join(", "),
        remarks,
        is_control,
        shard,
        lock,
    })
}

/// Adds those remarks about a build that are not `known` yet. If the benchmarks are measured against several builds, `run` is the run of this build,
/// which each remark then names.
fn add_remarks(known: &mut Vec<RunNote>, remarks: &[RunNote], run: Option<RunId>) {
    for remark in remarks.iter().cloned() {
        let remark = match run {
            Some(run) => remark.with_reference(run),
            None => remark,
        };
        if !known.contains(&remark) {
            known.push(remark);
        }
    }
}

/// Pairs of benchmarks to measure, and benchmarks settled without measurement.
#[derive(Default)]
pub(crate) struct Pairing {
    pub(crate) pairs: Vec<PairedTarget>,
    /// The rows of benchmarks whose verdict needs no measurement.
    pub(crate) settled: Vec<Row<'static>>,
    pub(crate) failed_targets: Vec<FailedTarget>,
}

impl Pairing {
    /// Pairs the benchmarks of both builds. The benchmarks in `declined` were not measured in an earlier run, so they must run even if their code is
    /// the same as before.
    pub(crate) fn from_benches(
        found: BySide<DiscoveredBenches>,
        alike: &CodeByTarget,
        declined: &BTreeSet<BenchmarkKey>,
        measures_all: bool,
        versions_may_differ: bool,
    ) -> Self {
        let mut pairing = Self {
            failed_targets: failed_targets(&found.candidate.failures),
            ..Self::default()
        };
        let names = |failed: &[FailedTarget]| -> BTreeSet<TargetName> {
            failed.iter().map(TargetName::from_failed).collect()
        };
        let failed_here = names(&pairing.failed_targets);
        let failed_there = names(&failed_targets(&found.base.failures));
        let mut base: BTreeMap<_, _> = found
            .base
            .targets
            .into_iter()
            .map(|found| (TargetName::from_target(&found.target), found))
            .collect();
        for candidate in found.candidate.targets {
            let Some(other) = base.remove(&TargetName::from_target(&candidate.target)) else {
                let remark = if failed_there.contains(&TargetName::from_target(&candidate.target)) {
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
            let versions = other.benchmarks.iter();
            let versions: BTreeMap<BenchmarkKey, Option<String>> = versions
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
            if let Some(CodeEquality::Wholly(same)) =
                alike.get(&TargetName::from_target(&candidate.target))
                && !measures_all
            {
                let asks = |benchmark: &Benchmark| declined.contains(&benchmark.key);
                let (open, settled) = both.into_iter().partition(asks);
                pairing.settle_as(settled, *same);
                both = open;
            }
            if both.is_empty() {
                continue;
            }
            pairing.pairs.push(PairedTarget {
                targets: pair_targets(other.target, candidate.target),
                benchmarks: both,
                base_ids: BTreeMap::new(),
                harnesses: BySide {
                    base: other.harness,
                    candidate: candidate.harness,
                },
                layouts: None,
            });
        }
        for gone in base.into_values() {
            if failed_here.contains(&TargetName::from_target(&gone.target)) {
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

    /// Adds the benchmarks of `other`, which has another base.
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

    /// Reports whether any benchmark is on both sides, that is, neither new nor missing.
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

    /// Reports whether there are benchmarks to measure and all of them have identical executables on both sides.
    pub(crate) fn is_identical(&self, alike: &CodeByTarget) -> bool {
        let mut pairs = self.pairs.iter();
        let same =
            |pair: &PairedTarget| alike.get(&TargetName::from_target(&pair.targets.candidate));
        !self.pairs.is_empty()
            && pairs
                .all(|pair| matches!(same(pair), Some(CodeEquality::Wholly(Sameness::Executable))))
    }

    pub(crate) fn planned(&self) -> usize {
        self.pairs.iter().map(|pair| pair.benchmarks.len()).sum()
    }
}

/// Combines the executables of two commits. On both sides, a program runs in its directory in the work tree, whose files need not be committed.
pub(crate) fn pair_past_targets(
    base: BenchTarget,
    mut candidate: BenchTarget,
    context: &Context,
) -> BySide<BenchTarget> {
    if candidate.has_programs() {
        candidate.move_to_workspace(&context.workspace);
    }
    pair_targets(base, candidate)
}

/// Combines the executables of both sides. Programs run in the directory of the candidate on both sides, so that they read the same files.
fn pair_targets(mut base: BenchTarget, candidate: BenchTarget) -> BySide<BenchTarget> {
    if candidate.has_programs() {
        base.move_to_directory_of(&candidate);
    }
    BySide { base, candidate }
}

/// The part of the suite to measure, and what was requested for the whole suite.
pub(crate) struct ShardRequest<'a> {
    pub(crate) part: ShardId,
    pub(crate) filter: &'a Filter,
    pub(crate) reference: RequestedReference,
}

/// The benchmarks that belong to one part of the suite.
pub(crate) struct ShardPlan {
    own: BTreeSet<BenchmarkKey>,
    /// Facts about the whole suite that the shard's run records.
    pub(crate) partition: Shard,
}

impl ShardPlan {
    /// Assigns `all` benchmarks round-robin in natural order: neighbors, which are often similar, go to different jobs.
    pub(crate) fn assign<'k>(
        request: ShardRequest<'_>,
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
        let own = dealt.filter(|(place, _)| request.part.contains_position(*place));
        Self {
            own: own.map(|(_, key)| (*key).clone()).collect(),
            partition: Shard {
                part: request.part,
                benchmarks: ordered.len(),
                suite: digest.finalize().to_hex().to_string(),
                reference: request.reference,
                control,
                filter: request.filter.words.clone(),
                exact: request.filter.exact,
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

/// Settles the benchmarks that never execute code in which the sides differ, as a trial with traps shows.
pub(crate) fn settle_by_trial(
    pairing: &mut Pairing,
    alike: &CodeByTarget,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    // Under a scripted clock, a benchmark's time does not depend on its code.
    if world.variables.scripted_clock.is_some() || !EXECUTABLES_CAN_CHANGE {
        return Ok(());
    }
    let pairs = std::mem::take(&mut pairing.pairs);
    for mut pair in pairs {
        if let Some(CodeEquality::Outside(entrances)) =
            alike.get(&TargetName::from_target(&pair.targets.candidate))
        {
            let untouched = trap_free_benchmarks(&pair, entrances, request, world)?;
            let is_same = |benchmark: &Benchmark| untouched.contains(&benchmark.key);
            let (same, others) = pair.benchmarks.into_iter().partition(is_same);
            pairing.settle_as(same, Sameness::Run);
            pair.benchmarks = others;
        }
        if !pair.benchmarks.is_empty() {
            pairing.pairs.push(pair);
        }
    }
    Ok(())
}

/// Returns the benchmarks that hit no trap on either side.
fn trap_free_benchmarks(
    pair: &PairedTarget,
    entrances: &EntryOffsets,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<BTreeSet<BenchmarkKey>, AppError> {
    let stage = StagedExecutables::open(&cache_directory(world)?)?;
    let Some(mut on_trial) = copy_with_traps(pair, entrances, &stage)? else {
        return Ok(BTreeSet::new());
    };
    request.configure(&mut on_trial.targets.base);
    request.configure(&mut on_trial.targets.candidate);
    // Suppress messages about dying processes, which are expected here.
    let context = ProcessContext::new(
        world.supervisor,
        world.interrupt,
        &NullObserver,
        request.timeout,
    );
    // Without this, a process that hits a trap would leave a core dump, as after a crash.
    let came_through = without_core_dumps(|| match on_trial.harnesses.candidate {
        HarnessKind::Criterion(_) => rehearse(&on_trial, context),
        HarnessKind::Own | HarnessKind::Printed(_) => {
            measurable_benchmarks(on_trial, request.seed, context)
        }
        // A child process that hits a trap dies alone, and the program may succeed nevertheless.
        HarnessKind::Program(_) => {
            let childless = find_childless(&on_trial, context)?;
            (on_trial.benchmarks).retain(|benchmark| childless.contains(&benchmark.key));
            measurable_benchmarks(on_trial, request.seed, context)
        }
    });
    // An interrupt is the only error that ends a trial early.
    came_through.map_err(|_| AppError::Interrupted(String::new()))
}

/// Returns the benchmarks that could be measured on both sides.
fn measurable_benchmarks(
    pair: PairedTarget,
    seed: u64,
    context: ProcessContext<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let plan = PairedPlan {
        rounds: 1,
        round: RoundSettings::default(),
        time_budget: None,
        time_per_benchmark: None,
        bind: false,
        seed,
    };
    let campaign = Campaign::paired(vec![pair], |_| 0.0, plan, context);
    let ran: RefCell<BySide<BTreeSet<BenchmarkKey>>> = RefCell::default();
    let mut record = |side, process: &ProcessRecord| {
        let went_well = process.benchmarks.iter();
        let went_well = went_well.filter(|one| matches!(one.outcome, ProcessOutcome::Measured(_)));
        let keys = went_well.map(|one| one.benchmark.key.clone());
        ran.borrow_mut().get_mut(side).extend(keys);
        Ok::<(), Infallible>(())
    };
    let mut sink = CampaignSink {
        record: &mut record,
        standing: &mut |_, _, _| None,
    };
    let Ok(result) = campaign.run(&mut sink);
    match result.end {
        CampaignEnd::Interrupted => Err(ChildError::Interrupted),
        CampaignEnd::Complete => {
            let BySide { base, candidate } = ran.into_inner();
            Ok(base.intersection(&candidate).cloned().collect())
        }
    }
}

/// Copies both executables and inserts traps into the copies. Returns `None` if an executable cannot be read or written. The measurement will then
/// report the error.
fn copy_with_traps(
    pair: &PairedTarget,
    entrances: &EntryOffsets,
    stage: &StagedExecutables,
) -> Result<Option<PairedTarget>, AppError> {
    let base = stage.copy_base(0, pair.targets.base.executable())?;
    let called = base.file_name().unwrap_or_default().to_owned();
    let candidate = pair.targets.candidate.executable();
    let candidate = stage.copy_candidate(0, Path::new(&called), candidate)?;
    let trap = |path: &Path, places: &BTreeSet<usize>| {
        let bytes = fs::read(path)?;
        fs::write(path, insert_traps(bytes, places))
    };
    let set = trap(&base, &entrances.base).and_then(|()| trap(&candidate, &entrances.candidate));
    let mut on_trial = pair.clone();
    let targets = &mut on_trial.targets;
    targets.base = targets.base.clone().with_executable(base);
    targets.candidate = targets.candidate.clone().with_executable(candidate);
    Ok(set.is_ok().then_some(on_trial))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{AuthorSettings, Metric, SkipSupport, TargetFacts, Throughput};
    use perfcheck_bench::measure::DiscoveredTarget;

    fn found(id: &str) -> DiscoveredBenches {
        let [package, target] = ["p", "t"].map(str::to_owned);
        let benchmark = Benchmark {
            key: BenchmarkKey {
                package: package.clone(),
                target: target.clone(),
                id: id.to_owned(),
            },
            version: None,
            throughput: Throughput::default(),
            other_throughput: None,
            settings: AuthorSettings::default(),
            metric: Metric::Time,
        };
        let target = BenchTarget {
            package,
            target,
            program: "/nowhere".into(),
            first_arguments: Vec::new(),
            directory: "/".into(),
            variables: BTreeMap::new(),
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
            programs: Vec::new(),
        };
        DiscoveredBenches {
            targets: vec![DiscoveredTarget {
                target,
                benchmarks: vec![benchmark],
                capabilities: Vec::new(),
                clock_step: None,
                harness: HarnessKind::Own,
            }],
            failures: Vec::new(),
        }
    }

    #[test]
    fn a_target_without_a_common_benchmark_compares_nothing() {
        let compares_any = |ids: [&str; 2]| {
            let [base, candidate] = ids.map(found);
            let found = BySide { base, candidate };
            let none = BTreeSet::new();
            let pairing = Pairing::from_benches(found, &CodeByTarget::new(), &none, true, false);
            assert_eq!(pairing.pairs.is_empty(), !pairing.compares_any());
            pairing.compares_any()
        };
        assert!(compares_any(["same", "same"]));
        assert!(!compares_any(["old name", "new name"]));
    }
}
