//! Percentile bootstrap intervals over clusters (Efron 1979; Efron and Tibshirani 1993, chapter 13), and the resamples from which they are computed.
//!
//! These intervals are only first-order accurate. With few clusters, they cover less often than their level says.

use std::collections::HashMap;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::cluster_statistic::ClusterStatistic;
use super::interval::Interval;
use super::quantile::Quantile;
use super::random::{Draws, Stream};

/// The number of resamples in a block. One thread computes a whole block at a time, from the block's own part of the random stream.
pub(super) const BLOCK: usize = 1024;

/// The largest number of clusters for which every possible resample is evaluated once in advance. Five clusters have 5^5 = 3125 sequences of draws,
/// but only 126 distinct resamples.
pub(super) const TABULATED: usize = 5;

/// The number of elementary steps that one interval may take. If it would need more, fewer resamples are drawn, but at least [`FEWEST`].
const STEPS: usize = 2_000_000;
const FEWEST: usize = 1_000;

/// The number of resamples and the stream that they are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Resampling<'a> {
    /// The number of resamples that are requested. If these would take more elementary steps than a function allows (2 million for an interval), it
    /// draws fewer, but at least 1000.
    pub resamples: usize,
    /// The stream of random numbers.
    pub stream: Stream<'a>,
}

impl Resampling<'_> {
    /// Returns how many resamples to draw if each takes `cost` elementary steps and all of them together may take `steps`. If the requested number
    /// would take more steps, it is reduced, but not below [`FEWEST`].
    pub(super) fn affordable_resamples(&self, steps: usize, cost: usize) -> usize {
        self.resamples.min((steps / cost.max(1)).max(FEWEST))
    }
}

/// Evaluates `replicate` `count` times and returns its values. `scratch` creates a buffer for each block of evaluations. The result depends only on
/// the stream, and not on how blocks are distributed over threads.
pub(super) fn replicates<S>(
    stream: Stream<'_>,
    count: usize,
    scratch: impl Fn() -> S + Sync,
    replicate: impl Fn(&mut Draws, &mut S) -> f64 + Sync,
) -> Vec<f64> {
    let mut values = vec![0.0; count];
    values
        .par_chunks_mut(BLOCK)
        .enumerate()
        .for_each(|(block, chunk)| {
            let mut draws = Draws::new(stream, block as u64);
            let mut scratch = scratch();
            for value in chunk {
                *value = replicate(&mut draws, &mut scratch);
            }
        });
    values
}

/// All sequences of k draws from k items. The sequences are numbered: the digits of a sequence's number in base k are the items that it draws.
struct DrawSequences {
    /// For each sequence, an index into `weights`. Sequences that draw the same items in another order have the same index.
    sets: Vec<u8>,
    /// For each set of draws, in which their order does not matter: how many times each item is drawn.
    weights: Vec<Vec<u32>>,
}

impl DrawSequences {
    /// Returns the sequences for `k` items, of which there may be at most [`TABULATED`]. They are listed at the first call and then kept.
    fn for_items(k: usize) -> &'static Self {
        static KNOWN: [OnceLock<DrawSequences>; TABULATED + 1] =
            [const { OnceLock::new() }; TABULATED + 1];
        KNOWN[k].get_or_init(|| Self::list(k))
    }

    fn list(k: usize) -> Self {
        let mut places: HashMap<Vec<u32>, u8> = HashMap::new();
        let mut weights = Vec::new();
        let sets = (0..k.pow(k as u32)).map(|sequence| {
            let mut drawn = vec![0_u32; k];
            let mut rest = sequence;
            for _ in 0..k {
                drawn[rest % k] += 1;
                rest /= k;
            }
            *places.entry(drawn).or_insert_with_key(|drawn| {
                weights.push(drawn.clone());
                (weights.len() - 1) as u8
            })
        });
        let sets = sets.collect();
        Self { sets, weights }
    }
}

/// The values of a statistic for all possible resamples of a few items.
pub(super) struct TabulatedStatistic<T> {
    /// For each sequence of draws, the index of its value in `values`. All sequences are equally likely.
    pub(super) sets: &'static [u8],
    /// The value of the statistic for each set of draws, in which their order does not matter.
    pub(super) values: Vec<T>,
}

impl<T: Copy> TabulatedStatistic<T> {
    /// Evaluates `statistic` for each distinct multiset of draws from `k` items, of which there may be at most [`TABULATED`]. The argument of
    /// `statistic` says how many times each item is drawn.
    pub(super) fn new(k: usize, statistic: impl Fn(&[u32]) -> T) -> Self {
        let sequences = DrawSequences::for_items(k);
        let weights = sequences.weights.iter();
        Self {
            sets: &sequences.sets,
            values: weights.map(|weights| statistic(weights)).collect(),
        }
    }

