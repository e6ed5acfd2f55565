//! The harmonic mean: the mean of rates over equal amounts of work.

use super::description::{mean, squared_deviations};

/// The harmonic mean of rates, with its deviation, in their unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarmonicMean {
    /// Harmonic mean, H = n / sum(1 / x)
    pub mean: f64,
    /// Deviation, sqrt(sum (1 / x - 1 / H)^2 H^4 / n): by the delta method, from the population deviation of 1 / x, as in mmtests
    pub deviation: f64,
}

impl HarmonicMean {
    /// Computes the mean of `rates`, given in any order. The deviation of a single rate is 0. `None` without rates, or with a rate that is not
    /// positive and finite.
    pub fn compute(rates: &[f64]) -> Option<Self> {
        if rates.is_empty() || !rates.iter().all(|rate| *rate > 0.0 && rate.is_finite()) {
            return None;
        }
        let n = rates.len() as f64;
        // Scale to the largest rate: reciprocals of tiny rates would overflow.
        let largest = rates.iter().copied().fold(0.0, f64::max);
        let reciprocals: Vec<f64> = rates.iter().map(|rate| largest / rate).collect();
        let centre = mean(&reciprocals)?;
        let squares = squared_deviations(&reciprocals);
        let harmonic = largest / centre;
        // The deviation is H^2 times that of the reciprocals, with the scale removed.
        let deviation = harmonic * (squares / n).sqrt() / centre;
        (harmonic.is_finite() && deviation.is_finite()).then_some(Self {
            mean: harmonic,
            deviation,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_are_no_rates_have_no_harmonic_mean() {
        for rates in [
            &[][..],
            &[1.0, 0.0],
            &[1.0, -2.0],
            &[f64::NAN],
            &[f64::INFINITY],
        ] {
            assert_eq!(HarmonicMean::compute(rates), None);
        }
    }

    #[test]
    fn one_rate_is_its_own_mean_without_deviation_at_any_scale() {
        for rate in [1e-300, 3.0, 1e300] {
            let one = HarmonicMean::compute(&[rate]).unwrap();
            assert_eq!((one.mean, one.deviation), (rate, 0.0));
        }
    }
}
