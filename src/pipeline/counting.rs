//! Counts instructions after a measurement. All benchmarks are counted if the user asked for it, or if a verdict or limit needs the counts. Otherwise
//! only benchmarks whose time changed are counted. If the instructions of such a benchmark cannot be counted, the time that it spends in each
//! function is sampled instead.
//!
//! If counts were requested but are missing, a note says why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::cache_build::cache_directory;
use super::request::Request;
use crate::error::AppError;
use crate::options::CountingMode;
use crate::output::{self, Progress};
use crate::pipeline::judge::PairedMeasured;
use crate::session::World;
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{
    Benchmark, BenchmarkCounts, BenchmarkKey, BySide, CountedBenchmark, EventBuffer, Measurement,
    Observer, RunId, Sample, Series, Side, Statistic,
};
use perfcheck_bench::child::{ProcessContext, Valgrind, ValgrindError};
use perfcheck_bench::measure::{
    CountError, CountRequest, CountResult, DiscoveredTarget, HarnessKind, PairedTarget,
    count_instructions, sample_time,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::sides::StagedExecutables;
use perfcheck_host::process::{start_scoped_work, try_time_samples};
use perfcheck_store::Store;

/// If only changed benchmarks are counted, at most this many are, because each of them takes seconds. Those with the largest changes are chosen.
const MOST_CHANGED: usize = 10;

/// Maximum time that a process may spend on counting a benchmark, if the user did not ask for counts and time can be sampled instead.
const LONGEST_UNASKED: Duration = Duration::from_secs(3);

/// Assumed time of an iteration, in nanoseconds, if none is known.
const UNKNOWN_NS: f64 = 1e6;

impl Request<'_> {
    /// Returns in which benchmarks to count instructions: in all if a verdict or limit needs the counts, and otherwise as the user chose. Builds are
    /// never counted, because most of their work is that of the compiler's processes.
    pub(crate) fn counting(&self) -> CountingMode {
        if self.comparison.measures_builds() {
            return CountingMode::Never;
        }
        let subject = self.paired_decision().analysis.subject;
        let limits = self.comparison.failure.limits(&self.context.tables);
        let mut statistics = limits.map(|limit| limit.statistic).chain([subject]);
        if statistics.any(|statistic| statistic == Statistic::Instructions) {
            CountingMode::Always
        } else {
            self.effort.instructions
        }
    }
}

/// Counts instructions on both sides of a side-by-side measurement and stores the counts. The two sides of a benchmark are counted at the same time,
/// except for the benchmarks in `apart`, which cannot run twice at once. If the user interrupts the command, the error message ends with `left`.
pub(super) fn count_paired(
    measured: &mut PairedMeasured,
    pairs: &[PairedTarget],
    apart: &BTreeSet<BenchmarkKey>,
    request: &Request<'_>,
    left: &str,
    store: &mut Store,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let counting = request.counting();
    if counting == CountingMode::Never {
        return Ok(());
    }
    let is_asked = counting == CountingMode::Always;
    let valgrind = Valgrind::find(world.supervisor);
    let may_sample = can_sample(world);
    if !is_asked && valgrind.is_err() && !may_sample {
        // The user did not request counts, so no note is needed.
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
        let times = quickest_times(&measured.measured.candidate);
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
        let remarks = sample_side_by_side(pairs, &uncounted, &mut found, request, left, world)?;
        measured.remarks.extend(remarks);
    }
    // If the user did not ask for counts, sampled time is a substitute, and no note says that counts are missing.
    let is_missed = |key: &BenchmarkKey| is_asked || !is_counted(&found, key);
    measured.remarks.extend(
        not_counted
            .into_iter()
            .filter_map(|remark| remark.narrow_not_counted(is_missed)),
    );
    for (side, counts) in [(Side::Base, found.base), (Side::Candidate, found.candidate)] {
        let of_side = measured.measured.get_mut(side);
        add_counts(store, *measured.runs.get(side), of_side, counts)?;
    }
    Ok(())
}

