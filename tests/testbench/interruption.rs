//! Ctrl-C: measured processes are kept, no process is left behind, and the exit code is 130. Also two runs at once.

use rustix::process::Signal;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::commands::scripted::QUICK;
use crate::support::{Finished, Machine, Running, testbench};

/// Starts a run of `forks` that would take a hundred processes.
fn long_run(machine: &Machine) -> Running {
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "forks", "--bench", "forks", "--rounds", "100"])
        .args(["--warm-up-time", "5ms", "--measurement-time", "20ms"])
        .start()
}

fn stored(machine: &Machine, arguments: &[&str]) -> Finished {
    let arguments = [arguments, &["--message-format", "json"]].concat();
    command(machine, &arguments).expect_code(0)
}

fn command(machine: &Machine, arguments: &[&str]) -> Finished {
    machine.perfcheck().args(arguments).testbench("").run()
}

/// Interrupts a run in its third process with `interrupt`, and checks the result.
#[track_caller]
fn interrupted_in_the_third_process(interrupt: impl Fn(&Running)) {
    let machine = Machine::new();
    let mut run = long_run(&machine);
    run.wait_for_stderr("Process 3 ");
    interrupt(&run);
    let run = run.finish().expect_code(130).expect_stderr(&[
        "error: interrupted; run 1 is stored as incomplete, with its complete processes",
    ]);
    let left_behind = machine.left_behind();
    assert!(left_behind.is_empty(), "{left_behind:#?} after\n{run}");
    assert_eq!(run.stdout, "");

    let runs = stored(&machine, &["store", "runs"]).json();
    assert_eq!(runs.len(), 1, "{runs:#?}");
    assert_eq!(runs[0]["status"], "incomplete", "{runs:#?}");
    let shown = stored(&machine, &["show", "1"]).messages("benchmark-measured");
    assert_eq!(shown.len(), 3);
    for message in shown {
        let processes = message["processes"].as_array().expect("an array").len();
        assert!((2..100).contains(&processes), "{processes}");
        assert_eq!(message["failures"].as_array().map(Vec::len), Some(0));
    }
    for words in [&["accept", "1"][..], &["baseline", "save", "name", "1"]] {
        let refused = command(&machine, words).expect_code(2);
        refused.expect_stderr(&["run 1 is incomplete and cannot be a reference", "help: "]);
    }
}

#[test]
fn an_interrupt_of_the_process_keeps_the_processes_that_ended() {
    interrupted_in_the_third_process(|run| run.signal(Signal::INT));
}

#[test]
fn an_interrupt_of_the_whole_foreground_group_does_the_same() {
    interrupted_in_the_third_process(|run| run.signal_group(Signal::INT));
}

#[test]
fn a_termination_signal_does_the_same() {
    interrupted_in_the_third_process(|run| run.signal(Signal::TERM));
}

#[test]
fn an_interrupted_run_is_no_reference() {
    let machine = Machine::new();
    let interrupt = || {
        let mut run = long_run(&machine);
        run.wait_for_stderr("Process 2 ");
        run.signal(Signal::INT);
        run.finish().expect_code(130);
    };
    interrupt();
    let next = machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "forks",
            "--bench",
            "forks",
            "--message-format",
            "json",
        ])
        .args(QUICK)
        .run()
        .expect_code(0);
    for message in next.messages("benchmark-compared") {
        assert_eq!(message["verdict"], "new", "{message}");
    }
    interrupt();
    // `history` still shows the values of the last complete run.
    let listed = stored(&machine, &["history"]).messages("benchmark");
    assert_eq!(listed.len(), 3);
    for message in listed {
        assert_eq!(message["last_run"], 2, "{message}");
        assert!(message["typical_ns"].is_number(), "{message}");
        assert_eq!(message["verdict"], "new", "{message}");
        assert_eq!(message["last_values_ns"].as_array().map(Vec::len), Some(1));
    }
    let compared = machine
        .perfcheck()
        .args(["compare", "2", "3"])
        .testbench("")
        .run();
    assert!(
        compared.stdout.contains("run 3 is incomplete"),
        "{compared}"
    );
}

