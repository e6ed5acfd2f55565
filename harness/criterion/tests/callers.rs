//! Tests that the benches accept the arguments that cargo bench, cargo test and nextest pass to Criterion benches.

mod support;

use support::{command, plain, run};

const SUBJECT: &str = "criterion_subject";
const IDS: [&str; 10] = [
    "sum",
    "len/3",
    "sum #2",
    "sort/stable/10",
    "sort/stable/100",
    "sort/a + b",
    "closures",
    "panics",
    "measures-nothing",
    "widgets",
];

#[test]
fn a_terse_listing_has_one_benchmark_a_line_and_nothing_else() {
    let listing = plain(SUBJECT, "--list --format terse");
    let expected = IDS.map(|id| format!("{id}: benchmark\n")).concat();
    assert_eq!(
        (listing.stdout.as_str(), listing.code),
        (expected.as_str(), Some(0))
    );
    assert_eq!(plain(SUBJECT, "--list --format terse --ignored").stdout, "");
}

#[test]
fn a_pretty_listing_ends_each_group_with_an_empty_line() {
    assert_eq!(
        plain(SUBJECT, "--list stable|len --bench").stdout,
        "len/3: benchmark\n\nsort/stable/10: benchmark\nsort/stable/100: benchmark\n\n"
    );
}

#[test]
fn a_filter_is_a_regular_expression_found_in_the_full_id() {
    let listed =
        |arguments: &str| plain(SUBJECT, &format!("--list --format=terse {arguments}")).stdout;
    assert_eq!(
        listed("^s.*[0-9]$"),
        "sum #2: benchmark\nsort/stable/10: benchmark\nsort/stable/100: benchmark\n"
    );
    assert_eq!(
        listed("--exact sort/stable/10"),
        "sort/stable/10: benchmark\n"
    );
    assert_eq!(listed("--exact sort"), "");
    let broken = plain(SUBJECT, "--bench a(");
    assert!(
        broken.stderr.contains("`a(` is not a regular expression"),
        "{broken:?}"
    );
    assert_eq!(broken.code, Some(2));
}

#[test]
fn a_runner_of_single_tests_gets_the_one_it_names() {
    let mut one = command(SUBJECT);
    let ended = run(one.args(["--exact", "sum #2", "--nocapture"]), "");
    assert_eq!(
        (ended.stdout.as_str(), ended.code),
        ("Testing sum #2\nSuccess\n\n", Some(0))
    );
}

#[test]
fn without_bench_each_benchmark_runs_once_and_set_up_once_per_process() {
    let tested = plain(SUBJECT, "sum|closures");
    assert_eq!(
        tested.stdout,
        "Testing sum\nSuccess\n\nTesting sum #2\nSuccess\n\nTesting closures\nSuccess\n\n"
    );
    assert_eq!(tested.stderr, "set-up of simple\nclosure 1\n");
    assert_eq!(tested.code, Some(0));
}

#[test]
fn a_benchmark_that_panics_fails_the_run_and_the_rest_runs() {
    for arguments in [
        "panics|measures|widgets",
        "panics|measures|widgets --bench --test",
    ] {
        let tested = plain(SUBJECT, arguments);
        assert_eq!(
            tested.stdout,
            "Testing panics\nFAILED\n\nTesting measures-nothing\nFAILED\n\nTesting widgets\nSuccess\n\n"
        );
        assert!(tested.stderr.contains("no data"));
        assert!(
            tested
                .stderr
                .ends_with("error: 2 of 10 benchmarks failed\n")
        );
        assert_eq!(tested.code, Some(101));
    }
}

#[test]
fn plain_cargo_bench_prints_a_table_in_the_units_of_each_measurement() {
    let measured = plain(SUBJECT, "--bench closures|widgets|stable/10$ --quick");
    let mut lines = measured.stdout.lines();
    assert!(lines.next().unwrap().starts_with("benchmark "));
    let rows: Vec<Vec<&str>> = lines
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0][0], "sort/stable/10");
    assert!(rows[0].last().unwrap().ends_with("elem/s"));
    // The benchmark returns these times from `iter_custom`.
    assert_eq!(rows[1].join(" "), "closures 1.000 µs 1.000 µs .. 1.000 µs");
    assert_eq!(
        rows[2].join(" "),
        "widgets 42.00 widgets 42.00 widgets .. 42.00 widgets"
    );
    assert_eq!(measured.code, Some(0));
}