/// The benchmarks to count on both sides.
struct CountedPairs<'p> {
    pairs: &'p [PairedTarget],
    /// Benchmarks that cannot run on both sides at once.
    apart: &'p BTreeSet<BenchmarkKey>,
    wanted: &'p BTreeSet<BenchmarkKey>,
    times: &'p BTreeMap<BenchmarkKey, f64>,
    /// Maximum time that a process spends on a benchmark.
    limit: Option<Duration>,
}

impl CountedPairs<'_> {
    /// Counts the instructions of the wanted benchmarks, on both sides at once except for those in `apart`. Returns notes on benchmarks that could
    /// not be counted.
    fn count(
        &self,
        found: &mut BySide<CountsByBenchmark>,
        valgrind: Result<Valgrind, ValgrindError>,
        request: &Request<'_>,
        left: &str,
        world: &mut World<'_>,
    ) -> Result<Vec<RunNote>, AppError> {
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
                found.get_mut(side).extend(counts);
            }
        }
        Ok(counter.remarks())
    }
}

/// Returns the wanted benchmarks in the order of `benchmarks`, so that a bench that runs its benchmarks by itself is started only once.
fn to_count(
    benchmarks: &[Benchmark],
    wanted: &BTreeSet<BenchmarkKey>,
    times: &BTreeMap<BenchmarkKey, f64>,
) -> Vec<CountRequest> {
    let keys = benchmarks.iter().map(|benchmark| &benchmark.key);
    let wanted = keys.filter(|key| wanted.contains(key));
    wanted
        .map(|key| CountRequest {
            key: key.clone(),
            iteration_ns: times.get(key).copied().unwrap_or(UNKNOWN_NS),
        })
        .collect()
}

fn announce(count: usize, request: &Request<'_>, world: &mut World<'_>) -> Result<(), AppError> {
    let of = output::counted(count, "benchmark");
    request.announce(
        "Counting",
        &format!("instructions of {of} under valgrind"),
        world,
    )
}

fn keys(measurements: &[Measurement]) -> BTreeSet<BenchmarkKey> {
    let keys = measurements.iter().map(|one| one.benchmark.key.clone());
    keys.collect()
}

/// Counts instructions of every benchmark of a single build, if requested, and stores the counts.
pub(crate) fn count_alone(
    run: RunId,
    measurements: &mut [Measurement],
    targets: &[DiscoveredTarget],
    request: &Request<'_>,
    left: &str,
    store: &mut Store,
    world: &mut World<'_>,
) -> Result<Vec<RunNote>, AppError> {
    if request.counting() != CountingMode::Always || measurements.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = keys(measurements);
    let times = quickest_times(measurements);
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
        let side = CountedTarget {
            target: &one.target,
            harness: &one.harness,
        };
        for counted in counter.count(&[side], &here, world)? {
            found.extend(counter.collect_counts(counted, &here));
        }
    }
    add_counts(store, run, measurements, found)?;
    Ok(counter.remarks())
}

/// Returns the shortest iteration time of each benchmark, in nanoseconds: from warm-ups, or from samples if no warm-up is known.
fn quickest_times(measurements: &[Measurement]) -> BTreeMap<BenchmarkKey, f64> {
    let times = measurements
        .iter()
        .map(|one| (one.benchmark.key.clone(), quickest_ns(one)));
    times.filter(|(_, ns)| ns.is_finite()).collect()
}

fn quickest_ns(measurement: &Measurement) -> f64 {
    let series = || measurement.processes.iter().map(|process| &process.series);
    let warm_ups = Sample::quickest_ns(series().map(|series| &series.warm_up));
    if warm_ups.is_finite() {
        return warm_ups;
    }
    Sample::quickest_ns(series().flat_map(Series::deciding_samples))
}

