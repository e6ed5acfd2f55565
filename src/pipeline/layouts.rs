//! Code layouts: relinks both builds so that functions have the same addresses on both sides. Also finds benchmarks that never execute differing
//! code.
//!
//! For the latter, each benchmark runs on both sides with a trap wherever differing code is entered. A process that hits a trap dies, and its
//! benchmark is measured as usual. Criterion benchmarks run in rehearsal mode, so that Criterion's analysis and reports do not count; others are
//! measured for a round.

use crate::pipeline::machine_code::CodeEquality;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::path::Path;

use super::cache_build::cache_directory;
use super::pairing::{CodeByTarget, Pairing, TargetName, target_name};
use super::request::Request;
use crate::error::AppError;
use crate::session::World;
use perfcheck_analysis::findings::{RunNote, Sameness};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, NullObserver, ProcessOutcome, ProcessRecord,
};
use perfcheck_bench::child::{ChildError, ProcessContext};
use perfcheck_bench::measure::{
    Campaign, CampaignEnd, CampaignSink, HarnessKind, PairedPlan, PairedTarget, RoundSettings,
    rehearse,
};
use perfcheck_build::link::{CodeLayouts, LinkError};
use perfcheck_build::sides::{SideTarget, StagedExecutables};
use perfcheck_code::{EntryOffsets, insert_traps};
use perfcheck_host::process::without_core_dumps;

/// The extent to which two builds can be relinked.
pub(crate) enum Relinking {
    /// These bench targets can be relinked; the executables are staged
    Possible {
        targets: BTreeMap<TargetName, BySide<SideTarget>>,
        stage: StagedExecutables,
    },
    /// Relinking is impossible for this reason
    Impossible(&'static str),
    /// The user disabled relinking
    Unwanted,
}

impl Relinking {
    /// Determines relinking for bench targets that were built for this comparison.
    pub(crate) fn plan<'t>(
        pairs: impl Iterator<Item = BySide<&'t SideTarget>>,
        as_built: bool,
        world: &World<'_>,
    ) -> Result<Self, AppError> {
        if as_built {
            return Ok(Self::Unwanted);
        }
        let targets = pairs.map(|pair| {
            let both = BySide {
                base: pair.base.clone(),
                candidate: pair.candidate.clone(),
            };
            (target_name(&pair.candidate.target), both)
        });
        Ok(Self::Possible {
            targets: targets.collect(),
            stage: StagedExecutables::open(&cache_directory(world)?)?,
        })
    }

    /// Sets up relinking of the executables of `pairs`. Returns a note on executables that stay as built, if any.
    pub(crate) fn prepare(
        &self,
        pairs: &mut [PairedTarget],
        seed: u64,
        world: &World<'_>,
    ) -> Option<RunNote> {
        let mut as_built = BTreeSet::new();
        let mut why = String::new();
        for (ordinal, pair) in pairs.iter_mut().enumerate() {
            if world.interrupt.is_requested() {
                // An interrupt ends the command before any measurement.
                return None;
            }
            let found = match self {
                Self::Possible { targets, stage } => {
                    match targets.get(&target_name(&pair.targets.candidate)) {
                        Some(sides) => layouts(sides, stage, ordinal, seed),
                        None => continue,
                    }
                }
                Self::Impossible(why) => Err((*why).to_owned()),
                Self::Unwanted => return None,
            };
            match found {
                Ok(layouts) => pair.layouts = Some(layouts),
                Err(reason) => {
                    as_built.insert(pair.targets.candidate.target.clone());
                    why = reason;
                }
            }
        }
        (!as_built.is_empty()).then(|| RunNote::AsBuilt {
            targets: as_built.into_iter().collect(),
            why,
        })
    }
}

fn layouts(
    sides: &BySide<SideTarget>,
    stage: &StagedExecutables,
    ordinal: usize,
    seed: u64,
) -> Result<CodeLayouts, String> {
    let (Some(base), Some(candidate)) = (&sides.base.relinkable, &sides.candidate.relinkable)
    else {
        return Err(LinkError::Unrepeatable.to_string());
    };
    let called = sides.candidate.executable.file_name().unwrap_or_default();
    let places = stage
        .create_places(ordinal, Path::new(called))
        .map_err(|error| error.to_string())?;
    let from = BySide {
        base: base.clone(),
        candidate: candidate.clone(),
    };
    let built = BySide {
        base: &*sides.base.executable,
        candidate: &*sides.candidate.executable,
    };
    CodeLayouts::prepare(&from, built, &places, seed).map_err(|error| error.to_string())
}

/// Settles benchmarks that never execute differing code.
pub(crate) fn settle_by_trial(
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
    let came_through = without_core_dumps(|| match on_trial.harnesses.candidate {
        HarnessKind::Criterion(_) => rehearse(&on_trial, launcher),
        HarnessKind::Own | HarnessKind::Printed(_) => {
            measurable_benchmarks(on_trial, request.seed, launcher)
        }
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
    let Ok(result) = campaign.run(&mut sink);
    match result.end {
        CampaignEnd::Interrupted => Err(ChildError::Interrupted),
        CampaignEnd::Complete => {
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
