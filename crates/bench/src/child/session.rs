//! The conversation with one child: its start, the identification of its harness, the hello, requests with their answers, and its end.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use crossbeam_channel::{Receiver, never};
use std::convert::Infallible;
use std::fmt;
use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use super::codec::{
    Announcement, Capability, ChildRequest, Frame, Hello, Listing, PROTOCOL_VERSION, RequestKind,
    SampleSpec, WarmUp,
};
use super::criterion::{Connection, CriterionVersion, OutputFilter};
use super::error::ChildError;
use super::printed::{Printer, identify_printer};
use super::process::{
    END_GRACE, Either, IncomingLine, PATIENCE, ProcessContext, ProcessSpec, RunningBench,
    SpawnedProcess, WaitOutcome, bench_command, quote, read_lines, read_pieces,
};
use perfcheck_analysis::model::{
    Allocations, Latencies, Nanos, Sample, SkipSupport, Throughput, WarmUpGoal, limits,
};

/// The answer to the requests `start` and `run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartOutcome {
    /// The benchmark waits for requests.
    Ready(ReadyBenchmark),
    /// The benchmark declined to run, for this reason.
    Skipped(String),
}

/// A benchmark that waits for requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyBenchmark {
    /// The bytes or elements that one iteration processes.
    pub throughput: Throughput,
    /// The kind of measurement that the benchmark supports.
    pub kind: RequestKind,
}

/// The harness of an executable, which was found out by starting it.
pub enum DetectedHarness<'a> {
    /// A harness with our protocol. Its process waits for requests.
    Ours(Box<Session<'a>>),
    /// Criterion, of this version.
    Criterion(CriterionVersion),
    /// A harness that knows no runner and prints its results.
    Printed(Printer),
}

/// The progress of a sequential child through its benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SequentialWalk {
    NotBegun,
    UnderWay,
    /// The child has announced the end.
    Over,
}

/// A child from its start to its end. Dropping it kills the process.
pub struct Session<'a> {
    running: RunningBench<'a>,
    requests: ChildStdin,
    frames: Receiver<IncomingLine>,
    timeout: Duration,
    /// The beginning of the last frame. Error messages quote it if the frame is unexpected.
    last_frame: String,
    hello: Hello,
    /// Total time between requests and their answers.
    working_time: Duration,
    walk: SequentialWalk,
    skipping: SkipSupport,
    /// Iterations of all samples of the current benchmark.
    sampled: u64,
    /// Time of the last request.
    sent: Instant,
    /// How many bytes of the answer to the last request have arrived so far.
    answered: usize,
    /// Number of benchmarks announced so far.
    announced: usize,
}

impl<'a> Session<'a> {
    /// Starts the executable and waits for its `hello`.
    pub fn start(spec: &ProcessSpec, context: &ProcessContext<'a>) -> Result<Self, ChildError> {
        Self::start_observed(spec, context, |_| ())
    }

    /// Like [`Self::start`], but calls `started` with the process id as soon as the process has started.
    pub fn start_observed(
        spec: &ProcessSpec,
        context: &ProcessContext<'a>,
        started: impl FnOnce(u32),
    ) -> Result<Self, ChildError> {
        let mut stranger = UnidentifiedChild::spawn(&mut command(spec), spec, context, started)?;
        match stranger.wait_for_greeting(&never::<Infallible>())? {
            Greeting::Hello(hello) => {
                Self::from_hello(stranger, hello, context.timeout, spec.skipping)
            }
            Greeting::Printed(_, line) => Err(ChildError::NoHello {
                what: "it now uses another harness".to_owned(),
                first_line: Some(line),
            }),
            Greeting::Runner(nobody) => match nobody {},
        }
    }

