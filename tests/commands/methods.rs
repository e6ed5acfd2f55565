//! `--method`: one word selects the conventions of a published system, on the command line or in Cargo.toml.
//!
//! The expected numbers were computed with `SciPy` and `NumPy` from the twelve values of each side.

use serde_json::Value;
use std::fmt::Write as _;

use crate::commands::crates::Crate;
use crate::support::{Finished, Machine};

pub const JSON: [&str; 2] = ["--message-format", "json"];
pub const BEFORE: [f64; 12] = [
    100.0, 101.5, 99.2, 100.7, 102.3, 98.9, 100.1, 101.1, 99.6, 130.0, 100.4, 100.9,
];
pub const AFTER: [f64; 12] = [
    101.9, 102.8, 100.3, 103.1, 101.2, 102.2, 104.0, 100.6, 103.5, 102.6, 101.7, 140.0,
];

pub const EACH_A_PROCESS: &str = "id=name,process=session,value=ns";
pub const ONE_PROCESS: &str = "id=name,value=ns";

/// Creates a workspace with both lists of values imported as the runs `before` and `after`. Each value counts as a process.
pub fn two_runs(machine: &Machine, tables: &str) -> Crate {
    imported(machine, tables, EACH_A_PROCESS)
}

fn imported(machine: &Machine, tables: &str, columns: &str) -> Crate {
    let made = Crate::of(machine, &["a"], tables);
    import(
        machine,
        &made,
        columns,
        &[("before", &BEFORE), ("after", &AFTER)],
    );
    made
}

fn import(machine: &Machine, made: &Crate, columns: &str, runs: &[(&str, &[f64])]) {
    for (name, values) in runs {
        let processes: Vec<&[f64]> = values.chunks(1).collect();
        import_processes(machine, made, columns, (name, &processes));
    }
}

pub fn import_processes(
    machine: &Machine,
    made: &Crate,
    columns: &str,
    (name, processes): (&str, &[&[f64]]),
) {
    let mut text = "name,session,ns\n".to_owned();
    for (session, values) in processes.iter().enumerate() {
        for value in *values {
            let _ = writeln!(text, "a,{session},{value}");
        }
    }
    let log = machine.home().join(format!("{name}.csv"));
    std::fs::write(&log, text).expect("a file in our own directory");
    made.perfcheck(machine, &["store", "import"])
        .arg(&log)
        .args(["--columns", columns])
        .args(["--unit", "ns", "--save-baseline", name])
        .run()
        .expect_code(0);
}

pub fn compare(machine: &Machine, made: &Crate, words: &str) -> Finished {
    made.perfcheck(
        machine,
        &["compare", "before", "after", "--fail-on", "none"],
    )
    .args(words.split_whitespace())
    .args(JSON)
    .run()
    .expect_code(0)
}

#[track_caller]
pub fn compared(finished: &Finished) -> Value {
    finished.messages("benchmark-compared").remove(0)
}

#[track_caller]
pub fn near(value: &Value, expected: f64, tolerance: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{found} is not {expected}"
    );
}

/// Returns each setting of a method with its name, its value and where the value comes from.
fn explained(machine: &Machine, made: &Crate, words: &str) -> Vec<[String; 3]> {
    let found = made
        .perfcheck(machine, &["compare", "before", "--explain"])
        .args(words.split_whitespace())
        .args(JSON)
        .run()
        .expect_code(0);
    let message = found.messages("method-explained").remove(0);
    let settings = message["settings"].as_array().expect("settings").clone();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    settings
        .iter()
        .map(|one| {
            [
                text(&one["setting"]),
                text(&one["value"]),
                text(&one["from"]),
            ]
        })
        .collect()
}

