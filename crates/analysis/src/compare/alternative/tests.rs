//! Runs the published tests on measurements with known samples.

use super::{AcrossRuns, compare_across_runs, estimate_metric};
use crate::compare::fixtures::{ITERATIONS, flat_process, measurement, with_ramp};
use crate::compare::{
    Comparison, Estimate, HostClass, Note, Question, Reference, TestPolicy, compare,
};
use crate::model::{
    Allocations, Analysis, DecisionSettings, Failure, Latencies, Measurement, Metric, Nanos,
    Observations, Outliers, Side, Statistic, StatisticSet, System, Test, Thresholds, Verdict,
};
use perfcheck_stats::{
    Correction, EffectSize, HdrCounter, HdrPrecision, MannWhitney, MannWhitneyMethod, Significance,
    WelchDf, WelchTest,
};

const LEVEL: f64 = 0.05;

fn rules(analysis: Analysis, thresholds: Thresholds) -> TestPolicy {
    TestPolicy {
        decision: DecisionSettings {
            significance_level: LEVEL,
            resamples: 1_000,
            analysis,
            thresholds,
            ..DecisionSettings::default()
        },
        host: HostClass::Dedicated,
        seed: 7,
    }
}

fn by(test: Test) -> Analysis {
    test.into()
}

/// Creates one process for each value. All samples of a process take about that value.
fn processes(values: &[f64]) -> Measurement {
    let all = values.iter().zip(0..);
    measurement(
        all.map(|(value, k)| flat_process(k, ITERATIONS, &[*value; 3]))
            .collect(),
    )
}

fn compare_one(base: &Measurement, candidate: &Measurement, rules: &TestPolicy) -> Comparison {
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
        earlier: vec![],
    };
    let question = Question {
        candidate,
        reference: &reference,
        noise_threshold: 0.02,
    };
    compare(&[question], rules).remove(0)
}

fn compared(base: &[f64], candidate: &[f64], analysis: Analysis) -> Comparison {
    compare_one(
        &processes(base),
        &processes(candidate),
        &rules(analysis, Thresholds::default()),
    )
}

const BASE: [f64; 5] = [100.0, 101.0, 102.0, 100.5, 101.5];
const SLOWER: [f64; 5] = [110.0, 111.0, 112.0, 110.5, 111.5];

#[test]
fn what_takes_nothing_any_more_is_faster_by_every_test() {
    let base = [6.0, 6.1, 5.9, 6.0, 6.2, 6.1];
    for test in [Test::PooledT, Test::Welch, Test::MannWhitney] {
        let analysis = Analysis {
            observations: Observations::Processes,
            ..by(test)
        };
        let found = compared(&base, &[0.0; 6], analysis);
        let change = found.change.expect("a change");
        assert_eq!(found.verdict, Verdict::Improved, "{test:?} {found:?}");
        assert!((change.estimate + 1.0).abs() < 0.05, "{test:?} {change:?}");
        assert!(change.upper < -0.9, "{test:?} {change:?}");
    }
}

#[test]
fn an_exact_test_of_so_few_that_no_ranks_reach_the_level_has_no_bounds() {
    let mut thresholds = Thresholds::default();
    thresholds.set("min-per-group", 3.0).unwrap();
    let analysis = Analysis {
        p: MannWhitneyMethod::Exact,
        ..by(Test::MannWhitney)
    };
    let found = compare_one(
        &processes(&[100.0, 101.0, 102.0]),
        &processes(&[110.0, 112.0, 114.5]),
        &rules(analysis, thresholds),
    );
    // scipy.stats.mannwhitneyu(new, base, method="exact"): 0.1 is the smallest p of three against three values.
    assert!((found.p_value.unwrap() - 0.1).abs() < 1e-12);
    let change = found.change.unwrap();
    assert_eq!(
        (change.lower, change.upper),
        (f64::NEG_INFINITY, f64::INFINITY)
    );
    assert_eq!(found.verdict, Verdict::Inconclusive);
}

#[test]
fn b6_the_percentile_of_processes_is_averaged_over_them_and_that_of_samples_is_of_all() {
    let up_from = |start: u32| (start..start + 20).map(f64::from).collect::<Vec<_>>();
    let base = measurement(vec![
        flat_process(0, ITERATIONS, &up_from(1)),
        flat_process(1, ITERATIONS, &up_from(101)),
    ]);
    let candidate = measurement(vec![
        flat_process(0, ITERATIONS, &[69.0; 20]),
        flat_process(1, ITERATIONS, &[69.0; 20]),
    ]);
    let ratio = |observations| {
        let analysis = Analysis {
            observations,
            ..System::BenchForge.decision_settings().analysis
        };
        let found = compare_one(&base, &candidate, &rules(analysis, Thresholds::default()));
        found.published_decision().unwrap().statistic.unwrap()
    };
    // np.quantile(x, .95, method="inverted_cdf"): 19 and 119 for the two processes, 118 for all forty samples.
    assert!((ratio(Observations::Processes) - 1.0).abs() < 1e-12);
    assert!((ratio(Observations::Samples) - 69.0 / 118.0).abs() < 1e-12);
}