    /// Returns the number of sequences of draws.
    pub(super) fn sequences(&self) -> u32 {
        self.sets.len() as u32
    }

    /// Returns the value of a sequence.
    pub(super) fn value(&self, sequence: usize) -> T {
        self.values[usize::from(self.sets[sequence])]
    }
}

/// A statistic that is prepared for drawing many values of it over resampled clusters.
enum ResampledStatistic<'a, S> {
    /// The values for all possible resamples were computed in advance. Each sequence of draws is equally likely.
    Table(TabulatedStatistic<f64>),
    /// The statistic is evaluated anew for each resample.
    Direct(&'a S),
}

impl<'a, S: ClusterStatistic> ResampledStatistic<'a, S> {
    fn new(statistic: &'a S) -> Self {
        let k = statistic.clusters();
        if k <= TABULATED {
            Self::Table(TabulatedStatistic::new(k, |weights| {
                statistic.evaluate(weights)
            }))
        } else {
            Self::Direct(statistic)
        }
    }

    /// Returns the number of elementary steps of one resample.
    fn cost(&self) -> usize {
        match self {
            Self::Table(_) => 1,
            Self::Direct(statistic) => 2 * statistic.clusters() + statistic.cost(),
        }
    }

    fn draw(&self, draws: &mut Draws, weights: &mut Vec<u32>) -> f64 {
        match self {
            Self::Table(table) => table.value(draws.index(table.sequences())),
            Self::Direct(statistic) => {
                let k = statistic.clusters();
                weights.clear();
                weights.resize(k, 0);
                for _ in 0..k / 2 {
                    let (a, b) = draws.index_pair(k as u32);
                    weights[a] += 1;
                    weights[b] += 1;
                }
                if k % 2 == 1 {
                    weights[draws.index(k as u32)] += 1;
                }
                statistic.evaluate(weights)
            }
        }
    }
}

/// Returns the percentile bootstrap interval of `statistic` at `level` over resampled clusters, in the unit of the samples (Efron 1979; Efron and
/// Tibshirani 1993, chapter 13).
///
/// The bounds are the `Linear` quantiles of the resamples at (1 - level) / 2 and (1 + level) / 2. Resamples without a finite value are dropped.
/// Returns `None` if there are no clusters, if `level` is outside 0..1, or if more than half of the resamples have no finite value. Constant data
/// give an interval of a single point. So does a single cluster. In this case, pass each of its samples as a cluster instead. Below
/// [`FEWEST_FOR_BOOTSTRAP`](crate::FEWEST_FOR_BOOTSTRAP) clusters, the interval covers less often than its level says.
///
/// ```
/// use perfcheck_stats::{ClusterMean, Resampling, Stream, percentile_interval};
/// // Each process is a cluster of its samples.
/// let processes: [&[f64]; 4] = [&[10.1, 10.2], &[9.8, 9.9], &[10.4, 10.3], &[10.0, 10.1]];
/// let stream = Stream { seed: 1, name: "mean" };
/// let resampling = Resampling { resamples: 2000, stream };
/// let mean = ClusterMean::new(&processes);
/// let interval = percentile_interval(&mean, 0.95, resampling).expect("finite values");
/// assert!(9.8 < interval.lower && interval.lower < 10.1 && interval.upper < 10.4);
/// ```
pub fn percentile_interval(
    statistic: &impl ClusterStatistic,
    level: f64,
    resampling: Resampling<'_>,
) -> Option<Interval> {
    percentile_interval_with(statistic, level, PercentileRule::Interpolated, resampling)
}

/// Like [`percentile_interval`], but with bounds chosen by `rule`. [`percentile_interval`] itself uses [`PercentileRule::Interpolated`].
pub fn percentile_interval_with(
    statistic: &impl ClusterStatistic,
    level: f64,
    rule: PercentileRule,
    resampling: Resampling<'_>,
) -> Option<Interval> {
    if statistic.clusters() == 0 {
        return None;
    }
    percentiles(resample(statistic, resampling), level, rule)
}

/// Draws resamples of the clusters and returns the value of `statistic` for each, in the order drawn: the bootstrap distribution. Values may be
/// infinite or NaN.
///
/// With up to five clusters, all k^k sequences of draws are evaluated in advance, and a resample is one draw from that table. The distribution is
/// the same.
pub fn resample(statistic: &impl ClusterStatistic, resampling: Resampling<'_>) -> Vec<f64> {
    let sampler = ResampledStatistic::new(statistic);
    let count = resampling.affordable_resamples(STEPS, sampler.cost());
    replicates(resampling.stream, count, Vec::new, |draws, weights| {
        sampler.draw(draws, weights)
    })
}

