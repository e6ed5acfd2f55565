//! Benchmarks that are hard to decide about, and the notes on them.

use super::*;
use crate::compare::Decision;
use crate::compare::paired::rank_test::differences_of_round;
use crate::compare::paired::series::PairedSamples;

#[test]
fn the_quickest_of_two_quads_stand_for_them() {
    let round = PairedSamples {
        base: vec![3.0, 4.0, 1.0, 2.0, 7.0, 9.0],
        candidate: vec![2.0, 5.0, 6.0, 1.5, 7.5, 8.0],
    };
    // The third quad has no partner.
    assert_eq!(differences_of_round(&round), [0.5, 0.5]);
    assert!(differences_of_round(&PairedSamples::default()).is_empty());
}

/// A cost of the position in ABBA does not look like a change if BAAB follows.
#[test]
fn a_cost_of_the_place_in_a_quad_is_no_change() {
    // The first sample of a quad is 3 % slow, as if the other side had cooled the caches; the sides lead alternately.
    let rounds = rounds_of(30, |_, side, i| {
        let (quad, first) = (i / 2, i % 2 == 0);
        let leads = (side == Side::Base) == (quad % 2 == 0);
        let noise = 1e-4 * (i % 7) as f64;
        100.0 * if leads && first { 1.03 } else { 1.0 } * (1.0 + noise)
    });
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Unchanged, "{comparison:?}");
    assert!(comparison.change.unwrap().estimate.abs() < 1e-3);
}

/// Returns the numbers of the notes about differing processes and samples.
fn what_differs(comparison: &Comparison) -> (Option<f64>, Option<f64>) {
    let find = |wanted: fn(&Note) -> Option<f64>| comparison.notes.iter().find_map(wanted);
    let of_processes = find(|note| match note {
        Note::ProcessesDiffer { by } => Some(*by),
        _ => None,
    });
    let of_samples = find(|note| match note {
        Note::SamplesDiffer { by } => Some(*by),
        _ => None,
    });
    (of_processes, of_samples)
}

#[test]
fn processes_that_differ_are_named_with_their_standard_deviation() {
    let mut noise = Noise::new(5);
    let speeds: Vec<f64> = (0..60).map(|_| 0.03 * noise.normal()).collect();
    let rounds = rounds_of(30, |round, side, _| {
        let process = 2 * round + usize::from(side == Side::Candidate);
        100.0 * speeds[process].exp() * (1.0 + 0.002 * noise.exponential())
    });
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let (of_processes, of_samples) = what_differs(&comparison);
    let by = of_processes.unwrap();
    assert!((0.02..0.04).contains(&by), "{by}");
    assert_eq!(of_samples, None);
}

#[test]
fn processes_are_named_though_samples_differ_as_much_because_a_round_has_many_of_them() {
    let mut noise = Noise::new(6);
    let mut process = 0.0;
    let rounds = rounds_of(60, |_, _, i| {
        if i == 0 {
            process = 0.03 * noise.normal();
        }
        100.0 * (process + 0.03 * noise.normal()).exp()
    });
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let (of_processes, of_samples) = what_differs(&comparison);
    let by = of_processes.expect("named");
    assert!((0.02..0.045).contains(&by), "{by}");
    assert_eq!(of_samples, None);
}

#[test]
fn samples_that_differ_are_named_with_their_standard_deviation() {
    let mut noise = Noise::new(5);
    let rounds = rounds_of(40, |_, _, _| 100.0 * (0.1 * noise.normal()).exp());
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let (of_processes, of_samples) = what_differs(&comparison);
    // The fastest of four samples on each side: 0.7 times as wide as one sample, and a difference of two.
    let by = of_samples.unwrap();
    assert!((0.07..0.13).contains(&by), "{by}");
    assert_eq!(of_processes, None);
}

