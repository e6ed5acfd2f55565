//! The standard normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The number of steps of Halley's method that lead from the three correct digits of the first approximation to full precision.
const HALLEY_STEPS: u32 = 3;

/// Returns P(Z >= z), accurate in the far tail. The result for NaN is NaN.
pub fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// Returns P(Z <= z), accurate in the far tail. The result for NaN is NaN.
pub fn cdf(z: f64) -> f64 {
    upper_tail(-z)
}

/// Returns the `p` quantile: the z that is not exceeded with probability `p`. Returns `None` unless 0 < `p` < 1.
pub fn quantile(p: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then(|| {
        // The upper half loses no digits: 1 - p is exact from 1/2 on.
        if p > 0.5 {
            upper_quantile(1.0 - p)
        } else {
            -upper_quantile(p)
        }
    })
}

/// Returns the z that is exceeded with the probability `tail`. The result is not negative, because `tail` is at most 1/2.
///
/// The search starts with a rational approximation (Abramowitz and Stegun 1964, 26.2.23). Each of the following steps of Halley's method triples the
/// number of correct digits.
fn upper_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let first = t - numerator / denominator;
    (0..HALLEY_STEPS).fold(first, |z, _| {
        let density = (-0.5 * z * z).exp() / TAU.sqrt();
        let step = (upper_tail(z) - tail) / density;
        z + step / (1.0 - 0.5 * z * step)
    })
}

/// Returns the z of a two-sided interval at `level`, which is the 1 - (1 - `level`) / 2 quantile. Returns `None` unless 0 < `level` < 1.
pub fn two_sided(level: f64) -> Option<f64> {
    // Use the lower tail: near a `level` of 1, the upper quantile would lose digits.
    quantile((1.0 - level) / 2.0)
        .filter(|_| level > 0.0)
        .map(|z| -z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_and_the_tail_are_inverse() {
        for p in [1e-12, 1e-6, 0.025, 0.3, 0.5, 0.9, 0.9995] {
            let z = quantile(p).expect("in the domain");
            assert!((cdf(z) / p - 1.0).abs() < 1e-9, "{p}");
        }
        // mpmath 1.4 with 40 digits: sqrt(2) erfinv(2p - 1).
        for (p, expected) in [
            (0.025, -1.959_963_984_540_054),
            (1e-12, -7.034_483_825_301_131),
            (1e-100, -21.273_453_560_965_324),
            (1e-300, -37.047_096_299_361_2),
        ] {
            let z = quantile(p).expect("in the domain");
            assert!((z / expected - 1.0).abs() < 1e-13, "{p}: {z}");
        }
        assert!((two_sided(0.95).unwrap() - 1.959_963_984_540_054).abs() < 1e-12);
    }

    #[test]
    fn probabilities_of_nothing_and_of_everything_have_no_quantile() {
        for p in [0.0, 1.0, -0.1, 2.0, f64::NAN] {
            assert_eq!(quantile(p), None);
            assert_eq!(two_sided(p), None);
        }
    }
}
