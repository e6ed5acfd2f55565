//! The serializer methodology: guarded fences, warm-up exclusion with counts, effect sizes, corrected families.

use super::{close, up_to};
use cargo_perfcheck::exchange::{
    ColumnMap, ExchangeError, IdGroup, Imported, InputContent, Reading, TableLayout, ValueSummary,
    clean as cleaned, read_tables,
};
use perfcheck_analysis::model::{Outliers, SampleFilter, SourceInterval, Thresholds};
use perfcheck_stats::*;

const FENCE: OutlierPolicy = OutlierPolicy::IqrFence(IqrFence::INTERPOLATED);

#[test]
fn s3_quartiles_are_interpolated_and_values_on_the_fences_stay() {
    let mut values = up_to(20);
    values.extend([32.5, 60.0]);
    let treated = FENCE.apply(&values).unwrap();
    assert_eq!(treated.bounds, Some((-9.5, 32.5)));
    assert_eq!((treated.values.len(), treated.high), (21, 1));
}

#[test]
fn s4_each_group_has_its_own_fences() {
    let fast = up_to(20);
    let slow: Vec<f64> = up_to(20).iter().map(|x| x + 1_000.0).collect();
    for group in [&fast, &slow] {
        let cleaned = CleanedSample::of(&[group], FirstSample::Used, FENCE).unwrap();
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
    let mut launch = vec![1e6];
    launch.extend(up_to(11));
    let dropped = CleanedSample::of(&[&launch], FirstSample::Dropped, FENCE).unwrap();
    assert_eq!(dropped.used, up_to(11));
    assert_eq!(
        (
            dropped.counts.warm_up_skipped,
            dropped.counts.outliers_removed
        ),
        (1, 0)
    );
    let used = CleanedSample::of(&[&launch], FirstSample::Used, FENCE).unwrap();
    assert_eq!(
        (used.counts.warm_up_skipped, used.counts.outliers_removed),
        (0, 1)
    );
}

#[test]
fn s9_every_sample_is_used_skipped_or_removed() {
    // 12 samples, the first of them warm-up, one an outlier
    let launch = [
        50.0, 10.0, 11.0, 12.0, 10.5, 11.5, 900.0, 10.2, 11.1, 12.3, 10.9, 11.7,
    ];
    let cleaned = CleanedSample::of(&[&launch], FirstSample::Dropped, FENCE).unwrap();
    let expected = CleaningCounts {
        raw: 12,
        warm_up_skipped: 1,
        outliers_removed: 1,
        used: 10,
    };
    assert_eq!(cleaned.counts, expected);
    assert_eq!(cleaned.raw, launch);
}

#[test]
fn s11_rates_are_of_mean_longest_and_shortest_time_and_of_no_time_zero() {
    let rates = OperationRates::of(&[400.0, 500.0, 600.0]).unwrap();
    assert_eq!((rates.mean, rates.most), (2e6, 2.5e6));
    close(rates.least, 1e9 / 600.0, 1e-12);
    assert_eq!(OperationRates::of(&[0.0]).unwrap().mean, 0.0);
}

#[test]
fn s14_a_mean_a_thousand_times_the_median_is_absurd() {
    let absurd = |last| {
        let described = Description::of(&[1.0, 1.0, 1.0, last]).unwrap();
        described.mean_over_median().unwrap() > Thresholds::default().mean_over_median
    };
    assert!(absurd(4_001.0) && !absurd(3_900.0));
}

#[test]
fn s15_the_mad_is_unscaled_and_percentiles_interpolate() {
    let values = [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0];
    assert_eq!(Description::of(&values).unwrap().mad, 1.0);
    assert_eq!(Quantile::Linear.of_sorted(&values, 0.75), Some(5.0));
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
    let t = TInterval::of(&values, 0.95).unwrap().interval();
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
        for (found, expected) in correction.adjusted(&p).into_iter().zip(expected) {
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
    assert_eq!(winsorised.bounds, Some((2.0, 20.0)));
    assert_eq!((winsorised.values[0], winsorised.values[20]), (2.0, 20.0));
}

/// Reads one table in memory.
fn read(text: &str, columns: &str, reading: &Reading) -> Result<Imported, ExchangeError> {
    let content = InputContent {
        name: "t.csv".to_owned(),
        bytes: text.as_bytes().to_vec(),
        blake3: String::new(),
    };
    let map = ColumnMap::read(&[columns]).unwrap();
    let layout = TableLayout {
        separator: b',',
        header: true,
        decimal_comma: false,
    };
    read_tables(&[content], &map, layout, reading, &|| false)
}

fn in_unit(unit: &str) -> Reading {
    Reading {
        unit: Some(unit.parse().unwrap()),
        guess_units: false,
        lenient: false,
    }
}

fn times(group: &IdGroup, column: usize) -> Vec<f64> {
    let rows = group.rows.iter();
    rows.map(|row| row.samples[column].per_iteration())
        .collect()
}

#[test]
fn s1_columns_are_read_as_they_are_declared() {
    let text = "Mode,Data,Index,Name,Ser,Deser,Session\n\
                string,\"a,b\",1,X,2.5,30,s1\nstring,\"a,b\",0,X,1.25,40,s1\nstring,\"a,b\",0,X,7,8,s2\n";
    let map = "id=Name/Data/Mode,value.ser=Ser[us],value=Deser,repetition=Index,launch=Session";
    let found = read(text, map, &in_unit("ns")).unwrap();
    let [group] = &found.groups[..] else {
        panic!("{found:?}")
    };
    assert_eq!(group.id, "X/a,b/string");
    // By launch, then by repetition.
    assert_eq!(times(group, 0), [1_250.0, 2_500.0, 7_000.0]);
    assert_eq!(times(group, 1), [40.0, 30.0, 8.0]);
    assert_eq!(found.launches, ["s1", "s2"]);
    assert!(found.launches_known);
    let twice = "Name,Index,Ser\nX,0,1\nX,1,2\nX,0,3\n";
    let error = read(twice, "id=Name,value=Ser,repetition=Index", &in_unit("ns")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("t.csv:4: column `Index` `0` is there already for `X` (line 2)"),
        "{error}"
    );
    let missing = read(twice, "id=Nam,value=Ser", &in_unit("ns")).unwrap_err();
    assert!(
        missing.to_string().contains("has no column `Nam`"),
        "{missing}"
    );
}

#[test]
fn s2_a_unit_by_row_must_not_mix_times_and_rates() {
    let text = "n,v,u\na,1,ms\na,1000,us\nb,5,ops/s\na,5,ops/s\n";
    let reading = Reading {
        unit: None,
        guess_units: false,
        lenient: true,
    };
    let found = read(text, "id=n,value=v,unit=u", &reading).unwrap();
    assert_eq!(times(&found.groups[0], 0), [1e6, 1e6]);
    assert_eq!(found.groups[1].metrics[0].to_string(), "rate of ops");
    assert_eq!(found.rows_skipped, 1);
    assert!(
        found.skipped[0].to_string().contains("t.csv:5"),
        "{:?}",
        found.skipped
    );
}

/// Twelve rows of two columns: a warm-up, then an outlier in the first column alone.
fn two_columns() -> IdGroup {
    let rows: Vec<String> = (0..10)
        .map(|i| format!("x,{},{}\n", 100 + i, 1_000 + i))
        .collect();
    let rows = rows.concat();
    let text = format!("n,a,b\nx,500,5000\n{rows}x,900,1005\n");
    read(&text, "id=n,value=a,value=b", &in_unit("ns"))
        .unwrap()
        .groups
        .remove(0)
}

/// Warm-up goes, then what `outliers` says at the usual thresholds.
fn filter(outliers: Outliers, paired: bool) -> SampleFilter {
    let filter = SampleFilter {
        drop_first: true,
        outliers,
        paired,
        ..SampleFilter::default()
    };
    filter.at(&Thresholds::default())
}

#[test]
fn s9_counts_of_an_import_add_up() {
    let found = clean(&two_columns(), &filter(Outliers::Iqr, false));
    let counts = |summary: &ValueSummary| {
        let counts = summary.counts;
        [
            counts.runs_raw,
            counts.runs,
            counts.warmup_skipped,
            counts.outliers_removed,
        ]
    };
    assert_eq!(counts(&found[0]), [12, 10, 1, 1]);
    assert_eq!(counts(&found[1]), [12, 11, 1, 0]);
    assert_eq!((found[0].mean, found[0].per_second.most), (104.5, 1e7));
}

#[test]
fn s_x1_a_paired_filter_removes_a_row_from_all_of_its_columns() {
    let found = clean(&two_columns(), &filter(Outliers::Iqr, true));
    assert_eq!([found[0].counts.runs, found[1].counts.runs], [10, 10]);
    assert_eq!(found[1].counts.outliers_removed, 1);
}

#[test]
fn s_x2_filters_of_imports_leave_out_what_the_methodology_says() {
    let of = |outliers, fence| {
        let filter = SampleFilter {
            outliers,
            fence,
            ..SampleFilter::default()
        };
        let found = clean(&two_columns(), &filter.at(&Thresholds::default()));
        (found[0].counts.outliers_removed, found[0].replaced)
    };
    assert_eq!(of(Outliers::Keep, None), (0, 0));
    assert_eq!(of(Outliers::Iqr, Some(3.0)), (2, 0));
    assert_eq!(of(Outliers::Top5, None), (1, 0));
    assert_eq!(of(Outliers::Winsorized, None), (0, 2));
}

#[test]
fn s16_s_x3_means_of_imports_have_intervals_with_a_seed_for_each_group() {
    let values: String = (0..40)
        .flat_map(|i| ["x", "y"].map(|n| format!("{n},{}\n", 100 + i * 31 % 17)))
        .collect();
    let groups = read(&format!("n,v\n{values}"), "id=n,value=v", &in_unit("ns"))
        .unwrap()
        .groups;
    let of = |group: &IdGroup| {
        clean(group, &SampleFilter::default())
            .remove(0)
            .interval
            .unwrap()
    };
    assert_eq!(times(&groups[0], 0), times(&groups[1], 0));
    assert_eq!(of(&groups[0]), of(&groups[0]));
    assert_ne!(of(&groups[0]), of(&groups[1]));
}

#[test]
fn s14_an_import_whose_mean_is_a_thousand_medians_is_absurd() {
    let text = "n,v\na,1\na,1\na,1\na,9000\nb,1\nb,2\n";
    let groups = read(text, "id=n,value=v", &in_unit("ns")).unwrap().groups;
    let absurd = |group: &IdGroup| clean(group, &SampleFilter::default())[0].absurd.len();
    assert_eq!((absurd(&groups[0]), absurd(&groups[1])), (1, 0));
    // 2 s among seconds is nothing; among milliseconds it is, though the mean is but 5 medians.
    let slow = "n,v\na,1000\na,1500\na,2000\n";
    let stalled = format!("n,v\n{}a,2000\n", "a,1\n".repeat(500));
    for (text, expected) in [(slow, 0), (&stalled, 1)] {
        let groups = read(text, "id=n,value=v", &in_unit("ms")).unwrap().groups;
        assert_eq!(absurd(&groups[0]), expected, "{text}");
    }
}

/// Cleans with the usual interval and thresholds.
fn clean(group: &IdGroup, filter: &SampleFilter) -> Vec<ValueSummary> {
    let interval = SourceInterval {
        confidence_level: 0.95,
        resamples: 2_000,
        seed: 42,
    };
    cleaned(group, filter, &interval, &Thresholds::default())
}
