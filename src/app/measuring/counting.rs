//! Instructions of what was measured, counted after it: of every benchmark where a verdict or a limit is about them, else of those whose time has
//! changed. Where they cannot be counted the time of those is sampled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::cache_build::cache_directory;
use super::counted::{CountsByBenchmark, Reasons};
use super::measured::MeasuredInTurn;
use super::request::Request;
use super::sampling::{can_sample, sample_in_turn};
use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::options::Counting;
use crate::report::{self, Progress};
use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, CountedBenchmark, CountsOfBenchmark, HeldBack, Measurement,
    Observer, RunId, Sample, Series, Side, Statistic,
};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::child::{Launcher, NoValgrind, Valgrind};
use perfcheck_engine::measure::{
    CountError, CountResult, DiscoveredTarget, Driver, PairedTarget, ToCount, count_instructions,
};
use perfcheck_engine::process::start_work_in;
use perfcheck_engine::sides::Stage;
use perfcheck_engine::store::Store;

/// Of benchmarks whose time has changed so many are counted, those that have changed most: each takes seconds, and tells less than the one before.
const MOST_CHANGED: usize = 10;

/// Where nobody asks for counts and the time can be sampled, a process is busy with a benchmark for so long at most.
const LONGEST_UNASKED: Duration = Duration::from_secs(3);

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

/// Counts on both sides of what was measured in turn, and stores it. `apart`: what cannot run on both sides at once. `left`: what is left behind by an
/// interrupt.
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
    let is_asked = counting == Counting::Always;
    let valgrind = Valgrind::find(world.supervisor);
    let may_sample = can_sample(world);
    if !is_asked && valgrind.is_err() && !may_sample {
        // Nobody has asked for it, so nobody misses it.
        return Ok(());
    }
    let interrupt = world.interrupt;
    let changed = if is_asked && !may_sample {
        BTreeSet::new()
    } else {
        interrupt.while_computing(left, || measured.changed(MOST_CHANGED))
    };
    let wanted = if is_asked {
        keys(&measured.measured.candidate)
    } else {
        changed.clone()
    };
    if wanted.is_empty() {
        return Ok(());
    }
    let mut found: BySide<CountsByBenchmark> = BySide::default();
    let mut not_counted = Vec::new();
    if is_asked || valgrind.is_ok() {
        let times = times(&measured.measured.candidate);
        let counted = CountedPairs {
            pairs,
            apart,
            wanted: &wanted,
            times: &times,
            limit: (!is_asked && may_sample).then_some(LONGEST_UNASKED),
        };
        not_counted = counted.count(&mut found, valgrind, request, left, world)?;
    }
    let is_counted = |found: &BySide<CountsByBenchmark>, key: &BenchmarkKey| {
        found.base.contains_key(key) && found.candidate.contains_key(key)
    };
    let uncounted: BTreeSet<BenchmarkKey> = changed
        .into_iter()
        .filter(|key| !is_counted(&found, key))
        .collect();
    if may_sample && !uncounted.is_empty() {
        let remarks = sample_in_turn(pairs, &uncounted, &mut found, request, left, world)?;
        measured.remarks.extend(remarks);
    }
    // Where nobody asked for counts, sampled time does as well.
    let is_missed = |key: &BenchmarkKey| is_asked || !is_counted(&found, key);
    measured.remarks.extend(
        not_counted
            .into_iter()
            .filter_map(|remark| remark.not_counted_of(is_missed)),
    );
    for (side, counts) in [(Side::Base, found.base), (Side::Candidate, found.candidate)] {
        let of_side = measured.measured.of_mut(side);
        keep(store, *measured.runs.of(side), of_side, counts)?;
    }
    Ok(())
}

/// What is counted on both sides.
struct CountedPairs<'p> {
    pairs: &'p [PairedTarget],
    /// What cannot run on both sides at once.
    apart: &'p BTreeSet<BenchmarkKey>,
    wanted: &'p BTreeSet<BenchmarkKey>,
    times: &'p BTreeMap<BenchmarkKey, f64>,
    /// For how long at most a process is busy with a benchmark.
    limit: Option<Duration>,
}

