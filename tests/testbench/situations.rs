//! A test for each line of testbench/README.md.

use std::collections::BTreeSet;
use std::process::Command;

use crate::commands::scripted::QUICK;
use crate::support::{Machine, testbench};
use crate::testbench::situation::Situation;

/// Generates a test for each bench target, and the list of all targets.
macro_rules! situations {
    ($($package:ident { $($target:ident: $expected:expr;)* })*) => {
        $(mod $package {
            $(#[test]
            fn $target() {
                let expected: fn(crate::testbench::situation::Situation) -> crate::testbench::situation::Situation = $expected;
                expected(crate::testbench::situation::Situation::of(stringify!($package), stringify!($target)))
                    .check();
            })*
        })*

        const TARGETS: &[(&str, &str)] = &[$($((stringify!($package), stringify!($target)),)*)*];
    };
}

situations! {
    steady {
        steady: |target| target.measured(["arithmetic", "memory", "text"]);
    }
    doubled {
        doubled: |target| target.measured(["doubled", "unaffected"]);
    }
    quickstart {
        hash: |target| target
            .in_workspace("quickstart")
            .measured(["hash/crc32/64", "hash/crc32/65536", "hash/xxh3/64", "hash/xxh3/65536"]);
        parse: |target| target
            .in_workspace("quickstart")
            .measured(["json/parse", "json/print", "regex/literal", "regex/functions", "regex/numbers"]);
        sort: |target| target.in_workspace("quickstart").measured([
            "sort/lines/100/stable", "sort/lines/100/unstable", "sort/lines/1000/stable", "sort/lines/1000/unstable",
        ]);
    }
    needs_all {
        needs_all: |target| target
            .measured(["small", "large", "after"])
            .said("warning: each process runs all benchmarks and a filter saves no time, because bench target `needs_all` of package `needs_all` fails if it skips benchmarks");
    }
    for_criterion {
        for_criterion: |target| target
            .measured(["sum/fold/100", "sum/fold/1000", "after", "steps", "events"])
            .failed("panics", "no data")
            .code(4);
    }
    settings {
        settings: |target| target.measured([
            "nothing_set", "times", "group/inherits", "group/other_version", "group/mode/standard",
            "group/mode/linear", "group/mode/flat", "group/mode/auto", "throughput/bytes",
            "throughput/both", "throughput/replaced", "nothing_set_again",
        ]);
    }
    skips {
        skips: |target| target.measured(["runs"]).skipped("declines", "needs a quantum computer");
    }
    slow_iteration {
        slow_iteration: |target| target.measured(["30ms", "1200ms"]);
    }
    many {
        many: |target| target.measured((0..100).map(|n| format!("many/n/{n}")));
    }
    names {
        names: |target| target.measured(super::NAMES).measured(["x".repeat(300), "長".repeat(300)]);
    }
    allocates {
        allocates: |target| target.measured(["nothing", "one_block_of_1_kib", "ten_boxes", "in_set_up"]);
    }
    counts_allocations {
        counts_allocations: |target| target.measured(["nothing", "twelve", "beside_set_up", "varies"]);
    }
    times_operations {
        times_operations: |target| target.measured(["steady", "fails_at_times", "usual"]);
    }
    environment {
        environment: |target| target.measured(["dump"]);
    }
    two_targets {
        left: |target| target.measured(["first", "second"]);
        right: |target| target.measured(["first", "second"]);
    }
    two_targets_again {
        left: |target| target.measured(["first", "second"]);
    }
    sequential {
        sequential: |target| target.measured(["first", "second", "third"]);
    }
    prints_to_stdout {
        prints_to_stdout: |target| target
            .measured(["in_set_up", "in_body", "frames", "flood", "to_stderr"])
            .said("printed by the function\n")
            .said("printed in set-up\n")
            .said("printed in the body\n")
            .said("{\"type\":\"samples\",\"iterations\":[1],\"elapsed_ns\":[1]}\n")
            .said("line 49999 of the flood\n")
            .said("printed to stderr\n");
    }
    partial_lines {
        partial_lines: |target| target
            .measured(["no_newline", "half_a_frame", "long_line", "binary"])
            .said("no newline from the function")
            .said("no newline from the body")
            .said("{\"type\":\"samples\",\"iterations\":[1");
    }
    reads_stdin {
        reads_stdin: |target| target.measured(["in_set_up", "in_body"]);
    }
    closes_stdout {
        closes_stdout: |target| target.measured(["before", "stdout", "stdin", "stderr", "after"]);
        closes_everything: |target| target
            .measured(["before", "after"])
            .failed("everything", "the process ended (exit status 0) before it answered `start everything`");
    }
    forks {
        forks: |target| target.measured(["child", "orphan", "session"]);
        keeps_pipe: |target| target
            .failed("dies", "the process ended (exit status 7) before it answered `start dies`");
    }
    panics {
        panics: |target| target
            .measured(["before", "after"])
            .failed("in_body", "panicked at panics/benches/panics.rs:17:36: index out of bounds: the len is 0 but the index is 3")
            .failed("in_set_up", "panicked at panics/benches/panics.rs:19:34: panic in set-up of 42")
            .failed("in_batch_set_up", "panicked at panics/benches/panics.rs:22:25: panic in batch set-up")
            .failed("in_drop", "panicked at panics/benches/panics.rs:9:9: panic in drop")
            .failed("in_iteration_1000", "panicked at panics/benches/panics.rs:35:13: panic in iteration 1000")
            .failed("of_no_text", "panicked at panics/benches/panics.rs:38:35: (a payload that is not text)")
            .failed("of_two\nlines", "panicked at panics/benches/panics.rs:39:38: first line\nsecond \"line\"");
        in_function: |target| target
            .measured(["of_the_other_function"])
            .target_failed("error: bench target `in_function` of package `panics`: the function `broken`, outside its benchmarks, panicked at panics/benches/in_function.rs:10:25: panic in the function: the corpus is there");
    }
    vanishes {
        vanishes: |target| target
            .measured(["always"])
            .failed("first_process_only", "there is no benchmark \"first_process_only\"");
    }
    aborts {
        aborts: |target| target
            .measured(["before", "after"])
            .failed("aborts", "the process ended (signal 6 (SIGABRT)");
    }
    exits_early {
        exits_early: |target| target
            .measured(["before", "after"])
            .failed("with_3", "the process ended (exit status 3) before it answered `warm-up")
            .failed("with_0", "the process ended (exit status 0) before it answered `warm-up")
            .failed("in_set_up", "the process ended (exit status 4) before it answered `start in_set_up`");
        at_set_up: |target| target
            .target_failed("error: bench target `at_set_up` of package `exits_early`: the process ended (exit status 5) before it answered `list`; its output: `the licence server cannot be reached`")
            .said("error: nothing was measured");
    }
    hangs {
        hangs: |target| target
            .timeout("1s")
            .measured(["before", "after"])
            .failed("in_body", "no answer to `warm-up 1000000` within 1.")
            .failed("in_set_up", "no answer to `start in_set_up` within 1.0 s")
            .failed("busy", "no answer to `warm-up 1000000` within 1.");
    }
    never_iterates {
        never_iterates: |target| target
            .measured(["fine"])
            .failed("never", "the benchmark's closure measured nothing: it must call one of the methods `iter*`, or `skip`")
            .failed("twice", "panicked at never_iterates/benches/never_iterates.rs:9:11: `iter*` was called after `iter*` or `skip`");
    }
    duplicate_ids {
        duplicate_ids: |target| target
            .measured(["group/same", "group/same #2", "other"])
            .target_failed("error: bench target `duplicate_ids` of package `duplicate_ids`: benchmark `` is not measured: its id is empty");
    }
    bad_frames {
        answers: |target| target
            .measured(["fine", "zero_times"])
            .failed("garbage", "its answer `@@@ this is no frame @@@` to `sample")
            .failed("not_utf8", "is not a valid frame (invalid unicode code point")
            .failed("not_an_object", "its answer `[1,2,3]` to `sample")
            .failed("half_a_frame", "its answer `{\"type\":\"samples\",\"iterations\":[1,` to `sample")
            .failed("unknown_type", "its answer `{\"type\":\"surprise\"}` to `sample")
            .failed("wrong_frame", "`{\"type\":\"listed\",\"count\":0}` is not an answer to `sample")
            .failed("missing_member", "is not a valid frame (missing field `elapsed_ns`")
            .failed("mismatched_lengths", "does not match the request (iteration counts: 11, times: 10)")
            .failed("other_counts", "does not match the request (iteration counts: 10, times: 10)")
            .failed("negative_time", "is not a valid frame (invalid value: integer `-1000`")
            .failed("fractional_time", "is not a valid frame (invalid type: floating point `1000.5`")
            .failed("not_a_number", "is not a valid frame (expected value at line 1")
            .failed("null_time", "is not a valid frame (invalid type: null")
            .failed("too_large", "a time of 9223372036854775808 ns in its answer to `sample")
            .failed("other_id", "`{\"type\":\"started\",\"id\":\"fine\"")
            .failed("extra_frame", "it broke the bench protocol")
            .failed("endless_line", "it sent a line of more than 64 MiB: `xxxx")
            .failed("no_warm_up", "`{\"type\":\"warmed-up\",\"iterations\":0,\"elapsed_ns\":0}` is not an answer to `warm-up")
            .failed("uneven_counts", "its answer to `count 16` has 16 entries in `allocations` but 15 in `bytes`")
            .failed("lost_operations", "its answer to `latencies 10000` counts 0 operations and 0 errors, but the samples had ")
            .failed("refuses", "it refused `sample ")
            .failed("long_error", "xxx… (truncated; 2000010 bytes in all)")
            .failed("warms_up_for_ever", "its answer to `warm-up 1000000` is invalid: 18446744073709551615 is not below 2^63");
        bad_hello: |target| target
            .target_failed("error: bench target `bad_hello` of package `bad_frames`: it broke the bench protocol: its hello `{\"type\":\"hello\",\"protocol\":1,")
            .said("missing field `capabilities`");
        bad_list: |target| target
            .target_failed("error: bench target `bad_list` of package `bad_frames`: it broke the bench protocol: it says that it has 2 benchmarks, but it announced 1");
        twice_listed: |target| target
            .measured(["fine"])
            .target_failed("error: bench target `twice_listed` of package `bad_frames`: several benchmarks have the id `fine`, so only the first is measured; rename the others");
        endless_list: |target| target
            .target_failed("error: bench target `endless_list` of package `bad_frames`: it broke the bench protocol: it announced more than 100000 benchmarks");
        slow_list: |target| target
            .timeout("1s")
            .target_failed("error: bench target `slow_list` of package `bad_frames`: no answer to `list` within 1.0 s");
        large_list: |target| target
            .target_failed("error: bench target `large_list` of package `bad_frames`: it broke the bench protocol: its answer to `list` is larger than 64 MiB");
        endless_program: |target| target
            .target_failed("error: bench target `endless_program` of package `bad_frames`: it broke the bench protocol: it announced more than 100000 benchmarks");
        beyond_limits: |target| target
            .measured(["fine"])
            .target_failed("xxx` is not measured: its id has 70004 bytes (limit: 1000)\n")
            .said("benchmark `no_processes` is not measured: its code sets `processes` to an invalid value: 0 is not a whole number from 1 to 10000\n")
            .said("benchmark `many_processes` is not measured: its code sets `processes` to an invalid value: 4000000000 is not a whole number from 1 to 10000\n")
            .said("benchmark `one_sample` is not measured: its code sets `samples` to an invalid value: 1 is not a whole number from 2 to 1000000\n")
            .said("benchmark `many_samples` is not measured: its code sets `samples` to an invalid value: 1000001 is not a whole number from 2 to 1000000\n")
            .said("benchmark `long_warm_up` is not measured: its code sets `warm_up_ns` to an invalid value: must be at most 24 hours\n")
            .said("benchmark `long_measurement` is not measured: its code sets `measurement_ns` to an invalid value: must be at most 24 hours\n")
            .said("benchmark `less_than_no_noise` is not measured: its code sets `noise_threshold` to -1, but it must be at least 0 and below 1\n")
            .said("benchmark `many_bytes` is not measured: its throughput is 18446744073709551615, but must be below 2^63\n");
        large_step: |target| target
            .target_failed("error: bench target `large_step` of package `bad_frames`: it broke the bench protocol: its hello is invalid: `quantum_ns` is 18446744073709551615, but must be below 2^63");
        unasked: |target| target
            .target_failed("error: bench target `unasked` of package `bad_frames`: it broke the bench protocol: `{\"type\":\"samples\",\"iterations\":[1],\"elapsed_ns\":[1]}` is not an answer to `list`");
    }
    fakes_criterion {
        faults: |target| target
            .measured(["first", "last"])
            .failed("four_gigabytes", "it broke the bench protocol: it announced a message of 4294967295 bytes, which is too long")
            .failed("garbage", "it broke the bench protocol: a message of 4 bytes cannot be decoded: ")
            .failed("dies_within_a_message", "it broke the bench protocol: its connection broke in the middle of a message: ")
            .failed("dies_within_a_length", "it broke the bench protocol: its connection broke in the middle of a message: ")
            .failed("dies", "the process ended (signal 6 (SIGABRT)) before it answered `measure`; its output: `its last words`")
            .failed("unknown_message", "unknown variant `Surprise`")
            .failed("unasked_answer", "it broke the bench protocol: it sent an answer without a request")
            .failed("connects_twice", "it broke the bench protocol: it connected to its runner twice")
            .failed("uneven_columns", "it broke the bench protocol: it reported an invalid list of samples (iteration counts: 2, times: 1)")
            .failed("negative_time", "it reported impossible numbers")
            .failed("no_unit", "it broke the bench protocol: it did not report a usable unit for its values");
        falls_silent: |target| target
            .timeout("1s")
            .measured(["first", "last"])
            .failed("silent", "no answer to `measure` within 1.0 s")
            .failed("stalls", "no answer to `measure` within 1.0 s");
        wrong_greeting: |target| target
            .target_failed("error: bench target `wrong_greeting` of package `fakes_criterion`: it broke the bench protocol: its greeting on the runner's socket is not Criterion's: `HTTP/1.1 200 OK");
        half_a_greeting: |target| target
            .target_failed("error: bench target `half_a_greeting` of package `fakes_criterion`: it broke the bench protocol: its greeting on the runner's socket is not Criterion's: `Crite`");
        other_protocol: |target| target
            .target_failed("error: bench target `other_protocol` of package `fakes_criterion`: it broke the bench protocol: its Criterion 1.0.0 speaks protocol 2 in format 1");
        needs_all: |target| target
            .measured(["small", "large", "after"])
            .said("warning: each process runs all benchmarks and a filter saves no time, because bench target `needs_all` of package `fakes_criterion` fails if it skips benchmarks");
        comes_once: |target| target
            .timeout("1s")
            .target_failed("error: bench target `comes_once` of package `fakes_criterion`: no answer to `connect to its runner` within 1.0 s");
        never_greets: |target| target
            .timeout("1s")
            .target_failed("error: bench target `never_greets` of package `fakes_criterion`: no answer to `report its version` within 1.0 s");
        knows_no_runner: |target| target
            .target_failed("error: bench target `knows_no_runner` of package `fakes_criterion`: its version of Criterion does not report samples to cargo-perfcheck")
            .said("  help: update to Criterion 0.3.3 or later");
        stranger_first: |target| target.measured(["ours"]);
        warms_up_slowly: |target| target.measured(["short"]);
        whole_seconds: |target| target.measured(["quick", "slow", "of a group", "unset", "unset too", "late/quick"]);
        says: |target| target
            .measured(["steps", "frames", "energy", "processor time", "twice", "twice #2"])
            .said("from the bench\n")
            .said("to stderr\n");
    }
    unknown_version {
        unknown_version: |target| target
            .target_failed("error: bench target `unknown_version` of package `unknown_version`: its harness (from the future 99.0.0) speaks version 99 of the bench protocol, but this cargo-perfcheck speaks version 1")
            .said("error: nothing was measured");
    }
    no_protocol {
        prints: |target| target
            .target_failed("error: bench target `prints` of package `no_protocol`: not a supported benchmark executable: it ended (exit status 0) without identifying its harness; its output: `Welcome to MyBench 3000!`")
            .said("help: the supported harnesses are perfcheck, Criterion, divan and libtest's `#[bench]`")
            .said("fib 20 ... 26.1 us\n")
            .said("error: nothing was measured");
        silent: |target| target
            .target_failed("error: bench target `silent` of package `no_protocol`: not a supported benchmark executable: it ended (exit status 0)");
        sleeps: |target| target
            .target_failed("error: bench target `sleeps` of package `no_protocol`: not a supported benchmark executable: it did not identify its harness within 10 s");
    }
    default_harness {
        default_harness: |target| target
            .code(4)
            .said("error: nothing was measured: the bench targets have no benchmarks")
            .said("`harness = false`");
    }
    prints_results {
        like_libtest: |target| target
            .measured(["sums::one", "sums::other"])
            .failed("panics", "panicked at benches/like_libtest.rs:8:37: no data")
            .failed("aborts", "the process ended (signal 6 (SIGABRT)")
            .skipped("no_time", "it took no time at all");
        like_divan: |target| target
            .measured(["plain", "sums::with_args/10", "sums::with_args/a/b", "threaded/t=1", "threaded/t=4"])
            .failed("panics", "no data");
        tests_alone: |target| target.code(4).said("error: nothing was measured: the bench targets have no benchmarks");
    }
    does_not_compile {
        does_not_compile: |target| target
            .in_workspace("does_not_compile")
            .code(3)
            .said("error[E0308]: mismatched types\n --> benches/does_not_compile.rs:4:27\n")
            .said("error: could not compile `does_not_compile`");
    }
}

