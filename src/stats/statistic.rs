//! Statistics of clustered samples as functions of how often each cluster was drawn.
//!
//! A resample draws clusters (launches) with replacement and pools their samples; the statistic only needs the number of times
//! each cluster was drawn. Sums, or one sorting of all samples, are made once, so that a resample never sorts.

/// A statistic of the pooled samples of resampled clusters.
pub trait Statistic: Sync {
    /// Number of clusters.
    fn clusters(&self) -> usize;
    /// About how many elementary steps one evaluation takes.
    fn cost(&self) -> usize;
    /// The statistic when cluster i enters `weights[i]` times. Not finite where it has no value.
    fn of(&self, weights: &[u32]) -> f64;
    /// The statistic of the data themselves.
    fn observed(&self) -> f64 {
        self.of(&vec![1; self.clusters()])
    }
}

/// Weighted sum over clusters of each component.
fn weighted<const N: usize>(weights: &[u32], terms: &[[f64; N]]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (weight, term) in weights.iter().zip(terms) {
        for (sum, value) in sums.iter_mut().zip(term) {
            *sum += f64::from(*weight) * value;
        }
    }
    sums
}

/// The mean of the pooled samples.
#[derive(Debug, Clone)]
pub struct ClusterMean {
    /// Per cluster: sum, count.
    terms: Vec<[f64; 2]>,
}

impl ClusterMean {
    /// Prepares the clusters.
    pub fn new(clusters: &[&[f64]]) -> Self {
        let terms = clusters
            .iter()
            .map(|x| [x.iter().sum(), x.len() as f64])
            .collect();
        Self { terms }
    }
}

impl Statistic for ClusterMean {
    fn clusters(&self) -> usize {
        self.terms.len()
    }

    fn cost(&self) -> usize {
        self.terms.len()
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let [sum, count] = weighted(weights, &self.terms);
        sum / count
    }
}

/// The standard deviation (n - 1) of the pooled samples.
#[derive(Debug, Clone)]
pub struct ClusterSd {
    /// Per cluster: count, sum and sum of squares of the samples less a common centre.
    terms: Vec<[f64; 3]>,
}

impl ClusterSd {
    /// Prepares the clusters.
    pub fn new(clusters: &[&[f64]]) -> Self {
        // Centred first: squares of raw nanoseconds would cancel.
        let centre = ClusterMean::new(clusters).observed();
        let terms = clusters
            .iter()
            .map(|x| {
                let sum = x.iter().map(|v| v - centre).sum();
                let squares = x.iter().map(|v| (v - centre).powi(2)).sum();
                [x.len() as f64, sum, squares]
            })
            .collect();
        Self { terms }
    }
}

impl Statistic for ClusterSd {
    fn clusters(&self) -> usize {
        self.terms.len()
    }

    fn cost(&self) -> usize {
        self.terms.len() * 2
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let [count, sum, squares] = weighted(weights, &self.terms);
        if count < 2.0 {
            return f64::NAN;
        }
        ((squares - sum * sum / count).max(0.0) / (count - 1.0)).sqrt()
    }
}

/// The slope through the origin of the pooled (iterations, time) points.
#[derive(Debug, Clone)]
pub struct ClusterSlope {
    /// Per cluster: sum xy, sum x^2.
    terms: Vec<[f64; 2]>,
}

impl ClusterSlope {
    /// Prepares the clusters of (x, y) points.
    pub fn new(clusters: &[&[(f64, f64)]]) -> Self {
        let terms = clusters
            .iter()
            .map(|points| {
                let xy = points.iter().map(|(x, y)| x * y).sum();
                let xx = points.iter().map(|(x, _)| x * x).sum();
                [xy, xx]
            })
            .collect();
        Self { terms }
    }
}

impl Statistic for ClusterSlope {
    fn clusters(&self) -> usize {
        self.terms.len()
    }

    fn cost(&self) -> usize {
        self.terms.len()
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let [xy, xx] = weighted(weights, &self.terms);
        xy / xx
    }
}

/// All samples in ascending order, with the cluster of each.
#[derive(Debug, Clone)]
struct Pooled {
    clusters: usize,
    values: Vec<f64>,
    cluster: Vec<u32>,
    counts: Vec<u32>,
}

