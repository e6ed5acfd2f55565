//! Tests of those rows of docs/internals/src/systems.md that no other file covers, through the command line. Expected numbers were computed with
//! `NumPy` and `SciPy`.

#![expect(clippy::format_push_string, reason = "texts of tests are short")]

use serde_json::Value;

use crate::commands::crates::Crate;
use crate::commands::methods::{
    AFTER, BEFORE, EACH_A_PROCESS, JSON, ONE_PROCESS, compare, compared, import_processes, near,
    two_runs,
};
use crate::support::Machine;

/// Returns the statistics of the only benchmark of a run.
fn statistics(machine: &Machine, made: &Crate, words: &str) -> Value {
    let shown = made
        .perfcheck(machine, &["show", "--stats"])
        .args(words.split_whitespace())
        .args(JSON)
        .run()
        .expect_code(0);
    shown.messages("benchmark-statistics").remove(0)["statistics"].clone()
}

/// Returns the number `member` of the diagnostic `kind`, or `None` if there is no such diagnostic.
fn diagnostic(statistics: &Value, kind: &str, member: &str) -> Option<Value> {
    let all = statistics["diagnostics"].as_array().expect("a list");
    let found = all.iter().find(|one| one["diagnostic"] == kind)?;
    Some(found[member].clone())
}

#[test]
fn n8_n12_n13_fences_by_nearest_rank_keep_what_lies_on_them_in_any_order() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    // np.percentile([1..20, y], [25, 75], method="inverted_cdf") are 6 and 16, so the fences are at -9 and 31.
    for (name, last, removed) in [("on", 31.0, 0), ("beyond", 31.0001, 1)] {
        let mut values: Vec<f64> = (1..=20).map(f64::from).collect();
        values.push(last);
        let shuffled: Vec<f64> = (0..21).map(|i| values[i * 8 % 21]).collect();
        let mut found = Vec::new();
        for (order, values) in [("sorted", &values), ("shuffled", &shuffled)] {
            let name = format!("{name}-{order}");
            import_processes(&machine, &made, ONE_PROCESS, (&name, &[values]));
            let words = format!("{name} --outliers iqr --quantile inverted-cdf");
            found.push(statistics(&machine, &made, &words)["of_samples"].clone());
        }
        assert_eq!(found[0]["removed"], removed, "{name}");
        assert_eq!(found[0], found[1], "{name}");
        let max = if removed == 0 { last } else { 20.0 };
        near(&found[0]["max_ns"], max, 0.0);
    }
}

#[test]
fn s5_s6_s7_d9_d10_a_filter_of_few_samples_or_without_spread_leaves_everything() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let nine: Vec<f64> = (1..=8).map(f64::from).chain([900.0]).collect();
    let mut flat = vec![5.0; 9];
    flat.push(1000.0);
    for (name, values, policy) in [
        ("nine", &nine[..], "iqr"),
        ("flat", &flat[..], "iqr"),
        ("one", &[7.0][..], "top5"),
    ] {
        import_processes(&machine, &made, ONE_PROCESS, (name, &[values]));
        let found = statistics(&machine, &made, &format!("{name} --outliers {policy}"));
        let found = &found["of_samples"];
        assert_eq!(
            (&found["removed"], &found["used"]),
            (&0.into(), &values.len().into())
        );
    }
    // With ten samples, the fence applies and removes the outlier.
    let ten: Vec<f64> = nine.iter().copied().chain([4.5]).collect();
    import_processes(&machine, &made, ONE_PROCESS, ("ten", &[&ten]));
    let found = statistics(&machine, &made, "ten --outliers iqr");
    assert_eq!(found["of_samples"]["removed"], 1);
}

#[test]
fn n26_n_x8_b14_processes_have_a_median_without_a_distribution_and_a_mean_by_student() {
    let machine = Machine::new();
    let made = two_runs(&machine, "");
    let found = statistics(&machine, &made, "before");
    // The bounds are the third and the tenth of twelve values, which cover the median with a probability of 1 - 2 binom.cdf(2, 12, 1/2).
    near(&found["median_of_processes_ns"]["lower"], 99.6, 1e-12);
    near(&found["median_of_processes_ns"]["upper"], 101.5, 1e-12);
    near(&found["median_coverage"], 0.961_425_781_25, 1e-12);
    // The coefficient of variation is np.std(ddof=1) / np.mean.
    near(&found["cv"], 0.083_497_183_946_255_84, 1e-9);
    // With six processes, the interval is a t interval of logarithms: np.mean times exp(-+ t.ppf(.975, 5) e). Here e^2 = 5/6 sum (ln v - mean ln
    // v)^2, where v is each of the six means that leave out one value.
    let means = [104.52, 104.98, 103.14, 108.06, 103.54, 104.18];
    let means: Vec<&[f64]> = means.iter().map(std::slice::from_ref).collect();
    import_processes(&machine, &made, EACH_A_PROCESS, ("six", &means));
    let found = statistics(&machine, &made, "six");
    near(&found["mean_ns"]["lower"], 102.905_085_499_427_27, 1e-9);
    near(&found["mean_ns"]["upper"], 106.600_847_676_332_78, 1e-9);
}

