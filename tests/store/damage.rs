//! A store with changed bytes: reading it gives an error, never a panic, a wrong number or a new empty store.

use std::fs;
use std::path::Path;

use perfcheck_analysis::model::{Acceptance, Nanos, RunId, Sample, Series};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, StoreError, WorkspaceId};
use proptest::prelude::*;

use crate::store::builders::{end, key, measured, new_run, open, place, process, record};

/// Calls every query, and returns the first error.
fn read_all(store: &Store, workspace: WorkspaceId, run: RunId) -> Result<(), StoreError> {
    store.find_workspace("key")?;
    store.workspaces()?;
    store.runs(workspace, None)?;
    store.latest_run(workspace)?;
    store.run_of_commit(workspace, "c0ffee")?;
    store.verdicts(run)?;
    store.processes(run)?;
    store.measurements(run, None)?;
    store.benchmarks(workspace)?;
    store.baselines(workspace)?;
    let query = HistoryQuery {
        branch: BranchFilter::Any,
        runs: RunFilter::Own,
        before: None,
        limit: 10,
    };
    store.history(workspace, &[key("a"), key("b")], &query)?;
    store.check()
}

fn filled(path: &Path) -> (WorkspaceId, RunId) {
    let (mut store, workspace) = open(path);
    let mut run = RunId(0);
    for _ in 0..20 {
        run = record(
            &mut store,
            workspace,
            &new_run("c0ffee", "main"),
            Acceptance::Automatic,
            &["a", "b"],
        );
    }
    store.set_baseline(workspace, "base", run).expect("sets");
    (workspace, run)
}

#[test]
fn garbage_in_place_of_the_schema_is_an_error_at_opening() {
    let (_directory, path) = place();
    filled(&path);
    let mut bytes = fs::read(&path).expect("reads");
    bytes[100..4096].fill(0x5a);
    fs::write(&path, &bytes).expect("writes");
    let error = Store::open(&path).expect_err("damaged");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    let error = Store::open_existing(&path).expect_err("damaged");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(
        fs::read(&path).expect("reads") == bytes,
        "the file was changed"
    );
}

#[test]
fn garbage_in_all_later_pages_is_an_error_and_is_not_overwritten() {
    let (_directory, path) = place();
    let (workspace, run) = filled(&path);
    let mut bytes = fs::read(&path).expect("reads");
    bytes[4096..].fill(0x5a);
    fs::write(&path, &bytes).expect("writes");
    let outcome = Store::open(&path).and_then(|mut store| {
        read_all(&store, workspace, run)?;
        store.ensure_workspace("another", "/elsewhere").map(|_| ())
    });
    let error = outcome.expect_err("damaged");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(
        fs::read(&path).expect("reads") == bytes,
        "the file was changed"
    );
}

#[test]
fn one_wrong_byte_in_a_series_is_found_and_named() {
    let (_directory, path) = place();
    let (mut store, workspace) = open(&path);
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    // Each of these values is one more than the value before it. The store keeps the differences, so the test finds them in the file as a sequence of
    // equal bytes.
    let flat = (0..64)
        .map(|step| Sample {
            iterations: 7,
            elapsed: Nanos(5000 + step),
        })
        .collect();
    let marked = Series {
        warm_up: Sample {
            iterations: 1,
            elapsed: Nanos(1),
        },
        linear: vec![],
        flat,
    };
    let mut record = process(0, &["sound"]);
    record.benchmarks.push(measured("marked", marked));
    store.record_process(run, &record).expect("records");
    store
        .finish_run(run, &end(Acceptance::Automatic, vec![]))
        .expect("ends");
    drop(store);

    let mut bytes = fs::read(&path).expect("reads");
    let place = bytes
        .windows(60)
        .position(|window| window == [1; 60])
        .expect("found");
    bytes[place + 30] = 4;
    fs::write(&path, &bytes).expect("writes");

    let (store, _) = open(&path);
    match store.measurements(run, None) {
        Err(StoreError::Corrupt { detail, .. }) => {
            assert!(detail.contains("package/target: marked"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        store
            .measurements(run, Some(&[key("sound")]))
            .expect("sound")
            .len(),
        1
    );
    assert!(matches!(store.check(), Err(StoreError::Corrupt { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn whatever_is_damaged_reading_ends_without_a_panic_and_leaves_the_file(
        at in any::<prop::sample::Index>(), garbage in prop::collection::vec(any::<u8>(), 1..600),
    ) {
        let (_directory, path) = place();
        let (workspace, run) = filled(&path);
        let mut bytes = fs::read(&path).expect("reads");
        let at = 100 + at.index(bytes.len() - 100);
        for (byte, garbage) in bytes[at..].iter_mut().zip(garbage) {
            *byte = garbage;
        }
        fs::write(&path, &bytes).expect("writes");
        match Store::open_existing(&path) {
            Ok(Some(store)) => match read_all(&store, workspace, run) {
                Ok(()) | Err(StoreError::Corrupt { .. } | StoreError::Sqlite { .. } | StoreError::NoSuchRun(_)) => {}
                Err(other) => prop_assert!(false, "{other:?}"),
            },
            Ok(None) => prop_assert!(false, "taken for an empty store"),
            Err(StoreError::Corrupt { .. } | StoreError::Sqlite { .. }) => {}
            Err(other) => prop_assert!(false, "{other:?}"),
        }
        prop_assert!(fs::read(&path).expect("reads") == bytes, "the file was changed");
    }
}
