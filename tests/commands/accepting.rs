//! A regression remains a regression in later runs until the user accepts it.

use crate::commands::scripted::{finish, reference_runs, steady, stored, verdict};
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn running_again_does_not_turn_a_regression_green_and_accepting_it_does() {
    let machine = Machine::new();
    let slow = || steady(&machine, &[("text", 200.0)]).args(JSON).run();
    steady(&machine, &[]).run().expect_code(0);
    for _ in 0..2 {
        let again = slow().expect_code(1);
        assert_eq!(verdict(&again, "text"), "regressed");
        assert_eq!(reference_runs(&again, "text"), [1]);
    }
    let table = steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let help = "Accept: cargo perfcheck accept text --run 4";
    assert!(table.stdout.contains(help), "{table}");
    stored(&machine, &["accept", "latest"])
        .run()
        .expect_code(0)
        .expect_stderr(&["Run 4 is accepted"]);
    let accepted = slow().expect_code(0);
    assert_eq!(reference_runs(&accepted, "text"), [4]);
    assert_eq!(
        reference_runs(&accepted, "memory"),
        [4],
        "a new segment begins there"
    );
    // Compared with the accepted run, the old speed is an improvement.
    let back = steady(&machine, &[]).args(JSON).run().expect_code(0);
    assert_eq!(verdict(&back, "text"), "improved");
}

#[test]
fn several_runs_are_accepted_and_taken_back_at_once() {
    let machine = Machine::new();
    for _ in 0..2 {
        steady(&machine, &[]).arg("text").run().expect_code(0);
    }
    let accept = |words: &[&str]| stored(&machine, &["accept"]).args(words).run();
    accept(&["1", "latest"])
        .expect_code(0)
        .expect_stderr(&["Run 1 is accepted", "Run 2 is accepted"]);
    accept(&["1", "2", "--undo"])
        .expect_code(0)
        .expect_stderr(&[
            "Run 1 is no longer marked as",
            "Run 2 is no longer marked as",
        ]);
    let refused = accept(&["1", "7"]).expect_code(6);
    assert!(!refused.stderr.contains("accepted"), "{refused}");
}

#[test]
fn comparing_slow_code_with_itself_does_not_make_it_a_reference() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let slow = |more: &[&str]| {
        steady(&machine, &[("text", 200.0)])
            .args(JSON)
            .args(more)
            .run()
    };
    slow(&["--save-baseline", "slow"]).expect_code(1);
    slow(&["--baseline", "slow"]).expect_code(0);
    let again = slow(&[]).expect_code(1);
    assert_eq!(verdict(&again, "text"), "regressed");
    assert_eq!(reference_runs(&again, "text"), [1]);
}

#[test]
fn runs_without_a_known_change_are_averaged() {
    let machine = Machine::new();
    for _ in 0..3 {
        steady(&machine, &[]).arg("text").run().expect_code(0);
    }
    let run = steady(&machine, &[])
        .arg("text")
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(reference_runs(&run, "text"), [3, 2, 1]);
    // After a change of level, only the runs since then are the reference.
    steady(&machine, &[("text", 50.0)])
        .arg("text")
        .run()
        .expect_code(0);
    let run = steady(&machine, &[("text", 50.0)])
        .arg("text")
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(reference_runs(&run, "text"), [5]);
}

#[test]
fn a_suspect_is_no_reference_either_and_says_what_to_do_next() {
    let machine = Machine::new();
    let even = "text=100/100.01/100.02";
    let slow = "text=110/110.01/110.02";
    let text = |script: &str| {
        steady(&machine, &[])
            .arg("text")
            .env(crate::commands::scripted::CLOCK, script)
    };
    text(even).run().expect_code(0);
    // The settings of testbench do not say whether the machine is shared. With the variable `CI`, it counts as shared.
    let suspect = text(slow).env("CI", "1").args(JSON).run().expect_code(0);
    assert_eq!(verdict(&suspect, "text"), "suspect");
    let again = text(slow).env("CI", "1").args(JSON).run().expect_code(0);
    assert_eq!(reference_runs(&again, "text"), [1]);
    let table = text(slow).env("CI", "1").run().expect_code(0);
    assert!(
        table
            .stdout
            .contains(" -p steady --bench steady --exact text")
            && table.stdout.contains("cargo perfcheck accept 4"),
        "{table}"
    );
    text(slow)
        .env("CI", "1")
        .args(["--fail-on", "regressed,suspect"])
        .run()
        .expect_code(1);
    text(slow)
        .env("CI", "1")
        .args(["--ignore-drift"])
        .args(JSON)
        .run()
        .expect_code(1);
}

