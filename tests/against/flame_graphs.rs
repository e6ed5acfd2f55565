//! `explain --flamegraph` counts the instructions of a benchmark in both builds of a verdict under valgrind, and draws them. Tests that need valgrind
//! are skipped if it is not installed.

use roxmltree::Document;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

use crate::against::instructions::{LIBRARY, beside_more_turns, has_valgrind};
use crate::against::project::{Project, TAKES_100, compared};
use crate::messages::schema::expect_valid;
use crate::support::{Finished, Machine};

const BENCHMARKS: &str = r#"
    suite.bench("work", |b| b.iter(|| planted::work(planted::TURNS)));
    suite.bench("other", |b| b.iter(|| planted::other(1000)));
"#;

const FILE: &str = "flames.svg";

fn project(machine: &Machine) -> Project<'_> {
    Project::of(machine, LIBRARY, BENCHMARKS)
}

fn file(project: &Project<'_>) -> PathBuf {
    project.root().join(FILE)
}

fn draw(project: &Project<'_>, bench: &str, more: &[&str]) -> Finished {
    let path = file(project);
    let words = [
        "explain",
        bench,
        "--flamegraph",
        path.to_str().expect("text"),
    ];
    let drawn = project.perfcheck(&words).args(more);
    drawn.with_valgrind().run()
}

/// Returns the frames of a benchmark's flame graphs, first of the base, then of the candidate. Each frame is a function name, a color class and the
/// tooltip.
pub fn frames(project: &Project<'_>, bench: &str) -> Vec<(String, String, String)> {
    draw(project, bench, &[]).expect_code(0);
    let text = fs::read_to_string(file(project)).expect("written");
    let read = Document::parse(&text).expect("XML");
    let groups = read.descendants().filter(|node| node.has_tag_name("g"));
    let frame = |group: roxmltree::Node<'_, '_>| {
        let child = |name| group.children().find(|node| node.has_tag_name(name));
        let title = child("title").and_then(|title| title.text());
        let (name, rest) = title.expect("a title").split_once('\n').expect("lines");
        let colour = child("rect").and_then(|frame| frame.attribute("class"));
        let colour = colour.expect("a class");
        (name.to_owned(), colour.to_owned(), rest.to_owned())
    };
    groups.map(frame).collect()
}

#[test]
fn both_builds_are_drawn_from_where_the_benchmark_begins() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    let run = beside_more_turns(&project).expect_code(1);
    let counted = compared(&run, "work")["instructions"].clone();

    let told = draw(&project, "work", &["--message-format", "json"]).expect_code(0);
    let message = &told.messages("flame-graph-written")[0];
    expect_valid(message);
    assert_eq!(
        (&message["base_run"], &message["run"]),
        (&json!(-1), &json!(1))
    );
    assert_eq!(message["path"], json!(file(&project)));
    // The run counted instructions in other processes than this command, but both must get the same numbers.
    for side in ["base", "candidate"] {
        assert_eq!(message["instructions"][side], counted[side], "{told}");
    }
    let text = draw(&project, "work", &[]).expect_code(0);
    let number = |side: &str| counted[side].as_f64().expect("a number");
    let said = format!(
        "instructions per iteration: {} → {}, +",
        number("base"),
        number("candidate")
    );
    assert!(
        text.stdout.starts_with("Wrote ") && text.stdout.contains(&said),
        "{text}"
    );

    let drawn = frames(&project, "work");
    let (first, colour, _) = &drawn[0];
    assert!(
        first.starts_with("perfcheck::timing::time_loop"),
        "{drawn:?}"
    );
    assert_eq!(colour, "calls-more", "{drawn:?}");
    let (changed, others): (Vec<_>, Vec<_>) =
        drawn.iter().partition(|(name, ..)| name == "planted::work");
    // `planted::work` is drawn once for each side.
    assert_eq!(changed.len(), 2, "{drawn:?}");
    for (_, colour, said) in changed {
        assert_eq!(colour, "more", "{drawn:?}");
        assert!(said.contains("(+10.0 %)\nWithout callees: "), "{said}");
    }
    assert!(
        others.iter().all(|(_, colour, _)| colour != "more"),
        "{drawn:?}"
    );
    assert!(
        drawn.iter().all(|(name, ..)| !name.contains("main")),
        "{drawn:?}"
    );

    // Another benchmark calls the same function, as often as before the change.
    let same = frames(&project, "other");
    let is_called = |name: &str| same.iter().filter(|(found, ..)| found == name).count();
    assert_eq!(
        (is_called("planted::other"), is_called("planted::work")),
        (2, 2),
        "{same:?}"
    );
    assert!(
        same.iter().all(|(_, colour, _)| colour == "same"),
        "{same:?}"
    );
}

#[test]
fn the_graphs_go_to_stdout_where_that_is_asked_for() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    beside_more_turns(&project).expect_code(1);
    let words = ["explain", "other", "--flamegraph", "-"];
    let shown = || project.perfcheck(&words).with_valgrind();
    let drawn = shown().run().expect_code(0);
    Document::parse(&drawn.stdout).expect("XML alone");
    let both = shown().args(["--message-format", "json"]).run();
    let both = both.expect_code(2);
    assert!(both.stderr.contains("are both written to stdout"), "{both}");
}

#[test]
fn a_harness_whose_iterations_nobody_can_set_is_named_with_what_to_do() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::like_libtest(&machine, TAKES_100, "");
    let run = project
        .measure(&["--against", "HEAD", "--rounds", "5"])
        .run();
    run.expect_code(0);
    let refused = draw(&project, "work", &[]).expect_code(4);
    for said in [
        "cannot count the instructions of `work` in the build of run 1/base: libtest benches do not report how many iterations they run",
        "\n  help: ",
    ] {
        assert!(refused.stderr.contains(said), "{refused}");
    }
    assert!(!file(&project).exists());
}

#[test]
fn without_valgrind_or_builds_the_error_says_what_to_do_and_nothing_is_written() {
    let machine = Machine::new();
    let project = project(&machine);
    let run = project
        .measure(&["--against", "HEAD", "--rounds", "5"])
        .run();
    run.expect_code(0);
    let path = file(&project);
    let path = path.to_str().expect("text");
    let draw = |path| {
        project
            .perfcheck(&["explain", "work", "--flamegraph", path])
            .run()
    };
    let without = draw(path).expect_code(4);
    for said in ["valgrind does not work", "\n  help: "] {
        assert!(without.stderr.contains(said), "{without}");
    }
    let lost = draw("no/such/directory/flames.svg").expect_code(5);
    assert!(
        lost.stderr
            .contains("there is no directory no/such/directory"),
        "{lost}"
    );
    fs::remove_dir_all(machine.cache()).expect("removed");
    let gone = draw(path).expect_code(6);
    for said in [
        "run 1/base has no stored executable of the bench target `costs`\n  help: ",
        "`cargo perfcheck --against ",
    ] {
        assert!(gone.stderr.contains(said), "{gone}");
    }
    assert!(!file(&project).exists());
    let two = project.perfcheck(&["explain", "work", "--flamegraph", path, "--asm", "work"]);
    two.run().expect_code(2);
}

/// Returns the names of the functions in the base's flame graph of `work`.
pub fn names_in_base(project: &Project<'_>) -> Vec<String> {
    let drawn = frames(project, "work");
    let half = drawn.len() / 2;
    drawn
        .into_iter()
        .take(half)
        .map(|(name, ..)| name)
        .collect()
}
