//! The quota of kept executables: a plan that can be shown, and its execution.

use std::fs;
use std::path::Path;

use perfcheck_analysis::model::{KeptTarget, RunId};
use perfcheck_engine::store::{KeptError, Reason, Removal, Store, StoreError};
use tempfile::TempDir;

use crate::store::builders::fresh;
use crate::store::kept::{contents, extract, files, keeping, target};

/// An executable of about this size when compressed, different for every salt.
fn incompressible(directory: &Path, kilobytes: usize, salt: u64) -> KeptTarget {
    let mut state = salt.wrapping_mul(2).wrapping_add(1);
    let bytes: Vec<u8> = (0..kilobytes * 1024)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect();
    let path = directory.join(format!("bench-{salt}"));
    fs::write(&path, bytes).expect("writes");
    target(&path)
}

/// A store with runs of one executable of 100 kB each.
fn filled(runs: u64) -> (TempDir, Store, Vec<RunId>) {
    let (directory, mut store, _) = fresh();
    let runs = (0..runs)
        .map(|salt| keeping(&mut store, &[incompressible(directory.path(), 100, salt)]).0)
        .collect();
    (directory, store, runs)
}

fn name(store: &mut Store, name: &str, run: RunId) {
    let workspace = store.workspace("key", "/project").expect("workspace");
    store
        .set_baseline(workspace, name, run)
        .expect("names the run");
}

fn runs_of(removals: &[Removal]) -> Vec<RunId> {
    removals.iter().map(|removal| removal.run).collect()
}

/// Compressed bytes in the directory of contents.
fn bytes(store: &Store) -> u64 {
    let directory = contents(store.path());
    files(store.path())
        .iter()
        .map(|name| fs::metadata(directory.join(name)).expect("there").len())
        .sum()
}

#[test]
fn within_the_quota_nothing_goes() {
    let (_directory, mut store, _) = filled(2);
    let stored = bytes(&store);
    let plan = store.plan_removal(stored, Reason::Unnamed).expect("plans");
    assert!(plan.is_empty(), "{plan:?}");
    assert_eq!((plan.stored_bytes, plan.remaining_bytes), (stored, stored));
    let summary = store.execute(&plan).expect("executes");
    assert_eq!((summary.removed.len(), summary.freed_bytes), (0, 0));
    assert_eq!(bytes(&store), stored);
}

#[test]
fn the_oldest_executables_go_first_and_runs_with_a_name_keep_theirs() {
    let (directory, mut store, runs) = filled(5);
    name(&mut store, "main", runs[0]);
    name(&mut store, "release", runs[3]);
    let each = bytes(&store) / 5;
    // Room for three.
    let quota = 3 * each + each / 2;
    let plan = store.plan_removal(quota, Reason::Unnamed).expect("plans");
    assert_eq!(runs_of(&plan.removals), [runs[1], runs[2]]);
    assert_eq!(runs_of(&plan.spared), [runs[0], runs[3]]);
    let first = &plan.removals[0];
    assert_eq!(first.workspace, "/project");
    assert_eq!(first.targets, [("package".into(), "target".into())]);
    assert_eq!(first.baselines, [""; 0]);
    assert!(first.freed_bytes.abs_diff(each) < 100);
    assert_eq!(plan.spared[1].baselines, ["release"]);
    // Nothing has happened yet.
    assert_eq!(files(store.path()).len(), 5);

    let summary = store.execute(&plan).expect("executes");
    assert_eq!(summary.removed, [runs[1], runs[2]]);
    assert_eq!(
        summary.freed_bytes,
        plan.stored_bytes - plan.remaining_bytes
    );
    assert_eq!(bytes(&store), plan.remaining_bytes);
    assert_eq!(store.kept(runs[1]).expect("reads"), []);
    assert_eq!(store.measurements(runs[1], None).expect("reads").len(), 1);
    for (number, run) in [runs[0], runs[3], runs[4]].into_iter().enumerate() {
        let into = directory.path().join(format!("to {number}"));
        extract(&store, run, &into).expect("stayed");
    }
}

#[test]
fn runs_with_a_name_go_only_when_insisted_on_and_after_all_others() {
    let (_directory, mut store, runs) = filled(3);
    name(&mut store, "main", runs[0]);
    name(&mut store, "release", runs[1]);
    let spares = store.plan_removal(0, Reason::Unnamed).expect("plans");
    assert_eq!(runs_of(&spares.removals), [runs[2]]);
    assert!(spares.remaining_bytes > spares.quota_bytes);
    assert_eq!(runs_of(&spares.spared), [runs[0], runs[1]]);

    let insists = store.plan_removal(0, Reason::Named).expect("plans");
    assert_eq!(runs_of(&insists.removals), [runs[2], runs[0], runs[1]]);
    assert_eq!(insists.removals[1].reason, Reason::Named);
    store.execute(&insists).expect("executes");
    assert_eq!(files(store.path()), [""; 0]);
}