#[test]
fn n31_c13_c_x3_c_x4_m5_b19_each_system_decides_by_its_own_test_and_level() {
    let machine = Machine::new();
    let made = two_runs(&machine, "");
    let by = |method: &str| compared(&compare(&machine, &made, &format!("--method {method}")));
    // scipy.stats.mannwhitneyu(after, before, use_continuity=False, method="asymptotic") gives this p-value.
    let found = by("nbenchmark");
    near(&found["p_value"], 0.009_374_768_459_434_895, 1e-9);
    assert_eq!(found["decided_by"], "mann-whitney");
    assert_eq!(found["verdict"], "regressed");
    assert_eq!(found["noise_threshold"], 0.0);
    assert_eq!(found["significance_level"], 0.05);
    // scipy.stats.ttest_ind(after, before, equal_var=False) gives this p-value.
    let found = by("mmtests");
    near(&found["p_value"], 0.551_905_471_178_269_7, 1e-9);
    near(&found["tested"]["statistic"], 0.604_720_432_310_842, 1e-9);
    // With NumPy, 400,000 resamples of the pooled sides give a p-value of 0.6516. Two standard errors of 100,000 resamples are 0.003.
    let found = by("criterion");
    near(&found["p_value"], 0.6516, 0.008);
    near(&found["tested"]["statistic"], 0.604_720_432_310_842, 1e-9);
    assert_eq!(found["decided_by"], "pooled-t");
    assert_eq!(found["noise_threshold"], 0.01);
    // For a process with a single value, that value is the 95th percentile, so this is np.mean(after) / np.mean(before).
    let found = by("benchforge");
    near(&found["tested"]["statistic"], 1_263.9 / 1_234.7, 1e-12);
    assert_eq!(found["verdict"], "unchanged");
}

#[test]
fn s20_s_x5_s8_the_serializer_methodology_leaves_first_samples_and_outliers_out_of_all_of_a_row() {
    let machine = Machine::new();
    let made = imported(&machine, "", ONE_PROCESS);
    // The expected numbers leave out the first sample, and all values beyond 1.5 IQR from NumPy's quartiles. They are the p-value of
    // mannwhitneyu(after, before, use_continuity=True, method="asymptotic"), the change of the means, Hedges' g and Cliff's delta.
    let found = compared(&compare(&machine, &made, "--method serializer"));
    near(&found["p_value"], 0.009_108_496_398_030_965, 1e-9);
    let change = 0.017_219_070_369_264_51;
    near(&found["change"]["estimate"], change, 1e-9);
    near(&found["change_of_mean"]["estimate"], change, 1e-9);
    near(&found["effects"]["hedges_g"], 1.443_941_453_412_776_6, 1e-9);
    near(&found["effects"]["cliffs_delta"], 0.7, 1e-9);
    assert_eq!(found["tested"]["observations"], "filtered");
    // A pivot with the same filter gives the same numbers.
    let pivot = |words: &str| {
        let found = made
            .perfcheck(
                &machine,
                &["compare", "before", "after", "--method", "serializer"],
            )
            .args(words.split_whitespace())
            .args(JSON)
            .run()
            .expect_code(0);
        let cells = found.messages("pivot-row").remove(0)["cells"].clone();
        let cells = cells.as_array().expect("cells").clone();
        cells
            .into_iter()
            .rfind(|cell| cell["number"].is_number())
            .expect("a number")["number"]
            .clone()
    };
    let layout = "--pivot rows=id,cols=run,versus=first-column,value";
    near(
        &pivot(&format!("{layout}=hedges-g")),
        1.443_941_453_412_776_6,
        1e-9,
    );
    near(
        &pivot(&format!("{layout}=p-value")),
        0.009_108_496_398_030_965,
        1e-9,
    );
    // With `--observations samples`, all numbers of the row come from all samples, not only the p-value.
    let all = compared(&compare(
        &machine,
        &made,
        "--method serializer --observations samples",
    ));
    near(&all["p_value"], 0.010_193_104_991_108_252, 1e-9);
    near(&all["effects"]["hedges_g"], 0.238_363_114_330_522_3, 1e-9);
    near(&all["change"]["estimate"], 1_263.9 / 1_234.7 - 1.0, 1e-9);
    // The first comparison, which left samples out, shows the means of those that remained.
    let centers = &found["centers"];
    near(&centers["base"]["value_ns"], 100.47, 1e-12);
    near(&centers["candidate"]["value_ns"], 102.2, 1e-12);
    assert_eq!(
        (&centers["base"]["skipped"], &centers["base"]["removed"]),
        (&1.into(), &1.into())
    );
    // With one process, the 95th percentiles by nearest rank are the largest values.
    let found = compared(&compare(&machine, &made, "--method benchforge"));
    near(&found["tested"]["statistic"], 140.0 / 130.0, 1e-12);
    assert_eq!(found["verdict"], "regressed");
}

