//! The base for crates with another bench API, so far only `perfcheck-criterion`. In such an API, the declaring code runs only once, and each
//! benchmark runs where it is declared. This module is not part of the public API and may change without notice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;

use crate::bencher::{Bencher, RoutineEnding};
use crate::child::{self, ParentConnection};
use crate::clock::Stopwatch;
use crate::driver::{Measure, SampleDriver};
use crate::output::fail_with;
use crate::protocol::HarnessIdentity;
use crate::settings::{AnnouncedBenchmark, SamplingMode, Settings, Throughput};
use crate::table::TableSampling;
use crate::walk;

pub use crate::counting::Window;
pub use crate::output::{format_rate, format_time, print, print_note};
pub use crate::protocol::{VERSION, escape};
pub use crate::timing::Batches;

/// The id and settings of a declared benchmark.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    pub id: String,
    pub samples: Option<u32>,
    pub warm_up: Option<Duration>,
    pub measurement: Option<Duration>,
    pub sampling_mode: Option<SamplingMode>,
    pub noise_threshold: Option<f64>,
    pub throughput: Throughput,
    /// The unit of the measured values. `None` if they are times. A sampler returns n units as a `Duration` of n nanoseconds
    pub unit: Option<String>,
}

impl Declaration {
    fn settings(&self) -> Settings {
        Settings {
            samples: self.samples,
            warm_up: self.warm_up,
            measurement: self.measurement,
            sampling_mode: self.sampling_mode,
            noise_threshold: self.noise_threshold,
            throughput: self.throughput,
            unit: self.unit.clone(),
            ..Settings::default()
        }
    }

    /// Takes samples as plain `cargo bench` does. Returns the value per iteration of each sample, in ascending order.
    pub fn measure(&self, sampler: &mut dyn FnMut(u64) -> Duration) -> Vec<f64> {
        let mut sampling = TableSampling::new(&self.settings(), false);
        sampling.drive(self.throughput, sampler, None);
        sampling.sorted()
    }
}

/// The parent's decision whether the declaring code may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclarationFlow {
    /// The next benchmark may be declared.
    GoOn,
    /// The parent has sent `bye`: the process ends with status 0.
    Bye,
}

/// The connection to the `cargo perfcheck` that has started this executable.
pub struct Parent {
    opened: ParentConnection,
    /// Whether the parent waits for the next announcement or the end
    owes_announcement: bool,
}

/// The time at which the connection is opened: it decides whether other threads may be running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectTime {
    /// `main` has just begun, so there is no other thread.
    StartOfMain,
    /// Code of the author has run already and may have started threads.
    Later,
}

impl Parent {
    /// Connects to the parent and sends `hello`. Returns `None` if there is no parent. The error is the exit status.
    pub fn connect(
        name: &'static str,
        version: &'static str,
        moment: ConnectTime,
    ) -> Result<Option<Self>, ExitCode> {
        let Ok(speaks) = std::env::var(child::VARIABLE) else {
            return Ok(None);
        };
        if moment == ConnectTime::StartOfMain {
            child::clear_parent_variable();
        }
        let harness = HarnessIdentity {
            name,
            version,
            reach: "sequential",
        };
        match child::open(&speaks, &harness) {
            Ok(Some(opened)) => Ok(Some(Self {
                opened,
                owes_announcement: false,
            })),
            Ok(None) => Err(ExitCode::SUCCESS),
            Err(error) => Err(fail_with(
                2,
                &format!("cannot serve cargo perfcheck: {error}"),
            )),
        }
    }

    /// Announces a benchmark, then runs or skips it as the parent decides.
    pub fn visit(
        &mut self,
        declaration: &Declaration,
        sampler: &mut dyn FnMut(u64) -> Duration,
    ) -> DeclarationFlow {
        if !self.owes_announcement
            && self.wait_for(&["begin"], "nothing has begun") == RequestWord::Bye
        {
            return DeclarationFlow::Bye;
        }
        self.opened.wire.frames.benchmark(&AnnouncedBenchmark {
            id: declaration.id.clone(),
            settings: declaration.settings(),
        });
        self.owes_announcement = true;
        match self.wait_for(&["run", "skip"], "a benchmark is announced") {
            RequestWord::Bye => return DeclarationFlow::Bye,
            RequestWord::Other("skip") => return DeclarationFlow::GoOn,
            RequestWord::Other(_) => {}
        }
        self.run(declaration, sampler);
        match self.wait_for(&["next"], "a benchmark has ended") {
            RequestWord::Bye => DeclarationFlow::Bye,
            RequestWord::Other(_) => DeclarationFlow::GoOn,
        }
    }

    fn run(&mut self, declaration: &Declaration, sampler: &mut dyn FnMut(u64) -> Duration) {
        let id = declaration.id.as_str();
        walk::set_current_benchmark(Some(id));
        let mut starter = self.opened.start_driver(id);
        if declaration.unit.is_some() && matches!(starter.stopwatch, Stopwatch::Real(_)) {
            starter.stopwatch = Stopwatch::Amounts;
        }
        let mut body = |bencher: &mut Bencher<'_>| bencher.measure(&mut *sampler);
        let result = catch_unwind(AssertUnwindSafe(|| {
            Bencher::run(&mut body, declaration.throughput, &mut starter)
        }));
        let frames = &mut self.opened.wire.frames;
        match result {
            Err(payload) => frames.error(Some(id), &walk::take_message(&*payload)),
            Ok(RoutineEnding::Measured) => frames.finished(id),
            Ok(RoutineEnding::Skipped(reason)) => frames.skipped(id, &reason),
            Ok(RoutineEnding::Misused(message)) => frames.error(Some(id), message),
        }
        walk::set_current_benchmark(None);
    }

    /// Reports that no benchmark is left.
    pub fn report_end(&mut self) {
        if !self.owes_announcement
            && self.wait_for(&["begin"], "nothing has begun") == RequestWord::Bye
        {
            return;
        }
        self.opened.wire.frames.end_of_benchmarks();
        self.wait_for(&[], "no benchmark is left");
    }

    /// Reports that the declaring code has panicked and cannot continue.
    pub fn report_panic(&mut self) {
        let message = walk::message_outside_benchmarks().unwrap_or_else(|| "panicked".to_owned());
        self.send_fatal_error(&message);
    }

    /// Reports that the declaring thread has ended, whether normally or by a panic.
    pub fn report_thread_end(&mut self) {
        match walk::message_outside_benchmarks() {
            Some(message) => self.send_fatal_error(&message),
            None => self.report_end(),
        }
    }

    fn send_fatal_error(&mut self, reason: &str) {
        if self.owes_announcement
            || self.wait_for(&["begin"], "nothing has begun") != RequestWord::Bye
        {
            let message = format!("outside its benchmarks, the bench {reason}");
            self.opened.wire.frames.fatal_error(None, &message);
        }
    }

    /// Waits for a request that is one of `words`, or for `bye`, which is answered here. All other requests are refused.
    fn wait_for(&mut self, words: &[&'static str], state: &str) -> RequestWord {
        let wire = &mut self.opened.wire;
        loop {
            let message = match wire.next_line() {
                Ok("bye") => {
                    wire.frames.bye();
                    return RequestWord::Bye;
                }
                Ok(line) => match words.iter().find(|word| **word == line) {
                    Some(word) => return RequestWord::Other(word),
                    None => format!("`{line}` is not valid while {state}"),
                },
                Err(message) => message,
            };
            wire.frames.error(None, &message);
        }
    }
}

/// A request of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestWord {
    Bye,
    Other(&'static str),
}
