//! Rankings: benchmarks that differ are ordered, equal ones are hardly ever told apart, and every interval has an equal share of the level.

use super::*;
use crate::compare::Standing::{self, AsFast, Faster, Open, Slower};
use crate::compare::rank_beside_reference;

/// Returns the rank of the reference, and for each rival whose iterations take these multiples of the reference's time its standing and rank.
fn rank(factors: &[f64]) -> (usize, Vec<(Standing, Option<usize>)>) {
    let rounds = factors.iter().map(|factor| quiet(30, *factor));
    rank_rounds(&rounds.collect::<Vec<_>>())
}

/// Returns the rank of the reference, and the standing and rank of each rival that had 30 of these rounds beside it.
fn rank_rounds(rounds: &[Vec<Round>]) -> (usize, Vec<(Standing, Option<usize>)>) {
    let keys: Vec<BenchmarkKey> = (0..rounds.len()).map(|at| key(&at.to_string())).collect();
    let series: Vec<PairedSeries<'_>> = keys
        .iter()
        .zip(rounds)
        .map(|(key, rounds)| timed_series(key, rounds))
        .collect();
    let plan = Plan {
        planned: rounds.len(),
        ..plan(&[30])
    };
    let ranking = rank_beside_reference(&series, &plan);
    let others = ranking.others.iter();
    let others = others.map(|one| (one.standing, one.rank));
    (ranking.reference, others.collect())
}

#[test]
fn steps_of_two_percent_are_ordered_whichever_is_the_reference() {
    let [second, third] = [1.02, 1.02 * 1.02];
    assert_eq!(
        rank(&[third, second]),
        (1, vec![(Slower, Some(3)), (Slower, Some(2))])
    );
    assert_eq!(
        rank(&[1.0 / 1.02, 1.02]),
        (2, vec![(Faster, Some(1)), (Slower, Some(3))])
    );
}

#[test]
fn benchmarks_that_are_as_fast_share_a_rank_beside_the_reference_and_behind_it() {
    assert_eq!(
        rank(&[1.2, 1.0, 1.2, 1.21, 1.3]),
        (
            1,
            vec![
                (Slower, Some(3)),
                (AsFast, Some(1)),
                (Slower, Some(3)),
                (Slower, Some(3)),
                (Slower, Some(6)),
            ]
        )
    );
}

#[test]
fn an_undecided_benchmark_is_neither_before_nor_behind_the_reference() {
    assert_eq!(
        rank(&[1.01, 1.5]),
        (1, vec![(Open, Some(1)), (Slower, Some(3))])
    );
}

#[test]
fn a_suspected_slow_path_leaves_a_benchmark_open_and_its_interval_still_ranks_it() {
    // One slow sample in each of six rounds is no proof, but a suspicion.
    let mut noise = Noise::new(11);
    let suspected = rounds_of(30, |round, side, i| {
        let slow = side == Side::Candidate && round % 5 == 0 && i == 3;
        100.0 * if slow { 1.4 } else { 1.0 } * (1.0 + 0.003 * noise.exponential())
    });
    assert_eq!(
        rank_rounds(&[quiet(30, 0.5), suspected]),
        (2, vec![(Faster, Some(1)), (Open, Some(2))])
    );
}

#[test]
fn on_a_disturbed_host_two_rivals_must_differ_by_the_gaps_of_both() {
    // The fastest process of the reference is a third faster than all its others.
    let lucky = |factor: f64| {
        let mut noise = Noise::new(13);
        rounds_of(30, |round, side, _| {
            let cost = match side {
                Side::Candidate => factor,
                Side::Base if round == 7 => 0.75,
                Side::Base => 1.0,
            };
            100.0 * cost * (1.0 + 0.003 * noise.exponential())
        })
    };
    let second = (Slower, Some(2));
    assert_eq!(rank(&[3.0, 3.6]), (1, vec![second, (Slower, Some(3))]));
    assert_eq!(
        rank_rounds(&[lucky(3.0), lucky(3.6)]),
        (1, vec![second, second])
    );
    // The gap of one series is less than the difference of 40 %, and that of both is more.
    let far = quiet(30, 4.2);
    assert_eq!(
        rank_rounds(&[lucky(3.0), far]),
        (1, vec![second, (Slower, Some(3))])
    );
    assert_eq!(
        rank_rounds(&[lucky(3.0), lucky(4.2)]),
        (1, vec![second, second])
    );
}

#[test]
fn every_interval_has_an_equal_share_of_the_level() {
    let (key, rounds) = (key("b"), quiet(30, 1.05));
    let series = timed_series(&key, &rounds);
    let change = |planned, count, level| {
        let plan = Plan {
            planned,
            significance_level: level,
            ..plan(&[30])
        };
        let ranking = rank_beside_reference(&vec![series; count], &plan);
        let changes = ranking.others.iter().map(|one| one.comparison.change);
        changes.collect::<Vec<_>>()
    };
    let quarter = change(1, 1, 0.0025)[0];
    // Holm's procedure would give the last of four tests the whole level.
    assert_eq!(change(4, 4, 0.01), [quarter; 4]);
    assert_ne!(change(1, 1, 0.01)[0], quarter);
}

#[test]
fn of_500_equal_benchmarks_no_more_are_told_apart_than_the_level_allows() {
    let told_apart = |noise_threshold: f64| {
        let told_apart = |seed: &u64| {
            let mut noise = Noise::new(1_000 + seed);
            let mut process = 0.0;
            let rounds = rounds_of(20, |_, _, i| {
                if i == 0 {
                    process = 0.003 * noise.normal();
                }
                100.0 * (1.0 + process + 0.003 * noise.exponential())
            });
            let key = key("b");
            let series = PairedSeries {
                noise_threshold,
                ..timed_series(&key, &rounds)
            };
            let plan = Plan {
                significance_level: 0.01,
                ..plan(&[10, 20])
            };
            let ranking = rank_beside_reference(&[series], &plan);
            matches!(ranking.others[0].standing, Slower | Faster)
        };
        (0..500).filter(told_apart).count()
    };
    assert_eq!(told_apart(0.01), 0, "1 % is noise");
    // At a threshold of 0, the level is 1 % in each direction, which is 10 of 500. More than 20 have a probability of 0.2 %.
    let at_zero = told_apart(0.0);
    assert!(at_zero <= 20, "{at_zero}");
}
