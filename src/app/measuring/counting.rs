//! Instructions of what was measured, counted after it: of every benchmark where a verdict or a limit is about them, else of those whose time has
//! changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread;

use super::cache_build::cache_directory;
use super::measured::MeasuredInTurn;
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::options::Counting;
use crate::report::{self, Progress};
use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, CountedInstructions, HeldBack, InstructionCount, Measurement,
    Observer, RunId, Sample, Series, Side, Statistic,
};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::child::{NoValgrind, Valgrind};
use perfcheck_engine::measure::{
    CountError, CountResult, DiscoveredTarget, Driver, Launcher, PairedTarget, ToCount,
    count_instructions,
};
use perfcheck_engine::sides::Stage;
use perfcheck_engine::store::Store;

/// Of benchmarks whose time has changed so many are counted, those that have changed most: each takes seconds, and tells less than the one before.
const MOST_CHANGED: usize = 10;

/// An iteration of a benchmark of which no time is known: it is counted once.
const UNKNOWN_NS: f64 = 1e6;

impl Request<'_> {
    /// Of which benchmarks instructions are counted: of all where a verdict or a limit is about them.
    pub(in crate::app) fn counting(&self) -> Counting {
        let subject = self.decision_in_turn().analysis.subject;
        let limits = self.comparison.failure.limits(&self.context.tables);
        let mut statistics = limits.map(|limit| limit.statistic).chain([subject]);
        if statistics.any(|statistic| statistic == Statistic::Instructions) {
            Counting::Always
        } else {
            self.effort.instructions
        }
    }
}

/// Counts on both sides of what was measured in turn, and stores it: at the same time, but for what is `apart` because its sides cannot run at once.
/// `left`: what is left behind by an interrupt.
pub(super) fn count_in_turn(
    measured: &mut MeasuredInTurn,
    pairs: &[PairedTarget],
    apart: &BTreeSet<BenchmarkKey>,
    request: &Request<'_>,
    left: &str,
    store: &mut Store,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let counting = request.counting();
    if counting == Counting::Never {
        return Ok(());
    }
    let valgrind = Valgrind::find();
    let wanted: BTreeSet<BenchmarkKey> = match counting {
        Counting::Always => keys(&measured.measured.candidate),
        // Nobody has asked for it: without valgrind nobody misses it.
        _ if valgrind.is_err() => BTreeSet::new(),
        _ => (world.interrupt).while_computing(left, || measured.changed(MOST_CHANGED)),
    };
    if wanted.is_empty() {
        return Ok(());
    }
    let times = times(&measured.measured.candidate);
    let mut counter = match InstructionCounter::open(request, left, &wanted, valgrind, world) {
        Ok(counter) => counter,
        Err(remark) => {
            measured.remarks.push(remark);
            return Ok(());
        }
    };
    announce(wanted.len(), request, world)?;
    let mut found: BySide<CountsByBenchmark> = BySide::default();
    for pair in pairs {
        let here = to_count(&pair.benchmarks, &wanted, &times);
        let are_apart = here.iter().any(|one| apart.contains(&one.key));
        let counted = counter.count_both(pair, &here, are_apart, world)?;
        for (side, counts) in Side::BOTH.into_iter().zip(counted) {
            found.of_mut(side).extend(counts);
        }
    }
    for (side, counts) in [(Side::Base, found.base), (Side::Candidate, found.candidate)] {
        let of_side = measured.measured.of_mut(side);
        keep(store, *measured.runs.of(side), of_side, counts)?;
    }
    measured.remarks.extend(counter.remarks());
    Ok(())
}

/// Those of `benchmarks` that are wanted, in the order of the program: a bench that goes through its benchmarks by itself is launched once.
fn to_count(
    benchmarks: &[Benchmark],
    wanted: &BTreeSet<BenchmarkKey>,
    times: &BTreeMap<BenchmarkKey, f64>,
) -> Vec<ToCount> {
    let keys = benchmarks.iter().map(|benchmark| &benchmark.key);
    let wanted = keys.filter(|key| wanted.contains(key));
    wanted
        .map(|key| ToCount {
            key: key.clone(),
            iteration_ns: times.get(key).copied().unwrap_or(UNKNOWN_NS),
        })
        .collect()
}

fn announce(count: usize, request: &Request<'_>, world: &mut World<'_>) -> Result<(), AppError> {
    let of = report::counted(count, "benchmark");
    request.announce(
        "Counting",
        format!("instructions of {of} under valgrind"),
        world,
    )
}

