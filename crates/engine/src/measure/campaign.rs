//! The measuring loop: rounds of launches over all targets, fresh processes each, benchmarks in turn inside them.

#![expect(
    clippy::disallowed_methods,
    reason = "how long a visit took, for the time left"
)]

use std::time::{Duration, Instant};

use super::chance;
use super::discover::{ConductWatch, DiscoveredTarget, begun, harness, launch_spec};
use super::driver::Driver;
use super::launcher::Launcher;
use super::subject::{Resolved, Subject};
use super::visit::{Reach, Visited, visit};
use crate::cargo::BenchTarget;
use crate::child::{Capability, ChildError, Session};
use crate::host::ControlProbe;
use crate::process::{Interrupt, Supervisor};
use perfcheck_analysis::model::{
    Benchmark, Bound, Conduct, Course, Event, LaunchOutcome, LaunchRecord, LaunchedBenchmark,
    Observer, Throughput,
};

/// How a campaign ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything was visited.
    Complete,
    /// The user asked to stop.
    Interrupted,
}

/// Everything that one run measures.
pub struct Campaign<'a> {
    pub(super) targets: Vec<Target>,
    pub(super) seed: u64,
    pub(super) launcher: Launcher<'a>,
    /// Settles a benchmark, once more where a launch tells what its author set.
    pub(super) resolve: Box<dyn Fn(&Benchmark) -> Resolved + 'a>,
    pub(super) control: Option<ControlProbe>,
    pub(super) done: usize,
    /// For all launches together.
    budget: Option<Duration>,
    began: Instant,
}

#[expect(
    clippy::struct_field_names,
    reason = "it is the bench target of the workspace"
)]
pub(super) struct Target {
    pub(super) target: BenchTarget,
    pub(super) driver: Driver,
    pub(super) subjects: Vec<Subject>,
    /// How long its last round of launches took.
    round_time: Duration,
    /// The round for which there was no time left.
    late: Option<u32>,
}

/// One launch under way.
pub(super) struct Launch {
    pub(super) record: LaunchRecord,
    /// Subjects still to be visited, by their place in the target.
    pub(super) wanted: Vec<usize>,
    pub(super) interrupted: bool,
}

impl<'a> Campaign<'a> {
    /// Plans a campaign over `targets`; `resolve` settles each benchmark.
    pub fn plan(
        targets: Vec<DiscoveredTarget>,
        resolve: impl Fn(&Benchmark) -> Resolved + 'a,
        seed: u64,
        timeout: Duration,
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
        observer: &'a dyn Observer,
    ) -> Self {
        let subject = |benchmark: Benchmark| {
            let resolved = resolve(&benchmark);
            Subject {
                visit: resolved.visit(),
                paced: resolved.past_visit.is_some(),
                benchmark,
                resolved,
                layout: None,
                iteration_ns: None,
                visited: 0,
                failures: 0,
                skipped: false,
            }
        };
        let targets = targets
            .into_iter()
            .filter(|target| !target.benchmarks.is_empty())
            .map(|found| Target {
                target: found.target,
                driver: found.driver,
                subjects: found.benchmarks.into_iter().map(subject).collect(),
                round_time: Duration::ZERO,
                late: None,
            })
            .collect();
        Self {
            targets,
            seed,
            launcher: Launcher {
                supervisor,
                interrupt,
                observer,
                timeout,
            },
            resolve: Box::new(resolve),
            control: None,
            done: 0,
            budget: None,
            began: Instant::now(),
        }
    }

    /// Begins no launch, after the first of each target, that would end later than `budget` after the start.
    #[must_use]
    pub fn within(self, budget: Option<Duration>) -> Self {
        Self { budget, ..self }
    }

    /// Lets the control workload run before each launch, while no child is alive.
    #[must_use]
    pub fn with_control(self, probe: ControlProbe) -> Self {
        Self {
            control: Some(probe),
            ..self
        }
    }

