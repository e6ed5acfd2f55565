//! `history` of side-by-side runs: all values are on one scale, even if the speed of the machine changes between the runs.

use serde_json::Value;

use crate::against::project::Project;
use crate::commands::scripted::{CLOCK, QUICK, finish, script};
use crate::support::{Finished, Machine};

/// Returns the points and the levels of the history of `cost`.
fn history(project: &Project<'_>) -> (Vec<Value>, Vec<Value>) {
    let run = project
        .perfcheck(&["history", "cost", "--message-format", "json"])
        .run()
        .expect_code(0);
    let of = |finished: &Finished, reason: &str| finished.messages(reason);
    let levels = of(&run, "benchmark-history")[0]["levels"].clone();
    (
        of(&run, "history-point"),
        levels.as_array().expect("levels").clone(),
    )
}

/// Sets the time of `cost`, and adds an unused function, so that the executable changes even if the time does not.
fn edit(project: &Project<'_>, nanoseconds: u64, number: u32) {
    project.write(
        "src/lib.rs",
        &format!(
            "pub const NANOSECONDS: u64 = {nanoseconds};\n#[unsafe(no_mangle)]\npub extern \"C\" fn dead_{number}() -> u32 {{ {number} }}\n"
        ),
    );
}

#[test]
fn a_history_has_every_run_and_one_step_where_the_code_became_slower() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&QUICK).run().expect_code(0);
    for number in 0..3 {
        edit(&project, 100, number);
        project.measure(&[]).run().expect_code(0);
    }
    edit(&project, 120, 3);
    let slower = project.measure(&[]).run().expect_code(1);
    let (points, levels) = history(&project);
    assert_eq!(points.len(), 5, "{points:#?}");
    assert_eq!(levels.len(), 2, "{levels:#?}");
    // The step is found at the first run after the change, with the interval of that run's measurement.
    assert_eq!(levels[1]["first_run"], finish(&slower)["run"]);
    let change = &levels[1]["step"]["change"];
    let of = |name: &str| change[name].as_f64().expect("a number");
    assert!((of("estimate") - 0.20).abs() < 0.01, "{change}");
    assert!(
        of("lower") < of("estimate") && of("estimate") < of("upper"),
        "{change}"
    );
    // Measuring the same code again continues the level. Undoing the change is another step.
    project.measure(&[]).run().expect_code(1);
    assert_eq!(history(&project).1.len(), 2);
    edit(&project, 100, 4);
    project.measure(&[]).run().expect_code(0);
    let (points, levels) = history(&project);
    assert_eq!((points.len(), levels.len()), (7, 3), "{levels:#?}");
    let back = levels[2]["step"]["change"]["estimate"]
        .as_f64()
        .expect("a number");
    assert!((back + 1.0 / 6.0).abs() < 0.01, "{back}");
}

#[test]
fn runs_that_hang_from_one_with_few_samples_have_values_beside_one_with_many() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let alone = |samples: &str| {
        let words = ["--no-rerun", "--samples", samples];
        project.measure(&words).args(QUICK).run().expect_code(0);
    };
    project
        .measure(&QUICK)
        .args(["--samples", "10"])
        .run()
        .expect_code(0);
    edit(&project, 100, 1);
    alone("100");
    edit(&project, 120, 2);
    project.measure(&["--baseline", "1"]).run().expect_code(1);
    let (points, _) = history(&project);
    let values: Vec<f64> = points
        .iter()
        .filter_map(|point| point["value"].as_f64())
        .collect();
    assert_eq!(values.len(), 3, "{points:#?}");
    assert!((values[2] / values[0] - 1.2).abs() < 0.01, "{values:?}");
}

#[test]
fn the_overview_counts_runs_that_were_asked_for_and_draws_those_of_one_branch() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let overview = || {
        let words = ["history", "--message-format", "json"];
        let run = project.perfcheck(&words).run().expect_code(0);
        let mut lines = run.messages("benchmark").into_iter();
        let cost = lines.find(|line| line["benchmark"]["id"] == "cost");
        let cost = cost.expect("it was measured");
        let drawn = cost["last_values_ns"].as_array().expect("values").len();
        (cost["runs"].clone(), drawn, cost["verdict"].clone())
    };
    project.measure(&QUICK).run().expect_code(0);
    edit(&project, 200, 1);
    project.measure(&[]).run().expect_code(1);
    assert_eq!(overview(), (2.into(), 2, "regressed".into()));
    project.git(&["switch", "-q", "-c", "topic"]);
    edit(&project, 100, 2);
    project
        .measure(&["--no-rerun"])
        .args(QUICK)
        .run()
        .expect_code(0);
    let (runs, drawn, _) = overview();
    assert_eq!((runs, drawn), (3.into(), 1));
}

#[test]
fn a_machine_that_became_slower_is_no_step() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    // Under this scripted clock, the time of both sides depends only on the machine, not on their code.
    let measure = |machine_ns: f64, number: u32| {
        edit(&project, 100 + u64::from(number), number);
        let clock = script(&["cost", "constant"], &[("cost", machine_ns)]);
        let run = project.measure(&[]).env(CLOCK, clock);
        run.run().expect_code(0)
    };
    measure(100.0, 0);
    measure(100.0, 1);
    measure(250.0, 2);
    measure(250.0, 3);
    let (points, levels) = history(&project);
    assert_eq!((points.len(), levels.len()), (4, 1), "{points:#?}");
}

#[test]
fn the_overview_has_the_newest_verdict_also_of_what_ran_the_same_code() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&QUICK).run().expect_code(0);
    let same = project.measure(&[]).run().expect_code(0);
    let overview = project.perfcheck(&["history", "--message-format", "json"]);
    let overview = overview.run().expect_code(0);
    for line in overview.messages("benchmark") {
        assert_eq!(line["last_run"], finish(&same)["run"], "{line}");
        assert_eq!(line["verdict"], "unchanged", "{line}");
        assert_eq!(line["change"], Value::Null, "{line}");
        assert!(line["typical_ns"].is_number(), "{line}");
    }
    assert_eq!(overview.messages("benchmark").len(), 2);
}

#[test]
fn runs_of_another_branch_take_no_place_among_the_newest_of_a_branch() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let branch = project.git(&["branch", "--show-current"]);
    project.measure(&QUICK).run().expect_code(0);
    project.measure(&[]).run().expect_code(0);
    project.git(&["switch", "--quiet", "--create", "topic"]);
    for _ in 0..2 {
        project.measure(&[]).run().expect_code(0);
    }
    let words = ["history", "cost", "--message-format", "json", "--last", "2"];
    let history = project
        .perfcheck(&[&words[..], &["--branch", branch.trim()]].concat())
        .run()
        .expect_code(0);
    let points = history.messages("history-point");
    let runs: Vec<&Value> = points.iter().map(|point| &point["run"]).collect();
    assert_eq!(runs, [1, 2], "{history}");
}
