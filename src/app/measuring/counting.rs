//! Instructions of what was measured, counted after it: of every benchmark where a verdict or a limit is about them, else of those whose time has
//! changed.

use std::collections::{BTreeMap, BTreeSet};

use super::cache_build::cache_directory;
use super::measured::MeasuredInTurn;
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::options::Counting;
use crate::report::Progress;
use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::{
    BenchmarkKey, CountedInstructions, InstructionCount, Measurement, RunId, Side, Statistic,
};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::child::Valgrind;
use perfcheck_engine::measure::{
    CountError, Driver, Launcher, PairedTarget, ToCount, count_instructions,
};
use perfcheck_engine::sides::Stage;
use perfcheck_engine::store::Store;

/// Of benchmarks whose time has changed so many are counted, those that have changed most: each takes seconds, and tells less than the one before.
const MOST_CHANGED: usize = 10;

impl Request<'_> {
    /// Of which benchmarks instructions are counted: of all where a verdict or a limit is about them.
    pub(in crate::app) fn counting(&self) -> Counting {
        let subject = self.decision_in_turn().analysis.subject;
        let limits = self.comparison.limits(&self.context.tables);
        let mut statistics = limits.map(|limit| limit.statistic).chain([subject]);
        if statistics.any(|statistic| statistic == Statistic::Instructions) {
            Counting::Always
        } else {
            self.effort.instructions
        }
    }
}

/// Counts on both sides of what was measured in turn, and stores it. `left`: what is left behind by an interrupt.
pub(super) fn count_in_turn(
    measured: &mut MeasuredInTurn,
    pairs: &[PairedTarget],
    request: &Request<'_>,
    left: &str,
    store: &mut Store,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let wanted: BTreeSet<BenchmarkKey> = match request.counting() {
        Counting::Always => keys(&measured.measured.candidate),
        // Nobody has asked for it: without valgrind nobody misses it.
        Counting::Changed if Valgrind::find().is_ok() => {
            (world.interrupt).while_computing(left, || measured.changed(MOST_CHANGED))
        }
        Counting::Changed | Counting::Never => BTreeSet::new(),
    };
    if wanted.is_empty() {
        return Ok(());
    }
    let times = times(&measured.measured.candidate);
    let mut counts = CountsOfSide::open(request, left, world)?;
    for side in Side::BOTH {
        for pair in pairs {
            let (target, driver) = (pair.targets.of(side), pair.drivers.of(side));
            counts.count(target, driver, &wanted, &times, world)?;
        }
        let found = std::mem::take(&mut counts.found);
        keep(
            store,
            *measured.runs.of(side),
            measured.measured.of_mut(side),
            found,
        )?;
    }
    measured.remarks.extend(counts.remarks());
    Ok(())
}

fn keys(measurements: &[Measurement]) -> BTreeSet<BenchmarkKey> {
    let keys = measurements.iter().map(|one| one.benchmark.key.clone());
    keys.collect()
}

/// Counts every benchmark that was measured alone, where that is wanted, and stores it.
pub(in crate::app) fn count_alone(
    run: RunId,
    measurements: &mut [Measurement],
    targets: &[(BenchTarget, Driver)],
    request: &Request<'_>,
    left: &str,
    store: &mut Store,
    world: &mut World<'_>,
) -> Result<Vec<RunRemark>, AppError> {
    if request.counting() != Counting::Always {
        return Ok(Vec::new());
    }
    let wanted = keys(measurements);
    let times = times(measurements);
    let mut counts = CountsOfSide::open(request, left, world)?;
    for (target, driver) in targets {
        counts.count(target, driver, &wanted, &times, world)?;
    }
    let found = std::mem::take(&mut counts.found);
    keep(store, run, measurements, found)?;
    Ok(counts.remarks())
}

