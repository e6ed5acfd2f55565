//! Counts the instructions that benchmarks execute, by function, by call stack or by source line. The counts come from processes of their own, which
//! run under callgrind.
//!
//! Counts are exact if two processes agree. If they do not, as with hash maps in random order, more processes count, and each count is treated as a
//! sample.

#![expect(clippy::disallowed_methods, reason = "how long processes take")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::discover::{HarnessKind, find_program};
use super::process::process_spec;
use super::visit::start_or_advance;
use crate::child::{
    ChildError, CountBy, CountedSources, MOST_CALLERS, PrintedHarness, ProcessContext, Profile,
    Recording, Rehearsal, RehearsalMode, RunPurpose, SampleSpec, Session, StartOutcome,
    TimedWindows, TimedWindowsError, UntimedSampleRequest, run_program,
};
use perfcheck_analysis::model::{
    BenchmarkKey, FunctionCount, InstructionCount, LineCounts, ProgramBenchmark, ProgressReporter,
    StackCounts, limits,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_code::readable_name;
use perfcheck_host::process::TimeSamplingError;

/// A benchmark is counted in this many processes if their counts agree.
const AGREEING: usize = 2;
/// A benchmark is counted in at most this many processes if its counts do not agree.
const VARYING: usize = 5;
/// Target length of a sample without callgrind, in nanoseconds.
const SAMPLE_NS: f64 = 1e6;
/// The instructions of an iteration are computed from the difference between a shorter and a longer sample. The shorter sample has at most this many
/// iterations.
const MOST_ITERATIONS: f64 = 256.0;
/// Samples for counts by line are made longer by this factor if they are too short.
const LENGTHENING: u64 = 16;
/// A sample for counts by line is long enough with this many iterations or instructions. Callgrind executes so many instructions in about a second.
const LONG_SAMPLE_ITERATIONS: u64 = 1 << 17;
const LONG_SAMPLE_INSTRUCTIONS: u64 = 50_000_000;
/// Under callgrind, a sample takes at most about this many times as long as usual.
const SLOWER: u32 = 100;
/// Under callgrind, the timeout of a process is longer by this factor.
const PATIENCE: u32 = 10;

/// The counts of a benchmark, one for each process, or the reason why there are none.
pub type CountResult = Result<Vec<InstructionCount>, CountError>;

/// A benchmark whose instructions are to be counted.
#[derive(Debug, Clone, PartialEq)]
pub struct CountRequest {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The approximate time of an iteration, in nanoseconds. Both sides of a comparison must get the same value, so that both run the same number of
    /// iterations.
    pub iteration_ns: f64,
}

impl CountRequest {
    /// Returns the number of iterations of the shorter sample. It is a power of two, so that slightly different times give the same number.
    fn iterations(&self) -> u64 {
        let fitting = (SAMPLE_NS / self.iteration_ns.max(1.0)).clamp(1.0, MOST_ITERATIONS);
        1 << fitting.log2().round() as u32
    }

    /// Returns the iteration counts of the shorter and of the longer sample. If iterations allocate in different ways, the longer sample is not just
    /// a multiple of the shorter one. The counts by function are still nearly in proportion then, but the counts by stack are not. So for stacks the
    /// shorter sample is as short as possible.
    fn lengths(&self, counted_by: &CountBy) -> (u64, u64) {
        let iterations = self.iterations();
        match counted_by {
            CountBy::Function | CountBy::Line(_) => (iterations, 2 * iterations),
            CountBy::Stack => (1, 2 * iterations + 1),
        }
    }

    /// Returns the approximate maximum time of a sample of `iterations` iterations under callgrind.
    fn expected(&self, iterations: u64) -> Duration {
        Duration::from_nanos((self.iteration_ns * iterations as f64) as u64) * SLOWER
    }
}

/// Counts the instructions of some benchmarks of a target. `Valgrind::find` must have found valgrind. The processes write their files to `directory`.
/// With a `limit`, a benchmark is given up if a process does not answer in that time or does not finish the benchmark in that time. It is also given
/// up if its counts vary and have taken that time in total.
pub fn count_instructions(
    target: &BenchTarget,
    harness: &HarnessKind,
    requests: &[CountRequest],
    directory: &Path,
    limit: Option<Duration>,
    context: ProcessContext<'_>,
) -> Result<BTreeMap<BenchmarkKey, CountResult>, CountError> {
    let mut counter =
        CountingProcesses::new(target, harness, CountBy::Function, directory, context)?;
    if let Some(limit) = limit {
        counter.limit = Some(limit);
        counter.context.timeout = counter.context.timeout.min(limit);
    }
    let work =
        ProgressReporter::begin(context.observer, "Counting instructions of", requests.len());
    let mut done = 0;
    let mut found: BTreeMap<BenchmarkKey, CountResult> = BTreeMap::new();
    let mut spent: BTreeMap<&BenchmarkKey, Duration> = BTreeMap::new();
    for processes in 0..VARYING {
        let is_open = |one: &&CountRequest| found.get(&one.key).is_none_or(needs_another_process);
        let mut open: Vec<&CountRequest> = requests.iter().filter(is_open).collect();
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
        let mut report = || {
            taken.push(began.elapsed());
            began = Instant::now();
            done += 1;
            work.report(done, (AGREEING * requests.len()).max(done + 1));
        };
        let counts = counter.count_once(&open, &mut report)?;
        for (one, took) in open.iter().zip(taken) {
            *spent.entry(&one.key).or_default() += took;
        }
        for (one, count) in open.iter().zip(counts) {
            let known = found.entry(one.key.clone()).or_insert(Ok(Vec::new()));
            match (known, count) {
                (Ok(known), Ok(count)) => known.push(count.by_function()),
                (known, Err(error)) => {
                    let limit = limit.filter(|_| error.is_timeout());
                    *known = Err(limit.map_or(error, CountError::TooLong));
                }
                (Err(_), Ok(_)) => {}
            }
        }
    }
    Ok(found)
}

/// Counts the instructions of one benchmark in one process, separately for each call stack.
pub fn count_stacks(
    target: &BenchTarget,
    harness: &HarnessKind,
    request: &CountRequest,
    directory: &Path,
    context: ProcessContext<'_>,
) -> Result<StackCounts, CountError> {
    let mut counter = CountingProcesses::new(target, harness, CountBy::Stack, directory, context)?;
    let counted = counter.count_once(&[request], &mut || {})?.pop();
    Ok(counted.ok_or(CountError::Absent)??.by_stack())
}

/// Counts the instructions of the benchmarks of a target by source line. `Valgrind::find` must have found valgrind, and the executable must have been
/// built with line tables.
pub struct LineCounter<'c>(CountingProcesses<'c>);

