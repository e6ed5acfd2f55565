//! A low quantile of clustered samples that the bootstrap can resample, because it is computed from the number of times that each cluster was drawn.
//! Also the standard error of the difference of two such quantiles.
//!
//! A low quantile depends only on the lowest samples: an evaluation walks up from the smallest sample to the wanted rank.

use super::bootstrap::{Resampling, finite_majority, replicates};
use super::cluster_ranks::{ClusterSample, sorted_with_cluster};
use super::quantile::Quantile;
use crate::ClusterStatistic;

/// A low quantile of the pooled samples. It is the sample of rank max(`least_rank`, ceil(p n)), counted from 1 among all n samples in ascending
/// order.
#[derive(Debug, Clone)]
pub struct ClusterLowQuantile {
    /// The samples of all clusters, in ascending order.
    sorted: Vec<ClusterSample>,
    sizes: Vec<usize>,
    p: f64,
    least_rank: usize,
}

impl ClusterLowQuantile {
    /// Sorts the samples of `clusters` and prepares the quantile for the fraction `p`, from 0 to 1.
    ///
    /// The rank is at least `least_rank`, so that no single sample decides. One evaluation walks up from the smallest sample, so its time grows
    /// with the rank. The value is NaN if fewer samples were drawn than the rank needs.
    pub fn new(clusters: &[&[f64]], p: f64, least_rank: usize) -> Self {
        Self {
            sorted: sorted_with_cluster(clusters),
            sizes: clusters.iter().map(|samples| samples.len()).collect(),
            p,
            least_rank,
        }
    }

    /// Returns the samples of all clusters in ascending order.
    pub fn ascending(&self) -> impl Iterator<Item = f64> + '_ {
        self.sorted.iter().map(|sample| sample.value)
    }
}

impl ClusterStatistic for ClusterLowQuantile {
    fn clusters(&self) -> usize {
        self.sizes.len()
    }

    fn cost(&self) -> usize {
        let rank = (self.p * self.sorted.len() as f64) as usize;
        self.sizes.len() + rank.max(self.least_rank) * 2
    }

    fn evaluate(&self, weights: &[u32]) -> f64 {
        let drawn: usize = self
            .sizes
            .iter()
            .zip(weights)
            .map(|(size, weight)| size * *weight as usize)
            .sum();
        let rank = ((self.p * drawn as f64).ceil() as usize).max(self.least_rank);
        let mut met = 0;
        for sample in &self.sorted {
            met += weights[sample.cluster as usize] as usize;
            if met >= rank {
                return sample.value;
            }
        }
        f64::NAN
    }
}

/// How the standard error is computed from the spread of a bootstrap distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootstrapSpread {
    /// The standard error is the standard deviation of the resamples.
    Deviation,
    /// The standard error is the distance between the 2.5 and 97.5 % quantiles of the resamples, divided by 3.92. In the standard normal
    /// distribution, this distance is 3.92.
    Range95,
}

