//! Checks the statistics of `NBenchmark`: trimming, summaries, Student's interval, Mann and Whitney's test, and what later versions of `NBenchmark`
//! add.

use super::{close, up_to};
use perfcheck_stats::*;

const SEP5: ([f64; 5], [f64; 5]) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);

fn asymptotic(a: &[f64], b: &[f64]) -> f64 {
    let test = MannWhitney::from_groups(a, b).unwrap();
    test.p_value(MannWhitneyMethod::Asymptotic).unwrap()
}

fn kept(policy: OutlierPolicy, values: &[f64]) -> Vec<f64> {
    policy.apply(values).unwrap().values
}

#[test]
fn n8_trimming_does_not_depend_on_the_order_of_the_samples() {
    let sorted: Vec<f64> = (1..=40).map(|i| f64::from(i * i)).collect();
    // 17 and 40 have no common divisor, so this is a permutation.
    let shuffled: Vec<f64> = (0..40).map(|i| sorted[i * 17 % 40]).collect();
    for policy in [
        OutlierPolicy::TopFivePercent,
        OutlierPolicy::BothFivePercent,
        OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
    ] {
        let mut from_shuffled = kept(policy, &shuffled);
        from_shuffled.sort_by(f64::total_cmp);
        assert_eq!(from_shuffled, kept(policy, &sorted));
    }
}

#[test]
fn n9_without_a_policy_all_samples_stay_in_their_order() {
    let values = [3.0, 1.0, 900.0, 2.0];
    assert_eq!(kept(OutlierPolicy::Keep, &values), values);
}

#[test]
fn n10_the_top_five_percent_are_the_ceiling_of_n_over_twenty_and_one_sample_stays() {
    for n in 2..400_u32 {
        let left = kept(OutlierPolicy::TopFivePercent, &up_to(n));
        // The number of values that are left is floor(0.95 n), here computed in integers.
        assert_eq!(left, up_to(19 * n / 20), "{n}");
    }
    let one = OutlierPolicy::TopFivePercent.apply(&[7.0]).unwrap();
    assert_eq!(one.values, [7.0]);
    assert_eq!(one.untouched, Some(TreatmentSkipped::WouldRemoveAll));
}

#[test]
fn n11_both_ends_lose_the_floor_of_n_over_twenty() {
    for (n, each) in [(19, 0), (20, 1), (39, 1), (100, 5)] {
        let values = up_to(n);
        let treated = OutlierPolicy::BothFivePercent.apply(&values).unwrap();
        assert_eq!((treated.low, treated.high), (each, each));
        assert_eq!(treated.values.len(), n as usize - 2 * each);
        assert_eq!(treated.values[0], each as f64 + 1.0);
    }
}

#[test]
fn n12_a_value_on_the_fence_stays_and_one_beyond_goes() {
    let fence = OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK);
    let one_to_twenty = up_to(20);
    let bounds = fence.apply(&one_to_twenty).unwrap().bounds;
    assert_eq!(
        bounds,
        Some(Interval {
            lower: -10.0,
            upper: 30.0
        })
    );
    for (last, high) in [(31.0, 0), (31.0001, 1)] {
        let mut values = up_to(20);
        values.push(last);
        let treated = fence.apply(&values).unwrap();
        assert_eq!(
            treated.bounds,
            Some(Interval {
                lower: -9.0,
                upper: 31.0
            })
        );
        assert_eq!((treated.low, treated.high), (0, high));
    }
}

#[test]
fn n13_quartiles_are_of_nearest_rank() {
    let values = up_to(20);
    assert_eq!(
        Quantile::InvertedCdf.select_sorted(&values, 0.25),
        Some(5.0)
    );
    assert_eq!(
        Quantile::InvertedCdf.select_sorted(&values, 0.75),
        Some(15.0)
    );
    assert_eq!(IqrFence::NEAREST_RANK.quartiles, Quantile::InvertedCdf);
}