#[test]
fn a_flag_beside_a_method_changes_that_alone() {
    let machine = Machine::new();
    let made = two_runs(&machine, "");
    let words = "--method nbenchmark --rank-p asymptotic-cc --noise-threshold 3%";
    let found = compared(&compare(&machine, &made, words));
    near(&found["p_value"], 0.010_193_104_991_108_252, 1e-9);
    assert_eq!(found["noise_threshold"], 0.03);
    assert_ne!(found["verdict"], "regressed");
    let settings = explained(&machine, &made, words);
    for expected in [
        ["--test", "mann-whitney", "method"],
        ["--observations", "samples", "method"],
        ["--outliers", "iqr-unguarded", "method"],
        ["--center", "-", "default"],
        ["--rank-p", "asymptotic-cc", "flag"],
        ["--correction", "none", "method"],
        ["--noise-threshold", "0.03", "flag"],
        ["--significance-level", "0.05", "method"],
        ["thresholds.practical-effect", "0", "method"],
    ] {
        let expected = expected.map(str::to_owned);
        assert!(settings.contains(&expected), "{expected:?}: {settings:?}");
    }
}

#[test]
fn the_method_of_a_workspace_decides_where_neither_a_flag_nor_a_table_says_otherwise() {
    let machine = Machine::new();
    let tables =
        "[workspace.metadata.perfcheck]\nmethod = \"mmtests\"\nsignificance-level = 0.02\n";
    let made = two_runs(&machine, tables);
    let found = compared(&compare(&machine, &made, ""));
    assert_eq!(found["decided_by"], "welch");
    assert_eq!(found["significance_level"], 0.02);
    let settings = explained(&machine, &made, "");
    for expected in [
        ["--test", "welch", "method"],
        ["--quantile", "floor-rank", "method"],
        ["--significance-level", "0.02", "table"],
    ] {
        let expected = expected.map(str::to_owned);
        assert!(settings.contains(&expected), "{expected:?}: {settings:?}");
    }
    // The command line overrides all tables.
    let found = compared(&compare(&machine, &made, "--method nbenchmark"));
    assert_eq!(found["decided_by"], "mann-whitney");
    assert_eq!(found["significance_level"], 0.05);
    let bad = "[workspace.metadata.perfcheck]\nmethod = \"mtests\"\n";
    let bad = Crate::write(machine.home().join("bad"), &["a"], bad);
    let refused = bad
        .perfcheck(&machine, &["store", "runs"])
        .run()
        .expect_code(2);
    assert!(
        refused.stderr.contains("`mtests` is not one of nbenchmark"),
        "{refused}"
    );
}

#[test]
fn a_noise_threshold_goes_with_the_conventions_that_it_was_in_force_with() {
    let machine = Machine::new();
    let made = two_runs(&machine, "");
    let threshold = |tables: &str, words: &str| {
        Crate::write(made.root.clone(), &["a"], tables);
        compared(&compare(&machine, &made, words))["noise_threshold"].clone()
    };
    // The runs were stored without a method, so their own threshold applies.
    assert_eq!(threshold("", ""), 0.02);
    for (method, expected) in [("criterion", 0.01), ("mmtests", 0.0), ("serializer", 0.0)] {
        let table = format!("[workspace.metadata.perfcheck]\nmethod = \"{method}\"\n");
        assert_eq!(threshold(&table, ""), expected, "{method}");
        assert_eq!(threshold("", &format!("--method {method}")), expected);
        assert_eq!(threshold(&table, "--noise-threshold 3%"), 0.03);
        let said = format!("{table}noise-threshold = \"5%\"\n");
        assert_eq!(threshold(&said, ""), 0.05, "{method}");
        assert_eq!(threshold(&said, &format!("--method {method}")), expected);
    }
    // If runs were stored with a method, the tool's own procedure uses none of its conventions.
    let other = Machine::new();
    let table = "[workspace.metadata.perfcheck]\nmethod = \"mmtests\"\n";
    let made = two_runs(&other, table);
    let of = |made: &Crate| compared(&compare(&other, made, ""))["noise_threshold"].clone();
    assert_eq!(of(&made), 0.0);
    assert_eq!(of(&Crate::write(made.root.clone(), &["a"], "")), 0.02);
}

