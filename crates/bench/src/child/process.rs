//! A bench process, common to all kinds of harness. Starts it, waits for its messages with a deadline, passes its output on meanwhile, and ends it. A
//! [`ProcessSpec`] says what to start. A [`ProcessContext`] says who can interrupt the process, and who receives its events.
//!
//! Invariants: each pipe is read at all times on its own thread, into bounded channels; dropping the value kills the process.

#![expect(clippy::disallowed_methods, reason = "deadlines")]

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::error::ChildError;
use perfcheck_analysis::model::limits::LONGEST_ANSWER_BYTES;
use perfcheck_analysis::model::{Event, NullObserver, Observer, SkipSupport};
use perfcheck_host::os::describe_death;
use perfcheck_host::process::{
    EndedUsage, Interrupt, LeftoverPolicy, ProcessGroup, Supervisor, start_thread,
};

/// The environment variable that makes each sample longer by a given share, for tests of this tool (docs/internals/src/protocol.md, section 8).
pub(super) const SLOWDOWN: &str = "PERFCHECK_SLOWDOWN";

/// The environment variable that sets the precision of latency histograms (docs/internals/src/protocol.md, section 10).
pub const LATENCY_DIGITS: &str = "PERFCHECK_LATENCY_DIGITS";

/// Everything needed to start a bench executable.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The program to start.
    pub program: PathBuf,
    /// The arguments that precede `--bench`. If a runner starts the bench, these are the runner's arguments and the executable.
    pub first_arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// The environment variables to set. A variable without a value is removed from the inherited environment.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Number of the process within the run, from 0.
    pub ordinal: u32,
    /// How many bytes the environment is enlarged by. This moves the start of the stack, and with perfcheck's harness the heap.
    pub padding: u32,
    /// Whether the bench still works if this process skips some of its benchmarks.
    pub skipping: SkipSupport,
}

/// Returns the command that starts the executable with piped outputs. It has only the arguments that all kinds of benches accept.
pub(super) fn bench_command(spec: &ProcessSpec) -> Command {
    let mut command = Command::new(&spec.program);
    command.args(&spec.first_arguments).arg("--bench");
    set_surroundings(&mut command, spec);
    command
}

/// Sets the working directory, the empty input, the piped outputs and the environment of `command`.
pub(super) fn set_surroundings(command: &mut Command, spec: &ProcessSpec) {
    command
        .current_dir(&spec.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Only the specification sets these variables, not the user's environment.
    command.env_remove(SLOWDOWN);
    command.env_remove(LATENCY_DIGITS);
    for (name, value) in &spec.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("PERFCHECK_PROCESS", spec.ordinal.to_string())
        .env("PERFCHECK_PADDING", "x".repeat(spec.padding as usize));
}

/// A started process and its output pipes.
pub(super) struct SpawnedProcess {
    pub(super) group: ProcessGroup,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl ProcessSpec {
    /// Starts `command`, which must be made from this specification by [`bench_command`].
    pub(super) fn spawn(
        &self,
        command: &mut Command,
        context: &ProcessContext<'_>,
    ) -> Result<SpawnedProcess, ChildError> {
        let mut group = (context.supervisor)
            .spawn(command, LeftoverPolicy::Kill)
            .map_err(|source| self.spawn_error(source))?;
        let leader = group.leader();
        match (leader.stdout.take(), leader.stderr.take()) {
            (Some(stdout), Some(stderr)) => Ok(SpawnedProcess {
                group,
                stdout,
                stderr,
            }),
            _ => Err(self.spawn_error(ErrorKind::BrokenPipe.into())),
        }
    }

    /// Creates the error for an executable that could not be started.
    pub(super) fn spawn_error(&self, source: io::Error) -> ChildError {
        ChildError::Spawn {
            path: self.program.clone(),
            source,
        }
    }
}

/// The context that all processes of a campaign share.
#[derive(Clone, Copy)]
pub struct ProcessContext<'a> {
    /// Starts the processes.
    pub supervisor: &'a Supervisor,
    /// Signals that the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// Receives events, and the output of benches other than their results.
    pub observer: &'a dyn Observer,
    /// The time that every answer may take in addition to the expected duration of its request.
    pub timeout: Duration,
}

impl<'a> ProcessContext<'a> {
    /// Creates a context with this base timeout.
    pub fn new(
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
        observer: &'a dyn Observer,
        timeout: Duration,
    ) -> Self {
        Self {
            supervisor,
            interrupt,
            observer,
            timeout,
        }
    }

    /// Returns the same context without an observer.
    pub(crate) fn without_observer(self) -> Self {
        Self {
            observer: &NullObserver,
            ..self
        }
    }
}

/// How long a child may take to end after it was told to end or has closed its pipe.
pub(super) const END_GRACE: Duration = Duration::from_secs(2);
/// How long to wait for output after a child and its descendants have ended. Their last output is normally available at once. It can take longer if
/// another process holds the pipe or the machine is very busy.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// The longest time spent on reading the rest of the output, even if there is much of it or it is passed on slowly.
const OUTPUT_GRACE: Duration = Duration::from_secs(30);
/// A request may take the timeout and this many times its expected duration.
pub(super) const PATIENCE: u32 = 10;
/// An error message quotes at most this many characters of a line of output.
const QUOTED: usize = 200;
/// How many bytes of the last output are kept for error messages. That is enough for the message of a panic and its backtrace.
const KEPT_OUTPUT: usize = 64 << 10;

/// A running process and its output.
pub(super) struct RunningBench<'a> {
    group: ProcessGroup,
    output: Receiver<Vec<u8>>,
    ended: Receiver<Instant>,
    observer: &'a dyn Observer,
    interrupt: Interrupt,
    last_output: Vec<u8>,
}

