//! Build times, measured side by side.
//!
//! The build that takes longer sleeps, so that a busy machine does not change which of them takes longer.

use std::fs;

use crate::against::project::{Project, compared};
use crate::commands::scripted::verdict;
use crate::support::Machine;

/// Adds a package on which the library depends, and whose build script takes a second. The script runs again only if it changes.
fn add_slow_dependency(project: &Project<'_>) {
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let dependency = "\n[dependencies]\nadded = { path = \"added\" }\n";
    project.write("Cargo.toml", &(manifest + dependency));
    project.write(
        "added/Cargo.toml",
        "[package]\nname = \"added\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    );
    project.write("added/src/lib.rs", "");
    project.write(
        "added/build.rs",
        r#"
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    std::thread::sleep(std::time::Duration::from_secs(1));
}
"#,
    );
}

#[test]
fn a_slower_build_regresses_and_exceeds_its_limit_but_only_where_it_is_slower() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.commit();
    add_slow_dependency(&project);
    let before = project.state();
    let words = [
        "--against",
        "HEAD",
        "--metric",
        "build-time",
        "--rounds",
        "10",
        "--limit",
        "build-time:5%",
    ];
    let run = project.measure(&words).run().expect_code(1);
    assert_eq!(verdict(&run, "build/cold"), "regressed", "{run}");
    assert_ne!(verdict(&run, "build/incremental"), "regressed", "{run}");
    let cold = compared(&run, "build/cold");
    let seconds = |side: &str| cold["compared"][side].as_f64().expect("a time") / 1e9;
    assert!(seconds("candidate") > seconds("base") + 0.9, "{cold}");
    let exceeded = run.messages("limit-exceeded");
    assert_eq!(exceeded.len(), 1, "{run}");
    assert_eq!(exceeded[0]["statistic"], "build-time", "{run}");
    if cfg!(target_os = "linux") {
        let cpu = &cold["usage"]["cpu_ns"]["candidate"];
        assert!(cpu.as_f64().expect("a number") > 1e6, "{cold}");
    }
    assert_eq!(project.state(), before, "nothing is written here");
    // Times of builds and of benchmarks have their own histories.
    let history = ["history", "--metric", "build-time"];
    let history = project.perfcheck(&history).run().expect_code(0);
    assert!(history.stdout.contains("build/cold"), "{history}");
}

#[test]
fn a_side_that_does_not_build_is_an_error_that_names_it() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.write("src/lib.rs", "no Rust");
    project.commit();
    let words = ["--against", "HEAD", "--metric", "build-time"];
    project.takes(1);
    let base = project.measure(&words).run().expect_code(3);
    let message = "cannot be built: the packages did not build (exit status: 101)";
    assert!(base.stderr.contains(message), "{base}");
    project.commit();
    project.write("src/lib.rs", "no Rust");
    let candidate = project.measure(&words).run().expect_code(3);
    let message = "error: the packages did not build (exit status: 101)";
    assert!(candidate.stderr.contains(message), "{candidate}");
}

#[test]
fn what_means_nothing_for_builds_is_refused() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let refused = |words: &[&str], message: &str| {
        let run = project.perfcheck(words).run().expect_code(2);
        assert!(run.stderr.contains(message), "{run}");
    };
    let metric = ["--metric", "build-time"];
    refused(&metric, "so it needs a revision");
    refused(
        &[&["compare", "1", "2"][..], &metric].concat(),
        "so it needs a revision",
    );
    let limit = ["--limit", "build-time:5%"];
    refused(&limit, "add `--metric build-time`");
    let against = [&metric[..], &["--against", "HEAD"]].concat();
    let other = [&against[..], &["--limit", "time:5%"]].concat();
    refused(&other, "`--limit build-time:5%` limits builds");
    let saved = [&against[..], &["--save-baseline", "main"]].concat();
    refused(&saved, "cannot be a baseline");
    let executable = [&metric[..], &["--against-executable", "planted"]].concat();
    refused(&executable, "an executable cannot be built again");
    let measured = ["history", "--measure", "HEAD~1..HEAD"];
    refused(
        &[&measured[..], &metric].concat(),
        "measures benchmarks, not builds",
    );
}
