//! What a p-value says, in three words: "not tested" is never "no difference".

use serde::{Deserialize, Serialize};

/// The outcome of a two-sided test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Significance {
    /// There was a test, and p < alpha.
    Significant,
    /// There was a test, and p >= alpha.
    NotSignificant,
    /// There was no test: too few values, or none that could be tested.
    NotTested,
}

impl Significance {
    /// Reads the `p` of a two-sided test at the level `alpha`; p strictly below it is significant. Groups of which the smaller one has
    /// `smaller_group` values count as not tested below `fewest`, as does a p that is `None` or NaN.
    pub fn of(p: Option<f64>, alpha: f64, smaller_group: usize, fewest: usize) -> Self {
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

    /// Applies a practical gate: a significant difference whose effect size `delta`, of either sign, is below `practical` is not significant.
    #[must_use]
    pub fn unless_below(self, delta: f64, practical: f64) -> Self {
        match self {
            Self::Significant if delta.abs() < practical => Self::NotSignificant,
            other => other,
        }
    }

    /// Whether there was a test at all.
    pub fn is_tested(self) -> bool {
        self != Self::NotTested
    }

    /// Returns the outcome in words with hyphens.
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
        let of = |p| Significance::of(p, 0.05, 9, 5);
        assert_eq!(of(None), Significance::NotTested);
        assert_eq!(of(Some(f64::NAN)), Significance::NotTested);
        assert_eq!(of(Some(0.0)), Significance::Significant);
    }

    #[test]
    fn the_gate_only_takes_back_what_was_significant() {
        let gated = |s: Significance, delta| s.unless_below(delta, 0.147);
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
