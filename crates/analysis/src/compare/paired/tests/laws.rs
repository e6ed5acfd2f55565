//! Tests laws that hold for any rounds, and false alarms and power in a small seeded simulation. The large simulation is
//! `tools/src/bin/simulate_paired.rs`.

use proptest::prelude::*;

use super::*;

/// Creates rounds with two kinds of noise. Processes and samples are slower than a floor, and processes also differ in both directions. The candidate
/// takes `factor` times as long.
fn noisy(seed: u64, count: usize, factor: f64, spread: f64) -> Vec<Round> {
    let mut noise = Noise::new(seed);
    let mut process = 0.0;
    rounds_of(count, |_, side, i| {
        if i == 0 {
            process = spread * (noise.normal() + noise.exponential());
        }
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        100.0 * cost * (process + 0.01 * noise.exponential()).exp()
    })
}

fn exchanged(rounds: &[Round]) -> Vec<Round> {
    let exchange = |round: &Round| Round {
        layout: None,
        base: round.candidate.clone(),
        candidate: round.base.clone(),
        led: round.led.iter().map(|led| !led).collect(),
    };
    rounds.iter().map(exchange).collect()
}

/// Multiplies the time of each sample by `times`.
fn longer(samples: &[Sample], times: f64) -> Vec<Sample> {
    let scale = |sample: &Sample| Sample {
        elapsed: Nanos((sample.elapsed.as_f64() * times).round() as u64),
        ..*sample
    };
    samples.iter().map(scale).collect()
}