/// Returns the number of distinct resamples of k clusters, C(2 k - 1, k). It is 10 for three clusters, 126 for five, and 0 for none.
///
/// With fewer than a few hundred distinct resamples, a percentile bootstrap covers less often than its level says.
pub fn distinct_resamples(clusters: u32) -> f64 {
    // The product is an integer after each factor: C(k + i - 1, i) for i = 1, 2, ...
    let choose = |k: u32| {
        (1..=k).fold(1.0, |product, i| {
            product * f64::from(k + i - 1) / f64::from(i)
        })
    };
    if clusters == 0 { 0.0 } else { choose(clusters) }
}

/// Returns the percentile bootstrap interval of the relative change `new` / `base` - 1 of two independent sides, as a fraction. Each resample
/// draws from both sides.
///
/// Returns `None` in the same cases as [`percentile_interval`]. If the clusters of both sides are paired, use [`PairedRatio`](crate::PairedRatio)
/// instead.
pub fn relative_change_interval(
    new: &impl ClusterStatistic,
    base: &impl ClusterStatistic,
    level: f64,
    resampling: Resampling<'_>,
) -> Option<Interval> {
    if new.clusters() == 0 || base.clusters() == 0 {
        return None;
    }
    percentiles(
        relative_change_resamples(new, base, resampling),
        level,
        PercentileRule::Interpolated,
    )
}

/// Draws resamples of the clusters of two independent sides and returns `new` / `base` - 1 for each, in the order drawn. Neither side may be
/// empty. Values may be infinite or NaN.
pub fn relative_change_resamples(
    new: &impl ClusterStatistic,
    base: &impl ClusterStatistic,
    resampling: Resampling<'_>,
) -> Vec<f64> {
    let (new, base) = (ResampledStatistic::new(new), ResampledStatistic::new(base));
    let count = resampling.affordable_resamples(STEPS, new.cost() + base.cost());
    replicates(resampling.stream, count, Vec::new, |draws, weights| {
        let numerator = new.draw(draws, weights);
        numerator / base.draw(draws, weights) - 1.0
    })
}

/// The rule that picks the bounds of an interval from the sorted resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PercentileRule {
    /// The bounds are the `Linear` quantiles at (1 - level) / 2 and (1 + level) / 2.
    Interpolated,
    /// The bounds are the resamples at the indices floor(B (1 - level) / 2) and floor(B (1 + level) / 2) - 1, counted from 0. This is
    /// `BenchForge`'s rule: 250 and 9749 of 10,000.
    WholeIndices,
}

impl PercentileRule {
    /// Returns both bounds from `values`, which must not be empty and are reordered.
    fn bounds(self, values: &mut [f64], level: f64) -> Option<Interval> {
        let tail = (1.0 - level) / 2.0;
        let (lower, upper) = match self {
            Self::Interpolated => (
                Quantile::Linear.select(values, tail)?,
                Quantile::Linear.select(values, 1.0 - tail)?,
            ),
            Self::WholeIndices => {
                values.sort_unstable_by(f64::total_cmp);
                // The addition corrects for rounding: a product that should be an integer may be slightly below it.
                let index = |share: f64| (share * values.len() as f64 + 1e-9) as usize;
                let last = values.len() - 1;
                let upper = index(f64::midpoint(1.0, level)).saturating_sub(1);
                (values[index(tail).min(last)], values[upper.min(last)])
            }
        };
        Some(Interval { lower, upper })
    }
}

/// Returns an interval that encloses the share `level` of the finite `values` and leaves out equally many at both ends. Returns `None` if there are
/// no finite values, if fewer than half are finite, or if `level` is outside 0..1.
fn percentiles(values: Vec<f64>, level: f64, rule: PercentileRule) -> Option<Interval> {
    let mut values = finite_majority(values)?;
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    rule.bounds(&mut values, level)
}