    /// Starts the executable, and finds out its harness from its first message.
    pub fn detect(
        spec: &ProcessSpec,
        context: &ProcessContext<'a>,
    ) -> Result<DetectedHarness<'a>, ChildError> {
        let mut door = Connection::listen().map_err(|source| spec.spawn_error(source))?;
        let mut command = command(spec);
        door.set_environment(&mut command);
        let mut stranger =
            UnidentifiedChild::spawn(&mut command, spec, context, |leader| door.admit(leader))?;
        match stranger.wait_for_greeting(door.events())? {
            Greeting::Hello(hello) => {
                let session = Self::from_hello(stranger, hello, context.timeout, spec.skipping)?;
                Ok(DetectedHarness::Ours(Box::new(session)))
            }
            Greeting::Printed(printer, _) => Ok(DetectedHarness::Printed(printer)),
            Greeting::Runner(incoming) => {
                let version =
                    door.read_version(incoming, &mut stranger.running, context.timeout)?;
                Ok(DetectedHarness::Criterion(version))
            }
        }
    }

    fn from_hello(
        stranger: UnidentifiedChild<'a>,
        hello: Hello,
        timeout: Duration,
        skipping: SkipSupport,
    ) -> Result<Self, ChildError> {
        if hello.protocol != PROTOCOL_VERSION {
            return Err(ChildError::Version {
                theirs: hello.protocol,
                harness: hello.harness,
                harness_version: hello.version,
            });
        }
        Ok(Self {
            running: stranger.running,
            requests: stranger.requests,
            frames: stranger.frames,
            timeout,
            last_frame: String::new(),
            hello,
            working_time: Duration::ZERO,
            sampled: 0,
            sent: Instant::now(),
            answered: 0,
            announced: 0,
            walk: SequentialWalk::NotBegun,
            skipping,
        })
    }

    /// Returns the child's hello.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Returns the process id.
    pub fn id(&mut self) -> u32 {
        self.running.id()
    }

    /// Returns the total time for which the child has worked on requests.
    pub fn working_time(&self) -> Duration {
        self.working_time
    }

    /// Lists all benchmarks of an addressable child, in program order.
    pub fn list(&mut self) -> Result<Listing, ChildError> {
        let request = ChildRequest::List;
        self.send(&request)?;
        let mut found = Listing::default();
        loop {
            match self.answer(&request, Duration::ZERO)? {
                Frame::Benchmark(announcement) => {
                    self.count_announced()?;
                    found.benchmarks.push(announcement);
                }
                Frame::Broken { message } => {
                    self.count_announced()?;
                    found.broken.push(limits::cut_message(message));
                }
                Frame::Listed { count } => {
                    let announced = found.benchmarks.len();
                    if count == announced {
                        return Ok(found);
                    }
                    let what = format!(
                        "it says that it has {count} benchmarks, but it announced {announced}"
                    );
                    return Err(ChildError::protocol(what));
                }
                _ => return Err(self.unexpected_frame(&request)),
            }
        }
    }

    /// Starts a benchmark of an addressable child.
    pub fn start_benchmark(&mut self, id: &str) -> Result<StartOutcome, ChildError> {
        self.request_start(&ChildRequest::Start(id), id)
    }

    /// Returns the next benchmark of a sequential child: the first one, or the one after a benchmark that has ended. `None` if there are no more.
    pub fn advance(&mut self) -> Result<Option<Announcement>, ChildError> {
        match self.walk {
            SequentialWalk::NotBegun => self.request_announcement(&ChildRequest::Begin),
            SequentialWalk::UnderWay => self.request_announcement(&ChildRequest::Next),
            SequentialWalk::Over => Ok(None),
        }
    }

    /// Skips the benchmark `id` that a sequential child has announced, and returns the next one. If the bench works only if all of its benchmarks
    /// run, the benchmark runs for one iteration instead.
    pub fn skip(&mut self, id: &str) -> Result<Option<Announcement>, ChildError> {
        if self.skipping == SkipSupport::Works {
            return self.request_announcement(&ChildRequest::Skip);
        }
        match self.run_once(id) {
            Err(error) if !error.leaves_child_usable() => Err(error),
            _ => self.advance(),
        }
    }

    fn run_once(&mut self, id: &str) -> Result<(), ChildError> {
        if let StartOutcome::Ready(_) = self.run_announced(id)? {
            self.warm_up_for(Nanos(0))?;
            self.finish(id)?;
        }
        Ok(())
    }

    /// Lets a sequential child run to its end, skipping the remaining benchmarks. The code after the last benchmark can fail, too.
    pub fn run_to_end(&mut self) -> Result<(), ChildError> {
        if self.hello.capability() == Some(Capability::Sequential) {
            let mut next = self.advance()?;
            while let Some(announcement) = next {
                next = self.skip(&announcement.id)?;
            }
        }
        Ok(())
    }

    /// Starts the benchmark that a sequential child has announced.
    pub fn run_announced(&mut self, id: &str) -> Result<StartOutcome, ChildError> {
        self.request_start(&ChildRequest::Run, id)
    }

    /// Warms up until `goal` is reached, and returns the totals.
    ///
    /// To reach a number of iterations, this function requests one warm-up after the other with a time of zero. Such a warm-up ends after its first
    /// iteration. If an iteration takes no time by the bench's clock, the warm-up goes on until the clock advances.
    pub fn warm_up(&mut self, goal: WarmUpGoal) -> Result<WarmUp, ChildError> {
        let fewest = match goal {
            WarmUpGoal::Time(time) => return self.warm_up_for(time),
            WarmUpGoal::Iterations(iterations) => u64::from(iterations),
        };
        let mut all = self.warm_up_for(Nanos(0))?;
        while all.body.iterations < fewest {
            let next = self.warm_up_for(Nanos(0))?;
            all.body.iterations += next.body.iterations;
            all.body.elapsed = Nanos(all.body.elapsed.0.saturating_add(next.body.elapsed.0));
            all.total = Nanos(all.total.0.saturating_add(next.total.0));
        }
        Ok(all)
    }

    /// Warms up for at least `time`.
    fn warm_up_for(&mut self, time: Nanos) -> Result<WarmUp, ChildError> {
        let request = ChildRequest::WarmUp(time);
        // The last pass of a warm-up can take as long as all passes before it.
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
            _ => Err(self.unexpected_frame(&request)),
        }
    }

    /// Takes the samples of a schedule. They are expected to take the time `expected`.
    pub fn sample(
        &mut self,
        schedule: &[SampleSpec],
        expected: Duration,
    ) -> Result<Vec<Sample>, ChildError> {
        let request = ChildRequest::Sample(schedule);
        match self.ask(&request, expected)? {
            Frame::Samples {
                iterations,
                elapsed_ns,
            } => {
                let requested = schedule
                    .iter()
                    .flat_map(|spec| (0..spec.count).map(|_| spec.iterations));
                if let Some(time) = elapsed_ns
                    .iter()
                    .find(|time| time.0 >= limits::BEYOND_NUMBERS)
                {
                    let what = format!(
                        "a time of {} ns in its answer to `{request}` is not below 2^63",
                        time.0
                    );
                    return Err(ChildError::protocol(what));
                }
                if !requested.eq(iterations.iter().copied()) || elapsed_ns.len() != iterations.len()
                {
                    let what = format!(
                        "its answer to `{request}` does not match the request (iteration counts: {}, times: {})",
                        iterations.len(),
                        elapsed_ns.len()
                    );
                    return Err(ChildError::protocol(what));
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
            _ => Err(self.unexpected_frame(&request)),
        }
    }

    /// Asks the child to run at most `iterations` iterations, and returns what each of them allocated, in the order of execution. `expected` is how
    /// long the iterations should take. Works only for children that count allocations.
    pub fn count(
        &mut self,
        iterations: u64,
        expected: Duration,
    ) -> Result<Vec<Allocations>, ChildError> {
        let request = ChildRequest::Count(iterations);
        match self.ask(&request, expected)? {
            Frame::Counted(counted) => {
                let checked = counted.to_allocations(iterations);
                checked.map_err(|what| contradiction(&request, &what))
            }
            _ => Err(self.unexpected_frame(&request)),
        }
    }

    /// Returns the latencies that the samples have recorded since the benchmark was started, with the times of at most `reservoir` single operations.
    /// Works only for benchmarks of the kind [`RequestKind::Latency`].
    pub fn latencies(&mut self, reservoir: u64) -> Result<Latencies, ChildError> {
        let request = ChildRequest::Latencies(reservoir);
        match self.ask(&request, Duration::ZERO)? {
            Frame::Latencies(answer) => {
                let checked = answer.into_latencies(reservoir, self.sampled);
                checked.map_err(|what| contradiction(&request, &what))
            }
            _ => Err(self.unexpected_frame(&request)),
        }
    }

    /// Tears down the started benchmark.
    pub fn finish(&mut self, id: &str) -> Result<(), ChildError> {
        match self.ask(&ChildRequest::Finish, Duration::ZERO)? {
            Frame::Finished { id: finished } if finished == id => Ok(()),
            _ => Err(self.unexpected_frame(&ChildRequest::Finish)),
        }
    }

    /// Lets the child end by itself. Its exit status is ignored, because all measurements are complete.
    pub fn bye(self) -> Result<(), ChildError> {
        self.bye_within(END_GRACE)
    }

    /// Like [`Self::bye`], but kills the child only if it takes longer than `grace` to end.
    pub fn bye_within(mut self, grace: Duration) -> Result<(), ChildError> {
        match self.ask(&ChildRequest::Bye, Duration::ZERO)? {
            Frame::Bye => {
                let _ = self.running.end_within(grace);
                Ok(())
            }
            _ => Err(self.unexpected_frame(&ChildRequest::Bye)),
        }
    }

    fn request_start(
        &mut self,
        request: &ChildRequest<'_>,
        id: &str,
    ) -> Result<StartOutcome, ChildError> {
        match self.ask(request, Duration::ZERO)? {
            Frame::Started {
                id: started,
                throughput,
                kind,
            } if started == id => Ok(StartOutcome::Ready(ReadyBenchmark {
                throughput,
                kind: RequestKind::parse(kind.as_deref()),
            })),
            Frame::Skipped {
                id: skipped,
                reason,
            } if skipped == id => Ok(StartOutcome::Skipped(limits::cut_message(reason))),
            _ => Err(self.unexpected_frame(request)),
        }
    }

    fn request_announcement(
        &mut self,
        request: &ChildRequest<'_>,
    ) -> Result<Option<Announcement>, ChildError> {
        self.walk = SequentialWalk::UnderWay;
        match self.ask(request, Duration::ZERO)? {
            Frame::Benchmark(announcement) => {
                self.count_announced()?;
                Ok(Some(announcement))
            }
            Frame::End => {
                self.walk = SequentialWalk::Over;
                Ok(None)
            }
            _ => Err(self.unexpected_frame(request)),
        }
    }

    /// Limits the number of announcements, because a faulty child could go on forever.
    fn count_announced(&mut self) -> Result<(), ChildError> {
        self.announced += 1;
        if self.announced <= limits::MOST_BENCHMARKS {
            return Ok(());
        }
        let what = format!(
            "it announced more than {} benchmarks",
            limits::MOST_BENCHMARKS
        );
        Err(ChildError::protocol(what))
    }

    fn ask(&mut self, request: &ChildRequest<'_>, expected: Duration) -> Result<Frame, ChildError> {
        self.send(request)?;
        let answer = self.answer(request, expected);
        self.working_time += self.sent.elapsed();
        answer
    }

    fn send(&mut self, request: &ChildRequest<'_>) -> Result<(), ChildError> {
        if matches!(request, ChildRequest::Start(_) | ChildRequest::Run) {
            // Earlier output belongs to another benchmark.
            self.running.forget_output();
            self.sampled = 0;
        }
        self.sent = Instant::now();
        self.answered = 0;
        let line = format!("{request}\n");
        // A failed write means that the child has ended. Its exit status says more than the error of the write.
        match self.requests.write_all(line.as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.running.exit_error(&request.to_string())),
        }
    }

    /// Reads a frame of the answer to `request`. All frames of an answer share one deadline and one size limit.
    fn answer(
        &mut self,
        request: &ChildRequest<'_>,
        expected: Duration,
    ) -> Result<Frame, ChildError> {
        let allowed = self
            .timeout
            .saturating_add(expected.saturating_mul(PATIENCE));
        let is_under_way = request.needs_started_benchmark();
        let request = request.to_string();
        let time = (self.sent, allowed);
        let line = match self.running.wait_for_answer(&self.frames, &request, time)? {
            Some(IncomingLine::Line(line)) => line,
            Some(IncomingLine::TooLong(start)) => {
                let what = format!("it sent a line of more than 64 MiB: `{}`", quote(&start));
                return Err(ChildError::protocol(what));
            }
            None => return Err(self.running.exit_error(&request)),
        };
        self.answered += line.len();
        if self.answered > limits::LONGEST_ANSWER_BYTES {
            let what = format!("its answer to `{request}` is larger than 64 MiB");
            return Err(ChildError::protocol(what));
        }
        match Frame::parse(&line) {
            Ok(Frame::Error { id, message, fatal }) => {
                let message = limits::cut_message(message);
                Err(if fatal {
                    ChildError::Exited {
                        status: format!("{}; {message}", self.running.await_end()),
                        request,
                        last_output: None,
                    }
                } else if id.is_none() && is_under_way {
                    ChildError::Refused { request, message }
                } else {
                    ChildError::Bench(message)
                })
            }
            Ok(frame) => {
                self.last_frame = quote(&line);
                match frame.find_excess() {
                    Some(what) => Err(contradiction(&request, &format!("is invalid: {what}"))),
                    None => Ok(frame),
                }
            }
            Err(error) => Err(ChildError::protocol(format!(
                "its answer `{}` to `{request}` is not a valid frame ({error})",
                quote(&line)
            ))),
        }
    }

    /// Creates the error for the case that the last frame does not fit the request.
    fn unexpected_frame(&self, request: &ChildRequest<'_>) -> ChildError {
        ChildError::protocol(format!(
            "`{}` is not an answer to `{request}`",
            self.last_frame
        ))
    }
}