#[test]
fn m5_welch_tests_the_means_of_the_processes_and_its_interval_decides() {
    let found = compared(&BASE, &SLOWER, by(Test::Welch));
    let expected = WelchTest::test(&SLOWER, &BASE, WelchDf::Fractional).unwrap();
    let tested = found.published_decision().unwrap();
    assert_eq!((tested.candidate, tested.base), (5, 5));
    assert!((tested.p_value.unwrap() - expected.p).abs() < 1e-12);
    assert!((tested.statistic.unwrap() - expected.t).abs() < 1e-9);
    assert_eq!(found.p_value, tested.adjusted_p_value);
    let change = found.change.unwrap();
    assert!((change.estimate - 10.0 / 101.0).abs() < 1e-12, "{change:?}");
    let interval = expected.interval(0.95).unwrap();
    assert!((change.lower - interval.lower / 101.0).abs() < 1e-12);
    // Means and medians are 101 and 111.
    for described in [found.description.mean, found.description.median] {
        let change = described.unwrap().estimate;
        assert!((change.estimate - 10.0 / 101.0).abs() < 1e-12, "{change:?}");
    }
    assert_eq!(found.verdict, Verdict::Regressed);
    assert_eq!(
        compared(&SLOWER, &BASE, by(Test::Welch)).verdict,
        Verdict::Improved
    );
}

#[test]
fn what_could_be_called_is_the_threshold_and_half_of_the_interval() {
    // A slowdown of 1 % is within the threshold of 2 %, so no test reports it.
    let candidate = BASE.map(|value| value * 1.01);
    let found = compared(&BASE, &candidate, by(Test::Welch));
    let change = found.change.unwrap();
    let expected = 0.02 + (change.estimate - change.lower);
    let smallest = found.smallest_callable.unwrap();
    assert!((smallest - expected).abs() < 1e-12, "{found:?}");
    assert!(change.lower < 0.01 && smallest > 0.02, "{found:?}");
    let called = compared(&BASE, &SLOWER, by(Test::Welch));
    assert_eq!(called.smallest_callable, None);
}

#[test]
fn n29_n35_n_x3_mann_whitney_tests_what_counts_as_an_observation_and_says_one_of_three_things() {
    let found = compared(&BASE, &SLOWER, by(Test::MannWhitney));
    let exact = MannWhitney::from_groups(&SLOWER, &BASE).unwrap();
    let p = exact.p_value(MannWhitneyMethod::Exact);
    assert_eq!(found.published_decision().unwrap().p_value, p);
    assert_eq!(
        found.published_decision().unwrap().significance,
        Significance::Significant
    );
    let of_samples = Analysis {
        observations: Observations::Samples,
        ..by(Test::MannWhitney)
    };
    let samples = compared(&BASE, &SLOWER, of_samples)
        .published_decision()
        .copied()
        .unwrap();
    assert_eq!((samples.candidate, samples.base), (15, 15));
    assert!(samples.p_value < p);
    let alike = compared(&BASE, &BASE, by(Test::MannWhitney))
        .published_decision()
        .copied()
        .unwrap();
    assert_eq!(alike.significance, Significance::NotSignificant);
    let few = compared(&BASE[..4], &SLOWER, by(Test::MannWhitney))
        .published_decision()
        .copied()
        .unwrap();
    assert_eq!(
        (few.significance, few.p_value),
        (Significance::NotTested, None)
    );
}

#[test]
fn n_x9_s_x5_the_p_of_ranks_is_exact_asymptotic_or_corrected_as_asked() {
    let p = |rank_p| {
        let analysis = Analysis {
            p: rank_p,
            ..by(Test::MannWhitney)
        };
        compared(&BASE, &SLOWER, analysis)
            .published_decision()
            .copied()
            .unwrap()
            .p_value
            .unwrap()
    };
    // Five values are all above five others: p is 2 / 252 exactly, and larger by the normal distribution.
    assert!((p(MannWhitneyMethod::Exact) - 0.007_936_507_936_507_936).abs() < 1e-12);
    assert_eq!(p(MannWhitneyMethod::Automatic), p(MannWhitneyMethod::Exact));
    assert!((p(MannWhitneyMethod::Asymptotic) - 0.009_023_438_818_080_326).abs() < 1e-12);
    assert!(p(MannWhitneyMethod::AsymptoticCorrected) > p(MannWhitneyMethod::Asymptotic));
    let ties = Analysis {
        p: MannWhitneyMethod::Exact,
        ..by(Test::MannWhitney)
    };
    let found = compared(&[100.0, 100.0, 101.0, 102.0, 103.0], &SLOWER, ties);
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert!(found.notes.contains(&Note::NoExactP), "{:?}", found.notes);
}

