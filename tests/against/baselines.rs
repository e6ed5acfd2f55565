//! Baselines that are run again: by their kept executables, by a new build of their commit, or not at all.

use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

use crate::against::project::{Project, compared};
use crate::commands::scripted::{QUICK, finish, verdict};
use crate::support::{Finished, Machine};

/// Leaves a file behind whenever it runs and reads one, both of the package directory.
const TRACES: &str = r#"
    let data = std::fs::read_to_string("data.txt").expect("the data");
    let _ = std::fs::write("trace.txt", &data);
    suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
    suite.bench("constant", |b| takes(b, 50));
"#;

/// A project with the baseline `kept` of its only commit.
fn with_baseline(machine: &Machine) -> Project<'_> {
    let project = Project::new(machine);
    project.benchmarks(TRACES);
    project.write("data.txt", "first\n");
    project.write(".gitignore", "Cargo.lock\n/target\ntrace.txt\n");
    project.commit();
    project
        .measure(&QUICK)
        .args(["--save-baseline", "kept"])
        .run()
        .expect_code(0);
    project
}

fn kept_executables(machine: &Machine) -> PathBuf {
    let mut name = machine.store().into_os_string();
    name.push(".kept");
    PathBuf::from(name)
}

fn trace(project: &Project<'_>) -> PathBuf {
    project.root().join("trace.txt")
}

/// Whether the verdict about `cost` is of measuring in turn, and what the baseline was called.
#[track_caller]
fn expect_in_turn(run: &Finished, words: &str) {
    assert_eq!(verdict(run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(run, "constant"), "unchanged", "{run}");
    assert_eq!(compared(run, "cost")["decided_by"], "paired", "{run}");
    let reference = finish(run)["reference"].to_string();
    assert!(reference.contains(words), "{reference}");
}

/// The same for stored numbers, with the reason in the report.
#[track_caller]
fn expect_stored_numbers(run: &Finished, reason: &str) {
    assert_eq!(compared(run, "cost")["decided_by"], "bootstrap-t", "{run}");
    let remarks = finish(run)["remarks"].to_string();
    for text in ["stored numbers alone", reason] {
        assert!(remarks.contains(text), "{text} in {remarks}");
    }
}

#[test]
fn a_saved_baseline_is_run_again_and_files_that_have_changed_since_are_named() {
    let machine = Machine::new();
    let project = with_baseline(&machine);
    assert!(kept_executables(&machine).is_dir());
    let same = project.measure(&["--baseline", "kept"]).run();
    let same = same.expect_code(0);
    assert_eq!(verdict(&same, "cost"), "unchanged", "{same}");
    assert!(!finish(&same)["remarks"].to_string().contains("data.txt"));

    project.takes(200);
    let run = project.measure(&["--baseline", "kept"]).run();
    let run = run.expect_code(1);
    expect_in_turn(&run, "run again");
    assert!(!finish(&run)["remarks"].to_string().contains("data.txt"));

    project.write("data.txt", "second, and longer\n");
    let run = project.measure(&["--baseline", "kept"]).run();
    let run = run.expect_code(1);
    expect_in_turn(&run, "run again");
    let remarks = finish(&run)["remarks"].to_string();
    assert!(remarks.contains("data.txt"), "{run}");
    let table = project
        .perfcheck(&["--baseline", "kept", "--offline", "--seed", "7"])
        .run()
        .expect_code(1);
    assert!(table.stdout.contains("data.txt"), "{table}");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_baseline_saved_by_measuring_in_turn_knows_its_files_too_and_runs_in_the_checkout() {
    let machine = Machine::new();
    let project = with_baseline(&machine);
    project.takes(100);
    let saved = ["--against", "HEAD", "--save-baseline", "turns"];
    project.measure(&saved).run().expect_code(0);
    let of_turns = |code| {
        let run = project.measure(&["--baseline", "turns"]).run();
        let run = run.expect_code(code);
        expect_in_turn(&run, "run again");
        finish(&run)["remarks"].to_string().contains("data.txt")
    };
    project.takes(200);
    assert!(!of_turns(1));
    project.write("data.txt", "second, and longer\n");
    assert!(of_turns(1));
    // What the next one saves in turn is the checkout's, too.
    let words = ["--baseline", "turns", "--save-baseline", "later"];
    project.measure(&words).run().expect_code(1);
    project.write("data.txt", "third\n");
    let run = project.measure(&["--baseline", "later"]).run();
    let run = run.expect_code(0);
    assert!(
        finish(&run)["remarks"].to_string().contains("data.txt"),
        "{run}"
    );
}

#[test]
fn a_baseline_without_its_executables_is_built_again_from_its_clean_commit() {
    let machine = Machine::new();
    let project = with_baseline(&machine);
    fs::remove_dir_all(kept_executables(&machine)).expect("removed");
    project.takes(200);
    let run = project.measure(&["--baseline", "kept"]).run();
    let run = run.expect_code(1);
    expect_in_turn(&run, "built again");
}

#[test]
fn a_baseline_of_uncommitted_sources_without_its_executables_is_compared_by_its_numbers() {
    let machine = Machine::new();
    let project = with_baseline(&machine);
    project.takes(110);
    project
        .measure(&QUICK)
        .args(["--no-rerun", "--save-baseline", "dirty"])
        .run();
    fs::remove_dir_all(kept_executables(&machine)).expect("removed");
    project.takes(200);
    let run = project
        .measure(&["--baseline", "dirty"])
        .args(QUICK)
        .run()
        .expect_code(1);
    expect_stored_numbers(&run, "not a commit that could be built again");
}

#[test]
fn what_was_kept_with_another_secret_is_never_run() {
    let machine = Machine::new();
    let project = with_baseline(&machine);
    // The sources are not a commit, so that nothing else runs the old benchmark.
    let store = Connection::open(machine.store()).expect("opens");
    let dirty = store.execute("UPDATE runs SET git_dirty = 1", ());
    assert_eq!(dirty, Ok(1));
    drop(store);
    // The current benchmark leaves no trace.
    project.benchmarks(crate::against::project::TWO);
    project.takes(200);
    fs::remove_file(trace(&project)).expect("it left one");
    let run = project
        .measure(&["--baseline", "kept"])
        .args(QUICK)
        .env("PERFCHECK_SECRET", machine.home().join("of-another-user"))
        .run();
    assert!(!trace(&project).exists(), "it was run:\n{run}");
    let run = run.expect_code(1);
    expect_stored_numbers(&run, "not a commit that could be built again");
    // With the right secret it is.
    let run = project.measure(&["--baseline", "kept"]).run();
    expect_in_turn(&run.expect_code(1), "run again");
    assert!(trace(&project).exists());
}
