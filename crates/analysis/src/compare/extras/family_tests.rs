//! Tests of verdicts about other metrics than the time, which share the level of a family.

use std::collections::BTreeMap;

use super::tests::{constant, counted, timed};
use crate::compare::note::Note;
use crate::compare::{
    Comparison, Extent, HostClass, Plan, Question, Reference, TestPolicy, compare,
};
use crate::model::{Analysis, DecisionSettings, Measurement, Statistic, Verdict};
use perfcheck_stats::{Draws, Stream, normal};

fn in_turn(base: &Measurement, candidate: &Measurement, noise_threshold: f64) -> Comparison {
    let plan = Plan {
        looks: vec![10],
        significance_level: 0.01,
        planned: 1,
        confidence_level: 0.95,
        resamples: 1_000,
        seed: 7,
        seeds: BTreeMap::new(),
        noise: BTreeMap::new(),
    };
    let extent = Extent::InTurn {
        rounds: 5,
        stopped_early: false,
        layouts: 0,
    };
    Comparison::undecided(noise_threshold, extent).with_paired_extras(base, candidate, &plan)
}

fn about(comparisons: &[&Comparison], subject: Statistic) -> Vec<Comparison> {
    let mut found: Vec<Comparison> = comparisons.iter().map(|one| (*one).clone()).collect();
    Comparison::judge_by_metric(&mut found, subject, &DecisionSettings::default());
    found
}

/// Ten rounds; the logarithms of their ratios have a mean of ln `factor` and a standard error of 0.95 %.
fn ten_rounds(factor: f64) -> Comparison {
    let ratios = [
        -0.03, 0.03, -0.04, 0.04, -0.01, 0.01, -0.03, 0.03, -0.02, 0.02,
    ];
    let candidate: Vec<f64> = ratios
        .iter()
        .map(|ratio: &f64| factor * ratio.exp())
        .collect();
    in_turn(&timed(&[1.0; 10]), &timed(&candidate), 0.02)
}

#[test]
fn a_change_of_a_percentile_that_one_benchmark_alone_shows_is_open_among_fifty() {
    let slower = ten_rounds(1.05);
    let alone = about(&[&slower], Statistic::P95).remove(0);
    assert_eq!(alone.verdict, Verdict::Regressed, "{:?}", alone.change);
    let still = ten_rounds(1.0);
    let mut all = vec![&still; 49];
    all.push(&slower);
    let among = about(&all, Statistic::P95).remove(49);
    assert_eq!(among.verdict, Verdict::Inconclusive, "{:?}", among.change);
    let shared = among.shared_level().unwrap();
    assert_eq!(shared.family, 50);
    assert!((shared.effective_level() - 0.999).abs() < 1e-12);
    let (alone, among) = (alone.change.unwrap(), among.change.unwrap());
    assert!((alone.estimate - among.estimate).abs() < 1e-15);
    assert!(among.lower < alone.lower && alone.upper < among.upper);
    let plain = about(&[&ten_rounds(1.2), &still], Statistic::P95);
    assert_eq!(plain[0].verdict, Verdict::Regressed);
}

#[test]
fn benchmarks_without_the_subject_and_failed_ones_take_no_share() {
    let slower = ten_rounds(1.05);
    let none = in_turn(&counted(&[&[1]]), &counted(&[&[1]]), 0.02);
    let failed = Comparison {
        verdict: Verdict::Failed,
        ..slower.clone()
    };
    let found = about(&[&slower, &none, &failed], Statistic::P99);
    assert_eq!(found[0].verdict, Verdict::Regressed);
    assert_eq!(found[0].shared_level().unwrap().family, 1);
    assert!(matches!(found[1].notes[..], [Note::NoSuchMetric { .. }]));
    assert_eq!(found[2], failed);
}

#[test]
fn counts_that_vary_are_tested_by_holm_and_counts_that_do_not_take_no_share() {
    let base = counted(&[&[100, 102], &[101], &[100], &[102], &[101, 101]]);
    let more = counted(&[&[110], &[111], &[112], &[110], &[110, 111]]);
    let varying = in_turn(&base, &more, 0.02);
    let exact = in_turn(&counted(&[&[12][..]; 5]), &counted(&[&[13][..]; 5]), 0.02);
    // p is 2 / 252.
    let mut all = vec![&exact; 30];
    all.push(&varying);
    let found = about(&all, Statistic::Allocations);
    assert!(found.iter().all(|one| one.verdict == Verdict::Regressed));
    assert_eq!(found[30].shared_level().unwrap().family, 1);
    assert_eq!((found[0].shared_level(), found[0].p_value), (None, None));
    let found = about(&[&varying, &varying, &exact], Statistic::Allocations);
    for one in &found[..2] {
        assert_eq!(one.verdict, Verdict::Inconclusive);
        assert!((one.p_value.unwrap() - 4.0 / 252.0).abs() < 1e-12);
        assert!(one.change.unwrap().lower.is_infinite());
        assert!(matches!(one.notes[..], [Note::CountsNotSignificant { .. }]));
    }
    assert_eq!(found[2].verdict, Verdict::Regressed);
}

