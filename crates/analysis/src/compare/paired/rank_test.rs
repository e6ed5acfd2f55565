//! The rank test: are the rounds themselves slower on one side?
//!
//! In each two quads both sides meet the same moment of the host: its frequency, its neighbours. So the quickest samples of both are compared, the
//! median of these differences stands for the round, and the rounds are tested by an exact test that knows nothing of their distribution.

use super::plan::Plan;
use super::series::{Neighbours, UsableRounds};
use perfcheck_stats::{SignedRank, median};

/// The samples that a side has in quads that belong together.
const SAMPLES_TOGETHER: usize = 2 * Plan::QUADS_TOGETHER as usize;

/// The differences of the rounds.
#[derive(Debug, Clone)]
pub(super) struct RankTest {
    differences: SignedRank,
    /// Bounds are wider by what cannot be told apart.
    resolution: f64,
}

/// For each two quads of a round, the quickest new sample less the quickest base sample.
pub(super) fn differences_of_round(round: &Neighbours) -> Vec<f64> {
    let quickest = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    round
        .base
        .chunks(SAMPLES_TOGETHER)
        .zip(round.candidate.chunks(SAMPLES_TOGETHER))
        .map(|(base, candidate)| quickest(candidate) - quickest(base))
        .collect()
}

impl RankTest {
    /// `None` without rounds.
    pub(super) fn of(usable: &UsableRounds, resolution: f64) -> Option<Self> {
        let of_round = |round| median(&differences_of_round(round));
        let differences: Option<Vec<f64>> = usable.rounds.iter().map(of_round).collect();
        Some(Self {
            differences: SignedRank::new(&differences?)?,
            resolution,
        })
    }

    /// The Hodges-Lehmann estimate of the difference.
    pub(super) fn difference(&self) -> f64 {
        self.differences.estimate()
    }

    pub(super) fn p_slower(&self, threshold: f64) -> f64 {
        self.differences.p_above(threshold + self.resolution)
    }

    pub(super) fn p_faster(&self, threshold: f64) -> f64 {
        self.differences.p_below(-threshold - self.resolution)
    }

    pub(super) fn lower(&self, level: f64) -> f64 {
        self.differences.lower(level) - self.resolution
    }

    pub(super) fn upper(&self, level: f64) -> f64 {
        self.differences.upper(level) + self.resolution
    }
}
