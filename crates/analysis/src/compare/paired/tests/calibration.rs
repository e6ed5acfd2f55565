//! False alarms and power in a small seeded simulation. The large simulation is `tools/src/bin/simulate_paired.rs`.

use super::*;

/// Simulated runs per rate.
const SIMULATED: u64 = 80;

/// The .999 quantile of Binomial(80, .02), one percent in either direction: more alarms are not chance.
const MOST_ALARMS: usize = 7;

#[derive(Debug, Clone, Copy)]
enum Model {
    /// Processes differ log-normally by 1 %.
    Processes,
    /// Three processes in ten are 5 % faster.
    Modes,
    /// Half of the rounds are 30 % slower, on both sides.
    Bursts,
}

fn rounds(model: Model, seed: u64, count: usize, factor: f64) -> Vec<Round> {
    let mut noise = Noise::new(seed);
    let (mut process, mut burst) = (0.0, 0.0);
    rounds_of(count, |_, side, i| {
        if i == 0 {
            process = match model {
                Model::Processes => 0.01 * noise.normal(),
                Model::Modes if noise.uniform() < 0.7 => 0.05,
                Model::Modes | Model::Bursts => 0.0,
            };
            if side == Side::Base {
                let disturbed = matches!(model, Model::Bursts) && noise.uniform() < 0.5;
                burst = if disturbed { 0.3 } else { 0.0 };
            }
        }
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        100.0 * cost * (process + burst + 0.005 * noise.exponential()).exp()
    })
}

fn count(
    model: Model,
    rounds_each: usize,
    factor: f64,
    threshold: f64,
    wanted: &[Verdict],
) -> usize {
    let plan = plan(&[rounds_each as u32 / 2, rounds_each as u32]);
    let plan = Plan {
        resamples: 1,
        ..plan
    };
    (0..SIMULATED)
        .filter(|seed| {
            let rounds = rounds(model, *seed, rounds_each, factor);
            wanted.contains(&judge_one(&rounds, threshold, &plan).verdict)
        })
        .count()
}

#[test]
fn identical_code_without_a_threshold_is_called_changed_no_more_often_than_the_level_says() {
    for model in [Model::Processes, Model::Modes, Model::Bursts] {
        let changed = [Verdict::Regressed, Verdict::Improved];
        let alarms = count(model, 20, 1.0, 0.0, &changed);
        assert!(alarms <= MOST_ALARMS, "{model:?}: {alarms}");
    }
}

#[test]
fn five_percent_are_found_and_never_the_other_way_round() {
    for model in [Model::Processes, Model::Modes, Model::Bursts] {
        let found = count(model, 40, 1.05, 0.01, &[Verdict::Regressed]);
        assert!(found >= 75, "{model:?}: {found} of {SIMULATED}");
        assert_eq!(count(model, 40, 1.05, 0.01, &[Verdict::Improved]), 0);
    }
}
