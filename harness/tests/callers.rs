//! Tests of direct calls by cargo bench, cargo test and nextest.

mod support;

use std::process::Stdio;

use support::{command, plain, wait};

#[test]
fn a_terse_listing_has_one_benchmark_a_line_and_nothing_else() {
    let listing = plain(&["--list", "--format", "terse"]);
    let mut lines = listing.stdout.lines();
    assert_eq!(lines.next(), Some("sum: benchmark"));
    assert_eq!(lines.next(), Some(r#"söme "quotes"\n\\ and 😀: benchmark"#));
    assert!(lines.all(|line| line.ends_with(": benchmark")));
    assert_eq!((listing.stderr.as_str(), listing.code), ("", Some(0)));
}

#[test]
fn no_benchmark_is_ignored_by_declaration() {
    let listing = plain(&["--list", "--format", "terse", "--ignored"]);
    assert_eq!((listing.stdout.as_str(), listing.code), ("", Some(0)));
}

#[test]
fn a_listing_can_be_filtered_and_counted() {
    let listing = plain(&["--list", "copy/1", "--skip", "/b"]);
    assert_eq!(
        listing.stdout,
        "copy/1/a: benchmark\n\n0 tests, 1 benchmark\n"
    );
}

#[test]
fn without_bench_each_body_runs_once() {
    let run = plain(&["loud", "skips"]);
    let (start, _) = run.stdout.split_once("; finished in ").unwrap();
    assert_eq!(
        start,
        "\nrunning 3 tests\n\
         test skips ... ignored, no such device\n\
         test loud/one ... ok\n\
         test loud/two ... ok\n\
         \n\
         test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 26 filtered out"
    );
    assert_eq!(
        run.stderr,
        "set-up of one\nbody of one\nset-up of two\ninput of two\nbody of two\n"
    );
    assert_eq!(run.code, Some(0));
}

#[test]
fn a_runner_of_single_tests_gets_the_one_it_names() {
    for arguments in [
        ["--exact", "loud/one", "--nocapture", "--test-threads=1"],
        ["loud/one", "--bench", "--test", "--exact"],
    ] {
        let run = plain(&arguments);
        assert!(run.stdout.contains("\nrunning 1 test\n"), "{run:?}");
        assert!(run.stdout.contains("test loud/one ... ok\n"), "{run:?}");
        assert_eq!(run.stderr, "set-up of one\nbody of one\n");
    }
    let escaped = plain(&["--exact", r#"söme "quotes"\n\\ and 😀"#, "--nocapture"]);
    assert!(escaped.stdout.contains("1 passed"), "{escaped:?}");
}

#[test]
fn a_failing_body_fails_the_test_run_and_the_rest_runs() {
    let run = plain(&["panics/in", "custom", "measures-nothing"]);
    assert!(run.stdout.contains("test panics/in-body ... FAILED\n"));
    assert!(run.stdout.contains("test custom ... ok\n"));
    assert!(
        run.stdout
            .contains("---- panics/in-set-up ----\npanicked: no data\nhere\n")
    );
    assert!(
        run.stdout.contains(
            "failures:\n    panics/in-set-up\n    panics/in-body\n    measures-nothing\n"
        )
    );
    assert!(
        run.stdout
            .contains("test result: FAILED. 1 passed; 3 failed")
    );
    assert_eq!(run.code, Some(101));
}

#[test]
fn cargo_bench_gets_an_aligned_table() {
    let run = plain(&["--exact", "custom", "skips", "--bench"]);
    assert_eq!(
        run.stdout,
        "benchmark     median     lowest    highest    throughput\n\
         custom      1.000 µs   1.000 µs .. 1.000 µs\n\
         skips      skipped: no such device\n"
    );
    assert_eq!((run.stderr.as_str(), run.code), ("", Some(0)));
}

#[test]
fn the_throughput_of_the_input_is_in_the_table() {
    let run = plain(&["-q", "configured/size/10", "--exact", "--bench"]);
    assert!(run.stdout.starts_with("configured/size/10  "), "{run:?}");
    assert!(run.stdout.trim_end().ends_with("B/s"), "{run:?}");
}

#[test]
fn a_panic_in_cargo_bench_is_named_and_the_rest_is_measured() {
    let run = plain(&["panics/in-body", "custom", "--bench"]);
    assert!(
        run.stdout
            .contains("panics/in-body  FAILED: panicked: a number\n")
    );
    assert!(
        run.stdout.contains("\ncustom           1.000 µs"),
        "{run:?}"
    );
    assert!(
        run.stderr
            .ends_with("error: 1 of 2 benchmarks failed: panics/in-body\n"),
        "{run:?}"
    );
    assert_eq!(run.code, Some(101));
}

#[test]
fn a_panic_outside_the_benchmarks_fails_the_call_and_the_rest_is_measured() {
    for arguments in [&["custom", "--bench"][..], &["custom"], &["--list"]] {
        let output = command()
            .args(arguments)
            .env("SUBJECT_PANICS", "1")
            .output()
            .expect("the subject runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stdout.contains("custom"), "{stdout}");
        let message = "error: the function `duplicates`, outside its benchmarks, panicked: outside of any benchmark\n";
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(output.status.code(), Some(101));
    }
}

#[test]
fn a_filtered_out_closure_does_not_run() {
    let run = plain(&["custom", "--bench"]);
    assert_eq!(run.stderr, "");
}

#[test]
fn flags_of_other_harnesses_are_tolerated_and_named_where_they_mattered() {
    let run = plain(&[
        "custom",
        "--color",
        "always",
        "--save-baseline",
        "main",
        "--bench",
    ]);
    assert!(run.stdout.contains("\ncustom      1.000 µs"), "{run:?}");
    assert!(
        run.stderr.contains("`--save-baseline` has no effect"),
        "{run:?}"
    );
    assert_eq!(run.code, Some(0));
}

#[test]
fn a_reader_that_closes_the_pipe_is_a_success() {
    let mut child = command()
        .args(["--list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(wait(&mut child).code(), Some(0));
}

#[test]
fn the_second_of_two_benchmarks_of_one_id_is_numbered() {
    for argument in ["--bench", "--list", "--test"] {
        let output = command()
            .env("SUBJECT_DUPLICATES", "1")
            .args(["twin", argument])
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout.matches("twin #2").count(), 1, "{stdout}");
        assert_eq!(output.status.code(), Some(0), "{stdout}");
    }
}

#[test]
fn help_says_what_there_is() {
    let help = plain(&["--bench", "--help"]);
    assert!(help.stdout.contains("--exact"));
    assert_eq!(help.code, Some(0));
}