/// What an iteration took in warm-ups, the quickest of a benchmark, in nanoseconds.
fn times(measurements: &[Measurement]) -> BTreeMap<BenchmarkKey, f64> {
    let of = |one: &Measurement| {
        let launches = one.launches.iter();
        let warm_ups = launches.map(|launch| launch.series.warm_up.per_iteration());
        warm_ups
            .filter(|ns| *ns > 0.0)
            .fold(f64::INFINITY, f64::min)
    };
    let times = measurements
        .iter()
        .map(|one| (one.benchmark.key.clone(), of(one)));
    times.filter(|(_, ns)| ns.is_finite()).collect()
}

/// Adds what was counted to what was measured, in the store and here.
fn keep(
    store: &mut Store,
    run: RunId,
    measurements: &mut [Measurement],
    mut found: BTreeMap<BenchmarkKey, Vec<InstructionCount>>,
) -> Result<(), AppError> {
    let mut counted = Vec::new();
    for measurement in measurements {
        let benchmark = &measurement.benchmark.key;
        if let Some(counts) = found.remove(benchmark) {
            measurement.instructions.clone_from(&counts);
            counted.push(CountedInstructions {
                benchmark: benchmark.clone(),
                counts,
            });
        }
    }
    Ok(store.record_instructions(run, &counted)?)
}

/// Counts of one side or run, and why there are none.
struct CountsOfSide<'c> {
    request: &'c Request<'c>,
    left: &'c str,
    /// Has the files of the processes.
    stage: Stage,
    targets: usize,
    found: BTreeMap<BenchmarkKey, Vec<InstructionCount>>,
    /// Reasons, and the benchmarks for which they hold.
    failed: BTreeMap<String, BTreeSet<BenchmarkKey>>,
}

impl<'c> CountsOfSide<'c> {
    fn open(request: &'c Request<'c>, left: &'c str, world: &World<'_>) -> Result<Self, AppError> {
        Ok(Self {
            request,
            left,
            stage: Stage::open(&cache_directory(world)?)?,
            targets: 0,
            found: BTreeMap::new(),
            failed: BTreeMap::new(),
        })
    }

    /// Counts those of the `wanted` benchmarks that `target` has.
    fn count(
        &mut self,
        target: &BenchTarget,
        driver: &Driver,
        wanted: &BTreeSet<BenchmarkKey>,
        times: &BTreeMap<BenchmarkKey, f64>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let is_here =
            |key: &&BenchmarkKey| (&key.package, &key.target) == (&target.package, &target.target);
        let to_count = |key: &BenchmarkKey| {
            Some(ToCount {
                key: key.clone(),
                iteration_ns: *times.get(key)?,
            })
        };
        let here: Vec<ToCount> = wanted.iter().filter(is_here).filter_map(to_count).collect();
        if here.is_empty() {
            return Ok(());
        }
        let directory = self.stage.base(self.targets);
        self.targets += 1;
        let mut target = target.clone();
        self.request.instruct(&mut target);
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let launcher = Launcher {
            supervisor: world.supervisor,
            interrupt: world.interrupt,
            observer: &progress,
            timeout: self.request.timeout,
        };
        let counted = count_instructions(&target, driver, &here, &directory, launcher);
        drop(progress);
        match counted {
            Ok(counted) => {
                for (key, counted) in counted {
                    match counted {
                        Ok(counts) => {
                            self.found.insert(key, counts);
                        }
                        Err(error) => self.failed(&error, [key]),
                    }
                }
            }
            Err(error) if error.is_interrupt() => {
                return Err(AppError::Interrupted(self.left.to_owned()));
            }
            Err(error) => self.failed(&error, here.into_iter().map(|one| one.key)),
        }
        Ok(())
    }

    fn failed(&mut self, error: &CountError, keys: impl IntoIterator<Item = BenchmarkKey>) {
        self.failed
            .entry(error.to_string())
            .or_default()
            .extend(keys);
    }

    fn remarks(self) -> Vec<RunRemark> {
        let failed = self.failed.into_iter();
        failed
            .map(|(reason, benchmarks)| RunRemark::NotCounted {
                benchmarks: benchmarks.into_iter().collect(),
                reason,
            })
            .collect()
    }
}
