//! `--against REV`: its verdicts, the stored runs, and files that must not change.

use serde_json::Value;

use crate::against::project::{Project, TWO, compared, remarks};
use crate::commands::scripted::{finish, verdict, verdicts};
use crate::support::Machine;

#[test]
fn the_same_sources_are_the_same_executable_and_nothing_is_measured_unless_it_is_asked_for() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let same = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    for id in ["cost", "constant"] {
        let said = compared(&same, id);
        assert_eq!(said["verdict"], "unchanged", "{same}");
        assert_eq!(said["seconds"], Value::Null, "{same}");
        assert!(remarks(&same, id).contains("byte for byte"), "{same}");
    }
    assert_eq!(same.messages("benchmark-measured").len(), 0, "{same}");
    let control = project
        .measure(&["--against", "HEAD", "--measure-identical"])
        .run()
        .expect_code(0);
    for id in ["cost", "constant"] {
        let said = compared(&control, id);
        assert_eq!(said["verdict"], "unchanged", "{control}");
        assert!(said["seconds"].is_number(), "{control}");
    }
    assert_eq!(control.messages("benchmark-measured").len(), 2, "{control}");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn what_was_built_is_used_and_a_switch_of_states_compiles_only_what_differs() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let compiled = |words: &[&str]| {
        let run = project.measure(words).run();
        let lines = run.stderr.lines().map(str::trim_start);
        lines
            .filter(|line| line.starts_with("Compiling planted"))
            .count()
    };
    assert_eq!(compiled(&[]), 1);
    // HEAD is already built: it was the work tree before the edit.
    project.takes(200);
    let filtered = ["--against", "HEAD", "cost"];
    assert_eq!(compiled(&filtered), 1);
    assert_eq!(compiled(&filtered), 0);
    project.commit();
    assert_eq!(compiled(&["--against", "HEAD~1", "cost"]), 0);
    // Undo an edit and make it again. Builds of both states are in the cache by then, so only the first build of a state compiles.
    project.takes(300);
    assert_eq!(compiled(&filtered), 1);
    project.takes(200);
    assert_eq!(compiled(&filtered), 0);
    project.takes(300);
    assert_eq!(compiled(&["--against", "HEAD~1", "cost"]), 0);
}

#[test]
fn a_slower_work_tree_has_regressed_and_the_stored_runs_say_it_again_byte_for_byte() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(200);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    let said = compared(&run, "cost");
    assert_eq!(verdict(&run, "constant"), "unchanged", "{run}");
    assert_eq!(said["verdict"], "regressed", "{run}");
    assert_eq!(said["decided_by"], "paired");
    assert!(said["seconds"].as_f64().expect("a number") > 0.0, "{run}");
    for side in ["candidate", "base"] {
        assert!(said["processes"][side].as_u64().expect("a count") >= 5);
    }
    let change = |name: &str| said["change"][name].as_f64().expect("a number");
    assert!((change("estimate") - 1.0).abs() < 0.01, "{run}");
    assert!(change("lower") <= change("estimate") && change("estimate") <= change("upper"));

    let new = said["run"].to_string();
    let base = said["reference_runs"][0].to_string();
    let again = || {
        let words = ["compare", &base, &new, "--message-format", "json"];
        project.perfcheck(&words).run().expect_code(1)
    };
    let (first, second) = (again(), again());
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(verdicts(&first), verdicts(&run));
    for id in ["cost", "constant"] {
        let (then, now) = (compared(&run, id), compared(&first, id));
        for member in ["change", "p_value", "processes", "decided_by"] {
            assert_eq!(then[member], now[member], "{member} of {id}");
        }
    }
    project
        .perfcheck(&["compare", &new, &base])
        .run()
        .expect_code(2)
        .expect_stderr(&[&format!("compare {new}/base {new}")]);
    let runs = project
        .perfcheck(&["store", "runs", "--message-format", "json"])
        .run()
        .expect_code(0)
        .messages("run");
    let numbers: Vec<String> = runs.iter().map(|run| run["run"].to_string()).collect();
    assert_eq!(numbers.len(), 2);
    assert!(numbers.contains(&base) && numbers.contains(&new));
    assert!(runs.iter().all(|run| run["status"] == "complete"));
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_faster_work_tree_has_improved() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(60);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    assert_eq!(verdict(&run, "cost"), "improved", "{run}");
    assert_eq!(finish(&run)["verdicts"]["improved"], 1);
}

