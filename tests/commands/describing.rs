//! `show --stats` with one process, with outlier policies and with several processes, checked against `NumPy` and `SciPy`
//! (`crates/stats/tests/systems/reference.py`, `described`).

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::commands::scripted::stored;
use crate::support::{Finished, Machine};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns the reference values that `NumPy` and `SciPy` computed for `subject`.
fn reference(subject: &str) -> Value {
    let text = include_str!("../../crates/stats/tests/systems/reference.json");
    let mut all: Value = serde_json::from_str(text).expect("reference.json");
    all[subject].take()
}

/// Returns sets of samples, each with the description that `NumPy` and `SciPy` computed for it.
fn references() -> Vec<Value> {
    match reference("described") {
        Value::Array(sets) => sets,
        other => panic!("no sets: {other}"),
    }
}

/// Imports all sets as one run, in which each set is a benchmark.
fn imported(machine: &Machine, sets: &[Value]) {
    let mut table = "name,process,ns\n".to_owned();
    for set in sets {
        let processes = set["processes"].as_array().expect("processes");
        for (process, values) in processes.iter().enumerate() {
            for value in values.as_array().expect("values") {
                writeln!(table, "{},{process},{value}", text(&set["name"])).expect("a string");
            }
        }
    }
    let file = machine.home().join("sets.csv");
    std::fs::write(&file, table).expect("a file in our own directory");
    let columns = "id=name,process=process,value=ns";
    stored(machine, &["store", "import"])
        .arg(&file)
        .args(["--columns", columns, "--unit", "ns"])
        .run()
        .expect_code(0);
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Returns the statistics of each benchmark of the latest run.
fn statistics(machine: &Machine, words: &[&str]) -> BTreeMap<String, Value> {
    let shown = stored(machine, &["show", "latest", "--stats"])
        .args(words)
        .args(JSON)
        .run()
        .expect_code(0);
    by_id(&shown)
}

fn by_id(shown: &Finished) -> BTreeMap<String, Value> {
    let messages = shown.messages("benchmark-statistics").into_iter();
    messages
        .map(|message| {
            let id = text(&message["benchmark"]["id"]).to_owned();
            (id, message["statistics"].clone())
        })
        .collect()
}

/// Asserts that a number equals the expected one to 1e-9, or that both are absent.
#[track_caller]
fn near(found: &Value, expected: &Value, what: &str) {
    match (found.as_f64(), expected.as_f64()) {
        (None, None) => {}
        (Some(a), Some(b)) if (a - b).abs() <= 1e-9 * b.abs() => {}
        _ => panic!("{what}: {found} is not {expected}"),
    }
}

/// Compares a description of samples with the reference.
#[track_caller]
fn agree(found: &Value, expected: &Value, what: &str) {
    for count in ["used", "removed", "replaced"] {
        assert_eq!(found[count], expected[count], "{what}: {count} in {found}");
    }
    let pairs = [
        (&found["mean_ns"]["estimate"], &expected["mean"]),
        (&found["mean_ns"]["lower"], &expected["interval"][0]),
        (&found["mean_ns"]["upper"], &expected["interval"][1]),
        (&found["std_err_ns"], &expected["std_err"]),
        (&found["margin_ns"], &expected["margin"]),
        (&found["degrees_of_freedom"], &expected["df"]),
        (&found["median_ns"], &expected["median"]),
        (&found["std_dev_ns"], &expected["std_dev"]),
        (&found["mad_ns"], &expected["mad"]),
        (&found["min_ns"], &expected["min"]),
        (&found["max_ns"], &expected["max"]),
    ];
    for (at, (found, expected)) in pairs.into_iter().enumerate() {
        near(found, expected, &format!("{what}, number {at}"));
    }
    for (name, expected) in ["p5", "p25", "p75", "p95", "p99"]
        .iter()
        .zip(expected["percentiles"].as_array().expect("five"))
    {
        let found = &found["percentiles_ns"][name];
        near(found, expected, &format!("{what}, {name}"));
    }
}

#[test]
fn n9_n10_n11_n15_n18_n19_n_x6_n_x7_n_x17_what_a_policy_leaves_is_described_with_yuens_error_and_its_own_tail()
 {
    let (machine, sets) = (Machine::new(), references());
    imported(&machine, &sets);
    let plain = statistics(&machine, &[]);
    for policy in ["none", "top5", "both5", "iqr", "mad", "winsorized"] {
        let found = statistics(&machine, &["--outliers", policy]);
        for set in &sets {
            let name = text(&set["name"]);
            let (found, expected) = (&found[name], &set["policies"][policy]);
            assert_eq!(found["of_samples"]["outliers"], policy);
            agree(
                &found["of_samples"],
                expected,
                &format!("{name} after {policy}"),
            );
            // All other statistics use all samples, with any outlier policy.
            for of_all in [
                "mean_ns",
                "percentiles_ns",
                "min_ns",
                "max_ns",
                "std_dev_ns",
            ] {
                assert_eq!(found[of_all], plain[name][of_all], "{name}: {of_all}");
            }
        }
    }
}

#[test]
fn n20_n21_n22_n23_one_process_has_the_standard_error_and_t_interval_of_its_samples() {
    let (machine, sets) = (Machine::new(), references());
    imported(&machine, &sets);
    let found = statistics(&machine, &[]);
    for set in &sets {
        let name = text(&set["name"]);
        let each = found[name]["within_processes"]
            .as_array()
            .expect("processes");
        let expected = set["of processes"].as_array().expect("processes");
        assert_eq!(each.len(), expected.len(), "{name}");
        for (at, (found, expected)) in each.iter().zip(expected).enumerate() {
            assert_eq!(found["process"], at);
            agree(found, expected, &format!("{name}, process {at}"));
        }
        agree(&found[name]["of_samples"], &set["policies"]["none"], name);
    }
    // The samples of this set are 10 and 14. Their standard error is 2, and t(.975, 1) = 12.706204736174694.
    let two = stored(&machine, &["show", "latest", "two", "--stats"])
        .run()
        .expect_code(0);
    for said in [
        "2 of 2, assuming that samples of one process are independent",
        // The interval would reach to -13.41 ns, but no time is negative.
        "mean of samples   12.00 ns [0.000 ps, 37.41 ns]  95 % t interval",
        "standard error 2.000 ns, margin ± 25.41 ns",
        "p95 14.00 ns, p99 14.00 ns, min 10.00 ns, max 14.00 ns",
    ] {
        assert!(two.stdout.contains(said), "no {said:?} in {two}");
    }
    let several = stored(&machine, &["show", "latest", "three processes", "--stats"]);
    let several = several.run().expect_code(0).stdout;
    assert!(
        !several.contains("assuming that samples of one process are independent"),
        "{several}"
    );
}

#[test]
fn n16_n17_a_definition_of_quantiles_that_is_asked_for_is_that_of_the_samples_left() {
    let (machine, sets) = (Machine::new(), references());
    imported(&machine, &sets);
    // The samples are 10 and 14. Their median is 10 by nearest rank and 12 by interpolation. The interpolated 95th percentile is 13.8, at
    // (n - 1) p = .95. floor(2 x .95) selects the first value.
    for (definition, median, p95) in [
        ("inverted-cdf", 10.0, 14.0),
        ("linear", 12.0, 13.8),
        ("floor-rank", 10.0, 10.0),
    ] {
        let found = statistics(&machine, &["--quantile", definition]);
        let found = &found["two"]["of_samples"];
        near(&found["median_ns"], &median.into(), definition);
        near(&found["percentiles_ns"]["p95"], &p95.into(), definition);
    }
    let first = statistics(&machine, &["--outliers", "first"]);
    let three = &first["three processes"]["of_samples"];
    assert_eq!(
        (&three["skipped"], &three["used"]),
        (&3.into(), &106.into())
    );
}

#[test]
fn c9_outliers_are_told_in_words_and_left_in() {
    let (machine, sets) = (Machine::new(), references());
    imported(&machine, &sets);
    let table = stored(&machine, &["show", "latest", "-v"])
        .run()
        .expect_code(0);
    let statistics = stored(&machine, &["show", "latest", "one far out", "--stats"]);
    let statistics = statistics.run().expect_code(0);
    // np.percentile(x, [25, 75]) are 79.6023 and 80.8274, so the fences are at 75.93, 77.76, 82.67 and 84.50.
    let words = "3 outliers among 21 samples (14 %): 2 low mild, 1 high severe";
    assert!(table.stdout.contains(words), "{table}");
    let statistics = statistics.stdout.split_whitespace().collect::<Vec<_>>();
    let statistics = statistics.join(" ");
    assert!(statistics.contains(words), "{statistics}");
    let usual = stored(&machine, &["show", "latest"]).run().expect_code(0);
    assert!(!usual.stdout.contains("outliers among"), "{usual}");
    let none = stored(&machine, &["show", "latest", "ties", "--stats"]).run();
    assert!(none.stdout.contains("outliers          none"), "{none}");
}

/// Returns positions and values of the labels on the first horizontal axis. These labels are the topmost ones.
fn ticks(picture: &str) -> Vec<(f64, f64)> {
    let labels = picture.lines().filter_map(|line| {
        let (place, label) = line.strip_prefix("<text x=\"")?.split_once("\" y=\"")?;
        let (height, label) = label.split_once("\" text-anchor=\"middle\"")?;
        let (_, label) = label.split_once('>')?;
        let value: f64 = label.strip_suffix("</text>")?.parse().ok()?;
        Some((height.to_owned(), (place.parse().ok()?, value)))
    });
    let labels: Vec<(String, (f64, f64))> = labels.collect();
    let (first, _) = labels.first().expect("an axis").clone();
    labels
        .into_iter()
        .filter(|(height, _)| *height == first)
        .map(|(_, tick)| tick)
        .collect()
}

/// Returns the points of each `<path>` element of a class, as they are written in the picture.
fn paths<'p>(picture: &'p str, class: &str) -> Vec<&'p str> {
    let start = format!("<path class=\"{class}\" d=\"");
    let lines = picture.lines().filter_map(|line| line.strip_prefix(&start));
    lines.filter_map(|rest| rest.strip_suffix("\"/>")).collect()
}

