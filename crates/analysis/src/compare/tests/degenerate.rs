//! Tests of comparisons of stored runs whose samples are missing, constant, too short or cut down.

use super::*;
use crate::compare::fixtures::with_ramp;
use crate::model::{Failure, Metric, Nanos, ProcessSeries, Side};

#[test]
fn no_samples_in_the_new_run_is_failed_and_none_in_the_reference_inconclusive() {
    let (full, empty) = (run(100.0), measurement(vec![]));
    let hollow = measurement((0..5).map(|k| flat_process(k, ITERATIONS, &[])).collect());
    for nothing in [&empty, &hollow] {
        let lost = dedicated(nothing, &full);
        assert_eq!(
            (lost.verdict, lost.change, lost.p_value),
            (Verdict::Failed, None, None)
        );
        assert!(has(&lost, |note| *note
            == Note::NoSamples {
                side: Side::Candidate
            }));
    }
    let nothing_there = dedicated(&full, &empty);
    assert_eq!(nothing_there.verdict, Verdict::Inconclusive);
    assert!(has(&nothing_there, |note| *note
        == Note::NoSamples { side: Side::Base }));
}

#[test]
fn one_sample_a_side_shows_an_estimate_and_no_verdict_but_inconclusive() {
    let one = |time| measurement(vec![flat_process(0, ITERATIONS, &[time])]);
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
    let instant = measurement((0..5).map(|k| flat_process(k, 100, &[0.0; 50])).collect());
    let short = measurement((0..5).map(|k| flat_process(k, 100, &[50.0; 50])).collect());
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
fn what_takes_nothing_any_more_is_faster_where_no_clock_may_have_missed_it() {
    let without_clock = |mut run: Measurement| {
        for process in &mut run.processes {
            process.quantum = Nanos(0);
        }
        run
    };
    let instant = || measurement((0..5).map(|k| flat_process(k, 100, &[0.0; 50])).collect());
    let (base, nothing) = (without_clock(run(6.0)), without_clock(instant()));
    let found = dedicated(&nothing, &base);
    assert_eq!(found.verdict, Verdict::Improved, "{found:?}");
    let change = found.change.unwrap();
    assert_eq!(
        (change.estimate, change.lower, change.upper),
        (-1.0, -1.0, -1.0)
    );
    assert_eq!(found.p_value, Some(0.0));
    assert_eq!(found.compared.unwrap().candidate, 0.0);
    // A change from zero has no ratio. If a clock reads zero, it was too coarse.
    for (candidate, base) in [(&base, &nothing), (&nothing, &nothing)] {
        let found = dedicated(candidate, base);
        assert_eq!((found.verdict, found.change), (Verdict::Inconclusive, None));
    }
    assert_eq!(
        dedicated(&instant(), &run(6.0)).verdict,
        Verdict::Inconclusive
    );
}

#[test]
fn n_x18_a_coarse_clock_needs_longer_samples() {
    let mut coarse = run(100.0);
    for process in &mut coarse.processes {
        process.quantum = Nanos(10_000);
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
fn constants_beyond_the_threshold_by_less_than_a_step_of_the_clock_are_not_called() {
    let verdict = |of_candidate, of_base| {
        let constant = |floor, quantum| {
            let mut run = floors(&[floor; 5], 40);
            for process in &mut run.processes {
                process.quantum = Nanos(quantum);
            }
            run
        };
        screened(&constant(102.1, of_candidate), &constant(100.0, of_base)).verdict
    };
    // As logarithms, the change of 2.1 % is 2.08 % and the threshold is 1.98 %. A clock step of 1.9 us is .19 % of a sample of a millisecond.
    assert_eq!(verdict(1, 1), Verdict::Regressed);
    assert_eq!(verdict(1_900, 1), Verdict::Inconclusive);
    assert_eq!(verdict(1, 1_900), Verdict::Inconclusive);
}

#[test]
fn a_few_long_samples_among_short_ones_do_not_stand_for_the_process() {
    // Samples take 50 us normally and 200 us when disturbed, so only the disturbed samples would be long enough.
    let mut times = vec![50.0; 40];
    times.extend([200.0; 10]);
    let disturbed = measurement((0..5).map(|k| flat_process(k, 1_000, &times)).collect());
    assert_eq!(dedicated(&disturbed, &run(50.0)).change, None);
}

/// Creates a process of a Criterion bench: a ramp of 200 samples in steps of `step` iterations that take `ns` each.
fn ramp_process(process: u32, step: u64, ns: f64) -> ProcessSeries {
    with_ramp(flat_process(process, 1, &[]), step, 200, ns, 0.0)
}

#[test]
fn the_one_process_that_was_slow_throughout_does_not_stand_for_a_run_of_short_samples() {
    // The warm-up took 70 ns per iteration instead of 5.55 ns. So the samples of the ramps take only 100 ns to 20 us, except in the slow process.
    let mut before: Vec<ProcessSeries> = (0..5).map(|k| ramp_process(k, 18, 5.55)).collect();
    before[3] = ramp_process(3, 18, 1_935.0);
    let before = measurement(before);
    let after: Vec<ProcessSeries> = (0..5).map(|k| ramp_process(k, 900, 12.47)).collect();
    let after = measurement(after);
    for decider in [RUN_LEVEL, SCREEN] {
        for (candidate, base, side) in [
            (&after, &before, Side::Base),
            (&before, &after, Side::Candidate),
        ] {
            let found = pair(candidate, base, decider, HostClass::Dedicated);
            assert_eq!((found.verdict, found.change), (Verdict::Inconclusive, None));
            assert!(has(
                &found,
                |note| matches!(note, Note::SamplesTooShort { side: s, .. } if *s == side)
            ));
        }
    }
}

#[test]
fn a_process_whose_warm_up_was_slowed_down_is_left_out_whatever_its_samples_took() {
    let base = measurement((0..5).map(|k| ramp_process(k, 900, 12.0)).collect());
    let with = |ns: f64| {
        let mut processes: Vec<ProcessSeries> =
            (0..5).map(|k| ramp_process(k, 900, 12.0)).collect();
        processes[1] = ramp_process(1, 9, ns);
        measurement(processes)
    };
    // The samples of 6 and 12 ns per iteration are too short. A disturbance made the samples of 12,000 ns long enough.
    for ns in [6.0, 12.0, 12_000.0] {
        let found = dedicated(&with(ns), &base);
        assert_eq!(found.change.map(|change| change.estimate), Some(0.0));
        assert_eq!(found.extent.processes_candidate(), 4);
        assert!(has(&found, |note| *note
            == Note::ProcessesLeftOut {
                side: Side::Candidate,
                left_out: 1,
                used: 4
            }));
        let is_about_base = |note: &Note| {
            matches!(
                note,
                Note::ProcessesLeftOut {
                    side: Side::Base,
                    ..
                }
            )
        };
        assert!(!has(&found, is_about_base), "all of them were used");
    }
    let mut few = with(12.0);
    few.processes[2] = ramp_process(2, 9, 12.0);
    few.processes[4] = ramp_process(4, 9, 12.0);
    let found = dedicated(&few, &base);
    assert_eq!(found.change, None, "two of five cannot stand for the run");
}

#[test]
fn amounts_are_never_too_short() {
    let events = |amount: f64| {
        let processes = (0..5).map(|k| flat_process(k, 50, &[amount; 30]));
        let mut found = measurement(processes.collect());
        found.benchmark.metric = Metric::Amount {
            unit: "events".into(),
        };
        found
    };
    let found = dedicated(&events(4.0), &events(3.0));
    assert_eq!(found.verdict, Verdict::Regressed);
    assert!((found.change.unwrap().estimate - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        dedicated(&events(3.0), &events(3.0)).verdict,
        Verdict::Unchanged
    );
}

#[test]
fn failed_processes_leave_a_verdict_while_three_good_ones_are_left() {
    let base = run(100.0);
    let mut crashed = run(200.0);
    let failure = |process| Failure {
        process,
        side: Side::Candidate,
        message: "died".into(),
    };
    crashed.processes.truncate(3);
    crashed.failures = vec![failure(3), failure(4)];
    let comparison = dedicated(&crashed, &base);
    assert_eq!(
        (comparison.verdict, comparison.extent.processes_candidate()),
        (Verdict::Regressed, 3)
    );
    crashed.processes.truncate(2);
    crashed.failures.push(failure(2));
    let comparison = dedicated(&crashed, &base);
    assert_eq!(
        (comparison.verdict, comparison.change),
        (Verdict::Failed, None)
    );
    assert!(has(&comparison, |note| matches!(
        note,
        Note::ProcessesFailed {
            side: Side::Candidate,
            failed: 3,
            good: 2
        }
    )));
}

#[test]
fn one_or_two_processes_by_choice_are_allowed_and_noted() {
    let base = run(100.0);
    for processes in [1, 2] {
        let mut few = run(200.0);
        few.processes.truncate(processes);
        // With 40 samples per process, one or two processes have too few samples for the low quantile.
        let comparison = dedicated(&few, &base);
        assert_eq!(comparison.verdict, Verdict::Regressed);
        assert!(!has(&comparison, |note| matches!(
            note,
            Note::ProcessesFailed { .. }
        )));
        assert!(has(&comparison, |note| *note
            == Note::FewProcesses {
                side: Side::Candidate,
                processes
            }));
        assert_eq!(
            has(&comparison, |note| *note == Note::SamplesAsUnits),
            processes == 1
        );
        assert_eq!(comparison.location(), Some(Location::Median));
        assert!(comparison.description.mean.is_some() && comparison.description.median.is_some());
    }
}

#[test]
fn one_process_a_side_and_no_other_run_is_no_verdict_where_a_clock_may_have_been_disturbed() {
    let lone = |floor| floors(&[floor], 40);
    let is_noted = |comparison: &Comparison| has(comparison, |note| *note == Note::LoneProcesses);
    // A bench process that a busy host slowed down from its first sample to its last looks like this.
    for (candidate, base) in [(166.0, 100.0), (100.0, 166.0), (100.0, 100.1)] {
        let comparison = dedicated(&lone(candidate), &lone(base));
        assert_eq!(comparison.verdict, Verdict::Inconclusive, "{candidate}");
        assert!(comparison.change.is_some() && is_noted(&comparison));
    }
    let slower = dedicated(&floors(&[166.0, 166.2], 40), &lone(100.0));
    assert_eq!(slower.verdict, Verdict::Regressed);
    assert!(!is_noted(&slower));
    let without_clock = |floor| {
        let mut one = lone(floor);
        one.processes[0].quantum = Nanos(0);
        one
    };
    let imported = dedicated(&without_clock(166.0), &without_clock(100.0));
    assert_eq!(imported.verdict, Verdict::Regressed);
    assert!(!is_noted(&imported));
}

#[test]
fn samples_stand_for_processes_if_a_side_has_only_one_of_these() {
    let run = |processes| floors(&[100.0, 100.2, 100.4][..processes], 40);
    for (candidate, base, is_noted) in [
        (1, 3, true),
        (3, 1, true),
        (2, 3, false),
        (3, 2, false),
        (2, 2, false),
    ] {
        let comparison = dedicated(&run(candidate), &run(base));
        let found = has(&comparison, |note| *note == Note::SamplesAsUnits);
        assert_eq!(found, is_noted, "{candidate} {base}");
    }
}

#[test]
fn three_processes_are_not_few() {
    let few = |base: usize, candidate: usize| {
        let of = |count: usize| floors(&[100.0, 100.1, 100.2][..count], 120);
        let found = dedicated(&of(candidate), &of(base));
        let notes = found.notes.into_iter().filter_map(|note| match note {
            Note::FewProcesses { side, processes } => Some((side, processes)),
            _ => None,
        });
        notes.collect::<Vec<_>>()
    };
    assert_eq!(few(3, 3), []);
    assert_eq!(few(2, 3), [(Side::Base, 2)]);
    assert_eq!(few(3, 2), [(Side::Candidate, 2)]);
}
