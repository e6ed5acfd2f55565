//! Processes of our own harness, which carry out requests. Both sides are alive at the same time, or run one after the other if they cannot be.

#![expect(
    clippy::disallowed_methods,
    reason = "how long launches take, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::process::{ActiveProcesses, CpuPinning, PinnableChild, ProcessObserver};
use super::schedule;
use super::target::ProcessOverlap;
use super::visit::{
    RoundSampling, Sampling, SideChild, SideError, VisitOutcome, VisitRequest, VisitResult,
    lay_out_again, visit,
};
use crate::child::{Capability, ChildError, ProcessContext, Session};
use perfcheck_analysis::model::{
    BenchmarkInProcess, Event, Harness, Interleaving, ProcessOutcome, ProcessUsage, Side,
    Throughput,
};
use perfcheck_build::cargo::BenchTarget;

/// Number of times that a benchmark must fail next to the other side and succeed without it before the two sides run one after the other.
const TRIALS: u32 = 2;

impl Campaign<'_> {
    /// Runs one process of each side, for as many of the wanted benchmarks as possible.
    pub(super) fn launch_own(&mut self, launch: &mut ActiveProcesses) {
        let coexistence = self.targets[launch.index].coexistence;
        let ended = match coexistence {
            ProcessOverlap::Together => self.run_together(launch),
            ProcessOverlap::OnTrial | ProcessOverlap::Apart => self.run_apart(launch),
        };
        let (side, error) = match ended {
            Ok(()) => return,
            Err((_, ChildError::Interrupted)) => {
                launch.interrupted = true;
                return;
            }
            Err(failure) => failure,
        };
        let message = error.to_string();
        match coexistence {
            ProcessOverlap::Together if !launch.is_pair() => {
                launch.head(side).failure = Some(message.clone());
                if launch.records.get(side).benchmarks.is_empty() {
                    // A process that reached no benchmark would fail in the same way again.
                    for place in std::mem::take(&mut launch.wanted) {
                        self.record_failure(launch, place, side, &message);
                    }
                }
            }
            // Before this counts as a failure of the benchmark, try it without the other side.
            ProcessOverlap::Together => {
                self.targets[launch.index].coexistence = ProcessOverlap::OnTrial;
            }
            ProcessOverlap::OnTrial | ProcessOverlap::Apart => {
                if coexistence == ProcessOverlap::OnTrial {
                    self.targets[launch.index].coexistence = ProcessOverlap::Together;
                }
                if let Some(place) = launch.wanted.pop() {
                    self.record_failure(launch, place, side, &message);
                }
            }
        }
    }

    /// Visits benchmarks while all sides are alive. With two sides, a benchmark stays wanted until it has been measured.
    fn run_together(&mut self, launch: &mut ActiveProcesses) -> Result<(), SideError> {
        let executables = self.targets[launch.index].executables.clone();
        let mut coin = schedule::stream(self.seed, "sides", &executables.candidate, launch.block);
        let began = Instant::now();
        let mut watch = ProcessObserver::after_control(self.control.as_ref(), launch.round());
        let mut children = Vec::new();
        for side in executables.sides_in(schedule::draw_order(&mut coin)) {
            let session = start(executables.get(side), launch, side, &self.launcher);
            children.push((side, session.map_err(|error| (side, error))?));
        }
        let share = began.elapsed() / u32::try_from(launch.wanted.len()).unwrap_or(u32::MAX);
        self.visit_all(launch, &mut children, share, &mut watch)?;
        children.sort_by_key(|(side, _)| *side);
        for (side, session) in &mut children {
            launch.head(*side).conduct = conduct(&watch, session);
        }
        for (side, mut session) in children {
            // Two sides do not run to their end, because code after the benchmarks of one would run next to the other.
            let ended = if launch.is_pair() {
                Ok(())
            } else {
                session.run_to_end()
            };
            match ended.and_then(|()| session.bye()) {
                Ok(()) => {}
                Err(ChildError::Interrupted) => return Err((side, ChildError::Interrupted)),
                // The failure of the last benchmark has already been recorded.
                Err(_) if last_failed(&launch.records.get(side).benchmarks) => {}
                Err(error) => self.warn_of_late_failure(launch, side, &error.to_string()),
            }
        }
        Ok(())
    }

    /// Visits the wanted benchmarks while the children live.
    fn visit_all(
        &mut self,
        launch: &mut ActiveProcesses,
        children: &mut [SideChild<'_>],
        share: Duration,
        watch: &mut ProcessObserver,
    ) -> Result<(), SideError> {
        let addressable = children
            .iter()
            .all(|(_, session)| session.hello().capability() == Some(Capability::Addressable));
        if !addressable {
            // Benchmarks come in program order, and are taken from the end.
            launch.wanted.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut progress = false;
        while let Some(place) = launch.wanted.last().copied() {
            self.report_visit(launch, place);
            let began = Instant::now();
            let choice = self.processor_choice(launch, place);
            match self.visit_pinned(launch, place, children, share, watch, choice) {
                Ok((VisitOutcome::Measured(turns), is_solitary)) => {
                    launch.wanted.pop();
                    let subject = self.subject_mut(launch, place);
                    subject.note_processor_use(&[is_solitary]);
                    subject.trials = 0;
                    let took = began.elapsed() + share;
                    self.record_visit(launch, place, turns, Interleaving::Samples, took);
                }
                Ok((VisitOutcome::Skipped(reason), _)) => {
                    launch.wanted.pop();
                    self.record_skip(launch, place, &reason);
                }
                // The program of a side may have another order by now. Benchmarks that it has passed are reached by another process.
                Ok((VisitOutcome::Absent(_), _)) if progress => break,
                Err((_, error))
                    if launch.is_pair()
                        && !addressable
                        && progress
                        && error.leaves_child_usable() =>
                {
                    break;
                }
                Ok((VisitOutcome::Absent(side), _)) => {
                    self.visit_failed(launch, place, (side, absent_error()))?;
                }
                Err(failure) => self.visit_failed(launch, place, failure)?,
            }
            progress = true;
            if self.launcher.interrupt.is_requested() {
                return Err((Side::Candidate, ChildError::Interrupted));
            }
        }
        Ok(())
    }

    /// Handles a visit that failed while all sides were alive. With one side the failure is recorded at once, and the child may go on. Returns `Err`
    /// if the child is of no more use, or if the benchmark is to be tried without the other side first.
    fn visit_failed(
        &mut self,
        launch: &mut ActiveProcesses,
        place: usize,
        (side, error): SideError,
    ) -> Result<(), SideError> {
        if launch.is_pair() || matches!(error, ChildError::Interrupted) {
            return Err((side, error));
        }
        launch.wanted.pop();
        self.record_failure(launch, place, side, &error.to_string());
        if error.leaves_child_usable() {
            Ok(())
        } else {
            Err((side, error))
        }
    }

    /// Visits one benchmark in one process of each side, one after the other. The order changes between rounds.
    fn run_apart(&mut self, launch: &mut ActiveProcesses) -> Result<(), SideError> {
        let Some(place) = launch.wanted.last().copied() else {
            return Ok(());
        };
        self.report_visit(launch, place);
        let executables = self.targets[launch.index].executables.clone();
        let whole = Instant::now();
        let mut turns = Vec::new();
        // Choose once for both sides, so that they run on the same processor.
        let choice = self.processor_choice(launch, place);
        let mut seen = Vec::new();
        for side in
            schedule::order_of_round(self.seed, "sides", &executables.candidate, launch.round())
        {
            let began = Instant::now();
            let mut watch = ProcessObserver::start();
            let session = start(executables.get(side), launch, side, &self.launcher);
            let mut children = [(side, session.map_err(|error| (side, error))?)];
            let (launching, choice) = (began.elapsed(), choice.clone());
            let (visited, is_solitary) =
                self.visit_pinned(launch, place, &mut children, launching, &mut watch, choice)?;
            seen.push(is_solitary);
            let [(_, mut session)] = children;
            launch.head(side).conduct = conduct(&watch, &mut session);
            match visited {
                VisitOutcome::Measured(turn) => turns.extend(turn),
                VisitOutcome::Skipped(reason) => {
                    session.bye().map_err(|error| (side, error))?;
                    launch.wanted.pop();
                    self.record_skip(launch, place, &reason);
                    return Ok(());
                }
                VisitOutcome::Absent(side) => return Err((side, absent_error())),
            }
            session.bye().map_err(|error| (side, error))?;
        }
        launch.wanted.pop();
        self.subject_mut(launch, place).note_processor_use(&seen);
        let how = self.note_success_apart(launch, place);
        self.record_visit(launch, place, turns, how, whole.elapsed());
        Ok(())
    }

    /// Notes that a benchmark succeeded in processes that ran one after the other. Returns how its samples count.
    fn note_success_apart(&mut self, launch: &ActiveProcesses, place: usize) -> Interleaving {
        let target = &mut self.targets[launch.index];
        if target.coexistence != ProcessOverlap::OnTrial {
            return Interleaving::Launches;
        }
        let subject = &mut target.subjects[place];
        subject.trials += 1;
        if subject.trials < TRIALS {
            // One failure next to the other side may be an accident, so nothing changes yet.
            target.coexistence = ProcessOverlap::Together;
            return Interleaving::Samples;
        }
        target.coexistence = ProcessOverlap::Apart;
        let bench = &target.executables.candidate;
        let message = format!(
            "{}/{}: the two sides cannot run at the same time, so their processes alternate",
            bench.package, bench.target
        );
        self.launcher.observer.observe(&Event::Warning(&message));
        Interleaving::Launches
    }

    /// Visits one benchmark in these children, on the processor that `choice` picks. Also returns whether one processor was enough.
    fn visit_pinned(
        &mut self,
        launch: &ActiveProcesses,
        place: usize,
        children: &mut [SideChild<'_>],
        launching: Duration,
        watch: &mut ProcessObserver,
        choice: Option<impl FnOnce(u32) -> usize>,
    ) -> Result<(VisitOutcome, Option<bool>), SideError> {
        let target = &mut self.targets[launch.index];
        let subject = &mut target.subjects[place];
        let id = subject.benchmark.key.id.clone();
        let bench = &target.executables.candidate;
        let coin = schedule::stream(self.seed, &format!("quads/{id}"), bench, launch.block);
        let sampling = match &self.in_turn {
            None => Sampling::Launch(subject.resolved),
            Some(plan) => Sampling::Round(RoundSampling {
                settings: plan.round,
                launching,
                had: subject.rounds.len(),
                coin,
            }),
        };
        let request = VisitRequest {
            id: &id,
            metric: &subject.benchmark.metric,
            layout: &mut subject.layout,
            known_ns: subject.lengths.candidate.known_ns_if_short(),
            sampling,
            shared_cache: &mut self.shared_cache,
        };
        let seat = CpuPinning::bind(children, choice);
        watch.note_processor(seat.processor());
        let visited = visit(children, request)?;
        Ok((visited, seat.release(children)))
    }

    /// Records the result of a visit.
    fn record_visit(
        &mut self,
        launch: &mut ActiveProcesses,
        place: usize,
        turns: Vec<(Side, VisitResult)>,
        how: Interleaving,
        took: Duration,
    ) {
        let plan = self.in_turn;
        let subject = self.subject_mut(launch, place);
        if let (Some(plan), Some(layout)) = (plan, &subject.layout)
            && subject.benchmark.metric.is_timed()
            && let Some(again) = lay_out_again(&plan.round, layout, subject.rounds.len(), &turns)
        {
            subject.layout = Some(again);
        }
        let subject = self.subject(launch, place);
        let launched = |turn: VisitResult| {
            let mut launched = subject.record(ProcessOutcome::Measured(turn.series));
            launched.extras = turn.extras;
            if turn.throughput != Throughput::default() {
                launched.benchmark.throughput = turn.throughput;
            }
            launched
        };
        let turns = turns.into_iter();
        let sides = turns.map(|(side, turn)| (side, launched(turn))).collect();
        self.record_success(launch, place, sides, how, took);
    }
}

/// Starts the executable of one side.
fn start<'s>(
    target: &BenchTarget,
    launch: &mut ActiveProcesses,
    side: Side,
    launcher: &ProcessContext<'s>,
) -> Result<Session<'s>, ChildError> {
    let started = Session::start(&launch.spec(target), launcher);
    let session =
        started.inspect_err(|error| launch.head(side).failure = Some(error.to_string()))?;
    let hello = session.hello();
    launch.head(side).harness = Some(Harness {
        name: hello.harness.clone(),
        version: hello.version.clone(),
        quantum: hello.quantum_ns,
    });
    match hello.capability() {
        Some(_) => Ok(session),
        None => Err(ChildError::Capability),
    }
}

/// Returns how a process ran that has answered its last request.
fn conduct(watch: &ProcessObserver, session: &mut Session<'_>) -> Option<ProcessUsage> {
    let usage = session.usage()?;
    Some(watch.conduct(&usage, session.working_time()))
}

fn absent_error() -> ChildError {
    ChildError::bench("the bench did not announce it again in this process")
}

/// Reports whether the last benchmark of a process failed.
fn last_failed(benchmarks: &[BenchmarkInProcess]) -> bool {
    let last = benchmarks.last().map(|last| &last.outcome);
    matches!(last, Some(ProcessOutcome::Failed(_)))
}