impl<'c> LineCounter<'c> {
    /// Prepares counting. The processes write their files to `directory`.
    pub fn new(
        target: &'c BenchTarget,
        harness: &'c HarnessKind,
        sources: &CountedSources,
        directory: &'c Path,
        context: ProcessContext<'c>,
    ) -> Result<Self, CountError> {
        let counted_by = CountBy::Line(sources.clone());
        CountingProcesses::new(target, harness, counted_by, directory, context).map(Self)
    }

    /// Counts the timed code of one iteration.
    pub fn count_iteration(&mut self, request: &CountRequest) -> Result<LineCounts, CountError> {
        let counted = self.0.count_once(&[request], &mut || {})?.pop();
        Ok(counted.ok_or(CountError::Absent)??.by_line())
    }

    /// Counts a whole process that iterates the benchmark at least once, including set-up and harness.
    pub fn count_process(mut self, request: &CountRequest) -> Result<LineCounts, CountError> {
        let counter = &mut self.0;
        counter.windows = TimedWindows::Whole;
        let profile = match counter.harness {
            HarnessKind::Own => counter.run_own(request)?,
            HarnessKind::Criterion(_) => counter.run_criterion(request)?,
            HarnessKind::Printed(harness) => counter.sample_divan(harness, request, 1)?.0,
            HarnessKind::Program(programs) => counter.count_program(programs, request)?.more,
        };
        Ok(collect_lines(&profile, profile.total(), 1))
    }
}

/// Returns true if another process should count the benchmark: if it has been counted in fewer than two processes, or if its counts so far do not
/// agree. Returns false if counting has failed.
fn needs_another_process(counted: &CountResult) -> bool {
    let Ok(counts) = counted else { return false };
    let agree = counts.windows(2).all(|two| {
        (two[0].iterations, two[0].instructions) == (two[1].iterations, two[1].instructions)
    });
    counts.len() < AGREEING || !agree
}

