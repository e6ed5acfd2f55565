//! Tests of what notes and descriptions say about the host, with constructed measurements.

use super::*;
use crate::compare::fixtures::{ITERATIONS, flat_process, floors, measurement};
use crate::compare::{HostClass, Reference, TestPolicy, compare, summarize};
use crate::model::{Control, DecisionSettings, ProcessUsage, Side, Test};

fn conduct(pass: u64, spread: u64) -> ProcessUsage {
    ProcessUsage {
        threads: 1,
        cpu: Nanos(1_000_000_000),
        working_time: Nanos(1_000_000_000),
        control: Some(Control {
            pass: Nanos(pass),
            spread: Nanos(spread),
        }),
        ..ProcessUsage::default()
    }
}

/// Creates five processes whose fastest samples take `floor`. The control workload took `pass` before each of them.
fn run(floor: f64, pass: u64) -> Measurement {
    let mut result = floors(
        &[floor, floor * 1.002, floor * 1.004, floor * 1.006, floor],
        100,
    );
    for process in &mut result.processes {
        process.conduct = Some(conduct(pass, pass / 100));
    }
    result
}

fn compared(base: &Measurement, candidate: &Measurement) -> Comparison {
    compared_by(Test::BootstrapT, base, candidate)
}

fn compared_by(test: Test, base: &Measurement, candidate: &Measurement) -> Comparison {
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
        earlier: vec![],
    };
    let question = Question {
        candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let rules = TestPolicy {
        decision: DecisionSettings {
            resamples: 1000,
            analysis: test.into(),
            ..DecisionSettings::default()
        },
        host: HostClass::Shared,
        seed: 1,
    };
    compare(&[question], &rules).remove(0)
}

fn move_of(base: &Measurement, candidate: &Measurement) -> Option<f64> {
    let found = compared(base, candidate);
    found.notes.iter().find_map(|note| match note {
        Note::Host(HostNote::HostMoved { change }) => Some(*change),
        _ => None,
    })
}

#[test]
fn n_x16_a_host_that_moved_by_more_than_the_change_is_named_and_one_that_did_not_is_not() {
    let base = run(100.0, 70_000);
    let slower = move_of(&base, &run(104.0, 74_200)).expect("6 % against 4 %");
    assert!((slower - 0.06).abs() < 1e-9, "{slower}");
    let faster = move_of(&base, &run(96.0, 65_800)).expect("-6 % against -4 %");
    assert!((faster + 0.06).abs() < 1e-9, "{faster}");
    assert_eq!(
        move_of(&base, &run(110.0, 74_200)),
        None,
        "the change is larger"
    );
    assert_eq!(move_of(&base, &run(104.0, 65_800)), None, "the other way");
    assert_eq!(
        move_of(&base, &run(100.0, 74_200)),
        None,
        "nothing was called"
    );
    assert_eq!(
        move_of(&base, &run(104.0, 700_000)),
        None,
        "another workload"
    );
    let mut unknown = run(104.0, 74_200);
    unknown
        .processes
        .iter_mut()
        .for_each(|process| process.conduct = None);
    assert_eq!(move_of(&base, &unknown), None);
}

/// Returns the change of the control workload if it is reported as a change of the host. The workload took 100,000 ns before the base and `pass`
/// before the candidate, which is a suspect that changed by `change`.
fn moved_beside_a_suspect(pass: u64, change: f64) -> Option<f64> {
    moved_beside(Verdict::Suspect, 0.0, pass, change)
}

fn moved_beside(verdict: Verdict, noise_threshold: f64, pass: u64, change: f64) -> Option<f64> {
    let (base, candidate) = (run(100.0, 100_000), run(104.0, pass));
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![],
        earlier: vec![],
    };
    let question = Question {
        candidate: &candidate,
        reference: &reference,
        noise_threshold: 0.0,
    };
    let mut found = compared(&base, &candidate);
    found.verdict = verdict;
    found.noise_threshold = noise_threshold;
    found.change = Some(Estimate::unbounded(change));
    match host_moved(&question, &found) {
        Some(Note::Host(HostNote::HostMoved { change })) => Some(change),
        _ => None,
    }
}

#[test]
fn n_x16_the_smallest_move_that_is_reported_is_one_percent() {
    assert_eq!(moved_beside_a_suspect(100_900, 0.005), None);
    assert!(moved_beside_a_suspect(101_100, 0.005).is_some());
}