#[test]
fn a_baseline_stays_the_same_run_when_others_are_accepted() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    stored(&machine, &["accept", "2"]).run().expect_code(0);
    let run = steady(&machine, &[("text", 200.0)])
        .args(["--baseline", "main"])
        .args(JSON)
        .run()
        .expect_code(1);
    assert_eq!(finish(&run)["reference"], "`main` (run 1)");
}

#[test]
fn accepting_a_benchmark_makes_its_new_level_the_reference_for_it_alone() {
    let machine = Machine::new();
    let both = [("text", 200.0), ("memory", 150.0)];
    let slow = || steady(&machine, &both).args(JSON).run();
    steady(&machine, &[]).run().expect_code(0);
    slow().expect_code(1);
    stored(&machine, &["accept", "text"])
        .run()
        .expect_code(0)
        .expect_stderr(&["Accepted from run 2", "steady/steady: text"]);
    let after = slow().expect_code(1);
    assert_eq!(reference_runs(&after, "text"), [2]);
    assert_ne!(verdict(&after, "text"), "regressed");
    assert_eq!(reference_runs(&after, "memory"), [1]);
    assert_eq!(verdict(&after, "memory"), "regressed");
    // Undo the acceptance.
    stored(&machine, &["accept", "--undo", "text", "--run", "2"])
        .run()
        .expect_code(0)
        .expect_stderr(&["No longer accepted from run 2"]);
    let back = slow().expect_code(1);
    assert_eq!(reference_runs(&back, "text"), [1]);
    assert_eq!(verdict(&back, "text"), "regressed");
}

#[test]
fn a_part_of_an_id_accepts_what_got_slower_and_names_what_did_not() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    // `memory` and `arithmetic` contain an `m`, but neither is slower.
    stored(&machine, &["accept", "m"])
        .run()
        .expect_code(2)
        .expect_stderr(&["run 2 has 2 benchmarks", "memory", "arithmetic"]);
    let accepted = stored(&machine, &["accept", "t"]).run().expect_code(0);
    assert!(
        accepted.stderr.contains("text") && !accepted.stderr.contains("arithmetic"),
        "{accepted}"
    );
    stored(&machine, &["accept", "nothing"])
        .run()
        .expect_code(2)
        .expect_stderr(&["run 2 measured no benchmark `nothing`"]);
}

#[test]
fn a_word_that_can_be_a_run_and_a_benchmark_is_asked_about() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "text"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    stored(&machine, &["accept", "text"])
        .run()
        .expect_code(2)
        .expect_stderr(&["is both a baseline and a benchmark", "--run latest"]);
    stored(&machine, &["accept", "text", "--run", "latest"])
        .run()
        .expect_code(0)
        .expect_stderr(&["Accepted from run 2"]);
}

#[test]
fn a_run_that_was_accepted_by_mistake_is_no_reference_any_more_after_undo() {
    let machine = Machine::new();
    let slow = || steady(&machine, &[("text", 200.0)]).args(JSON).run();
    steady(&machine, &[]).run().expect_code(0);
    slow().expect_code(1);
    for words in [&["accept", "2"][..], &["accept", "2", "--undo"]] {
        stored(&machine, words).run().expect_code(0);
    }
    assert_eq!(reference_runs(&slow().expect_code(1), "text"), [1]);
    // If a run was a reference before it was accepted, it remains a reference after the acceptance is undone.
    for words in [&["accept", "1"][..], &["accept", "1", "--undo"]] {
        stored(&machine, words).run().expect_code(0);
    }
    assert_eq!(reference_runs(&slow().expect_code(1), "text"), [1]);
    stored(&machine, &["accept", "1", "--undo"])
        .run()
        .expect_code(0)
        .expect_stderr(&["Nothing to undo"]);
}

#[test]
fn what_is_accepted_keeps_what_was_known_of_the_noise() {
    let machine = Machine::new();
    let text = |ns: f64| {
        steady(&machine, &[("text", ns)])
            .arg("text")
            .args(JSON)
            .run()
    };
    for _ in 0..6 {
        text(100.0).expect_code(0);
    }
    text(200.0).expect_code(1);
    stored(&machine, &["accept", "text"]).run().expect_code(0);
    let next = text(200.0);
    let compared = &next.messages("benchmark-compared")[0];
    assert_eq!(reference_runs(&next, "text"), [7]);
    assert_eq!(compared["runs_spread"], 7, "{compared}");
}
