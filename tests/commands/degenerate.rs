//! Tests unusual data through the command line. Each line of the degenerate-input matrix (docs/internals/src/statistics/checks.md) has a test, which
//! compares stored runs that were made up for it. The lines about messages of bench processes are an exception: the tests of testbench cover them.

use perfcheck_analysis::model::{
    Acceptance, BenchmarkInProcess, Extras, Nanos, NewRun, ProcessOutcome, ProcessRecord, RunEnd,
    RunId, Sample, Series, Side, Timestamp, Verdict,
};
use perfcheck_store::Store;
use serde_json::Value;

use crate::commands::scripted::{QUICK, steady, stored, verdict};
use crate::support::{Finished, Machine};

/// The result of a process in a made-up run.
enum Process {
    /// Samples of 10,000 iterations, in nanoseconds per iteration.
    Times(Vec<f64>),
    /// The process died.
    Died,
}

/// Returns a process for each time, with forty equal samples.
fn constant(times: &[f64]) -> Vec<Process> {
    times
        .iter()
        .map(|time| Process::Times(vec![*time; 40]))
        .collect()
}

/// Returns five ordinary processes near 100 ns.
fn ordinary() -> Vec<Process> {
    (0..5_u32)
        .map(|k| {
            let times = (0..40).map(|i| 100.0 + 0.1 * f64::from(k) + f64::from(i * 7 % 11));
            Process::Times(times.collect())
        })
        .collect()
}

/// Creates a machine whose store has a real run of `text` as run 1. The made-up runs of the tests copy the settings and the facts about the machine
/// from it.
fn machine() -> Machine {
    let machine = Machine::new();
    steady(&machine, &[]).arg("text").run().expect_code(0);
    machine
}

fn series(times: &[f64]) -> Series {
    let sample = |time: &f64| Sample {
        iterations: 10_000,
        elapsed: Nanos((1e4 * time).round() as u64),
    };
    Series {
        warm_up: sample(&100.0),
        linear: Vec::new(),
        flat: times.iter().map(sample).collect(),
    }
}

/// Stores a run with these processes. `edit` can change the facts about the run and the id of its benchmark.
fn store(
    machine: &Machine,
    processes: &[Process],
    edit: impl Fn(&mut NewRun, &mut String),
) -> String {
    let mut store = Store::open(&machine.store()).expect("opens");
    let like = RunId(1);
    let summary = store.run_summary(like).expect("reads");
    let mut run = NewRun {
        load: None,
        seed: 1,
        ..summary.run.begun.without_build()
    };
    let measured = store.measurements(like, None).expect("reads").remove(0);
    let mut benchmark = measured.benchmark;
    edit(&mut run, &mut benchmark.key.id);
    let head = store.processes(like).expect("reads").remove(0);
    let made = store.begin_run(summary.workspace, &run).expect("begins");
    for (ordinal, process) in (0..).zip(processes) {
        let outcome = match process {
            Process::Times(times) => ProcessOutcome::Measured(series(times)),
            Process::Died => ProcessOutcome::Failed {
                side: Side::Candidate,
                message: "it died of SIGABRT".to_owned(),
            },
        };
        let mut head = head.clone();
        head.ordinal = ordinal;
        let process = ProcessRecord {
            head,
            target_facts: measured.target_facts.clone(),
            benchmarks: vec![BenchmarkInProcess {
                benchmark: benchmark.clone(),
                sampling: measured.sampling,
                noise_threshold: 0.02,
                outcome,
                extras: Extras::default(),
            }],
        };
        store.record_process(made, &process).expect("records");
    }
    let end = RunEnd {
        finished: Timestamp(1),
        acceptance: Acceptance::ByCommand,
        exit_code: 0,
        verdicts: Vec::new(),
        conclusion: None,
    };
    store.finish_run(made, &end).expect("ends");
    made.0.to_string()
}

fn like_it(_: &mut NewRun, _: &mut String) {}

