//! Finding out which benchmarks the executables have, before anything is measured.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::driver::Driver;
use super::launch::launch_spec;
use crate::cargo::BenchTarget;
use crate::child::{
    Announcement, Capability, ChildError, CriterionRequest, CriterionSession, CriterionVersion,
    Launcher, Listing, Recognised, Session,
};
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkKey, Event, Metric, Nanos, Observer, Silence, Throughput,
    limits,
};

/// Characters of an id that is refused: it may be too long.
const LONGEST_QUOTED: usize = 60;

/// A bench target and the benchmarks that it announced.
#[derive(Debug, Clone)]
pub struct DiscoveredTarget {
    /// The target.
    pub target: BenchTarget,
    /// Its benchmarks, in program order.
    pub benchmarks: Vec<Benchmark>,
    /// What its harness can do (docs/src/protocol.md).
    pub capabilities: Vec<String>,
    /// The step of its clock, where its harness tells.
    pub clock_step: Option<Nanos>,
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

/// What the targets of a reference are beside: what failed there in the same way is not told twice.
#[derive(Debug, Clone, Copy)]
pub struct BesideCandidate<'a> {
    /// What was found of the candidate.
    pub candidate: &'a Discovered,
    /// What the reference is called.
    pub reference: &'a str,
}

/// Launches every target once and asks for its benchmarks. `Err` only if the user asked to stop.
pub fn discover(
    targets: Vec<BenchTarget>,
    beside: Option<BesideCandidate<'_>>,
    launcher: Launcher<'_>,
) -> Result<Discovered, ChildError> {
    let mut found = Discovered::default();
    for target in targets {
        let known = beside.map_or_else(Vec::new, |beside| beside.candidate.failures_of(&target));
        let observer: &dyn Observer = match known[..] {
            [] => launcher.observer,
            _ => &Silence,
        };
        let tell = |message: &str| {
            if !known.contains(&message) {
                launcher.observer.observe(&Event::TargetFailed {
                    package: &target.package,
                    target: &target.target,
                    reference: beside.map(|beside| beside.reference),
                    message,
                });
            }
        };
        match announcements(
            &target,
            Launcher {
                observer,
                ..launcher
            },
        ) {
            Ok(announced) => {
                for message in announced.broken {
                    tell(&message);
                    found.fail(&target, message);
                }
                found.targets.push(announced.target);
            }
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(error) => {
                let message = error.to_string();
                tell(&message);
                found.fail(&target, message);
            }
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

    /// Lets those benchmarks alone that are `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&BenchmarkKey) -> bool) {
        for target in &mut self.targets {
            target.benchmarks.retain(|benchmark| wanted(&benchmark.key));
        }
    }

    fn failures_of(&self, target: &BenchTarget) -> Vec<&str> {
        let failures = self.failures.iter();
        failures
            .filter(|one| one.package == target.package && one.target == target.target)
            .map(|one| &*one.message)
            .collect()
    }

    fn fail(&mut self, target: &BenchTarget, message: String) {
        self.failures.push(TargetFailure {
            package: target.package.clone(),
            target: target.target.clone(),
            message,
        });
    }
}

/// What an executable told of itself.
struct Announced {
    target: DiscoveredTarget,
    /// What is wrong with benchmarks that were left out of it.
    broken: Vec<String>,
}

/// A target that told nothing but its benchmarks.
fn plain(target: &BenchTarget, driver: Driver, benchmarks: Vec<Benchmark>) -> DiscoveredTarget {
    DiscoveredTarget {
        target: target.clone(),
        benchmarks,
        capabilities: Vec::new(),
        clock_step: None,
        driver,
    }
}

/// A benchmark that is beyond the limits is as good as one that cannot tell what it is: the others are measured.
fn refuse_beyond_limits(announced: &mut Announced) {
    let Announced { target, broken } = announced;
    target.benchmarks.retain(|benchmark| {
        let why = benchmark.beyond_limits();
        if let Some(why) = &why {
            let id: String = benchmark.key.id.chars().take(LONGEST_QUOTED).collect();
            broken.push(format!("benchmark `{id}` is refused: {why}"));
        }
        why.is_none()
    });
}

fn announcements(target: &BenchTarget, launcher: Launcher<'_>) -> Result<Announced, ChildError> {
    let spec = launch_spec(target, 0, 0);
    let mut announced = match Session::recognise(&spec, &launcher)? {
        Recognised::Ours(session) => of_ours(target, *session)?,
        Recognised::Criterion(version) => {
            let nothing = CriterionRequest {
                version: Some(version),
                said: None,
                longest: None,
                ids: Some(&[]),
            };
            let session = CriterionSession::start(&spec, &nothing, &launcher)?;
            Announced {
                target: of_criterion(target, version, session)?,
                broken: Vec::new(),
            }
        }
        Recognised::Printed(printer) => {
            let harness = printer.list(&target.target, &spec, &launcher)?;
            let ids = harness.ids().iter();
            let benchmarks = ids.map(|id| bare(target, id.clone())).collect();
            let driver = Driver::Printed(Arc::new(harness));
            Announced {
                target: plain(target, driver, benchmarks),
                broken: Vec::new(),
            }
        }
    };
    refuse_beyond_limits(&mut announced);
    let mut ids = BTreeSet::new();
    for benchmark in &announced.target.benchmarks {
        if !ids.insert(&benchmark.key.id) {
            let message = format!("two benchmarks have the id `{}`", benchmark.key.id);
            return Err(ChildError::bench(message));
        }
    }
    Ok(announced)
}

fn of_ours(target: &BenchTarget, mut session: Session<'_>) -> Result<Announced, ChildError> {
    let listing = match session.hello().capability() {
        Some(Capability::Addressable) => session.list()?,
        Some(Capability::Sequential) => {
            let mut listing = Listing::default();
            let mut next = session.advance()?;
            while let Some(announcement) = next {
                listing.benchmarks.push(announcement);
                next = session.skip()?;
            }
            listing
        }
        None => return Err(ChildError::Capability),
    };
    let capabilities = session.hello().capabilities.clone();
    let clock_step = Some(session.hello().quantum_ns);
    session.bye()?;
    let benchmarks = listing.benchmarks.into_iter();
    let benchmarks = benchmarks.map(|announcement| benchmark(target, announcement));
    let found = DiscoveredTarget {
        capabilities,
        clock_step,
        ..plain(target, Driver::Own, benchmarks.collect())
    };
    Ok(Announced {
        target: found,
        broken: listing.broken,
    })
}

/// Every benchmark of a Criterion bench, passed over.
fn of_criterion(
    target: &BenchTarget,
    version: CriterionVersion,
    mut session: CriterionSession<'_>,
) -> Result<DiscoveredTarget, ChildError> {
    let mut benchmarks = Vec::new();
    while let Some(reported) = session.next_report()? {
        if benchmarks.len() == limits::MOST_BENCHMARKS {
            let what = format!("it has more than {} benchmarks", limits::MOST_BENCHMARKS);
            return Err(ChildError::protocol(what));
        }
        benchmarks.push(Benchmark {
            throughput: reported.throughput,
            other_throughput: reported.throughput_words,
            ..bare(target, reported.id)
        });
    }
    Ok(plain(target, Driver::Criterion(version), benchmarks))
}

/// A benchmark of which nothing is known but its id: it measures time, as most do.
fn bare(target: &BenchTarget, id: String) -> Benchmark {
    Benchmark {
        key: BenchmarkKey {
            package: target.package.clone(),
            target: target.target.clone(),
            id,
        },
        version: None,
        throughput: Throughput::default(),
        other_throughput: None,
        settings: AuthorSettings::default(),
        metric: Metric::Time,
    }
}

fn benchmark(target: &BenchTarget, announcement: Announcement) -> Benchmark {
    Benchmark {
        version: announcement.version,
        throughput: announcement.throughput,
        settings: announcement.settings,
        metric: announcement.metric,
        ..bare(target, announcement.id)
    }
}