#[test]
fn a_run_that_is_being_measured_stays_and_its_reference_may_go() {
    let machine = Machine::new();
    let first = machine.perfcheck().testbench("").args(["-p", "forks"]);
    let first = first.args(["--bench", "forks"]).args(QUICK).run();
    first.expect_code(0);
    let mut run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "forks", "--bench", "forks", "--rounds", "12"])
        .args(["--warm-up-time", "5ms", "--measurement-time", "20ms"])
        .args(["--baseline", "1", "--fail-on", "none"])
        .start();
    run.wait_for_stderr("Process 3 ");
    let refused = command(&machine, &["store", "remove", "2"]).expect_code(2);
    refused.expect_stderr(&[
        "run 2 is incomplete, and a measurement is still using this store",
        "help: wait until the measurement ends",
    ]);
    command(&machine, &["store", "remove", "1"]).expect_code(0);
    let run = run.finish().expect_code(0);
    assert!(run.stdout.contains("run 1"), "{run}");
    let runs = stored(&machine, &["store", "runs"]).json();
    assert_eq!(runs.len(), 1, "{runs:#?}");
    assert_eq!(runs[0]["status"], "complete", "{runs:#?}");
    // An interrupted run can be removed.
    let mut run = long_run(&machine);
    run.wait_for_stderr("Process 2 ");
    run.signal(Signal::INT);
    run.finish().expect_code(130);
    command(&machine, &["store", "remove", "3"]).expect_code(0);
}

#[test]
fn an_interrupt_while_a_bench_hangs_does_not_wait_for_it() {
    let machine = Machine::new();
    let mut run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "hangs", "--timeout", "1000s", "--exact", "in_body"])
        .start();
    run.wait_for_stderr("Process 1 ");
    run.signal(Signal::INT);
    run.finish().expect_code(130);
    assert_eq!(machine.left_behind(), Vec::<String>::new());
}

/// Sends a signal to a program that computes. The program must end at once, even on a busy machine.
#[track_caller]
pub fn ends_at_once(run: Running, signal: Signal, said: &str) {
    let asked = Instant::now();
    run.signal(signal);
    let run = run.finish().expect_code(130).expect_stderr(&[said]);
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}: {run}");
    assert_eq!(run.stdout, "");
}

#[test]
fn an_interrupt_while_statistics_are_computed_is_obeyed_at_once() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady", "--exact", "arithmetic", "--rounds", "10"])
        .args(["--warm-up-time", "1ms", "--measurement-time", "1ms"])
        .args(["--sampling-mode", "flat", "--samples", "1000000"])
        .start();
    wait_for_processes(&machine, 10);
    // The command now reads and judges ten million samples, which takes seconds.
    let said = "error: interrupted; run 1 is stored as incomplete, with its complete processes";
    ends_at_once(run, Signal::TERM, said);
    assert_eq!(machine.left_behind(), Vec::<String>::new());
    let runs = stored(&machine, &["store", "runs"]).json();
    assert_eq!(runs[0]["status"], "incomplete", "{runs:#?}");

    let page = machine.home().join("page.html");
    for arguments in [
        vec!["show", "1", "--stats"],
        vec!["store", "export", "1", "--format", "csv", "--output"],
        vec!["report", "1", "--report"],
    ] {
        let is_written = arguments[0] != "show";
        let place = if arguments[0] == "report" {
            format!("html={}", page.display())
        } else {
            page.display().to_string()
        };
        let command = machine
            .perfcheck()
            .args(&arguments)
            .args(is_written.then_some(place))
            .testbench("")
            .start();
        std::thread::sleep(Duration::from_secs(1));
        ends_at_once(command, Signal::INT, "error: interrupted\n");
        assert!(!page.exists());
    }
}

