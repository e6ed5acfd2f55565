//! Removing runs, together with the data that only they use.

use perfcheck_analysis::model::{Acceptance, BySide, Purpose, RunId};
use perfcheck_store::StoreError;

use crate::store::builders::{end, fresh, key, new_run, process, record};

#[test]
fn a_run_goes_with_all_that_only_it_had_and_its_number_is_not_given_again() {
    let (_directory, mut store, workspace) = fresh();
    let mut add = |ids: &[&str]| {
        record(
            &mut store,
            workspace,
            &new_run("c0ffee", "main"),
            Acceptance::Automatic,
            ids,
        )
    };
    let (stays, goes) = (add(&["a"]), add(&["a", "b"]));
    let before = store.stored_runs(workspace).expect("reads");
    assert_eq!(
        before.iter().map(|run| run.run).collect::<Vec<_>>(),
        [goes, stays]
    );
    assert!(before[0].bytes > before[1].bytes && before[1].bytes > 0);
    let outcome = store.remove_runs(workspace, &[goes]).expect("removes");
    assert_eq!((outcome.removed, outcome.skipped), (vec![goes], vec![]));
    let benchmarks = store.benchmarks(workspace).expect("reads");
    assert_eq!(benchmarks.len(), 1);
    assert_eq!((&benchmarks[0].key, benchmarks[0].runs), (&key("a"), 1));
    store.compact().expect("compacts");
    store.check().expect("whole");
    let next = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    assert!(next > goes);
    store
        .record_process(next, &process(0, &["a", "b"]))
        .expect("a store as before");
}

#[test]
fn what_has_a_name_stays_also_if_its_partner_has_it() {
    let (_directory, mut store, workspace) = fresh();
    let run = new_run("c0ffee", "main");
    let named = record(&mut store, workspace, &run, Acceptance::Automatic, &["a"]);
    let ends = end(Acceptance::Pending, Vec::new());
    let mut pair = || {
        let run = new_run("c0ffee", "main");
        let pair = store
            .begin_pair(
                workspace,
                BySide {
                    base: &run,
                    candidate: &run,
                },
                "{}",
                Purpose::Comparison,
            )
            .expect("begins");
        store
            .finish_pair(
                pair,
                BySide {
                    base: &ends,
                    candidate: &ends,
                },
            )
            .expect("ends");
        pair
    };
    let (of_named, free) = (pair(), pair());
    store.set_baseline(workspace, "a", named).expect("names");
    store
        .set_baseline(workspace, "b", of_named.candidate)
        .expect("names");
    let outcome = store
        .remove_runs(workspace, &[named, of_named.base, free.base])
        .expect("removes");
    assert_eq!(outcome.skipped, [named, of_named.base, of_named.candidate]);
    assert_eq!(outcome.removed, [free.base, free.candidate]);
    store.check().expect("whole");
}

#[test]
fn a_run_that_is_not_there_or_of_another_workspace_removes_nothing() {
    let (_directory, mut store, workspace) = fresh();
    let run = new_run("c0ffee", "main");
    let here = record(&mut store, workspace, &run, Acceptance::Automatic, &["a"]);
    let other = store
        .ensure_workspace("other", "/elsewhere")
        .expect("writes");
    let there = record(&mut store, other, &run, Acceptance::Automatic, &["a"]);
    for missing in [there, RunId(99)] {
        match store.remove_runs(workspace, &[here, missing]) {
            Err(StoreError::NoSuchRun(run)) => assert_eq!(run, missing),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.stored_runs(workspace).expect("reads").len(), 1);
}
