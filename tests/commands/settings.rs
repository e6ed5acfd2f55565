//! The tables in Cargo.toml: who is heard, and what is refused.

use serde_json::Value;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, script};
use crate::support::{Finished, Machine};

/// Times short enough for tests; launches and samples are up to each test.
const TABLES: &str = r#"
[workspace.metadata.perfcheck]
launches = 2
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
launches = 3
noise-threshold = "3%"

[[package.metadata.perfcheck.override]]
match = "*/large"
launches = 4
noise-threshold = 0.05
"#;

/// What was in force for a benchmark: launches, samples.
#[track_caller]
fn sampling(finished: &Finished, id: &str) -> (u64, u64) {
    let messages = finished.messages("benchmark-measured");
    let found = messages
        .iter()
        .find(|message| message["benchmark"]["id"] == id)
        .unwrap_or_else(|| panic!("no {id}: {finished}"));
    let number = |key: &str| found["sampling"][key].as_u64().unwrap_or(0);
    let measured = found["launches"].as_array().map_or(0, Vec::len);
    assert_eq!(number("launches"), measured as u64, "{finished}");
    (number("launches"), number("samples"))
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
    // `new` is among the verdicts that make it fail here.
    let first = run(&[]).expect_code(1);
    assert_eq!(sampling(&first, "hash/small"), (3, 12));
    assert_eq!(sampling(&first, "sort/small"), (3, 14));
    assert_eq!(sampling(&first, "sort/large"), (4, 14));
    let second = run(&["--launches", "2", "--fail-on", "none"]).expect_code(0);
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
            "[workspace.metadata.perfcheck]\nlaunchs = 3\n",
            "`launchs`",
            "[workspace.metadata.perfcheck]",
            "did you mean `launches`?",
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
        for words in [&[][..], &["runs"], &["--no-run"]] {
            made.perfcheck(&machine, words)
                .run()
                .expect_code(2)
                .expect_stderr(&["unknown key", key, place, "Cargo.toml", nearest]);
        }
    }
}

#[test]
fn a_value_that_makes_no_sense_is_refused_with_its_key() {
    for (line, key) in [
        ("launches = 0", "`launches`"),
        ("measurement-time = \"0s\"", "`measurement-time`"),
        ("fail-on = [\"slower\"]", "`fail-on`"),
        ("noise-threshold = \"-1%\"", "`noise-threshold`"),
        ("significance-level = 0", "`significance-level`"),
    ] {
        let machine = Machine::new();
        let tables = format!("[workspace.metadata.perfcheck]\n{line}\n");
        Crate::of(&machine, &["a"], &tables)
            .perfcheck(&machine, &["--no-run"])
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
        made.perfcheck(&machine, &["runs", "--message-format", "json"])
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