#[test]
fn checkout_index_stashes_and_target_directory_are_left_as_they_are() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(120);
    project.git(&["stash"]);
    project.takes(150);
    project.write("staged.txt", "staged\n");
    project.git(&["add", "staged.txt"]);
    project.write("target/debug/something", "of an earlier build\n");
    project.write("untracked.txt", "neither\n");
    project.git(&["status"]);
    let before = project.state();
    let run = project
        .measure_in_layouts(&["--against", "HEAD"])
        .run()
        .expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    // Ignore `Cargo.lock`: cargo creates it if it is missing.
    let mut after = project.state();
    after.retain(|line| before.contains(line) || !line.contains("Cargo.lock"));
    assert_eq!(before, after);
}

#[test]
fn a_filter_that_matches_nothing_is_told_before_the_base_is_built() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(200);
    let run = project
        .measure(&["--against", "HEAD", "nothing_like_it"])
        .run()
        .expect_code(4)
        .expect_stderr(&[
            "Building the work tree",
            "no benchmark whose id contains `nothing_like_it`",
        ]);
    assert!(!run.stderr.contains("Building `HEAD`"), "{run}");
    assert!(!machine.store().exists(), "nothing was measured");
    // `list` does not build the base.
    let listed = project
        .perfcheck(&["list", "--offline", "--message-format", "json"])
        .run()
        .expect_code(0);
    assert_eq!(listed.messages("benchmark-found").len(), 2, "{listed}");
    assert!(!listed.stderr.contains("Building `HEAD`"), "{listed}");
    // With one known and one unknown target name, neither side is built.
    let unknown = ["--bench", "costs", "--bench", "csots"];
    let misspelt = project.measure(&["--against", "HEAD"]).args(unknown).run();
    let misspelt = misspelt.expect_code(2);
    let misspelt = misspelt.expect_stderr(&["no bench target `csots`"]);
    assert!(!misspelt.stderr.contains("Building"), "{misspelt}");
    let compared = project
        .measure(&["--against", "HEAD", "cost"])
        .run()
        .expect_code(1);
    assert!(compared.stderr.contains("Building `HEAD`"), "{compared}");
}

#[test]
fn each_side_is_listed_once_where_a_filter_is_checked_first() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let walks = machine.home().join("walks");
    let note = format!(
        "use std::io::Write;
         let walks = std::fs::File::options().create(true).append(true).open({walks:?});
         walks.unwrap().write_all(b\"walked\\n\").unwrap();"
    );
    project.benchmarks(&format!("{note}{TWO}"));
    project.commit();
    // Both sides are the same, so nothing is measured. The only processes are those that list benchmarks.
    let run = project.measure(&["--against", "HEAD", "cost"]).run();
    assert_eq!(verdict(&run, "cost"), "unchanged", "{run}");
    let walks = std::fs::read_to_string(walks).expect("it was walked through");
    assert_eq!(walks, "walked\n".repeat(2), "{run}");
}

#[test]
fn a_side_that_was_built_before_is_said_to_have_been_and_has_no_time() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(200);
    let lines = || {
        let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
        let lines = run.stderr.lines().filter(|line| line.contains("`HEAD`"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let first = lines();
    let ready = first.last().expect("a line");
    assert!(
        ready.contains("Ready `HEAD`") && ready.contains(", built in ") && ready.ends_with(" s"),
        "{first:?}"
    );
    let second = lines();
    assert!(
        second
            .iter()
            .any(|line| line.contains("Fresh `HEAD`") && line.ends_with("(already built)")),
        "{second:?}"
    );
    assert!(
        !second.iter().any(|line| line.contains("Ready")),
        "{second:?}"
    );
}
