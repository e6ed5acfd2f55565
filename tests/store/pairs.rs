//! Side-by-side measurements, which are stored as pairs of runs.

use perfcheck_analysis::model::{
    Acceptance, BySide, Pair, Purpose, RunId, RunStatus, Side, Verdict,
};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, StoreError, WorkspaceId};

use crate::store::builders::{
    end, fresh, key, measured, new_run, process, record, series, verdict,
};

const PLAN: &str = r#"{"looks":[10,20,30]}"#;

/// Records a complete pair with two rounds. Returns (base, candidate).
fn paired(store: &mut Store, workspace: WorkspaceId, commits: [&str; 2]) -> (RunId, RunId) {
    let [base, candidate] = commits.map(|commit| new_run(commit, "main"));
    let runs = store
        .begin_pair(
            workspace,
            BySide {
                base: &base,
                candidate: &candidate,
            },
            PLAN,
            Purpose::Comparison,
        )
        .expect("begins");
    for round in 0..2 {
        for side in [runs.base, runs.candidate] {
            let process = process(round, &["a"]);
            store.record_process(side, &process).expect("records");
        }
    }
    let found = end(
        Acceptance::Automatic,
        vec![verdict("a", Verdict::Unchanged)],
    );
    let bare = end(Acceptance::Automatic, Vec::new());
    store
        .finish_pair(
            runs,
            BySide {
                base: &bare,
                candidate: &found,
            },
        )
        .expect("ends");
    (runs.base, runs.candidate)
}

