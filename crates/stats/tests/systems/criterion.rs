//! Checks the statistics of Criterion.rs: outlier labels, the slope, bootstrap intervals and the t-score.

use super::{close, up_to};
use perfcheck_stats::*;

const A: [f64; 5] = [10.0, 10.2, 9.9, 10.1, 10.3];
const B: [f64; 6] = [10.5, 10.7, 10.4, 10.6, 10.9, 10.6];

fn resampling(resamples: usize) -> Resampling<'static> {
    let stream = Stream {
        seed: 42,
        name: "criterion",
    };
    Resampling { resamples, stream }
}

fn singles(values: &[f64]) -> Vec<&[f64]> {
    values.chunks(1).collect()
}

#[test]
fn c8_fences_are_at_one_and_a_half_and_three_iqr_and_strict() {
    let mut values = up_to(20);
    values.extend([32.0, 60.0]);
    let fences = TukeyFences::from_samples(&values).unwrap();
    assert_eq!((fences.low_severe, fences.low_mild), (-25.25, -9.5));
    assert_eq!((fences.high_mild, fences.high_severe), (32.5, 48.25));
    assert_eq!(fences.label(32.0), OutlierLabel::Inside);
    assert_eq!(fences.label(32.5), OutlierLabel::Inside);
    assert_eq!(fences.label(40.0), OutlierLabel::HighMild);
    assert_eq!(fences.label(60.0), OutlierLabel::HighSevere);
    assert_eq!(fences.label(-10.0), OutlierLabel::LowMild);
    assert_eq!(fences.label(-30.0), OutlierLabel::LowSevere);
}

#[test]
fn c9_outliers_are_labelled_and_stay_in_every_estimate() {
    let mut values = up_to(20);
    values.push(1_000.0);
    assert_eq!(OutlierCounts::from_samples(&values).high_severe, 1);
    let described = Description::compute(&values).unwrap();
    assert_eq!((described.count, described.max), (21, 1_000.0));
    close(described.mean, 1_210.0 / 21.0, 1e-12);
}

#[test]
fn c10_the_slope_is_through_the_origin_and_bootstrapped() {
    let (x, y) = ([10.0, 20.0, 30.0, 40.0], [101.0, 199.0, 305.0, 398.0]);
    close(slope_through_origin(&x, &y).unwrap(), 10.02, 1e-12);
    let points: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
    let clusters: Vec<&[(f64, f64)]> = points.chunks(1).collect();
    let slope = ClusterSlope::new(&clusters);
    let interval = percentile_interval(&slope, 0.95, resampling(10_000)).unwrap();
    // The ratios of the points are 10.1, 9.95, 10.166..., 9.95. One resample in 16 contains only the second and the fourth.
    close(interval.lower, 9.95, 1e-12);
    assert!(10.02 < interval.upper && interval.upper < 10.167);
}

#[test]
fn c11_mean_median_deviation_and_mad_are_bootstrapped_alike() {
    let values: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i * 13 % 29)).collect();
    let clusters = singles(&values);
    let described = Description::compute(&values).unwrap();
    let around = |statistic: &dyn Fn() -> Option<Interval>, value: f64| {
        let interval = statistic().unwrap();
        assert!(
            interval.lower < value && value < interval.upper,
            "{interval:?}: {value}"
        );
    };
    around(
        &|| percentile_interval(&ClusterMean::new(&clusters), 0.95, resampling(2_000)),
        described.mean,
    );
    around(
        &|| percentile_interval(&ClusterMedian::new(&clusters), 0.95, resampling(2_000)),
        described.median,
    );
    around(
        &|| percentile_interval(&ClusterSd::new(&clusters), 0.95, resampling(2_000)),
        described.sd.unwrap(),
    );
    around(
        &|| percentile_interval(&ClusterMad::new(&clusters), 0.95, resampling(2_000)),
        described.mad,
    );
    assert_eq!(described.mad_scaled(), 1.4826 * described.mad);
}

#[test]
fn c13_the_bootstrapped_t_score_agrees_with_welch_on_normal_data() {
    // The quantiles of the normal distribution are as close to it as 40 values can be.
    let values = |centre: f64| -> Vec<f64> {
        (0..40)
            .map(|i| centre + normal::quantile((f64::from(i) + 0.5) / 40.0).unwrap())
            .collect()
    };
    for shift in [0.0, 0.2, 0.4, 0.6] {
        let (new, base) = (values(100.0 + shift), values(100.0));
        let welch = WelchTest::test(&new, &base, WelchDf::Fractional).unwrap();
        let score = TScore::test(&new, &base, 0.0, 0.0, 0.05, resampling(10_000)).unwrap();
        let p = (2.0 * score.p_greater.min(score.p_less)).min(1.0);
        assert!((p - welch.p).abs() < 0.02, "{shift}: {p} and {}", welch.p);
    }
}

#[test]
fn c14_the_relative_differences_of_mean_and_median_have_intervals() {
    let base: Vec<f64> = (0..50).map(|i| 100.0 + f64::from(i % 7)).collect();
    let new: Vec<f64> = base.iter().map(|x| x * 1.1).collect();
    let (a, b) = (singles(&new), singles(&base));
    let mean = relative_change_interval(
        &ClusterMean::new(&a),
        &ClusterMean::new(&b),
        0.95,
        resampling(4_000),
    )
    .unwrap();
    let median = relative_change_interval(
        &ClusterMedian::new(&a),
        &ClusterMedian::new(&b),
        0.95,
        resampling(4_000),
    )
    .unwrap();
    for interval in [mean, median] {
        assert!(0.05 < interval.lower && interval.lower < 0.1);
        assert!(0.1 < interval.upper && interval.upper < 0.15);
    }
}

#[test]
fn c_x3_the_t_statistic_is_welchs() {
    let test = WelchTest::test(&A, &B, WelchDf::Fractional).unwrap();
    close(test.t, -5.181_078_596_102_794, 1e-9);
    close(test.df, 8.877_590_601_795_411, 1e-9);
    close(test.p, 0.000_604_415_990_955_168_8, 1e-6);
}

#[test]
fn d12_resamples_without_a_value_are_dropped_and_too_many_of_them_are_no_interval() {
    // A statistic that exists only for resamples that contain the first value `least` times.
    let of = |least: usize| {
        let values = up_to(10);
        let clusters = singles(&values);
        let statistic = ClusterFunction::new(&clusters, |pooled| {
            let drawn = pooled.iter().filter(|value| **value == 1.0).count();
            (drawn >= least).then(|| mean(pooled)).flatten()
        });
        percentile_interval(&statistic, 0.95, resampling(2_000))
    };
    // The first value is drawn at least once in 1 - 0.9^10 = 65 % of resamples, at least twice in 26 %.
    let with = of(1).unwrap();
    assert!(with.lower.is_finite() && with.upper < of(0).unwrap().upper);
    assert_eq!(of(2), None);
}
