//! Input that is missing, constant, too short or cut down.

use super::*;
use crate::model::{Failure, Nanos, Side};

#[test]
fn no_samples_in_the_new_run_is_failed_and_none_in_the_reference_inconclusive() {
    let (full, empty) = (run(100.0), measurement(vec![]));
    let lost = dedicated(&empty, &full);
    assert_eq!(
        (lost.verdict, lost.change, lost.p_value),
        (Verdict::Failed, None, None)
    );
    assert!(has(&lost, |note| *note
        == Note::NoSamples {
            side: Side::Candidate
        }));
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
    assert_eq!(t_score_p(&comparison), None);
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
    let (base, candidate) = (floors(&[100.0; 5], 40), floors(&[110.0; 5], 40));
    let comparison = screened(&candidate, &base);
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
    for (candidate, base, side) in [
        (&instant, &good, Side::Candidate),
        (&short, &good, Side::Candidate),
        (&good, &short, Side::Base),
    ] {
        let comparison = dedicated(candidate, base);
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
fn n_x18_a_coarse_clock_needs_longer_samples() {
    let mut coarse = run(100.0);
    for launch in &mut coarse.launches {
        launch.quantum = Nanos(10_000);
    }
    let comparison = dedicated(&coarse, &run(100.0));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(has(&comparison, |note| *note
        == Note::SamplesTooShort {
            side: Side::Candidate,
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
        (comparison.verdict, comparison.extent.launches_candidate()),
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
            side: Side::Candidate,
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
                side: Side::Candidate,
                launches
            }));
        assert_eq!(
            has(&comparison, |note| *note == Note::SamplesAsUnits),
            launches == 1
        );
        assert_eq!(comparison.location(), Some(Location::Median));
        assert!(comparison.description.mean.is_some() && comparison.description.median.is_some());
    }
}
