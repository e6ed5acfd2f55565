//! What looks slower than a stored run is measured again in turn with it: confirmed, or refuted.

use crate::against::project::{Project, TWO, compared, remarks, store_faster};
use crate::commands::scripted::{QUICK, finish, verdict};
use crate::support::Machine;

#[test]
fn a_hit_that_is_really_slower_is_confirmed() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&QUICK).run().expect_code(0);
    project.takes(200);
    let run = project
        .measure(&QUICK)
        .run()
        .expect_code(1)
        .expect_stderr(&["Confirming", "run 1"]);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(&run, "constant"), "unchanged", "{run}");
    let said = remarks(&run, "cost");
    assert!(
        said.contains("confirmed by measuring both in turn"),
        "{said}"
    );
    assert!(!said.contains("not confirmed"), "{said}");
    assert!(compared(&run, "cost")["seconds"].is_number(), "{run}");
    assert!(!remarks(&run, "constant").contains("in turn"), "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);
    // What was not accepted is still no reference.
    let again = project.measure(&QUICK).run().expect_code(1);
    assert_eq!(verdict(&again, "cost"), "regressed", "{again}");
}

#[test]
fn a_hit_that_only_the_stored_run_was_faster_for_is_refuted() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    store_faster(&project);
    let run = project.measure(&QUICK).run().expect_code(0);
    assert_eq!(verdict(&run, "cost"), "unchanged", "{run}");
    let said = remarks(&run, "cost");
    assert!(said.contains("the stored numbers said regressed"), "{said}");
    assert!(said.contains("byte for byte"), "{said}");
    assert_eq!(finish(&run)["exit_code"], 0);
}

#[test]
fn a_hit_is_refuted_by_measuring_where_the_executables_differ() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    store_faster(&project);
    // Another constant takes no other time.
    project.benchmarks(&format!("std::hint::black_box(4711_u64);\n{TWO}"));
    let run = project
        .measure(&QUICK)
        .run()
        .expect_code(0)
        .expect_stderr(&["Confirming"]);
    assert_eq!(verdict(&run, "cost"), "unchanged", "{run}");
    let said = remarks(&run, "cost");
    assert!(said.contains("refuted by measuring both in turn"), "{said}");
}

#[test]
fn confirming_is_left_out_where_the_user_wants_stored_numbers_alone() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure(&QUICK).run().expect_code(0);
    project.takes(200);
    for flag in ["--no-rerun", "--ignore-drift"] {
        let run = project.measure(&QUICK).arg(flag).run().expect_code(1);
        assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
        assert!(!run.stderr.contains("Confirming"), "{run}");
        assert!(!remarks(&run, "cost").contains("in turn"), "{run}");
    }
}
