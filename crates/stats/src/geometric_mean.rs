//! The geometric mean of ratios: one summary of the changes of many benchmarks.

/// A geometric mean of ratios, with the number of ratios used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeometricMean {
    /// Geometric mean of the ratios used, exp(mean of ln ratio)
    pub mean: f64,
    /// Number of ratios used
    pub used: usize,
    /// Number of ratios left out because they are zero, negative or not finite
    pub excluded: usize,
}

impl GeometricMean {
    /// Computes the mean of `ratios`, given in any order. Ratios without a logarithm are left out and counted. `None` if none is left.
    pub fn compute(ratios: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = ratios
            .iter()
            .filter(|ratio| **ratio > 0.0 && ratio.is_finite())
            .map(|ratio| ratio.ln())
            .collect();
        let mean = super::description::mean(&logs)?;
        Some(Self {
            mean: mean.exp(),
            used: logs.len(),
            excluded: ratios.len() - logs.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_and_halved_is_unchanged_and_zeros_are_counted() {
        let found =
            GeometricMean::compute(&[2.0, 0.5, 0.0, -1.0, f64::NAN, f64::INFINITY]).unwrap();
        assert!((found.mean - 1.0).abs() < 1e-15);
        assert_eq!((found.used, found.excluded), (2, 4));
        assert_eq!(GeometricMean::compute(&[0.0]), None);
        assert_eq!(GeometricMean::compute(&[]), None);
    }
}
