//! Tests of side-by-side measurements that are missing, constant, coarse, too short or uneven, and of benchmarks that are hard to decide about, with
//! the notes on them.

use super::*;
use crate::compare::Decision;
use crate::compare::paired::series::{PairedSamples, UsableRounds};
use crate::compare::paired::speed_test::{FloorTest, RankTest, SpeedTest, differences_of_round};

#[test]
fn without_rounds_or_samples_of_the_candidate_it_has_failed_and_without_those_of_the_reference_nothing_is_known()
 {
    let full = quiet(10, 1.0);
    let without = |side| {
        let mut rounds = full.clone();
        for round in &mut rounds {
            match side {
                Side::Candidate => round.candidate.clear(),
                Side::Base => round.base.clear(),
            }
        }
        rounds
    };
    for (rounds, verdict, side) in [
        (Vec::new(), Verdict::Failed, Side::Candidate),
        (without(Side::Candidate), Verdict::Failed, Side::Candidate),
        (without(Side::Base), Verdict::Inconclusive, Side::Base),
    ] {
        let comparison = judge_one(&rounds, 0.01, &plan(&[10]));
        assert_eq!((comparison.verdict, comparison.change), (verdict, None));
        assert!(has(&comparison, |note| *note == Note::NoSamples { side }));
    }
}

#[test]
fn up_to_four_rounds_show_an_estimate_and_no_verdict() {
    for count in 1..5 {
        let comparison = judged(&quiet(count, 1.5));
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let change = comparison.change.unwrap();
        assert!((change.estimate - 0.5).abs() < 0.01 && change.upper.is_infinite());
        assert_eq!(comparison.p_value, None);
        assert!(has(&comparison, |note| *note
            == Note::FewRounds { rounds: count }));
    }
    assert_eq!(judged(&quiet(6, 1.5)).verdict, Verdict::Regressed);
}

#[test]
fn constant_sides_have_the_exact_change_and_the_least_standard_error() {
    let constant = |candidate: f64| {
        rounds_of(10, |_, side, _| {
            if side == Side::Candidate {
                candidate
            } else {
                100.0
            }
        })
    };
    let comparison = judged(&constant(110.0));
    assert_eq!(comparison.verdict, Verdict::Regressed);
    let change = comparison.change.unwrap();
    assert!((change.estimate - 0.1).abs() < 1e-9);
    // The rank test gives the bound: the difference minus the resolution of 0.02 %.
    let expected = 1.1_f64.ln() - 2e-4;
    assert!((change.lower.ln_1p() - expected).abs() < 1e-9, "{change:?}");
    let (key, rounds) = (key("b"), constant(110.0));
    let series = timed_series(&key, &rounds);
    let floors = PairedMethod {
        floor_share: 1.0,
        ..PairedMethod::default()
    };
    let by_floors = judge_with_method(&[series], &plan(&[10]), &floors)
        .remove(0)
        .change;
    // stats.t.ppf(1 - .008, 9) = 2.958440: nine degrees of freedom, a standard error of 0.02 %.
    let expected = 1.1_f64.ln() - 2.958_440_453 * 2e-4;
    assert!((by_floors.unwrap().lower.ln_1p() - expected).abs() < 1e-9);
    assert!(has(&comparison, |note| *note == Note::NoVariance));
    let equal = judged(&constant(100.0));
    assert_eq!(equal.verdict, Verdict::Unchanged);
    assert_eq!(equal.change.unwrap().estimate, 0.0);
}

#[test]
fn a_clock_whose_steps_are_as_wide_as_the_threshold_shows_no_change_of_one_step() {
    // The clock has steps of 1 %, so all samples take one of two values.
    let coarse = |slow: f64| {
        let mut noise = Noise::new(7);
        rounds_of(20, |_, side, _| {
            let often = if side == Side::Candidate { slow } else { 0.3 };
            if noise.uniform() < often {
                101.0
            } else {
                100.0
            }
        })
    };
    let comparison = judged(&coarse(1.0));
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    let change = comparison.change.unwrap();
    assert!(change.upper - change.lower > 0.0099, "{change:?}");
}

