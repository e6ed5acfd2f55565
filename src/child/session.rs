//! The conversation with one child: start, hello, requests and their answers, the end.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use crossbeam_channel::{Receiver, after, never, select};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::beside::Kind;
use super::codec::{Announcement, Frame, Hello, Listing, Request, SampleSpec, WarmUp};
use super::error::ChildError;
use super::pipes::{Incoming, read_lines, read_pieces};
use crate::model::{Nanos, Sample, Throughput};
use crate::process::{Group, Interrupt, Leftovers, Supervisor, Usage};

/// The version of docs/PROTOCOL.md that we speak.
pub const PROTOCOL_VERSION: u64 = 1;

/// How long a child may take to say hello, and to end once it was told or has closed its pipe.
const HELLO_DEADLINE: Duration = Duration::from_secs(10);
const END_GRACE: Duration = Duration::from_secs(2);
/// What is left in the pipes of a child that has ended with all it started is there at once, and then they end; unless
/// somebody else holds them, or this machine is very busy.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// However much there is left, and however slowly it can be passed on.
const OUTPUT_GRACE: Duration = Duration::from_secs(30);
/// How much is expected of a request, times this, is allowed on top of the timeout.
const PATIENCE: u32 = 10;
/// The variable that makes a bench slower (docs/PROTOCOL.md, section 8).
const SLOWDOWN: &str = "PERFCHECK_SLOWDOWN";
/// Counts and times are below this.
pub(super) const LIMIT: u64 = 1 << 63;
/// Quoted output is cut to this many characters.
const QUOTED: usize = 200;

/// Everything needed to start a bench executable.
#[derive(Debug, Clone)]
pub struct LaunchSpec {
    /// What to start.
    pub program: PathBuf,
    /// Arguments before `--bench`: a runner's own, and the executable that it is to run.
    pub first_arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Variables to set, and (`None`) to remove, on top of our own environment.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Ordinal of the launch in the run.
    pub launch: u32,
    /// Bytes by which the environment is made larger.
    pub padding: u32,
}

/// What `start` and `run` lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// The benchmark waits for requests.
    Ready(Ready),
    /// The bench declined, for this reason.
    Skipped(String),
}

/// A benchmark that waits for requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// What one iteration processes.
    pub throughput: Throughput,
    /// What can be asked of it.
    pub kind: Kind,
}

/// A child, from its start to its end. Dropping it kills it.
pub struct Session<'a> {
    group: Group,
    requests: ChildStdin,
    frames: Receiver<Incoming>,
    output: Receiver<Vec<u8>>,
    ended: Receiver<()>,
    on_output: &'a dyn Fn(&[u8]),
    interrupt: Interrupt,
    timeout: Duration,
    last_output: Vec<u8>,
    /// The beginning of the last frame, to be quoted where it is the wrong one.
    last_frame: String,
    hello: Hello,
    /// Time from requests to their answers.
    asked: Duration,
    /// Iterations of all samples of the benchmark under way.
    sampled: u64,
}

impl<'a> Session<'a> {
    /// Starts the executable and waits for its `hello`.
    ///
    /// `timeout` is the part of every deadline that does not depend on the request; `on_output` gets what the bench prints.
    pub fn start(
        spec: &LaunchSpec,
        supervisor: &Supervisor,
        interrupt: &Interrupt,
        timeout: Duration,
        on_output: &'a dyn Fn(&[u8]),
    ) -> Result<Self, ChildError> {
        let spawn_error = |source| ChildError::Spawn {
            path: spec.program.clone(),
            source,
        };
        let mut group = supervisor
            .spawn(&mut command(spec), Leftovers::Kill)
            .map_err(spawn_error)?;
        let leader = group.leader();
        let (Some(requests), Some(stdout), Some(stderr)) = (
            leader.stdin.take(),
            leader.stdout.take(),
            leader.stderr.take(),
        ) else {
            return Err(spawn_error(std::io::ErrorKind::BrokenPipe.into()));
        };
        let mut session = Self {
            ended: group.ended(),
            group,
            requests,
            frames: read_lines(stdout),
            output: read_pieces(stderr),
            on_output,
            interrupt: interrupt.clone(),
            timeout,
            last_output: Vec::new(),
            last_frame: String::new(),
            hello: Hello {
                protocol: 0,
                harness: String::new(),
                version: String::new(),
                capabilities: Vec::new(),
                quantum_ns: Nanos(0),
            },
            asked: Duration::ZERO,
            sampled: 0,
        };
        session.hello = session.wait_for_hello()?;
        if session.hello.protocol != PROTOCOL_VERSION {
            return Err(ChildError::Version {
                theirs: session.hello.protocol,
                harness: session.hello.harness.clone(),
                harness_version: session.hello.version.clone(),
            });
        }
        Ok(session)
    }

