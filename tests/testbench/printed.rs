//! Benches that print their results: `prints_results` of the testbench, with known times.

use crate::support::{Finished, Machine};

const SETTINGS: [&str; 8] = [
    "-p",
    "prints_results",
    "--seed",
    "1",
    "--resamples",
    "2000",
    "--message-format",
    "json",
];

fn run(machine: &Machine, slower: bool, more: &[&str]) -> Finished {
    let perfcheck = machine.perfcheck().testbench("").args(SETTINGS).args(more);
    if slower {
        perfcheck.env("SLOWER", "1").run()
    } else {
        perfcheck.run()
    }
}

#[track_caller]
fn verdict(run: &Finished, id: &str) -> String {
    let found = run.messages("benchmark-compared");
    let found = found
        .iter()
        .find(|message| message["benchmark"]["id"] == id);
    let found = found.unwrap_or_else(|| panic!("nothing is said of {id} in\n{run}"));
    found["verdict"].as_str().expect("a verdict").to_owned()
}

#[test]
fn thirty_percent_more_is_a_regression_and_the_same_again_is_not_for_either_harness() {
    let machine = Machine::new();
    // Select benchmarks that do not fail, so that the exit status is that of the comparison.
    let benches = [
        "--exact",
        "sums::one",
        "sums::other",
        "plain",
        "sums::with_args/10",
    ];
    run(&machine, false, &benches).expect_code(0);
    let control = run(&machine, false, &benches).expect_code(0);
    for id in &benches[1..] {
        // Because of drift between runs, five values may not suffice to show that a benchmark is unchanged. But no change may be reported.
        let verdict = verdict(&control, id);
        assert!(
            ["unchanged", "inconclusive"].contains(&verdict.as_str()),
            "{control}"
        );
    }
    let slower = run(&machine, true, &benches).expect_code(1);
    for (id, is_slower) in [
        ("sums::one", true),
        ("sums::with_args/10", true),
        ("sums::other", false),
        ("plain", false),
    ] {
        let is_regressed = verdict(&slower, id) == "regressed";
        assert_eq!(is_regressed, is_slower, "{id} in {slower}");
    }
}

#[test]
fn what_is_stored_is_the_printed_number_and_it_is_known_who_printed_it() {
    let machine = Machine::new();
    let measured = run(&machine, false, &["--exact", "threaded/t=4", "plain"]).expect_code(0);
    let medians: Vec<(String, f64)> = measured
        .messages("benchmark-measured")
        .iter()
        .map(|message| {
            let id = message["benchmark"]["id"]
                .as_str()
                .expect("an id")
                .to_owned();
            let median = message["summary"]["median_ns"]["estimate"].as_f64();
            (id, median.expect("a number"))
        })
        .collect();
    let expected = [("plain", 12.34), ("threaded/t=4", 2_500_000.0)];
    assert_eq!(
        medians,
        expected.map(|(id, ns)| (id.to_owned(), ns)),
        "{measured}"
    );
}

#[test]
fn a_target_with_tests_alone_is_passed_over_in_silence() {
    let machine = Machine::new();
    let listed = machine
        .perfcheck()
        .arg("list")
        .testbench("")
        .args(["-p", "prints_results"])
        .run()
        .expect_code(0);
    assert!(!listed.stderr.contains("tests_alone` of"), "{listed}");
    for id in ["sums::one", "sums::with_args/a/b", "threaded/t=1"] {
        assert!(listed.stdout.contains(id), "{id} in {listed}");
    }
    for id in ["ignored", "works"] {
        assert!(!listed.stdout.contains(id), "{id} in {listed}");
    }
}
