//! Holds the measured rounds of one benchmark, selects the rounds that can be compared, and finds the reason if a side-by-side comparison is
//! impossible.

use crate::compare::note::{Note, note_widest_gap};
use crate::compare::process_values::{
    ASSUMED_CLOCK_STEP_NS, ProcessSampling, shortest_sample_ns, typical_iteration_ns,
};
use crate::model::{BenchmarkKey, BySide, Metric, Round, Sample, Side};

/// All rounds of one benchmark that were measured side by side.
#[derive(Debug, Clone, Copy)]
pub struct PairedSeries<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// The metric that the benchmark measures.
    pub metric: &'a Metric,
    /// The rounds, in the order in which they were measured.
    pub rounds: &'a [Round],
    /// The largest relative change that still counts as noise, as a fraction.
    pub noise_threshold: f64,
}

/// A round whose samples can be compared, as logarithms of the time per iteration. Sample i of one side was taken next to sample i of the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct PairedSamples {
    pub base: Vec<f64>,
    pub candidate: Vec<f64>,
}

impl PairedSamples {
    fn side(&self, side: Side) -> &[f64] {
        match side {
            Side::Candidate => &self.candidate,
            Side::Base => &self.base,
        }
    }

    /// Pairs the samples of both sides up to their common number. A pair is left out if one of its samples has no time or no iterations.
    fn from_round(round: &Round) -> Self {
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

/// The rounds of a series that can be compared.
#[derive(Debug, Clone)]
pub(super) struct UsableRounds {
    pub rounds: Vec<PairedSamples>,
    /// The number of rounds that were left out because the samples of a side are too short for the clock.
    pub left_out: usize,
    /// A side whose samples were too short in one of the rounds that were left out.
    pub too_short: Option<Side>,
}

impl UsableRounds {
    /// Returns a note about the side whose fastest processes disagree most, judged by the fastest sample of each process. `None` if the fastest
    /// processes agree.
    pub(super) fn disturbed_side_note(&self) -> Option<Note> {
        let fastest = |samples: &[f64]| samples.iter().copied().min_by(f64::total_cmp);
        let of_processes = |side| -> Vec<f64> {
            let rounds = self.rounds.iter();
            rounds
                .filter_map(|round| fastest(round.side(side)))
                .collect()
        };
        note_widest_gap(BySide {
            base: &of_processes(Side::Base),
            candidate: &of_processes(Side::Candidate),
        })
    }

    /// Selects the usable rounds among the first `count`. A round is used or left out as a whole. It is used if the samples of both sides are long
    /// enough for the clock, judged by the typical time of an iteration over all processes of the side.
    pub(super) fn select(series: &PairedSeries<'_>, count: usize) -> Self {
        let rounds = &series.rounds[..count.min(series.rounds.len())];
        let typical_ns = |side| {
            let processes = rounds
                .iter()
                .filter_map(|round| ProcessSampling::from_samples(round.samples(side)));
            typical_iteration_ns(processes).unwrap_or(0.0)
        };
        let typical_ns = [Side::Candidate, Side::Base].map(|side| (side, typical_ns(side)));
        let is_timed = series.metric.is_timed();
        let short_side = |round: &Round| {
            let mut sides = typical_ns.iter().filter(|_| is_timed);
            sides.find_map(|(side, typical_ns)| {
                let sampling = ProcessSampling::from_samples(round.samples(*side))?;
                sampling
                    .is_too_short(*typical_ns, ASSUMED_CLOCK_STEP_NS)
                    .then_some(*side)
            })
        };
        let mut usable = Self {
            rounds: Vec::new(),
            left_out: 0,
            too_short: None,
        };
        for round in rounds {
            if let Some(side) = short_side(round) {
                usable.left_out += 1;
                usable.too_short = Some(side);
                continue;
            }
            let neighbours = PairedSamples::from_round(round);
            if !neighbours.base.is_empty() {
                usable.rounds.push(neighbours);
            }
        }
        usable
    }

    /// Returns the number of samples of a side, which is the same for both sides.
    pub(super) fn samples(&self) -> usize {
        self.rounds.iter().map(|round| round.base.len()).sum()
    }

    /// Splits the rounds into the first `count` and the rest.
    pub(super) fn halves(&self, count: usize) -> [Self; 2] {
        let (first, second) = self.rounds.split_at(count.min(self.rounds.len()));
        [first, second].map(|rounds| Self {
            rounds: rounds.to_vec(),
            ..*self
        })
    }

    pub(super) fn base_samples(&self) -> Vec<&[f64]> {
        self.rounds.iter().map(|round| &round.base[..]).collect()
    }

    pub(super) fn candidate_samples(&self) -> Vec<&[f64]> {
        self.rounds
            .iter()
            .map(|round| &round.candidate[..])
            .collect()
    }
}

/// Returns the reason why a series cannot be tested, or `None` if it can.
pub(super) fn find_refusal(series: &PairedSeries<'_>, usable: &UsableRounds) -> Option<Note> {
    for side in [Side::Candidate, Side::Base] {
        if series
            .rounds
            .iter()
            .all(|round| round.samples(side).is_empty())
        {
            return Some(Note::NoSamples { side });
        }
    }
    if !usable.rounds.is_empty() {
        return None;
    }
    Some(match usable.too_short {
        Some(side) => Note::SamplesTooShort {
            side,
            needed_ns: shortest_sample_ns(ASSUMED_CLOCK_STEP_NS),
        },
        None => Note::NoSamples {
            side: Side::Candidate,
        },
    })
}
