//! Runs one process of a Criterion bench, benchmark by benchmark.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::arguments::{CriterionConfig, CriterionRequest, CriterionSettings, arguments};
use super::connection::{Connection, PortEvent, greet_bench};
use super::message::{
    CriterionVersion, Message, RawConfig, RawId, RunnerOrder, SamplingMethod, UnitScale, send,
    to_whole,
};
use super::rehearsal::OutputFilter;
use crate::child::error::ChildError;
use crate::child::process::{
    PATIENCE, ProcessContext, ProcessSpec, RunningBench, SpawnedProcess, bench_command,
    read_pieces_from_all,
};
use perfcheck_analysis::model::{
    AuthorSettings, Metric, Nanos, Sample, SamplingMode, Series, SkipSupport, Throughput,
};

/// A benchmark that the bench skipped or measured.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionReport {
    /// Criterion's full id, with a suffix such as ` #2` if an earlier benchmark has the same id.
    pub id: String,
    /// The bytes or elements that one iteration processes.
    pub throughput: Throughput,
    /// A description of the amount that one iteration processes, if that amount cannot be expressed in bytes or elements.
    pub throughput_words: Option<String>,
    /// How long the bench set up the benchmark: from our permission to continue until the benchmark began.
    pub set_up: Duration,
    /// The measurement. `None` if the benchmark was skipped.
    pub measured: Option<CriterionMeasurement>,
}

/// The measurement of one benchmark in one process.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionMeasurement {
    /// The samples.
    pub series: Series,
    /// The quantity that the samples measure.
    pub metric: Metric,
    /// Settings that the author fixed in code.
    pub settings: AuthorSettings,
    /// Settings in force, from code or the command line.
    pub in_force: CriterionConfig,
    /// How the iteration counts of the samples were chosen.
    pub mode: SamplingMode,
}

/// The durations of a benchmark that was stopped because it would take too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcessiveDuration {
    /// The duration of the benchmark's warm-up, as the bench announced it.
    pub warm_up: Duration,
    /// The expected duration of the benchmark's samples. `None` if its warm-up was already too long.
    pub samples: Option<Duration>,
}

/// A running Criterion bench. Dropping it kills the process.
pub struct CriterionSession<'a> {
    running: RunningBench<'a>,
    connection: Connection,
    socket: Option<TcpStream>,
    version: Option<CriterionVersion>,
    /// The sampling settings on the command line of the bench.
    settings: Option<CriterionSettings>,
    longest: Option<Duration>,
    too_long: Option<ExcessiveDuration>,
    /// The benchmark that has begun, but not ended.
    under_way: Option<String>,
    /// How often each full id has occurred so far.
    seen: BTreeMap<String, usize>,
    /// Whether the bench waits for permission to continue.
    waits: bool,
    greeted: bool,
    /// When the bench last got permission to continue.
    leave: Instant,
    /// Time from the last permission to continue until the current benchmark began.
    set_up: Duration,
    /// Warm-up of the current benchmark.
    warm_up: Sample,
    timeout: Duration,
    working_time: Duration,
}

impl<'a> CriterionSession<'a> {
    /// Starts the executable and waits until it connects to its runner. The bench then waits for permission to continue.
    pub fn start(
        spec: &ProcessSpec,
        request: &CriterionRequest<'_>,
        context: &ProcessContext<'a>,
    ) -> Result<Self, ChildError> {
        let mut connection = Connection::listen().map_err(|source| spec.spawn_error(source))?;
        let mut command = bench_command(spec);
        let request = CriterionRequest {
            ids: request.ids.filter(|_| spec.skipping == SkipSupport::Works),
            ..*request
        };
        command.args(arguments(&request));
        connection.set_environment(&mut command);
        let SpawnedProcess {
            mut group,
            stdout,
            stderr,
        } = spec.spawn(&mut command, context)?;
        connection.admit(group.leader().id());
        let mut session = Self {
            running: RunningBench::new(
                group,
                read_pieces_from_all([
                    Box::new(OutputFilter::new(stdout)),
                    Box::new(OutputFilter::new(stderr)),
                ])
                .map_err(|source| spec.spawn_error(source))?,
                context,
            ),
            connection,
            socket: None,
            version: request.version,
            settings: request
                .settings
                .map(|settings| settings.for_version(request.version)),
            longest: request.longest,
            too_long: None,
            under_way: None,
            seen: BTreeMap::new(),
            waits: true,
            greeted: false,
            leave: Instant::now(),
            set_up: Duration::ZERO,
            warm_up: Sample::UNTIMED,
            timeout: context.timeout,
            working_time: Duration::ZERO,
        };
        session.wait_for_connection()?;
        Ok(session)
    }

