//! A side-by-side run that is interrupted or killed leaves nothing behind, and the next run works.

use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

use crate::against::project::Project;
use crate::commands::scripted::verdict;
use crate::support::{Finished, Machine, Running};
use crate::testbench::interruption::{ends_at_once, wait_for_processes};

/// A benchmark that waits when its executable is started for the seventh time, until the test lets it continue. It creates a file to show that it
/// waits.
const WAITS: &str = r#"
    let home = std::path::Path::new(HOME);
    let processes = home.join("processes");
    let before = std::fs::read(&processes).map_or(0, |bytes| bytes.len());
    std::fs::write(&processes, "x".repeat(before + 1)).expect("written");
    suite.bench("cost", move |b| {
        while before >= 6 && !home.join("go").exists() {
            std::fs::write(home.join("waits"), "").expect("written");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        takes(b, planted::NANOSECONDS);
    });
"#;

/// Starts a run that waits after some rounds.
pub fn waiting(machine: &Machine) -> (Project<'_>, Running) {
    let project = Project::without_benches(machine);
    project.add_target("costs");
    project.benchmarks(&WAITS.replace("HOME", &json!(machine.home()).to_string()));
    project.commit();
    project.takes(200);
    let mut run = project.measure_in_layouts(&["--against", "HEAD"]).start();
    run.wait_for_file(&machine.home().join("waits"));
    (project, run)
}

/// Returns the executables of running measurements: what is in the directories named `running` in the cache.
pub fn in_use(machine: &Machine) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![machine.home().join("cache")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path
                .parent()
                .is_some_and(|above| above.ends_with("running"))
            {
                found.push(path);
            } else if path.is_dir() && !path.is_symlink() {
                directories.push(path);
            }
        }
    }
    found
}

/// Returns the statuses of the stored runs.
pub fn statuses(project: &Project<'_>) -> Vec<String> {
    project
        .perfcheck(&["store", "runs", "--message-format", "json"])
        .run()
        .expect_code(0)
        .messages("run")
        .iter()
        .map(|run| run["status"].as_str().unwrap_or("?").to_owned())
        .collect()
}

#[track_caller]
fn next_works(project: &Project<'_>) {
    fs::write(project.machine.home().join("go"), "").expect("written");
    let next = project.measure(&["--against", "HEAD"]).run();
    let next = next.expect_code(1);
    assert_eq!(verdict(&next, "cost"), "regressed", "{next}");
    assert_eq!(project.machine.left_behind(), [""; 0]);
}

#[test]
fn a_run_that_was_killed_leaves_no_process_and_nothing_that_disturbs_the_next() {
    let machine = Machine::new();
    let (project, run) = waiting(&machine);
    run.signal(Signal::KILL);
    let run = run.finish().expect_code(128 + 9);
    assert_eq!(machine.left_behind(), [""; 0], "{run}");
    assert_eq!(statuses(&project), ["incomplete", "incomplete"]);
    next_works(&project);
    let statuses = statuses(&project);
    assert_eq!(statuses.len(), 4);
    let complete = statuses.iter().filter(|status| *status == "complete");
    assert_eq!(complete.count(), 2);
}

#[test]
fn copies_of_executables_that_a_killed_run_left_go_with_the_next() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(&WAITS.replace("HOME", &json!(machine.home()).to_string()));
    project.commit();
    fs::write(machine.home().join("go"), "").expect("written");
    project
        .measure_in_layouts(&crate::commands::scripted::QUICK)
        .args(["--save-baseline", "kept"])
        .run()
        .expect_code(0);
    fs::remove_file(machine.home().join("go")).expect("there");
    project.takes(200);
    let mut run = project.measure_in_layouts(&["--baseline", "kept"]).start();
    run.wait_for_file(&machine.home().join("waits"));
    assert!(!in_use(&machine).is_empty(), "it runs copies");
    run.signal(Signal::KILL);
    run.finish().expect_code(128 + 9);
    assert_eq!(machine.left_behind(), [""; 0]);
    fs::write(machine.home().join("go"), "").expect("written");
    let next = project.measure_in_layouts(&["--baseline", "kept"]).run();
    assert_eq!(verdict(&next, "cost"), "regressed", "{next}");
    assert_eq!(in_use(&machine), Vec::<PathBuf>::new(), "{next}");
}

#[test]
fn an_interrupt_keeps_the_rounds_that_had_ended() {
    for whole_group in [false, true] {
        let machine = Machine::new();
        let (project, run) = waiting(&machine);
        if whole_group {
            run.signal_group(Signal::INT);
        } else {
            run.signal(Signal::INT);
        }
        let run = run.finish().expect_code(130).expect_stderr(&[
            "error: interrupted; run 1 is stored as incomplete, with its complete rounds",
        ]);
        assert_eq!(run.stdout, "");
        assert_eq!(machine.left_behind(), [""; 0], "{run}");
        assert_eq!(statuses(&project), ["incomplete", "incomplete"]);
        next_works(&project);
    }
}

/// Declares so many benchmarks that judging them takes long after the last round.
const MANY: &str = r#"
    for at in 0..150 {
        suite.bench(&format!("b{at}"), |b| takes(b, planted::NANOSECONDS));
    }
"#;

#[test]
fn a_signal_while_verdicts_are_computed_leaves_the_rounds_that_had_ended() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(MANY);
    project.commit();
    project.takes(200);
    let words = ["--against", "HEAD", "--rounds", "5"];
    let run = project.measure(&words).start();
    // Five rounds have two processes each.
    wait_for_processes(&machine, 10);
    let said = "error: interrupted; run 1 is stored as incomplete, with its complete rounds";
    ends_at_once(run, Signal::TERM, said);
    assert_eq!(machine.left_behind(), [""; 0]);
    assert_eq!(statuses(&project), ["incomplete", "incomplete"]);
}

