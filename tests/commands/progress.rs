//! Progress while many benchmarks are read, processed and written: a bar in a terminal, otherwise a line for each long task.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::commands::scripted::stored;
use crate::support::{Machine, Perfcheck, skipped};

/// Minimum number of benchmarks for which progress is shown.
const MANY: usize = 200;

/// Writes a table of benchmarks, each with three values in nanoseconds in each of two processes. Returns its path.
fn table(machine: &Machine, benchmarks: usize) -> PathBuf {
    let mut text = "name,process,ns\n".to_owned();
    for (benchmark, value) in (0..benchmarks).flat_map(|at| (0..6).map(move |value| (at, value))) {
        let process = value / 3;
        let _ = writeln!(text, "b{benchmark},{process},{}", 100 + value * 7 % 5);
    }
    let path = machine.home().join(format!("{benchmarks}.csv"));
    std::fs::write(&path, text).expect("a file in our own directory");
    path
}

fn import(machine: &Machine, benchmarks: usize) -> Perfcheck {
    stored(machine, &["store", "import"])
        .arg(table(machine, benchmarks))
        .args(["--columns", "id=name,process=process,value=ns"])
        .args(["--unit", "ns", "--resamples", "100"])
}

/// Creates a store with a run of `benchmarks` benchmarks.
fn with_run(benchmarks: usize) -> Machine {
    let machine = Machine::new();
    import(&machine, benchmarks).run().expect_code(0);
    machine
}

/// Returns the tasks that a command without a terminal reports, each with the remaining time.
#[track_caller]
fn told(command: Perfcheck, benchmarks: usize) -> Vec<String> {
    let run = command.run().expect_code(0);
    let with = format!(" {benchmarks} benchmarks, ");
    let lines = run.stderr.lines().filter_map(|line| {
        let (work, left) = line.split_once(&with)?;
        let is_time = left == "a moment left" || left.starts_with("about ");
        assert!(is_time && left.ends_with(" left"), "{line}");
        Some(work.trim().to_owned())
    });
    lines.collect()
}

/// Returns the output of a command in a terminal; `None` if no terminal is available.
#[track_caller]
fn shown(command: Perfcheck) -> Option<String> {
    let Some(command) = command.in_terminal() else {
        skipped("`script` of util-linux is not there, which lends a terminal");
        return None;
    };
    let run = command.run().expect_code(0);
    Some(anstream::adapter::strip_str(&run.stdout).to_string())
}

#[test]
fn an_import_of_many_benchmarks_says_how_far_it_is() {
    let machine = Machine::new();
    assert_eq!(
        told(import(&machine, MANY), MANY),
        ["Describing", "Storing"]
    );
    let fewer = MANY - 1;
    assert!(told(import(&machine, fewer), fewer).is_empty());
    assert!(told(import(&machine, MANY).arg("--quiet"), MANY).is_empty());
    let Some(shown) = shown(import(&machine, MANY)) else {
        return;
    };
    for work in [
        "] Reading",
        "] Describing 200 benchmarks, ",
        "] Storing 200 benchmarks",
    ] {
        assert!(shown.contains(work), "{work}: {shown}");
    }
}

#[test]
fn an_import_of_exported_runs_counts_their_benchmarks_too() {
    let machine = with_run(MANY);
    let file = machine.home().join("run.jsonl");
    let export = stored(&machine, &["store", "export"])
        .arg("--output")
        .arg(&file);
    assert_eq!(told(export, MANY), ["Writing"]);
    let other = machine.home().join("other.db");
    let import = stored(&machine, &["store", "import"]).arg(&file);
    assert_eq!(told(import.arg("--store").arg(&other), MANY), ["Storing"]);
}

#[test]
fn an_export_of_many_benchmarks_says_how_far_it_is() {
    let machine = with_run(MANY);
    for format in ["jsonl", "criterion", "benchstat", "bmf", "csv"] {
        let export = |name: &str| {
            let place = machine.home().join(format!("{format}-{name}"));
            let export = stored(&machine, &["store", "export", "1", "--format", format]);
            export.arg("--output").arg(place)
        };
        assert_eq!(told(export("piped"), MANY), ["Writing"], "{format}");
        if let Some(shown) = shown(export("shown")) {
            assert!(
                shown.contains("] Writing 200 benchmarks"),
                "{format}: {shown}"
            );
        }
    }
    // Progress does not appear in stdout.
    let piped = stored(&machine, &["store", "export", "1", "--format", "csv"]).run();
    assert_eq!(piped.stdout.lines().count(), 1 + 6 * MANY, "{piped}");
    assert!(piped.stderr.contains("Writing 200 benchmarks, "), "{piped}");
}

#[test]
fn a_page_of_many_benchmarks_says_how_far_it_is() {
    let machine = with_run(MANY);
    let page = |words: &[&str]| {
        let place = machine.home().join("page.html");
        let report = stored(&machine, &["report"]).args(words);
        report.args(["--report", &format!("html={}", place.display())])
    };
    assert_eq!(told(page(&[]), MANY), ["Describing", "Drawing"]);
    if let Some(shown) = shown(page(&[])) {
        for work in ["Describing", "Drawing"] {
            let work = format!("] {work} 200 benchmarks, ");
            assert!(shown.contains(&work), "{work}: {shown}");
        }
    }
    import(&machine, MANY).run().expect_code(0);
    assert_eq!(told(page(&["1", "2"]), MANY), ["Comparing", "Drawing"]);
    let compare = stored(&machine, &["compare", "1", "2"]);
    assert_eq!(told(compare, MANY), ["Comparing"]);
}

#[test]
fn a_place_that_cannot_be_is_refused_before_anything_is_worked_on_for_it() {
    let machine = with_run(MANY);
    import(&machine, MANY).run().expect_code(0);
    let nowhere = machine.home().join("nowhere").display().to_string();
    let file = format!("{nowhere}/file");
    for (words, code) in [
        (&["store", "export", "1", "--output", &file][..], 5),
        (&["report", "1", "--report", &format!("html={file}")], 2),
        (
            &["compare", "1", "2", "--report", &format!("text={file}")],
            2,
        ),
    ] {
        let run = stored(&machine, words).run();
        let missing = format!("there is no directory {nowhere}");
        let run = run.expect_code(code).expect_stderr(&[&file, &missing]);
        assert!(!run.stderr.contains("200 benchmarks"), "{run}");
    }
}
