//! The uncertainty of the logarithm of a statistic or ratio: a standard error with degrees of freedom, from which bounds at any level follow.
//!
//! Decisions about many comparisons need bounds far out in the tails. There the percentile bootstrap of few clusters covers far too rarely, and
//! Student's t does not.

use serde::{Deserialize, Serialize};

use super::cluster_statistic::ClusterStatistic;
use super::description::{mean, sample_variance};
use super::interval::Interval;
use super::jackknife::jackknife_standard_error;
use super::student_t;

/// The standard error of a median of many normal values, divided by that of their mean: sqrt(pi / 2).
const OF_A_MEDIAN: f64 = 1.253_314_137_315_500_3;

/// The smoothness of a statistic. It decides whether the jackknife's standard error is sufficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Smoothness {
    /// A smooth function of sums over clusters, such as a mean: the jackknife is sufficient.
    Smooth,
    /// A median: the error is at least sqrt(pi / 2) SD / sqrt(k) of the k values of single clusters. The jackknife of a median is not consistent
    /// (Efron and Tibshirani 1993, section 10.6), and with few clusters it may be 0 by chance.
    Median,
}

/// The standard error of the logarithm of a statistic or ratio. A small one is approximately the relative error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogStandardError {
    /// Standard error, without a unit
    pub standard_error: f64,
    /// Degrees of freedom of the standard error
    pub df: f64,
}

impl LogStandardError {
    /// Estimates the standard error of the logarithm of `statistic` by leaving out one cluster at a time (Tukey 1958), with one degree of freedom
    /// less than there are clusters.
    ///
    /// `None` below two clusters, or if a value is not positive and finite. It is 0 for equal clusters.
    pub fn estimate(statistic: &impl ClusterStatistic, smoothness: Smoothness) -> Option<Self> {
        let error = jackknife_standard_error(statistic, f64::ln)?;
        let k = statistic.clusters();
        let least = match smoothness {
            Smoothness::Smooth => 0.0,
            Smoothness::Median => OF_A_MEDIAN * (spread(statistic)? / k as f64).sqrt(),
        };
        Some(Self {
            standard_error: error.max(least),
            df: (k - 1) as f64,
        })
    }

    /// Estimates the standard error of the logarithm of the ratio of two independent statistics, with the degrees of freedom of Welch (1947), but
    /// at most (k - 1)(1 + k / K), where k is the number of clusters of the side with fewer. Welch's degrees of freedom are estimates: a few
    /// values that happen to be close together would attribute nearly all variance to the other side. `None` as for [`Self::estimate`].
    pub fn estimate_ratio(
        new: &impl ClusterStatistic,
        base: &impl ClusterStatistic,
        smoothness: Smoothness,
    ) -> Option<Self> {
        let (a, b) = (
            Self::estimate(new, smoothness)?,
            Self::estimate(base, smoothness)?,
        );
        let variance = a.standard_error.powi(2) + b.standard_error.powi(2);
        let most = limit_df(new.clusters(), base.clusters());
        if variance == 0.0 {
            return Some(Self {
                standard_error: 0.0,
                df: most,
            });
        }
        let share = |side: Self| (side.standard_error.powi(2) / variance).powi(2) / side.df;
        Some(Self {
            standard_error: variance.sqrt(),
            df: (1.0 / (share(a) + share(b))).min(most),
        })
    }

    /// Returns half the width of the two-sided interval of the logarithm at `level`; its exponential is the factor up and down. It is 0 for an
    /// error of 0, and infinite for a level outside 0..1.
    pub fn margin(&self, level: f64) -> f64 {
        if self.standard_error == 0.0 {
            return 0.0;
        }
        student_t::upper_quantile((1.0 - level) / 2.0, self.df)
            .map_or(f64::INFINITY, |t| t * self.standard_error)
    }

    /// Returns the two-sided interval, at `level`, of the relative change `change`, a fraction, if `self` is the error of the logarithm of its ratio.
    pub fn change_interval(&self, change: f64, level: f64) -> Interval {
        let margin = self.margin(level);
        if margin == 0.0 {
            return Interval::around(change, 0.0);
        }
        let centre = change.ln_1p();
        Interval {
            lower: (centre - margin).exp_m1(),
            upper: (centre + margin).exp_m1(),
        }
    }
}

/// Returns the most degrees of freedom of two sides with this many values: k - 1 of the smaller side, up to twice that if both have the same size.
///
/// Welch's degrees of freedom are estimates. If five values happen to be close together, they attribute nearly all variance to a hundred values on
/// the other side, and p falls to a quarter of the correct value (at .0005, normal data). With this limit, the error rate stays at its level or
/// below.
pub(super) fn limit_df(new: usize, base: usize) -> f64 {
    let (a, b) = (new as f64, base as f64);
    let (fewer, more) = (a.min(b), a.max(b));
    (fewer - 1.0) * (1.0 + fewer / more)
}

