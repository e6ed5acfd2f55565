//! Tests of slowdowns that only some samples have.

use super::super::series::{PairedSamples, UsableRounds};
use super::super::slow_path::SlowPathTest;
use super::*;

/// Creates rounds in which `share` of the samples of a side are 40 % slower.
fn slow_samples(count: usize, slow_side: Side, share: f64, factor: f64) -> Vec<Round> {
    let mut noise = Noise::new(10);
    rounds_of(count, |_, side, _| {
        let slow = side == slow_side && noise.uniform() < share;
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        100.0 * cost * if slow { 1.4 } else { 1.0 } * (1.0 + 0.003 * noise.exponential())
    })
}

#[test]
fn a_slow_path_that_the_floor_does_not_see_is_a_regression_and_named() {
    for share in [0.05, 0.3, 0.6] {
        let comparison = judged(&slow_samples(40, Side::Candidate, share, 1.0));
        assert_eq!(comparison.verdict, Verdict::Regressed, "{share}");
        assert!(comparison.change.unwrap().estimate.abs() < 1e-3);
        let found = comparison.look().unwrap().slow_path;
        assert_eq!(found.side, Some(Side::Candidate));
        assert!(
            (found.share_candidate - share).abs() < 0.03 && found.share_base == 0.0,
            "{found:?}"
        );
        assert!(found.adjusted_p(Side::Candidate) <= 0.002);
        assert!(has(&comparison, |note| matches!(
            note,
            Note::SlowPath { .. }
        )));
    }
}

#[test]
fn a_slow_path_that_is_gone_is_an_improvement() {
    let comparison = judged(&slow_samples(40, Side::Base, 0.05, 1.0));
    assert_eq!(comparison.verdict, Verdict::Improved);
    assert_eq!(comparison.slow_side(), Some(Side::Base));
}

#[test]
fn a_better_floor_with_a_worse_tail_is_a_regression_that_says_both() {
    let comparison = judged(&slow_samples(40, Side::Candidate, 0.2, 0.95));
    assert_eq!(comparison.verdict, Verdict::Regressed);
    assert!(comparison.change.unwrap().upper < 0.0);
    assert!(comparison.slow_side().is_some());
}

#[test]
fn a_change_of_all_samples_is_not_named_a_slow_path() {
    let comparison = judged(&slow_samples(40, Side::Candidate, 0.0, 1.3));
    assert_eq!(comparison.verdict, Verdict::Regressed);
    assert_eq!(comparison.slow_side(), None);
}

#[test]
fn bursts_and_slices_that_fall_on_either_side_are_no_slow_path() {
    let mut alarms = 0;
    for seed in 0..40 {
        let mut noise = Noise::new(seed);
        let mut burst = false;
        let rounds = rounds_of(30, |_, side, i| {
            if i == 0 && side == Side::Base {
                burst = noise.uniform() < 0.4;
            }
            let slice = noise.uniform() < if burst { 0.3 } else { 0.03 };
            100.0 * if slice { 1.6 } else { 1.0 } * (1.0 + 0.003 * noise.exponential())
        });
        let comparison = judged(&rounds);
        alarms += usize::from(comparison.slow_side().is_some());
    }
    // The level is 0.2 % in either direction, so three alarms of forty would not be due to chance.
    assert!(alarms <= 2, "{alarms}");
}

#[test]
fn a_suspicion_keeps_unchanged_from_being_said() {
    // One slow sample in each of six rounds has a probability of 1 in 64.
    let mut noise = Noise::new(11);
    let rounds = rounds_of(30, |round, side, i| {
        let slow = side == Side::Candidate && round % 5 == 0 && i == 3;
        100.0 * if slow { 1.4 } else { 1.0 } * (1.0 + 0.003 * noise.exponential())
    });
    let comparison = judged(&rounds);
    assert_eq!(comparison.verdict, Verdict::Inconclusive);
    assert!(has(&comparison, |note| *note == Note::SlowPathSuspected));
}

