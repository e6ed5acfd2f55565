//! Tests how a user accepts whole runs, or new levels of single benchmarks.

use perfcheck_analysis::model::{Acceptance, BySide, Purpose, RunId, Timestamp};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, StoreError, WorkspaceId};

use crate::store::builders::{end, fresh, key, new_run, record};

const NOW: Timestamp = Timestamp(1_700_000_009_000_000_000);

fn references(store: &Store, workspace: WorkspaceId, id: &str, limit: usize) -> Vec<(RunId, bool)> {
    let query = HistoryQuery {
        branch: BranchFilter::Only(Some("main")),
        runs: RunFilter::Accepted,
        before: None,
        limit,
    };
    let history = store.history(workspace, &[key(id)], &query).expect("reads");
    let past = history
        .benchmarks
        .get(&key(id))
        .cloned()
        .unwrap_or_default();
    past.into_iter()
        .map(|past| (past.run, past.accepted))
        .collect()
}

#[test]
fn a_level_is_accepted_for_its_benchmark_alone_and_taken_back() {
    let (_directory, mut store, workspace) = fresh();
    let mut add = |branch: &str, acceptance| {
        record(
            &mut store,
            workspace,
            &new_run("c0ffee", branch),
            acceptance,
            &["a", "b"],
        )
    };
    let first = add("main", Acceptance::Automatic);
    let slow = add("main", Acceptance::Pending);
    let other = add("side", Acceptance::Pending);
    let last = add("main", Acceptance::Automatic);
    for run in [slow, other] {
        let new = store.accept_steps(workspace, run, &[key("a"), key("gone")], NOW);
        assert_eq!(
            new.expect("writes"),
            [key("a")],
            "what was not measured is passed over"
        );
    }
    let again = store.accept_steps(workspace, slow, &[key("a")], NOW);
    assert_eq!(again.expect("writes"), []);
    assert_eq!(store.accepted_steps(slow).expect("reads"), [key("a")]);
    assert_eq!(
        references(&store, workspace, "a", 9),
        [(last, false), (slow, true), (first, false)]
    );
    assert_eq!(
        references(&store, workspace, "a", 2),
        [(last, false), (slow, true)]
    );
    assert_eq!(
        references(&store, workspace, "b", 9),
        [(last, false), (first, false)]
    );
    let gone = store.withdraw_steps(workspace, slow, &[key("a"), key("b")]);
    assert_eq!(gone.expect("writes"), [key("a")]);
    assert_eq!(
        references(&store, workspace, "a", 9),
        [(last, false), (first, false)]
    );
    store.check().expect("whole");
}

#[test]
fn an_accepted_run_is_afterwards_what_it_was_before() {
    let (_directory, mut store, workspace) = fresh();
    for before in [Acceptance::Pending, Acceptance::Automatic] {
        let run = record(
            &mut store,
            workspace,
            &new_run("c0ffee", "main"),
            before,
            &["a"],
        );
        assert_eq!(store.withdraw_acceptance(run).expect("writes"), None);
        // Accepting a run twice does not lose its original state.
        for _ in 0..2 {
            store.accept(run).expect("accepts");
        }
        assert_eq!(
            store.run(run).expect("reads").acceptance,
            Acceptance::ByCommand
        );
        assert_eq!(
            store.withdraw_acceptance(run).expect("writes"),
            Some(before)
        );
        assert_eq!(store.run(run).expect("reads").acceptance, before);
    }
}

#[test]
fn the_base_side_of_a_pair_has_no_level_to_accept() {
    let (_directory, mut store, workspace) = fresh();
    let run = new_run("c0ffee", "main");
    let BySide { base, candidate } = store
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
    let ends = end(Acceptance::Pending, Vec::new());
    store
        .finish_pair(
            BySide { base, candidate },
            BySide {
                base: &ends,
                candidate: &ends,
            },
        )
        .expect("ends");
    assert!(matches!(
        store.accept_steps(workspace, base, &[key("a")], NOW),
        Err(StoreError::BaseSide(_))
    ));
}

#[test]
fn accepted_levels_follow_a_benchmark_into_another_workspace() {
    let (_directory, mut store, workspace) = fresh();
    let run = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Pending,
        &["a"],
    );
    store
        .accept_steps(workspace, run, &[key("a")], NOW)
        .expect("writes");
    let other = store
        .ensure_workspace("other", "/elsewhere")
        .expect("writes");
    record(
        &mut store,
        other,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    store.adopt(workspace, other).expect("adopts");
    assert_eq!(references(&store, other, "a", 9).len(), 2);
    assert_eq!(store.accepted_steps(run).expect("reads"), [key("a")]);
    store.check().expect("whole");
}
