//! Statistics of clustered samples for the bootstrap and the jackknife. A cluster holds, for example, the samples of one process.
//!
//! A resample draws clusters with replacement and pools their samples. It is described by the number of times that each cluster was drawn. A mean, a
//! standard deviation or a slope is computed from these numbers and from sums per cluster. `cluster_ranks` computes medians in a similar way. Any
//! other function gets copies of the samples, which is slower.

use super::description::sum;
use super::description::{Description, mean, mean_distance, sample_variance, standard_error};
use super::quantile::median;

/// A statistic of the pooled samples of resampled clusters, for the bootstrap and the jackknife.
///
/// A cluster holds the samples of one independent unit, such as a process. Independent single values are clusters of one sample. The result of
/// `evaluate` must depend only on the weights.
pub trait ClusterStatistic: Sync {
    /// Returns the number of clusters.
    fn clusters(&self) -> usize;
    /// Returns the approximate number of elementary steps of one evaluation. The bootstrap draws fewer resamples of an expensive statistic, so
    /// this number affects results.
    fn cost(&self) -> usize;
    /// Evaluates the statistic on a resample that contains cluster i `weights[i]` times. There are as many weights as clusters. If the statistic has
    /// no value, the result is not finite.
    fn evaluate(&self, weights: &[u32]) -> f64;
    /// Evaluates the statistic of the original data, which contain every cluster once.
    fn observed(&self) -> f64 {
        self.evaluate(&vec![1; self.clusters()])
    }
}

/// Multiplies the terms of each cluster by its weight and returns the sum over all clusters, separately for each of the N terms.
fn weighted<const N: usize>(weights: &[u32], terms: &[[f64; N]]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (weight, term) in weights.iter().zip(terms) {
        for (sum, value) in sums.iter_mut().zip(term) {
            *sum += f64::from(*weight) * value;
        }
    }
    sums
}

/// The mean of the pooled samples. It is NaN if there are no samples. One evaluation takes one step per cluster.
#[derive(Debug, Clone)]
pub struct ClusterMean {
    centre: f64,
    /// For each cluster: the sum of its samples minus the center, and the number of its samples.
    terms: Vec<[f64; 2]>,
}

impl ClusterMean {
    /// Sums the samples of `clusters` about their common mean. This takes linear time.
    pub fn new(clusters: &[&[f64]]) -> Self {
        let count: usize = clusters.iter().map(|x| x.len()).sum();
        let centre = sum(clusters.iter().copied().flatten().copied()) / count.max(1) as f64;
        let terms = clusters
            .iter()
            .map(|x| [sum(x.iter().map(|v| v - centre)), x.len() as f64])
            .collect();
        Self { centre, terms }
    }
}

impl ClusterStatistic for ClusterMean {
    fn clusters(&self) -> usize {
        self.terms.len()
    }

    fn cost(&self) -> usize {
        self.terms.len()
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let [distances, count] = weighted(weights, &self.terms);
        self.centre + distances / count
    }
}

/// The standard deviation (n - 1) of the pooled samples. It is NaN if there are fewer than two samples. One evaluation takes about one step per
/// cluster.
#[derive(Debug, Clone)]
pub struct ClusterSd {
    /// For each cluster: the number of its samples, and the sum and the sum of squares of the samples after subtraction of a common center.
    terms: Vec<[f64; 3]>,
}

impl ClusterSd {
    /// Sums the samples of `clusters` about their common median. This takes linear time.
    pub fn new(clusters: &[&[f64]]) -> Self {
        // Subtract a center first, or the squares of raw nanoseconds would cancel. The center is the median, because a single outlier does not move
        // the median away from the other values, and a resample may contain only these other values.
        let centre = median(&clusters.concat()).unwrap_or(0.0);
        let terms = clusters
            .iter()
            .map(|x| {
                let distances = sum(x.iter().map(|v| v - centre));
                let squares = sum(x.iter().map(|v| (v - centre).powi(2)));
                [x.len() as f64, distances, squares]
            })
            .collect();
        Self { terms }
    }
}

impl ClusterStatistic for ClusterSd {
    fn clusters(&self) -> usize {
        self.terms.len()
    }

    fn cost(&self) -> usize {
        self.terms.len() * 2
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let [count, distances, squares] = weighted(weights, &self.terms);
        if count < 2.0 {
            return f64::NAN;
        }
        ((squares - distances * distances / count).max(0.0) / (count - 1.0)).sqrt()
    }
}

/// The least-squares slope of the pooled points for a line through the origin, sum xy / sum x^2. It is not finite if all x are 0. One evaluation
/// takes one step per cluster.
#[derive(Debug, Clone)]
pub struct ClusterSlope {
    /// For each cluster: the sum of xy and the sum of x^2.
    terms: Vec<[f64; 2]>,
}

