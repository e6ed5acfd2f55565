//! The A/B loop: rounds in which both sides are launched afresh and sampled in turn, until every benchmark is settled.

#![expect(
    clippy::disallowed_methods,
    reason = "how long rounds take, for the time left and the time budget"
)]

use std::time::{Duration, Instant};

use super::launch_pair::LaunchPair;
use super::plan::PairedPlan;
use super::subject::Subject;
use crate::cargo::BenchTarget;
use crate::measure::campaign::Ended;
use crate::measure::chance;
use crate::measure::driver::Driver;
use crate::measure::launcher::Launcher;
use crate::process::{Interrupt, Supervisor};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, Bound, BySide, Course, Event, LaunchOutcome, LaunchRecord, Observer,
    Round, SamplingSettings, Side, Turns,
};

/// A bench target on both sides, with the benchmarks that both have.
#[derive(Debug, Clone)]
pub struct PairedTarget {
    /// The executables.
    pub targets: BySide<BenchTarget>,
    /// The benchmarks as the candidate announced them.
    pub benchmarks: Vec<Benchmark>,
    /// What they are written against.
    pub drivers: BySide<Driver>,
}

/// What a benchmark took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Time of its rounds, its share of the launches included.
    pub time: Duration,
    /// Whether the sides were sampled in turn; else launched in turn.
    pub in_turn: bool,
}

/// Where the results of the rounds go.
pub struct PairedSink<'s, E> {
    /// Takes each launch of a side, as soon as the round has ended.
    pub record: &'s mut dyn FnMut(Side, &LaunchRecord) -> Result<(), E>,
    /// Whether a benchmark with these rounds needs no more, at its noise threshold.
    pub settled: &'s mut dyn FnMut(&BenchmarkKey, f64, &[Round]) -> bool,
}

/// Everything that one A/B run measures.
pub struct PairedCampaign<'a> {
    pub(super) targets: Vec<Target>,
    pub(super) plan: PairedPlan,
    pub(super) launcher: Launcher<'a>,
    /// Settles the noise threshold of a benchmark, once more where a launch tells what its author set.
    pub(super) noise_threshold: Box<dyn Fn(&Benchmark) -> f64 + 'a>,
    pub(super) done: usize,
    began: Instant,
}

/// How the two sides of a target get along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// Both alive, sampled in turn.
    Together,
    /// One failed beside the other: it is tried alone.
    OnTrial,
    /// They cannot live at once: launched in turn.
    Apart,
}

pub(super) struct Target {
    pub(super) targets: BySide<BenchTarget>,
    pub(super) drivers: BySide<Driver>,
    pub(super) arrangement: Arrangement,
    pub(super) subjects: Vec<Subject>,
}