/// Returns the counting request for a benchmark, with its time if it was measured.
pub(crate) fn counting_request(
    key: &BenchmarkKey,
    measurement: Option<&Measurement>,
) -> CountRequest {
    let known = measurement.map(quickest_ns).filter(|ns| ns.is_finite());
    CountRequest {
        key: key.clone(),
        iteration_ns: known.unwrap_or(UNKNOWN_NS),
    }
}

/// Adds counts to the measurements, in the store and in memory.
fn add_counts(
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

/// Fails if valgrind cannot be used. `needed` begins the message, such as "flame graphs need".
pub(crate) fn require_valgrind(needed: &str, world: &World<'_>) -> Result<(), AppError> {
    let Err(why) = Valgrind::find(world.supervisor) else {
        return Ok(());
    };
    let help = match why {
        ValgrindError::Missing => "install it, e.g. with `apt install valgrind`",
        ValgrindError::Broken(_) => "make sure that `valgrind --version` works",
    };
    Err(AppError::NothingToMeasure(format!(
        "{needed} valgrind, but {why}\n  help: {help}"
    )))
}

/// The counts of the benchmarks on one side, or the reason why none can be counted.
type CountedSide = Result<BTreeMap<BenchmarkKey, CountResult>, CountError>;

/// Returns the benchmarks that could not be counted on the side at index `place`, but perhaps can be while the other side does not run. A benchmark
/// that failed in the same way on both sides is not returned, because it would fail again.
fn failed_concurrently(
    counted: &[CountedSide],
    place: usize,
    here: &[CountRequest],
) -> Vec<CountRequest> {
    let error_of = |place: usize, key: &BenchmarkKey| {
        let side = counted.get(place)?.as_ref().ok()?;
        side.get(key)?.as_ref().err()
    };
    let may_pass = |one: &&CountRequest| {
        let Some(error) = error_of(place, &one.key) else {
            return false;
        };
        let beside = error_of(1 - place, &one.key);
        error.may_pass_alone() && !beside.is_some_and(|other| error.fails_like(other))
    };
    here.iter().filter(may_pass).cloned().collect()
}

/// A bench executable whose benchmarks are to be counted.
#[derive(Clone, Copy)]
struct CountedTarget<'t> {
    target: &'t BenchTarget,
    harness: &'t HarnessKind,
}

/// A bench executable with the directory that it needs to be counted.
struct PreparedExecutable<'d> {
    target: BenchTarget,
    harness: &'d HarnessKind,
    /// Directory for the files of the counted process.
    directory: PathBuf,
}

/// Counts instructions of executables, and records reasons for missing counts.
struct InstructionCounter<'c> {
    request: &'c Request<'c>,
    left: &'c str,
    /// Directory for the files of all counted processes.
    stage: StagedExecutables,
    targets: usize,
    /// Maximum time that a process spends on a benchmark.
    limit: Option<Duration>,
    failed: Reasons,
}

