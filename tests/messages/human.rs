//! Snapshots of tables and lists for people.

use super::{quick, settings, steady, stored};
use crate::support::Machine;

#[test]
fn the_first_run_is_new_and_the_second_is_compared() {
    let machine = Machine::new();
    let first = steady(&machine, "100/101/100").run().expect_code(0);
    let second = steady(&machine, "100.5/101/100").run().expect_code(0);
    settings().bind(|| {
        insta::assert_snapshot!("first", first.stdout);
        insta::assert_snapshot!("second", second.stdout);
    });
}

#[test]
fn a_regression_and_a_suspect_are_told_apart() {
    let machine = Machine::new();
    let run = |times: &str| steady(&machine, times).run();
    run("100/100.1/100").expect_code(0);
    let regressed = run("200/201/200").expect_code(1);
    let suspect = run("106/106.1/106").expect_code(0);
    assert!(suspect.stdout.contains("1 of 3 suspect"), "{suspect}");
    settings().bind(|| {
        insta::assert_snapshot!("regressed", regressed.stdout);
        insta::assert_snapshot!("suspect", suspect.stdout);
    });
}

#[test]
fn incomparable_sides_are_named_by_what_differs() {
    let machine = Machine::new();
    let save = ["--save-baseline", "release"];
    steady(&machine, "100/101/100")
        .args(save)
        .run()
        .expect_code(0);
    let compare = ["--profile", "dev", "--baseline", "release"];
    let other = steady(&machine, "100/101/100")
        .args(compare)
        .run()
        .expect_code(6);
    settings().bind(|| insta::assert_snapshot!("incomparable", other.stdout));
}

#[test]
fn a_failed_benchmark_says_why_once() {
    let machine = Machine::new();
    let failed = quick(&machine, "panics").args(["--bench", "panics", "in_body", "in_set_up"]);
    let failed = failed.run().expect_code(4);
    settings().bind(|| insta::assert_snapshot!("failed", failed.stdout));
}

#[test]
fn an_improvement_and_what_went_missing_have_their_words() {
    let machine = Machine::new();
    steady(&machine, "200/201/200").run().expect_code(0);
    let improved = steady(&machine, "100/101/100").run().expect_code(0);
    // Compare a run of another crate with a run of `steady`: they have no benchmark in common.
    let save = ["--save-baseline", "steady"];
    steady(&machine, "100/101/100")
        .args(save)
        .run()
        .expect_code(0);
    let compare = ["-p", "doubled", "--baseline", "steady"];
    let missing = steady(&machine, "100/101/100")
        .args(compare)
        .arg("arithmetic")
        .run()
        .expect_code(0);
    settings().bind(|| {
        insta::assert_snapshot!("improved", improved.stdout);
        insta::assert_snapshot!("filtered", missing.stdout);
    });
}

#[test]
fn lists_are_columns() {
    let machine = Machine::new();
    let save = ["--save-baseline", "good"];
    steady(&machine, "100/101/100")
        .args(save)
        .run()
        .expect_code(0);
    steady(&machine, "200/201/200").run().expect_code(1);
    let list = stored(&machine, "history").expect_code(0);
    let runs = stored(&machine, "store runs").expect_code(0);
    let baselines = stored(&machine, "baseline list").expect_code(0);
    let show = stored(&machine, "show 1").expect_code(0);
    // Skip the head, which names the machine.
    let table = show
        .stdout
        .split_once("\n\n")
        .expect("a head and a table")
        .1;
    settings().bind(|| {
        insta::assert_snapshot!("list", list.stdout);
        insta::assert_snapshot!("runs", runs.stdout);
        insta::assert_snapshot!("baselines", baselines.stdout);
        insta::assert_snapshot!("show", table);
    });
}

#[test]
fn colours_obey_the_flag_and_no_color() {
    let machine = Machine::new();
    steady(&machine, "100/101/100").run().expect_code(0);
    let show = |words: &str, no_color: &str| {
        let command = machine.perfcheck().args(words.split(' ')).testbench("");
        command
            .env("NO_COLOR", no_color)
            .run()
            .expect_code(0)
            .stdout
    };
    assert!(show("show --color always", "").contains("\u{1b}["));
    assert!(!show("show --color never", "").contains('\u{1b}'));
    assert!(
        !show("show", "").contains('\u{1b}'),
        "stdout is no terminal"
    );
    assert!(!show("show", "1").contains('\u{1b}'));
}

#[test]
fn ids_from_anywhere_never_reach_the_terminal_raw() {
    let machine = Machine::new();
    let names = quick(&machine, "names").run().expect_code(0);
    for text in [&names.stdout, &names.stderr] {
        let raw = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(raw), "{text:?}");
    }
}
