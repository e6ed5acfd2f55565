//! Baselines: saving them with a run or later, comparing with them, renaming and removing them.

use crate::commands::crates::Crate;
use crate::commands::scripted::{finish, reference_runs, steady, stored, verdict, verdicts};
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns the name and the run number of every baseline.
fn baselines(machine: &Machine) -> Vec<(String, u64)> {
    stored(machine, &["baseline", "list", "--message-format", "json"])
        .run()
        .expect_code(0)
        .messages("baseline")
        .iter()
        .map(|message| {
            let name = message["name"].as_str().expect("a name").to_owned();
            (name, message["run"].as_u64().expect("a run"))
        })
        .collect()
}

#[test]
fn a_run_is_compared_with_the_baseline_that_it_names_not_with_the_last_run() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 50.0)]).run().expect_code(0);
    let named = steady(&machine, &[("text", 100.0)])
        .args(["--baseline", "main"])
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(reference_runs(&named, "text"), [1]);
    assert_ne!(verdict(&named, "text"), "regressed");
    assert_eq!(finish(&named)["reference"], "`main` (run 1)");
}

#[test]
fn both_flags_with_one_name_make_it_on_the_first_run_and_compare_on_the_next() {
    let machine = Machine::new();
    let both = ["--baseline", "ci", "--save-baseline", "ci"];
    let run = |changed: &[(&str, f64)]| steady(&machine, changed).args(both).args(JSON).run();
    let first = run(&[]).expect_code(0);
    assert!(verdicts(&first).values().all(|verdict| verdict == "new"));
    assert_eq!(baselines(&machine), [("ci".to_owned(), 1)]);
    let second = run(&[]).expect_code(0);
    assert_eq!(reference_runs(&second, "text"), [1]);
    assert_eq!(baselines(&machine), [("ci".to_owned(), 2)]);
}

#[test]
fn both_flags_with_one_name_do_not_move_it_to_a_run_that_is_worse() {
    let machine = Machine::new();
    let both = ["--baseline", "ci", "--save-baseline", "ci"];
    let run = |changed: &[(&str, f64)]| steady(&machine, changed).args(both);
    run(&[]).run().expect_code(0);
    // A regression does not move the baseline, neither in a repeated run nor if `--fail-on none` keeps the run from failing.
    for more in [&[][..], &["--fail-on", "none"], &[]] {
        let slow = run(&[("text", 200.0)]).args(more).run();
        assert_eq!(slow.code(), i32::from(more.is_empty()), "{slow}");
        let help = "Baseline `ci` is still run 1. If the change is intended: cargo perfcheck baseline save ci ";
        assert!(slow.stdout.contains(help), "{slow}");
        assert_eq!(baselines(&machine), [("ci".to_owned(), 1)]);
    }
    stored(&machine, &["baseline", "save", "ci", "latest"])
        .run()
        .expect_code(0);
    run(&[("text", 200.0)]).run().expect_code(0);
    assert_eq!(baselines(&machine), [("ci".to_owned(), 5)]);
}

#[test]
fn both_flags_with_two_names_need_the_first_to_be_there() {
    let machine = Machine::new();
    let both = ["--baseline", "old", "--save-baseline", "new"];
    steady(&machine, &[]).args(both).run().expect_code(6);
    steady(&machine, &[])
        .args(["--save-baseline", "old"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 200.0)])
        .args(both)
        .run()
        .expect_code(1);
    assert_eq!(
        baselines(&machine),
        [("new".to_owned(), 2), ("old".to_owned(), 1)],
        "a regressed run may have a name too"
    );
}

