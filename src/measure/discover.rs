//! Finding out which benchmarks the executables have, before anything is measured.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::cargo::BenchTarget;
use crate::child::{Announcement, Capability, ChildError, Hello, LaunchSpec, Listing, Session};
use crate::host;
use crate::model::{Benchmark, BenchmarkKey, Conduct, Control, Event, Observer};
use crate::process::{Interrupt, Supervisor, stolen};
use crate::store::{Harness, LaunchHead, LaunchRecord};

/// A bench target and the benchmarks that it announced.
#[derive(Debug, Clone)]
pub struct DiscoveredTarget {
    /// The target.
    pub target: BenchTarget,
    /// Its benchmarks, in program order.
    pub benchmarks: Vec<Benchmark>,
    /// What its harness can do (docs/PROTOCOL.md).
    pub capabilities: Vec<String>,
}

/// A target that could not tell its benchmarks, or not all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFailure {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// What happened.
    pub message: String,
}

/// All targets, good and bad.
#[derive(Debug, Clone, Default)]
pub struct Discovered {
    /// Those that told their benchmarks.
    pub targets: Vec<DiscoveredTarget>,
    /// Those that did not, or not all: a target may be in both.
    pub failures: Vec<TargetFailure>,
}

/// Launches every target once and asks for its benchmarks. `Err` only if the user asked to stop.
pub fn discover(
    targets: Vec<BenchTarget>,
    supervisor: &Supervisor,
    interrupt: &Interrupt,
    timeout: Duration,
    observer: &dyn Observer,
) -> Result<Discovered, ChildError> {
    let mut found = Discovered::default();
    for target in targets {
        match announcements(&target, supervisor, interrupt, timeout, observer) {
            Ok((listing, capabilities)) => {
                for message in listing.broken {
                    found.fail(&target, message, observer);
                }
                let benchmarks = listing
                    .benchmarks
                    .into_iter()
                    .map(|announcement| benchmark(&target, announcement))
                    .collect();
                found.targets.push(DiscoveredTarget {
                    target,
                    benchmarks,
                    capabilities,
                });
            }
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(error) => found.fail(&target, error.to_string(), observer),
        }
    }
    Ok(found)
}

impl Discovered {
    /// Whether no target has a benchmark.
    pub fn is_empty(&self) -> bool {
        self.targets
            .iter()
            .all(|target| target.benchmarks.is_empty())
    }

    fn fail(&mut self, target: &BenchTarget, message: String, observer: &dyn Observer) {
        observer.observe(&Event::TargetFailed {
            package: &target.package,
            target: &target.target,
            message: &message,
        });
        self.failures.push(TargetFailure {
            package: target.package.clone(),
            target: target.target.clone(),
            message,
        });
    }
}

/// What is needed to launch `target`.
pub(super) fn launch_spec(target: &BenchTarget, launch: u32, padding: u32) -> LaunchSpec {
    LaunchSpec {
        program: target.program.clone(),
        first_arguments: target.first_arguments.clone(),
        directory: target.directory.clone(),
        variables: target.variables.clone(),
        launch,
        padding,
    }
}

/// The record of a launch that begins now.
pub(super) fn begun(target: &BenchTarget, round: u32, attempt: u32, padding: u32) -> LaunchRecord {
    LaunchRecord {
        head: LaunchHead {
            package: target.package.clone(),
            target: target.target.clone(),
            ordinal: round,
            attempt,
            started: host::now(),
            padding_bytes: padding,
            harness: None,
            conduct: None,
            failure: None,
        },
        target_facts: target.facts.clone(),
        benchmarks: Vec::new(),
    }
}

/// What a child said of its harness, for the record.
pub(super) fn harness(hello: &Hello) -> Harness {
    Harness {
        name: hello.harness.clone(),
        version: hello.version.clone(),
        quantum: hello.quantum_ns,
    }
}

/// From the start of a launch to its end: how the process ran.
pub(super) struct ConductWatch {
    control: Option<Control>,
    stolen: Option<Duration>,
    processor: Option<u32>,
}

impl ConductWatch {
    /// Of a process that is about to start.
    pub(super) fn start() -> Self {
        Self {
            control: None,
            stolen: stolen(),
            processor: None,
        }
    }

    /// The control workload has just run.
    pub(super) fn with_control(self, control: Option<Control>) -> Self {
        Self { control, ..self }
    }

    /// It is bound to a processor for a benchmark, if to any.
    pub(super) fn bound(&mut self, processor: Option<u32>) {
        self.processor = processor.or(self.processor);
    }

    /// Of a process that has answered its last request.
    pub(super) fn conduct(&self, session: &mut Session<'_>) -> Option<Conduct> {
        let usage = session.usage()?;
        Some(Conduct {
            threads: usage.threads,
            cpu: usage.cpu.into(),
            asked: session.asked().into(),
            involuntary_switches: usage.involuntary_switches,
            stolen: self
                .stolen
                .and_then(|before| Some(stolen()?.checked_sub(before)?.into())),
            processor: self.processor,
            control: self.control,
        })
    }
}

fn announcements(
    target: &BenchTarget,
    supervisor: &Supervisor,
    interrupt: &Interrupt,
    timeout: Duration,
    observer: &dyn Observer,
) -> Result<(Listing, Vec<String>), ChildError> {
    let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
    let spec = launch_spec(target, 0, 0);
    let mut session = Session::start(&spec, supervisor, interrupt, timeout, &pass_on)?;
    let listing = match session.hello().capability() {
        Some(Capability::Addressable) => session.list()?,
        Some(Capability::Sequential) => {
            let mut listing = Listing::default();
            let mut next = session.begin()?;
            while let Some(announcement) = next {
                listing.benchmarks.push(announcement);
                next = session.skip()?;
            }
            listing
        }
        None => return Err(ChildError::Capability),
    };
    let capabilities = session.hello().capabilities.clone();
    session.bye()?;
    let mut ids = BTreeSet::new();
    for announcement in &listing.benchmarks {
        if !ids.insert(&announcement.id) {
            let message = format!("two benchmarks have the id `{}`", announcement.id);
            return Err(ChildError::Bench { message });
        }
    }
    Ok((listing, capabilities))
}

fn benchmark(target: &BenchTarget, announcement: Announcement) -> Benchmark {
    Benchmark {
        key: BenchmarkKey {
            package: target.package.clone(),
            target: target.target.clone(),
            id: announcement.id,
        },
        version: announcement.version,
        throughput: announcement.throughput,
        settings: announcement.settings,
        metric: announcement.metric,
    }
}
