//! Median and median absolute deviation of clustered samples, as functions of how often each cluster was drawn.
//!
//! All samples are sorted once. How many of them lie up to a position, each counted as often as its cluster was drawn, follows from
//! counts per cluster that are tabulated at every [`STRIDE`]-th position; a rank is found by bisection. No resample sorts.

use super::statistic::Statistic;

/// Positions between two rows of the table.
const STRIDE: usize = 16;

/// All samples in ascending order, with the cluster of each.
#[derive(Debug, Clone)]
struct Pooled {
    clusters: usize,
    values: Vec<f64>,
    cluster: Vec<u32>,
    /// Row r: how many of the first r * [`STRIDE`] samples belong to each cluster. The last row counts all samples.
    rows: Vec<u32>,
}

impl Pooled {
    fn new(clusters: &[&[f64]]) -> Self {
        let mut labelled: Vec<(f64, u32)> = (0_u32..)
            .zip(clusters)
            .flat_map(|(label, x)| x.iter().map(move |value| (*value, label)))
            .collect();
        labelled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (values, cluster): (Vec<f64>, Vec<u32>) = labelled.into_iter().unzip();
        let mut running = vec![0_u32; clusters.len()];
        let mut rows = running.clone();
        for block in cluster.chunks(STRIDE) {
            for label in block {
                running[*label as usize] += 1;
            }
            rows.extend_from_slice(&running);
        }
        Self {
            clusters: clusters.len(),
            values,
            cluster,
            rows,
        }
    }

    /// Elementary steps of finding a rank.
    fn cost(&self) -> usize {
        let blocks = self.values.len() / STRIDE + 2;
        self.clusters * (blocks.ilog2() as usize + 1) + STRIDE
    }

    fn weight(&self, weights: &[u32], position: usize) -> u64 {
        u64::from(weights[self.cluster[position] as usize])
    }

    /// The weighted count of the samples before row `row`.
    fn before_row(&self, weights: &[u32], row: usize) -> u64 {
        let counts = &self.rows[row * self.clusters..][..self.clusters];
        counts
            .iter()
            .zip(weights)
            .map(|(count, weight)| u64::from(*count) * u64::from(*weight))
            .sum()
    }

    /// The weighted count of the samples before `position`.
    fn before(&self, weights: &[u32], position: usize) -> u64 {
        let row = position / STRIDE;
        let rest: u64 = (row * STRIDE..position)
            .map(|at| self.weight(weights, at))
            .sum();
        self.before_row(weights, row) + rest
    }

    fn total(&self, weights: &[u32]) -> u64 {
        self.before_row(weights, self.values.len().div_ceil(STRIDE))
    }

