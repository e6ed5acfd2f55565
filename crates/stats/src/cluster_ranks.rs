//! Computes the median and the median absolute deviation of a bootstrap resample without sorting the resample.
//!
//! A resample is given by the number of times that each cluster was drawn. All samples are sorted once, in advance. A table holds, at positions at
//! regular distances, how many samples of each cluster come before the position. To count the drawn samples before a position, each of these numbers
//! is multiplied by the number of draws of its cluster, and the products are added. A bisection over positions then finds the sample of any rank.

use super::cluster_statistic::ClusterStatistic;

/// The smallest number of positions between two rows of the table.
const STRIDE: usize = 16;

/// All samples in ascending order, with the cluster of each.
#[derive(Debug, Clone)]
struct Pooled {
    clusters: usize,
    values: Vec<f64>,
    cluster: Vec<u32>,
    /// The number of positions between two rows. There are about as many as clusters, so that counting between rows takes no longer than reading a
    /// row.
    stride: usize,
    /// Row r holds the number of samples of each cluster among the first r * `stride`. The last row counts all samples.
    rows: Vec<u32>,
}

impl Pooled {
    fn new(clusters: &[&[f64]]) -> Self {
        let (values, cluster): (Vec<f64>, Vec<u32>) = sorted_with_cluster(clusters)
            .into_iter()
            .map(|sample| (sample.value, sample.cluster))
            .unzip();
        let stride = clusters.len().max(STRIDE);
        let mut running = vec![0_u32; clusters.len()];
        let mut rows = running.clone();
        for block in cluster.chunks(stride) {
            for label in block {
                running[*label as usize] += 1;
            }
            rows.extend_from_slice(&running);
        }
        Self {
            clusters: clusters.len(),
            values,
            cluster,
            stride,
            rows,
        }
    }

    /// Reports whether there are so few samples per cluster that counting all of them is cheaper than reading rows.
    fn is_sparse(&self) -> bool {
        self.values.len() <= 8 * self.clusters
    }

    /// Returns the samples, each counted as many times as its cluster was drawn.
    fn count_weighted<'a>(&'a self, weights: &'a [u32]) -> WeightedCounts<'a> {
        let running = self.is_sparse().then(|| {
            let mut running = vec![0; self.values.len() + 1];
            for (at, label) in self.cluster.iter().enumerate() {
                running[at + 1] = running[at] + u64::from(weights[*label as usize]);
            }
            running
        });
        WeightedCounts {
            pooled: self,
            weights,
            stride: if running.is_some() { 1 } else { self.stride },
            running,
        }
    }

    /// Returns the number of elementary steps that [`Self::count_weighted`] takes to prepare the counts.
    fn preparation_cost(&self) -> usize {
        if self.is_sparse() {
            self.values.len()
        } else {
            0
        }
    }

    /// Returns the number of elementary steps that it takes to count the drawn samples up to a position.
    fn counting_cost(&self) -> usize {
        if self.is_sparse() {
            1
        } else {
            self.clusters + self.stride / 2
        }
    }

    /// Returns the number of steps of a bisection over all samples.
    fn bisections(&self) -> usize {
        self.values.len().max(2).ilog2() as usize + 1
    }
}

/// A sample with the number of its cluster.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterSample {
    pub(super) value: f64,
    pub(super) cluster: u32,
}

/// Returns all samples in ascending order. Equal samples are in the order of their clusters.
pub(super) fn sorted_with_cluster(clusters: &[&[f64]]) -> Vec<ClusterSample> {
    let mut samples: Vec<ClusterSample> = (0_u32..)
        .zip(clusters)
        .flat_map(|(cluster, values)| {
            values.iter().map(move |value| ClusterSample {
                value: *value,
                cluster,
            })
        })
        .collect();
    samples.sort_unstable_by(|a, b| {
        let by_value = a.value.total_cmp(&b.value);
        by_value.then(a.cluster.cmp(&b.cluster))
    });
    samples
}

/// Tells, for one resample, how many drawn samples come before a position of the sorted samples.
struct WeightedCounts<'a> {
    pooled: &'a Pooled,
    weights: &'a [u32],
    /// The number of positions between two rows. It is 1 if all counts are in `running`.
    stride: usize,
    /// The number of drawn samples before each position, if there are so few samples that all of them were counted.
    running: Option<Vec<u64>>,
}

