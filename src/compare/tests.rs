//! Verdicts of whole comparisons: the decision procedure, degenerate input, laws.

use proptest::prelude::*;

use super::fixtures::{ITERATIONS, flat_launch, floors, measurement, with_ramp};
use super::*;
use crate::model::{DecisionSettings, Failure, Measurement, Nanos, Verdict};

fn rules(decider: Decider, host: HostClass) -> Rules {
    let decision = DecisionSettings {
        resamples: 2_000,
        ..DecisionSettings::default()
    };
    Rules {
        decision,
        decider,
        host,
        seed: 11,
    }
}

const RUN_LEVEL: Decider = Decider::RunLevel;
const SCREEN: Decider = Decider::Screen;

/// Compares one pair with a threshold of 2 %.
fn pair(new: &Measurement, base: &Measurement, decider: Decider, host: HostClass) -> Comparison {
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
    };
    let question = Question {
        new,
        reference: &reference,
        noise_threshold: 0.02,
    };
    compare(&[question], &rules(decider, host)).remove(0)
}

fn dedicated(new: &Measurement, base: &Measurement) -> Comparison {
    pair(new, base, RUN_LEVEL, HostClass::Dedicated)
}

fn screened(new: &Measurement, base: &Measurement) -> Comparison {
    pair(new, base, SCREEN, HostClass::Dedicated)
}

/// Five launches around `floor`, a per mille apart.
fn run(floor: f64) -> Measurement {
    floors(
        &[0.0, 1.0, -1.0, 2.0, -2.0].map(|step| floor * (1.0 + step * 1e-3)),
        40,
    )
}

fn has(comparison: &Comparison, wanted: impl Fn(&Note) -> bool) -> bool {
    comparison.notes.iter().any(wanted)
}

#[test]
fn twice_as_slow_is_regressed_and_twice_as_fast_improved() {
    let (one, two) = (run(100.0), run(200.0));
    let slower = dedicated(&two, &one);
    assert_eq!(slower.verdict, Verdict::Regressed);
    let change = slower.change.unwrap();
    assert!(
        (change.estimate - 1.0).abs() < 1e-3 && change.lower > 0.02,
        "{change:?}"
    );
    assert!(slower.p_value.unwrap() < 0.01);
    assert_eq!(slower.location, Some(Location::LowQuantile));
    let faster = dedicated(&one, &two);
    assert_eq!(faster.verdict, Verdict::Improved);
    assert!((faster.change.unwrap().estimate + 0.5).abs() < 1e-3);
    assert!(faster.p_value.unwrap() < 0.01);
}

#[test]
fn the_same_again_is_inconclusive_against_one_run_as_the_drift_is_not_known() {
    let (base, again) = (run(100.0), run(100.05));
    let comparison = dedicated(&again, &base);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    // t(4, .99) x .01 x sqrt 2 beyond ln 1.02
    assert!(
        (comparison.smallest_callable.unwrap() - 0.0755).abs() < 5e-4,
        "{:?}",
        comparison.smallest_callable
    );
    let shared = pair(&again, &base, RUN_LEVEL, HostClass::Shared);
    assert!((0.19..0.21).contains(&shared.smallest_callable.unwrap()));
}

