//! Histories and lists that contain both runs that were measured alone and sides of side-by-side measurements.

use crate::against::project::Project;
use crate::commands::scripted::QUICK;
use crate::support::Machine;

#[test]
fn a_base_is_no_reference_and_a_side_is_marked_beside_a_run_measured_alone() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&QUICK).run().expect_code(0);
    project.commit();
    project.takes(200);
    project.measure(&["--against", "HEAD"]).run().expect_code(1);
    for words in [
        &["accept", "2/base"][..],
        &["accept", "cost", "--run", "2/base"],
    ] {
        project
            .perfcheck(words)
            .run()
            .expect_code(2)
            .expect_stderr(&["run 2/base cannot be accepted: it measured an earlier build again"]);
    }
    let compared = project.perfcheck(&["compare", "1", "2"]).run();
    assert!(
        compared
            .stdout
            .contains("run 2 alternated with another build"),
        "{compared}"
    );
    let side_by_side = project.perfcheck(&["compare", "2/base", "2"]).run();
    assert!(
        !side_by_side.stdout.contains("small changes may come from"),
        "{side_by_side}"
    );
    let runs = project.perfcheck(&["store", "runs"]).run().expect_code(0);
    assert!(runs.stdout.contains("2/base"), "{runs}");
    assert!(!runs.stdout.contains("detached"), "{runs}");
    // The values of a history have the scale of run 1. The samples of run 2 have another length than the samples of run 1, so the point of run 2 has
    // no median.
    let history = ["history", "cost", "--message-format", "json"];
    let history = project.perfcheck(&history).run().expect_code(0);
    let points = history.messages("history-point");
    let has_median = |point: &serde_json::Value| point["median"].is_object();
    let medians: Vec<bool> = points.iter().map(has_median).collect();
    assert_eq!(medians, [true, false], "{history}");
}