#[test]
fn a_pooled_test_of_many_samples_says_how_many_resamples_it_had() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let values = |shift: f64| -> Vec<f64> {
        (0..1_000)
            .map(|i| 100.0 + shift + f64::from(i % 17))
            .collect()
    };
    let (before, after) = (values(0.0), values(5.0));
    import(
        &machine,
        &made,
        ONE_PROCESS,
        &[("before", &before), ("after", &after)],
    );
    let words = "--test pooled-t --observations samples --resamples 50000";
    let found = compared(&compare(&machine, &made, words));
    // The limit of 40 million steps allows 20,000 resamples of 2,000 values.
    let expected = serde_json::json!({"note": "fewer-resamples", "drawn": 20_000});
    let notes = found["notes"].as_array().expect("a list");
    assert!(notes.contains(&expected), "{found}");
    assert_eq!(found["p_value"].as_f64(), Some(1.0 / 20_001.0));
    let few = "--test pooled-t --observations samples --resamples 2000";
    let found = compared(&compare(&machine, &made, few));
    assert!(
        !found["notes"].to_string().contains("fewer-resamples"),
        "{found}"
    );
}

#[test]
fn m5_m6_beside_several_runs_the_stars_are_those_of_welchs_test() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    // scipy.stats.ttest_ind(later, base, equal_var=False).pvalue is 0.0047. For `alike` it is 0.40, with means that differ by 0.7 %.
    let runs: [(&str, &[f64]); 3] = [
        ("base", &[100.0, 101.5, 99.2, 100.7, 102.3, 98.9]),
        ("alike", &[100.9, 101.9, 99.9, 101.2, 103.1, 99.6]),
        ("later", &[102.6, 103.1, 101.9, 104.0, 102.2, 103.3]),
    ];
    import(&machine, &made, EACH_A_PROCESS, &runs);
    let columns = [
        "compare",
        "base",
        "alike",
        "later",
        "--method",
        "mmtests",
        "--fail-on",
        "none",
    ];
    let found = made.perfcheck(&machine, &columns).args(JSON).run();
    let columns = found.messages("benchmark-columns").remove(0)["columns"].clone();
    near(&columns[1]["p_value"], 0.398_407_557_537_485_75, 1e-9);
    near(&columns[2]["p_value"], 0.004_721_535_529_990_539, 1e-9);
    let shown = made
        .perfcheck(
            &machine,
            &["compare", "base", "alike", "later", "--statistic", "mean"],
        )
        .args(["--method", "mmtests", "--fail-on", "none"])
        .run()
        .expect_code(0);
    let line = shown
        .stdout
        .lines()
        .find(|line| line.trim_start().starts_with("a "));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    // The means of the three runs are 100.43, 101.1 and 102.85 ns.
    assert!(
        line.contains("(  +0.66%)") && line.contains("*  +2.41%*"),
        "{shown}"
    );
}

/// Six processes of five skewed samples each: mean, median and percentiles of a process differ clearly.
#[test]
fn m5_m8_n29_n34_n_x3_n_x9_b19_c14_a_process_counts_by_its_own_mean_median_or_percentile() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let before: [&[f64]; 6] = [
        &[100.0, 100.9, 101.2, 108.5, 112.0],
        &[99.1, 100.2, 101.9, 103.3, 120.4],
        &[98.7, 99.9, 100.3, 107.7, 109.1],
        &[100.8, 101.0, 102.6, 104.4, 131.5],
        &[99.5, 100.6, 101.1, 106.2, 110.3],
        &[98.9, 100.1, 102.2, 103.9, 115.8],
    ];
    let after: [&[f64]; 6] = [
        &[103.1, 104.0, 105.5, 107.1, 118.9],
        &[102.2, 104.6, 104.9, 109.8, 111.1],
        &[104.3, 104.8, 106.0, 112.7, 140.2],
        &[101.9, 103.3, 104.1, 108.8, 113.3],
        &[103.6, 105.2, 106.8, 110.9, 122.4],
        &[102.8, 103.9, 105.1, 106.6, 117.0],
    ];
    for (name, processes) in [("before", &before), ("after", &after)] {
        import_processes(&machine, &made, EACH_A_PROCESS, (name, processes));
    }
    let by = |words: &str| compared(&compare(&machine, &made, words));
    // Welch's test compares the means of the processes, as ttest_ind of these means does. With the medians of the processes, the statistic would be
    // 7.5.
    let found = by("--test welch");
    near(&found["tested"]["statistic"], 2.788_020_115_011_550_4, 1e-9);
    near(&found["tested"]["p_value"], 0.022_505_438_662_833_29, 1e-9);
    near(
        &found["tested"]["degrees_of_freedom"],
        8.415_067_650_268_266,
        1e-9,
    );
    // mannwhitneyu(method="exact") of the medians is 2 / C(12, 6). For the means it would be 0.026.
    let found = by("--test mann-whitney");
    near(&found["tested"]["p_value"], 2.0 / 924.0, 1e-9);
    let found = by("--test mann-whitney --center mean");
    near(&found["tested"]["p_value"], 24.0 / 924.0, 1e-9);
    // Each process has a 95th percentile, by nearest rank. The statistic is the mean of these percentiles after the change, divided by their mean
    // before it. With 75th percentiles, it would be 1.03454.
    let found = by("--test p95-ratio");
    near(
        &found["tested"]["statistic"],
        1.034_043_770_562_151_5,
        1e-12,
    );
    // These are the changes of np.mean and np.median of all thirty samples.
    near(
        &found["change_of_mean"]["estimate"],
        0.035_899_557_620_699_52,
        1e-9,
    );
    near(
        &found["change_of_median"]["estimate"],
        0.037_419_990_152_633_975,
        1e-9,
    );
}

