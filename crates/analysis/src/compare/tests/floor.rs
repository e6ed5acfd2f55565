//! Tests that the fastest process gives the value of a run, even if other processes are slow. Each test would fail if the mean gave it.

use super::*;

/// Creates a run with a process for each of `times`. Each process has 40 samples that take about this time.
fn processes(times: &[f64]) -> Measurement {
    floors(times, 40)
}

#[test]
fn slow_spells_over_whole_processes_neither_move_the_change_nor_widen_its_interval() {
    let base = processes(&[100.0, 100.1, 100.2, 100.1, 100.3]);
    let disturbed = processes(&[130.0, 100.0, 125.0, 100.1, 140.0]);
    for (candidate, base) in [(&disturbed, &base), (&base, &disturbed)] {
        let comparison = dedicated(candidate, base);
        let change = comparison.change.unwrap();
        assert!(change.estimate.abs() < 1e-4, "{change:?}");
        assert!((comparison.smallest_callable.unwrap() - 0.0755).abs() < 5e-4);
    }
}

#[test]
fn a_slowdown_is_found_in_spite_of_disturbed_processes_on_either_side() {
    let base = processes(&[100.0, 100.1, 130.0, 128.0, 100.2]);
    let slower = processes(&[112.0, 150.0, 112.1, 145.0, 112.3]);
    let comparison = dedicated(&slower, &base);
    assert_eq!(comparison.verdict, Verdict::Regressed, "{comparison:?}");
    assert!((comparison.change.unwrap().estimate - 0.12).abs() < 1e-3);
    assert_eq!(
        dedicated(&base, &slower).verdict,
        Verdict::Improved,
        "the same the other way round"
    );
}

#[test]
fn a_floor_of_one_process_alone_decides_nothing_and_is_noted() {
    let base = processes(&[100.0, 100.1, 100.2, 100.1, 100.3]);
    let lone = processes(&[130.0, 131.0, 160.0, 129.0, 132.0]);
    let hit = dedicated(&lone, &base);
    assert_eq!(hit.verdict, Verdict::Regressed);
    let lone = processes(&[150.0, 151.0, 160.0, 122.0, 152.0]);
    let comparison = dedicated(&lone, &base);
    assert_ne!(comparison.verdict, Verdict::Regressed);
    assert!((comparison.change.unwrap().estimate - 0.22).abs() < 1e-3);
    assert!(comparison.smallest_callable.unwrap() > 1.0);
    assert!(has(
        &comparison,
        |note| matches!(note, Note::LoneFloor { side: Side::Candidate, gap } if (gap - 28.0 / 122.0).abs() < 1e-3)
    ));
    let far = processes(&[450.0, 451.0, 460.0, 366.0, 452.0]);
    assert_eq!(dedicated(&far, &base).verdict, Verdict::Inconclusive);
    let far = processes(&[4500.0, 4510.0, 4600.0, 3660.0, 4520.0]);
    assert_eq!(dedicated(&far, &base).verdict, Verdict::Regressed);
    let against = dedicated(&base, &lone);
    assert!(has(&against, |note| matches!(
        note,
        Note::LoneFloor {
            side: Side::Base,
            ..
        }
    )));
}

#[test]
fn processes_that_are_slower_while_the_fastest_are_not_make_a_suspect_that_says_so() {
    let even = |step: u32| 100.0 + 0.1 * f64::from(step % 4);
    let base = processes(&(0..16).map(even).collect::<Vec<_>>());
    // Five of sixteen processes are not slow, so a resample without any of them is rare.
    let some = |step: u32| even(step) + if step < 5 { 0.0 } else { 15.0 };
    let candidate = processes(&(0..16).map(some).collect::<Vec<_>>());
    let comparison = dedicated(&candidate, &base);
    assert_eq!(comparison.verdict, Verdict::Suspect, "{comparison:?}");
    assert!(comparison.change.unwrap().estimate.abs() < 1e-3);
    assert!(has(
        &comparison,
        |note| matches!(note, Note::SlowerButForTheFastest { change } if (0.09..0.11).contains(change))
    ));
    let all = processes(&(0..16).map(|step| even(step) + 4.0).collect::<Vec<_>>());
    let comparison = dedicated(&all, &base);
    assert_eq!(comparison.verdict, Verdict::Suspect);
    assert!(!has(&comparison, |note| matches!(
        note,
        Note::SlowerButForTheFastest { .. }
    )));
}

