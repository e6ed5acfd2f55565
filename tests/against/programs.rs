//! Side-by-side measurement of programs: runs of both sides alternate.
//!
//! The programs sleep, so that a busy machine does not change which of them takes longer.

use std::fs;

use perfcheck_host::process::try_time_samples;
use serde_json::Value;

use crate::against::instructions::{LIBRARY, has_valgrind};
use crate::against::project::{Project, compared};
use crate::commands::scripted::verdict;
use crate::support::{Machine, skipped};

/// A program that sleeps for a time and prints its input. Its arguments are the name of the input, or what else to do.
const PROGRAM: &str = r#"
fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        std::process::exit(2)
    });
    std::thread::sleep(std::time::Duration::from_millis(planted::NANOSECONDS));
    print!("{text}");
}
"#;

const ENTRY: &str = r#"
[[package.metadata.perfcheck.program]]
name = "copy"
args = ["made.txt"]
prepare = "cp input.txt made.txt"
"#;

/// Creates a project with one commit of a program that takes 4 ms.
fn project(machine: &Machine) -> Project<'_> {
    let project = Project::without_benches(machine);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    project.write("Cargo.toml", &(manifest + ENTRY));
    project.write("src/main.rs", PROGRAM);
    project.write("input.txt", "words\n");
    project.write(".gitignore", "Cargo.lock\n/target\nmade.txt\n");
    project.takes(4);
    project.commit();
    project
}

#[test]
fn a_slower_program_regresses_and_the_same_program_is_not_run() {
    let machine = Machine::new();
    let project = project(&machine);
    // The base does not have the file, but would read that of the work tree.
    project.write("untracked.txt", "words\n");
    let line = "planted untracked.txt";
    let words = ["--against", "HEAD", "--program", "copy", "--program", line];
    let same = project.measure(&words).run().expect_code(0);
    for id in ["copy", line] {
        assert_eq!(verdict(&same, id), "unchanged", "{same}");
        assert_eq!(compared(&same, id)["same"], "executable", "{same}");
    }
    assert!(!same.stdout.contains("has changed"), "{same}");
    assert!(!project.root().join("made.txt").exists(), "nothing was run");
    project.takes(12);
    let slower = ["--against", "HEAD"];
    let slower = project.measure_in_layouts(&slower).run().expect_code(1);
    assert_eq!(verdict(&slower, "copy"), "regressed", "{slower}");
    let change = &compared(&slower, "copy")["change"]["estimate"];
    assert!(change.as_f64().expect("a number") > 0.5, "{slower}");
    assert!(!slower.stderr.contains("different output"), "{slower}");
    assert!(!slower.stderr.contains("layout"), "{slower}");
    // A command line needs no entry.
    let named = ["--against", "HEAD", "--program", "planted input.txt"];
    let named = project.measure(&named).run().expect_code(1);
    assert_eq!(verdict(&named, "planted input.txt"), "regressed", "{named}");
    assert_eq!(named.messages("benchmark-compared").len(), 1, "{named}");
}

/// A program that works itself or starts itself to work, whether or not that succeeds, or does nothing.
const STARTS_ITSELF: &str = r#"
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("start") => {
            let own = std::env::current_exe().expect("a path");
            let _ = std::process::Command::new(own).arg("work").status();
        }
        Some("work") => planted::work(),
        _ => {}
    }
}
"#;

#[test]
fn a_program_whose_child_processes_work_is_measured_if_their_code_differs() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    let works = |milliseconds: u64| {
        let library = format!(
            "#[inline(never)]\npub fn work() {{\n    std::thread::sleep(std::time::Duration::from_millis({milliseconds}));\n}}\n"
        );
        project.write("src/lib.rs", &library);
    };
    works(4);
    project.write("src/main.rs", STARTS_ITSELF);
    project.commit();
    works(20);
    let words = ["--against", "HEAD", "--rounds", "5"];
    let lines = ["--program", "planted idle", "--program", "planted start"];
    let run = project.measure(&[&words[..], &lines].concat()).run();
    assert_eq!(compared(&run, "planted idle")["same"], "run", "{run}");
    let start = compared(&run, "planted start");
    assert_eq!(start["same"], Value::Null, "{run}");
    let change = &start["change"]["estimate"];
    assert!(change.as_f64().expect("a number") > 0.5, "{run}");
}

