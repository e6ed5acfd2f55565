//! Tests of the protocol with a real bench executable, through pipes.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use support::{Conversation, command, numbers};

#[test]
fn hello_comes_first_and_says_what_the_child_can() {
    let mut child = Conversation::open(command().env("PERFCHECK_PROTOCOL", "1,2").arg("--bench"));
    assert_eq!(child.frame(), "");
    let hello = child.frame();
    let (start, quantum) = hello.split_once(r#","quantum_ns":"#).unwrap();
    let expected = format!(
        r#"{{"type":"hello","protocol":1,"harness":"perfcheck","version":"{}","capabilities":["addressable","slowdown"]"#,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(start, expected);
    assert!(quantum.trim_end_matches('}').parse::<u64>().unwrap() >= 1);
    assert_eq!(child.ask("bye"), r#"{"type":"bye"}"#);
    let (rest, status) = child.end();
    assert!(rest.is_empty() && status.success());
}

#[test]
fn a_child_that_shares_no_version_says_hello_and_ends() {
    let mut child = Conversation::open(command().env("PERFCHECK_PROTOCOL", "7,11").arg("--bench"));
    let (lines, status) = child.end();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with(r#"{"type":"hello","protocol":1,"#));
    assert!(status.success());
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn padding_moves_the_heap_within_its_pages() {
    let place = |padding: usize| {
        let mut command = command();
        command.env("SUBJECT_HEAP", "1");
        command.env("PERFCHECK_PADDING", "x".repeat(padding));
        Conversation::start_with(&mut command).ask("start heap")
    };
    let places = [0, 900, 1800, 2700, 3600].map(place);
    assert_eq!(places, [0, 900, 1800, 2700, 3600].map(place));
    let different: std::collections::BTreeSet<_> = places.iter().collect();
    assert_eq!(different.len(), 5, "{places:?}");
}

#[test]
fn list_announces_every_benchmark_and_runs_none() {
    let mut child = Conversation::start_with(command().stderr(Stdio::piped()));
    let mut frames = vec![child.ask("list")];
    while frames
        .last()
        .unwrap()
        .starts_with(r#"{"type":"benchmark","#)
    {
        frames.push(child.frame());
    }
    let listed = frames.pop().unwrap();
    assert_eq!(
        listed,
        format!(r#"{{"type":"listed","count":{}}}"#, frames.len())
    );
    assert_eq!(
        frames[1],
        r#"{"type":"benchmark","id":"söme \"quotes\"\n\\ and 😀","version":null,"throughput":{"bytes":null,"elements":null},"settings":{}}"#
    );
    assert_eq!(
        frames[2],
        r#"{"type":"benchmark","id":"configured/all","version":"2","throughput":{"bytes":8000,"elements":1000},"settings":{"processes":3,"samples":4,"warm_up_ns":2000000,"measurement_ns":5000000,"sampling_mode":"linear","noise_threshold":0.03}}"#
    );
    // A second request gets the same list.
    assert_eq!(child.ask("list"), frames[0]);
    for _ in 1..=frames.len() {
        child.frame();
    }
    child.ask("bye");
    child.end();
    let mut stderr = String::new();
    let mut pipe = child.child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
}

#[test]
fn a_benchmark_is_started_warmed_sampled_and_finished() {
    let mut child = Conversation::start();
    assert_eq!(
        child.ask("start custom"),
        r#"{"type":"started","id":"custom","throughput":{"bytes":null,"elements":null}}"#
    );
    // The times are scripted, and hardly any real time passes. Passes of 1, 2, 4, ... µs take more than 10 s in total with the 24th pass. A sum equal
    // to the limit does not end the warm-up.
    for (request, expected) in [
        (
            "warm-up 10000000000",
            r#""iterations":16777215,"elapsed_ns":16777215000,"#,
        ),
        (
            "warm-up 16777215000",
            r#""iterations":33554431,"elapsed_ns":33554431000,"#,
        ),
    ] {
        let answer = child.ask(request);
        let expected = format!(r#"{{"type":"warmed-up",{expected}"total_ns":"#);
        assert!(answer.starts_with(&expected), "{answer}");
    }
    assert_eq!(
        child.ask("sample 3 2*3 1"),
        r#"{"type":"samples","iterations":[3,2,2,2,1],"elapsed_ns":[3000,2000,2000,2000,1000]}"#
    );
    assert_eq!(child.ask("finish"), r#"{"type":"finished","id":"custom"}"#);
    assert_eq!(child.ask("bye"), r#"{"type":"bye"}"#);
}

#[test]
fn any_id_can_be_started_any_number_of_times_in_any_order() {
    let mut child = Conversation::start();
    for request in [
        "start copy/2/b",
        "start sum",
        r#"start söme "quotes"\n\\ and 😀"#,
        "start future",
        "start sum",
        "start copy/1/a",
    ] {
        let started = child.ask(request);
        assert!(started.starts_with(r#"{"type":"started","#), "{started}");
        let samples = child.ask("sample 1*20 1000*2");
        let iterations = numbers(&samples, "iterations");
        assert_eq!(iterations.len(), 22);
        assert_eq!(numbers(&samples, "elapsed_ns").len(), 22);
        let finished = child.ask("finish");
        assert!(finished.starts_with(r#"{"type":"finished","#), "{finished}");
    }
}

#[test]
fn the_throughput_of_an_input_replaces_the_announced_one() {
    let mut child = Conversation::start();
    assert_eq!(
        child.ask("start configured/size/100"),
        r#"{"type":"started","id":"configured/size/100","throughput":{"bytes":100,"elements":null}}"#
    );
}

#[test]
fn a_request_that_is_not_valid_changes_nothing() {
    let mut child = Conversation::start();
    for request in ["sample 1", "warm-up 1", "finish", "begin", "", "start \\x"] {
        let error = child.ask(request);
        assert!(
            error.starts_with(r#"{"type":"error","id":null,"message":""#),
            "{request:?}: {error}"
        );
    }
    assert_eq!(
        child.ask("start nothing"),
        r#"{"type":"error","id":"nothing","message":"there is no benchmark \"nothing\""}"#
    );
    child.ask("start custom");
    for request in ["list", "start custom", "bye", "run", "sample 0", "sample x"] {
        let error = child.ask(request);
        assert!(
            error.starts_with(r#"{"type":"error","id":null,"message":""#),
            "{request:?}: {error}"
        );
    }
    assert_eq!(
        child.ask("sample 7"),
        r#"{"type":"samples","iterations":[7],"elapsed_ns":[7000]}"#
    );
}

#[test]
fn a_panic_is_an_error_with_message_and_place_and_the_rest_still_runs() {
    let mut child = Conversation::start();
    let error = child.ask("start panics/in-set-up");
    assert!(
        error.starts_with(r#"{"type":"error","id":"panics/in-set-up","message":"panicked at "#),
        "{error}"
    );
    assert!(error.contains("subject.rs:"), "{error}");
    assert!(error.ends_with(r#": no data\nhere"}"#), "{error}");

    assert!(
        child
            .ask("start panics/in-body")
            .starts_with(r#"{"type":"started","#)
    );
    let error = child.ask("sample 1");
    assert!(error.ends_with(r#": a number"}"#), "{error}");

    child.ask("start custom");
    child.ask("sample 1");
    assert_eq!(child.ask("finish"), r#"{"type":"finished","id":"custom"}"#);
}

#[test]
fn a_panic_of_another_thread_is_the_benchs_own_affair() {
    let mut child = Conversation::start_with(command().stderr(Stdio::null()));
    child.ask("start panics/elsewhere");
    let samples = child.ask("sample 1");
    assert!(samples.starts_with(r#"{"type":"samples","#), "{samples}");
}

#[test]
fn a_closure_that_breaks_the_rules_is_told_so() {
    let mut child = Conversation::start();
    let error = child.ask("start measures-nothing");
    assert!(error.contains("measured nothing"), "{error}");
    child.ask("start measures-twice");
    let error = child.ask("finish");
    assert!(error.contains("exactly one"), "{error}");
    assert_eq!(
        child.ask("start skips"),
        r#"{"type":"skipped","id":"skips","reason":"no such device"}"#
    );
    assert_eq!(child.ask("bye"), r#"{"type":"bye"}"#);
}

#[test]
fn what_a_bench_prints_goes_to_stderr_and_what_it_reads_is_empty() {
    let mut child = Conversation::start_with(command().stderr(Stdio::piped()));
    child.ask("start prints");
    let samples = child.ask("sample 2");
    assert!(samples.starts_with(r#"{"type":"samples","#), "{samples}");
    child.ask("finish");
    child.ask("start reads-stdin");
    child.ask("sample 1");
    assert_eq!(
        child.ask("finish"),
        r#"{"type":"finished","id":"reads-stdin"}"#
    );
    child.ask("bye");
    child.end();
    let mut stderr = String::new();
    let mut pipe = child.child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "{\"type\":\"bye\"}\npartialpartial");
}

#[test]
fn only_the_started_closure_runs() {
    let mut child = Conversation::start_with(command().stderr(Stdio::piped()));
    child.ask("start loud/two");
    child.ask("sample 2");
    child.ask("finish");
    child.ask("bye");
    child.end();
    let mut stderr = String::new();
    let mut pipe = child.child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert_eq!(
        stderr.lines().collect::<Vec<_>>(),
        [
            "set-up of two",
            "input of two",
            "body of two",
            "input of two",
            "body of two"
        ]
    );
}

#[test]
fn a_bench_that_exits_takes_the_child_with_it() {
    let mut child = Conversation::start();
    child.ask("start exits");
    child.send("sample 1");
    let (rest, status) = child.end();
    assert!(rest.is_empty());
    assert_eq!(status.code(), Some(7));
}

#[test]
fn programs_that_a_bench_starts_do_not_take_themselves_for_children() {
    let mut child = Conversation::start();
    let started = child.ask("start sees-environment");
    assert!(started.starts_with(r#"{"type":"started","#), "{started}");
}

#[test]
fn the_end_of_requests_ends_the_child_whatever_it_does() {
    let mut idle = Conversation::start();
    idle.hang_up();
    let (rest, status) = idle.end();
    assert!(rest.is_empty() && status.success());

    let mut started = Conversation::start();
    started.ask("start custom");
    started.hang_up();
    let (rest, status) = started.end();
    assert!(rest.is_empty() && status.success());
}

#[test]
fn the_second_of_two_benchmarks_of_one_id_is_numbered_and_runs() {
    let mut child = Conversation::start_with(command().env("SUBJECT_DUPLICATES", "1"));
    let mut frame = child.ask("list");
    let mut twins = Vec::new();
    while frame.starts_with(r#"{"type":"benchmark","#) {
        twins.extend(frame.contains("twin").then_some(frame));
        frame = child.frame();
    }
    assert_eq!(twins.len(), 2, "{twins:?}");
    assert!(twins[1].contains(r#""id":"twin #2""#), "{twins:?}");
    for id in ["twin #2", "twin"] {
        let started = child.ask(&format!("start {id}"));
        let expected = format!(r#"{{"type":"started","id":"{id}","#);
        assert!(started.starts_with(&expected), "{started}");
        child.ask("finish");
    }
}

#[test]
fn a_panic_outside_the_benchmarks_names_the_function_and_costs_it_alone_its_benchmarks() {
    let mut child = Conversation::start_with(
        command()
            .env("SUBJECT_DUPLICATES", "1")
            .env("SUBJECT_PANICS", "1"),
    );
    let mut frame = child.ask("list");
    let mut announced = 0;
    while frame.starts_with(r#"{"type":"benchmark","#) {
        assert!(!frame.contains("twin"), "{frame}");
        announced += 1;
        frame = child.frame();
    }
    let message = "the function `duplicates`, outside its benchmarks, panicked at ";
    assert!(
        frame.starts_with(&format!(r#"{{"type":"broken","message":"{message}"#)),
        "{frame}"
    );
    assert!(frame.contains("outside of any benchmark"), "{frame}");
    assert!(announced > 0);
    assert_eq!(
        child.frame(),
        format!(r#"{{"type":"listed","count":{announced}}}"#)
    );
    let started = child.ask("start sum");
    assert!(started.starts_with(r#"{"type":"started","id":"sum","#));
    child.ask("finish");
    let error = child.ask("start twin");
    assert!(
        error.contains("there is no benchmark") && error.contains(message),
        "{error}"
    );
    assert_eq!(child.ask("bye"), r#"{"type":"bye"}"#);
}

#[test]
fn a_scripted_clock_reports_exactly_what_the_script_says() {
    for (process, expected) in [
        ("0", "[1000,1001,1002]"),
        ("1", "[205,205,205]"),
        ("2", "[1000,1001,1002]"),
    ] {
        let mut child = Conversation::start_with(
            command()
                .env("PERFCHECK_SCRIPTED_CLOCK", "sum=100/20.46;other=1")
                .env("PERFCHECK_PROCESS", process),
        );
        child.ask("start sum");
        assert_eq!(
            child.ask("sample 10*3"),
            format!(r#"{{"type":"samples","iterations":[10,10,10],"elapsed_ns":{expected}}}"#)
        );
        child.ask("finish");
        child.ask("start custom");
        assert_eq!(
            child.ask("sample 10"),
            r#"{"type":"samples","iterations":[10],"elapsed_ns":[10000]}"#,
            "what is not in the script is measured"
        );
    }
}

#[test]
fn the_index_of_scripted_samples_goes_on_from_request_to_request() {
    let mut child = Conversation::start_with(command().env("PERFCHECK_SCRIPTED_CLOCK", "sum=100"));
    child.ask("start sum");
    assert_eq!(
        child.ask("warm-up 650"),
        r#"{"type":"warmed-up","iterations":7,"elapsed_ns":700,"total_ns":700}"#
    );
    assert_eq!(
        numbers(&child.ask("sample 10*2"), "elapsed_ns"),
        [1000, 1001]
    );
    assert_eq!(
        numbers(&child.ask("sample 10*6"), "elapsed_ns"),
        [1002, 1003, 1004, 1005, 1006, 1000]
    );
    child.ask("finish");
    child.ask("start sum");
    assert_eq!(numbers(&child.ask("sample 10"), "elapsed_ns"), [1000]);
}

#[test]
fn a_script_that_makes_no_sense_is_an_error_on_stderr() {
    let mut child = Conversation::open(
        command()
            .env("PERFCHECK_PROTOCOL", "1")
            .env("PERFCHECK_SCRIPTED_CLOCK", "sum=fast")
            .stderr(Stdio::piped()),
    );
    let (lines, status) = child.end();
    assert!(lines.is_empty());
    assert_eq!(status.code(), Some(2));
    let mut stderr = String::new();
    let mut pipe = child.child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert!(stderr.contains("PERFCHECK_SCRIPTED_CLOCK"), "{stderr}");
}

/// A grandchild holds stderr open, but not the descriptors of the protocol.
#[cfg(unix)]
#[test]
fn programs_that_a_bench_leaves_behind_do_not_hold_the_protocol_open() {
    let mut child = Conversation::start_with(command().stderr(Stdio::piped()));
    child.ask("start leaves-a-program-behind");
    let mut stderr = BufReader::new(child.child.stderr.take().unwrap());
    let mut pid = String::new();
    stderr.read_line(&mut pid).unwrap();
    child.hang_up();
    let (rest, status) = child.end();
    assert!(rest.is_empty() && status.success());
    let killed = std::process::Command::new("kill")
        .arg(pid.trim())
        .status()
        .unwrap();
    assert!(killed.success(), "the program was still there");
}

/// The request stream stays open, so only the kernel's signal can end a busy child.
#[cfg(target_os = "linux")]
#[test]
fn a_busy_child_dies_with_its_parent() {
    let mut parent = std::process::Command::new("sh");
    parent
        .arg("-c")
        .arg("exec 3<&0; \"$0\" --bench <&3 & wait")
        .arg(support::subject())
        .env("PERFCHECK_PROTOCOL", "1")
        .stderr(Stdio::null());
    let mut child = Conversation::open(&mut parent);
    assert_eq!(child.frame(), "");
    child.frame();
    child.ask("start sleeps");
    child.send("sample 1");
    // The parent of the child is the shell.
    child.child.kill().unwrap();
    let (rest, _) = child.end();
    assert!(rest.is_empty());
}

#[test]
fn where_panics_abort_the_frame_is_sent_before_the_end() {
    let target_dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("abort");
    let subject = support::build(
        &target_dir,
        &["--example", "subject"],
        &[("RUSTFLAGS", "-Cpanic=abort")],
    );
    let mut command = std::process::Command::new(subject);
    command.env("RUST_BACKTRACE", "0");
    let mut child = Conversation::start_with(&mut command);
    child.ask("start panics/in-body");
    let error = child.ask("sample 1");
    assert!(
        error.starts_with(r#"{"type":"error","id":"panics/in-body","message":"panicked at "#),
        "{error}"
    );
    assert!(error.ends_with(r#": a number","fatal":true}"#), "{error}");
    let (rest, status) = child.end();
    assert!(rest.is_empty() && !status.success());
}