#[test]
fn n33_four_processes_are_not_tested_and_the_reason_is_said() {
    for test in [Test::MannWhitney, Test::Kruskal] {
        let found = compared(&BASE[..4], &SLOWER[..4], by(test));
        assert_eq!(found.verdict, Verdict::Inconclusive);
        // The change of the medians is still shown, without bounds.
        let seen = found.change.unwrap();
        assert!(
            seen.estimate > 0.0 && seen.lower == f64::NEG_INFINITY,
            "{seen:?}"
        );
        assert_eq!(found.p_value, None);
        let note = Note::TooFewObservations {
            smaller: 4,
            needed: 5,
        };
        assert!(found.notes.contains(&note), "{:?}", found.notes);
    }
    let mut two = Thresholds::default();
    two.set("min-per-group", 2.0).unwrap();
    let found = compare_one(
        &processes(&BASE[..4]),
        &processes(&SLOWER[..4]),
        &rules(by(Test::MannWhitney), two),
    );
    // Four against four: the exact p is 2 / 70.
    assert!((found.p_value.unwrap() - 2.0 / 70.0).abs() < 1e-12);
    assert_eq!(found.verdict, Verdict::Regressed);
}

#[test]
fn kruskal_of_two_runs_is_mann_whitney_without_continuity_correction() {
    let asymptotic = Analysis {
        p: MannWhitneyMethod::Asymptotic,
        ..by(Test::MannWhitney)
    };
    let ranks = compared(&BASE, &SLOWER, asymptotic);
    let kruskal = compared(&BASE, &SLOWER, by(Test::Kruskal));
    let p = |found: &Comparison| found.p_value.unwrap();
    assert!((p(&ranks) - p(&kruskal)).abs() < 1e-12);
    assert_eq!(ranks.change, kruskal.change);
}

#[test]
fn only_where_both_sides_are_constant_there_is_no_variance() {
    let has_none = |base: &[f64], candidate: &[f64]| {
        let found = compared(base, candidate, by(Test::Welch));
        found.notes.contains(&Note::NoVariance)
    };
    let (constant, other) = ([100.0; 5], [110.0; 5]);
    assert!(has_none(&constant, &other));
    assert!(!has_none(&constant, &SLOWER) && !has_none(&SLOWER, &constant));
}

#[test]
fn n_x10_a_gate_stands_before_the_comparisons_of_several_runs() {
    let rules = rules(by(Test::Kruskal), Thresholds::default());
    let (base, alike, slower) = (processes(&BASE), processes(&BASE), processes(&SLOWER));
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![&base],
        earlier: vec![],
    };
    let across = |candidates: &[&Measurement]| {
        let questions: Vec<Question<'_>> = (candidates.iter())
            .map(|candidate| Question {
                candidate,
                reference: &reference,
                noise_threshold: 0.02,
            })
            .collect();
        compare_across_runs(&questions, &rules)
    };
    let ps = |found: &AcrossRuns| -> Vec<f64> {
        let ps = found.comparisons.iter().map(|one| one.p_value);
        ps.collect::<Option<_>>().unwrap()
    };
    let open = across(&[&alike, &slower]).unwrap();
    assert!(open.gate.open && open.gate.p_value < LEVEL);
    // The p of ten values in perfect order is 2 / C(10, 5) = 2 / 252. Holm's procedure doubles the smaller of the two p-values.
    assert_eq!(open.comparisons[1].verdict, Verdict::Regressed);
    assert!((ps(&open)[1] - 4.0 / 252.0).abs() < 1e-12 && ps(&open)[0] > 0.9);
    let closed = across(&[&alike, &alike]).unwrap();
    assert!(!closed.gate.open);
    assert_eq!(ps(&closed), [1.0, 1.0]);
    // A run with too few observations is left out. The only run that is left cannot be tested as a group.
    assert_eq!(across(&[&slower, &processes(&BASE[..4])]), None);
    // The reference may have more observations than the fewest, but no fewer.
    let of_reference = |values: &[f64]| {
        let base = processes(values);
        let reference = Reference {
            averaged: vec![&base],
            spread: vec![&base],
            earlier: vec![],
        };
        let questions = [&alike, &slower].map(|candidate| Question {
            candidate,
            reference: &reference,
            noise_threshold: 0.02,
        });
        compare_across_runs(&questions, &rules).is_some()
    };
    assert!(of_reference(&[&BASE[..], &[100.2]].concat()));
    assert!(!of_reference(&BASE[..4]));
}