impl<'a> PairedCampaign<'a> {
    /// Plans rounds over `targets`; `noise_threshold` settles that of each benchmark.
    pub fn plan(
        targets: Vec<PairedTarget>,
        noise_threshold: impl Fn(&Benchmark) -> f64 + 'a,
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
            pace: None,
            rounds: Vec::new(),
            is_solitary: None,
            trials: 0,
            failures: 0,
            done: false,
            time: Duration::ZERO,
        };
        let targets = targets
            .into_iter()
            .filter(|target| !target.benchmarks.is_empty())
            .map(|found| Target {
                targets: found.targets,
                drivers: found.drivers,
                arrangement: Arrangement::Together,
                subjects: found.benchmarks.into_iter().map(subject).collect(),
            })
            .collect();
        Self {
            targets,
            plan,
            launcher: Launcher {
                supervisor,
                interrupt,
                observer,
                timeout: plan.timeout,
            },
            noise_threshold: Box::new(noise_threshold),
            done: 0,
            began: Instant::now(),
        }
    }

    /// Measures until every benchmark is settled or the rounds or the time are used up. Benches that fail are recorded too: the only errors are
    /// those of the sink.
    pub fn run<E>(mut self, sink: &mut PairedSink<'_, E>) -> Result<(Ended, Vec<Spent>), E> {
        self.began = Instant::now();
        self.launcher.observer.observe(&Event::Planned {
            benchmarks: self.subjects().count(),
            visits: self.visits_left(0),
            expected: self.time_left(0),
            bound: self.bound(),
            course: Course::Rounds(self.plan.rounds),
        });
        let mut ended = Ended::Complete;
        'rounds: for round in 0..self.plan.rounds {
            for index in 0..self.targets.len() {
                // Everybody has one round.
                if round > 0 && self.is_late(index) {
                    continue;
                }
                if self.round(index, round, sink)? == Ended::Interrupted {
                    ended = Ended::Interrupted;
                    break 'rounds;
                }
            }
        }
        self.launcher.observer.observe(&Event::Measured);
        let spent = self
            .targets
            .into_iter()
            .flat_map(|target| {
                let in_turn = target.arrangement != Arrangement::Apart;
                target.subjects.into_iter().map(move |subject| Spent {
                    key: subject.benchmark.key,
                    time: subject.time,
                    in_turn,
                })
            })
            .collect();
        Ok((ended, spent))
    }

    /// Whether a round of this target would end after the time is up.
    fn is_late(&self, index: usize) -> bool {
        let Some(budget) = self.plan.time_budget else {
            return false;
        };
        let next: Duration = self.targets[index]
            .subjects
            .iter()
            .filter(|subject| subject.is_open())
            .map(|subject| subject.time_of_a_round(&self.plan.round))
            .sum();
        self.began.elapsed() + next > budget && !next.is_zero()
    }

    /// One round of a target, in as many launches as it takes.
    fn round<E>(
        &mut self,
        index: usize,
        round: u32,
        sink: &mut PairedSink<'_, E>,
    ) -> Result<Ended, E> {
        let asked = self.wanted(index, round);
        let mut wanted = asked.clone();
        let mut attempt = 0;
        while !wanted.is_empty() {
            let pair = self.launch_both(index, round, attempt, wanted);
            for side in [Side::Base, Side::Candidate] {
                let record = pair.records.of(side);
                if !record.benchmarks.is_empty() {
                    (sink.record)(side, record)?;
                }
            }
            if pair.interrupted {
                return Ok(Ended::Interrupted);
            }
            wanted = pair.wanted;
            attempt += 1;
        }
        for place in asked {
            let subject = &mut self.targets[index].subjects[place];
            if subject.is_open() {
                let threshold = subject.noise_threshold;
                subject.done = (sink.settled)(&subject.benchmark.key, threshold, &subject.rounds)
                    || subject.has_had_enough(self.plan.patience);
            }
        }
        Ok(Ended::Complete)
    }

    pub(super) fn announce(&self, index: usize, place: usize, pair: &LaunchPair) {
        let round = pair.records.candidate.head.ordinal;
        self.launcher.observer.observe(&Event::Visiting {
            benchmark: &self.targets[index].subjects[place].benchmark.key,
            launch: round,
            done: self.done,
            visits: self.done + self.visits_left(round),
            left: self.time_left(round),
            bound: self.bound(),
            settled: self.subjects().filter(|subject| !subject.is_open()).count(),
        });
    }

    pub(super) fn skipped(&mut self, index: usize, place: usize, reason: &str) {
        let subject = &mut self.targets[index].subjects[place];
        subject.done = true;
        self.launcher.observer.observe(&Event::Skipped {
            benchmark: &subject.benchmark.key,
            reason,
        });
    }

    /// Records the failure on both sides: neither has anything to be compared with.
    pub(super) fn failed(
        &mut self,
        index: usize,
        place: usize,
        pair: &mut LaunchPair,
        side: Side,
        message: &str,
    ) {
        let subject = &mut self.targets[index].subjects[place];
        subject.failures += 1;
        let message = match side {
            Side::Candidate => message.to_owned(),
            Side::Base => format!("the reference failed: {message}"),
        };
        self.launcher.observer.observe(&Event::VisitFailed {
            benchmark: &subject.benchmark.key,
            launch: pair.records.candidate.head.ordinal,
            message: &message,
        });
        for record in [&mut pair.records.base, &mut pair.records.candidate] {
            let outcome = LaunchOutcome::Failed(message.clone());
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
        let mut draws = chance::draws(seed, "order", &target.targets.candidate, u64::from(round));
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
            let left = rounds.saturating_sub(round.max(had));
            (subject, left.min(subject.affordable(&self.plan)))
        })
    }

    fn visits_left(&self, round: u32) -> usize {
        self.rounds_left(round).map(|(_, left)| left as usize).sum()
    }

    /// How the time left is to be read: most benchmarks are settled earlier, but nothing bounds one that nobody has seen yet.
    fn bound(&self) -> Bound {
        let mut open = self.subjects().filter(|subject| subject.is_open());
        if self.plan.time_budget.is_some() || open.all(|subject| !subject.rounds.is_empty()) {
            Bound::AtMost
        } else {
            Bound::UsuallyAtMost
        }
    }

    /// At most; most benchmarks are settled earlier.
    fn time_left(&self, round: u32) -> Duration {
        let settings = &self.plan.round;
        let wanted: Duration = self
            .rounds_left(round)
            .map(|(subject, left)| subject.time_of_a_round(settings) * left)
            .sum();
        let budget = self.plan.time_budget;
        budget.map_or(wanted, |budget| {
            wanted.min(budget.saturating_sub(self.began.elapsed()))
        })
    }
}
