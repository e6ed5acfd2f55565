//! `--test` with its related flags, `--metric`, `--limit`, and the table of thresholds.

use serde_json::Value;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, explanation, finish, says, stored, verdict};
use crate::support::{Finished, Machine, Perfcheck};
use perfcheck_analysis::model::Thresholds;
use perfcheck_stats::{MannWhitney, MannWhitneyMethod, WelchDf, WelchTest, mean, median};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Prepares a run of `text` in five processes with these times.
fn five(machine: &Machine, times: &str) -> Perfcheck {
    let quick =
        "--rounds 5 --warm-up-time 1ms --measurement-time 5ms --resamples 1000 --exact text";
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady"])
        .args(quick.split(' '))
        .env(CLOCK, format!("text={times}"))
}

const FAST: &str = "100/101/100.5/102/101.5";
const SLOW: &str = "110/111/110.5/112/111.5";

/// Makes two runs of `text`. The benchmark takes `times` in the second run.
fn two_runs(machine: &Machine, times: &str) {
    five(machine, FAST).run().expect_code(0);
    five(machine, times)
        .args(["--fail-on", "none", "--no-rerun"])
        .run()
        .expect_code(0);
}

fn compare(machine: &Machine, words: &str) -> Finished {
    stored(machine, &["compare", "1", "2"])
        .args(words.split(' ').filter(|word| !word.is_empty()))
        .args(JSON)
        .run()
}

#[track_caller]
fn compared(finished: &Finished) -> Value {
    let mut messages = finished.messages("benchmark-compared");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}

/// Returns the samples of a run, process by process, in nanoseconds per iteration.
fn samples(machine: &Machine, run: &str) -> Vec<Vec<f64>> {
    let shown = stored(machine, &["show", run]).args(JSON).run();
    let measured = shown.messages("benchmark-measured").remove(0);
    let list = |value: &Value| -> Vec<f64> {
        let values = value.as_array().expect("a list").iter();
        values.map(|x| x.as_f64().expect("a number")).collect()
    };
    let processes = measured["processes"].as_array().expect("processes").iter();
    processes
        .map(|process| {
            let (times, counts) = (
                list(&process["flat"]["elapsed_ns"]),
                list(&process["flat"]["iterations"]),
            );
            times
                .iter()
                .zip(counts)
                .map(|(time, count)| time / count)
                .collect()
        })
        .collect()
}

#[test]
fn c12_c13_n29_m5_stored_runs_are_compared_by_the_test_that_is_asked_for() {
    let machine = Machine::new();
    two_runs(&machine, SLOW);
    let sides = [samples(&machine, "1"), samples(&machine, "2")];
    let by = |center: fn(&[f64]) -> Option<f64>| {
        sides
            .each_ref()
            .map(|side| -> Vec<f64> { side.iter().filter_map(|x| center(x)).collect() })
    };
    let [base, new] = by(mean);
    let welch = compared(&compare(&machine, "--test welch").expect_code(1));
    let expected = WelchTest::test(&new, &base, WelchDf::Fractional).expect("it varies");
    near(&welch["p_value"], expected.p);
    near(&welch["tested"]["degrees_of_freedom"], expected.df);
    assert_eq!(
        (&welch["decided_by"], &welch["verdict"]),
        (&"welch".into(), &"regressed".into())
    );
    let [base, new] = by(median);
    let ranks = compared(&compare(&machine, "--test mann-whitney").expect_code(1));
    let expected = MannWhitney::from_groups(&new, &base).expect("five against five");
    near(
        &ranks["p_value"],
        expected.p_value(MannWhitneyMethod::Exact).expect("no ties"),
    );
    assert_eq!(ranks["tested"]["significance"], "significant");
    assert_eq!(ranks["significance_level"], 0.05);
    let [base, new] = sides.map(|side| side.concat());
    let of_samples = compare(
        &machine,
        "--test mann-whitney --observations samples --rank-p asymptotic",
    );
    let of_samples = compared(&of_samples);
    let expected = MannWhitney::from_groups(&new, &base).expect("samples");
    near(
        &of_samples["p_value"],
        expected
            .p_value(MannWhitneyMethod::Asymptotic)
            .expect("it has one"),
    );
    assert_eq!(of_samples["tested"]["candidate"], new.len());
    for test in ["kruskal", "p95-ratio", "interval", "bootstrap-t"] {
        let found = compare(&machine, &format!("--test {test}"));
        // The tool's own procedure allows for drift between runs, which cannot be estimated from one run.
        let expected = if test == "bootstrap-t" {
            "suspect"
        } else {
            "regressed"
        };
        assert_eq!(verdict(&found, "text"), expected, "{test}");
    }
    let again = compare(&machine, "--test welch");
    assert_eq!(again.stdout, compare(&machine, "--test welch").stdout);
}