#[test]
fn n30_n_x4_n_x11_n_x12_s17_s18_effects_are_told_with_what_was_tested() {
    let machine = Machine::new();
    let made = two_runs(&machine, "");
    let found = compared(&compare(&machine, &made, "--test mann-whitney"));
    // The statistic is min(U1, U2). mannwhitneyu(after, before).statistic is 117, and Cliff's delta is 2 * 117 / 144 - 1.
    near(&found["tested"]["statistic"], 144.0 - 117.0, 0.0);
    let effects = &found["effects"];
    near(&effects["cliffs_delta"], 0.625, 1e-12);
    assert_eq!(effects["label"], "large");
    // The shift is np.median of all 144 differences. Hedges' g is the difference of the means in pooled standard deviations, times
    // 1 - 3 / (4 x 22 - 1).
    near(&effects["shift_ns"]["estimate"], 1.75, 1e-9);
    near(&effects["hedges_g"], 0.238_363_114_330_522_3, 1e-9);
    // The paired change is exp of the mean of ln(after / before), process by process, minus 1. Its bounds are t.ppf(.975, 11) standard errors away
    // from that mean.
    near(
        &effects["paired_change"]["estimate"],
        0.022_200_763_368_127_107,
        1e-9,
    );
    near(
        &effects["paired_change"]["lower"],
        -0.053_883_549_935_086_796,
        1e-9,
    );
    near(
        &effects["paired_change"]["upper"],
        0.104_403_586_428_171_23,
        1e-9,
    );
    // The two sides must have different numbers, so that this test would find a mix-up.
    assert_ne!(BEFORE, AFTER);
}

#[test]
fn m_x1_m_x2_intervals_that_overlap_are_no_difference() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let before = [104.52, 104.98, 103.14, 108.06, 103.54, 104.18];
    let after = [107.72, 106.52, 113.6, 106.28, 109.78, 107.08];
    for (name, means) in [("before", before), ("after", after)] {
        let processes: Vec<&[f64]> = means.iter().map(std::slice::from_ref).collect();
        import_processes(&machine, &made, EACH_A_PROCESS, (name, &processes));
    }
    let found = compared(&compare(&machine, &made, "--test interval"));
    // The statistic is the difference of the means divided by the sum of both margins, each of which is t.ppf(.975, 5) s / sqrt(6).
    near(&found["tested"]["statistic"], 0.786_651_977_212_154_7, 1e-9);
    assert_eq!(found["tested"]["significance"], "not-significant");
    // At a level of 20 %, the margins are t.ppf(.9, 5) standard errors, and the same means are significantly different.
    let found = compared(&compare(&machine, &made, "--test interval --alpha 20%"));
    near(
        &found["tested"]["statistic"],
        0.786_651_977_212_154_7 * 2.570_581_835_636_314 / 1.475_884_048_824_481_6,
        1e-9,
    );
    assert_eq!(found["tested"]["significance"], "significant");
}

