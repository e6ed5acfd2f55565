//! Flags of a run, and the ways to call it.

use std::env;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use crate::commands::scripted::{
    CLOCK, QUICK, STEADY, finish, script, steady, stored, verdict, verdicts,
};
use crate::support::{Machine, run, testbench};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns the ids of all benchmarks that a run measured.
fn measured(machine: &Machine, package: &str, words: &[&str]) -> Vec<String> {
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", package])
        .args(QUICK)
        // Ignore the verdicts, because the machine may be busy.
        .args(["--fail-on", "none"])
        .args(JSON)
        .args(words)
        .run()
        .expect_code(0);
    let keys = run.messages("benchmark-measured");
    let text = |key: &serde_json::Value| key.as_str().unwrap_or("?").to_owned();
    keys.iter()
        .map(|message| {
            let key = &message["benchmark"];
            format!("{}/{}", text(&key["target"]), text(&key["id"]))
        })
        .collect()
}

#[test]
fn list_builds_and_lists_and_stores_nothing() {
    let machine = Machine::new();
    let listed = |words: &[&str]| {
        machine
            .perfcheck()
            .args(["list", "-p", "steady"])
            .testbench("")
            .args(words)
            .run()
            .expect_code(0)
            .stdout
    };
    let all = STEADY.map(|id| format!("steady/steady: {id}\n")).concat();
    assert_eq!(listed(&[]), all);
    assert_eq!(listed(&["mem"]), "steady/steady: memory\n");
    assert!(!machine.store().exists());
}

#[test]
fn any_of_several_filters_selects_and_exact_takes_whole_ids() {
    let machine = Machine::new();
    let ids = |words: &[&str]| measured(&machine, "steady", words);
    assert_eq!(ids(&["mem", "ex"]), ["steady/memory", "steady/text"]);
    assert_eq!(ids(&["--exact", "text"]), ["steady/text"]);
    assert_eq!(
        ids(&["--exact", "text", "memory"]),
        ["steady/memory", "steady/text"]
    );
}

#[test]
fn packages_and_bench_targets_are_chosen_as_cargo_chooses_them() {
    let machine = Machine::new();
    let all = measured(&machine, "two_targets", &[]);
    let targets = |ids: &[String]| -> Vec<String> {
        let mut targets: Vec<String> = ids
            .iter()
            .filter_map(|id| Some(id.split_once('/')?.0.to_owned()))
            .collect();
        targets.dedup();
        targets
    };
    let both = targets(&all);
    assert_eq!(both.len(), 2, "{all:?}");
    let one = measured(&machine, "two_targets", &["--bench", &both[0]]);
    assert_eq!(targets(&one), both[..1]);
    // Targets that were not selected are not `missing`.
    let run = machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "two_targets",
            "--bench",
            &both[0],
            "--fail-on",
            "missing",
        ])
        .args(QUICK)
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(verdicts(&run).len(), one.len());
    let run = machine
        .perfcheck()
        .arg("list")
        .testbench("")
        .args(["-p", "steady", "-p", "two_targets"])
        .run()
        .expect_code(0);
    assert!(
        run.stdout.contains("steady/steady: text") && run.stdout.contains("two_targets/"),
        "{run}"
    );
}

#[test]
fn fail_on_says_which_verdicts_count() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    let slow = |fail_on: &str| {
        steady(&machine, &[("text", 200.0)])
            .args(["--baseline", "main", "--fail-on", fail_on])
            .args(JSON)
            .run()
    };
    let none = slow("none").expect_code(0);
    assert_eq!(verdict(&none, "text"), "regressed", "it is still said");
    assert_eq!(finish(&none)["exit_code"], 0);
    slow("suspect").expect_code(0);
    slow("regressed,suspect").expect_code(1);
    let run = slow("regressed").expect_code(1);
    assert_eq!(finish(&run)["exit_code"], 1);
}

