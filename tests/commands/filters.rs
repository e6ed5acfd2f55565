//! The filter of an imported run applies wherever the run is described. Significance tests nevertheless use all samples, except with `--method
//! serializer` and in pivots (rows S9 and N14 of docs/internals/src/systems.md). `--outliers` sets another filter.
//!
//! The motivating case of the serializer methodology is a stall of 90 s among times of 100 ns. Expected values were computed with `NumPy` and `SciPy`
//! from the ten values of `fast` (100 to 109) and the eleven of `slow` (200 to 210) that the filter keeps, or are computed in place.

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::commands::crates::Crate;
use crate::commands::scripted::stored;
use crate::support::{Finished, Machine};

const STALL: f64 = 9e10;
/// The mean of 100 to 109 ns.
const FAST: f64 = 104.5;
/// The mean of 200 to 210 ns.
const SLOW: f64 = 205.0;
/// `scipy.stats.mannwhitneyu(slow, fast, use_continuity=True, method='asymptotic').pvalue`; with the stall it would be 0.00129.
const P_OF_FILTERED: f64 = 0.000_124_154_460_601_633_5;

#[track_caller]
fn near(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    let apart = (found - expected).abs() / expected.abs();
    assert!(apart < 1e-9, "{found} is not {expected}");
}

/// Returns a table of two serializers with a warm-up and eleven repetitions each. `factor` multiplies all times except the stall.
fn table(factor: f64) -> String {
    let mut text = "Name,Repetition,Time\nfast,0,500\nslow,0,900\n".to_owned();
    for i in 0..11 {
        let fast = match i {
            10 => STALL,
            _ => (100.0 + f64::from(i)) * factor,
        };
        let slow = (200.0 + f64::from(i)) * factor;
        let _ = writeln!(text, "fast,{},{fast}\nslow,{},{slow}", i + 1, i + 1);
    }
    text
}

/// Stores a table as the baseline `name`.
fn import(machine: &Machine, name: &str, factor: f64, words: &str) {
    let path: PathBuf = machine.home().join(format!("{name}.csv"));
    fs::write(&path, table(factor)).expect("a file in our own directory");
    stored(machine, &["store", "import"])
        .arg(path)
        .args(["--columns", "id=Name,value=Time,repetition=Repetition"])
        .args(["--unit", "ns", "--save-baseline", name])
        .args(words.split_whitespace())
        .run()
        .expect_code(0);
}

fn filtered(machine: &Machine, name: &str, factor: f64) {
    import(machine, name, factor, "--drop-first --outliers iqr");
}

fn words(machine: &Machine, words: &str) -> Finished {
    let words: Vec<&str> = words.split(' ').collect();
    stored(machine, &words).run()
}

fn json(machine: &Machine, said: &str) -> Finished {
    words(machine, &format!("{said} --message-format json")).expect_code(0)
}

/// Returns the message of this kind about `fast` or `slow`.
#[track_caller]
fn about(finished: &Finished, reason: &str, id: &str) -> Value {
    let mut messages = finished.messages(reason).into_iter();
    let found = messages.find(|message| message["benchmark"]["id"] == id);
    found.unwrap_or_else(|| panic!("no {reason} about {id}:\n{finished}"))
}

/// Returns the printed text without its line breaks.
fn on_one_line(finished: &Finished) -> String {
    let words: Vec<&str> = finished.stdout.split_whitespace().collect();
    words.join(" ")
}

/// Returns the cells of a row of a pivot.
#[track_caller]
fn cells(finished: &Finished, row: &str) -> Vec<Value> {
    let mut messages = finished.messages("pivot-row").into_iter();
    let found = messages.find(|message| message["row"][0] == row);
    let found = found.unwrap_or_else(|| panic!("no row {row}:\n{finished}"));
    found["cells"].as_array().expect("a list").clone()
}

