//! Criterion benches of both sides, alive at once: each stands still while the other one measures, and the two go from benchmark to
//! benchmark in turn. What is compared was measured one right after the other.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::launch_pair::LaunchPair;
use super::rounds::PairedCampaign;
use super::seat::{Seat, Seated};
use super::turns::{Turn, order};
use crate::cargo::BenchTarget;
use crate::child::{
    ChildError, Config, CriterionRequest, CriterionSession, CriterionVersion, Means,
};
use crate::measure::chance;
use crate::measure::criterion::{glance, in_force, sampled_alike, samples};
use crate::measure::discover::{ConductWatch, criterion_harness, launch_spec};
use crate::measure::places::{ids, place_of};
use perfcheck_analysis::model::{Beside, BySide, Event, Side, Turns};

/// A process is fresh: its first iterations are slower than the rest.
const WARM_UP: Duration = Duration::from_millis(10);
/// A side samples at least this share of the time that its set-up takes.
const SHARE_OF_SET_UP: f64 = 0.25;
/// Times of a side are this long or a power of two longer: what is sampled alike has one process.
const SHORTEST: Duration = Duration::from_millis(20);

/// What went wrong on which side, and the benchmark that was under way there.
struct StepError {
    side: Side,
    error: ChildError,
    under_way: Option<usize>,
}