#[test]
fn n_x11_what_is_significant_and_negligible_is_no_change() {
    // With many samples that hardly differ, p is small, but so is the effect.
    let many = |shift: f64| {
        let times: Vec<f64> = (0..2000)
            .map(|i| 100.0 + f64::from(i) * 0.01 + shift)
            .collect();
        measurement(vec![flat_process(0, ITERATIONS, &times)])
    };
    let analysis = Analysis {
        observations: Observations::Samples,
        ..by(Test::MannWhitney)
    };
    let found = compare_one(
        &many(0.0),
        &many(1.2),
        &rules(analysis, Thresholds::default()),
    );
    assert!(found.p_value.unwrap() < LEVEL);
    assert_eq!(
        found.published_decision().unwrap().significance,
        Significance::NotSignificant
    );
    assert!(
        matches!(found.notes[..], [.., Note::NegligibleEffect { .. }]),
        "{:?}",
        found.notes
    );
    let mut none = Thresholds::default();
    none.set("practical-effect", 0.0).unwrap();
    let found = compare_one(&many(0.0), &many(1.2), &rules(analysis, none));
    assert_eq!(
        found.published_decision().unwrap().significance,
        Significance::Significant
    );
}

#[test]
fn b19_the_ratio_of_95th_percentiles_has_bounds_of_its_own() {
    let verdict = |factor: f64| {
        let candidate: Vec<f64> = [100.0; 3].iter().map(|x| x * factor).collect();
        compared(&[100.0; 3], &candidate, by(Test::P95Ratio)).verdict
    };
    assert_eq!(verdict(0.95), Verdict::Improved);
    assert_eq!(verdict(0.951), Verdict::Unchanged);
    assert_eq!(verdict(1.049), Verdict::Unchanged);
    assert_eq!(verdict(1.05), Verdict::Regressed);
    let of_one = compared(&[100.0], &[106.0], by(Test::P95Ratio));
    assert_eq!(
        of_one.verdict,
        Verdict::Regressed,
        "one process has a percentile"
    );
    let mut wide = Thresholds::default();
    wide.set("p95-slower", 1.2).unwrap();
    let rules = rules(by(Test::P95Ratio), wide);
    let found = compare_one(&processes(&[100.0; 3]), &processes(&[119.0; 3]), &rules);
    assert_eq!(found.verdict, Verdict::Unchanged);
    assert_eq!(found.p_value, None);
}

#[test]
fn m_x1_m_x2_intervals_of_means_that_do_not_overlap_differ_and_narrow_with_more_processes() {
    let interval = by(Test::Interval);
    let found = compared(&BASE, &SLOWER, interval);
    assert!(found.published_decision().unwrap().statistic.unwrap() > 1.0);
    assert_eq!(found.verdict, Verdict::Regressed);
    // The sides are 1.5 % apart, with standard deviations of 0.8: their intervals overlap.
    let near: Vec<f64> = BASE.iter().map(|x| x + 1.5).collect();
    let found = compared(&BASE, &near, interval);
    let tested = found.published_decision().unwrap();
    assert!(tested.statistic.unwrap() < 1.0);
    assert_eq!(tested.significance, Significance::NotSignificant);
    let change = found.change.unwrap();
    assert!(change.lower < 0.0 && 0.0 < change.upper);
    // With ten times as many processes, the intervals no longer overlap. Intervals made of standard deviations, as in mmtests' script, would still
    // overlap.
    let many = |values: &[f64]| values.repeat(10);
    let found = compared(&many(&BASE), &many(&near), interval);
    assert_eq!(
        found.published_decision().unwrap().significance,
        Significance::Significant
    );
}

#[test]
fn several_benchmarks_share_the_level_as_the_correction_says() {
    let (base, near) = (
        processes(&BASE),
        processes(&[100.9, 101.9, 102.9, 101.4, 102.4]),
    );
    let reference = Reference {
        averaged: vec![&base],
        spread: vec![&base],
        earlier: vec![],
    };
    let question = Question {
        candidate: &near,
        reference: &reference,
        noise_threshold: 0.02,
    };
    let p = |correction| {
        let analysis = Analysis {
            correction,
            ..by(Test::Welch)
        };
        let found = compare(&[question; 4], &rules(analysis, Thresholds::default()));
        found[0].p_value.unwrap()
    };
    let alone = p(Correction::Unadjusted);
    assert!((p(Correction::Holm) - 4.0 * alone).abs() < 1e-12);
    // All four benchmarks have the same p, so the last step of the procedure does not change it.
    assert!((p(Correction::BenjaminiHochberg) - alone).abs() < 1e-12);
}

