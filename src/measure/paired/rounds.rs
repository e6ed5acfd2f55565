//! The A/B loop: rounds in which both sides are launched afresh and sampled in turn, until every benchmark is settled.

#![expect(
    clippy::disallowed_methods,
    reason = "how long rounds take, for the time left and the time budget"
)]

use std::time::{Duration, Instant};

use super::quads::RoundSettings;
use super::seat::Seat;
use super::subject::Subject;
use super::turns::{BySide, RoundOutcome, RoundRequest, SideError, Turn, alone, in_turn, order};
use crate::cargo::BenchTarget;
use crate::child::{Capability, ChildError, Session};
use crate::compare::{Round, Side};
use crate::measure::campaign::{Ended, MeasureError};
use crate::measure::chance;
use crate::measure::discover::{ConductWatch, begun, harness, launch_spec};
use crate::model::{Benchmark, BenchmarkKey, Event, Observer, SamplingSettings, Turns};
use crate::process::{Interrupt, Supervisor};
use crate::store::{LaunchRecord, Outcome, StoreError};

/// So often must a benchmark fail beside the other side and go well without it until the two sides are launched in turn.
const TRIALS: u32 = 2;

/// Rounds that a benchmark has however long they take, as long as it needs them.
pub(super) const ENOUGH_ROUNDS: usize = 20;

/// A bench target on both sides, with the benchmarks that both have.
#[derive(Debug, Clone)]
pub struct PairedTarget {
    /// The executables.
    pub targets: BySide<BenchTarget>,
    /// The benchmarks as the candidate announced them.
    pub benchmarks: Vec<Benchmark>,
}

/// How an A/B measurement is laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedPlan {
    /// Rounds at most.
    pub rounds: u32,
    /// How each is laid out.
    pub round: RoundSettings,
    /// No round is begun that would end later than this after the start.
    pub time_budget: Option<Duration>,
    /// A benchmark that has had 20 rounds gets no more once they have taken this long.
    pub patience: Option<Duration>,
    /// Whether benchmarks that keep to one processor are bound to one.
    pub bind: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// The part of every deadline that does not depend on the request.
    pub timeout: Duration,
}

/// What a benchmark took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// Which.
    pub key: BenchmarkKey,
    /// Time of its rounds, its share of the launches included.
    pub time: Duration,
    /// Whole rounds.
    pub rounds: u32,
    /// Whether the sides were sampled in turn; else launched in turn.
    pub in_turn: bool,
}

/// Where the results of the rounds go.
pub struct PairedSink<'s> {
    /// Takes each launch of a side, as soon as the round has ended.
    pub record: &'s mut dyn FnMut(Side, &LaunchRecord) -> Result<(), StoreError>,
    /// Whether a benchmark with these rounds needs no more.
    pub settled: &'s mut dyn FnMut(&BenchmarkKey, &[Round]) -> bool,
}

/// Everything that one A/B run measures.
pub struct PairedCampaign<'a> {
    targets: Vec<Target>,
    plan: PairedPlan,
    supervisor: &'a Supervisor,
    interrupt: &'a Interrupt,
    observer: &'a dyn Observer,
    done: usize,
}

struct Target {
    targets: BySide<BenchTarget>,
    arrangement: Arrangement,
    /// How often a benchmark that had failed beside the other side went well without it.
    trials: u32,
    subjects: Vec<Subject>,
}

/// How the two sides of a target get along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    /// Both alive, sampled in turn.
    Together,
    /// One failed beside the other: it is tried alone.
    OnTrial,
    /// They cannot live at once: launched in turn.
    Apart,
}

/// One launch of each side under way.
pub(super) struct LaunchPair {
    pub(super) records: BySide<LaunchRecord>,
    /// Subjects still to be visited, by their place in the target; taken from the end.
    wanted: Vec<usize>,
    /// Names this launches to what is drawn by chance.
    block: u64,

