//! A bench has the same environment under `cargo perfcheck` as under `cargo bench`.

use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

use crate::commands::scripted::QUICK;
use crate::support::{Machine, run, testbench};

/// The environment variables that the tool sets for a bench, from docs/internals/src/protocol.md, section 1.
const OURS: [&str; 3] = ["PERFCHECK_PROCESS", "PERFCHECK_PADDING", "PERFCHECK_MARK"];

/// Returns the environments that the bench has written to the file, one for each start of the bench.
fn dumps(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the bench wrote it");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a dump"))
        .collect()
}

fn variables(dump: &Value) -> Map<String, Value> {
    let mut variables = dump["env"].as_object().expect("variables").clone();
    // Remove the variable that differs between the two calls.
    variables.remove("ENVIRONMENT_DUMP");
    variables
}

#[test]
fn a_bench_sees_what_it_sees_under_cargo_bench() {
    let machine = Machine::new();
    let by_cargo = machine.home().join("by cargo");
    let by_us = machine.home().join("by us");
    let mut command = machine.command(env!("CARGO"));
    command
        .args(["bench", "-p", "environment", "--bench", "environment"])
        .arg("--manifest-path")
        .arg(testbench(""))
        .env("ENVIRONMENT_DUMP", &by_cargo)
        .env("PERFCHECK_STORE", machine.store());
    run(command).expect_code(0);
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "environment"])
        .args(QUICK)
        .env("ENVIRONMENT_DUMP", &by_us)
        // Imitate the variables of a cargo that runs this test as an executable of another package.
        .env("CARGO_PKG_NAME", "another")
        .env("CARGO_BIN_EXE_another", "another")
        .env("OUT_DIR", "another")
        .run()
        .expect_code(0);

    let by_cargo = dumps(&by_cargo).remove(0);
    let by_us = dumps(&by_us);
    assert_eq!(by_us.len(), 3, "a dump for each process");
    for (process, dump) in by_us.iter().enumerate() {
        for part in ["argv", "cwd", "compiled"] {
            assert_eq!(dump[part], by_cargo[part], "{part}");
        }
        let mut ours = variables(dump);
        assert_eq!(ours["PERFCHECK_PROCESS"], process.to_string());
        for name in OURS {
            assert!(ours.remove(name).is_some(), "{name}");
        }
        // The user's variables for the tool reach the bench like any other variable.
        for name in [
            "PERFCHECK_CACHE",
            "PERFCHECK_NO_RERUN",
            "PERFCHECK_NO_SAMPLING",
        ] {
            ours.remove(name);
        }
        let theirs = variables(&by_cargo);
        for name in ours.keys().chain(theirs.keys()) {
            assert_eq!(ours.get(name), theirs.get(name), "{name}");
        }
        assert!(!ours.contains_key("PERFCHECK_PROTOCOL"));
    }
}

#[test]
fn the_environment_differs_in_size_from_process_to_process() {
    let machine = Machine::new();
    let path = machine.home().join("dumps");
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "environment", "--seed", "1"])
        .args(QUICK)
        .env("ENVIRONMENT_DUMP", &path)
        .run()
        .expect_code(0);
    let dumps = dumps(&path);
    let lengths: Vec<usize> = dumps
        .iter()
        .map(|dump| {
            dump["env"]["PERFCHECK_PADDING"]
                .as_str()
                .expect("text")
                .len()
        })
        .collect();
    assert!(lengths.iter().all(|length| *length < 4096), "{lengths:?}");
    assert!(
        lengths.windows(2).any(|pair| pair[0] != pair[1]),
        "{lengths:?}"
    );
    let marks: Vec<&Value> = dumps
        .iter()
        .map(|dump| &dump["env"]["PERFCHECK_MARK"])
        .collect();
    assert_eq!(marks[0].as_str().map(str::len), Some(16));
    assert!(marks.iter().all(|mark| *mark == marks[0]));
}
