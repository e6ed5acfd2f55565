//! The rank test: are the rounds themselves slower on one side?
//!
//! In each round both sides meet the same moments of the host: its frequency, its neighbours. So the difference of their low quantiles *within* the
//! round is compared, round by round, by an exact test that knows nothing of the distribution of the rounds.

use super::duel::Field;
use crate::stats::{Quantile, SignedRank};

/// What is taken of the samples of a side in a round: low, as noise makes samples longer, but no single sample.
const QUANTILE: f64 = 0.1;

/// The differences of the rounds.
#[derive(Debug, Clone)]
pub(super) struct RankTest {
    differences: SignedRank,
    /// Bounds are wider by what cannot be told apart.
    resolution: f64,
}

impl RankTest {
    /// `None` without rounds.
    pub(super) fn of(field: &Field, resolution: f64) -> Option<Self> {
        let low = |samples: &[f64]| {
            let mut sorted = samples.to_vec();
            sorted.sort_by(f64::total_cmp);
            Quantile::InvertedCdf.of_sorted(&sorted, QUANTILE)
        };
        let differences: Option<Vec<f64>> = field
            .rounds
            .iter()
            .map(|round| Some(low(&round.new)? - low(&round.base)?))
            .collect();
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
