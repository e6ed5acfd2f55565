//! Finding out which benchmarks the executables have, before anything is measured.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::driver::Driver;
use crate::cargo::BenchTarget;
use crate::child::{
    Announcement, Capability, ChildError, CriterionRequest, CriterionSession, CriterionVersion,
    Hello, LaunchSpec, Listing, Means, PrintedHarness, Printer, Recognised, Session,
};
use crate::host;
use crate::process::{Interrupt, Supervisor, Usage, stolen};
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkKey, Conduct, Control, Event, Harness, LaunchHead,
    LaunchRecord, Metric, Nanos, Observer, Throughput,
};

/// A bench target and the benchmarks that it announced.
#[derive(Debug, Clone)]
pub struct DiscoveredTarget {
    /// The target.
    pub target: BenchTarget,
    /// Its benchmarks, in program order.
    pub benchmarks: Vec<Benchmark>,
    /// What its harness can do (docs/PROTOCOL.md).
    pub capabilities: Vec<String>,
    /// What drives it.
    pub driver: Driver,
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
            Ok(announced) => {
                for message in announced.broken {
                    found.fail(&target, message, observer);
                }
                found.targets.push(DiscoveredTarget {
                    target,
                    benchmarks: announced.benchmarks,
                    capabilities: announced.capabilities,
                    driver: announced.driver,
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

/// What is known of a harness that is Criterion. Its clock is the system's; nobody tells its step.
pub(super) fn criterion_harness(version: CriterionVersion) -> Harness {
    Harness {
        name: "criterion".to_owned(),
        version: version.to_string(),
        quantum: Nanos(1),
    }
}

/// What is known of a harness that prints its results. No clock is known of those that print alone: every value of theirs counts.
pub(super) fn printed_harness(printer: Printer) -> Harness {
    Harness {
        name: printer.name().to_owned(),
        version: String::new(),
        quantum: match printer {
            Printer::Criterion => Nanos(1),
            Printer::Libtest | Printer::Divan => Nanos(0),
        },
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
        Some(self.conduct_of(&usage, session.asked()))
    }

    /// Of a process that has run so, and has worked for us so long.
    pub(super) fn conduct_of(&self, usage: &Usage, asked: Duration) -> Conduct {
        Conduct {
            threads: usage.threads,
            cpu: usage.cpu.into(),
            asked: asked.into(),
            involuntary_switches: usage.involuntary_switches,
            stolen: self
                .stolen
                .and_then(|before| Some(stolen()?.checked_sub(before)?.into())),
            processor: self.processor,
            control: self.control,
        }
    }
}

/// What an executable told of itself.
struct Announced {
    benchmarks: Vec<Benchmark>,
    broken: Vec<String>,
    capabilities: Vec<String>,
    driver: Driver,
}

fn announcements(
    target: &BenchTarget,
    supervisor: &Supervisor,
    interrupt: &Interrupt,
    timeout: Duration,
    observer: &dyn Observer,
) -> Result<Announced, ChildError> {
    let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
    let means = Means {
        supervisor,
        interrupt,
        timeout,
        on_output: &pass_on,
    };
    let spec = launch_spec(target, 0, 0);
    let announced = match Session::recognise(&spec, &means)? {
        Recognised::Ours(session) => of_ours(target, *session)?,
        Recognised::Criterion(version) => {
            let nothing = CriterionRequest {
                version: Some(version),
                config: None,
                ids: Some(&[]),
            };
            let session = CriterionSession::start(&spec, &nothing, &means)?;
            of_criterion(target, version, session)?
        }
        Recognised::Printed(printer) => {
            of_printed(target, printer.list(&target.target, &spec, &means)?)
        }
    };
    let mut ids = BTreeSet::new();
    for benchmark in &announced.benchmarks {
        if !ids.insert(&benchmark.key.id) {
            let message = format!("two benchmarks have the id `{}`", benchmark.key.id);
            return Err(ChildError::Bench { message });
        }
    }
    Ok(announced)
}

fn of_ours(target: &BenchTarget, mut session: Session<'_>) -> Result<Announced, ChildError> {
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
    let benchmarks = listing.benchmarks.into_iter();
    Ok(Announced {
        benchmarks: benchmarks
            .map(|announcement| benchmark(target, announcement))
            .collect(),
        broken: listing.broken,
        capabilities,
        driver: Driver::Own,
    })
}

/// Every benchmark of a Criterion bench, passed over.
fn of_criterion(
    target: &BenchTarget,
    version: CriterionVersion,
    mut session: CriterionSession<'_>,
) -> Result<Announced, ChildError> {
    let mut benchmarks = Vec::new();
    while let Some(reported) = session.next_report()? {
        let key = key(target, reported.id);
        benchmarks.push(Benchmark {
            key,
            version: None,
            throughput: reported.throughput,
            other_throughput: reported.throughput_words,
            settings: AuthorSettings::default(),
            metric: Metric::Time,
        });
    }
    Ok(Announced {
        benchmarks,
        broken: Vec::new(),
        capabilities: Vec::new(),
        driver: Driver::Criterion(version),
    })
}

fn of_printed(target: &BenchTarget, harness: PrintedHarness) -> Announced {
    let benchmarks = harness.ids().iter().map(|id| Benchmark {
        key: key(target, id.clone()),
        version: None,
        throughput: Throughput::default(),
        other_throughput: None,
        settings: AuthorSettings::default(),
        metric: Metric::Time,
    });
    Announced {
        benchmarks: benchmarks.collect(),
        broken: Vec::new(),
        capabilities: Vec::new(),
        driver: Driver::Printed(Arc::new(harness)),
    }
}

fn key(target: &BenchTarget, id: String) -> BenchmarkKey {
    BenchmarkKey {
        package: target.package.clone(),
        target: target.target.clone(),
        id,
    }
}

fn benchmark(target: &BenchTarget, announcement: Announcement) -> Benchmark {
    Benchmark {
        key: key(target, announcement.id),
        version: announcement.version,
        throughput: announcement.throughput,
        other_throughput: None,
        settings: announcement.settings,
        metric: announcement.metric,
    }
}
