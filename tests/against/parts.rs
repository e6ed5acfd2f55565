//! `--partition` and `merge` for side-by-side measurements: each job has its own store, and the merged run has one verdict per benchmark.

use cargo_perfcheck::interchange::{
    InputContent, PortableRun, read, read_portable, write_portable,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, ProgressReporter, Purpose, RequestedReference, Shard, ShardId,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::against::project::Project;
use crate::commands::scripted::{finish, verdict};
use crate::support::{Finished, Machine, Perfcheck};

/// Declares eleven benchmarks, not in sorted order. The library determines the times of `cost/3` and `cost/10`.
const ELEVEN: &str = r#"
    for input in (1..=11_u64).rev() {
        let planted = if input == 3 || input == 10 { planted::NANOSECONDS } else { 100 };
        suite.bench(&format!("cost/{input}"), move |b| takes(b, std::hint::black_box(planted) + input));
    }
"#;

const PARTS: u32 = 8;

/// Creates a project whose library is twice as slow in the work tree as in its only commit.
pub fn slower<'m>(machine: &'m Machine, benchmarks: &str) -> Project<'m> {
    let project = Project::without_benches(machine);
    project.add_target("costs");
    project.benchmarks(benchmarks);
    project.commit();
    project.takes(200);
    project
}

/// Prepares a command with its own store, as on another machine.
fn at(project: &Project<'_>, store: &str, words: &[&str]) -> Perfcheck {
    let store = project.machine.home().join(format!("{store}.db"));
    let command = project.perfcheck(words);
    command.arg("--store").arg(store)
}

/// Runs the job of one part: measures the part and exports it.
fn job(project: &Project<'_>, part: u32, words: &[&str]) -> (Finished, PathBuf) {
    let (partition, seed) = (format!("{part}/{PARTS}"), part.to_string());
    let store = format!("job-{part}");
    let run = at(project, &store, words)
        .args(["--offline", "--message-format", "json", "--seed", &seed])
        .args(["--partition", &partition, "--as-built"])
        .run();
    let file = export(project, &store, &format!("part-{part}.jsonl"));
    (run, file)
}

/// Exports the newest run of a store to the file `name`.
fn export(project: &Project<'_>, store: &str, name: &str) -> PathBuf {
    let file = project.machine.home().join(name);
    at(project, store, &["store", "export", "latest"])
        .arg("--output")
        .arg(&file)
        .run()
        .expect_code(0);
    file
}

fn merge(project: &Project<'_>, store: &str, files: &[PathBuf]) -> Perfcheck {
    at(project, store, &["merge", "--message-format", "json"]).args(files)
}