    /// What the child said of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The number of its process.
    pub fn id(&mut self) -> u32 {
        self.group.leader().id()
    }

    /// How the child has run so far, where the system tells.
    pub fn usage(&mut self) -> Option<Usage> {
        Usage::of(self.id())
    }

    /// How many operations the latencies of the benchmark under way must have: an iteration is one.
    pub(super) fn operations(&self) -> u64 {
        self.sampled
    }

    /// How long the child has worked on requests so far.
    pub fn asked(&self) -> Duration {
        self.asked
    }

    /// All benchmarks of an addressable child, in program order.
    pub fn list(&mut self) -> Result<Listing, ChildError> {
        let request = Request::List;
        self.send(&request)?;
        let mut found = Listing::default();
        loop {
            match self.answer(&request, Duration::ZERO)? {
                Frame::Benchmark(announcement) => found.benchmarks.push(announcement),
                Frame::Broken { message } => found.broken.push(message),
                Frame::Listed { count } => {
                    let announced = found.benchmarks.len();
                    if count == announced {
                        return Ok(found);
                    }
                    let what = format!("it announced {announced} benchmarks and counts {count}");
                    return Err(ChildError::Protocol { what });
                }
                _ => return Err(self.unexpected(&request)),
            }
        }
    }

    /// Starts a benchmark of an addressable child.
    pub fn start_benchmark(&mut self, id: &str) -> Result<Started, ChildError> {
        self.started(&Request::Start(id), id)
    }

    /// The first benchmark of a sequential child, if it has any.
    pub fn begin(&mut self) -> Result<Option<Announcement>, ChildError> {
        self.announced(&Request::Begin)
    }

    /// Passes over the benchmark that a sequential child has announced; gives the next.
    pub fn skip(&mut self) -> Result<Option<Announcement>, ChildError> {
        self.announced(&Request::Skip)
    }

    /// The next benchmark of a sequential child, after one has ended.
    pub fn next_benchmark(&mut self) -> Result<Option<Announcement>, ChildError> {
        self.announced(&Request::Next)
    }

    /// Starts the benchmark that a sequential child has announced.
    pub fn run_announced(&mut self, id: &str) -> Result<Started, ChildError> {
        self.started(&Request::Run, id)
    }

    /// Warms up for more than `time`; gives the totals.
    pub fn warm_up(&mut self, time: Nanos) -> Result<WarmUp, ChildError> {
        let request = Request::WarmUp(time);
        // The last round may take as long as all rounds before it.
        let expected = Duration::from(time) * 2;
        match self.ask(&request, expected)? {
            Frame::WarmedUp {
                iterations,
                elapsed_ns,
                total_ns,
            } if iterations > 0 => Ok(WarmUp {
                body: Sample {
                    iterations,
                    elapsed: elapsed_ns,
                },
                total: total_ns.unwrap_or(elapsed_ns).max(elapsed_ns),
            }),
            _ => Err(self.unexpected(&request)),
        }
    }

    /// Takes the samples of a schedule, which is expected to take `expected`.
    pub fn sample(
        &mut self,
        schedule: &[SampleSpec],
        expected: Duration,
    ) -> Result<Vec<Sample>, ChildError> {
        let request = Request::Sample(schedule);
        match self.ask(&request, expected)? {
            Frame::Samples {
                iterations,
                elapsed_ns,
            } => {
                let asked = schedule
                    .iter()
                    .flat_map(|spec| (0..spec.count).map(|_| spec.iterations));
                if let Some(time) = elapsed_ns.iter().find(|time| time.0 >= LIMIT) {
                    let what = format!(
                        "a time of {} ns in its answer to `{request}` is not below 2^63",
                        time.0
                    );
                    return Err(ChildError::Protocol { what });
                }
                if !asked.eq(iterations.iter().copied()) || elapsed_ns.len() != iterations.len() {
                    let what = format!(
                        "its answer to `{request}` has {} counts and {} times that are not those asked for",
                        iterations.len(),
                        elapsed_ns.len()
                    );
                    return Err(ChildError::Protocol { what });
                }
                let taken = iterations.iter().copied();
                self.sampled = taken.fold(self.sampled, u64::saturating_add);
                Ok(iterations
                    .into_iter()
                    .zip(elapsed_ns)
                    .map(|(iterations, elapsed)| Sample {
                        iterations,
                        elapsed,
                    })
                    .collect())
            }
            _ => Err(self.unexpected(&request)),
        }
    }