#[test]
fn sorted_by_worst_the_regression_comes_first() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let order = |more: &[&str]| -> Vec<String> {
        let changed = [("text", 300.0), ("memory", 200.0)];
        let run = steady(&machine, &changed)
            .args(JSON)
            .args(more)
            .run()
            .expect_code(1);
        run.messages("benchmark-compared")
            .iter()
            .map(|message| {
                message["benchmark"]["id"]
                    .as_str()
                    .unwrap_or("?")
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(order(&[]), STEADY);
    assert_eq!(
        order(&["--sort", "worst"]),
        ["text", "memory", "arithmetic"]
    );
}

#[test]
fn quiet_leaves_the_result_and_what_went_wrong() {
    let machine = Machine::new();
    let run = steady(&machine, &[]).arg("--quiet").run().expect_code(0);
    assert!(run.stdout.contains("arithmetic"), "{run}");
    let unexpected: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| !line.starts_with("warning: the machine is busy"))
        .collect();
    assert_eq!(unexpected, Vec::<&str>::new());
    let loud = steady(&machine, &[]).run().expect_code(0);
    assert!(loud.stderr.contains("Measuring 3 benchmarks"), "{loud}");
}

#[test]
fn a_reader_that_leaves_changes_neither_the_store_nor_the_status() {
    let machine = Machine::new();
    // Both streams lead into pipes whose reading end is closed.
    let into_closed_pipes = |words: &[&str], clock: &str| {
        let closed = || {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            writer
        };
        let status = machine
            .command(env!("CARGO_BIN_EXE_cargo-perfcheck"))
            .args(words)
            .arg("--manifest-path")
            .arg(testbench(""))
            .env("PERFCHECK_STORE", machine.store())
            .env("PERFCHECK_NO_RERUN", "1")
            .env(CLOCK, clock)
            .stdout(closed())
            .stderr(closed())
            .status();
        status.expect("it starts").code()
    };
    let measure = [&["-p", "steady", "--quiet"][..], &QUICK].concat();
    let even = script(&STEADY, &[]);
    let slow = script(&STEADY, &[("text", 200.0)]);
    assert_eq!(into_closed_pipes(&measure, &even), Some(0));
    assert_eq!(into_closed_pipes(&measure, &slow), Some(1));
    let json = [&measure[..], &JSON].concat();
    assert_eq!(into_closed_pipes(&json, &slow), Some(1));
    assert_eq!(into_closed_pipes(&["compare", "1", "2"], ""), Some(1));
    assert_eq!(into_closed_pipes(&["compare", "1", "gone"], ""), Some(6));
    assert_eq!(into_closed_pipes(&["store", "runs"], ""), Some(0));
    assert_eq!(
        into_closed_pipes(&["baseline", "save", "x", "1"], ""),
        Some(0)
    );
    assert_eq!(into_closed_pipes(&["--help"], ""), Some(0));
    assert_eq!(into_closed_pipes(&["--lunches"], ""), Some(2));
    let runs = stored(&machine, &["store", "runs"])
        .args(JSON)
        .run()
        .expect_code(0);
    let states: Vec<_> = runs
        .messages("run")
        .iter()
        .map(|run| (run["status"].clone(), run["acceptance"].clone()))
        .collect();
    assert_eq!(
        states,
        [
            ("complete".into(), "pending".into()),
            ("complete".into(), "pending".into()),
            ("complete".into(), "automatic".into())
        ]
    );
}

#[test]
fn cargo_finds_the_command_and_a_direct_call_means_the_same() {
    let machine = Machine::new();
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-perfcheck"));
    let bin = machine.home().join("bin");
    std::fs::create_dir(&bin).expect("a new directory");
    symlink(program, bin.join("cargo-perfcheck")).expect("a new link");
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([bin].into_iter().chain(env::split_paths(&path))).expect("a path");
    let manifest = testbench("");
    let words = ["list", "-p", "steady", "--manifest-path"];
    let mut by_cargo = machine.command("cargo");
    by_cargo
        .arg("perfcheck")
        .args(words)
        .arg(&manifest)
        .env("PATH", path);
    let mut direct = machine.command(program);
    direct.args(words).arg(&manifest).stdin(Stdio::null());
    let by_cargo = run(by_cargo).expect_code(0);
    assert_eq!(by_cargo.stdout, run(direct).expect_code(0).stdout);
    assert!(
        by_cargo.stdout.contains("steady/steady: text"),
        "{by_cargo}"
    );
}

#[test]
fn help_has_examples_and_the_exit_statuses_and_an_unknown_flag_is_named() {
    let machine = Machine::new();
    let help = machine.perfcheck().arg("--help").run().expect_code(0);
    for text in [
        "Examples:",
        "cargo perfcheck --save-baseline main",
        "Exit status",
        "FILTER",
    ] {
        assert!(help.stdout.contains(text), "no {text:?} in {help}");
    }
    assert_eq!(help.stderr, "");
    let version = machine.perfcheck().arg("--version").run().expect_code(0);
    assert!(
        version.stdout.contains(env!("CARGO_PKG_VERSION")),
        "{version}"
    );
    for words in [
        &["--lunches", "3"][..],
        &["compare", "--lunches"],
        &["baseline", "sav", "x"],
    ] {
        let wrong = machine.perfcheck().args(words).run().expect_code(2);
        assert!(wrong.stderr.starts_with("error: "), "{wrong}");
        assert_eq!(wrong.stdout, "");
    }
    machine
        .perfcheck()
        .args(["--ruonds", "3"])
        .run()
        .expect_stderr(&["--rounds"]);
}

#[test]
fn the_store_is_where_the_flag_says_else_the_variable_else_in_the_data_directory() {
    let machine = Machine::new();
    let measure = || steady(&machine, &[]).arg("text");
    let flag = machine.home().join("flag.db");
    measure().arg("--store").arg(&flag).run().expect_code(0);
    assert!(flag.exists() && !machine.store().exists());
    measure().run().expect_code(0);
    assert!(machine.store().exists());
    // An empty variable counts as not set.
    measure().env("PERFCHECK_STORE", "").run().expect_code(0);
    measure().env("PERFCHECK_STORE", "").run().expect_code(0);
    let runs = |store: &Path| {
        let runs = stored(&machine, &["store", "runs"])
            .args(JSON)
            .env("PERFCHECK_STORE", store)
            .run();
        runs.messages("run").len()
    };
    assert_eq!(runs(Path::new("")), 2);
    assert_eq!(runs(&machine.store()), 1);
    assert_eq!(runs(&flag), 1);
}

#[test]
fn a_flag_without_effect_is_refused_with_what_it_needs() {
    let machine = Machine::new();
    for (words, said) in [
        ("doctor --trials 3", "`--trials <N>` requires `--self-test`"),
        ("doctor text", "`[FILTER]...` requires `--self-test`"),
        ("doctor -p steady", "requires `--self-test`"),
        (
            "doctor --self-test --quick",
            "`--quick` cannot be used with `--self-test`",
        ),
        ("history text --verdict regressed", "cannot be used with"),
        ("run --against HEAD --rounds 4", "at least 5 rounds"),
        ("store runs --last 0", "expected at least 1 run"),
        (
            "run --report csv",
            "`--report csv`: a run does not write reports of this kind",
        ),
        ("compare 1 2 --report svg", "`--report svg`: needs groups"),
        (
            "compare 1 2 --report lcov",
            "`--report lcov`: only `cargo perfcheck coverage` writes it",
        ),
        (
            "report 1 --report lcov",
            "`--report lcov`: only `cargo perfcheck coverage` writes it",
        ),
        (
            "coverage --report csv",
            "`--report csv`: coverage has no verdicts",
        ),
        (
            "compare 1 2 3 --report junit",
            "`text`, `csv` or `markdown-table`",
        ),
        (
            "compare 1 2 --report csv --report text",
            "both written to stdout",
        ),
        (
            "show 1 text --report csv",
            "use `cargo perfcheck report` for other",
        ),
        (
            "report --report csv",
            "`cargo perfcheck report` does not write this kind of report",
        ),
    ] {
        let refused = machine.perfcheck().args(words.split(' ')).run();
        refused.expect_code(2).expect_stderr(&[said]);
    }
}

#[test]
fn tables_and_reports_go_into_files_beside_what_is_printed() {
    let machine = Machine::new();
    for time in [100.0, 200.0] {
        steady(&machine, &[("text", time)]).run();
    }
    let place = |name: &str| machine.home().join(name);
    let report = |kind: &str, name: &str| format!("--report={kind}={}", place(name).display());
    let written = |name: &str| std::fs::read_to_string(place(name)).expect("written");
    let compared = stored(&machine, &["compare", "1", "2"])
        .arg(report("csv", "a.csv"))
        .arg(report("text", "a.txt"))
        .arg(report("junit", "a.xml"))
        .run()
        .expect_code(1);
    assert!(compared.stdout.contains("text"), "{compared}");
    assert!(
        written("a.csv").starts_with("benchmark,verdict,"),
        "{}",
        written("a.csv")
    );
    assert!(written("a.txt").contains("regressed"));
    assert!(written("a.xml").contains("<testsuite"));
    // `report` writes the same reports of a stored run.
    let reported = stored(&machine, &["report", "2"])
        .arg(report("html", "b.html"))
        .arg(report("junit", "b.xml"))
        .run()
        .expect_code(0);
    assert!(reported.stdout.contains("b.html"), "{reported}");
    assert!(written("b.html").contains("<html"));
    assert!(written("b.xml").contains("<testsuite"));
}
