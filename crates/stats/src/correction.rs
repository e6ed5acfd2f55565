//! Corrections of a family of p-values.

crate::words! {
    /// Correction of the p-values of a family of tests (Holm 1979; Benjamini and Hochberg 1995)
    Correction {
        Holm = "holm": "Holm: the chance of any false alarm (serializers)",
        BenjaminiHochberg = "bh": "Benjamini and Hochberg: the share of false alarms among the alarms",
        Unadjusted = "none": "Each benchmark by itself (NBenchmark, Criterion, mmtests)",
    }
}

impl Correction {
    /// Adjusts the p-values `p` of one family, from 0 to 1, in any order. The results are in the same order and at most 1.
    ///
    /// Holm: p(i) (m - i + 1) of the i-th smallest of m, made monotone from the smallest up. Benjamini and Hochberg: p(i) m / i, made monotone
    /// from the largest down. A test that could not be made stays in its family with p = 1. Without values the result is empty.
    pub fn adjust(self, p: &[f64]) -> Vec<f64> {
        match self {
            Self::Unadjusted => p.to_vec(),
            Self::Holm => holm(p),
            Self::BenjaminiHochberg => benjamini_hochberg(p),
        }
    }

    /// Returns the level at which each test of the family `p` is decided if the family has `level`, in input order. A one-sided bound at this
    /// level excludes the null exactly if the test rejects it.
    ///
    /// Holm's levels are those of the steps of his procedure (Holm 1979). After Benjamini and Hochberg, all tests have R level / m, with R of m
    /// rejected, or 1 if none is. Bounds at that level miss in a share of at most `level` of the rejected tests (Benjamini and Yekutieli 2005,
    /// *False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected Parameters*, definition 1).
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

/// Returns p(i) (m - i + 1), made monotone from the smallest up, at most 1.
fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (step, index) in ascending_indices(p).into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - step) as f64);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

/// Returns p(i) m / i, made monotone from the largest down, at most 1.
fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest = 1.0_f64;
    for (step, index) in ascending_indices(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * p.len() as f64 / (step + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

/// Returns the indices of `p`, smallest value first, ties in input order.
fn ascending_indices(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        // Of four .0125, .025, .0375, .05: .04 is within the last, so all are rejected, at the whole level.
        assert_eq!(levels(&[0.01, 0.04, 0.03, 0.005]), [0.05; 4]);
        // .03 is beyond .0125, .025 and .0375: two are rejected, at 2 x .05 / 4.
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
