//! `doctor --self-test`: known differences are detected, and equal executables raise no alarm.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::commands::scripted::CLOCK;
use crate::support::{Finished, Machine, Perfcheck};

const SCRIPT: &str = "arithmetic=100;memory=200;text=300";

fn self_test(machine: &Machine, package: &str, words: &[&str]) -> Perfcheck {
    machine
        .perfcheck()
        .args(["doctor", "--self-test"])
        .testbench("")
        .args(["-p", package])
        .args(words)
        .env(CLOCK, SCRIPT)
}

#[track_caller]
fn finish(finished: &Finished) -> Value {
    let mut messages = finished.messages("self-test-finished");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

#[test]
fn the_same_is_called_unchanged_and_what_is_slowed_down_regressed() {
    let machine = Machine::new();
    let words = ["--trials", "2", "--message-format", "json", "--seed", "7"];
    let finished = self_test(&machine, "steady", &words).run().expect_code(0);
    let benchmarks = finished.messages("self-test-benchmark");
    assert_eq!(benchmarks.len(), 3, "{finished}");
    for benchmark in &benchmarks {
        assert_eq!(benchmark["same"]["unchanged"], 2, "{finished}");
        assert_eq!(benchmark["slowed"]["regressed"], 2, "{finished}");
        assert!(benchmark["seconds_per_verdict"].is_number());
    }
    let said = finish(&finished);
    assert_eq!(said["false_alarms"]["count"], 0);
    assert_eq!(said["false_alarms"]["of"], 6);
    // None of six comparisons raised a false alarm, so the upper bound of the probability of one is 1 - 0.05^(1/6).
    let upper = said["false_alarms"]["upper"].as_f64().expect("a number");
    assert!((upper - 0.393_037).abs() < 1e-6, "{upper}");
    assert_eq!(said["found"]["count"], 6);
    assert_eq!(said["slowdown"], json!(0.02));
    assert_eq!(said["seed"], 7);
    assert!(!machine.store().exists(), "nothing is stored");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_slowdown_below_the_noise_threshold_is_noise_and_the_report_says_what_to_do() {
    let machine = Machine::new();
    let words = ["arithmetic", "--trials", "1", "--slowdown", "0.5%"];
    let finished = self_test(&machine, "steady", &words).run().expect_code(0);
    for text in [
        "steady/steady",
        "  arithmetic  ",
        "Found: 0 of 1 slowdown of 0.5 %",
        "--noise-threshold 0.125%",
        "False alarms: none in 1 comparison",
    ] {
        assert!(finished.stdout.contains(text), "no {text:?} in {finished}");
    }
    assert!(!finished.stdout.contains("memory"), "{finished}");
    let lower = [&words[..], &["--noise-threshold", "0.125%"]].concat();
    let finished = self_test(&machine, "steady", &lower).run().expect_code(0);
    assert!(finished.stdout.contains("Found: 1 of 1"), "{finished}");
}

#[test]
fn a_harness_that_cannot_slow_itself_down_is_named() {
    let machine = Machine::new();
    self_test(&machine, "sequential", &["--trials", "1"])
        .run()
        .expect_code(4)
        .expect_stderr(&["no bench uses a harness that can simulate a slowdown"]);
    let words = ["-p", "steady", "--trials", "1", "--message-format", "json"];
    let finished = self_test(&machine, "sequential", &words)
        .run()
        .expect_code(0);
    let said = finish(&finished);
    let skipped = said["skipped"].as_array().expect("a list");
    assert_eq!(skipped.len(), 3, "{finished}");
    assert_eq!(skipped[0]["benchmark"]["id"], "first");
    assert_eq!(skipped[0]["why"], "its harness cannot simulate a slowdown");
}

#[test]
fn a_benchmark_that_fails_is_counted_and_ends_with_its_status() {
    let machine = Machine::new();
    let words = ["--trials", "1", "--message-format", "json"];
    let finished = self_test(&machine, "panics", &words).run().expect_code(4);
    let failed: u64 = finished
        .messages("self-test-benchmark")
        .iter()
        .filter_map(|benchmark| benchmark["same"]["failed"].as_u64())
        .sum();
    assert!(failed > 0, "{finished}");
}

#[test]
fn an_interrupted_self_test_shows_what_it_has() {
    let machine = Machine::new();
    let words = ["arithmetic", "--trials", "100000"];
    let mut running = self_test(&machine, "steady", &words).start();
    running.wait_for_stderr("Trial 2 of 100000");
    running.signal_group(Signal::INT);
    let finished = running.finish().expect_code(130);
    for text in [
        "unchanged",
        "Interrupted",
        "100000 of each kind were planned",
    ] {
        assert!(finished.stdout.contains(text), "no {text:?} in {finished}");
    }
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_slowdown_that_makes_no_sense_is_refused() {
    let machine = Machine::new();
    for wrong in ["1", "0.02", "-2%"] {
        let flag = format!("--slowdown={wrong}");
        self_test(&machine, "steady", &[&flag])
            .run()
            .expect_code(2)
            .expect_stderr(&[wrong, "1.02", "2%"]);
    }
    self_test(&machine, "steady", &["no-such-benchmark"])
        .run()
        .expect_code(4)
        .expect_stderr(&["no-such-benchmark", "cargo perfcheck list"]);
}

#[test]
fn how_long_it_takes_is_said_beforehand_by_its_plan() {
    let machine = Machine::new();
    let expected = |words: &[&str], said: &str| {
        let words = [&["arithmetic", "--slowdown", "2%"], words].concat();
        let finished = self_test(&machine, "steady", &words).run().expect_code(0);
        let finished = finished.expect_stderr(&[said]);
        let testing = finished.stderr.find("Testing").expect("it is said");
        assert!(
            testing < finished.stderr.find("Trial").expect("trials"),
            "{finished}"
        );
    };
    // A round takes at most 46 ms: up to 40 ms of samples, and the rest for starting and warming up both processes. Each of the two comparisons has
    // 200 rounds: 2 x 200 x 46 ms.
    let words = ["--trials", "1"];
    expected(
        &words,
        "Testing 1 benchmark in 2 comparisons, usually at most 18 seconds",
    );
    // Four comparisons of 30 rounds take 4 x 30 x 46 ms = 5.5 s.
    let words = ["--trials", "2", "--rounds", "30"];
    expected(
        &words,
        "Testing 1 benchmark in 4 comparisons, usually at most 6 seconds",
    );
    let quiet = self_test(
        &machine,
        "steady",
        &["arithmetic", "--trials", "1", "--quiet"],
    )
    .run();
    assert!(!quiet.stderr.contains("Testing"), "{quiet}");
}