impl Pooled {
    fn new(clusters: &[&[f64]]) -> Self {
        let mut labelled: Vec<(f64, u32)> = (0_u32..)
            .zip(clusters)
            .flat_map(|(label, x)| x.iter().map(move |value| (*value, label)))
            .collect();
        labelled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (values, cluster) = labelled.into_iter().unzip();
        let counts = clusters.iter().map(|x| x.len() as u32).collect();
        Self {
            clusters: clusters.len(),
            values,
            cluster,
            counts,
        }
    }

    fn total(&self, weights: &[u32]) -> u64 {
        weights
            .iter()
            .zip(&self.counts)
            .map(|(w, n)| u64::from(*w) * u64::from(*n))
            .sum()
    }

    fn weight(&self, weights: &[u32], position: usize) -> u64 {
        u64::from(weights[self.cluster[position] as usize])
    }
}

/// The two middle ranks (equal for an odd total), counted from 1.
fn middle_ranks(total: u64) -> (u64, u64) {
    (total.div_ceil(2), total / 2 + 1)
}

/// The median of the pooled samples: the mean of the two middle ones for an even number.
#[derive(Debug, Clone)]
pub struct ClusterMedian {
    pooled: Pooled,
    /// With few clusters: for each position, how many samples of each cluster lie up to and at it.
    cumulative: Option<Vec<u32>>,
}

/// Up to this many clusters the cumulative counts are worth their memory.
const TABULATED_CLUSTERS: usize = 64;

impl ClusterMedian {
    /// Prepares the clusters.
    pub fn new(clusters: &[&[f64]]) -> Self {
        let pooled = Pooled::new(clusters);
        let width = pooled.clusters;
        let cumulative = (width <= TABULATED_CLUSTERS).then(|| {
            let mut running = vec![0_u32; width];
            let mut table = Vec::with_capacity(width * pooled.values.len());
            for label in &pooled.cluster {
                running[*label as usize] += 1;
                table.extend_from_slice(&running);
            }
            table
        });
        Self { pooled, cumulative }
    }