#[test]
fn a_slow_path_that_only_a_benchmark_alone_would_show_is_named_as_what_is_suspected() {
    // One slow sample in each of ten rounds has p = 2 / 2^10. This is below the level of .002, but above a fiftieth of it.
    let mut noise = Noise::new(12);
    let rounds = rounds_of(30, |round, side, i| {
        let slow = side == Side::Candidate && round % 3 == 0 && i == 3;
        100.0 * if slow { 1.4 } else { 1.0 } * (1.0 + 0.003 * noise.exponential())
    });
    let of_family = |planned| {
        let plan = Plan {
            planned,
            ..plan(&[30])
        };
        judge_one(&rounds, 0.01, &plan)
    };
    for (planned, verdict) in [(1, Verdict::Regressed), (50, Verdict::Suspect)] {
        let comparison = of_family(planned);
        assert_eq!(comparison.verdict, verdict, "{planned}");
        assert_eq!(comparison.slow_side(), Some(Side::Candidate), "{planned}");
    }
}

#[test]
fn a_round_counts_by_the_balance_of_its_neighbors_over_their_number_and_one() {
    let round = |(slower, faster): (usize, usize)| {
        let mut candidate = vec![0.0; SAMPLES];
        candidate[..slower].fill(1.0);
        candidate[slower..slower + faster].fill(-1.0);
        PairedSamples {
            base: vec![0.0; SAMPLES],
            candidate,
        }
    };
    let p = |rounds: &[(usize, usize)]| {
        let usable = UsableRounds {
            rounds: rounds.iter().copied().map(round).collect(),
            left_out: 0,
            too_short: None,
        };
        // `p_slower` is twice the smaller p of the two excesses.
        SlowPathTest::test(&usable, 0.01).p_slower / 2.0
    };
    // The balances are 1/2 and -4/15. Two sign patterns have at least the sum of these balances.
    let disturbed = [(1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (5, 9)];
    assert_eq!(p(&disturbed), 2.0 / 64.0);
    // The balances are 1/2, 2/3 and -3/4. A sign pattern has at least the sum of these if its negative balances add up to at most 3/4: if at most one
    // of them is negative.
    let few = [(1, 0), (1, 0), (1, 0), (2, 0), (0, 3)];
    assert_eq!(p(&few), 6.0 / 32.0);
}

#[test]
fn a_sample_that_is_slower_by_just_an_excess_is_not_slower_than_its_neighbor() {
    let found = |ahead: &[f64]| {
        let round = PairedSamples {
            base: vec![0.0; ahead.len()],
            candidate: ahead.to_vec(),
        };
        let usable = UsableRounds {
            rounds: vec![round; 6],
            left_out: 0,
            too_short: None,
        };
        SlowPathTest::test(&usable, 0.0)
    };
    // These are the logarithms of the two excesses; the threshold is 0. Six rounds that agree have a probability of 1 in 64, and each excess has half
    // of the level.
    let (small, large) = (0.1_f64.ln_1p(), 0.2_f64.ln_1p());
    let agree = 2.0 / 64.0;
    let p = |ahead: &[f64]| (found(ahead).p_slower, found(ahead).p_faster);
    assert_eq!(p(&[small; 4]), (1.0, 1.0));
    assert_eq!(p(&[small.next_up(); 4]), (agree, 1.0));
    assert_eq!(p(&[-small; 4]), (1.0, 1.0));
    assert_eq!(p(&[-small.next_up(); 4]), (1.0, agree));
    // One sample is much slower than its neighbor, the other is faster by the large excess. They balance each other only if the second exceeds that
    // excess.
    assert_eq!(p(&[1.0, -large]), (agree, 1.0));
    assert_eq!(p(&[1.0, -large.next_up()]), (1.0, 1.0));
    // The shares are relative to the fastest sample of a side, which is its floor.
    assert_eq!(found(&[0.0, small]).share_candidate, 0.0);
    assert_eq!(found(&[0.0, small.next_up()]).share_candidate, 0.5);
    assert_eq!(found(&[0.0, small.next_up()]).share_base, 0.0);
}
