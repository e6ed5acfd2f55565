//! Finds benchmarks that never execute differing code: runs each on both sides, with a trap wherever differing code is entered. A process that hits a
//! trap dies, and its benchmark is measured as usual. Criterion benchmarks run in rehearsal mode, so that Criterion's analysis and reports do not
//! count; others are measured for a round.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::path::Path;

use super::cache_build::cache_directory;
use super::machine_code::CodeEquality;
use super::pairing::{CodeByTarget, Pairing, target_name};
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use perfcheck_analysis::findings::Sameness;
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, NullObserver, ProcessOutcome, ProcessRecord,
};
use perfcheck_code::{EntryOffsets, insert_traps};
use perfcheck_engine::child::{ChildError, ProcessContext};
use perfcheck_engine::measure::{
    Campaign, CampaignEnd, CampaignSink, Driver, PairedPlan, PairedTarget, RoundSettings, rehearse,
};
use perfcheck_engine::process::without_core_dumps;
use perfcheck_engine::sides::StagedExecutables;

/// Settles benchmarks that never execute differing code.
pub(in crate::app) fn settle_by_trial(
    pairing: &mut Pairing,
    alike: &CodeByTarget,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    // Under a scripted clock, a benchmark's time does not depend on its code.
    if world.variables.scripted_clock.is_some() {
        return Ok(());
    }
    let pairs = std::mem::take(&mut pairing.pairs);
    for mut pair in pairs {
        if let Some(CodeEquality::Outside(entrances)) =
            alike.get(&target_name(&pair.targets.candidate))
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
    let launcher = ProcessContext::new(
        world.supervisor,
        world.interrupt,
        &NullObserver,
        request.timeout,
    );
    // A trap would dump core like a crash.
    let came_through = without_core_dumps(|| match on_trial.drivers.candidate {
        Driver::Criterion(_) => rehearse(&on_trial, launcher),
        Driver::Own | Driver::Printed(_) => measurable_benchmarks(on_trial, request.seed, launcher),
    });
    // An interrupt is the only error that ends a trial early.
    came_through.map_err(|_| AppError::Interrupted(String::new()))
}

/// Returns the benchmarks that could be measured on both sides.
fn measurable_benchmarks(
    pair: PairedTarget,
    seed: u64,
    launcher: ProcessContext<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let plan = PairedPlan {
        rounds: 1,
        round: RoundSettings::default(),
        time_budget: None,
        time_per_benchmark: None,
        bind: false,
        seed,
    };
    let campaign = Campaign::paired(vec![pair], |_| 0.0, plan, launcher);
    let ran: RefCell<BySide<BTreeSet<BenchmarkKey>>> = RefCell::default();
    let mut record = |side, launch: &ProcessRecord| {
        let went_well = launch.benchmarks.iter();
        let went_well = went_well.filter(|one| matches!(one.outcome, ProcessOutcome::Measured(_)));
        let keys = went_well.map(|one| one.benchmark.key.clone());
        ran.borrow_mut().get_mut(side).extend(keys);
        Ok::<(), Infallible>(())
    };
    let mut sink = CampaignSink {
        record: &mut record,
        standing: &mut |_, _, _| None,
    };
    match campaign.run(&mut sink) {
        Ok((CampaignEnd::Interrupted, _)) => Err(ChildError::Interrupted),
        Ok((CampaignEnd::Complete, _)) => {
            let BySide { base, candidate } = ran.into_inner();
            Ok(base.intersection(&candidate).cloned().collect())
        }
    }
}

/// Copies both executables with traps inserted; `None` if one cannot be read or written, which measuring it will report.
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
