//! Tests of allocations and latencies, situation by situation. There are also tests of verdicts about other metrics than the time, for which all
//! benchmarks share one level.

use crate::compare::{
    Comparison, Estimate, Extent, HostClass, Note, Plan, Question, Reference, TestPolicy,
    Uncertainty, compare,
};
use crate::model::{
    Allocations, Analysis, DecisionSettings, Latencies, LatencyWindow, Measurement, Metric, Nanos,
    ProcessSeries, Statistic, Verdict,
};
use std::collections::BTreeMap;

use super::rules::{ExtrasPolicy, ProcessPairing};
use super::*;
use crate::compare::fixtures::{compare_two, flat_process, measurement};
use perfcheck_stats::{Draws, EcdfStep, HdrCounter, HdrPrecision, Stream, normal};

const RULES: ExtrasPolicy = ExtrasPolicy {
    noise_threshold: 0.02,
    significance_level: 0.01,
    confidence_level: 0.95,
    resamples: 2_000,
    seed: 7,
};

fn processes(extras: impl Iterator<Item = (Vec<Allocations>, Option<Latencies>)>) -> Measurement {
    let process = |(k, (allocations, latencies)): (u32, _)| {
        let mut process: ProcessSeries = flat_process(k, 1_000, &[100.0; 4]);
        process.extras.allocations = allocations;
        process.extras.latencies = latencies;
        process
    };
    measurement((0..).zip(extras).map(process).collect())
}

/// Creates processes whose iterations make these numbers of allocations, 64 bytes each.
pub(super) fn counted(counts: &[&[u64]]) -> Measurement {
    let allocations = |count: &u64| Allocations {
        count: *count,
        bytes: 64 * count,
        peak_bytes: 64,
        ..Allocations::default()
    };
    processes(
        counts
            .iter()
            .map(|process| (process.iter().map(allocations).collect(), None)),
    )
}

fn latencies(values: impl IntoIterator<Item = u64>) -> Latencies {
    let mut counts = std::collections::BTreeMap::new();
    for value in values {
        *counts
            .entry(HdrPrecision::default().index_of(value))
            .or_insert(0) += 1;
    }
    Latencies {
        counts: counts.into_iter().map(HdrCounter::from).collect(),
        ..Latencies::default()
    }
}

/// Creates one process for each scale. It has a thousand operations of 10 to 20 us times the scale.
pub(super) fn timed(scales: &[f64]) -> Measurement {
    processes(scales.iter().map(|scale| {
        let values = (0..1_000).map(|i| ((10_000.0 + 10.0 * f64::from(i)) * scale) as u64);
        (Vec::new(), Some(latencies(values)))
    }))
}

/// Creates processes whose operations all take `ns` nanoseconds.
pub(super) fn constant(ns: u64, count: usize) -> Measurement {
    processes((0..count).map(|_| (vec![], Some(latencies([ns; 10])))))
}

fn allocated(base: &Measurement, candidate: &Measurement) -> CountChange {
    AllocationComparison::compare(&[base], candidate, &RULES)
        .unwrap()
        .count
}

fn slower(
    base: &Measurement,
    candidate: &Measurement,
    pairing: ProcessPairing,
) -> PercentileChange {
    *LatencyComparison::compare(&[base], candidate, pairing, &RULES)
        .unwrap()
        .percentile(0.5)
        .unwrap()
}

#[test]
fn where_nothing_varies_a_difference_is_a_difference_whatever_its_size() {
    let base = counted(&[&[1_000, 1_000], &[1_000]]);
    let found = allocated(&base, &counted(&[&[1_001]]));
    assert_eq!((found.exact, found.verdict), (true, Verdict::Regressed));
    assert_eq!(
        (found.base, found.candidate, found.p_value),
        (1_000.0, 1_001.0, None)
    );
    let found = allocated(&base, &counted(&[&[999; 3]]));
    assert_eq!((found.exact, found.verdict), (true, Verdict::Improved));
    let found = AllocationComparison::compare(&[&base], &base, &RULES).unwrap();
    assert_eq!(
        (found.count.verdict, found.has_changed()),
        (Verdict::Unchanged, false)
    );
    let first = allocated(&counted(&[&[0]]), &counted(&[&[1]]));
    assert_eq!(
        (first.verdict, first.relative()),
        (Verdict::Regressed, f64::INFINITY)
    );
}