#[test]
fn n_x2_n_x13_n_x14_n_x20_what_order_and_spread_say_is_a_diagnostic_with_its_number() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let swing = |i: i32| f64::from(i * 7 % 5 - 2);
    let around = |centre: f64| -> Vec<f64> { (0..60).map(|i| centre + 0.5 * swing(i)).collect() };
    let (low, high) = (around(100.0), around(110.0));
    import_processes(&machine, &made, EACH_A_PROCESS, ("apart", &[&low, &high]));
    let found = statistics(&machine, &made, "apart");
    // The ratio is np.std of both processes' medians divided by the mean of both standard errors.
    let ratio = diagnostic(&found, "processes-differ", "ratio").expect("they differ");
    near(&ratio, 76.811_457_478_686_1, 1e-9);
    assert_eq!(diagnostic(&found, "drifts", "change"), None);
    let drifting: Vec<f64> = (0..60)
        .map(|i| 100.0 + 0.5 * f64::from(i) + 0.25 * swing(i))
        .collect();
    import_processes(&machine, &made, ONE_PROCESS, ("drifting", &[&drifting]));
    let found = statistics(&machine, &made, "drifting");
    let number = |kind, member| diagnostic(&found, kind, member).expect(kind);
    near(
        &number("dependent", "autocorrelation"),
        0.945_258_501_520_597_2,
        1e-9,
    );
    // The p-value comes from mannwhitneyu, which compares the first half of the samples with the second. The drift is the mean of the second half
    // divided by the mean of the first half, minus 1.
    near(
        &number("halves-differ", "p_value"),
        3.338_388_820_428_8e-11,
        1e-6,
    );
    near(&number("drifts", "change"), 0.139_860_139_860_139_8, 1e-9);
    let slow: Vec<f64> = low
        .iter()
        .copied()
        .chain([200.0, 201.0, 199.0, 200.5, 199.5])
        .collect();
    import_processes(&machine, &made, ONE_PROCESS, ("slow", &[&slow]));
    let found = statistics(&machine, &made, "slow");
    let number = |member| diagnostic(&found, "slow-cluster", member).expect("a second speed");
    assert_eq!(number("samples"), 5);
    near(&number("share"), 5.0 / 65.0, 1e-12);
    near(&number("times_median"), 2.0, 1e-12);
}

#[test]
fn m4_m_x9_m_x14_rates_have_a_harmonic_mean_and_its_deviation() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let log = machine.home().join("rates.csv");
    std::fs::write(&log, "name,session,rate\na,0,100\na,1,110\na,2,90\n").expect("our own file");
    let import = |name: &str| {
        made.perfcheck(&machine, &["store", "import"])
            .arg(&log)
            .args(["--columns", "id=name,process=session,value=rate"])
            .args(["--unit", "ops/s", "--save-baseline", name])
            .run()
    };
    import("rates").expect_code(0);
    import("again").expect_code(0);
    let value = |statistic: &str| {
        let words = [
            "compare",
            "rates",
            "again",
            "--fail-on",
            "none",
            "--statistic",
            statistic,
        ];
        let found = made.perfcheck(&machine, &words).args(JSON).run();
        found.messages("benchmark-columns").remove(0)["columns"][0]["statistics"][0]["value"]
            .clone()
    };
    near(&value("mean"), 99.331_103_678_929_76, 1e-9);
    near(&value("std-dev"), 8.151_026_747_970_235, 1e-9);
    // A rate of zero has no harmonic mean, so it is refused as a measurement.
    std::fs::write(&log, "name,session,rate\na,0,100\na,1,0\n").expect("our own file");
    let refused = import("nothing").expect_code(2);
    assert!(refused.stderr.contains("rates.csv:3"), "{refused}");
}

#[test]
fn b_x5_a_variation_up_to_five_percent_is_stable_and_the_thresholds_say_from_where_on() {
    // The deviation of 100 - d, 100 and 100 + d is d: sqrt((d^2 + d^2) / 2).
    let around = |d: f64| [100.0 - d, 100.0, 100.0 + d];
    let told = |tables: &str, deviation: f64| {
        let machine = Machine::new();
        let made = Crate::of(&machine, &["a"], tables);
        let values = around(deviation);
        import_processes(&machine, &made, ONE_PROCESS, ("a", &[&values]));
        let found = statistics(&machine, &made, "a");
        near(&found["cv"], deviation / 100.0, 1e-12);
        let text = made.perfcheck(&machine, &["show", "a", "--stats"]).run();
        let (_, rest) = text.stdout.split_once("CV ").expect("a line with CV");
        let line = rest.lines().next().unwrap_or_default().trim().to_owned();
        (found["variability"].as_str().map(str::to_owned), line)
    };
    let own = "[workspace.metadata.perfcheck.thresholds]\ncv-stable = 0.15\ncv-high = 0.2\n";
    for (tables, deviation, word, line) in [
        ("", 4.9, "stable", "4.90 %, stable"),
        ("", 5.1, "ordinary", "5.10 %"),
        ("", 49.0, "ordinary", "49.00 %"),
        ("", 51.0, "high", "51.00 %, very variable"),
        (own, 14.0, "stable", "14.00 %, stable"),
        (own, 16.0, "ordinary", "16.00 %"),
        (own, 21.0, "high", "21.00 %, very variable"),
    ] {
        let expected = (Some(word.to_owned()), line.to_owned());
        assert_eq!(told(tables, deviation), expected, "{tables}{deviation}");
    }
}