/// Compares two made-up runs.
fn compare_runs(machine: &Machine, base: &str, new: &str, words: &[&str]) -> Finished {
    stored(machine, &["compare", base, new])
        .args(["--message-format", "json"])
        .args(words)
        .run()
}

fn compared(machine: &Machine, base: &[Process], new: &[Process], words: &[&str]) -> Finished {
    let (base, new) = (store(machine, base, like_it), store(machine, new, like_it));
    compare_runs(machine, &base, &new, words)
}

/// Returns the comparison message about `text`.
#[track_caller]
fn said(finished: &Finished) -> Value {
    let mut messages = finished.messages("benchmark-compared");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

#[track_caller]
fn has_note(said: &Value, words: &str) {
    let notes = said["notes"].to_string();
    assert!(notes.contains(words), "no {words:?} in {notes}");
}

/// Creates a machine whose run 2 has five processes with constant times.
fn made() -> Machine {
    let machine = machine();
    store(&machine, &constant(&[100.0; 5]), like_it);
    machine
}

/// Compares run 2 with a new run that takes `factor` times as long.
fn compare(machine: &Machine, factor: f64, words: &[&str]) -> Finished {
    let new = store(machine, &constant(&[100.0 * factor; 5]), like_it);
    compare_runs(machine, "2", &new, words)
}

#[test]
fn d1_a_side_without_samples_is_never_no_change() {
    let machine = machine();
    let empty = || vec![Process::Times(Vec::new())];
    let lost = compared(&machine, &ordinary(), &empty(), &[]).expect_code(4);
    assert_eq!(said(&lost)["verdict"], "failed", "{lost}");
    let unknown = compared(&machine, &empty(), &ordinary(), &[]);
    assert_eq!(said(&unknown)["verdict"], "inconclusive", "{unknown}");
    assert_eq!(said(&unknown)["p_value"], Value::Null);
    assert_eq!(said(&unknown)["change"], Value::Null);
}

#[test]
fn d2_one_sample_a_side_shows_an_estimate_without_an_interval() {
    let machine = machine();
    let one = |time| vec![Process::Times(vec![time])];
    let run = compared(&machine, &one(100.0), &one(110.0), &[]).expect_code(0);
    let said = said(&run);
    assert_eq!(said["verdict"], "inconclusive", "{run}");
    assert!((said["change"]["estimate"].as_f64().unwrap() - 0.1).abs() < 1e-9);
    let mean = &said["change_of_mean"];
    assert!(
        (mean["estimate"].as_f64().unwrap() - 0.1).abs() < 1e-9,
        "{run}"
    );
    assert_eq!(
        (&mean["lower"], &mean["upper"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(said["t_score_p_value"], Value::Null);
}

#[test]
fn d3_equal_constants_on_both_sides_are_unchanged_with_p_one() {
    let machine = machine();
    let run = compared(
        &machine,
        &constant(&[100.0; 5]),
        &constant(&[100.0; 5]),
        &[],
    );
    let said = said(&run.expect_code(0));
    assert_eq!(said["verdict"], "unchanged");
    assert_eq!(said["p_value"], 1.0);
    for bound in ["estimate", "lower", "upper"] {
        assert_eq!(said["change"][bound], 0.0, "{said}");
        assert_eq!(said["change_of_mean"][bound], 0.0, "{said}");
    }
}

#[test]
fn d4_d11_different_constants_are_an_exact_change_with_a_warning_and_only_beyond_the_threshold() {
    let machine = machine();
    let base = store(&machine, &constant(&[100.0; 5]), like_it);
    let of = |time: f64| {
        let new = store(&machine, &constant(&[time; 5]), like_it);
        let run = compare_runs(
            &machine,
            &base,
            &new,
            &["--ignore-drift", "--fail-on", "none"],
        );
        said(&run.expect_code(0))
    };
    let slower = of(110.0);
    assert_eq!(slower["verdict"], "regressed");
    assert!((slower["change"]["estimate"].as_f64().unwrap() - 0.1).abs() < 1e-9);
    has_note(&slower, "no-variance");
    assert_eq!(of(101.0)["verdict"], "unchanged");
    assert_eq!(of(90.0)["verdict"], "improved");
}

#[test]
fn c15_c16_a_change_within_the_threshold_or_just_at_it_is_no_change() {
    let machine = made();
    for (factor, verdict) in [
        (1.00, "unchanged"),
        (1.0199, "unchanged"),
        (1.0201, "regressed"),
        (0.9805, "unchanged"),
        (0.9801, "improved"),
    ] {
        let run = compare(
            &machine,
            factor,
            &[
                "--ignore-drift",
                "--noise-threshold",
                "2%",
                "--fail-on",
                "none",
            ],
        );
        assert_eq!(said(&run.expect_code(0))["verdict"], verdict, "{factor}");
    }
}

#[test]
fn d5_times_that_are_no_times_fail_their_benchmark_and_never_enter_a_sample() {
    let machine = Machine::new();
    let wrong = [
        "negative_time",
        "not_a_number",
        "null_time",
        "fractional_time",
    ];
    let run = machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "bad_frames",
            "--bench",
            "answers",
            "--message-format",
            "json",
            "fine",
        ])
        .args(wrong)
        .args(QUICK)
        .run()
        .expect_code(4);
    for id in wrong {
        assert_eq!(verdict(&run, id), "failed", "{id}");
    }
    assert_eq!(verdict(&run, "fine"), "new");
    for measured in run.messages("benchmark-measured") {
        let id = measured["benchmark"]["id"].as_str().unwrap();
        assert_eq!(measured["summary"].is_null(), id != "fine", "{measured}");
        assert_eq!(measured["failures"] == serde_json::json!([]), id == "fine");
    }
}

#[test]
fn d17_the_second_of_two_equal_ids_is_numbered_and_one_without_a_name_fails_alone() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "duplicate_ids", "--message-format", "json"])
        .args(QUICK)
        .run()
        .expect_code(4)
        .expect_stderr(&["benchmark `` is not measured: its id is empty"]);
    let measured = run.messages("benchmark-measured");
    let ids = measured.iter().map(|one| &one["benchmark"]["id"]);
    let ids: Vec<_> = ids.filter_map(|id| id.as_str()).collect();
    assert_eq!(ids, ["group/same", "group/same #2", "other"]);
}

