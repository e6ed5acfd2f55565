//! Queries that read many runs, such as histories, references and lists.

use std::collections::BTreeSet;

use perfcheck_analysis::model::{
    Acceptance, BySide, NewRun, PastCommit, Purpose, RunId, Timestamp, Verdict,
};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, StoreError, WorkspaceId};

use crate::store::builders::{end, fresh, key, new_run, process, record, verdict};

fn runs_of(store: &Store, workspace: WorkspaceId, id: &str, query: HistoryQuery<'_>) -> Vec<RunId> {
    let history = store.history(workspace, &[key(id)], &query).expect("reads");
    let past = history
        .benchmarks
        .get(&key(id))
        .cloned()
        .unwrap_or_default();
    for past in &past {
        assert_eq!(history.runs[&past.run].id, past.run);
    }
    past.into_iter().map(|past| past.run).collect()
}

const ALL: HistoryQuery<'_> = HistoryQuery {
    branch: BranchFilter::Any,
    runs: RunFilter::Own,
    before: None,
    limit: usize::MAX,
};

#[test]
fn the_history_of_a_benchmark_is_filtered_by_branch_acceptance_age_and_number() {
    let (_directory, mut store, workspace) = fresh();
    let mut add = |branch: &str, acceptance, ids: &[&str]| {
        record(
            &mut store,
            workspace,
            &new_run("c0ffee", branch),
            acceptance,
            ids,
        )
    };
    let first = add("main", Acceptance::Automatic, &["a"]);
    let side = add("side", Acceptance::Automatic, &["a"]);
    let slow = add("main", Acceptance::Pending, &["a", "b"]);
    let other = add("main", Acceptance::Automatic, &["b"]);
    let last = add("main", Acceptance::Automatic, &["a", "b"]);
    let mut detached = new_run("c0ffee", "");
    detached.git = None;
    let bare = record(
        &mut store,
        workspace,
        &detached,
        Acceptance::Automatic,
        &["a"],
    );
    let unfinished = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    store
        .record_process(unfinished, &process(0, &["a"]))
        .expect("records");

    let main = HistoryQuery {
        branch: BranchFilter::Only(Some("main")),
        ..ALL
    };
    let reference = HistoryQuery {
        runs: RunFilter::Accepted,
        ..main
    };
    let detached = HistoryQuery {
        branch: BranchFilter::Only(None),
        ..ALL
    };
    let accepted = HistoryQuery {
        runs: RunFilter::Accepted,
        ..ALL
    };
    let older = HistoryQuery {
        before: Some(last),
        ..reference
    };
    let one = HistoryQuery {
        limit: 1,
        ..reference
    };
    let expected: [(&str, HistoryQuery<'_>, &[RunId]); 9] = [
        ("a", ALL, &[bare, last, slow, side, first]),
        ("a", accepted, &[bare, last, side, first]),
        ("a", main, &[last, slow, first]),
        ("a", reference, &[last, first]),
        ("a", detached, &[bare]),
        ("a", older, &[first]),
        ("a", one, &[last]),
        ("b", ALL, &[last, other, slow]),
        ("never", ALL, &[]),
    ];
    for (id, query, runs) in expected {
        assert_eq!(
            runs_of(&store, workspace, id, query),
            runs,
            "{id} {query:?}"
        );
    }

    store.accept(slow).expect("accepts");
    assert_eq!(
        store.run(slow).expect("reads").acceptance,
        Acceptance::ByCommand
    );
    assert_eq!(
        runs_of(&store, workspace, "a", reference),
        [last, slow, first]
    );
}

#[test]
fn the_history_tells_conditions_and_values() {
    let (_directory, mut store, workspace) = fresh();
    let run = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let history = store.history(workspace, &[key("a")], &ALL).expect("reads");
    let past = &history.benchmarks[&key("a")][0];
    let given = process(0, &["a"]);
    assert_eq!(
        past.conditions.version,
        given.benchmarks[0].benchmark.version
    );
    assert_eq!(
        (past.conditions.sampling, &past.conditions.target),
        (given.benchmarks[0].sampling, &given.target_facts)
    );
    assert_eq!(
        (past.verdict, past.typical_ns),
        (Some(Verdict::Unchanged), Some(1000.5))
    );
    assert_eq!(history.runs[&run], store.run(run).expect("reads"));
}

#[test]
fn the_list_of_benchmarks_shows_the_newest_run_of_each() {
    let (_directory, mut store, workspace) = fresh();
    let first = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["b", "a"],
    );
    let second = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    store
        .record_process(second, &process(0, &["b"]))
        .expect("records");
    store
        .record_process(second, &process(1, &["b"]))
        .expect("records");
    let mut faster = verdict("b", Verdict::Improved);
    (faster.typical_ns, faster.change) = (Some(500.0), Some(-0.5));
    let missing = verdict("only missing", Verdict::Missing);
    store
        .finish_run(second, &end(Acceptance::Automatic, vec![faster, missing]))
        .expect("ends");
    record_elsewhere(&mut store);
    // An interrupted or unfinished run does not hide earlier runs.
    let unfinished = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    store
        .record_process(unfinished, &process(0, &["a", "c"]))
        .expect("records");

    let list = store.benchmarks(workspace).expect("reads");
    let facts: Vec<_> = list
        .iter()
        .map(|row| {
            (
                row.key.id.as_str(),
                row.runs,
                row.last_run,
                row.verdict,
                row.typical_ns,
                row.change,
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            (
                "a",
                2,
                first,
                Some(Verdict::Unchanged),
                Some(1000.5),
                Some(-0.01)
            ),
            (
                "b",
                2,
                second,
                Some(Verdict::Improved),
                Some(500.0),
                Some(-0.5)
            ),
            ("c", 1, unfinished, None, None, None),
        ]
    );
    assert_eq!(list[0].throughput.bytes, Some(u64::MAX));
    assert_eq!(
        list[0].last_started,
        store.run(first).expect("reads").begun.started
    );
}

/// Records a run of another workspace with the same names.
fn record_elsewhere(store: &mut Store) -> (WorkspaceId, RunId) {
    let workspace = store
        .ensure_workspace("elsewhere", "/elsewhere")
        .expect("workspace");
    let run = record(
        store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a", "z"],
    );
    (workspace, run)
}

#[test]
fn runs_are_listed_newest_first_and_by_workspace() {
    let (_directory, mut store, workspace) = fresh();
    assert_eq!(store.latest_run(workspace).expect("reads"), None);
    let first = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let second = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a", "b"],
    );
    let unfinished = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    let (elsewhere, there) = record_elsewhere(&mut store);

    let ids = |limit| -> Vec<RunId> {
        let runs = store.runs(workspace, limit).expect("reads");
        runs.iter().map(|summary| summary.run.id).collect()
    };
    assert_eq!(ids(None), [unfinished, second, first]);
    assert_eq!(ids(Some(2)), [unfinished, second]);
    assert_eq!(store.latest_run(workspace).expect("reads"), Some(second));
    assert_eq!(store.latest_run(elsewhere).expect("reads"), Some(there));
    let runs = store.runs(workspace, Some(2)).expect("reads");
    assert_eq!((runs[0].exit_code, runs[0].benchmarks), (None, 0));
    assert_eq!(
        (
            runs[1].exit_code,
            runs[1].benchmarks,
            runs[1].tally.count(Verdict::Unchanged)
        ),
        (Some(0), 2, 2)
    );
}

