//! `kill -9` at any moment: the store remains consistent, and all started processes end.
//!
//! `tests/real/kill_parent.sh N` runs this test with N kills.

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::Value;
use std::env;
use std::thread;
use std::time::Duration;

use crate::support::Machine;

/// Default number of times that `cargo-perfcheck` is killed.
const KILLS: u32 = 14;
/// The environment variable that sets another number of kills.
const KILLS_VARIABLE: &str = "TEST_KILLS";

/// The moment at which a run is killed: a delay after the start of the run, or after the start of its second process.
struct Moment {
    package: &'static str,
    after_process: bool,
    delay: Duration,
}

/// Returns moments that are the same in every test, from a linear congruential generator (Knuth's MMIX constants).
fn moments(count: u32) -> impl Iterator<Item = Moment> {
    let mut state = 1_u64;
    (0..count).map(move |ordinal| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let after_process = ordinal % 4 > 1;
        let longest_ms = if after_process { 300 } else { 900 };
        Moment {
            package: if ordinal % 2 == 0 { "forks" } else { "steady" },
            after_process,
            delay: Duration::from_millis((state >> 33) % longest_ms),
        }
    })
}

#[test]
fn kill_minus_nine_at_any_moment_leaves_no_process_and_a_whole_store() {
    let kills = env::var(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().expect("a number"));
    let machine = Machine::new();
    for (ordinal, moment) in moments(kills).enumerate() {
        let mut run = machine
            .perfcheck()
            .testbench("")
            .args(["-p", moment.package, "--bench", moment.package])
            .args(["--rounds", "1000", "--warm-up-time", "1ms"])
            .args(["--measurement-time", "5ms"])
            .start();
        if moment.after_process {
            run.wait_for_stderr("Process 2 ");
        }
        thread::sleep(moment.delay);
        run.signal(Signal::KILL);
        let run = run.finish().expect_code(128 + 9);
        let left_behind = machine.left_behind();
        assert!(
            left_behind.is_empty(),
            "kill {ordinal} left {left_behind:#?} of\n{run}"
        );
    }
    let processes = whole_processes(&machine);
    assert!(processes > 0, "no process was ever recorded");
    // The next run works as if nothing had happened.
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady", "--rounds", "2", "--measurement-time", "5ms"])
        .run()
        .expect_code(0);
    assert_eq!(integrity(&machine), "ok");
}

/// Shows every run and returns the total number of processes. All of these must be complete.
fn whole_processes(machine: &Machine) -> usize {
    let stored = |arguments: &[&str]| {
        machine
            .perfcheck()
            .args(arguments)
            .args(["--message-format", "json"])
            .testbench("")
            .run()
            .expect_code(0)
    };
    let mut whole = 0;
    for run in stored(&["store", "runs", "--last", "100000"]).json() {
        assert_eq!(run["status"], "incomplete");
        let shown = stored(&["show", &run["run"].to_string()]);
        for message in shown.messages("benchmark-measured") {
            assert_eq!(message["failures"], Value::Array(Vec::new()), "{shown}");
            for process in message["processes"].as_array().expect("processes") {
                whole += 1;
                let samples = |phase: &str, part: &str| {
                    process[phase][part].as_array().expect("an array").len()
                };
                for phase in ["warm_up", "linear", "flat"] {
                    assert!(samples(phase, "iterations") > 0, "{phase} of {process}");
                    assert_eq!(samples(phase, "iterations"), samples(phase, "elapsed_ns"));
                }
            }
        }
    }
    assert_eq!(integrity(machine), "ok");
    whole
}

fn integrity(machine: &Machine) -> String {
    Connection::open(machine.store())
        .and_then(|store| store.query_row("PRAGMA integrity_check", [], |row| row.get(0)))
        .expect("the store opens")
}
