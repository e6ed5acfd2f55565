//! Histories in git repositories: branches, work trees, moved clones.

use serde_json::Value;
use std::fs;

use crate::commands::crates::Crate;
use crate::commands::scripted::{finish, reference_runs, verdict};
use crate::support::{Finished, Machine};

/// Creates a repository with one benchmark, `a`.
fn repository(machine: &Machine) -> Crate {
    Crate::of(machine, &["a"], "").into_repository(machine)
}

/// Measures `a` with a scripted time of `ns` nanoseconds.
fn measure(machine: &Machine, made: &Crate, ns: f64) -> Finished {
    made.measure(machine, &[], &[("a", ns)]).run()
}

fn runs(machine: &Machine, made: &Crate) -> Vec<Value> {
    made.perfcheck(machine, &["store", "runs", "--message-format", "json"])
        .run()
        .expect_code(0)
        .messages("run")
}

#[test]
fn a_branch_is_compared_with_its_own_runs_and_first_with_the_branch_it_forked_from() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    made.git(&machine, &["switch", "--quiet", "--create", "topic"]);
    made.commit(&machine);
    let first = measure(&machine, &made, 200.0).expect_code(1);
    assert_eq!(reference_runs(&first, "a"), [1]);
    assert_eq!(
        finish(&first)["reference"],
        "the last accepted run of `main`, which this branch forked from"
    );
    made.perfcheck(&machine, &["accept", "latest"])
        .run()
        .expect_code(0);
    let second = measure(&machine, &made, 200.0).expect_code(0);
    assert_eq!(reference_runs(&second, "a"), [2]);
    assert_eq!(
        finish(&second)["reference"],
        "the last accepted run of `topic`"
    );
    // Accepting a run of the topic branch does not affect `main`.
    made.git(&machine, &["switch", "--quiet", "main"]);
    let main = measure(&machine, &made, 100.0).expect_code(0);
    assert_eq!(reference_runs(&main, "a"), [1]);
}

#[test]
fn a_branch_is_compared_with_the_state_that_it_forked_from_not_with_what_came_later() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    made.git(&machine, &["branch", "topic"]);
    made.commit(&machine);
    let faster = measure(&machine, &made, 50.0).expect_code(0);
    assert_eq!(verdict(&faster, "a"), "improved");
    made.git(&machine, &["switch", "--quiet", "topic"]);
    made.commit(&machine);
    let topic = measure(&machine, &made, 100.0).expect_code(0);
    assert_eq!(reference_runs(&topic, "a"), [1], "{topic}");
}

#[test]
fn of_several_branches_the_nearest_one_counts() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    made.git(&machine, &["switch", "--quiet", "--create", "next"]);
    made.commit(&machine);
    measure(&machine, &made, 200.0).expect_code(1);
    made.perfcheck(&machine, &["accept", "2"])
        .run()
        .expect_code(0);
    made.git(&machine, &["switch", "--quiet", "--create", "topic"]);
    made.commit(&machine);
    let topic = measure(&machine, &made, 200.0).expect_code(0);
    assert_eq!(reference_runs(&topic, "a"), [2]);
}

#[test]
fn commit_branch_and_changes_that_are_not_committed_are_stored() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    made.list(&["a", "b"]);
    made.measure(&machine, &["a", "b"], &[])
        .run()
        .expect_code(0);
    let head = made.commit(&machine);
    fs::write(made.root.join("untracked"), "").expect("written");
    measure(&machine, &made, 100.0).expect_code(0);
    let stored = runs(&machine, &made);
    let dirty: Vec<&Value> = stored.iter().map(|run| &run["git"]["dirty"]).collect();
    assert_eq!(dirty, [&Value::from(false), &true.into(), &false.into()]);
    assert!(stored.iter().all(|run| run["git"]["branch"] == "main"));
    assert_eq!(stored[0]["git"]["commit"], head.as_str());
    assert_ne!(stored[1]["git"]["commit"], head.as_str());
    let table = made
        .perfcheck(&machine, &["store", "runs"])
        .run()
        .expect_code(0);
    assert!(table.stdout.contains(", modified  main "), "{table}");
}

#[test]
fn a_detached_head_has_no_branch_unless_the_ci_system_names_it() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    made.git(&machine, &["switch", "--quiet", "--detach"]);
    let detached = measure(&machine, &made, 200.0).expect_code(1);
    assert_eq!(
        reference_runs(&detached, "a"),
        [1],
        "of the branch that HEAD left"
    );
    let named = made
        .measure(&machine, &[], &[("a", 200.0)])
        .env("GITHUB_REF_NAME", "main")
        .run()
        .expect_code(1);
    assert_eq!(
        finish(&named)["reference"],
        "the last accepted run of `main`"
    );
    let branches: Vec<Value> = runs(&machine, &made)
        .iter()
        .map(|run| run["git"]["branch"].clone())
        .collect();
    assert_eq!(branches, ["main".into(), Value::Null, "main".into()]);
    let table = made
        .perfcheck(&machine, &["store", "runs"])
        .run()
        .expect_code(0);
    assert!(table.stdout.contains("(detached)"), "{table}");
}

