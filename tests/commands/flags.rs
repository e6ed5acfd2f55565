//! Flags of a run, and how it is called.

use std::env;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use crate::scripted::{QUICK, STEADY, finish, steady, stored, verdict, verdicts};
use crate::support::{Machine, run, testbench};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Ids of everything that a run measured.
fn measured(machine: &Machine, package: &str, words: &[&str]) -> Vec<String> {
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", package])
        .args(QUICK)
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
fn no_run_builds_and_lists_and_stores_nothing() {
    let machine = Machine::new();
    let listed = |words: &[&str]| {
        steady(&machine, &[])
            .arg("--no-run")
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
    assert_eq!(
        ids(&["-e", "text"].map(|word| if word == "-e" { "--exact" } else { word })),
        ["steady/text"]
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
    // What was left out is not missing.
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
        .testbench("")
        .args(["-p", "steady", "-p", "two_targets", "--no-run"])
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
    // `true` reads nothing: whatever is written to it meets a closed pipe.
    let into_closed_pipe = |words: &str, clock: &str| {
        let mut shell = machine.command("sh");
        shell
            .args(["-c", &format!("{{ sleep 0.2; \"$PERFCHECK\" perfcheck {words} 2>&1 >&3 3>&-; echo status=$? >&2; }} 3>&1 >/dev/null | true")])
            .env("PERFCHECK", env!("CARGO_BIN_EXE_cargo-perfcheck"))
            .env("PERFCHECK_STORE", machine.store())
            .env(crate::scripted::CLOCK, clock);
        run(shell).expect_code(0).stderr
    };
    let measure = format!(
        "--manifest-path '{}' -p steady {}",
        testbench("").display(),
        QUICK.join(" ")
    );
    let even = crate::scripted::script(&STEADY, &[]);
    let slow = crate::scripted::script(&STEADY, &[("text", 200.0)]);
    assert!(into_closed_pipe(&measure, &even).contains("status=0"));
    assert!(into_closed_pipe(&measure, &slow).contains("status=1"));
    let json = format!("{measure} --message-format json");
    assert!(into_closed_pipe(&json, &slow).contains("status=1"));
    let compare = format!("compare 1 2 --manifest-path '{}'", testbench("").display());
    assert!(into_closed_pipe(&compare, &even).contains("status=1"));
    let runs = stored(&machine, &["runs"]).args(JSON).run().expect_code(0);
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
    let words = ["-p", "steady", "--no-run", "--manifest-path"];
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
        .args(["--lunches", "3"])
        .run()
        .expect_stderr(&["--launches"]);
}
