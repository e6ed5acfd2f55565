//! A started child whose harness is not known yet, and its identification.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use crossbeam_channel::Receiver;
use std::process::{ChildStdin, Command};
use std::time::{Duration, Instant};

use super::codec::{Frame, Hello};
use super::criterion::OutputFilter;
use super::error::ChildError;
use super::launch_spec::{ProcessSpec, SpawnedProcess};
use super::launcher::ProcessContext;
use super::pipes::{IncomingLine, read_lines, read_pieces};
use super::printed::{Printer, identify_printer};
use super::running::{Either, RunningBench, WaitOutcome, quote};

/// Time for a child to say hello.
const HELLO_DEADLINE: Duration = Duration::from_secs(10);
/// The beginning of a message about plots that old versions of Criterion print first; of no interest here.
const OF_PLOTS: &[u8] = b"Gnuplot not found";

/// The first sign by which an executable identifies itself. `T` is an event on the port of a Criterion runner.
pub(super) enum Greeting<T> {
    Hello(Hello),
    Runner(T),
    /// The first line of a bench of another kind.
    Printed(Printer, String),
}

/// A child that has been started and has not identified itself. Dropping it kills the process.
pub(super) struct UnidentifiedChild<'a> {
    pub(super) running: RunningBench<'a>,
    pub(super) requests: ChildStdin,
    pub(super) frames: Receiver<IncomingLine>,
}

impl<'a> UnidentifiedChild<'a> {
    /// Starts `command`; `started` receives the process id at once.
    pub(super) fn spawn(
        command: &mut Command,
        spec: &ProcessSpec,
        launcher: &ProcessContext<'a>,
        started: impl FnOnce(u32),
    ) -> Result<Self, ChildError> {
        let SpawnedProcess {
            mut group,
            stdout,
            stderr,
        } = spec.spawn(command, launcher)?;
        let leader = group.leader();
        started(leader.id());
        let requests = leader.stdin.take();
        let requests =
            requests.ok_or_else(|| spec.spawn_error(std::io::ErrorKind::BrokenPipe.into()))?;
        let not_started = |source| spec.spawn_error(source);
        let stderr = read_pieces(OutputFilter::new(stderr)).map_err(not_started)?;
        Ok(Self {
            running: RunningBench::new(group, stderr, launcher),
            requests,
            frames: read_lines(stdout).map_err(not_started)?,
        })
    }

    /// Waits until the executable identifies itself: by a hello, by connecting to the runner's port, or by its
    /// output.
    pub(super) fn wait_for_greeting<T>(
        &mut self,
        door: &Receiver<T>,
    ) -> Result<Greeting<T>, ChildError> {
        let deadline = Instant::now().checked_add(HELLO_DEADLINE);
        let mut first_line = None;
        loop {
            let waited = self.running.wait_for_either(&self.frames, door, deadline);
            match waited {
                WaitOutcome::Came(Either::Second(incoming)) => {
                    return Ok(Greeting::Runner(incoming));
                }
                WaitOutcome::Came(Either::First(IncomingLine::Line(line))) => {
                    match Frame::parse(&line) {
                        Ok(Frame::Hello(hello)) => {
                            return match hello.find_excess() {
                                Some(why) => Err(ChildError::protocol(format!(
                                    "its hello is refused: {why}"
                                ))),
                                None => Ok(Greeting::Hello(hello)),
                            };
                        }
                        Err(error) if Frame::resembles_hello(&line) => {
                            let what =
                                format!("its hello `{}` is no frame ({error})", quote(&line));
                            return Err(ChildError::protocol(what));
                        }
                        _ => {}
                    }
                    if let Some(printer) = identify_printer(&line) {
                        return Ok(Greeting::Printed(printer, quote(&line)));
                    }
                    if !line.is_empty() && !line.starts_with(OF_PLOTS) {
                        first_line.get_or_insert_with(|| quote(&line));
                        self.running.observe_output(&line);
                        self.running.observe_output(b"\n");
                    }
                }
                WaitOutcome::Came(Either::First(IncomingLine::TooLong(start))) => {
                    self.running.observe_output(&start)
                }
                WaitOutcome::Closed => {
                    let status = self.running.await_end();
                    self.running.drain_output();
                    if let Some(found) = self.identify_from_stderr() {
                        return Ok(found);
                    }
                    return Err(ChildError::NoHello {
                        what: format!("it ended ({status}) without a word of it"),
                        first_line: first_line.or_else(|| self.running.final_message()),
                    });
                }
                WaitOutcome::Late => {
                    if let Some(found) = self.identify_from_stderr() {
                        return Ok(found);
                    }
                    return Err(ChildError::NoHello {
                        what: format!("no hello within {} s", HELLO_DEADLINE.as_secs()),
                        first_line,
                    });
                }
                WaitOutcome::Interrupted => return Err(ChildError::Interrupted),
            }
        }
    }

    /// Recent versions of Criterion print to standard error, if they could not connect to the runner.
    fn identify_from_stderr<T>(&self) -> Option<Greeting<T>> {
        let lines = self.running.last_lines();
        let mut printers = lines.iter().filter_map(|line| {
            Some(Greeting::Printed(
                identify_printer(line.as_bytes())?,
                quote(line.as_bytes()),
            ))
        });
        printers.next()
    }
}
