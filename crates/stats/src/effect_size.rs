//! Sizes of a difference, regardless of its p-value: Cliff's delta, Cohen's d, Hedges' g. They are positive if the new side's values are larger
//! (slower).

use serde::{Deserialize, Serialize};

use super::description::{mean_difference, sample_variance};
use super::mann_whitney::MannWhitney;

/// Verbal label for a Cliff's delta (Romano et al. 2006, whose bounds are .147, .33 and .474).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectSize {
    /// The delta is below the first bound.
    Negligible,
    /// The delta is below the second bound.
    Small,
    /// The delta is below the third bound.
    Medium,
    /// The delta is at or beyond the third bound.
    Large,
}

impl EffectSize {
    /// Labels Cliff's `delta`, of either sign, by three bounds in ascending order. NaN is large.
    pub fn classify(delta: f64, [negligible, small, medium]: [f64; 3]) -> Self {
        match delta.abs() {
            size if size < negligible => Self::Negligible,
            size if size < small => Self::Small,
            size if size < medium => Self::Medium,
            _ => Self::Large,
        }
    }

    /// Returns the label in lower case.
    pub fn label(self) -> &'static str {
        match self {
            Self::Negligible => "negligible",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

/// Returns Cliff's delta, P(new > base) - P(new < base) over all pairs, from -1 to 1 (Cliff 1993).
///
/// The sides may have any order and length; n log n steps. Equal sides have 0. `None` for an empty side or a value that is not a number.
pub fn cliffs_delta(new: &[f64], base: &[f64]) -> Option<f64> {
    Some(MannWhitney::from_groups(new, base)?.delta())
}

/// Returns Cohen's d: the difference of means, new - base, in pooled standard deviations, `sqrt(((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2))`
/// (Cohen 1988).
///
/// The sides may have any order. `None` below two values per side, if both sides are constant, or for values that are not finite.
pub fn cohens_d(new: &[f64], base: &[f64]) -> Option<f64> {
    let (a, b) = (new.len() as f64 - 1.0, base.len() as f64 - 1.0);
    let pooled = (a * sample_variance(new)? + b * sample_variance(base)?) / (a + b);
    let d = mean_difference(new, base)? / pooled.sqrt();
    d.is_finite().then_some(d)
}

/// Returns Hedges' g: Cohen's d corrected for its bias in small samples, d (1 - 3 / (4 df - 1)), df = n1 + n2 - 2 (Hedges 1981, his approximation).
///
/// `None` as for [`cohens_d`].
pub fn hedges_g(new: &[f64], base: &[f64]) -> Option<f64> {
    let df = (new.len() + base.len()) as f64 - 2.0;
    cohens_d(new, base).map(|d| d * (1.0 - 3.0 / (4.0 * df - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_begin_at_their_bounds() {
        let labels = [0.0, 0.1469, 0.147, -0.33, 0.4739, -0.474, 1.0]
            .map(|delta| EffectSize::classify(delta, [0.147, 0.33, 0.474]).label());
        let expected = [
            "negligible",
            "negligible",
            "small",
            "medium",
            "medium",
            "large",
            "large",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn sides_without_spread_or_values_have_no_size() {
        assert_eq!(hedges_g(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert_eq!(hedges_g(&[1.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(hedges_g(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(hedges_g(&[], &[]), None);
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(cliffs_delta(&[1.0; 3], &[1.0; 4]), Some(0.0));
        assert_eq!(cliffs_delta(&[2.0], &[1.0]), Some(1.0));
    }
}
