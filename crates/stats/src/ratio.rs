//! Ratios of new over base: of two means and of paired values, with Student's interval on the logarithmic scale, and a verdict by fixed bounds.
//!
//! The verdict is `BenchForge`'s rule for 95th percentiles. It is a rule of thumb, not a test.

use super::description::{mean, sample_variance};
use super::interval::{Interval, IntervalEstimate, TInterval};
use super::quantile::Quantile;

/// Returns the ratio mean(new) / mean(base) of independent values, with its interval at `level`.
///
/// The variance of the logarithm of the ratio is the sum of s^2 / (n mean^2) over both sides (delta method: Cox and Hinkley 1974, section 9.2). Its
/// degrees of freedom are those of Welch (1947). Returns `None` if a side has fewer than two values, if a mean is not positive, or if `level` is
/// outside 0..1. If neither side varies, the interval is a single point.
pub fn mean_ratio(new: &[f64], base: &[f64], level: f64) -> Option<IntervalEstimate> {
    let [a, b] = [
        RelativeMean::from_values(new)?,
        RelativeMean::from_values(base)?,
    ];
    let variance = a.variance + b.variance;
    let df = if variance > 0.0 {
        variance.powi(2) / (a.variance.powi(2) / a.df + b.variance.powi(2) / b.df)
    } else {
        a.df + b.df
    };
    from_logarithm(a.mean / b.mean, variance.sqrt(), df, level)
}

/// Returns the ratio mean(new) / mean(base) of paired values, with its interval at `level`.
///
/// The standard error is that of the mean of new / mean(new) - base / mean(base) over the pairs (delta method, as for [`mean_ratio`]). It has one
/// degree of freedom fewer than there are pairs. Returns `None` in the same cases as [`mean_ratio`], and if the sides have different lengths.
pub fn paired_mean_ratio(new: &[f64], base: &[f64], level: f64) -> Option<IntervalEstimate> {
    if new.len() != base.len() {
        return None;
    }
    let [a, b] = [
        RelativeMean::from_values(new)?,
        RelativeMean::from_values(base)?,
    ];
    let differences: Vec<f64> = new
        .iter()
        .zip(base)
        .map(|(new, base)| new / a.mean - base / b.mean)
        .collect();
    let variance = sample_variance(&differences)? / new.len() as f64;
    from_logarithm(a.mean / b.mean, variance.sqrt(), a.df, level)
}

fn from_logarithm(
    value: f64,
    standard_error: f64,
    df: f64,
    level: f64,
) -> Option<IntervalEstimate> {
    let logarithms =
        TInterval::from_standard_error(value.ln(), standard_error, df, level)?.interval();
    Some(IntervalEstimate {
        value,
        interval: logarithms.map(f64::exp),
    })
}

/// The mean of one side, and the variance of the logarithm of this mean.
struct RelativeMean {
    mean: f64,
    variance: f64,
    df: f64,
}

impl RelativeMean {
    fn from_values(values: &[f64]) -> Option<Self> {
        let mean = mean(values).filter(|mean| *mean > 0.0 && mean.is_finite())?;
        let count = values.len() as f64;
        Some(Self {
            mean,
            variance: sample_variance(values)? / (count * mean * mean),
            df: count - 1.0,
        })
    }
}

/// The geometric mean of the ratios new / base of pairs, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedLogRatio {
    /// Ratio, exp(mean of ln(new / base)). For times, a ratio above 1 means that new is slower.
    pub ratio: f64,
    /// Interval of the ratio. It is Student's interval of the mean logarithm, with one degree of freedom fewer than there are pairs, converted back
    /// to a ratio.
    pub interval: Interval,
    /// Number of pairs used.
    pub pairs: usize,
    /// Number of pairs dropped because a value is missing or not positive and finite.
    pub dropped: usize,
}