fn find_windows(target: &BenchTarget, harness: &HarnessKind) -> Result<TimedWindows, CountError> {
    let path = target.executable();
    let executable = || fs::read(path).map_err(CountError::file_error(path));
    Ok(match harness {
        HarnessKind::Own => TimedWindows::find_perfcheck(&executable()?)?,
        HarnessKind::Criterion(_) => TimedWindows::find_criterion(&executable()?)?,
        HarnessKind::Printed(harness) if harness.takes_iterations() => {
            TimedWindows::find_divan(&executable()?)?
        }
        HarnessKind::Printed(harness) => {
            return Err(CountError::Iterations {
                harness: harness.printer().word(),
            });
        }
        HarnessKind::Program(_) => TimedWindows::Whole,
    })
}

/// The counting processes of one target.
struct CountingProcesses<'c> {
    target: &'c BenchTarget,
    harness: &'c HarnessKind,
    windows: TimedWindows,
    counted_by: CountBy,
    directory: &'c Path,
    context: ProcessContext<'c>,
    /// Maximum time that a process spends on a benchmark.
    limit: Option<Duration>,
    /// Number of processes so far.
    processes: u32,
}

impl<'c> CountingProcesses<'c> {
    fn new(
        target: &'c BenchTarget,
        harness: &'c HarnessKind,
        counted_by: CountBy,
        directory: &'c Path,
        context: ProcessContext<'c>,
    ) -> Result<Self, CountError> {
        if !target.first_arguments.is_empty() {
            return Err(CountError::Runner);
        }
        Ok(Self {
            windows: find_windows(target, harness)?,
            target,
            harness,
            counted_by,
            directory,
            context: ProcessContext {
                timeout: context.timeout * PATIENCE,
                ..context
            },
            limit: None,
            processes: 0,
        })
    }

    /// Counts each benchmark once.
    fn count_once(
        &mut self,
        requests: &[&CountRequest],
        report: &mut dyn FnMut(),
    ) -> Result<Vec<Result<SamplePair, CountError>>, CountError> {
        match self.harness {
            HarnessKind::Own => self.count_in_one_process(requests, report),
            HarnessKind::Criterion(_) => {
                self.count_in_processes(requests, Self::count_criterion, report)
            }
            HarnessKind::Printed(harness) => self.count_in_processes(
                requests,
                |counter, one| counter.count_divan(harness, one),
                report,
            ),
            HarnessKind::Program(programs) => self.count_in_processes(
                requests,
                |counter, one| counter.count_program(programs, one),
                report,
            ),
        }
    }

    /// Returns the time that a sample may take in addition to the timeout of an answer. With a limit it is zero, because the timeout is at most the
    /// limit.
    fn expected(&self, one: &CountRequest, iterations: u64) -> Duration {
        self.limit
            .map_or_else(|| one.expected(iterations), |_| Duration::ZERO)
    }

    /// Reports whether two samples are too short: twice as many iterations do not execute twice as many instructions. Then many instructions are the
    /// same for any number of iterations, such as those that start a thread. As their number varies, it could hide the instructions of an iteration.
    /// Counts of two builds must have the same number of iterations, so only counts by line use longer samples.
    fn needs_longer_samples(&self, less: &Profile, more: &Profile, iterations: u64) -> bool {
        let twice = 2 * less.total();
        matches!(self.counted_by, CountBy::Line(_))
            && iterations < LONG_SAMPLE_ITERATIONS
            && more.total() < LONG_SAMPLE_INSTRUCTIONS
            && more.total().abs_diff(twice) > twice / 20
    }

    /// Returns the recording for the next process, in a directory of its own.
    fn next_recording(&mut self) -> Result<Recording, CountError> {
        let directory = self.directory.join(self.processes.to_string());
        self.processes += 1;
        fs::create_dir_all(&directory).map_err(CountError::file_error(&directory))?;
        Ok(Recording::new(
            self.windows.clone(),
            self.counted_by.clone(),
            directory,
        ))
    }

    /// Counts all benchmarks in one process of our own harness. After a failure, another process counts the remaining ones.
    fn count_in_one_process(
        &mut self,
        requests: &[&CountRequest],
        report: &mut dyn FnMut(),
    ) -> Result<Vec<Result<SamplePair, CountError>>, CountError> {
        let mut counts = Vec::new();
        while counts.len() < requests.len() {
            let mut recording = self.next_recording()?;
            let spec = recording.wrap_spec(process_spec(self.target, 0, 0));
            let mut session = match Session::start(&spec, &self.context) {
                Ok(session) => session,
                Err(error) => {
                    let error = failed_count(error, &recording)?;
                    // The other benchmarks would time out in the same way.
                    let limit = self.limit.filter(|_| error.is_timeout());
                    counts.push(Err(error));
                    report();
                    while let Some(limit) = limit.filter(|_| counts.len() < requests.len()) {
                        counts.push(Err(CountError::TooLong(limit)));
                        report();
                    }
                    continue;
                }
            };
            let before = counts.len();
            while let Some(one) = requests.get(counts.len()) {
                let count = self.count_benchmark(&mut session, &mut recording, one);
                match count {
                    // The process has already passed this benchmark, but another process will reach it.
                    Err(CountError::Absent) if counts.len() > before => break,
                    Err(CountError::Child { error, .. }) => {
                        counts.push(Err(failed_count(error, &recording)?));
                        report();
                        break;
                    }
                    // The process is still running the benchmark, so it cannot be used for others.
                    Err(error @ CountError::TooLong(_)) => {
                        counts.push(Err(error));
                        report();
                        break;
                    }
                    other => counts.push(other),
                }
                report();
            }
        }
        Ok(counts)
    }

