//! Ratios of new over base, and a verdict by fixed bounds alone: `BenchForge`'s rule for 95th percentiles. It is a rule of thumb, not a test.

use super::quantile::Quantile;

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
    /// Largest ratio that counts as faster
    pub faster: f64,
    /// Smallest ratio that counts as slower
    pub slower: f64,
}

impl RatioBounds {
    /// Returns the verdict on `ratio`; `None` unless it is a positive number.
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

/// Returns the ratio new / base of two positive numbers in one unit; `None` unless both are positive and finite.
pub fn positive_ratio(new: f64, base: f64) -> Option<f64> {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    (usable(new) && usable(base)).then(|| new / base)
}

/// Returns the ratio of the `p` quantiles of `new` and `base`, each in any order; `None` as for [`positive_ratio`], without values or for `p`
/// outside 0..=1.
pub fn quantile_ratio(new: &[f64], base: &[f64], p: f64, definition: Quantile) -> Option<f64> {
    let at = |values: &[f64]| definition.select(&mut values.to_vec(), p);
    positive_ratio(at(new)?, at(base)?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
