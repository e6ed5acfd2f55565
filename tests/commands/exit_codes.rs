//! Exit statuses, and their precedence if there are two causes: 2 > 3 > 5 > 4 > 1 > 6 > 0.

use std::fs;
use std::path::PathBuf;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, QUICK, steady, stored, verdict, verdicts};
use crate::support::{Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Writes a file that is not a store at the store's path.
fn spoil_store(machine: &Machine) {
    fs::write(machine.store(), "this is no database, it only has its name").expect("written");
}

/// Prepares a quick run of a crate of testbench.
fn quick(machine: &Machine, package: &str) -> Perfcheck {
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", package])
        .args(QUICK)
}

/// Prepares a run whose build fails.
fn broken_build(machine: &Machine) -> Perfcheck {
    machine
        .perfcheck()
        .testbench("does_not_compile")
        .args(QUICK)
}

/// Creates a crate with the benchmarks `good` and `other`. `other` panics if the file with the returned path exists.
fn breakable(machine: &Machine) -> (Crate, PathBuf) {
    let panicking = "{ assert!(id == \"good\" || !std::path::Path::new(\"broken\").exists()); b.iter(|| black_box(7_u64) + 1) }";
    let body = "b.iter(|| black_box(7_u64) + 1)";
    let made = Crate::altered(machine, &["good", "other"], body, panicking);
    let broken = made.root.join("broken");
    (made, broken)
}

#[test]
fn a_run_without_a_change_ends_with_0() {
    let machine = Machine::new();
    let first = steady(&machine, &[]).args(JSON).run().expect_code(0);
    assert!(verdicts(&first).values().all(|verdict| verdict == "new"));
    let second = steady(&machine, &[]).args(JSON).run().expect_code(0);
    assert_eq!(verdicts(&second).len(), 3, "{second}");
    for (id, verdict) in verdicts(&second) {
        // A single run on a shared machine does not prove that nothing changed.
        assert!(
            ["unchanged", "inconclusive"].contains(&verdict.as_str()),
            "{id}: {second}"
        );
    }
    let third = steady(&machine, &[("text", 50.0)])
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(verdict(&third, "text"), "improved");
}

#[test]
fn a_regression_ends_with_1() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let run = steady(&machine, &[("text", 200.0)])
        .args(JSON)
        .run()
        .expect_code(1);
    assert_eq!(verdict(&run, "text"), "regressed");
    assert_ne!(verdict(&run, "memory"), "regressed");
}

#[test]
fn wrong_use_ends_with_2_whatever_else_is_wrong() {
    let machine = Machine::new();
    spoil_store(&machine);
    for wrong in [
        &["--no-such-flag"][..],
        &["--rounds", "0"],
        &["--save-baseline", "17"],
        &["--save-baseline", "latest"],
        &["--fail-on", "slower"],
        &["--allow-different", "kernel"],
    ] {
        let run = broken_build(&machine).args(wrong).run().expect_code(2);
        assert_eq!(run.stdout, "", "{wrong:?}");
        assert!(run.stderr.starts_with("error: "), "{wrong:?}: {run}");
    }
}

#[test]
fn a_workspace_that_cargo_cannot_read_ends_with_2() {
    let machine = Machine::new();
    let manifest = machine.home().join("Cargo.toml");
    fs::write(&manifest, "[package").expect("written");
    for path in [manifest, machine.home().join("nowhere/Cargo.toml")] {
        machine
            .perfcheck()
            .arg("--manifest-path")
            .arg(&path)
            .run()
            .expect_code(2)
            .expect_stderr(&["error: ", "Cargo.toml"]);
    }
}

#[test]
fn a_failed_build_ends_with_3_also_when_the_store_is_damaged() {
    let machine = Machine::new();
    broken_build(&machine)
        .run()
        .expect_code(3)
        .expect_stderr(&["could not compile `does_not_compile`"]);
    assert!(!machine.store().exists(), "nothing was stored");
    spoil_store(&machine);
    broken_build(&machine).run().expect_code(3);
}