    /// Returns the next benchmark that was skipped or measured. Returns `None` once the process has succeeded, or if the current benchmark would take
    /// too long.
    pub fn next_report(&mut self) -> Result<Option<CriterionReport>, ChildError> {
        let began = Instant::now();
        let next = self.read_report();
        self.working_time += began.elapsed();
        next
    }

    /// Returns the benchmark that has begun, but not ended.
    pub fn current_benchmark(&self) -> Option<&str> {
        self.under_way.as_deref()
    }

    /// Returns the durations of the current benchmark, if it would take too long.
    pub fn too_long(&self) -> Option<ExcessiveDuration> {
        self.too_long
    }

    /// Returns the version of Criterion that the bench reported. Before its first report, this is the version that the request gave.
    pub fn version(&self) -> Option<CriterionVersion> {
        self.version
    }

    /// Returns the process id.
    pub fn id(&mut self) -> u32 {
        self.running.id()
    }

    /// Returns the total time for which the bench ran, without the time that it waited for permission to continue.
    pub fn working_time(&self) -> Duration {
        self.working_time
    }

    fn wait_for_connection(&mut self) -> Result<(), ChildError> {
        match self.next_event(CONNECT, self.timeout)? {
            Some(PortEvent::Connected(socket)) => {
                self.socket = Some(socket);
                Ok(())
            }
            Some(PortEvent::Closed) | None => Err(self.running.exit_error(CONNECT)),
            Some(PortEvent::Wrong(error)) => Err(ChildError::protocol(error.to_string())),
            Some(_) => Err(ChildError::protocol(
                "it sent a message before it was greeted",
            )),
        }
    }

