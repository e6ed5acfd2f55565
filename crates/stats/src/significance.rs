//! Outcomes of tests in words, effect sizes, and corrections of p-values for the number of tests.
//!
//! Effect sizes do not depend on a p-value. They are positive if the values of the new side are larger (slower). "Not tested" never means "no
//! difference".

use serde::{Deserialize, Serialize};

use super::description::{mean_difference, sample_variance};
use super::rank_tests::MannWhitney;

/// The outcome of a two-sided test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Significance {
    /// The test was made, and p < alpha.
    Significant,
    /// The test was made, and p >= alpha.
    NotSignificant,
    /// No test was made: there were too few values, or the test had no p-value.
    NotTested,
}

impl Significance {
    /// Classifies the p-value `p` of a two-sided test at the level `alpha`. Only a p-value strictly below `alpha` is significant. The result is
    /// [`Self::NotTested`] if `p` is `None` or NaN, or if `smaller_group`, the number of values in the smaller group, is below `fewest`.
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

    /// Turns a significant difference into one that is not significant if it is too small to matter. This is so if the magnitude of its effect size
    /// `delta` is below `practical`.
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

    /// Returns the outcome as a word, with hyphens in place of spaces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Significant => "significant",
            Self::NotSignificant => "not-significant",
            Self::NotTested => "not-tested",
        }
    }
}

/// Verbal label for a Cliff's delta (Romano et al. 2006, whose bounds are .147, .33 and .474).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectSize {
    /// The magnitude of the delta is below the first bound.
    Negligible,
    /// The magnitude of the delta is below the second bound.
    Small,
    /// The magnitude of the delta is below the third bound.
    Medium,
    /// The magnitude of the delta is at or beyond the third bound.
    Large,
}

impl EffectSize {
    /// Labels Cliff's `delta` by the three bounds, which are in ascending order. The sign of `delta` does not matter, and NaN is labeled as large.
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
/// The computation takes n log n steps. The sides may have different lengths. The delta of equal sides is 0. Returns `None` if a side is empty or a
/// value is not a number.
///
/// ```
/// use perfcheck_stats::cliffs_delta;
/// assert_eq!(cliffs_delta(&[1.0, 4.0], &[2.0, 3.0]), Some(0.0));
/// assert_eq!(cliffs_delta(&[3.0, 4.0], &[1.0, 2.0]), Some(1.0));
/// ```
pub fn cliffs_delta(new: &[f64], base: &[f64]) -> Option<f64> {
    Some(MannWhitney::from_groups(new, base)?.delta())
}

/// Returns Cohen's d, the difference of means (new - base) divided by the pooled standard deviation `sqrt(((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 +
/// n2 - 2))` (Cohen 1988).
///
/// Returns `None` if a side has fewer than two values, if both sides are constant, or if a value is not finite.
pub fn cohens_d(new: &[f64], base: &[f64]) -> Option<f64> {
    let (a, b) = (new.len() as f64 - 1.0, base.len() as f64 - 1.0);
    let pooled = (a * sample_variance(new)? + b * sample_variance(base)?) / (a + b);
    let d = mean_difference(new, base)? / pooled.sqrt();
    d.is_finite().then_some(d)
}

/// Returns Hedges' g, which is Cohen's d corrected for its bias in small samples by the approximation of Hedges (1981): d (1 - 3 / (4 df - 1)), where
/// df = n1 + n2 - 2.
///
/// Returns `None` in the same cases as [`cohens_d`].
pub fn hedges_g(new: &[f64], base: &[f64]) -> Option<f64> {
    let df = (new.len() + base.len()) as f64 - 2.0;
    cohens_d(new, base).map(|d| d * (1.0 - 3.0 / (4.0 * df - 1.0)))
}

crate::words! {
    /// How p-values are corrected if several tests are made together (Holm 1979; Benjamini and Hochberg 1995).
    Correction {
        Holm = "holm": "Holm: limits the chance of any false alarm (serializer benchmarks)",
        BenjaminiHochberg = "bh": "Benjamini-Hochberg: limits the share of false alarms among all alarms",
        Unadjusted = "none": "No correction: each benchmark by itself (NBenchmark, Criterion, mmtests)",
    }
}

impl Correction {
    /// Adjusts the p-values `p`, from 0 to 1, of tests that are made together. The results are in the order of `p` and at most 1.
    ///
    /// Holm's method multiplies the i-th smallest of m p-values by m - i + 1. A result that is below the result of a smaller p-value is raised to it.
    /// The method of Benjamini and Hochberg multiplies the i-th smallest p-value by m / i. A result that is above the result of a larger p-value is
    /// lowered to it. For a test that could not be made, pass p = 1, so that it is counted in m. If there are no values, the result is empty.
    ///
    /// ```
    /// use perfcheck_stats::Correction;
    /// assert_eq!(Correction::Holm.adjust(&[0.125, 0.5, 0.25]), [0.375, 0.5, 0.5]);
    /// ```
    pub fn adjust(self, p: &[f64]) -> Vec<f64> {
        match self {
            Self::Unadjusted => p.to_vec(),
            Self::Holm => holm(p),
            Self::BenjaminiHochberg => benjamini_hochberg(p),
        }
    }