#[test]
fn n14_the_raw_series_stays_and_the_test_is_of_it() {
    let mut slow = up_to(40);
    slow.push(1e6);
    let base: Vec<f64> = up_to(41).iter().map(|x| x + 5.0).collect();
    let p = asymptotic(&slow, &base);
    for policy in [
        OutlierPolicy::Keep,
        OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
    ] {
        let treated = policy.apply(&slow).unwrap();
        assert_eq!(treated.raw, slow);
        assert_eq!(asymptotic(treated.raw, &base).to_bits(), p.to_bits());
    }
    let trimmed = kept(OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK), &slow);
    assert_ne!(asymptotic(&trimmed, &base).to_bits(), p.to_bits());
}

const TRIMMED: FullDescriptionRules = FullDescriptionRules {
    outliers: OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
    quantile: Quantile::InvertedCdf,
    trimmed_error: TrimmedError::Winsorized,
    tail: TailSource::TreatedSample,
    level: 0.95,
};

fn with_an_outlier() -> Vec<f64> {
    let mut values = up_to(20);
    values.push(1_000.0);
    values
}

#[test]
fn n15_the_mean_is_of_the_trimmed_samples() {
    assert_eq!(
        FullDescription::compute(&with_an_outlier(), TRIMMED)
            .unwrap()
            .mean,
        10.5
    );
}

#[test]
fn n16_the_median_by_nearest_rank_is_the_lower_middle() {
    let values = [4.0, 2.0, 1.0, 3.0];
    let lower = FullDescription::compute(&values, TRIMMED).unwrap().median;
    let middle = FullDescriptionRules {
        quantile: Quantile::Linear,
        ..TRIMMED
    };
    assert_eq!(
        (
            lower,
            FullDescription::compute(&values, middle).unwrap().median
        ),
        (2.0, 2.5)
    );
}

#[test]
fn n17_percentiles_are_ranks_rounded_up_as_numpy_rounds_them() {
    let at = |n, p| Quantile::InvertedCdf.select_sorted(&up_to(n), p).unwrap();
    assert_eq!(at(20, 0.95), 19.0);
    assert_eq!((at(100, 0.95), at(100, 0.99)), (95.0, 99.0));
    // 0.07 * 100 is 7.000000000000001
    assert_eq!(at(100, 0.07), 8.0);
    assert_eq!((at(3, 0.0), at(3, 1.0)), (1.0, 3.0));
}

#[test]
fn n18_extremes_are_of_the_trimmed_samples_if_so_wished() {
    let trimmed = FullDescription::compute(&with_an_outlier(), TRIMMED).unwrap();
    assert_eq!((trimmed.min, trimmed.max), (1.0, 20.0));
}

#[test]
fn n19_the_deviation_divides_by_n_minus_one_and_one_sample_has_none() {
    close(
        Description::compute(&[100.0, 110.0, 90.0])
            .unwrap()
            .sd
            .unwrap(),
        10.0,
        1e-12,
    );
    assert_eq!(Description::compute(&[3.0]).unwrap().sd, None);
}

#[test]
fn n20_the_standard_error_is_the_deviation_over_root_n() {
    close(
        standard_error(&[100.0, 110.0, 90.0]).unwrap(),
        10.0 / 3.0_f64.sqrt(),
        1e-12,
    );
    assert_eq!(standard_error(&[3.0]), None);
}

#[test]
fn n21_the_margin_of_190_samples_is_1_972595_standard_errors() {
    let interval = TInterval::compute(&up_to(190), 0.95).unwrap();
    close(interval.margin / interval.standard_error, 1.972_595, 1e-6);
    let bounds = interval.interval();
    assert_eq!(bounds.upper - interval.mean, interval.mean - bounds.lower);
}

#[test]
fn n22_critical_values_are_those_of_the_table() {
    for (df, expected) in [
        (9.0, [1.833_113, 2.262_157, 3.249_836]),
        (29.0, [1.699_127, 2.045_230, 2.756_386]),
        (199.0, [1.652_547, 1.971_957, 2.600_760]),
    ] {
        for (level, t) in [0.9, 0.95, 0.99].into_iter().zip(expected) {
            close(
                student_t::upper_quantile((1.0 - level) / 2.0, df).unwrap(),
                t,
                1e-6,
            );
        }
    }
}