#[test]
fn constants_differ_exactly_and_equal_ones_do_not() {
    let found = compared(&[100.0; 5], &[104.0; 5], by(Test::Welch));
    assert_eq!(found.verdict, Verdict::Regressed);
    assert!(found.notes.contains(&Note::NoVariance));
    assert!((found.change.unwrap().lower - 0.04).abs() < 1e-12);
    for test in [
        Test::Welch,
        Test::MannWhitney,
        Test::Kruskal,
        Test::Interval,
    ] {
        let same = compared(&[100.0; 5], &[100.0; 5], by(test));
        assert_eq!(same.verdict, Verdict::Unchanged, "{test}");
        assert_ne!(same.p_value, Some(0.0));
    }
}

#[test]
fn constants_less_than_a_step_of_the_clock_apart_do_not_differ_by_any_test() {
    let coarse = |value: f64| {
        let mut run = processes(&[value; 5]);
        for process in &mut run.processes {
            let sample = process.series.flat[0];
            process.quantum = Nanos((sample.elapsed.as_f64() * 0.1) as u64);
        }
        run
    };
    for test in [
        Test::Welch,
        Test::MannWhitney,
        Test::Kruskal,
        Test::Interval,
    ] {
        let verdict = |candidate: f64| {
            let rules = rules(by(test), Thresholds::default());
            compare_one(&coarse(100.0), &coarse(candidate), &rules).verdict
        };
        assert_eq!(verdict(104.0), Verdict::Inconclusive, "{test}");
        assert_eq!(verdict(120.0), Verdict::Regressed, "{test}");
    }
}

#[test]
fn n14_an_outlier_policy_changes_the_summary_and_neither_p_nor_verdict() {
    let series = |shift: f64| {
        let mut times: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 7) + shift).collect();
        times[3] = 900.0;
        let process = |k| flat_process(k, ITERATIONS, &times);
        measurement((0..5).map(process).collect())
    };
    let (base, candidate) = (series(0.0), series(3.0));
    for test in Test::ALL {
        let found = |outliers| {
            let analysis = Analysis {
                outliers,
                center: Some(Statistic::Mean),
                ..by(*test)
            };
            compare_one(&base, &candidate, &rules(analysis, Thresholds::default()))
        };
        let (none, iqr) = (found(Outliers::Keep), found(Outliers::Iqr));
        assert_eq!(none.p_value, iqr.p_value, "{test}");
        assert_eq!(
            (none.verdict, none.change),
            (iqr.verdict, iqr.change),
            "{test}"
        );
        let (raw, trimmed) = (
            none.description.centers.unwrap(),
            iqr.description.centers.unwrap(),
        );
        assert!(
            trimmed.candidate.value_ns < raw.candidate.value_ns - 10.0,
            "{trimmed:?}"
        );
        assert_eq!(
            (trimmed.candidate.removed, trimmed.candidate.used),
            (5, 195)
        );
        assert_eq!((raw.candidate.removed, raw.candidate.used), (0, 200));
    }
    // A default analysis has no summary.
    let plain = compare_one(
        &base,
        &candidate,
        &rules(Analysis::default(), Thresholds::default()),
    );
    assert_eq!(plain.description.centers, None);
}

#[test]
fn every_center_and_policy_gives_a_summary_that_accounts_for_all_samples() {
    let times: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i * i % 31)).collect();
    let processes = (0..5)
        .map(|k| flat_process(k, ITERATIONS, &times))
        .collect();
    let run = measurement(processes);
    for center in StatisticSet::Centers.statistics() {
        for outliers in Outliers::ALL {
            let analysis = Analysis {
                outliers: *outliers,
                drop_first: true,
                center: Some(*center),
                ..Analysis::default()
            };
            let found = compare_one(&run, &run, &rules(analysis, Thresholds::default()))
                .description
                .centers;
            if *center == Statistic::Slope {
                assert_eq!(found, None, "there is no linear phase");
                continue;
            }
            let side = found.unwrap().candidate;
            assert_eq!(
                side.raw,
                side.skipped + side.removed + side.used,
                "{center} {outliers}"
            );
            assert!(
                (100.0..131.0).contains(&side.value_ns),
                "{center} {outliers}: {side:?}"
            );
            assert_eq!(found.unwrap().change, Some(0.0));
        }
    }
}