#[test]
fn samples_of_no_or_hardly_any_time_are_never_no_change() {
    let of_length = |base: u64, candidate: u64| {
        let side = |elapsed| {
            vec![
                Sample {
                    iterations: 10,
                    elapsed: Nanos(elapsed)
                };
                SAMPLES
            ]
        };
        vec![
            Round {
                layout: None,
                base: side(base),
                candidate: side(candidate),
                led: Vec::new(),
            };
            10
        ]
    };
    for (rounds, side) in [
        (of_length(500_000, 0), Side::Candidate),
        (of_length(0, 500_000), Side::Base),
        (of_length(500, 500), Side::Candidate),
        (of_length(500, 500_000), Side::Base),
    ] {
        let comparison = judged(&rounds);
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        assert!(has(
            &comparison,
            |note| matches!(note, Note::SamplesTooShort { side: s, .. } if *s == side)
        ));
        assert_eq!(standing_of(&rounds), LookStatus::Open);
    }
}

#[test]
fn rounds_of_a_disturbed_warm_up_are_left_out_and_the_others_find_the_slowdown() {
    // Samples were planned for a millisecond. In a quarter of the rounds of each side, the warm-up was 50 times too slow, so samples got too few
    // iterations. In half of these rounds, the samples are as slow as the warm-up.
    let sampled = |round: usize, ns: u64, short: bool, slow: bool| {
        let iterations = if short { 2_000 } else { 100_000 };
        let ns = if slow { 50 * ns } else { ns + round as u64 % 2 };
        vec![
            Sample {
                iterations,
                elapsed: Nanos(iterations * ns)
            };
            SAMPLES
        ]
    };
    let rounds: Vec<Round> = (0..40)
        .map(|round| Round {
            layout: None,
            base: sampled(round, 10, round % 4 == 0, round % 8 == 0),
            candidate: sampled(round, 23, round % 4 == 1, round % 8 == 1),
            led: Vec::new(),
        })
        .collect();
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Regressed);
    let change = comparison.change.unwrap().estimate;
    assert!((1.0..1.4).contains(&change), "{change}");
    assert!(has(&comparison, |note| matches!(
        note,
        Note::RoundsLeftOut { .. }
    )));
    // If all rounds are short, nothing is tested, even if some rounds were slow enough to seem long.
    let short: Vec<Round> = (0..40)
        .map(|round| Round {
            layout: None,
            base: sampled(round, 10, true, round % 8 == 0),
            candidate: sampled(round, 10, true, round % 3 == 0),
            led: Vec::new(),
        })
        .collect();
    let comparison = judged(&short);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(has(&comparison, |note| matches!(
        note,
        Note::SamplesTooShort { .. }
    )));
}

#[test]
fn a_few_counts_of_an_amount_are_enough() {
    let side = |amount: u64| {
        vec![
            Sample {
                iterations: 50,
                elapsed: Nanos(50 * amount)
            };
            SAMPLES
        ]
    };
    let rounds = vec![
        Round {
            layout: None,
            base: side(3),
            candidate: side(4),
            led: Vec::new(),
        };
        20
    ];
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Amount {
            unit: "events".into(),
        },
        rounds: &rounds,
        noise_threshold: 0.01,
    };
    let found = judge(&[series], &plan(&[10])).remove(0);
    assert_eq!(found.verdict, Verdict::Regressed);
    assert!((found.change.unwrap().estimate - 1.0 / 3.0).abs() < 1e-9);
}

fn standing_of(rounds: &[Round]) -> LookStatus {
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds,
        noise_threshold: 0.01,
    };
    check_settled(&series, &plan(&[10, 20]))
}

