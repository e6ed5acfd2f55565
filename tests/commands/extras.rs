//! Allocations and latencies, from a real harness to the report.

use serde_json::Value;

use crate::commands::scripted::{CLOCK, about, explanation, message, says, stored, verdict};
use crate::support::{Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];
const TIMES: &str = "nothing=100/101;twelve=200/201;beside_set_up=100000/101000;varies=400/401";

/// Prepares a run of `testbench/counts_allocations` with scripted times.
fn counting(machine: &Machine) -> Perfcheck {
    machine
        .perfcheck()
        .testbench("")
        .args([
            "-p",
            "counts_allocations",
            "--rounds",
            "5",
            "--resamples",
            "1000",
        ])
        .args(["--warm-up-time", "1ms", "--measurement-time", "5ms"])
        .env(CLOCK, TIMES)
}

/// Prepares a run of `testbench/times_operations` in which every 50th operation of `steady` takes `tail` nanoseconds.
fn timing(machine: &Machine, tail: u64, seconds: &str) -> Perfcheck {
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "times_operations", "--resamples", "1000"])
        .args(["--warm-up-time", "1ms", "--measurement-time", seconds])
        .env(
            CLOCK,
            format!("steady=10000~{tail}/10100~{tail};fails_at_times=5000/5010;usual=100/101"),
        )
}

#[track_caller]
fn near(value: &Value, expected: f64, tolerance: f64) {
    let found = value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"));
    assert!(
        (found / expected - 1.0).abs() <= tolerance,
        "{found} is not {expected}"
    );
}

#[test]
fn n5_n28_an_iteration_has_the_allocations_of_its_body_and_no_others() {
    let machine = Machine::new();
    let run = counting(&machine).args(JSON).run().expect_code(0);
    for (id, count, bytes, peak) in [
        ("nothing", 0, 0, 0),
        ("twelve", 12, 768, 64),
        // Set-up allocates another 64 KiB and tear-down frees them. This must not count as an allocation of the benchmark.
        ("beside_set_up", 3, 192, 64),
    ] {
        let found = message(&run, "benchmark-measured", id);
        let per_process = &found["processes"][0]["allocations"];
        assert_eq!(
            per_process["count"].as_array().map(Vec::len),
            Some(16),
            "{found}"
        );
        assert_eq!(per_process["bytes"][7], bytes, "{found}");
        let summary = &found["allocations"];
        near_or_zero(&summary["count"], count);
        near_or_zero(&summary["bytes"], bytes);
        near_or_zero(&summary["peak_bytes"], peak);
        assert_eq!(summary["exact"], true, "{found}");
        assert_eq!(
            (&summary["iterations"], &summary["processes"]),
            (&80.into(), &5.into())
        );
        assert!(found["latencies"].is_null() && found["processes"][0]["latencies"].is_null());
    }
    let varies = message(&run, "benchmark-measured", "varies");
    assert_eq!(varies["allocations"]["exact"], false);
    near(&varies["allocations"]["count"], 102.0, 1e-12);
}

#[track_caller]
fn near_or_zero(value: &Value, expected: u32) {
    assert_eq!(value.as_f64(), Some(f64::from(expected)));
}