/// Iterations take some milliseconds.
#[test]
fn few_samples_a_round_are_not_taken_for_processes() {
    let mut noise = Noise::new(5);
    let mut rounds = |count: usize, samples: usize| {
        let mut all = rounds_of(count, |_, _, _| 100.0 * (0.1 * noise.normal()).exp());
        for round in &mut all {
            round.base.truncate(samples);
            round.candidate.truncate(samples);
        }
        all
    };
    let one_difference = judged(&rounds(40, 4));
    assert_eq!(one_difference.verdict, Verdict::Inconclusive);
    assert_eq!(what_differs(&one_difference), (None, None));
    let two_differences = judged(&rounds(100, 8));
    assert_eq!(two_differences.verdict, Verdict::Inconclusive);
    let (of_processes, of_samples) = what_differs(&two_differences);
    assert_eq!(of_processes, None);
    assert!(of_samples.is_some(), "{:?}", two_differences.notes);
}

#[test]
fn nothing_is_named_where_the_rounds_have_decided() {
    for factor in [1.0, 1.05] {
        let comparison = judged(&quiet(30, factor));
        assert_eq!(what_differs(&comparison), (None, None), "{factor}");
    }
    // Differences below the threshold do not prevent a decision.
    let comparison = judged(&quiet(30, 1.01));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert_eq!(what_differs(&comparison), (None, None));
}

#[test]
fn long_iterations_are_named_where_nothing_is_decided() {
    let rounds = |factor: f64| -> Vec<Round> {
        let mut noise = Noise::new(8);
        let mut side = |factor: f64| {
            let time = |_| Nanos((2e7 * factor * (1.0 + 0.1 * noise.exponential())) as u64);
            (0..4)
                .map(time)
                .map(|elapsed| Sample {
                    iterations: 1,
                    elapsed,
                })
                .collect()
        };
        let round = |_| Round {
            layout: None,
            base: side(1.0),
            candidate: side(factor),
            led: Vec::new(),
        };
        (0..20).map(round).collect()
    };
    let long = |comparison: &Comparison| {
        has(
            comparison,
            |note| matches!(note, Note::LongIterations { iteration_ns } if (2e7..2.5e7).contains(iteration_ns)),
        )
    };
    let undecided = judged(&rounds(1.0));
    assert_eq!(undecided.verdict, Verdict::Inconclusive);
    assert!(long(&undecided), "{:?}", undecided.notes);
    let decided = judged(&rounds(1.5));
    assert_eq!(decided.verdict, Verdict::Regressed);
    assert!(!long(&decided), "{:?}", decided.notes);
}

#[test]
fn the_threshold_that_would_do_holds_the_whole_interval() {
    let mut noise = Noise::new(11);
    let rounds = rounds_of(24, |_, _, _| 100.0 * (0.05 * noise.normal()).exp());
    let undecided = judged(&rounds);
    assert_eq!(undecided.verdict, Verdict::Inconclusive);
    let threshold = undecided.sufficient_threshold().unwrap();
    let tenths = threshold * 1000.0;
    assert!((tenths - tenths.round()).abs() < 1e-9, "{threshold}");
    let plan = plan(&[24]);
    let again = judge_one(&rounds, threshold, &plan);
    assert_eq!(again.verdict, Verdict::Unchanged, "{threshold}: {again:?}");
    let less = judge_one(&rounds, threshold / 2.0, &plan);
    assert_eq!(less.verdict, Verdict::Inconclusive);
    // If the estimate is beyond the threshold, a larger threshold would hide a change that may be real.
    let beyond = judge_one(&quiet(24, 1.0101), 0.01, &plan);
    assert_eq!(beyond.verdict, Verdict::Inconclusive);
    assert_eq!(beyond.sufficient_threshold(), None);
    // A suspected slow path prevents `unchanged` at any threshold.
    let mut suspected = undecided;
    let Decision::Look(look) = &mut suspected.basis else {
        unreachable!("it was judged at a look");
    };
    look.slow_path.p = look.slow_path.suspicion;
    assert_eq!(suspected.sufficient_threshold(), None);
    // An interval within the threshold needs no other threshold.
    let within = judge_one(&quiet(24, 1.0), 0.01, &plan);
    assert_eq!(within.sufficient_threshold(), None);
}