    /// Returns the level at which each of several tests is decided, if they have the p-values `p` and all of them together have the level `level`.
    /// The results are in the order of `p`. A one-sided bound at the returned level excludes the null hypothesis exactly if the test rejects it.
    ///
    /// Holm's levels are those of the steps of his procedure (Holm 1979). After Benjamini and Hochberg, all m tests have the level R level / m, where
    /// R is the number of rejected tests, or 1 if none is rejected. If each rejected test gets a bound at that level, at most the share `level` of
    /// these bounds is expected to miss the true value (Benjamini and Yekutieli 2005, *False Discovery Rate-Adjusted Multiple Confidence Intervals
    /// for Selected Parameters*, definition 1). Without a correction, each test has the whole `level`.
    pub fn levels(self, p: &[f64], level: f64) -> Vec<f64> {
        match self {
            Self::Unadjusted => vec![level; p.len()],
            Self::Holm => holm_step_levels(p, level),
            Self::BenjaminiHochberg => {
                let rejected = ascending_indices(p)
                    .into_iter()
                    .zip(1_usize..)
                    .filter(|(index, rank)| p[*index] <= level * *rank as f64 / p.len() as f64)
                    .map(|(_, rank)| rank)
                    .max();
                vec![level * rejected.unwrap_or(1) as f64 / p.len() as f64; p.len()]
            }
        }
    }
}

/// Returns Holm's levels: a rejected test has the level of its own step, level / (m - i + 1). The tests that are not rejected share the level of
/// the step at which the procedure stopped.
fn holm_step_levels(p: &[f64], level: f64) -> Vec<f64> {
    let mut levels = vec![level; p.len()];
    let mut stopped = None;
    for (step, index) in ascending_indices(p).into_iter().enumerate() {
        let here = stopped.unwrap_or(level / (p.len() - step) as f64);
        if p[index] > here {
            stopped = Some(here);
        }
        levels[index] = here;
    }
    levels
}

/// Returns p(i) (m - i + 1) for the i-th smallest of the m p-values, made monotone from the smallest up and at most 1.
fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (step, index) in ascending_indices(p).into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - step) as f64);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

/// Returns p(i) m / i for the i-th smallest of the m p-values, made monotone from the largest down and at most 1.
fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest = 1.0_f64;
    for (step, index) in ascending_indices(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * p.len() as f64 / (step + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

/// Returns the indices of `p` in ascending order of the values. Equal values keep their order.
fn ascending_indices(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    const ALL: [Correction; 3] = [
        Correction::Unadjusted,
        Correction::BenjaminiHochberg,
        Correction::Holm,
    ];

    #[test]
    fn families_of_none_and_one_are_left_as_they_are() {
        for correction in ALL {
            assert!(correction.adjust(&[]).is_empty());
            assert_eq!(correction.adjust(&[0.3]), [0.3]);
        }
    }

    #[test]
    fn adjusted_values_agree_with_statsmodels() {
        // multipletests([.01, .04, .03, .005], method='holm')[1]
        let adjusted = Correction::Holm.adjust(&[0.01, 0.04, 0.03, 0.005]);
        for (value, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((value - expected).abs() < 1e-15, "{adjusted:?}");
        }
        assert!(Correction::Holm.adjust(&[]).is_empty());
    }

    #[test]
    fn levels_widen_step_by_step_until_the_procedure_stops() {
        // Steps at .05: .0125 (rejects .005), .016667 (rejects .01), .025 (.03 stops it).
        let levels = Correction::Holm.levels(&[0.01, 0.04, 0.03, 0.005], 0.05);
        let expected = [0.05 / 3.0, 0.025, 0.025, 0.0125];
        assert_eq!(levels, expected);
    }

    #[test]
    fn levels_of_benjamini_and_hochberg_are_the_share_of_the_rejected() {
        let levels = |p: &[f64]| Correction::BenjaminiHochberg.levels(p, 0.05);
        // The steps are .0125, .025, .0375 and .05. The largest p, .04, is below the last, so all are rejected, at the whole level.
        assert_eq!(levels(&[0.01, 0.04, 0.03, 0.005]), [0.05; 4]);
        // The third p in order, .3, is above .0375, so two are rejected, at 2 x .05 / 4.
        assert_eq!(levels(&[0.01, 0.4, 0.3, 0.005]), [0.025; 4]);
        // None is rejected: the level is that of one rejection.
        assert_eq!(levels(&[0.1, 0.4, 0.3, 0.2]), [0.0125; 4]);
        assert_eq!(Correction::Unadjusted.levels(&[0.1, 0.4], 0.05), [0.05; 2]);
    }

    #[test]
    fn a_family_of_one_has_the_whole_level() {
        assert_eq!(Correction::Holm.levels(&[0.5], 0.01), [0.01]);
        assert_eq!(Correction::Holm.adjust(&[0.5]), [0.5]);
    }

    proptest! {
        #[test]
        fn a_test_rejects_at_its_step_exactly_when_its_adjusted_p_is_within_the_level(
            p in prop::collection::vec(1e-6f64..0.2, 1..20)
        ) {
            for correction in ALL {
                let levels = correction.levels(&p, 0.05);
                for ((p, level), adjusted) in p.iter().zip(levels).zip(correction.adjust(&p)) {
                    prop_assume!((adjusted - 0.05).abs() > 1e-12);
                    prop_assert_eq!(*p <= level, adjusted <= 0.05);
                }
            }
        }

        #[test]
        fn each_is_stricter_than_the_one_before_and_keeps_the_order(p in prop::collection::vec(0.0f64..1.0, 1..20)) {
            let [none, bh, holm] = ALL.map(|correction| correction.adjust(&p));
            for i in 0..p.len() {
                prop_assert!(none[i] <= bh[i] + 1e-15 && bh[i] <= holm[i] + 1e-15 && holm[i] <= 1.0);
                for j in 0..p.len() {
                    if p[i] < p[j] {
                        prop_assert!(bh[i] <= bh[j] && holm[i] <= holm[j]);
                    }
                }
            }
        }
    }
}
