//! Histories of benchmarks: which runs they have, with which values, and where the level changed.

use serde_json::Value;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, QUICK, steady, stored};
use crate::support::{Finished, Machine};

const JSON: [&str; 2] = ["--message-format", "json"];
/// How far successive runs deviate from their level, in per mille.
const STRAYS: [f64; 6] = [2.0, -4.0, 5.0, 0.0, -2.0, 3.0];

/// Makes a quick run in which `text` of testbench/steady takes `ns` nanoseconds.
fn measure(machine: &Machine, ns: f64) -> Finished {
    let script = format!("text={ns:.3}/{:.3}/{:.3}", ns * 1.004, ns * 1.01);
    steady(machine, &[]).arg("text").env(CLOCK, script).run()
}

/// Makes the given number of runs at each level, with a little noise.
fn runs_at(machine: &Machine, levels: &[(usize, f64)]) {
    let all = levels.iter().flat_map(|(count, ns)| vec![*ns; *count]);
    for (ns, stray) in all.zip(STRAYS.iter().cycle()) {
        measure(machine, ns * (1.0 + stray / 1e3));
    }
}

fn course(finished: &Finished) -> Value {
    let mut messages = finished.messages("benchmark-history");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

#[test]
fn a_change_of_level_is_found_told_and_drawn() {
    let machine = Machine::new();
    runs_at(&machine, &[(12, 100.0), (6, 110.0)]);
    let told = stored(&machine, &["history", "text"])
        .args(JSON)
        .run()
        .expect_code(0);
    let points = told.messages("history-point");
    assert_eq!(points.len(), 18);
    assert_eq!(points[0]["run"], 1);
    assert!(points[0]["value"].as_f64().expect("a time") > 99.0);
    assert!(points[0]["median"]["lower"].is_number());
    let course = course(&told);
    let levels = course["levels"].as_array().expect("a list");
    assert_eq!(levels.len(), 2, "{course}");
    assert_eq!(levels[1]["first_run"], 13);
    let step = &levels[1]["step"];
    assert!((step["change"]["estimate"].as_f64().expect("a fraction") - 0.1).abs() < 0.01);
    assert!(step["p_value"].as_f64().expect("a p-value") <= 0.001);
    assert_eq!(course["newest"], "within");
    let none = stored(&machine, &["history", "text", "--metric", "memory"]).run();
    none.expect_code(0)
        .expect_stderr(&["measured the selected benchmarks with their peak memory"]);
    let drawn = stored(&machine, &["history", "text"]).run().expect_code(0);
    for text in [
        "18 runs",
        "step +10.",
        "Level 110.",
        "░",
        "cargo perfcheck accept text",
    ] {
        assert!(drawn.stdout.contains(text), "no {text:?} in {drawn}");
    }
}

#[test]
fn several_benchmarks_are_a_line_each() {
    let machine = Machine::new();
    for _ in 0..2 {
        steady(&machine, &[]).run().expect_code(0);
    }
    let lines = stored(&machine, &["history"]).run().expect_code(0);
    for text in ["steady/steady", "  arithmetic  ", "  memory  ", "  text  "] {
        assert!(lines.stdout.contains(text), "no {text:?} in {lines}");
    }
    assert!(lines.stdout.contains('▅'), "{lines}");
    let two = stored(&machine, &["history", "mem", "text"])
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(two.messages("benchmark-history").len(), 2);
}

#[test]
fn the_newest_runs_are_chosen_by_number_and_age() {
    let machine = Machine::new();
    runs_at(&machine, &[(4, 100.0)]);
    let points = |more: &[&str]| {
        let told = stored(&machine, &["history", "text"])
            .args(JSON)
            .args(more)
            .run()
            .expect_code(0);
        told.messages("history-point").len()
    };
    assert_eq!(points(&["--last", "3"]), 3);
    assert_eq!(points(&["--since", "1d"]), 4);
    assert_eq!(points(&["--since", "2100-01-01"]), 0);
    stored(&machine, &["history", "--since", "2100-01-01"])
        .run()
        .expect_code(0)
        .expect_stderr(&["measured the selected benchmarks in this period"]);
    stored(&machine, &["history", "--since", "yesterday"])
        .run()
        .expect_code(2)
        .expect_stderr(&["`yesterday` is neither a date"]);
    stored(&machine, &["history", "--last", "0"])
        .run()
        .expect_code(2);
}

#[test]
fn a_name_that_nothing_has_is_an_error_with_names_like_it() {
    let machine = Machine::new();
    measure(&machine, 100.0);
    stored(&machine, &["history", "txet"])
        .run()
        .expect_code(2)
        .expect_stderr(&["`txet`", "did you mean", "text"]);
}

#[test]
fn the_runs_are_those_of_the_branch_that_is_checked_out_or_of_the_one_it_left() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "").into_repository(&machine);
    let measure = || made.measure(&machine, &["a"], &[]).run().expect_code(0);
    measure();
    measure();
    made.git(&machine, &["checkout", "--quiet", "-b", "side"]);
    let runs = |more: &[&str]| -> Vec<u64> {
        let told = made
            .perfcheck(&machine, &["history", "a"])
            .args(JSON)
            .args(more)
            .run()
            .expect_code(0);
        let points = told.messages("history-point");
        points
            .iter()
            .filter_map(|point| point["run"].as_u64())
            .collect()
    };
    assert_eq!(runs(&[]), [1, 2], "nothing was measured on `side` yet");
    measure();
    assert_eq!(runs(&[]), [3]);
    assert_eq!(runs(&["--branch", "main"]), [1, 2]);
    assert_eq!(runs(&["--all-branches"]), [1, 2, 3]);
    assert_eq!(runs(&["--branch", "gone"]), [0; 0]);
}

