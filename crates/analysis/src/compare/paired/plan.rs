//! The numbers of rounds after which a benchmark is tested (its looks), and the share of the significance level that each look may spend.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::BenchmarkKey;
use perfcheck_stats::{BootstrapSpread, Quantile};

/// The speed test's share of the level; the slow-path test has the rest.
const FLOOR_SHARE: f64 = 0.8;

/// Numbers of rounds after which a benchmark may be settled.
const LOOKS: [u32; 10] = [10, 20, 30, 60, 100, 200, 300, 450, 600, 1000];

/// The sequential plan of one side-by-side measurement. It is stored with the run, so that verdicts can be replayed from stored data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Numbers of rounds after which there is a look, ascending; the last one ends the measurement.
    pub looks: Vec<u32>,
    /// Family-wise, one-sided level for worsening, and the same level for improvement.
    pub significance_level: f64,
    /// Benchmarks planned, whether or not they could be measured.
    pub planned: usize,
    /// Level of the descriptive bootstrap intervals.
    pub confidence_level: f64,
    /// Resamples of the descriptive bootstrap intervals.
    pub resamples: u32,
    /// Base seed of all random numbers.
    pub seed: u64,
    /// Seeds of benchmarks that another job measured with another base seed, by the text of the benchmark's key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seeds: BTreeMap<String, u64>,
    /// Noise that earlier controls showed for benchmarks of this run, by the text of the benchmark's key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, HostNoise>,
}

/// How much a benchmark differed from itself on this host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostNoise {
    /// Number of controls: measurements with the same executable on both sides.
    pub controls: usize,
    /// 95th percentile of the absolute changes, a fraction.
    pub change: f64,
}

impl HostNoise {
    /// With fewer controls than this, the noise is unknown.
    const FEWEST_CONTROLS: usize = 20;
    const PERCENTILE: f64 = 0.95;

    /// Computes the noise from the changes (fractions) of all controls.
    pub fn from_changes(changes: &[f64]) -> Option<Self> {
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

/// The method that compares speeds. The default was chosen by measurement: docs/internals/src/statistics/side-by-side.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedMethod {
    /// The floor test's share of the level of the speed test; the rank test has the rest. With 1 there is no rank test.
    pub floor_share: f64,
    /// The quantile of the pooled samples that is compared.
    pub quantile: f64,
    /// The smallest rank that the quantile may have.
    pub least_rank: usize,
    /// The spread of the bootstrap distribution that is used as the standard error.
    pub width: BootstrapSpread,
    /// Factor on the standard error.
    pub inflation: f64,
    /// Largest number of degrees of freedom of the null distribution.
    pub most_df: f64,
    /// The claims of the floor test that are guarded against accidents: more rounds must have the lower floor than a few accidentally fast processes
    /// explain.
    pub guard: FloorGuard,
    /// Exponent of the function that spends the level over the looks.
    pub spending: f64,
}

/// The claims of the floor test that are guarded against accidents: more rounds must have the lower floor than a few accidentally fast processes
/// explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorGuard {
    /// No claim: the floor test uses only Student's t.
    Nowhere,
    /// Only a change beyond the threshold.
    Changes,
    /// Every claim, so the whole interval is guarded.
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
            guard: FloorGuard::Everywhere,
            spending: 2.0,
        }
    }
}

impl Plan {
    /// The default for the largest number of rounds of a benchmark.
    pub const USUAL_ROUNDS: u32 = 200;

    /// Fewer rounds decide nothing. The tails of the floor test were simulated from this number on.
    pub const FEWEST_ROUNDS: u32 = 5;

    /// With fewer rounds, a slow path would not show. So a benchmark is then called unchanged only if the measurement ends.
    pub const ROUNDS_OF_UNCHANGED: usize = 30;

    /// Number of quads that are compared together: one ABBA and one BAAB. In the two together, each side comes first equally often, and follows
    /// itself equally often.
    pub const QUADS_TOGETHER: u64 = 2;

    /// Returns the looks of a measurement of at most `rounds` rounds.
    pub fn looks_up_to(rounds: u32) -> Vec<u32> {
        let earlier = LOOKS.into_iter().filter(|look| *look < rounds);
        earlier.chain([rounds]).collect()
    }

    /// Returns the base seed of all random numbers of a benchmark.
    pub(in crate::compare) fn benchmark_seed(&self, key: &BenchmarkKey) -> u64 {
        let own = self.seeds.get(&key.to_string()).copied();
        own.unwrap_or(self.seed)
    }

    /// Returns the known noise of the host for a benchmark.
    pub(super) fn benchmark_noise(&self, key: &BenchmarkKey) -> Option<HostNoise> {
        self.noise.get(&key.to_string()).copied()
    }

    /// Returns the number of rounds at which the measurement ends.
    pub(super) fn last_look(&self) -> usize {
        self.looks.iter().copied().max().unwrap_or(0) as usize
    }

    /// Returns all looks, ascending and distinct.
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

    /// Returns the looks before the last one and no later than `rounds`, ascending and distinct.
    pub(super) fn interim_looks(&self, rounds: usize) -> Vec<usize> {
        let last = self.last_look();
        let mut looks = self.ordered_looks();
        looks.retain(|look| *look < last && *look <= rounds);
        looks
    }

    /// Returns the share of the level that is spent up to the look after `rounds`, the i-th of K: (i / K)^spending.
    ///
    /// This is the power family (Kim and `DeMets` 1987) with looks in place of time. The level of a look is the increase since the look before. So
    /// all looks together keep the level for any dependence between them (Bonferroni).
    pub(super) fn spent_share(&self, rounds: usize, method: &PairedMethod) -> f64 {
        let looks = self.ordered_looks();
        let taken = looks.partition_point(|look| *look <= rounds);
        (taken as f64 / looks.len().max(1) as f64).powf(method.spending)
    }

    /// Returns the family-wise, one-sided level of the speed test.
    pub(super) fn floor_level(&self) -> f64 {
        self.significance_level * FLOOR_SHARE
    }

    /// Returns the family-wise, one-sided level of the slow-path test.
    pub(super) fn slow_path_level(&self) -> f64 {
        self.significance_level * (1.0 - FLOOR_SHARE)
    }

    /// Returns the number of tests in the family; `judged` of them have data.
    pub(super) fn family_size(&self, judged: usize) -> usize {
        self.planned.max(judged).max(1)
    }
}
