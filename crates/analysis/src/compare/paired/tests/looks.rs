//! Tests of the look at which a benchmark stops, and of the level that it has there: alone, with several benchmarks in one run, and with a noise
//! threshold that controls have raised.

use super::super::look::Look;
use super::*;

const LOOKS: [u32; 3] = [10, 20, 30];

fn standing_at(rounds: &[Round], plan: &Plan) -> LookStatus {
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds,
        noise_threshold: 0.01,
    };
    check_settled(&series, plan)
}

#[test]
fn a_plain_change_stops_at_the_first_look_and_only_there_or_later() {
    let rounds = quiet(30, 1.05);
    let plan = plan(&LOOKS);
    assert_eq!(standing_at(&rounds[..9], &plan), LookStatus::Open);
    assert_eq!(
        standing_at(&rounds[..10], &plan),
        LookStatus::Settled(Verdict::Regressed)
    );
    let comparison = judge_one(&rounds, 0.01, &plan);
    let extent = comparison.extent;
    assert_eq!(
        (extent.processes_candidate(), extent.stopped_early()),
        (10, true)
    );
}

#[test]
fn code_layouts_are_counted_up_to_the_look_that_decides() {
    // Two successive rounds share a layout. The first three rounds have none, because their executables ran as built.
    let with_layouts = |factor| {
        let mut rounds = quiet(30, factor);
        for (at, round) in rounds.iter_mut().enumerate().skip(3) {
            round.layout = Some(at as u32 / 2);
        }
        rounds
    };
    let layouts = |rounds: &[Round]| judge_one(rounds, 0.01, &plan(&[10, 30])).extent.layouts();
    assert_eq!(layouts(&with_layouts(1.05)), 4, "rounds 3 to 9");
    assert_eq!(layouts(&with_layouts(1.01)), 14, "rounds 3 to 29");
    assert_eq!(layouts(&with_layouts(1.01)[..4]), 1, "too few for a test");
    assert_eq!(layouts(&quiet(30, 1.05)), 0);
}

#[test]
fn unchanged_waits_for_the_slow_path_test() {
    let rounds = quiet(30, 1.0);
    let plan = plan(&[10, 20, 30, 45, 60]);
    assert_eq!(standing_at(&rounds[..10], &plan), LookStatus::Searching);
    assert_eq!(standing_at(&rounds[..20], &plan), LookStatus::Searching);
    assert_eq!(
        standing_at(&rounds, &plan),
        LookStatus::Settled(Verdict::Unchanged)
    );
    // While the speed is uncertain, more rounds are needed not only for the slow-path test.
    let in_doubt = quiet(30, 1.01);
    assert_eq!(standing_at(&in_doubt[..20], &plan), LookStatus::Open);
    let short = judged(&rounds[..10]);
    assert_eq!(short.verdict, Verdict::Unchanged);
    assert!(has(&short, |note| *note
        == Note::SlowPathsNotSearched { rounds: 10 }));
}

#[test]
fn the_last_look_ends_it_whatever_is_known() {
    let plan = plan(&LOOKS);
    let rounds = quiet(35, 1.01);
    for count in [30, 35] {
        assert_eq!(
            standing_at(&rounds[..count], &plan),
            LookStatus::Settled(Verdict::Inconclusive)
        );
    }
}

#[test]
fn what_can_no_longer_be_settled_is_given_up_when_most_of_the_rounds_are_done() {
    // The processes of both sides have the same fifteen speeds, 8 % apart. The orders differ only by exchanges of neighbors.
    let rounds = rounds_of(60, |round, side, i| {
        let place = if side == Side::Candidate {
            round ^ 1
        } else {
            round
        };
        100.0 * (1.0 + 0.08 * (place % 15) as f64 + 1e-5 * i as f64)
    });
    let plan = plan(&[10, 20, 30, 45, 60]);
    // First less than .45 of the rounds are done, then half of them.
    assert_eq!(standing_at(&rounds[..20], &plan), LookStatus::Open);
    assert_eq!(
        standing_at(&rounds[..30], &plan),
        LookStatus::Settled(Verdict::Inconclusive)
    );
    // Here exactly .45 of the rounds are done.
    let plan = self::plan(&[10, 20, 27, 60]);
    assert_eq!(
        standing_at(&rounds[..27], &plan),
        LookStatus::Settled(Verdict::Inconclusive)
    );
}

