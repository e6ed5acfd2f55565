//! Tests benches that are written for Criterion. The benches of `for_criterion` use `perfcheck-criterion`, where flags of `cargo bench` such as
//! `--save-baseline` affect the store. The benches of `fakes_criterion` speak Criterion's own protocol.

use std::env;
use std::path::Path;

use crate::support::{self, Finished, Machine, testbench};

/// Runs `cargo bench` in the crate `for_criterion`, with `cargo-perfcheck` on the search path.
fn cargo_bench(machine: &Machine, flags: &str) -> Finished {
    let ours = Path::new(env!("CARGO_BIN_EXE_cargo-perfcheck"));
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = ours.parent().map(Path::to_owned);
    let directories = directories.into_iter().chain(env::split_paths(&path));
    let mut command = machine.command(env!("CARGO"));
    command
        .args(["bench", "--quiet", "-p", "for_criterion", "--manifest-path"])
        .arg(testbench(""))
        .arg("--")
        .args(flags.split_whitespace())
        .args(["--warm-up-time", "0.001", "--measurement-time", "0.01"])
        .env("PATH", env::join_paths(directories).expect("a path"))
        .env("PERFCHECK_STORE", machine.store())
        .env("PERFCHECK_CACHE", machine.home().join("cache"))
        .env("PERFCHECK_NO_RERUN", "1");
    support::run(command)
}

#[test]
fn baselines_of_cargo_bench_are_those_of_the_store() {
    let machine = Machine::new();
    let saved = cargo_bench(&machine, "--save-baseline first sum/fold/100").expect_code(0);
    assert!(saved.stderr.contains("running `cargo perfcheck"), "{saved}");
    let baselines = machine
        .perfcheck()
        .args(["baseline", "list"])
        .testbench("")
        .run()
        .expect_code(0);
    assert!(baselines.stdout.contains("first"), "{baselines}");
    let compared = cargo_bench(&machine, "--baseline first --exact sum/fold/100");
    assert!(compared.stdout.contains("sum/fold/100"), "{compared}");
    assert!(!compared.stdout.contains("sum/fold/1000"), "{compared}");
    // A missing baseline is an error of the tool, whose exit status is passed on.
    let missing = cargo_bench(&machine, "--baseline nowhere");
    assert!(missing.stderr.contains("nowhere"), "{missing}");
    assert_ne!(missing.code(), 0);
}

#[test]
fn a_plain_cargo_bench_prints_a_table_and_stores_nothing() {
    let machine = Machine::new();
    let run = cargo_bench(&machine, "steps|^after$").expect_code(0);
    assert!(run.stdout.contains("3.000 steps"), "{run}");
    assert!(!machine.store().exists());
}

#[test]
fn amounts_that_are_no_times_are_measured_like_times() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "for_criterion", "--exact", "steps", "--rounds", "2"])
        .args(["--warm-up-time", "1ms", "--measurement-time", "10ms"])
        .args(["--message-format", "json"])
        .run()
        .expect_code(0);
    let measured = &run.messages("benchmark-measured")[0];
    assert_eq!(measured["summary"]["median_ns"]["estimate"], 3.0, "{run}");
}

#[test]
fn a_few_events_in_a_long_iteration_are_laid_out_by_its_time_and_compared_by_their_number() {
    let machine = Machine::new();
    let run = |events: &str, code| {
        machine
            .perfcheck()
            .testbench("")
            .env("EVENTS", events)
            .args(["-p", "for_criterion", "--exact", "events", "--rounds", "3"])
            .args(["--warm-up-time", "1ms", "--measurement-time", "5ms"])
            .args(["--no-rerun", "--message-format", "json"])
            .run()
            .expect_code(code)
    };
    let first = run("3", 0);
    let flat = &first.messages("benchmark-measured")[0]["processes"][0]["flat"];
    let iterations = flat["iterations"][0].as_u64().expect("a number");
    assert!(iterations <= 50, "a sample takes 1 ms: {first}");
    let compared = |run: &Finished| run.messages("benchmark-compared")[0]["verdict"].clone();
    assert_eq!(compared(&run("3", 0)), "unchanged");
    assert_eq!(compared(&run("4", 1)), "regressed");
}

#[test]
fn amounts_of_criterion_are_compared_with_stored_ones() {
    let machine = Machine::new();
    let run = || {
        machine
            .perfcheck()
            .testbench("")
            .args(["-p", "fakes_criterion", "--bench", "says"])
            .args(["--exact", "energy", "--rounds", "3", "--no-rerun"])
            .args(["--message-format", "json"])
            .run()
            .expect_code(0)
    };
    run();
    let second = run();
    let compared = &second.messages("benchmark-compared")[0];
    assert_eq!(compared["verdict"], "unchanged", "{second}");
}

#[test]
fn a_process_whose_warm_up_was_slow_is_measured_again_for_longer() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "fakes_criterion", "--bench", "warms_up_slowly"])
        .args(["--rounds", "3", "--message-format", "json"])
        .run()
        .expect_code(0);
    let measured = &run.messages("benchmark-measured")[0];
    let processes = measured["processes"].as_array().expect("processes");
    let longest: Vec<u64> = processes
        .iter()
        .map(|process| {
            let times = process["linear"]["elapsed_ns"].as_array().expect("times");
            let longest = times.last().and_then(serde_json::Value::as_u64);
            longest.expect("a time")
        })
        .collect();
    assert_eq!(longest.len(), 4, "three, and one again: {run}");
    assert!(longest[0] < 100_000, "{longest:?}");
    assert!(longest[1..].iter().all(|ns| *ns > 250_000), "{longest:?}");
}