impl PairedCampaign<'_> {
    /// One process of each side, for as many of the wanted benchmarks as are sampled alike.
    pub(super) fn step_by_step(
        &mut self,
        index: usize,
        pair: &mut LaunchPair,
        versions: BySide<CriterionVersion>,
    ) {
        let head = &pair.records.candidate.head;
        if head.ordinal == 0 && head.attempt == 0 {
            self.look_at(index, &pair.wanted, versions.candidate);
        }
        let config_of = |place| self.config_of(index, place);
        let Some((config, mut chosen)) = sampled_alike(&mut pair.wanted, config_of) else {
            return;
        };
        let began = chosen.len();
        match self.step_through(index, &config, &mut chosen, versions, pair) {
            Ok(()) => {
                for place in chosen {
                    let message = "the bench did not report it in this launch";
                    self.failed(index, place, pair, Side::Candidate, message);
                }
            }
            Err(StepError {
                error: ChildError::Interrupted,
                ..
            }) => pair.interrupted = true,
            Err(StepError {
                side,
                error,
                under_way,
            }) => {
                let message = error.to_string();
                pair.records.of_mut(side).head.failure = Some(message.clone());
                // Where a benchmark was reached, the next one has failed; else all would fail again.
                let reached = chosen.len() < began || under_way.is_some();
                let culprit = under_way.or(chosen.first().copied().filter(|_| reached));
                let mut failed: Vec<usize> = chosen
                    .extract_if(.., |place| Some(*place) == culprit)
                    .collect();
                if failed.is_empty() {
                    failed = std::mem::take(&mut chosen);
                }
                for place in failed {
                    self.failed(index, place, pair, side, &message);
                }
                pair.wanted.extend(chosen);
            }
        }
    }

    fn step_through(
        &mut self,
        index: usize,
        config: &Config,
        chosen: &mut Vec<usize>,
        versions: BySide<CriterionVersion>,
        pair: &mut LaunchPair,
    ) -> Result<(), StepError> {
        let targets = self.targets[index].targets.clone();
        let observer = self.launcher.observer;
        let pass_on = |output: &[u8]| observer.observe(&Event::Output(output));
        let mut coin = chance::draws(self.plan.seed, "sides", &targets.candidate, pair.block);
        let began = Instant::now();
        let mut watch = ConductWatch::start();
        let first = order(&mut coin);
        let request = (config, ids(&self.targets[index].subjects, chosen));
        let (mut base, mut candidate) = Self::start_both(
            &targets,
            first,
            versions,
            &request,
            pair,
            &self.launcher.means(&pass_on),
        )?;
        let share = began.elapsed() / u32::try_from(chosen.len()).unwrap_or(u32::MAX).max(1);
        // What one side has reported and the other one not yet: their programs may have different orders.
        let mut waiting = BySide::<BTreeMap<usize, Turn>>::default();
        let mut ended = BySide::<bool>::default();
        while let Some(place) = chosen.first().copied() {
            if ended.base && ended.candidate {
                return Ok(());
            }
            self.announce(index, place, pair);
            let began = Instant::now();
            let choice = self.processor(index, place, pair.block);
            let seat = Seat::take(&mut [&mut base as &mut dyn Seated, &mut candidate], choice);
            watch.bound(seat.processor());
            for side in order(&mut coin) {
                if *ended.of(side) {
                    continue;
                }
                let session = match side {
                    Side::Base => &mut base,
                    Side::Candidate => &mut candidate,
                };
                match self.step(index, session, chosen) {
                    Ok(Some((place, turn))) => {
                        waiting.of_mut(side).insert(place, turn);
                    }
                    Ok(None) => *ended.of_mut(side) = true,
                    Err(error) => {
                        let under_way = session.under_way();
                        let subjects = &self.targets[index].subjects;
                        let under_way = under_way.and_then(|id| place_of(subjects, id));
                        return Err(StepError {
                            side,
                            error,
                            under_way,
                        });
                    }
                }
                if let Some(usage) = session.usage() {
                    let conduct = watch.conduct_of(&usage, session.asked());
                    pair.records.of_mut(side).head.conduct = Some(conduct);
                }
            }
            let is_solitary = seat.leave(&mut [&mut base as &mut dyn Seated, &mut candidate]);
            let both: Vec<usize> = waiting.base.keys().copied().collect();
            for place in both {
                let Some(candidate) = waiting.candidate.remove(&place) else {
                    continue;
                };
                let Some(base) = waiting.base.remove(&place) else {
                    continue;
                };
                chosen.retain(|chosen| *chosen != place);
                let subject = &mut self.targets[index].subjects[place];
                subject.learn(&[is_solitary]);
                subject.time += began.elapsed() + share;
                subject.measured(BySide { base, candidate }, Turns::Launches, pair);
                self.done += 1;
            }
        }
        Ok(())
    }

    /// Starts both sides, in this order; each then stands still before its first benchmark.
    fn start_both<'o>(
        targets: &BySide<BenchTarget>,
        first: [Side; 2],
        versions: BySide<CriterionVersion>,
        (config, ids): &(&Config, Vec<String>),
        pair: &mut LaunchPair,
        means: &Means<'o>,
    ) -> Result<(CriterionSession<'o>, CriterionSession<'o>), StepError> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut start = |side| {
            let version = *versions.of(side);
            let head = &mut pair.records.of_mut(side).head;
            head.harness = Some(criterion_harness(version));
            let spec = launch_spec(targets.of(side), head.ordinal, head.padding_bytes);
            let request = CriterionRequest {
                version: Some(version),
                config: Some(**config),
                ids: Some(&ids),
            };
            CriterionSession::start(&spec, &request, means).map_err(|error| StepError {
                side,
                error,
                under_way: None,
            })
        };
        let [one, other] = first;
        let sessions = (start(one)?, start(other)?);
        Ok(match one {
            Side::Base => sessions,
            Side::Candidate => (sessions.1, sessions.0),
        })
    }

    /// Lets one side go on to its next benchmark; `None` once it has ended.
    fn step(
        &self,
        index: usize,
        session: &mut CriterionSession<'_>,
        chosen: &[usize],
    ) -> Result<Option<(usize, Turn)>, ChildError> {
        loop {
            let Some(reported) = session.next_report()? else {
                return Ok(None);
            };
            let place = place_of(&self.targets[index].subjects, &reported.id);
            let place = place.filter(|place| chosen.contains(place));
            if let (Some(place), Some(measured)) = (place, reported.measured) {
                let sampling = self.targets[index].subjects[place].sampling;
                let turn = Turn {
                    sampling: Some(in_force(sampling, &measured)),
                    series: measured.series,
                    throughput: reported.throughput,
                    metric: Some(measured.metric),
                    beside: Beside::default(),
                };
                return Ok(Some((place, turn)));
            }
        }
    }

    /// Finds out how long the wanted benchmarks take.
    fn look_at(&mut self, index: usize, wanted: &[usize], version: CriterionVersion) {
        let ids = ids(&self.targets[index].subjects, wanted);
        let paces = glance(
            &self.targets[index].targets.candidate,
            &ids,
            version,
            self.launcher,
        );
        for (id, pace, settings) in paces {
            let subjects = &mut self.targets[index].subjects;
            if let Some(place) = place_of(subjects, &id) {
                let subject = &mut subjects[place];
                subject.pace = Some(pace);
                subject.benchmark.settings = settings;
                subject.noise_threshold = (self.noise_threshold)(&subject.benchmark);
            }
        }
    }

    fn config_of(&self, index: usize, place: usize) -> Config {
        let pace = self.targets[index].subjects[place].pace;
        let round = &self.plan.round;
        let wanted = (Duration::from(round.time) / 2)
            .max(pace.map_or(Duration::ZERO, |pace| pace.set_up.mul_f64(SHARE_OF_SET_UP)));
        let mut measurement = SHORTEST;
        while measurement < wanted {
            measurement *= 2;
        }
        let iteration_ns = pace.and_then(|pace| pace.iteration_ns);
        Config {
            warm_up: WARM_UP.max(round.warm_up.into()),
            measurement,
            samples: samples(measurement, iteration_ns, round.sample.as_f64(), None),
        }
    }
}
