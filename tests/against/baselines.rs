//! Runs that are compared with accepted runs and baselines: with their kept builds, with new builds of their commits, or with stored numbers only.

use std::fs;
use std::path::PathBuf;

use crate::against::project::{Project, TWO, compared};
use crate::commands::scripted::{QUICK, finish, reference_runs, verdict};
use crate::support::{Finished, Machine};

/// Declares three benchmarks: `cost` and `constant`, as most tests do, and `third`.
const THREE: &str = r#"
    suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
    suite.bench("constant", |b| takes(b, 50));
    suite.bench("third", |b| takes(b, planted::NANOSECONDS));
"#;

/// Declares a benchmark that is unsteady if the library's time is 101 ns: processes then alternate between a fifth and 1.5 times that time. A file
/// counts the processes.
const UNSTEADY: &str = r#"
    static FACTOR: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    suite.bench("cost", |b| {
        let factor = *FACTOR.get_or_init(|| {
            if planted::NANOSECONDS != 101 {
                return 10;
            }
            let path = concat!(env!("CARGO_MANIFEST_DIR"), ".count");
            let count = std::fs::read(path).map_or(0, |bytes| bytes.len());
            std::fs::write(path, vec![0; count + 1]).expect("written");
            [2, 15][count % 2]
        });
        takes(b, planted::NANOSECONDS * factor / 10);
    });
"#;

/// Creates a project with one run of its only commit.
fn with_run<'m>(machine: &'m Machine, words: &[&str]) -> Project<'m> {
    let project = Project::new(machine);
    let first = project.measure(&QUICK).args(words).run().expect_code(0);
    assert_eq!(verdict(&first, "cost"), "new", "{first}");
    project
}

/// Returns the directories of all builds that the cache keeps, so that stored runs can be measured again.
fn kept(machine: &Machine) -> Vec<PathBuf> {
    let workspaces = fs::read_dir(machine.cache()).expect("a cache");
    let mut found = Vec::new();
    for workspace in workspaces {
        let shelf = workspace.expect("an entry").path().join("kept");
        let builds = fs::read_dir(shelf).into_iter().flatten();
        found.extend(builds.map(|entry| entry.expect("an entry").path()));
    }
    found
}

fn forget_builds(machine: &Machine) {
    for build in kept(machine) {
        fs::remove_dir_all(build).expect("removed");
    }
}

/// Asserts that `cost` regressed in a side-by-side measurement, and that the reference is described by `words`.
#[track_caller]
fn expect_side_by_side(run: &Finished, words: &str) {
    assert_eq!(verdict(run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(run, "constant"), "unchanged", "{run}");
    assert_eq!(compared(run, "cost")["decided_by"], "paired", "{run}");
    assert_eq!(finish(run)["reference"], words, "{run}");
}

/// Asserts that `cost` was compared with stored numbers, and that a remark gives `reason`.
#[track_caller]
fn expect_stored_numbers(run: &Finished, reason: &str) {
    assert_eq!(compared(run, "cost")["decided_by"], "bootstrap-t", "{run}");
    let remarks = finish(run)["remarks"].to_string();
    for text in ["stored numbers", reason] {
        assert!(remarks.contains(text), "{text} in {remarks}");
    }
}

#[test]
fn a_plain_run_is_measured_side_by_side_with_the_last_accepted_one() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    let before = project.state();
    // No code has changed, so nothing is measured.
    let same = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&same, "cost"), "unchanged", "{same}");
    assert_eq!(before, project.state());
    project.takes(200);
    let slower = project.measure(&[]).run().expect_code(1);
    // Run 2 found no change, so it was accepted and is the reference now.
    expect_side_by_side(&slower, "run 2");
    // A regressed run does not become the reference until the user accepts it.
    let again = project.measure(&[]).run().expect_code(1);
    expect_side_by_side(&again, "run 2");
    let run = finish(&again)["run"].to_string();
    project.perfcheck(&["accept", &run]).run().expect_code(0);
    let meant = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&meant, "cost"), "unchanged", "{meant}");
    // Readers may have forgotten that the accepted run had uncommitted changes, so the reference says so.
    let words = format!("run {run} (with uncommitted changes)");
    assert_eq!(finish(&meant)["reference"], words);
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_table_shows_what_was_measured_and_says_the_rest_in_a_sentence() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.takes(200);
    let words = ["--offline", "--as-built", "--seed", "7"];
    let run = project.perfcheck(&words).run().expect_code(1);
    let said = &run.stdout;
    let begin = "`cost` takes 2.0";
    assert!(said.starts_with(begin), "{run}");
    let first = said.lines().next().unwrap_or_default();
    assert!(
        first.ends_with("times as long: 100.0 ns → 200.0 ns."),
        "{run}"
    );
    let sentence = "1 of 2 benchmarks unchanged and not measured: both builds run the same machine code for them.";
    assert!(said.contains(sentence), "{run}");
    assert!(!said.contains("constant"), "{run}");
    let all = project.perfcheck(&words).arg("--verbose").run();
    assert!(all.stdout.contains("constant"), "{all}");
}