#[test]
fn a_closure_is_called_once_for_each_sample() {
    let measured = plain(
        SUBJECT,
        "--bench --exact closures --sample-size 12 --measurement-time 0.001",
    );
    // Warm-up takes rounds of 1, 2, 4, ... µs until their sum exceeds 100 ms; then come the samples.
    let rounds = (1..=17).find(|rounds| (1 << rounds) - 1 > 100_000).unwrap();
    let closures = measured
        .stderr
        .lines()
        .filter(|line| line.starts_with("closure "))
        .count();
    assert_eq!(closures, rounds + 12);
}

#[test]
fn lines_as_libtest_has_them_are_printed_on_demand() {
    let measured = plain(SUBJECT, "--bench closures --quick --output-format bencher");
    assert_eq!(
        measured.stdout,
        "test closures ... bench:       1,000 ns/iter (+/- 0)\n"
    );
}

#[test]
fn a_profiler_is_told_around_each_benchmark() {
    let home = std::env::temp_dir().join(format!("perfcheck-criterion-{}", std::process::id()));
    let mut profiled = command(SUBJECT);
    profiled.env("CRITERION_HOME", &home);
    let ended = run(
        profiled.args(["--bench", "--profile-time", "0.05", "closures"]),
        "",
    );
    assert!(home.join("closures/profile").is_dir());
    std::fs::remove_dir_all(&home).unwrap();
    assert!(
        ended
            .stderr
            .contains("profiling closures: true\nclosure 1\n"),
        "{ended:?}"
    );
    assert!(ended.stderr.ends_with("profiled closures\n"), "{ended:?}");
    assert!(ended.stdout.starts_with("closures "), "{ended:?}");
}

#[test]
fn options_of_plots_are_accepted_and_told_once() {
    let tested = plain(
        SUBJECT,
        "--noplot --color never --plotting-backend gnuplot --nresamples 10 len",
    );
    assert_eq!(tested.stdout, "Testing len/3\nSuccess\n\n");
    assert_eq!(
        tested.stderr.matches("has no effect here").count(),
        2,
        "{tested:?}"
    );
    let unknown = plain(SUBJECT, "--bench --frobnicate");
    assert!(unknown.stderr.contains("`--frobnicate`"), "{unknown:?}");
    assert_eq!(unknown.code, Some(2));
    assert!(
        plain(SUBJECT, "--help")
            .stdout
            .contains("--save-baseline NAME")
    );
}

#[test]
fn baselines_need_cargo_perfcheck_and_say_how_to_get_it() {
    let nowhere = std::env::temp_dir().join("perfcheck-nothing-is-here");
    let mut saving = command(SUBJECT);
    saving
        .args(["--bench", "--save-baseline", "before"])
        .env("PATH", &nowhere)
        .env("CARGO_HOME", &nowhere);
    let ended = run(&mut saving, "");
    assert!(
        ended.stderr.contains("`cargo install cargo-perfcheck`"),
        "{ended:?}"
    );
    assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(2)));
}

#[cfg(unix)]
#[test]
fn baselines_are_handed_over_once_with_flags_and_status() {
    use std::os::unix::fs::PermissionsExt;
    let directory = std::env::temp_dir().join(format!("perfcheck-handed-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let fake = directory.join("cargo-perfcheck");
    std::fs::write(
        &fake,
        "#!/bin/sh\necho \"$PERFCHECK_HANDED_OVER $@\"\nexit 1\n",
    )
    .unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut comparing = command(SUBJECT);
    comparing
        .args([
            "--bench",
            "--baseline",
            "before",
            "--sample-size",
            "20",
            "sort",
        ])
        .env("PATH", &directory)
        .env("CARGO_MANIFEST_PATH", "/somewhere/Cargo.toml");
    let ended = run(&mut comparing, "");
    assert_eq!(
        ended.stdout,
        "1 perfcheck --manifest-path /somewhere/Cargo.toml --baseline before --samples 20 -- sort\n"
    );
    assert_eq!(ended.code, Some(1));
    let again = run(comparing.env("PERFCHECK_HANDED_OVER", "1"), "");
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(again.stderr.contains("must not"), "{again:?}");
    assert_eq!((again.stdout.as_str(), again.code), ("", Some(2)));
}
