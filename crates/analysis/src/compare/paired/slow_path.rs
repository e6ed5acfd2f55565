//! The slow-path test: are samples of one side slower than their neighbours more often than the other way round?
//!
//! The floor does not see a cost that falls on some samples only. Two samples of a quad that were taken next to each other meet the same host, so a
//! neighbour that is much slower, beyond the threshold, speaks for its side. Rounds are what is tested, by an exact sign-flip test.

use super::series::UsableRounds;
use perfcheck_stats::{ClusterLowQuantile, ClusterStatistic, sign_flip_upper_tail};

/// A neighbour is slower if it is so by this much. Each has half of the level: a busy host hides small ones among its own.
const EXCESSES: [f64; 2] = [0.2, 0.1];

/// A balance of 1 on the grid of whole numbers that the exact test works on.
const GRID: f64 = 60.0;

/// An unadjusted p at or below this is a suspicion: the benchmark is measured further.
pub(super) const SUSPICION: f64 = 0.05;

/// What the neighbours say.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlowPathTest {
    pub p_slower: f64,
    pub p_faster: f64,
    /// Shares of samples above their own floor.
    pub share_candidate: f64,
    pub share_base: f64,
}

impl SlowPathTest {
    /// `threshold` is the noise threshold, a logarithm.
    pub(super) fn of(usable: &UsableRounds, threshold: f64) -> Self {
        Self {
            p_slower: p_slower(usable, threshold, false),
            p_faster: p_slower(usable, threshold, true),
            share_candidate: share_above_floor(&usable.of_candidate()),
            share_base: share_above_floor(&usable.of_base()),
        }
    }
}

/// p at the better of the two excesses, doubled.
fn p_slower(usable: &UsableRounds, threshold: f64, exchanged: bool) -> f64 {
    let p = EXCESSES.map(|excess| p_at(usable, threshold, excess.ln_1p(), exchanged));
    (2.0 * p.into_iter().fold(1.0, f64::min)).min(1.0)
}

/// The balance of a round is (up - down) / (1 + up + down), where `up` counts the neighbours of which the new one is slower by more than the excess
/// beyond the threshold, `down` those of which the base, so much slower made, still is: undisturbed rounds count most.
fn p_at(usable: &UsableRounds, threshold: f64, excess: f64, exchanged: bool) -> f64 {
    let balances: Vec<i64> = usable
        .rounds
        .iter()
        .map(|round| {
            let (base, candidate) = if exchanged {
                (&round.candidate, &round.base)
            } else {
                (&round.base, &round.candidate)
            };
            let ahead = || {
                base.iter()
                    .zip(candidate)
                    .map(|(base, candidate)| candidate - base - threshold)
            };
            let up = ahead().filter(|x| *x > excess).count() as f64;
            let down = ahead().filter(|x| *x < -excess).count() as f64;
            (GRID * (up - down) / (1.0 + up + down)).round() as i64
        })
        .collect();
    sign_flip_upper_tail(&balances)
}

fn share_above_floor(clusters: &[&[f64]]) -> f64 {
    let floor = ClusterLowQuantile::new(clusters, 0.01, 1).observed();
    let samples = clusters.iter().copied().flatten();
    let count = samples.clone().count().max(1) as f64;
    samples
        .filter(|x| **x > floor + EXCESSES[1].ln_1p())
        .count() as f64
        / count
}
