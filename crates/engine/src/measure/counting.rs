//! Instructions of benchmarks, counted in processes of their own, which run under callgrind.
//!
//! What a process counts between two bounds is the benchmark's iterations and something of the harness; that is the same for few iterations and for many. So
//! the instructions of an iteration are the slope between two lengths. Counts of two processes that agree are exact; where they do not, as with maps
//! whose order is drawn anew, more processes are samples.

#![expect(clippy::disallowed_methods, reason = "how long processes take")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::count_error::CountError;
use super::driver::Driver;
use super::launch::launch_spec;
use super::stacks::Stacks;
use super::visit::reach;
use crate::cargo::BenchTarget;
use crate::child::{
    ChildError, CountedBy, IteratedSample, Launcher, PrintedHarness, Profile, Recording, Rehearsal,
    Rehearsed, SampleSpec, Session, Started, Windows,
};
use perfcheck_analysis::model::{
    BenchmarkKey, FunctionCount, InstructionCount, StackCounts, Work, limits,
};
use perfcheck_code::readable;

/// Processes that count, where the first of them agree.
const AGREEING: usize = 2;
/// Processes that count, where they do not.
const VARYING: usize = 5;
/// Iterations are so many that they take about this without callgrind.
const SAMPLE_NS: f64 = 1e6;
/// Iterations of the shorter sample at most.
const MOST_ITERATIONS: f64 = 256.0;
/// So many times as long does a sample take under callgrind, at most about.
const SLOWER: u32 = 100;
/// So many times as long may a process under callgrind take for anything.
const PATIENCE: u32 = 10;

/// What was counted of a benchmark: a count for each process, or why there is none.
pub type CountResult = Result<Vec<InstructionCount>, CountError>;

/// A benchmark whose instructions are to be counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ToCount {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// What an iteration takes, about, in nanoseconds: both sides of a comparison are told the same.
    pub iteration_ns: f64,
}

impl ToCount {
    /// Iterations of the shorter sample. A power of two, so that times which differ a little lead to the same count.
    fn iterations(&self) -> u64 {
        let fitting = (SAMPLE_NS / self.iteration_ns.max(1.0)).clamp(1.0, MOST_ITERATIONS);
        1 << fitting.log2().round() as u32
    }

    /// The iterations of the shorter and of the longer sample. Where allocations take their turns, neither is like the other: functions have about as many of
    /// them in both, stacks do not, so that there the shorter sample weighs as little as can be.
    fn lengths(&self, counted_by: CountedBy) -> (u64, u64) {
        let iterations = self.iterations();
        match counted_by {
            CountedBy::Function => (iterations, 2 * iterations),
            CountedBy::Stack => (1, 2 * iterations + 1),
        }
    }

    /// How long a sample of so many iterations takes under callgrind, at most about.
    fn expected(&self, iterations: u64) -> Duration {
        Duration::from_nanos((self.iteration_ns * iterations as f64) as u64) * SLOWER
    }
}

/// Counts the instructions of some benchmarks of a target, where `Valgrind::find` has found it. The files of the processes go into `directory`. With
/// a `limit`, a benchmark is not counted if a process does not answer for so long, or has been busy with it for so long and is not done, or if its counts
/// vary and have taken so long.
pub fn count_instructions(
    target: &BenchTarget,
    driver: &Driver,
    wanted: &[ToCount],
    directory: &Path,
    limit: Option<Duration>,
    launcher: Launcher<'_>,
) -> Result<BTreeMap<BenchmarkKey, CountResult>, CountError> {
    let mut counter = Counter::of(target, driver, CountedBy::Function, directory, launcher)?;
    if let Some(limit) = limit {
        counter.limit = Some(limit);
        counter.launcher.timeout = counter.launcher.timeout.min(limit);
    }
    let work = Work::begin(launcher.observer, "Counting instructions of", wanted.len());
    let mut done = 0;
    let mut found: BTreeMap<BenchmarkKey, CountResult> = BTreeMap::new();
    let mut spent: BTreeMap<&BenchmarkKey, Duration> = BTreeMap::new();
    for processes in 0..VARYING {
        let is_open = |one: &&ToCount| found.get(&one.key).is_none_or(is_open);
        let mut open: Vec<&ToCount> = wanted.iter().filter(is_open).collect();
        if let Some(limit) = limit.filter(|_| processes >= AGREEING) {
            open.retain(|one| {
                let has_time = spent.get(&one.key).is_none_or(|took| *took < limit);
                if !has_time {
                    found.insert(one.key.clone(), Err(CountError::TooLong(limit)));
                }
                has_time
            });
        }
        if open.is_empty() {
            break;
        }
        let mut taken = Vec::new();
        let mut began = Instant::now();
        let mut told = || {
            taken.push(began.elapsed());
            began = Instant::now();
            done += 1;
            work.reached(done, (AGREEING * wanted.len()).max(done + 1));
        };
        let counts = counter.once(&open, &mut told)?;
        for (one, took) in open.iter().zip(taken) {
            *spent.entry(&one.key).or_default() += took;
        }
        for (one, count) in open.iter().zip(counts) {
            let known = found.entry(one.key.clone()).or_insert(Ok(Vec::new()));
            match (known, count) {
                (Ok(known), Ok(count)) => known.push(count.by_function()),
                (known, Err(error)) => {
                    let limit = limit.filter(|_| error.is_late());
                    *known = Err(limit.map_or(error, CountError::TooLong));
                }
                (Err(_), Ok(_)) => {}
            }
        }
    }
    Ok(found)
}