#[test]
fn an_accepted_run_is_the_reference_of_the_next() {
    let machine = Machine::new();
    let project = project(&machine);
    let first = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&first, "copy"), "new", "{first}");
    project.takes(12);
    let slower = project.measure(&[]).run().expect_code(1);
    assert_eq!(verdict(&slower, "copy"), "regressed", "{slower}");
    // Times of other arguments say nothing about these.
    project.write("input2.txt", "words\n");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    project.write(
        "Cargo.toml",
        &manifest.replace("cp input.txt", "cp input2.txt"),
    );
    let stored = project.measure(&["--no-rerun"]).run();
    assert_eq!(verdict(&stored, "copy"), "incomparable", "{stored}");
}

#[test]
fn both_builds_read_the_files_of_the_work_tree() {
    let machine = Machine::new();
    let project = project(&machine);
    let quick = ["--against", "HEAD", "--rounds", "5", "--program"];
    let measure = |program: &str| {
        let words = [&quick[..], &[program]].concat();
        project.measure(&words).run()
    };
    project.write("input.txt", "other words\n");
    let changed = measure("planted input.txt").expect_code(0);
    let note = "the input of `planted` has changed (input.txt); both builds read the new one";
    assert!(changed.stdout.contains(note), "{changed}");
    assert!(!changed.stderr.contains("different output"), "{changed}");
    // The base has no such file.
    project.write("later.txt", "words\n");
    project.takes(12);
    let later = measure("planted later.txt");
    let change = &compared(&later, "planted later.txt")["change"]["estimate"];
    assert!(change.as_f64().expect("a number") > 0.5, "{later}");
    let absent = measure("planted absent.txt").expect_code(4);
    let error = "exit status 2; its output: `absent.txt: No such file";
    assert!(absent.stderr.contains(error), "{absent}");
}

#[test]
fn a_revision_that_builds_the_program_only_with_features_does_not_have_it() {
    let machine = Machine::new();
    let project = project(&machine);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let gate = "\n[features]\nextra = []\n\n[[bin]]\nname = \"planted\"\npath = \"src/main.rs\"\nrequired-features = [\"extra\"]\n";
    project.write("Cargo.toml", &format!("{manifest}{gate}"));
    project.commit();
    // The entry is left out, as a bench would be.
    let gated = project.perfcheck(&["list", "--offline"]).run();
    let warning = "warning: planted/planted is left out, as in `cargo build`: it needs features that are not enabled\n  help: use `--features planted/extra` to enable them";
    assert!(gated.stderr.contains(warning), "{gated}");
    project.write("Cargo.toml", &manifest);
    let line = "planted input.txt";
    let words = ["--against", "HEAD", "--rounds", "5", "--program", line];
    let run = project.measure(&words).run();
    assert_eq!(verdict(&run, line), "new", "{run}");
}

#[test]
fn a_binary_that_two_packages_have_is_refused_in_an_entry() {
    let machine = Machine::new();
    let project = project(&machine);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let members = "[workspace]\nmembers = [\"other\"]\ndefault-members = [\".\", \"other\"]\n";
    project.write("Cargo.toml", &manifest.replace("[workspace]\n", members));
    let other = "[package]\nname = \"other\"\nedition = \"2024\"\n\n[[bin]]\nname = \"planted\"\npath = \"main.rs\"\n";
    project.write("other/Cargo.toml", other);
    project.write("other/main.rs", "fn main() {}\n");
    let listed = project.perfcheck(&["list", "--offline"]).run();
    listed.expect_code(2).expect_stderr(&[
        "error: several packages have a binary `planted`\n  help: select one with `-p`",
    ]);
}

#[test]
fn different_output_is_said() {
    let machine = Machine::new();
    let project = project(&machine);
    project.write(
        "src/main.rs",
        &PROGRAM.replace("print!(\"{text}\")", "print!(\"{text}.\")"),
    );
    let options = [
        "--against",
        "HEAD",
        "--rounds",
        "5",
        "--program",
        "planted input.txt",
    ];
    let differing = project.measure(&options).run();
    let warning =
        "warning: planted/planted: the two sides of `planted input.txt` print different output";
    assert!(differing.stderr.contains(warning), "{differing}");
}