/// The result of a wait.
pub(super) enum WaitOutcome<T> {
    /// A message arrived.
    Came(T),
    /// The channel is closed, so no message can follow.
    Closed,
    /// The deadline has passed.
    Late,
    /// The user asked to stop.
    Interrupted,
}

/// A message from one of two channels.
pub(super) enum Either<T, U> {
    First(T),
    Second(U),
}

impl<'a> RunningBench<'a> {
    pub(super) fn new(
        group: ProcessGroup,
        output: Receiver<Vec<u8>>,
        context: &ProcessContext<'a>,
    ) -> Self {
        Self {
            ended: group.end_channel(),
            group,
            output,
            observer: context.observer,
            interrupt: context.interrupt.clone(),
            last_output: Vec::new(),
        }
    }

    /// Returns the process id.
    pub(super) fn id(&mut self) -> u32 {
        self.group.leader().id()
    }

    /// Waits for a message from `incoming`, and passes the child's output on meanwhile.
    pub(super) fn wait<T>(
        &mut self,
        incoming: &Receiver<T>,
        deadline: Option<Instant>,
    ) -> WaitOutcome<T> {
        match self.wait_for_either(incoming, &never::<Infallible>(), deadline) {
            WaitOutcome::Came(Either::First(came)) => WaitOutcome::Came(came),
            WaitOutcome::Came(Either::Second(nothing)) => match nothing {},
            WaitOutcome::Closed => WaitOutcome::Closed,
            WaitOutcome::Late => WaitOutcome::Late,
            WaitOutcome::Interrupted => WaitOutcome::Interrupted,
        }
    }

    /// Waits for the answer to `request`, at most for the time `allowed` from the moment `since` on. Returns `None` if the channel is closed.
    pub(super) fn wait_for_answer<T>(
        &mut self,
        incoming: &Receiver<T>,
        request: &str,
        (since, allowed): (Instant, Duration),
    ) -> Result<Option<T>, ChildError> {
        match self.wait(incoming, since.checked_add(allowed)) {
            WaitOutcome::Came(came) => Ok(Some(came)),
            WaitOutcome::Closed => Ok(None),
            WaitOutcome::Late => Err(ChildError::Timeout {
                request: request.to_owned(),
                after: allowed,
            }),
            WaitOutcome::Interrupted => Err(ChildError::Interrupted),
        }
    }

