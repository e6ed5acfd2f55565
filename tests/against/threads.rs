//! Comparisons of side-by-side measurements give the same output for any number of threads.

use crate::against::project::{Project, compared};
use crate::support::Machine;

#[test]
fn b15_runs_measured_side_by_side_give_the_same_bytes_with_1_2_and_8_threads() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(103);
    let run = project
        .measure(&["--against", "HEAD", "--fail-on", "none"])
        .run()
        .expect_code(0);
    let said = compared(&run, "cost");
    let (base, new) = (
        said["reference_runs"][0].to_string(),
        said["run"].to_string(),
    );
    for words in [
        &["compare", &base, &new, "--fail-on", "none"][..],
        &["show", &new, "--stats"],
        &["explain", "cost"],
    ] {
        let with = |threads: &str| {
            let command = project.perfcheck(words);
            let command = command.args(["--message-format", "json"]);
            let command = command.env("RAYON_NUM_THREADS", threads);
            command.run().expect_code(0).stdout
        };
        let one = with("1");
        assert!(one.contains("cost"), "{one}");
        for threads in ["2", "8"] {
            assert!(one == with(threads), "{words:?} with {threads} threads");
        }
    }
}
