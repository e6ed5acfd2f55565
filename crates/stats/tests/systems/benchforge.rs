//! Checks the statistics of `BenchForge`: one value per process, bootstrap intervals whose bounds have whole indices, and ratios that are judged by
//! fixed bounds.

use super::{close, up_to};
use perfcheck_stats::*;

fn resampling(resamples: usize) -> Resampling<'static> {
    let stream = Stream {
        seed: 42,
        name: "benchforge",
    };
    Resampling { resamples, stream }
}

/// Returns the bootstrap interval of the mean of `values`. Each value comes from a process of its own.
fn of_mean(values: &[f64], rule: PercentileRule) -> Option<Interval> {
    let clusters: Vec<&[f64]> = values.chunks(1).collect();
    percentile_interval_with(&ClusterMean::new(&clusters), 0.95, rule, resampling(10_000))
}

fn one_to_ten_thousand() -> HdrHistogram {
    HdrHistogram::from_values(HdrPrecision::default(), 1..=10_000).unwrap()
}

#[test]
fn b4_histograms_are_merged_counter_by_counter() {
    let halves = [1..=5_000, 5_001..=10_000]
        .map(|half| HdrHistogram::from_values(HdrPrecision::default(), half).unwrap());
    assert_eq!(halves[0].merge(&halves[1]), Some(one_to_ten_thousand()));
    assert_eq!(one_to_ten_thousand().total(), 10_000);
}

#[test]
fn b5_two_thousand_counters_of_one_then_a_thousand_for_each_power_of_two() {
    for value in [0, 1, 2_047] {
        assert_eq!(u64::from(HdrPrecision::default().index_of(value)), value);
    }
    assert_eq!(
        (
            HdrPrecision::default().index_of(2_048),
            HdrPrecision::default().index_of(2_049)
        ),
        (2_048, 2_048)
    );
    assert_eq!(
        (
            HdrPrecision::default().index_of(4_095),
            HdrPrecision::default().index_of(4_096)
        ),
        (3_071, 3_072)
    );
    assert_eq!(HdrPrecision::HIGHEST, 3_600_000_000_000);
    // 32 buckets have 33,792 counters.
    assert!(
        HdrPrecision::default().last_index() < 33_792
            && HdrPrecision::default().last_index() >= 33_792 - 1_024
    );
}

#[test]
fn b6_a_value_is_off_by_at_most_one_part_in_1024() {
    let lowest = |value| {
        HdrPrecision::default()
            .lowest_value(HdrPrecision::default().index_of(value))
            .unwrap()
    };
    assert_eq!(
        (lowest(4_099), lowest(1_234_567), lowest(2_047)),
        (4_096, 1_233_920, 2_047)
    );
    let mut value = 1_u64;
    while value < HdrPrecision::HIGHEST {
        for near in [value - 1, value, value + 1] {
            let off = (near - lowest(near)) as f64;
            assert!(
                off <= HdrPrecision::default().error() * near as f64,
                "{near}"
            );
        }
        value = value * 9 / 8 + 1;
    }
}

#[test]
fn b7_a_percentile_is_the_lower_end_of_the_counter_that_holds_its_rank() {
    let histogram = one_to_ten_thousand();
    for (quantile, expected) in [
        (0.0, 1),
        (0.5, 5_000),
        (0.95, 9_496),
        (0.99, 9_896),
        (0.999, 9_984),
        (1.0, 10_000),
    ] {
        assert_eq!(histogram.percentile(quantile), Some(expected), "{quantile}");
    }
}

#[test]
fn b8_mean_and_deviation_of_the_population_are_of_the_middles_of_counters() {
    let histogram = one_to_ten_thousand();
    close(histogram.mean().unwrap(), 5_000.500_35, 1e-12);
    close(
        histogram.population_deviation().unwrap(),
        2_886.751_675_9,
        1e-10,
    );
    let one = HdrHistogram::from_values(HdrPrecision::default(), [5]).unwrap();
    assert_eq!(one.population_deviation(), Some(0.0));
}

#[test]
fn b_x3_reservoirs_are_merged_by_the_operations_that_they_stand_for() {
    // A process with 9,900 operations of 1 ms and one with 100 operations of 2 ms, with equally many values of each.
    let (fast, slow) = ([1.0; 50], [2.0; 50]);
    let merged = WeightedEcdf::from_samples(&[(9_900, &fast), (100, &slow)]).unwrap();
    close(merged.share_at(1.0), 0.99, 1e-12);
    assert_eq!(
        (merged.quantile(0.95), merged.quantile(0.995)),
        (Some(1.0), Some(2.0))
    );
    let concatenated = WeightedEcdf::from_samples(&[(100, &fast), (100, &slow)]).unwrap();
    assert_eq!(
        concatenated.quantile(0.95),
        Some(2.0),
        "as if both had been alike"
    );
}