#[test]
fn a_run_that_got_a_name_after_the_plan_keeps_its_executables() {
    let (directory, mut store, runs) = filled(2);
    let plan = store.plan_removal(0, Reason::Unnamed).expect("plans");
    assert_eq!(runs_of(&plan.removals), runs);
    name(&mut store, "main", runs[0]);
    let summary = store.execute(&plan).expect("executes");
    assert_eq!(
        (summary.removed, summary.skipped),
        (vec![runs[1]], vec![runs[0]])
    );
    extract(&store, runs[0], &directory.path().join("to")).expect("stayed");
}

#[test]
fn what_is_shared_goes_with_the_last_run_that_needs_it() {
    let (directory, mut store, _) = fresh();
    let shared = incompressible(directory.path(), 100, 1);
    let mut own = incompressible(directory.path(), 50, 2);
    own.target = "other".into();
    let (old, _) = keeping(&mut store, &[shared.clone(), own]);
    let (middle, _) = keeping(&mut store, std::slice::from_ref(&shared));
    let (named, _) = keeping(&mut store, &[shared]);
    name(&mut store, "main", named);

    let plan = store.plan_removal(0, Reason::Unnamed).expect("plans");
    // The one in the middle would give nothing back: what it needs stays for the baseline.
    assert_eq!(runs_of(&plan.removals), [old]);
    let freed = plan.removals[0].freed_bytes;
    assert!((50_000..60_000).contains(&freed), "{freed}");
    store.execute(&plan).expect("executes");
    assert_eq!(files(store.path()).len(), 1);
    extract(&store, middle, &directory.path().join("to")).expect("stayed");

    let all = store.plan_removal(0, Reason::Named).expect("plans");
    assert_eq!(runs_of(&all.removals), [middle, named]);
    assert_eq!(all.removals[0].freed_bytes, 0);
    assert!(all.removals[1].freed_bytes > 100_000);
    store.execute(&all).expect("executes");
    assert_eq!(files(store.path()), [""; 0]);
}

#[test]
fn what_no_run_needs_goes_in_any_case_and_nothing_that_is_not_ours() {
    let (_directory, mut store, _) = filled(1);
    let directory = contents(store.path());
    let stray = format!("{}.zst", "ab".repeat(32));
    for (name, text) in [
        (stray.as_str(), "stray"),
        ("unfinished-1-2", "left by a kill"),
        ("notes.txt", "of the user"),
    ] {
        fs::write(directory.join(name), text).expect("writes");
    }
    let plan = store
        .plan_removal(u64::MAX, Reason::Unnamed)
        .expect("plans");
    assert_eq!(plan.unneeded_bytes, 19);
    assert_eq!(plan.removals, []);
    assert!(!plan.is_empty());
    assert_eq!(store.execute(&plan).expect("executes").freed_bytes, 19);
    let left = files(store.path());
    assert_eq!(left.len(), 2);
    assert!(left.contains(&"notes.txt".to_owned()));
}

#[test]
fn a_store_that_keeps_nothing_has_an_empty_plan() {
    let (directory, mut store, _) = fresh();
    let plan = store.plan_removal(0, Reason::Named).expect("plans");
    assert!(plan.is_empty());
    store.execute(&plan).expect("executes");
    assert!(!contents(store.path()).exists());
    drop(directory);
}

#[test]
fn a_missing_content_does_not_hinder_the_plan() {
    let (directory, mut store, runs) = filled(2);
    let gone = files(store.path()).remove(0);
    fs::remove_file(contents(store.path()).join(gone)).expect("removes");
    let plan = store.plan_removal(0, Reason::Unnamed).expect("plans");
    let kept: Vec<_> = runs
        .iter()
        .map(|run| extract(&store, *run, &directory.path().join(run.to_string())))
        .collect();
    let gone = |outcome: &Result<_, StoreError>| {
        matches!(outcome, Err(StoreError::Kept(KeptError::Gone { .. })))
    };
    assert_eq!(kept.iter().filter(|outcome| gone(outcome)).count(), 1);
    store.execute(&plan).expect("executes");
    assert_eq!(files(store.path()), [""; 0]);
}