fn stored(base: &[&Measurement], candidate: &Measurement, host: HostClass) -> Comparison {
    let reference = Reference {
        averaged: base.to_vec(),
        spread: base.to_vec(),
        earlier: vec![],
    };
    let question = Question {
        candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let rules = TestPolicy {
        decision: DecisionSettings {
            analysis: Analysis {
                subject: Statistic::P95,
                ..Analysis::default()
            },
            resamples: 1_000,
            ..DecisionSettings::default()
        },
        host,
        seed: 7,
    };
    compare(&[question], &rules).remove(0)
}

#[test]
fn percentiles_of_stored_runs_allow_for_the_drift_between_runs() {
    let scales = [1.0, 1.002, 0.998, 1.001, 0.999];
    let (base, candidate) = (timed(&scales), timed(&scales.map(|scale| scale * 1.08)));
    let verdict = |base: &[&Measurement], host| stored(base, &candidate, host).verdict;
    assert_eq!(verdict(&[&base], HostClass::Dedicated), Verdict::Regressed);
    assert_eq!(verdict(&[&base], HostClass::Shared), Verdict::Inconclusive);
    // With runs that were seen to be alike.
    assert_eq!(verdict(&[&base; 20], HostClass::Shared), Verdict::Regressed);
    let apart = [0.9, 1.1, 0.95, 1.05, 1.0].map(|drift| timed(&scales.map(|s| s * drift)));
    let apart: Vec<&Measurement> = apart.iter().collect();
    assert_eq!(verdict(&apart, HostClass::Dedicated), Verdict::Inconclusive);
}

#[test]
fn what_is_one_and_the_same_in_all_launches_has_not_drifted() {
    let same = constant(1_000_000, 5);
    let found = stored(&[&same], &same, HostClass::Shared);
    assert_eq!(found.verdict, Verdict::Unchanged);
    let change = found.change.unwrap();
    assert_eq!((change.lower, change.upper), (0.0, 0.0));
}

#[test]
fn identical_code_fails_a_family_no_more_often_than_the_level_says() {
    const FAMILIES: u64 = 200;
    let stream = Stream {
        seed: 11,
        name: "families",
    };
    let (mut shared, mut each) = (0, 0);
    for block in 0..FAMILIES {
        let mut draws = Draws::new(stream, block);
        let mut side = || {
            let scale = |_| {
                let uniform = (draws.index(1 << 30) as f64 + 0.5) / f64::from(1 << 30);
                (0.02 * normal::quantile(uniform).unwrap()).exp()
            };
            let scales: Vec<f64> = (0..6).map(scale).collect();
            scales
                .iter()
                .map(|scale| constant((1e6 * scale) as u64, 1))
                .collect()
        };
        let all: Vec<Comparison> = (0..20)
            .map(|_| {
                let [base, candidate]: [Vec<Measurement>; 2] = [side(), side()];
                in_turn(&joined(base), &joined(candidate), 0.0)
            })
            .collect();
        let is_slower = |one: &Comparison| one.verdict == Verdict::Regressed;
        let borrowed: Vec<&Comparison> = all.iter().collect();
        shared += u32::from(about(&borrowed, Statistic::P95).iter().any(is_slower));
        each += u32::from(
            all.iter()
                .any(|one| is_slower(&about(&[one], Statistic::P95)[0])),
        );
    }
    // 2.5 % of 200 are 5; the 99.9 % quantile of such counts is 13. Each benchmark alone: 1 - .975^20 = 40 %.
    assert!(shared <= 13, "{shared}");
    assert!(each >= 50, "{each}");
}

/// Joins runs to one run with a process of each.
fn joined(runs: Vec<Measurement>) -> Measurement {
    let mut runs = runs.into_iter();
    let mut first = runs.next().expect("a run");
    for (ordinal, run) in (1..).zip(runs) {
        first
            .launches
            .extend(run.launches.into_iter().map(|mut launch| {
                launch.launch = ordinal;
                launch
            }));
    }
    first
}
