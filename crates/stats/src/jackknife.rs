//! Intervals of any statistic of clusters that are computed by leaving out one cluster at a time: Student's t (Tukey 1958; Efron and Tibshirani 1993,
//! chapter 11), and bias-corrected and accelerated bootstrap intervals (Efron 1987; Efron and Tibshirani 1993, section 14.3).
//!
//! With few clusters the percentile bootstrap covers less often than its level says, so Student's t replaces it below [`FEWEST_FOR_BOOTSTRAP`]. For a
//! mean over clusters of equal size, it is Student's interval of their means. With a growing number of clusters, the coverage of bias-corrected and
//! accelerated intervals approaches their level faster than that of percentile intervals (second-order instead of first-order accuracy). With few
//! clusters, both contain the true value less often than their level says.

use serde::{Deserialize, Serialize};

use super::bootstrap::{
    Resampling, finite_majority, percentile_interval, relative_change_interval, resample,
};
use super::cluster_statistic::ClusterStatistic;
use super::description::sum;
use super::description::{deviations, mean, sample_variance, squared_deviations};
use super::interval::Interval;
use super::quantile::Quantile;
use super::{normal, student_t};

/// The smallest number of clusters, or of values on each side, for which the bootstrap has enough distinct resamples. With fewer, intervals are
/// Student's ([`IntervalMethod::for_clusters`]), and the p-values of a [`TScore`](crate::TScore) are at least as large as Welch's.
pub const FEWEST_FOR_BOOTSTRAP: usize = 8;

/// How a confidence interval was computed from clusters of values, such as processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IntervalMethod {
    /// Student's interval, with a standard error that the jackknife over clusters estimates.
    #[serde(rename = "t")]
    StudentT,
    /// The interval of the percentile bootstrap, which resamples whole clusters.
    #[serde(rename = "bootstrap")]
    Bootstrap,
}

/// The scale on which a statistic is assumed to vary symmetrically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalScale {
    /// The statistic itself varies symmetrically. This suits quantities that may be negative.
    Plain,
    /// The logarithm of the statistic varies symmetrically. This suits times and deviations, which are never negative. If a value is 0, the plain
    /// scale is used instead, and the interval is cut off at 0.
    Logarithmic,
}

impl IntervalMethod {
    /// Returns the better method for this number of clusters. For a comparison of two sides, pass the number of the smaller side. The result is the
    /// bootstrap from [`FEWEST_FOR_BOOTSTRAP`] clusters on, and otherwise Student's method.
    pub fn for_clusters(clusters: usize) -> Self {
        Self::for_clusters_from(clusters, FEWEST_FOR_BOOTSTRAP)
    }

    /// Returns the bootstrap if there are at least `fewest` clusters, and otherwise Student's method.
    pub fn for_clusters_from(clusters: usize, fewest: usize) -> Self {
        if clusters < fewest {
            Self::StudentT
        } else {
            Self::Bootstrap
        }
    }

    /// Returns the name of the method, to be printed beside an interval.
    pub fn name(self) -> &'static str {
        match self {
            Self::StudentT => "t interval",
            Self::Bootstrap => "bootstrap",
        }
    }

    /// Returns the interval of `statistic` at `level`. Only Student's method uses `scale`, and only the bootstrap uses `resampling`. Returns `None`
    /// in the same cases as [`jackknife_t_interval`] or [`percentile_interval`].
    pub fn interval(
        self,
        statistic: &impl ClusterStatistic,
        scale: IntervalScale,
        level: f64,
        resampling: Resampling<'_>,
    ) -> Option<Interval> {
        match self {
            Self::StudentT => jackknife_t_interval(statistic, scale, level),
            Self::Bootstrap => percentile_interval(statistic, level, resampling),
        }
    }

    /// Returns the interval of the relative change `new` / `base` - 1 of two independent sides at `level`, as a fraction. Returns `None` in the same
    /// cases as [`jackknife_t_relative_change_interval`] or [`relative_change_interval`].
    pub fn relative_change_interval(
        self,
        new: &impl ClusterStatistic,
        base: &impl ClusterStatistic,
        level: f64,
        resampling: Resampling<'_>,
    ) -> Option<Interval> {
        match self {
            Self::StudentT => jackknife_t_relative_change_interval(new, base, level),
            Self::Bootstrap => relative_change_interval(new, base, level, resampling),
        }
    }
}