    /// Waits for a message from one of two channels. Only the end of the first channel ends the wait.
    pub(super) fn wait_for_either<T, U>(
        &mut self,
        incoming: &Receiver<T>,
        other: &Receiver<U>,
        deadline: Option<Instant>,
    ) -> WaitOutcome<Either<T, U>> {
        let late = deadline.map_or_else(never, crossbeam_channel::at);
        let mut output = self.output.clone();
        let mut ended = self.ended.clone();
        let mut other = other.clone();
        let mut pipe_is_stale = never();
        loop {
            select! {
                recv(incoming) -> came => {
                    return came.map_or(WaitOutcome::Closed, |came| WaitOutcome::Came(Either::First(came)));
                }
                recv(other) -> came => match came {
                    Ok(came) => return WaitOutcome::Came(Either::Second(came)),
                    Err(_) => other = never(),
                },
                recv(ended) -> _ => {
                    ended = never();
                    // A grandchild may still hold the pipe of a child that has ended, so end the whole group.
                    let _ = self.group.end(Duration::ZERO);
                    pipe_is_stale = after(PIPE_GRACE);
                }
                recv(pipe_is_stale) -> _ => return WaitOutcome::Closed,
                recv(output) -> piece => match piece {
                    Ok(piece) => self.pass_on(&piece),
                    Err(_) => output = never(),
                },
                recv(self.interrupt.channel()) -> _ => return WaitOutcome::Interrupted,
                recv(late) -> _ => return WaitOutcome::Late,
            }
        }
    }

    /// Waits for the end of the process, and returns the time at which it ended.
    pub(super) fn wait_for_end(&mut self, deadline: Option<Instant>) -> WaitOutcome<Instant> {
        let late = deadline.map_or_else(never, crossbeam_channel::at);
        let mut output = self.output.clone();
        loop {
            select! {
                recv(self.ended) -> time => {
                    return time.map_or(WaitOutcome::Closed, WaitOutcome::Came);
                }
                recv(output) -> piece => match piece {
                    Ok(piece) => self.pass_on(&piece),
                    Err(_) => output = never(),
                },
                recv(self.interrupt.channel()) -> _ => return WaitOutcome::Interrupted,
                recv(late) -> _ => return WaitOutcome::Late,
            }
        }
    }

    /// Returns what the process has used, once it has ended and before it is reaped. Returns `None` if the system does not report it.
    pub(super) fn usage(&self) -> Option<EndedUsage> {
        self.group.usage()
    }

    /// Shows `text` as the child's output.
    pub(super) fn observe_output(&self, text: &[u8]) {
        self.observer.observe(&Event::Output(text));
    }

    /// Forgets earlier output, which belongs to another benchmark.
    pub(super) fn forget_output(&mut self) {
        self.last_output.clear();
    }

    /// Returns the message and place of the panic, or else the last line that the process printed.
    pub(super) fn final_message(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.last_output);
        panic_message(&text).or_else(|| {
            let line = text.lines().rfind(|line| !line.trim().is_empty())?;
            Some(quote(line.trim().as_bytes()))
        })
    }

    /// Returns the last lines that the process printed.
    pub(super) fn last_lines(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.last_output);
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for the end of the process, or kills it, and describes how it ended.
    pub(super) fn await_end(&mut self) -> String {
        if !self.group.await_leader(END_GRACE) {
            let _ = self.group.end(Duration::ZERO);
            return format!(
                "did not exit within {} s of closing its connection, so cargo-perfcheck killed it",
                END_GRACE.as_secs()
            );
        }
        match self.group.end(END_GRACE) {
            Ok(status) => describe_status(status),
            Err(error) => error.to_string(),
        }
    }

    /// Waits a while for the process to end by itself, otherwise kills it, and returns its status.
    pub(super) fn end(&mut self) -> std::io::Result<ExitStatus> {
        self.end_within(END_GRACE)
    }

    /// Like [`Self::end`], but kills the process only after `grace`.
    pub(super) fn end_within(&mut self, grace: Duration) -> std::io::Result<ExitStatus> {
        self.group.end(grace)
    }

    /// Ends the process and creates the error for a process that ended before it answered `request`.
    pub(super) fn exit_error(&mut self, request: &str) -> ChildError {
        let status = self.await_end();
        self.drain_output();
        ChildError::Exited {
            status,
            request: request.to_owned(),
            last_output: self.final_message(),
        }
    }

    /// Passes on the output that is still in the pipes.
    pub(super) fn drain_output(&mut self) {
        let deadline = Instant::now() + OUTPUT_GRACE;
        while Instant::now() < deadline {
            match self.output.recv_timeout(PIPE_GRACE) {
                Ok(piece) => self.pass_on(&piece),
                Err(_) => return,
            }
        }
    }

    fn pass_on(&mut self, piece: &[u8]) {
        self.observe_output(piece);
        self.last_output
            .extend_from_slice(&piece[piece.len().saturating_sub(KEPT_OUTPUT)..]);
        let surplus = self.last_output.len().saturating_sub(KEPT_OUTPUT);
        self.last_output.drain(..surplus);
    }
}