#[test]
fn where_it_varies_processes_are_ranked_and_the_change_must_exceed_the_threshold() {
    let base = counted(&[&[100, 102], &[101], &[100], &[102], &[101, 101]]);
    let more = counted(&[&[110], &[111], &[112], &[110], &[110, 111]]);
    let found = allocated(&base, &more);
    assert_eq!((found.exact, found.verdict), (false, Verdict::Regressed));
    assert!((found.p_value.unwrap() - 2.0 / 252.0).abs() < 1e-12);
    assert_eq!(allocated(&more, &base).verdict, Verdict::Improved);
    // Five and four processes that are completely separated have p = 2 / C(9, 4) = 2 / 126, which is above the level of 1 %.
    let few = counted(&[&[110], &[111], &[112], &[110, 113]]);
    assert_eq!(allocated(&base, &few).verdict, Verdict::Inconclusive);
    // The sides are separated, but all counts lie within 2 %.
    let close = counted(&[&[102, 103], &[103], &[103], &[103], &[103]]);
    let tight = counted(&[&[101, 102], &[102], &[102], &[102], &[102]]);
    let found = allocated(&tight, &close);
    assert!(found.p_value.unwrap() < 0.01, "{found:?}");
    assert_eq!(found.verdict, Verdict::Unchanged);
}

#[test]
fn a_side_that_counted_nothing_is_not_compared_and_the_newest_run_that_did_is_the_reference() {
    let (none, old, newest) = (counted(&[]), counted(&[&[5]]), counted(&[&[7]]));
    let of =
        |base: &[&Measurement], candidate| AllocationComparison::compare(base, candidate, &RULES);
    assert_eq!(of(&[&none], &old), None);
    assert_eq!(of(&[&old], &none), None);
    assert_eq!(
        of(&[&none, &newest, &old], &newest).unwrap().count.base,
        7.0
    );
}

#[test]
fn b_x1_the_ratio_of_means_of_process_percentiles_has_a_seeded_process_level_interval() {
    let scales: Vec<f64> = (0..10).map(|k| 1.0 + 0.01 * f64::from(k % 3)).collect();
    let slow: Vec<f64> = scales.iter().map(|scale| scale * 1.1).collect();
    let (base, candidate) = (timed(&scales), timed(&slow));
    let found = slower(&base, &candidate, ProcessPairing::Independent);
    assert!((found.change.estimate - 0.1).abs() < 0.001, "{found:?}");
    assert!((found.candidate_ns / found.base_ns - 1.0 - found.change.estimate).abs() < 1e-12);
    assert!(
        0.08 < found.change.lower && found.change.upper < 0.12,
        "{found:?}"
    );
    assert_eq!(found.verdict, Verdict::Regressed);
    assert_eq!(
        slower(&base, &candidate, ProcessPairing::Independent),
        found,
        "seeded"
    );
    let all = LatencyComparison::compare(&[&base], &candidate, ProcessPairing::Independent, &RULES)
        .unwrap();
    let quantiles: Vec<f64> = all.percentiles.iter().map(|one| one.quantile).collect();
    assert_eq!(quantiles, LatencyComparison::QUANTILES);
    assert!(
        quantiles
            .iter()
            .all(|q| all.percentile(*q).unwrap().quantile == *q)
    );
    assert_eq!(all.percentile(0.42), None);
    assert!(
        all.percentiles
            .iter()
            .all(|one| one.verdict == Verdict::Regressed),
        "{all:?}"
    );
}