#[test]
fn both_sides_name_each_other_and_keep_the_plan_and_their_processes() {
    let (_directory, mut store, workspace) = fresh();
    let (base, candidate) = paired(&mut store, workspace, ["aaaa", "bbbb"]);
    for (run, partner, side, commit) in [
        (base, candidate, Side::Base, "aaaa"),
        (candidate, base, Side::Candidate, "bbbb"),
    ] {
        let head = store.run(run).expect("reads");
        assert_eq!(head.pair, Some(Pair { partner, side }));
        assert_eq!(head.plan.as_deref(), Some(PLAN));
        assert_eq!(head.status, RunStatus::Complete);
        assert_eq!(head.begun.git.expect("in git").commit, commit);
        let rounds: Vec<u32> = store.measurements(run, None).expect("reads")[0]
            .processes
            .iter()
            .map(|process| process.process)
            .collect();
        assert_eq!(rounds, [0, 1]);
    }
    let alone = record(
        &mut store,
        workspace,
        &new_run("cccc", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let head = store.run(alone).expect("reads");
    assert_eq!((head.pair, head.plan), (None, None));
    store.check().expect("whole");
}

#[test]
fn an_accepted_candidate_is_a_reference_and_no_base_is() {
    let (_directory, mut store, workspace) = fresh();
    let alone = record(
        &mut store,
        workspace,
        &new_run("aaaa", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let (_, candidate) = paired(&mut store, workspace, ["aaaa", "bbbb"]);
    store.accept(candidate).expect("accepts");
    for branch in [BranchFilter::Any, BranchFilter::Only(Some("main"))] {
        let past = |runs| -> Vec<RunId> {
            let query = HistoryQuery {
                branch,
                runs,
                before: None,
                limit: 9,
            };
            store
                .history(workspace, &[key("a")], &query)
                .expect("reads")
                .benchmarks[&key("a")]
                .iter()
                .map(|past| past.run)
                .collect()
        };
        assert_eq!(past(RunFilter::Accepted), [candidate, alone]);
    }
}

#[test]
fn a_base_side_is_never_accepted() {
    let (_directory, mut store, workspace) = fresh();
    let (base, candidate) = paired(&mut store, workspace, ["aaaa", "bbbb"]);
    let acceptance = |store: &Store, run| store.run(run).expect("reads").acceptance;
    assert_eq!(acceptance(&store, base), Acceptance::Pending);
    assert_eq!(acceptance(&store, candidate), Acceptance::Automatic);
    match store.accept(base) {
        Err(StoreError::BaseSide(run)) => assert_eq!(run, base),
        other => panic!("{other:?}"),
    }
    assert_eq!(acceptance(&store, base), Acceptance::Pending);
}

#[test]
fn a_pair_ends_at_once_or_not_at_all() {
    let (_directory, mut store, workspace) = fresh();
    let run = new_run("aaaa", "main");
    let BySide { base, candidate } = store
        .begin_pair(
            workspace,
            BySide {
                base: &run,
                candidate: &run,
            },
            PLAN,
            Purpose::Comparison,
        )
        .expect("begins");
    let done = end(Acceptance::Automatic, Vec::new());
    store.finish_run(candidate, &done).expect("ends alone");
    let twice = store.finish_pair(
        BySide { base, candidate },
        BySide {
            base: &done,
            candidate: &done,
        },
    );
    assert!(matches!(twice, Err(StoreError::RunEnded(run)) if run == candidate));
    assert_eq!(
        store.run(base).expect("reads").status,
        RunStatus::Incomplete
    );
}

#[test]
fn the_newest_run_and_the_run_of_a_commit_are_candidates_and_runs_of_their_own() {
    let (_directory, mut store, workspace) = fresh();
    let alone = record(
        &mut store,
        workspace,
        &new_run("aaaa", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let (base, candidate) = paired(&mut store, workspace, ["aaaa", "bbbb"]);
    let found = |prefix| store.run_of_commit(workspace, prefix).expect("reads");
    assert_eq!(found("aaaa"), Some(alone));
    assert_eq!(found("bbbb"), Some(candidate));
    assert_eq!(store.latest_run(workspace).expect("reads"), Some(candidate));
    let listed = store.benchmarks(workspace).expect("reads");
    assert_eq!(listed[0].last_run, candidate);

    // Only the base of a pair measured this commit, so that run is returned.
    let (lonely, _) = paired(&mut store, workspace, ["dddd", "bbbb"]);
    assert_eq!(
        store.run_of_commit(workspace, "dddd").expect("reads"),
        Some(lonely)
    );
    assert_ne!(base, lonely);
}

#[test]
fn controls_are_found_by_benchmark_and_processor_newest_first() {
    let (_directory, mut store, workspace) = fresh();
    let mut pair = |purpose, cpu: &str, rustc: &str, change: Option<f64>, ends: bool| {
        let mut run = new_run("aaaa", "main");
        run.environment.host.cpu = cpu.into();
        run.environment.build.rustc = rustc.into();
        let BySide { base, candidate } = store
            .begin_pair(
                workspace,
                BySide {
                    base: &run,
                    candidate: &run,
                },
                PLAN,
                purpose,
            )
            .expect("begins");
        for side in [base, candidate] {
            store
                .record_process(side, &process(0, &["a", "b"]))
                .expect("records");
        }
        let mut found = verdict("a", Verdict::Unchanged);
        found.change = change;
        let bare = end(Acceptance::Pending, Vec::new());
        let told = end(Acceptance::Pending, vec![found]);
        if ends {
            store
                .finish_pair(
                    BySide { base, candidate },
                    BySide {
                        base: &bare,
                        candidate: &told,
                    },
                )
                .expect("ends");
        }
        run.environment
    };
    let environment = pair(Purpose::Control, "this", "1.95", Some(0.01), true);
    pair(Purpose::Control, "other", "1.95", Some(0.02), true);
    pair(Purpose::Control, "this", "1.94", Some(0.02), true);
    pair(Purpose::Comparison, "this", "1.95", Some(0.03), true);
    pair(Purpose::Control, "this", "1.95", None, true);
    pair(Purpose::Control, "this", "1.95", Some(-0.04), true);
    pair(Purpose::Control, "this", "1.95", Some(0.05), false);
    let controls = |id, limit| {
        let benchmark = measured(id, series(1)).benchmark;
        store
            .controls(workspace, &benchmark, &environment, limit)
            .expect("reads")
    };
    let mut later = measured("a", series(1)).benchmark;
    later.version = Some("3".into());
    let of_later = store.controls(workspace, &later, &environment, 9);
    assert_eq!(of_later.expect("reads"), [0.0; 0]);
    assert_eq!(controls("a", 9), [-0.04, 0.01]);
    assert_eq!(controls("a", 1), [-0.04]);
    assert_eq!(controls("b", 9), [0.0; 0]);
    assert_eq!(controls("never measured", 9), [0.0; 0]);
    let latest = store.latest_run(workspace).expect("reads");
    assert_eq!(
        latest,
        Some(RunId(6)),
        "a control is a run that was asked for"
    );
}