#[test]
fn a_constant_change_is_one_beyond_a_step_of_the_clock() {
    // The samples take 1,000,000 and 1,050,000 ns, so clock steps of 40,000 ns show the difference and steps of 60,000 ns do not. Samples of 0 ns
    // give no change.
    let constant = |ns: f64, quantum: u64| {
        let mut run = processes(&[ns; 5]);
        for process in &mut run.processes {
            process.quantum = Nanos(quantum);
        }
        run
    };
    let verdict = |quantum| {
        let (base, candidate) = (constant(100.0, quantum), constant(105.0, quantum));
        let found = compare_one(
            &base,
            &candidate,
            &rules(by(Test::Welch), Thresholds::default()),
        );
        (
            found.verdict,
            found.published_decision().unwrap().significance,
        )
    };
    let called = (Verdict::Regressed, Significance::Significant);
    assert_eq!(verdict(1), called);
    assert_eq!(verdict(4 * ITERATIONS), called);
    assert_eq!(verdict(6 * ITERATIONS).1, Significance::NotSignificant);
    let nothing = constant(0.0, 1_000);
    let found = compare_one(
        &nothing,
        &nothing,
        &rules(by(Test::Welch), Thresholds::default()),
    );
    assert_eq!(found.change, None);
}

#[test]
fn s17_s18_n_x12_effects_are_those_of_the_observations_whatever_decides() {
    for test in Test::ALL {
        let analysis = Analysis {
            center: Some(Statistic::Mean),
            ..by(*test)
        };
        let effects = compared(&BASE, &SLOWER, analysis)
            .description
            .effects
            .unwrap();
        assert_eq!(effects.cliffs_delta, Some(1.0));
        assert_eq!(effects.label, Some(EffectSize::Large));
        // Hedges' g is (10 / sd) (1 - 3 / 31), with sd = sqrt(0.625).
        let g = 10.0 / 0.625_f64.sqrt() * (1.0 - 3.0 / 31.0);
        assert!((effects.hedges_g.unwrap() - g).abs() < 1e-9);
        let shift = effects.shift_ns.unwrap();
        assert!((shift.estimate - 10.0).abs() < 1e-9);
        assert!(shift.lower < 10.0 && 10.0 < shift.upper);
    }
}

#[test]
fn verdicts_may_be_about_allocations_and_only_where_they_were_counted() {
    let counted = |count: u64| {
        let mut run = processes(&BASE);
        for process in &mut run.processes {
            let iteration = Allocations {
                count,
                bytes: 64,
                peak_bytes: 64,
                ..Allocations::default()
            };
            process.extras.allocations = vec![iteration; 16];
        }
        run
    };
    let about = |subject| {
        let analysis = Analysis {
            subject,
            ..Analysis::default()
        };
        rules(analysis, Thresholds::default())
    };
    let found = compare_one(&counted(12), &counted(13), &about(Statistic::Allocations));
    assert_eq!(found.verdict, Verdict::Regressed);
    assert!((found.change.unwrap().lower - 1.0 / 12.0).abs() < 1e-12);
    let bytes = compare_one(&counted(12), &counted(13), &about(Statistic::Bytes));
    assert_eq!(bytes.verdict, Verdict::Unchanged);
    let none = compare_one(
        &processes(&BASE),
        &counted(13),
        &about(Statistic::Allocations),
    );
    assert_eq!(none.verdict, Verdict::Inconclusive);
    assert!(
        matches!(none.notes[..], [Note::NoSuchMetric { .. }]),
        "{:?}",
        none.notes
    );
    let latency = compare_one(&counted(12), &counted(13), &about(Statistic::P99));
    assert_eq!(
        (latency.verdict, latency.change),
        (Verdict::Inconclusive, None)
    );
}

#[test]
fn the_change_of_too_few_observations_is_that_of_medians_for_ranks_and_of_means_for_other_tests() {
    let estimate = |base: &[f64], candidate: &[f64], test| {
        let change = compared(base, candidate, by(test)).change.unwrap();
        assert_eq!(change.upper, f64::INFINITY, "{test}");
        change.estimate
    };
    let is_close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    // The medians are 101.5 and 113. The mean of `candidate` is 120; the tests of means compare it with 100.
    let (base, candidate) = ([100.0, 101.0, 102.0, 113.0], [110.0, 112.0, 114.0, 144.0]);
    for test in [Test::MannWhitney, Test::Kruskal] {
        let found = estimate(&base, &candidate, test);
        assert!(is_close(found, 113.0 / 101.5 - 1.0), "{test}: {found}");
    }
    for test in [Test::Welch, Test::PooledT, Test::Interval] {
        let found = estimate(&[100.0], &candidate, test);
        assert!(is_close(found, 0.2), "{test}: {found}");
    }
}