impl Drop for RunningBench<'_> {
    fn drop(&mut self) {
        let _ = self.group.end(Duration::ZERO);
        self.drain_output();
    }
}

/// Finds the place and message of the first panic in `text`. Rust's standard library prints them on two lines before
/// the backtrace.
pub(super) fn panic_message(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let place = lines.find_map(|line| {
        let line = line.strip_prefix("thread '")?.strip_suffix(':')?;
        Some(line.split_once(" panicked at ")?.1)
    })?;
    let words = match lines.next().map(str::trim) {
        None | Some("") => format!("panicked at {place}"),
        Some(message) => format!("panicked at {place}: {message}"),
    };
    Some(quote(words.as_bytes()))
}

/// Quotes the beginning of a line, with characters escaped that could control a terminal.
pub(super) fn quote(bytes: &[u8]) -> String {
    // A line can have 64 MiB: convert only as much as the quotation needs.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * QUOTED + 4)]);
    let mut quoted = String::new();
    for character in text.chars().take(QUOTED) {
        match character {
            '"' | '\'' | '\\' => quoted.push(character),
            other => quoted.extend(other.escape_debug()),
        }
    }
    if text.chars().nth(QUOTED).is_some() {
        quoted.push('…');
    }
    quoted
}

pub(super) fn describe_status(status: ExitStatus) -> String {
    describe_death(status).unwrap_or_else(|| match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "unknown status".to_owned(),
    })
}

/// How many pieces of output are buffered before the child has to wait.
const WAITING: usize = 256;
/// Number of lines that are buffered. It is small because a line can be as long as a whole answer.
const WAITING_LINES: usize = 4;
/// Largest piece of bench output that is passed on, in bytes.
const PIECE: usize = 64 << 10;

/// A line of a child's standard output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IncomingLine {
    /// A complete line, without its line feed.
    Line(Vec<u8>),
    /// The beginning of a line that is longer than any frame. The rest is dropped.
    TooLong(Vec<u8>),
}

/// Reads the lines of a pipe on a thread of its own. The returned channel closes at the end of the pipe.
pub(super) fn read_lines(pipe: impl Read + Send + 'static) -> io::Result<Receiver<IncomingLine>> {
    spawn(move |sender| {
        let mut pipe = BufReader::with_capacity(PIECE, pipe);
        while let Some(incoming) = next_line(&mut pipe) {
            if sender.send(incoming).is_err() {
                return;
            }
        }
    })
}

fn next_line(pipe: &mut impl BufRead) -> Option<IncomingLine> {
    let mut line = Vec::new();
    let limit = LONGEST_ANSWER_BYTES as u64 + 1;
    pipe.by_ref()
        .take(limit)
        .read_until(b'\n', &mut line)
        .ok()?;
    match line.last() {
        None => None,
        Some(b'\n') => {
            line.pop();
            Some(IncomingLine::Line(line))
        }
        Some(_) if line.len() <= LONGEST_ANSWER_BYTES => Some(IncomingLine::Line(line)),
        Some(_) => {
            line.truncate(PIECE);
            pipe.skip_until(b'\n').ok()?;
            Some(IncomingLine::TooLong(line))
        }
    }
}