    /// Tears the started benchmark down.
    pub fn finish(&mut self, id: &str) -> Result<(), ChildError> {
        match self.ask(&Request::Finish, Duration::ZERO)? {
            Frame::Finished { id: finished } if finished == id => Ok(()),
            _ => Err(self.unexpected(&Request::Finish)),
        }
    }

    /// Lets the child end by itself. What it does wrong now changes nothing that was measured.
    pub fn bye(mut self) -> Result<(), ChildError> {
        match self.ask(&Request::Bye, Duration::ZERO)? {
            Frame::Bye => {
                let _ = self.group.end(END_GRACE);
                Ok(())
            }
            _ => Err(self.unexpected(&Request::Bye)),
        }
    }

    fn started(&mut self, request: &Request<'_>, id: &str) -> Result<Started, ChildError> {
        match self.ask(request, Duration::ZERO)? {
            Frame::Started {
                id: started,
                throughput,
                kind,
            } if started == id => Ok(Started::Ready(Ready {
                throughput,
                kind: Kind::of(kind.as_deref()),
            })),
            Frame::Skipped {
                id: skipped,
                reason,
            } if skipped == id => Ok(Started::Skipped(reason)),
            _ => Err(self.unexpected(request)),
        }
    }

    fn announced(&mut self, request: &Request<'_>) -> Result<Option<Announcement>, ChildError> {
        match self.ask(request, Duration::ZERO)? {
            Frame::Benchmark(announcement) => Ok(Some(announcement)),
            Frame::End => Ok(None),
            _ => Err(self.unexpected(request)),
        }
    }

    pub(super) fn ask(
        &mut self,
        request: &Request<'_>,
        expected: Duration,
    ) -> Result<Frame, ChildError> {
        let began = Instant::now();
        self.send(request)?;
        let answer = self.answer(request, expected);
        self.asked += began.elapsed();
        answer
    }