impl CountedPairs<'_> {
    /// Counts instructions; both sides at the same time, but for what is apart. Remarks say what was not counted.
    fn count(
        &self,
        found: &mut BySide<CountsByBenchmark>,
        valgrind: Result<Valgrind, NoValgrind>,
        request: &Request<'_>,
        left: &str,
        world: &mut World<'_>,
    ) -> Result<Vec<RunRemark>, AppError> {
        let mut counter =
            match InstructionCounter::open(request, left, self.wanted, self.limit, valgrind, world)
            {
                Ok(counter) => counter,
                Err(remark) => return Ok(vec![remark]),
            };
        announce(self.wanted.len(), request, world)?;
        for pair in self.pairs {
            let here = to_count(&pair.benchmarks, self.wanted, self.times);
            let are_apart = here.iter().any(|one| self.apart.contains(&one.key));
            let counted = counter.count_both(pair, &here, are_apart, world)?;
            for (side, counts) in Side::BOTH.into_iter().zip(counted) {
                found.of_mut(side).extend(counts);
            }
        }
        Ok(counter.remarks())
    }
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
    let mut counter = match InstructionCounter::open(
        request,
        left,
        &wanted,
        None,
        Valgrind::find(world.supervisor),
        world,
    ) {
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
            measurement.counts.clone_from(&counts);
            counted.push(CountedBenchmark {
                benchmark: benchmark.clone(),
                counts,
            });
        }
    }
    Ok(store.record_counts(run, &counted)?)
}

/// The counts of the benchmarks of one side, or why none of them can be counted.
type CountedSide = Result<BTreeMap<BenchmarkKey, CountResult>, CountError>;

/// What failed on the side at `place` and may have failed because of the other one.
fn failed_beside(counted: &[CountedSide], place: usize, here: &[ToCount]) -> Vec<ToCount> {
    let error_of = |place: usize, key: &BenchmarkKey| {
        let side = counted.get(place)?.as_ref().ok()?;
        side.get(key)?.as_ref().err()
    };
    let may_pass = |one: &&ToCount| {
        let Some(error) = error_of(place, &one.key) else {
            return false;
        };
        let beside = error_of(1 - place, &one.key);
        error.may_pass_alone() && !beside.is_some_and(|other| error.fails_alike(other))
    };
    here.iter().filter(may_pass).cloned().collect()
}

/// An executable that is ready to be counted, how it is driven, and where its files go.
type Prepared<'d> = (BenchTarget, &'d Driver, PathBuf);

/// Counts executables, and keeps why benchmarks have no counts.
struct InstructionCounter<'c> {
    request: &'c Request<'c>,
    left: &'c str,
    /// Has the files of the processes.
    stage: Stage,
    targets: usize,
    /// For how long at most a process is busy with a benchmark.
    limit: Option<Duration>,
    failed: Reasons,
}

impl<'c> InstructionCounter<'c> {
    /// A remark says why nothing can be counted.
    fn open(
        request: &'c Request<'c>,
        left: &'c str,
        wanted: &BTreeSet<BenchmarkKey>,
        limit: Option<Duration>,
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
            limit,
            failed: Reasons::default(),
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
            let again = [0, 1].map(|place| failed_beside(&counted, place, here));
            for ((side, counted), again) in sides.into_iter().zip(&mut counted).zip(again) {
                self.count_again(side, counted, &again, world)?;
            }
        }
        let counted = counted.into_iter();
        Ok(counted.map(|counted| self.found(counted, here)).collect())
    }

    /// Counts alone, once more, what has `failed` on one side.
    fn count_again(
        &mut self,
        side: (&BenchTarget, &Driver),
        counted: &mut CountedSide,
        failed: &[ToCount],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let Ok(counted) = counted else {
            return Ok(());
        };
        // Where all of them fail for one reason, what is known of each says more.
        let again = self.count(&[side], failed, world)?;
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
        let limit = self.limit;
        let count = |(target, driver, directory): &Prepared<'_>, observer: &dyn Observer| {
            let launcher = Launcher::new(supervisor, interrupt, observer, timeout);
            count_instructions(target, driver, here, directory, limit, launcher)
        };
        let counted: Vec<CountedSide> = thread::scope(|scope| {
            let Some((last, others)) = prepared.split_last() else {
                return Vec::new();
            };
            let others: Vec<_> = others
                .iter()
                .map(|other| {
                    start_work_in(scope, move || {
                        let held_back = HeldBack::default();
                        (count(other, &held_back), held_back)
                    })
                })
                .collect();
            let last = count(last, &progress);
            let others = others.into_iter().map(|other| {
                let (counted, held_back) = other();
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
                        Ok(instructions) => {
                            let counts = CountsOfBenchmark {
                                instructions,
                                ..CountsOfBenchmark::default()
                            };
                            found.insert(key, counts);
                        }
                        Err(error) => self.failed.note(error.to_string(), [key]),
                    }
                }
            }
            Err(error) => {
                let keys = here.iter().map(|one| one.key.clone());
                self.failed.note(error.to_string(), keys);
            }
        }
        found
    }

    fn remarks(self) -> Vec<RunRemark> {
        self.failed
            .remarks(|benchmarks, reason| RunRemark::NotCounted { benchmarks, reason })
    }
}