#[test]
fn runs_of_another_branch_are_shown_and_are_no_part_of_a_level() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "").into_repository(&machine);
    let measure = |ns| made.measure(&machine, &[], &[("a", ns)]).run();
    measure(150.0).expect_code(0);
    measure(150.0).expect_code(0);
    made.git(&machine, &["checkout", "--quiet", "-b", "side"]);
    measure(60.0).expect_code(0);
    measure(60.0).expect_code(0);
    let words = ["history", "a", "--all-branches"];
    let told = made.perfcheck(&machine, &words).args(JSON).run();
    let told = told.expect_code(0);
    let history = &told.messages("benchmark-history")[0];
    let levels = history["levels"].as_array().expect("levels");
    // The level consists of the two runs of `side`. The geometric mean of all four runs would be 95 ns.
    assert_eq!(levels.len(), 1, "{told}");
    let level = levels[0]["value"].as_f64().expect("a value");
    assert!((level - 60.0).abs() < 1.0, "{told}");
    let points = told.messages("history-point");
    let other = Value::from("other-branch");
    let expected = [
        (150.0, &other),
        (150.0, &other),
        (60.0, &Value::Null),
        (60.0, &Value::Null),
    ];
    assert_eq!(points.len(), expected.len(), "{told}");
    for (point, (ns, why)) in points.iter().zip(expected) {
        let value = point["value"].as_f64().expect("a value");
        assert!((value - ns).abs() < 2.0, "{point}");
        assert_eq!(&point["left_out"]["why"], why, "{point}");
    }
    let text = made.perfcheck(&machine, &words).run().expect_code(0).stdout;
    assert!(
        text.contains("2 runs left out: on a different branch than the newest run"),
        "{text}"
    );
}

#[test]
fn nothing_is_said_of_what_came_since_the_newest_run() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let measure = |more: &[&str]| {
        let run = made.measure(&machine, &["a"], &[]).args(more).run();
        run.expect_code(0)
    };
    let since = || {
        let words = ["history", "a", "--message-format", "json"];
        let told = made.perfcheck(&machine, &words).run().expect_code(0);
        told.messages("benchmark-history")[0]["since_baselines"].clone()
    };
    measure(&[]);
    measure(&["--save-baseline", "here"]);
    assert_eq!(since(), serde_json::json!([]));
    measure(&[]);
    assert_eq!(since()[0]["run"], 2, "{}", since());
}

#[test]
fn runs_that_cannot_be_compared_with_the_newest_are_shown_and_do_not_count() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a 1"], "");
    let measure = || {
        made.perfcheck(&machine, &QUICK)
            .env(CLOCK, "a=100")
            .run()
            .expect_code(0)
    };
    measure();
    made.list(&["a 2"]);
    measure();
    let told = made
        .perfcheck(&machine, &["history", "a"])
        .args(JSON)
        .run()
        .expect_code(0);
    let points = told.messages("history-point");
    assert_eq!(points[0]["left_out"]["why"], "incomparable");
    assert_eq!(
        points[0]["left_out"]["differences"][0]["fact"],
        "benchmark-version"
    );
    assert_eq!(points[0]["value"], Value::Null);
    assert_eq!(points[1]["left_out"], Value::Null);
    let drawn = made
        .perfcheck(&machine, &["history", "a"])
        .run()
        .expect_code(0);
    assert!(
        drawn.stdout.contains("benchmark-version: 1 -> 2"),
        "{drawn}"
    );
    let all = ["history", "a", "--allow-different", "benchmark-version"];
    let told = made
        .perfcheck(&machine, &all)
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(course(&told)["counted"], 2);
}

#[test]
fn creeping_change_shows_against_a_baseline() {
    let machine = Machine::new();
    let levels: Vec<(usize, f64)> = (0..14_u32)
        .map(|run| (1, 100.0 + 0.5 * f64::from(run)))
        .collect();
    runs_at(&machine, &levels);
    stored(&machine, &["baseline", "save", "v1", "1"])
        .run()
        .expect_code(0);
    let told = stored(&machine, &["history", "text"])
        .args(JSON)
        .run()
        .expect_code(0);
    let since = &course(&told)["since_baselines"][0];
    assert_eq!(
        (&since["baseline"], &since["run"]),
        (&"v1".into(), &1.into())
    );
    assert!(
        since["change"]["estimate"].as_f64().expect("a fraction") > 0.02,
        "{since}"
    );
}