#[test]
fn a_package_or_bench_target_that_is_not_there_ends_with_2_and_those_there_are() {
    let machine = Machine::new();
    for (wrong, said) in [
        (
            &["-p", "stedy"][..],
            "no package `stedy` in this workspace; its packages are: ",
        ),
        (
            &["-p", "steady", "--bench", "stedy"],
            "no bench target `stedy` in the selected packages; their bench targets are: steady",
        ),
    ] {
        let run = machine.perfcheck().testbench("").args(wrong).args(QUICK);
        let run = run.run().expect_code(2).expect_stderr(&[said]);
        assert!(!run.stderr.contains("Compiling"), "{run}");
    }
}

#[test]
fn a_benchmark_that_fails_ends_with_4_and_the_others_are_measured() {
    let machine = Machine::new();
    let (made, broken) = breakable(&machine);
    fs::write(broken, "").expect("written");
    let run = made
        .measure(&machine, &["good", "other"], &[])
        .run()
        .expect_code(4);
    assert_eq!(verdict(&run, "good"), "new");
    assert_eq!(verdict(&run, "other"), "failed");
}

#[test]
fn a_damaged_store_ends_with_5_before_a_failing_benchmark_is_measured() {
    let machine = Machine::new();
    spoil_store(&machine);
    let run = quick(&machine, "panics").run().expect_code(5);
    assert!(run.stderr.contains("perfcheck.db"), "{run}");
    assert!(!run.stderr.contains("Measuring"), "{run}");
    for words in [
        &["store", "runs"][..],
        &["history"],
        &["show"],
        &["baseline", "list"],
        &["compare", "1", "2"],
    ] {
        stored(&machine, words).run().expect_code(5);
    }
}

#[test]
fn a_damaged_store_outranks_a_filter_that_matches_nothing() {
    let machine = Machine::new();
    spoil_store(&machine);
    steady(&machine, &[])
        .arg("nothing_like_it")
        .run()
        .expect_code(5);
}

#[test]
fn a_failed_benchmark_outranks_a_regression() {
    let machine = Machine::new();
    let (made, broken) = breakable(&machine);
    made.measure(&machine, &["good", "other"], &[])
        .run()
        .expect_code(0);
    fs::write(broken, "").expect("written");
    let run = made
        .measure(&machine, &["other"], &[("good", 200.0)])
        .run()
        .expect_code(4);
    assert_eq!(verdict(&run, "good"), "regressed");
    assert_eq!(verdict(&run, "other"), "failed");
}

#[test]
fn a_filter_that_matches_nothing_ends_with_4_and_stores_no_run() {
    let machine = Machine::new();
    steady(&machine, &[])
        .arg("nothing_like_it")
        .run()
        .expect_code(4)
        .expect_stderr(&[
            "no benchmark whose id contains `nothing_like_it`",
            "cargo perfcheck list",
        ]);
    steady(&machine, &[])
        .args(["tex", "--exact"])
        .run()
        .expect_code(4)
        .expect_stderr(&["no benchmark that is called `tex`"]);
    let runs = stored(&machine, &["store", "runs", "--message-format", "json"]).run();
    assert_eq!(runs.messages("run"), Vec::<serde_json::Value>::new());
}

#[test]
fn a_package_without_bench_targets_ends_with_4() {
    let machine = Machine::new();
    quick(&machine, "no_benches")
        .run()
        .expect_code(4)
        .expect_stderr(&["nothing was measured", "help: "]);
}

#[test]
fn a_baseline_that_is_missing_ends_with_6_and_lists_those_there_are() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--baseline", "gone"])
        .run()
        .expect_code(6)
        .expect_stderr(&[
            "`gone`",
            "no baseline has been saved yet",
            "--save-baseline",
        ]);
    steady(&machine, &[])
        .args(["--save-baseline", "first"])
        .run()
        .expect_code(0);
    stored(&machine, &["baseline", "save", "second"])
        .run()
        .expect_code(0);
    let run = steady(&machine, &[("text", 200.0)])
        .args(["--baseline", "gone"])
        .run()
        .expect_code(6)
        .expect_stderr(&["`gone`", "first, second"]);
    assert_eq!(run.stdout, "");
    let runs = stored(&machine, &["store", "runs", "--message-format", "json"]).run();
    assert_eq!(
        runs.messages("run").len(),
        1,
        "nothing was measured: {runs}"
    );
}