/// Creates the error for an answer that contradicts the protocol or itself.
fn contradiction(request: impl fmt::Display, what: &str) -> ChildError {
    ChildError::protocol(format!("its answer to `{request}` {what}"))
}

fn command(spec: &ProcessSpec) -> Command {
    let mut command = bench_command(spec);
    command
        .stdin(Stdio::piped())
        .env("PERFCHECK_PROTOCOL", PROTOCOL_VERSION.to_string());
    command
}

/// How long a child may take to identify itself.
const HELLO_DEADLINE: Duration = Duration::from_secs(10);
/// The beginning of each line that Criterion prints about a benchmark.
const OF_CRITERION: &[u8] = b"Benchmarking ";
/// The beginning of a message about plots, which old versions of Criterion print before anything else. The message is ignored.
const OF_PLOTS: &[u8] = b"Gnuplot not found";

/// The first sign by which an executable shows which harness it has. `T` is an event on the port of a Criterion runner.
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
    /// Starts `command` and calls `started` with the process id at once.
    pub(super) fn spawn(
        command: &mut Command,
        spec: &ProcessSpec,
        context: &ProcessContext<'a>,
        started: impl FnOnce(u32),
    ) -> Result<Self, ChildError> {
        let SpawnedProcess {
            mut group,
            stdout,
            stderr,
        } = spec.spawn(command, context)?;
        let leader = group.leader();
        started(leader.id());
        let requests = leader.stdin.take();
        let requests =
            requests.ok_or_else(|| spec.spawn_error(std::io::ErrorKind::BrokenPipe.into()))?;
        let not_started = |source| spec.spawn_error(source);
        let stderr = read_pieces(OutputFilter::new(stderr)).map_err(not_started)?;
        Ok(Self {
            running: RunningBench::new(group, stderr, context),
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
                                    "its hello is invalid: {why}"
                                ))),
                                None => Ok(Greeting::Hello(hello)),
                            };
                        }
                        Err(error) if Frame::resembles_hello(&line) => {
                            let what = format!(
                                "its hello `{}` is not a valid frame ({error})",
                                quote(&line)
                            );
                            return Err(ChildError::protocol(what));
                        }
                        _ => {}
                    }
                    if let Some(printer) = identify_printer(&line) {
                        return Ok(Greeting::Printed(printer, quote(&line)));
                    }
                    if line.starts_with(OF_CRITERION) {
                        return Err(ChildError::UnconnectedCriterion);
                    }
                    if !line.is_empty() && !line.starts_with(OF_PLOTS) {
                        first_line.get_or_insert_with(|| quote(&line));
                        self.running.observe_output(&line);
                        self.running.observe_output(b"\n");
                    }
                }
                WaitOutcome::Came(Either::First(IncomingLine::TooLong(start))) => {
                    self.running.observe_output(&start);
                }
                WaitOutcome::Closed => {
                    let status = self.running.await_end();
                    self.running.drain_output();
                    self.refuse_unconnected_criterion()?;
                    return Err(ChildError::NoHello {
                        what: format!("it ended ({status}) without identifying its harness"),
                        first_line: first_line.or_else(|| self.running.final_message()),
                    });
                }
                WaitOutcome::Late => {
                    self.refuse_unconnected_criterion()?;
                    return Err(ChildError::NoHello {
                        what: format!(
                            "it did not identify its harness within {} s",
                            HELLO_DEADLINE.as_secs()
                        ),
                        first_line,
                    });
                }
                WaitOutcome::Interrupted => return Err(ChildError::Interrupted),
            }
        }
    }

    /// Fails if the output is that of Criterion: recent versions print to standard error if they could not connect to the runner.
    fn refuse_unconnected_criterion(&self) -> Result<(), ChildError> {
        let lines = self.running.last_lines();
        if lines
            .iter()
            .any(|line| line.as_bytes().starts_with(OF_CRITERION))
        {
            return Err(ChildError::UnconnectedCriterion);
        }
        Ok(())
    }
}