#[test]
fn a_commit_is_found_by_its_first_digits() {
    let (_directory, mut store, workspace) = fresh();
    let mut add = |run: &NewRun| record(&mut store, workspace, run, Acceptance::Automatic, &["a"]);
    let old = add(&new_run("abc123", "main"));
    let clean = add(&new_run("abc123", "main"));
    let mut dirty = new_run("abc123", "main");
    dirty.git.as_mut().expect("git").dirty = true;
    add(&dirty);
    let other = add(&new_run("abd999", "main"));
    let mut only_dirty = new_run("feed00", "main");
    only_dirty.git.as_mut().expect("git").dirty = true;
    let only_dirty = add(&only_dirty);
    assert!(old < clean);

    let find = |prefix: &str| store.run_of_commit(workspace, prefix);
    assert_eq!(find("abc123").expect("reads"), Some(clean));
    assert_eq!(find("ABC").expect("reads"), Some(clean));
    assert_eq!(find("abd").expect("reads"), Some(other));
    assert_eq!(find("feed").expect("reads"), Some(only_dirty));
    assert_eq!(find("abc1234").expect("reads"), None);
    assert_eq!(find("main").expect("reads"), None);
    assert_eq!(find("").expect("reads"), None);
    match find("ab") {
        Err(StoreError::AmbiguousCommit { commits, .. }) => {
            assert_eq!(commits, ["abc123", "abd999"]);
        }
        other => panic!("{other:?}"),
    }
    // A run that never ended does not count as a run of its commit.
    store
        .begin_run(workspace, &new_run("0dd", "main"))
        .expect("begins");
    assert_eq!(store.run_of_commit(workspace, "0dd").expect("reads"), None);
}

