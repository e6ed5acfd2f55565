//! The same stored data and the same seed give the same output for any number of threads.

use crate::commands::scripted::{CLOCK, STEADY, script, stored};
use crate::support::{Machine, Perfcheck};

/// Flags for a run of nine short processes.
const SETTINGS: [&str; 8] = [
    "--rounds",
    "9",
    "--warm-up-time",
    "1ms",
    "--measurement-time",
    "5ms",
    "--fail-on",
    "none",
];

/// Runs a command with 1, 2 and 8 threads, asserts that the output is the same, and returns it.
#[track_caller]
fn with_any_number_of_threads(command: impl Fn() -> Perfcheck) -> String {
    let with = |threads: &str| command().env("RAYON_NUM_THREADS", threads).run();
    let one = with("1").expect_code(0).stdout;
    for threads in ["2", "8"] {
        let more = with(threads).expect_code(0).stdout;
        assert!(one == more, "{threads} threads:\n{one}\n{more}");
    }
    one
}

#[test]
fn b15_stored_runs_give_the_same_bytes_with_1_2_and_8_threads() {
    let machine = Machine::new();
    // All processes and all benchmarks have different times.
    let times = |percent: u32| -> String {
        let processes = (0..9_u32).map(|k| f64::from(percent) + 0.37 * f64::from(k * k % 7));
        let processes: Vec<String> = processes.map(|ns| ns.to_string()).collect();
        processes.join("/")
    };
    for percent in [100, 104] {
        machine
            .perfcheck()
            .testbench("")
            .args(["-p", "steady", "--seed", "7", "--resamples", "5000"])
            .args(SETTINGS)
            .env(
                CLOCK,
                script(&[], &[])
                    + &STEADY
                        .map(|id| format!("{id}={}", times(percent)))
                        .join(";"),
            )
            .run()
            .expect_code(0);
    }
    let json = |words: &[&str]| {
        with_any_number_of_threads(|| stored(&machine, words).args(["--message-format", "json"]))
    };
    let compared = json(&[
        "compare",
        "1",
        "2",
        "--method",
        "criterion",
        "--resamples",
        "5000",
        "--fail-on",
        "none",
    ]);
    assert!(
        compared.contains("benchmark-compared") && compared.contains("\"intervals\":\"bootstrap\"")
    );
    let screened = [
        "compare",
        "1",
        "2",
        "--ignore-drift",
        "--resamples",
        "5000",
        "--fail-on",
        "none",
    ];
    assert!(json(&screened).contains("\"decided_by\":\"t-score\""));
    let shown = json(&["show", "2", "--stats", "--method", "criterion"]);
    assert!(shown.contains("\"intervals\":\"bootstrap\""));
    assert!(json(&["show", "2"]).contains("benchmark-measured"));
    assert!(json(&["explain", "text"]).contains("\"decided_by\":\"bootstrap-t\""));
}

#[test]
fn a_number_of_threads_that_no_machine_has_is_bounded() {
    let machine = Machine::new();
    let table = machine.home().join("table.csv");
    let rows = (0..60).map(|at| format!("b{},{},{}\n", at % 4, at / 12, 1_000 + at * 7 % 11));
    let text = "name,process,ns\n".to_owned() + &rows.collect::<String>();
    std::fs::write(&table, text).expect("written");
    for _ in 0..2 {
        let imported = machine.perfcheck().args(["store", "import"]).arg(&table);
        let columns = [
            "--columns",
            "id=name,process=process,value=ns",
            "--unit",
            "ns",
        ];
        imported.args(columns).testbench("").run().expect_code(0);
    }
    let compare = |threads: &str| {
        let compared = stored(&machine, &["compare", "1", "2"]).env("RAYON_NUM_THREADS", threads);
        compared.run().expect_code(0).stdout
    };
    assert_eq!(compare("5000"), compare("2"));
}
