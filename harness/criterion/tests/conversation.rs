//! Tests of the bench protocol, in which this crate is a sequential harness.

mod support;

use support::conversation;

const SUBJECT: &str = "criterion_subject";

/// Returns the ids that frames of the type `benchmark` announce.
fn announced(frames: &[String]) -> Vec<&str> {
    frames
        .iter()
        .filter_map(|frame| frame.strip_prefix(r#"{"type":"benchmark","id":""#))
        .filter_map(|rest| rest.split_once('"'))
        .map(|(id, _)| id)
        .collect()
}

#[test]
fn benchmarks_come_in_program_order_and_set_up_runs_once() {
    let mut requests = vec!["begin"];
    requests.extend(["skip"; 10]);
    requests.push("bye");
    let (frames, ended) = conversation(SUBJECT, &requests);
    assert_eq!(
        announced(&frames),
        [
            "sum",
            "len/3",
            "sum #2",
            "sort/stable/10",
            "sort/stable/100",
            "sort/a + b",
            "closures",
            "panics",
            "measures-nothing",
            "widgets"
        ]
    );
    assert_eq!(frames[10..], [r#"{"type":"end"}"#, r#"{"type":"bye"}"#]);
    assert_eq!(
        (ended.stderr.as_str(), ended.code),
        ("set-up of simple\n", Some(0))
    );
}

#[test]
fn settings_and_throughput_are_announced() {
    let (frames, _) = conversation(
        SUBJECT,
        &[
            "begin", "skip", "skip", "skip", "skip", "skip", "skip", "bye",
        ],
    );
    assert_eq!(
        frames[3],
        r#"{"type":"benchmark","id":"sort/stable/10","version":null,"throughput":{"bytes":null,"elements":10},"settings":{"samples":20,"warm_up_ns":30000000,"measurement_ns":70000000,"sampling_mode":"flat","noise_threshold":0.05}}"#
    );
    assert!(
        frames[5].contains(r#""throughput":{"bytes":100,"elements":null}"#),
        "{}",
        frames[5]
    );
    // The config expression of `criterion_group!` sets the number of samples.
    assert!(
        frames[6].ends_with(r#""settings":{"samples":10}}"#),
        "{}",
        frames[6]
    );
}

#[test]
fn each_sample_is_a_call_of_the_closure() {
    let mut requests = vec!["begin"];
    requests.extend(["skip"; 6]);
    requests.extend(["run", "sample 3 5*2", "sample 7", "finish", "bye"]);
    let (frames, ended) = conversation(SUBJECT, &requests);
    assert_eq!(
        frames[7..],
        [
            r#"{"type":"started","id":"closures","throughput":{"bytes":null,"elements":null}}"#,
            r#"{"type":"samples","iterations":[3,5,5],"elapsed_ns":[3000,5000,5000]}"#,
            r#"{"type":"samples","iterations":[7],"elapsed_ns":[7000]}"#,
            r#"{"type":"finished","id":"closures"}"#,
            r#"{"type":"bye"}"#,
        ]
    );
    assert_eq!(
        ended.stderr,
        "set-up of simple\nclosure 1\nclosure 2\nclosure 3\nclosure 4\n"
    );
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_benchmark_that_panics_is_an_error_and_the_next_one_comes() {
    let mut requests = vec!["begin"];
    requests.extend(["skip"; 7]);
    requests.extend([
        "run", "sample 1", "next", "run", "sample 1", "next", "skip", "bye",
    ]);
    let (frames, ended) = conversation(SUBJECT, &requests);
    assert!(
        frames[9].starts_with(r#"{"type":"error","id":"panics","message":"panicked at "#),
        "{}",
        frames[9]
    );
    assert!(frames[9].ends_with(r#"no data"}"#), "{}", frames[9]);
    assert!(
        frames[12].contains("must call one of the methods `iter*`"),
        "{}",
        frames[12]
    );
    assert_eq!(announced(&frames).last(), Some(&"widgets"));
    assert_eq!(ended.code, Some(0));
}

#[test]
fn what_is_no_time_is_announced_with_its_unit_and_its_warm_up_is_timed() {
    let mut requests = vec!["begin"];
    requests.extend(["skip"; 9]);
    requests.extend(["run", "warm-up 1", "sample 5 6", "finish", "next", "bye"]);
    let (frames, _) = conversation(SUBJECT, &requests);
    assert!(
        frames[9].contains(r#""metric":{"kind":"amount","unit":"widgets"}"#),
        "{}",
        frames[9]
    );
    assert!(!frames[8].contains("metric"), "{}", frames[8]);
    assert!(
        frames[11].starts_with(r#"{"type":"warmed-up","iterations":"#),
        "{}",
        frames[11]
    );
    assert_eq!(
        frames[12],
        r#"{"type":"samples","iterations":[5,6],"elapsed_ns":[210,252]}"#
    );
}

#[test]
fn requests_out_of_place_are_refused_and_change_nothing() {
    let (frames, ended) = conversation(
        SUBJECT,
        &["run", "list", "begin", "next", "begin", "skip", "bye"],
    );
    let refused = |request: &str, state: &str| {
        format!(
            r#"{{"type":"error","id":null,"message":"`{request}` is not valid while {state}"}}"#
        )
    };
    let (before, announced_one) = ("nothing has begun", "a benchmark is announced");
    assert_eq!(frames[0], refused("run", before));
    assert_eq!(frames[1], refused("list", before));
    assert_eq!(frames[3], refused("next", announced_one));
    assert_eq!(frames[4], refused("begin", announced_one));
    assert_eq!(announced(&frames), ["sum", "len/3"]);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_parent_that_is_gone_ends_the_child() {
    let (frames, ended) = conversation(SUBJECT, &["begin", "run"]);
    assert_eq!(frames.len(), 2);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_main_written_by_hand_is_driven_too() {
    let name = "criterion_by_hand";
    let (frames, ended) = conversation(
        name,
        &[
            "begin", "run", "sample 2", "finish", "next", "skip", "skip", "bye",
        ],
    );
    assert_eq!(announced(&frames), ["first", "second", "grouped"]);
    assert_eq!(frames.last().map(String::as_str), Some(r#"{"type":"bye"}"#));
    assert_eq!(ended.code, Some(0));
    // The conversation ends before the end of `main`: values are dropped, or the process exits, but nothing hangs.
    let (frames, ended) = conversation(name, &["begin", "skip", "bye"]);
    assert_eq!((announced(&frames).len(), ended.code), (2, Some(0)));
}

#[test]
fn values_of_the_author_are_dropped_when_the_parent_says_goodbye() {
    let (_, ended) = conversation("criterion_api", &["begin", "bye"]);
    assert!(
        ended.stderr.ends_with("a directory is removed\n"),
        "{ended:?}"
    );
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_panic_outside_of_benchmarks_is_told() {
    for name in ["criterion_broken", "criterion_by_hand_broken"] {
        for requests in [
            &["begin", "skip"][..],
            &["begin", "run", "sample 1", "finish", "next"],
        ] {
            let (frames, ended) = conversation(name, requests);
            assert_eq!(announced(&frames), ["before"], "{name}");
            let last = frames.last().unwrap();
            assert!(
                last.contains("outside its benchmarks, the bench panicked at "),
                "{last}"
            );
            assert!(last.ends_with(r#"no corpus","fatal":true}"#), "{last}");
            assert_eq!(ended.code, Some(101), "{name}");
        }
    }
}
