//! One launch of a Criterion bench: from benchmark to benchmark, at our leave.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::arguments::{Config, CriterionRequest, Said, arguments};
use super::connection::{Connection, PortEvent, greet_bench};
use super::message::{
    CriterionVersion, Message, RawConfig, RawId, RunnerOrder, SamplingMethod, send,
};
use super::quiet::Quiet;
use super::scale::{UnitScale, whole};
use crate::child::error::ChildError;
use crate::child::launch_spec::{LaunchSpec, Spawned, bench_command};
use crate::child::launcher::Launcher;
use crate::child::pipes::read_pieces_of;
use crate::child::running::{PATIENCE, Running};
use perfcheck_analysis::model::{
    AuthorSettings, Metric, Nanos, Sample, SamplingMode, Series, Skipping, Throughput,
};

/// A benchmark that the bench passed over, or measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// Its id: Criterion's full id, with ` #2` where another benchmark has it already.
    pub id: String,
    /// What one iteration processes.
    pub throughput: Throughput,
    /// The same in words, where there is no number for it.
    pub throughput_words: Option<String>,
    /// From the leave to go on until it began: what the bench does before.
    pub set_up: Duration,
    /// What was measured; `None` of a benchmark that was passed over.
    pub measured: Option<Measured>,
}

/// What a launch measured of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The samples.
    pub series: Series,
    /// What they mean.
    pub metric: Metric,
    /// What the author fixed in code.
    pub settings: AuthorSettings,
    /// What was in force, whoever said it.
    pub in_force: Config,
    /// How iteration counts were laid out.
    pub mode: SamplingMode,
}

/// How long a benchmark would take for which nobody wants to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// Its warm-up.
    pub warm_up: Duration,
    /// Its samples, where it came to them.
    pub samples: Option<Duration>,
}

/// A Criterion bench under way. Dropping it kills it.
pub struct CriterionSession<'a> {
    running: Running<'a>,
    connection: Connection,
    socket: Option<TcpStream>,
    version: Option<CriterionVersion>,
    /// How it was told to sample.
    said: Option<Said>,
    longest: Option<Duration>,
    too_long: Option<TooLong>,
    /// The benchmark that it has begun and not ended.
    under_way: Option<String>,
    /// How often an id has come.
    seen: BTreeMap<String, usize>,
    /// Whether it waits for leave to go on, and whether it has had any.
    waits: bool,
    greeted: bool,
    /// When it was last given leave, and how long it took until it began a benchmark.
    leave: Instant,
    set_up: Duration,
    /// Warm-up and estimate of the benchmark under way.
    warm_up: Sample,
    timeout: Duration,
    asked: Duration,
}

impl<'a> CriterionSession<'a> {
    /// Starts the executable and waits until it asks for its runner; it then stands still.
    pub fn start(
        spec: &LaunchSpec,
        request: &CriterionRequest<'_>,
        launcher: &Launcher<'a>,
    ) -> Result<Self, ChildError> {
        let mut connection = Connection::listen().map_err(|source| spec.not_started(source))?;
        let mut command = bench_command(spec);
        let request = CriterionRequest {
            ids: request.ids.filter(|_| spec.skipping == Skipping::Works),
            ..*request
        };
        command.args(arguments(&request)).stdin(Stdio::null());
        connection.invite(&mut command);
        let Spawned {
            mut group,
            stdout,
            stderr,
        } = spec.spawn(&mut command, launcher)?;
        connection.admit(group.leader().id());
        let mut session = Self {
            running: Running::new(
                group,
                read_pieces_of([Box::new(Quiet::new(stdout)), Box::new(Quiet::new(stderr))])
                    .map_err(|source| spec.not_started(source))?,
                launcher,
            ),
            connection,
            socket: None,
            version: request.version,
            said: request.said.map(|said| said.to(request.version)),
            longest: request.longest,
            too_long: None,
            under_way: None,
            seen: BTreeMap::new(),
            waits: true,
            greeted: false,
            leave: Instant::now(),
            set_up: Duration::ZERO,
            warm_up: Sample::UNTIMED,
            timeout: launcher.timeout,
            asked: Duration::ZERO,
        };
        session.wait_for_connection()?;
        Ok(session)
    }

    /// The next benchmark that it has passed over or measured; `None` once it has ended well, or where the one under way takes too long.
    pub fn next_report(&mut self) -> Result<Option<Reported>, ChildError> {
        let began = Instant::now();
        let next = self.read_report();
        self.asked += began.elapsed();
        next
    }

    /// The benchmark that it has begun and not ended.
    pub fn under_way(&self) -> Option<&str> {
        self.under_way.as_deref()
    }

    /// How long the benchmark under way would take, where that was too long to wait for.
    pub fn too_long(&self) -> Option<TooLong> {
        self.too_long
    }

