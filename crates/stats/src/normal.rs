//! The standard normal distribution.

use statrs::distribution::{ContinuousCDF, Normal};

/// P(Z >= z), accurate in the far tail; NaN for NaN.
pub fn upper_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// P(Z <= z), accurate in the far tail; NaN for NaN.
pub fn cdf(z: f64) -> f64 {
    upper_tail(-z)
}

/// The z that is not exceeded with probability `p`; `None` unless 0 < `p` < 1.
pub fn quantile(p: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then(|| Normal::standard().inverse_cdf(p))
}

/// The z of a two-sided interval at `level`, the 1 - (1 - `level`) / 2 quantile; `None` unless 0 < `level` < 1.
pub fn two_sided(level: f64) -> Option<f64> {
    // From the lower tail: 1 - a rounded `level` would lose digits near 1.
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