impl WeightedCounts<'_> {
    fn weight(&self, position: usize) -> u64 {
        u64::from(self.weights[self.pooled.cluster[position] as usize])
    }

    /// Returns the number of drawn samples before row `row`.
    fn count_before_row(&self, row: usize) -> u64 {
        if let Some(running) = &self.running {
            return running[row];
        }
        let width = self.pooled.clusters;
        let counts = &self.pooled.rows[row * width..][..width];
        counts
            .iter()
            .zip(self.weights)
            .map(|(count, weight)| u64::from(*count) * u64::from(*weight))
            .sum()
    }

    /// Returns the number of drawn samples before `position`.
    fn count_before(&self, position: usize) -> u64 {
        let row = position / self.stride;
        let rest: u64 = (row * self.stride..position)
            .map(|at| self.weight(at))
            .sum();
        self.count_before_row(row) + rest
    }

    fn total(&self) -> u64 {
        self.count_before_row(self.rows())
    }

    /// Returns the index of the row that counts all samples.
    fn rows(&self) -> usize {
        self.pooled.values.len().div_ceil(self.stride)
    }

    /// Returns the first position up to which the count reaches `rank`, and that count. `rank` is at least 1 and at most the total.
    fn find_rank(&self, rank: u64) -> (usize, u64) {
        // Find the last row before which the count is still below the rank.
        let (mut low, mut high) = (0, self.rows());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.count_before_row(middle) < rank {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (mut position, mut seen) = (low * self.stride, self.count_before_row(low));
        loop {
            seen += self.weight(position);
            if seen >= rank {
                return (position, seen);
            }
            position += 1;
        }
    }

    /// Returns the first position after `position` whose sample was drawn. There must be such a position.
    fn next_drawn(&self, position: usize) -> usize {
        (position + 1..self.pooled.values.len())
            .find(|at| self.weight(*at) > 0)
            .unwrap_or(position)
    }

    /// Returns the median of the drawn samples, whose number `total` must not be 0.
    fn median(&self, total: u64) -> f64 {
        let (low, high) = middle_ranks(total);
        let (at, seen) = self.find_rank(low);
        let upper = if seen >= high {
            at
        } else {
            self.next_drawn(at)
        };
        f64::midpoint(self.pooled.values[at], self.pooled.values[upper])
    }
}

/// Returns the two middle ranks, counted from 1. They are equal if `total` is odd.
fn middle_ranks(total: u64) -> (u64, u64) {
    (total.div_ceil(2), total / 2 + 1)
}

/// The median of the pooled samples. For an even number of samples, it is the mean of the two middle ones. It is NaN if there are no samples.
///
/// An evaluation does not copy or sort the samples. Over n samples in k clusters, it takes about k log n steps.
#[derive(Debug, Clone)]
pub struct ClusterMedian {
    pooled: Pooled,
}

impl ClusterMedian {
    /// Sorts the samples of `clusters`, which may be in any order.
    pub fn new(clusters: &[&[f64]]) -> Self {
        Self {
            pooled: Pooled::new(clusters),
        }
    }
}

impl ClusterStatistic for ClusterMedian {
    fn clusters(&self) -> usize {
        self.pooled.clusters
    }

    fn cost(&self) -> usize {
        let pooled = &self.pooled;
        pooled.preparation_cost() + pooled.bisections() * pooled.counting_cost()
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let counted = self.pooled.count_weighted(weights);
        match counted.total() {
            0 => f64::NAN,
            total => counted.median(total),
        }
    }
}

/// The median absolute deviation of the pooled samples from their median, unscaled ([`MAD_TO_SD`](crate::MAD_TO_SD) scales it). It is NaN without
/// samples.
///
/// An evaluation does not copy or sort the samples. Over n samples in k clusters, it takes about (k + log n) log n steps.
#[derive(Debug, Clone)]
pub struct ClusterMad {
    median: ClusterMedian,
}

impl ClusterMad {
    /// Sorts the samples of `clusters`, which may be in any order.
    pub fn new(clusters: &[&[f64]]) -> Self {
        Self {
            median: ClusterMedian::new(clusters),
        }
    }
}

