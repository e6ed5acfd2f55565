//! `store export`, `store import` of exported runs, and imports from other benchmark programs, through files as users move them.

#![expect(clippy::unwrap_used, reason = "a test: what cannot be read fails it")]

use perfcheck_analysis::model::{Acceptance, BenchmarkKey, RunEnd, RunId, RunVerdict, Verdict};
use perfcheck_store::{RunSummary, Store};
use rusqlite::types::Value as Column;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

use crate::commands::crates::Crate;
use crate::commands::scripted::{QUICK, steady, stored};
use crate::support::{Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Prepares a command with another store, as on another machine.
fn elsewhere(machine: &Machine, words: &[&str]) -> Perfcheck {
    let store = machine.home().join("elsewhere.db");
    stored(machine, words).arg("--store").arg(store)
}

fn export(machine: &Machine, name: &str, runs: &[&str]) -> PathBuf {
    let path = machine.home().join(name);
    let command = stored(machine, &["store", "export"]).args(runs);
    command.arg("--output").arg(&path).run().expect_code(0);
    path
}

/// Returns every column of each row that a query finds, byte for byte.
pub fn rows(store: &Path, query: &str) -> Vec<Vec<Column>> {
    let store = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = store.prepare(query).unwrap();
    let width = statement.column_count();
    let found = statement
        .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
        .unwrap();
    found.collect::<Result<_, _>>().unwrap()
}

/// Queries for everything that the store has about runs, except numbers that have a meaning only in one store.
const KEPT: [&str; 3] = [
    "SELECT b.package, b.target, b.name, l.ordinal, l.attempt, s.position, s.samples, s.led, s.allocations, s.latencies, c.facts
     FROM series s JOIN processes l ON l.id = s.process JOIN run_benchmarks rb ON rb.id = s.run_benchmark
     JOIN benchmarks b ON b.id = rb.benchmark JOIN conditions c ON c.id = rb.conditions JOIN runs r ON r.id = rb.run
     ORDER BY r.started, r.role, 1, 2, 3, 4, 5",
    "SELECT r.status, r.acceptance, r.started, r.finished, r.exit_code, r.git_commit, r.git_branch, r.git_dirty, r.load, r.seed,
            r.decision, r.tool_version, r.role, r.plan, r.purpose, r.source, r.part, e.facts
     FROM runs r JOIN environments e ON e.id = r.environment ORDER BY r.started, r.role",
    "SELECT b.package, b.target, b.name, rb.verdict, rb.typical_ns, rb.change, rr.started, f.message
     FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark JOIN runs r ON r.id = rb.run
     LEFT JOIN runs rr ON rr.id = rb.reference LEFT JOIN failures f ON f.run_benchmark = rb.id
     ORDER BY r.started, r.role, 1, 2, 3",
];

fn quick(machine: &Machine, package: &str, words: &[&str]) {
    let command = machine.perfcheck().testbench("").args(["-p", package]);
    let finished = command.args(QUICK).args(words).run();
    assert!([0, 1, 3, 4].contains(&finished.code()), "{finished}");
}

#[test]
fn an_exported_run_is_restored_byte_for_byte_and_only_once() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "v1"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 150.0)]).run().expect_code(1);
    quick(&machine, "counts_allocations", &["twelve"]);
    quick(&machine, "times_operations", &["fails_at_times"]);
    quick(&machine, "panics", &["--bench", "panics", "in_body"]);
    let file = export(&machine, "all.jsonl", &["1", "2", "3", "4", "5"]);
    let imported = elsewhere(&machine, &["store", "import"])
        .arg(&file)
        .args(JSON)
        .run()
        .expect_code(0);
    let known = |message: &Value| message["known"].as_bool().expect("yes or no");
    let runs = imported.messages("run-imported");
    assert_eq!(runs.len(), 5);
    assert!(!runs.iter().any(known), "{imported}");
    let there = machine.home().join("elsewhere.db");
    for query in KEPT {
        let (here, there) = (rows(&machine.store(), query), rows(&there, query));
        assert!(here.len() >= 5, "{query}");
        assert_eq!(here, there, "{query}");
    }
    let again = elsewhere(&machine, &["store", "import"])
        .arg(&file)
        .args(JSON)
        .run()
        .expect_code(0);
    assert!(again.messages("run-imported").iter().all(known), "{again}");
    let back = machine.home().join("back.jsonl");
    let command = elsewhere(&machine, &["store", "export", "1", "2", "3", "4", "5"]);
    command.arg("--output").arg(&back).run().expect_code(0);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        fs::read_to_string(&back).unwrap()
    );
    let conclusions = "SELECT conclusion FROM runs ORDER BY id";
    assert_eq!(
        rows(&machine.store(), conclusions),
        rows(&there, conclusions)
    );
    // The baseline was transferred with its run, and comparing with it gives the same result.
    let compared = elsewhere(&machine, &["compare", "v1", "2"])
        .run()
        .expect_code(1);
    let before = stored(&machine, &["compare", "v1", "2"])
        .run()
        .expect_code(1);
    assert_eq!(compared.stdout, before.stdout);
}