#[test]
fn values_of_custom_measurements_keep_their_unit_and_times_are_times() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "fakes_criterion", "--bench", "says"])
        .args(["--rounds", "3", "--message-format", "json"])
        .run()
        .expect_code(0);
    assert!(!run.stderr.contains("Unable to complete"), "{run}");
    let found: Vec<(String, serde_json::Value, f64)> = run
        .messages("benchmark-measured")
        .iter()
        .map(|message| {
            let id = message["benchmark"]["id"].as_str().expect("text");
            let median = &message["summary"]["median_ns"]["estimate"];
            let median = median.as_f64().expect("a number");
            (id.to_owned(), message["metric"].clone(), median)
        })
        .collect();
    let amount = |unit: &str| serde_json::json!({"kind": "amount", "unit": unit});
    let time = serde_json::json!({"kind": "time"});
    let expected = [
        ("energy", amount("10^-6 J"), 3.0),
        ("frames", time.clone(), 3e6),
        ("processor time", time.clone(), 5e8),
        ("steps", amount("steps"), 3.0),
        ("twice", time.clone(), 1000.0),
        ("twice #2", time, 1000.0),
    ];
    let expected = expected.map(|(id, metric, median)| (id.to_owned(), metric, median));
    assert_eq!(found, expected, "{run}");
    // The throughput is neither bytes nor elements, so it is stored in the author's words.
    let run = machine
        .perfcheck()
        .args(["show", "latest", "frames"])
        .testbench("")
        .run()
        .expect_code(0);
    assert!(run.stdout.contains("Frames(3)"), "{run}");
}

#[test]
fn a_run_whose_time_is_up_keeps_what_it_has_and_gives_no_verdict_from_too_little() {
    let machine = Machine::new();
    let run = |more: &[&str]| {
        machine
            .perfcheck()
            .testbench("")
            .args(["-p", "fakes_criterion", "--bench", "stranger_first"])
            .args(more)
            .args(["--message-format", "json"])
            .run()
            .expect_code(0)
    };
    run(&["--rounds", "3"]);
    // No process fits into the budget, but each benchmark gets one.
    let short = run(&["--rounds", "5", "--time-budget", "1ns"]);
    let measured = &short.messages("benchmark-measured")[0];
    assert_eq!(measured["processes"].as_array().map(Vec::len), Some(1));
    let compared = &short.messages("benchmark-compared")[0];
    assert_eq!(compared["verdict"], "inconclusive", "{short}");
    let reason = "`--time-budget` left time for only 1 process, but a verdict needs 3";
    assert!(compared["remarks"].to_string().contains(reason), "{short}");
    assert!(short.stderr.contains("1 of 5 processes"), "{short}");
    // A sufficient budget changes nothing.
    let whole = run(&["--rounds", "3", "--time-budget", "10min"]);
    let compared = &whole.messages("benchmark-compared")[0];
    assert_eq!(compared["verdict"], "unchanged", "{whole}");
}

#[test]
fn criterion_in_whole_seconds_keeps_its_authors_shorter_times_and_tells_them_beforehand() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "fakes_criterion", "--bench", "whole_seconds"])
        .args(["--rounds", "6", "--message-format", "json"])
        .run()
        .expect_code(0);
    let in_force: Vec<serde_json::Value> = run
        .messages("benchmark-measured")
        .iter()
        .map(|message| {
            let sampling = &message["sampling"];
            let millis = |name: &str| sampling[name].as_u64().expect("a time") / 1_000_000;
            serde_json::json!([
                message["benchmark"]["id"],
                millis("warm_up_ns"),
                millis("measurement_ns")
            ])
        })
        .collect();
    // The command line requests a warm-up of 0.1 s and 0.4 s of samples. This version of Criterion accepts only whole seconds.
    let expected = serde_json::json!([
        // This benchmark comes after those without their own times, and is in another group.
        ["late/quick", 100, 100],
        // The group sets these times, which override the command line.
        ["of a group", 2000, 3000],
        ["quick", 100, 100],
        ["slow", 100, 1000],
        ["unset", 1000, 1000],
        ["unset too", 1000, 1000]
    ]);
    assert_eq!(serde_json::Value::from(in_force), expected, "{run}");
    // Expected before any process runs: six benchmarks in six processes, each with one second of warm-up and one of samples, take 72 s.
    let beforehand = "Measuring 6 benchmarks, about 72 seconds";
    // Expected after a short process has shown the authors' times: the benchmarks outside the group take 6 x (0.2 + 0.2 + 1.1 + 2 + 2) s = 33 s, and
    // the benchmark in the group takes 6 x 5 s = 30 s. Without rounding to whole seconds, "slow" would take 0.1 s + 0.4 s, and each "unset" benchmark
    // 0.5 s. This would save 6 x (0.6 + 1.5 + 1.5) s.
    let update = "Criterion 0.3.6 accepts only times in whole seconds; an update to Criterion 0.4 or later would save 22 s of 63 s";
    run.expect_stderr(&[beforehand, update]);
}

#[test]
fn one_benchmark_is_measured_of_a_bench_that_needs_all_of_them_to_run() {
    for package in ["fakes_criterion", "needs_all"] {
        let run = Machine::new()
            .perfcheck()
            .testbench("")
            .args(["-p", package, "--bench", "needs_all", "--rounds", "2"])
            .args(["--warm-up-time", "1ms", "--measurement-time", "5ms"])
            .args(["--exact", "after", "--message-format", "json"])
            .run()
            .expect_code(0)
            .expect_stderr(&["a filter saves no time"]);
        let measured = run.messages("benchmark-measured");
        assert_eq!(measured.len(), 1, "{run}");
        assert_eq!(measured[0]["benchmark"]["id"], "after", "{run}");
    }
}
