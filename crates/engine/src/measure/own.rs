//! Processes of our own harness, which carry out requests. Both sides are alive at the same time, or run one after the other if they cannot be.

#![expect(
    clippy::disallowed_methods,
    reason = "how long launches take, for the time left"
)]

use std::time::{Duration, Instant};

use super::campaign::Campaign;
use super::chance;
use super::launch::{ConductWatch, OpenLaunch};
use super::seat::{Seat, Seated};
use super::target::Coexistence;
use super::visit::{
    RoundSampling, Sampling, SideChild, SideError, Turn, VisitRequest, Visited, lay_out_again,
    visit,
};
use crate::cargo::BenchTarget;
use crate::child::{Capability, ChildError, Launcher, Session};
use perfcheck_analysis::model::{
    Conduct, Event, Harness, LaunchOutcome, LaunchedBenchmark, Side, Throughput, Turns,
};

/// Number of times that a benchmark must fail next to the other side and succeed without it before the two sides run one after the other.
const TRIALS: u32 = 2;

impl Campaign<'_> {
    /// Runs one process of each side, for as many of the wanted benchmarks as possible.
    pub(super) fn launch_own(&mut self, launch: &mut OpenLaunch) {
        let coexistence = self.targets[launch.index].coexistence;
        let ended = match coexistence {
            Coexistence::Together => self.together(launch),
            Coexistence::OnTrial | Coexistence::Apart => self.apart(launch),
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
            Coexistence::Together if !launch.is_pair() => {
                launch.head(side).failure = Some(message.clone());
                if launch.records.of(side).benchmarks.is_empty() {
                    // A process that reached no benchmark would fail in the same way again.
                    for place in std::mem::take(&mut launch.wanted) {
                        self.failed(launch, place, side, &message);
                    }
                }
            }
            // Before this counts as a failure of the benchmark, try it without the other side.
            Coexistence::Together => self.targets[launch.index].coexistence = Coexistence::OnTrial,
            Coexistence::OnTrial | Coexistence::Apart => {
                if coexistence == Coexistence::OnTrial {
                    self.targets[launch.index].coexistence = Coexistence::Together;
                }
                if let Some(place) = launch.wanted.pop() {
                    self.failed(launch, place, side, &message);
                }
            }
        }
    }

    /// Visits benchmarks while all sides are alive. With two sides, a benchmark stays wanted until it has been measured.
    fn together(&mut self, launch: &mut OpenLaunch) -> Result<(), SideError> {
        let executables = self.targets[launch.index].executables.clone();
        let mut coin = chance::draws(self.seed, "sides", &executables.candidate, launch.block);
        let began = Instant::now();
        let mut watch = ConductWatch::after_control(self.control.as_ref(), launch.round());
        let mut children = Vec::new();
        for side in executables.present(chance::order(&mut coin)) {
            let session = start(executables.of(side), launch, side, &self.launcher);
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
                session.run_out()
            };
            match ended.and_then(|()| session.bye()) {
                Ok(()) => {}
                Err(ChildError::Interrupted) => return Err((side, ChildError::Interrupted)),
                // The failure of the last benchmark has already been recorded.
                Err(_) if failed_last(&launch.records.of(side).benchmarks) => {}
                Err(error) => self.warn_of_end(launch, side, &error.to_string()),
            }
        }
        Ok(())
    }

    /// Visits the wanted benchmarks while the children live.
    fn visit_all(
        &mut self,
        launch: &mut OpenLaunch,
        children: &mut [SideChild<'_>],
        share: Duration,
        watch: &mut ConductWatch,
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
            self.announce(launch, place);
            let began = Instant::now();
            let choice = self.processor(launch, place);
            match self.visit_seated(launch, place, children, share, watch, choice) {
                Ok((Visited::Measured(turns), is_solitary)) => {
                    launch.wanted.pop();
                    let subject = self.subject_mut(launch, place);
                    subject.learn(&[is_solitary]);
                    subject.trials = 0;
                    let took = began.elapsed() + share;
                    self.sampled(launch, place, turns, Turns::Samples, took);
                }
                Ok((Visited::Skipped(reason), _)) => {
                    launch.wanted.pop();
                    self.skipped(launch, place, &reason);
                }
                // The program of a side may have another order by now. Benchmarks that it has passed are reached by another process.
                Ok((Visited::Absent(_), _)) if progress => break,
                Err((_, error))
                    if launch.is_pair() && !addressable && progress && error.child_goes_on() =>
                {
                    break;
                }
                Ok((Visited::Absent(side), _)) => {
                    self.visit_failed(launch, place, (side, absent()))?;
                }
                Err(failure) => self.visit_failed(launch, place, failure)?,
            }
            progress = true;
            if self.launcher.interrupt.requested() {
                return Err((Side::Candidate, ChildError::Interrupted));
            }
        }
        Ok(())
    }

    /// Handles a visit that failed while all sides were alive. With one side the failure is recorded at once, and the child may go on. Returns `Err`
    /// if the child is of no more use, or if the benchmark is to be tried without the other side first.
    fn visit_failed(
        &mut self,
        launch: &mut OpenLaunch,
        place: usize,
        (side, error): SideError,
    ) -> Result<(), SideError> {
        if launch.is_pair() || matches!(error, ChildError::Interrupted) {
            return Err((side, error));
        }
        launch.wanted.pop();
        self.failed(launch, place, side, &error.to_string());
        if error.child_goes_on() {
            Ok(())
        } else {
            Err((side, error))
        }
    }

    /// Visits one benchmark in one process of each side, one after the other. The order changes between rounds.
    fn apart(&mut self, launch: &mut OpenLaunch) -> Result<(), SideError> {
        let Some(place) = launch.wanted.last().copied() else {
            return Ok(());
        };
        self.announce(launch, place);
        let executables = self.targets[launch.index].executables.clone();
        let whole = Instant::now();
        let mut turns = Vec::new();
        // Choose once for both sides, so that they run on the same processor.
        let choice = self.processor(launch, place);
        let mut seen = Vec::new();
        for side in
            chance::order_of_round(self.seed, "sides", &executables.candidate, launch.round())
        {
            let began = Instant::now();
            let mut watch = ConductWatch::start();
            let session = start(executables.of(side), launch, side, &self.launcher);
            let mut children = [(side, session.map_err(|error| (side, error))?)];
            let (launching, choice) = (began.elapsed(), choice.clone());
            let (visited, is_solitary) =
                self.visit_seated(launch, place, &mut children, launching, &mut watch, choice)?;
            seen.push(is_solitary);
            let [(_, mut session)] = children;
            launch.head(side).conduct = conduct(&watch, &mut session);
            match visited {
                Visited::Measured(turn) => turns.extend(turn),
                Visited::Skipped(reason) => {
                    session.bye().map_err(|error| (side, error))?;
                    launch.wanted.pop();
                    self.skipped(launch, place, &reason);
                    return Ok(());
                }
                Visited::Absent(side) => return Err((side, absent())),
            }
            session.bye().map_err(|error| (side, error))?;
        }
        launch.wanted.pop();
        self.subject_mut(launch, place).learn(&seen);
        let how = self.tried(launch, place);
        self.sampled(launch, place, turns, how, whole.elapsed());
        Ok(())
    }

    /// Notes that a benchmark succeeded in processes that ran one after the other. Returns how its samples count.
    fn tried(&mut self, launch: &OpenLaunch, place: usize) -> Turns {
        let target = &mut self.targets[launch.index];
        if target.coexistence != Coexistence::OnTrial {
            return Turns::Launches;
        }
        let subject = &mut target.subjects[place];
        subject.trials += 1;
        if subject.trials < TRIALS {
            // One failure next to the other side may be an accident, so nothing changes yet.
            target.coexistence = Coexistence::Together;
            return Turns::Samples;
        }
        target.coexistence = Coexistence::Apart;
        let bench = &target.executables.candidate;
        let message = format!(
            "{}/{}: the two sides cannot run at once, so they are launched in turn",
            bench.package, bench.target
        );
        self.launcher.observer.observe(&Event::Warning(&message));
        Turns::Launches
    }

    /// Visits one benchmark in these children, on the processor that `choice` picks. Also returns whether one processor was enough.
    fn visit_seated(
        &mut self,
        launch: &OpenLaunch,
        place: usize,
        children: &mut [SideChild<'_>],
        launching: Duration,
        watch: &mut ConductWatch,
        choice: Option<impl FnOnce(u32) -> usize>,
    ) -> Result<(Visited, Option<bool>), SideError> {
        let target = &mut self.targets[launch.index];
        let subject = &mut target.subjects[place];
        let id = subject.benchmark.key.id.clone();
        let bench = &target.executables.candidate;
        let coin = chance::draws(self.seed, &format!("quads/{id}"), bench, launch.block);
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
        let seat = Seat::take(children, choice);
        watch.bound(seat.processor());
        let visited = visit(children, request)?;
        Ok((visited, seat.leave(children)))
    }

    /// Records the result of a visit.
    fn sampled(
        &mut self,
        launch: &mut OpenLaunch,
        place: usize,
        turns: Vec<(Side, Turn)>,
        how: Turns,
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
        let launched = |turn: Turn| {
            let mut launched = subject.launched(LaunchOutcome::Measured(turn.series));
            launched.extras = turn.extras;
            if turn.throughput != Throughput::default() {
                launched.benchmark.throughput = turn.throughput;
            }
            launched
        };
        let turns = turns.into_iter();
        let sides = turns.map(|(side, turn)| (side, launched(turn))).collect();
        self.measured(launch, place, sides, how, took);
    }
}

/// Starts the executable of one side.
fn start<'s>(
    target: &BenchTarget,
    launch: &mut OpenLaunch,
    side: Side,
    launcher: &Launcher<'s>,
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
fn conduct(watch: &ConductWatch, session: &mut Session<'_>) -> Option<Conduct> {
    let usage = session.usage()?;
    Some(watch.conduct(&usage, session.asked()))
}

fn absent() -> ChildError {
    ChildError::bench("the bench did not announce it again in this launch")
}

/// Reports whether the last benchmark of a process failed.
fn failed_last(benchmarks: &[LaunchedBenchmark]) -> bool {
    let last = benchmarks.last().map(|last| &last.outcome);
    matches!(last, Some(LaunchOutcome::Failed(_)))
}
