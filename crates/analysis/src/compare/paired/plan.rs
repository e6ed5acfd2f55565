//! When is looked, and how much of the level each look may spend.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::BenchmarkKey;
use perfcheck_stats::{BootstrapSpread, Quantile};

/// Of the level, what the floor test has; the rest is the slow-path test's.
const FLOOR_SHARE: f64 = 0.8;

/// After these rounds a benchmark may be settled.
const LOOKS: [u32; 10] = [10, 20, 30, 60, 100, 200, 300, 450, 600, 1000];

/// The sequential plan of one A/B run, stored with the run: verdicts can be replayed from stored data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Numbers of rounds after which is looked, ascending; the last one ends the measurement.
    pub looks: Vec<u32>,
    /// Family-wise, one-sided: for worsening, and the same again for improvement.
    pub significance_level: f64,
    /// Benchmarks planned, whether or not they could be measured.
    pub planned: usize,
    /// Level of the descriptive bootstrap intervals.
    pub confidence_level: f64,
    /// Resamples of the descriptive bootstrap intervals.
    pub resamples: u32,
    /// Base seed of everything random.
    pub seed: u64,
    /// That of benchmarks which another job measured with another one, by key in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seeds: BTreeMap<String, u64>,
    /// What controls have shown of the benchmarks of this run before it, by key in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, HostNoise>,
}

/// By how much a benchmark has differed from itself on this host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostNoise {
    /// Measurements of the same executable on both sides.
    pub controls: usize,
    /// 95th percentile of the sizes of their changes, a fraction.
    pub change: f64,
}

impl HostNoise {
    /// Controls without which nothing is known.
    const FEWEST_CONTROLS: usize = 20;
    const PERCENTILE: f64 = 0.95;

    /// From the changes, fractions, of all controls.
    pub fn of(changes: &[f64]) -> Option<Self> {
        if changes.len() < Self::FEWEST_CONTROLS {
            return None;
        }
        let mut sizes: Vec<f64> = changes.iter().map(|change| change.abs()).collect();
        Some(Self {
            controls: sizes.len(),
            change: Quantile::Linear.select(&mut sizes, Self::PERCENTILE)?,
        })
    }
}

/// How speeds are compared. The default was chosen by measurement: docs/src/statistics/in-turn.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedMethod {
    /// Share of the level that the floor test has; the rank test has the rest. 1: floors alone.
    pub floor_share: f64,
    /// The quantile of the pooled samples that is compared.
    pub quantile: f64,
    /// Rank that it has at least.
    pub least_rank: usize,
    /// What of the bootstrap distribution is the standard error.
    pub width: BootstrapSpread,
    /// Factor on the standard error.
    pub inflation: f64,
    /// Degrees of freedom of the null, at most.
    pub most_df: f64,
    /// Where the rounds that reach the lower floor must be too many for an accident of processes.
    pub guard: Guard,
    /// Exponent of the spending of the level over the looks.
    pub spending: f64,
}

/// Which claims need enough rounds with the lower floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// None: t alone.
    Nowhere,
    /// That there is a change beyond the threshold.
    Changes,
    /// All, so that the whole interval is guarded.
    Everywhere,
}

impl Default for PairedMethod {
    fn default() -> Self {
        Self {
            floor_share: 0.5,
            quantile: 0.005,
            least_rank: 2,
            width: BootstrapSpread::Deviation,
            inflation: 1.0,
            most_df: 15.0,
            guard: Guard::Everywhere,
            spending: 2.0,
        }
    }
}

impl Plan {
    /// Rounds of a benchmark at most, where nobody says anything.
    pub const USUAL_ROUNDS: u32 = 200;

    /// Fewer rounds decide nothing: from here on the tails of the floor test were simulated.
    pub const FEWEST_ROUNDS: u32 = 5;

    /// A benchmark is not called unchanged after fewer rounds, unless the measurement ends: they would not show a slow path.
    pub const ROUNDS_OF_UNCHANGED: usize = 30;

    /// Quads that belong together: ABBA and BAAB, in which both sides come as often first, and as often after themselves.
    pub const QUADS_TOGETHER: u64 = 2;

    /// The looks of a measurement of so many rounds.
    pub fn looks_up_to(rounds: u32) -> Vec<u32> {
        let earlier = LOOKS.into_iter().filter(|look| *look < rounds);
        earlier.chain([rounds]).collect()
    }

    /// Base seed of everything random about a benchmark.
    pub(in crate::compare) fn seed_of(&self, key: &BenchmarkKey) -> u64 {
        let own = self.seeds.get(&key.to_string()).copied();
        own.unwrap_or(self.seed)
    }

    /// What is known of the host's noise for a benchmark.
    pub(super) fn noise_of(&self, key: &BenchmarkKey) -> Option<HostNoise> {
        self.noise.get(&key.to_string()).copied()
    }

    /// Rounds at the end.
    pub(super) fn last_look(&self) -> usize {
        self.looks.iter().copied().max().unwrap_or(0) as usize
    }

    /// All looks, ascending, each once.
    fn ordered_looks(&self) -> Vec<usize> {
        let mut looks: Vec<usize> = self
            .looks
            .iter()
            .map(|look| *look as usize)
            .filter(|look| *look > 0)
            .collect();
        looks.sort_unstable();
        looks.dedup();
        looks
    }

    /// Looks before the end, and no later than `rounds`; ascending, each once.
    pub(super) fn interim_looks(&self, rounds: usize) -> Vec<usize> {
        let last = self.last_look();
        let mut looks = self.ordered_looks();
        looks.retain(|look| *look < last && *look <= rounds);
        looks
    }

    /// The share of the level that is spent up to the look after `rounds`, the i-th of K: (i / K)^spending.
    ///
    /// That is the power family (Kim and `DeMets` 1987) with looks in place of time. Each look has the increase since the look before as
    /// a level of its own, so that the looks together keep the level whatever their dependence (Bonferroni).
    pub(super) fn spent(&self, rounds: usize, method: &PairedMethod) -> f64 {
        let looks = self.ordered_looks();
        let taken = looks.partition_point(|look| *look <= rounds);
        (taken as f64 / looks.len().max(1) as f64).powf(method.spending)
    }

    /// The family-wise level of the floor test, one-sided.
    pub(super) fn floor_level(&self) -> f64 {
        self.significance_level * FLOOR_SHARE
    }

    /// The family-wise level of the slow-path test, one-sided.
    pub(super) fn slow_path_level(&self) -> f64 {
        self.significance_level * (1.0 - FLOOR_SHARE)
    }

    /// The number of tests in the family; `judged` of them have data.
    pub(super) fn family(&self, judged: usize) -> usize {
        self.planned.max(judged).max(1)
    }
}