/// Returns the status of a benchmark at the first of two looks, after 20 of 60 rounds: first if it is the only benchmark, then if it shares the level
/// with 99 others.
fn alone_and_among_a_hundred(rounds: &[Round]) -> [LookStatus; 2] {
    [1, 100].map(|planned| {
        let plan = Plan {
            planned,
            ..plan(&[20, 60])
        };
        standing_at(rounds, &plan)
    })
}

#[test]
fn at_a_look_a_benchmark_has_its_share_of_the_level_of_the_speed() {
    // The look may spend a quarter of .8 %, and the floor test half of that: 1 in 1,000 alone, and 1 in 100,000 among a hundred. Eleven processes of
    // twenty are faster than all of the other side, which has a probability of 1 in 14,000 by Fisher's test.
    for (slow_side, verdict) in [
        (Side::Candidate, Verdict::Regressed),
        (Side::Base, Verdict::Improved),
    ] {
        let mut noise = Noise::new(9);
        let rounds = rounds_of(20, |round, side, _| {
            let slow = side == slow_side || round >= 11;
            100.0 * if slow { 1.05 } else { 1.0 } * (1.0 + 0.002 * noise.exponential())
        });
        assert_eq!(
            alone_and_among_a_hundred(&rounds),
            [LookStatus::Settled(verdict), LookStatus::Open]
        );
    }
}

#[test]
fn at_a_look_a_benchmark_has_its_share_of_the_level_of_slow_paths() {
    // The look may spend a quarter of .2 %: 1 in 2,000 alone, and 1 in 200,000 among a hundred. One slow sample in each of fourteen rounds has a
    // probability of 2 / 2^14, which is 1 in 8,192.
    for (slow_side, verdict) in [
        (Side::Candidate, Verdict::Regressed),
        (Side::Base, Verdict::Improved),
    ] {
        let mut noise = Noise::new(12);
        let rounds = rounds_of(20, |round, side, i| {
            let slow = side == slow_side && round < 14 && i == 3;
            100.0 * if slow { 1.4 } else { 1.0 } * (1.0 + 0.003 * noise.exponential())
        });
        let [alone, among] = alone_and_among_a_hundred(&rounds);
        assert_eq!(alone, LookStatus::Settled(verdict));
        assert_ne!(among, LookStatus::Settled(verdict));
    }
}

#[test]
fn what_a_benchmark_alone_could_still_settle_is_given_up_in_a_large_family() {
    let is_given_up_in_a_family_alone = |seed: &u64| {
        let mut noise = Noise::new(*seed);
        let mut process = 0.0;
        let rounds = rounds_of(20, |_, side, i| {
            if i == 0 {
                process = 0.01 * noise.normal();
            }
            let cost = if side == Side::Candidate { 1.015 } else { 1.0 };
            100.0 * cost * (1.0 + process + 0.002 * noise.exponential())
        });
        let key = key("b");
        let series = timed_series(&key, &rounds);
        let alone = plan(&[20, 40]);
        let family = Plan {
            planned: 100,
            ..alone.clone()
        };
        let look = Look::interim(&series, &alone, &PairedMethod::default()).expect("a look");
        let [alone, in_family] = [alone, family].map(|plan| look.status(&plan));
        alone == LookStatus::Open && in_family == LookStatus::Settled(Verdict::Inconclusive)
    };
    assert!((0..20).any(|seed| is_given_up_in_a_family_alone(&seed)));
}

