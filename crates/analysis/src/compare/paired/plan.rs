//! Plans after how many rounds a benchmark is tested (its looks), and how much of the significance level each look may spend.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::BenchmarkKey;
use perfcheck_stats::{BootstrapSpread, Quantile};

/// The share of the significance level that the speed test may spend. The slow-path test has the rest.
const FLOOR_SHARE: f64 = 0.8;

/// Numbers of rounds after which a benchmark may be settled.
const LOOKS: [u32; 10] = [10, 20, 30, 60, 100, 200, 300, 450, 600, 1000];

/// The sequential plan of one side-by-side measurement. It is stored with the run, so that verdicts can be replayed from stored data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The numbers of rounds after which there is a look, in ascending order. The last look ends the measurement.
    pub looks: Vec<u32>,
    /// The significance level of the whole run for slowdowns, one-sided. Speedups are tested at the same level, separately.
    pub significance_level: f64,
    /// The number of benchmarks that were to be measured, whether or not they could be.
    pub planned: usize,
    /// The confidence level of the intervals that affect no verdict about the time: those of means, medians and latency percentiles.
    pub confidence_level: f64,
    /// The number of bootstrap resamples for the intervals of means, medians and latency percentiles.
    pub resamples: u32,
    /// The seed from which all random numbers are derived.
    pub seed: u64,
    /// The seeds of benchmarks that another job measured, if it used another seed. The keys of the map are the keys of the benchmarks as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seeds: BTreeMap<String, u64>,
    /// The noise that earlier controls (measurements with the same executable on both sides) showed for benchmarks of this run. The keys of the map
    /// are the keys of the benchmarks as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, HostNoise>,
}

/// How much a benchmark differed from itself on this host, although both sides were the same executable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostNoise {
    /// The number of controls: measurements with the same executable on both sides.
    pub controls: usize,
    /// The 95th percentile of the absolute changes that the controls showed, as a fraction.
    pub change: f64,
}

impl HostNoise {
    /// The fewest controls from which the noise is computed.
    const FEWEST_CONTROLS: usize = 20;
    const PERCENTILE: f64 = 0.95;

    /// Computes the noise from the changes (fractions) that all controls showed. Returns `None` if there are too few controls.
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

/// How the speeds of both sides are compared. The default was chosen by measurement: docs/internals/src/statistics/side-by-side.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedMethod {
    /// The floor test's share of the level of the speed test. The rank test has the rest. If the share is 1, there is no rank test.
    pub floor_share: f64,
    /// The floor test compares this quantile of all samples of each side.
    pub quantile: f64,
    /// The smallest rank that the quantile may have among the samples. A rank of 2 means that at least the second fastest sample is used.
    pub least_rank: usize,
    /// Which measure of the spread of the bootstrap distribution is used as the standard error.
    pub width: BootstrapSpread,
    /// The factor by which the standard error is enlarged.
    pub inflation: f64,
    /// The floor test uses Student's t with at most this many degrees of freedom, however many rounds there are.
    pub most_df: f64,
    /// The claims of the floor test that need a second confirmation, because a few accidentally fast processes can mislead it.
    pub guard: FloorGuard,
    /// The exponent of the function that divides the significance level among the looks.
    pub spending: f64,
}

/// The claims of the floor test that need a second confirmation. A few processes that are fast by accident can lower the floor of one side. So more
/// rounds must have the lower floor than such an accident explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorGuard {
    /// No claim is guarded. The floor test uses only Student's t.
    Nowhere,
    /// Only the claim that there is a change beyond the threshold is guarded.
    Changes,
    /// Every claim is guarded, and so is the whole interval.
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
    /// The largest number of rounds of a benchmark, unless the user sets another.
    pub const USUAL_ROUNDS: u32 = 200;

    /// The smallest number of rounds that can be tested. The tails of the floor test were simulated from this number on.
    pub const FEWEST_ROUNDS: u32 = 5;

    /// The number of rounds from which a benchmark may stop as `unchanged`. With fewer rounds a slow path would not show, so `unchanged` is possible
    /// only if the measurement ends.
    pub const ROUNDS_OF_UNCHANGED: usize = 30;

    /// The number of quads that are compared together: one ABBA and one BAAB. In the two together, each side comes first equally often, and follows
    /// itself equally often.
    pub const QUADS_TOGETHER: u64 = 2;

    /// Reports whether a benchmark has enough complete `rounds` for a verdict. If rounds of the benchmark failed, it needs at least
    /// [`Self::FEWEST_ROUNDS`]. If none failed, any number is enough.
    pub fn has_enough_rounds(rounds: usize, failures: usize) -> bool {
        failures == 0 || rounds >= Self::FEWEST_ROUNDS as usize
    }

    /// Returns the looks of a measurement of at most `rounds` rounds.
    pub fn looks_up_to(rounds: u32) -> Vec<u32> {
        let earlier = LOOKS.into_iter().filter(|look| *look < rounds);
        earlier.chain([rounds]).collect()
    }

    /// Returns the seed from which all random numbers of a benchmark are derived.
    pub(in crate::compare) fn benchmark_seed(&self, key: &BenchmarkKey) -> u64 {
        let own = self.seeds.get(&key.to_string()).copied();
        own.unwrap_or(self.seed)
    }

    /// Returns the noise that controls on this host have shown for a benchmark, if it is known.
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

    /// Returns the share of the significance level that all looks up to the one after `rounds` may spend together. If this is the i-th of K looks,
    /// the share is (i / K)^spending.
    ///
    /// This is the power family of spending functions (Kim and `DeMets` 1987), with the number of looks in place of time. A look may spend what the
    /// share has increased by since the look before. So all looks together keep the level, however they depend on each other (Bonferroni).
    pub(super) fn spent_share(&self, rounds: usize, method: &PairedMethod) -> f64 {
        let looks = self.ordered_looks();
        let taken = looks.partition_point(|look| *look <= rounds);
        (taken as f64 / looks.len().max(1) as f64).powf(method.spending)
    }

    /// Returns the one-sided level of the speed test for all benchmarks of the run together.
    pub(super) fn floor_level(&self) -> f64 {
        self.significance_level * FLOOR_SHARE
    }

    /// Returns the one-sided level of the slow-path test for all benchmarks of the run together.
    pub(super) fn slow_path_level(&self) -> f64 {
        self.significance_level * (1.0 - FLOOR_SHARE)
    }

    /// Returns how many benchmarks share the level: those that were planned, or the `judged` ones (which have data) if there are more.
    pub(super) fn family_size(&self, judged: usize) -> usize {
        self.planned.max(judged).max(1)
    }
}