#[test]
fn with_screen_the_change_is_that_of_the_mean_over_processes() {
    let base = processes(&[100.0; 5]);
    let candidate = processes(&[100.0, 110.0, 110.0, 110.0, 110.0]);
    let change = |decider| {
        pair(&candidate, &base, decider, HostClass::Dedicated)
            .change
            .unwrap()
            .estimate
    };
    assert!(change(RUN_LEVEL).abs() < 1e-6);
    assert!((change(SCREEN) - (1.1_f64.powf(0.8) - 1.0)).abs() < 1e-6);
}

#[test]
fn an_undisturbed_run_after_disturbed_ones_is_not_faster() {
    let runs: Vec<Measurement> = (0..8)
        .map(|run| processes(&[100.0, 100.1, 125.0 + f64::from(run), 100.2, 130.0]))
        .collect();
    let reference = Reference {
        averaged: runs.iter().collect(),
        spread: runs.iter().collect(),
        earlier: vec![],
    };
    let decide = |decider, floor: f64| {
        let candidate = processes(&[0.0, 0.1, 0.2, 0.1, 0.0].map(|above| floor + above));
        let question = Question {
            candidate: &candidate,
            reference: &reference,
            noise_threshold: 0.02,
        };
        compare(&[question], &rules(decider, HostClass::Dedicated)).remove(0)
    };
    let screened = decide(SCREEN, 100.0);
    assert!(screened.change.unwrap().estimate < -0.08);
    assert_eq!(screened.verdict, Verdict::Inconclusive, "{screened:?}");
    let by_runs = decide(RUN_LEVEL, 100.0);
    assert_eq!(by_runs.verdict, Verdict::Unchanged);
    assert!(!has(&by_runs, |note| *note == Note::FasterByTScoreOnly));
    // If the fastest process of a run is faster, too, the verdict is `improved`.
    assert_eq!(decide(SCREEN, 90.0).verdict, Verdict::Improved);
}

#[test]
fn the_drift_is_estimated_from_floors_so_disturbed_runs_of_the_past_do_not_widen_it() {
    let runs: Vec<Measurement> = (0..10)
        .map(|run| {
            let slow = 120.0 + 3.0 * f64::from(run % 4);
            processes(&[100.0, slow, 100.05, slow + 9.0, 100.1])
        })
        .collect();
    let reference = Reference {
        averaged: runs.iter().collect(),
        spread: runs.iter().collect(),
        earlier: vec![],
    };
    let candidate = processes(&[100.2, 100.1, 127.0, 126.0, 100.1]);
    let question = Question {
        candidate: &candidate,
        reference: &reference,
        noise_threshold: 0.03,
    };
    let comparison = compare(&[question], &rules(RUN_LEVEL, HostClass::Dedicated)).remove(0);
    // The floors do not drift, so only the prior counts: sqrt(4 x .01^2 / 13).
    assert!((comparison.run_grounds().unwrap().run_sd - 0.005_547).abs() < 1e-5);
    assert_eq!(comparison.verdict, Verdict::Unchanged, "{comparison:?}");
}

#[test]
fn medians_of_few_samples_are_averaged_over_processes() {
    let candidate = floors(&[100.0, 110.0, 105.0, 120.0, 115.0], 5);
    let base = floors(&[100.0; 5], 5);
    let comparison = dedicated(&candidate, &base);
    assert_eq!(comparison.location(), Some(Location::Median));
    let mean = (110.0_f64 * 1.05 * 1.2 * 1.15 / 100.0).ln() / 5.0;
    assert!((comparison.change.unwrap().estimate - mean.exp_m1()).abs() < 1e-5);
    assert!(!has(&comparison, |note| matches!(
        note,
        Note::LoneFloor { .. }
    )));
}