/// Returns the variance of the logarithms of the statistic of single clusters.
fn spread(statistic: &impl ClusterStatistic) -> Option<f64> {
    let mut weights = vec![0; statistic.clusters()];
    let alone: Vec<f64> = (0..weights.len())
        .map(|one| {
            weights[one] = 1;
            let value = statistic.evaluate(&weights).ln();
            weights[one] = 0;
            value
        })
        .collect();
    mean(&alone).filter(|mean| mean.is_finite())?;
    sample_variance(&alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterMean, ClusterMedian, PairedRatio};

    fn singles(values: &[f64]) -> Vec<&[f64]> {
        values.chunks(1).collect()
    }

    #[test]
    fn of_a_mean_it_is_the_standard_error_over_the_mean() {
        let values = [100.0, 100.2, 99.9, 100.1, 99.8];
        let found =
            LogStandardError::estimate(&ClusterMean::new(&singles(&values)), Smoothness::Smooth);
        let found = found.unwrap();
        let expected = (0.025_f64 / 5.0).sqrt() / 100.0;
        assert!((found.standard_error / expected - 1.0).abs() < 1e-3);
        assert_eq!(found.df, 4.0);
        // scipy.stats.t.ppf(.9995, 4) = 8.610301581379332
        let margin = found.margin(0.999) / found.standard_error;
        assert!((margin - 8.610_301_581_379_332).abs() < 1e-6, "{margin}");
    }

    #[test]
    fn a_median_whose_middle_clusters_agree_by_chance_is_as_uncertain_as_its_clusters_are_apart() {
        let values = [90.0, 100.0, 100.0, 100.0, 112.0];
        let median = ClusterMedian::new(&singles(&values));
        let jackknife = LogStandardError::estimate(&median, Smoothness::Smooth).unwrap();
        assert_eq!(
            (jackknife.standard_error, jackknife.margin(0.999)),
            (0.0, 0.0)
        );
        let found = LogStandardError::estimate(&median, Smoothness::Median).unwrap();
        assert!((0.04..0.05).contains(&found.standard_error), "{found:?}");
    }

    #[test]
    fn a_few_launches_that_lie_close_together_do_not_leave_the_degrees_of_freedom_to_many() {
        let few = [100.0, 100.001, 100.002];
        let many: Vec<f64> = (0..50).map(|i| 100.0 + f64::from(i % 10)).collect();
        let (few, many) = (singles(&few), singles(&many));
        let found = LogStandardError::estimate_ratio(
            &ClusterMean::new(&few),
            &ClusterMean::new(&many),
            Smoothness::Smooth,
        );
        assert!((found.unwrap().df - 2.0 * (1.0 + 3.0 / 50.0)).abs() < 1e-12);
    }

    #[test]
    fn degrees_of_freedom_are_welchs_where_those_are_fewer() {
        let (new, base) = ([100.0, 102.0, 104.0], [50.0, 51.0, 52.0, 51.0]);
        let found = LogStandardError::estimate_ratio(
            &ClusterMean::new(&singles(&new)),
            &ClusterMean::new(&singles(&base)),
            Smoothness::Smooth,
        );
        // The squared errors of the logarithms are about 4 / 3 / 102^2 = 1.28156e-4 and 2 / 3 / 4 / 51^2 = 0.64078e-4, which is half of the first.
        // Welch: 1.5^2 / (1 / 2 + 0.5^2 / 3) = 3.857; the limit is 2 (1 + 3 / 4) = 3.5.
        assert!((found.unwrap().df - 3.5).abs() < 1e-12);
        let wide = [90.0, 102.0, 114.0];
        let found = LogStandardError::estimate_ratio(
            &ClusterMean::new(&singles(&wide)),
            &ClusterMean::new(&singles(&base)),
            Smoothness::Smooth,
        );
        // The squared errors differ by a factor of 36: 72^2 + 2 72 + 1 over 72^2 / 2 + 1 / 3, approximately.
        let welch = 73.0 * 73.0 / (72.0 * 72.0 / 2.0 + 1.0 / 3.0);
        assert!((found.unwrap().df - welch).abs() < 0.01);
    }

    #[test]
    fn constants_are_certain_and_single_or_vanishing_clusters_say_nothing() {
        let side = |values: &[f64]| ClusterMean::new(&singles(values));
        let of_ratio = |new: &[f64], base: &[f64]| {
            LogStandardError::estimate_ratio(&side(new), &side(base), Smoothness::Smooth)
        };
        assert_eq!(of_ratio(&[3.0; 3], &[2.0; 4]).unwrap().margin(0.9999), 0.0);
        assert_eq!(of_ratio(&[3.0], &[2.0; 4]), None);
        assert_eq!(of_ratio(&[0.0, 0.0], &[2.0; 4]), None);
    }

    #[test]
    fn what_both_of_a_round_share_is_no_uncertainty() {
        let base = [100.0, 150.0, 80.0, 120.0];
        let new = base.map(|value| value * 1.1);
        let (new, base) = (singles(&new), singles(&base));
        let ratio = PairedRatio::new(ClusterMean::new(&new), ClusterMean::new(&base)).unwrap();
        let found = LogStandardError::estimate(&ratio, Smoothness::Median).unwrap();
        assert!(found.standard_error < 1e-12);
    }
}
