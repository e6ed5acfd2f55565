//! Arbitrary functions of samples as statistics of clusters. The samples of each resample are copied out.
//!
//! This is slower than the statistics of `cluster_statistic` and `cluster_ranks`, which copy nothing.

use super::cluster_statistic::ClusterStatistic;

/// An arbitrary function of the pooled samples, as a statistic that can be resampled.
///
/// Each evaluation copies the samples of the drawn clusters and calls the function, so its time is at least linear in the number of samples.
pub struct ClusterFunction<'a, F> {
    clusters: &'a [&'a [f64]],
    function: F,
}

impl<'a, F: Fn(&mut [f64]) -> Option<f64> + Sync> ClusterFunction<'a, F> {
    /// Wraps `function`. It may reorder the samples that it is given, and returns `None` if a resample has no value.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_statistic::fixtures::clusters_and_weights;
    use crate::{ClusterMean, ClusterMedian, Quantile, mean};
    use proptest::prelude::*;

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
}