    fn read_report(&mut self) -> Result<Option<CriterionReport>, ChildError> {
        if self.waits {
            self.resume()?;
        }
        let mut allowed = self.timeout;
        loop {
            let Some(incoming) = self.next_event(MEASURE, allowed)? else {
                return Err(self.running.exit_error(MEASURE));
            };
            allowed = self.timeout;
            match incoming {
                PortEvent::Greeted(version) => {
                    self.version = Some(version);
                }
                PortEvent::Message(message) => match *message {
                    Message::SkippingBenchmark { id } => return Ok(Some(self.report_skipped(&id))),
                    Message::MeasurementComplete {
                        id,
                        iters,
                        times,
                        sampling_method,
                        benchmark_config,
                    } => {
                        self.waits = true;
                        let measured = self.parse_measurement(
                            &iters,
                            &times,
                            sampling_method,
                            &benchmark_config,
                        )?;
                        let mut reported = self.report_skipped(&id);
                        reported.measured = Some(measured);
                        return Ok(Some(reported));
                    }
                    Message::FinishedBenchmarkGroup {} => {
                        self.send_order(&RunnerOrder::Continue)?;
                    }
                    Message::Warmup { nanos } => {
                        self.warm_up.elapsed = Nanos(to_whole(nanos).unwrap_or(0));
                        let warm_up = self.warm_up.elapsed.into();
                        if self.exceeds_longest(warm_up, |settings| settings.warm_up) {
                            let samples = None;
                            self.too_long = Some(ExcessiveDuration { warm_up, samples });
                            return Ok(None);
                        }
                        allowed = self.timeout_for(nanos);
                    }
                    Message::MeasurementStart {
                        estimate_ns,
                        iter_count,
                        ..
                    } => {
                        let samples = duration_from_ns(estimate_ns);
                        if self.exceeds_longest(samples, |settings| settings.measurement) {
                            self.too_long = Some(ExcessiveDuration {
                                warm_up: self.warm_up.elapsed.into(),
                                samples: Some(samples),
                            });
                            return Ok(None);
                        }
                        let iteration_ns = estimate_ns / iter_count as f64;
                        let iterations = self.warm_up.elapsed.as_f64() / iteration_ns;
                        self.warm_up.iterations = to_whole(iterations.round()).unwrap_or(1).max(1);
                        allowed = self.timeout_for(estimate_ns);
                    }
                    Message::BeginningBenchmark { id } => {
                        self.under_way = Some(self.unique_id(&id));
                        self.set_up = self.leave.elapsed();
                    }
                    Message::BeginningBenchmarkGroup {} => {}
                    Message::FormattedValue {} | Message::ScaledValues { .. } => {
                        return Err(ChildError::protocol("it sent an answer without a request"));
                    }
                },
                PortEvent::Closed => return self.finish(),
                PortEvent::Wrong(error) => return Err(ChildError::protocol(error.to_string())),
                PortEvent::Connected(_) | PortEvent::Again => {
                    return Err(self.second_connection_error());
                }
            }
        }
    }

    /// Creates the error for a bench that connected a second time, and finds out which benchmark was running then. Another thread reads the first
    /// connection, so the message that this benchmark has begun may arrive after the second connection. This function waits for that message.
    fn second_connection_error(&mut self) -> ChildError {
        while self.under_way.is_none() {
            let Ok(Some(incoming)) = self.next_event(MEASURE, STRAGGLERS) else {
                break;
            };
            match incoming {
                PortEvent::Greeted(_) => {}
                PortEvent::Message(message) => match *message {
                    Message::BeginningBenchmark { id } => {
                        self.under_way = Some(self.unique_id(&id));
                    }
                    Message::SkippingBenchmark { id } => drop(self.report_skipped(&id)),
                    _ => break,
                },
                _ => break,
            }
        }
        ChildError::protocol(TWICE)
    }

