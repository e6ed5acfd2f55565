//! Tests of latency benchmarks, whose operations are timed one by one.

mod support;

use support::{Conversation, command, numbers, plain};

/// Returns the indices and counts of the counters in a `latencies` frame.
fn counters(frame: &str) -> Vec<(u64, u64)> {
    let (_, rest) = frame.split_once(r#""counts":["#).expect("counts");
    let (pairs, _) = rest.split_once(r#"],"clamped""#).expect("clamped");
    pairs
        .trim_matches(['[', ']'])
        .split("],[")
        .filter_map(|pair| pair.split_once(','))
        .map(|(index, count)| {
            let number = |text: &str| text.parse().expect("a number");
            (number(index), number(count))
        })
        .collect()
}

/// Returns the sum of a member over all windows.
fn over_windows(frame: &str, member: &str) -> u64 {
    frame
        .split(&format!("\"{member}\":"))
        .skip(1)
        .filter_map(|rest| rest.split(&[',', '}']).next()?.parse::<u64>().ok())
        .sum()
}

#[test]
fn b1_b2_the_harness_times_every_operation_with_a_monotonic_clock() {
    let mut child = Conversation::start();
    assert_eq!(
        child.ask("start latency/sleep"),
        r#"{"type":"started","id":"latency/sleep","throughput":{"bytes":null,"elements":null},"kind":"latency"}"#
    );
    let samples = child.ask("sample 3 2*4");
    assert_eq!(numbers(&samples, "iterations"), [3, 2, 2, 2, 2]);
    let elapsed_ns = numbers(&samples, "elapsed_ns");
    let frame = child.ask("latencies 10000");
    let times = numbers(&frame, "reservoir_ns");
    assert_eq!(times.len(), 11);
    assert!(times.iter().all(|&ns| ns >= 200_000), "{times:?}");
    assert_eq!(elapsed_ns.iter().sum::<u64>(), times.iter().sum::<u64>());
    assert_eq!(elapsed_ns[0], times[..3].iter().sum::<u64>());
    let operations: u64 = counters(&frame).iter().map(|(_, count)| count).sum();
    assert_eq!(operations, 11);
    assert_eq!(over_windows(&frame, "operations"), 11);
}

#[test]
fn neither_warm_up_nor_asking_is_noted() {
    let mut child = Conversation::start();
    child.ask("start latency/sleep");
    child.ask("warm-up 1000000");
    assert_eq!(
        child.ask("latencies 5"),
        r#"{"type":"latencies","digits":3,"counts":[],"clamped":0,"errors":0,"messages":[],"reservoir_ns":[],"windows":[]}"#
    );
    child.ask("sample 4");
    child.ask("warm-up 1000000");
    let first = child.ask("latencies 2");
    assert_eq!(numbers(&first, "reservoir_ns").len(), 2);
    assert_eq!(child.ask("latencies 2"), first, "asking resets nothing");
    assert_eq!(over_windows(&first, "operations"), 4);
    child.ask("finish");
    child.ask("start latency/sleep");
    child.ask("sample 1");
    let again = child.ask("latencies 0");
    assert_eq!(over_windows(&again, "operations"), 1);
    assert!(again.contains(r#""reservoir_ns":[],"#), "{again}");
}

#[test]
fn b10_b_x6_errors_are_counted_apart_with_their_first_messages() {
    let mut child = Conversation::start();
    child.ask("start latency/every-third-fails");
    let samples = child.ask("sample 30");
    assert_eq!(numbers(&samples, "iterations"), [30]);
    let frame = child.ask("latencies 100");
    assert!(frame.contains(r#""errors":10,"messages":["call 3 \"failed\"","call 6 \"failed\"","call 9 \"failed\"","call 12 \"failed\"","call 15 \"failed\""],"#), "{frame}");
    assert_eq!(numbers(&frame, "reservoir_ns").len(), 20);
    assert!(frame.contains(r#""windows":[{"operations":20,"errors":10,"p50_ns":"#));
}

#[test]
fn only_a_latency_benchmark_has_latencies() {
    let mut child = Conversation::start();
    child.ask("start sum");
    let error = child.ask("latencies 1");
    assert!(error.contains("does not time every operation"), "{error}");
    child.ask("finish");
    child.ask("start latency/future");
    child.ask("sample 5");
    assert_eq!(over_windows(&child.ask("latencies 0"), "operations"), 5);
}

/// The scripted clock makes windows and percentiles exact: 98 operations of 20 ms and two slow ones of 60 ms take 2.08 s.
#[test]
fn b10_a_scripted_operation_belongs_to_the_second_in_which_it_ended() {
    let mut child = Conversation::start_with(command().env(
        "PERFCHECK_SCRIPTED_CLOCK",
        "latency/future=20000000~60000000",
    ));
    child.ask("start latency/future");
    assert_eq!(
        child.ask("warm-up 50000000"),
        r#"{"type":"warmed-up","iterations":3,"elapsed_ns":60000000,"total_ns":60000000}"#
    );
    assert_eq!(
        child.ask("sample 100"),
        r#"{"type":"samples","iterations":[100],"elapsed_ns":[2080000000]}"#
    );
    // The 49th operation ends at 0.98 s, the slow 50th at 1.04 s, and the 98th at exactly 2 s.
    let frame = child.ask("latencies 0");
    let second = |operations, p99_ns: &str| {
        format!(
            r#"{{"operations":{operations},"errors":0,"p50_ns":19988480,"p95_ns":19988480,"p99_ns":{p99_ns}}}"#
        )
    };
    let windows = [
        second(49, "19988480"),
        second(48, "59998208"),
        second(3, "59998208").replace(r#""p95_ns":19988480"#, r#""p95_ns":59998208"#),
    ];
    assert!(
        frame.ends_with(&format!(r#""windows":[{}]}}"#, windows.join(","))),
        "{frame}"
    );
    assert_eq!(
        counters(&frame).iter().map(|(_, n)| *n).collect::<Vec<_>>(),
        [98, 2]
    );
    // The scripted times of the next sample are 0.1 % longer, as in other benchmarks.
    assert_eq!(numbers(&child.ask("sample 2"), "elapsed_ns"), [40_040_000]);
}

#[test]
fn b10_seconds_in_which_nothing_ended_are_there_without_percentiles() {
    let mut child = Conversation::start_with(
        command().env("PERFCHECK_SCRIPTED_CLOCK", "latency/future=2047e6"),
    );
    child.ask("start latency/future");
    child.ask("sample 1");
    let frame = child.ask("latencies 0");
    let empty = r#"{"operations":0,"errors":0,"p50_ns":null,"p95_ns":null,"p99_ns":null}"#;
    let last = r#"{"operations":1,"errors":0,"p50_ns":2046820352,"p95_ns":2046820352,"p99_ns":2046820352}"#;
    let windows = format!(r#""windows":[{empty},{empty},{last}]}}"#);
    assert!(frame.ends_with(&windows), "{frame}");
}

#[test]
fn a_slow_side_lengthens_each_operation_and_runs_no_more_of_them() {
    let mut child = Conversation::start_with(
        command()
            .env("PERFCHECK_SLOWDOWN", "0050000")
            .env("PERFCHECK_SCRIPTED_CLOCK", "latency/future=1000000"),
    );
    child.ask("start latency/future");
    assert_eq!(
        numbers(&child.ask("sample 1000"), "elapsed_ns"),
        [1_050_000_000]
    );
    child.ask("finish");
    child.ask("start latency/sleep");
    let samples = child.ask("sample 25");
    let frame = child.ask("latencies 100");
    let times = numbers(&frame, "reservoir_ns");
    assert_eq!(times.len(), 25);
    assert_eq!(
        times.iter().sum::<u64>(),
        numbers(&samples, "elapsed_ns")[0]
    );
    assert!(times.iter().all(|&ns| ns >= 210_000), "{times:?}");
}

#[test]
fn cargo_bench_shows_percentiles_and_failures() {
    let run = plain(&["--bench", "-q", "latency/every-third-fails"]);
    let row = run.stdout.trim_end();
    for part in ["p50 ", "p99 ", "max ", " failed: call "] {
        assert!(row.contains(part), "{part}: {row}");
    }
    assert_eq!(run.code, Some(0));
    let run = plain(&["--bench", "-q", "latency/always-fails"]);
    assert!(run.stdout.contains("p50 -, p99 -, max -, "), "{run:?}");
}

#[test]
fn an_operation_that_fails_fails_the_test_of_its_body() {
    let run = plain(&["latency/"]);
    assert!(run.stdout.contains("3 passed; 1 failed"), "{run:?}");
    let message = "---- latency/always-fails ----\npanicked: the operation failed: no server\n";
    assert!(run.stdout.contains(message), "{run:?}");
}