#[test]
fn a_pooled_t_score_with_all_resamples_has_no_note_that_there_are_fewer() {
    let found = compared(&BASE, &SLOWER, by(Test::PooledT));
    assert_eq!(found.verdict, Verdict::Regressed);
    assert_eq!(found.notes, []);
}

#[test]
fn the_change_of_a_rate_is_that_of_its_time_and_without_an_upper_bound_if_the_rate_may_be_zero() {
    let compared = |base: &[f64], candidate: &[f64]| {
        let [base, candidate] = [base, candidate].map(|times| {
            let mut run = processes(times);
            let unit = "operations".to_owned();
            run.benchmark.metric = Metric::Rate { unit };
            run
        });
        let rules = rules(by(Test::Welch), Thresholds::default());
        compare_one(&base, &candidate, &rules)
    };
    let change = compared(&BASE, &SLOWER).change.unwrap();
    assert!((change.estimate - 10.0 / 101.0).abs() < 1e-12, "{change:?}");
    // The harmonic mean of the rates is 1 / 101 on both sides. Its error is the error of the mean time, sqrt(0.625 / 5), times the square of this
    // rate. t(8, .975) = 2.306004135204166.
    let same = compared(&BASE, &BASE);
    let margin = 2.306_004_135_204_166 * (2.0_f64 * 0.625 / 5.0).sqrt() / 101.0;
    let change = same.change.unwrap();
    assert_eq!(change.estimate, 0.0);
    assert!((change.lower - (1.0 / (1.0 + margin) - 1.0)).abs() < 1e-9);
    assert!((change.upper - (1.0 / (1.0 - margin) - 1.0)).abs() < 1e-9);
    assert!((same.compared.unwrap().base - 101.0).abs() < 1e-9);
    // The standard error is .7 times the rate, and t(2, .975) = 4.3. So the rate may be 0, and the time has no upper bound.
    let apart = compared(&[100.0, 300.0], &[100.0, 300.0]).change.unwrap();
    assert_eq!(apart.upper, f64::INFINITY);
    assert!(
        -1.0 < apart.lower && apart.lower < 0.0 && apart.estimate == 0.0,
        "{apart:?}"
    );
}

#[test]
fn constants_just_a_step_of_the_clock_apart_do_not_differ() {
    // Each sample is one iteration of 8 ns, and the clock has steps of 1 ns: a step is an eighth of the sample.
    let constant = |ns: f64| measurement((0..5).map(|k| flat_process(k, 1, &[ns; 3])).collect());
    for test in [Test::Welch, Test::Interval] {
        let significance = |ns| {
            let rules = rules(by(test), Thresholds::default());
            let found = compare_one(&constant(8.0), &constant(ns), &rules);
            found.published_decision().unwrap().significance
        };
        assert_eq!(significance(9.0), Significance::NotSignificant, "{test}");
        assert_eq!(significance(10.0), Significance::Significant, "{test}");
    }
}

#[test]
fn a_metric_of_a_run_is_the_mean_of_its_processes_with_students_interval() {
    let mut run = processes(&[100.0, 100.0]);
    for (process, count) in run.processes.iter_mut().zip([12, 14]) {
        let iteration = Allocations {
            count,
            bytes: 64,
            ..Allocations::default()
        };
        process.extras.allocations = vec![iteration; 4];
        // The longest of ten operations takes ten times as long as the others.
        let index = |ns| HdrPrecision::default().index_of(ns);
        process.extras.latencies = Some(Latencies {
            counts: [(index(10 * count), 9), (index(100 * count), 1)]
                .map(HdrCounter::from)
                .to_vec(),
            ..Latencies::default()
        });
    }
    let estimate = |subject| estimate_metric(&run, subject, 0.95).unwrap();
    let found = estimate(Statistic::Allocations);
    // The standard error of two values is half their distance, and t(1, .975) = 12.706204736174694.
    assert_eq!(found.estimate, 13.0);
    assert!((found.lower - (13.0 - 12.706_204_736_174_694)).abs() < 1e-9);
    assert!((found.upper - (13.0 + 12.706_204_736_174_694)).abs() < 1e-9);
    let same = estimate(Statistic::Bytes);
    assert_eq!((same.lower, same.estimate, same.upper), (64.0, 64.0, 64.0));
    let median = estimate(Statistic::P50);
    assert_eq!(median.estimate, 130.0);
    assert!((median.lower - (130.0 - 127.062_047_361_746_94)).abs() < 1e-9);
    assert_eq!(estimate(Statistic::LONGEST).estimate, 1_300.0);
    run.processes.truncate(1);
    let alone = estimate_metric(&run, Statistic::Allocations, 0.95).unwrap();
    assert_eq!((alone.lower, alone.upper), (12.0, 12.0));
    assert_eq!(estimate_metric(&run, Statistic::Mean, 0.95), None);
}