impl ClusterSlope {
    /// Computes the sums of each cluster from its points (x, y), which may be in any order. This takes linear time.
    pub fn new(clusters: &[&[(f64, f64)]]) -> Self {
        let terms = clusters
            .iter()
            .map(|points| {
                let xy = points.iter().map(|(x, y)| x * y);
                let xx = points.iter().map(|(x, _)| x * x);
                [sum(xy), sum(xx)]
            })
            .collect();
        Self { terms }
    }
}

impl ClusterStatistic for ClusterSlope {
    fn clusters(&self) -> usize {
        self.terms.len()
    }

    fn cost(&self) -> usize {
        self.terms.len()
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let [xy, xx] = weighted(weights, &self.terms);
        xy / xx
    }
}

/// The ratio new / base of a statistic, for two sides whose clusters are paired: cluster i of one side is always drawn together with cluster i of the
/// other side.
#[derive(Debug, Clone)]
pub struct PairedRatio<S> {
    new: S,
    base: S,
}

impl<S: ClusterStatistic> PairedRatio<S> {
    /// Pairs the clusters of `new` and `base` by index. Returns `None` if the two sides have different numbers of clusters.
    pub fn new(new: S, base: S) -> Option<Self> {
        (new.clusters() == base.clusters()).then_some(Self { new, base })
    }
}

impl<S: ClusterStatistic> ClusterStatistic for PairedRatio<S> {
    fn clusters(&self) -> usize {
        self.new.clusters()
    }

    fn cost(&self) -> usize {
        self.new.cost() + self.base.cost()
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        self.new.evaluate(weights) / self.base.evaluate(weights)
    }
}

#[cfg(test)]
pub(super) mod fixtures {
    use proptest::prelude::*;
    use std::ops::Range;

    /// Returns the pooled samples, in which each cluster is repeated as many times as its weight says.
    pub(crate) fn written_out(clusters: &[Vec<f64>], weights: &[u32]) -> Vec<f64> {
        clusters
            .iter()
            .zip(weights)
            .flat_map(|(x, w)| std::iter::repeat_n(x, *w as usize).flatten().copied())
            .collect()
    }

    /// Generates `clusters` clusters of `samples` small integers each, and a weight from 0 to 2 for each cluster.
    pub(crate) fn clusters_and_weights(
        clusters: Range<usize>,
        samples: Range<usize>,
    ) -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<u32>)> {
        clusters.prop_flat_map(move |k| {
            let values = prop::collection::vec((1_u32..50).prop_map(f64::from), samples.clone());
            (
                prop::collection::vec(values, k),
                prop::collection::vec(0_u32..3, k),
            )
        })
    }
}

/// An arbitrary function of the pooled samples, as a statistic that can be resampled.
///
/// Each evaluation copies the samples of the drawn clusters and calls the function, so its time is at least linear in the number of samples.
pub struct ClusterFunction<'a, F> {
    clusters: &'a [&'a [f64]],
    function: F,
}

impl<'a, F: Fn(&mut [f64]) -> Option<f64> + Sync> ClusterFunction<'a, F> {
    /// Wraps `function`, which gets the pooled samples of a resample and may reorder them. It returns `None` if a resample has no value.
    pub fn new(clusters: &'a [&'a [f64]], function: F) -> Self {
        Self { clusters, function }
    }
}

impl<F: Fn(&mut [f64]) -> Option<f64> + Sync> ClusterStatistic for ClusterFunction<'_, F> {
    fn clusters(&self) -> usize {
        self.clusters.len()
    }

    fn cost(&self) -> usize {
        self.clusters.iter().map(|samples| samples.len()).sum()
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let mut pooled: Vec<f64> = self
            .clusters
            .iter()
            .zip(weights)
            .flat_map(|(samples, weight)| std::iter::repeat_n(*samples, *weight as usize))
            .flatten()
            .copied()
            .collect();
        (self.function)(&mut pooled).unwrap_or(f64::NAN)
    }
}

/// Describes the means of the k `clusters`. The standard deviation of the means divides by k - 1.
///
/// The spread is computed from unrounded means. A single cluster has no standard deviation. Returns `None` if there are no clusters, if a cluster is
/// empty, or if a value is not finite.
pub fn describe_cluster_means(clusters: &[&[f64]]) -> Option<Description> {
    let means = clusters
        .iter()
        .map(|cluster| mean(cluster))
        .collect::<Option<Vec<f64>>>()?;
    let described = Description::compute(&means)?;
    let distances = clusters
        .iter()
        .map(|cluster| mean_distance(cluster, described.mean))
        .collect::<Option<Vec<f64>>>()?;
    let Description { sd, mad, .. } = Description::compute(&distances)?;
    Some(Description {
        sd,
        mad,
        ..described
    })
}