    /// Counts a benchmark in a running process: a first iteration does the one-time work, then come a shorter and a longer sample.
    fn count_benchmark(
        &self,
        session: &mut Session<'_>,
        recording: &mut Recording,
        one: &CountRequest,
    ) -> Result<SamplePair, CountError> {
        let began = Instant::now();
        match start_or_advance(session, &one.key.id)? {
            Some(StartOutcome::Ready(_)) => {}
            Some(StartOutcome::Skipped(reason)) => return Err(CountError::Skipped(reason)),
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
            for window in recording.take_windows(session.id()) {
                all.add(window);
            }
            if recording.is_damaged() {
                return Err(CountError::Damaged);
            }
            Ok(all)
        };
        let (mut shorter, mut longer) = one.lengths(&self.counted_by);
        sample(1)?;
        let mut less = sample(shorter)?;
        let mut more = sample(longer)?;
        while self.needs_longer_samples(&less, &more, longer) {
            (shorter, longer) = (LENGTHENING * shorter, LENGTHENING * longer);
            less = sample(shorter)?;
            more = sample(longer)?;
        }
        session.finish(&one.key.id)?;
        pair_samples(less, more, longer - shorter)
    }

    /// Counts each benchmark in processes of its own.
    fn count_in_processes(
        &mut self,
        requests: &[&CountRequest],
        count: impl Fn(&mut Self, &CountRequest) -> Result<SamplePair, CountError>,
        report: &mut dyn FnMut(),
    ) -> Result<Vec<Result<SamplePair, CountError>>, CountError> {
        let mut counts = Vec::new();
        for one in requests {
            let count = match count(self, one) {
                Err(error) if error.is_interrupt() => return Err(error),
                count => count,
            };
            counts.push(count);
            report();
        }
        Ok(counts)
    }

    fn count_criterion(&mut self, one: &CountRequest) -> Result<SamplePair, CountError> {
        let mut recording = self.next_recording()?;
        let spec = recording.wrap_spec(process_spec(self.target, 0, 0));
        let rehearsal = Rehearsal::start(&spec, &one.key.id, RehearsalMode::WarmUp, &self.context)?;
        let mut rehearsal = rehearsal.ok_or(CountError::Name)?;
        let process = rehearsal.id();
        // The warm-up runs 1, 2, 4, ... iterations, one window each. The last window needed has twice the iterations of the shorter sample, which is
        // never the first window.
        let enough = one.iterations().ilog2().max(1) as usize + 2;
        let is_enough = |windows: &[Profile]| match windows {
            [.., less, more] if windows.len() >= enough => {
                !self.needs_longer_samples(less, more, 1 << (windows.len() - 1))
            }
            _ => false,
        };
        let mut windows = Vec::new();
        let ended = rehearsal.wait_for_success_or(&mut |_| {
            windows.extend(recording.take_windows(process));
            is_enough(&windows)
        });
        match ended {
            Ok(true) => {}
            Ok(false) => {
                return Err(CountError::Died {
                    complaint: recording.first_log_line(),
                });
            }
            Err(error) => return Err(failed_count(error, &recording)?),
        }
        windows.extend(recording.take_windows(process));
        let needed = (enough..=windows.len()).find(|length| is_enough(&windows[..*length]));
        windows.truncate(needed.unwrap_or(windows.len()));
        if recording.is_damaged() {
            return Err(CountError::Damaged);
        }
        let more = windows.pop().ok_or(CountError::Nothing)?;
        match (windows.pop(), windows.len()) {
            (None, _) => pair_samples(Profile::default(), more, 1),
            // The first iteration may include one-time work, so it is not subtracted from the second and third. These iterations take so long that
            // the instructions of the harness do not matter.
            (Some(_), 0) => pair_samples(Profile::default(), more, 2),
            (Some(less), before) => match self.counted_by {
                CountBy::Function | CountBy::Line(_) => pair_samples(less, more, 1 << before),
                // Subtract the shortest sample, as in `CountRequest::lengths`. It is the second window, which has two iterations.
                CountBy::Stack => {
                    let less = windows.into_iter().nth(1).unwrap_or(less);
                    pair_samples(less, more, (2 << before) - 2)
                }
            },
        }
    }