#[test]
fn s3_s11_s12_s17_s18_s19_a_pivot_is_of_what_the_filter_of_the_import_left() {
    let machine = Machine::new();
    filtered(&machine, "v1", 1.0);
    let values = "time+ops+min-ops+max-ops+samples+median+std-dev+cliffs-delta+hedges-g+p-value";
    let said = format!("compare v1 --pivot rows=Name,value={values}");
    let found = json(&machine, &said);
    let (fast, slow) = (cells(&found, "fast"), cells(&found, "slow"));
    let expected = [
        (FAST, SLOW),
        (1e9 / FAST, 1e9 / SLOW),
        (1e9 / 109.0, 1e9 / 210.0),
        (1e9 / 100.0, 1e9 / 200.0),
        (10.0, 11.0),
        (104.5, 205.0),
        // numpy.std(ddof=1)
        (3.027_650_354_097_491_7, 11_f64.sqrt()),
    ];
    for (at, (of_fast, of_slow)) in expected.into_iter().enumerate() {
        near(&fast[at]["number"], of_fast);
        near(&slow[at]["number"], of_slow);
    }
    assert_eq!(fast[7]["is_reference"], true);
    assert_eq!(slow[7]["is_reference"], false);
    // Cliff's delta is 1, because every value of `slow` is above every value of `fast`. With the stall it would be 99 / 121, because `slow` is faster
    // in eleven pairs.
    near(&slow[7]["number"], 1.0);
    near(&slow[8]["number"], 30.310_892_782_936_982);
    near(&slow[9]["number"], P_OF_FILTERED);
    // The output names the samples that were left out, in numbers and in words.
    let filter = &found.messages("pivot-finished")[0]["filters"][0];
    assert_eq!((&filter["run"], &filter["name"]), (&1.into(), &"v1".into()));
    assert_eq!(
        [
            &filter["counts"]["runs_raw"],
            &filter["counts"]["runs"],
            &filter["counts"]["warmup_skipped"],
            &filter["counts"]["outliers_removed"],
        ],
        [&24, &21, &2, &1]
    );
    let text = words(&machine, "compare v1 --pivot rows=Name,value=time").expect_code(0);
    let identity = "v1: runs_raw 24 = runs 21 + warmup_skipped 2 + outliers_removed 1 (iqr_1.5).";
    assert!(text.stdout.contains(identity), "{text}");
}

#[test]
fn s19_another_filter_can_be_said_for_a_pivot_and_chooses_another_fastest() {
    let machine = Machine::new();
    filtered(&machine, "v1", 1.0);
    import(&machine, "raw", 1.0, "");
    let of = |run: &str, outliers: &str| {
        let pivot = "--pivot rows=Name,value=time+ratio+samples";
        let found = json(&machine, &format!("compare {run} {pivot}{outliers}"));
        ["fast", "slow"].map(|name| cells(&found, name))
    };
    let stalled = (1_045.0 + STALL) / 11.0;
    let [fast, slow] = of("v1", " --outliers none");
    near(&fast[0]["number"], stalled);
    near(&fast[2]["number"], 11.0);
    assert_eq!(
        (&fast[1]["is_reference"], &slow[1]["is_reference"]),
        (&false.into(), &true.into())
    );
    // With eleven values, `top5` leaves out ceil(11 / 20) = 1 value of `slow`, the largest one.
    let [_, slow] = of("v1", " --outliers top5");
    near(&slow[0]["number"], 204.5);
    // A run without a filter gets one if the flag sets it. `first` is the warm-up that was stored as a sample.
    let [fast, slow] = of("raw", "");
    near(&fast[0]["number"], (1_545.0 + STALL) / 12.0);
    assert_eq!(slow[1]["is_reference"], true);
    let [fast, slow] = of("raw", " --outliers iqr,first");
    near(&fast[0]["number"], FAST);
    near(&slow[0]["number"], SLOW);
    near(&slow[1]["number"], SLOW / FAST);
    assert_eq!(fast[1]["is_reference"], true);
}

#[test]
fn statistics_columns_and_groups_are_of_what_the_filter_left_and_say_so() {
    let machine = Machine::new();
    filtered(&machine, "v1", 1.0);
    filtered(&machine, "v2", 2.0);
    let statistics = about(
        &json(&machine, "show v1 --stats"),
        "benchmark-statistics",
        "fast",
    );
    let statistics = &statistics["statistics"];
    near(&statistics["mean_ns"]["estimate"], FAST);
    near(&statistics["max_ns"], 109.0);
    near(&statistics["percentiles_ns"]["p99"], 109.0);
    near(&statistics["cv"], 3.027_650_354_097_491_7 / FAST);
    assert_eq!(statistics["samples"], 10);
    assert_eq!(statistics["left_out"]["counts"]["outliers_removed"], 1);
    assert_eq!(statistics["left_out"]["filter"]["outliers"], "iqr");
    // Outliers are still counted among all samples.
    assert_eq!(statistics["outliers"]["high_severe"], 1);
    let text = words(&machine, "show v1 --stats").expect_code(0);
    let identity = "runs_raw 12 = runs 10 + warmup_skipped 1 + outliers_removed 1";
    assert!(on_one_line(&text).contains(identity), "{text}");
    let shown = about(&json(&machine, "show v1"), "benchmark-measured", "fast");
    near(&shown["summary"]["mean_ns"]["estimate"], FAST);
    // The message contains all samples.
    let times = shown["processes"][0]["flat"]["elapsed_ns"].as_array();
    assert_eq!(times.expect("a list").len(), 11);
    let columns = json(&machine, "compare v1 v2 --fail-on none --statistic mean");
    let line = about(&columns, "benchmark-columns", "fast");
    near(&line["columns"][0]["statistics"][0]["value"], FAST);
    near(&line["columns"][1]["statistics"][0]["value"], 2.0 * FAST);
    let sides = &columns.messages("columns-finished")[0]["columns"];
    assert_eq!(sides[1]["left_out"]["counts"]["outliers_removed"], 1);
    let other = json(
        &machine,
        "compare v1 v2 --fail-on none --statistic mean --outliers none",
    );
    let line = about(&other, "benchmark-columns", "fast");
    near(
        &line["columns"][0]["statistics"][0]["value"],
        (1_045.0 + STALL) / 11.0,
    );
    let grouped = json(&machine, "compare v1 --group-by ^(fast|slow)$");
    let cells = &grouped.messages("group-row")[0]["cells"];
    // The median of all eleven values would be 105.
    near(&cells[0]["value_ns"], 104.5);
    near(&cells[1]["ratio"], 205.0 / 104.5);
    let finished = &grouped.messages("group-finished")[0];
    assert_eq!(finished["filtered"]["counts"]["runs"], 21);
}