/// Estimates the standard error of the difference `new` - `base` by a bootstrap that draws the clusters of both sides together (Davison and
/// Hinkley 1997, section 3.8). Its unit is that of the samples.
///
/// Cluster i of one side is paired with cluster i of the other. All requested resamples are drawn. Returns `None` if there are fewer than two
/// clusters, if the sides have different numbers of clusters, or if more than half of the resamples have no finite value. If both sides always move
/// together, the error is 0.
pub fn paired_difference_standard_error<S: ClusterStatistic>(
    new: &S,
    base: &S,
    width: BootstrapSpread,
    resampling: Resampling<'_>,
) -> Option<f64> {
    let clusters = base.clusters();
    if clusters < 2 || new.clusters() != clusters {
        return None;
    }
    let differences = replicates(
        resampling.stream,
        resampling.resamples,
        || vec![0_u32; clusters],
        |draws, weights| {
            weights.fill(0);
            for _ in 0..clusters {
                weights[draws.index(clusters as u32)] += 1;
            }
            new.evaluate(weights) - base.evaluate(weights)
        },
    );
    let mut differences = finite_majority(differences).filter(|finite| finite.len() >= 2)?;
    match width {
        BootstrapSpread::Deviation => {
            super::description::sample_variance(&differences).map(f64::sqrt)
        }
        BootstrapSpread::Range95 => {
            differences.sort_by(f64::total_cmp);
            let at = |p| Quantile::Linear.select_sorted(&differences, p);
            Some((at(0.975)? - at(0.025)?) / 3.92)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ClusterLowQuantile, Draws, Quantile, Stream};

    fn resampling(resamples: usize) -> Resampling<'static> {
        let stream = Stream {
            seed: 5,
            name: "low quantile",
        };
        Resampling { resamples, stream }
    }

    #[test]
    fn the_rank_counts_each_sample_as_often_as_its_cluster_was_drawn() {
        let statistic = ClusterLowQuantile::new(&[&[1.0, 5.0], &[2.0, 3.0]], 0.0, 2);
        assert_eq!(statistic.evaluate(&[1, 1]), 2.0);
        assert_eq!(statistic.evaluate(&[2, 0]), 1.0);
        assert_eq!(statistic.evaluate(&[0, 2]), 2.0);
        assert!(statistic.evaluate(&[0, 0]).is_nan());
        let beyond = ClusterLowQuantile::new(&[&[1.0]], 0.0, 2);
        assert!(beyond.observed().is_nan());
    }

    proptest! {
        #[test]
        fn unweighted_it_is_the_nearest_rank_quantile(x in prop::collection::vec(0.0f64..9.0, 20..80), p in 0.05f64..0.5) {
            let (a, b) = x.split_at(x.len() / 3);
            let expected = Quantile::InvertedCdf.select(&mut x.clone(), p).unwrap();
            prop_assert_eq!(ClusterLowQuantile::new(&[a, b], p, 1).observed(), expected);
        }
    }

    #[test]
    fn the_standard_error_of_means_of_constant_clusters_is_that_of_their_differences() {
        // With clusters of one sample and p = 0.5, the statistic is the median of the pool. Its spread is known for uniform values.
        let mut draws = Draws::new(
            Stream {
                seed: 1,
                name: "uniform",
            },
            0,
        );
        let x: Vec<f64> = (0..400).map(|_| draws.index(1_000) as f64 / 1e3).collect();
        let zeros = vec![0.0; 400];
        let singles = |x: &[f64]| {
            let clusters: Vec<&[f64]> = x.chunks(1).collect();
            ClusterLowQuantile::new(&clusters, 0.5, 1)
        };
        // The median of n uniform values has an SD of about 1 / (2 sqrt n).
        for width in [BootstrapSpread::Deviation, BootstrapSpread::Range95] {
            let error = paired_difference_standard_error(
                &singles(&x),
                &singles(&zeros),
                width,
                resampling(2_000),
            );
            assert!((0.02..0.03).contains(&error.unwrap()), "{error:?}");
        }
    }

    #[test]
    fn what_moves_both_sides_alike_is_no_error() {
        let x: Vec<Vec<f64>> = (0..10).map(|i| vec![f64::from(i); 5]).collect();
        let y: Vec<Vec<f64>> = x
            .iter()
            .map(|c| c.iter().map(|v| v + 1.0).collect())
            .collect();
        let prepared = |x: &[Vec<f64>]| {
            let clusters: Vec<&[f64]> = x.iter().map(Vec::as_slice).collect();
            ClusterLowQuantile::new(&clusters, 0.1, 2)
        };
        let (x, y) = (prepared(&x), prepared(&y));
        let error =
            paired_difference_standard_error(&y, &x, BootstrapSpread::Deviation, resampling(500))
                .unwrap();
        assert!(error < 1e-12);
        assert_eq!(y.observed() - x.observed(), 1.0);
    }

    #[test]
    fn one_cluster_or_unequal_numbers_have_no_standard_error() {
        let one = ClusterLowQuantile::new(&[&[1.0, 2.0]], 0.1, 1);
        let two = ClusterLowQuantile::new(&[&[1.0], &[2.0]], 0.1, 1);
        let error = |a, b| {
            paired_difference_standard_error(a, b, BootstrapSpread::Deviation, resampling(10))
        };
        assert_eq!(error(&one, &one), None);
        assert_eq!(error(&one, &two), None);
        assert!(error(&two, &two).is_some());
    }
}