#[test]
fn every_note_of_a_published_test_or_a_metric_reads_as_a_sentence() {
    let (p, adjusted, level) = (0.03, 0.12, 0.05);
    let notes = [
        Note::TooFewObservations {
            smaller: 4,
            needed: 5,
        },
        Note::NoCenter {
            center: Statistic::Slope,
        },
        Note::NoCenter {
            center: Statistic::Median,
        },
        Note::NoSuchMetric {
            metric: Statistic::Peak,
        },
        Note::NoSuchMetric {
            metric: Statistic::Instructions,
        },
        Note::NoSuchMetric {
            metric: Statistic::P99,
        },
        Note::NoExactP,
        Note::NegligibleEffect {
            delta: 0.1,
            practical: 0.147,
        },
        Note::WithinNoise,
        Note::NotSignificant { p, adjusted, level },
        Note::CountsNotSignificant { p, adjusted, level },
    ];
    for note in notes {
        let text = note.to_string();
        assert!(
            text.contains(' ') && !text.contains(['{', '}']) && !text.ends_with('.'),
            "{note:?}: {text}"
        );
    }
}

#[test]
fn a_ratio_of_percentiles_is_a_change_without_bounds() {
    let analysis = System::BenchForge.decision_settings().analysis;
    for (candidate, change, verdict) in [
        (150.0, 0.5, Verdict::Regressed),
        (50.0, -0.5, Verdict::Improved),
        (100.0, 0.0, Verdict::Unchanged),
    ] {
        let found = compared(&[100.0; 5], &[candidate; 5], analysis);
        assert_eq!(found.verdict, verdict, "{found:?}");
        assert_eq!(found.change, Some(Estimate::unbounded(change)));
        let compared = found.compared.expect("values");
        assert_eq!((compared.base, compared.candidate), (100.0, candidate));
    }
}

#[test]
fn a_reference_that_takes_nothing_has_no_relative_change() {
    let base = [0.0; 5];
    for test in [
        Test::Welch,
        Test::MannWhitney,
        Test::Kruskal,
        Test::Interval,
    ] {
        let found = compared(&base, &SLOWER, by(test));
        assert_eq!(found.change, None, "{test}");
        assert_eq!(found.verdict, Verdict::Inconclusive, "{test}");
    }
}

#[test]
fn slopes_of_linear_phases_are_compared_if_they_are_the_center() {
    // The flat samples are the same on both sides.
    let with_slopes = |slopes: &[f64]| {
        let process = |(slope, k): (&f64, u32)| {
            with_ramp(
                flat_process(k, ITERATIONS, &[100.0; 3]),
                10,
                20,
                *slope,
                0.0,
            )
        };
        measurement(slopes.iter().zip(0..).map(process).collect())
    };
    let analysis = Analysis {
        center: Some(Statistic::Slope),
        ..by(Test::Welch)
    };
    let rules = rules(analysis, Thresholds::default());
    let found = compare_one(&with_slopes(&BASE), &with_slopes(&SLOWER), &rules);
    // The slopes have means of 101 and 111 ns per iteration.
    let change = found.change.expect("slopes").estimate;
    assert!((change - 10.0 / 101.0).abs() < 1e-9, "{change}");
    assert_eq!(found.verdict, Verdict::Regressed);
    let none = compare_one(&processes(&BASE), &with_slopes(&SLOWER), &rules);
    let note = Note::NoCenter {
        center: Statistic::Slope,
    };
    assert_eq!((none.change, none.notes), (None, vec![note]));
}

#[test]
fn without_samples_nothing_is_tested_and_the_reason_is_said() {
    let full = processes(&BASE);
    let compared = |base: &Measurement, candidate: &Measurement| {
        let found = compare_one(
            base,
            candidate,
            &rules(by(Test::Welch), Thresholds::default()),
        );
        assert_eq!((found.change, found.p_value), (None, None));
        (found.verdict, found.notes)
    };
    let lacks = |side| vec![Note::NoSamples { side }];
    assert_eq!(
        compared(&processes(&[]), &full),
        (Verdict::Inconclusive, lacks(Side::Base))
    );
    assert_eq!(
        compared(&full, &processes(&[])),
        (Verdict::Failed, lacks(Side::Candidate))
    );
    // Two processes succeeded, and one failed.
    let side = Side::Candidate;
    let mut short = processes(&BASE[..2]);
    short.failures.push(Failure {
        process: 2,
        side,
        message: "it died".to_owned(),
    });
    let (failed, good) = (1, 2);
    let note = Note::ProcessesFailed { side, failed, good };
    assert_eq!(compared(&full, &short), (Verdict::Failed, vec![note]));
}
