//! Comparisons of tables of whole nanoseconds, in which many values are equal. Expected numbers were computed with `SciPy` and `NumPy`. For the
//! expected bounds of intervals, `np.interp` interpolates between the mid-ranks of all differences.

use crate::commands::crates::Crate;
use crate::commands::methods::{
    AFTER, BEFORE, JSON, ONE_PROCESS, compare, compared, import_processes, near,
};
use crate::support::Machine;

/// Returns the numbers in the last cell of a pivot that has only one row.
fn pivot(machine: &Machine, made: &Crate, words: &str) -> Vec<f64> {
    let found = made
        .perfcheck(machine, &["compare"])
        .args(words.split_whitespace())
        .args(JSON)
        .run()
        .expect_code(0);
    let rows = found.messages("pivot-row");
    assert_eq!(rows.len(), 1, "{found}");
    let cells = rows[0]["cells"].as_array().expect("a list");
    let column = |cell: &serde_json::Value| cell["column"].clone();
    let last = cells.last().map(column).expect("a cell");
    let of_last = cells.iter().filter(|cell| column(cell) == last);
    of_last
        .map(|cell| cell["number"].as_f64().unwrap_or(f64::NAN))
        .collect()
}

/// Returns samples in which each time occurs the given number of times.
fn samples(counts: &[(f64, usize)]) -> Vec<f64> {
    let each = counts.iter().copied();
    each.flat_map(|(time, count)| std::iter::repeat_n(time, count))
        .collect()
}

/// Imports two runs of 200 samples: one with 12 ns on average, the other with 2.4 % more.
fn imported(machine: &Machine) -> Crate {
    let made = Crate::of(machine, &["a"], "");
    let before = [(10.0, 14), (11.0, 48), (12.0, 76), (13.0, 48), (14.0, 14)];
    let after = [
        (10.0, 8),
        (11.0, 38),
        (12.0, 72),
        (13.0, 56),
        (14.0, 22),
        (15.0, 4),
    ];
    for (name, counts) in [("before", &before[..]), ("after", &after[..])] {
        import_processes(machine, &made, ONE_PROCESS, (name, &[&samples(counts)]));
    }
    made
}

#[test]
fn n29_n32_s20_a_difference_of_whole_nanoseconds_that_a_test_finds_is_called_and_has_an_interval() {
    let machine = Machine::new();
    let made = imported(&machine);
    let found = compared(&compare(&machine, &made, "--method nbenchmark"));
    // scipy.stats.mannwhitneyu(after, before, use_continuity=False, method="asymptotic") gives this p-value.
    near(&found["p_value"], 0.011_089_034_135_058_531, 1e-9);
    assert_eq!(found["verdict"], "regressed");
    near(&found["change"]["lower"], 0.005_426_939_848_272_896, 1e-9);
    near(&found["change"]["estimate"], 0.023_768_556_005_398_11, 1e-9);
    near(&found["change"]["upper"], 0.042_110_172_162_523_32, 1e-9);
    let shift = &found["effects"]["shift_ns"];
    near(&shift["estimate"], 12.0 * 0.023_768_556_005_398_11, 1e-9);
    assert!(shift["lower"].as_f64() < shift["upper"].as_f64(), "{shift}");

    // The p-value comes from mannwhitneyu with use_continuity=True, and the change compares the means. Both are checked first for the samples within
    // the fence, then for all samples.
    let found = compared(&compare(&machine, &made, "--method serializer"));
    near(&found["p_value"], 0.003_510_060_426_189_156, 1e-9);
    assert_eq!(found["verdict"], "regressed");
    near(
        &found["change"]["estimate"],
        0.026_622_451_704_798_378,
        1e-9,
    );
    let words = "--method serializer --observations samples";
    let found = compared(&compare(&machine, &made, words));
    near(&found["p_value"], 0.011_103_330_168_974_522, 1e-9);
    assert_eq!(found["verdict"], "regressed");
    near(&found["change"]["estimate"], 0.024_166_666_666_666_67, 1e-9);

    // These are the results of the default for tables that do not distinguish processes, first with the noise threshold of stored runs, then without
    // one.
    let found = compared(&compare(&machine, &made, ""));
    assert_eq!(found["decided_by"], "mann-whitney");
    near(&found["p_value"], 0.011_103_330_168_974_522, 1e-9);
    assert_eq!(found["verdict"], "inconclusive");
    near(&found["change"]["lower"], 0.005_422_722_574_318_781, 1e-9);
    let found = compared(&compare(
        &machine,
        &made,
        "--noise-threshold 0 --test mann-whitney --observations samples",
    ));
    near(&found["change"]["upper"], 0.042_114_389_436_477_44, 1e-9);
}