#[test]
fn b12_processes_weigh_alike_however_many_operations_they_had() {
    let long = latencies(std::iter::repeat_n(1_000, 9_000));
    let short = latencies(std::iter::repeat_n(2_000, 10));
    let base = processes([(vec![], Some(long)), (vec![], Some(short))].into_iter());
    let found = slower(&base, &base, ProcessPairing::Independent);
    assert_eq!(found.base_ns, 1_500.0);
    assert_eq!(
        found.verdict,
        Verdict::Inconclusive,
        "of two such processes nothing follows"
    );
}

#[test]
fn b14_fewer_than_eight_processes_have_a_t_interval() {
    let base = timed(&[1.0, 1.01, 0.99]);
    let candidate = timed(&[1.1, 1.12, 1.09]);
    let found = slower(&base, &candidate, ProcessPairing::Independent);
    // t(.975, about 3 degrees of freedom) is above 3, so this interval is wider than one from resamples of three processes can be.
    assert!(found.change.upper - found.change.lower > 0.05, "{found:?}");
    assert!(
        found.change.lower > 0.02 && found.verdict == Verdict::Regressed,
        "{found:?}"
    );
}

#[test]
fn b14_the_t_interval_of_a_ratio_of_two_means_is_that_of_fieller() {
    // The longest operations take 90, 100 and 110 ns, and 180, 200 and 220 ns. The means are 100 and 200, their variances 100 / 3 and 400 / 3.
    let side = |values: [u64; 3]| {
        processes(
            values
                .into_iter()
                .map(|ns| (vec![], Some(latencies([ns; 10])))),
        )
    };
    let (base, candidate) = (side([90, 100, 110]), side([180, 200, 220]));
    let found = slower(&base, &candidate, ProcessPairing::Independent).change;
    assert!((found.estimate - 1.0).abs() < 1e-12, "{found:?}");
    // The interval is of the change, not of the ratio.
    assert!((0.3..1.0).contains(&found.lower), "{found:?}");
    assert!((1.0..3.0).contains(&found.upper), "{found:?}");
}

#[test]
fn an_interval_that_reaches_the_threshold_calls_no_change() {
    let base = timed(&[1.0, 1.01, 0.99]);
    let found = slower(&base, &base, ProcessPairing::Independent);
    let verdict = |lower: f64, upper: f64| {
        let change = Estimate {
            estimate: f64::midpoint(lower, upper),
            lower,
            upper,
        };
        let exact = PercentileChange {
            rounding: 0.0,
            clock_step: 0.0,
            ..found
        };
        exact.judge(&change, 0.02)
    };
    assert_eq!(verdict(-0.05, -0.02), Verdict::Inconclusive);
    assert_eq!(verdict(-0.05, -0.0201), Verdict::Improved);
    assert_eq!(verdict(0.02, 0.05), Verdict::Inconclusive);
    assert_eq!(verdict(0.0201, 0.05), Verdict::Regressed);
    assert_eq!(verdict(-0.02, 0.02), Verdict::Unchanged);
}

#[test]
fn rounds_of_an_ab_measurement_are_compared_with_each_other() {
    let scales = [1.0, 1.5, 0.8, 1.2, 1.9, 1.1, 1.4, 0.7, 1.3];
    for count in [5, 9] {
        let base = timed(&scales[..count]);
        let candidate = timed(
            &scales[..count]
                .iter()
                .map(|scale| scale * 1.05)
                .collect::<Vec<_>>(),
        );
        let paired = slower(&base, &candidate, ProcessPairing::ByRound);
        assert_eq!(paired.verdict, Verdict::Regressed, "{paired:?}");
        let apart = slower(&base, &candidate, ProcessPairing::Independent);
        assert_eq!(apart.verdict, Verdict::Inconclusive, "{apart:?}");
    }
    // A round is used only if both sides have it.
    let (base, mut candidate) = (timed(&scales), timed(&scales));
    candidate.processes.remove(3);
    let found = slower(&base, &candidate, ProcessPairing::ByRound);
    assert_eq!(
        (found.change.estimate, found.verdict),
        (0.0, Verdict::Unchanged)
    );
}