#[test]
fn a_file_that_breaks_off_or_was_changed_stores_nothing() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[]).run().expect_code(0);
    let text = fs::read_to_string(export(&machine, "two.jsonl", &["1", "2"])).unwrap();
    let cut = text.lines().count() - 3;
    let changed = text.replacen("\"flat\":[[", "\"flat\":[[0,1],[", 9);
    let kept: Vec<&str> = text.lines().take(cut).collect();
    let head = kept.join("\n");
    for (broken, reason) in [(head, "cut short"), (changed, "0 iterations")] {
        let path = machine.home().join("broken.jsonl");
        fs::write(&path, broken).unwrap();
        let refused = elsewhere(&machine, &["store", "import"])
            .arg(&path)
            .run()
            .expect_code(2);
        let place = refused.stderr.contains("broken.jsonl:");
        assert!(place && refused.stderr.contains(reason), "{refused}");
    }
    assert!(!machine.home().join("elsewhere.db").exists());
}

#[test]
fn names_that_are_taken_stay_where_they_are_unless_they_are_to_move() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    let first = export(&machine, "first.jsonl", &["main"]);
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    let second = export(&machine, "second.jsonl", &["main"]);
    elsewhere(&machine, &["store", "import"])
        .arg(&first)
        .run()
        .expect_code(0);
    let stays = elsewhere(&machine, &["store", "import"])
        .arg(&second)
        .run()
        .expect_code(0);
    assert!(stays.stderr.contains("`main` still names run 1"), "{stays}");
    let named = |machine: &Machine| {
        let listed = elsewhere(machine, &["baseline", "list"]).args(JSON).run();
        listed.messages("baseline")[0]["run"].as_i64()
    };
    assert_eq!(named(&machine), Some(1));
    let moved = elsewhere(&machine, &["store", "import", "--move-names"])
        .arg(&second)
        .run()
        .expect_code(0);
    assert!(
        moved
            .stdout
            .contains("already here as run 2, baseline `main`"),
        "{moved}"
    );
    assert_eq!(named(&machine), Some(2));
}

#[test]
fn a_format_is_guessed_and_said_and_flags_of_other_formats_are_refused() {
    let machine = Machine::new();
    let file = machine.home().join("bench.txt");
    fs::write(
        &file,
        "test a ... bench:       1,234.56 ns/iter (+/- 12.34)\n",
    )
    .unwrap();
    let import = |words: &[&str]| {
        stored(&machine, &["store", "import"])
            .arg(&file)
            .args(words)
            .run()
    };
    let said = import(&["--dry-run"]).expect_code(0);
    assert!(
        said.stderr.contains("bench.txt as `--format libtest`"),
        "{said}"
    );
    assert!(said.stdout.contains("Nothing was stored"), "{said}");
    let refused = import(&["--unit", "ns"]).expect_code(2);
    assert!(
        refused
            .stderr
            .contains("`--unit` does not apply to the format libtest"),
        "{refused}"
    );
    let wrong = import(&["--format", "hyperfine"]).expect_code(2);
    assert!(wrong.stderr.contains("bench.txt:1:"), "{wrong}");
    let map = import(&["--format", "csv"]).expect_code(2);
    assert!(map.stderr.contains("--columns id=NAME"), "{map}");
    fs::write(&file, "what is this").unwrap();
    let unknown = import(&[]).expect_code(2);
    assert!(unknown.stderr.contains("is not known"), "{unknown}");
    assert!(!machine.store().exists());
}

#[test]
fn an_import_of_own_runs_refuses_flags_that_would_change_nothing() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let runs = machine.home().join("runs.jsonl");
    stored(&machine, &["store", "export"])
        .arg("--output")
        .arg(&runs)
        .run()
        .expect_code(0);
    let flags: [&[&str]; 7] = [
        &["--drop-first"],
        &["--outliers", "iqr,first"],
        &["--drop-rows"],
        &["--confidence-level", "99%"],
        &["--resamples", "500"],
        &["--seed", "1"],
        &["--as", "a/b"],
    ];
    for words in flags {
        let refused = stored(&machine, &["store", "import"])
            .arg(&runs)
            .args(words)
            .run()
            .expect_code(2);
        let wanted = format!("`{}` does not apply to the format", words[0]);
        assert!(refused.stderr.contains(&wanted), "{refused}");
    }
}

