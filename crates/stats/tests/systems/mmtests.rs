//! Checks the statistics of mmtests: means of rates, Welch's test, processes with equal weights, subselection, values in order of preference, and the
//! rule by which two intervals differ.

use super::{close, up_to};
use perfcheck_stats::*;

const STREAM: Stream<'static> = Stream {
    seed: 42,
    name: "mmtests",
};

#[test]
fn m3_minimum_maximum_mean_and_deviation_are_of_all_samples() {
    let described = Description::compute(&[100.0, 110.0, 90.0]).unwrap();
    assert_eq!(
        (described.min, described.max, described.mean),
        (90.0, 110.0, 100.0)
    );
    close(described.sd.unwrap(), 10.0, 1e-12);
}

#[test]
fn m4_times_have_an_arithmetic_and_rates_a_harmonic_mean() {
    let values = [100.0, 110.0, 90.0];
    close(mean(&values).unwrap(), 100.0, 1e-12);
    close(
        HarmonicMean::compute(&values).unwrap().mean,
        99.331_103_678_929_76,
        1e-12,
    );
}

#[test]
fn m5_welchs_test_may_round_its_degrees_of_freedom_down() {
    let (a, b) = (
        [10.0, 10.2, 9.9, 10.1, 10.3],
        [10.5, 10.7, 10.4, 10.6, 10.9, 10.6],
    );
    let floored = WelchTest::test(&a, &b, WelchDf::Floored).unwrap();
    assert_eq!(floored.df, 8.0);
    assert!((floored.p - 0.000_842).abs() < 5e-7, "{}", floored.p);
}

#[test]
fn m8_processes_of_unequal_length_weigh_alike() {
    let means = describe_cluster_means(&[&[1.0; 4], &[3.0]]).unwrap();
    assert_eq!(means.mean, 2.0);
    close(
        ClusterMean::new(&[&[1.0; 4], &[3.0]]).observed(),
        1.4,
        1e-12,
    );
}

#[test]
fn m9_variability_is_that_of_the_processes_with_k_minus_one() {
    let means = describe_cluster_means(&[&[9.0, 11.0], &[12.0], &[13.0, 15.0]]).unwrap();
    // The values are 10, 12, 14.
    assert_eq!((means.count, means.sd), (3, Some(2.0)));
    assert_eq!(describe_cluster_means(&[&[9.0, 11.0]]).unwrap().sd, None);
}

#[test]
fn m10_a_process_has_the_median_of_the_means_of_a_hundred_parts_of_four_fifths() {
    let rule = Subsampling::DOCUMENTED;
    assert_eq!(
        (rule.parts, rule.size(5), rule.size(1), rule.size(50)),
        (100, 4, 1, 40)
    );
    let mut values = up_to(50);
    values[49] = 2_500.0;
    let of = |values: &[f64]| SubsampledCentre::compute(&[values], rule, STREAM).unwrap();
    let found = of(&values);
    assert_eq!(found, of(&values));
    assert!((1.0..2_500.0).contains(&found.centre));
    assert_eq!(of(&[7.0; 12]).centre, 7.0);
}

#[test]
fn m11_the_whole_is_the_mean_of_the_processes_medians() {
    let (short, long) = ([10.0; 3], [20.0; 30]);
    let found =
        SubsampledCentre::compute(&[&short, &long], Subsampling::DOCUMENTED, STREAM).unwrap();
    assert_eq!(
        (found.medians.as_slice(), found.centre),
        (&[10.0, 20.0][..], 15.0)
    );
}

#[test]
fn m_x2_intervals_that_do_not_overlap_are_significant() {
    let half = 1.96 * 2.0;
    let distance = |new| {
        let of = |value| IntervalEstimate::with_margin(value, half);
        IntervalDistance::between(of(new), of(100.0)).unwrap()
    };
    assert!(distance(108.0).is_significant());
    assert!(!distance(107.0).is_significant());
    assert!(distance(92.0).is_significant());
    match distance(108.0) {
        IntervalDistance::Finite(value) => close(value, 8.0 / 7.84, 1e-12),
        IntervalDistance::Exact => panic!("the intervals have a width"),
    }
    // Touching intervals do not differ.
    let touching = IntervalDistance::between(
        IntervalEstimate::with_margin(3.0, 1.0),
        IntervalEstimate::with_margin(1.0, 1.0),
    );
    assert!(!touching.unwrap().is_significant());
}