#[test]
fn a_signal_while_stored_runs_are_compared_is_obeyed_at_once() {
    let machine = Machine::new();
    let table = machine.home().join("many.csv");
    let mut text = "name,process,ns\n".to_owned();
    for (benchmark, value) in (0..1_000).flat_map(|at| (0..50).map(move |value| (at, value))) {
        let (process, ns) = (value / 5, 1_000 + value * 7 % 11);
        let _ = writeln!(text, "b{benchmark},{process},{ns}");
    }
    std::fs::write(&table, text).expect("a file in our own directory");
    for _ in 0..2 {
        machine
            .perfcheck()
            .args(["store", "import"])
            .arg(&table)
            .args([
                "--columns",
                "id=name,process=process,value=ns",
                "--unit",
                "ns",
            ])
            .args(["--resamples", "100"])
            .testbench("")
            .run()
            .expect_code(0);
    }
    for signal in [Signal::INT, Signal::TERM] {
        let mut run = machine
            .perfcheck()
            .args(["compare", "1", "2"])
            .testbench("")
            .start();
        // A fiftieth of the work is done, and the rest takes seconds.
        run.wait_for_stderr("Comparing 1000 benchmarks, ");
        ends_at_once(run, signal, "error: interrupted\n");
    }
}

/// Waits until the store has `wanted` processes.
pub fn wait_for_processes(machine: &Machine, wanted: i64) {
    let deadline = Instant::now() + Duration::from_secs(5 * 60);
    loop {
        let count = rusqlite::Connection::open(machine.store())
            .and_then(|store| {
                store.query_row("SELECT count(*) FROM processes", [], |row| row.get(0))
            })
            .unwrap_or(0);
        if count >= wanted {
            return;
        }
        assert!(Instant::now() < deadline, "{count} processes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Creates a package whose build never ends once its build script runs.
fn package_that_builds_for_ever(directory: &Path) {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        std::fs::write(path, text).expect("written");
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"endless\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[[bench]]\nname = \"endless\"\nharness = false\n\n[workspace]\n",
    );
    write(
        "build.rs",
        "fn main() {\n    std::fs::write(\"started\", \"\").unwrap();\n    std::thread::sleep(std::time::Duration::from_secs(900));\n}\n",
    );
    write("benches/endless.rs", "fn main() {}\n");
}

#[test]
fn an_interrupt_while_cargo_builds_ends_the_build() {
    for whole_group in [false, true] {
        let machine = Machine::new();
        let package = machine.home().join("endless");
        package_that_builds_for_ever(&package);
        let mut run = machine
            .perfcheck()
            .arg("--manifest-path")
            .arg(package.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", machine.home().join("target"))
            .start();
        run.wait_for_file(&package.join("started"));
        if whole_group {
            run.signal_group(Signal::INT);
        } else {
            run.signal(Signal::INT);
        }
        let run = run
            .finish()
            .expect_code(130)
            .expect_stderr(&["error: interrupted"]);
        let left_behind = machine.left_behind();
        assert!(left_behind.is_empty(), "{left_behind:#?} after\n{run}");
        assert!(!machine.store().exists(), "nothing was measured");
    }
}

#[test]
fn two_runs_at_once_on_one_store_both_succeed() {
    let machine = Machine::new();
    let start = |package: &str| {
        machine
            .perfcheck()
            .testbench("")
            .args(["-p", package, "--message-format", "json"])
            .args(QUICK)
            .start()
    };
    let both = [start("steady"), start("two_targets")];
    let numbers = both.map(|run| {
        let run = run.finish().expect_code(0);
        run.messages("run-finished")[0]["run"]
            .as_u64()
            .expect("a number")
    });
    assert_ne!(numbers[0], numbers[1]);
    let runs = stored(&machine, &["store", "runs"]).json();
    assert_eq!(runs.len(), 2, "{runs:#?}");
    assert!(
        runs.iter().all(|run| run["status"] == "complete"),
        "{runs:#?}"
    );
    assert!(testbench("").exists() && machine.left_behind().is_empty());
}