#[test]
fn pages_pictures_exports_and_other_stores_have_the_filter_too() {
    let machine = Machine::new();
    filtered(&machine, "v1", 1.0);
    let identity = "runs_raw 12 = runs 10 + warmup_skipped 1 + outliers_removed 1 (iqr_1.5)";
    let picture = words(&machine, "show v1 fast --report svg").expect_code(0);
    assert!(picture.stdout.contains(identity), "{picture}");
    assert!(
        picture.stdout.contains("10 samples from 1 process"),
        "{picture}"
    );
    let page = machine.home().join("page.html");
    let command = stored(&machine, &["report", "v1"]);
    let html = format!("html={}", page.display());
    command.args(["--report", &html]).run().expect_code(0);
    let page = fs::read_to_string(page).expect("written");
    assert!(page.contains(identity), "{page}");
    let bmf = words(&machine, "store export v1 --format bmf").expect_code(0);
    let bmf: Value = serde_json::from_str(&bmf.stdout).expect("JSON");
    near(&bmf["fast"]["latency"]["value"], FAST);
    let lines = words(&machine, "store export v1 --format benchstat").expect_code(0);
    assert!(lines.stdout.contains("\t104.5 ns/op"), "{lines}");
    let tree = machine.home().join("tree");
    let command = stored(
        &machine,
        &["store", "export", "v1", "--format", "criterion"],
    );
    command.arg("--output").arg(&tree).run().expect_code(0);
    let estimates = fs::read(tree.join("fast/v1/estimates.json")).expect("written");
    let estimates: Value = serde_json::from_slice(&estimates).expect("JSON");
    near(&estimates["mean"]["point_estimate"], FAST);
    // An exported run includes its filter.
    let file = machine.home().join("v1.jsonl");
    let command = stored(&machine, &["store", "export", "v1"]);
    command.arg("--output").arg(&file).run().expect_code(0);
    let other = Machine::new();
    let command = stored(&other, &["store", "import"]).arg(&file);
    command.run().expect_code(0);
    let found = json(&other, "compare 1 --pivot rows=Name,value=time");
    near(&cells(&found, "fast")[0]["number"], FAST);
}

#[test]
fn n14_tests_of_filtered_runs_are_of_all_samples() {
    let machine = Machine::new();
    for (name, factor) in [("a", 1.0), ("b", 1.1)] {
        filtered(&machine, name, factor);
        import(&machine, &format!("{name}-all"), factor, "--drop-first");
    }
    let compared = |base: &str, new: &str| {
        let command = stored(&machine, &["compare", base, new, "--resamples", "1000"]);
        let command = command.args(["--message-format", "json", "--fail-on", "none"]);
        let found = command.run().expect_code(0);
        ["fast", "slow"].map(|id| {
            let about = about(&found, "benchmark-compared", id);
            (
                about["p_value"].clone(),
                about["verdict"].clone(),
                about["effects"].clone(),
            )
        })
    };
    let with_filter = compared("a", "b");
    assert_eq!(with_filter, compared("a-all", "b-all"));
    assert!(with_filter[0].0.is_number(), "{with_filter:?}");
    let text = words(&machine, "compare a b --resamples 1000 --fail-on none").expect_code(0);
    let said = on_one_line(&text);
    let remark = "use only the samples that its import kept: runs_raw 24 = runs 21";
    assert!(said.contains(remark), "{text}");
}