#[test]
fn a_run_with_a_filter_is_the_reference_of_what_it_was_about() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.benchmarks(THREE);
    project.commit();
    project.measure(&QUICK).run().expect_code(0);
    project.takes(200);
    // This run does not measure the benchmark that became slower, so accepting the run must not accept the slowdown.
    project.measure(&["constant"]).run().expect_code(0);
    let all = project.measure(&[]).run().expect_code(1);
    assert_eq!(verdict(&all, "cost"), "regressed", "{all}");
    assert_eq!(verdict(&all, "third"), "regressed", "{all}");
    assert_eq!(verdict(&all, "constant"), "unchanged", "{all}");
    let words = "run 2 (with uncommitted changes), run 1";
    assert_eq!(finish(&all)["reference"], words, "{all}");
    // If the user accepts a single benchmark, the run is the reference of that benchmark only.
    let run = finish(&all)["run"].to_string();
    let words = ["accept", "cost", "--run", &run];
    project.perfcheck(&words).run().expect_code(0);
    let later = project.measure(&[]).run().expect_code(1);
    assert_eq!(verdict(&later, "cost"), "unchanged", "{later}");
    assert_eq!(verdict(&later, "third"), "regressed", "{later}");
    // Now both are measured, each against the build of its own reference run, although both are in one bench target.
    project.takes(300);
    let latest = project.measure(&[]).run().expect_code(1);
    let explained = project.perfcheck(&["explain", "cost", "--full"]).run();
    let from = format!("The machine code of `costs` differs from that of run {run} in ");
    let words: Vec<&str> = explained.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(&from), "{explained}");
    let shown = project.perfcheck(&QUICK).arg("--offline").run();
    for said in [
        format!("Run 1 is the reference for `third`; run 2 for `constant`; run {run} for `cost`."),
        from,
        "differs from that of run 1 in ".to_owned(),
    ] {
        assert!(
            shown.stdout.replace('\n', " ").contains(&said),
            "{said} in {shown}"
        );
    }
    for (id, expected) in [("cost", 0.5), ("third", 2.0)] {
        assert_eq!(verdict(&latest, id), "regressed", "{latest}");
        let change = compared(&latest, id)["change"]["estimate"].as_f64();
        let change = change.expect("a change");
        assert!((change - expected).abs() < 1e-9, "{id}: {change}");
    }
}

#[test]
fn a_benchmark_that_is_new_or_gone_is_told_beside_the_last_run() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.benchmarks(THREE);
    let more = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&more, "third"), "new", "{more}");
    project.takes(200);
    // The last run did not measure `third`, because the reference had no such benchmark. From now on, `third` can be compared with the build of that
    // run.
    let slower = project.measure(&[]).run().expect_code(1);
    assert_eq!(verdict(&slower, "third"), "regressed", "{slower}");
    project.benchmarks(r#"suite.bench("constant", |b| takes(b, 50));"#);
    let fewer = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&fewer, "cost"), "missing", "{fewer}");
}

#[test]
fn a_branch_is_measured_side_by_side_with_the_one_that_it_left() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.git(&["switch", "-q", "-c", "topic"]);
    project.takes(200);
    project.commit();
    let run = project.measure(&[]).run().expect_code(1);
    expect_side_by_side(&run, "run 1 (of `main`)");
}

#[test]
fn pruning_keeps_the_run_whose_level_one_of_the_same_code_has() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.git(&["switch", "-q", "-c", "topic"]);
    let same = project.measure(&[]).run().expect_code(0);
    assert_eq!(same.messages("benchmark-measured").len(), 0, "{same}");
    project.git(&["branch", "-q", "-D", "main"]);
    let words = ["store", "prune", "--keep-last", "0", "--yes"];
    project.perfcheck(&words).run().expect_code(0);
    project.perfcheck(&["show", "1"]).run().expect_code(0);
}

