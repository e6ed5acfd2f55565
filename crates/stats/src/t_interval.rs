//! Student's interval of a mean (Student 1908).

use super::description::{mean, standard_error};
use super::interval::Interval;
use super::student_t;

/// A mean with Student's interval (Student 1908).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TInterval {
    /// Mean, in the unit of the values
    pub mean: f64,
    /// Standard error of the mean
    pub standard_error: f64,
    /// Degrees of freedom
    pub df: f64,
    /// Margin of error, half the width of the interval: t(1 - (1 - level) / 2, df) times the standard error
    pub margin: f64,
}

impl TInterval {
    /// Computes the interval of the mean of `values`, given in any order, at `level`, with the standard error s / sqrt(n) and n - 1 degrees of
    /// freedom.
    ///
    /// `None` below two values, with a value that is not finite, or for a level outside 0..1. Without spread the interval is a single point.
    pub fn compute(values: &[f64], level: f64) -> Option<Self> {
        Self::from_standard_error(
            mean(values)?,
            standard_error(values)?,
            (values.len() - 1) as f64,
            level,
        )
    }

    /// Computes the interval about `mean` at `level` from its `standard_error`, with `df` degrees of freedom. `None` for a level outside 0..1, a
    /// `df` that is not positive, or values that are not finite.
    pub fn from_standard_error(
        mean: f64,
        standard_error: f64,
        df: f64,
        level: f64,
    ) -> Option<Self> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        let margin = student_t::upper_quantile((1.0 - level) / 2.0, df)? * standard_error;
        (mean.is_finite() && margin.is_finite()).then_some(Self {
            mean,
            standard_error,
            df,
            margin,
        })
    }

    /// Returns the interval, mean -+ margin.
    pub fn interval(&self) -> Interval {
        Interval::around(self.mean, self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_values_without_spread_and_nonsense() {
        assert_eq!(TInterval::compute(&[1.0], 0.95), None);
        assert_eq!(TInterval::compute(&[], 0.95), None);
        assert_eq!(TInterval::compute(&[1.0, f64::INFINITY], 0.95), None);
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(TInterval::compute(&[1.0, 2.0], level), None);
        }
        let point = TInterval::compute(&[3.0; 4], 0.95).unwrap().interval();
        assert_eq!((point.lower, point.upper), (3.0, 3.0));
    }

    #[test]
    fn the_margin_is_t_times_the_standard_error() {
        // n = 2: t(.975, 1) = 12.706..., standard error of {1, 3} is 1.
        let interval = TInterval::compute(&[1.0, 3.0], 0.95).unwrap();
        assert!((interval.margin - 12.706_204_736_174_7).abs() < 1e-9);
        assert_eq!((interval.mean, interval.df), (2.0, 1.0));
    }
}
