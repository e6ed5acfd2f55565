//! The outcome of a test: significant, not significant or not tested. "Not tested" never means "no difference".

use serde::{Deserialize, Serialize};

/// The outcome of a two-sided test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Significance {
    /// The test was made, and p < alpha.
    Significant,
    /// The test was made, and p >= alpha.
    NotSignificant,
    /// No test was made: there were too few values, or it had no p-value.
    NotTested,
}

impl Significance {
    /// Classifies the `p` of a two-sided test at the level `alpha`; only p strictly below it is significant. If the smaller group has fewer than
    /// `fewest` values (`smaller_group`), or if p is `None` or NaN, the result is not tested.
    pub fn classify(p: Option<f64>, alpha: f64, smaller_group: usize, fewest: usize) -> Self {
        match p {
            Some(p) if smaller_group >= fewest && !p.is_nan() => {
                if p < alpha {
                    Self::Significant
                } else {
                    Self::NotSignificant
                }
            }
            _ => Self::NotTested,
        }
    }

    /// Applies a practical gate: a significant difference whose effect size `delta`, of either sign, is below `practical` becomes not significant.
    #[must_use]
    pub fn with_practical_gate(self, delta: f64, practical: f64) -> Self {
        match self {
            Self::Significant if delta.abs() < practical => Self::NotSignificant,
            other => other,
        }
    }

    /// Reports whether a test was made.
    pub fn is_tested(self) -> bool {
        self != Self::NotTested
    }

    /// Returns the outcome as hyphenated words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Significant => "significant",
            Self::NotSignificant => "not-significant",
            Self::NotTested => "not-tested",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_computed_was_not_tested() {
        let of = |p| Significance::classify(p, 0.05, 9, 5);
        assert_eq!(of(None), Significance::NotTested);
        assert_eq!(of(Some(f64::NAN)), Significance::NotTested);
        assert_eq!(of(Some(0.0)), Significance::Significant);
    }

    #[test]
    fn the_gate_only_takes_back_what_was_significant() {
        let gated = |s: Significance, delta| s.with_practical_gate(delta, 0.147);
        assert_eq!(
            gated(Significance::Significant, -0.1),
            Significance::NotSignificant
        );
        assert_eq!(
            gated(Significance::Significant, 0.147),
            Significance::Significant
        );
        assert_eq!(gated(Significance::NotTested, 0.0), Significance::NotTested);
    }
}
