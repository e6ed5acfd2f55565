//! How a launch is measured and what of it is stored, as the five systems ask for it (tests/systems/rows.py names their rows).

use serde_json::Value;

use crate::degenerate::{compare, made, said};
use crate::scripted::{CLOCK, script, stored};
use crate::support::{Finished, Machine};

/// A run of `text`, which takes so many nanoseconds.
fn measure(machine: &Machine, ns: f64, words: &[&str]) -> Finished {
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady", "text", "--message-format", "json"])
        .args(words)
        .env(CLOCK, script(&["text"], &[("text", ns)]))
        .run()
        .expect_code(0)
}

#[track_caller]
fn launches(finished: &Finished) -> Vec<Value> {
    let measured = finished.messages("benchmark-measured");
    assert_eq!(measured.len(), 1, "{finished}");
    measured[0]["launches"].as_array().expect("a list").clone()
}

/// Pairs of iterations and nanoseconds.
#[track_caller]
fn samples(phase: &Value) -> Vec<(u64, u64)> {
    let list = |name: &str| phase[name].as_array().expect("a list").clone();
    let number = |value: &Value| value.as_u64().expect("a whole number");
    let (iterations, elapsed) = (list("iterations"), list("elapsed_ns"));
    assert_eq!(iterations.len(), elapsed.len());
    iterations
        .iter()
        .map(number)
        .zip(elapsed.iter().map(number))
        .collect()
}

#[test]
fn n1_n3_n6_c6_c7_m2_each_launch_has_the_samples_asked_for_whole_and_the_warm_up_apart() {
    let machine = Machine::new();
    let words = [
        "--launches",
        "3",
        "--samples",
        "10",
        "--sampling-mode",
        "flat",
        "--warm-up-time",
        "1ms",
        "--measurement-time",
        "5ms",
    ];
    let run = measure(&machine, 100.0, &words);
    let told = launches(&run);
    assert_eq!(told.len(), 3);
    for (launch, ns) in told.iter().zip([100.0, 101.0, 100.0]) {
        assert_eq!(samples(&launch["warm_up"]).len(), 1, "a total");
        assert!(samples(&launch["linear"]).is_empty());
        let flat = samples(&launch["flat"]);
        assert_eq!(flat.len(), 10);
        // What the clock said of each sample, to the nanosecond: its iterations together, no mean of them.
        for (at, (iterations, elapsed)) in flat.into_iter().enumerate() {
            let wobble = 1.0 + 1e-3 * (at % 7) as f64;
            let expected = (iterations as f64 * ns * wobble).round() as u64;
            assert!(iterations > 1 && elapsed == expected, "{launch}");
        }
    }
    let shown = stored(&machine, &["show", "1", "--message-format", "json"]).run();
    assert_eq!(launches(&shown), told);
}

#[test]
fn c2_the_warm_up_doubles_its_iterations_until_its_time_is_exceeded() {
    let machine = Machine::new();
    let words = [
        "--launches",
        "2",
        "--samples",
        "10",
        "--sampling-mode",
        "flat",
        "--warm-up-time",
        "10ms",
        "--measurement-time",
        "5ms",
    ];
    // An iteration of 1 ms: 1, 2, 4 and 8 of them.
    let run = measure(&machine, 1e6, &words);
    assert_eq!(samples(&launches(&run)[0]["warm_up"]), [(15, 15_000_000)]);
}

#[test]
fn c3_c4_a_linear_launch_takes_d_2d_to_nd_iterations_in_about_the_time_given() {
    let machine = Machine::new();
    let words = [
        "--launches",
        "2",
        "--samples",
        "20",
        "--sampling-mode",
        "linear",
        "--warm-up-time",
        "1ms",
        "--measurement-time",
        "5ms",
    ];
    let run = measure(&machine, 100.0, &words);
    let ramp = samples(&launches(&run)[0]["linear"]);
    let step = ramp[0].0;
    let counts: Vec<u64> = ramp.iter().map(|(iterations, _)| *iterations).collect();
    let expected: Vec<u64> = (1..=20).map(|i| i * step).collect();
    assert_eq!(counts, expected);
    // d = ceil(5 ms / 100 ns / (20 x 21 / 2))
    assert_eq!(step, 239);
}

#[test]
fn n_x1_b17_without_a_word_about_it_there_are_five_launches() {
    let machine = Machine::new();
    let run = measure(
        &machine,
        100.0,
        &[
            "--samples",
            "10",
            "--warm-up-time",
            "1ms",
            "--measurement-time",
            "5ms",
        ],
    );
    let ordinals: Vec<Value> = launches(&run)
        .iter()
        .map(|launch| launch["launch"].clone())
        .collect();
    assert_eq!(ordinals, [0, 1, 2, 3, 4]);
}

#[test]
fn c1_c12_warm_up_measurement_analysis_and_comparison_with_what_is_stored_follow_each_other() {
    let machine = Machine::new();
    let words = [
        "--launches",
        "3",
        "--samples",
        "10",
        "--warm-up-time",
        "1ms",
        "--measurement-time",
        "5ms",
    ];
    let first = measure(
        &machine,
        100.0,
        &[&words[..], &["--save-baseline", "before"]].concat(),
    );
    assert_eq!(said(&first)["verdict"], "new");
    let second = measure(
        &machine,
        100.0,
        &[&words[..], &["--baseline", "before"]].concat(),
    );
    let reasons: Vec<Value> = second
        .json()
        .iter()
        .map(|message| message["reason"].clone())
        .collect();
    assert_eq!(
        reasons,
        ["benchmark-measured", "benchmark-compared", "run-finished"]
    );
    let measured = &second.messages("benchmark-measured")[0];
    for launch in measured["launches"].as_array().expect("a list") {
        assert!(samples(&launch["warm_up"])[0].0 > 0 && !samples(&launch["flat"]).is_empty());
    }
    assert!(measured["summary"]["median_ns"]["estimate"].is_number());
    assert_eq!(said(&second)["reference_runs"], serde_json::json!([1]));
}

#[test]
fn c15_c16_a_change_within_the_threshold_or_just_at_it_is_no_change() {
    let machine = made();
    for (factor, verdict) in [
        (1.00, "unchanged"),
        (1.0199, "unchanged"),
        (1.0201, "regressed"),
        (0.9805, "unchanged"),
        (0.9801, "improved"),
    ] {
        let run = compare(
            &machine,
            factor,
            &["--screen", "--noise-threshold", "2%", "--fail-on", "none"],
        );
        assert_eq!(said(&run.expect_code(0))["verdict"], verdict, "{factor}");
    }
}
