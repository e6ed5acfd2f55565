//! Decides which benchmarks of the work tree are measured against which build, and which need no measurement.

use std::collections::{BTreeMap, BTreeSet};
use tracing::info_span;

use super::reference::ReferenceBuild;
use crate::error::AppError;
use crate::pipeline::build::BuildPair;
use crate::pipeline::layouts::settle_by_trial;
use crate::pipeline::pairing::{Pairing, ShardPlan, ShardRequest};
use crate::pipeline::request::Request;
use crate::session::World;
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BenchmarkKey, RunId};
use perfcheck_build::sides::MeasuringLock;

/// The user's wishes about pairing.
pub(crate) struct PairingRules<'a> {
    /// The shard to measure, if the suite is split.
    pub(crate) part: Option<ShardRequest<'a>>,
    /// Whether to measure identical executables, as a control.
    pub(crate) wants_control: bool,
    /// Whether benchmarks that run the same code are measured, too: a baseline needs their numbers.
    pub(crate) measures_all: bool,
    /// Benchmarks that declined to be measured before: equal code does not show that they are unchanged.
    pub(crate) declined: BTreeSet<BenchmarkKey>,
}

/// All benchmarks of a comparison of builds.
pub(crate) struct PairedSuite {
    pub(crate) pairing: Pairing,
    /// The builds, newest reference first. Their executables stay in place as long as these live.
    pub(crate) builds: Vec<BuildPair>,
    /// The earlier run whose build is the base, for each benchmark that has one.
    pub(crate) earlier: BTreeMap<BenchmarkKey, RunId>,
    /// The names of all bases, for readers.
    pub(crate) reference: String,
    /// Remarks about the builds.
    pub(crate) remarks: Vec<RunNote>,
    /// Whether both sides run the same executables.
    pub(crate) is_control: bool,
    /// How many benchmarks share the significance level.
    pub(crate) planned: usize,
    pub(crate) shard: Option<ShardPlan>,
    /// Held during the measurement, if there is one.
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
            &builds.alike,
            &rules.declined,
            rules.measures_all,
            versions_may_differ,
        );
        is_control &= pairing.is_identical(&builds.alike);
        paired.push((pairing, builds));
    }
    let keys = paired.iter().flat_map(|(pairing, _)| pairing.keys());
    let shard = rules
        .part
        .map(|part| ShardPlan::assign(part, keys, is_control));
    // All shards share the level, and only the shard that tries a benchmark learns that it needs no measurement.
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
            settle_by_trial(&mut pairing, &builds.alike, request, world)?;
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

/// Adds remarks about a build, each once. With several builds, each remark names the `run` of its build.
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
