//! Decides which benchmarks of the work tree are measured against which build, and which need no measurement.

use std::collections::{BTreeMap, BTreeSet};

use super::reference::ReferenceBuild;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::measuring::builds::BuildPair;
use crate::app::measuring::machine_code::settle_by_trial;
use crate::app::measuring::pairing::Pairing;
use crate::app::measuring::pairing::{ShardPlan, ShardRequest};
use crate::app::measuring::request::Request;
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BenchmarkKey, RunId};
use perfcheck_engine::sides::MeasuringLock;

/// The user's wishes about pairing.
pub(in crate::app) struct PairingRules<'a> {
    /// The shard to measure, if the suite is split.
    pub(in crate::app) part: Option<ShardRequest<'a>>,
    /// Whether to measure identical executables, as a control.
    pub(in crate::app) wants_control: bool,
    /// Whether benchmarks that run the same code are measured, too: a baseline needs their numbers.
    pub(in crate::app) measures_all: bool,
    /// Benchmarks that declined to be measured before: equal code does not show that they are unchanged.
    pub(in crate::app) declined: BTreeSet<BenchmarkKey>,
}

/// All benchmarks of a comparison of builds.
pub(in crate::app) struct PairedSuite {
    pub(in crate::app) pairing: Pairing,
    /// The builds, newest reference first. Their executables stay in place as long as these live.
    pub(in crate::app) builds: Vec<BuildPair>,
    /// The earlier run whose build is the base, for each benchmark that has one.
    pub(in crate::app) earlier: BTreeMap<BenchmarkKey, RunId>,
    /// The names of all bases, for readers.
    pub(in crate::app) reference: String,
    /// Remarks about the builds.
    pub(in crate::app) remarks: Vec<RunNote>,
    /// Whether both sides run the same executables.
    pub(in crate::app) is_control: bool,
    /// How many benchmarks share the significance level.
    pub(in crate::app) planned: usize,
    pub(in crate::app) deal: Option<ShardPlan>,
    /// Held during the measurement, if there is one.
    pub(in crate::app) lock: Option<MeasuringLock>,
}

/// Pairs the benchmarks of the work tree with those of each reference.
pub(in crate::app) fn pair_builds(
    references: Vec<ReferenceBuild>,
    rules: PairingRules<'_>,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<PairedSuite, AppError> {
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
        let pairing = Pairing::pair_builds(
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
    let deal = rules
        .part
        .map(|part| ShardPlan::assign(part, keys, is_control));
    // All shards share the level, and only the shard that tries a benchmark learns that it needs no measurement.
    let of_all_parts: usize = paired.iter().map(|(pairing, _)| pairing.planned()).sum();
    let mut suite = Pairing::default();
    let (mut all_builds, mut names) = (Vec::new(), Vec::new());
    let mut lock = None;
    for (mut pairing, builds) in paired {
        if let Some(deal) = &deal {
            pairing.retain(|key| deal.has(key));
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
        planned: match deal {
            Some(_) => of_all_parts,
            None => suite.planned(),
        },
        pairing: suite,
        builds: all_builds,
        earlier,
        reference: names.join(", "),
        remarks,
        is_control,
        deal,
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
