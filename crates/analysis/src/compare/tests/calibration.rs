//! False alarms and power of the whole procedure, in a small seeded simulation. The large simulation is `tools/src/bin/simulate_stored.rs`.

use super::*;
use perfcheck_stats::{Draws, Stream};

const RUNS_IN_REFERENCE: usize = 20;

/// Simulated runs per rate.
const SIMULATED: u64 = 200;

/// The .999 quantile of Binomial(200, .01): at a level of 1 %, more false alarms than this are not chance.
const MOST_ALARMS: usize = 8;

/// Standard normal numbers (Box and Muller 1958).
struct Normal(Draws);

impl Normal {
    fn next(&mut self) -> f64 {
        let (a, b) = self.0.index_pair(1 << 24);
        let [a, b] = [a, b].map(|draw| (draw as f64 + 0.5) / f64::from(1 << 24));
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// How processes differ within a run.
#[derive(Clone, Copy, PartialEq)]
enum Noise {
    /// Log-normally, by 1 %.
    Quiet,
    /// Log-normally by 1 %, and every fourth process is 25 % slower.
    Disturbed,
}

/// Creates a run of five processes with log-normal drift between runs and `factor` times the cost.
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

/// Counts the simulated runs in which a new run is `regressed`.
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
fn a_fifth_slower_is_found_after_twenty_runs_even_where_every_fourth_launch_is_disturbed() {
    let prior = HostClass::Shared.prior_sd();
    for noise in [Noise::Quiet, Noise::Disturbed] {
        let found = regressed(RUN_LEVEL, prior, noise, 1.2);
        assert!(found > 180, "{found} of {SIMULATED}");
    }
}