/// Counts the instructions of one benchmark in one process, by the calls that led to each function.
pub fn count_stacks(
    target: &BenchTarget,
    driver: &Driver,
    wanted: &ToCount,
    directory: &Path,
    launcher: Launcher<'_>,
) -> Result<StackCounts, CountError> {
    let mut counter = Counter::of(target, driver, CountedBy::Stack, directory, launcher)?;
    let counted = counter.once(&[wanted], &mut || {})?.pop();
    Ok(counted.ok_or(CountError::Absent)??.by_stack())
}

/// Whether another process should count.
fn is_open(counted: &CountResult) -> bool {
    let Ok(counts) = counted else { return false };
    let agree = counts.windows(2).all(|two| {
        (two[0].iterations, two[0].instructions) == (two[1].iterations, two[1].instructions)
    });
    counts.len() < AGREEING || !agree
}

fn windows(target: &BenchTarget, driver: &Driver) -> Result<Windows, CountError> {
    let path = target.executable();
    let executable = || fs::read(path).map_err(CountError::file(path));
    Ok(match driver {
        Driver::Own => Windows::own(&executable()?)?,
        Driver::Criterion(_) => Windows::criterion(&executable()?)?,
        Driver::Printed(harness) if harness.takes_iterations() => Windows::divan(&executable()?)?,
        Driver::Printed(harness) => {
            return Err(CountError::Iterations {
                harness: harness.printer().word(),
            });
        }
    })
}

/// Launches of one target that count.
struct Counter<'c> {
    target: &'c BenchTarget,
    driver: &'c Driver,
    windows: Windows,
    counted_by: CountedBy,
    directory: &'c Path,
    launcher: Launcher<'c>,
    /// For how long at most a process is busy with a benchmark.
    limit: Option<Duration>,
    /// How many there were.
    processes: u32,
}

impl<'c> Counter<'c> {
    fn of(
        target: &'c BenchTarget,
        driver: &'c Driver,
        counted_by: CountedBy,
        directory: &'c Path,
        launcher: Launcher<'c>,
    ) -> Result<Self, CountError> {
        if !target.first_arguments.is_empty() {
            return Err(CountError::Runner);
        }
        Ok(Self {
            windows: windows(target, driver)?,
            target,
            driver,
            counted_by,
            directory,
            launcher: Launcher {
                timeout: launcher.timeout * PATIENCE,
                ..launcher
            },
            limit: None,
            processes: 0,
        })
    }

    /// Counts each benchmark once.
    fn once(
        &mut self,
        wanted: &[&ToCount],
        told: &mut dyn FnMut(),
    ) -> Result<Vec<Result<Executed, CountError>>, CountError> {
        match self.driver {
            Driver::Own => self.in_a_process(wanted, told),
            Driver::Criterion(_) => self.in_processes(wanted, Self::of_criterion, told),
            Driver::Printed(harness) => {
                self.in_processes(wanted, |counter, one| counter.of_divan(harness, one), told)
            }
        }
    }

    /// How long a sample of so many iterations takes at most about, beyond the time that each answer has.
    fn expected(&self, one: &ToCount, iterations: u64) -> Duration {
        self.limit
            .map_or_else(|| one.expected(iterations), |_| Duration::ZERO)
    }

