//! Baselines: names for runs.

use perfcheck_analysis::model::Acceptance;
use perfcheck_store::{StoreError, check_baseline_name};

use crate::store::builders::{fresh, new_run, record};

#[test]
fn a_baseline_is_set_moved_renamed_and_removed() {
    let (_directory, mut store, workspace) = fresh();
    let mut add = || {
        record(
            &mut store,
            workspace,
            &new_run("c0ffee", "main"),
            Acceptance::Automatic,
            &["a"],
        )
    };
    let (one, two) = (add(), add());
    assert_eq!(
        store.set_baseline(workspace, "main", one).expect("sets"),
        None
    );
    assert_eq!(
        store.set_baseline(workspace, "main", two).expect("moves"),
        Some(one)
    );
    assert_eq!(
        store.set_baseline(workspace, "1.0", one).expect("sets"),
        None
    );
    let names = |store: &perfcheck_store::Store| -> Vec<_> {
        let baselines = store.baselines(workspace).expect("reads");
        baselines
            .into_iter()
            .map(|baseline| (baseline.name, baseline.run))
            .collect()
    };
    assert_eq!(names(&store), [("1.0".into(), one), ("main".into(), two)]);

    match store.rename_baseline(workspace, "main", "1.0") {
        Err(StoreError::BaselineExists(name)) => assert_eq!(name, "1.0"),
        other => panic!("{other:?}"),
    }
    store
        .rename_baseline(workspace, "main", "release/2")
        .expect("renames");
    assert_eq!(store.baseline(workspace, "main").expect("reads"), None);
    assert_eq!(
        store.baseline(workspace, "release/2").expect("reads"),
        Some(two)
    );
    match store.remove_baseline(workspace, "main") {
        Err(error @ StoreError::NoSuchBaseline { .. }) => {
            assert!(
                error
                    .to_string()
                    .ends_with("\n  help: the baselines are: 1.0, release/2")
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        store.remove_baseline(workspace, "1.0").expect("removes"),
        one
    );
    assert_eq!(names(&store), [("release/2".into(), two)]);
    assert_eq!(store.run(one).expect("the run stays").id, one);
}

#[test]
fn a_baseline_of_one_workspace_cannot_name_a_run_of_another() {
    let (_directory, mut store, workspace) = fresh();
    let other = store
        .ensure_workspace("other", "/other")
        .expect("workspace");
    let run = record(
        &mut store,
        other,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    assert!(matches!(
        store.set_baseline(workspace, "main", run),
        Err(StoreError::NoSuchRun(_))
    ));
    assert_eq!(store.baseline(workspace, "main").expect("reads"), None);
}

#[test]
fn names_that_mean_something_else_are_refused() {
    for good in [
        "main",
        "v1.0",
        "1.0",
        "release/2026-01",
        "a",
        "_",
        "latest2",
        "0x10",
    ] {
        check_baseline_name(good).expect(good);
    }
    for bad in [
        "",
        "latest",
        "17",
        "@abc",
        "-n",
        "two words",
        "ä",
        "a\n",
        "a:b",
        "a\\b",
    ] {
        match check_baseline_name(bad) {
            Err(StoreError::BadName { name, .. }) => assert_eq!(name, bad),
            other => panic!("{bad:?}: {other:?}"),
        }
    }
    let (_directory, mut store, workspace) = fresh();
    let run = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    assert!(matches!(
        store.set_baseline(workspace, "latest", run),
        Err(StoreError::BadName { .. })
    ));
    store.set_baseline(workspace, "main", run).expect("sets");
    assert!(matches!(
        store.rename_baseline(workspace, "main", "7"),
        Err(StoreError::BadName { .. })
    ));
}