fn ids(run: &Finished) -> Vec<String> {
    let all = run.messages("benchmark-compared").into_iter();
    all.map(|row| row["benchmark"]["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn eight_jobs_merged_decide_about_every_benchmark_once_and_fail_as_one_run() {
    let machine = Machine::new();
    let project = slower(&machine, ELEVEN);
    let mut files = Vec::new();
    let mut seen = Vec::new();
    for part in 1..=PARTS {
        let (run, file) = job(&project, part, &["--against", "HEAD"]);
        // A part never fails because of a regression: `merge` decides. Benchmarks of other parts are not `missing`.
        let run = run.expect_code(0);
        let end = finish(&run);
        assert_eq!(end["part"]["part"], part, "{run}");
        assert_eq!(end["verdicts"]["missing"], 0, "{run}");
        let of_part = ids(&run);
        let expected: Vec<String> = (1..=11)
            .filter(|input| (input - 1) % PARTS + 1 == part)
            .map(|input| format!("cost/{input}"))
            .collect();
        assert_eq!(of_part, expected, "{run}");
        if part == 3 {
            assert_eq!(verdict(&run, "cost/3"), "regressed", "{run}");
        }
        let text = fs::read_to_string(&file).expect("our own");
        assert!(
            text.contains(r#"\"planned\":11"#),
            "corrected for all eleven"
        );
        seen.extend(of_part);
        files.push(file);
    }
    assert_eq!(seen.len(), 11);
    let merged = merge(&project, "whole", &files).run().expect_code(1);
    let expected: Vec<String> = (1..=11).map(|input| format!("cost/{input}")).collect();
    assert_eq!(ids(&merged), expected, "{merged}");
    let end = finish(&merged);
    assert_eq!(end["verdicts"]["regressed"], 2, "{merged}");
    assert_eq!(end["part"], Value::Null);
    assert_eq!(end["status"], "complete");

    // The order of the files does not matter, and merging the same parts again finds the existing run.
    files.reverse();
    let again = merge(&project, "whole", &files).run().expect_code(1);
    assert_eq!(again.stdout, merged.stdout);
    let reversed = merge(&project, "reversed", &files).run().expect_code(1);
    assert_eq!(reversed.stdout, merged.stdout);
    let runs = at(
        &project,
        "whole",
        &["store", "runs", "--message-format", "json"],
    )
    .run();
    assert_eq!(runs.messages("run").len(), 2, "{runs}");

    // The merged run can be used like any other run.
    let shown = at(&project, "whole", &["compare", "1/base", "1"])
        .run()
        .expect_code(1);
    assert!(shown.stdout.contains("cost/10"), "{shown}");
    let named = merge(&project, "whole", &files)
        .args(["--save-baseline", "all", "--fail-on", "none"])
        .run()
        .expect_code(0);
    assert!(!named.stdout.is_empty());
    let list = at(&project, "whole", &["baseline", "list"])
        .run()
        .expect_code(0);
    assert!(list.stdout.contains("all"), "{list}");
    let limit = ["--fail-on", "none", "--limit", "median:5%"];
    merge(&project, "limited", &files)
        .args(limit)
        .run()
        .expect_code(1);
}

#[test]
fn a_missing_part_makes_the_run_incomplete_and_other_faults_store_nothing() {
    let machine = Machine::new();
    let project = slower(&machine, ELEVEN);
    let parts_of_run = |store: &str, words: &[&str]| {
        let measured = at(&project, store, &["--against", "HEAD"]).args(words);
        measured
            .args(["--offline", "--as-built"])
            .run()
            .expect_code(1);
        let file = export(&project, store, &format!("{store}.jsonl"));
        (split(&file, 5, &RequestedReference::Beside), file)
    };
    let (files, whole) = parts_of_run("whole", &[]);

    let broken = merge(&project, "broken", &[&files[..2], &files[3..]].concat())
        .args(["--fail-on", "none"])
        .run()
        .expect_code(4);
    let end = finish(&broken);
    assert_eq!(end["status"], "incomplete", "{broken}");
    let remarks = end["remarks"].to_string();
    assert!(remarks.contains("part 3/5 is missing"), "{broken}");
    assert_eq!(ids(&broken).len(), 9, "{broken}");
    let shown = at(
        &project,
        "broken",
        &["show", "1", "--message-format", "json"],
    )
    .run();
    let count = shown.messages("benchmark-measured").len();
    assert_eq!(count, 9, "{shown}");

    let refused = |second: &Path, texts: &[&str]| {
        let both = [files[0].clone(), second.to_owned()];
        let refused = merge(&project, "none", &both).run().expect_code(2);
        refused.expect_stderr(texts);
    };
    let copy = machine.home().join("copy.jsonl");
    fs::copy(&files[0], &copy).expect("copied");
    let twice = ["part 1/5 is in both", "copy.jsonl", "help:"];
    refused(&copy, &twice);
    refused(&whole, &["whole.jsonl", "without `--partition`"]);
    let text = fs::read_to_string(&files[1]).expect("our own");
    let changed = machine.home().join("changed.jsonl");
    let refused_as = |text: &str, said: &str| {
        fs::write(&changed, text).expect("written");
        refused(&changed, &["changed.jsonl", said]);
    };
    refused_as(&text[..text.len() / 2], "changed.jsonl:");
    let commit = project.git(&["rev-parse", "HEAD"]);
    let (zeros, together) = ("0".repeat(40), "do not belong together");
    refused_as(&text.replace(commit.trim(), &zeros), together);
    let version = format!(r#""tool_version":"{}""#, env!("CARGO_PKG_VERSION"));
    let other = text.replace(&version, r#""tool_version":"0.0.9""#);
    refused_as(&other, "measured by cargo-perfcheck 0.0.9");
    refused_as(
        &text.replace(r#""of":5"#, r#""of":6"#),
        "number of parts: 5; 6",
    );
    let several = machine.home().join("several.jsonl");
    at(
        &project,
        "whole",
        &[
            "--against",
            "HEAD",
            "--offline",
            "--as-built",
            "--fail-on",
            "none",
        ],
    )
    .run()
    .expect_code(0);
    at(&project, "whole", &["store", "export", "1", "2"])
        .arg("--output")
        .arg(&several)
        .run()
        .expect_code(0);
    refused(&several, &["several.jsonl must contain exactly one run"]);
    project.benchmarks(&ELEVEN.replace("11_u64", "12_u64"));
    let (foreign, _) = parts_of_run("foreign", &["--benches-from", "worktree"]);
    refused(&foreign[1], &["11 benchmarks", "12 benchmarks"]);
    at(&project, "none", &["store", "runs"])
        .run()
        .expect_stderr(&["there is no store"]);
}

#[test]
fn a_part_moves_between_stores_and_is_one_there() {
    let machine = Machine::new();
    let project = slower(&machine, ELEVEN);
    let (_, file) = job(&project, 4, &["--against", "HEAD"]);
    at(&project, "other", &["store", "import"])
        .arg(&file)
        .run()
        .expect_code(0);
    let back = export(&project, "other", "back.jsonl");
    let read = |path| fs::read(path).expect("our own");
    assert_eq!(read(&back), read(&file));
    at(&project, "other", &["accept", "latest"])
        .run()
        .expect_code(2)
        .expect_stderr(&["run 1 is part 4/8"]);
    at(
        &project,
        "third",
        &["store", "import", "--save-baseline", "main"],
    )
    .arg(&file)
    .run()
    .expect_code(2)
    .expect_stderr(&["part of a suite"]);
}

#[test]
fn a_part_is_no_reference_and_has_no_name() {
    let machine = Machine::new();
    let project = slower(&machine, ELEVEN);
    let (first, _) = job(&project, 1, &[]);
    first.expect_code(0);
    let refused = |words: &[&str]| {
        at(&project, "job-1", words)
            .run()
            .expect_code(2)
            .expect_stderr(&["run 1 is part 1/8", "cargo perfcheck merge"]);
    };
    refused(&["accept", "latest"]);
    refused(&["accept", "cost/1"]);
    refused(&["baseline", "save", "main", "latest"]);
    refused(&["--offline", "--no-rerun", "--baseline", "latest"]);
    at(
        &project,
        "job-1",
        &["--partition", "1/8", "--save-baseline", "main"],
    )
    .run()
    .expect_code(2)
    .expect_stderr(&["merge --save-baseline main"]);
    for wrong in ["0/8", "9/8", "8", "1/1001"] {
        at(&project, "job-1", &["--partition", wrong])
            .run()
            .expect_code(2)
            .expect_stderr(&["K/N"]);
    }
    let next = at(
        &project,
        "job-1",
        &["--offline", "--message-format", "json"],
    )
    .run()
    .expect_code(0);
    assert_eq!(finish(&next)["verdicts"]["new"], 11, "{next}");
    refused(&["compare", "1", "2"]);
    let history = at(
        &project,
        "job-1",
        &["history", "cost/1", "--message-format", "json"],
    );
    let history = history.run().expect_code(0);
    assert_eq!(history.messages("history-point").len(), 1, "{history}");
    let runs = at(&project, "job-1", &["store", "runs"]).run();
    assert!(runs.stdout.contains("part 1/8"), "{runs}");
}

/// Returns the keys of the benchmarks of all runs, sorted.
fn keys(runs: &[PortableRun]) -> Vec<BenchmarkKey> {
    let verdicts = runs.iter().flat_map(|run| &run.verdicts);
    let keys: BTreeSet<BenchmarkKey> = verdicts.map(|found| found.benchmark.clone()).collect();
    keys.into_iter().collect()
}

/// Returns the part of `run` that one job would have measured if the suite had been split. `own` selects the benchmarks of this part.
fn cut(run: &PortableRun, partition: &Shard, own: &dyn Fn(&BenchmarkKey) -> bool) -> PortableRun {
    let mut run = run.clone();
    run.head.begun.partition = Some(partition.clone());
    run.head.acceptance = Acceptance::Pending;
    if let Some(pair) = &mut run.head.pair {
        pair.purpose = Purpose::Part;
    }
    for process in &mut run.processes {
        process.benchmarks.retain(|one| own(&one.benchmark.key));
    }
    run.processes
        .retain(|process| !process.benchmarks.is_empty());
    run.counted.retain(|one| own(&one.benchmark));
    run.verdicts.retain(|one| own(&one.benchmark));
    if let Some(conclusion) = &mut run.conclusion {
        conclusion.concluded.rows.retain(|row| own(&row.key));
        conclusion.concluded.exit_code = ExitCode::Clean;
        run.head.exit_code = 0;
    }
    run
}

/// Splits the exported file of a whole run into `of` files, one for each part.
pub fn split(file: &Path, of: u32, reference: &RequestedReference) -> Vec<PathBuf> {
    let content: InputContent = read(file, &mut std::io::empty()).expect("our own file");
    let runs =
        read_portable(&content, (0, 0), &ProgressReporter::silent()).expect("our own format");
    let keys = keys(&runs);
    let parts = (1..=of).map(|part| {
        let part = ShardId { part, of };
        let partition = Shard {
            part,
            benchmarks: keys.len(),
            suite: "0123456789".to_owned(),
            reference: reference.clone(),
            control: false,
            filter: Vec::new(),
            exact: false,
        };
        let place = |key: &BenchmarkKey| keys.binary_search(key).expect("one of them");
        let own = |key: &BenchmarkKey| part.contains_position(place(key));
        let runs: Vec<PortableRun> = runs.iter().map(|run| cut(run, &partition, &own)).collect();
        let path = file.with_extension(format!("{}.jsonl", part.part));
        let mut bytes = Vec::new();
        let version = env!("CARGO_PKG_VERSION");
        write_portable(&mut bytes, &runs, version, &ProgressReporter::silent()).expect("memory");
        fs::write(&path, bytes).expect("a file of our own");
        path
    });
    parts.collect()
}

/// Returns the messages about the benchmarks and about the whole run, as written.
pub fn lines(run: &Finished) -> Vec<&str> {
    let is_result = |line: &&str| {
        line.contains("\"reason\":\"benchmark-compared\"")
            || line.contains("\"reason\":\"run-finished\"")
    };
    run.stdout.lines().filter(is_result).collect()
}

#[test]
fn the_samples_of_one_run_side_by_side_cut_into_parts_and_merged_are_that_run_byte_for_byte() {
    let machine = Machine::new();
    // One side has an additional benchmark, so some rows have no samples.
    let project = slower(&machine, ELEVEN);
    project.benchmarks(&ELEVEN.replace("11_u64", "12_u64"));
    let whole = at(&project, "whole", &["--against", "HEAD", "--as-built"])
        .args(["--offline", "--message-format", "json", "--seed", "7"])
        .run()
        .expect_code(1);
    assert_eq!(finish(&whole)["verdicts"]["new"], 1, "{whole}");
    let file = export(&project, "whole", "whole.jsonl");
    let files = split(&file, 5, &RequestedReference::Beside);
    let merged = merge(&project, "merged", &files).run().expect_code(1);
    assert_eq!(lines(&merged), lines(&whole));
    assert_eq!(lines(&whole).len(), 13, "{whole}");
    // The merged run also has the same samples.
    let back = export(&project, "merged", "back.jsonl");
    let series = |path: &Path| {
        let text = fs::read_to_string(path).expect("our own");
        let mut series: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("{\"reason\":\"series\""))
            .map(str::to_owned)
            .collect();
        series.sort();
        series
    };
    assert_eq!(series(&back), series(&file));
}

#[test]
fn parts_beside_the_last_accepted_run_are_merged_to_a_run_that_may_be_accepted() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let measure = |store: &str| {
        at(
            &project,
            store,
            &["--offline", "--message-format", "json", "--seed", "7"],
        )
    };
    measure("first").run().expect_code(0);
    let first = export(&project, "first", "first.jsonl");
    for store in ["whole", "merged"] {
        at(&project, store, &["store", "import"])
            .arg(&first)
            .run()
            .expect_code(0);
    }
    for (nanoseconds, code, acceptance) in [(50, 0, "automatic"), (200, 1, "pending")] {
        project.takes(nanoseconds);
        project.commit();
        let whole = measure("whole").run().expect_code(code);
        let file = export(&project, "whole", "whole.jsonl");
        let files = split(&file, 2, &RequestedReference::Accepted);
        let merged = merge(&project, "merged", &files).run().expect_code(code);
        assert_eq!(lines(&merged), lines(&whole));
        assert_eq!(lines(&whole).len(), 3, "{whole}");
        let runs = at(
            &project,
            "merged",
            &["store", "runs", "--message-format", "json"],
        )
        .run();
        assert_eq!(runs.messages("run")[0]["acceptance"], acceptance, "{runs}");
    }
}