    /// Counts in two processes of divan. Both do the same one-time work, so the difference of their counts does not contain it.
    fn count_divan(
        &mut self,
        harness: &PrintedHarness,
        one: &CountRequest,
    ) -> Result<SamplePair, CountError> {
        let (mut shorter, mut longer) = one.lengths(&self.counted_by);
        loop {
            let (less, few) = self.sample_divan(harness, one, shorter)?;
            let (more, many) = self.sample_divan(harness, one, longer)?;
            if !self.needs_longer_samples(&less, &more, longer) {
                return match many.saturating_sub(few) {
                    0 => Err(CountError::Nothing),
                    iterations => pair_samples(less, more, iterations),
                };
            }
            (shorter, longer) = (LENGTHENING * shorter, LENGTHENING * longer);
        }
    }

    /// Counts one run of a program.
    fn count_program(
        &mut self,
        programs: &[ProgramBenchmark],
        one: &CountRequest,
    ) -> Result<SamplePair, CountError> {
        let program = find_program(programs, &one.key.id)?;
        let mut recording = self.next_recording()?;
        let spec = recording.wrap_spec(process_spec(self.target, 0, 0));
        let longest = self.expected(one, 1);
        let run = match run_program(program, &spec, RunPurpose::Timing, longest, &self.context) {
            Ok(run) => run,
            Err(error) => return Err(failed_count(error, &recording)?),
        };
        let windows = recording.take_windows(run.process);
        if recording.is_damaged() {
            return Err(CountError::Damaged);
        }
        match <[Profile; 1]>::try_from(windows) {
            Ok([whole]) => pair_samples(Profile::default(), whole, 1),
            Err(windows) => Err(CountError::Samples(windows.len())),
        }
    }

    /// Counts a process of our own harness that iterates the benchmark once.
    fn run_own(&mut self, one: &CountRequest) -> Result<Profile, CountError> {
        let mut recording = self.next_recording()?;
        let spec = recording.wrap_spec(process_spec(self.target, 0, 0));
        let mut session = Session::start(&spec, &self.context)?;
        let process = session.id();
        match start_or_advance(&mut session, &one.key.id)? {
            Some(StartOutcome::Ready(_)) => {}
            Some(StartOutcome::Skipped(reason)) => return Err(CountError::Skipped(reason)),
            None => return Err(CountError::Absent),
        }
        let once = SampleSpec {
            iterations: 1,
            count: 1,
        };
        session.sample(&[once], self.expected(one, 1))?;
        session.finish(&one.key.id)?;
        // Callgrind writes its file when the process ends.
        session.bye_within(self.context.timeout)?;
        take_whole(&mut recording, process)
    }

    /// Counts a process of Criterion that iterates the benchmark for a second.
    fn run_criterion(&mut self, one: &CountRequest) -> Result<Profile, CountError> {
        let mut recording = self.next_recording()?;
        let spec = recording.wrap_spec(process_spec(self.target, 0, 0));
        let rehearsal = Rehearsal::start(&spec, &one.key.id, RehearsalMode::WarmUp, &self.context)?;
        let mut rehearsal = rehearsal.ok_or(CountError::Name)?;
        let process = rehearsal.id();
        match rehearsal.wait_for_success() {
            Ok(true) => take_whole(&mut recording, process),
            Ok(false) => Err(CountError::Died {
                complaint: recording.first_log_line(),
            }),
            Err(error) => Err(failed_count(error, &recording)?),
        }
    }

    /// Takes one sample, for which each thread runs `iterations` iterations. Returns its profile and the total number of iterations.
    fn sample_divan(
        &mut self,
        harness: &PrintedHarness,
        one: &CountRequest,
        iterations: u64,
    ) -> Result<(Profile, u64), CountError> {
        let mut recording = self.next_recording()?;
        let spec = recording.wrap_spec(process_spec(self.target, 0, 0));
        let sample = UntimedSampleRequest {
            id: &one.key.id,
            iterations,
            expected: self.expected(one, iterations),
        };
        let iterated = match harness.run_iterations(&sample, &spec, &self.context) {
            Ok(iterated) => iterated,
            Err(error) => return Err(failed_count(error, &recording)?),
        };
        let windows = recording.take_windows(iterated.process);
        if recording.is_damaged() {
            return Err(CountError::Damaged);
        }
        match <[Profile; 1]>::try_from(windows) {
            Ok([window]) => Ok((window, iterated.iterations)),
            Err(windows) => Err(CountError::Samples(windows.len())),
        }
    }
}