impl<'c> InstructionCounter<'c> {
    /// Prepares counting. If nothing can be counted, returns a note with the reason.
    fn open(
        request: &'c Request<'c>,
        left: &'c str,
        wanted: &BTreeSet<BenchmarkKey>,
        limit: Option<Duration>,
        valgrind: Result<Valgrind, ValgrindError>,
        world: &World<'_>,
    ) -> Result<Self, RunNote> {
        let none_of_them = |reason: String| RunNote::NotCounted {
            benchmarks: wanted.iter().cloned().collect(),
            reason,
        };
        valgrind.map_err(|why| none_of_them(why.to_string()))?;
        let stage = cache_directory(world).and_then(|cache| Ok(StagedExecutables::open(&cache)?));
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

    /// Counts these benchmarks on both sides: at the same time, or one side after the other if `are_apart`. If a benchmark fails while both sides
    /// run, the other side may be the cause, so the benchmark is counted again alone.
    fn count_both(
        &mut self,
        pair: &PairedTarget,
        here: &[CountRequest],
        are_apart: bool,
        world: &mut World<'_>,
    ) -> Result<Vec<CountsByBenchmark>, AppError> {
        let sides = Side::BOTH.map(|side| CountedTarget {
            target: pair.targets.get(side),
            harness: pair.harnesses.get(side),
        });
        let mut counted = Vec::new();
        if are_apart {
            for side in sides {
                counted.extend(self.count(&[side], here, world)?);
            }
        } else {
            counted = self.count(&sides, here, world)?;
            let again = [0, 1].map(|place| failed_concurrently(&counted, place, here));
            for ((side, counted), again) in sides.into_iter().zip(&mut counted).zip(again) {
                self.count_again(side, counted, &again, world)?;
            }
        }
        let counted = counted.into_iter();
        Ok(counted
            .map(|counted| self.collect_counts(counted, here))
            .collect())
    }

    /// Counts the benchmarks in `failed` again, on the side where they failed, while the other side does not run.
    fn count_again(
        &mut self,
        side: CountedTarget<'_>,
        counted: &mut CountedSide,
        failed: &[CountRequest],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let Ok(counted) = counted else {
            return Ok(());
        };
        // If the second attempt fails as a whole, each benchmark keeps the reason why its first attempt failed, which is more informative.
        let again = self.count(&[side], failed, world)?;
        counted.extend(again.into_iter().flatten().flatten());
        Ok(())
    }

    /// Counts these benchmarks on all `sides` at the same time, because other load on the machine does not affect counts. While this runs, only the
    /// progress and the output of the last side are shown. The output of the other sides follows at the end.
    fn count(
        &mut self,
        sides: &[CountedTarget<'_>],
        here: &[CountRequest],
        world: &mut World<'_>,
    ) -> Result<Vec<CountedSide>, AppError> {
        if here.is_empty() {
            return Ok(sides.iter().map(|_| Ok(BTreeMap::new())).collect());
        }
        let mut prepared = Vec::new();
        for side in sides {
            let mut target = side.target.clone();
            self.request.configure(&mut target);
            prepared.push(PreparedExecutable {
                target,
                harness: side.harness,
                directory: self.stage.base_directory(self.targets),
            });
            self.targets += 1;
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let (supervisor, interrupt) = (world.supervisor, world.interrupt);
        let timeout = self.request.timeout;
        let limit = self.limit;
        let count = |one: &PreparedExecutable<'_>, observer: &dyn Observer| {
            let context = ProcessContext::new(supervisor, interrupt, observer, timeout);
            count_instructions(
                &one.target,
                one.harness,
                here,
                &one.directory,
                limit,
                context,
            )
        };
        let counted: Vec<CountedSide> = thread::scope(|scope| {
            let Some((last, others)) = prepared.split_last() else {
                return Vec::new();
            };
            let others: Vec<_> = others
                .iter()
                .map(|other| {
                    start_scoped_work(scope, move || {
                        let held_back = EventBuffer::default();
                        (count(other, &held_back), held_back)
                    })
                })
                .collect();
            let last = count(last, &progress);
            let others = others.into_iter().map(|other| {
                let (counted, held_back) = other();
                held_back.replay(&progress);
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

    /// Returns the counts of one side and records reasons for missing ones.
    fn collect_counts(&mut self, counted: CountedSide, here: &[CountRequest]) -> CountsByBenchmark {
        let mut found = CountsByBenchmark::new();
        match counted {
            Ok(counted) => {
                for (key, counted) in counted {
                    match counted {
                        Ok(instructions) => {
                            let counts = BenchmarkCounts {
                                instructions,
                                ..BenchmarkCounts::default()
                            };
                            found.insert(key, counts);
                        }
                        Err(error) => self.failed.add(error.to_string(), [key]),
                    }
                }
            }
            Err(error) => {
                let keys = here.iter().map(|one| one.key.clone());
                self.failed.add(error.to_string(), keys);
            }
        }
        found
    }

    fn remarks(self) -> Vec<RunNote> {
        self.failed
            .remarks(|benchmarks, reason| RunNote::NotCounted { benchmarks, reason })
    }
}

/// The counts of all benchmarks on one side.
pub(super) type CountsByBenchmark = BTreeMap<BenchmarkKey, BenchmarkCounts>;

/// The reasons why benchmarks were not counted or sampled. Each reason has the benchmarks to which it applies.
#[derive(Debug, Default)]
pub(super) struct Reasons(BTreeMap<String, BTreeSet<BenchmarkKey>>);

impl Reasons {
    pub(super) fn add(&mut self, reason: String, keys: impl IntoIterator<Item = BenchmarkKey>) {
        self.0.entry(reason).or_default().extend(keys);
    }

    /// Converts each reason to a note.
    pub(super) fn remarks(
        self,
        remark: impl Fn(Vec<BenchmarkKey>, String) -> RunNote,
    ) -> Vec<RunNote> {
        let reasons = self.0.into_iter();
        reasons
            .map(|(reason, benchmarks)| remark(benchmarks.into_iter().collect(), reason))
            .collect()
    }
}

/// Maximum time for which benchmarks are sampled on one side. All benchmarks share this time.
const MAX_SAMPLING_PER_SIDE: Duration = Duration::from_secs(2);
/// A single benchmark is not sampled for longer than this, because about 5,000 samples suffice.
const SUFFICIENT_SAMPLING: Duration = Duration::from_secs(1);

/// Reports whether time can be sampled by function here. A scripted clock rules it out, because its time does not depend on the code.
pub(super) fn can_sample(world: &World<'_>) -> bool {
    let variables = &world.variables;
    let is_wanted = !variables.no_sampling && variables.scripted_clock.is_none();
    is_wanted && try_time_samples().is_ok()
}

/// Samples benchmarks on both sides, one after the other, and adds the results to `found`. Returns notes on benchmarks without results.
pub(super) fn sample_side_by_side(
    pairs: &[PairedTarget],
    wanted: &BTreeSet<BenchmarkKey>,
    found: &mut BySide<CountsByBenchmark>,
    request: &Request<'_>,
    left: &str,
    world: &mut World<'_>,
) -> Result<Vec<RunNote>, AppError> {
    let count = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
    let time = MAX_SAMPLING_PER_SIDE.checked_div(count).unwrap_or_default();
    let of = output::counted(wanted.len(), "benchmark");
    request.announce("Sampling", &format!("the time of {of}"), world)?;
    let mut failed = Reasons::default();
    for pair in pairs {
        let benchmarks = pair.benchmarks.iter().map(|benchmark| &benchmark.key);
        let here: Vec<BenchmarkKey> = benchmarks
            .filter(|key| wanted.contains(key))
            .cloned()
            .collect();
        if here.is_empty() {
            continue;
        }
        let targets = pair.link_alike();
        for side in Side::BOTH {
            let mut target = targets.get(side).clone();
            request.configure(&mut target);
            let progress =
                Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
            let context = ProcessContext::new(
                world.supervisor,
                world.interrupt,
                &progress,
                request.timeout,
            );
            let harness = pair.harnesses.get(side);
            let sampled = match sample_time(
                &target,
                harness,
                &here,
                time.min(SUFFICIENT_SAMPLING),
                context,
            ) {
                Ok(sampled) => sampled,
                Err(error) if error.is_interrupt() => {
                    return Err(AppError::Interrupted(left.to_owned()));
                }
                Err(error) => {
                    failed.add(error.to_string(), here.iter().cloned());
                    continue;
                }
            };
            for (key, sampled) in sampled {
                match sampled {
                    Ok(time) => found.get_mut(side).entry(key).or_default().time = Some(time),
                    Err(error) => failed.add(error.to_string(), [key]),
                }
            }
        }
    }
    Ok(failed.remarks(|benchmarks, reason| RunNote::NotSampled { benchmarks, reason }))
}