#[test]
fn a_benchmark_is_given_up_if_the_last_look_is_unlikely_to_show_a_change_or_its_absence() {
    let (mut given_up, mut open) = (0, 0);
    for (seed, planned) in (0..30).flat_map(|seed| [(seed, 1), (seed, 100)]) {
        let mut noise = Noise::new(seed);
        let mut process = 0.0;
        let rounds = rounds_of(20, |_, side, i| {
            if i == 0 {
                process = 0.01 * noise.normal();
            }
            let cost = if side == Side::Candidate { 1.013 } else { 1.0 };
            100.0 * cost * (1.0 + process + 0.002 * noise.exponential())
        });
        let key = key("b");
        let series = timed_series(&key, &rounds);
        let plan = Plan {
            planned,
            ..plan(&[20, 40])
        };
        let look = Look::interim(&series, &plan, &PairedMethod::default()).expect("a look");
        let speed = look.speed.as_ref().expect("rounds enough");
        // The first of two looks may spend a quarter of .8 %. After twice as many rounds, errors are smaller by the square root of 2. The difference
        // between the final estimate and the present one has half of the present variance. A normal value exceeds 1.645 standard errors with a
        // probability of 5 %.
        let margin = speed.margin(0.002 / planned as f64) * 0.5_f64.sqrt();
        let reach = 1.645 * speed.standard_error * 0.5_f64.sqrt();
        let (size, threshold) = (speed.difference.abs(), 0.01_f64.ln_1p());
        let is_change_likely = size + reach >= threshold + margin;
        let is_absence_likely = size - reach <= threshold - margin;
        match look.status(&plan) {
            LookStatus::Settled(Verdict::Inconclusive) => {
                given_up += 1;
                assert!(!is_change_likely && !is_absence_likely, "{seed} {planned}");
            }
            LookStatus::Open => {
                open += 1;
                assert!(is_change_likely || is_absence_likely, "{seed} {planned}");
            }
            LookStatus::Searching | LookStatus::Settled(_) => {}
        }
    }
    assert!(given_up >= 5 && open >= 5, "{given_up} {open}");
}

#[test]
fn a_measurement_of_some_rounds_has_the_usual_looks_before_its_end() {
    assert_eq!(Plan::looks_up_to(200), [10, 20, 30, 60, 100, 200]);
    assert_eq!(Plan::looks_up_to(25), [10, 20, 25]);
    assert_eq!(Plan::looks_up_to(10), [10]);
    assert_eq!(Plan::looks_up_to(7), [7]);
}

/// Creates rounds in which the floor test and the rank test contradict each other. The base takes 100 ns in one sample of thirty and 15 % more in the
/// others. The candidate always takes 105 ns.
fn rounds_with_one_fast_sample() -> Vec<Round> {
    let mut noise = Noise::new(7);
    rounds_of(20, |_, side, i| {
        let cost = match side {
            Side::Candidate => 1.05,
            Side::Base if i == 7 => 1.0,
            Side::Base => 1.15,
        };
        100.0 * cost * (1.0 + 0.0005 * noise.exponential())
    })
}

#[test]
fn whether_the_two_tests_contradict_each_other_is_asked_at_the_share_of_the_level() {
    let rounds = rounds_with_one_fast_sample();
    // In a family of ten thousand, each benchmark has a level of 8e-7, and the rank test has half of that. This is less than 2^-20, the smallest p of
    // 20 rounds.
    for (planned, contradict) in [(1, true), (10_000, false)] {
        let plan = Plan {
            planned,
            ..plan(&[20])
        };
        let comparison = judge_one(&rounds, 0.01, &plan);
        let has_note = has(&comparison, |note| *note == Note::TestsContradict);
        assert_eq!(has_note, contradict, "{planned}: {comparison:?}");
    }
}