#[test]
fn a_workspace_keeps_its_number_and_takes_a_new_label() {
    let (_directory, mut store, workspace) = fresh();
    assert_eq!(
        store.ensure_workspace("key", "/moved").expect("writes"),
        workspace
    );
    assert_eq!(store.find_workspace("key").expect("reads"), Some(workspace));
    assert_eq!(store.find_workspace("no such").expect("reads"), None);
    let (elsewhere, _) = record_elsewhere(&mut store);
    let list = store.workspaces().expect("reads");
    let facts: Vec<_> = list
        .iter()
        .map(|row| (row.id, row.key.as_str(), row.label.as_str(), row.runs))
        .collect();
    assert_eq!(
        facts,
        [
            (elsewhere, "elsewhere", "/elsewhere", 1),
            (workspace, "key", "/moved", 0)
        ]
    );
}

#[test]
fn adopting_makes_two_histories_one() {
    let (_directory, mut store, workspace) = fresh();
    let here = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a", "b"],
    );
    let (elsewhere, there) = record_elsewhere(&mut store);
    let unfinished = store
        .begin_run(elsewhere, &new_run("c0ffee", "main"))
        .expect("begins");
    store
        .finish_run(
            unfinished,
            &end(Acceptance::Pending, vec![verdict("a", Verdict::Missing)]),
        )
        .expect("ends");
    store.set_baseline(elsewhere, "base", there).expect("sets");
    let before = store.measurements(there, None).expect("reads");

    let adopted = store.adopt(elsewhere, workspace).expect("adopts");
    assert_eq!(
        (adopted.runs, adopted.baselines, adopted.merged_benchmarks),
        (2, 1, 1)
    );
    assert_eq!(store.find_workspace("elsewhere").expect("reads"), None);
    assert_eq!(store.measurements(there, None).expect("reads"), before);
    assert_eq!(runs_of(&store, workspace, "a", ALL), [there, here]);
    assert_eq!(runs_of(&store, workspace, "z", ALL), [there]);
    let counts: Vec<_> = store
        .benchmarks(workspace)
        .expect("reads")
        .into_iter()
        .map(|row| (row.key.id, row.runs))
        .collect();
    assert_eq!(counts, [("a".into(), 2), ("b".into(), 1), ("z".into(), 1)]);
    assert_eq!(
        store.baseline(workspace, "base").expect("reads"),
        Some(there)
    );
    assert_eq!(store.verdicts(unfinished).expect("reads")[0].key, key("a"));
    store.check().expect("whole");
}

#[test]
fn adopting_moves_nothing_where_baselines_clash() {
    let (_directory, mut store, workspace) = fresh();
    let here = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let (elsewhere, there) = record_elsewhere(&mut store);
    for name in ["base", "other"] {
        store.set_baseline(workspace, name, here).expect("sets");
        store.set_baseline(elsewhere, name, there).expect("sets");
    }
    store.set_baseline(elsewhere, "free", there).expect("sets");
    match store.adopt(elsewhere, workspace) {
        Err(StoreError::NameClash(names)) => assert_eq!(names, ["base", "other"]),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.runs(elsewhere, None).expect("reads").len(), 1);
    assert_eq!(store.baseline(workspace, "free").expect("reads"), None);
    // Adopting the runs of the same workspace does nothing.
    assert_eq!(store.adopt(workspace, workspace).expect("nothing").runs, 0);
    assert_eq!(store.runs(workspace, None).expect("reads").len(), 1);
}

/// Records a complete measurement of the second of these commits against the first, made on `branch`. `committed` is the time of the second. Returns
/// its run.
fn record_past(
    store: &mut Store,
    workspace: WorkspaceId,
    commits: [&str; 2],
    committed: Timestamp,
    branch: &str,
) -> RunId {
    let [base, candidate] = commits.map(|commit| new_run(commit, branch));
    let candidate = NewRun {
        past: Some(PastCommit {
            committed,
            series: "series".to_owned(),
        }),
        ..candidate
    };
    let sides = BySide {
        base: &base,
        candidate: &candidate,
    };
    let runs = store
        .begin_pair(workspace, sides, "{}", Purpose::Past)
        .expect("begins");
    for side in [runs.base, runs.candidate] {
        store
            .record_process(side, &process(0, &["a"]))
            .expect("records");
    }
    let found = end(Acceptance::Pending, vec![verdict("a", Verdict::Unchanged)]);
    let bare = end(Acceptance::Pending, Vec::new());
    let ends = BySide {
        base: &bare,
        candidate: &found,
    };
    store.finish_pair(runs, ends).expect("ends");
    runs.candidate
}