#[test]
fn a_search_for_the_commit_measures_the_program_alone() {
    let machine = Machine::new();
    let project = project(&machine);
    let good = project.git(&["rev-parse", "HEAD"]);
    project.takes(12);
    let slower = project.commit();
    project.write(
        "src/lib.rs",
        "pub const NANOSECONDS: u64 = 12;\npub const OTHER: u64 = 1;\n",
    );
    project.commit();
    let range = format!("{}..HEAD", good.trim());
    // A command line needs no entry, and its input need not be committed.
    project.write("untracked.txt", "words\n");
    let line = "planted untracked.txt";
    for words in [
        &["copy", "--good", good.trim()][..],
        &["--program", line, &range],
    ] {
        let found = project.perfcheck(&["bisect", "--as-built", "--offline"]);
        let found = found.args(words).run().expect_code(0);
        assert!(found.stdout.contains(&slower.trim()[..7]), "{found}");
        assert_eq!(
            found.stdout.contains(line),
            words.contains(&line),
            "{found}"
        );
    }
    let remembered = || {
        let words = ["history", "copy", "--measure", &range, "--steps", "1"];
        let measured = project.perfcheck(&words).args([
            "--rounds",
            "5",
            "--as-built",
            "--offline",
            "--message-format",
            "json",
        ]);
        let finished = measured.run().expect_code(0);
        finished.messages("measure-finished")[0]["remembered"].clone()
    };
    assert_eq!([remembered(), remembered()], [0, 1]);
    // The results of other arguments do not count.
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let copies = manifest.replace("cp input.txt", "cp -f input.txt");
    project.write("Cargo.toml", &copies);
    assert_eq!(remembered(), 0);
}

/// A program whose work the library determines. It needs a file.
const WORKS: &str = r#"
fn main() {
    std::fs::read("untracked.txt").expect("the file of the work tree");
    println!("{}", planted::work(planted::NANOSECONDS * 100_000));
}
"#;

/// Creates a project whose work tree has a program that works four times as long as that of its commit.
fn working_longer(machine: &Machine) -> Project<'_> {
    let project = Project::without_benches(machine);
    let works = |nanoseconds: u64| {
        let library = format!("{LIBRARY}\npub const NANOSECONDS: u64 = {nanoseconds};\n");
        project.write("src/lib.rs", &library);
    };
    project.write("src/main.rs", WORKS);
    works(40);
    project.commit();
    works(160);
    project.write("untracked.txt", "words\n");
    project
}

const AGAINST: [&str; 6] = [
    "--against",
    "HEAD",
    "--rounds",
    "20",
    "--program",
    "planted",
];

#[test]
fn the_instructions_of_whole_runs_are_counted() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = working_longer(&machine);
    let run = project.measure_in_layouts(&AGAINST).with_valgrind().run();
    let run = run.expect_code(1);
    let found = &compared(&run, "planted")["instructions"];
    assert_eq!(found["functions"][0]["name"], "planted::work", "{run}");
    let [base, candidate] = ["base", "candidate"].map(|side| found[side].as_f64());
    let ratio = candidate.expect("a number") / base.expect("a number");
    assert!((3.0..5.0).contains(&ratio), "{found}");
    assert_eq!(found["exact"], true, "{found}");
    let graph = project.root().join("graph.svg");
    let words = ["explain", "planted", "--flamegraph"];
    let drawn = project.perfcheck(&words).arg(&graph).with_valgrind().run();
    drawn.expect_code(0);
    let graph = fs::read_to_string(graph).expect("drawn");
    assert!(graph.contains("planted::work"), "{graph}");
}

#[test]
fn the_function_that_takes_more_of_a_run_is_sampled_without_valgrind() {
    if try_time_samples().is_err() {
        skipped("no perf_event_open");
        return;
    }
    let machine = Machine::new();
    let project = working_longer(&machine);
    let run = project.measure_in_layouts(&AGAINST).with_sampling().run();
    let run = run.expect_code(1);
    let found = &compared(&run, "planted")["sampled_time"];
    assert_eq!(found["functions"][0]["name"], "planted::work", "{run}");
}