    /// Measures. Every launch is handed to `record` as soon as it has ended, also one that was cut short. Benches that fail are recorded
    /// too: the only errors are those of `record`.
    pub fn run<E>(
        mut self,
        record: &mut dyn FnMut(&LaunchRecord) -> Result<(), E>,
    ) -> Result<Ended, E> {
        self.began = Instant::now();
        let rounds = self
            .subjects()
            .map(|subject| subject.resolved.sampling.launches)
            .max()
            .unwrap_or(0);
        self.launcher.observer.observe(&Event::Planned {
            benchmarks: self.subjects().count(),
            visits: self.visits_left(),
            expected: self.time_left(),
            bound: self.bound(),
            course: Course::Launches(rounds),
        });
        let mut ended = Ended::Complete;
        'rounds: for round in 0..rounds {
            for index in 0..self.targets.len() {
                if self.is_late(index, round) {
                    continue;
                }
                let began = Instant::now();
                if self.visit_target(index, round, record)? == Ended::Interrupted {
                    ended = Ended::Interrupted;
                    break 'rounds;
                }
                self.targets[index].round_time = began.elapsed();
            }
        }
        self.launcher.observer.observe(&Event::Measured);
        self.tell_who_was_late(rounds);
        Ok(ended)
    }

    /// Whether the time would be up before the next launches of this target had ended. Everybody has one round.
    fn is_late(&mut self, index: usize, round: u32) -> bool {
        let Some(budget) = self.budget.filter(|_| round > 0) else {
            return false;
        };
        let target = &mut self.targets[index];
        if target.late.is_none() && self.began.elapsed() + target.round_time > budget {
            target.late = Some(round);
        }
        target.late.is_some()
    }

    fn tell_who_was_late(&self, rounds: u32) {
        for target in &self.targets {
            if let (Some(had), Some(budget)) = (target.late, self.budget) {
                let message = format!(
                    "{}/{}: {had} of {rounds} launches, as one takes {:.1} s and `--time-budget` is {:.1} s",
                    target.target.package,
                    target.target.target,
                    target.round_time.as_secs_f64(),
                    budget.as_secs_f64()
                );
                self.launcher.observer.observe(&Event::Warning(&message));
            }
        }
    }

    /// Launches a target as often as it takes to visit each of its benchmarks once.
    fn visit_target<E>(
        &mut self,
        index: usize,
        round: u32,
        record: &mut dyn FnMut(&LaunchRecord) -> Result<(), E>,
    ) -> Result<Ended, E> {
        let mut wanted = self.wanted(index, round);
        let mut attempt = 0;
        while !wanted.is_empty() {
            let launch = match self.targets[index].driver.clone() {
                Driver::Own => self.launch(index, round, attempt, wanted),
                Driver::Criterion(version) => {
                    self.launch_criterion(index, round, attempt, wanted, version)
                }
                Driver::Printed(harness) => {
                    self.launch_printed(index, round, attempt, wanted, &harness)
                }
            };
            if !launch.record.benchmarks.is_empty() {
                record(&launch.record)?;
            }
            if launch.interrupted {
                return Ok(Ended::Interrupted);
            }
            wanted = launch.wanted;
            attempt += 1;
        }
        Ok(Ended::Complete)
    }

    /// A launch of a target that has nothing to tell yet, with its amount of padding.
    pub(super) fn begin(
        &self,
        index: usize,
        round: u32,
        attempt: u32,
        wanted: Vec<usize>,
    ) -> (BenchTarget, Launch) {
        let target = self.targets[index].target.clone();
        let block = u64::from(round) << 32 | u64::from(attempt);
        let padding = chance::padding(self.seed, &target, block);
        let launch = Launch {
            record: begun(&target, round, attempt, padding),
            wanted,
            interrupted: false,
        };
        (target, launch)
    }

    fn launch(&mut self, index: usize, round: u32, attempt: u32, wanted: Vec<usize>) -> Launch {
        let (target, mut launch) = self.begin(index, round, attempt, wanted);
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let spec = launch_spec(&target, round, launch.record.head.padding_bytes);
        let control = self.control.as_ref().and_then(|probe| probe.take(round));
        let watch = ConductWatch::start().with_control(control);
        let session = Session::start(&spec, &self.launcher.means(&pass_on));
        let ended = session.and_then(|mut session| {
            let hello = session.hello();
            launch.record.head.harness = Some(harness(hello));
            match hello.capability() {
                Some(Capability::Addressable) => {
                    self.by_address(index, &mut session, &mut launch)?;
                }
                Some(Capability::Sequential) => self.in_order(index, &mut session, &mut launch)?,
                None => return Err(ChildError::Capability),
            }
            launch.record.head.conduct = watch.conduct(&mut session).map(|found| self.told(found));
            session.bye()
        });
        let error = match ended {
            Ok(()) => return launch,
            Err(ChildError::Interrupted) => {
                launch.interrupted = true;
                return launch;
            }
            Err(error) => error.to_string(),
        };
        launch.record.head.failure = Some(error.clone());
        if launch.wanted.is_empty() && !failed_last(&launch.record) {
            // Everything was measured by then.
            let message = format!("{}/{}: {error}", target.package, target.target);
            self.launcher.observer.observe(&Event::Warning(&message));
        } else if launch.record.benchmarks.is_empty() {
            // A launch in which no benchmark was reached would go the same way again.
            for place in std::mem::take(&mut launch.wanted) {
                self.targets[index].subjects[place].visited += 1;
                self.failed(index, place, &mut launch.record, &error);
            }
        }
        launch
    }

    /// Beside made-up times interruptions that were real would mean nothing.
    pub(super) fn told(&self, found: Conduct) -> Conduct {
        match &self.control {
            Some(probe) if probe.is_scripted() => Conduct {
                involuntary_switches: 0,
                stolen: None,
                ..found
            },
            _ => found,
        }
    }

    fn by_address(
        &mut self,
        index: usize,
        session: &mut Session<'_>,
        launch: &mut Launch,
    ) -> Result<(), ChildError> {
        while let Some(place) = launch.wanted.pop() {
            self.visit_one(index, place, Reach::Address, session, launch)?;
        }
        Ok(())
    }

    fn in_order(
        &mut self,
        index: usize,
        session: &mut Session<'_>,
        launch: &mut Launch,
    ) -> Result<(), ChildError> {
        let mut next = session.begin()?;
        while let Some(announcement) = next {
            let subjects = &self.targets[index].subjects;
            let found = launch
                .wanted
                .iter()
                .position(|place| subjects[*place].benchmark.key.id == announcement.id);
            next = match found {
                Some(position) => {
                    let place = launch.wanted.remove(position);
                    self.visit_one(index, place, Reach::Announced, session, launch)?;
                    session.next_benchmark()?
                }
                None => session.skip()?,
            };
        }
        for place in std::mem::take(&mut launch.wanted) {
            self.targets[index].subjects[place].visited += 1;
            let message = "the bench did not announce it again in this launch";
            self.failed(index, place, &mut launch.record, message);
        }
        Ok(())
    }

    /// Visits one benchmark; `Err` when the child is of no more use.
    fn visit_one(
        &mut self,
        index: usize,
        place: usize,
        reach: Reach,
        session: &mut Session<'_>,
        launch: &mut Launch,
    ) -> Result<(), ChildError> {
        let left = self.time_left();
        let bound = self.bound();
        let visits = self.done + self.visits_left();
        let settled = self.settled();
        let subject = &mut self.targets[index].subjects[place];
        self.launcher.observer.observe(&Event::Visiting {
            benchmark: &subject.benchmark.key,
            launch: launch.record.head.ordinal,
            done: self.done,
            visits,
            left,
            bound,
            settled,
        });
        subject.visited += 1;
        let began = Instant::now();
        let visited = visit(
            session,
            &subject.benchmark.key.id,
            reach,
            &subject.resolved.sampling,
            subject.resolved.pinned,
            &mut subject.layout,
        );
        match visited {
            Ok(Visited::Measured {
                series,
                throughput,
                beside,
            }) => {
                subject.took(began.elapsed());
                let mut launched = subject.launched(LaunchOutcome::Measured(series));
                launched.beside = *beside;
                if throughput != Throughput::default() {
                    launched.benchmark.throughput = throughput;
                }
                launch.record.benchmarks.push(launched);
            }
            Ok(Visited::Skipped(reason)) => {
                subject.skipped = true;
                self.launcher.observer.observe(&Event::Skipped {
                    benchmark: &subject.benchmark.key,
                    reason: &reason,
                });
            }
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(error) => {
                self.failed(index, place, &mut launch.record, &error.to_string());
                if !error.child_goes_on() {
                    return Err(error);
                }
            }
        }
        self.done += 1;
        if self.launcher.interrupt.requested() {
            return Err(ChildError::Interrupted);
        }
        Ok(())
    }

    pub(super) fn failed(
        &mut self,
        index: usize,
        place: usize,
        record: &mut LaunchRecord,
        message: &str,
    ) {
        let subject = &mut self.targets[index].subjects[place];
        subject.failures += 1;
        self.launcher.observer.observe(&Event::VisitFailed {
            benchmark: &subject.benchmark.key,
            launch: record.head.ordinal,
            message,
        });
        let launched = subject.launched(LaunchOutcome::Failed(message.to_owned()));
        record.benchmarks.push(launched);
    }

    /// Places to be visited in this round, shuffled; to be taken from the end.
    fn wanted(&self, index: usize, round: u32) -> Vec<usize> {
        let target = &self.targets[index];
        let mut wanted: Vec<usize> = (0..target.subjects.len())
            .filter(|place| target.subjects[*place].wanted_in(round))
            .collect();
        let mut draws = chance::draws(self.seed, "order", &target.target, u64::from(round));
        chance::shuffle(&mut wanted, &mut draws);
        wanted
    }

    fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.targets.iter().flat_map(|target| &target.subjects)
    }

    pub(super) fn visits_left(&self) -> usize {
        self.subjects()
            .map(|subject| subject.visits_left() as usize)
            .sum()
    }

    /// Benchmarks that have had their launches.
    pub(super) fn settled(&self) -> usize {
        let done = self.subjects().filter(|subject| subject.visits_left() == 0);
        done.count()
    }

    /// By what visits, and what stands between them, have taken so far.
    pub(super) fn time_left(&self) -> Duration {
        self.targets.iter().map(Target::time_left).sum()
    }

    /// How the time left is to be read.
    pub(super) fn bound(&self) -> Bound {
        let mut open = self.subjects().filter(|subject| subject.visits_left() > 0);
        if open.all(|subject| subject.paced) {
            Bound::About
        } else {
            Bound::AtLeast
        }
    }
}

impl Target {
    fn time_left(&self) -> Duration {
        let open = || {
            let subjects = self.subjects.iter();
            subjects.filter(|subject| subject.visits_left() > 0)
        };
        let visits: Duration = open()
            .map(|subject| subject.visit * subject.visits_left())
            .sum();
        let of_a_round: Duration = open().map(|subject| subject.visit).sum();
        let rounds = open().map(Subject::visits_left).max().unwrap_or(0);
        // Starting processes, setting up and recording; nothing is known of it before the first round has ended.
        visits + self.round_time.saturating_sub(of_a_round) * rounds
    }
}

/// Whether the launch ended with the failure of a benchmark, which says all there is to say.
fn failed_last(record: &LaunchRecord) -> bool {
    matches!(
        record.benchmarks.last(),
        Some(LaunchedBenchmark {
            outcome: LaunchOutcome::Failed(_),
            ..
        })
    )
}
