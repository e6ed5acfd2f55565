//! Checks the statistics of the serializer benchmarks: outlier fences that are not applied to few values or to values without spread, warm-up samples
//! that are left out and counted, effect sizes, and p-values that are corrected for the number of tests.

use super::{close, up_to};
use perfcheck_stats::*;

const FENCE: OutlierPolicy = OutlierPolicy::IqrFence(IqrFence::INTERPOLATED);

#[test]
fn s3_quartiles_are_interpolated_and_values_on_the_fences_stay() {
    let mut values = up_to(20);
    values.extend([32.5, 60.0]);
    let treated = FENCE.apply(&values).unwrap();
    assert_eq!(
        treated.bounds,
        Some(Interval {
            lower: -9.5,
            upper: 32.5
        })
    );
    assert_eq!((treated.values.len(), treated.high), (21, 1));
}

#[test]
fn s4_each_group_has_its_own_fences() {
    let fast = up_to(20);
    let slow: Vec<f64> = up_to(20).iter().map(|x| x + 1_000.0).collect();
    for group in [&fast, &slow] {
        let cleaned = CleanedSample::clean(&[group], FirstSampleTreatment::Used, FENCE).unwrap();
        assert_eq!(cleaned.counts.outliers_removed, 0);
    }
    let bounds = |group| FENCE.apply(group).unwrap().bounds;
    assert_ne!(bounds(&fast), bounds(&slow));
}

#[test]
fn s5_nine_samples_are_left_alone() {
    let mut values = up_to(8);
    values.push(1_000.0);
    let treated = FENCE.apply(&values).unwrap();
    assert_eq!(
        (treated.values.len(), treated.untouched),
        (9, Some(TreatmentSkipped::TooFew))
    );
    values.push(9.0);
    assert_eq!(FENCE.apply(&values).unwrap().values.len(), 9);
}

#[test]
fn s6_without_an_interquartile_range_nothing_is_removed() {
    let mut values = vec![5.0; 9];
    values.push(1_000.0);
    let treated = FENCE.apply(&values).unwrap();
    assert_eq!(
        (treated.values.len(), treated.untouched),
        (10, Some(TreatmentSkipped::NoSpread))
    );
}

#[test]
fn s7_d10_what_would_remove_everything_removes_nothing() {
    let nonsense = IqrFence {
        multiple: -1.0,
        ..IqrFence::INTERPOLATED
    };
    let values = up_to(12);
    let treated = OutlierPolicy::IqrFence(nonsense).apply(&values).unwrap();
    assert_eq!(treated.untouched, Some(TreatmentSkipped::WouldRemoveAll));
    assert_eq!(treated.values, values);
}

#[test]
fn s8_first_samples_go_before_the_fences_are_drawn() {
    // The warm-up sample is so slow that it would widen the fences.
    let mut process = vec![1e6];
    process.extend(up_to(11));
    let dropped = CleanedSample::clean(&[&process], FirstSampleTreatment::Dropped, FENCE).unwrap();
    assert_eq!(dropped.used, up_to(11));
    assert_eq!(
        (
            dropped.counts.warm_up_skipped,
            dropped.counts.outliers_removed
        ),
        (1, 0)
    );
    let used = CleanedSample::clean(&[&process], FirstSampleTreatment::Used, FENCE).unwrap();
    assert_eq!(
        (used.counts.warm_up_skipped, used.counts.outliers_removed),
        (0, 1)
    );
}

#[test]
fn s9_every_sample_is_used_skipped_or_removed() {
    // 12 samples, the first of them warm-up, one an outlier
    let process = [
        50.0, 10.0, 11.0, 12.0, 10.5, 11.5, 900.0, 10.2, 11.1, 12.3, 10.9, 11.7,
    ];
    let cleaned = CleanedSample::clean(&[&process], FirstSampleTreatment::Dropped, FENCE).unwrap();
    let expected = CleaningCounts {
        raw: 12,
        warm_up_skipped: 1,
        outliers_removed: 1,
        used: 10,
    };
    assert_eq!(cleaned.counts, expected);
    assert_eq!(cleaned.raw, process);
}

#[test]
fn s11_rates_are_of_mean_longest_and_shortest_time_and_of_no_time_zero() {
    let rates = OperationRates::from_times(&[400.0, 500.0, 600.0]).unwrap();
    assert_eq!((rates.mean, rates.most), (2e6, 2.5e6));
    close(rates.least, 1e9 / 600.0, 1e-12);
    assert_eq!(OperationRates::from_times(&[0.0]).unwrap().mean, 0.0);
}