    interrupted: bool,
}

impl<'a> PairedCampaign<'a> {
    /// Plans rounds over `targets`; `noise_threshold` settles that of each benchmark.
    pub fn plan(
        targets: Vec<PairedTarget>,
        noise_threshold: impl Fn(&Benchmark) -> f64,
        plan: PairedPlan,
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
        observer: &'a dyn Observer,
    ) -> Self {
        let subject = |benchmark: Benchmark| Subject {
            noise_threshold: noise_threshold(&benchmark),
            sampling: SamplingSettings {
                launches: plan.rounds,
                samples: None,
                warm_up: plan.round.warm_up,
                measurement: plan.round.time,
                ..SamplingSettings::default()
            },
            benchmark,
            layout: None,
            rounds: Vec::new(),
            is_solitary: None,
            failures: 0,
            done: false,
            time: Duration::ZERO,
        };
        let targets = targets
            .into_iter()
            .filter(|target| !target.benchmarks.is_empty())
            .map(|found| Target {
                targets: found.targets,
                arrangement: Arrangement::Together,
                trials: 0,
                subjects: found.benchmarks.into_iter().map(subject).collect(),
            })
            .collect();
        Self {
            targets,
            plan,
            supervisor,
            interrupt,
            observer,
            done: 0,
        }
    }

