//! Laws that hold for any measurements.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn verdict_and_printed_interval_never_disagree(
        candidate in prop::collection::vec(80.0f64..140.0, 2..7),
        base in prop::collection::vec(95.0f64..105.0, 2..7),
        others in prop::collection::vec(90.0f64..130.0, 0..4),
        screen in any::<bool>(),
    ) {
        let base = floors(&base, 30);
        let reference = Reference { averaged: vec![&base], spread: vec![&base], earlier: vec![] };
        let mut measured: Vec<Measurement> = others.iter().map(|floor| run(*floor)).collect();
        measured.push(floors(&candidate, 30));
        let questions: Vec<Question<'_>> =
            measured.iter().map(|candidate| Question { candidate, reference: &reference, noise_threshold: 0.02 }).collect();
        let decider = if screen { SCREEN } else { RUN_LEVEL };
        for comparison in compare(&questions, &rules(decider, HostClass::Dedicated)) {
            let (change, p) = (comparison.change.unwrap(), comparison.p_value.unwrap());
            prop_assert_eq!(comparison.verdict == Verdict::Regressed, change.lower > 0.02, "{:?}", comparison);
            prop_assert_eq!(comparison.verdict == Verdict::Improved, change.upper.ln_1p() < -(0.02_f64.ln_1p()));
            let decided = matches!(comparison.verdict, Verdict::Regressed | Verdict::Improved);
            prop_assert_eq!(decided, p <= 0.01, "{:?}", comparison);
            prop_assert!(change.lower <= change.estimate && change.estimate <= change.upper);
        }
    }

    #[test]
    fn scaling_all_times_leaves_the_change_and_swapping_the_sides_inverts_it(
        candidate in prop::collection::vec(80.0f64..140.0, 3..7),
        base in prop::collection::vec(80.0f64..140.0, 3..7),
        scale in 2_u32..9,
    ) {
        let scaled = |x: &[f64]| floors(&x.iter().map(|y| y * f64::from(scale)).collect::<Vec<_>>(), 40);
        let here = dedicated(&floors(&candidate, 40), &floors(&base, 40)).change.unwrap();
        let there = dedicated(&scaled(&candidate), &scaled(&base)).change.unwrap();
        // Times are whole nanoseconds, a millionth of a sample.
        prop_assert!((here.estimate - there.estimate).abs() < 1e-5);
        prop_assert!((here.lower - there.lower).abs() < 1e-4);
        let back = dedicated(&floors(&base, 40), &floors(&candidate, 40)).change.unwrap();
        prop_assert!((here.estimate.ln_1p() + back.estimate.ln_1p()).abs() < 1e-12);
        prop_assert!((here.lower.ln_1p() + back.upper.ln_1p()).abs() < 1e-9);
    }

    #[test]
    fn a_slower_new_side_never_raises_the_p_of_worsening(
        candidate in prop::collection::vec(101.0f64..140.0, 3..7),
        base in prop::collection::vec(80.0f64..100.0, 3..7),
        factor in 1.0f64..1.5,
    ) {
        let base = floors(&base, 40);
        let slower: Vec<f64> = candidate.iter().map(|y| y * factor).collect();
        let p = |candidate: &[f64]| dedicated(&floors(candidate, 40), &base).p_value.unwrap();
        prop_assert!(p(&slower) <= p(&candidate) + 1e-6);
    }
}