/// Evaluates `statistic` without one of the clusters, for each cluster in turn.
pub(super) fn leave_one_out(statistic: &impl ClusterStatistic) -> Vec<f64> {
    let mut weights = vec![1; statistic.clusters()];
    (0..weights.len())
        .map(|left_out| {
            weights[left_out] = 0;
            let value = statistic.evaluate(&weights);
            weights[left_out] = 1;
            value
        })
        .collect()
}

/// Returns the jackknife's standard error of f(statistic): `sqrt((k - 1) / k sum (v_i - mean v)^2)`, where `v_i` is the value without cluster i.
///
/// Returns `None` if there are fewer than two clusters, or if a value is not finite.
pub(super) fn jackknife_standard_error(
    statistic: &impl ClusterStatistic,
    f: impl Fn(f64) -> f64,
) -> Option<f64> {
    let k = statistic.clusters();
    if k < 2 {
        return None;
    }
    let values: Vec<f64> = leave_one_out(statistic).into_iter().map(f).collect();
    let error = ((k - 1) as f64 / k as f64 * squared_deviations(&values)).sqrt();
    error.is_finite().then_some(error)
}

/// Returns Student's interval of `statistic` at `level` over k clusters, in the unit of the samples (Tukey 1958; Efron and Tibshirani 1993, chapter
/// 11). It is `statistic` -+ t((1 + level) / 2, k - 1) SE. The jackknife's standard error SE is `sqrt((k - 1) / k sum (v_i - mean v)^2)`, where `v_i`
/// is the value without cluster i. On the logarithmic scale it is the exponential of the interval of the logarithm.
///
/// It takes k + 1 evaluations, or 2 k + 1 if the logarithmic scale does not apply and the plain one replaces it. Returns `None` if there are fewer
/// than two clusters, if `level` is outside 0..1, or if the statistic is not finite for all clusters or without one of them. Equal clusters give an
/// interval of a single point.
pub fn jackknife_t_interval(
    statistic: &impl ClusterStatistic,
    scale: IntervalScale,
    level: f64,
) -> Option<Interval> {
    let t = critical(level, statistic.clusters().checked_sub(1)? as f64)?;
    let observed = statistic.observed();
    let plain = || {
        let error = jackknife_standard_error(statistic, |value| value)?;
        around(observed, t * error)
    };
    match scale {
        IntervalScale::Plain => plain(),
        IntervalScale::Logarithmic => jackknife_standard_error(statistic, f64::ln)
            .filter(|_| observed > 0.0 && observed.is_finite())
            .and_then(|error| around(0.0, t * error))
            // Multiply: the rounding of exp(ln(observed) + logarithm) may shift the center away from `observed`.
            .map(|found| found.map(|logarithm| observed * logarithm.exp()))
            .or_else(|| plain().map(Interval::clamp_at_zero)),
    }
}

/// Returns Student's interval of the relative change `new` / `base` - 1 of two independent sides at `level`, as a fraction: exp(ln(new / base) -+ t
/// SE) - 1. SE^2 is the sum of both sides' squared jackknife errors of the logarithm, and t has Welch's degrees of freedom (1947).
///
/// Returns `None` in the same cases as [`jackknife_t_interval`], and if a value is not positive.
pub fn jackknife_t_relative_change_interval(
    new: &impl ClusterStatistic,
    base: &impl ClusterStatistic,
    level: f64,
) -> Option<Interval> {
    let a = jackknife_standard_error(new, f64::ln)?.powi(2);
    let b = jackknife_standard_error(base, f64::ln)?.powi(2);
    let df_of = |statistic: usize| (statistic - 1) as f64;
    let (df_a, df_b) = (df_of(new.clusters()), df_of(base.clusters()));
    let difference = new.observed().ln() - base.observed().ln();
    let margin = if a + b > 0.0 {
        // Use shares of the total, because the square of a tiny variance would underflow.
        let (a_share, b_share) = (a / (a + b), b / (a + b));
        let df = 1.0 / (a_share * a_share / df_a + b_share * b_share / df_b);
        critical(level, df)? * (a + b).sqrt()
    } else {
        critical(level, df_a)? * 0.0
    };
    Some(around(difference, margin)?.map(f64::exp_m1))
}