    /// Lets the bench continue: the first time by the greeting, later by an order.
    fn resume(&mut self) -> Result<(), ChildError> {
        self.waits = false;
        // Earlier output belongs to the previous benchmark. Forget it now, because the bench does not wait again before it begins the next benchmark.
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
                Err(_) => Err(self.running.exit_error(MEASURE)),
            };
        }
        self.send_order(&RunnerOrder::Continue)
    }

    /// Sends an order. A failed write means that the child has ended.
    fn send_order(&mut self, order: &RunnerOrder) -> Result<(), ChildError> {
        let sent = self.socket.as_mut().map(|socket| send(socket, order));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.running.exit_error(MEASURE)),
        }
    }

    fn next_event(
        &mut self,
        request: &str,
        allowed: Duration,
    ) -> Result<Option<PortEvent>, ChildError> {
        let time = (Instant::now(), allowed);
        self.running
            .wait_for_answer(self.connection.events(), request, time)
    }

    /// Returns the timeout for a phase that should take `expected_ns`.
    fn timeout_for(&self, expected_ns: f64) -> Duration {
        self.timeout
            .saturating_add(duration_from_ns(expected_ns).saturating_mul(PATIENCE))
    }

    /// Returns true if `time`, the duration of a warm-up or of the samples, is longer than `longest`. If the command line sets this duration, it is
    /// never too long, even if a group of the bench overrides it.
    fn exceeds_longest(
        &self,
        time: Duration,
        passed_time: impl Fn(CriterionSettings) -> Option<Duration>,
    ) -> bool {
        let is_authors = self.settings.and_then(passed_time).is_none();
        is_authors && self.longest.is_some_and(|longest| time > longest)
    }

    /// Ends the session after the connection was closed. Fails if the process has failed.
    fn finish(&mut self) -> Result<Option<CriterionReport>, ChildError> {
        match self.running.end() {
            Ok(status) if status.success() => Ok(None),
            _ => Err(self.running.exit_error(MEASURE)),
        }
    }

    /// Returns the id, with a count if it has occurred before in this process.
    fn unique_id(&self, id: &RawId) -> String {
        let full_id = id.full_id();
        match self.seen.get(&full_id) {
            None => full_id,
            Some(times) => format!("{full_id} #{}", times + 1),
        }
    }

    fn report_skipped(&mut self, id: &RawId) -> CriterionReport {
        self.under_way = None;
        let unique = self.unique_id(id);
        *self.seen.entry(id.full_id()).or_default() += 1;
        let (throughput, throughput_words) = id.throughput();
        CriterionReport {
            id: unique,
            throughput,
            throughput_words,
            set_up: self.set_up,
            measured: None,
        }
    }

    fn parse_measurement(
        &mut self,
        iters: &[f64],
        times: &[f64],
        method: SamplingMethod,
        config: &RawConfig,
    ) -> Result<CriterionMeasurement, ChildError> {
        if iters.len() != times.len() || iters.is_empty() {
            return Err(ChildError::protocol(format!(
                "it reported an invalid list of samples (iteration counts: {}, times: {})",
                iters.len(),
                times.len()
            )));
        }
        let scale = self.request_scale()?;
        let samples = scale.samples(iters, times).ok_or_else(|| {
            ChildError::bench(
                "it reported impossible numbers: negative, infinite, or with zero iterations",
            )
        })?;
        let (linear, flat, mode) = match method {
            SamplingMethod::Linear => (samples, Vec::new(), SamplingMode::Linear),
            SamplingMethod::Flat => (Vec::new(), samples, SamplingMode::Flat),
        };
        Ok(CriterionMeasurement {
            series: Series {
                warm_up: self.warm_up,
                linear,
                flat,
            },
            metric: scale.metric,
            settings: (self.settings)
                .map(|settings| settings.fixed_in_code(config))
                .unwrap_or_default(),
            in_force: config.into(),
            mode,
        })
    }

    /// Asks the bench for the unit of its values.
    fn request_scale(&mut self) -> Result<UnitScale, ChildError> {
        self.send_order(&RunnerOrder::ScaleForMachines { values: vec![1.0] })?;
        match self.next_event(MEASURE, self.timeout)? {
            Some(PortEvent::Message(message)) => match *message {
                Message::ScaledValues {
                    scaled_values,
                    unit,
                } => match scaled_values[..] {
                    [size] => UnitScale::from_unit(size, &unit),
                    _ => None,
                }
                .ok_or_else(|| {
                    ChildError::protocol("it did not report a usable unit for its values")
                }),
                _ => Err(ChildError::protocol(
                    "it did not answer the request for the unit of its values",
                )),
            },
            Some(PortEvent::Wrong(error)) => Err(ChildError::protocol(error.to_string())),
            Some(PortEvent::Again | PortEvent::Connected(_)) => Err(ChildError::protocol(TWICE)),
            Some(PortEvent::Greeted(_) | PortEvent::Closed) | None => {
                Err(self.running.exit_error(MEASURE))
            }
        }
    }
}

/// The names of the requests in error messages.
const CONNECT: &str = "connect to its runner";
const MEASURE: &str = "measure";
const TWICE: &str = "it connected to its runner twice";
/// How long to wait for messages that the bench sent before it connected a second time.
const STRAGGLERS: Duration = Duration::from_secs(1);
fn duration_from_ns(ns: f64) -> Duration {
    Duration::try_from_secs_f64(ns * 1e-9).unwrap_or(Duration::ZERO)
}