    /// Measures until every benchmark is settled or the rounds or the time are used up.
    pub fn run(mut self, sink: &mut PairedSink<'_>) -> Result<(Ended, Vec<Spent>), MeasureError> {
        let began = Instant::now();
        self.observer.observe(&Event::Planned {
            benchmarks: self.subjects().count(),
            visits: self.visits_left(0),
            expected: self.time_left(0),
        });
        let mut ended = Ended::Complete;
        'rounds: for round in 0..self.plan.rounds {
            for index in 0..self.targets.len() {
                // Everybody has one round.
                if round > 0 && self.is_late(began, index) {
                    continue;
                }
                if self.round(index, round, sink)? == Ended::Interrupted {
                    ended = Ended::Interrupted;
                    break 'rounds;
                }
            }
        }
        self.observer.observe(&Event::Measured);
        let spent = self
            .targets
            .into_iter()
            .flat_map(|target| {
                let in_turn = target.arrangement != Arrangement::Apart;
                target.subjects.into_iter().map(move |subject| Spent {
                    key: subject.benchmark.key,
                    time: subject.time,
                    rounds: subject.rounds.len() as u32,
                    in_turn,
                })
            })
            .collect();
        Ok((ended, spent))
    }

    /// Whether a round of this target would end after the time is up.
    fn is_late(&self, began: Instant, index: usize) -> bool {
        let Some(budget) = self.plan.time_budget else {
            return false;
        };
        let next: Duration = self.targets[index]
            .subjects
            .iter()
            .filter(|subject| subject.is_open())
            .map(|subject| subject.time_of_a_round(&self.plan.round))
            .sum();
        began.elapsed() + next > budget && !next.is_zero()
    }

    /// One round of a target, in as many launches as it takes.
    fn round(
        &mut self,
        index: usize,
        round: u32,
        sink: &mut PairedSink<'_>,
    ) -> Result<Ended, MeasureError> {
        let asked = self.wanted(index, round);
        let mut wanted = asked.clone();
        let mut attempt = 0;
        while !wanted.is_empty() {
            let launches = self.launches(index, round, attempt, wanted);
            for side in [Side::Base, Side::New] {
                let record = launches.records.of(side);
                if !record.benchmarks.is_empty() {
                    (sink.record)(side, record)?;
                }
            }
            if launches.interrupted {
                return Ok(Ended::Interrupted);
            }
            wanted = launches.wanted;
            attempt += 1;
        }
        for place in asked {
            let subject = &mut self.targets[index].subjects[place];
            if subject.is_open() {
                subject.done = (sink.settled)(&subject.benchmark.key, &subject.rounds)
                    || subject.has_had_enough(self.plan.patience);
            }
        }
        Ok(Ended::Complete)
    }

    /// Launches both sides once, for as many of the wanted benchmarks as that serves.
    fn launches(
        &mut self,
        index: usize,
        round: u32,
        attempt: u32,
        wanted: Vec<usize>,
    ) -> LaunchPair {
        let Target {
            targets,
            arrangement,
            ..
        } = &self.targets[index];
        let arrangement = *arrangement;
        let block = u64::from(round) << 32 | u64::from(attempt);
        // The same on both sides: chance that is shared adds no noise.
        let padding = chance::padding(self.plan.seed, &targets.new, block);
        let mut launches = LaunchPair {
            records: BySide {
                base: begun(&targets.base, round, attempt, padding),
                new: begun(&targets.new, round, attempt, padding),
            },
            wanted,
            block,
            interrupted: false,
        };
        let outcome = match arrangement {
            Arrangement::Together => self.together(index, &mut launches),
            Arrangement::OnTrial | Arrangement::Apart => self.apart(index, &mut launches),
        };
        match outcome {
            Ok(()) => {}
            Err((_, ChildError::Interrupted)) => launches.interrupted = true,
            // Before it counts as a failure of the benchmark, it is tried without the other side at its side.
            Err(_) if arrangement == Arrangement::Together => {
                self.targets[index].arrangement = Arrangement::OnTrial;
            }
            Err((side, error)) => {
                if arrangement == Arrangement::OnTrial {
                    self.targets[index].arrangement = Arrangement::Together;
                }
                if let Some(place) = launches.wanted.pop() {
                    self.failed(index, place, &mut launches, side, &error.to_string());
                }
            }
        }
        launches
    }

    /// The processor that a benchmark is to be bound to, once it is known that one is enough for it: a choice for each launches.
    fn processor(
        &self,
        index: usize,
        place: usize,
        block: u64,
    ) -> Option<impl FnOnce(u32) -> usize + use<>> {
        let target = &self.targets[index];
        let bound = self.plan.bind && target.subjects[place].is_solitary == Some(true);
        bound.then(|| {
            let mut draws = chance::draws(self.plan.seed, "processor", &target.targets.new, block);
            move |count| draws.index(count)
        })
    }

    /// Both sides alive. A benchmark stays wanted until it has been measured.
    fn together(&mut self, index: usize, launches: &mut LaunchPair) -> Result<(), SideError> {
        let targets = self.targets[index].targets.clone();
        let observer = self.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let mut coin = chance::draws(self.plan.seed, "sides", &targets.new, launches.block);
        let first = order(&mut coin);
        let began = Instant::now();
        let mut watch = ConductWatch::start();
        let mut sessions = BySide {
            base: None,
            new: None,
        };
        for side in first {
            let session = self.start(targets.of(side), launches, side, &pass_on);
            *sessions.of_mut(side) = Some(session.map_err(|error| (side, error))?);
        }
        let BySide {
            base: Some(mut base),
            new: Some(mut new),
        } = sessions
        else {
            return Ok(());
        };
        let launching = began.elapsed();
        let share = launching / u32::try_from(launches.wanted.len()).unwrap_or(u32::MAX);
        let addressable = [&base, &new]
            .iter()
            .all(|session| session.hello().capability() == Some(Capability::Addressable));
        while let Some(place) = launches.wanted.last().copied() {
            self.announce(index, place, launches);
            let began = Instant::now();
            let seed = self.plan.seed;
            let choice = self.processor(index, place, launches.block);
            let subject = &mut self.targets[index].subjects[place];
            let id = subject.benchmark.key.id.clone();
            let mut pair = BySide {
                base: &mut base,
                new: &mut new,
            };
            let request = RoundRequest {
                id: &id,
                settings: &self.plan.round,
                layout: &mut subject.layout,
                launching: share,
                ramp: subject.rounds.is_empty(),
            };
            let coin = chance::draws(seed, &format!("quads/{id}"), &targets.new, launches.block);
            let seat = Seat::take(&mut [&mut *pair.base, &mut *pair.new], choice);
            watch.bound(seat.processor());
            let outcome = in_turn(&mut pair, request, coin)?;
            let is_solitary = seat.leave(&mut [pair.base, pair.new]);
            subject.learn(is_solitary);
            launches.wanted.pop();
            subject.time += began.elapsed() + share;
            match outcome {
                RoundOutcome::Measured(turns) => subject.measured(turns, Turns::Samples, launches),
                RoundOutcome::Skipped(reason) => self.skipped(index, place, &reason),
            }
            self.done += 1;
            if !addressable {
                // The benchmark that comes next in program order need not be the one wanted next.
                break;
            }
        }
        for (side, session) in [(Side::Base, &mut base), (Side::New, &mut new)] {
            launches.records.of_mut(side).head.conduct = watch.conduct(session);
        }
        for (side, session) in [(Side::Base, base), (Side::New, new)] {
            // Everything was measured by then.
            if let Err(error) = session.bye() {
                if matches!(error, ChildError::Interrupted) {
                    return Err((side, error));
                }
                let target = targets.of(side);
                let message = format!("{}/{}: {error}", target.package, target.target);
                self.observer.observe(&Event::Warning(&message));
            }
        }
        Ok(())
    }

    /// One benchmark, in one launch of each side after the other; the order turns around with each round.
    fn apart(&mut self, index: usize, launches: &mut LaunchPair) -> Result<(), SideError> {
        let Some(place) = launches.wanted.last().copied() else {
            return Ok(());
        };
        self.announce(index, place, launches);
        let targets = self.targets[index].targets.clone();
        let observer = self.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let round = launches.records.new.head.ordinal;
        let block = u64::from(round / 2);
        let mut coin = chance::draws(self.plan.seed, "sides", &targets.new, block);
        let mut sides = order(&mut coin);
        if round % 2 == 1 {
            sides.reverse();
        }
        let whole = Instant::now();
        let mut turns = BySide::<Option<Turn>>::default();
        for side in sides {
            let began = Instant::now();
            let mut watch = ConductWatch::start();
            let mut session = self
                .start(targets.of(side), launches, side, &pass_on)
                .map_err(|error| (side, error))?;
            let choice = self.processor(index, place, launches.block);
            let seat = Seat::take(&mut [&mut session], choice);
            watch.bound(seat.processor());
            let subject = &mut self.targets[index].subjects[place];
            let id = subject.benchmark.key.id.clone();
            let request = RoundRequest {
                id: &id,
                settings: &self.plan.round,
                layout: &mut subject.layout,
                launching: began.elapsed(),
                ramp: subject.rounds.is_empty(),
            };
            let outcome = alone(&mut session, request).and_then(|outcome| {
                subject.learn(seat.leave(&mut [&mut session]));
                launches.records.of_mut(side).head.conduct = watch.conduct(&mut session);
                session.bye().map(|()| outcome)
            });
            match outcome.map_err(|error| (side, error))? {
                RoundOutcome::Measured(turn) => *turns.of_mut(side) = Some(turn),
                RoundOutcome::Skipped(reason) => {
                    launches.wanted.pop();
                    self.skipped(index, place, &reason);
                    return Ok(());
                }
            }
        }
        launches.wanted.pop();
        self.done += 1;
        let target = &mut self.targets[index];
        if target.arrangement == Arrangement::OnTrial {
            target.trials += 1;
            // Once may be an accident.
            target.arrangement = Arrangement::Together;
            if target.trials == TRIALS {
                target.arrangement = Arrangement::Apart;
                let message = format!(
                    "{}/{}: the two sides cannot run at once, so they are launched in turn",
                    targets.new.package, targets.new.target
                );
                self.observer.observe(&Event::Warning(&message));
            }
        }
        let subject = &mut target.subjects[place];
        subject.time += whole.elapsed();
        if let BySide {
            base: Some(base),
            new: Some(new),
        } = turns
        {
            subject.measured(BySide { base, new }, Turns::Launches, launches);
        }
        Ok(())
    }

    fn start<'s>(
        &self,
        target: &BenchTarget,
        launches: &mut LaunchPair,
        side: Side,
        pass_on: &'s dyn Fn(&[u8]),
    ) -> Result<Session<'s>, ChildError> {
        let head = &mut launches.records.of_mut(side).head;
        let spec = launch_spec(target, head.ordinal, head.padding_bytes);
        let session = Session::start(
            &spec,
            self.supervisor,
            self.interrupt,
            self.plan.timeout,
            pass_on,
        )
        .inspect_err(|error| head.failure = Some(error.to_string()))?;
        head.harness = Some(harness(session.hello()));
        Ok(session)
    }

    fn announce(&self, index: usize, place: usize, launches: &LaunchPair) {
        let round = launches.records.new.head.ordinal;
        self.observer.observe(&Event::Visiting {
            benchmark: &self.targets[index].subjects[place].benchmark.key,
            launch: round,
            done: self.done,
            visits: self.done + self.visits_left(round),
            left: self.time_left(round),
        });
    }

    fn skipped(&mut self, index: usize, place: usize, reason: &str) {
        let subject = &mut self.targets[index].subjects[place];
        subject.done = true;
        self.observer.observe(&Event::Skipped {
            benchmark: &subject.benchmark.key,
            reason,
        });
    }

    /// Records the failure on both sides: neither has anything to be compared with.
    fn failed(
        &mut self,
        index: usize,
        place: usize,
        launches: &mut LaunchPair,
        side: Side,
        message: &str,
    ) {
        let subject = &mut self.targets[index].subjects[place];
        subject.failures += 1;
        let message = match side {
            Side::New => message.to_owned(),
            Side::Base => format!("the reference failed: {message}"),
        };
        self.observer.observe(&Event::VisitFailed {
            benchmark: &subject.benchmark.key,
            launch: launches.records.new.head.ordinal,
            message: &message,
        });
        for record in [&mut launches.records.base, &mut launches.records.new] {
            let outcome = Outcome::Failed(message.clone());
            let launched = subject.launched(outcome, Turns::Samples);
            record.benchmarks.push(launched);
        }
    }

    /// Places of a target that this round visits, shuffled; to be taken from the end.
    fn wanted(&self, index: usize, round: u32) -> Vec<usize> {
        let target = &self.targets[index];
        let mut wanted: Vec<usize> = (0..target.subjects.len())
            .filter(|place| target.subjects[*place].is_open())
            .collect();
        let seed = self.plan.seed;
        let mut draws = chance::draws(seed, "order", &target.targets.new, u64::from(round));
        chance::shuffle(&mut wanted, &mut draws);
        wanted
    }

    fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.targets.iter().flat_map(|target| &target.subjects)
    }

    fn rounds_left(&self, round: u32) -> impl Iterator<Item = (&Subject, u32)> {
        let open = self.subjects().filter(|subject| subject.is_open());
        let rounds = self.plan.rounds;
        open.map(move |subject| {
            let had = subject.rounds.len() as u32 + subject.failures;
            (subject, rounds.saturating_sub(round.max(had)))
        })
    }

    fn visits_left(&self, round: u32) -> usize {
        self.rounds_left(round).map(|(_, left)| left as usize).sum()
    }

    /// At most; most benchmarks are settled earlier.
    fn time_left(&self, round: u32) -> Duration {
        let settings = &self.plan.round;
        self.rounds_left(round)
            .map(|(subject, left)| subject.time_of_a_round(settings) * left)
            .sum()
    }
}