/// Returns the profile of a process that has ended.
fn take_whole(recording: &mut Recording, process: u32) -> Result<Profile, CountError> {
    let whole = recording.take_windows(process).pop();
    if recording.is_damaged() {
        return Err(CountError::Damaged);
    }
    whole.ok_or_else(|| CountError::Died {
        complaint: recording.first_log_line(),
    })
}

/// Returns the error of a benchmark whose process has failed. Fails only if the user asked to stop.
fn failed_count(error: ChildError, recording: &Recording) -> Result<CountError, CountError> {
    match error {
        ChildError::Interrupted => Err(error.into()),
        error => Ok(CountError::Child {
            error,
            complaint: recording.first_log_line(),
        }),
    }
}

/// A shorter and a longer sample. The longer one has `iterations` more iterations. Both contain the harness's own instructions.
///
/// A count between two points of a process contains the benchmark's iterations and some code of the harness. That code is the same for few iterations
/// and for many, so the instructions of an iteration are the slope between two sample lengths.
struct SamplePair {
    iterations: u64,
    less: Profile,
    more: Profile,
}

/// Pairs two samples, or fails if the longer one did not execute more instructions.
fn pair_samples(less: Profile, more: Profile, iterations: u64) -> Result<SamplePair, CountError> {
    if more.total() <= less.total() {
        return Err(CountError::Nothing);
    }
    Ok(SamplePair {
        iterations,
        less,
        more,
    })
}

impl SamplePair {
    fn by_function(self) -> InstructionCount {
        let instructions = self.more.total() - self.less.total();
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for (symbol, count) in self.more.subtract(&self.less).functions() {
            *by_name.entry(readable_name(symbol)).or_default() += count;
        }
        let by_name = by_name.into_iter();
        InstructionCount {
            iterations: self.iterations,
            instructions,
            functions: FunctionCount::top_functions(
                by_name.map(|(name, count)| (limits::cut_name(name), count)),
            ),
        }
    }

    fn by_line(self) -> LineCounts {
        let instructions = self.more.total() - self.less.total();
        let lines = self.more.subtract(&self.less);
        collect_lines(&lines, instructions, self.iterations)
    }

    fn by_stack(&self) -> StackCounts {
        StackCounts {
            iterations: self.iterations,
            instructions: Stacks::from_profile(&self.more)
                .subtract(&Stacks::from_profile(&self.less)),
        }
    }
}

/// Returns the average counts by source line.
fn collect_lines(profile: &Profile, instructions: u64, iterations: u64) -> LineCounts {
    let mean = |count: u64| count as f64 / iterations as f64;
    let files = profile.lines().into_iter().map(|(file, lines)| {
        let lines = lines.into_iter().map(|(line, count)| (line, mean(count)));
        (file.to_owned(), lines.collect())
    });
    LineCounts {
        instructions: mean(instructions),
        lines: files.collect(),
    }
}

/// The name that replaces the outermost callers of a stack that is deeper than callgrind records.
const FURTHER_CALLERS: &str = "(further callers)";
/// Name of functions without a symbol.
const NO_SYMBOL: &str = "(no symbol)";

/// The number of instructions of each call stack. A stack is a list of readable names that begins with the outermost caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stacks(BTreeMap<Vec<String>, u64>);

impl Stacks {
    /// Returns the stacks of one sample.
    pub(super) fn from_profile(sample: &Profile) -> Self {
        Self::from_symbols(sample.stacks()).without_common_callers()
    }