#[test]
fn a_benchmark_that_the_baseline_lacks_is_new_and_one_that_is_gone_is_missing() {
    for named in [&["--baseline", "main"][..], &[]] {
        let machine = Machine::new();
        let made = Crate::of(&machine, &["stays", "goes"], "");
        made.measure(&machine, &["stays", "goes"], &[])
            .args(["--save-baseline", "main"])
            .run()
            .expect_code(0);
        made.list(&["stays", "comes"]);
        {
            let run = made
                .measure(&machine, &["stays", "comes"], &[])
                .args(named)
                .run()
                .expect_code(0);
            assert_eq!(verdict(&run, "comes"), "new");
            assert_eq!(verdict(&run, "goes"), "missing");
            assert!(!["new", "missing"].contains(&verdict(&run, "stays").as_str()));
        }
        made.measure(&machine, &["stays", "comes"], &[])
            .args(["--baseline", "main", "--fail-on", "missing"])
            .run()
            .expect_code(1);
        // A benchmark that the filter excludes is not `missing`.
        let run = made
            .measure(&machine, &["stays"], &[])
            .args(["stays", "--baseline", "main", "--fail-on", "missing"])
            .run()
            .expect_code(0);
        assert_eq!(verdicts(&run).len(), 1, "{run}");
    }
}

#[test]
fn names_are_saved_moved_renamed_and_removed_while_runs_stay() {
    let machine = Machine::new();
    for _ in 0..2 {
        steady(&machine, &[]).arg("text").run().expect_code(0);
    }
    let baseline = |words: &[&str]| {
        let words: Vec<&str> = ["baseline"].iter().chain(words).copied().collect();
        stored(&machine, &words).run().expect_code(0)
    };
    baseline(&["save", "a"]).expect_stderr(&["Baseline `a` is run 2."]);
    baseline(&["save", "b", "1"]);
    assert_eq!(
        baselines(&machine),
        [("a".to_owned(), 2), ("b".to_owned(), 1)]
    );
    baseline(&["save", "a", "b"]).expect_stderr(&["`a` is now run 1; it was run 2."]);
    baseline(&["rename", "b", "release-1.0"]);
    assert_eq!(
        baselines(&machine),
        [("a".to_owned(), 1), ("release-1.0".to_owned(), 1)]
    );
    baseline(&["remove", "a"]);
    assert_eq!(baselines(&machine), [("release-1.0".to_owned(), 1)]);
    stored(&machine, &["show", "2"]).run().expect_code(0);
    let quiet = baseline(&["save", "c", "--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let listed = baseline(&["list"]);
    assert!(listed.stdout.contains("release-1.0"), "{listed}");
}

#[test]
fn names_that_could_mean_something_else_or_are_taken_are_refused_with_2() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["text", "--save-baseline", "a"])
        .run()
        .expect_code(0);
    stored(&machine, &["baseline", "save", "b"])
        .run()
        .expect_code(0);
    for bad in ["", "12", "latest", "@abc", "two words", "-", "a/../b\n"] {
        for words in [&["baseline", "save"][..], &["baseline", "rename", "a"]] {
            stored(&machine, words)
                .args(["--", bad])
                .run()
                .expect_code(2)
                .expect_stderr(&["error: "]);
        }
    }
    stored(&machine, &["baseline", "rename", "a", "b"])
        .run()
        .expect_code(2)
        .expect_stderr(&["`b`"]);
    assert_eq!(
        baselines(&machine),
        [("a".to_owned(), 1), ("b".to_owned(), 1)]
    );
}

#[test]
fn names_and_runs_that_are_not_there_end_with_6() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["text", "--save-baseline", "a"])
        .run()
        .expect_code(0);
    for words in [
        &["baseline", "remove", "gone"][..],
        &["baseline", "rename", "gone", "b"],
        &["baseline", "save", "b", "gone"],
        &["baseline", "save", "b", "99"],
        &["show", "gone"],
        &["accept", "99"],
        &["compare", "gone"],
        &["compare", "a", "gone"],
        &["compare", "@0123456"],
    ] {
        stored(&machine, words)
            .run()
            .expect_code(6)
            .expect_stderr(&["error: "]);
    }
}