#[test]
fn c_x8_c14_c15_c16_what_is_significant_and_within_noise_is_no_regression() {
    let machine = Machine::new();
    for times in [
        "100/100.1/100.2/100.3/100.4",
        "101.5/101.6/101.7/101.8/101.9",
    ] {
        five(&machine, times)
            .args(["--fail-on", "none", "--no-rerun"])
            .run()
            .expect_code(0);
    }
    let with = |threshold: f64| {
        let words = format!("--test mann-whitney --noise-threshold {threshold}");
        compared(&compare(&machine, &words))
    };
    let wide = with(0.02);
    assert_eq!(wide["verdict"], "unchanged");
    assert_eq!(wide["tested"]["significance"], "significant");
    assert_eq!(wide["notes"][0]["note"], "within-noise");
    for change in ["change_of_mean", "change_of_median"] {
        assert!(
            wide[change]["lower"].as_f64() <= wide[change]["estimate"].as_f64(),
            "{wide}"
        );
    }
    let lower = wide["change"]["lower"].as_f64().expect("a bound");
    assert!(0.01 < lower && lower < 0.015, "{wide}");
    // A threshold equal to the bound is not exceeded.
    assert_eq!(with(lower)["verdict"], "inconclusive");
    assert_eq!(with(lower - 1e-9)["verdict"], "regressed");
    // Without significance there is no reported change, even with a tiny threshold.
    let alike = stored(
        &machine,
        &[
            "compare",
            "1",
            "2",
            "--test",
            "welch",
            "--significance-level",
            "0.0000001",
        ],
    );
    let alike = compared(
        &alike
            .args(["--noise-threshold", "0"])
            .args(JSON)
            .run()
            .expect_code(0),
    );
    assert_eq!(alike["tested"]["significance"], "not-significant");
    assert_ne!(alike["verdict"], "regressed");
}

#[test]
fn n14_an_outlier_policy_changes_the_summary_and_neither_p_nor_verdict() {
    let machine = Machine::new();
    two_runs(&machine, SLOW);
    for test in ["welch", "mann-whitney", "bootstrap-t"] {
        let with = |policy: &str| {
            compared(&compare(
                &machine,
                &format!("--test {test} --center mean --outliers {policy}"),
            ))
        };
        let (none, top) = (with("none"), with("top5"));
        for same in ["p_value", "verdict", "change"] {
            assert_eq!(none[same], top[same], "{test} {same}");
        }
        assert_ne!(
            none["centers"]["candidate"]["value_ns"],
            top["centers"]["candidate"]["value_ns"]
        );
        let side = &top["centers"]["candidate"];
        let count = |name: &str| side[name].as_u64().expect("a count");
        assert!(count("removed") > 0);
        assert_eq!(
            count("raw"),
            count("skipped") + count("removed") + count("used")
        );
    }
}

#[test]
fn s8_s10_what_was_left_out_is_told_by_the_policy_that_took_it() {
    let machine = Machine::new();
    two_runs(&machine, SLOW);
    let said = |outliers: &str| {
        let compared = stored(&machine, &["compare", "1", "2", "--outliers", outliers]);
        compared.run().stdout
    };
    // Each process has only one sample, so the first sample is kept.
    let both = said("first,top5");
    assert!(both.contains("`top5` left out 1 of 5"), "{both}");
    let first = said("first");
    assert!(!first.contains("left out"), "{first}");
    let two = compare(&machine, "--outliers iqr,mad").expect_code(2);
    assert!(two.stderr.contains("cannot be combined"), "{two}");
}

#[test]
fn n33_n35_s_x4_too_few_processes_are_not_tested_and_the_reason_is_said() {
    let machine = Machine::new();
    two_runs(&machine, SLOW);
    let crate_like = Crate::of(&machine, &["text"], "");
    crate_like
        .measure(&machine, &[], &[("text", 100.0)])
        .run()
        .expect_code(0);
    crate_like
        .measure(&machine, &[], &[("text", 200.0)])
        .args(["--test", "mann-whitney"])
        .run()
        .expect_code(0);
    let run = crate_like
        .perfcheck(&machine, &["compare", "3", "4", "--test", "mann-whitney"])
        .run()
        .expect_code(0);
    assert!(
        run.stdout.contains(
            "not tested: this test needs 5 observations on each side, but one side has only 3"
        ),
        "{run}"
    );
    let explained = crate_like
        .perfcheck(&machine, &["explain", "text", "--run", "4"])
        .args(JSON)
        .run()
        .expect_code(0);
    says(
        &explanation(&explained),
        "test",
        &["The requested test, mann-whitney, was not possible"],
    );
}

