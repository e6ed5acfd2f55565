//! The rank test: are the rounds themselves slower on one side?
//!
//! In each pair of quads, both sides meet the same state of the host: its frequency and its other load. So the fastest samples of both sides are
//! compared, the median of these differences is the value of the round, and an exact test that assumes nothing about their distribution is applied to
//! the rounds.

use super::plan::Plan;
use super::series::{PairedSamples, UsableRounds};
use perfcheck_stats::{SignedRank, median};

/// The number of samples of a side in quads that belong together.
const SAMPLES_TOGETHER: usize = 2 * Plan::QUADS_TOGETHER as usize;

/// The differences of all rounds.
#[derive(Debug, Clone)]
pub(super) struct RankTest {
    differences: SignedRank,
    /// The smallest difference that can be distinguished. Bounds are wider by this much.
    resolution: f64,
}

/// Returns, for each two quads of a round, the fastest new sample minus the fastest base sample.
pub(super) fn differences_of_round(round: &PairedSamples) -> Vec<f64> {
    let quickest = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    round
        .base
        .chunks(SAMPLES_TOGETHER)
        .zip(round.candidate.chunks(SAMPLES_TOGETHER))
        .map(|(base, candidate)| quickest(candidate) - quickest(base))
        .collect()
}

impl RankTest {
    /// Returns `None` without rounds.
    pub(super) fn test(usable: &UsableRounds, resolution: f64) -> Option<Self> {
        let of_round = |round| median(&differences_of_round(round));
        let differences: Option<Vec<f64>> = usable.rounds.iter().map(of_round).collect();
        Some(Self {
            differences: SignedRank::new(&differences?)?,
            resolution,
        })
    }

    /// Returns the Hodges-Lehmann estimate of the difference.
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
        self.differences.lower_bound(level) - self.resolution
    }

    pub(super) fn upper(&self, level: f64) -> f64 {
        self.differences.upper_bound(level) + self.resolution
    }
}