#[test]
fn n24_the_ranks_that_bound_a_median_of_many_follow_the_normal_quantile() {
    // The values are a permutation of 1 to 2500, so a bound equals its rank. With sqrt 2500 = 50, the ranks are floor(1250 - 25 z) and ceil(1251 + 25
    // z), where z is norm.ppf((1 + level) / 2). For the four levels, z is 1.6448536, 1.9599640, 2.5758293 and 3.2905267. So 1250 - 25 z is 1208.88,
    // 1201.0009, 1185.60 and 1167.74.
    let values: Vec<f64> = (0..2_500)
        .map(|i| f64::from(i * 1_237 % 2_500 + 1))
        .collect();
    let processes: Vec<&[f64]> = values.chunks(1).collect();
    for (level, lower) in [
        ("90%", 1_208),
        ("95%", 1_201),
        ("99%", 1_185),
        ("99.9%", 1_167),
    ] {
        let machine = Machine::new();
        let tables = format!(
            "[workspace.metadata.perfcheck]\nconfidence-level = \"{level}\"\nresamples = 1000\n"
        );
        let made = Crate::of(&machine, &["a"], &tables);
        import_processes(&machine, &made, EACH_A_PROCESS, ("many", &processes));
        let found = statistics(&machine, &made, "many");
        let median = &found["median_of_processes_ns"];
        near(&median["estimate"], 1_250.5, 1e-12);
        near(&median["lower"], f64::from(lower), 1e-12);
        near(&median["upper"], f64::from(2_501 - lower), 1e-12);
    }
}

#[test]
fn n12_n20_n21_the_error_of_a_trimmed_mean_is_that_of_the_system_that_is_asked_for() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    import_processes(&machine, &made, ONE_PROCESS, ("before", &[&BEFORE]));
    // 130 is beyond the fence, so 11 values are left. Their standard error is np.std(ddof=1) / sqrt(11), and the margin is st.t.ppf(.975, 10) times
    // as much.
    let of =
        |words: &str| statistics(&machine, &made, &format!("before {words}"))["of_samples"].clone();
    let found = of("--method nbenchmark");
    assert_eq!((&found["removed"], &found["used"]), (&1.into(), &11.into()));
    near(&found["mean_ns"]["estimate"], 100.427_272_727_272_74, 1e-12);
    near(&found["std_err_ns"], 0.304_837_038_160_900_9, 1e-9);
    near(&found["margin_ns"], 0.679_219_248_250_725_8, 1e-9);
    near(&found["mean_ns"]["upper"], 101.106_491_975_523_47, 1e-9);
    // Yuen's standard error allows for the removed value, so it is larger.
    let yuen = of("--method nbenchmark --trimmed-error winsorized");
    assert!(yuen["std_err_ns"].as_f64() > found["std_err_ns"].as_f64());
    assert_eq!(
        of("--outliers iqr-unguarded --quantile inverted-cdf --trimmed-error plain"),
        found
    );
    // The quartiles are equal, and NBenchmark's fence has no guard for this case.
    let mut flat = vec![5.0; 7];
    flat.push(9.0);
    import_processes(&machine, &made, ONE_PROCESS, ("flat", &[&flat]));
    for (words, removed) in [("--method nbenchmark", 1), ("--outliers iqr", 0)] {
        let found = statistics(&machine, &made, &format!("flat {words}"));
        assert_eq!(found["of_samples"]["removed"], removed, "{words}");
    }
}

#[test]
fn c14_under_the_preset_of_criterion_the_changes_of_mean_and_median_are_printed() {
    let machine = Machine::new();
    let made = two_runs(&machine, "");
    let text = |words: &str| {
        let compared = made
            .perfcheck(
                &machine,
                &["compare", "before", "after", "--fail-on", "none"],
            )
            .args(words.split_whitespace());
        compared.run().expect_code(0).stdout
    };
    // The changes are those of np.mean and np.median from `before` to `after`: 1263.9 / 1234.7 and 102.4 / 100.55.
    let printed = text("--method criterion");
    assert!(
        printed.contains("a: the mean changed by +2.36 % [")
            && printed.contains("], the median by +1.84 % ["),
        "{printed}"
    );
    assert!(!text("").contains("the mean changed by"));
}