#[test]
fn beside_a_revision_nothing_becomes_a_reference_by_itself() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.takes(200);
    project.commit();
    project.measure(&[]).run().expect_code(1);
    // This run compares the slow code with itself and finds no change. It must not become the reference, or the next run would report no regression.
    project.measure(&["--against", "HEAD"]).run().expect_code(0);
    let plain = project.measure(&[]).run().expect_code(1);
    expect_side_by_side(&plain, "run 1");
    // The user can still accept such a run.
    let beside = project.measure(&["--against", "HEAD"]).run();
    let run = finish(&beside)["run"].to_string();
    project.perfcheck(&["accept", &run]).run().expect_code(0);
    project.measure(&[]).run().expect_code(0);
}

#[test]
fn what_is_faster_and_not_committed_is_no_reference_by_itself() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.takes(50);
    let faster = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&faster, "cost"), "improved", "{faster}");
    // Undo the improvement. The improved run had uncommitted changes, so it did not become the reference, and there is no change from the reference.
    project.takes(100);
    let back = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&back, "cost"), "unchanged", "{back}");
    project.takes(50);
    project.commit();
    let kept = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&kept, "cost"), "improved", "{kept}");
    project.takes(100);
    project.measure(&[]).run().expect_code(1);
}

#[test]
fn a_run_whose_build_is_lost_passes_its_level_on() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    // This run finds no change, but its sources are uncommitted, so no commit can be built to repeat it.
    project.write("src/lib.rs", "pub const NANOSECONDS: u64 = 100; // tried\n");
    project.measure(&[]).run().expect_code(0);
    forget_builds(&machine);
    project.takes(200);
    let run = project.measure(&[]).run().expect_code(1);
    expect_side_by_side(&run, "run 1, rebuilt");
}

#[test]
fn a_run_that_measured_nothing_misses_nothing() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.measure(&[]).run().expect_code(0);
    project
        .perfcheck(&["compare", "2/base", "2"])
        .run()
        .expect_code(0);
    project.measure(&QUICK).arg("--no-rerun").run();
    let same = project.measure(&[]).run();
    let same = finish(&same)["run"].to_string();
    project
        .perfcheck(&["compare", "1", &same])
        .run()
        .expect_code(4)
        .expect_stderr(&["measured nothing", "its machine code was the same"]);
}

#[test]
fn a_run_that_measured_nothing_is_a_baseline_with_the_numbers_of_the_run_whose_code_it_ran() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    let same = project.measure(&[]).run().expect_code(0);
    let same = finish(&same)["run"].to_string();
    project
        .perfcheck(&["baseline", "save", "v1", &same])
        .run()
        .expect_code(0);
    project.takes(200);
    project.measure(&QUICK).arg("--no-rerun").run();
    let compared = project
        .perfcheck(&["compare", "v1", "--message-format", "json"])
        .run();
    assert_eq!(reference_runs(&compared, "cost"), [1], "{compared}");
    assert_ne!(verdict(&compared, "cost"), "new", "{compared}");
}

#[test]
fn a_run_before_the_first_commit_is_the_reference_of_the_first_one_after_it() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(TWO);
    project.measure(&QUICK).run().expect_code(0);
    project.commit();
    project.takes(200);
    let run = project.measure(&[]).run().expect_code(1);
    expect_side_by_side(&run, "run 1 (before the first commit)");
}

#[test]
fn a_named_baseline_differs_in_which_run_it_names_and_in_nothing_else() {
    let machine = Machine::new();
    let project = with_run(&machine, &["--save-baseline", "kept"]);
    project.takes(200);
    let run = project.measure(&["--baseline", "kept"]).run();
    expect_side_by_side(&run.expect_code(1), "`kept` (run 1)");
    // A later comparison of the two runs repeats the stored result and measures nothing.
    let stored = project.perfcheck(&["compare", "kept", "2", "--message-format", "json"]);
    let stored = stored.run().expect_code(1);
    expect_side_by_side(&stored, "run 1");
    // A side-by-side run can be saved as a baseline. Later runs are then measured against its build.
    let words = ["--baseline", "kept", "--save-baseline", "slow"];
    project.measure(&words).run().expect_code(1);
    project.takes(400);
    let run = project.measure(&["--baseline", "slow"]).run();
    expect_side_by_side(&run.expect_code(1), "`slow` (run 3)");
}