#[test]
fn samples_without_a_neighbour_do_not_count() {
    let even = quiet(20, 1.02);
    let mut uneven = even.clone();
    for round in &mut uneven {
        // These samples would be the fastest by far.
        round.candidate.push(sample(50.0));
        round.candidate.push(sample(50.0));
    }
    assert_eq!(judged(&uneven).change, judged(&even).change);
    let mut broken = even.clone();
    for round in &mut broken {
        let iterations = 0;
        round.base.insert(
            0,
            Sample {
                iterations,
                ..sample(1.0)
            },
        );
        round.candidate.insert(0, sample(1.0));
    }
    assert_eq!(judged(&broken).change, judged(&even).change);
}

#[test]
fn rounds_that_one_side_failed_in_do_not_count() {
    let mut rounds = quiet(20, 1.02);
    let whole = judged(&rounds[..15]);
    for round in &mut rounds[15..] {
        round.candidate.clear();
    }
    let comparison = judge_one(&rounds, 0.01, &plan(&[20]));
    assert_eq!(
        (comparison.change, comparison.extent.processes_candidate()),
        (whole.change, 15)
    );
}

#[test]
fn few_samples_are_compared_by_the_second_fastest_and_very_few_by_the_median() {
    use crate::compare::Location;
    let cut = |samples: usize| {
        let mut rounds = quiet(10, 1.05);
        for round in &mut rounds {
            round.base.truncate(samples);
            round.candidate.truncate(samples);
        }
        judged(&rounds)
    };
    for (samples, location) in [
        (1, Location::Median),
        (2, Location::SecondFastest),
        (9, Location::SecondFastest),
        (10, Location::LowQuantile),
    ] {
        let comparison = cut(samples);
        assert_eq!(comparison.location(), Some(location), "{samples}");
        assert_eq!(comparison.verdict, Verdict::Regressed);
        assert_eq!(
            comparison.notes.is_empty(),
            location == Location::LowQuantile
        );
    }
}

/// Creates rounds in which a sample is slower by `effect` if it is the second of its pair. The order of the sides differs from quad to quad.
/// `is_told` sets whether the rounds record this order.
fn with_positions(effect: f64, is_told: bool) -> Vec<Round> {
    let leads = |round: usize, quad: usize| (round * 7 + quad * 3) % 5 < 2;
    let mut rounds = rounds_of(30, |round, side, i| {
        let leads = leads(round, i / 2) == (side == Side::Candidate);
        let is_second = leads == (i % 2 == 1);
        let cost = if is_second { 1.0 + effect } else { 1.0 };
        100.0 * cost * (1.0 + 1e-4 * ((round + i) % 7) as f64)
    });
    for (round, record) in rounds.iter_mut().enumerate() {
        if is_told {
            record.led = (0..SAMPLES / 2).map(|quad| leads(round, quad)).collect();
        }
    }
    rounds
}

#[test]
fn sides_that_disturb_each_other_show_by_positions() {
    let effect = |rounds: &[Round]| {
        let found = judged(rounds).notes;
        found.iter().find_map(|note| match note {
            Note::PositionMatters { effect } => Some(*effect),
            _ => None,
        })
    };
    let seen = effect(&with_positions(0.04, true)).expect("told");
    assert!((seen - 0.04).abs() < 1e-3, "{seen}");
    let seen = effect(&with_positions(-0.04, true)).expect("told");
    assert!((seen + 0.04).abs() < 1e-3, "{seen}");
    assert_eq!(
        effect(&with_positions(0.002, true)),
        None,
        "below the threshold"
    );
    assert_eq!(
        effect(&with_positions(0.04, false)),
        None,
        "nobody knows the order"
    );
    assert_eq!(
        judged(&with_positions(0.04, true)).verdict,
        Verdict::Unchanged
    );
}

#[test]
fn a_pair_of_which_one_sample_has_no_time_is_left_out() {
    let whole = quiet(20, 1.0);
    let mut broken = whole.clone();
    for round in &mut broken {
        round.base[3].elapsed = Nanos(0);
        round.candidate[7].elapsed = Nanos(0);
    }
    let mut without = whole;
    for round in &mut without {
        for side in [&mut round.base, &mut round.candidate] {
            side.remove(7);
            side.remove(3);
        }
    }
    let (found, expected) = (judged(&broken), judged(&without));
    assert_eq!(found.change, expected.change);
    assert_eq!(
        (found.verdict, expected.verdict),
        (Verdict::Unchanged, Verdict::Unchanged)
    );
}