#[test]
fn commits_of_the_past_stand_at_their_own_time_and_are_found_by_their_series() {
    let (_directory, mut store, workspace) = fresh();
    let plain = |store: &mut Store| {
        record(
            store,
            workspace,
            &new_run("cccc", "main"),
            Acceptance::Automatic,
            &["a"],
        )
    };
    let first = plain(&mut store);
    let started = store.run(first).expect("reads").begun.started;
    let before = |seconds: i64| Timestamp(started.0 - seconds * 1_000_000_000);
    // The newest commit is measured first.
    let newer = record_past(&mut store, workspace, ["aaaa", "bbbb"], before(10), "main");
    let older = record_past(&mut store, workspace, ["9999", "aaaa"], before(20), "main");
    for branch in [BranchFilter::Any, BranchFilter::Only(Some("main"))] {
        let query = HistoryQuery { branch, ..ALL };
        assert_eq!(
            runs_of(&store, workspace, "a", query),
            [first, newer, older]
        );
        let two = HistoryQuery { limit: 2, ..query };
        assert_eq!(runs_of(&store, workspace, "a", two), [first, newer]);
        let accepted = HistoryQuery {
            runs: RunFilter::Accepted,
            ..query
        };
        assert_eq!(runs_of(&store, workspace, "a", accepted), [first]);
    }
    let links = store
        .run_links(workspace, &key("a"), 10)
        .expect("reads")
        .links;
    let links: Vec<_> = links.iter().map(|link| (link.code.run, link.at)).collect();
    assert_eq!(
        links,
        [(older, before(20)), (newer, before(10)), (first, started)]
    );
    assert_eq!(store.latest_run(workspace).expect("reads"), Some(first));
    let listed = store.benchmarks(workspace).expect("reads");
    assert_eq!((listed[0].runs, listed[0].last_run), (3, first));
    let head = store.run(newer).expect("reads");
    assert_eq!(head.begun.past.map(|past| past.committed), Some(before(10)));
    let pair = |commits: [&str; 2], series| {
        let [base, candidate] = commits;
        store
            .past_pair(workspace, BySide { base, candidate }, series)
            .expect("reads")
    };
    assert_eq!(pair(["aaaa", "bbbb"], "series"), Some(newer));
    assert_eq!(pair(["aaaa", "bbbb"], "another"), None);
    assert_eq!(pair(["9999", "bbbb"], "series"), None);
    // Without a plain run, the newest commit is the last measurement.
    store.remove_runs(workspace, &[first]).expect("removes");
    let listed = store.benchmarks(workspace).expect("reads");
    assert_eq!((listed[0].runs, listed[0].last_run), (2, newer));
    assert_eq!(store.latest_run(workspace).expect("reads"), None);
}

#[test]
fn a_history_may_have_measurements_of_the_past_from_another_branch() {
    let (_directory, mut store, workspace) = fresh();
    let mut add = |commits: [&str; 2], seconds: i64, branch: &str| {
        let committed = Timestamp(seconds * 1_000_000_000);
        record_past(&mut store, workspace, commits, committed, branch)
    };
    let own = add(["9999", "aaaa"], 10, "main");
    let shared = add(["aaaa", "bbbb"], 20, "side");
    let other = add(["bbbb", "cccc"], 30, "side");
    let elsewhere = |branch| {
        let mut found = store.past_runs_elsewhere(workspace, branch).expect("reads");
        found.sort();
        found
    };
    let on_main = (own, "aaaa".to_owned());
    let on_side = [(shared, "bbbb".to_owned()), (other, "cccc".to_owned())];
    assert_eq!(elsewhere(Some("main")), on_side);
    assert_eq!(elsewhere(Some("side")), [on_main]);
    assert_eq!(elsewhere(None).len(), 3);
    let past = BTreeSet::from([shared]);
    let main = HistoryQuery {
        branch: BranchFilter::Only(Some("main")),
        ..ALL
    };
    let with_past = HistoryQuery {
        branch: BranchFilter::WithPast {
            branch: Some("main"),
            past: &past,
        },
        ..ALL
    };
    let one = HistoryQuery {
        limit: 1,
        ..with_past
    };
    let runs = |query| runs_of(&store, workspace, "a", query);
    assert_eq!(runs(main), [own]);
    assert_eq!(runs(with_past), [shared, own]);
    assert_eq!(runs(one), [shared]);
}