    /// First position at which the weighted count reaches `rank`.
    fn position_of_rank(&self, weights: &[u32], rank: u64) -> Option<usize> {
        let count = self.pooled.values.len();
        let Some(table) = &self.cumulative else {
            let mut seen = 0;
            return (0..count).find(|position| {
                seen += self.pooled.weight(weights, *position);
                seen >= rank
            });
        };
        let reached = |position: usize| {
            let row = &table[position * weights.len()..][..weights.len()];
            let seen: u64 = row
                .iter()
                .zip(weights)
                .map(|(n, w)| u64::from(*n) * u64::from(*w))
                .sum();
            seen >= rank
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = usize::midpoint(low, high);
            if reached(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        (low < count).then_some(low)
    }
}

impl Statistic for ClusterMedian {
    fn clusters(&self) -> usize {
        self.pooled.clusters
    }

    fn cost(&self) -> usize {
        let count = self.pooled.values.len();
        match self.cumulative {
            Some(_) => self.pooled.clusters * 2 * (count.max(2).ilog2() as usize + 1),
            None => count,
        }
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let (low, high) = middle_ranks(self.pooled.total(weights));
        let value = |rank| {
            self.position_of_rank(weights, rank)
                .map(|at| self.pooled.values[at])
        };
        match (value(low), value(high)) {
            (Some(a), Some(b)) => f64::midpoint(a, b),
            _ => f64::NAN,
        }
    }
}

/// The median absolute deviation of the pooled samples from their median, unscaled.
#[derive(Debug, Clone)]
pub struct ClusterMad {
    median: ClusterMedian,
}

impl ClusterMad {
    /// Prepares the clusters.
    pub fn new(clusters: &[&[f64]]) -> Self {
        Self {
            median: ClusterMedian::new(clusters),
        }
    }
}

impl Statistic for ClusterMad {
    fn clusters(&self) -> usize {
        self.median.clusters()
    }

    fn cost(&self) -> usize {
        self.median.cost() + self.median.pooled.values.len()
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let pooled = &self.median.pooled;
        let centre = self.median.of(weights);
        let (low_rank, high_rank) = middle_ranks(pooled.total(weights));
        // Walk outwards from the centre, always to the nearer neighbour.
        let mut above = pooled.values.partition_point(|value| *value < centre);
        let mut below = above;
        let (mut seen, mut low_value) = (0, None);
        loop {
            let down = below
                .checked_sub(1)
                .map(|at| (centre - pooled.values[at], at));
            let up = pooled
                .values
                .get(above)
                .map(|value| (value - centre, above));
            let (distance, at) = match (down, up) {
                (Some(d), Some(u)) if d.0 < u.0 => d,
                (Some(d), None) => d,
                (_, Some(u)) => u,
                (None, None) => return f64::NAN,
            };
            if at < below {
                below = at;
            } else {
                above = at + 1;
            }
            seen += pooled.weight(weights, at);
            if low_value.is_none() && seen >= low_rank {
                low_value = Some(distance);
            }
            if let Some(low_value) = low_value.filter(|_| seen >= high_rank) {
                return f64::midpoint(low_value, distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Description, slope_through_origin};
    use proptest::prelude::*;

    /// The pooled samples written out, each cluster as often as its weight says.
    fn written_out(clusters: &[Vec<f64>], weights: &[u32]) -> Vec<f64> {
        clusters
            .iter()
            .zip(weights)
            .flat_map(|(x, w)| std::iter::repeat_n(x, *w as usize).flatten().copied())
            .collect()
    }

    fn clusters_and_weights() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<u32>)> {
        (2_usize..6).prop_flat_map(|k| {
            let values = prop::collection::vec((1_u32..50).prop_map(f64::from), 1..12);
            (
                prop::collection::vec(values, k),
                prop::collection::vec(0_u32..3, k),
            )
        })
    }

    proptest! {
        #[test]
        fn every_statistic_equals_that_of_the_samples_written_out((clusters, weights) in clusters_and_weights()) {
            let all = written_out(&clusters, &weights);
            prop_assume!(!all.is_empty());
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let expected = Description::of(&all).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
            prop_assert!(near(ClusterMean::new(&slices).of(&weights), expected.mean));
            prop_assert!(near(ClusterMedian::new(&slices).of(&weights), expected.median));
            prop_assert!(near(ClusterMad::new(&slices).of(&weights), expected.mad));
            match expected.sd {
                // Squares about the common centre cancel down to the root of the rounding where few clusters are drawn.
                Some(sd) => prop_assert!((ClusterSd::new(&slices).of(&weights) - sd).abs() < 1e-5),
                None => prop_assert!(ClusterSd::new(&slices).of(&weights).is_nan()),
            }
        }

        #[test]
        fn the_median_is_the_same_with_and_without_the_table((clusters, weights) in clusters_and_weights()) {
            prop_assume!(weights.iter().any(|w| *w > 0));
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let with = ClusterMedian::new(&slices);
            let without = ClusterMedian { cumulative: None, ..with.clone() };
            prop_assert_eq!(with.of(&weights), without.of(&weights));
        }
    }

    #[test]
    fn the_pooled_slope_is_that_of_all_points() {
        let (a, b) = (
            [(10.0, 101.0), (20.0, 199.0)],
            [(30.0, 305.0), (40.0, 398.0)],
        );
        let slope = ClusterSlope::new(&[&a, &b]);
        assert!((slope.observed() - 10.02).abs() < 1e-12);
        let twice_b = slope_through_origin(&[30.0, 40.0], &[305.0, 398.0]).unwrap();
        assert!((slope.of(&[0, 2]) - twice_b).abs() < 1e-12);
    }

    #[test]
    fn without_samples_no_statistic_has_a_value() {
        let empty: [&[f64]; 2] = [&[], &[]];
        assert!(ClusterMean::new(&empty).observed().is_nan());
        assert!(ClusterMedian::new(&empty).observed().is_nan());
        assert!(ClusterMad::new(&empty).observed().is_nan());
        assert!(ClusterSd::new(&empty).observed().is_nan());
    }
}
