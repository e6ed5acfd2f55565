//! What was measured of one benchmark, and what of it can be compared.

use crate::model::{BenchmarkKey, Round, Sample};
use perfcheck_stats::median;

/// The rounds of one benchmark.
#[derive(Debug, Clone, Copy)]
pub struct PairedSeries<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// Its rounds, in the order taken.
    pub rounds: &'a [Round],
    /// Relative change that counts as noise, a fraction.
    pub noise_threshold: f64,
}

/// A round whose samples can be compared: logarithms of the time per iteration. Sample i of the one side was taken next to sample i of the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Neighbours {
    pub base: Vec<f64>,
    pub candidate: Vec<f64>,
}

impl Neighbours {
    /// Cut to the common number of samples; a pair of which one has no time or no iterations is left out.
    fn of(round: &Round) -> Self {
        let logarithm = |sample: &Sample| {
            let usable = sample.iterations > 0 && sample.elapsed.0 > 0;
            usable.then(|| sample.per_iteration().ln())
        };
        let (base, candidate) = round
            .base
            .iter()
            .zip(&round.candidate)
            .filter_map(|(base, candidate)| Some((logarithm(base)?, logarithm(candidate)?)))
            .unzip();
        Self { base, candidate }
    }
}

/// The rounds of a series that have samples.
#[derive(Debug, Clone)]
pub(super) struct UsableRounds {
    pub rounds: Vec<Neighbours>,
}

impl UsableRounds {
    /// Reads the first `count` rounds.
    pub(super) fn of(series: &PairedSeries<'_>, count: usize) -> Self {
        let rounds = series.rounds.iter().take(count).map(Neighbours::of);
        Self {
            rounds: rounds.filter(|round| !round.base.is_empty()).collect(),
        }
    }

    /// Samples of a side.
    pub(super) fn samples(&self) -> usize {
        self.rounds.iter().map(|round| round.base.len()).sum()
    }

    /// Its first `count` rounds, or those from there on.
    pub(super) fn halves(&self, count: usize) -> [Self; 2] {
        let (first, second) = self.rounds.split_at(count.min(self.rounds.len()));
        [first, second].map(|rounds| Self {
            rounds: rounds.to_vec(),
        })
    }

    pub(super) fn of_base(&self) -> Vec<&[f64]> {
        self.rounds.iter().map(|round| &round.base[..]).collect()
    }

    pub(super) fn of_candidate(&self) -> Vec<&[f64]> {
        self.rounds
            .iter()
            .map(|round| &round.candidate[..])
            .collect()
    }
}

/// The typical length of the samples, in nanoseconds; `None` without any.
pub(super) fn typical_length<'s>(samples: impl Iterator<Item = &'s Sample>) -> Option<f64> {
    let lengths: Vec<f64> = samples.map(|sample| sample.elapsed.as_f64()).collect();
    median(&lengths)
}