fn keys(measurements: &[Measurement]) -> BTreeSet<BenchmarkKey> {
    let keys = measurements.iter().map(|one| one.benchmark.key.clone());
    keys.collect()
}

/// Counts every benchmark that was measured alone, where that is wanted, and stores it.
pub(in crate::app) fn count_alone(
    run: RunId,
    measurements: &mut [Measurement],
    targets: &[DiscoveredTarget],
    request: &Request<'_>,
    left: &str,
    store: &mut Store,
    world: &mut World<'_>,
) -> Result<Vec<RunRemark>, AppError> {
    if request.counting() != Counting::Always || measurements.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = keys(measurements);
    let times = times(measurements);
    let mut counter =
        match InstructionCounter::open(request, left, &wanted, Valgrind::find(), world) {
            Ok(counter) => counter,
            Err(remark) => return Ok(vec![remark]),
        };
    announce(wanted.len(), request, world)?;
    let mut found = CountsByBenchmark::new();
    for one in targets {
        let here = to_count(&one.benchmarks, &wanted, &times);
        for counted in counter.count(&[(&one.target, &one.driver)], &here, world)? {
            found.extend(counter.found(counted, &here));
        }
    }
    keep(store, run, measurements, found)?;
    Ok(counter.remarks())
}

/// The quickest time of an iteration of each benchmark, in nanoseconds: in warm-ups, or in samples if no warm-up is known.
fn times(measurements: &[Measurement]) -> BTreeMap<BenchmarkKey, f64> {
    let times = measurements
        .iter()
        .map(|one| (one.benchmark.key.clone(), quickest_ns(one)));
    times.filter(|(_, ns)| ns.is_finite()).collect()
}

fn quickest_ns(measurement: &Measurement) -> f64 {
    let series = || measurement.launches.iter().map(|launch| &launch.series);
    let warm_ups = Sample::quickest_ns(series().map(|series| &series.warm_up));
    if warm_ups.is_finite() {
        return warm_ups;
    }
    Sample::quickest_ns(series().flat_map(Series::deciding))
}

/// What is to be counted of a benchmark, if so much is known of it.
pub(in crate::app) fn one_to_count(
    key: &BenchmarkKey,
    measurement: Option<&Measurement>,
) -> ToCount {
    let known = measurement.map(quickest_ns).filter(|ns| ns.is_finite());
    ToCount {
        key: key.clone(),
        iteration_ns: known.unwrap_or(UNKNOWN_NS),
    }
}

/// Adds what was counted to what was measured, in the store and here.
fn keep(
    store: &mut Store,
    run: RunId,
    measurements: &mut [Measurement],
    mut found: CountsByBenchmark,
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

/// What the processes of one side have counted.
type CountsByBenchmark = BTreeMap<BenchmarkKey, Vec<InstructionCount>>;

/// The counts of the benchmarks of one side, or why none of them can be counted.
type CountedSide = Result<BTreeMap<BenchmarkKey, CountResult>, CountError>;

/// An executable that is ready to be counted, how it is driven, and where its files go.
type Prepared<'d> = (BenchTarget, &'d Driver, PathBuf);

/// Counts executables, and keeps why benchmarks have no counts.
struct InstructionCounter<'c> {
    request: &'c Request<'c>,
    left: &'c str,
    /// Has the files of the processes.
    stage: Stage,
    targets: usize,
    /// Reasons, and the benchmarks for which they hold.
    failed: BTreeMap<String, BTreeSet<BenchmarkKey>>,
}

impl<'c> InstructionCounter<'c> {
    /// A remark says why nothing can be counted.
    fn open(
        request: &'c Request<'c>,
        left: &'c str,
        wanted: &BTreeSet<BenchmarkKey>,
        valgrind: Result<Valgrind, NoValgrind>,
        world: &World<'_>,
    ) -> Result<Self, RunRemark> {
        let none_of_them = |reason: String| RunRemark::NotCounted {
            benchmarks: wanted.iter().cloned().collect(),
            reason,
        };
        valgrind.map_err(|why| none_of_them(why.to_string()))?;
        let stage = cache_directory(world).and_then(|cache| Ok(Stage::open(&cache)?));
        let stage = stage.map_err(|error| none_of_them(error.to_string()))?;
        Ok(Self {
            request,
            left,
            stage,
            targets: 0,
            failed: BTreeMap::new(),
        })
    }