#[test]
fn m_x5_parts_may_be_drawn_with_replacement_and_give_an_interval() {
    let process =
        |centre: f64| -> Vec<f64> { (0..20).map(|i| centre + f64::from(i).sin()).collect() };
    let (a, b) = (process(100.0), process(104.0));
    let of = |rule| SubsampledCentre::compute(&[&a, &b], rule, STREAM).unwrap();
    let (with, without) = (of(Subsampling::SCRIPTED), of(Subsampling::DOCUMENTED));
    assert_ne!(with.medians, without.medians);
    for found in [with, without] {
        assert!((found.centre - 102.0).abs() < 0.5);
        let interval = found.interval(0.95).unwrap();
        // sqrt((20 (2^2 + 2^2) + 2) / 40) = 2.01
        assert!(
            (interval.upper - found.centre - 1.96 * 2.01).abs() < 0.5,
            "{interval:?}"
        );
    }
}

#[test]
fn m_x6_the_best_95_percent_are_the_lowest_times_or_the_highest_rates() {
    let values = up_to(40);
    // The best 95 % of 40 values are 38 values.
    assert_eq!(Better::Lower.best_mean(&values, 95), Some(19.5));
    assert_eq!(Better::Higher.best_mean(&values, 95), Some(21.5));
    assert_eq!(Better::Lower.best_mean(&[3.0], 50), Some(3.0));
}

#[test]
fn m_x7_percentiles_are_floor_ranks_in_order_of_preference() {
    let values = up_to(10);
    assert_eq!(Better::Lower.percentile(&values, 95), Some(9.0));
    // 95 % of rates are at least this high.
    assert_eq!(Better::Higher.percentile(&values, 95), Some(2.0));
    assert_eq!(Quantile::FloorRank.select_sorted(&values, 0.95), Some(9.0));
}

#[test]
fn m_x8_positive_always_means_better_and_a_rate_that_falls_to_nothing_has_lost_all() {
    let percent = |preference: Better, new, base| {
        let better = preference.improvement(new, base);
        better.map(|better| (better * 1e4).round() / 1e2)
    };
    assert_eq!(percent(Better::Lower, 108.0, 100.0), Some(-8.0));
    assert_eq!(percent(Better::Higher, 92.0, 100.0), Some(-8.0));
    assert_eq!(percent(Better::Lower, 0.0, 100.0), Some(100.0));
    assert_eq!(percent(Better::Higher, 0.0, 100.0), Some(-100.0));
    assert_eq!(percent(Better::Higher, 0.0, 0.0), Some(0.0));
    assert_eq!(percent(Better::Lower, 5.0, 0.0), None);
}

#[test]
fn m_x9_the_deviation_of_a_harmonic_mean_is_by_the_delta_method() {
    let found = HarmonicMean::compute(&[100.0, 110.0, 90.0]).unwrap();
    close(found.deviation, 8.151_026_747_970_235, 1e-9);
}

#[test]
fn m_x11_the_geometric_mean_leaves_ratios_of_zero_out_and_says_so() {
    let found = GeometricMean::compute(&[2.0, 0.5, 0.0, 8.0]).unwrap();
    close(found.mean, 2.0, 1e-12);
    assert_eq!((found.used, found.excluded), (3, 1));
}

#[test]
fn m_x14_a_rate_that_is_not_positive_has_no_harmonic_mean() {
    assert_eq!(HarmonicMean::compute(&[100.0, 0.0]), None);
    assert_eq!(HarmonicMean::compute(&[100.0, -1.0]), None);
}