#[test]
fn a_run_keeps_the_test_that_decided_and_explain_tells_of_it() {
    let machine = Machine::new();
    five(&machine, FAST).run().expect_code(0);
    five(&machine, SLOW)
        .args(["--test", "welch"])
        .run()
        .expect_code(1);
    let explained = stored(&machine, &["explain", "text"])
        .args(JSON)
        .run()
        .expect_code(0);
    let message = explanation(&explained);
    assert_eq!(message["decided_by"], "welch");
    says(
        &message,
        "test",
        &[
            "Welch's test of the means: t = ",
            "The difference is significant",
        ],
    );
    says(
        &message,
        "observations",
        &[
            "the mean of its samples. There were 5 observations in the new run and 5 in the reference",
            "No sample was left out",
        ],
    );
    says(
        &message,
        "effect",
        &["Cliff's delta is +1.000, large", "Hedges' g is +"],
    );
    let text = stored(&machine, &["compare", "1", "2", "--test", "welch"]).run();
    assert!(
        text.stdout
            .contains("by welch of processes; a change needs p below 5 % (two-sided, adjusted by Holm's method)"),
        "{text}"
    );
}

#[test]
fn choices_that_contradict_each_other_are_refused_with_a_way_out() {
    let machine = Machine::new();
    let refused = |words: &str, said: &str| {
        let run = stored(&machine, &["compare", "1", "2"])
            .args(words.split(' '))
            .run();
        run.expect_code(2).expect_stderr(&[said]);
    };
    refused("--observations samples", "add `--test welch`");
    refused("--test welch --rank-p exact", "needs `--test mann-whitney`");
    refused(
        "--test welch --observations samples --center slope",
        "needs whole processes as observations",
    );
    refused("--test welch --metric bytes", "leave out `--metric`");
    refused("--test anova", "mann-whitney");
    refused("--test welch --ignore-drift", "cannot be used with");
    refused("--limit median", "is not a limit such as `median:5%`");
    let against = machine
        .perfcheck()
        .testbench("")
        .args(["--against", "HEAD", "--test", "welch"]);
    against
        .run()
        .expect_code(2)
        .expect_stderr(&["cargo perfcheck compare BASE NEW --test"]);
}

#[test]
fn n_x5_s_x6_a_limit_fails_only_where_the_whole_interval_lies_above_its_limit() {
    let machine = Machine::new();
    // Stored runs may differ by a tenth because of drift.
    two_runs(&machine, "130/131/130.5/132/131.5");
    let fails = |limit: &str| {
        let run = compare(&machine, &format!("--fail-on none --limit {limit}"));
        let exceeded = run.messages("limit-exceeded");
        let code = i32::from(!exceeded.is_empty());
        assert_eq!(finish(&run)["limits_exceeded"], exceeded.len());
        run.expect_code(code);
        exceeded.first().cloned()
    };
    let found = fails("median:5%").expect("29 % slower");
    assert_eq!(
        (&found["limit"], &found["of"]),
        (&"median:5%".into(), &"change".into())
    );
    let bound = |name: &str| found["found"][name].as_f64().expect("a bound") * 100.0;
    assert!(bound("lower") > 5.0);
    assert_eq!(found["shared_level"]["family"], 1);
    // With a limit between the lower bound and the estimate, the estimate exceeds the limit, but not significantly.
    let between = f64::midpoint(bound("lower"), bound("estimate"));
    assert_eq!(fails(&format!("median:{between}%")), None);
    assert!(fails("text=mean:100ns").is_some());
    assert_eq!(fails("mean:1ms"), None);
    assert_eq!(fails("other=median:1%"), None);
    assert!(fails("te*=median:1%").is_some());
    let text = stored(
        &machine,
        &[
            "compare",
            "1",
            "2",
            "--limit",
            "median:5%",
            "--limit",
            "p99:1ms",
        ],
    )
    .args(["--limit", "zip*=mean:5%"])
    .run()
    .expect_code(1);
    assert!(text.stdout.contains("text: median changed by +"), "{text}");
    assert!(
        text.stdout.contains("more than `median:5%` allows"),
        "{text}"
    );
    assert!(
        text.stdout.contains(
            "`p99:1ms` does not apply to `text`: this statistic needs a latency benchmark"
        ),
        "{text}"
    );
    let open = stored(&machine, &["compare", "1", "2", "--limit", "median:25%"]).run();
    assert!(
        (open.stdout).contains("`median:25%` is undecided for `text`"),
        "{open}"
    );
    assert!(
        text.stdout
            .contains("`zip*=mean:5%` matches no benchmark that was compared"),
        "{text}"
    );
}