    /// The first position up to which the weighted count reaches `rank`, and that count. `rank` is at least 1 and at most the total.
    fn of_rank(&self, weights: &[u32], rank: u64) -> (usize, u64) {
        // The last row before which the count is still below the rank.
        let (mut low, mut high) = (0, self.values.len().div_ceil(STRIDE));
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.before_row(weights, middle) < rank {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (mut position, mut seen) = (low * STRIDE, self.before_row(weights, low));
        loop {
            seen += self.weight(weights, position);
            if seen >= rank {
                return (position, seen);
            }
            position += 1;
        }
    }

    /// The first position after `position` that was drawn at all, which must exist.
    fn next_drawn(&self, weights: &[u32], position: usize) -> usize {
        let later = position + 1..self.values.len();
        later
            .clone()
            .find(|at| self.weight(weights, *at) > 0)
            .unwrap_or(position)
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
}

impl ClusterMedian {
    /// Prepares the clusters.
    pub fn new(clusters: &[&[f64]]) -> Self {
        Self {
            pooled: Pooled::new(clusters),
        }
    }
}

impl Statistic for ClusterMedian {
    fn clusters(&self) -> usize {
        self.pooled.clusters
    }

    fn cost(&self) -> usize {
        self.pooled.cost()
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let pooled = &self.pooled;
        let total = pooled.total(weights);
        if total == 0 {
            return f64::NAN;
        }
        let (low, high) = middle_ranks(total);
        let (at, seen) = pooled.of_rank(weights, low);
        let upper = if seen >= high {
            at
        } else {
            pooled.next_drawn(weights, at)
        };
        f64::midpoint(pooled.values[at], pooled.values[upper])
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

/// The samples as seen from a centre: two lists of ascending distances.
struct Distances<'a> {
    pooled: &'a Pooled,
    weights: &'a [u32],
    centre: f64,
    /// First position at or above the centre.
    split: usize,
}

impl Distances<'_> {
    fn above(&self, step: usize) -> f64 {
        self.pooled.values[self.split + step] - self.centre
    }

    fn below(&self, step: usize) -> f64 {
        self.centre - self.pooled.values[self.split - 1 - step]
    }

    /// The weighted count of distances up to `distance`.
    fn up_to(&self, distance: f64) -> u64 {
        let above = partition(self.pooled.values.len() - self.split, |step| {
            self.above(step) <= distance
        });
        let below = partition(self.split, |step| self.below(step) <= distance);
        self.pooled.before(self.weights, self.split + above)
            - self.pooled.before(self.weights, self.split - below)
    }

    /// The smallest distance up to which the count reaches `rank`, which is at least 1 and at most the total.
    fn of_rank(&self, rank: u64) -> f64 {
        let (above, below) = (self.pooled.values.len() - self.split, self.split);
        let short = |distance: f64| self.up_to(distance) < rank;
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

/// How many of the first steps fulfil `holds`, which no later step does once one does not.
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

impl Statistic for ClusterMad {
    fn clusters(&self) -> usize {
        self.median.clusters()
    }

    fn cost(&self) -> usize {
        // Two bisections per rank, each step of which bisects twice and counts twice.
        let steps = self.median.pooled.values.len().max(2).ilog2() as usize + 1;
        self.median.cost() + 4 * steps * (steps + self.median.pooled.clusters + STRIDE / 2)
    }

    fn of(&self, weights: &[u32]) -> f64 {
        let pooled = &self.median.pooled;
        let total = pooled.total(weights);
        if total == 0 {
            return f64::NAN;
        }
        let centre = self.median.of(weights);
        let distances = Distances {
            pooled,
            weights,
            centre,
            split: pooled.values.partition_point(|value| *value < centre),
        };
        let (low, high) = middle_ranks(total);
        let lower = distances.of_rank(low);
        let upper = if distances.up_to(lower) >= high {
            lower
        } else {
            distances.of_rank(high)
        };
        f64::midpoint(lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Description;
    use crate::stats::statistic::fixtures::{clusters_and_weights, written_out};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn median_and_deviation_equal_those_of_the_samples_written_out((clusters, weights) in clusters_and_weights(2..6, 1..40)) {
            let all = written_out(&clusters, &weights);
            prop_assume!(!all.is_empty());
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let expected = Description::of(&all).unwrap();
            prop_assert_eq!(ClusterMedian::new(&slices).of(&weights), expected.median);
            prop_assert_eq!(ClusterMad::new(&slices).of(&weights), expected.mad);
        }

        #[test]
        fn the_same_holds_for_many_clusters_of_one_sample((clusters, weights) in clusters_and_weights(30..90, 1..2)) {
            let all = written_out(&clusters, &weights);
            prop_assume!(!all.is_empty());
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let expected = Description::of(&all).unwrap();
            prop_assert_eq!(ClusterMedian::new(&slices).of(&weights), expected.median);
            prop_assert_eq!(ClusterMad::new(&slices).of(&weights), expected.mad);
        }
    }

    #[test]
    fn without_samples_or_draws_there_is_no_value() {
        let empty: [&[f64]; 2] = [&[], &[]];
        assert!(ClusterMedian::new(&empty).observed().is_nan());
        assert!(ClusterMad::new(&empty).observed().is_nan());
        assert!(ClusterMedian::new(&[]).observed().is_nan());
        assert!(ClusterMedian::new(&[&[1.0]]).of(&[0]).is_nan());
        assert!(ClusterMad::new(&[&[1.0]]).of(&[0]).is_nan());
    }
}
