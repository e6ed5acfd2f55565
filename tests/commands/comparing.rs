//! `compare`: the same two runs give the same output, in whichever way they are named.

use crate::commands::crates::Crate;
use crate::commands::scripted::{finish, reference_runs, steady, stored, verdict, verdicts};
use crate::support::{Finished, Machine};

fn compare(machine: &Machine, words: &[&str]) -> Finished {
    stored(machine, &["compare"])
        .args(words)
        .args(["--message-format", "json"])
        .run()
}

#[test]
fn runs_are_named_by_baseline_number_and_latest() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    for words in [
        &["main"][..],
        &["main", "latest"],
        &["1"],
        &["1", "2"],
        &["main", "2"],
    ] {
        let run = compare(&machine, words).expect_code(1);
        assert_eq!(verdict(&run, "text"), "regressed", "{words:?}");
        assert_eq!(reference_runs(&run, "text"), [1]);
        assert_eq!(finish(&run)["run"], 2);
    }
    let other_way = compare(&machine, &["latest", "main"]).expect_code(0);
    assert_eq!(verdict(&other_way, "text"), "improved");
}

#[test]
fn runs_are_named_by_commit() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "").into_repository(&machine);
    let measure = |ns| made.measure(&machine, &[], &[("a", ns)]).run();
    measure(100.0).expect_code(0);
    let first = made.git(&machine, &["rev-parse", "HEAD"]).stdout;
    let second = made.commit(&machine);
    measure(200.0).expect_code(1);
    for (base, candidate) in [(first.trim(), second.as_str()), (&first[..8], &second[..8])] {
        let (base, candidate) = (format!("@{base}"), format!("@{candidate}"));
        let words = ["compare", &base, &candidate, "--message-format", "json"];
        let run = made.perfcheck(&machine, &words).run().expect_code(1);
        assert_eq!(verdict(&run, "a"), "regressed");
        assert_eq!(
            (reference_runs(&run, "a"), &finish(&run)["run"]),
            (vec![1], &2.into())
        );
    }
}

#[test]
fn the_candidate_says_nothing_about_the_drift_of_its_reference() {
    let machine = Machine::new();
    // Make two runs of one clean commit and accept the second one. Although the code is the same, the difference between these two must not count as
    // drift.
    let made = Crate::of(&machine, &["a"], "").into_repository(&machine);
    for (ns, code) in [(100.0, 0), (200.0, 1)] {
        let run = made.measure(&machine, &[], &[("a", ns)]).run();
        run.expect_code(code);
    }
    made.perfcheck(&machine, &["accept", "2"])
        .run()
        .expect_code(0);
    for (base, candidate, code, expected) in [("1", "2", 1, "regressed"), ("2", "1", 0, "improved")]
    {
        let words = ["compare", base, candidate, "--message-format", "json"];
        let run = made.perfcheck(&machine, &words).run().expect_code(code);
        assert_eq!(verdict(&run, "a"), expected, "{run}");
    }
}

#[test]
fn the_same_run_on_both_sides_is_wrong_use() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["text", "--save-baseline", "main"])
        .run()
        .expect_code(0);
    for words in [&["main"][..], &["1", "1"], &["latest", "main"]] {
        compare(&machine, words)
            .expect_code(2)
            .expect_stderr(&["the same run (1)"]);
    }
}

#[test]
fn a_comparison_takes_filters_and_thresholds_of_its_own() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0), ("memory", 200.0)])
        .run()
        .expect_code(1);
    let run = compare(&machine, &["1", "2", "--filter", "mem"]).expect_code(1);
    assert_eq!(verdicts(&run).into_keys().collect::<Vec<_>>(), ["memory"]);
    let run = compare(&machine, &["1", "2", "--filter", "arithmetic"]).expect_code(0);
    assert_eq!(verdicts(&run).len(), 1, "{run}");
    compare(&machine, &["1", "2", "--filter", "tex", "--exact"])
        .expect_code(4)
        .expect_stderr(&["nothing was compared", "no benchmark that is called `tex`"]);
    let run = compare(&machine, &["1", "2", "--noise-threshold", "99%"]).expect_code(0);
    assert_ne!(verdict(&run, "text"), "regressed");
    compare(&machine, &["1", "2", "--fail-on", "none"]).expect_code(0);
    compare(&machine, &["2", "1", "--fail-on", "improved"]).expect_code(1);
}

#[test]
fn a_comparison_measures_and_stores_nothing() {
    let machine = Machine::new();
    for _ in 0..2 {
        steady(&machine, &[]).arg("text").run().expect_code(0);
    }
    let before = stored(&machine, &["store", "runs"]).run().stdout;
    compare(&machine, &["1"]).expect_code(0);
    assert_eq!(stored(&machine, &["store", "runs"]).run().stdout, before);
}

#[test]
fn a_filter_that_selects_nothing_is_named_with_what_is_called_alike() {
    let machine = Machine::new();
    for _ in 0..2 {
        steady(&machine, &[]).run().expect_code(0);
    }
    stored(&machine, &["compare", "1", "2", "--filter", "arithmatic"])
        .run()
        .expect_code(4)
        .expect_stderr(&[
            "contains `arithmatic`",
            "did you mean",
            "steady/steady: arithmetic",
        ]);
    stored(&machine, &["compare", "1", "2", "--filter", "zzz"])
        .run()
        .expect_code(4)
        .expect_stderr(&["contains `zzz`", "it has", "steady/steady: text"]);
}

#[test]
fn two_runs_are_set_side_by_side_as_ratios_and_a_called_change_shows_its_direction() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0), ("memory", 50.0)])
        .run()
        .expect_code(1);
    let shown = stored(&machine, &["compare", "1", "2", "--show", "ratio"])
        .run()
        .expect_code(1);
    let line = |id: &str| {
        let mut lines = shown.stdout.lines();
        lines
            .find(|line| line.trim_start().starts_with(id))
            .unwrap_or_else(|| panic!("{shown}"))
    };
    assert!(line("text").ends_with("2.000 *+100.00%*▲"), "{shown}");
    assert!(line("memory").ends_with("0.500 * −50.00%*▼"), "{shown}");
    assert!(line("arithmetic").ends_with("1.000 (   0.00%)"), "{shown}");
    assert_eq!(shown.stdout.matches("run 2").count(), 2, "{shown}");
}