#[test]
fn n23_one_and_two_degrees_of_freedom_have_their_closed_forms_and_more_are_exact() {
    for p in [0.9, 0.95, 0.975, 0.995, 0.9995] {
        let one = (std::f64::consts::PI * (p - 0.5)).tan();
        close(student_t::quantile(p, 1.0).unwrap(), one, 1e-9);
        let a = 2.0 * p - 1.0;
        close(
            student_t::quantile(p, 2.0).unwrap(),
            a * (2.0 / (1.0 - a * a)).sqrt(),
            1e-9,
        );
    }
    // For these arguments the asymptotic series of four terms is off by 4.16 %.
    close(
        student_t::quantile(0.9995, 3.0).unwrap(),
        12.923_978_636_687_5,
        1e-9,
    );
}

#[test]
fn n24_normal_quantiles_are_right_to_the_last_digits() {
    for (p, z) in [
        (0.025, -1.959_963_984_540_054),
        (0.975, 1.959_963_984_540_054),
        (0.9995, 3.290_526_731_491_926),
        (1e-6, -4.753_424_308_822_899),
    ] {
        close(normal::quantile(p).unwrap(), z, 1e-9);
    }
    assert!(normal::quantile(0.5).unwrap().abs() < 1e-12);
}

#[test]
fn n26_b_x5_variability_is_high_from_a_half_on_and_without_a_mean_there_is_none() {
    let cases = [
        (0.05, Variability::Stable),
        (0.2, Variability::Ordinary),
        (0.5, Variability::High),
    ];
    for (cv, expected) in cases {
        assert_eq!(Variability::classify(cv, 0.05, 0.5), expected);
    }
    assert_eq!(Description::compute(&[-1.0, 1.0]).unwrap().cv(), None);
}

#[test]
fn n29_tied_values_share_their_ranks_and_the_raw_samples_are_tested() {
    // Ranks of 1 2 2 | 2 5: 1, 3, 3 | 3, 5
    let test = MannWhitney::from_groups(&[1.0, 2.0, 2.0], &[2.0, 5.0]).unwrap();
    assert_eq!(test.u_first, 7.0 - 6.0);
}

#[test]
fn n30_u_is_the_smaller_of_both() {
    let (a, b) = SEP5;
    let test = MannWhitney::from_groups(&b, &a).unwrap();
    assert_eq!((test.u_first, test.u_second(), test.u()), (25.0, 0.0, 0.0));
}