    /// The recording of the next process, in a directory of its own.
    fn recording(&mut self) -> Result<Recording, CountError> {
        let directory = self.directory.join(self.processes.to_string());
        self.processes += 1;
        fs::create_dir_all(&directory).map_err(CountError::file(&directory))?;
        Ok(Recording::new(
            self.windows.clone(),
            self.counted_by,
            directory,
        ))
    }

    /// Counts in one process of ours, or in as many as it takes after those that go wrong.
    fn in_a_process(
        &mut self,
        wanted: &[&ToCount],
        told: &mut dyn FnMut(),
    ) -> Result<Vec<Result<Executed, CountError>>, CountError> {
        let mut counts = Vec::new();
        while counts.len() < wanted.len() {
            let mut recording = self.recording()?;
            let spec = recording.of(launch_spec(self.target, 0, 0));
            let mut session = match Session::start(&spec, &self.launcher) {
                Ok(session) => session,
                Err(error) => {
                    let error = went_wrong(error, &recording)?;
                    // The others would wait for the same.
                    let limit = self.limit.filter(|_| error.is_late());
                    counts.push(Err(error));
                    told();
                    while let Some(limit) = limit.filter(|_| counts.len() < wanted.len()) {
                        counts.push(Err(CountError::TooLong(limit)));
                        told();
                    }
                    continue;
                }
            };
            let before = counts.len();
            while let Some(one) = wanted.get(counts.len()) {
                let count = self.counted(&mut session, &mut recording, one);
                match count {
                    // It has passed: another process comes to it.
                    Err(CountError::Absent) if counts.len() > before => break,
                    Err(CountError::Child { error, .. }) => {
                        counts.push(Err(went_wrong(error, &recording)?));
                        told();
                        break;
                    }
                    // Its process stands in the middle of it.
                    Err(error @ CountError::TooLong(_)) => {
                        counts.push(Err(error));
                        told();
                        break;
                    }
                    other => counts.push(other),
                }
                told();
            }
        }
        Ok(counts)
    }

    /// Counts a benchmark in a process that lives: a first iteration that does what is done once, then a shorter and a longer sample.
    fn counted(
        &self,
        session: &mut Session<'_>,
        recording: &mut Recording,
        one: &ToCount,
    ) -> Result<Executed, CountError> {
        let began = Instant::now();
        match reach(session, &one.key.id)? {
            Some(Started::Ready(_)) => {}
            Some(Started::Skipped(reason)) => return Err(CountError::Skipped(reason)),
            None => return Err(CountError::Absent),
        }
        let mut sample = |iterations| -> Result<Profile, CountError> {
            if let Some(limit) = self.limit.filter(|limit| began.elapsed() >= *limit) {
                return Err(CountError::TooLong(limit));
            }
            let spec = SampleSpec {
                iterations,
                count: 1,
            };
            session.sample(&[spec], self.expected(one, iterations))?;
            let mut all = Profile::default();
            for window in recording.windows(session.id()) {
                all.add(window);
            }
            if recording.is_damaged() {
                return Err(CountError::Damaged);
            }
            Ok(all)
        };
        let (shorter, longer) = one.lengths(self.counted_by);
        sample(1)?;
        let less = sample(shorter)?;
        let more = sample(longer)?;
        session.finish(&one.key.id)?;
        slope(less, more, longer - shorter)
    }

    /// Counts each benchmark in processes of its own.
    fn in_processes(
        &mut self,
        wanted: &[&ToCount],
        count: impl Fn(&mut Self, &ToCount) -> Result<Executed, CountError>,
        told: &mut dyn FnMut(),
    ) -> Result<Vec<Result<Executed, CountError>>, CountError> {
        let mut counts = Vec::new();
        for one in wanted {
            let count = match count(self, one) {
                Err(error) if error.is_interrupt() => return Err(error),
                count => count,
            };
            counts.push(count);
            told();
        }
        Ok(counts)
    }