#[test]
fn the_same_again_is_unchanged_once_many_runs_have_shown_little_drift() {
    let runs: Vec<Measurement> = (0..20)
        .map(|i| run(100.0 + 0.02 * f64::from(i % 5)))
        .collect();
    let reference = Reference {
        averaged: runs.iter().collect(),
        spread: runs.iter().collect(),
    };
    let new = run(100.03);
    let question = Question {
        new: &new,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let comparison = compare(&[question], &rules(RUN_LEVEL, HostClass::Dedicated)).remove(0);
    assert_eq!(comparison.verdict, Verdict::Unchanged, "{comparison:?}");
    assert_eq!(
        (
            comparison.runs_averaged,
            comparison.runs_spread,
            comparison.launches_base
        ),
        (20, 20, 100)
    );
    let change = comparison.change.unwrap();
    assert!(change.lower > -0.02 && change.upper < 0.02);
    assert!(comparison.run_sd.unwrap() < 0.006);
}

#[test]
fn a_hit_of_the_t_score_alone_is_suspect_and_with_screen_regressed() {
    let (base, new) = (run(100.0), run(105.0));
    let comparison = pair(&new, &base, RUN_LEVEL, HostClass::Shared);
    assert_eq!(comparison.verdict, Verdict::Suspect);
    assert!(comparison.t_score_p.unwrap() <= 0.01 && comparison.p_value.unwrap() > 0.01);
    assert!(comparison.change.unwrap().lower < 0.02);
    let screened = pair(&new, &base, SCREEN, HostClass::Shared);
    assert_eq!(screened.verdict, Verdict::Regressed);
    assert!(screened.change.unwrap().lower > 0.02);
    assert_eq!(screened.p_value, screened.t_score_p);
}

#[test]
fn faster_by_the_t_score_alone_is_inconclusive_and_says_so() {
    let comparison = pair(&run(95.0), &run(100.0), RUN_LEVEL, HostClass::Shared);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(has(&comparison, |note| *note == Note::FasterByTScoreOnly));
}

#[test]
fn within_the_noise_threshold_nothing_regresses_however_sure_it_is() {
    let comparison = screened(&run(101.5), &run(100.0));
    assert!(
        matches!(
            comparison.verdict,
            Verdict::Unchanged | Verdict::Inconclusive
        ),
        "{comparison:?}"
    );
    assert!(comparison.change.unwrap().lower > 0.0);
}

#[test]
fn a_family_needs_stronger_evidence_than_a_single_question() {
    let (base, new) = (run(100.0), run(109.0));
    assert_eq!(dedicated(&new, &base).verdict, Verdict::Regressed);
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![&base],
    };
    let question = |new| Question {
        new,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let mut questions = vec![question(&base); 30];
    questions.insert(17, question(&new));
    let comparisons = compare(&questions, &rules(RUN_LEVEL, HostClass::Dedicated));
    assert_eq!(comparisons.len(), 31);
    let hit = &comparisons[17];
    assert_ne!(hit.verdict, Verdict::Regressed, "{hit:?}");
    assert!(hit.change.unwrap().lower < 0.02 && hit.p_value.unwrap() > 0.01);
    // Two thousand resamples cannot reach .01 / 31 either way.
    assert!(has(hit, |note| matches!(
        note,
        Note::TooFewResamples { needed: 3_100 }
    )));
}

#[test]
fn no_samples_in_the_new_run_is_failed_and_none_in_the_reference_inconclusive() {
    let (full, empty) = (run(100.0), measurement(vec![]));
    let lost = dedicated(&empty, &full);
    assert_eq!(
        (lost.verdict, lost.change, lost.p_value),
        (Verdict::Failed, None, None)
    );
    assert!(has(&lost, |note| *note == Note::NoSamples { side: Side::New }));
    let nothing_there = dedicated(&full, &empty);
    assert_eq!(nothing_there.verdict, Verdict::Inconclusive);
    assert!(has(&nothing_there, |note| *note
        == Note::NoSamples { side: Side::Base }));
}

#[test]
fn one_sample_a_side_shows_an_estimate_and_no_verdict_but_inconclusive() {
    let one = |time| measurement(vec![flat_launch(0, ITERATIONS, &[time])]);
    let comparison = dedicated(&one(101.0), &one(100.0));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!((comparison.change.unwrap().estimate - 0.01).abs() < 1e-9);
    assert_eq!(comparison.t_score_p, None);
    assert!(has(&comparison, |note| *note == Note::NoTScore));
    let screened = screened(&one(101.0), &one(100.0));
    assert_eq!(
        (screened.verdict, screened.p_value),
        (Verdict::Inconclusive, None)
    );
}

#[test]
fn all_values_equal_on_both_sides_is_unchanged_with_p_one() {
    let constant = floors(&[100.0; 5], 40);
    for decider in [RUN_LEVEL, SCREEN] {
        let comparison = pair(&constant, &constant.clone(), decider, HostClass::Shared);
        assert_eq!(comparison.verdict, Verdict::Unchanged);
        assert_eq!(comparison.p_value, Some(1.0));
        assert_eq!(comparison.change.unwrap().estimate, 0.0);
        assert!(has(&comparison, |note| *note == Note::NoVariance));
    }
}

#[test]
fn different_constants_are_the_exact_change_with_a_warning() {
    let (base, new) = (floors(&[100.0; 5], 40), floors(&[110.0; 5], 40));
    let comparison = screened(&new, &base);
    assert_eq!(comparison.verdict, Verdict::Regressed);
    assert!((comparison.change.unwrap().estimate - 0.1).abs() < 1e-9);
    assert!(has(&comparison, |note| *note == Note::NoVariance));
    let within = screened(&floors(&[101.0; 5], 40), &base);
    assert_eq!(within.verdict, Verdict::Unchanged);
}

#[test]
fn samples_of_no_or_hardly_any_time_are_never_no_change() {
    let instant = measurement((0..5).map(|k| flat_launch(k, 100, &[0.0; 50])).collect());
    let short = measurement((0..5).map(|k| flat_launch(k, 100, &[50.0; 50])).collect());
    let good = run(50.0);
    for (new, base, side) in [
        (&instant, &good, Side::New),
        (&short, &good, Side::New),
        (&good, &short, Side::Base),
    ] {
        let comparison = dedicated(new, base);
        assert_eq!(
            (comparison.verdict, comparison.change),
            (Verdict::Inconclusive, None)
        );
        assert!(has(
            &comparison,
            |note| matches!(note, Note::SamplesTooShort { side: s, .. } if *s == side)
        ));
    }
}

#[test]
fn a_coarse_clock_needs_longer_samples() {
    let mut coarse = run(100.0);
    for launch in &mut coarse.launches {
        launch.quantum = Nanos(10_000);
    }
    let comparison = dedicated(&coarse, &run(100.0));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(has(&comparison, |note| *note
        == Note::SamplesTooShort {
            side: Side::New,
            needed_ns: 5_120_000.0
        }));
}

#[test]
fn a_few_long_samples_among_short_ones_do_not_stand_for_the_launch() {
    // 50 us as a rule, 200 us when disturbed: only the disturbed ones would pass the length test.
    let mut times = vec![50.0; 40];
    times.extend([200.0; 10]);
    let disturbed = measurement((0..5).map(|k| flat_launch(k, 1_000, &times)).collect());
    assert_eq!(dedicated(&disturbed, &run(50.0)).change, None);
}

#[test]
fn failed_launches_leave_a_verdict_while_three_good_ones_are_left() {
    let base = run(100.0);
    let mut crashed = run(200.0);
    let failure = |launch| Failure {
        launch,
        message: "died".into(),
    };
    crashed.launches.truncate(3);
    crashed.failures = vec![failure(3), failure(4)];
    let comparison = dedicated(&crashed, &base);
    assert_eq!(
        (comparison.verdict, comparison.launches_new),
        (Verdict::Regressed, 3)
    );
    crashed.launches.truncate(2);
    crashed.failures.push(failure(2));
    let comparison = dedicated(&crashed, &base);
    assert_eq!(
        (comparison.verdict, comparison.change),
        (Verdict::Failed, None)
    );
    assert!(has(&comparison, |note| matches!(
        note,
        Note::LaunchesFailed {
            side: Side::New,
            failed: 3,
            good: 2
        }
    )));
}

#[test]
fn one_or_two_launches_by_choice_are_allowed_and_noted() {
    let base = run(100.0);
    for launches in [1, 2] {
        let mut few = run(200.0);
        few.launches.truncate(launches);
        // A single launch of 40 samples is too little for the low quantile.
        let comparison = dedicated(&few, &base);
        assert_eq!(comparison.verdict, Verdict::Regressed);
        assert!(has(&comparison, |note| *note
            == Note::FewLaunches {
                side: Side::New,
                launches
            }));
        assert_eq!(
            has(&comparison, |note| *note == Note::SamplesAsUnits),
            launches == 1
        );
        assert_eq!(comparison.location, Some(Location::Median));
        assert!(comparison.change_mean.is_some() && comparison.change_median.is_some());
    }
}

#[test]
fn samples_are_cut_to_the_common_count_in_the_order_taken() {
    // The long run's floor would fall with its later samples, which the short run never had.
    let short = floors(&[100.0; 5], 30);
    let mut long = short.clone();
    for launch in &mut long.launches {
        let late = flat_launch(0, ITERATIONS, &[80.0; 30]).series.flat;
        launch.series.flat.extend(late);
    }
    let comparison = screened(&long, &short);
    assert_eq!(comparison.change.unwrap().estimate, 0.0);
    assert_eq!(comparison.change_mean.unwrap().estimate, 0.0);
}

#[test]
fn without_a_flat_phase_the_longer_half_of_the_ramp_is_compared_by_its_median() {
    let ramp = |time: f64| {
        let launch = |k| {
            with_ramp(
                flat_launch(k, 1, &[]),
                1_000,
                40,
                time * (1.0 + 1e-4 * f64::from(k)),
                0.0,
            )
        };
        measurement((0..5).map(launch).collect())
    };
    let comparison = dedicated(&ramp(200.0), &ramp(100.0));
    assert_eq!(
        (comparison.verdict, comparison.location),
        (Verdict::Regressed, Some(Location::Median))
    );
    assert!(has(&comparison, |note| *note == Note::MedianOfRamp));
}

#[test]
fn sample_lengths_that_differ_more_than_fourfold_are_noted() {
    let lengths = |iterations| {
        measurement(
            (0..5)
                .map(|k| flat_launch(k, iterations, &[100.0; 40]))
                .collect(),
        )
    };
    let differ = |a, b| {
        has(&dedicated(&lengths(a), &lengths(b)), |note| {
            matches!(note, Note::SampleLengthsDiffer { .. })
        })
    };
    assert!(differ(5_000, 25_000) && differ(25_000, 5_000));
    assert!(!differ(5_000, 20_000));
}

#[test]
fn mean_and_median_of_all_samples_come_with_their_intervals() {
    let comparison = dedicated(&run(110.0), &run(100.0));
    for change in [
        comparison.change_mean.unwrap(),
        comparison.change_median.unwrap(),
    ] {
        assert!((change.estimate - 0.1).abs() < 0.002, "{change:?}");
        assert!(change.lower <= change.estimate && change.estimate <= change.upper);
        assert!(change.upper - change.lower < 0.02 && change.upper > change.lower);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (base, new) = (run(100.0), run(103.0));
    let text = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let reference = Reference {
                averaged: vec![&base],
                spread: vec![&base],
            };
            let questions = [&new, &base].map(|new| Question {
                new,
                reference: &reference,
                noise_threshold: 0.02,
            });
            format!(
                "{:?} {:?}",
                compare(&questions, &rules(SCREEN, HostClass::Shared)),
                summarize(&new, 0.95, 5_000, 1)
            )
        })
    };
    let one = text(1);
    assert_eq!(text(2), one);
    assert_eq!(text(8), one);
}