#[test]
fn s14_a_mean_a_thousand_times_the_median_is_absurd() {
    let absurd = |last| {
        let described = Description::compute(&[1.0, 1.0, 1.0, last]).unwrap();
        described.mean_over_median().unwrap() > 1_000.0
    };
    assert!(absurd(4_001.0) && !absurd(3_900.0));
}

#[test]
fn s15_the_mad_is_unscaled_and_percentiles_interpolate() {
    let values = [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0];
    assert_eq!(Description::compute(&values).unwrap().mad, 1.0);
    assert_eq!(Quantile::Linear.select_sorted(&values, 0.75), Some(5.0));
}

#[test]
fn s16_the_bootstrap_of_the_mean_has_2000_resamples_and_a_seed() {
    let values: Vec<f64> = (0..100).map(|i| 100.0 + f64::from(i * 31 % 17)).collect();
    let clusters: Vec<&[f64]> = values.chunks(1).collect();
    let of = |name| {
        let stream = Stream { seed: 42, name };
        let resampling = Resampling {
            resamples: 2_000,
            stream,
        };
        percentile_interval(&ClusterMean::new(&clusters), 0.95, resampling).unwrap()
    };
    assert_eq!(of("group"), of("group"));
    let t = TInterval::compute(&values, 0.95).unwrap().interval();
    assert!((of("group").lower - t.lower).abs() < 0.2 && (of("group").upper - t.upper).abs() < 0.2);
}

#[test]
fn s_x3_groups_have_seeds_of_their_own() {
    assert_ne!(
        derived_seed(42, "serialize/A"),
        derived_seed(42, "serialize/B")
    );
    assert_eq!(
        derived_seed(42, "serialize/A"),
        derived_seed(42, "serialize/A")
    );
}

#[test]
fn s17_cliffs_delta_is_positive_where_the_candidate_is_slower() {
    let ties = (
        [12.0, 13.0, 14.0, 15.0, 16.0],
        [10.0, 11.0, 12.0, 13.0, 14.0],
    );
    close(cliffs_delta(&ties.0, &ties.1).unwrap(), 0.64, 1e-12);
    assert_eq!(cliffs_delta(&[6.0, 7.0, 8.0], &[1.0, 2.0, 3.0]), Some(1.0));
    let mix = (
        [2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        [1.1, 2.2, 3.3, 4.4, 5.5, 6.6],
    );
    close(cliffs_delta(&mix.0, &mix.1).unwrap(), 1.0 / 6.0, 1e-9);
}

#[test]
fn s18_hedges_g_corrects_cohens_d_for_small_samples() {
    let (a, b) = (
        [10.0, 10.2, 9.9, 10.1, 10.3],
        [10.5, 10.7, 10.4, 10.6, 10.9, 10.6],
    );
    close(cohens_d(&b, &a).unwrap(), 3.110_385_288_721_533, 1e-9);
    close(hedges_g(&b, &a).unwrap(), 2.843_780_835_402_544_2, 1e-9);
}

#[test]
fn s20_a_family_is_corrected_by_holm_or_by_benjamini_and_hochberg() {
    let p = [0.01, 0.04, 0.03, 0.005];
    for (correction, expected) in [
        (Correction::Holm, [0.03, 0.06, 0.06, 0.02]),
        (Correction::BenjaminiHochberg, [0.02, 0.04, 0.04, 0.02]),
        (Correction::Unadjusted, p),
    ] {
        for (found, expected) in correction.adjust(&p).into_iter().zip(expected) {
            close(found, expected, 1e-12);
        }
    }
}

#[test]
fn s_x2_policies_have_names_for_wider_fences_and_for_winsorising() {
    let mut values = up_to(21);
    values[20] = 40.0;
    let removed = |policy: OutlierPolicy| policy.apply(&values).unwrap().removed();
    assert_eq!(removed(FENCE), 1);
    assert_eq!(
        removed(OutlierPolicy::IqrFence(IqrFence::INTERPOLATED_WIDE)),
        0
    );
    let winsorised = OutlierPolicy::Winsorise5To95.apply(&values).unwrap();
    assert_eq!((winsorised.removed(), winsorised.replaced()), (0, 2));
    assert_eq!(
        winsorised.bounds,
        Some(Interval {
            lower: 2.0,
            upper: 20.0
        })
    );
    assert_eq!((winsorised.values[0], winsorised.values[20]), (2.0, 20.0));
}