#[test]
fn b22_no_change_within_the_error_of_the_histogram_or_a_step_of_the_clock_is_called() {
    let rules = ExtrasPolicy {
        noise_threshold: 0.0,
        ..RULES
    };
    let constant = |value: u64, quantum: u64| {
        let mut found = constant(value, 9);
        for process in &mut found.processes {
            process.quantum = Nanos(quantum);
        }
        found
    };
    let verdict = |base, candidate, quantum| {
        let (base, candidate) = (constant(base, quantum), constant(candidate, quantum));
        let found =
            LatencyComparison::compare(&[&base], &candidate, ProcessPairing::Independent, &rules)
                .unwrap();
        found.percentile(0.5).unwrap().verdict
    };
    // The slower value lies in the next bucket of the histogram.
    let next = 1_000_000 + 512;
    assert_ne!(
        HdrPrecision::default().index_of(1_000_000),
        HdrPrecision::default().index_of(next)
    );
    assert_eq!(verdict(1_000_000, next, 1), Verdict::Unchanged);
    assert_eq!(verdict(1_000_000, 1_010_000, 1), Verdict::Regressed);
    assert_eq!(verdict(100, 120, 1), Verdict::Regressed);
    assert_eq!(
        verdict(100, 120, 40),
        Verdict::Inconclusive,
        "less than a step of the clock"
    );
}

#[test]
fn times_of_zero_and_single_processes_give_no_interval_and_no_verdict() {
    let zero = processes((0..3).map(|_| (vec![], Some(latencies([0; 5])))));
    let found = slower(&zero, &zero, ProcessPairing::Independent);
    assert_eq!(
        (found.change.estimate, found.verdict),
        (0.0, Verdict::Inconclusive)
    );
    assert_eq!(found.uncertainty, Uncertainty::unknown(0.0));
    let one = timed(&[1.0]);
    let found = slower(&one, &timed(&[2.0]), ProcessPairing::Independent);
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert!(found.change.lower == f64::NEG_INFINITY && (found.change.estimate - 1.0).abs() < 1e-3);
    assert_eq!(
        LatencyComparison::compare(
            &[&counted(&[&[1]])],
            &one,
            ProcessPairing::Independent,
            &RULES
        ),
        None
    );
}

#[test]
fn a_comparison_of_stored_runs_carries_both() {
    let mut base = timed(&[1.0; 5]);
    let mut candidate = timed(&[1.2; 5]);
    for (side, count) in [(&mut base, 3), (&mut candidate, 4)] {
        for process in &mut side.processes {
            process.extras.allocations = vec![
                Allocations {
                    count,
                    ..Allocations::default()
                };
                16
            ];
        }
    }
    let rules = TestPolicy {
        decision: DecisionSettings::default(),
        host: HostClass::Dedicated,
        seed: 1,
    };
    let found = compare_two(&candidate, &base, &rules);
    assert_eq!(found.allocations.unwrap().count.verdict, Verdict::Regressed);
    assert_eq!(
        found.latencies.unwrap().percentile(0.99).unwrap().verdict,
        Verdict::Regressed
    );
}

fn windowed(medians: &[u64]) -> Latencies {
    let window = |p50: &u64| LatencyWindow {
        operations: 10,
        errors: 1,
        p50: Nanos(*p50),
        p95: Nanos(2 * p50),
        p99: Nanos(3 * p50),
    };
    let operations = 10 * medians.len() as u64;
    Latencies {
        counts: vec![HdrCounter {
            index: 100,
            count: operations,
        }],
        errors: medians.len() as u64,
        messages: vec!["refused".into()],
        windows: medians.iter().map(window).collect(),
        ..Latencies::default()
    }
}