#[test]
fn every_note_reads_as_a_sentence_without_braces() {
    let notes = [
        Note::NoSamples { side: Side::New },
        Note::SamplesTooShort {
            side: Side::Base,
            needed_ns: 100_000.0,
        },
        Note::FewLaunches {
            side: Side::New,
            launches: 1,
        },
        Note::TooFewResamples { needed: 5_000 },
        Note::SampleLengthsDiffer { ratio: 5.25 },
    ];
    let texts = notes.map(|note| note.to_string());
    assert_eq!(
        texts[1],
        "the samples of the reference are too short to test; they need 100 us each (more iterations per sample)"
    );
    assert!(
        texts
            .iter()
            .all(|text| !text.contains(['{', '}']) && !text.ends_with('.'))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn verdict_and_printed_interval_never_disagree(
        new in prop::collection::vec(80.0f64..140.0, 2..7),
        base in prop::collection::vec(95.0f64..105.0, 2..7),
        others in prop::collection::vec(90.0f64..130.0, 0..4),
        screen in any::<bool>(),
    ) {
        let base = floors(&base, 30);
        let reference = Reference { averaged: vec![&base], spread: vec![&base] };
        let mut measured: Vec<Measurement> = others.iter().map(|floor| run(*floor)).collect();
        measured.push(floors(&new, 30));
        let questions: Vec<Question<'_>> =
            measured.iter().map(|new| Question { new, reference: &reference, noise_threshold: 0.02 }).collect();
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
        new in prop::collection::vec(80.0f64..140.0, 3..7),
        base in prop::collection::vec(80.0f64..140.0, 3..7),
        scale in 2_u32..9,
    ) {
        let scaled = |x: &[f64]| floors(&x.iter().map(|y| y * f64::from(scale)).collect::<Vec<_>>(), 40);
        let here = dedicated(&floors(&new, 40), &floors(&base, 40)).change.unwrap();
        let there = dedicated(&scaled(&new), &scaled(&base)).change.unwrap();
        // Times are whole nanoseconds, a millionth of a sample.
        prop_assert!((here.estimate - there.estimate).abs() < 1e-5);
        prop_assert!((here.lower - there.lower).abs() < 1e-4);
        let back = dedicated(&floors(&base, 40), &floors(&new, 40)).change.unwrap();
        prop_assert!((here.estimate.ln_1p() + back.estimate.ln_1p()).abs() < 1e-12);
        prop_assert!((here.lower.ln_1p() + back.upper.ln_1p()).abs() < 1e-9);
    }

    #[test]
    fn a_slower_new_side_never_raises_the_p_of_worsening(
        new in prop::collection::vec(101.0f64..140.0, 3..7),
        base in prop::collection::vec(80.0f64..100.0, 3..7),
        factor in 1.0f64..1.5,
    ) {
        let base = floors(&base, 40);
        let slower: Vec<f64> = new.iter().map(|y| y * factor).collect();
        let p = |new: &[f64]| dedicated(&floors(new, 40), &base).p_value.unwrap();
        prop_assert!(p(&slower) <= p(&new) + 1e-6);
    }
}
