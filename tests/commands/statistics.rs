//! `show --stats`: all statistics of a stored run, as text and as messages.

use serde_json::Value;

use crate::commands::scripted::{CLOCK, script, steady, stored};
use crate::support::{Finished, Machine};

const JSON: [&str; 2] = ["--message-format", "json"];

#[track_caller]
fn of(finished: &Finished, id: &str) -> Value {
    finished
        .messages("benchmark-statistics")
        .into_iter()
        .find(|message| message["benchmark"]["id"] == id)
        .unwrap_or_else(|| panic!("nothing of {id:?}:\n{finished}"))
}

#[track_caller]
fn number(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number {path} in {value}"))
}

/// Makes two runs. In the second one, `text` is slower.
fn two_runs(machine: &Machine) {
    steady(machine, &[]).run().expect_code(0);
    steady(machine, &[("text", 200.0)]).run().expect_code(1);
}

#[test]
fn n36_every_statistic_of_the_record_is_that_of_the_stored_samples() {
    let machine = Machine::new();
    two_runs(&machine);
    let shown = stored(&machine, &["show", "2", "--stats"])
        .args(JSON)
        .run()
        .expect_code(0);
    let samples = stored(&machine, &["show", "2"]).args(JSON).run();
    let measured = samples.messages("benchmark-measured");
    let message = of(&shown, "text");
    let raw = measured
        .iter()
        .find(|measured| measured["benchmark"]["id"] == "text")
        .expect("measured");
    let processes: Vec<Vec<f64>> = raw["processes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|process| {
            let list = |name: &str| process["flat"][name].as_array().expect("a list").clone();
            let ratio = |(elapsed, iterations): (&Value, &Value)| {
                elapsed.as_f64().expect("a time") / iterations.as_f64().expect("a count")
            };
            let (elapsed, iterations) = (list("elapsed_ns"), list("iterations"));
            elapsed.iter().zip(&iterations).map(ratio).collect()
        })
        .collect();
    let mut all: Vec<f64> = processes.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let count = all.len();
    let statistics = &message["statistics"];
    let near = |path: &str, expected: f64| {
        let found = number(statistics, path);
        let apart = (found - expected).abs() / expected.abs();
        assert!(apart < 1e-9, "{path}: {found} is not {expected}");
    };
    assert_eq!(statistics["samples"], count);
    assert_eq!(statistics["processes"], 3);
    near("/min_ns", all[0]);
    near("/max_ns", all[count - 1]);
    for (name, p) in [
        ("p5", 0.05),
        ("p25", 0.25),
        ("p75", 0.75),
        ("p95", 0.95),
        ("p99", 0.99),
    ] {
        let rank = (p * count as f64).ceil() as usize;
        near(&format!("/percentiles_ns/{name}"), all[rank.max(1) - 1]);
    }
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let sd = |x: &[f64]| {
        let squares: f64 = x.iter().map(|v| (v - mean(x)).powi(2)).sum();
        (squares / (x.len() - 1) as f64).sqrt()
    };
    near("/mean_ns/estimate", mean(&all));
    near("/std_dev_ns/estimate", sd(&all));
    near("/cv", sd(&all) / mean(&all));
    let means: Vec<f64> = processes.iter().map(|process| mean(process)).collect();
    let error = sd(&means) / 3.0_f64.sqrt();
    near("/std_err_ns", error);
    // The factor is scipy.stats.t.ppf(.975, 2), because there are three processes.
    near("/margin_ns", 4.302_652_729_696_142 * error);
    near("/mean_over_processes_ns/estimate", mean(&means));
    near(
        "/mean_over_processes_ns/upper",
        mean(&means) * (4.302_652_729_696_142 * error / mean(&means)).exp(),
    );
    assert!(number(statistics, "/r_squared") > 0.99, "{statistics}");
    assert!(number(statistics, "/slope_ns/lower") <= number(statistics, "/slope_ns/upper"));
}