/// Returns how much clusters differ from each other, compared with the variation within them: the standard deviation of the clusters' medians,
/// divided by the mean of the clusters' standard errors. The ratio has no unit.
///
/// `NBenchmark` calls this the process variance ratio. If the clusters are processes and an iteration takes nanoseconds, ratios from 30 to 60 are
/// ordinary. Clusters of one sample have no standard error and are left out of the mean of the standard errors. Returns `None` if there are fewer
/// than two clusters, if a cluster is empty, or if no cluster varies within itself.
pub fn between_to_within_ratio(clusters: &[&[f64]]) -> Option<f64> {
    let medians = clusters
        .iter()
        .map(|cluster| median(cluster))
        .collect::<Option<Vec<f64>>>()?;
    let errors: Vec<f64> = clusters
        .iter()
        .filter_map(|cluster| standard_error(cluster))
        .collect();
    let ratio = sample_variance(&medians)?.sqrt() / mean(&errors)?;
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fixtures::{clusters_and_weights, written_out};
    use super::*;
    use crate::{
        ClusterLowQuantile, ClusterMad, ClusterMean, ClusterMedian, Description, Quantile, mean,
        slope_through_origin,
    };

    proptest! {
        #[test]
        fn every_statistic_equals_that_of_the_samples_written_out((clusters, weights) in clusters_and_weights(2..6, 1..12)) {
            let all = written_out(&clusters, &weights);
            prop_assume!(!all.is_empty());
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let expected = Description::compute(&all).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
            prop_assert!(near(ClusterMean::new(&slices).evaluate(&weights), expected.mean));
            match expected.sd {
                // If few clusters are drawn, squares about the common center cancel down to the square root of the rounding error.
                Some(sd) => prop_assert!((ClusterSd::new(&slices).evaluate(&weights) - sd).abs() < 1e-5),
                None => prop_assert!(ClusterSd::new(&slices).evaluate(&weights).is_nan()),
            }
        }
    }

    /// The number of resamples depends on these costs, so a change of a cost would change the results.
    #[test]
    fn costs_are_part_of_the_results() {
        let four = [1.0, 2.0, 3.0, 4.0];
        let few: [&[f64]; 3] = [&four; 3];
        let mean = ClusterMean::new(&few);
        assert_eq!(mean.cost(), 3);
        assert_eq!(ClusterSd::new(&few).cost(), 6);
        assert_eq!(PairedRatio::new(mean.clone(), mean).unwrap().cost(), 6);
        let points: [&[(f64, f64)]; 2] = [&[(1.0, 2.0)], &[(2.0, 4.0)]];
        assert_eq!(ClusterSlope::new(&points).cost(), 2);
        // Three clusters, plus twice the rank, which is a quarter of twelve samples.
        assert_eq!(ClusterLowQuantile::new(&few, 0.25, 2).cost(), 3 + 2 * 3);
        // Twelve samples are counted once, then found in four bisections.
        assert_eq!(ClusterMedian::new(&few).cost(), 12 + 4);
        assert_eq!(ClusterMad::new(&few).cost(), 16 + 4 * 4 * (4 + 1));
        // Eighty samples in two clusters: seven bisections, each of which reads a row and half a stride of 16.
        let forty = [5.0; 40];
        let many: [&[f64]; 2] = [&forty; 2];
        let median = 7 * (2 + 8);
        assert_eq!(ClusterMedian::new(&many).cost(), median);
        let deviation = 4 * 7 * (7 + 2 + 8);
        assert_eq!(ClusterMad::new(&many).cost(), median + deviation);
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
        assert!((slope.evaluate(&[0, 2]) - twice_b).abs() < 1e-12);
    }

    #[test]
    fn without_samples_no_statistic_has_a_value() {
        let empty: [&[f64]; 2] = [&[], &[]];
        assert!(ClusterMean::new(&empty).observed().is_nan());
        assert!(ClusterSd::new(&empty).observed().is_nan());
    }

    proptest! {
        #[test]
        fn it_equals_the_statistics_that_write_nothing_out((clusters, weights) in clusters_and_weights(2..6, 1..9)) {
            prop_assume!(weights.iter().any(|weight| *weight > 0));
            let slices: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let means = ClusterFunction::new(&slices, |x: &mut [f64]| mean(x));
            prop_assert!((means.evaluate(&weights) - ClusterMean::new(&slices).evaluate(&weights)).abs() < 1e-9);
            let medians = ClusterFunction::new(&slices, |x: &mut [f64]| Quantile::Linear.select(x, 0.5));
            prop_assert_eq!(medians.evaluate(&weights), ClusterMedian::new(&slices).evaluate(&weights));
        }
    }

    #[test]
    fn nothing_drawn_has_no_value() {
        let clusters: [&[f64]; 1] = [&[1.0]];
        let statistic = ClusterFunction::new(&clusters, |x: &mut [f64]| mean(x));
        assert!(statistic.evaluate(&[0]).is_nan());
        assert_eq!(statistic.observed(), 1.0);
        assert_eq!(statistic.cost(), 1);
    }

    #[test]
    fn clusters_without_samples_or_spread_have_no_ratio() {
        assert_eq!(between_to_within_ratio(&[&[1.0, 2.0]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0, 2.0], &[]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0, 1.0], &[2.0, 2.0]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0], &[2.0]]), None);
        assert_eq!(describe_cluster_means(&[]), None);
        assert_eq!(describe_cluster_means(&[&[1.0], &[]]), None);
    }
}
