//! Removing runs: by a policy, after the plan is shown, or by name.

use perfcheck_store::Store;
use rustix::process::Signal;
use std::time::Duration;

use crate::commands::crates::Crate;
use crate::commands::scripted::{reference_runs, steady, stored};
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

fn runs(machine: &Machine) -> Vec<u64> {
    let listed = stored(machine, &["store", "runs"])
        .args(JSON)
        .run()
        .expect_code(0);
    let runs = listed.messages("run");
    runs.iter().filter_map(|run| run["run"].as_u64()).collect()
}

/// Makes two runs at one level and then two runs at a lower level. The next run would be compared with the last two.
fn four_runs() -> Machine {
    let machine = Machine::new();
    for nanoseconds in [100.0, 100.0, 50.0, 50.0] {
        let run = steady(&machine, &[("text", nanoseconds)]).arg("text").run();
        run.expect_code(0);
    }
    machine
}

#[test]
fn a_plan_removes_nothing_and_yes_removes_what_the_plan_showed() {
    let machine = four_runs();
    let prune = |more: &[&str]| {
        stored(&machine, &["store", "prune", "--keep-last", "2"])
            .args(more)
            .run()
            .expect_code(0)
    };
    let plan = prune(&[]);
    assert!(
        plan.stdout.contains("2 runs (")
            && plan.stdout.contains("would be removed")
            && plan.stdout.contains("`--yes`"),
        "{plan}"
    );
    let told = prune(&JSON);
    let going: Vec<u64> = told
        .messages("run-pruned")
        .iter()
        .filter_map(|run| run["run"].as_u64())
        .collect();
    assert_eq!(going, [2, 1]);
    assert_eq!(told.messages("prune-finished")[0]["executed"], false);
    assert_eq!(runs(&machine), [4, 3, 2, 1]);
    let done = prune(&["--yes"]);
    assert!(done.stdout.contains("2 runs removed, 2 left"), "{done}");
    assert_eq!(runs(&machine), [4, 3]);
    let nothing = prune(&["--yes"]);
    assert!(nothing.stdout.contains("Nothing to remove"), "{nothing}");
    let next = steady(&machine, &[("text", 50.0)])
        .arg("text")
        .args(JSON)
        .run()
        .expect_code(0);
    assert_eq!(reference_runs(&next, "text"), [4, 3]);
}

#[test]
fn what_is_named_and_all_that_the_next_run_rests_on_stay() {
    let machine = four_runs();
    steady(&machine, &[("text", 200.0)])
        .arg("text")
        .run()
        .expect_code(1);
    stored(&machine, &["baseline", "save", "v1", "1"])
        .run()
        .expect_code(0);
    let plan = stored(&machine, &["store", "prune", "--keep-last", "0"])
        .run()
        .expect_code(0);
    for text in [
        "stays: baseline v1",
        "stays: later runs of its branch are compared with it",
    ] {
        assert!(plan.stdout.contains(text), "no {text:?} in {plan}");
    }
    stored(&machine, &["store", "prune", "--keep-last", "0", "--yes"])
        .run()
        .expect_code(0);
    assert_eq!(runs(&machine), [4, 3, 1]);
}

#[test]
fn what_tells_of_the_noise_before_a_level_that_was_accepted_stays_with_it() {
    let machine = Machine::new();
    for _ in 0..3 {
        steady(&machine, &[]).arg("text").run().expect_code(0);
    }
    let slower = || steady(&machine, &[("text", 200.0)]).arg("text").args(JSON);
    slower().run().expect_code(1);
    stored(&machine, &["accept", "4"]).run().expect_code(0);
    let before = slower().run().expect_code(0);
    stored(&machine, &["store", "prune", "--keep-last", "1", "--yes"])
        .run()
        .expect_code(0);
    assert_eq!(runs(&machine), [5, 4, 3, 2, 1]);
    assert_eq!(reference_runs(&before, "text"), [4]);
}

#[test]
fn without_a_rule_nothing_is_planned() {
    let machine = four_runs();
    for words in [&["store", "prune"][..], &["store", "prune", "--yes"]] {
        stored(&machine, words)
            .run()
            .expect_code(2)
            .expect_stderr(&["no rule says which runs to keep", "--keep-last"]);
    }
    assert_eq!(runs(&machine).len(), 4);
}

