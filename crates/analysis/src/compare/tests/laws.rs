//! Tests laws that hold for any measurements, and false alarms and power of the whole procedure in a small seeded simulation. The large simulation is
//! `tools/src/bin/simulate_stored.rs`.

use proptest::prelude::*;

use super::*;
use perfcheck_stats::{Draws, Stream};

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
        // Sample times are rounded to whole nanoseconds, which are about a millionth of a sample.
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

const RUNS_IN_REFERENCE: usize = 20;

/// The number of runs that are simulated for each rate of alarms.
const SIMULATED: u64 = 200;

/// The .999 quantile of Binomial(200, .01). If there are more false alarms than this at a level of 1 %, they are not due to chance.
const MOST_ALARMS: usize = 8;

/// Generates standard normal numbers (Box and Muller 1958).
struct Normal(Draws);

impl Normal {
    fn next(&mut self) -> f64 {
        let (a, b) = self.0.index_pair(1 << 24);
        let [a, b] = [a, b].map(|draw| (draw as f64 + 0.5) / f64::from(1 << 24));
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// How the processes of a simulated run differ.
#[derive(Clone, Copy, PartialEq)]
enum Noise {
    /// Processes differ log-normally, by 1 %.
    Quiet,
    /// Processes differ log-normally by 1 %, and every fourth process is 25 % slower.
    Disturbed,
}

/// Creates a run of five processes with log-normal drift between runs. Its code takes `factor` times the usual time.
fn drifting_run(normal: &mut Normal, drift: f64, noise: Noise, factor: f64) -> Measurement {
    let run = drift * normal.next();
    let times: Vec<f64> = (0..5)
        .map(|_| {
            let disturbed = noise == Noise::Disturbed && normal.0.index(4) == 0;
            let slow = if disturbed { 1.25 } else { 1.0 };
            100.0 * factor * slow * (run + 0.01 * normal.next()).exp()
        })
        .collect();
    floors(&times, 20)
}

/// Counts the simulations in which the verdict on the new run is `regressed`.
fn regressed(decider: Test, drift: f64, noise: Noise, factor: f64) -> usize {
    let alarm = |seed: &u64| {
        let stream = Stream {
            seed: *seed,
            name: "calibration",
        };
        let mut normal = Normal(Draws::new(stream, 0));
        let candidate = drifting_run(&mut normal, drift, noise, factor);
        let runs: Vec<Measurement> = (0..RUNS_IN_REFERENCE)
            .map(|_| drifting_run(&mut normal, drift, noise, 1.0))
            .collect();
        let reference = Reference {
            averaged: runs.iter().collect(),
            spread: runs.iter().collect(),
            earlier: vec![],
        };
        let question = Question {
            candidate: &candidate,
            reference: &reference,
            noise_threshold: 0.0,
        };
        let mut rules = rules(decider, HostClass::Shared);
        rules.decision.resamples = 200;
        compare(&[question], &rules)[0].verdict == Verdict::Regressed
    };
    (0..SIMULATED).filter(alarm).count()
}

#[test]
fn identical_code_is_called_regressed_no_more_often_than_the_level_says() {
    let prior = HostClass::Shared.prior_sd();
    for noise in [Noise::Quiet, Noise::Disturbed] {
        let alarms = regressed(RUN_LEVEL, prior, noise, 1.0);
        assert!(alarms <= MOST_ALARMS, "{alarms}");
    }
    let alarms = regressed(SCREEN, 0.0, Noise::Quiet, 1.0);
    assert!(alarms <= MOST_ALARMS, "{alarms}");
}

#[test]
fn a_fifth_slower_is_found_after_twenty_runs_even_where_every_fourth_process_is_disturbed() {
    let prior = HostClass::Shared.prior_sd();
    for noise in [Noise::Quiet, Noise::Disturbed] {
        let found = regressed(RUN_LEVEL, prior, noise, 1.2);
        assert!(found > 180, "{found} of {SIMULATED}");
    }
}
