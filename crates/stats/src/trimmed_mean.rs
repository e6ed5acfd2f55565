//! The mean of the values that an outlier policy kept, with a standard error that accounts for the removed ones (Yuen 1974).

use super::description::{mean, sample_variance};
use super::outlier_policy::TreatedSample;
use super::t_interval::TInterval;

/// The trimmed or winsorized mean of a [`TreatedSample`] (Yuen 1974), in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedMean {
    /// Mean of the treated values
    pub mean: f64,
    /// Standard error, `s_w sqrt(n) / h`: `s_w` is the deviation of all n values with removed ones replaced by the nearest kept value, h the
    /// number of unchanged values; it is s / sqrt(n) if nothing was changed
    pub standard_error: f64,
    /// Degrees of freedom, h - 1
    pub df: f64,
}

crate::words! {
    /// Standard error of a mean after the removal of outliers
    TrimmedError {
        Winsorized = "winsorized": "It knows of the values that were taken away (Yuen 1974)",
        Plain = "plain": "s / sqrt(n) of the values left, as if they were all (NBenchmark)",
    }
}

impl TrimmedMean {
    /// Computes the mean of `treated`; `None` if fewer than two values are unchanged.
    pub fn compute(treated: &TreatedSample<'_>) -> Option<Self> {
        let untouched = treated.raw.len() - treated.low - treated.high;
        if untouched < 2 {
            return None;
        }
        let smallest = treated.values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = treated
            .values
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let winsorised: Vec<f64> = treated
            .raw
            .iter()
            .map(|value| value.clamp(smallest, largest))
            .collect();
        let (n, h) = (treated.raw.len() as f64, untouched as f64);
        Some(Self {
            mean: mean(&treated.values)?,
            standard_error: (sample_variance(&winsorised)? * n).sqrt() / h,
            df: h - 1.0,
        })
    }

    /// Computes the mean of the kept values as if they were the whole sample, with the standard error s / sqrt(n) and n - 1 degrees of freedom;
    /// `None` for fewer than two. This error is too small, because the removed values widen the whole sample.
    pub fn compute_plain(treated: &TreatedSample<'_>) -> Option<Self> {
        let n = treated.values.len() as f64;
        Some(Self {
            mean: mean(&treated.values)?,
            standard_error: (sample_variance(&treated.values)? / n).sqrt(),
            df: n - 1.0,
        })
    }

    /// Returns Student's interval of the mean at `level`; `None` for a level outside 0..1.
    pub fn t_interval(&self, level: f64) -> Option<TInterval> {
        TInterval::from_standard_error(self.mean, self.standard_error, self.df, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutlierPolicy;

    #[test]
    fn a_single_value_left_has_no_error() {
        let treated = OutlierPolicy::TopFivePercent.apply(&[1.0, 2.0]).unwrap();
        assert_eq!(treated.values, [1.0]);
        assert_eq!(TrimmedMean::compute(&treated), None);
    }

    #[test]
    fn the_error_is_that_of_the_winsorised_values() {
        // 1..20 without 1 and 20: replaced by 2 and 19, sum of squares 2 (.5^2 + ... + 8.5^2 + 8.5^2) = 629, h = 18.
        let raw: Vec<f64> = (1..=20).map(f64::from).collect();
        let treated = OutlierPolicy::BothFivePercent.apply(&raw).unwrap();
        let trimmed = TrimmedMean::compute(&treated).unwrap();
        assert_eq!((trimmed.mean, trimmed.df), (10.5, 17.0));
        let expected = (629.0_f64 / 19.0 * 20.0).sqrt() / 18.0;
        assert!((trimmed.standard_error - expected).abs() < 1e-12);
        assert!(trimmed.t_interval(0.95).unwrap().margin > 2.0 * expected);
    }
}
