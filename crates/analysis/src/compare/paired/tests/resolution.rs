//! Tests that the precision which is estimated from rounds of identical code agrees with verdicts about simulated changes.

use super::*;

const DEMAND: PowerTarget = PowerTarget {
    noise_threshold: 0.01,
    significance_level: 0.01,
    power: 0.9,
};

/// Creates rounds in which the processes of each side vary log-normally by `of_round`, and the new side takes `factor` times as long.
fn noisy(count: usize, of_round: f64, factor: f64, seed: u64) -> Vec<Round> {
    let mut noise = Noise::new(seed);
    let mut shift = BTreeMap::new();
    let mut of_samples = Noise::new(seed + 1_000_000);
    rounds_of(count, |round, side, _| {
        let shift = shift
            .entry((round, side == Side::Candidate))
            .or_insert_with(|| (of_round * noise.normal()).exp());
        let cost = if side == Side::Candidate { factor } else { 1.0 };
        100.0 * cost * *shift * (1.0 + 0.002 * of_samples.exponential())
    })
}

fn resolution(rounds: &[Round]) -> HostResolution {
    let key = key("b");
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds,
        noise_threshold: 0.01,
    };
    HostResolution::estimate(&series, 0.95, 5).unwrap()
}

#[test]
fn identical_code_differs_by_nothing_within_the_interval_and_more_noise_needs_more_rounds() {
    let quiet = resolution(&noisy(60, 0.003, 1.0, 1));
    assert!(quiet.difference.lower < 0.0 && quiet.difference.upper > 0.0);
    assert_eq!(quiet.rounds, 60);
    let loud = resolution(&noisy(60, 0.02, 1.0, 1));
    for change in [0.02, 0.05, 0.1] {
        let rounds = |host: &HostResolution| {
            let needed = host.rounds_needed(change, &DEMAND);
            needed.map_or(u32::MAX, |needed| needed.rounds)
        };
        assert!(rounds(&quiet) <= rounds(&loud), "{change}");
    }
    let smallest = |host: &HostResolution| host.smallest_change(200, &DEMAND).unwrap();
    assert!(smallest(&quiet) > 0.01 && smallest(&quiet) < smallest(&loud));
}

#[test]
fn a_smaller_change_needs_more_rounds_and_one_within_the_threshold_is_never_found() {
    let host = resolution(&noisy(60, 0.01, 1.0, 2));
    let rounds = |change| {
        host.rounds_needed(change, &DEMAND)
            .map(|needed| needed.rounds)
    };
    assert!(rounds(0.1) <= rounds(0.05) && rounds(0.05) <= rounds(0.03));
    assert_eq!(rounds(0.3), Some(10), "no look is earlier");
    assert_eq!(rounds(0.01), None);
    assert_eq!(rounds(0.0101), None, "no measurement has so many rounds");
    let smallest = host.smallest_change(200, &DEMAND).unwrap();
    let needed = host.rounds_needed(smallest * 1.0001, &DEMAND).unwrap();
    assert!(needed.rounds <= 200 && needed.at_most == 200, "{needed:?}");
}

#[test]
fn verdicts_find_what_was_promised_after_the_rounds_that_were_promised() {
    // The processes of this host vary by 1 %. Many measurements of a slowdown stop at the promised number of rounds.
    let (of_round, change) = (0.01, 0.03);
    let host = resolution(&noisy(80, of_round, 1.0, 3));
    let needed = host.rounds_needed(change, &DEMAND).unwrap();
    assert!((20..=200).contains(&needed.rounds), "{needed:?}");
    let plan = plan(&Plan::looks_up_to(needed.at_most));
    let trials = 40;
    let found = (0..trials).filter(|trial| {
        let rounds = noisy(needed.rounds as usize, of_round, 1.0 + change, 100 + trial);
        let standing = (1..=rounds.len()).find_map(|count| {
            let key = key("b");
            let series = PairedSeries {
                key: &key,
                metric: &Metric::Time,
                rounds: &rounds[..count],
                noise_threshold: 0.01,
            };
            match check_settled(&series, &plan) {
                LookStatus::Settled(verdict) => Some(verdict),
                LookStatus::Open | LookStatus::Searching => None,
            }
        });
        standing == Some(Verdict::Regressed)
    });
    let found = found.count();
    // Nine of ten were promised, but the estimated deviation is itself uncertain.
    assert!(found * 10 >= trials as usize * 7, "{found} of {trials}");
}

#[test]
fn too_few_rounds_or_none_promise_nothing() {
    let key = key("b");
    for count in [0, 4] {
        let rounds = noisy(count, 0.01, 1.0, 4);
        let series = timed_series(&key, &rounds);
        assert_eq!(HostResolution::estimate(&series, 0.95, 5), None, "{count}");
    }
}