#[test]
fn exports_for_other_programs_go_to_the_standard_output_and_need_one_run() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[]).run().expect_code(0);
    let bmf = stored(&machine, &["store", "export", "--format", "bmf"])
        .run()
        .expect_code(0);
    let metrics: Value = serde_json::from_str(&bmf.stdout).unwrap();
    let latency = metrics["text"]["latency"]["value"].as_f64().unwrap();
    assert!((100.0..=102.0).contains(&latency), "{bmf}");
    let lines = stored(&machine, &["store", "export", "1", "--format", "benchstat"])
        .run()
        .expect_code(0);
    let text = lines
        .stdout
        .lines()
        .filter(|line| line.starts_with("BenchmarkText\t"));
    assert_eq!(text.count(), 3, "{lines}");
    let several = stored(&machine, &["store", "export", "1", "2", "--format", "bmf"])
        .run()
        .expect_code(2);
    assert!(
        several.stderr.contains("export each run separately"),
        "{several}"
    );
    let tree = stored(&machine, &["store", "export", "--format", "criterion"])
        .run()
        .expect_code(2);
    assert!(tree.stderr.contains("--output target/criterion"), "{tree}");
    let nowhere = stored(&machine, &["store", "export", "--output", "no/such/file"])
        .run()
        .expect_code(5);
    assert!(
        nowhere.stderr.contains("could not write no/such/file"),
        "{nowhere}"
    );
    let table = stored(&machine, &["store", "export", "1", "--format", "csv"])
        .run()
        .expect_code(0);
    assert!(table.stdout.lines().count() > 9, "{table}");
}

/// Every write to `/dev/full` fails, at the latest when it is flushed.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_named_and_ends_with_5_whatever_writes_it() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[]).run().expect_code(0);
    let formats = ["jsonl", "benchstat", "bmf", "csv"];
    let mut commands: Vec<Vec<String>> = formats
        .map(|format| format!("store export 1 --output /dev/full --format {format}"))
        .iter()
        .map(|words| words.split(' ').map(str::to_owned).collect())
        .collect();
    for words in [
        "store export 1 --format criterion --output /dev/full",
        "report 1 --report html=/dev/full",
        "show 1 --report svg=/dev/full text",
        "compare 1 2 --report text=/dev/full",
        "compare 1 2 --report csv=/dev/full",
        "compare 1 2 --report junit=/dev/full",
        "compare 1 2 --report markdown=/dev/full",
        "compare 1 2 --report html=/dev/full",
        "compare 1 2 --report gitlab=/dev/full",
    ] {
        commands.push(words.split(' ').map(str::to_owned).collect());
    }
    for words in &commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = stored(&machine, &words).run();
        assert_eq!(run.code(), 5, "{words:?}: {run}");
        assert!(run.stderr.contains("/dev/full"), "{words:?}: {run}");
        assert!(!run.stdout.contains("Exported"), "{words:?}: {run}");
    }
    for words in [
        "store export 1 --format jsonl",
        "store export 1 --format benchstat",
        "store export 1 --format bmf",
        "store export 1 --format csv",
        "report 1 --report html",
        "show 1",
        "show 1 --message-format json",
        "show 1 --report svg text",
        "explain text --run 2",
        "compare 1 2",
        "compare 1 2 --report junit",
        "history",
        "store runs",
        "baseline list",
    ] {
        let mut command = machine.command("bash");
        command
            .args(["-c", r#""$@" > /dev/full"#, "bash"])
            .arg(env!("CARGO_BIN_EXE_cargo-perfcheck"))
            .arg("perfcheck")
            .args(words.split(' '))
            .arg("--manifest-path")
            .arg(crate::support::testbench(""))
            .env("PERFCHECK_STORE", machine.store());
        let run = crate::support::run(command);
        assert_eq!(run.code(), 5, "{words}: {run}");
        let said = "error: could not write the result: No space left on device";
        assert!(run.stderr.contains(said), "{words}: {run}");
    }
}

/// Returns the output of `explain` and `show` about the benchmark `text` of a run.
fn told(command: impl Fn(&[&str]) -> Perfcheck, run: &str) -> [String; 2] {
    let flag = format!("--run={run}");
    [
        &["explain", "text", "--full", &flag][..],
        &["show", run, "--stats"],
    ]
    .map(|words| command(words).run().expect_code(0).stdout)
}

#[test]
fn the_conclusion_of_a_comparison_goes_along_and_is_told_as_before() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 150.0)]).run().expect_code(1);
    let file = export(&machine, "both.jsonl", &["1", "2"]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(r#"{"reason":"conclusion""#).count(), 2);
    elsewhere(&machine, &["store", "import"])
        .arg(&file)
        .run()
        .expect_code(0);
    let before = told(|words| stored(&machine, words), "2");
    assert!(before[0].contains("regressed"), "{}", before[0]);
    assert!(before[0].contains("run 1 of"), "{}", before[0]);
    assert_eq!(before, told(|words| elsewhere(&machine, words), "2"));
}

#[test]
fn a_conclusion_moves_to_other_numbers_and_a_reference_that_stays_behind_is_said_to_be_missing() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 150.0)])
        .args(["--baseline", "2"])
        .run()
        .expect_code(1);
    let alone = export(&machine, "alone.jsonl", &["3"]);
    let lost = elsewhere(&machine, &["store", "import"])
        .arg(&alone)
        .run()
        .expect_code(0);
    assert!(
        lost.stderr
            .contains("neither in this store nor in the files"),
        "{lost}"
    );
    let [explained, _] = told(|words| elsewhere(&machine, words), "1");
    assert!(
        explained.contains("compared with 1 run, which this store does not have"),
        "{explained}"
    );
    let page = machine.home().join("page.html");
    let html = format!("--report=html={}", page.display());
    elsewhere(&machine, &["report", "1", &html])
        .run()
        .expect_code(0);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("come from another store"));
    // Imported together into a third store, the runs get the numbers 1 and 2.
    let both = export(&machine, "both.jsonl", &["2", "3"]);
    let third = |words: &[&str]| {
        let store = machine.home().join("third.db");
        stored(&machine, words).arg("--store").arg(store)
    };
    third(&["store", "import"]).arg(&both).run().expect_code(0);
    let [explained, _] = told(third, "2");
    let [before, _] = told(|words| stored(&machine, words), "3");
    let renumbered = before.replace("un 2", "un 1").replace("un 3", "un 2");
    assert_eq!(explained, renumbered);
}