#[test]
fn runs_are_removed_by_name_unless_a_baseline_has_one_of_them() {
    let machine = four_runs();
    stored(&machine, &["baseline", "save", "v1", "1"])
        .run()
        .expect_code(0);
    stored(&machine, &["store", "remove", "1", "2"])
        .run()
        .expect_code(2)
        .expect_stderr(&["run 1 is the baseline `v1`", "baseline remove"]);
    assert_eq!(runs(&machine).len(), 4, "all or none");
    let removed = stored(&machine, &["store", "remove", "2", "latest"])
        .run()
        .expect_code(0);
    assert!(
        removed.stdout.contains("2 runs removed, 2 left"),
        "{removed}"
    );
    assert_eq!(runs(&machine), [3, 1]);
    stored(&machine, &["store", "remove", "99"])
        .run()
        .expect_code(6);
}

#[test]
fn runs_of_a_branch_that_is_gone_need_not_stay() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "").into_repository(&machine);
    let measure = || made.measure(&machine, &["a"], &[]).run().expect_code(0);
    measure();
    made.git(&machine, &["checkout", "--quiet", "-b", "side"]);
    measure();
    made.git(&machine, &["checkout", "--quiet", "main"]);
    let going = || -> Vec<u64> {
        let plan = made
            .perfcheck(&machine, &["store", "prune", "--keep-last", "0"])
            .args(JSON)
            .run()
            .expect_code(0);
        let runs = plan.messages("run-pruned");
        let going = runs.iter().filter(|run| run["fate"] == "goes");
        going.filter_map(|run| run["run"].as_u64()).collect()
    };
    assert_eq!(going(), [0; 0]);
    made.git(&machine, &["branch", "--quiet", "-D", "side"]);
    assert_eq!(going(), [2]);
}

/// Makes runs large enough that removing them frees visible space. Each is at a lower level than the one before, so the next run is compared only
/// with the last one.
fn large_runs(machine: &Machine) {
    for nanoseconds in [800.0, 400.0, 200.0, 100.0, 50.0] {
        steady(machine, &[("text", nanoseconds)])
            .args(["text", "--samples", "4000"])
            .run()
            .expect_code(0);
    }
}

#[test]
fn the_file_is_smaller_afterwards_and_whole() {
    let machine = Machine::new();
    large_runs(&machine);
    let size = || {
        std::fs::metadata(machine.store())
            .expect("it is there")
            .len()
    };
    let before = size();
    let done = stored(&machine, &["store", "prune", "--keep-last", "1", "--yes"])
        .args(JSON)
        .run()
        .expect_code(0);
    let finished = &done.messages("prune-finished")[0];
    assert_eq!(
        (&finished["removed"], &finished["executed"]),
        (&4.into(), &true.into())
    );
    assert!(
        finished["freed_bytes"].as_u64().expect("bytes") > 0,
        "{finished}"
    );
    assert!(size() < before, "{before} bytes became {}", size());
    stored(&machine, &["show", "5"]).run().expect_code(0);
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_store_with_all_or_none_of_the_runs() {
    let machine = Machine::new();
    large_runs(&machine);
    let original = std::fs::read(machine.store()).expect("it is there");
    for milliseconds in [0, 10, 20, 40, 80, 160] {
        for suffix in ["-wal", "-shm"] {
            let beside = format!("{}{suffix}", machine.store().display());
            let _ = std::fs::remove_file(beside);
        }
        std::fs::write(machine.store(), &original).expect("written");
        let running = stored(&machine, &["store", "prune", "--keep-last", "2", "--yes"]).start();
        std::thread::sleep(Duration::from_millis(milliseconds));
        running.signal(Signal::KILL);
        drop(running.finish());
        let store = Store::open(&machine.store()).expect("it opens");
        store.check().expect("it is whole");
        drop(store);
        let left = runs(&machine);
        assert!(
            left.len() == 5 || left == [5, 4],
            "{left:?} after {milliseconds} ms"
        );
    }
}