    /// The version that it has told; before the first report, what was known of it.
    pub fn version(&self) -> Option<CriterionVersion> {
        self.version
    }

    /// The number of its process.
    pub fn id(&mut self) -> u32 {
        self.running.id()
    }

    /// How long it has had leave to go on.
    pub fn asked(&self) -> Duration {
        self.asked
    }

    fn wait_for_connection(&mut self) -> Result<(), ChildError> {
        match self.incoming(CONNECT, self.timeout)? {
            Some(PortEvent::Connected(socket)) => {
                self.socket = Some(socket);
                Ok(())
            }
            Some(PortEvent::Closed) | None => Err(self.running.exited(CONNECT)),
            Some(PortEvent::Wrong(error)) => Err(ChildError::protocol(error.to_string())),
            Some(_) => Err(ChildError::protocol("it spoke before it was greeted")),
        }
    }

    fn read_report(&mut self) -> Result<Option<Reported>, ChildError> {
        if self.waits {
            self.give_leave()?;
        }
        let mut allowed = self.timeout;
        loop {
            let Some(incoming) = self.incoming(MEASURE, allowed)? else {
                return Err(self.running.exited(MEASURE));
            };
            allowed = self.timeout;
            match incoming {
                PortEvent::Greeted(version) => {
                    self.version = Some(version);
                }
                PortEvent::Message(message) => match *message {
                    Message::SkippingBenchmark { id } => return Ok(Some(self.passed_over(&id))),
                    Message::MeasurementComplete {
                        id,
                        iters,
                        times,
                        sampling_method,
                        benchmark_config,
                    } => {
                        self.waits = true;
                        let measured =
                            self.measured(&iters, &times, sampling_method, &benchmark_config)?;
                        let mut reported = self.passed_over(&id);
                        reported.measured = Some(measured);
                        return Ok(Some(reported));
                    }
                    Message::FinishedBenchmarkGroup {} => self.order(&RunnerOrder::Continue)?,
                    Message::Warmup { nanos } => {
                        self.warm_up.elapsed = Nanos(whole(nanos).unwrap_or(0));
                        let warm_up = self.warm_up.elapsed.into();
                        if self.is_longer(warm_up, |said| said.warm_up) {
                            let samples = None;
                            self.too_long = Some(TooLong { warm_up, samples });
                            return Ok(None);
                        }
                        allowed = self.allowed(nanos);
                    }
                    Message::MeasurementStart {
                        estimate_ns,
                        iter_count,
                        ..
                    } => {
                        let samples = expected(estimate_ns);
                        if self.is_longer(samples, |said| said.measurement) {
                            self.too_long = Some(TooLong {
                                warm_up: self.warm_up.elapsed.into(),
                                samples: Some(samples),
                            });
                            return Ok(None);
                        }
                        let iteration_ns = estimate_ns / iter_count as f64;
                        let iterations = self.warm_up.elapsed.as_f64() / iteration_ns;
                        self.warm_up.iterations = whole(iterations.round()).unwrap_or(1).max(1);
                        allowed = self.allowed(estimate_ns);
                    }
                    Message::BeginningBenchmark { id } => {
                        self.under_way = Some(self.unique(&id));
                        self.set_up = self.leave.elapsed();
                    }
                    Message::BeginningBenchmarkGroup {} => {}
                    Message::FormattedValue {} | Message::ScaledValues { .. } => {
                        return Err(ChildError::protocol("it answers what it was not asked"));
                    }
                },
                PortEvent::Closed => return self.ended(),
                PortEvent::Wrong(error) => return Err(ChildError::protocol(error.to_string())),
                PortEvent::Connected(_) | PortEvent::Again => return Err(self.connected_twice()),
            }
        }
    }

    /// It has connected again. Another thread reads what it said before that: which benchmark it has begun may come after.
    fn connected_twice(&mut self) -> ChildError {
        while self.under_way.is_none() {
            let Ok(Some(incoming)) = self.incoming(MEASURE, STRAGGLERS) else {
                break;
            };
            match incoming {
                PortEvent::Greeted(_) => {}
                PortEvent::Message(message) => match *message {
                    Message::BeginningBenchmark { id } => self.under_way = Some(self.unique(&id)),
                    Message::SkippingBenchmark { id } => drop(self.passed_over(&id)),
                    _ => break,
                },
                _ => break,
            }
        }
        ChildError::protocol(TWICE)
    }

    /// Lets it go on: the first time by a greeting.
    fn give_leave(&mut self) -> Result<(), ChildError> {
        self.waits = false;
        // What it printed so far is another benchmark's. It waits for nobody once it begins one.
        self.running.forget_output();
        self.leave = Instant::now();
        self.warm_up = Sample::UNTIMED;
        if !self.greeted {
            self.greeted = true;
            let Some(socket) = &mut self.socket else {
                return Err(ChildError::protocol("it is not connected"));
            };
            return match greet_bench(socket) {
                Ok(()) => Ok(()),
                Err(_) => Err(self.running.exited(MEASURE)),
            };
        }
        self.order(&RunnerOrder::Continue)
    }