#[test]
fn an_explained_method_is_a_table_and_needs_a_method() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let shown = made.perfcheck(&machine, &["--method", "criterion", "--explain"]);
    let shown = shown.run().expect_code(0);
    for line in [
        "Criterion: pooled bootstrap",
        "--test                              pooled-t",
        "--noise-threshold                   0.01",
    ] {
        assert!(shown.stdout.contains(line), "{line}:\n{shown}");
    }
    let refused = made
        .perfcheck(&machine, &["--explain"])
        .run()
        .expect_code(2);
    assert!(refused.stderr.contains("--method nbenchmark"), "{refused}");
    // The command failed before it measured anything.
    let runs = made
        .perfcheck(&machine, &["store", "runs"])
        .args(JSON)
        .run();
    assert!(runs.messages("run").is_empty(), "{runs}");
}

#[test]
fn n32_only_a_p_below_five_percent_is_significant_unless_alpha_says_otherwise() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let before = [100.1, 100.4, 100.2, 100.6, 100.3];
    // Five and five values have 252 orders. If two pairs of values are exchanged, mannwhitneyu(method="exact") gives p = 2 (1 + 1 + 2) / 252. If
    // three pairs are exchanged, it gives p = 2 (1 + 1 + 2 + 3) / 252.
    let two = [100.35, 100.7, 100.8, 100.9, 101.0];
    let three = [100.25, 100.7, 100.8, 100.9, 101.0];
    import(&machine, &made, EACH_A_PROCESS, &[("before", &before)]);
    let said = |name: &str, words: &str| {
        let found = made
            .perfcheck(&machine, &["compare", "before", name, "--fail-on", "none"])
            .args(["--test", "mann-whitney"])
            .args(words.split_whitespace())
            .args(JSON)
            .run()
            .expect_code(0);
        let tested = compared(&found)["tested"].clone();
        let word = tested["significance"].as_str().map(str::to_owned);
        (tested["p_value"].clone(), word.unwrap_or_default())
    };
    let runs: [(&str, &[f64]); 2] = [("two", &two), ("three", &three)];
    import(&machine, &made, EACH_A_PROCESS, &runs);
    for (name, words, p, expected) in [
        ("two", "", 8.0 / 252.0, "significant"),
        ("two", "--alpha 3%", 8.0 / 252.0, "not-significant"),
        ("three", "", 14.0 / 252.0, "not-significant"),
        ("three", "--alpha 6%", 14.0 / 252.0, "significant"),
    ] {
        let (found, word) = said(name, words);
        near(&found, p, 1e-12);
        assert_eq!(word, expected, "{name} {words}");
    }
    // Test with a level equal to p, and with the next larger number. Only p-values below the level are significant.
    let p = said("two", "").0.as_f64().expect("p");
    for (level, expected) in [(p, "not-significant"), (p.next_up(), "significant")] {
        assert_eq!(said("two", &format!("--alpha {level}")).1, expected);
    }
}
