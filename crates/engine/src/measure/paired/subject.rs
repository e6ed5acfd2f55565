//! One benchmark of an A/B measurement: what it has had so far, and its records.

use std::time::Duration;

use super::launch_pair::LaunchPair;
use super::plan::PairedPlan;
use super::quads::{RoundLayout, RoundSettings};
use super::turns::Turn;
use crate::measure::criterion::Pace;
use perfcheck_analysis::model::{
    Benchmark, Beside, BySide, LaunchOutcome, LaunchedBenchmark, Round, SamplingSettings,
    Throughput, Turns,
};

/// Rounds that a benchmark has however long they take, as long as it needs them.
const ENOUGH_ROUNDS: usize = 20;

/// A benchmark that failed in this many rounds is not tried again.
const MOST_FAILURES: u32 = 2;

/// Where it stands.
pub(super) struct Subject {
    pub(super) benchmark: Benchmark,
    pub(super) sampling: SamplingSettings,
    pub(super) noise_threshold: f64,
    pub(super) layout: Option<RoundLayout>,
    /// How long it takes, where the bench itself lays its samples out.
    pub(super) pace: Option<Pace>,
    pub(super) rounds: Vec<Round>,
    /// Whether one processor is enough for it; `None` until a round has shown it.
    pub(super) is_solitary: Option<bool>,
    /// How often in a row it failed beside the other side and went well without it.
    pub(super) trials: u32,
    pub(super) failures: u32,
    pub(super) done: bool,
    pub(super) time: Duration,
}

impl AsRef<Benchmark> for Subject {
    fn as_ref(&self) -> &Benchmark {
        &self.benchmark
    }
}

impl Subject {
    pub(super) fn is_open(&self) -> bool {
        !self.done && self.failures < MOST_FAILURES
    }

    /// Takes in what the launches of a round have shown: one that needed more processors speaks for all.
    pub(super) fn learn(&mut self, seen: &[Option<bool>]) {
        if seen.contains(&Some(false)) {
            self.is_solitary = Some(false);
        } else if !seen.contains(&None) {
            self.is_solitary.get_or_insert(true);
        }
    }

    /// Whether it is too costly for more rounds than these.
    pub(super) fn has_had_enough(&self, patience: Option<Duration>) -> bool {
        self.rounds.len() >= ENOUGH_ROUNDS && patience.is_some_and(|most| self.time >= most)
    }

    /// Rounds that patience has left for it.
    pub(super) fn affordable(&self, plan: &PairedPlan) -> u32 {
        let Some(most) = plan.patience else {
            return u32::MAX;
        };
        let of_one = self.time_of_a_round(&plan.round).as_secs_f64();
        let by_time = most.saturating_sub(self.time).as_secs_f64() / of_one.max(1e-9);
        let at_least = ENOUGH_ROUNDS.saturating_sub(self.rounds.len());
        (by_time.ceil() as u32).max(u32::try_from(at_least).unwrap_or(0))
    }

    /// As expected, then as it was.
    pub(super) fn time_of_a_round(&self, settings: &RoundSettings) -> Duration {
        match u32::try_from(self.rounds.len()) {
            Ok(0) | Err(_) => Duration::from(settings.time) + Duration::from(settings.warm_up) * 3,
            Ok(rounds) => self.time / rounds,
        }
    }

    pub(super) fn measured(&mut self, turns: BySide<Turn>, how: Turns, pair: &mut LaunchPair) {
        self.rounds.push(Round {
            base: turns.base.series.alike(),
            candidate: turns.candidate.series.alike(),
            led: turns.candidate.beside.led.clone(),
        });
        for (turn, record) in [
            (turns.base, &mut pair.records.base),
            (turns.candidate, &mut pair.records.candidate),
        ] {
            let mut launched = self.launched(LaunchOutcome::Measured(turn.series), how);
            launched.beside = turn.beside;
            if let Some(sampling) = turn.sampling {
                launched.sampling = SamplingSettings {
                    turns: how,
                    ..sampling
                };
            }
            if let Some(metric) = turn.metric {
                launched.benchmark.metric = metric;
            }
            if turn.throughput != Throughput::default() {
                launched.benchmark.throughput = turn.throughput;
            }
            record.benchmarks.push(launched);
        }
    }

    pub(super) fn launched(&self, outcome: LaunchOutcome, turns: Turns) -> LaunchedBenchmark {
        LaunchedBenchmark {
            benchmark: self.benchmark.clone(),
            sampling: SamplingSettings {
                turns,
                ..self.sampling
            },
            noise_threshold: self.noise_threshold,
            outcome,
            beside: Beside::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{AuthorSettings, BenchmarkKey, Metric};

    fn after(rounds: usize, seconds: u64) -> Subject {
        let key = BenchmarkKey {
            package: "p".into(),
            target: "t".into(),
            id: "b".into(),
        };
        let round = Round {
            base: Vec::new(),
            candidate: Vec::new(),
            led: Vec::new(),
        };
        Subject {
            benchmark: Benchmark {
                key,
                version: None,
                throughput: Throughput::default(),
                other_throughput: None,
                settings: AuthorSettings::default(),
                metric: Metric::Time,
            },
            sampling: SamplingSettings::default(),
            noise_threshold: 0.01,
            layout: None,
            pace: None,
            rounds: vec![round; rounds],
            is_solitary: None,
            trials: 0,
            failures: 0,
            done: false,
            time: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn a_costly_benchmark_has_its_twenty_rounds_and_no_more_once_the_time_is_up() {
        let patience = Some(Duration::from_mins(1));
        assert!(after(20, 60).has_had_enough(patience));
        assert!(!after(19, 600).has_had_enough(patience), "too few rounds");
        assert!(!after(80, 59).has_had_enough(patience), "they are quick");
        assert!(
            !after(80, 600).has_had_enough(None),
            "the user said how much"
        );
    }

    #[test]
    fn once_it_needed_more_than_one_processor_it_is_never_bound() {
        let mut subject = after(0, 0);
        subject.learn(&[Some(true), None]);
        assert_eq!(subject.is_solitary, None, "of one side nothing is known");
        subject.learn(&[Some(true), Some(true)]);
        assert_eq!(subject.is_solitary, Some(true));
        subject.learn(&[None]);
        assert_eq!(subject.is_solitary, Some(true), "it was bound");
        subject.learn(&[None, Some(false)]);
        subject.learn(&[Some(true)]);
        assert_eq!(subject.is_solitary, Some(false));
    }
}
