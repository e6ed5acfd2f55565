//! The tables in Cargo.toml: which setting takes precedence, and which settings are refused.

use serde_json::Value;
use std::fs;

use crate::commands::crates::Crate;
use crate::commands::measuring_loop::phase;
use crate::commands::scripted::{CLOCK, script};
use crate::support::{Finished, Machine};

/// Tables with times that are short enough for tests. Each test sets processes and samples.
const TABLES: &str = r#"
[workspace.metadata.perfcheck]
rounds = 2
samples = 12
warm-up-time = "1ms"
measurement-time = "5ms"
resamples = 1000
fail-on = ["regressed", "suspect", "new"]
timeout = "20s"

[[workspace.metadata.perfcheck.override]]
match = "sort/*"
samples = 14

[package.metadata.perfcheck]
rounds = 3
noise-threshold = "3%"

[[package.metadata.perfcheck.override]]
match = "*/large"
rounds = 4
noise-threshold = 0.05
"#;

/// Returns how many processes and how many samples were set for a benchmark.
#[track_caller]
fn sampling(finished: &Finished, id: &str) -> (u64, u64) {
    let messages = finished.messages("benchmark-measured");
    let found = messages
        .iter()
        .find(|message| message["benchmark"]["id"] == id)
        .unwrap_or_else(|| panic!("no {id}: {finished}"));
    let number = |key: &str| found["sampling"][key].as_u64().unwrap_or(0);
    let measured = found["processes"].as_array().map_or(0, Vec::len);
    assert_eq!(number("processes"), measured as u64, "{finished}");
    (number("processes"), number("samples"))
}

#[track_caller]
fn noise_threshold(finished: &Finished, id: &str) -> Option<f64> {
    let messages = finished.messages("benchmark-compared");
    let found = messages
        .iter()
        .find(|message| message["benchmark"]["id"] == id);
    found.and_then(|message| message["noise_threshold"].as_f64())
}

#[test]
fn the_nearest_table_is_heard_and_the_command_line_before_all() {
    let machine = Machine::new();
    let ids = ["hash/small", "sort/small", "sort/large"];
    let made = Crate::of(&machine, &ids, TABLES);
    let run = |more: &[&str]| {
        made.perfcheck(&machine, &["--message-format", "json"])
            .env(CLOCK, script(&ids, &[]))
            .args(more)
            .run()
    };
    // The tables make the run fail on `new`.
    let first = run(&[]).expect_code(1);
    assert_eq!(sampling(&first, "hash/small"), (3, 12));
    assert_eq!(sampling(&first, "sort/small"), (3, 14));
    assert_eq!(sampling(&first, "sort/large"), (4, 14));
    let second = run(&["--rounds", "2", "--fail-on", "none"]).expect_code(0);
    for id in ids {
        assert_eq!(sampling(&second, id).0, 2, "{id}");
    }
    assert_eq!(noise_threshold(&second, "hash/small"), Some(0.03));
    assert_eq!(noise_threshold(&second, "sort/large"), Some(0.05));
    let third = run(&["--noise-threshold", "7%", "--fail-on", "none"]).expect_code(0);
    assert_eq!(noise_threshold(&third, "sort/large"), Some(0.07));
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    for (tables, key, place, nearest) in [
        (
            "[workspace.metadata.perfcheck]\nruonds = 3\n",
            "`ruonds`",
            "[workspace.metadata.perfcheck]",
            "did you mean `rounds`?",
        ),
        (
            "[package.metadata.perfcheck]\nnoise-treshold = 0.1\n",
            "`noise-treshold`",
            "[package.metadata.perfcheck]",
            "did you mean `noise-threshold`?",
        ),
        (
            "[[package.metadata.perfcheck.override]]\nmatch = \"*\"\nsample = 20\n",
            "`sample`",
            "[[package.metadata.perfcheck.override]]",
            "did you mean `samples`?",
        ),
    ] {
        let machine = Machine::new();
        let made = Crate::of(&machine, &["a"], tables);
        for words in [&[][..], &["store", "runs"], &["list"]] {
            made.perfcheck(&machine, words)
                .run()
                .expect_code(2)
                .expect_stderr(&["unknown key", key, place, "Cargo.toml", nearest]);
        }
    }
}