#[test]
fn b10_windows_of_processes_are_laid_beside_each_other_and_show_drift() {
    // The last window of a process is incomplete and does not count.
    let run = processes(
        [&[100, 110, 120, 900][..], &[200, 210, 240, 1], &[100]]
            .into_iter()
            .map(|medians| (vec![], Some(windowed(medians)))),
    );
    let found = LatencySummary::from_measurement(&run, 0.95).unwrap();
    assert_eq!(
        (found.processes, found.operations, found.errors),
        (3, 90, 9)
    );
    assert_eq!(found.messages, ["refused"]);
    let first = found.course.windows[0];
    assert_eq!(
        (first.processes, first.operations, first.errors),
        (3, 30, 3)
    );
    let mean = (100.0 + 200.0 + 100.0) / 3.0;
    assert_eq!(
        [first.p50_ns, first.p95_ns, first.p99_ns],
        [1.0, 2.0, 3.0].map(|factor| Some(factor * mean))
    );
    assert_eq!(
        (
            found.course.windows.len(),
            found.course.windows[3].processes
        ),
        (4, 2)
    );
    let drift = found.course.drift.unwrap();
    // The medians rise from 100 to 120 and from 200 to 240, both by 20 %.
    assert!((drift.estimate - 0.2).abs() < 1e-12, "{drift:?}");
    for bound in [drift.lower, drift.upper] {
        assert!((bound - 0.2).abs() < 1e-9, "{drift:?}");
    }
    // A second without operations has no median.
    let mut idle = windowed(&[7, 100, 150, 8, 900]);
    for at in [0, 3] {
        idle.windows[at].operations = 0;
    }
    let idle = processes([(vec![], Some(idle))].into_iter());
    let drift = LatencySummary::from_measurement(&idle, 0.95)
        .unwrap()
        .course
        .drift
        .unwrap();
    assert!((drift.estimate - 0.5).abs() < 1e-12, "{drift:?}");
    let short = processes([(vec![], Some(windowed(&[100, 100])))].into_iter());
    assert_eq!(
        LatencySummary::from_measurement(&short, 0.95)
            .unwrap()
            .course
            .drift,
        None,
        "one whole second"
    );
}

#[test]
fn b11_every_percentile_has_mean_deviation_cv_and_interval_over_processes() {
    let found =
        LatencySummary::from_measurement(&timed(&[1.0, 1.1, 0.9, 1.05, 0.95]), 0.95).unwrap();
    let p95 = found.at(0.95).unwrap();
    assert!(
        (p95.ns.mean / 19_490.0 - 1.0).abs() < HdrPrecision::default().error(),
        "{p95:?}"
    );
    // np.std([1, 1.1, .9, 1.05, .95], ddof=1) = 0.0790569415042095
    assert!((p95.ns.cv.unwrap() - 0.079_057).abs() < 2e-4, "{p95:?}");
    let interval = p95.ns.interval.unwrap();
    // scipy.stats.t.ppf(.975, 4) / sqrt(5)
    let margin = 2.776_445 * p95.ns.sd.unwrap() / 5.0_f64.sqrt();
    assert!(
        (interval.upper - p95.ns.mean - margin).abs() < 1e-3,
        "{interval:?}"
    );
    assert_eq!(found.operations_per_process.mean, 1_000.0);
    let rate = found.operations_per_second.mean;
    assert!((65_000.0..69_000.0).contains(&rate), "{rate}");
    assert_eq!(
        LatencySummary::from_measurement(&counted(&[&[1]]), 0.95),
        None
    );
}

#[test]
fn n36_mean_allocated_bytes_are_those_of_processes_that_weigh_alike() {
    let found = AllocationSummary::from_measurement(&counted(&[&[1, 1, 1, 1], &[3]])).unwrap();
    assert_eq!(
        (found.count, found.bytes, found.peak_bytes),
        (2.0, 128.0, 64.0)
    );
    assert_eq!(
        (found.exact, found.iterations, found.processes),
        (false, 5, 2)
    );
    assert!(
        AllocationSummary::from_measurement(&counted(&[&[2, 2], &[2]]))
            .unwrap()
            .exact
    );
    assert_eq!(AllocationSummary::from_measurement(&counted(&[])), None);
}

