//! The mean ratio of paired values, with Student's interval of the mean of ln(new / base), converted back to a ratio.

use super::interval::Interval;
use super::t_interval::TInterval;

/// The geometric mean of the ratios new / base of pairs, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedLogRatio {
    /// Ratio, exp(mean of ln(new / base)); for times, above 1 is slower
    pub ratio: f64,
    /// Interval of the ratio: Student's interval of the mean logarithm, with pairs - 1 degrees of freedom, converted back to a ratio
    pub interval: Interval,
    /// Number of pairs used
    pub pairs: usize,
    /// Number of pairs dropped because a value is missing or not positive and finite
    pub dropped: usize,
}

impl PairedLogRatio {
    /// Pairs `new` and `base` by index. Surplus values of the longer side are dropped and counted. Constant ratios give an interval of a single
    /// point. `None` below two usable pairs or for a level outside 0..1.
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

    /// Reports whether the ratio exceeds 1 by more than `threshold`, a fraction, and the whole interval is above 1: the gate of `NBenchmark`.
    pub fn is_beyond(&self, threshold: f64) -> bool {
        self.ratio > 1.0 + threshold && self.interval.lower > 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