#[test]
fn a_baseline_that_is_missing_is_refused_before_anything_is_built() {
    let machine = Machine::new();
    let run = broken_build(&machine)
        .args(["--baseline", "gone"])
        .run()
        .expect_code(6)
        .expect_stderr(&["`gone`"]);
    assert!(!run.stderr.contains("does_not_compile"), "{run}");
    assert!(!machine.store().exists(), "nothing was stored");
}

#[test]
fn a_named_baseline_with_nothing_comparable_ends_with_6() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["text", "--save-baseline", "text-only"])
        .run()
        .expect_code(0);
    let run = steady(&machine, &[])
        .args(["arithmetic", "memory", "--baseline", "text-only"])
        .args(JSON)
        .run()
        .expect_code(6);
    assert_eq!(verdict(&run, "memory"), "new");
    assert!(
        !verdicts(&run).contains_key("text"),
        "the filter excludes it: {run}"
    );
    // If at least one benchmark is comparable, the exit status is not 6.
    steady(&machine, &[])
        .args(["--baseline", "text-only"])
        .run()
        .expect_code(0);
}

#[test]
fn a_regression_outranks_a_baseline_with_nothing_comparable() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a 1"], "");
    made.measure(&machine, &["a"], &[])
        .args(["--save-baseline", "old"])
        .run()
        .expect_code(0);
    made.list(&["a 2"]);
    let against_old = |more: &[&str]| {
        made.measure(&machine, &["a"], &[])
            .args(["--baseline", "old"])
            .args(more)
            .run()
    };
    let run = against_old(&[]).expect_code(6);
    assert_eq!(verdict(&run, "a"), "incomparable");
    against_old(&["--fail-on", "incomparable"]).expect_code(1);
}

#[test]
fn a_plain_run_with_nothing_comparable_begins_anew_and_ends_with_0() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a 1"], "");
    made.measure(&machine, &["a"], &[]).run().expect_code(0);
    made.list(&["a 2"]);
    let again = made.perfcheck(&machine, &QUICK).env(CLOCK, "a=100");
    let run = again.run().expect_code(0);
    assert!(run.stdout.contains("1 of 1 incomparable"), "{run}");
    assert!(
        run.stdout
            .contains("Run 2 is the reference for the next run."),
        "{run}"
    );
}

#[test]
fn a_bench_target_whose_file_is_missing_ends_with_3_and_cargos_words() {
    let machine = Machine::new();
    let made = Crate::write(machine.home().join("crate"), &["one"], "");
    fs::create_dir_all(made.root.join("src")).expect("a directory");
    fs::write(made.root.join("src/lib.rs"), "").expect("written");
    fs::rename(made.root.join("benches"), made.root.join("bench")).expect("renamed");
    made.perfcheck(&machine, &["list", "--offline"])
        .run()
        .expect_code(3)
        .expect_stderr(&[
            "error: cargo could not select the bench targets",
            "can't find `listed` bench at",
        ]);
}

#[test]
fn a_store_in_a_place_that_cannot_be_written_ends_with_5() {
    let machine = Machine::new();
    let file = machine.home().join("file");
    fs::write(&file, "").expect("written");
    steady(&machine, &[])
        .arg("--store")
        .arg(file.join("perfcheck.db"))
        .run()
        .expect_code(5)
        .expect_stderr(&["help: "]);
}

#[test]
fn a_script_for_other_benchmarks_changes_nothing_here() {
    // The other tests rely on the fact that a benchmark that is not in the script is really measured.
    let machine = Machine::new();
    let run = quick(&machine, "steady")
        .env(CLOCK, "somebody_else=5")
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(run.messages("benchmark-measured").len(), 3, "{run}");
}