impl PairedLogRatio {
    /// Pairs `new` and `base` by index. Surplus values of the longer side are dropped and counted. Constant ratios give an interval of a single
    /// point. Returns `None` if there are fewer than two usable pairs, or if `level` is outside 0..1.
    pub fn compute(new: &[f64], base: &[f64], level: f64) -> Option<Self> {
        let usable = |value: f64| value > 0.0 && value.is_finite();
        let logs: Vec<f64> = new
            .iter()
            .zip(base)
            .filter(|(new, base)| usable(**new) && usable(**base))
            .map(|(new, base)| new.ln() - base.ln())
            .collect();
        let mean = TInterval::compute(&logs, level)?;
        Some(Self {
            ratio: mean.mean.exp(),
            interval: mean.interval().map(f64::exp),
            pairs: logs.len(),
            dropped: new.len().max(base.len()) - logs.len(),
        })
    }

    /// Applies the gate of `NBenchmark`: reports whether the ratio exceeds 1 by more than `threshold`, which is a fraction, and the whole interval is
    /// above 1.
    pub fn is_beyond(&self, threshold: f64) -> bool {
        self.ratio > 1.0 + threshold && self.interval.lower > 1.0
    }
}

/// The verdict on a ratio of times by [`RatioBounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioVerdict {
    /// The ratio is at most the lower bound.
    Faster,
    /// The ratio lies between the bounds.
    Same,
    /// The ratio is at least the upper bound.
    Slower,
}

/// Bounds of a ratio of times, new / base. A ratio on a bound counts as faster or slower (`BenchForge`: 0.95 and 1.05 of 95th percentiles).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioBounds {
    /// Largest ratio that counts as faster.
    pub faster: f64,
    /// Smallest ratio that counts as slower.
    pub slower: f64,
}

impl RatioBounds {
    /// Returns the verdict on `ratio`. Returns `None` unless `ratio` is a positive number.
    pub fn judge(self, ratio: f64) -> Option<RatioVerdict> {
        if ratio.is_nan() || ratio <= 0.0 {
            None
        } else if ratio <= self.faster {
            Some(RatioVerdict::Faster)
        } else if ratio >= self.slower {
            Some(RatioVerdict::Slower)
        } else {
            Some(RatioVerdict::Same)
        }
    }
}

/// Returns the ratio new / base of two positive numbers in one unit. Returns `None` unless both are positive and finite.
pub fn positive_ratio(new: f64, base: f64) -> Option<f64> {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    (usable(new) && usable(base)).then(|| new / base)
}