#[test]
fn n31_p_is_normal_with_a_correction_for_ties_and_none_for_continuity() {
    let (a, b) = SEP5;
    close(asymptotic(&a, &b), 0.009_023_438_818_080_326, 1e-6);
    let ties = (
        [10.0, 11.0, 12.0, 13.0, 14.0],
        [12.0, 13.0, 14.0, 15.0, 16.0],
    );
    close(asymptotic(&ties.0, &ties.1), 0.091_690_281_549_429_15, 1e-6);
    let mix = (
        [1.1, 2.2, 3.3, 4.4, 5.5, 6.6],
        [2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    );
    close(asymptotic(&mix.0, &mix.1), 0.630_954_041_184_170_8, 1e-6);
}

#[test]
fn n32_a_p_equal_to_alpha_is_not_significant() {
    let of = |p, alpha| Significance::classify(Some(p), alpha, 9, 5);
    assert_eq!(of(0.05, 0.05), Significance::NotSignificant);
    assert_eq!(of(0.049_999, 0.05), Significance::Significant);
    assert_eq!(of(0.05, 0.051), Significance::Significant);
}

#[test]
fn n33_groups_of_four_are_not_tested() {
    let of = |count: u32| {
        let (a, b) = (up_to(count), up_to(30));
        let test = MannWhitney::from_groups(&a, &b).unwrap();
        let p = test.p_value(MannWhitneyMethod::Asymptotic);
        Significance::classify(p, 0.05, test.smaller_group(), 5)
    };
    assert_eq!(of(4), Significance::NotTested);
    assert_eq!(of(5), Significance::Significant);
}

#[test]
fn n34_exact_and_asymptotic_p_of_small_samples_differ_and_both_are_offered() {
    let (a, b) = SEP5;
    let test = MannWhitney::from_groups(&a, &b).unwrap();
    close(
        test.p_value(MannWhitneyMethod::Exact).unwrap(),
        0.007_936_507_936_507_936,
        1e-12,
    );
    assert!(test.p_value(MannWhitneyMethod::Asymptotic).unwrap() > 0.009);
}

#[test]
fn n35_a_test_says_one_of_three_things() {
    let of = |p| Significance::classify(p, 0.05, 9, 5);
    let results = [Some(0.01), Some(0.5), None].map(of);
    assert_eq!(
        results,
        [
            Significance::Significant,
            Significance::NotSignificant,
            Significance::NotTested
        ]
    );
}

#[test]
fn n36_the_record_of_a_series_is_complete() {
    let record = FullDescription::compute(&up_to(100), TRIMMED).unwrap();
    let sd = Description::compute(&up_to(100)).unwrap().sd.unwrap();
    assert_eq!((record.measured, record.used), (100, 100));
    assert_eq!(
        (record.mean, record.median, record.min, record.max),
        (50.5, 50.0, 1.0, 100.0)
    );
    assert_eq!(record.percentiles, [5.0, 25.0, 75.0, 95.0, 99.0]);
    close(record.sd.unwrap(), sd, 1e-12);
    close(record.standard_error.unwrap(), sd / 10.0, 1e-12);
    close(record.cv.unwrap(), sd / 50.5, 1e-12);
    let interval = record.interval.unwrap();
    close(interval.margin, 1.984_216_951_508_683 * sd / 10.0, 1e-8);
    assert_eq!(record.mad, 25.0);
}

#[test]
fn n_x2_the_process_variance_ratio_divides_by_the_standard_error_within() {
    // The medians 100, 110, 120 have sd 10. Within each cluster, values are -1, 0, 1 about the median: standard error 1 / sqrt 3.
    let process = |centre: f64| [centre - 1.0, centre, centre + 1.0];
    let (a, b, c) = (process(100.0), process(110.0), process(120.0));
    let ratio = between_to_within_ratio(&[&a, &b, &c]).unwrap();
    close(ratio, 10.0 * 3.0_f64.sqrt(), 1e-12);
}

#[test]
fn n_x4_the_paired_log_ratio_of_half_as_much_again_is_exact() {
    let found =
        PairedLogRatio::compute(&[150.0, 300.0, 600.0], &[100.0, 200.0, 400.0], 0.95).unwrap();
    for value in [found.ratio, found.interval.lower, found.interval.upper] {
        close(value, 1.5, 1e-12);
    }
    assert_eq!((found.pairs, found.dropped), (3, 0));
}

#[test]
fn n_x5_the_gate_asks_for_the_threshold_and_for_an_interval_without_one() {
    let steady = PairedLogRatio::compute(&[108.0, 109.0, 107.0], &[100.0; 3], 0.95).unwrap();
    assert!(steady.is_beyond(0.05) && !steady.is_beyond(0.1));
    let noisy = PairedLogRatio::compute(&[150.0, 80.0, 120.0], &[100.0; 3], 0.95).unwrap();
    assert!(noisy.ratio > 1.05 && !noisy.is_beyond(0.05));
}

#[test]
fn n_x6_percentiles_and_extremes_are_of_the_raw_samples() {
    let raw = FullDescriptionRules {
        tail: TailSource::Raw,
        ..TRIMMED
    };
    let record = FullDescription::compute(&with_an_outlier(), raw).unwrap();
    assert_eq!(
        (record.mean, record.max, record.percentiles[4]),
        (10.5, 1_000.0, 1_000.0)
    );
    assert_eq!((record.measured, record.used), (21, 20));
}

#[test]
fn n_x7_the_standard_error_of_a_trimmed_mean_is_winsorised() {
    let values = up_to(20);
    let of = |policy: OutlierPolicy| TrimmedMean::compute(&policy.apply(&values).unwrap()).unwrap();
    // 2 2 3 ... 18 19 19: sum of squares about 10.5 is 629
    let trimmed = of(OutlierPolicy::BothFivePercent);
    close(
        trimmed.standard_error,
        (629.0_f64 / 19.0 * 20.0).sqrt() / 18.0,
        1e-12,
    );
    assert_eq!(trimmed.df, 17.0);
    let whole = of(OutlierPolicy::Keep);
    close(
        whole.standard_error,
        standard_error(&values).unwrap(),
        1e-12,
    );
}

#[test]
fn n_x8_the_interval_of_a_median_needs_six_samples_at_95_and_eight_at_99_percent() {
    let of = |n, level| MedianInterval::compute(&up_to(n), level);
    assert_eq!((of(5, 0.95), of(7, 0.99)), (None, None));
    let six = of(6, 0.95).unwrap();
    assert_eq!(
        six.interval,
        Interval {
            lower: 1.0,
            upper: 6.0
        }
    );
    close(six.coverage, 0.968_75, 1e-12);
    let ranks = |n, level| of(n, level).map(|found| [found.lower_rank, found.upper_rank]);
    assert_eq!(ranks(8, 0.99), Some([1, 8]));
    // floor((100 - 19.6) / 2) and ceil(1 + (100 + 19.6) / 2)
    assert_eq!(ranks(100, 0.95), Some([40, 61]));
}

#[test]
fn n_x9_small_groups_without_ties_are_tested_exactly_and_others_with_correction() {
    let (a, b) = SEP5;
    let p = |a: &[f64], b: &[f64]| {
        let test = MannWhitney::from_groups(a, b).unwrap();
        test.p_value(MannWhitneyMethod::Automatic).unwrap()
    };
    close(p(&a, &b), 0.007_936_507_936_507_936, 1e-12);
    let ties = (
        [10.0, 11.0, 12.0, 13.0, 14.0],
        [12.0, 13.0, 14.0, 15.0, 16.0],
    );
    close(p(&ties.0, &ties.1), 0.113_846_298_006_658_05, 1e-6);
    let (many, more) = (
        up_to(11),
        (0..10).map(|i| f64::from(i) + 0.5).collect::<Vec<_>>(),
    );
    let corrected = MannWhitney::from_groups(&many, &more)
        .unwrap()
        .p_value(MannWhitneyMethod::AsymptoticCorrected);
    assert_eq!(p(&many, &more), corrected.unwrap());
    assert_eq!(p(&[5.0; 3], &[5.0; 4]), 1.0);
    let of_two = Significance::classify(Some(0.3), 0.05, 2, 2);
    assert_eq!(of_two, Significance::NotSignificant);
}

#[test]
fn n_x10_three_groups_are_tested_together() {
    let (near, far) = ([3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0]);
    let found = KruskalWallis::test(&[&up_to(5), &near, &far]).unwrap();
    close(found.h, 10.712_387_791_741_474, 1e-9);
    close(found.p, 0.004_718_832_338_641_071, 1e-6);
}

#[test]
fn n_x11_a_negligible_delta_takes_significance_back() {
    let (a, b) = SEP5;
    assert_eq!(cliffs_delta(&b, &a), Some(1.0));
    let significant = Significance::Significant;
    assert_eq!(
        significant.with_practical_gate(0.146, 0.147),
        Significance::NotSignificant
    );
    assert_eq!(
        significant.with_practical_gate(0.147, 0.147),
        Significance::Significant
    );
    let labels =
        [0.1, 0.2, 0.4, 0.6].map(|delta| EffectSize::classify(delta, [0.147, 0.33, 0.474]).label());
    assert_eq!(labels, ["negligible", "small", "medium", "large"]);
}

#[test]
fn n_x12_the_shift_has_the_interval_of_normal_ranks() {
    let (a, b) = (
        up_to(10),
        up_to(10).iter().map(|x| x + 10.0).collect::<Vec<_>>(),
    );
    let shift = HodgesLehmann::from_groups(&b, &a).unwrap();
    assert_eq!(shift.estimate(), Some(10.0));
    // k = floor(50 - 1.96 sqrt(175)) = 24: differences 10 + d occur 10 - |d| times; the 24th is 10 - 3
    let interval = shift.interval(0.95, HodgesLehmannRanks::Normal).unwrap();
    assert_eq!(
        interval,
        Interval {
            lower: 7.0,
            upper: 13.0
        }
    );
}

#[test]
fn n_x13_fifty_samples_are_checked_for_drift_and_dependence() {
    let suspicious = |values: &[f64]| {
        let depends = lag_one_autocorrelation(values).unwrap() > 0.5;
        let differ = SplitHalves::compare(values).unwrap().p < 0.001;
        (depends, differ)
    };
    assert_eq!(suspicious(&up_to(50)), (true, true));
    let zigzag: Vec<f64> = (0..60).map(|i| f64::from(i % 2)).collect();
    assert_eq!(suspicious(&zigzag), (false, false));
}

fn cluster_of(values: &[f64]) -> Option<SlowMode> {
    SlowMode::detect(values, 3, 0.01, 0.15)
}

#[test]
fn n_x14_three_slow_samples_close_together_are_a_second_mode() {
    let fast = || (0..200).map(|i| 100.0 + f64::from(i % 10));
    let with = |slow: &[f64]| -> Vec<f64> { fast().chain(slow.iter().copied()).collect() };
    let found = cluster_of(&with(&[200.0, 201.0, 202.0])).unwrap();
    assert_eq!((found.count, found.mean), (3, 201.0));
    assert_eq!(cluster_of(&with(&[200.0, 201.0])), None);
    // Scattered values are noise.
    assert_eq!(cluster_of(&with(&[150.0, 300.0, 900.0])), None);
    let few_of_many: Vec<f64> = (0..2)
        .flat_map(|_| fast())
        .chain([200.0, 201.0, 202.0])
        .collect();
    assert_eq!(cluster_of(&few_of_many), None);
}

#[test]
fn n_x17_the_mad_rule_asks_for_three_samples_and_a_mad() {
    let policy = OutlierPolicy::Mad { multiple: 3.0 };
    let values = [10.0, 11.0, 12.0, 13.0, 100.0];
    let treated = policy.apply(&values).unwrap();
    // Median 12, MAD 1: the bound is 12 + 4.4478.
    assert_eq!((treated.values.len(), treated.high), (4, 1));
    assert_eq!(
        policy.apply(&[1.0, 100.0]).unwrap().untouched,
        Some(TreatmentSkipped::TooFew)
    );
    let constant = [5.0, 5.0, 5.0, 5.0, 900.0];
    assert_eq!(
        policy.apply(&constant).unwrap().untouched,
        Some(TreatmentSkipped::NoSpread)
    );
}

#[test]
fn n_x20_halves_drift_when_ten_percent_and_four_standard_errors_apart() {
    let halves = |first: f64, second: f64, noise: f64| {
        let wave = |centre: f64| (0..25).map(move |i| centre + noise * f64::from(i % 3 - 1));
        let values: Vec<f64> = wave(first).chain(wave(second)).collect();
        SplitHalves::compare(&values).unwrap()
    };
    let drift = |first, second, noise| halves(first, second, noise).has_drifted(0.1, 4.0);
    assert!(drift(100.0, 112.0, 1.0));
    assert!(!drift(100.0, 108.0, 1.0));
    assert!(!drift(100.0, 112.0, 60.0));
    assert!(drift(112.0, 100.0, 1.0));
}