#[test]
fn without_a_noise_threshold_what_is_not_significant_is_inconclusive_and_constants_are_unchanged() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let alike = [(11.0, 50), (12.0, 100), (13.0, 50)];
    for name in ["before", "after"] {
        import_processes(&machine, &made, ONE_PROCESS, (name, &[&samples(&alike)]));
    }
    for method in ["nbenchmark", "serializer"] {
        let found = compared(&compare(&machine, &made, &format!("--method {method}")));
        assert_eq!(found["p_value"], 1.0, "{method}");
        assert_eq!(found["verdict"], "inconclusive", "{method}");
    }
    let other = Machine::new();
    let made = Crate::of(&other, &["a"], "");
    for name in ["before", "after"] {
        import_processes(&other, &made, ONE_PROCESS, (name, &[&[12.0; 200]]));
    }
    let found = compared(&compare(&other, &made, "--method nbenchmark"));
    assert_eq!(found["verdict"], "unchanged");
}

#[test]
fn n17_b7_m_x7_a_percentile_is_the_same_number_in_pivots_columns_and_show_by_any_definition() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let values: Vec<f64> = (0..120)
        .map(|i| f64::from(1000 + 7 * ((i * 37) % 120) + i % 3))
        .collect();
    for name in ["before", "after"] {
        import_processes(&machine, &made, ONE_PROCESS, (name, &[&values]));
    }
    // The expected percentiles are np.percentile(values, q) with method="inverted_cdf" and with "linear", and the value of rank int(n q / 100).
    let expected = [
        ("", [1793.0, 1827.0, 1835.0]),
        ("--quantile inverted-cdf", [1793.0, 1827.0, 1835.0]),
        ("--quantile linear", [1793.25, 1825.48, 1834.048]),
        ("--quantile floor-rank", [1793.0, 1819.0, 1827.0]),
        ("--method mmtests", [1793.0, 1819.0, 1827.0]),
    ];
    for (words, expected) in expected {
        let layout = "before --pivot rows=id,cols=run,value=p95+p99+p99.9";
        let found = pivot(&machine, &made, &format!("{layout} {words}"));
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{words}: {found}");
        }
        let columns = made
            .perfcheck(&machine, &["compare", "before", "after"])
            .args(["--statistic", "p99.9", "--fail-on", "none"])
            .args(words.split_whitespace())
            .args(JSON)
            .run()
            .expect_code(0);
        let text = columns.stdout.clone();
        assert!(
            text.contains(&format!("{:?}", expected[2])),
            "{words}: {text}"
        );
    }
    let shown = made
        .perfcheck(&machine, &["show", "before", "--stats"])
        .args(JSON)
        .run()
        .expect_code(0);
    let found = &shown.messages("benchmark-statistics")[0]["statistics"]["of_samples"];
    near(&found["percentiles_ns"]["p95"], 1793.0, 0.0);
    near(&found["percentiles_ns"]["p99"], 1827.0, 0.0);
}

#[test]
fn n31_s17_the_p_of_a_pivot_is_found_and_corrected_as_it_is_asked_for() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    for (name, values) in [("before", &BEFORE), ("after", &AFTER)] {
        import_processes(&machine, &made, ONE_PROCESS, (name, &[values]));
    }
    let p = |words: &str| {
        let layout = "before after --pivot rows=id,cols=run,versus=first-column,value=p-value";
        let found = pivot(&machine, &made, &format!("{layout} {words}"));
        found.last().copied().expect("a cell")
    };
    // The expected p-values are those of mannwhitneyu(after, before, method="asymptotic"), without and with continuity correction. They use all
    // samples, even if the preset leaves some out of summaries.
    for (words, expected) in [
        ("--rank-p asymptotic", 0.009_374_768_459_434_895),
        ("--method nbenchmark", 0.009_374_768_459_434_895),
        ("--correction none", 0.010_193_104_991_108_252),
    ] {
        assert!((p(words) - expected).abs() < 1e-12, "{words}: {}", p(words));
    }
    let refused = made
        .perfcheck(&machine, &["compare", "before", "--group-by", "a"])
        .args(["--quantile", "linear"])
        .run()
        .expect_code(2);
    assert!(refused.stderr.contains("cannot be used with"), "{refused}");
}
