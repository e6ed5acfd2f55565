//! Tests `--partition` and `merge` for runs that are compared with stored numbers instead of side by side. The jobs that measure the parts need no
//! reference. `merge` takes the reference from the store into which it merges the parts.

use perfcheck_analysis::model::RequestedReference;
use std::path::PathBuf;

use crate::against::parts::{lines, split};
use crate::commands::scripted::{QUICK, STEADY, finish, steady, stored, verdict};
use crate::support::{Machine, Perfcheck};

const JSON: [&str; 4] = ["--message-format", "json", "--seed", "7"];

/// Gives a command its own store.
fn at(machine: &Machine, store: &str, command: Perfcheck) -> Perfcheck {
    let store = machine.home().join(format!("{store}.db"));
    command.arg("--store").arg(store)
}

fn export(machine: &Machine, store: &str, name: &str) -> PathBuf {
    let file = machine.home().join(name);
    let words = stored(machine, &["store", "export", "latest"]);
    at(machine, store, words.arg("--output").arg(&file))
        .run()
        .expect_code(0);
    file
}

fn merge(machine: &Machine, store: &str, files: &[PathBuf]) -> Perfcheck {
    let words = ["merge", "--message-format", "json"];
    at(machine, store, stored(machine, &words).args(files))
}

/// Creates a store whose only run is accepted and saved as a baseline. Returns the file to which the run was exported.
fn with_reference(machine: &Machine) -> PathBuf {
    let first = steady(machine, &[]).args(["--save-baseline", "main"]);
    at(machine, "first", first).run().expect_code(0);
    export(machine, "first", "first.jsonl")
}

fn take_over(machine: &Machine, store: &str, file: &PathBuf) {
    let import = stored(machine, &["store", "import"]).arg(file);
    at(machine, store, import).run().expect_code(0);
}

#[test]
fn the_samples_of_one_run_beside_stored_numbers_cut_and_merged_are_that_run_byte_for_byte() {
    let machine = Machine::new();
    let first = with_reference(&machine);
    for (named, reference) in [
        (&[][..], RequestedReference::Accepted),
        (
            &["--baseline", "main"],
            RequestedReference::Named("main".into()),
        ),
    ] {
        let (whole, merged) = (
            format!("whole{}", named.len()),
            format!("all{}", named.len()),
        );
        take_over(&machine, &whole, &first);
        take_over(&machine, &merged, &first);
        let run = steady(&machine, &[("memory", 170.0)])
            .args(JSON)
            .args(named);
        let run = at(&machine, &whole, run).run().expect_code(1);
        let files = split(&export(&machine, &whole, "whole.jsonl"), 3, &reference);
        let merged = merge(&machine, &merged, &files).run().expect_code(1);
        assert_eq!(lines(&merged), lines(&run));
        assert_eq!(lines(&run).len(), 4, "{run}");
        assert_eq!(verdict(&merged, "memory"), "regressed", "{merged}");
    }
}

#[test]
fn jobs_without_a_store_are_compared_where_they_are_merged_and_their_run_is_accepted() {
    let machine = Machine::new();
    let measured = |changed: &[(&str, f64)], round: &str| -> Vec<PathBuf> {
        let parts = (1..=4).map(|part| {
            let store = format!("{round}-{part}");
            let partition = format!("{part}/4");
            let run = steady(&machine, changed).args(JSON);
            let run = run.args(["--no-rerun", "--partition", &partition]);
            let run = at(&machine, &store, run).run().expect_code(0);
            // There are only three benchmarks. The last part has none, which is not a failure.
            let count = run.messages("benchmark-compared").len();
            assert_eq!(count, usize::from(part < 4), "{run}");
            export(&machine, &store, &format!("{store}.jsonl"))
        });
        parts.collect()
    };
    let first = merge(&machine, "all", &measured(&[], "first"))
        .run()
        .expect_code(0);
    assert_eq!(finish(&first)["verdicts"]["new"], STEADY.len(), "{first}");
    let second = merge(&machine, "all", &measured(&[], "second"))
        .run()
        .expect_code(0);
    assert_eq!(finish(&second)["verdicts"]["new"], 0, "{second}");
    let third = measured(&[("text", 400.0)], "third");
    let third = merge(&machine, "all", &third).run().expect_code(1);
    assert_eq!(verdict(&third, "text"), "regressed", "{third}");
    let runs = stored(&machine, &["store", "runs", "--message-format", "json"]);
    let runs = at(&machine, "all", runs).run().messages("run");
    let accepted: Vec<&str> = runs
        .iter()
        .filter_map(|run| run["acceptance"].as_str())
        .collect();
    assert_eq!(accepted, ["pending", "automatic", "automatic"]);
    assert!(runs.iter().all(|run| run["part"].is_null()));
}

#[test]
fn parts_of_different_machines_say_so_and_a_job_that_fails_fails_the_whole() {
    let machine = Machine::new();
    let mut files = Vec::new();
    for part in 1..=3 {
        let partition = format!("{part}/3");
        let run = steady(&machine, &[])
            .args(JSON)
            .args(["--partition", &partition]);
        let store = format!("job-{part}");
        at(&machine, &store, run).run().expect_code(0);
        files.push(export(&machine, &store, &format!("{part}.jsonl")));
    }
    let text = std::fs::read_to_string(&files[1]).expect("our own");
    let (before, after) = text.split_once(r#""cpu":""#).expect("a processor");
    let elsewhere = format!(r#"{before}"cpu":"Another {after}"#);
    std::fs::write(&files[1], elsewhere).expect("written");
    let merged = merge(&machine, "all", &files).run().expect_code(0);
    let remarks = finish(&merged)["remarks"].to_string();
    for said in ["different machines", "1/3, 3/3 on", "2/3 on Another"] {
        assert!(remarks.contains(said), "{remarks}");
    }
    // Numbers from several machines cannot be the reference of a run on one machine.
    let next = steady(&machine, &[]).args(JSON).args(["--no-rerun"]);
    let next = at(&machine, "all", next).run().expect_code(0);
    assert_eq!(finish(&next)["verdicts"]["incomparable"], 3, "{next}");

    let report = machine.home().join("report.md");
    let wanted = format!("markdown={}", report.display());
    let words = ["merge", "--report", &wanted];
    at(&machine, "reported", stored(&machine, &words).args(&files))
        .run()
        .expect_code(0);
    let report = std::fs::read_to_string(report).expect("written");
    assert!(report.contains("memory"), "{report}");

    let words = ["-p", "panics", "--partition", "1/1"];
    let panics = machine
        .perfcheck()
        .testbench("")
        .args(words)
        .args(QUICK)
        .args(JSON);
    at(&machine, "panics", panics).run().expect_code(4);
    let file = export(&machine, "panics", "panics.jsonl");
    merge(&machine, "panicked", &[file]).run().expect_code(4);
}