#[test]
fn c8_c17_a_picture_has_tukeys_fences_where_numpy_has_them_and_outliers_of_both_kinds_apart() {
    let (machine, sets) = (Machine::new(), references());
    imported(&machine, &sets);
    let drawn = |name: &str| {
        let show = stored(&machine, &["show", "latest", name, "--report", "svg"]);
        show.run().expect_code(0).stdout
    };
    let picture = drawn("skewed");
    // Tukey's fences are np.percentile(x, [25, 75]) minus and plus 1.5 and 3 times the interquartile range.
    let fences = [5.330_75, 26.307_575, 82.245_775, 103.222_6];
    for said in [
        "Outlier fences: mild 26.31 ns and 82.25 ns, severe 5.331 ns and 103.2 ns",
        "8 outliers among 200 samples (4.0 %): 1 low mild, 3 high mild, 4 high severe",
    ] {
        assert!(picture.contains(said), "no {said:?} in {picture}");
    }
    let ticks = ticks(&picture);
    let ((x0, v0), (x1, v1)) = (ticks[0], ticks[ticks.len() - 1]);
    let place = |value: f64| x0 + (value - v0) * (x1 - x0) / (v1 - v0);
    let found: Vec<f64> = paths(&picture, "fence")
        .iter()
        .map(|path| {
            let (x, _) = path[1..].split_once(' ').expect("a place");
            x.parse().expect("a number")
        })
        .collect();
    assert!(found.len() >= 2, "{picture}");
    for at in &found {
        let distance = |value: &f64| (place(*value) - at).abs();
        assert!(
            fences.iter().any(|fence| distance(fence) < 0.2),
            "{at} is none of {:?}",
            fences.map(place)
        );
    }
    let strokes = |class| {
        let paths = paths(&picture, class).concat();
        paths.matches('M').count()
    };
    // Three of the four mild outliers are above the upper fence, one is below the lower fence. Severe outliers beyond the picture are counted in
    // words.
    assert_eq!(strokes("mild"), 4, "{picture}");
    assert!(strokes("samples") > 100, "{picture}");
    // Each of several processes has its own fences. A process without spread has none.
    let several = drawn("three processes");
    assert!(!several.contains("Fences:"), "{several}");
    assert!(several.contains("1 outlier among 109 samples"), "{several}");
    assert!(!paths(&several, "fence").is_empty(), "{several}");
}