#[test]
fn d6_samples_of_no_time_are_marked_and_never_no_change() {
    let machine = machine();
    let instant = constant(&[0.0; 5]);
    for run in [
        compared(&machine, &ordinary(), &instant, &[]),
        compared(&machine, &instant, &ordinary(), &[]),
        compared(&machine, &instant, &instant, &[]),
    ] {
        let said = said(&run.expect_code(0));
        assert_eq!(said["verdict"], "inconclusive");
        has_note(&said, "short");
    }
}

#[test]
fn d7_benchmarks_of_one_run_alone_are_new_and_missing_and_fail_nothing() {
    let machine = Machine::new();
    let run = |ids: &[&str]| {
        steady(&machine, &[]).args(ids).run().expect_code(0);
    };
    run(&["arithmetic", "memory"]);
    run(&["memory", "text"]);
    let run = compare_runs(&machine, "1", "2", &[]).expect_code(0);
    assert_eq!(verdict(&run, "arithmetic"), "missing", "{run}");
    assert_eq!(verdict(&run, "text"), "new", "{run}");
}

#[test]
fn d8_processes_that_died_leave_a_verdict_to_three_others_and_none_to_two() {
    let machine = machine();
    let base = store(&machine, &ordinary(), like_it);
    let with = |good: &[f64]| {
        let mut processes = constant(good);
        processes.extend((good.len()..5).map(|_| Process::Died));
        let new = store(&machine, &processes, like_it);
        compare_runs(&machine, &base, &new, &["--ignore-drift"])
    };
    let three = with(&[200.0, 201.0, 202.0]).expect_code(1);
    assert_eq!(said(&three)["verdict"], "regressed", "{three}");
    let two = with(&[200.0, 201.0]).expect_code(4);
    assert_eq!(said(&two)["verdict"], "failed", "{two}");
}

