//! Runs one process to its end and collects its output, within bounds.
//!
//! Runs one benchmark in its own process, to its end or until the caller stops it.
//!
//! Runs a divan benchmark with a given number of iterations, for counting instructions.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::criterion::{OF_EVERY_PROCESS, ProcessFolder};
use super::harness::{
    OF_THE_CLOCK, PrintedHarness, PrintedRequest, Printer, no_result_error, single_divan_row,
};
use crate::child::error::ChildError;
use crate::child::running::{IncomingLine, read_lines, read_pieces};
use crate::child::running::{PATIENCE, RunningBench, WaitOutcome};
use crate::child::spawn::ProcessContext;
use crate::child::spawn::{ProcessSpec, SpawnedProcess, bench_command};
use crate::process::UsageSnapshot;
use perfcheck_analysis::model::{Event, Observer};

/// Largest accepted output; lists and tables are shorter.
const MOST_TEXT: usize = 16 << 20;
/// Bytes kept of the beginning of standard error, for error messages.
const MOST_ERRORS: usize = 64 << 10;

/// A process that has ended.
pub(super) struct ProcessOutput {
    /// Process id.
    pub(super) process: u32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Whether it succeeded.
    pub(super) is_well: bool,
    /// The error, if it did not succeed.
    pub(super) error: Option<ChildError>,
    /// Resources that the process had used when it last printed something.
    pub(super) usage: Option<UsageSnapshot>,
    /// Duration of the process.
    pub(super) took: Duration,
}

/// The task of a process.
pub(super) struct Invocation<'c> {
    /// Arguments after `--bench`.
    pub(super) arguments: &'c [String],
    /// Environment variables in addition to those of the specification.
    pub(super) variables: &'c [(&'c str, &'c OsStr)],
    /// Description of the task for error messages.
    pub(super) purpose: &'c str,
    /// Longest duration allowed.
    pub(super) allowed: Duration,
    /// Beginnings of lines that the harness prints to standard error in every process; they are not passed on.
    pub(super) dropped: &'c [&'c [u8]],
}

/// Interval at which `is_enough` is called. It is shorter at first, because the process may end soon.
const TICK: Duration = Duration::from_millis(20);
const FIRST_TICK: Duration = Duration::from_millis(1);

/// Runs the process to its end.
pub(super) fn run(
    spec: &ProcessSpec,
    call: &Invocation<'_>,
    launcher: &ProcessContext<'_>,
) -> Result<ProcessOutput, ChildError> {
    let printed = run_until(spec, call, launcher, None)?;
    // Without a callback the process is not stopped early.
    printed.ok_or(ChildError::Interrupted)
}

/// A callback that returns whether the process may be stopped. It is called as soon as the process has started, and
/// then repeatedly.
pub(super) type IsEnough<'e> = &'e mut dyn FnMut(u32) -> bool;