#[test]
fn a_change_of_just_the_threshold_is_none_however_sure_it_is() {
    use super::counts::CountChange;
    let changed = |noise_threshold| {
        let rules = ExtrasPolicy {
            noise_threshold,
            ..RULES
        };
        let sure = |_: &[f64], _: &[f64]| Some(1e-6);
        let found = CountChange::from_process_means(&[8.0; 5], &[9.0; 5], false, sure, &rules);
        found.expect("counts").verdict
    };
    // Nine instead of eight is a change of an eighth.
    assert_eq!(changed(0.125), Verdict::Unchanged);
    assert_eq!(changed(0.124), Verdict::Regressed);
}

#[test]
fn counts_differ_only_if_p_is_below_the_level() {
    use super::counts::CountChange;
    let verdict = |significance_level| {
        let rules = ExtrasPolicy {
            significance_level,
            ..RULES
        };
        let p = |_: &[f64], _: &[f64]| Some(0.01);
        let found = CountChange::from_process_means(&[8.0; 5], &[9.0; 5], false, p, &rules);
        found.expect("counts").verdict
    };
    assert_eq!(verdict(0.01), Verdict::Inconclusive);
    assert_eq!(verdict(0.0101), Verdict::Regressed);
}

#[test]
fn a_process_without_a_successful_operation_has_no_latencies() {
    let failed = Latencies {
        errors: 3,
        ..latencies([])
    };
    let all = [latencies([100; 10]), failed, latencies([300; 20])];
    let run = processes(all.map(|found| (vec![], Some(found))).into_iter());
    let found = LatencySummary::from_measurement(&run, 0.95).expect("operations");
    assert_eq!(
        (found.processes, found.operations, found.errors),
        (2, 30, 3)
    );
    assert_eq!(found.operations_per_process.mean, 15.0);
    let over = ProcessStatistics::from_measurement(&run, 0.95, 7).expect("operations");
    assert_eq!(
        (over.processes, over.observations),
        (2, ObservationKind::Operations)
    );
    assert_eq!((over.count.mean, over.mean_ns.mean), (15.0, 200.0));
}

#[test]
fn a_second_in_which_a_process_only_failed_has_no_median_of_that_process() {
    let mut failed = windowed(&[0, 100]);
    failed.windows[0].operations = 0;
    let run = processes(
        [windowed(&[300, 100]), failed]
            .map(|found| (vec![], Some(found)))
            .into_iter(),
    );
    let found = LatencySummary::from_measurement(&run, 0.95).expect("operations");
    let first = found.course.windows[0];
    assert_eq!(
        (first.processes, first.operations, first.errors),
        (2, 10, 2)
    );
    assert_eq!(
        [first.p50_ns, first.p95_ns, first.p99_ns],
        [300.0, 600.0, 900.0].map(Some)
    );
}

#[test]
fn samples_are_counted_if_no_operations_were_timed_one_by_one() {
    let process = |(k, samples): (u32, usize)| flat_process(k, 1_000, &vec![100.0; samples]);
    let run = measurement((0..).zip([4, 8]).map(process).collect());
    let found = ProcessStatistics::from_measurement(&run, 0.95, 7).expect("samples");
    assert_eq!(
        (found.processes, found.observations),
        (2, ObservationKind::Samples)
    );
    assert_eq!(found.count.mean, 6.0);
}

#[test]
fn the_intervals_of_a_single_process_are_points_and_those_of_two_are_not() {
    let degenerate = |scales: &[f64]| {
        let found = ProcessStatistics::from_measurement(&timed(scales), 0.95, 7);
        let found = found.expect("operations");
        let interval = found.mean_ns.interval.expect("an interval");
        (found.ci_degenerate, interval.lower == interval.upper)
    };
    assert_eq!(degenerate(&[1.0]), (true, true));
    assert_eq!(degenerate(&[1.0, 1.2]), (false, false));
}