/// Returns the finite values. Returns `None` if there are none, or if fewer than half of the values are finite.
pub(super) fn finite_majority(mut values: Vec<f64>) -> Option<Vec<f64>> {
    let drawn = values.len();
    values.retain(|value| value.is_finite());
    (!values.is_empty() && values.len() * 2 >= drawn).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterMean, ClusterMedian};

    fn resampling(resamples: usize) -> Resampling<'static> {
        Resampling {
            resamples,
            stream: Stream {
                seed: 42,
                name: "test",
            },
        }
    }

    fn singles(values: &[f64]) -> Vec<&[f64]> {
        values.chunks(1).collect()
    }

    #[test]
    fn constant_data_have_a_point_interval() {
        let values = [100.0; 20];
        let interval = percentile_interval(
            &ClusterMean::new(&singles(&values)),
            0.95,
            resampling(10_000),
        );
        assert_eq!(
            interval,
            Some(Interval {
                lower: 100.0,
                upper: 100.0
            })
        );
    }

    #[test]
    fn the_interval_of_a_mean_approaches_the_normal_one() {
        // 400 values evenly over 0..1: se = sqrt(1/12)/20 = 0.01443, 95 % interval 0.5 -+ 0.0283.
        let values: Vec<f64> = (0..400).map(|i| (f64::from(i) + 0.5) / 400.0).collect();
        let interval = percentile_interval(
            &ClusterMean::new(&singles(&values)),
            0.95,
            resampling(20_000),
        )
        .unwrap();
        // With this many clusters 1666 resamples are drawn, whose bounds have an SE of about .001.
        assert!((interval.lower - 0.4717).abs() < 0.004, "{interval:?}");
        assert!((interval.upper - 0.5283).abs() < 0.004, "{interval:?}");
    }

    #[test]
    fn whole_indices_of_ten_thousand_are_250_and_9749() {
        let mut values: Vec<f64> = (0..10_000).map(f64::from).rev().collect();
        for (level, lower, upper) in [
            (0.95, 250.0, 9_749.0),
            (0.9, 500.0, 9_499.0),
            (0.99, 50.0, 9_949.0),
        ] {
            let bounds = PercentileRule::WholeIndices.bounds(&mut values, level);
            assert_eq!(bounds, Some(Interval { lower, upper }));
        }
        let single = PercentileRule::WholeIndices.bounds(&mut [3.0], 0.95);
        assert_eq!(
            single,
            Some(Interval {
                lower: 3.0,
                upper: 3.0
            })
        );
    }

    #[test]
    fn the_table_of_all_resamples_and_direct_drawing_agree() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let mean = ClusterMean::new(&singles(&values));
        let tabulated = percentile_interval(&mean, 0.9, resampling(100_000)).unwrap();
        let direct = replicates(resampling(1).stream, 100_000, Vec::new, |draws, weights| {
            ResampledStatistic::Direct(&mean).draw(draws, weights)
        });
        let direct = percentiles(direct, 0.9, PercentileRule::Interpolated).unwrap();
        assert!(
            (tabulated.lower - direct.lower).abs() < 0.21,
            "{tabulated:?} {direct:?}"
        );
        assert!(
            (tabulated.upper - direct.upper).abs() < 0.21,
            "{tabulated:?} {direct:?}"
        );
    }

    #[test]
    fn the_table_holds_each_sequence_of_draws_once() {
        let sums = TabulatedStatistic::new(3, |weights| weights[1] + 2 * weights[2]);
        assert_eq!((sums.sequences(), sums.values.len()), (27, 10));
        // The sum of three digits to base 3 is 3 for seven of the 27 numbers.
        let is_three = |sequence: &usize| sums.value(*sequence) == 3;
        assert_eq!((0..27).filter(is_three).count(), 7);
    }

    #[test]
    fn a_ratio_of_equal_constants_is_no_change_and_of_zero_none() {
        let (one, zero) = ([7.0; 6], [0.0; 6]);
        let (one, zero) = (
            ClusterMedian::new(&singles(&one)),
            ClusterMedian::new(&singles(&zero)),
        );
        let same = relative_change_interval(&one, &one, 0.95, resampling(2_000));
        assert_eq!(
            same,
            Some(Interval {
                lower: 0.0,
                upper: 0.0
            })
        );
        assert_eq!(
            relative_change_interval(&one, &zero, 0.95, resampling(2_000)),
            None
        );
    }

    #[test]
    fn no_clusters_and_impossible_levels_have_no_interval() {
        assert_eq!(
            percentile_interval(&ClusterMean::new(&[]), 0.95, resampling(100)),
            None
        );
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(
                percentile_interval(&ClusterMean::new(&[&[1.0]]), level, resampling(100)),
                None
            );
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i * i % 17)).collect();
        let interval = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let median = ClusterMedian::new(&singles(&values));
            pool.install(|| percentile_interval(&median, 0.9, resampling(20_000)))
                .unwrap()
        };
        let one = interval(1);
        for threads in [2, 8] {
            let more = interval(threads);
            assert_eq!(one.lower.to_bits(), more.lower.to_bits());
            assert_eq!(one.upper.to_bits(), more.upper.to_bits());
        }
    }

    #[test]
    fn resamples_of_few_clusters_are_few() {
        let counts = [0, 1, 2, 3, 5, 10].map(distinct_resamples);
        assert_eq!(counts, [0.0, 1.0, 3.0, 10.0, 126.0, 92_378.0]);
    }
}
