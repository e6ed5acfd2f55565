//! The ratio of two means with Student's interval on the logarithmic scale, for few values.

use super::description::{mean, sample_variance};
use super::interval::IntervalEstimate;
use super::t_interval::TInterval;

/// Returns the ratio mean(new) / mean(base) of independent values, each side in any order, with its interval at `level`.
///
/// The logarithm of the ratio has the variance sum over sides of s^2 / (n mean^2) (delta method: Cox and Hinkley 1974, section 9.2) and the
/// degrees of freedom of Welch (1947). `None` below two values per side, for a mean that is not positive, or for a level outside 0..1. Without
/// spread the interval is a single point.
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
/// The standard error is that of the mean of new / mean(new) - base / mean(base), with one degree of freedom less than there are pairs (delta
/// method, as for [`mean_ratio`]). `None` as for [`mean_ratio`], and for sides of different length.
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
        for (launches, paired) in [(3, false), (5, false), (3, true), (5, true)] {
            let mut draws = Draws::new(stream, launches as u64);
            let mut around = |centre: f64| {
                let uniform = (draws.index(1 << 30) as f64 + 0.5) / f64::from(1 << 30);
                centre * (1.0 + 0.05 * normal::quantile(uniform).unwrap())
            };
            let trials = 3_000;
            let covered = (0..trials)
                .filter(|_| {
                    let base: Vec<f64> = (0..launches).map(|_| around(100.0)).collect();
                    let new: Vec<f64> = (0..launches).map(|_| around(120.0)).collect();
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
                "{launches}, {paired}: {share}"
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
}
