//! Exact verdicts of the whole program: under the scripted clock (docs/internals/src/protocol.md, section 7), every time is known in advance.

use serde_json::Value;

use crate::support::{Finished, Machine, testbench};

/// Runs `steady` under the scripted clock. `arithmetic` takes `ns` per iteration, and the other benchmarks always take 100 ns.
fn steady(machine: &Machine, ns: &str, more: &[&str]) -> Finished {
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady", "--warm-up-time", "100us"])
        .args(["--measurement-time", "5ms", "--resamples", "2000"])
        .args(["--seed", "1"])
        .args(more)
        .env(
            "PERFCHECK_SCRIPTED_CLOCK",
            format!("arithmetic={ns};memory=100;text=100"),
        )
        .run()
}

fn steady_json(machine: &Machine, ns: &str, more: &[&str]) -> Finished {
    steady(machine, ns, &[more, &["--message-format", "json"]].concat())
}

/// Returns the comparison message about a benchmark.
#[track_caller]
fn compared(run: &Finished, id: &str) -> Value {
    run.messages("benchmark-compared")
        .into_iter()
        .find(|message| message["benchmark"]["id"] == id)
        .unwrap_or_else(|| panic!("nothing is said of {id} in\n{run}"))
}

#[track_caller]
fn expect(run: &Finished, verdict: &str, change: f64) {
    let arithmetic = compared(run, "arithmetic");
    assert_eq!(arithmetic["verdict"], verdict, "{arithmetic}");
    let estimate = arithmetic["change"]["estimate"].as_f64().expect("a change");
    assert!((estimate - change).abs() < 1e-9, "{estimate}");
    for id in ["memory", "text"] {
        assert_eq!(compared(run, id)["verdict"], "unchanged", "{id}");
    }
}

/// Returns the number of the run.
fn number(run: &Finished) -> u64 {
    run.messages("run-finished")[0]["run"]
        .as_u64()
        .expect("a number")
}

#[test]
fn the_same_work_twice_is_never_a_regression() {
    let machine = Machine::new();
    let first = steady_json(&machine, "100", &[]).expect_code(0);
    assert_eq!(compared(&first, "arithmetic")["verdict"], "new");
    let second = steady_json(&machine, "100", &[]).expect_code(0);
    expect(&second, "unchanged", 0.0);
    // With real times and unknown noise, check only that no regression is reported.
    for _ in 0..2 {
        let run = machine
            .perfcheck()
            .testbench("")
            .args(["-p", "steady", "--measurement-time", "20ms"])
            .args(["--message-format", "json"])
            .env("PERFCHECK_STORE", machine.home().join("measured.db"))
            .run()
            .expect_code(0);
        for message in run.messages("benchmark-compared") {
            assert_ne!(message["verdict"], "regressed", "{message}");
        }
    }
}

#[test]
fn twice_the_time_is_a_regression_until_it_is_reverted_and_never_becomes_the_reference() {
    let machine = Machine::new();
    let good = number(&steady_json(&machine, "100", &[]).expect_code(0));
    for _ in 0..2 {
        let bad = steady_json(&machine, "200", &[]).expect_code(1);
        expect(&bad, "regressed", 1.0);
        let arithmetic = compared(&bad, "arithmetic");
        assert_eq!(arithmetic["reference_runs"][0], good);
        assert!(arithmetic["change"]["lower"].as_f64().expect("a bound") > 0.02);
        assert_eq!(bad.messages("run-finished")[0]["verdicts"]["regressed"], 1);
    }
    let reverted = steady_json(&machine, "100", &[]).expect_code(0);
    expect(&reverted, "unchanged", 0.0);
}

#[test]
fn a_regression_that_was_meant_becomes_the_reference_when_it_is_accepted() {
    let machine = Machine::new();
    steady_json(&machine, "100", &[]).expect_code(0);
    let slower = number(&steady_json(&machine, "200", &[]).expect_code(1));
    machine
        .perfcheck()
        .args(["accept", &slower.to_string()])
        .testbench("")
        .run()
        .expect_code(0);
    expect(
        &steady_json(&machine, "200", &[]).expect_code(0),
        "unchanged",
        0.0,
    );
}

#[test]
fn half_the_time_is_an_improvement() {
    let machine = Machine::new();
    steady_json(&machine, "200", &[]).expect_code(0);
    expect(
        &steady_json(&machine, "100", &[]).expect_code(0),
        "improved",
        -0.5,
    );
}

#[test]
fn what_the_drift_between_runs_could_explain_is_suspect_and_the_last_lines_say_what_to_do() {
    let machine = Machine::new();
    steady_json(&machine, "100", &[]).expect_code(0);
    let suspect = steady_json(&machine, "104", &[]).expect_code(0);
    expect(&suspect, "suspect", 0.04);
    let said = steady(&machine, "104", &[]).expect_code(0);
    let mut lines = said.stdout.lines().rev();
    let outcome = lines.next().expect("a line");
    assert!(
        outcome.starts_with("OK  run 3: 1 of 3 suspect, 2 unchanged vs "),
        "{outcome}"
    );
    let last = lines.next().expect("one before it");
    let place = format!("--manifest-path {}", testbench("").display());
    let accept = "Accept: cargo perfcheck accept arithmetic --run 3 ";
    assert!(last.starts_with(accept) && last.contains(&place), "{last}");
    let again = lines.next().expect("another one");
    let command = format!("Measure again: cargo perfcheck {place}");
    assert!(again.starts_with(&command), "{again}");
    assert!(
        again.ends_with(" -p steady --bench steady --exact arithmetic"),
        "{again}"
    );
    let with_features = steady(&machine, "104", &["--no-default-features"]).expect_code(0);
    let again = with_features
        .stdout
        .lines()
        .find(|line| line.starts_with(&command));
    let again = again.expect("the command");
    assert!(again.contains(" --no-default-features"), "{again}");
    // A suspect run does not become the reference either, so the change is reported again.
    expect(
        &steady_json(&machine, "104", &["--fail-on", "suspect"]).expect_code(1),
        "suspect",
        0.04,
    );
    expect(
        &steady_json(&machine, "104", &["--ignore-drift"]).expect_code(1),
        "regressed",
        0.04,
    );
    expect(
        &steady_json(&machine, "104", &["--ignore-drift", "--fail-on", "none"]).expect_code(0),
        "regressed",
        0.04,
    );
}

#[test]
fn a_bench_that_really_takes_twice_as_long_is_caught() {
    let machine = Machine::new();
    let doubled = |doubled: &str| {
        machine
            .perfcheck()
            .testbench("")
            .args(["-p", "doubled", "--measurement-time", "50ms"])
            .args(["--message-format", "json"])
            .env("DOUBLED", doubled)
            .run()
    };
    doubled("0").expect_code(0);
    // If the machine is busy, a run may be undecided, so try several. This test ignores `unaffected`: tests with scripted times cover it.
    let verdict = (0..5)
        .map(|_| compared(&doubled("1"), "doubled")["verdict"].clone())
        .find(|verdict| verdict != "inconclusive" && verdict != "suspect");
    assert_eq!(
        verdict.expect("a verdict in one of five looks"),
        "regressed"
    );
}