/// Runs the process to its end or until `is_enough` returns true; `None` in the second case.
pub(super) fn run_until(
    spec: &ProcessSpec,
    call: &Invocation<'_>,
    launcher: &ProcessContext<'_>,
    mut is_enough: Option<IsEnough<'_>>,
) -> Result<Option<ProcessOutput>, ChildError> {
    let mut command = bench_command(spec);
    command
        .args(call.arguments)
        .envs(call.variables.iter().copied())
        .stdin(Stdio::null());
    let began = Instant::now();
    let SpawnedProcess {
        mut group,
        stdout,
        stderr,
    } = spec.spawn(&mut command, launcher)?;
    let process = group.leader().id();
    if is_enough.as_mut().is_some_and(|ask| ask(process)) {
        return Ok(None);
    }
    let not_started = |source| spec.spawn_error(source);
    let lines = read_lines(stdout).map_err(not_started)?;
    let errors = StderrFilter {
        kept: RefCell::default(),
        line: RefCell::default(),
        dropped: call.dropped,
        observer: launcher.observer,
    };
    let heard = ProcessContext {
        observer: &errors,
        ..*launcher
    };
    let mut running = RunningBench::new(group, read_pieces(stderr).map_err(not_started)?, &heard);
    let deadline = began.checked_add(call.allowed);
    let mut text = String::new();
    let mut usage = None;
    loop {
        // Without a callback, sleep while the process measures.
        let soon = began.elapsed().clamp(FIRST_TICK, TICK);
        let tick = is_enough.as_ref().map(|_| Instant::now() + soon);
        let until = tick.into_iter().chain(deadline).min();
        match running.wait(&lines, until) {
            WaitOutcome::Came(IncomingLine::Line(line)) => {
                usage = UsageSnapshot::read(running.id()).or(usage);
                text.push_str(&String::from_utf8_lossy(&line));
                text.push('\n');
            }
            WaitOutcome::Came(IncomingLine::TooLong(_)) => return Err(output_too_long()),
            WaitOutcome::Closed => break,
            WaitOutcome::Late if is_enough.as_mut().is_some_and(|ask| ask(process)) => {
                return Ok(None);
            }
            WaitOutcome::Late if deadline.is_none_or(|deadline| Instant::now() < deadline) => {}
            WaitOutcome::Late => {
                return Err(ChildError::Timeout {
                    request: call.purpose.to_owned(),
                    after: call.allowed,
                });
            }
            WaitOutcome::Interrupted => return Err(ChildError::Interrupted),
        }
        if text.len() > MOST_TEXT {
            return Err(output_too_long());
        }
    }
    let took = began.elapsed();
    let is_well = running.end().is_ok_and(|status| status.success());
    let error = (!is_well).then(|| running.exit_error(call.purpose));
    drop(running);
    Ok(Some(ProcessOutput {
        process,
        stdout: text,
        stderr: String::from_utf8_lossy(&errors.finish()).into_owned(),
        is_well,
        error,
        usage,
        took,
    }))
}

/// The standard error of a process. Keeps its beginning, and passes it on line by line, except for lines that occur
/// in every process.
struct StderrFilter<'c> {
    kept: RefCell<Vec<u8>>,
    line: RefCell<Vec<u8>>,
    dropped: &'c [&'c [u8]],
    observer: &'c dyn Observer,
}

impl Observer for StderrFilter<'_> {
    fn observe(&self, event: &Event<'_>) {
        let Event::Output(piece) = event else { return };
        let mut kept = self.kept.borrow_mut();
        let room = MOST_ERRORS.saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..piece.len().min(room)]);
        let mut line = self.line.borrow_mut();
        line.extend_from_slice(piece);
        // Pass on a very long line in parts.
        let ended = match line.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if line.len() > MOST_ERRORS => line.len(),
            None => return,
        };
        let lines: Vec<u8> = line.drain(..ended).collect();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if !self.dropped.iter().any(|begin| line.starts_with(begin)) {
                self.observer.observe(&Event::Output(line));
            }
        }
    }
}

impl StderrFilter<'_> {
    /// Passes on the last line, and returns the kept beginning.
    fn finish(self) -> Vec<u8> {
        let mut line = self.line.into_inner();
        if !line.is_empty() {
            line.push(b'\n');
            self.observer.observe(&Event::Output(&line));
        }
        self.kept.into_inner()
    }
}

fn output_too_long() -> ChildError {
    ChildError::protocol(format!("it printed more than {} MiB", MOST_TEXT >> 20))
}

impl PrintedHarness {
    /// Runs one benchmark as if to measure it, to its end or until `is_enough` returns true. `is_enough` is called as
    /// soon as the process has started, and then repeatedly. The output of the process is ignored.
    pub fn run_observed(
        &self,
        request: &PrintedRequest<'_>,
        spec: &ProcessSpec,
        launcher: &ProcessContext<'_>,
        is_enough: IsEnough<'_>,
    ) -> Result<(), ChildError> {
        let purpose = "run a benchmark";
        self.run_benchmark(request, purpose, spec, launcher, Some(is_enough))?;
        Ok(())
    }

