//! One launch of each side: both alive and sampled in turn, or one after the other where they cannot live at once.

#![expect(
    clippy::disallowed_methods,
    reason = "how long launches take, for the time left"
)]

use std::time::Instant;

use super::launch_pair::LaunchPair;
use super::rounds::{Arrangement, PairedCampaign, Target};
use super::seat::Seat;
use super::turns::{RoundOutcome, RoundRequest, SideError, Turn, alone, in_turn, order};
use crate::cargo::BenchTarget;
use crate::child::{Capability, ChildError, Means, Session};
use crate::measure::chance;
use crate::measure::discover::{ConductWatch, begun, harness, launch_spec};
use crate::measure::driver::Driver;
use perfcheck_analysis::model::{BySide, Event, Side, Turns};

/// So often must a benchmark fail beside the other side and go well without it until the two sides are launched in turn.
const TRIALS: u32 = 2;
/// Rounds of a benchmark in which allocations are counted: enough for a test over launches, and no time lost in the others.
const COUNTED_ROUNDS: usize = 5;

impl PairedCampaign<'_> {
    /// Launches both sides once, for as many of the wanted benchmarks as that serves.
    pub(super) fn launch_both(
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
        let padding = chance::padding(self.plan.seed, &targets.candidate, block);
        let mut pair = LaunchPair {
            records: BySide {
                base: begun(&targets.base, round, attempt, padding),
                candidate: begun(&targets.candidate, round, attempt, padding),
            },
            wanted,
            block,
            interrupted: false,
        };
        match self.targets[index].drivers.clone() {
            BySide {
                base: Driver::Criterion(base),
                candidate: Driver::Criterion(candidate),
            } => {
                self.step_by_step(index, &mut pair, BySide { base, candidate });
                return pair;
            }
            BySide {
                base: Driver::Printed(base),
                candidate: Driver::Printed(candidate),
            } => {
                self.one_by_one(index, &mut pair, &BySide { base, candidate });
                return pair;
            }
            _ => {}
        }
        let outcome = match arrangement {
            Arrangement::Together => self.together(index, &mut pair),
            Arrangement::OnTrial | Arrangement::Apart => self.apart(index, &mut pair),
        };
        match outcome {
            Ok(()) => {}
            Err((_, ChildError::Interrupted)) => pair.interrupted = true,
            // Before it counts as a failure of the benchmark, it is tried without the other side at its side.
            Err(_) if arrangement == Arrangement::Together => {
                self.targets[index].arrangement = Arrangement::OnTrial;
            }
            Err((side, error)) => {
                if arrangement == Arrangement::OnTrial {
                    self.targets[index].arrangement = Arrangement::Together;
                }
                if let Some(place) = pair.wanted.pop() {
                    self.failed(index, place, &mut pair, side, &error.to_string());
                }
            }
        }
        pair
    }

    /// Which processor a benchmark is to be bound to, once it is known that one is enough for it: chosen anew for each pair of launches.
    pub(super) fn processor(
        &self,
        index: usize,
        place: usize,
        block: u64,
    ) -> Option<impl FnOnce(u32) -> usize + Clone + use<>> {
        let target = &self.targets[index];
        let bound = self.plan.bind && target.subjects[place].is_solitary == Some(true);
        bound.then(|| {
            let mut draws = chance::draws(
                self.plan.seed,
                "processor",
                &target.targets.candidate,
                block,
            );
            move |count| draws.index(count)
        })
    }

    /// Both sides alive. A benchmark stays wanted until it has been measured.
    fn together(&mut self, index: usize, pair: &mut LaunchPair) -> Result<(), SideError> {
        let targets = self.targets[index].targets.clone();
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let means = self.launcher.means(&pass_on);
        let mut coin = chance::draws(self.plan.seed, "sides", &targets.candidate, pair.block);
        let first = order(&mut coin);
        let began = Instant::now();
        let mut watch = ConductWatch::start();
        let mut sessions = BySide {
            base: None,
            candidate: None,
        };
        for side in first {
            let session = Self::start(targets.of(side), pair, side, &means);
            *sessions.of_mut(side) = Some(session.map_err(|error| (side, error))?);
        }
        let BySide {
            base: Some(mut base),
            candidate: Some(mut candidate),
        } = sessions
        else {
            return Ok(());
        };
        let launching = began.elapsed();
        let share = launching / u32::try_from(pair.wanted.len()).unwrap_or(u32::MAX);
        let addressable = [&base, &candidate]
            .iter()
            .all(|session| session.hello().capability() == Some(Capability::Addressable));
        if !addressable {
            // They come in the order of the program, and are taken from the end.
            pair.wanted.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut visited = 0;
        while let Some(place) = pair.wanted.last().copied() {
            self.announce(index, place, pair);
            let began = Instant::now();
            let seed = self.plan.seed;
            let choice = self.processor(index, place, pair.block);
            let subject = &mut self.targets[index].subjects[place];
            let id = subject.benchmark.key.id.clone();
            let mut both = BySide {
                base: &mut base,
                candidate: &mut candidate,
            };
            let request = RoundRequest {
                id: &id,
                settings: &self.plan.round,
                layout: &mut subject.layout,
                launching: share,
                ramp: subject.rounds.is_empty(),
                count: subject.rounds.len() < COUNTED_ROUNDS,
            };
            let coin = chance::draws(seed, &format!("quads/{id}"), &targets.candidate, pair.block);
            let seat = Seat::take(&mut [&mut *both.base, &mut *both.candidate], choice);
            watch.bound(seat.processor());
            let outcome = match in_turn(&mut both, request, coin) {
                // The program of one side may have another order: what has passed there is reached by a launch of its own.
                Err((_, error)) if !addressable && visited > 0 && error.child_goes_on() => break,
                outcome => outcome?,
            };
            visited += 1;
            let is_solitary = seat.leave(&mut [both.base, both.candidate]);
            subject.learn(&[is_solitary]);
            pair.wanted.pop();
            subject.time += began.elapsed() + share;
            match outcome {
                RoundOutcome::Measured(turns) => {
                    subject.trials = 0;
                    subject.measured(turns, Turns::Samples, pair);
                }
                RoundOutcome::Skipped(reason) => self.skipped(index, place, &reason),
            }
            self.done += 1;
        }
        for (side, session) in [(Side::Base, &mut base), (Side::Candidate, &mut candidate)] {
            pair.records.of_mut(side).head.conduct = watch.conduct(session);
        }
        for (side, session) in [(Side::Base, base), (Side::Candidate, candidate)] {
            // Everything was measured by then.
            if let Err(error) = session.bye() {
                if matches!(error, ChildError::Interrupted) {
                    return Err((side, error));
                }
                let target = targets.of(side);
                let message = format!("{}/{}: {error}", target.package, target.target);
                self.launcher.observer.observe(&Event::Warning(&message));
            }
        }
        Ok(())
    }

    /// One benchmark, in one launch of each side after the other; the order turns around with each round.
    fn apart(&mut self, index: usize, pair: &mut LaunchPair) -> Result<(), SideError> {
        let Some(place) = pair.wanted.last().copied() else {
            return Ok(());
        };
        self.announce(index, place, pair);
        let targets = self.targets[index].targets.clone();
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let means = self.launcher.means(&pass_on);
        let round = pair.records.candidate.head.ordinal;
        let block = u64::from(round / 2);
        let mut coin = chance::draws(self.plan.seed, "sides", &targets.candidate, block);
        let mut sides = order(&mut coin);
        if round % 2 == 1 {
            sides.reverse();
        }
        let whole = Instant::now();
        let mut turns = BySide::<Option<Turn>>::default();
        // Decided before both, as it was for neither of them yet.
        let choice = self.processor(index, place, pair.block);
        let mut seen = Vec::new();
        for side in sides {
            let began = Instant::now();
            let mut watch = ConductWatch::start();
            let mut session =
                Self::start(targets.of(side), pair, side, &means).map_err(|error| (side, error))?;
            let seat = Seat::take(&mut [&mut session], choice.clone());
            watch.bound(seat.processor());
            let subject = &mut self.targets[index].subjects[place];
            let id = subject.benchmark.key.id.clone();
            let request = RoundRequest {
                id: &id,
                settings: &self.plan.round,
                layout: &mut subject.layout,
                launching: began.elapsed(),
                ramp: subject.rounds.is_empty(),
                count: subject.rounds.len() < COUNTED_ROUNDS,
            };
            let outcome = alone(&mut session, request).and_then(|outcome| {
                seen.push(seat.leave(&mut [&mut session]));
                pair.records.of_mut(side).head.conduct = watch.conduct(&mut session);
                session.bye().map(|()| outcome)
            });
            match outcome.map_err(|error| (side, error))? {
                RoundOutcome::Measured(turn) => *turns.of_mut(side) = Some(turn),
                RoundOutcome::Skipped(reason) => {
                    pair.wanted.pop();
                    self.skipped(index, place, &reason);
                    return Ok(());
                }
            }
        }
        pair.wanted.pop();
        self.done += 1;
        let target = &mut self.targets[index];
        let subject = &mut target.subjects[place];
        subject.learn(&seen);
        let mut how = Turns::Launches;
        if target.arrangement == Arrangement::OnTrial {
            subject.trials += 1;
            if subject.trials < TRIALS {
                // Once may be an accident, of which the run makes no other one.
                target.arrangement = Arrangement::Together;
                how = Turns::Samples;
            } else {
                target.arrangement = Arrangement::Apart;
                let message = format!(
                    "{}/{}: the two sides cannot run at once, so they are launched in turn",
                    targets.candidate.package, targets.candidate.target
                );
                self.launcher.observer.observe(&Event::Warning(&message));
            }
        }
        subject.time += whole.elapsed();
        if let BySide {
            base: Some(base),
            candidate: Some(candidate),
        } = turns
        {
            subject.measured(BySide { base, candidate }, how, pair);
        }
        Ok(())
    }

    fn start<'s>(
        target: &BenchTarget,
        pair: &mut LaunchPair,
        side: Side,
        means: &Means<'s>,
    ) -> Result<Session<'s>, ChildError> {
        let head = &mut pair.records.of_mut(side).head;
        let spec = launch_spec(target, head.ordinal, head.padding_bytes);
        let session = Session::start(&spec, means)
            .inspect_err(|error| head.failure = Some(error.to_string()))?;
        head.harness = Some(harness(session.hello()));
        Ok(session)
    }
}