fn scaled(rounds: &[Round], base: f64, candidate: f64) -> Vec<Round> {
    rounds
        .iter()
        .map(|round| Round {
            layout: None,
            base: longer(&round.base, base),
            candidate: longer(&round.candidate, candidate),
            led: round.led.clone(),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn verdict_interval_and_p_never_disagree(
        seed in any::<u64>(), count in 5_usize..40, factor in 0.93f64..1.07, spread in 0.0f64..0.02,
    ) {
        let comparison = judged(&noisy(seed, count, factor, spread));
        let (change, p) = (comparison.change.unwrap(), comparison.p_value.unwrap());
        let theta = 0.01_f64.ln_1p();
        let slow_path = comparison.slow_side().is_some();
        let (slower, faster) = (change.lower.ln_1p() > theta + 1e-15, change.upper.ln_1p() < -theta - 1e-15);
        prop_assert_eq!(comparison.verdict == Verdict::Regressed && !slow_path, slower, "{:?}", comparison);
        prop_assert_eq!(comparison.verdict == Verdict::Improved && !slow_path, faster, "{:?}", comparison);
        prop_assert_eq!(p <= 0.008, slower || faster, "{:?}", comparison);
        prop_assert!(change.lower <= change.estimate && change.estimate <= change.upper);
        if comparison.verdict == Verdict::Unchanged {
            prop_assert!(change.lower.ln_1p() >= -theta - 1e-12 && change.upper.ln_1p() <= theta + 1e-12);
        }
    }

    #[test]
    fn every_kind_of_verdict_is_what_the_documents_say_of_it(
        seed in any::<u64>(), count in 5_usize..45, factor in 0.94f64..1.06, spread in 0.0f64..0.01,
        slow in prop::option::of((any::<bool>(), 0.02f64..0.5)), planned in prop::sample::select(vec![1, 50]),
    ) {
        let mut rounds = noisy(seed, count, factor, spread);
        if let Some((of_candidate, share)) = slow {
            let mut noise = Noise::new(seed ^ 1);
            for round in &mut rounds {
                let side = if of_candidate { &mut round.candidate } else { &mut round.base };
                for sample in side.iter_mut().filter(|_| noise.uniform() < share) {
                    sample.elapsed.0 = sample.elapsed.0 * 7 / 5;
                }
            }
        }
        let key = key("b");
        let series = PairedSeries { key: &key, metric: &Metric::Time, rounds: &rounds, noise_threshold: 0.01 };
        let comparison = judge(&[series], &Plan { planned, ..plan(&[10, 20, 30]) }).remove(0);
        let (change, theta) = (comparison.change.unwrap(), 0.01_f64.ln_1p());
        let (lower, upper) = (change.lower.ln_1p(), change.upper.ln_1p());
        let (slower, faster) = (lower > theta + 1e-15, upper < -theta - 1e-15);
        let within = lower >= -theta - 1e-12 && upper <= theta + 1e-12;
        let (is_new, is_gone) = match comparison.slow_side() {
            Some(Side::Candidate) => (true, false),
            Some(Side::Base) => (false, true),
            None => (false, false),
        };
        let as_documented = match comparison.verdict {
            Verdict::Regressed => slower || is_new,
            Verdict::Suspect => !slower,
            Verdict::Improved => !slower && !is_new && (faster || is_gone),
            Verdict::Unchanged => within && !is_new && !is_gone,
            Verdict::Inconclusive => !slower && !faster && !is_new && !is_gone,
            _ => false,
        };
        prop_assert!(as_documented, "{:?}", comparison);
    }

    #[test]
    fn exchanging_the_sides_mirrors_the_interval_and_the_verdict(
        seed in any::<u64>(), count in 5_usize..30, factor in 0.95f64..1.06, spread in 0.0f64..0.01,
    ) {
        let rounds = noisy(seed, count, factor, spread);
        let (here, there) = (judged(&rounds), judged(&exchanged(&rounds)));
        let (a, b) = (here.change.unwrap(), there.change.unwrap());
        prop_assert!((a.estimate.ln_1p() + b.estimate.ln_1p()).abs() < 1e-12);
        prop_assert!((a.lower.ln_1p() + b.upper.ln_1p()).abs() < 1e-12);
        prop_assert!((a.upper.ln_1p() + b.lower.ln_1p()).abs() < 1e-12);
        prop_assert_eq!(here.p_value, there.p_value);
        prop_assert_eq!(here.verdict == Verdict::Regressed, there.verdict == Verdict::Improved);
        prop_assert_eq!(here.verdict == Verdict::Improved, there.verdict == Verdict::Regressed);
    }

    #[test]
    fn scaling_all_times_leaves_the_interval(
        seed in any::<u64>(), count in 5_usize..30, spread in 0.0f64..0.01, scale in 2_u32..50,
    ) {
        let rounds = noisy(seed, count, 1.01, spread);
        let scale = f64::from(scale);
        let (here, there) = (judged(&rounds), judged(&scaled(&rounds, scale, scale)));
        let (a, b) = (here.change.unwrap(), there.change.unwrap());
        prop_assert!((a.estimate - b.estimate).abs() < 1e-9);
        prop_assert!((a.lower - b.lower).abs() < 1e-6 && (a.upper - b.upper).abs() < 1e-6);
        prop_assert_eq!(here.verdict, there.verdict);
    }

    #[test]
    fn a_slower_candidate_is_never_less_regressed(
        seed in any::<u64>(), count in 5_usize..30, factor in 1.0f64..1.05, spread in 0.0f64..0.01, more in 1.001f64..1.1,
    ) {
        // Use long samples, so that rounding to whole nanoseconds adds hardly any noise.
        let rounds = scaled(&noisy(seed, count, factor, spread), 1e4, 1e4);
        let (here, slower) = (judged(&rounds), judged(&scaled(&rounds, 1.0, more)));
        prop_assert!(slower.change.unwrap().lower >= here.change.unwrap().lower - 1e-6);
        prop_assert!(slower.verdict == Verdict::Regressed || here.verdict != Verdict::Regressed);
        prop_assert!(slower.verdict != Verdict::Improved || here.verdict == Verdict::Improved);
    }

    #[test]
    fn what_is_settled_in_the_loop_is_the_verdict_at_the_end(
        seed in any::<u64>(), factor in 0.97f64..1.04, spread in 0.0f64..0.01,
    ) {
        let plan = plan(&[10, 20, 30]);
        let rounds = noisy(seed, 30, factor, spread);
        let key = key("b");
        let series = |count: usize| PairedSeries { key: &key, metric: &Metric::Time, rounds: &rounds[..count], noise_threshold: 0.01 };
        let stop = [10, 20, 30].into_iter().find_map(|count| match check_settled(&series(count), &plan) {
            LookStatus::Settled(verdict) => Some((count, verdict)),
            LookStatus::Open | LookStatus::Searching => None,
        });
        let (count, verdict) = stop.expect("the last look settles");
        let comparison = judge(&[series(count)], &plan).remove(0);
        prop_assert_eq!(comparison.verdict, verdict);
        prop_assert_eq!(comparison.extent.processes_candidate(), count);
        // Rounds taken after the benchmark was settled change nothing.
        prop_assert_eq!(judge(&[series(30)], &plan).remove(0), comparison);
    }
}

#[test]
fn what_both_sides_of_a_round_share_widens_no_interval_of_mean_or_median() {
    let mut noise = Noise::new(5);
    let mut speed = 1.0;
    for count in [6, 30] {
        let rounds = rounds_of(count, |_, side, i| {
            if side == Side::Base && i == 0 {
                speed = 1.0 + noise.uniform();
            }
            100.0 * speed * if side == Side::Candidate { 1.05 } else { 1.0 }
        });
        let found = judged(&rounds);
        for change in [
            found.description.mean.unwrap(),
            found.description.median.unwrap(),
        ] {
            let change = change.estimate;
            assert!((change.estimate - 0.05).abs() < 1e-4, "{change:?}");
            assert!(change.upper - change.lower < 1e-3, "{change:?}");
        }
    }
}

#[test]
fn the_described_change_is_of_all_samples_of_both_sides_also_of_those_without_a_neighbour() {
    // The candidate has ten samples each of 101, 102, 103 and 202 ns: a mean of 127 and a median of 102.5. Mean and median of the base are 100.
    let mut rounds = rounds_of(20, |_, side, i| match side {
        Side::Base => 100.0 + (i % 3) as f64 - 1.0,
        Side::Candidate => 102.0 + (i % 3) as f64 - 1.0,
    });
    for round in &mut rounds {
        round.candidate.extend((0..10).map(|_| sample(202.0)));
    }
    let found = judged(&rounds);
    let [mean, median] = [found.description.mean, found.description.median]
        .map(|described| described.unwrap().estimate.estimate);
    assert!((mean - 0.27).abs() < 1e-9, "{mean}");
    assert!((median - 0.025).abs() < 1e-9, "{median}");
    assert!(
        (found.change.unwrap().estimate - 0.02).abs() < 0.005,
        "{found:?}"
    );
}

/// The number of runs that are simulated for each rate of alarms.
const SIMULATED: u64 = 80;

/// The .999 quantile of Binomial(80, .02), with one percent in either direction. If there are more alarms than this, they are not due to chance.
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