    /// Runs one benchmark, to its end or until `is_enough` returns true; `None` in the second case. The folder has
    /// Criterion's results.
    pub(super) fn run_benchmark(
        &self,
        request: &PrintedRequest<'_>,
        purpose: &str,
        spec: &ProcessSpec,
        launcher: &ProcessContext<'_>,
        is_enough: Option<IsEnough<'_>>,
    ) -> Result<Option<(ProcessOutput, Option<ProcessFolder>)>, ChildError> {
        let (arguments, folder) = match self.dialect {
            None => (self.arguments(request)?, None),
            Some(dialect) => {
                let folder = ProcessFolder::create().map_err(|error| {
                    ChildError::bench(format!(
                        "no directory could be made for its results: {error}"
                    ))
                })?;
                let arguments = dialect.arguments(request.id, &request.config());
                (arguments, Some(folder))
            }
        };
        let variables = folder.as_ref().map(ProcessFolder::variables);
        let variables: Vec<(&str, PathBuf)> = variables.into_iter().flatten().collect();
        let variables: Vec<(&str, &OsStr)> = (variables.iter())
            .map(|(name, path)| (*name, path.as_os_str()))
            .collect();
        let dropped: &[&[u8]] = match folder {
            Some(_) => &OF_EVERY_PROCESS,
            None => &[OF_THE_CLOCK],
        };
        let call = Invocation {
            arguments: &arguments,
            variables: &variables,
            purpose,
            allowed: self.time_limit(request, launcher),
            dropped,
        };
        match run_until(spec, &call, launcher, is_enough)? {
            Some(printed) if !printed.is_well => Err(self.error_from_failure(printed)),
            printed => Ok(printed.map(|printed| (printed, folder))),
        }
    }
}

/// A sample of a benchmark that is counted rather than timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntimedSampleRequest<'r> {
    /// The id of the benchmark.
    pub id: &'r str,
    /// Iterations of each thread.
    pub iterations: u64,
    /// Upper bound of the expected duration under callgrind.
    pub expected: Duration,
}

/// The result of such a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntimedSample {
    /// Process id.
    pub process: u32,
    /// Total number of iterations of all threads.
    pub iterations: u64,
}

impl PrintedHarness {
    /// Reports whether the harness accepts a number of iterations.
    pub fn takes_iterations(&self) -> bool {
        self.printer() == Printer::Divan
    }

    /// Runs this number of iterations of one benchmark, as one sample on each of its threads, in its own process.
    pub fn run_iterations(
        &self,
        sample: &UntimedSampleRequest<'_>,
        spec: &ProcessSpec,
        launcher: &ProcessContext<'_>,
    ) -> Result<UntimedSample, ChildError> {
        let mut arguments = self.address(sample.id)?.arguments();
        let size = sample.iterations.to_string();
        // Take one sample, even if the author set minimum or maximum times.
        let told = ["--sample-count", "1", "--sample-size", &size];
        let whatever = ["--min-time", "0", "--max-time", "1"];
        arguments.extend(told.iter().chain(&whatever).map(|word| (*word).to_owned()));
        let call = Invocation {
            arguments: &arguments,
            variables: &[],
            purpose: "iterate",
            allowed: (launcher.timeout).saturating_add(sample.expected.saturating_mul(PATIENCE)),
            dropped: &[OF_THE_CLOCK],
        };
        let printed = run(spec, &call, launcher)?;
        if !printed.is_well {
            return Err(self.error_from_failure(printed));
        }
        let row = single_divan_row(&printed)?.ok_or_else(|| no_result_error(&printed))?;
        Ok(UntimedSample {
            process: printed.process,
            iterations: row.iterations,
        })
    }
}