#[test]
fn verdict_and_p_value_are_those_of_the_run() {
    let machine = Machine::new();
    two_runs(&machine);
    let compared = stored(&machine, &["compare", "1", "2"]).args(JSON).run();
    let compared = compared.messages("benchmark-compared");
    let shown = stored(&machine, &["show", "--stats"])
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(shown.messages("benchmark-statistics").len(), 3);
    for comparison in compared {
        let id = comparison["benchmark"]["id"].as_str().expect("an id");
        let message = of(&shown, id);
        assert_eq!(message["verdict"], comparison["verdict"], "{message}");
        assert_eq!(message["p_value"], comparison["p_value"], "{message}");
        assert_eq!(
            message["change"], comparison["change"]["estimate"],
            "{message}"
        );
        assert_eq!(message["run"], 2);
    }
    let first = stored(&machine, &["show", "1", "--stats"]).args(JSON).run();
    let message = of(&first, "text");
    assert_eq!(message["verdict"], "new");
    assert!(
        message["p_value"].is_null() && message["change"].is_null(),
        "{message}"
    );
}

#[test]
fn what_a_single_process_does_not_tell_is_null_and_a_dash() {
    let machine = Machine::new();
    machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "steady",
            "text",
            "--rounds",
            "1",
            "--sampling-mode",
            "flat",
        ])
        .args([
            "--warm-up-time",
            "1ms",
            "--measurement-time",
            "5ms",
            "--resamples",
            "1000",
        ])
        .env(CLOCK, script(&["text"], &[]))
        .run()
        .expect_code(0);
    let shown = stored(&machine, &["show", "--stats"])
        .args(JSON)
        .run()
        .expect_code(0);
    let statistics = of(&shown, "text")["statistics"].clone();
    for absent in [
        "std_err_ns",
        "margin_ns",
        "mean_over_processes_ns",
        "slope_ns",
        "r_squared",
    ] {
        assert!(statistics[absent].is_null(), "{absent}: {statistics}");
    }
    assert!(statistics["std_dev_ns"].is_object(), "{statistics}");
    let text = stored(&machine, &["show", "--stats"]).run().expect_code(0);
    for line in [
        "standard error    -",
        "process mean      -",
        "slope             -",
    ] {
        assert!(text.stdout.contains(line), "no {line:?} in {text}");
    }
}

#[test]
fn a_block_for_each_benchmark_fits_a_narrow_terminal() {
    let machine = Machine::new();
    two_runs(&machine);
    let text = stored(&machine, &["show", "2", "--stats", "--sort", "worst"])
        .run()
        .expect_code(0)
        .stdout;
    let (_, blocks) = text.split_once("\n\n").expect("a head");
    for line in blocks.lines() {
        assert!(line.chars().count() <= 80, "{line:?} is too long");
    }
    let blocks: Vec<&str> = blocks.trim_end().split("\n\n").collect();
    assert_eq!(blocks.len(), 3, "{text}");
    assert!(blocks[0].starts_with("steady/steady text"), "{text}");
    for said in [
        "p99",
        "t margin",
        "t interval",
        "R²",
        "outliers",
        "regressed",
    ] {
        assert!(blocks[0].contains(said), "no {said:?} in {text}");
    }
}

#[test]
fn a_run_without_samples_says_so() {
    let machine = Machine::new();
    let failed = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "panics", "--bench", "panics", "in_body"])
        .args(crate::commands::scripted::QUICK);
    failed.run().expect_code(4);
    let shown = stored(&machine, &["show", "--stats"]).run().expect_code(0);
    assert!(shown.stdout.contains("no samples"), "{shown}");
    let message = of(
        &stored(&machine, &["show", "--stats"]).args(JSON).run(),
        "in_body",
    );
    assert!(message["statistics"].is_null(), "{message}");
    assert_eq!(message["verdict"], "failed");
}