#[test]
fn a_flag_beyond_its_limit_is_refused_before_anything_is_built() {
    for (flag, value, why) in [
        ("--rounds", "10001", "1..=10000"),
        ("--samples", "1000001", "2..=1000000"),
        ("--warm-up-iterations", "1000001", "1..=1000000"),
        ("--warm-up-time", "9000000000", "must be at most 24 hours"),
        ("--measurement-time", "86401s", "must be at most 24 hours"),
        ("--resamples", "100000001", "1000..=100000000"),
    ] {
        Machine::new()
            .perfcheck()
            .testbench("")
            .args([flag, value])
            .run()
            .expect_code(2)
            .expect_stderr(&[flag, value, why]);
    }
}

#[test]
fn a_value_that_makes_no_sense_is_refused_with_its_key() {
    for (line, key) in [
        ("rounds = 0", "`rounds`"),
        (
            "rounds = 4000000000",
            "4000000000 is not a whole number from 1 to 10000",
        ),
        ("samples = 1000001", "`samples`"),
        ("warm-up-time = 9000000000", "`warm-up-time`"),
        ("warm-up-iterations = 1000001", "`warm-up-iterations`"),
        ("measurement-time = \"86401s\"", "must be at most 24 hours"),
        ("resamples = 4000000000", "`resamples`"),
        ("measurement-time = \"0s\"", "`measurement-time`"),
        ("fail-on = [\"slower\"]", "`fail-on`"),
        ("noise-threshold = \"-1%\"", "`noise-threshold`"),
        ("significance-level = 0", "`significance-level`"),
        ("latency-digits = 6", "`latency-digits`"),
        ("warm-up-iterations = 0", "`warm-up-iterations`"),
        (
            "warm-up-iterations = 25\nwarm-up-time = \"1ms\"",
            "`warm-up-iterations`",
        ),
    ] {
        let machine = Machine::new();
        let tables = format!("[workspace.metadata.perfcheck]\n{line}\n");
        Crate::of(&machine, &["a"], &tables)
            .perfcheck(&machine, &["list"])
            .run()
            .expect_code(2)
            .expect_stderr(&[key, "Cargo.toml"]);
    }
}

#[test]
fn a_workspace_with_an_id_is_known_by_it_wherever_it_lies() {
    let machine = Machine::new();
    let tables = "[workspace.metadata.perfcheck]\nid = \"the-parser\"\n";
    let runs = |made: &Crate| -> Vec<Value> {
        made.perfcheck(&machine, &["store", "runs", "--message-format", "json"])
            .run()
            .messages("run")
    };
    let here = Crate::write(machine.home().join("here"), &["a"], tables);
    here.measure(&machine, &["a"], &[]).run().expect_code(0);
    let there = Crate::write(machine.home().join("there"), &["a"], tables);
    assert_eq!(runs(&there).len(), 1);
    there
        .measure(&machine, &[], &[("a", 200.0)])
        .run()
        .expect_code(1);
    assert_eq!(runs(&here).len(), 2);
}