#[test]
fn a_run_whose_build_is_gone_is_built_again_from_its_clean_commit() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    forget_builds(&machine);
    project.takes(200);
    let run = project.measure(&[]).run();
    expect_side_by_side(&run.expect_code(1), "run 1, rebuilt");
}

#[test]
fn a_run_of_uncommitted_sources_whose_build_is_gone_is_compared_by_its_numbers() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(110);
    project.measure(&QUICK).run().expect_code(0);
    forget_builds(&machine);
    project.takes(200);
    let run = project.measure(&QUICK).run();
    let run = run.expect_code(1);
    expect_stored_numbers(
        &run,
        "the build of run 1 (with uncommitted changes) is no longer kept",
    );
    let stored = project.measure(&QUICK).arg("--no-rerun").run();
    let remarks = finish(&stored.expect_code(1))["remarks"].to_string();
    assert!(!remarks.contains("stored numbers"), "{remarks}");
}

#[test]
fn stored_numbers_of_before_an_accepted_change_decide_nothing() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    project.takes(200);
    let slower = project.measure(&[]).run().expect_code(1);
    let run = finish(&slower)["run"].to_string();
    project.perfcheck(&["accept", &run]).run().expect_code(0);
    // The accepted level is known only from a side-by-side run. Run 1 has another level, so comparing with it would report the accepted change as a
    // regression.
    let alone = project.measure(&QUICK).arg("--no-rerun").run();
    let alone = alone.expect_code(0);
    assert_eq!(verdict(&alone, "cost"), "incomparable", "{alone}");
    assert_eq!(verdict(&alone, "constant"), "unchanged", "{alone}");
    // The run above measured one build at the accepted level, so later runs can be compared with its stored numbers.
    let next = project.measure(&QUICK).arg("--no-rerun").run();
    let next = next.expect_code(0);
    assert_eq!(compared(&next, "cost")["decided_by"], "bootstrap-t");
}

#[test]
fn what_a_run_left_undecided_keeps_its_reference() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.benchmarks(UNSTEADY);
    project.measure(&QUICK).run().expect_code(0);
    project.takes(101);
    let open = project.measure(&["--rounds", "5"]).run().expect_code(0);
    assert_eq!(verdict(&open, "cost"), "inconclusive", "{open}");
    // The code has not changed since that run. It is measured again because the result was inconclusive, and against the same reference as before.
    let again = project.measure(&["--rounds", "5"]).run().expect_code(0);
    assert_eq!(verdict(&again, "cost"), "inconclusive", "{again}");
    assert_eq!(compared(&again, "cost")["decided_by"], "paired", "{again}");
}

#[test]
fn a_name_of_a_build_in_a_store_leads_nowhere_but_to_the_shelf() {
    let machine = Machine::new();
    let project = with_run(&machine, &[]);
    let build = kept(&machine).pop().expect("a build");
    let elsewhere = machine.home().join("elsewhere");
    fs::rename(&build, &elsewhere).expect("moved");
    let store = rusqlite::Connection::open(machine.store()).expect("opens");
    let changed = store.execute(
        "UPDATE runs SET git_dirty = 1, build = ?1",
        [elsewhere.to_str().expect("text")],
    );
    assert_eq!(changed, Ok(1));
    drop(store);
    project.takes(200);
    let run = project.measure(&QUICK).run();
    expect_stored_numbers(&run.expect_code(1), "no longer kept");
}

#[test]
fn a_workspace_in_no_repository_is_measured_side_by_side_with_its_kept_build() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    fs::remove_dir_all(project.root().join(".git")).expect("removed");
    project.write("target/left/by/cargo", "not copied");
    let first = project.measure(&QUICK).run().expect_code(0);
    assert_eq!(verdict(&first, "cost"), "new", "{first}");
    project.takes(200);
    let run = project.measure(&[]).run();
    expect_side_by_side(&run.expect_code(1), "run 1");
    // The build was removed, and there is no commit from which it could be made again.
    forget_builds(&machine);
    let run = project.measure(&QUICK).run();
    expect_stored_numbers(&run.expect_code(1), "no longer kept");
    assert_eq!(machine.left_behind(), [""; 0]);
}