const NAMES: [&str; 28] = [
    "plain",
    "with spaces",
    " spaces around ",
    "two  spaces",
    "quo\"te's `and` backtick",
    "back\\slash",
    "backslash and n: \\n",
    "line\nfeed",
    "carriage\rreturn",
    "tab\tulator",
    "größe/日本語/ελληνικά",
    "مرحبا/עברית",
    "🦀🚀/👩\u{200d}👩\u{200d}👧\u{200d}👦",
    "composed \u{e9}",
    "composed e\u{301}",
    "\u{202e}right to left",
    "escape \u{1b}[31mred\u{1b}[0m",
    "null \0 byte",
    "*?[a-z]{1,2}$(x)",
    "--bench",
    "..",
    "a//b/",
    "Case",
    "case",
    r"C:\dir\file",
    r#"{"type":"bye"}"#,
    "%s %n {} {0}",
    "<b>&amp;</b>",
];

#[test]
fn no_bench_target_is_forgotten() {
    let mut targets = BTreeSet::new();
    for workspace in ["", "quickstart", "does_not_compile"] {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .arg("--manifest-path")
            .arg(testbench(workspace))
            .output()
            .expect("cargo runs");
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for package in metadata["packages"].as_array().expect("packages") {
            for target in package["targets"].as_array().expect("targets") {
                if target["kind"][0] == "bench" {
                    let names = (package["name"].as_str(), target["name"].as_str());
                    targets.insert((
                        names.0.expect("text").to_owned(),
                        names.1.expect("text").to_owned(),
                    ));
                }
            }
        }
    }
    let tested: BTreeSet<(String, String)> = TARGETS
        .iter()
        .map(|(package, target)| ((*package).to_owned(), (*target).to_owned()))
        .collect();
    assert_eq!(targets, tested);
}