fn critical(level: f64, df: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    student_t::upper_quantile((1.0 - level) / 2.0, df)
}

fn around(centre: f64, margin: f64) -> Option<Interval> {
    (centre.is_finite() && margin.is_finite()).then(|| Interval::around(centre, margin))
}

/// The standard error of the median of many normal values, divided by the standard error of their mean: sqrt(pi / 2).
const OF_A_MEDIAN: f64 = 1.253_314_137_315_500_3;

/// How smooth a statistic is. This decides whether the jackknife's standard error is sufficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Smoothness {
    /// The statistic is a smooth function of sums over clusters, such as a mean. The jackknife is sufficient.
    Smooth,
    /// The statistic is a median. The jackknife is not consistent for medians (Efron and Tibshirani 1993, section 10.6), and with few clusters its
    /// error may be 0 by chance. Therefore the error of the logarithm is taken to be at least sqrt(pi / 2) SD / sqrt(k), where SD is the standard
    /// deviation of the logarithms of the k values of single clusters.
    Median,
}

/// The standard error of the logarithm of a statistic or ratio. If it is small, it is approximately the relative error.
///
/// Together with its degrees of freedom, it gives bounds at any level. Decisions about many comparisons need bounds far out in the tails. There, the
/// percentile bootstrap of few clusters covers the true value far too rarely, unlike Student's t.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogStandardError {
    /// Standard error, without a unit.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
}

impl LogStandardError {
    /// Estimates the standard error of the logarithm of `statistic` by leaving out one cluster at a time (Tukey 1958). It has one degree of freedom
    /// fewer than there are clusters.
    ///
    /// Returns `None` if there are fewer than two clusters, or if a value is not positive and finite. The error is 0 if all clusters are equal.
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

    /// Estimates the standard error of the logarithm of the ratio of two independent statistics. The degrees of freedom are those of Welch (1947),
    /// but at most (k - 1)(1 + k / K), with k clusters on the smaller side and K on the larger side. Welch's degrees of freedom are estimates: if a
    /// few values happen to be close together, nearly all variance is attributed to the other side, and the estimate is too large. Returns `None` in
    /// the same cases as [`Self::estimate`].
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

    /// Returns half the width of the two-sided interval of the logarithm at `level`. The exponential of this margin is the factor between the
    /// estimate and a bound. The margin is 0 for an error of 0, and infinite for a level of 1 or more.
    pub fn margin(&self, level: f64) -> f64 {
        if self.standard_error == 0.0 {
            return 0.0;
        }
        student_t::upper_quantile((1.0 - level) / 2.0, self.df)
            .map_or(f64::INFINITY, |t| t * self.standard_error)
    }