#[test]
fn the_rounding_of_latencies_is_that_of_the_coarsest_histogram() {
    let with_digits = |digits| {
        let precision = HdrPrecision::from_digits(digits).expect("digits");
        let counter = HdrCounter {
            index: precision.index_of(1_000_000),
            count: 10,
        };
        let found = Latencies {
            digits,
            counts: vec![counter],
            ..Latencies::default()
        };
        processes([(vec![], Some(found))].into_iter())
    };
    let rounding = |base, candidate| {
        let (base, candidate) = (with_digits(base), with_digits(candidate));
        LatencyComparison::compare(&[&base], &candidate, ProcessPairing::Independent, &RULES)
            .expect("operations")
            .rounding()
    };
    // A bucket of a histogram with three digits is up to 1/1024 of its value wide, one with two digits up to 1/128.
    assert_eq!(rounding(3, 3), 1.0 / 1024.0);
    assert_eq!(rounding(2, 3), 1.0 / 128.0);
    assert_eq!(rounding(3, 2), 1.0 / 128.0);
}

#[test]
fn operations_a_second_are_a_billion_over_their_nanoseconds_and_amounts_have_none() {
    let process = |(k, ns): (u32, f64)| flat_process(k, 1_000, &[ns; 4]);
    let mut run = measurement((0..).zip([100.0, 200.0]).map(process).collect());
    let rate = |run: &Measurement| {
        let found = ProcessStatistics::from_measurement(run, 0.95, 7).expect("samples");
        found.per_second.map(|rate| rate.mean)
    };
    // The rates are ten million and five million per second.
    assert_eq!(rate(&run), Some(7.5e6));
    run.benchmark.metric = Metric::Amount {
        unit: "pages".to_owned(),
    };
    assert_eq!(rate(&run), None);
}

#[test]
fn each_process_weighs_by_its_operations_in_the_distribution_of_all() {
    let drawn = |operations: u64, values: &[u64]| Latencies {
        reservoir: values.iter().map(|ns| Nanos(*ns)).collect(),
        ..latencies((0..operations).map(|_| 100))
    };
    let all = [drawn(10, &[100, 300]), drawn(30, &[200])];
    let run = processes(all.into_iter().map(|found| (vec![], Some(found))));
    let summary = LatencySummary::from_measurement(&run, 0.95).expect("operations");
    let distribution = summary.course.distribution.expect("values");
    // Each value of the first process represents five of the forty operations.
    let steps = [(100.0, 0.125), (200.0, 0.875), (300.0, 1.0)];
    let steps = steps.map(|(value, share)| EcdfStep { value, share });
    assert_eq!(distribution.steps(), steps);
}

