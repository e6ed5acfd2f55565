//! `store runs`, `show` and `history` list the contents of the store, for people and for programs.

#![expect(clippy::format_push_string, reason = "texts of tests are short")]

use std::fs;

use crate::commands::crates::Crate;
use crate::commands::scripted::{steady, stored};
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn runs_are_listed_newest_first_with_names_states_and_verdicts() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    steady(&machine, &[]).arg("text").run().expect_code(0);
    stored(&machine, &["accept", "2"]).run().expect_code(0);
    let runs = stored(&machine, &["store", "runs"])
        .args(JSON)
        .run()
        .expect_code(0)
        .messages("run");
    let told: Vec<_> = runs
        .iter()
        .map(|run| {
            (
                run["run"].as_u64().expect("a number"),
                run["acceptance"].as_str().expect("a word"),
                run["benchmarks"].as_u64().expect("a number"),
                run["baselines"].as_array().expect("a list").len(),
                run["verdicts"]["regressed"].as_u64().expect("a number"),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (3, "automatic", 1, 0, 0),
            (2, "by-command", 3, 0, 1),
            (1, "automatic", 3, 1, 0)
        ]
    );
    let limited = stored(&machine, &["store", "runs", "--last", "1"])
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(limited.messages("run").len(), 1);
    let table = stored(&machine, &["store", "runs"]).run().expect_code(0);
    for text in ["main", "accepted explicitly", "1 regressed"] {
        assert!(table.stdout.contains(text), "no {text:?} in {table}");
    }
    assert!(!table.stdout.contains("older run"), "{table}");
    let limited = stored(&machine, &["store", "runs", "--last", "1"]).run();
    let last = limited.stdout.lines().last();
    assert_eq!(
        last,
        Some("2 older runs not shown: use `--last N` to show more.")
    );
}

#[test]
fn a_run_that_was_not_accepted_is_listed_as_such() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let table = stored(&machine, &["store", "runs"]).run().expect_code(0);
    assert!(table.stdout.contains("not accepted"), "{table}");
}

#[test]
fn a_run_is_shown_by_number_name_and_latest_as_it_was_measured() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let show = |words: &[&str]| {
        let words: Vec<&str> = ["show"].iter().chain(words).copied().collect();
        stored(&machine, &words).args(JSON).run().expect_code(0)
    };
    for (words, run) in [(&["1"][..], 1), (&["main"], 1), (&["latest"], 2), (&[], 2)] {
        let shown = show(words);
        let measured = shown.messages("benchmark-measured");
        assert_eq!(measured.len(), 3, "{words:?}");
        assert!(
            measured.iter().all(|message| message["run"] == run),
            "{words:?}"
        );
    }
    let table = stored(&machine, &["show"]).run().expect_code(0);
    for text in ["run 2", "profile bench", "arithmetic", "text"] {
        assert!(table.stdout.contains(text), "no {text:?} in {table}");
    }
}

#[test]
fn benchmarks_are_listed_with_their_latest_times() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)])
        .arg("text")
        .run()
        .expect_code(1);
    let listed = stored(&machine, &["history"])
        .args(JSON)
        .run()
        .expect_code(0);
    let benchmarks = listed.messages("benchmark");
    assert_eq!(benchmarks.len(), 3);
    for message in benchmarks {
        let is_text = message["benchmark"]["id"] == "text";
        assert_eq!(message["runs"], if is_text { 2 } else { 1 });
        assert_eq!(message["last_run"], if is_text { 2 } else { 1 });
        let typical = message["typical_ns"].as_f64().expect("a time");
        let scripted = if is_text { 200.0 } else { 100.0 };
        // Scripted samples grow by up to 0.6 %, processes differ by 1 %, and rounding adds a little.
        assert!((typical / scripted - 1.0).abs() < 0.02, "{message}");
    }
}