    fn from_symbols<'s>(symbols: impl Iterator<Item = (Vec<&'s str>, u64)>) -> Self {
        let mut stacks = BTreeMap::new();
        for (symbols, count) in symbols {
            let cut = (symbols.len() > MOST_CALLERS).then(|| FURTHER_CALLERS.to_owned());
            let names = symbols.into_iter().map(frame_name);
            *stacks
                .entry(cut.into_iter().chain(names).collect())
                .or_default() += count;
        }
        Self(stacks)
    }

    /// Returns the instructions by which `self` exceeds `other`, without the stacks that have no excess. Both must come from [`Self::from_profile`],
    /// which removes the outer callers: each sample is called by a different instance of a generic function, so whole stacks would never be equal.
    pub(super) fn subtract(mut self, other: &Self) -> BTreeMap<Vec<String>, u64> {
        for (stack, count) in &mut self.0 {
            *count = count.saturating_sub(other.0.get(stack).copied().unwrap_or(0));
        }
        self.0.retain(|_, count| *count > 0);
        // Stacks that contain only the harness are gone now, so the others may have more callers in common.
        self.without_common_callers().0
    }

    /// Removes the outer callers that all stacks have in common, except the innermost of them. These functions only lead to the harness, which calls
    /// the timed code. Each thread begins in a function of its own, so this is done for each thread separately.
    fn without_common_callers(self) -> Self {
        let stacks: Vec<(Vec<String>, u64)> = self.0.into_iter().collect();
        let mut inner = BTreeMap::new();
        for of_thread in stacks.chunk_by(|(one, _), (other, _)| one.first() == other.first()) {
            // The stacks are sorted, so the first and the last have the least in common.
            let (first, last) = (&of_thread[0].0, &of_thread[of_thread.len() - 1].0);
            let outer = count_common_callers(first, last).saturating_sub(1);
            for (stack, count) in of_thread {
                *inner.entry(stack[outer..].to_vec()).or_default() += count;
            }
        }
        Self(inner)
    }
}

/// Returns the number of callers that two stacks of one thread have in common.
fn count_common_callers(stack: &[String], other: &[String]) -> usize {
    if stack
        .first()
        .is_some_and(|outermost| outermost == FURTHER_CALLERS)
    {
        return 1;
    }
    let both = stack.iter().zip(other);
    both.take_while(|(one, other)| one == other).count()
}

/// Returns the name of a function on a stack.
fn frame_name(symbol: &str) -> String {
    if symbol.starts_with("0x") {
        // The symbol is an address, which is different in another build.
        NO_SYMBOL.to_owned()
    } else {
        limits::cut_name(readable_name(symbol))
    }
}

/// The reason why instructions were not counted, or time was not sampled.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The timed code cannot be distinguished from the rest of the bench's code.
    #[error(transparent)]
    Windows(#[from] TimedWindowsError),
    /// The harness does not report how often it iterates.
    #[error("{harness} benches do not report how many iterations they run")]
    Iterations {
        /// Name of the harness, such as `divan`.
        harness: &'static str,
    },
    /// A runner starts the bench, so counting or sampling would apply to the runner.
    #[error(
        "cargo starts the bench through a runner, whose work would be counted as the benchmark's"
    )]
    Runner,
    /// No filter selects only this benchmark.
    #[error("another benchmark has the same name")]
    Name,
    /// The bench does not announce the benchmark any more.
    #[error("the bench no longer contains this benchmark")]
    Absent,
    /// The benchmark declines to run.
    #[error("it was skipped: {0}")]
    Skipped(String),
    /// The process failed.
    #[error("{error}{}", complaint.as_ref().map(|line| format!(" (valgrind: {line})")).unwrap_or_default())]
    Child {
        /// The error of the process.
        error: ChildError,
        /// Valgrind's message, if there was one.
        complaint: Option<String>,
    },
    /// The process ended too early.
    #[error("the process ended too early{}", complaint.as_ref().map(|line| format!(" (valgrind: {line})")).unwrap_or_default())]
    Died {
        /// Valgrind's message, if there was one.
        complaint: Option<String>,
    },
    /// Some of the counts could not be read.
    #[error("the output of callgrind cannot be read")]
    Damaged,
    /// The bench did not take exactly one sample.
    #[error("it took {0} samples instead of one")]
    Samples(usize),
    /// This system cannot sample the time of a process.
    #[error(transparent)]
    NoTime(#[from] TimeSamplingError),
    /// The functions of the executable have no names.
    #[error("its executable has no function symbols (`strip = true` removes them)")]
    NoNames,
    /// The benchmark was not running at the time of any sample.
    #[error("no sample was taken while the benchmark ran")]
    Unseen,
    /// More iterations did not execute more instructions.
    #[error("more iterations did not execute more instructions")]
    Nothing,
    /// Counting takes longer than the limit.
    #[error("counting takes longer than {} s", .0.as_secs_f64())]
    TooLong(Duration),
    /// The files of the counts cannot be written, or the executable cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl CountError {
    /// Reports whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Child {
                error: ChildError::Interrupted,
                ..
            }
        )
    }

    /// Reports whether the process may have failed only because the process of the other side ran at the same time. It may then succeed if it runs
    /// alone.
    pub fn may_pass_alone(&self) -> bool {
        match self {
            Self::Child { error, .. } => !matches!(
                error,
                ChildError::Interrupted | ChildError::Version { .. } | ChildError::Capability
            ),
            Self::Died { .. } | Self::Skipped(_) => true,
            Self::Windows(_)
            | Self::Iterations { .. }
            | Self::Runner
            | Self::Name
            | Self::Absent
            | Self::Damaged
            | Self::Samples(_)
            | Self::NoTime(_)
            | Self::NoNames
            | Self::Unseen
            | Self::Nothing
            | Self::TooLong(_)
            | Self::File { .. } => false,
        }
    }

    /// Reports whether both sides failed in the same way, independent of each other: both benchmarks decline to run, or both take too long.
    pub fn fails_like(&self, other: &Self) -> bool {
        let declines = |one: &Self| matches!(one, Self::Skipped(_));
        declines(self) && declines(other) || self.is_timeout() && other.is_timeout()
    }

    /// Reports whether the count took longer than allowed.
    pub(super) fn is_timeout(&self) -> bool {
        let Self::Child { error, .. } = self else {
            return matches!(self, Self::TooLong(_));
        };
        matches!(error, ChildError::Timeout { .. })
    }

    pub(super) fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        |source| Self::File { path, source }
    }
}