#[test]
fn c10_c11_under_the_preset_of_criterion_intervals_of_few_processes_are_bootstrapped() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    import_processes(
        &machine,
        &made,
        EACH_A_PROCESS,
        ("few", &[&[100.0], &[104.0], &[102.0]]),
    );
    let of = |words: &str| {
        let shown = made
            .perfcheck(&machine, &["show", "few", "--stats"])
            .args(words.split_whitespace())
            .args(JSON)
            .run()
            .expect_code(0);
        shown.messages("benchmark-statistics").remove(0)["statistics"].clone()
    };
    assert_eq!(of("")["intervals"], "t");
    let found = of("--method criterion");
    assert_eq!(found["intervals"], "bootstrap");
    // The bounds are means of three draws with replacement from 100, 102 and 104. In 1 of 27 cases, all three draws are the smallest value.
    near(&found["mean_ns"]["lower"], 100.0, 1e-9);
    near(&found["mean_ns"]["upper"], 104.0, 1e-9);
}

#[test]
fn m4_m5_welch_tests_the_harmonic_means_of_rates() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let rates = [
        ("before", [100.0, 110.0, 90.0, 105.0, 95.0]),
        ("after", [108.0, 118.0, 99.0, 116.0, 104.0]),
    ];
    for (name, rates) in rates {
        let mut text = "name,session,ops\n".to_owned();
        for (session, rate) in rates.iter().enumerate() {
            text += &format!("a,{session},{rate}\n");
        }
        let log = machine.home().join(format!("{name}.csv"));
        std::fs::write(&log, text).expect("a file in our own directory");
        made.perfcheck(&machine, &["store", "import"])
            .arg(&log)
            .args(["--columns", "id=name,process=session,value=ops"])
            .args(["--unit", "ops/s", "--save-baseline", name])
            .run()
            .expect_code(0);
    }
    // The reference is st.ttest_ind_from_stats with equal_var=False. It gets st.hmean of each side, and mmtests' deviation of that mean times
    // sqrt(5 / 4).
    let found = compared(&compare(&machine, &made, "--method mmtests"));
    near(&found["tested"]["statistic"], 1.794_223_208_885_124_9, 1e-6);
    near(&found["p_value"], 0.110_530_192_745_291, 1e-6);
    near(
        &found["change"]["estimate"],
        99.498_239_303_580_35 / 108.528_330_031_924_33 - 1.0,
        1e-6,
    );
    assert_eq!(found["verdict"], "inconclusive");
}

#[test]
fn n29_the_median_of_whole_nanoseconds_has_an_interval_of_ranks_and_a_point_says_so() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let six: &[f64] = &[5.0, 6.0, 7.0, 5.0, 6.0, 7.0];
    import_processes(&machine, &made, ONE_PROCESS, ("one", &[six]));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = |run: &str| {
        let shown = made.perfcheck(&machine, &["show", run, "--stats"]);
        shown.run().expect_code(0).stdout
    };
    // The extremes of six values contain the median with a probability of 1 - 2 / 64. scipy.stats.binom.cdf(0, 6, .5) is 1 / 64.
    let one = words(&text("one"));
    assert!(
        one.contains("6.000 ns [5.000 ns, 7.000 ns] 96.9 % rank interval, for any distribution"),
        "{one}"
    );
    let runs: [&[f64]; 4] = [six; 4];
    import_processes(&machine, &made, EACH_A_PROCESS, ("many", &runs));
    let many = words(&text("many"));
    let point = "6.000 ns [6.000 ns, 6.000 ns] 95 % t interval; a single point, because the samples have few distinct values";
    assert!(many.contains(&format!("median {point}")), "{many}");
    // With only four processes, these intervals would not cover the true value as often as they should.
    for said in [
        "mean, BCa - needs at least 50 processes for a 95 % interval",
        "std dev 834.1 ps too few processes or samples for a 95 % interval",
        "MAD (scaled) 1.483 ns too few processes or samples for a 95 % interval",
    ] {
        assert!(many.contains(said), "no {said:?} in {many}");
    }
}

#[test]
fn what_takes_nothing_any_more_is_improved_by_the_default_test_as_by_those_of_the_systems() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let some: [&[f64]; 5] = [
        &[6.0, 6.1],
        &[5.9, 6.0],
        &[6.2, 6.1],
        &[6.0, 6.0],
        &[5.8, 6.0],
    ];
    let none: [&[f64]; 5] = [&[0.0, 0.0]; 5];
    import_processes(&machine, &made, EACH_A_PROCESS, ("before", &some));
    import_processes(&machine, &made, EACH_A_PROCESS, ("after", &none));
    for words in ["", "--method nbenchmark", "--method criterion"] {
        let found = compared(&compare(&machine, &made, words));
        assert_eq!(found["verdict"], "improved", "{words}: {found}");
        // The shift of a rank test is relative to the median of the base, around which its values vary.
        near(&found["change"]["estimate"], -1.0, 0.01);
    }
}