#[test]
fn d9_where_the_quartiles_are_equal_nothing_is_an_outlier() {
    let machine = machine();
    let mut times = vec![100.0; 39];
    times.push(1_000.0);
    let run = store(&machine, &[Process::Times(times)], like_it);
    let shown = stored(&machine, &["show", &run, "--stats"])
        .args(["--message-format", "json"])
        .run()
        .expect_code(0);
    let statistics = &shown.messages("benchmark-statistics")[0]["statistics"];
    assert_eq!(statistics["samples"], 40, "{shown}");
    assert_eq!(statistics["max_ns"], 1_000.0);
    for kind in ["low_severe", "low_mild", "high_mild", "high_severe"] {
        assert_eq!(statistics["outliers"][kind], 0, "{kind}");
    }
}

#[test]
fn d13_m12_m_x12_b_x4_a_run_of_another_host_is_refused_and_only_what_differs_is_named() {
    let machine = machine();
    let base = store(&machine, &ordinary(), like_it);
    let elsewhere = store(&machine, &ordinary(), |run, _| {
        run.environment.host.cpu = "Another processor".to_owned();
    });
    let run = compare_runs(&machine, &base, &elsewhere, &[]);
    let refused = said(&run);
    assert_eq!(refused["verdict"], "incomparable", "{run}");
    assert_eq!(refused["change"], Value::Null);
    let differences = refused["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 1, "{refused}");
    assert!(differences[0].to_string().contains("Another processor"));
    let allowed = compare_runs(&machine, &base, &elsewhere, &["--allow-different", "cpu"]);
    assert_eq!(said(&allowed.expect_code(0))["verdict"], "inconclusive");
}

#[test]
fn d14_a_run_is_not_compared_with_itself() {
    let machine = machine();
    compare_runs(&machine, "1", "1", &[])
        .expect_code(2)
        .expect_stderr(&["the same run (1)"]);
}

#[test]
fn a_made_run_that_is_ordinary_is_compared_like_any_other() {
    let machine = machine();
    let run = compared(&machine, &ordinary(), &ordinary(), &[]).expect_code(0);
    let known = [Verdict::Unchanged, Verdict::Inconclusive].map(|known| serde_json::json!(known));
    assert!(known.contains(&said(&run)["verdict"]), "{run}");
    assert!(said(&run)["change"]["lower"].is_number());
}

/// Returns eight processes of 10 ns.
fn eight() -> Vec<Process> {
    constant(&[10.0; 8])
}

#[test]
fn d12_a_run_of_which_only_one_process_took_any_time_has_no_change_in_proportion() {
    let machine = machine();
    let mut times = [0.0; 8];
    times[3] = 80.0;
    let run = compared(
        &machine,
        &constant(&times),
        &eight(),
        &["--fail-on", "none"],
    );
    // Only one process of the reference took any time. It may have been disturbed, so it does not represent the run, and the mean has no change.
    let said = said(&run);
    assert_eq!(said["change_of_mean"]["estimate"], Value::Null, "{run}");
    assert_ne!(said["verdict"], "regressed", "{run}");
}

#[test]
fn d12_a_t_score_of_which_half_of_the_resamples_have_no_value_is_none() {
    let machine = machine();
    // A resample draws two processes from the reference. If it draws the same process twice, the t-score has no value, because the processes of the
    // new run are all equal. Depending on the seed, this happens in slightly more or slightly less than half of the resamples.
    let base = store(&machine, &constant(&[100.0, 110.0]), like_it);
    let new = store(&machine, &constant(&[100.0; 5]), like_it);
    let tested = |seed: u32| {
        let seed = seed.to_string();
        let words = ["--ignore-drift", "--fail-on", "none", "--seed", &seed];
        !said(&compare_runs(&machine, &base, &new, &words))["t_score_p_value"].is_null()
    };
    let tested: Vec<bool> = (0..8).map(tested).collect();
    assert!(
        tested.contains(&true) && tested.contains(&false),
        "{tested:?}"
    );
}