#[test]
fn where_nothing_was_stored_there_is_nothing_to_show_and_the_store_is_not_made() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    for words in [
        &["show"][..],
        &["accept", "latest"],
        &["compare", "1", "2"],
        &["baseline", "save", "x"],
    ] {
        made.perfcheck(&machine, words)
            .run()
            .expect_code(6)
            .expect_stderr(&["no runs are stored", "store adopt"]);
    }
    // An empty list is not an error.
    for words in [&["store", "runs"][..], &["history"]] {
        let listed = made.perfcheck(&machine, words).run().expect_code(0);
        assert_eq!(listed.stdout, "");
        assert!(listed.stderr.contains("store adopt"), "{listed}");
        let quiet = made
            .perfcheck(&machine, words)
            .arg("--quiet")
            .run()
            .expect_code(0);
        assert_eq!(quiet.stderr, "");
    }
    made.perfcheck(&machine, &["baseline", "list"])
        .run()
        .expect_code(0);
    made.perfcheck(&machine, &["store", "adopt"])
        .run()
        .expect_code(0);
    assert!(!machine.store().exists());
}

#[test]
fn a_run_that_is_not_there_leads_to_the_list_and_a_store_that_is_not_there_is_named() {
    let machine = Machine::new();
    steady(&machine, &[]).arg("text").run().expect_code(0);
    for words in [
        &["accept", "99"][..],
        &["show", "99"],
        &["compare", "@0f0f"],
    ] {
        let refused = stored(&machine, words).run().expect_code(6);
        let refused = refused.expect_stderr(&["`cargo perfcheck store runs`"]);
        assert!(!refused.stderr.contains("--save-baseline"), "{refused}");
    }
    let nowhere = machine.home().join("nowhere.db");
    for (words, code) in [
        (&["show"][..], 6),
        (&["history"], 0),
        (&["store", "runs"], 0),
    ] {
        stored(&machine, words)
            .arg("--store")
            .arg(&nowhere)
            .run()
            .expect_code(code)
            .expect_stderr(&[&format!("there is no store at {}", nowhere.display())]);
    }
    assert!(!nowhere.exists());
}

#[test]
fn targets_are_listed_as_cargo_benches_them_and_those_left_out_are_named() {
    let machine = Machine::new();
    let made = Crate::altered(&machine, &["work"], "7_u64", "12_u64");
    let manifest = made.root.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest).expect("it was written");
    for (kind, name, more) in [
        ("bench", "expensive", "bench = false"),
        ("bench", "gated", "required-features = [\"fast\"]"),
        ("example", "shown", "test = true\nbench = true"),
        ("test", "checked", "bench = true"),
        ("example", "other", "bench = true"),
    ] {
        text += &format!(
            "[[{kind}]]\nname = \"{name}\"\npath = \"benches/listed.rs\"\nharness = false\n{more}\n"
        );
    }
    fs::write(&manifest, text + "[features]\nfast = []\n").expect("written");
    let list = |words: &[&str]| {
        let listed = made.perfcheck(&machine, &["list", "--offline"]);
        let listed = listed.args(words).run().expect_code(0);
        let targets = listed
            .stdout
            .lines()
            .filter_map(|line| line.split_once('/'));
        let targets = targets.map(|(_, name)| name.to_owned()).collect::<Vec<_>>();
        (listed, targets)
    };
    let (plain, targets) = list(&[]);
    assert_eq!(
        targets,
        ["example:shown: work", "listed: work", "test:checked: work"]
    );
    let left_out = "/expensive is left out, as in `cargo bench`: its manifest says `bench = false`\n  help: use `--bench expensive` to measure it";
    let gated = "/gated is left out, as in `cargo bench`: it needs features that are not enabled\n  help: use `--features ";
    let plain = plain.expect_stderr(&[left_out, gated]);
    // A printed line works as a filter. A filter that matches no id is an error.
    let line = plain.stdout.lines().nth(1).expect("three lines");
    assert_eq!(list(&[line]).1, ["listed: work"]);
    let none = made.perfcheck(&machine, &["list", "--offline", "sleep"]);
    none.run().expect_code(4).expect_stderr(&[
        "error: nothing was measured: there is no benchmark whose id contains `sleep`",
    ]);
    let (named, targets) = list(&["--bench", "expensive"]);
    assert_eq!(targets, ["expensive: work"]);
    assert!(!named.stderr.contains("left out"), "{named}");
}
