//! The slow-path test. It asks whether samples of one side are slower than their neighbors more often than the other way round.
//!
//! The fastest samples do not show a cost that falls on some samples only. Two neighboring samples of a quad meet the same state of the host. So if
//! one is slower than the other by far more than the threshold, that is evidence against its side. The unit of the exact sign-flip test is the round.

use super::series::UsableRounds;
use perfcheck_stats::{ClusterLowQuantile, ClusterStatistic, sign_flip_upper_tail};

/// A sample counts as slower than its neighbor if it takes longer by one of these fractions. Each fraction is tested at half of the level. There are
/// two because noise hides the smaller one on a busy host.
const EXCESSES: [f64; 2] = [0.2, 0.1];

/// The exact test needs integers, but the balance of a round is a fraction (see [`p_at_excess`]). So balances are multiplied by this number and
/// rounded.
const GRID: f64 = 60.0;

/// A slow path is suspected if the unadjusted p-value is at most this. Then the benchmark is measured further.
pub(super) const SUSPICION: f64 = 0.05;

/// The result of comparing neighboring samples of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlowPathTest {
    pub p_slower: f64,
    pub p_faster: f64,
    /// The share of the candidate's samples that lie more than 10 % above the candidate's own floor. `share_base` is the same for the base.
    pub share_candidate: f64,
    pub share_base: f64,
}

impl SlowPathTest {
    /// Tests whether either side has a slow path. `threshold` is the logarithm of the noise threshold.
    pub(super) fn test(usable: &UsableRounds, threshold: f64) -> Self {
        Self {
            p_slower: p_slower(usable, threshold, false),
            p_faster: p_slower(usable, threshold, true),
            share_candidate: share_above_floor(&usable.candidate_samples()),
            share_base: share_above_floor(&usable.base_samples()),
        }
    }
}

/// Tests whether the candidate has a slow path, or the base if the sides are `exchanged`. Returns twice the smaller p-value of the two excesses
/// (Bonferroni).
fn p_slower(usable: &UsableRounds, threshold: f64, exchanged: bool) -> f64 {
    let p = EXCESSES.map(|excess| p_at_excess(usable, threshold, excess.ln_1p(), exchanged));
    (2.0 * p.into_iter().fold(1.0, f64::min)).min(1.0)
}

/// Returns the p-value for one of the excesses. Each round has a balance, (up - down) / (1 + up + down). `up` counts the pairs whose candidate sample
/// is slower than the base sample by more than the threshold and the excess together. `down` counts the pairs whose base sample, slowed down by the
/// threshold, is slower than the candidate sample by more than the excess. Disturbances raise both numbers, so a disturbed round has a small balance.
fn p_at_excess(usable: &UsableRounds, threshold: f64, excess: f64, exchanged: bool) -> f64 {
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
