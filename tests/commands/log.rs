//! The log that `PERFCHECK_LOG` asks for, which users attach to a report of a problem.

use crate::commands::scripted::{CLOCK, script, stored};
use crate::support::Machine;

const LOG: &str = "PERFCHECK_LOG";

#[test]
fn the_log_names_stages_programs_and_statements_and_leaves_the_output_alone() {
    let machine = Machine::new();
    let run = |log: &str| {
        machine
            .perfcheck()
            .testbench("")
            .args([
                "-p",
                "steady",
                "--seed",
                "7",
                "--rounds",
                "2",
                "--resamples",
                "1000",
            ])
            .args([
                "--warm-up-time",
                "1ms",
                "--measurement-time",
                "5ms",
                "--fail-on",
                "none",
            ])
            .env(CLOCK, script(&[], &[]))
            .env(LOG, log)
            .run()
            .expect_code(0)
    };
    let logged = run("debug").stderr;
    for line in [
        "build: cargo_perfcheck::pipeline",
        "measure: cargo_perfcheck::pipeline",
        "judge: cargo_perfcheck::pipeline",
        "record: cargo_perfcheck::pipeline",
        "publish: cargo_perfcheck::pipeline",
        "program started pid=",
        "program ended pid=",
        "store opened path=",
        "query time=",
    ] {
        assert!(logged.contains(line), "no `{line}` in {logged}");
    }
    let stages = run("perfcheck_store=debug,info").stderr;
    assert!(
        stages.contains("query time=") && stages.contains("measure: "),
        "{stages}"
    );
    assert!(!stages.contains("program started"), "{stages}");
    let shown = |log: &str| {
        stored(&machine, &["show", "1"])
            .env(LOG, log)
            .run()
            .expect_code(0)
    };
    assert_eq!(shown("debug").stdout, shown("").stdout);
    assert_eq!(shown("").stderr, "");
}

#[test]
fn a_filter_of_the_log_that_makes_no_sense_is_an_error() {
    let machine = Machine::new();
    let refused = stored(&machine, &["show"])
        .env(LOG, "perfcheck_store=loud")
        .run();
    let message = refused.expect_code(2).stderr;
    assert!(message.starts_with("error: PERFCHECK_LOG: "), "{message}");
    assert!(
        message.contains("help: set it to a level (`info`, `debug`)"),
        "{message}"
    );
}
