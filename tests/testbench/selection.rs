//! Selection of benchmarks, with addressable and sequential benches, and with targets and packages that have the same ids.

use std::collections::BTreeSet;

use crate::commands::scripted::QUICK;
use crate::support::Machine;

/// Returns `package/target: id` of all benchmarks that are measured, or listed by `list`, with these arguments.
fn measured(arguments: &[&str]) -> BTreeSet<String> {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(arguments)
        .args(QUICK)
        .args(["--message-format", "json"])
        .run()
        .expect_code(0);
    run.messages("benchmark-measured")
        .iter()
        .map(|message| {
            assert_eq!(message["processes"].as_array().map(Vec::len), Some(3));
            let key = &message["benchmark"];
            let text = |name: &str| key[name].as_str().expect("text").to_owned();
            format!("{}/{}: {}", text("package"), text("target"), text("id"))
        })
        .collect()
}

fn set(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(ToString::to_string).collect()
}

#[test]
fn a_sequential_child_passes_over_what_was_filtered_out() {
    let sequential = |more: &[&str]| measured(&[&["-p", "sequential"], more].concat());
    let first = "sequential/sequential: first";
    let second = "sequential/sequential: second";
    let third = "sequential/sequential: third";
    assert_eq!(sequential(&[]), set(&[first, second, third]));
    // With a shuffled order, the tool also requests ids that the child has already passed. All must be measured in every process.
    for seed in ["1", "2", "3"] {
        let all = sequential(&["--seed", seed]);
        assert_eq!(all, set(&[first, second, third]), "seed {seed}");
    }
    assert_eq!(sequential(&["first"]), set(&[first]));
    assert_eq!(sequential(&["second"]), set(&[second]));
    assert_eq!(sequential(&["third", "first"]), set(&[first, third]));
}

#[test]
fn a_sequential_child_alone_is_brought_to_its_end_and_what_fails_there_is_told() {
    let machine = Machine::new();
    let run = |fails: bool| {
        let mut perfcheck = machine.perfcheck().testbench("");
        if fails {
            perfcheck = perfcheck.env("SEQUENTIAL_FAILS_AT_ITS_END", "1");
        }
        perfcheck
            // Ignore the verdicts: the times are real.
            .args(["-p", "sequential", "first", "--fail-on", "none"])
            .args(QUICK)
            .run()
            .expect_code(0)
    };
    let warning = "warning: sequential/sequential: ";
    let whole = run(false);
    assert!(!whole.stderr.contains(warning), "{}", whole.stderr);
    let failing = run(true);
    assert!(failing.stderr.contains(warning), "{}", failing.stderr);
}

#[test]
fn a_target_without_wanted_benchmarks_takes_nothing_of_the_time_budget() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "sequential",
            "-p",
            "steady",
            "first",
            "--time-budget",
            "1ms",
        ])
        .args(QUICK)
        .run()
        .expect_code(0);
    assert!(
        run.stderr
            .contains("sequential/sequential: ran only 1 of 3 processes"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("steady/steady: "), "{}", run.stderr);
}

#[test]
fn what_a_sequential_child_announced_is_stored() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "sequential", "second"])
        .args(QUICK)
        .args(["--message-format", "json"])
        .run()
        .expect_code(0);
    let second = &run.messages("benchmark-measured")[0];
    assert_eq!(second["version"], "2");
    assert_eq!(second["throughput"]["bytes"], 8000);
    assert_eq!(second["throughput"]["elements"], 1000);
}

#[test]
fn the_same_ids_in_two_targets_and_two_packages_are_six_benchmarks() {
    let all = measured(&["-p", "two_targets", "-p", "two_targets_again"]);
    assert_eq!(all.len(), 6, "{all:?}");
    let left = measured(&[
        "-p",
        "two_targets",
        "-p",
        "two_targets_again",
        "--bench",
        "left",
    ]);
    assert_eq!(
        left,
        set(&[
            "two_targets/left: first",
            "two_targets/left: second",
            "two_targets_again/left: first",
            "two_targets_again/left: second",
        ])
    );
}

#[test]
fn an_exact_filter_names_a_whole_id() {
    let exact = measured(&["-p", "many", "--exact", "many/n/7"]);
    assert_eq!(exact, set(&["many/many: many/n/7"]));
    assert_eq!(measured(&["-p", "many", "many/n/7"]).len(), 11);
}

#[test]
fn a_filter_that_names_nothing_is_told_so() {
    let machine = Machine::new();
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady", "no such benchmark"])
        .run()
        .expect_code(4)
        .expect_stderr(&["error: nothing was measured", "`no such benchmark`"]);
}