    fn of_criterion(&mut self, one: &ToCount) -> Result<Executed, CountError> {
        let mut recording = self.recording()?;
        let spec = recording.of(launch_spec(self.target, 0, 0));
        let rehearsal = Rehearsal::start(&spec, &one.key.id, Rehearsed::WarmUp, &self.launcher)?;
        let mut rehearsal = rehearsal.ok_or(CountError::Name)?;
        let process = rehearsal.id();
        // Its warm-up runs 1, 2, 4, ... iterations, a window each: up to twice the length of the shorter sample, which is not the first.
        let enough = one.iterations().ilog2().max(1) as usize + 2;
        let mut windows = Vec::new();
        let ended = rehearsal.came_through_or(&mut |_| {
            windows.extend(recording.windows(process));
            windows.len() >= enough
        });
        match ended {
            Ok(true) => {}
            Ok(false) => {
                return Err(CountError::Died {
                    complaint: recording.complaint(),
                });
            }
            Err(error) => return Err(went_wrong(error, &recording)?),
        }
        windows.extend(recording.windows(process));
        windows.truncate(enough);
        if recording.is_damaged() {
            return Err(CountError::Damaged);
        }
        let more = windows.pop().ok_or(CountError::Nothing)?;
        match (windows.pop(), windows.len()) {
            (None, _) => slope(Profile::default(), more, 1),
            // The first iteration may do what is done once: it is not taken away from the second and third, which take so long that nothing else counts.
            (Some(_), 0) => slope(Profile::default(), more, 2),
            (Some(less), before) => match self.counted_by {
                CountedBy::Function => slope(less, more, 1 << before),
                // As in `ToCount::lengths`; the second one has two iterations.
                CountedBy::Stack => {
                    let less = windows.into_iter().nth(1).unwrap_or(less);
                    slope(less, more, (2 << before) - 2)
                }
            },
        }
    }

    /// Counts in two processes of divan: what is done once is done in both.
    fn of_divan(
        &mut self,
        harness: &PrintedHarness,
        one: &ToCount,
    ) -> Result<Executed, CountError> {
        let (shorter, longer) = one.lengths(self.counted_by);
        let (less, few) = self.sample_of_divan(harness, one, shorter)?;
        let (more, many) = self.sample_of_divan(harness, one, longer)?;
        match many.saturating_sub(few) {
            0 => Err(CountError::Nothing),
            iterations => slope(less, more, iterations),
        }
    }

    /// What one sample of so many iterations does, and how many iterations it has: several threads have as many each.
    fn sample_of_divan(
        &mut self,
        harness: &PrintedHarness,
        one: &ToCount,
        iterations: u64,
    ) -> Result<(Profile, u64), CountError> {
        let mut recording = self.recording()?;
        let spec = recording.of(launch_spec(self.target, 0, 0));
        let sample = IteratedSample {
            id: &one.key.id,
            iterations,
            expected: self.expected(one, iterations),
        };
        let iterated = match harness.iterate(&sample, &spec, &self.launcher) {
            Ok(iterated) => iterated,
            Err(error) => return Err(went_wrong(error, &recording)?),
        };
        let windows = recording.windows(iterated.process);
        if recording.is_damaged() {
            return Err(CountError::Damaged);
        }
        match <[Profile; 1]>::try_from(windows) {
            Ok([window]) => Ok((window, iterated.iterations)),
            Err(windows) => Err(CountError::Samples(windows.len())),
        }
    }
}

/// What becomes of a benchmark whose process has failed; an error is the user's wish to stop.
fn went_wrong(error: ChildError, recording: &Recording) -> Result<CountError, CountError> {
    match error {
        ChildError::Interrupted => Err(error.into()),
        error => Ok(CountError::Child {
            error,
            complaint: recording.complaint(),
        }),
    }
}

/// Two samples, of which the one has so many iterations more than the other. The harness's own instructions are in both.
struct Executed {
    iterations: u64,
    less: Profile,
    more: Profile,
}

/// Two samples that differ.
fn slope(less: Profile, more: Profile, iterations: u64) -> Result<Executed, CountError> {
    if more.total() <= less.total() {
        return Err(CountError::Nothing);
    }
    Ok(Executed {
        iterations,
        less,
        more,
    })
}

impl Executed {
    fn by_function(self) -> InstructionCount {
        let instructions = self.more.total() - self.less.total();
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for (symbol, count) in self.more.beyond(&self.less).functions() {
            *by_name.entry(readable(symbol)).or_default() += count;
        }
        let by_name = by_name.into_iter();
        InstructionCount {
            iterations: self.iterations,
            instructions,
            functions: FunctionCount::most(
                by_name.map(|(name, count)| (limits::cut_name(name), count)),
            ),
        }
    }

    fn by_stack(&self) -> StackCounts {
        StackCounts {
            iterations: self.iterations,
            instructions: Stacks::of(&self.more).beyond(&Stacks::of(&self.less)),
        }
    }
}
