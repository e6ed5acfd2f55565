//! Imports according to the serializer methodology: columns, units, filters with counts, intervals of means.

use cargo_perfcheck::interchange::{
    ColumnMap, ExchangeError, IdGroup, ImportedGroups, InputContent, ReadOptions, TableLayout,
    clean as cleaned, read_tables,
};
use perfcheck_analysis::compare::ValueSummary;
use perfcheck_analysis::model::{
    Outliers, ProgressReporter, SampleFilter, SourceInterval, Thresholds,
};

/// Reads a table from memory.
fn read(text: &str, columns: &str, reading: &ReadOptions) -> Result<ImportedGroups, ExchangeError> {
    let content = InputContent {
        name: "t.csv".to_owned(),
        bytes: text.as_bytes().to_vec(),
        blake3: String::new(),
    };
    let map = ColumnMap::parse(&[columns]).unwrap();
    let layout = TableLayout {
        separator: b',',
        header: true,
        decimal_comma: false,
    };
    read_tables(
        &[content],
        &map,
        layout,
        reading,
        &|| false,
        &ProgressReporter::silent(),
    )
}

fn in_unit(unit: &str) -> ReadOptions {
    ReadOptions {
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
    let map = "id=Name/Data/Mode,value.ser=Ser[us],value=Deser,repetition=Index,process=Session";
    let found = read(text, map, &in_unit("ns")).unwrap();
    let [group] = &found.groups[..] else {
        panic!("{found:?}")
    };
    assert_eq!(group.id, "X/a,b/string");
    // Rows are sorted by process, then by repetition.
    assert_eq!(times(group, 0), [1_250.0, 2_500.0, 7_000.0]);
    assert_eq!(times(group, 1), [40.0, 30.0, 8.0]);
    assert_eq!(found.processes, ["s1", "s2"]);
    assert!(found.processes_known);
    let twice = "Name,Index,Ser\nX,0,1\nX,1,2\nX,0,3\n";
    let error = read(twice, "id=Name,value=Ser,repetition=Index", &in_unit("ns")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("t.csv:4: column `Index` repeats `0` for `X` (first on line 2)"),
        "{error}"
    );
    let missing = read(twice, "id=Nam,value=Ser", &in_unit("ns")).unwrap_err();
    assert!(
        missing.to_string().contains("has no column `Nam`"),
        "{missing}"
    );
}

#[test]
fn s1_values_of_different_decimals_are_what_the_file_says() {
    let text = "n,v\na,1.5\na,1.25\na,2\na,0.001\na,12345.6789\n";
    let found = read(text, "id=n,value=v", &in_unit("ns")).unwrap();
    let expected = [1.5, 1.25, 2.0, 0.001, 12_345.678_9];
    assert_eq!(times(&found.groups[0], 0), expected);
}

#[test]
fn s2_a_unit_by_row_must_not_mix_times_and_rates() {
    let text = "n,v,u\na,1,ms\na,1000,us\nb,5,ops/s\na,5,ops/s\n";
    let reading = ReadOptions {
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

/// Returns twelve rows of two columns. The first is a warm-up, the last is an outlier in the first column only.
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

/// Returns a filter that leaves out the warm-up, then `outliers` with the usual thresholds.
fn filter(outliers: Outliers, paired: bool) -> SampleFilter {
    let filter = SampleFilter {
        drop_first: true,
        outliers,
        paired,
        ..SampleFilter::default()
    };
    filter.with_fence_from(&Thresholds::default())
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
    assert_eq!((found[0].mean, found[0].per_second.max), (104.5, 1e7));
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
        let found = clean(
            &two_columns(),
            &filter.with_fence_from(&Thresholds::default()),
        );
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
            .mean_interval
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
    // 2 s is not absurd among times of seconds. It is absurd among milliseconds, although the mean is only five times the median.
    let slow = "n,v\na,1000\na,1500\na,2000\n";
    let stalled = format!("n,v\n{}a,2000\n", "a,1\n".repeat(500));
    for (text, expected) in [(slow, 0), (&stalled, 1)] {
        let groups = read(text, "id=n,value=v", &in_unit("ms")).unwrap().groups;
        assert_eq!(absurd(&groups[0]), expected, "{text}");
    }
}

/// Applies the filter and describes the remaining values, with the usual confidence level and thresholds.
fn clean(group: &IdGroup, filter: &SampleFilter) -> Vec<ValueSummary> {
    let interval = SourceInterval {
        confidence_level: 0.95,
        resamples: 2_000,
        seed: 42,
    };
    cleaned(group, filter, &interval, &Thresholds::default())
}