/// Reads the bytes of a pipe as they arrive, on a thread of its own. The returned channel closes at the end of the pipe.
pub(super) fn read_pieces(pipe: impl Read + Send + 'static) -> io::Result<Receiver<Vec<u8>>> {
    read_pieces_from_all([Box::new(pipe)])
}

/// Reads the bytes of several pipes as they arrive. The returned channel closes once all pipes have ended.
pub(super) fn read_pieces_from_all<const N: usize>(
    pipes: [Box<dyn Read + Send>; N],
) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = bounded(WAITING);
    for mut pipe in pipes {
        let sender = sender.clone();
        start_thread(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        })?;
    }
    Ok(receiver)
}

fn spawn<T: Send + 'static>(
    read: impl FnOnce(Sender<T>) + Send + 'static,
) -> io::Result<Receiver<T>> {
    let (sender, receiver) = bounded(WAITING_LINES);
    start_thread(move || read(sender))?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::NullObserver;
    use perfcheck_host::process::{LeftoverPolicy, Supervisor};

    #[test]
    #[cfg_attr(windows, ignore = "runs `sleep`")]
    fn a_child_that_closes_its_connection_and_lives_is_said_to_be_killed_by_us() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let mut command = std::process::Command::new("sleep");
        let group = supervisor.spawn(command.arg("900"), LeftoverPolicy::Kill);
        let context = ProcessContext::new(&supervisor, &interrupt, &NullObserver, Duration::ZERO);
        let output = crossbeam_channel::bounded(0).1;
        let mut running = RunningBench::new(group.expect("it starts"), output, &context);
        assert_eq!(
            running.exit_error("start a").to_string(),
            "the process ended (did not exit within 2 s of closing its connection, so cargo-perfcheck killed it) before it answered `start a`"
        );
    }

    #[test]
    fn a_panic_is_told_by_its_place_and_message_and_not_by_the_end_of_its_backtrace() {
        let text = "warming up\n\nthread 'main' (1323) panicked at src/word.rs:731:60:\ncalled `Option::unwrap()` on a `None` value\n\
            stack backtrace:\n   0: __rustc::rust_begin_unwind\nnote: Some details are omitted\n";
        assert_eq!(
            panic_message(text).as_deref(),
            Some("panicked at src/word.rs:731:60: called `Option::unwrap()` on a `None` value")
        );
        let twice = format!("{text}thread 'worker' panicked at a.rs:1:2:\nlater\n");
        assert_eq!(
            panic_message(&twice).as_deref(),
            panic_message(text).as_deref()
        );
        assert_eq!(
            panic_message("thread 'main' panicked at a.rs:1:2:\n").as_deref(),
            Some("panicked at a.rs:1:2")
        );
        for none in [
            "",
            "no panic",
            "he panicked at b:\nso",
            "thread 'x' waits:\n",
        ] {
            assert_eq!(panic_message(none), None, "{none}");
        }
    }

    #[test]
    fn lines_come_whole_and_the_last_one_needs_no_end() {
        let lines: Vec<IncomingLine> = read_lines(&b"a\n\nbc"[..])
            .expect("a thread")
            .iter()
            .collect();
        let expected = [&b"a"[..], b"", b"bc"].map(|line| IncomingLine::Line(line.to_vec()));
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_line_beyond_every_limit_is_cut_and_the_next_one_is_whole() {
        let endless = std::io::repeat(b'x').take(LONGEST_ANSWER_BYTES as u64 + 10);
        let lines = read_lines(endless.chain(&b"\nnext\n"[..]));
        let mut lines = lines.expect("a thread").into_iter();
        assert!(matches!(lines.next(), Some(IncomingLine::TooLong(line)) if line.len() == PIECE));
        assert_eq!(lines.next(), Some(IncomingLine::Line(b"next".to_vec())));
        assert_eq!(lines.next(), None);
    }
}