#[test]
fn the_looks_together_spend_the_level_for_any_list() {
    let method = PairedMethod::default();
    for looks in [&[10, 20, 30][..], &[7], &[5, 6, 60], &[30, 10, 10, 0]] {
        let plan = plan(looks);
        let interim = plan.interim_looks(100);
        let last = plan.last_look();
        let mut spent = 0.0;
        for look in interim.into_iter().chain([last]) {
            let share = plan.spent_share(look, &method) - spent;
            assert!(share > 0.0, "{looks:?} {look}");
            spent += share;
        }
        assert!((spent - 1.0).abs() < 1e-12, "{looks:?}");
    }
    // The first of three looks may spend a ninth of the level.
    assert!((plan(&[10, 20, 30]).spent_share(10, &method) - 1.0 / 9.0).abs() < 1e-12);
}

#[test]
fn a_run_cut_short_between_looks_is_judged_by_all_its_rounds_with_the_level_that_is_left() {
    let rounds = quiet(17, 1.01);
    let plan = plan(&LOOKS);
    let comparison = judge_one(&rounds, 0.01, &plan);
    let extent = comparison.extent;
    assert_eq!(
        (extent.processes_candidate(), extent.stopped_early()),
        (17, false)
    );
    let whole = judged(&rounds);
    let (part, whole) = (comparison.change.unwrap(), whole.change.unwrap());
    assert!(part.lower < whole.lower && part.estimate == whole.estimate);
}

fn judge_all(factors: &[f64], plan: &Plan) -> Vec<Comparison> {
    let keys: Vec<BenchmarkKey> = (0..factors.len()).map(|i| key(&format!("b{i}"))).collect();
    let sets: Vec<Vec<Round>> = factors.iter().map(|factor| quiet(12, *factor)).collect();
    let all_series: Vec<PairedSeries<'_>> = keys
        .iter()
        .zip(&sets)
        .map(|(key, rounds)| PairedSeries {
            key,
            metric: &Metric::Time,
            rounds,
            noise_threshold: 0.01,
        })
        .collect();
    judge(&all_series, plan)
}

#[test]
fn answers_come_in_order_and_each_with_its_own_interval() {
    let comparisons = judge_all(&[1.0, 1.05, 0.95], &plan(&[12]));
    let verdicts: Vec<Verdict> = comparisons.iter().map(|one| one.verdict).collect();
    assert_eq!(
        verdicts,
        [Verdict::Unchanged, Verdict::Regressed, Verdict::Improved]
    );
}

#[test]
fn what_passes_only_the_level_of_a_single_benchmark_is_suspect() {
    // Seven of twelve base processes are faster than all of the candidate's, which has a probability of 1 in 215 by Fisher's test.
    let mut noise = Noise::new(9);
    let rounds = rounds_of(12, |round, side, _| {
        let slow = side == Side::Candidate || round >= 7;
        100.0 * if slow { 1.05 } else { 1.0 } * (1.0 + 0.002 * noise.exponential())
    });
    let of_family = |planned| {
        judge_one(
            &rounds,
            0.01,
            &Plan {
                planned,
                ..plan(&[12])
            },
        )
    };
    assert_eq!(of_family(1).verdict, Verdict::Regressed);
    let suspect = of_family(50);
    assert_eq!(suspect.verdict, Verdict::Suspect);
    assert!(suspect.change.unwrap().lower < 0.01);
    assert_eq!(suspect.slow_side(), None);
    assert!(suspect.p_value.unwrap() > 0.008);
}

#[test]
fn benchmarks_that_could_not_be_measured_stay_in_the_family() {
    let width = |planned| {
        let change = judge_all(
            &[1.0],
            &Plan {
                planned,
                ..plan(&[12])
            },
        )[0]
        .change
        .unwrap();
        change.upper - change.lower
    };
    assert!(width(30) > width(1));
    assert_eq!(width(0), width(1));
}