fn side_by_side(base: &Measurement, candidate: &Measurement, noise_threshold: f64) -> Comparison {
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
    let extent = Extent::SideBySide {
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

/// Compares ten rounds. The logarithms of their ratios have a mean of ln `factor` and a standard error of 0.95 %.
fn ten_rounds(factor: f64) -> Comparison {
    let ratios = [
        -0.03, 0.03, -0.04, 0.04, -0.01, 0.01, -0.03, 0.03, -0.02, 0.02,
    ];
    let candidate: Vec<f64> = ratios
        .iter()
        .map(|ratio: &f64| factor * ratio.exp())
        .collect();
    side_by_side(&timed(&[1.0; 10]), &timed(&candidate), 0.02)
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
    let none = side_by_side(&counted(&[&[1]]), &counted(&[&[1]]), 0.02);
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
    let varying = side_by_side(&base, &more, 0.02);
    let exact = side_by_side(&counted(&[&[12][..]; 5]), &counted(&[&[13][..]; 5]), 0.02);
    // The p-value of the only benchmark whose counts vary is 2 / 252.
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
    // Twenty reference runs that are alike show that this host drifts less than assumed.
    assert_eq!(verdict(&[&base; 20], HostClass::Shared), Verdict::Regressed);
    let apart = [0.9, 1.1, 0.95, 1.05, 1.0].map(|drift| timed(&scales.map(|s| s * drift)));
    let apart: Vec<&Measurement> = apart.iter().collect();
    assert_eq!(verdict(&apart, HostClass::Dedicated), Verdict::Inconclusive);
}

#[test]
fn what_is_one_and_the_same_in_all_processes_has_not_drifted() {
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
                side_by_side(&joined(base), &joined(candidate), 0.0)
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
    // At a level of 2.5 %, five of 200 families have a false alarm on average, and the 99.9 % quantile is 13. If each benchmark had the whole level,
    // it would be 40 % of the families: 1 - .975^20.
    assert!(shared <= 13, "{shared}");
    assert!(each >= 50, "{each}");
}

/// Joins several runs that have one process each into one run.
fn joined(runs: Vec<Measurement>) -> Measurement {
    let mut runs = runs.into_iter();
    let mut first = runs.next().expect("a run");
    for (ordinal, run) in (1..).zip(runs) {
        first
            .processes
            .extend(run.processes.into_iter().map(|mut process| {
                process.process = ordinal;
                process
            }));
    }
    first
}

#[test]
fn percentiles_of_processes_are_by_nearest_rank_of_operations_or_of_samples() {
    let times: Vec<f64> = (1..=20).map(|ns| f64::from(ns) * 10.0).collect();
    let of_samples = measurement(vec![
        flat_process(0, 1_000, &times),
        flat_process(1, 1_000, &[40.0]),
    ]);
    // Below 1,024 ns a histogram of three digits is exact.
    let operations = [(10..=200).step_by(10).collect(), vec![40]];
    let of_operations = operations.map(|values| (vec![], Some(latencies(values))));
    let of_operations = processes(of_operations.into_iter());
    for run in [of_samples, of_operations] {
        let found = ProcessStatistics::from_measurement(&run, 0.95, 7).expect("samples");
        let percentiles = found.percentiles.iter();
        let means: Vec<(f64, f64)> = percentiles.map(|one| (one.quantile, one.ns.mean)).collect();
        // The tenth, the 19th and the last of twenty values, each averaged with the 40 ns of the other process.
        let (half, most, all) = (70.0, 115.0, 120.0);
        let expected = [
            (0.5, half),
            (0.95, most),
            (0.99, all),
            (0.999, all),
            (1.0, all),
        ];
        assert_eq!(means, expected, "{:?}", found.observations);
    }
}

#[test]
fn a_side_whose_operations_all_failed_is_not_compared() {
    let failed = || Latencies {
        errors: 3,
        ..latencies([])
    };
    let failed = processes([(vec![], Some(failed())), (vec![], Some(failed()))].into_iter());
    let good = timed(&[1.0, 1.1]);
    for pairing in [ProcessPairing::Independent, ProcessPairing::ByRound] {
        let compare = |base, candidate| {
            LatencyComparison::compare(&[base], candidate, pairing, &RULES).is_some()
        };
        assert!(compare(&good, &good));
        assert!(!compare(&failed, &good) && !compare(&good, &failed));
    }
}

#[test]
fn percentiles_are_resampled_from_eight_processes_on() {
    let scales = [1.0, 1.03, 0.98, 1.01, 0.97, 1.02, 0.99, 1.04];
    let depends_on_the_seed = |count: usize, pairing| {
        let (base, candidate) = (timed(&scales[..count]), timed(&scales[8 - count..]));
        let change = |seed| {
            let rules = ExtrasPolicy { seed, ..RULES };
            let found = LatencyComparison::compare(&[&base], &candidate, pairing, &rules);
            found.unwrap().percentile(0.5).unwrap().change
        };
        change(7) != change(8)
    };
    // The processes of the two sides pair up in other rounds.
    for pairing in [ProcessPairing::Independent, ProcessPairing::ByRound] {
        assert!(!depends_on_the_seed(7, pairing));
    }
    assert!(depends_on_the_seed(8, ProcessPairing::Independent));
}
