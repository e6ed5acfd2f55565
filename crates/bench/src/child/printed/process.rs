//! Runs one bench process to its end and collects its output, up to a maximum size.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use std::cell::RefCell;
use std::ffi::OsStr;
use std::time::{Duration, Instant};

use crate::child::error::ChildError;
use crate::child::process::{
    IncomingLine, ProcessContext, ProcessSpec, RunningBench, SpawnedProcess, WaitOutcome,
    bench_command, read_lines, read_pieces,
};
use perfcheck_analysis::model::{Event, Observer};
use perfcheck_host::process::{UsageSnapshot, read_usage};

/// Largest accepted standard output, in bytes. Lists and tables are shorter.
const MOST_TEXT: usize = 16 << 20;
/// Beginning of the line that divan prints about its clock in every process.
const OF_THE_CLOCK: &[u8] = b"Timer precision: ";
/// How many bytes from the beginning of standard error are kept for error messages.
const MOST_ERRORS: usize = 64 << 10;

/// A process that has ended.
pub(super) struct ProcessOutput {
    /// Process id.
    pub(super) process: u32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Whether the process succeeded.
    pub(super) is_well: bool,
    /// The error to report if the process did not succeed.
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
    /// The environment variables that are set in addition to those of the [`ProcessSpec`].
    pub(super) variables: &'c [(&'c str, &'c OsStr)],
    /// Description of the task for error messages.
    pub(super) purpose: &'c str,
    /// How long the process may take.
    pub(super) allowed: Duration,
}

/// The longest interval between two calls of `is_enough`. The first intervals are as short as `FIRST_TICK`, because the process may end soon.
const TICK: Duration = Duration::from_millis(20);
const FIRST_TICK: Duration = Duration::from_millis(1);

/// Runs the process to its end.
pub(super) fn run(
    spec: &ProcessSpec,
    call: &Invocation<'_>,
    context: &ProcessContext<'_>,
) -> Result<ProcessOutput, ChildError> {
    let printed = run_until(spec, call, context, None)?;
    // Only a callback could have stopped the process early, and there is none.
    printed.ok_or(ChildError::Interrupted)
}

/// A callback that returns whether the process with this id may be stopped. It is called as soon as the process has started, and then repeatedly.
pub(super) type IsEnough<'e> = &'e mut dyn FnMut(u32) -> bool;

/// Runs the process until it ends or `is_enough` returns true. Returns `None` in the second case.
pub(super) fn run_until(
    spec: &ProcessSpec,
    call: &Invocation<'_>,
    context: &ProcessContext<'_>,
    mut is_enough: Option<IsEnough<'_>>,
) -> Result<Option<ProcessOutput>, ChildError> {
    let mut command = bench_command(spec);
    command
        .args(call.arguments)
        .envs(call.variables.iter().copied());
    let began = Instant::now();
    let SpawnedProcess {
        mut group,
        stdout,
        stderr,
    } = spec.spawn(&mut command, context)?;
    let process = group.leader().id();
    if is_enough.as_mut().is_some_and(|ask| ask(process)) {
        return Ok(None);
    }
    let not_started = |source| spec.spawn_error(source);
    let lines = read_lines(stdout).map_err(not_started)?;
    let errors = StderrFilter {
        kept: RefCell::default(),
        line: RefCell::default(),
        observer: context.observer,
    };
    let heard = ProcessContext {
        observer: &errors,
        ..*context
    };
    let mut running = RunningBench::new(group, read_pieces(stderr).map_err(not_started)?, &heard);
    let deadline = began.checked_add(call.allowed);
    let mut text = String::new();
    let mut usage = None;
    loop {
        // Without a callback there is no tick: this thread sleeps while the process measures.
        let soon = began.elapsed().clamp(FIRST_TICK, TICK);
        let tick = is_enough.as_ref().map(|_| Instant::now() + soon);
        let until = tick.into_iter().chain(deadline).min();
        match running.wait(&lines, until) {
            WaitOutcome::Came(IncomingLine::Line(line)) => {
                usage = read_usage(running.id()).or(usage);
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

/// A filter of a process's standard error. It keeps the beginning for error messages and passes all lines on, except for divan's line about its
/// clock, which occurs in every process.
struct StderrFilter<'c> {
    kept: RefCell<Vec<u8>>,
    line: RefCell<Vec<u8>>,
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
            if !line.starts_with(OF_THE_CLOCK) {
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