#[test]
fn n_x16_a_control_workload_is_another_one_if_it_takes_more_than_twice_or_less_than_half_as_long() {
    for (pass, change, moved) in [
        (195_000, 0.005, Some(0.95)),
        (205_000, 0.005, None),
        (51_000, -0.005, Some(-0.49)),
        (49_000, -0.005, None),
    ] {
        let found = moved_beside_a_suspect(pass, change);
        assert_eq!(found.is_some(), moved.is_some(), "{pass}");
        let difference = found.unwrap_or(0.0) - moved.unwrap_or(0.0);
        assert!(difference.abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn n_x16_a_host_that_moved_is_named_whatever_test_decides() {
    let (base, candidate) = (run(100.0, 70_000), run(104.0, 74_200));
    for test in Test::ALL {
        let notes = compared_by(*test, &base, &candidate).notes;
        let moved = |note: &Note| matches!(note, Note::Host(HostNote::HostMoved { .. }));
        // The ratio test, like BenchForge, ignores a ratio below 1.05.
        assert_eq!(notes.iter().any(moved), *test != Test::P95Ratio, "{test}");
    }
}

#[test]
fn n_x16_a_note_changes_no_verdict() {
    let base = run(100.0, 70_000);
    let (with, without) = (run(104.0, 74_200), run(104.0, 70_000));
    let (with, without) = (compared(&base, &with), compared(&base, &without));
    assert_eq!(with.verdict, without.verdict);
    assert_eq!(with.change, without.change);
    assert_ne!(with.notes, without.notes);
}

#[test]
fn n_x15_jitter_has_a_word() {
    let words: Vec<&str> = [0.0, 0.049, 0.05, 0.1, 0.3, 0.31]
        .into_iter()
        .map(|jitter| Steadiness::from_jitter(jitter).word())
        .collect();
    let expected = ["quiet", "quiet", "moderate", "shared", "shared", "unsteady"];
    assert_eq!(words, expected);
    let mut result = run(100.0, 70_000);
    result.processes[0].conduct = Some(conduct(70_000, 14_000));
    let signs = HostControls::from_measurements([&result].into_iter());
    assert_eq!(signs.jitter, Some(0.2), "the largest");
    assert_eq!(signs.steadiness(), Some(Steadiness::Shared));
    assert_eq!(
        (signs.control_ns, signs.control_range),
        (Some(70_000.0), Some(0.0))
    );
    assert_eq!(signs.clock_step, Some(Nanos(1)));
    assert_eq!(
        HostControls::from_measurements([].into_iter()),
        HostControls::default()
    );
}

/// Creates a process for each of `percents`. Its samples take 100 ns in the first half, and that many percent more in the second.
fn steps(percents: &[f64]) -> Measurement {
    let process = |(ordinal, percent): (u32, &f64)| {
        let times: Vec<f64> = (0..60)
            .map(|i| 100.0 + f64::from(i % 3) + if i < 30 { 0.0 } else { *percent })
            .collect();
        flat_process(ordinal, ITERATIONS, &times)
    };
    measurement((0..).zip(percents).map(process).collect())
}

#[test]
fn n_x20_processes_whose_halves_are_ten_percent_apart_are_counted_and_noted_where_they_are_half() {
    let counted = |thresholds| count_drifting(&steps(&[0.0, 9.0, 12.0, 15.0]), &thresholds);
    let mut wide = Thresholds::default();
    wide.set("drift-change", 0.13).expect("in range");
    assert_eq!((counted(Thresholds::default()), counted(wide)), (2, 1));
    let base = steps(&[0.0; 4]);
    let noted = |percents: &[f64]| {
        let found = compared(&base, &steps(percents));
        found.notes.iter().find_map(|note| match note {
            Note::Host(HostNote::ProcessesDrift {
                side,
                drifting,
                processes,
            }) => Some((*side, *drifting, *processes)),
            _ => None,
        })
    };
    assert_eq!(noted(&[0.0, 0.0, 0.0, 15.0]), None);
    assert_eq!(noted(&[0.0, 0.0, 15.0]), None);
    assert_eq!(
        noted(&[0.0, 0.0, 12.0, 15.0]),
        Some((Side::Candidate, 2, 4))
    );
}

#[test]
fn n_x20_ten_percent_within_four_standard_errors_is_no_drift() {
    let times = [100.0, 10.0, 300.0, 90.0, 130.0, 10.0, 350.0, 90.0];
    let process = measurement(vec![flat_process(0, ITERATIONS, &times)]);
    assert_eq!(count_drifting(&process, &Thresholds::default()), 0);
}

#[test]
fn n_x23_interruptions_are_a_share_of_the_samples_and_noted_from_a_fifth_on() {
    let with = |switches| {
        let mut result = run(100.0, 70_000);
        for process in &mut result.processes {
            let conduct = process.conduct.as_mut().expect("made so");
            conduct.involuntary_switches = switches;
        }
        result
    };
    // A sample takes 1 ms, and a process a second. So 100 switches hit at most a tenth of the samples.
    let share = |switches| interrupted_share(&with(switches)).expect("known");
    assert!((share(100) - 0.1).abs() < 0.001, "{}", share(100));
    assert_eq!(share(3), 0.0, "15 in all are an accident");
    assert_eq!(share(100_000), 1.0);
    let noted = |switches| {
        let notes = compared(&run(100.0, 70_000), &with(switches)).notes;
        notes.iter().any(|note| {
            matches!(
                note,
                Note::Host(HostNote::SamplesInterrupted {
                    side: Side::Candidate,
                    ..
                })
            )
        })
    };
    assert!(!noted(100) && noted(300));
}

#[test]
fn n_x18_an_interval_narrower_than_a_step_of_the_clock_is_named() {
    let of = |step| {
        let mut result = floors(&[100.0; 5], 50);
        for process in &mut result.processes {
            process.quantum = Nanos(step);
        }
        let summary = summarize(&result, 0.95, 1000, 1).expect("samples");
        Disturbance::from_measurement(&result, &summary)
    };
    // All processes are alike, so the interval is a single point.
    let known = of(41);
    assert!((known.clock_step_ns.unwrap() - 0.0041).abs() < 1e-12);
    assert!(known.narrower_than_clock);
    let with_interval = |half: f64| {
        let mut result = floors(&[100.0; 5], 50);
        result
            .processes
            .iter_mut()
            .for_each(|process| process.quantum = Nanos(2 * ITERATIONS));
        let mut summary = summarize(&result, 0.95, 1000, 1).expect("samples");
        (summary.median.lower, summary.median.upper) = (100.0 - half, 100.0 + half);
        Disturbance::from_measurement(&result, &summary).narrower_than_clock
    };
    // Divided by the iterations of a sample, the clock step is two nanoseconds.
    assert!(with_interval(0.5) && !with_interval(1.0) && !with_interval(1.5));
    let unknown = of(0);
    assert_eq!(
        (unknown.clock_step_ns, unknown.narrower_than_clock),
        (None, false)
    );
    let mut wide = floors(&[100.0, 101.0, 102.0, 103.0, 104.0], 50);
    wide.processes[0].quantum = Nanos(41);
    let summary = summarize(&wide, 0.95, 1000, 1).expect("samples");
    assert!(!Disturbance::from_measurement(&wide, &summary).narrower_than_clock);
}

#[test]
fn a_side_without_processes_neither_drifts_nor_is_interrupted() {
    let (nothing, base) = (measurement(vec![]), run(100.0, 70_000));
    assert_eq!(interrupted_share(&nothing), None);
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![],
        earlier: vec![],
    };
    let question = Question {
        candidate: &nothing,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let found = compared(&base, &base);
    assert_eq!(
        disturbance_notes(&question, &found, &Thresholds::default()),
        []
    );
}

#[test]
fn an_open_change_is_explained_only_if_it_exceeds_the_noise_threshold() {
    let explained = |verdict, change| moved_beside(verdict, 0.02, 106_000, change).is_some();
    for (change, is_explained) in [(0.02, false), (0.02_f64.next_up(), true)] {
        assert_eq!(explained(Verdict::Inconclusive, change), is_explained);
        assert!(explained(Verdict::Regressed, change));
        assert!(!explained(Verdict::Unchanged, change));
    }
    let open = |change| moved_beside(Verdict::Inconclusive, 0.02, 94_000, change).is_some();
    assert!(!open(-0.02) && open(-0.02_f64.next_up()));
}

#[test]
fn twenty_interruptions_are_no_accident() {
    let share = |switches: u64| {
        let mut run = measurement(vec![flat_process(0, ITERATIONS, &[100.0; 4])]);
        let usage = ProcessUsage {
            involuntary_switches: switches,
            ..conduct(0, 0)
        };
        run.processes[0].conduct = Some(usage);
        interrupted_share(&run)
    };
    // Each sample takes a millisecond, and the process a second.
    assert_eq!((share(19), share(20)), (Some(0.0), Some(0.02)));
}

#[test]
fn a_control_workload_that_took_no_time_and_a_clock_without_steps_are_unknown() {
    let mut run = measurement(vec![flat_process(0, ITERATIONS, &[100.0; 4])]);
    run.processes[0].conduct = Some(conduct(0, 0));
    let found = HostControls::from_measurements([&run].into_iter());
    assert_eq!((found.control_ns, found.clock_step), (None, Some(Nanos(1))));
    run.processes[0].conduct = Some(conduct(70_000, 0));
    run.processes[0].quantum = Nanos(0);
    let found = HostControls::from_measurements([&run].into_iter());
    assert_eq!((found.control_ns, found.clock_step), (Some(70_000.0), None));
}