/// Limits and thresholds of a workspace, with stricter ones for `b/...`.
const TABLES: &str = r#"
[workspace.metadata.perfcheck]
limit = ["median:300%"]

[workspace.metadata.perfcheck.thresholds]
outlier-mild = 0.1
outlier-severe = 0.2
p95-slower = 3

[[workspace.metadata.perfcheck.override]]
match = "b/*"
limit = "median:20%"
"#;

#[test]
fn rules_of_the_workspace_hold_and_a_run_that_breaks_one_is_no_reference() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a/1", "b/1"], TABLES);
    made.measure(&machine, &["a/1", "b/1"], &[])
        .run()
        .expect_code(0);
    let second = made
        .measure(&machine, &[], &[("a/1", 150.0), ("b/1", 150.0)])
        .args(["--fail-on", "none", "--no-rerun"])
        .run()
        .expect_code(1);
    let exceeded: Vec<Value> = second.messages("limit-exceeded");
    assert_eq!(exceeded.len(), 1, "{second}");
    assert_eq!(exceeded[0]["benchmark"]["id"], "b/1");
    // The next run is still compared with the first one.
    let third = made
        .measure(&machine, &[], &[("a/1", 150.0), ("b/1", 150.0)])
        .args(["--fail-on", "none", "--no-rerun"])
        .run()
        .expect_code(1);
    assert_eq!(third.messages("limit-exceeded").len(), 1, "{third}");
}

#[test]
fn s21_thresholds_of_the_workspace_reach_every_reader_and_are_said() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], TABLES);
    let plain = Crate::write(machine.home().join("plain"), &["a"], "");
    for (made, changed) in [(&made, true), (&plain, false)] {
        for ns in [100.0, 200.0] {
            made.measure(&machine, &[], &[("a", ns)])
                .args(["--samples", "14", "--fail-on", "none", "--no-rerun"])
                .run();
        }
        let show = made
            .perfcheck(&machine, &["show", "latest"])
            .args(JSON)
            .run()
            .expect_code(0);
        let counts = &show.messages("benchmark-measured")[0]["summary"]["outliers"];
        let severe = counts["high_severe"].as_u64().expect("a count")
            + counts["low_severe"].as_u64().expect("a count");
        assert_eq!(severe > 0, changed, "{counts}");
        let thresholds = &finish(&show)["thresholds"];
        assert_eq!(thresholds["outlier-mild"].as_f64(), changed.then_some(0.1));
        let text = made
            .perfcheck(&machine, &["show", "latest", "--stats"])
            .run();
        assert_eq!(
            text.stdout.contains("outlier-mild 0.1 (default 1.5)"),
            changed,
            "{text}"
        );
    }
    let runs = made
        .perfcheck(&machine, &["store", "runs"])
        .args(JSON)
        .run();
    let numbers: Vec<u64> = runs
        .messages("run")
        .iter()
        .filter_map(|run| run["run"].as_u64())
        .collect();
    let (new, base) = (numbers[0].to_string(), numbers[1].to_string());
    let words = ["compare", &base, &new, "--test", "p95-ratio"];
    let found = made
        .perfcheck(&machine, &words)
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(verdict(&found, "a"), "unchanged", "200 / 100 is below 3");
}

#[test]
fn thresholds_are_read_strictly() {
    let machine = Machine::new();
    let refused = |line: &str, said: &[&str]| {
        let tables = format!("[workspace.metadata.perfcheck.thresholds]\n{line}\n");
        let made = Crate::of(&machine, &["a"], &tables);
        let run = made.perfcheck(&machine, &["store", "runs"]).run();
        run.expect_code(2).expect_stderr(said);
    };
    refused(
        "outlier-mld = 2",
        &["unknown key `outlier-mld`", "did you mean `outlier-mild`?"],
    );
    refused("outlier-mild = 4", &["must not exceed `outlier-severe`"]);
    refused("min-per-group = 2.5", &["is not a whole number"]);
    refused("test-level = \"5%\"", &["is not a number"]);
    let made = Crate::of(
        &machine,
        &["a"],
        "[workspace.metadata.perfcheck]\nlimit = [\"median\"]\n",
    );
    let run = made.perfcheck(&machine, &["store", "runs"]).run();
    run.expect_code(2)
        .expect_stderr(&["is not a limit such as `median:5%`"]);
}

#[test]
fn s21_the_guide_has_every_threshold_with_its_default() {
    let guide = include_str!("../../docs/internals/src/methods.md");
    for kind in Thresholds::ALL {
        let row = format!("| `{}` | {} |", kind.name, kind.default);
        assert!(guide.contains(&row), "no row {row}");
    }
    let section = guide.split("## Thresholds").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its end");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    assert_eq!(rows.count(), Thresholds::ALL.len());
}
