//! Tests of when a benchmark stops, and at which level.

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
        (extent.launches_candidate(), extent.stopped_early()),
        (10, true)
    );
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
    // While the speed is uncertain, the search is not only for slow paths.
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
    // The processes of both sides have the same fifteen speeds, 8 % apart, in orders that differ by exchanges of neighbors.
    let rounds = rounds_of(60, |round, side, i| {
        let place = if side == Side::Candidate {
            round ^ 1
        } else {
            round
        };
        100.0 * (1.0 + 0.08 * (place % 15) as f64 + 1e-5 * i as f64)
    });
    let plan = plan(&[10, 20, 30, 45, 60]);
    // Less than .45 of the rounds, then half of them.
    assert_eq!(standing_at(&rounds[..20], &plan), LookStatus::Open);
    assert_eq!(
        standing_at(&rounds[..30], &plan),
        LookStatus::Settled(Verdict::Inconclusive)
    );
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
        let series = PairedSeries {
            key: &key,
            metric: &Metric::Time,
            rounds: &rounds,
            noise_threshold: 0.01,
        };
        let alone = plan(&[20, 40]);
        let family = Plan {
            planned: 1000,
            ..alone.clone()
        };
        let look = Look::interim(&series, &alone, &PairedMethod::default()).expect("a look");
        let [alone, in_family] = [alone, family].map(|plan| look.status(&plan));
        alone == LookStatus::Open && in_family == LookStatus::Settled(Verdict::Inconclusive)
    };
    assert!((0..20).any(|seed| is_given_up_in_a_family_alone(&seed)));
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
    // 10 of 30 rounds: a ninth of the level.
    assert!((plan(&[10, 20, 30]).spent_share(10, &method) - 1.0 / 9.0).abs() < 1e-12);
}

#[test]
fn a_run_cut_short_between_looks_is_judged_by_all_its_rounds_with_the_level_that_is_left() {
    let rounds = quiet(17, 1.01);
    let plan = plan(&LOOKS);
    let comparison = judge_one(&rounds, 0.01, &plan);
    let extent = comparison.extent;
    assert_eq!(
        (extent.launches_candidate(), extent.stopped_early()),
        (17, false)
    );
    let whole = judged(&rounds);
    let (part, whole) = (comparison.change.unwrap(), whole.change.unwrap());
    assert!(part.lower < whole.lower && part.estimate == whole.estimate);
}