#[test]
fn b11_process_values_have_mean_deviation_cv_and_interval() {
    let p95_of_processes = [100.0, 110.0, 90.0, 105.0, 95.0];
    let described = Description::compute(&p95_of_processes).unwrap();
    close(described.mean, 100.0, 1e-12);
    close(described.sd.unwrap(), 62.5_f64.sqrt(), 1e-12);
    close(described.cv().unwrap(), 62.5_f64.sqrt() / 100.0, 1e-12);
    let interval = of_mean(&p95_of_processes, PercentileRule::WholeIndices).unwrap();
    assert!(interval.lower < 100.0 && 100.0 < interval.upper);
}

#[test]
fn b12_operations_are_never_pooled_across_processes() {
    let means = describe_cluster_means(&[&[1.0; 4], &[3.0]]).unwrap();
    assert_eq!((means.mean, means.count), (2.0, 2));
}

#[test]
fn b13_bounds_are_the_resamples_of_indices_250_and_9749() {
    let constant = of_mean(&[100.0; 20], PercentileRule::WholeIndices).unwrap();
    assert_eq!((constant.lower, constant.upper), (100.0, 100.0));
    // Unit tests check the rule itself. It differs from interpolation by less than one resample.
    let values = up_to(20);
    let whole = of_mean(&values, PercentileRule::WholeIndices).unwrap();
    let between = of_mean(&values, PercentileRule::Interpolated).unwrap();
    assert!(
        (whole.lower - between.lower).abs() < 0.051 && (whole.upper - between.upper).abs() < 0.051
    );
}

#[test]
fn b14_three_processes_have_ten_resamples_and_cover_too_seldom_where_t_does_not() {
    assert_eq!(distinct_resamples(3), 10.0);
    let mut draws = Draws::new(resampling(0).stream, 0);
    let mut normal_value = || {
        let uniform = (draws.index(1 << 30) as f64 + 0.5) / f64::from(1 << 30);
        normal::quantile(uniform).unwrap()
    };
    let (mut bootstrap, mut t, trials) = (0, 0, 1_000);
    for _ in 0..trials {
        let values = [normal_value(), normal_value(), normal_value()];
        let covers = |interval: Interval| interval.lower <= 0.0 && 0.0 <= interval.upper;
        let clusters: Vec<&[f64]> = values.chunks(1).collect();
        let found = percentile_interval(&ClusterMean::new(&clusters), 0.95, resampling(1_000));
        bootstrap += u32::from(covers(found.unwrap()));
        t += u32::from(covers(
            TInterval::compute(&values, 0.95).unwrap().interval(),
        ));
    }
    let share = |count: u32| f64::from(count) / f64::from(trials);
    assert!(share(bootstrap) < 0.85, "{bootstrap}");
    // Three standard errors of 95 % in 1000 trials are 2.1 %.
    assert!((0.929..0.971).contains(&share(t)), "{t}");
}

#[test]
fn b15_the_same_seed_gives_the_same_bits() {
    let values: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i).sin()).collect();
    let of = |seed| {
        let clusters: Vec<&[f64]> = values.chunks(1).collect();
        let stream = Stream {
            seed,
            ..resampling(0).stream
        };
        let resampling = Resampling {
            resamples: 10_000,
            stream,
        };
        let interval = bca_interval(&ClusterMean::new(&clusters), 0.95, resampling).unwrap();
        (interval.lower.to_bits(), interval.upper.to_bits())
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn b16_one_process_has_a_point_for_an_interval() {
    let interval = of_mean(&[123.0], PercentileRule::WholeIndices).unwrap();
    assert_eq!((interval.lower, interval.upper), (123.0, 123.0));
}

#[test]
fn b18_ratios_are_contender_over_baseline() {
    let (base, contender) = (
        up_to(100),
        up_to(100).iter().map(|x| x * 0.8).collect::<Vec<_>>(),
    );
    for p in [0.5, 0.95, 0.99] {
        close(
            quantile_ratio(&contender, &base, p, Quantile::InvertedCdf).unwrap(),
            0.8,
            1e-12,
        );
    }
    // Throughput: above 1 is faster.
    close(positive_ratio(1_250.0, 1_000.0).unwrap(), 1.25, 1e-12);
}

#[test]
fn b19_the_bounds_of_the_p95_ratio_belong_to_what_lies_beyond() {
    let bounds = RatioBounds {
        faster: 0.95,
        slower: 1.05,
    };
    let judge = |ratio| bounds.judge(ratio);
    assert_eq!(judge(0.95), Some(RatioVerdict::Faster));
    assert_eq!(judge(0.950_000_1), Some(RatioVerdict::Same));
    assert_eq!(judge(1.049_999), Some(RatioVerdict::Same));
    assert_eq!(judge(1.05), Some(RatioVerdict::Slower));
}
