//! `explain` and `show --stats` for two builds that were measured side by side.

use serde_json::Value;

use crate::against::project::{Project, compared};
use crate::commands::scripted::{about, explanation, says};
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

#[track_caller]
fn explain(project: &Project<'_>, words: &[&str]) -> Value {
    let run = project.perfcheck(&["explain"]).args(words).args(JSON).run();
    explanation(&run.expect_code(0))
}

#[test]
fn an_ab_verdict_is_explained_from_its_plan_and_its_rounds() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(120);
    // Measure both benchmarks, also the unchanged one, so that the two share the significance level.
    let run = project
        .measure(&["--against", "HEAD", "--measure-identical"])
        .run()
        .expect_code(1);
    let of_run = compared(&run, "cost");
    let told = explain(&project, &["cost"]);
    assert_eq!(
        (&told["run"], &told["verdict"]),
        (&1.into(), &"regressed".into())
    );
    assert_eq!(told["decided_by"], "paired");
    let interval = about(&told, "interval")["numbers"].clone();
    assert_eq!(interval["change"], of_run["change"]);
    assert_eq!(interval["adjusted_p_slower"], of_run["p_value"]);
    assert_eq!(interval["family"], 2);
    let look = about(&told, "look")["numbers"].clone();
    assert_eq!(look["rounds"], of_run["paired"]["rounds"]);
    assert_eq!(look["stopped_early"], of_run["paired"]["stopped_early"]);
    let share = look["share"].as_f64().expect("a share");
    let level = interval["level_slower"].as_f64().expect("a level");
    // The significance level is 1 %, and the speed test gets 80 % of it. Holm's procedure has two steps here, and its first step gets half of that.
    // This look may spend the fraction `share` of the result.
    assert!((level - 0.01 * 0.8 / 2.0 * share).abs() < 1e-12, "{told}");
    says(
        &told,
        "measured",
        &["measured side by side", "run 1/base of ", "run 1 of "],
    );
    says(
        &told,
        "decision",
        &["lower bound", "The verdict is regressed"],
    );
    says(&told, "slow-path", &["Another test checks"]);
    says(&told, "otherwise", &["would not have been `regressed`"]);
    let same = explain(&project, &["constant"]);
    assert_eq!(same["verdict"], "unchanged");
    says(
        &same,
        "decision",
        &["neither side seems to have slow samples"],
    );
    // The base run has no verdict of its own, so `explain` explains the verdict of the pair.
    assert_eq!(explain(&project, &["cost", "--run", "1/base"]), told);
    let shown = project
        .perfcheck(&["show", "1", "--stats"])
        .args(JSON)
        .run();
    let statistics = shown.messages("benchmark-statistics");
    let cost = statistics
        .iter()
        .find(|message| message["benchmark"]["id"] == "cost")
        .expect("measured");
    assert_eq!(cost["p_value"], of_run["p_value"], "{shown}");
    let text = project
        .perfcheck(&["explain", "cost", "--full"])
        .run()
        .expect_code(0);
    for line in text.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line:?} is too long");
    }
}

#[test]
fn executables_that_are_the_same_and_benchmarks_of_one_side_are_explained_without_rounds() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&["--against", "HEAD"]).run().expect_code(0);
    let told = explain(&project, &["cost"]);
    assert_eq!(told["verdict"], "unchanged");
    says(&told, "decision", &["byte for byte"]);
    says(&told, "otherwise", &["--measure-identical"]);
    project.benchmarks(r#"suite.bench("other", |b| takes(b, 50));"#);
    // No benchmark exists on both sides.
    project.measure(&["--against", "HEAD"]).run().expect_code(6);
    let told = explain(&project, &["other"]);
    assert_eq!(told["verdict"], "new");
    says(&told, "otherwise", &["--benches-from worktree"]);
    assert_eq!(explain(&project, &["cost"])["verdict"], "missing");
}