#[test]
fn c17_the_page_draws_the_fences_that_the_picture_states() {
    let (machine, sets) = (Machine::new(), references());
    imported(&machine, &sets);
    let file = machine.home().join("page.html");
    stored(&machine, &["report"])
        .args(["--report", &format!("html={}", file.display())])
        .run()
        .expect_code(0);
    let page = std::fs::read_to_string(&file).expect("written");
    let expected = "\"fences\":[[5.33075,26.307575,82.245775,103.2226]]";
    assert!(page.contains(expected), "no {expected}");
}

#[test]
fn m10_m11_a_subselection_is_the_median_of_means_of_four_fifths_and_no_plain_mean() {
    let machine = Machine::new();
    let file = machine.home().join("two.csv");
    let processes = [[10, 11, 12, 13, 1000], [20, 22, 24, 26, 28]];
    let mut table = "name,process,ns\n".to_owned();
    for (process, values) in processes.iter().enumerate() {
        for value in values {
            writeln!(table, "a,{process},{value}").expect("a string");
        }
    }
    std::fs::write(&file, table).expect("a file in our own directory");
    for _ in 0..2 {
        stored(&machine, &["store", "import"])
            .arg(&file)
            .args(["--columns", "id=name,process=process,value=ns"])
            .args(["--unit", "ns"])
            .run()
            .expect_code(0);
    }
    let words = ["compare", "1", "2", "--center", "subselection"];
    let compared = stored(&machine, &words).args(JSON).run();
    let message = compared.messages("benchmark-compared").remove(0);
    let found = message["centers"]["candidate"]["value_ns"].as_f64();
    // If each value is left out in turn, the means of the first process are 259, 258.75, 258.5, 258.25 and 11.5, and the means of the second process
    // are 25, 24.5, 24, 23.5 and 23. Each mean is drawn about 20 times in 100 draws. The median of the drawn means is between the second and the
    // fourth of them, even if the draws are unusual. The plain means of the processes are 209.2 and 24.
    let (least, most) = (f64::midpoint(258.25, 23.5), f64::midpoint(258.75, 24.5));
    let found = found.expect("a center");
    assert!((least..=most).contains(&found), "{found}");
}