#[test]
fn a_side_whose_fastest_samples_are_slower_and_whose_others_are_faster_is_neither() {
    let mut noise = Noise::new(8);
    // One side takes 100 ns in one sample of thirty and 115 ns in the others; the other side always takes 105 ns. Both assignments are tested.
    let mut two_speeds = |of: Side| {
        rounds_of(20, |_, side, i| {
            let ns = match (side == of, i % SAMPLES) {
                (true, 7) => 100.0,
                (true, _) => 115.0,
                (false, _) => 105.0,
            };
            ns * (1.0 + 0.001 * noise.exponential())
        })
    };
    for of in [Side::Base, Side::Candidate] {
        let found = judged(&two_speeds(of));
        assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
        assert!(found.p_value.is_none_or(|p| p > 0.5), "{found:?}");
    }
}

#[test]
fn the_quickest_of_two_quads_stand_for_them() {
    let round = PairedSamples {
        base: vec![3.0, 4.0, 1.0, 2.0, 7.0, 9.0],
        candidate: vec![2.0, 5.0, 6.0, 1.5, 7.5, 8.0],
    };
    // The third quad has no partner to be compared with, so it adds no difference.
    assert_eq!(differences_of_round(&round), [0.5, 0.5]);
    assert!(differences_of_round(&PairedSamples::default()).is_empty());
}

/// If only quads of the kind ABBA were compared, a cost of the position would look like a change. The quads of the kind BAAB prevent this.
#[test]
fn a_cost_of_the_place_in_a_quad_is_no_change() {
    // The first sample of a quad is 3 % slower, as if the other side had evicted its data from the caches. The sides lead alternately.
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

/// Returns the numbers in the notes about differing processes and about differing samples.
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
    // Each difference is between the fastest of four samples on both sides. Such a minimum varies 0.7 times as much as one sample, and a difference
    // of two minimums as much as one sample.
    let by = of_samples.unwrap();
    assert!((0.07..0.13).contains(&by), "{by}");
    assert_eq!(of_processes, None);
}

/// If an iteration takes some milliseconds, a round has only a few samples, which must not be taken for differences between processes.
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
    // If the estimate is beyond the threshold, no larger threshold is named: it would hide a change that may be real.
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
    // If the threshold already contains the interval, no other threshold is needed.
    let within = judge_one(&quiet(24, 1.0), 0.01, &plan);
    assert_eq!(within.sufficient_threshold(), None);
}

/// Creates rounds in which the host let one process of each side run undisturbed. The other processes take 1.3 times as long, and the new side takes
/// `factor` times as long.
fn rounds_with_a_lone_floor(factor: f64) -> Vec<Round> {
    let mut noise = Noise::new(7);
    rounds_of(30, |round, side, _| {
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        let spell = if round == 4 { 1.0 } else { 1.3 };
        100.0 * cost * spell * (1.0 + 0.003 * noise.exponential())
    })
}

#[test]
fn a_change_is_called_only_beyond_the_gap_between_the_fastest_processes() {
    let is_withheld = |comparison: &Comparison| has(comparison, Note::withholds_changes);
    for (factor, verdict, withheld) in [
        (2.0, Verdict::Regressed, false),
        (0.5, Verdict::Improved, false),
        (1.33, Verdict::Regressed, false),
        (1.25, Verdict::Inconclusive, true),
        (1.0 / 1.25, Verdict::Inconclusive, true),
        (1.0, Verdict::Unchanged, false),
    ] {
        let comparison = judged(&rounds_with_a_lone_floor(factor));
        assert_eq!(comparison.verdict, verdict, "{factor}: {comparison:?}");
        assert_eq!(is_withheld(&comparison), withheld, "{factor}");
        let smallest = comparison.smallest_callable.unwrap();
        assert!((0.31..0.33).contains(&smallest), "{smallest}");
        let needed = comparison.look().unwrap().rounds_needed;
        assert_eq!(needed, None, "more rounds do not help");
    }
}