#[test]
fn a_package_without_bench_targets_is_told_so() {
    let machine = Machine::new();
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "no_benches"])
        .run()
        .expect_code(4)
        .expect_stderr(&[
            "error: nothing was measured: the selected packages have no bench targets",
        ]);
    assert!(!machine.store().exists());
}

#[test]
fn no_control_character_of_an_id_reaches_the_terminal() {
    let machine = Machine::new();
    for (arguments, code) in [
        (&["-p", "names"][..], 0),
        (&["list", "-p", "names"], 0),
        (&["-p", "panics", "--bench", "panics"], 4),
    ] {
        let measuring: &[&str] = if arguments[0] == "list" { &[] } else { &QUICK };
        let command = machine.perfcheck().args(arguments).testbench("");
        let run = command.args(measuring).run().expect_code(code);
        for text in [&run.stdout, &run.stderr] {
            let bad = text.chars().find(|character| {
                (character.is_control() && *character != '\n') || *character == '\u{202e}'
            });
            assert_eq!(bad, None, "{run}");
        }
        assert!(!run.stderr.contains("of_two\nlines"), "{run}");
        assert!(!run.stdout.contains("line\nfeed"), "{run}");
    }
}

#[test]
fn what_a_bench_prints_arrives_whole_on_stderr() {
    let run = Situation::of("prints_to_stdout", "prints_to_stdout")
        .measured(["in_set_up", "in_body", "frames", "flood", "to_stderr"])
        .check();
    // Each line appears exactly once in each of the three processes.
    for number in [0, 24_999, 49_999] {
        let line = format!("line {number} of the flood\n");
        assert_eq!(run.stderr.matches(&line).count(), 3, "{line}");
    }
    for kind in ["hello", "samples", "error", "bye"] {
        let frame = format!("{{\"type\":\"{kind}\"");
        assert_eq!(run.stderr.matches(&frame).count(), 3, "{frame}");
    }
    let run = Situation::of("partial_lines", "partial_lines")
        .measured(["no_newline", "half_a_frame", "long_line", "binary"])
        .check();
    assert_eq!(run.stderr.matches(&"x".repeat(10_000_000)).count(), 3);
}