#[test]
fn s8_s_x5_first_repetitions_that_an_import_kept_apart_are_left_out_once() {
    let machine = Machine::new();
    filtered(&machine, "v1", 1.0);
    filtered(&machine, "v2", 1.1);
    let found = json(&machine, "compare v1 v2 --method serializer --fail-on none");
    for (id, mean, removed) in [("fast", FAST, 1), ("slow", SLOW, 0)] {
        let centers = &about(&found, "benchmark-compared", id)["centers"];
        near(&centers["base"]["value_ns"], mean);
        near(&centers["candidate"]["value_ns"], mean * 1.1);
        near(&centers["change"], 0.1);
        for side in ["base", "candidate"] {
            let counts = ["raw", "skipped", "removed", "used"];
            let counts = counts.map(|name| centers[side][name].as_u64());
            let expected = [12, 1, removed, 11 - removed].map(Some);
            assert_eq!(counts, expected, "{id} {side}");
        }
    }
    for (observations, is_of_all) in [("filtered", false), ("samples", true)] {
        let command = format!(
            "compare v1 v2 --method serializer --observations {observations} --fail-on none"
        );
        let text = words(&machine, &command).expect_code(0);
        let said = on_one_line(&text);
        assert!(said.contains("`first` left out"), "{text}");
        assert_eq!(
            said.contains("the test uses all samples"),
            is_of_all,
            "{text}"
        );
    }
    // With another outlier policy, the first sample is left out too, and it is counted only once.
    let shown = json(&machine, "show v1 --stats --outliers mad,first");
    let found = about(&shown, "benchmark-statistics", "slow")["statistics"]["of_samples"].clone();
    near(&found["mean_ns"]["estimate"], SLOW);
    assert_eq!((&found["raw"], &found["skipped"]), (&12.into(), &1.into()));
}

#[test]
fn s_x1_rows_that_leave_together_at_import_leave_together_afterwards() {
    let machine = Machine::new();
    let mut text = "n,ser,deser\n".to_owned();
    for i in 0..12 {
        let ser = if i == 4 { 9_000 } else { 100 + i };
        let deser = if i == 7 { 8_000 } else { 300 + i };
        let _ = writeln!(text, "x,{ser},{deser}");
    }
    let path = machine.home().join("rows.csv");
    fs::write(&path, text).expect("a file in our own directory");
    for (name, paired) in [("paired", &["--drop-rows"][..]), ("single", &[])] {
        stored(
            &machine,
            &["store", "import", "--unit", "ns", "--outliers", "iqr"],
        )
        .arg(&path)
        .args(["--columns", "id=n,value.ser=ser,value.deser=deser"])
        .args(["--save-baseline", name])
        .args(paired)
        .run()
        .expect_code(0);
    }
    let of = |run: &str, more: &str| {
        let pivot = format!("compare {run} --pivot rows=n,cols=value,value=samples+time{more}");
        let found = cells(&json(&machine, &pivot), "x");
        found
            .iter()
            .map(|cell| cell["number"].as_f64().expect("a number"))
            .collect::<Vec<_>>()
    };
    // Labels are sorted, so `deser` comes first. The times exceed 300 and 100 ns by 0 to 11 ns, which is 66 ns in total. The outliers 4 and 7 are
    // left out of both columns, which leaves 55 ns over ten values.
    assert_eq!(of("paired", ""), [10.0, 305.5, 10.0, 105.5]);
    assert_eq!(
        of("single", ""),
        [11.0, 300.0 + 59.0 / 11.0, 11.0, 100.0 + 62.0 / 11.0]
    );
    // If only one column is shown, outliers of the other column still count.
    assert_eq!(of("paired", " --filter /ser"), [10.0, 105.5]);
    assert_eq!(of("paired", " --outliers top5"), [10.0, 305.5, 10.0, 105.5]);
}

#[test]
fn a_run_of_our_own_is_described_by_the_filter_that_is_said() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    made.measure(&machine, &[], &[("a", 100.0)])
        .args(["--samples", "4"])
        .run()
        .expect_code(0);
    let pivot = |more: &str| {
        let words = "compare latest --pivot rows=id,value=samples --message-format json";
        let words: Vec<&str> = words.split(' ').chain(more.split_whitespace()).collect();
        let found = made.perfcheck(&machine, &words).run().expect_code(0);
        let filters = found.messages("pivot-finished")[0]["filters"].clone();
        (
            cells(&found, "a")[0]["number"].as_f64().expect("a number"),
            filters,
        )
    };
    let (all, none) = pivot("");
    assert_eq!(none.as_array().expect("a list").len(), 0);
    let (without_first, filters) = pivot("--outliers first");
    // One sample of each of the three processes is left out.
    assert_eq!(without_first, all - 3.0);
    assert_eq!(filters[0]["counts"]["warmup_skipped"], 3);
}