#[test]
fn with_a_lone_floor_the_first_look_settles_a_large_change_and_waits_with_a_smaller_one() {
    for (factor, rounds) in [(2.0, 10), (1.25, 30)] {
        let rounds_with_changes = rounds_with_a_lone_floor(factor);
        let comparison = judge_one(&rounds_with_changes, 0.01, &plan(&[10, 30]));
        assert_eq!(comparison.extent.processes_candidate(), rounds, "{factor}");
    }
}

#[test]
fn with_a_lone_floor_slow_paths_are_not_called() {
    let mut rounds = rounds_with_a_lone_floor(1.0);
    assert_eq!(judged(&rounds).verdict, Verdict::Unchanged);
    for round in &mut rounds {
        for sample in round.candidate.iter_mut().step_by(4) {
            sample.elapsed.0 *= 2;
        }
    }
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Inconclusive, "{comparison:?}");
    assert!(has(&comparison, Note::withholds_changes));
}

#[test]
fn a_method_may_inflate_the_error_of_the_floors() {
    let mut noise = Noise::new(13);
    let rounds = rounds_of(10, |_, _, _| 100.0 * (0.05 * noise.normal()).exp());
    let key = key("b");
    let series = timed_series(&key, &rounds);
    let usable = UsableRounds::select(&series, rounds.len());
    let error = |inflation| {
        let method = PairedMethod {
            inflation,
            ..PairedMethod::default()
        };
        let found = FloorTest::test(&usable, 0.01, &method, 5).expect("ten rounds");
        found.standard_error
    };
    assert_eq!(error(2.0), 2.0 * error(1.0));
}

#[test]
fn a_round_without_samples_of_a_side_does_not_count_in_the_description() {
    let rounds = quiet(11, 1.05);
    let described = |side: Option<Side>| {
        let mut rounds = rounds.clone();
        match side {
            Some(Side::Candidate) => rounds[4].candidate.clear(),
            Some(Side::Base) => rounds[4].base.clear(),
            None => drop(rounds.remove(4)),
        }
        let description = judged(&rounds).description;
        assert!(description.mean.is_some() && description.median.is_some());
        description
    };
    let without = described(None);
    for side in [Side::Candidate, Side::Base] {
        assert_eq!(described(Some(side)), without);
    }
}

#[test]
fn where_neither_test_has_bounds_the_estimate_is_that_of_the_floors() {
    let rounds = rounds_of(5, |round, side, i| {
        let slow = usize::from(side == Side::Candidate) * round;
        100.0 + slow as f64 + 0.01 * i as f64
    });
    let key = key("b");
    let series = timed_series(&key, &rounds);
    let usable = UsableRounds::select(&series, rounds.len());
    let method = PairedMethod::default();
    let floor = FloorTest::test(&usable, 0.01, &method, 5).unwrap();
    let ranks = RankTest::test(&usable, floor.resolution).unwrap();
    let speed = SpeedTest::test(&usable, 0.01, 1e-6, &method, 5).unwrap();
    assert_eq!(
        (speed.lower(1e-6), speed.upper(1e-6)),
        (f64::NEG_INFINITY, f64::INFINITY)
    );
    assert!(ranks.difference() > floor.difference + 0.01);
    assert_eq!(speed.difference, floor.difference);
}

#[test]
fn one_side_without_variance_is_not_named() {
    let varies = |of: Side| {
        let rounds = rounds_of(10, |round, side, _| {
            let step = usize::from(side == of) * round;
            100.0 + 0.1 * step as f64
        });
        !has(&judged(&rounds), |note| *note == Note::NoVariance)
    };
    assert!(varies(Side::Base) && varies(Side::Candidate));
}
