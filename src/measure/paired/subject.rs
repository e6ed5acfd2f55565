//! One benchmark of an A/B measurement: what it has had so far, and its records.

use std::time::Duration;

use super::{Bout, ENOUGH_ROUNDS};
use crate::compare::Round;
use crate::measure::quads::{RoundLayout, RoundSettings};
use crate::measure::turns::{BySide, Turn};
use crate::model::{Benchmark, SamplingSettings, Throughput, Turns};
use crate::store::{LaunchedBenchmark, Outcome};

/// A benchmark that failed in this many rounds is not tried again.
const MOST_FAILURES: u32 = 2;

/// Where it stands.
pub(super) struct Subject {
    pub(super) benchmark: Benchmark,
    pub(super) sampling: SamplingSettings,
    pub(super) noise_threshold: f64,
    pub(super) layout: Option<RoundLayout>,
    pub(super) rounds: Vec<Round>,
    /// Whether one processor is enough for it; `None` until a round has shown it.
    pub(super) is_solitary: Option<bool>,
    pub(super) failures: u32,
    pub(super) done: bool,
    pub(super) time: Duration,
}

impl Subject {
    pub(super) fn is_open(&self) -> bool {
        !self.done && self.failures < MOST_FAILURES
    }

    /// Takes in what a round has shown.
    pub(super) fn learn(&mut self, is_solitary: Option<bool>) {
        if let Some(seen) = is_solitary {
            self.is_solitary = Some(self.is_solitary.unwrap_or(true) && seen);
        }
    }

    /// Whether it is too costly for more rounds than these.
    pub(super) fn has_had_enough(&self, patience: Option<Duration>) -> bool {
        self.rounds.len() >= ENOUGH_ROUNDS && patience.is_some_and(|most| self.time >= most)
    }

    /// As expected, then as it was.
    pub(super) fn time_of_a_round(&self, settings: &RoundSettings) -> Duration {
        match u32::try_from(self.rounds.len()) {
            Ok(0) | Err(_) => Duration::from(settings.time) + Duration::from(settings.warm_up) * 3,
            Ok(rounds) => self.time / rounds,
        }
    }

    pub(super) fn measured(&mut self, turns: BySide<Turn>, how: Turns, bout: &mut Bout) {
        self.rounds.push(Round {
            base: turns.base.series.flat.clone(),
            new: turns.new.series.flat.clone(),
        });
        for (turn, record) in [
            (turns.base, &mut bout.records.base),
            (turns.new, &mut bout.records.new),
        ] {
            let mut launched = self.launched(Outcome::Measured(turn.series), how);
            if turn.throughput != Throughput::default() {
                launched.benchmark.throughput = turn.throughput;
            }
            record.benchmarks.push(launched);
        }
    }

    pub(super) fn launched(&self, outcome: Outcome, turns: Turns) -> LaunchedBenchmark {
        LaunchedBenchmark {
            benchmark: self.benchmark.clone(),
            sampling: SamplingSettings {
                turns,
                ..self.sampling
            },
            noise_threshold: self.noise_threshold,
            outcome,
        }
    }
}