#[test]
fn a_warm_up_may_be_counted_by_a_table_and_the_nearest_one_says_how() {
    let machine = Machine::new();
    let tables = "[workspace.metadata.perfcheck]\nrounds = 2\nmeasurement-time = \"5ms\"\nwarm-up-iterations = 25\n\n\
        [[workspace.metadata.perfcheck.override]]\nmatch = \"few\"\nwarm-up-iterations = 7\n\n\
        [[workspace.metadata.perfcheck.override]]\nmatch = \"timed\"\nwarm-up-time = \"1ms\"\n";
    let ids = ["usual", "few", "timed"];
    let made = Crate::of(&machine, &ids, tables);
    let run = |words: &[&str]| {
        let command = made
            .perfcheck(&machine, words)
            .env(CLOCK, script(&ids, &[]));
        let words = ["--resamples", "1000", "--message-format", "json"];
        command.args(words).run().expect_code(0)
    };
    let warm_up = |run: &Finished, id: &str| {
        let messages = run.messages("benchmark-measured");
        let found = messages.iter().find(|one| one["benchmark"]["id"] == id);
        let found = found.expect("measured");
        let count = found["sampling"]["warm_up_iterations"].as_u64();
        (count, phase(found, "warm_up").concat())
    };
    // Iterations take 100 ns in the first process and 101 ns in the second.
    let counted = |count: u64| {
        (
            Some(count),
            vec![(count, 100 * count), (count, 101 * count)],
        )
    };
    let by_table = run(&[]);
    assert_eq!(warm_up(&by_table, "usual"), counted(25));
    assert_eq!(warm_up(&by_table, "few"), counted(7));
    // The warm-up doubles its rounds until they exceed 1 ms: 2^14 - 1 iterations, because 1 + 2 + ... + 4096 take only 0.82 ms.
    let timed = vec![(16_383, 1_638_300), (16_383, 1_654_683)];
    assert_eq!(warm_up(&by_table, "timed"), (None, timed));
    let by_flag = run(&["--warm-up-iterations", "3", "--fail-on", "none"]);
    for id in ids {
        assert_eq!(warm_up(&by_flag, id), counted(3), "{id}");
    }
}

#[test]
fn digits_of_latencies_are_those_of_the_nearest_table_and_of_the_command_line_before_all() {
    let machine = Machine::new();
    let made = Crate::altered(&machine, &["a"], "b.iter(", "b.iter_latency(");
    let manifest = made.root.join("Cargo.toml");
    let bare = fs::read_to_string(&manifest).expect("it was written");
    let digits = |tables: &str, words: &[&str]| {
        fs::write(&manifest, format!("{bare}\n{tables}")).expect("written");
        made.perfcheck(&machine, words)
            .args(["--rounds", "1", "--warm-up-time", "1ms"])
            .args(["--measurement-time", "20ms", "--resamples", "1000"])
            .args(["--fail-on", "none"])
            .env(CLOCK, "a=1234567")
            .run()
            .expect_code(0);
        let words = ["show", "--stats", "--message-format", "json"];
        let shown = made.perfcheck(&machine, &words).run();
        let message = shown.messages("benchmark-statistics").remove(0);
        let found = &message["latencies"];
        let longest = found["percentiles"][4]["merged_ns"].as_u64();
        (found["digits"].as_u64().unwrap_or(0), longest.unwrap_or(0))
    };
    // The longest operation takes 1.006 x 1234567 = 1241974 ns. The counters there are 8192 ns wide with two digits, 64 ns with four, and 8 ns with
    // five: 151 x 8192, 19405 x 64, 155246 x 8.
    let workspace = "[workspace.metadata.perfcheck]\nlatency-digits = 2\n";
    let both = format!("{workspace}\n[package.metadata.perfcheck]\nlatency-digits = 4\n");
    assert_eq!(digits(workspace, &[]), (2, 1_236_992));
    assert_eq!(digits(&both, &[]), (4, 1_241_920));
    assert_eq!(digits(&both, &["--latency-digits", "5"]), (5, 1_241_968));
}

#[test]
fn a_key_of_the_workspace_in_a_table_of_a_package_is_led_to_its_place() {
    let machine = Machine::new();
    for (key, table) in [
        ("method = \"welch\"", "[package.metadata.perfcheck]"),
        ("resamples = 1000", "[package.metadata.perfcheck]"),
        (
            "fail-on = []",
            "[[workspace.metadata.perfcheck.override]]\nmatch = \"*\"",
        ),
    ] {
        let made = Crate::of(&machine, &["a"], &format!("{table}\n{key}\n"));
        let name = key.split(' ').next().expect("a word");
        made.perfcheck(&machine, &["store", "runs"])
            .run()
            .expect_code(2)
            .expect_stderr(&[
                &format!("`{name}` in "),
                "move it to `[workspace.metadata.perfcheck]` in the workspace's Cargo.toml",
            ]);
    }
}