impl From<ChildError> for CountError {
    fn from(error: ChildError) -> Self {
        Self::Child {
            error,
            complaint: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses lines such as `main;iter;work 12`.
    fn stacks(lines: &[&str]) -> Stacks {
        let stack = |line: &&str| {
            let (frames, count) = line.rsplit_once(' ').expect("a count");
            let frames = frames.split(';').map(str::to_owned).collect();
            (frames, count.parse().expect("a number"))
        };
        Stacks(lines.iter().map(stack).collect())
    }

    #[test]
    fn stacks_begin_with_what_all_of_them_have_in_common_last() {
        let sample = stacks(&[
            "main;run;iter 20",
            "main;run;iter;b 500",
            "main;run;iter;b;leaf 3",
        ]);
        let begun = stacks(&["iter 20", "iter;b 500", "iter;b;leaf 3"]);
        assert_eq!(sample.without_common_callers(), begun);
        assert_eq!(begun.clone().without_common_callers(), begun);
        // Everything is in one function.
        assert_eq!(
            stacks(&["main;run;iter 20"]).without_common_callers(),
            stacks(&["iter 20"])
        );
    }

    #[test]
    fn each_thread_begins_with_what_its_own_stacks_have_in_common() {
        let sample = stacks(&[
            "clone;thread;worker 5",
            "clone;thread;worker;job 40",
            "main;iter 1",
            "main;iter;join 2",
        ]);
        let begun = stacks(&["worker 5", "worker;job 40", "iter 1", "iter;join 2"]);
        assert_eq!(sample.without_common_callers(), begun);
    }

    #[test]
    fn samples_that_are_called_in_different_ways_have_the_same_stacks() {
        let less = stacks(&[
            "main;lower::<1>;iter 5",
            "main;lower::<1>;iter;now 9",
            "main;lower::<1>;iter;rare 3",
            "main;lower::<1>;iter;work 100",
        ]);
        let more = stacks(&[
            "main;lower::<2>;iter 9",
            "main;lower::<2>;iter;now 9",
            "main;lower::<2>;iter;work 200",
        ]);
        let beyond = more
            .without_common_callers()
            .subtract(&less.without_common_callers());
        assert_eq!(beyond, stacks(&["iter 4", "iter;work 100"]).0);
    }

    #[test]
    fn a_stack_whose_callers_are_not_all_known_says_so() {
        let symbols: Vec<String> = (0..=MOST_CALLERS).map(|at| format!("f{at}")).collect();
        let deep: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let shallow = vec!["main", "iter", "0x00000000000012d0"];
        let found =
            Stacks::from_symbols([(deep, 4), (shallow, 3)].into_iter()).without_common_callers();
        let mut known = vec![FURTHER_CALLERS.to_owned()];
        known.extend(symbols);
        let expected = [(known, 4), (vec![NO_SYMBOL.to_owned()], 3)];
        assert_eq!(found, Stacks(expected.into()));
        assert_eq!(found.clone().without_common_callers(), found);
    }
}