/// Returns the ratio of the `p` quantiles of `new` and `base`. Returns `None` in the same cases as [`positive_ratio`], if a side has no values, or if
/// `p` is outside 0..=1.
pub fn quantile_ratio(new: &[f64], base: &[f64], p: f64, definition: Quantile) -> Option<f64> {
    let at = |values: &[f64]| definition.select(&mut values.to_vec(), p);
    positive_ratio(at(new)?, at(base)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draws, Stream, normal};

    #[test]
    fn the_interval_is_students_on_the_scale_of_logarithms() {
        let found = mean_ratio(&[110.0, 120.0, 130.0], &[100.0, 101.0, 99.0], 0.95).unwrap();
        assert!((found.value - 1.2).abs() < 1e-12);
        // se^2 = 100 / (3 120^2) + 1 / (3 100^2); df = 2.0575880585401807; scipy.stats.t.ppf(.975, df)
        let variance: f64 = 100.0 / (3.0 * 14_400.0) + 1.0 / 30_000.0;
        let half = (found.interval.upper / found.interval.lower).ln() / 2.0;
        assert!(
            (half / variance.sqrt() - 4.189_287_649_612_995).abs() < 1e-6,
            "{half}"
        );
        assert!((found.interval.upper * found.interval.lower - 1.44).abs() < 1e-9);
    }

    #[test]
    fn what_both_of_a_pair_share_does_not_widen_the_interval() {
        let base = [100.0, 150.0, 80.0, 120.0];
        let new = base.map(|value| value * 1.1);
        let paired = paired_mean_ratio(&new, &base, 0.95).unwrap();
        assert!((paired.interval.lower - 1.1).abs() < 1e-9);
        let apart = mean_ratio(&new, &base, 0.95).unwrap();
        assert!(apart.interval.lower < 0.8 && apart.interval.upper > 1.4);
    }

    #[test]
    fn the_interval_covers_the_true_ratio_as_often_as_its_level_says() {
        let stream = Stream {
            seed: 11,
            name: "coverage",
        };
        for (processes, paired) in [(3, false), (5, false), (3, true), (5, true)] {
            let mut draws = Draws::new(stream, processes as u64);
            let mut around = |centre: f64| {
                let uniform = (draws.index(1 << 30) as f64 + 0.5) / f64::from(1 << 30);
                centre * (1.0 + 0.05 * normal::quantile(uniform).unwrap())
            };
            let trials = 3_000;
            let covered = (0..trials)
                .filter(|_| {
                    let base: Vec<f64> = (0..processes).map(|_| around(100.0)).collect();
                    let new: Vec<f64> = (0..processes).map(|_| around(120.0)).collect();
                    let found = if paired {
                        paired_mean_ratio(&new, &base, 0.95)
                    } else {
                        mean_ratio(&new, &base, 0.95)
                    };
                    let interval = found.unwrap().interval;
                    interval.lower <= 1.2 && 1.2 <= interval.upper
                })
                .count();
            // Three standard errors are 1.2 %; with so few values, Welch's degrees of freedom are conservative.
            let share = covered as f64 / f64::from(trials);
            assert!(
                (0.938..0.985).contains(&share),
                "{processes}, {paired}: {share}"
            );
        }
    }

    #[test]
    fn single_values_zeros_and_nonsense_have_no_interval() {
        assert_eq!(mean_ratio(&[1.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(mean_ratio(&[0.0, 0.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(mean_ratio(&[1.0, 2.0], &[1.0, 2.0], 1.0), None);
        assert_eq!(paired_mean_ratio(&[1.0, 2.0], &[1.0, 2.0, 3.0], 0.95), None);
        let point = mean_ratio(&[2.0; 3], &[1.0; 3], 0.95).unwrap();
        assert_eq!((point.interval.lower, point.interval.upper), (2.0, 2.0));
    }

    #[test]
    fn pairs_without_a_logarithm_or_a_partner_are_dropped_and_counted() {
        let found = PairedLogRatio::compute(
            &[2.0, 0.0, 4.0, f64::NAN, 8.0, 9.0],
            &[1.0, 1.0, 2.0, 1.0, 4.0],
            0.95,
        )
        .unwrap();
        assert_eq!((found.pairs, found.dropped), (3, 3));
        assert!((found.ratio - 2.0).abs() < 1e-12);
        assert_eq!(
            PairedLogRatio::compute(&[1.0, 2.0], &[1.0, -1.0], 0.95),
            None
        );
        assert_eq!(PairedLogRatio::compute(&[1.0, 2.0], &[1.0, 1.0], 1.0), None);
    }

    #[test]
    fn exchanging_the_sides_inverts_the_ratio() {
        let (a, b) = ([1.0, 2.0, 4.0], [1.1, 2.4, 3.9]);
        let (ab, ba) = (
            PairedLogRatio::compute(&a, &b, 0.9).unwrap(),
            PairedLogRatio::compute(&b, &a, 0.9).unwrap(),
        );
        assert!((ab.ratio * ba.ratio - 1.0).abs() < 1e-12);
        assert!((ab.interval.lower * ba.interval.upper - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_ratio_has_no_verdict() {
        let bounds = RatioBounds {
            faster: 0.95,
            slower: 1.05,
        };
        for value in [0.0, -1.0, f64::NAN] {
            assert_eq!(bounds.judge(value), None);
            assert_eq!(positive_ratio(value, 1.0), None);
            assert_eq!(positive_ratio(1.0, value), None);
        }
        assert_eq!(quantile_ratio(&[], &[1.0], 0.5, Quantile::Linear), None);
    }
}
