//! Runs that were measured under different conditions are not compared, and the report names only the facts that differ.

use serde_json::{Value, json};

use crate::commands::crates::Crate;
use crate::commands::scripted::{finish, reference_runs, steady, stored, verdict};
use crate::support::{Finished, Machine};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns the facts in which the compared measurements of `id` differ, which makes them incomparable.
#[track_caller]
fn differing(finished: &Finished, id: &str) -> Vec<String> {
    let messages = finished.messages("benchmark-compared");
    let message = messages
        .iter()
        .find(|message| message["benchmark"]["id"] == id)
        .unwrap_or_else(|| panic!("no {id}: {finished}"));
    facts(&message["differences"])
}

fn facts(differences: &Value) -> Vec<String> {
    let list = differences.as_array().expect("a list");
    list.iter()
        .map(|difference| difference["fact"].as_str().expect("a fact").to_owned())
        .collect()
}

#[test]
fn another_profile_is_incomparable_unless_it_is_allowed() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    let dev = |more: &[&str]| {
        steady(&machine, &[("text", 200.0)])
            .args(["--profile", "dev"])
            .args(more)
            .run()
    };
    let run = dev(&JSON).expect_code(0);
    assert_eq!(verdict(&run, "text"), "incomparable");
    assert_eq!(differing(&run, "text"), ["profile"]);
    let table = dev(&["--baseline", "main"]).expect_code(6);
    assert!(table.stdout.contains("profile: bench -> dev"), "{table}");
    for fact in ["rustc", "rustflags", "target", "features", "cpu"] {
        assert!(!table.stdout.contains(&format!("{fact}: ")), "{table}");
    }
    let allowed = ["--baseline", "main", "--allow-different", "rustc,profile"];
    let run = dev(&[&allowed[..], &JSON].concat()).expect_code(1);
    assert_eq!(verdict(&run, "text"), "regressed");
    let finish = finish(&run);
    assert_eq!(
        facts(&finish["warnings"]),
        ["profile"],
        "what was allowed is said: {finish}"
    );
    assert_eq!(
        finish["warnings"][0],
        json!({"fact": "profile", "base": "bench", "candidate": "dev"})
    );
    dev(&["--baseline", "main", "--allow-different", "rustc"]).expect_code(6);
}

#[test]
fn each_profile_has_a_history_of_its_own() {
    let machine = Machine::new();
    let text = |profile: &str, ns: f64| {
        steady(&machine, &[("text", ns)])
            .args(["text", "--profile", profile])
            .args(JSON)
            .run()
    };
    text("bench", 100.0).expect_code(0);
    text("dev", 300.0).expect_code(0);
    let run = text("bench", 200.0).expect_code(1);
    assert_eq!(reference_runs(&run, "text"), [1]);
    let run = text("dev", 600.0).expect_code(1);
    assert_eq!(reference_runs(&run, "text"), [2]);
}

#[test]
fn other_compiler_flags_are_incomparable() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let run = |flags: &str, more: &[&str]| {
        made.measure(&machine, &["a"], &[])
            .env("RUSTFLAGS", flags)
            .args(more)
            .run()
    };
    run("", &[]).expect_code(0);
    let other = run("-C opt-level=1", &[]).expect_code(0);
    assert_eq!(verdict(&other, "a"), "incomparable");
    assert_eq!(differing(&other, "a"), ["rustflags"]);
    let allowed = run(
        "-C opt-level=1",
        &["--baseline", "1", "--allow-different", "rustflags"],
    )
    .expect_code(0);
    assert_eq!(reference_runs(&allowed, "a"), [1]);
    // The same holds for a comparison of stored runs.
    let compared = made
        .perfcheck(&machine, &["compare", "1", "2"])
        .args(JSON)
        .run()
        .expect_code(6);
    assert_eq!(differing(&compared, "a"), ["rustflags"]);
    made.perfcheck(
        &machine,
        &["compare", "1", "2", "--allow-different", "rustflags"],
    )
    .run()
    .expect_code(0);
}

#[test]
fn a_benchmark_that_its_author_changed_is_incomparable_and_the_others_are_compared() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a", "b 1"], "");
    let ids = ["a", "b"];
    made.measure(&machine, &ids, &[]).run().expect_code(0);
    made.list(&["a", "b 2"]);
    let run = made
        .measure(&machine, &["a"], &[("b", 300.0)])
        .run()
        .expect_code(0);
    assert_eq!(verdict(&run, "b"), "incomparable");
    assert_eq!(differing(&run, "b"), ["benchmark-version"]);
    assert!(!["incomparable", "new"].contains(&verdict(&run, "a").as_str()));
    // From now on, the changed benchmark has its own history.
    let run = made
        .measure(&machine, &["a"], &[("b", 600.0)])
        .run()
        .expect_code(1);
    assert_eq!(verdict(&run, "b"), "regressed");
    assert_eq!(reference_runs(&run, "b"), [2]);
}

#[test]
fn a_fact_that_nobody_can_allow_is_refused_with_those_that_one_can() {
    let machine = Machine::new();
    steady(&machine, &[]).arg("text").run().expect_code(0);
    stored(
        &machine,
        &["compare", "1", "1", "--allow-different", "kernel"],
    )
    .run()
    .expect_code(2)
    .expect_stderr(&["`kernel`", "rustc", "benchmark-version"]);
}