/// `cost` is decided at the first look. The other benchmark needs more rounds and then waits forever.
const ONE_IS_DECIDED: &str = r#"
    let home = std::path::Path::new(HOME);
    suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
    suite.bench("open", move |b| {
        let runs = home.join("runs");
        let before = std::fs::read(&runs).map_or(0, |bytes| bytes.len());
        std::fs::write(&runs, "x".repeat(before + 1)).expect("written");
        while before >= 40 {
            std::fs::write(home.join("waits"), "").expect("written");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        takes(b, 50);
    });
"#;

#[test]
fn an_interrupted_measurement_shows_and_explains_what_it_has_decided() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(&ONE_IS_DECIDED.replace("HOME", &json!(machine.home()).to_string()));
    project.commit();
    project.takes(200);
    // The other benchmark runs the same code on both sides, so it is measured only with this flag.
    let words = ["--against", "HEAD", "--measure-identical"];
    let mut run = project.measure(&words).start();
    run.wait_for_file(&machine.home().join("waits"));
    run.signal(Signal::INT);
    let run = run.finish().expect_code(130).expect_stderr(&[
        "error: interrupted with 1 of 2 benchmarks decided; run 1 is stored as incomplete, with its complete rounds",
    ]);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(run.messages("benchmark-compared").len(), 1, "{run}");
    assert_eq!(run.messages("run-finished")[0]["exit_code"], 130, "{run}");
    assert_eq!(statuses(&project), ["incomplete", "incomplete"]);
    for words in [
        &["explain", "cost"][..],
        &["explain", "cost", "--run", "1"],
        &["explain", "cost", "--run", "1/base"],
    ] {
        let explained = project.perfcheck(words).run().expect_code(0);
        assert!(explained.stdout.contains("slower"), "{explained}");
    }
}

/// A benchmark whose processes differ by more than the change between the builds.
const NOISY: &str = r#"
    let runs = std::path::Path::new(HOME).join("runs");
    suite.bench("cost", move |b| {
        let before = std::fs::read(&runs).map_or(0, |bytes| bytes.len());
        std::fs::write(&runs, "x".repeat(before + 1)).expect("written");
        takes(b, planted::NANOSECONDS * (100 + before as u64 * 5 % 13) / 100);
    });
"#;

#[test]
fn one_benchmark_takes_no_longer_than_the_time_for_one_and_what_would_settle_it_is_said_then() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(&NOISY.replace("HOME", &json!(machine.home()).to_string()));
    project.takes(10_000);
    project.commit();
    project.takes(10_300);
    let compared = |words: &[&str]| {
        let run = project.measure(&["--against", "HEAD"]).args(words).run();
        let found = run.messages("benchmark-compared");
        let [found] = &found[..] else {
            panic!("one benchmark: {run}");
        };
        found["paired"]["rounds"].as_u64().expect("a number")
    };
    assert_eq!(compared(&["--time-per-benchmark", "1ns"]), 5);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let key = "\n[workspace.metadata.perfcheck]\ntime-per-benchmark = \"1ns\"\n";
    project.write("Cargo.toml", &(manifest + key));
    assert_eq!(compared(&[]), 5);
    // A setting in a file does not reduce the rounds that the user requests.
    assert_eq!(compared(&["--rounds", "8"]), 8);
    let words = ["--offline", "--as-built", "--against", "HEAD"];
    let table = project.perfcheck(&words).run();
    assert!(
        table.stdout.contains("time ran out before a decision; "),
        "{table}"
    );
    let explained = project.perfcheck(&["explain", "cost"]).run();
    assert!(
        explained
            .stdout
            .contains("Time ran out before a decision; "),
        "{explained}"
    );
}

#[test]
fn settings_that_rounds_do_not_use_are_named_where_they_were_made() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.benchmarks(
        r#"
    suite.bench("constant", |b| takes(b, 50));
    suite.samples(20);
    suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
"#,
    );
    project.commit();
    project.takes(150);
    let words = ["--offline", "--as-built", "--against", "HEAD", "cost"];
    let unused = |run: &Finished| {
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = text.split("side-by-side measurements do not use ").nth(1)?;
        Some(found.split(" (use").next()?.to_owned())
    };
    let plain = project.perfcheck(&words).run().expect_code(1);
    assert_eq!(unused(&plain), None, "{plain}");
    let in_full = project.perfcheck(&words).args(["--verbose"]).run();
    let code = "`samples` in benchmark code";
    assert_eq!(unused(&in_full).as_deref(), Some(code), "{in_full}");
    // A side-by-side measurement uses the first of these flags, but not the second.
    let flags = ["--warm-up-time", "1ms", "--measurement-time", "1ms"];
    let with_flags = project.perfcheck(&words).args(flags).run();
    let both = format!("`--measurement-time`, and {code}");
    assert_eq!(unused(&with_flags), Some(both), "{with_flags}");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let keys = "\n[workspace.metadata.perfcheck]\nrounds = 7\nwarm-up-time = \"1ms\"\noverride = [{ match = \"constant\", sampling-mode = \"flat\" }]\n";
    project.write("Cargo.toml", &(manifest + keys));
    let with_keys = project.perfcheck(&words).run().expect_code(1);
    let both = format!("`rounds`, `warm-up-time` in Cargo.toml, and {code}");
    assert_eq!(unused(&with_keys), Some(both), "{with_keys}");
}