/// The distances of the samples from a center. They form two ascending lists, one of the samples above the center and one of those below it.
struct CentreDistances<'a> {
    counted: &'a WeightedCounts<'a>,
    values: &'a [f64],
    centre: f64,
    /// The first position whose sample is at or above the center.
    split: usize,
}

impl CentreDistances<'_> {
    fn above(&self, step: usize) -> f64 {
        self.values[self.split + step] - self.centre
    }

    fn below(&self, step: usize) -> f64 {
        self.centre - self.values[self.split - 1 - step]
    }

    /// Returns the number of drawn samples within `distance` of the center.
    fn count_up_to(&self, distance: f64) -> u64 {
        let above = partition(self.values.len() - self.split, |step| {
            self.above(step) <= distance
        });
        let below = partition(self.split, |step| self.below(step) <= distance);
        self.counted.count_before(self.split + above)
            - self.counted.count_before(self.split - below)
    }

    /// Returns the smallest distance within which at least `rank` drawn samples lie. `rank` is at least 1 and at most the number of drawn samples.
    fn find_rank(&self, rank: u64) -> f64 {
        let (above, below) = (self.values.len() - self.split, self.split);
        let short = |distance: f64| self.count_up_to(distance) < rank;
        let from_above = partition(above, |step| short(self.above(step)));
        let from_below = partition(below, |step| short(self.below(step)));
        let reached = |found: usize, of: usize, distance: &dyn Fn(usize) -> f64| {
            if found < of {
                distance(found)
            } else {
                f64::INFINITY
            }
        };
        reached(from_above, above, &|step| self.above(step)).min(reached(
            from_below,
            below,
            &|step| self.below(step),
        ))
    }
}

/// Returns the number of steps for which `holds` is true. These must come before all other steps.
fn partition(steps: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, steps);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl ClusterStatistic for ClusterMad {
    fn clusters(&self) -> usize {
        self.median.clusters()
    }

    fn cost(&self) -> usize {
        // Each rank takes two bisections, and each of their steps bisects twice and counts twice.
        let steps = self.median.pooled.bisections();
        self.median.cost() + 4 * steps * (steps + self.median.pooled.counting_cost())
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let counted = self.median.pooled.count_weighted(weights);
        let total = counted.total();
        if total == 0 {
            return f64::NAN;
        }
        let values = &self.median.pooled.values;
        let centre = counted.median(total);
        let distances = CentreDistances {
            counted: &counted,
            values,
            centre,
            split: values.partition_point(|value| *value < centre),
        };
        let (low, high) = middle_ranks(total);
        let lower = distances.find_rank(low);
        let upper = if distances.count_up_to(lower) >= high {
            lower
        } else {
            distances.find_rank(high)
        };
        f64::midpoint(lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Description;
    use crate::cluster_statistic::fixtures::{clusters_and_weights, written_out};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn median_and_deviation_equal_those_of_the_samples_written_out((clusters, weights) in clusters_and_weights(2..6, 1..40)) {
            let all = written_out(&clusters, &weights);
            prop_assume!(!all.is_empty());
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let expected = Description::compute(&all).unwrap();
            prop_assert_eq!(ClusterMedian::new(&slices).evaluate(&weights), expected.median);
            prop_assert_eq!(ClusterMad::new(&slices).evaluate(&weights), expected.mad);
        }

        #[test]
        fn the_same_holds_for_many_clusters_of_one_sample((clusters, weights) in clusters_and_weights(30..90, 1..2)) {
            let all = written_out(&clusters, &weights);
            prop_assume!(!all.is_empty());
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let expected = Description::compute(&all).unwrap();
            prop_assert_eq!(ClusterMedian::new(&slices).evaluate(&weights), expected.median);
            prop_assert_eq!(ClusterMad::new(&slices).evaluate(&weights), expected.mad);
        }
    }

    #[test]
    fn without_samples_or_draws_there_is_no_value() {
        let empty: [&[f64]; 2] = [&[], &[]];
        assert!(ClusterMedian::new(&empty).observed().is_nan());
        assert!(ClusterMad::new(&empty).observed().is_nan());
        assert!(ClusterMedian::new(&[]).observed().is_nan());
        assert!(ClusterMedian::new(&[&[1.0]]).evaluate(&[0]).is_nan());
        assert!(ClusterMad::new(&[&[1.0]]).evaluate(&[0]).is_nan());
    }
}