    /// Sends an order. A failed write means that the child is gone.
    fn order(&mut self, order: &RunnerOrder) -> Result<(), ChildError> {
        let sent = self.socket.as_mut().map(|socket| send(socket, order));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.running.exited(MEASURE)),
        }
    }

    fn incoming(
        &mut self,
        request: &str,
        allowed: Duration,
    ) -> Result<Option<PortEvent>, ChildError> {
        let time = (Instant::now(), allowed);
        self.running
            .answer(self.connection.incoming(), request, time)
    }

    /// How long it may take over what should take `expected_ns`.
    fn allowed(&self, expected_ns: f64) -> Duration {
        self.timeout
            .saturating_add(expected(expected_ns).saturating_mul(PATIENCE))
    }

    /// Whether a time is too long that was left to the author. What a group sets outranks what is said, and lasts as long as it lasts.
    fn is_longer(&self, time: Duration, said: impl Fn(Said) -> Option<Duration>) -> bool {
        let is_authors = self.said.and_then(said).is_none();
        is_authors && self.longest.is_some_and(|longest| time > longest)
    }

    /// It has closed its connection: that is well if it ends well.
    fn ended(&mut self) -> Result<Option<Reported>, ChildError> {
        match self.running.end() {
            Ok(status) if status.success() => Ok(None),
            _ => Err(self.running.exited(MEASURE)),
        }
    }

    /// The id of a benchmark that has not come yet in this launch.
    fn unique(&self, id: &RawId) -> String {
        let full_id = id.full_id();
        match self.seen.get(&full_id) {
            None => full_id,
            Some(times) => format!("{full_id} #{}", times + 1),
        }
    }

    fn passed_over(&mut self, id: &RawId) -> Reported {
        self.under_way = None;
        let unique = self.unique(id);
        *self.seen.entry(id.full_id()).or_default() += 1;
        let (throughput, throughput_words) = id.throughput();
        Reported {
            id: unique,
            throughput,
            throughput_words,
            set_up: self.set_up,
            measured: None,
        }
    }

    fn measured(
        &mut self,
        iters: &[f64],
        times: &[f64],
        method: SamplingMethod,
        config: &RawConfig,
    ) -> Result<Measured, ChildError> {
        if iters.len() != times.len() || iters.is_empty() {
            return Err(ChildError::protocol(format!(
                "it reports {} counts of iterations and {} times",
                iters.len(),
                times.len()
            )));
        }
        let scale = self.scale()?;
        let samples = scale.samples(iters, times).ok_or_else(|| {
            ChildError::bench("it reports numbers that no measurement has: negative, infinite, or of no iterations")
        })?;
        let (linear, flat, mode) = match method {
            SamplingMethod::Linear => (samples, Vec::new(), SamplingMode::Linear),
            SamplingMethod::Flat => (Vec::new(), samples, SamplingMode::Flat),
        };
        Ok(Measured {
            series: Series {
                warm_up: self.warm_up,
                linear,
                flat,
            },
            metric: scale.metric,
            settings: (self.said)
                .map(|said| said.fixed_in_code(config))
                .unwrap_or_default(),
            in_force: config.into(),
            mode,
        })
    }

    /// What its values mean.
    fn scale(&mut self) -> Result<UnitScale, ChildError> {
        self.order(&RunnerOrder::ScaleForMachines { values: vec![1.0] })?;
        match self.incoming(MEASURE, self.timeout)? {
            Some(PortEvent::Message(message)) => match *message {
                Message::ScaledValues {
                    scaled_values,
                    unit,
                } => match scaled_values[..] {
                    [size] => UnitScale::of(size, &unit),
                    _ => None,
                }
                .ok_or_else(|| ChildError::protocol("it cannot say in which unit its values are")),
                _ => Err(ChildError::protocol(
                    "it does not answer in which unit its values are",
                )),
            },
            Some(PortEvent::Wrong(error)) => Err(ChildError::protocol(error.to_string())),
            Some(PortEvent::Again | PortEvent::Connected(_)) => Err(ChildError::protocol(TWICE)),
            Some(PortEvent::Greeted(_) | PortEvent::Closed) | None => {
                Err(self.running.exited(MEASURE))
            }
        }
    }
}

/// What it is waited for, in messages.
const CONNECT: &str = "connect to its runner";
const MEASURE: &str = "measure";
const TWICE: &str = "it connected to its runner twice";
/// Time for what has been sent before to be read.
const STRAGGLERS: Duration = Duration::from_secs(1);
fn expected(ns: f64) -> Duration {
    Duration::try_from_secs_f64(ns * 1e-9).unwrap_or(Duration::ZERO)
}