#[test]
fn a_difference_in_allocations_is_told_beside_a_time_that_is_unchanged() {
    let machine = Machine::new();
    counting(&machine).run().expect_code(0);
    let same = counting(&machine).run().expect_code(0);
    assert!(!same.stdout.contains('→'), "{same}");
    let more = counting(&machine)
        .env("ALLOCATES_MORE", "1")
        .run()
        .expect_code(0);
    let expected = "twelve: allocations 12 → 14, bytes 768 B → 896 B per iteration";
    assert!(more.stdout.contains(expected), "{more}");
    assert!(
        more.stdout.contains("varies: allocations 102 → 152"),
        "{more}"
    );
    let compared = stored(&machine, &["compare", "1", "3"]).args(JSON).run();
    let changes = &message(&compared, "benchmark-compared", "twelve")["allocations"];
    assert_eq!(changes["count"]["verdict"], "regressed", "{changes}");
    assert_eq!(
        (&changes["count"]["exact"], &changes["count"]["p_value"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(changes["peak_bytes"]["verdict"], "unchanged", "{changes}");
    let varies = &message(&compared, "benchmark-compared", "varies")["allocations"];
    assert_eq!(
        (&varies["count"]["exact"], &varies["count"]["verdict"]),
        (&false.into(), &"regressed".into())
    );
    near(&varies["count"]["p_value"], 2.0 / 252.0, 1e-9);
    let nothing = &message(&compared, "benchmark-compared", "nothing")["allocations"];
    assert_eq!(nothing["bytes"]["verdict"], "unchanged", "{nothing}");
    let explained = stored(&machine, &["explain", "twelve"]).args(JSON).run();
    let sentence = about(&explanation(&explained), "allocations");
    let text = sentence["text"].as_str().expect("text");
    assert!(
        text.contains("12 → 14") && text.contains("any difference is real"),
        "{text}"
    );
    // A decrease in the number of allocations is reported too.
    let fewer = stored(&machine, &["compare", "3", "1"]).run();
    assert!(
        fewer.stdout.contains("twelve: allocations 14 → 12"),
        "{fewer}"
    );
}

#[test]
fn n36_the_full_record_has_the_mean_allocated_bytes() {
    let machine = Machine::new();
    counting(&machine).run().expect_code(0);
    let shown = stored(&machine, &["show", "--stats"]).args(JSON).run();
    assert_eq!(
        message(&shown, "benchmark-statistics", "twelve")["mean_allocated_bytes"],
        768.0
    );
    let text = stored(&machine, &["show", "--stats"])
        .run()
        .expect_code(0)
        .stdout;
    for line in [
        "allocations       12 per iteration always, in 80 iterations of 5 processes",
        "allocated bytes   768 B per iteration, peak 64 B",
        "allocations       102 per iteration on average",
    ] {
        assert!(text.contains(line), "no {line:?} in {text}");
    }
    // Without a counting allocator, allocations are not mentioned.
    timing(&machine, 20_000, "5ms").run().expect_code(0);
    let shown = stored(&machine, &["show", "--stats"]).args(JSON).run();
    let usual = message(&shown, "benchmark-statistics", "usual");
    assert!(
        usual["mean_allocated_bytes"].is_null() && usual["latencies"].is_null(),
        "{usual}"
    );
}

#[test]
fn b20_b21_latencies_are_shown_with_what_a_closed_loop_leaves_out() {
    let machine = Machine::new();
    let run = timing(&machine, 30_000, "20ms").run().expect_code(0);
    for said in [
        "p50, p99",
        "10.07 µs, 30.08 µs",
        "closed loop",
        "coordinated omission",
    ] {
        assert!(run.stdout.contains(said), "no {said:?} in {run}");
    }
    let alone = stored(&machine, &["show"]).run().expect_code(0);
    assert!(alone.stdout.contains("closed loop"), "{alone}");
    let record = stored(&machine, &["show", "--stats"]).run().expect_code(0);
    assert!(record.stdout.contains("closed loop"), "{record}");
    for line in record.stdout.split_once("\n\n").expect("a head").1.lines() {
        assert!(line.chars().count() <= 80, "{line:?} is too long");
    }
    let counted = counting(&machine).run().expect_code(0);
    assert!(!counted.stdout.contains("closed loop"), "{counted}");
}

#[test]
fn b17_five_processes_are_the_default_and_fewer_than_three_are_called_anecdotes() {
    assert_eq!(
        perfcheck_analysis::model::SamplingSettings::default().processes,
        5
    );
    let machine = Machine::new();
    let five = timing(&machine, 30_000, "5ms").run().expect_code(0);
    assert!(!five.stdout.contains("are unreliable"), "{five}");
    let two = timing(&machine, 30_000, "5ms")
        .args(["--rounds", "2"])
        .run();
    assert!(
        two.stdout.contains("at least five for published numbers"),
        "{two}"
    );
}

#[test]
fn b10_b11_percentiles_have_intervals_over_processes_and_seconds_are_a_table() {
    let machine = Machine::new();
    timing(&machine, 30_000, "2500ms").run().expect_code(0);
    let shown = stored(&machine, &["show", "--stats"]).args(JSON).run();
    let steady = message(&shown, "benchmark-statistics", "steady");
    let percentiles = steady["latencies"]["percentiles"]
        .as_array()
        .expect("a list");
    let quantiles: Vec<f64> = percentiles
        .iter()
        .filter_map(|one| one["quantile"].as_f64())
        .collect();
    assert_eq!(quantiles, [0.5, 0.95, 0.99, 0.999, 1.0]);
    // The operations of the processes 1, 3 and 5 take 10 us, and the operations of the processes 2 and 4 take 10.1 us. The scripted clock multiplies
    // these times by 1 to 1.006, sample by sample.
    near(
        &percentiles[0]["mean"],
        (3.0 * 10_030.0 + 2.0 * 10_130.0) / 5.0,
        1.5e-3,
    );
    near(&percentiles[2]["mean"], 30_090.0, 4e-3);
    assert!(percentiles[0]["interval"]["lower"].as_f64() < percentiles[0]["mean"].as_f64());
    near(&steady["latencies"]["relative_error"], 1.0 / 1024.0, 1e-12);
    let windows = steady["course"]["windows"].as_array().expect("a list");
    assert_eq!(windows.len(), 3, "{windows:?}");
    let operations: u64 = windows
        .iter()
        .filter_map(|one| one["operations"].as_u64())
        .sum();
    assert_eq!(steady["latencies"]["operations"], operations);
    near(&steady["course"]["distribution_ns"][49], 10_070.0, 5e-3);
    assert_eq!(
        steady["course"]["distribution_ns"].as_array().map(Vec::len),
        Some(100)
    );
    near(
        &(1.0
            + steady["course"]["drift"]["estimate"]
                .as_f64()
                .expect("two whole seconds"))
        .into(),
        1.0,
        1e-3,
    );
    let fails = message(&shown, "benchmark-statistics", "fails_at_times");
    let (good, bad) = (
        &fails["latencies"]["operations"],
        &fails["latencies"]["errors"],
    );
    near(
        &(good.as_f64().expect("a count") / bad.as_f64().expect("a count")).into(),
        3.0,
        1e-3,
    );
    assert_eq!(
        fails["latencies"]["error_messages"],
        serde_json::json!(["every fourth is refused"])
    );
    let text = stored(&machine, &["show", "--stats"]).run().stdout;
    for said in [
        "latency p99.9",
        "at most 0.098 % too low",
        "second    ",
        "drift",
        "every fourth is refused",
    ] {
        assert!(text.contains(said), "no {said:?} in {text}");
    }
}

#[test]
fn b12_b18_a_longer_tail_is_told_percentile_by_percentile_and_not_in_the_median() {
    let machine = Machine::new();
    timing(&machine, 30_000, "20ms").run().expect_code(0);
    timing(&machine, 50_000, "20ms").run();
    let compared = stored(&machine, &["compare", "1", "2"]).args(JSON).run();
    let steady = message(&compared, "benchmark-compared", "steady");
    let percentiles = steady["latencies"]["percentiles"]
        .as_array()
        .expect("a list");
    let verdicts: Vec<&Value> = percentiles.iter().map(|one| &one["verdict"]).collect();
    assert_eq!(
        verdicts,
        [
            "unchanged",
            "unchanged",
            "regressed",
            "regressed",
            "regressed"
        ]
    );
    near(&percentiles[2]["candidate_ns"], 50_150.0, 4e-3);
    near(&percentiles[2]["change"]["estimate"], 2.0 / 3.0, 4e-3);
    assert!(message(&compared, "benchmark-compared", "usual")["latencies"].is_null());
    let text = stored(&machine, &["compare", "1", "2"]).run().stdout;
    assert!(
        text.contains("steady: latency p99 30.08 µs → 50.14 µs (+66.7 %), p99.9"),
        "{text}"
    );
    assert_ne!(verdict(&compared, "steady"), "failed");
    let explained = stored(&machine, &["explain", "steady"]).args(JSON).run();
    let sentence = about(&explanation(&explained), "latencies");
    let text = sentence["text"].as_str().expect("text");
    for said in [
        "p50 unchanged at 10.07 µs",
        "never pooled",
        "closed loop",
        "regressed",
    ] {
        assert!(text.contains(said), "no {said:?} in {text:?}");
    }
}

/// Prepares a run of `testbench/counts_allocations`. If `more` is true, its benchmarks allocate more.
fn allocating(machine: &Machine, more: bool) -> Perfcheck {
    let quick = "-p counts_allocations --rounds 3 --warm-up-time 1ms --measurement-time 5ms --resamples 1000";
    let command = machine.perfcheck().testbench("").args(quick.split(' '));
    let command = command.args(["--fail-on", "none", "--no-rerun"]);
    if more {
        command.env("ALLOCATES_MORE", "1")
    } else {
        command
    }
}

#[test]
fn verdicts_and_rules_may_be_about_allocations() {
    let machine = Machine::new();
    allocating(&machine, false).run().expect_code(0);
    let fresh = allocating(&machine, true)
        .args(["--metric", "allocations", "--limit", "allocations:10%"])
        .args([
            "--limit",
            "no*=allocations:0",
            "--limit",
            "beside*=bytes:100B",
        ])
        .args(JSON)
        .run()
        .expect_code(1);
    for (id, expected) in [
        ("nothing", "unchanged"),
        ("twelve", "regressed"),
        ("beside_set_up", "unchanged"),
    ] {
        assert_eq!(verdict(&fresh, id), expected, "{fresh}");
    }
    let exceeded = fresh.messages("limit-exceeded");
    let of = |limit: &str, id: &str| {
        let mut found = exceeded.iter();
        found.any(|message| message["limit"] == limit && message["benchmark"]["id"] == id)
    };
    assert!(of("allocations:10%", "twelve"), "{exceeded:?}");
    // The benchmark allocates three blocks of 64 bytes.
    assert!(of("beside*=bytes:100B", "beside_set_up"), "{exceeded:?}");
    assert!(!of("no*=allocations:0", "nothing"), "{exceeded:?}");
    let words = ["explain", "twelve"];
    let explained = stored(&machine, &words).args(JSON).run().expect_code(0);
    let message = explanation(&explained);
    assert_eq!(message["decided_by"], "metric");
    says(
        &message,
        "metric",
        &[
            "about allocations: 14 per iteration, against 12",
            "any difference is real",
        ],
    );
    let counted = about(&message, "allocations").to_string();
    assert!(!counted.contains("time alone"), "{counted}");
    let of_time = stored(&machine, &["compare", "1", "2", "--metric", "p99"]).run();
    assert!(
        of_time
            .stdout
            .contains("p99 is missing on at least one side"),
        "{of_time}"
    );
}