#[test]
fn a_damaged_conclusion_stores_nothing_and_its_run_is_named() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 150.0)]).run().expect_code(1);
    let text = fs::read_to_string(export(&machine, "two.jsonl", &["1", "2"])).unwrap();
    let (before, last) = text.rsplit_once("\"cbor\":\"a4").unwrap();
    let path = machine.home().join("broken.jsonl");
    fs::write(&path, format!("{before}\"cbor\":\"a3{last}")).unwrap();
    let refused = elsewhere(&machine, &["store", "import"])
        .arg(&path)
        .run()
        .expect_code(2);
    let said = "the final record of run 2 in the file";
    assert!(refused.stderr.contains(said), "{refused}");
    assert!(!machine.home().join("elsewhere.db").exists());
}

#[test]
fn a_conclusion_of_another_version_is_the_stores_trouble() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let mut store = Store::open(&machine.store()).unwrap();
    let RunSummary { run, workspace, .. } = store.run_summary(RunId(1)).unwrap();
    let foreign = store
        .begin_run(workspace, &run.begun.without_build())
        .unwrap();
    let key = BenchmarkKey {
        package: "steady".to_owned(),
        target: "steady".to_owned(),
        id: "text".to_owned(),
    };
    let end = RunEnd {
        finished: run.finished.unwrap(),
        acceptance: Acceptance::Pending,
        exit_code: 0,
        verdicts: vec![RunVerdict {
            key,
            verdict: Verdict::Missing,
            typical_ns: None,
            change: None,
            standard_error: None,
            reference: None,
        }],
        conclusion: Some(b"\xa0".to_vec()),
    };
    store.finish_run(foreign, &end).unwrap();
    drop(store);
    for words in [
        &["explain", "text", "--run=2"][..],
        &["store", "export", "2"],
    ] {
        let refused = stored(&machine, words).run().expect_code(5);
        let said = "the verdicts of run 2, stored by another version";
        assert!(refused.stderr.contains(said), "{refused}");
    }
}

#[test]
fn the_throughput_of_bencher_metric_format_is_of_a_second() {
    let machine = Machine::new();
    let source = r#"
use perfcheck::{Suite, Throughput, black_box};
fn measured(suite: &mut Suite) {
    suite.bench("a", |b| {
        b.throughput(Throughput::elements(50));
        b.iter(|| black_box(7_u64) + 1);
    });
}
perfcheck::main!(measured);
"#;
    let made = Crate::with_source(&machine, &[], source);
    made.measure(&machine, &[], &[("a", 200.0)])
        .run()
        .expect_code(0);
    let words = ["store", "export", "--format", "bmf"];
    let bmf = made.perfcheck(&machine, &words).run().expect_code(0);
    let metrics: Value = serde_json::from_str(&bmf.stdout).unwrap();
    let of = |measure: &str| metrics["a"][measure]["value"].as_f64().unwrap();
    // 50 elements in about 200 ns are 250 million per second.
    assert!(
        (of("throughput") * of("latency") / 50e9 - 1.0).abs() < 1e-12,
        "{bmf}"
    );
    assert!((of("throughput") / 250e6 - 1.0).abs() < 0.05, "{bmf}");
}
