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

/// The rounds of a series that have samples; those of one layout of the code are one, as they share what it makes of the time.
#[derive(Debug, Clone)]
pub(super) struct UsableRounds {
    pub rounds: Vec<Neighbours>,
    /// How many rounds they were.
    pub taken: usize,
}

impl UsableRounds {
    /// Reads the first `count` rounds.
    pub(super) fn of(series: &PairedSeries<'_>, count: usize) -> Self {
        let mut rounds: Vec<Neighbours> = Vec::new();
        let (mut layout, mut taken) = (None, 0);
        for round in series.rounds.iter().take(count) {
            let neighbours = Neighbours::of(round);
            if neighbours.base.is_empty() {
                continue;
            }
            match rounds.last_mut() {
                Some(last) if round.layout.is_some() && round.layout == layout => {
                    last.base.extend(neighbours.base);
                    last.candidate.extend(neighbours.candidate);
                }
                _ => rounds.push(neighbours),
            }
            layout = round.layout;
            taken += 1;
        }
        Self { rounds, taken }
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
            taken: rounds.len(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Nanos;

    #[test]
    fn rounds_of_one_layout_are_one_and_those_of_executables_as_they_were_built_are_not() {
        let key = BenchmarkKey {
            package: "p".into(),
            target: "t".into(),
            id: "b".into(),
        };
        let sample = |elapsed| Sample {
            iterations: 1,
            elapsed: Nanos(elapsed),
        };
        let round = |layout, elapsed| Round {
            base: vec![sample(elapsed)],
            candidate: vec![sample(elapsed + 1)],
            led: Vec::new(),
            layout,
        };
        let of = |layouts: [Option<u32>; 4]| {
            let rounds = layouts.into_iter().zip(1..);
            let rounds: Vec<Round> = rounds.map(|(layout, at)| round(layout, at)).collect();
            let series = PairedSeries {
                key: &key,
                rounds: &rounds,
                noise_threshold: 0.01,
            };
            let usable = UsableRounds::of(&series, 4);
            let lengths: Vec<usize> = usable.rounds.iter().map(|round| round.base.len()).collect();
            (lengths, usable.taken, usable.samples())
        };
        let one_twice = [Some(0), Some(0), Some(2), Some(3)];
        assert_eq!(of(one_twice), (vec![2, 1, 1], 4, 4));
        assert_eq!(of([None; 4]), (vec![1; 4], 4, 4));
    }
}