/// Asserts that an estimate equals the reference, and that each bound is within the range that the reference allows for this number of resamples. The
/// reference computed the range from the exact distribution of the resamples.
#[track_caller]
fn bootstrapped_alike(found: &Value, expected: &Value, what: &str) {
    near(&found["estimate"], &expected["estimate"], what);
    for bound in ["lower", "upper"] {
        let [least, most] = [0, 1].map(|at| expected[bound][at].as_f64().expect("a number"));
        let found = found[bound].as_f64().expect("a bound");
        let width = 1e-9 * most;
        assert!(
            (least - width..=most + width).contains(&found),
            "{what}: {bound} {found} does not lie within {least} and {most}"
        );
    }
}

#[test]
fn c11_mean_median_deviation_and_mad_have_the_bounds_of_all_resamples_of_eight_processes() {
    let (machine, expected) = (Machine::new(), reference("bootstrapped"));
    let processes = expected["processes"].clone();
    imported(
        &machine,
        &[serde_json::json!({"name": "a", "processes": processes})],
    );
    let criterion = ["--method", "criterion"];
    let found = statistics(&machine, &criterion)
        .remove("a")
        .expect("described");
    for (member, name) in [
        ("mean_ns", "mean"),
        ("median_ns", "median"),
        ("std_dev_ns", "sd"),
        ("median_abs_dev_ns", "mad"),
    ] {
        bootstrapped_alike(&found[member], &expected[name], name);
    }
    // `show` without `--stats` prints the same values.
    let found = statistics(&machine, &[]).remove("a").expect("described");
    let shown = stored(&machine, &["show", "latest"]).args(JSON).run();
    let summary = shown.messages("benchmark-measured").remove(0)["summary"].clone();
    for member in ["mean_ns", "median_ns", "std_dev_ns", "median_abs_dev_ns"] {
        assert_eq!(summary[member], found[member], "{member}");
    }
}

/// Imports a Criterion benchmark whose only phase is linear. `iterations` and `times` have a number for each sample, and times are in nanoseconds.
fn import_ramp(machine: &Machine, iterations: &Value, times: &Value) {
    let tree = machine.home().join("tree");
    let place = tree.join("g/f/base");
    std::fs::create_dir_all(&place).expect("a directory");
    let id = r#"{"group_id":"g","function_id":"f","value_str":null,"throughput":null,"full_id":"g/f","directory_name":"g/f","title":"g/f"}"#;
    let samples =
        serde_json::json!({"sampling_mode": "Linear", "iters": iterations, "times": times});
    for (name, text) in [("benchmark", id), ("sample", &samples.to_string())] {
        std::fs::write(place.join(format!("{name}.json")), text).expect("written");
    }
    stored(machine, &["store", "import"])
        .arg(tree)
        .run()
        .expect_code(0);
}

#[test]
fn c10_the_slope_through_the_origin_has_the_bounds_of_all_resamples_of_its_points() {
    let (machine, expected) = (Machine::new(), reference("bootstrapped"));
    import_ramp(&machine, &expected["iterations"], &expected["times"]);
    let criterion = ["--method", "criterion"];
    let found = statistics(&machine, &criterion)
        .remove("g/f")
        .expect("described");
    bootstrapped_alike(&found["slope_ns"], &expected["slope"], "slope");
    // For four points, the interval is Student's t with the jackknife error. The slope is (10 101 + 20 199 + 30 305 + 40 398) / 3000. If one point is
    // left out in turn, the slope is 29050 / 2900, 26080 / 2600, 20910 / 2100 and 14140 / 1400. With v for each of these four slopes, the jackknife
    // error of the logarithm is sqrt(3 / 4 sum (ln v - mean ln v)^2) = 0.0087703801. The factor of the error is t.ppf(.975, 3) = 3.1824463.
    let four = |values: [u32; 4]| serde_json::json!(values);
    import_ramp(
        &machine,
        &four([10, 20, 30, 40]),
        &four([101, 199, 305, 398]),
    );
    let found = statistics(&machine, &[]).remove("g/f").expect("described");
    for (bound, expected) in [
        ("estimate", 10.02),
        ("lower", 9.744_196_061_282_839),
        ("upper", 10.303_610_412_656_466),
    ] {
        near(&found["slope_ns"][bound], &expected.into(), bound);
    }
}
