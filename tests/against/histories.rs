//! `history` of runs that were measured in turn with earlier builds: one scale, whatever the machine did meanwhile.

use serde_json::Value;

use crate::against::project::Project;
use crate::commands::scripted::{CLOCK, QUICK, finish, script};
use crate::support::{Finished, Machine};

/// The history of `cost`: its points and its levels.
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

/// Another function that nobody calls, and that stays in the executable.
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
    // It is found with the first run that has it, and has the interval of that measurement.
    assert_eq!(levels[1]["first_run"], finish(&slower)["run"]);
    let change = &levels[1]["step"]["change"];
    let of = |name: &str| change[name].as_f64().expect("a number");
    assert!((of("estimate") - 0.20).abs() < 0.01, "{change}");
    assert!(
        of("lower") < of("estimate") && of("estimate") < of("upper"),
        "{change}"
    );
    // The same again is the same level, and the way back another step.
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
fn a_machine_that_became_slower_is_no_step() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    // By this clock both sides take as long as the machine lets them, whatever their code says.
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