#[test]
fn a_repository_without_a_commit_and_a_directory_without_one_have_no_git_facts() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    measure(&machine, &made, 100.0).expect_code(0);
    assert_eq!(runs(&machine, &made)[0]["git"], Value::Null);
    made.git(&machine, &["init", "--quiet"]);
    measure(&machine, &made, 100.0).expect_code(0);
    assert_eq!(runs(&machine, &made)[0]["git"], Value::Null);
    // After the first commit, benchmarks still have their earlier reference.
    made.commit(&machine);
    let run = measure(&machine, &made, 200.0).expect_code(1);
    assert_eq!(reference_runs(&run, "a"), [2]);
    let words = finish(&run)["reference"].clone();
    assert_eq!(words, "the last accepted run from before the first commit");
}

#[test]
fn a_second_work_tree_has_the_same_history() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    let other = machine.home().join("other");
    let path = other.to_str().expect("text");
    made.git(
        &machine,
        &["worktree", "add", "--quiet", "-b", "topic", path],
    );
    let other = Crate { root: other };
    let run = measure(&machine, &other, 200.0).expect_code(1);
    assert_eq!(reference_runs(&run, "a"), [1]);
    assert_eq!(runs(&machine, &made).len(), 2);
    assert_eq!(runs(&machine, &other).len(), 2);
}

#[test]
fn two_packages_of_one_repository_have_histories_of_their_own() {
    let machine = Machine::new();
    let made = repository(&machine);
    measure(&machine, &made, 100.0).expect_code(0);
    let inner = Crate::write(made.root.join("tools/inner"), &["a"], "");
    let run = measure(&machine, &inner, 200.0).expect_code(0);
    assert_eq!(verdict(&run, "a"), "new");
    assert_eq!(runs(&machine, &made).len(), 1);
    // Run numbers of the other package are not accepted here.
    inner
        .perfcheck(&machine, &["show", "1"])
        .run()
        .expect_code(6);
    inner
        .perfcheck(&machine, &["show", "2"])
        .run()
        .expect_code(0);
}

#[test]
fn a_clone_that_moved_finds_its_runs_again_by_adopting_them() {
    let machine = Machine::new();
    let made = repository(&machine);
    made.measure(&machine, &[], &[("a", 100.0)])
        .args(["--save-baseline", "kept"])
        .run()
        .expect_code(0);
    let old = made.root.clone();
    let moved = Crate {
        root: machine.home().join("moved"),
    };
    fs::rename(&old, &moved.root).expect("moved");
    moved
        .perfcheck(&machine, &["show"])
        .run()
        .expect_code(6)
        .expect_stderr(&["store adopt"]);
    let known = moved
        .perfcheck(&machine, &["store", "adopt", "--message-format", "json"])
        .run()
        .expect_code(0)
        .messages("workspace");
    assert_eq!(known.len(), 1);
    assert_eq!(
        (&known[0]["runs"], &known[0]["own"]),
        (&1.into(), &false.into())
    );
    let label = known[0]["label"].as_str().expect("a path");
    assert!(label.ends_with("listed"), "where it was last seen: {label}");
    moved
        .perfcheck(&machine, &["store", "adopt", "no-such-workspace"])
        .run()
        .expect_code(2)
        .expect_stderr(&["`no-such-workspace`", "store adopt"]);
    moved
        .perfcheck(&machine, &["store", "adopt", label])
        .run()
        .expect_code(0)
        .expect_stderr(&["Adopted 1 run", "1 baseline"]);
    let run = moved
        .measure(&machine, &[], &[("a", 200.0)])
        .args(["--baseline", "kept"])
        .run()
        .expect_code(1);
    assert_eq!(reference_runs(&run, "a"), [1]);
    moved
        .perfcheck(&machine, &["store", "adopt", label])
        .run()
        .expect_code(2);
}

#[test]
fn in_a_git_hook_the_history_is_the_same() {
    let machine = Machine::new();
    let made = repository(&machine);
    let inner = Crate::write(made.root.join("tools/inner"), &["a"], "");
    made.commit(&machine);
    measure(&machine, &inner, 100.0).expect_code(0);
    let in_hook = inner
        .measure(&machine, &[], &[("a", 200.0)])
        .env("GIT_DIR", ".git")
        .env("GIT_INDEX_FILE", ".git/index")
        .run()
        .expect_code(1);
    assert_eq!(reference_runs(&in_hook, "a"), [1]);
    assert_eq!(finish(&in_hook)["git"]["dirty"], false);
}

#[test]
fn a_path_with_a_line_end_is_a_path() {
    let machine = Machine::new();
    let root = machine.home().join("two\nlines\n");
    let made = Crate::write(root, &["a"], "").into_repository(&machine);
    let against = ["--against", "HEAD", "--offline", "--rounds", "5"];
    made.perfcheck(&machine, &against)
        .env_remove("PERFCHECK_NO_RERUN")
        .args(["--message-format", "json", "--seed", "7"])
        .run()
        .expect_code(0);
    let commit = made.git(&machine, &["rev-parse", "HEAD"]).stdout;
    for run in runs(&machine, &made) {
        assert_eq!(run["git"]["commit"], commit.trim(), "{run}");
    }
}
