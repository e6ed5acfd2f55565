//! Bias-corrected and accelerated bootstrap intervals over clusters (Efron 1987; Efron and Tibshirani 1993, section 14.3).
//!
//! With a growing number of clusters, the coverage of these intervals approaches their level faster than that of percentile intervals (second-order
//! instead of first-order accuracy). With few clusters, both contain the true value less often than their level says.

use super::bootstrap::{Resampling, finite_majority, resample};
use super::cluster_statistic::ClusterStatistic;
use super::description::{deviations, squared_deviations};
use super::interval::Interval;
use super::jackknife::leave_one_out;
use super::normal;
use super::quantile::Quantile;
use super::sums::sum;

/// Returns the bias-corrected and accelerated bootstrap interval of `statistic` at `level` over resampled clusters, in the unit of the samples
/// (Efron 1987; Efron and Tibshirani 1993, section 14.3).
///
/// In addition to the work of [`percentile_interval`](crate::percentile_interval), it evaluates the statistic once per cluster. Returns `None` if
/// there are fewer than two clusters, or if `level` is outside 0..1. Also returns `None` if the statistic or one of its jackknife values is not
/// finite, if more than half of the resamples have no value, or if the observed value lies below or above all resamples. Constant data give an
/// interval of a single point.
pub fn bca_interval(
    statistic: &impl ClusterStatistic,
    level: f64,
    resampling: Resampling<'_>,
) -> Option<Interval> {
    if statistic.clusters() < 2 {
        return None;
    }
    let values = finite_majority(resample(statistic, resampling))?;
    bca_bounds(
        values,
        statistic.observed(),
        &leave_one_out(statistic),
        level,
    )
}

/// Computes the bounds of a `BCa` interval from values of a statistic that were computed before: one value for each of the `resamples`, the
/// `observed` value of the original data, and the `jackknife` values, for each of which one cluster was left out. The order of `resamples` and
/// `jackknife` does not matter.
///
/// The bounds are the `Linear` quantiles of the resamples at `Phi(z0 + (z0 + z) / (1 - a (z0 + z)))`, with z = `Phi^-1((1 -+ level) / 2)`. The bias
/// z0 is `Phi^-1` of the share of resamples below the observed value, where resamples equal to that value count half. The acceleration a is sum d^3 /
/// (6 (sum d^2)^(3/2)), where d is the mean of the jackknife values minus one of these values. Returns `None` in the same cases as [`bca_interval`].
pub fn bca_bounds(
    mut resamples: Vec<f64>,
    observed: f64,
    jackknife: &[f64],
    level: f64,
) -> Option<Interval> {
    let z = normal::two_sided(level)?;
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    if !finite(&resamples) || !finite(jackknife) || !observed.is_finite() || resamples.is_empty() {
        return None;
    }
    let below = resamples.iter().filter(|value| **value < observed).count();
    let equal = resamples.iter().filter(|value| **value == observed).count();
    let share = (below as f64 + equal as f64 / 2.0) / resamples.len() as f64;
    let bias = normal::quantile(share)?;
    let acceleration = acceleration(jackknife);
    let shifted = |z: f64| normal::cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
    Some(Interval {
        lower: Quantile::Linear.select(&mut resamples, shifted(-z))?,
        upper: Quantile::Linear.select(&mut resamples, shifted(z))?,
    })
}

/// Returns the acceleration of the interval. It is 0 if leaving out a cluster changes nothing.
fn acceleration(jackknife: &[f64]) -> f64 {
    let squares = squared_deviations(jackknife);
    // The formula needs mean - value, which is the negative deviation.
    let cubes = -sum(deviations(jackknife).map(|deviation| deviation.powi(3)));
    let skewness = cubes / (squares * f64::sqrt(squares));
    if skewness.is_finite() {
        skewness / 6.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterMean, Stream, percentile_interval};

    fn resampling(resamples: usize) -> Resampling<'static> {
        let stream = Stream {
            seed: 11,
            name: "bca",
        };
        Resampling { resamples, stream }
    }

    #[test]
    fn constants_have_a_point_and_single_clusters_no_interval() {
        let of = |values: &[f64], level| {
            let clusters: Vec<&[f64]> = values.chunks(1).collect();
            bca_interval(&ClusterMean::new(&clusters), level, resampling(2_000))
        };
        let (lower, upper) = (7.0, 7.0);
        assert_eq!(of(&[7.0; 8], 0.95), Some(Interval { lower, upper }));
        assert_eq!(of(&[7.0], 0.95), None);
        assert_eq!(of(&[], 0.95), None);
        // With two clusters, a quarter of the resamples are 1, half are 1.5, and a quarter are 2.
        let (lower, upper) = (1.0, 2.0);
        assert_eq!(of(&[1.0, 2.0], 0.95), Some(Interval { lower, upper }));
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(of(&[1.0, 2.0, 3.0], level), None);
        }
        assert_eq!(of(&[1.0, f64::INFINITY, 3.0], 0.95), None);
    }

    #[test]
    fn a_value_beyond_all_resamples_has_no_interval() {
        assert_eq!(bca_bounds(vec![1.0, 2.0], 3.0, &[1.0, 2.0], 0.95), None);
        assert_eq!(bca_bounds(vec![], 3.0, &[1.0, 2.0], 0.95), None);
    }

    #[test]
    fn a_long_tail_moves_both_bounds_towards_it() {
        let values: Vec<f64> = (1..=40).map(|i| f64::from(i * i * i)).collect();
        let clusters: Vec<&[f64]> = values.chunks(1).collect();
        let mean = ClusterMean::new(&clusters);
        let bca = bca_interval(&mean, 0.95, resampling(10_000)).unwrap();
        let plain = percentile_interval(&mean, 0.95, resampling(10_000)).unwrap();
        assert!(bca.lower > plain.lower && bca.upper > plain.upper);
    }
}