    /// Returns the two-sided interval at `level` of the relative change `change`, which is a fraction. `self` must be the standard error of ln(1 +
    /// `change`).
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

/// Returns the limit of Welch's degrees of freedom for two sides with this many values: (k - 1)(1 + k / K), with k values on the smaller side and K
/// on the larger side. It lies between k - 1 and 2 (k - 1).
///
/// Welch's degrees of freedom are estimates. If five values of one side happen to be close together, nearly all variance is attributed to a hundred
/// values of the other side. Then p falls to a quarter of the correct value (at .0005, normal data). With this limit, the error rate stays at its
/// level or below.
pub(super) fn limit_df(new: usize, base: usize) -> f64 {
    let (a, b) = (new as f64, base as f64);
    let (fewer, more) = (a.min(b), a.max(b));
    (fewer - 1.0) * (1.0 + fewer / more)
}

/// Evaluates the statistic on each cluster alone, and returns the variance of the logarithms of these values.
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
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ClusterFunction, ClusterMad, ClusterMean, ClusterMedian, ClusterSd, PairedRatio, Stream,
        TInterval,
    };

    fn singles(values: &[f64]) -> Vec<&[f64]> {
        values.chunks(1).collect()
    }

    #[test]
    fn clusters_that_are_alike_have_a_point_on_either_scale() {
        for value in [1000.0, 0.1, 3e-7] {
            let values = [value; 5];
            let clusters = singles(&values);
            for scale in [IntervalScale::Plain, IntervalScale::Logarithmic] {
                let found = jackknife_t_interval(&ClusterMedian::new(&clusters), scale, 0.95);
                let found = found.expect("an interval");
                assert_eq!((found.lower, found.upper), (value, value));
            }
        }
    }

    #[test]
    fn a_value_that_is_not_finite_has_no_interval_though_those_without_a_cluster_are() {
        let values = singles(&[1.0, 2.0, 3.0]);
        let beyond = ClusterFunction::new(&values, |x: &mut [f64]| {
            Some(if x.len() == 3 { f64::INFINITY } else { 1.0 })
        });
        for scale in [IntervalScale::Plain, IntervalScale::Logarithmic] {
            assert_eq!(jackknife_t_interval(&beyond, scale, 0.95), None);
        }
    }

    #[test]
    fn one_cluster_nonsense_levels_and_missing_values_have_no_interval() {
        let one = singles(&[3.0]);
        assert_eq!(
            jackknife_t_interval(&ClusterMean::new(&one), IntervalScale::Plain, 0.95),
            None
        );
        let three = singles(&[1.0, 2.0, 4.0]);
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(
                jackknife_t_interval(&ClusterMean::new(&three), IntervalScale::Plain, level),
                None
            );
        }
        let endless = singles(&[1.0, 2.0, f64::INFINITY]);
        assert_eq!(
            jackknife_t_interval(&ClusterMean::new(&endless), IntervalScale::Plain, 0.95),
            None
        );
        let with_zero = singles(&[0.0, 0.0, 0.0]);
        let (zero, three) = (ClusterMean::new(&with_zero), ClusterMean::new(&three));
        assert_eq!(
            jackknife_t_relative_change_interval(&zero, &three, 0.95),
            None
        );
        assert_eq!(
            jackknife_t_relative_change_interval(&three, &zero, 0.95),
            None
        );
    }

    #[test]
    fn constants_have_points() {
        let clusters = singles(&[7.0; 4]);
        let median = ClusterMedian::new(&clusters);
        let point = |value| Interval {
            lower: value,
            upper: value,
        };
        assert_eq!(
            jackknife_t_interval(&median, IntervalScale::Plain, 0.95),
            Some(point(7.0))
        );
        assert_eq!(
            jackknife_t_relative_change_interval(&median, &median, 0.95),
            Some(point(0.0))
        );
    }

    #[test]
    fn a_ratio_of_equal_spreads_has_welchs_degrees_of_freedom() {
        // Two equal sides of three: df = 4, t(.975, 4) = 2.7764451051977987.
        let (new, base) = (
            singles(&[99.0, 100.0, 101.0]),
            singles(&[99.0, 100.0, 101.0]),
        );
        let (new, base) = (ClusterMean::new(&new), ClusterMean::new(&base));
        let found = jackknife_t_relative_change_interval(&new, &base, 0.95).unwrap();
        // The means without one value: 100.5, 100, 99.5.
        let logs = [100.5_f64.ln(), 100.0_f64.ln(), 99.5_f64.ln()];
        let centre = logs.iter().sum::<f64>() / 3.0;
        let variance = 2.0 / 3.0 * logs.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
        let expected = (2.776_445_105_197_798_7 * (2.0 * variance).sqrt()).exp_m1();
        assert!((found.upper - expected).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_interval_of_a_deviation_is_never_negative() {
        let wide = singles(&[1.0, 2.0, 40.0]);
        let sd = ClusterSd::new(&wide);
        let plain = jackknife_t_interval(&sd, IntervalScale::Plain, 0.95).unwrap();
        let logarithmic = jackknife_t_interval(&sd, IntervalScale::Logarithmic, 0.95).unwrap();
        assert!(
            plain.lower < 0.0 && logarithmic.lower > 0.0,
            "{logarithmic:?}"
        );
        let scaled = sd.observed().powi(2) / logarithmic.lower / logarithmic.upper;
        assert!(
            (scaled - 1.0).abs() < 1e-9,
            "as far up as down: {logarithmic:?}"
        );
        // Without the last value the deviation is 0.
        let tied = singles(&[5.0, 5.0, 5.0, 9.0]);
        let found =
            jackknife_t_interval(&ClusterSd::new(&tied), IntervalScale::Logarithmic, 0.95).unwrap();
        assert!(found.lower == 0.0 && found.upper > 0.0, "{found:?}");
        let constant = singles(&[5.0; 4]);
        let found = jackknife_t_interval(
            &ClusterMad::new(&constant),
            IntervalScale::Logarithmic,
            0.95,
        );
        let (lower, upper) = (0.0, 0.0);
        assert_eq!(found, Some(Interval { lower, upper }));
    }

    #[test]
    fn eight_clusters_are_enough_for_the_bootstrap() {
        assert_eq!(IntervalMethod::for_clusters(7), IntervalMethod::StudentT);
        assert_eq!(IntervalMethod::for_clusters(8), IntervalMethod::Bootstrap);
        let clusters = singles(&[1.0, 2.0, 4.0]);
        let mean = ClusterMean::new(&clusters);
        let resampling = Resampling {
            resamples: 1_000,
            stream: Stream {
                seed: 1,
                name: "method",
            },
        };
        // No resample lies outside the range of the values; Student's interval does.
        let t = IntervalMethod::StudentT.interval(&mean, IntervalScale::Plain, 0.95, resampling);
        let bootstrap =
            IntervalMethod::Bootstrap.interval(&mean, IntervalScale::Plain, 0.95, resampling);
        assert!(t.unwrap().lower < 1.0 && bootstrap.unwrap().lower >= 1.0);
    }

    proptest! {
        #[test]
        fn of_a_mean_of_equal_clusters_it_is_students(x in prop::collection::vec(prop::collection::vec(1.0..1e3_f64, 4), 2..9)) {
            let clusters: Vec<&[f64]> = x.iter().map(Vec::as_slice).collect();
            let means: Vec<f64> = x.iter().map(|x| x.iter().sum::<f64>() / 4.0).collect();
            let student = TInterval::compute(&means, 0.95).unwrap().interval();
            let found = jackknife_t_interval(&ClusterMean::new(&clusters), IntervalScale::Plain, 0.95).unwrap();
            prop_assert!((found.lower - student.lower).abs() < 1e-8 && (found.upper - student.upper).abs() < 1e-8);
        }

        #[test]
        fn exchanging_the_sides_inverts_a_ratio(x in prop::collection::vec(1.0..1e3_f64, 2..9), y in prop::collection::vec(1.0..1e3_f64, 2..9)) {
            let (x, y) = (singles(&x), singles(&y));
            let (x, y) = (ClusterMean::new(&x), ClusterMean::new(&y));
            let there = jackknife_t_relative_change_interval(&x, &y, 0.9).unwrap();
            let back = jackknife_t_relative_change_interval(&y, &x, 0.9).unwrap();
            prop_assert!(((1.0 + there.lower) * (1.0 + back.upper) - 1.0).abs() < 1e-6);
        }
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
    fn a_few_processes_that_lie_close_together_do_not_leave_the_degrees_of_freedom_to_many() {
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
        // The squared errors differ by a factor of 72, so Welch's degrees of freedom are about (72 + 1)^2 / (72^2 / 2 + 1 / 3).
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
