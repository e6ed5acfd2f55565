//! Holm's step-down correction for a family of tests (Holm 1979).

/// Ranks of `p`, smallest first, ties in input order.
pub(super) fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

/// Adjusted p-values in input order: p(i) (m - i + 1), made monotone, at most 1.
pub fn adjusted_p_values(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (step, index) in ascending(p).into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - step) as f64);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

/// The level at which Holm's procedure decided each test, in input order.
///
/// A rejected test has the level of its own step, level / (m - i + 1); those that are not rejected share the level of the step
/// at which the procedure stopped. A one-sided bound at this level excludes the null exactly when the test rejects.
pub fn step_levels(p: &[f64], level: f64) -> Vec<f64> {
    let mut levels = vec![level; p.len()];
    let mut stopped = None;
    for (step, index) in ascending(p).into_iter().enumerate() {
        let here = stopped.unwrap_or(level / (p.len() - step) as f64);
        if p[index] > here {
            stopped = Some(here);
        }
        levels[index] = here;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn adjusted_values_agree_with_statsmodels() {
        // multipletests([.01, .04, .03, .005], method='holm')[1]
        let adjusted = adjusted_p_values(&[0.01, 0.04, 0.03, 0.005]);
        for (value, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((value - expected).abs() < 1e-15, "{adjusted:?}");
        }
        assert!(adjusted_p_values(&[]).is_empty());
    }

    #[test]
    fn levels_widen_step_by_step_until_the_procedure_stops() {
        // Steps at .05: .0125 (rejects .005), .016667 (rejects .01), .025 (.03 stops it).
        let levels = step_levels(&[0.01, 0.04, 0.03, 0.005], 0.05);
        let expected = [0.05 / 3.0, 0.025, 0.025, 0.0125];
        assert_eq!(levels, expected);
    }

    #[test]
    fn a_family_of_one_has_the_whole_level() {
        assert_eq!(step_levels(&[0.5], 0.01), [0.01]);
        assert_eq!(adjusted_p_values(&[0.5]), [0.5]);
    }

    proptest! {
        #[test]
        fn a_test_rejects_at_its_step_exactly_when_its_adjusted_p_is_within_the_level(
            p in prop::collection::vec(1e-6f64..0.2, 1..20)
        ) {
            let levels = step_levels(&p, 0.05);
            for ((p, level), adjusted) in p.iter().zip(levels).zip(adjusted_p_values(&p)) {
                prop_assume!((adjusted - 0.05).abs() > 1e-12);
                prop_assert_eq!(*p <= level, adjusted <= 0.05);
            }
        }
    }
}