    fn send(&mut self, request: &Request<'_>) -> Result<(), ChildError> {
        if matches!(request, Request::Start(_) | Request::Run) {
            // What was printed before is another benchmark's.
            self.last_output.clear();
            self.sampled = 0;
        }
        let line = format!("{request}\n");
        // A failed write means that the child is gone: how it went is worth more than the write's own error.
        match self.requests.write_all(line.as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.exited(&request.to_string())),
        }
    }

    fn answer(&mut self, request: &Request<'_>, expected: Duration) -> Result<Frame, ChildError> {
        let allowed = self
            .timeout
            .saturating_add(expected.saturating_mul(PATIENCE));
        let request = request.to_string();
        let line = match self.next_line(Instant::now().checked_add(allowed)) {
            Wait::Line(Incoming::Line(line)) => line,
            Wait::Line(Incoming::TooLong(start)) => {
                let what = format!("a line of more than 64 MiB, `{}`", quote(&start));
                return Err(ChildError::Protocol { what });
            }
            Wait::Closed => return Err(self.exited(&request)),
            Wait::Late => {
                let after = allowed;
                return Err(ChildError::Timeout { request, after });
            }
            Wait::Interrupted => return Err(ChildError::Interrupted),
        };
        match Frame::parse(&line) {
            Ok(Frame::Error {
                message,
                fatal: true,
                ..
            }) => Err(ChildError::Exited {
                status: format!("{}; {message}", self.status()),
                request,
                last_output: None,
            }),
            Ok(Frame::Error { message, .. }) => Err(ChildError::Bench { message }),
            Ok(frame) => {
                self.last_frame = quote(&line);
                Ok(frame)
            }
            Err(error) => Err(ChildError::Protocol {
                what: format!(
                    "`{}` in answer to `{request}` is no frame ({error})",
                    quote(&line)
                ),
            }),
        }
    }

    fn wait_for_hello(&mut self) -> Result<Hello, ChildError> {
        let deadline = Instant::now().checked_add(HELLO_DEADLINE);
        let mut first_line = None;
        loop {
            match self.next_line(deadline) {
                Wait::Line(Incoming::Line(line)) => {
                    match Frame::parse(&line) {
                        Ok(Frame::Hello(hello)) => return Ok(hello),
                        Err(error) if Frame::attempts_hello(&line) => {
                            let what =
                                format!("its hello `{}` is no frame ({error})", quote(&line));
                            return Err(ChildError::Protocol { what });
                        }
                        _ => {}
                    }
                    if !line.is_empty() {
                        first_line.get_or_insert_with(|| quote(&line));
                        (self.on_output)(&line);
                        (self.on_output)(b"\n");
                    }
                }
                Wait::Line(Incoming::TooLong(start)) => (self.on_output)(&start),
                Wait::Closed => {
                    let status = self.status();
                    self.drain_output();
                    return Err(ChildError::NoHello {
                        what: format!("it ended ({status}) without a word of it"),
                        first_line: first_line.or_else(|| self.last_line()),
                    });
                }
                Wait::Late => {
                    return Err(ChildError::NoHello {
                        what: format!("no hello within {} s", HELLO_DEADLINE.as_secs()),
                        first_line,
                    });
                }
                Wait::Interrupted => return Err(ChildError::Interrupted),
            }
        }
    }

    /// Waits for a line from the child, passing its output on meanwhile.
    fn next_line(&mut self, deadline: Option<Instant>) -> Wait {
        let late = deadline.map_or_else(never, crossbeam_channel::at);
        let mut output = self.output.clone();
        let mut ended = self.ended.clone();
        let mut pipe_is_stale = never();
        loop {
            select! {
                recv(self.frames) -> line => return line.map_or(Wait::Closed, Wait::Line),
                recv(ended) -> _ => {
                    ended = never();
                    // A grandchild may hold the pipe of a child that has ended: with it goes the last who does.
                    let _ = self.group.end(Duration::ZERO);
                    pipe_is_stale = after(PIPE_GRACE);
                }
                recv(pipe_is_stale) -> _ => return Wait::Closed,
                recv(output) -> piece => match piece {
                    Ok(piece) => self.pass_on(&piece),
                    Err(_) => output = never(),
                },
                recv(self.interrupt.channel()) -> _ => return Wait::Interrupted,
                recv(late) -> _ => return Wait::Late,
            }
        }
    }

    fn pass_on(&mut self, piece: &[u8]) {
        (self.on_output)(piece);
        self.last_output
            .extend_from_slice(&piece[piece.len().saturating_sub(4 * QUOTED)..]);
        let surplus = self.last_output.len().saturating_sub(4 * QUOTED);
        self.last_output.drain(..surplus);
    }

    fn drain_output(&mut self) {
        let deadline = Instant::now() + OUTPUT_GRACE;
        while Instant::now() < deadline {
            match self.output.recv_timeout(PIPE_GRACE) {
                Ok(piece) => self.pass_on(&piece),
                Err(_) => return,
            }
        }
    }

    /// That the last frame is not what the request wants.
    pub(super) fn unexpected(&self, request: &Request<'_>) -> ChildError {
        ChildError::Protocol {
            what: format!("`{}` is no answer to `{request}`", self.last_frame),
        }
    }

    fn last_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.last_output);
        let line = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(quote(line.trim().as_bytes()))
    }

    fn status(&mut self) -> String {
        match self.group.end(END_GRACE) {
            Ok(status) => in_words(status),
            Err(error) => error.to_string(),
        }
    }

    fn exited(&mut self, request: &str) -> ChildError {
        let status = self.status();
        self.drain_output();
        ChildError::Exited {
            status,
            request: request.to_owned(),
            last_output: self.last_line(),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let _ = self.group.end(Duration::ZERO);
        self.drain_output();
    }
}

enum Wait {
    Line(Incoming),
    Closed,
    Late,
    Interrupted,
}

fn command(spec: &LaunchSpec) -> Command {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.first_arguments)
        .arg("--bench")
        .current_dir(&spec.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Only who asks for it in the specification may slow a bench down.
    command.env_remove(SLOWDOWN);
    for (name, value) in &spec.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("PERFCHECK_PROTOCOL", PROTOCOL_VERSION.to_string())
        .env("PERFCHECK_LAUNCH", spec.launch.to_string())
        .env("PERFCHECK_PADDING", "x".repeat(spec.padding as usize));
    command
}

/// The beginning of a line in words that do a terminal no harm.
fn quote(bytes: &[u8]) -> String {
    // A line may have 64 MiB: what lies beyond the quotation is not looked at.
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

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        // The standard library knows the names: "signal: 6 (SIGABRT)".
        (None, Some(_)) => status.to_string().replacen("signal: ", "signal ", 1),
        (None, None) => "unknown status".to_owned(),
    }
}