    /// Counts these benchmarks on both sides: at the same time, but for those that are known to be `apart`. What fails beside the other side may fail
    /// because of it, so it is counted once more, alone.
    fn count_both(
        &mut self,
        pair: &PairedTarget,
        here: &[ToCount],
        are_apart: bool,
        world: &mut World<'_>,
    ) -> Result<Vec<CountsByBenchmark>, AppError> {
        let sides = Side::BOTH.map(|side| (pair.targets.of(side), pair.drivers.of(side)));
        let mut counted = Vec::new();
        if are_apart {
            for side in sides {
                counted.extend(self.count(&[side], here, world)?);
            }
        } else {
            counted = self.count(&sides, here, world)?;
            for (side, counted) in sides.into_iter().zip(&mut counted) {
                self.count_again(side, counted, here, world)?;
            }
        }
        let counted = counted.into_iter();
        Ok(counted.map(|counted| self.found(counted, here)).collect())
    }

    /// Counts alone, once more, what failed on one side and may have failed because of the other side.
    fn count_again(
        &mut self,
        side: (&BenchTarget, &Driver),
        counted: &mut CountedSide,
        here: &[ToCount],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let Ok(counted) = counted else {
            return Ok(());
        };
        let may_pass = |one: &&ToCount| {
            let result = counted.get(&one.key);
            result.is_some_and(|result| result.as_ref().is_err_and(CountError::may_pass_alone))
        };
        let failed: Vec<ToCount> = here.iter().filter(may_pass).cloned().collect();
        // Where all of them fail for one reason, what is known of each says more.
        let again = self.count(&[side], &failed, world)?;
        counted.extend(again.into_iter().flatten().flatten());
        Ok(())
    }

    /// Counts these benchmarks of `sides`, at the same time: a count does not depend on what else runs. Who waits sees how far the last one is, and what
    /// it prints; what the others print comes after it.
    fn count(
        &mut self,
        sides: &[(&BenchTarget, &Driver)],
        here: &[ToCount],
        world: &mut World<'_>,
    ) -> Result<Vec<CountedSide>, AppError> {
        if here.is_empty() {
            return Ok(sides.iter().map(|_| Ok(BTreeMap::new())).collect());
        }
        let mut prepared = Vec::new();
        for (target, driver) in sides {
            let mut target = (*target).clone();
            self.request.instruct(&mut target);
            prepared.push((target, *driver, self.stage.base(self.targets)));
            self.targets += 1;
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let (supervisor, interrupt) = (world.supervisor, world.interrupt);
        let timeout = self.request.timeout;
        let count = |(target, driver, directory): &Prepared<'_>, observer: &dyn Observer| {
            let launcher = Launcher {
                supervisor,
                interrupt,
                observer,
                timeout,
            };
            count_instructions(target, driver, here, directory, launcher)
        };
        let counted: Vec<CountedSide> = thread::scope(|scope| {
            let Some((last, others)) = prepared.split_last() else {
                return Vec::new();
            };
            let others: Vec<_> = others
                .iter()
                .map(|other| {
                    scope.spawn(move || {
                        let held_back = HeldBack::default();
                        (count(other, &held_back), held_back)
                    })
                })
                .collect();
            let last = count(last, &progress);
            let others = others.into_iter().map(|other| {
                let ended = other.join();
                let (counted, held_back) =
                    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                held_back.pass_on(&progress);
                counted
            });
            others.chain([last]).collect()
        });
        let is_interrupted =
            |side: &CountedSide| side.as_ref().is_err_and(CountError::is_interrupt);
        if counted.iter().any(is_interrupted) {
            return Err(AppError::Interrupted(self.left.to_owned()));
        }
        Ok(counted)
    }

    /// The counts of one side; notes why there are none.
    fn found(&mut self, counted: CountedSide, here: &[ToCount]) -> CountsByBenchmark {
        let mut found = CountsByBenchmark::new();
        match counted {
            Ok(counted) => {
                for (key, counted) in counted {
                    match counted {
                        Ok(counts) => {
                            found.insert(key, counts);
                        }
                        Err(error) => self.failed(&error, [key]),
                    }
                }
            }
            Err(error) => self.failed(&error, here.iter().map(|one| one.key.clone())),
        }
        found
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