#[test]
fn once_others_are_rejected_the_rest_have_a_larger_level() {
    let alone = judge_all(&[1.0, 1.0], &plan(&[12]))[0].change.unwrap();
    let beside = judge_all(&[1.0, 1.5], &plan(&[12]))[0].change.unwrap();
    assert!(beside.lower > alone.lower);
    assert_eq!(beside.upper, alone.upper);
}

#[test]
fn a_benchmark_that_another_job_measured_keeps_the_seed_of_that_job() {
    let mut noise = Noise::new(5);
    let rounds = rounds_of(12, |_, _, _| 100.0 * (1.0 + 0.05 * noise.exponential()));
    let seeded = |seed, seeds: &[(&str, u64)]| {
        let own = seeds.iter().map(|(id, seed)| (key(id).to_string(), *seed));
        let plan = Plan {
            seed,
            seeds: own.collect(),
            ..plan(&[12])
        };
        judge_one(&rounds, 0.01, &plan)
    };
    let (here, there) = (seeded(3, &[]), seeded(4, &[]));
    assert_ne!(here, there);
    assert_eq!(seeded(3, &[("b", 4)]), there);
    assert_eq!(seeded(3, &[("c", 4)]), here);
}

/// Returns a plan with 25 earlier controls on this host. The 95th percentile of their changes is `change`.
fn after_controls(change: f64) -> Plan {
    let noise = HostNoise {
        controls: 25,
        change,
    };
    Plan {
        noise: [(key("b").to_string(), noise)].into(),
        ..plan(&[40])
    }
}

fn raised(comparison: &Comparison) -> Option<bool> {
    comparison.notes.iter().find_map(|note| match note {
        Note::ThresholdRaised { too_noisy, .. } => Some(*too_noisy),
        _ => None,
    })
}

#[test]
fn the_percentile_needs_twenty_controls_and_counts_both_directions() {
    let changes: Vec<f64> = (0..=100)
        .map(|i| f64::from(i) / 1000.0 * if i % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    assert_eq!(HostNoise::from_changes(&changes[..19]), None);
    let noise = HostNoise::from_changes(&changes[..20]).expect("just enough");
    assert_eq!(noise.controls, 20);
    // The 95th percentile of twenty values from 0 to 19 per mille is 95 % of 19 per mille.
    assert!((noise.change - 0.01805).abs() < 1e-12, "{noise:?}");
    let noise = HostNoise::from_changes(&changes).expect("enough");
    assert_eq!(noise.controls, 101);
    assert!((noise.change - 0.095).abs() < 1e-12, "{noise:?}");
}

#[test]
fn a_change_that_controls_have_shown_too_is_noise() {
    let rounds = quiet(40, 1.02);
    let before = judge_one(&rounds, 0.01, &plan(&[40]));
    assert_eq!(before.verdict, Verdict::Regressed);
    assert_eq!(raised(&before), None);
    let after = judge_one(&rounds, 0.01, &after_controls(0.025));
    assert_eq!(after.verdict, Verdict::Unchanged);
    assert_eq!(after.noise_threshold, 0.025);
    assert_eq!(raised(&after), Some(false));
}

#[test]
fn controls_that_stayed_within_the_threshold_change_nothing() {
    let rounds = quiet(40, 1.02);
    let before = judge_one(&rounds, 0.01, &plan(&[40]));
    for within in [0.009, 0.01] {
        assert_eq!(judge_one(&rounds, 0.01, &after_controls(within)), before);
    }
    let beyond = judge_one(&rounds, 0.01, &after_controls(0.01_f64.next_up()));
    assert_eq!(raised(&beyond), Some(false));
}

#[test]
fn beyond_three_times_the_threshold_nothing_is_unchanged_and_large_changes_are_still_found() {
    let plan = after_controls(0.04);
    let same = judge_one(&quiet(40, 1.0), 0.01, &plan);
    assert_eq!(same.verdict, Verdict::Inconclusive);
    assert_eq!(raised(&same), Some(true));
    let slower = judge_one(&quiet(40, 1.08), 0.01, &plan);
    assert_eq!(slower.verdict, Verdict::Regressed);
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds: &quiet(30, 1.0),
        noise_threshold: 0.01,
    };
    let plan = Plan {
        looks: vec![30, 60],
        ..plan
    };
    assert_eq!(
        check_settled(&series, &plan),
        LookStatus::Settled(Verdict::Inconclusive),
        "no more rounds would change that"
    );
}

#[test]
fn no_rounds_are_advised_where_the_noise_or_the_fastest_processes_forbid_the_verdict_that_they_would_show()
 {
    // Returns true if more rounds are advised. They would show whether the change is within the threshold or beyond it.
    let advised = |factor: f64, is_too_noisy: bool, gap: f64| {
        let rounds = rounds_of_differing_processes(factor);
        let key = key("b");
        let series = timed_series(&key, &rounds);
        let plan = plan(&[20]);
        let side = Side::Base;
        let look = Look {
            is_too_noisy,
            disturbed: (gap > 0.0).then_some(Note::LoneFloor { side, gap }),
            ..Look::find_deciding(&series, &plan, &PairedMethod::default())
        };
        look.rounds_needed(plan.floor_level()).is_some()
    };
    let (within, beyond) = (1.005, 1.013);
    for factor in [within, beyond] {
        assert!(advised(factor, false, 0.0), "{factor}");
    }
    // On a host that is too noisy, no number of rounds gives `unchanged`, but more rounds can still show a change.
    assert!(!advised(within, true, 0.0) && advised(beyond, true, 0.0));
    // To be reported, a change must also exceed the gap between the fastest processes. `unchanged` does not depend on the gap.
    assert!(advised(within, false, 0.5) && !advised(beyond, false, 0.5));
    assert!(!advised(within, true, 0.5) && !advised(beyond, true, 0.5));
}

#[test]
fn whether_the_two_tests_contradict_each_other_is_asked_at_the_share_of_the_look() {
    let rounds = rounds_with_one_fast_sample();
    let key = key("b");
    let series = timed_series(&key, &rounds);
    // In a family of a hundred, each benchmark has a level of 8e-5. The first of two looks may spend a quarter of this level, the first of eight
    // 1/64. The rank test has half of that, and the smallest p of 20 rounds is 2^-20, 9.5e-7.
    for (last, contradict) in [(21, true), (27, false)] {
        let looks: Vec<u32> = (20..=last).collect();
        let plan = Plan {
            planned: 100,
            ..plan(&looks)
        };
        let look = Look::interim(&series, &plan, &PairedMethod::default()).expect("a look");
        let speed = look.speed.expect("rounds enough");
        // At a level of 1e-12, neither test has bounds, so only the level of the look counts.
        assert_eq!(speed.contradicts(1e-12), contradict, "{last}");
    }
}

#[test]
fn no_more_rounds_are_advised_where_those_before_suffice() {
    let plan = plan(&[20]);
    for factor in [1.0, 1.05] {
        let key = key("b");
        let series = PairedSeries {
            key: &key,
            metric: &Metric::Time,
            rounds: &quiet(20, factor),
            noise_threshold: 0.01,
        };
        let look = Look::find_deciding(&series, &plan, &PairedMethod::default());
        let level = plan.floor_level();
        let speed = look.speed.as_ref().expect("rounds enough");
        let distance = speed.difference.abs() - 0.01_f64.ln_1p();
        assert!(speed.margin(level) < distance.abs(), "{factor}");
        assert_eq!(look.rounds_needed(level), None, "{factor}");
    }
}

#[test]
fn four_fifths_of_the_level_are_for_the_speed_and_the_rest_is_for_slow_paths() {
    let plan = plan(&LOOKS);
    assert!((plan.floor_level() - 0.008).abs() < 1e-15);
    assert!((plan.slow_path_level() - 0.002).abs() < 1e-15);
}
