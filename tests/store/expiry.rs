//! Removal of samples from runs that are kept otherwise.

use perfcheck_analysis::compare::{RunSeries, run_point};
use perfcheck_analysis::model::{Acceptance, ProgressReporter, RunId, Timestamp};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, WorkspaceId};

use crate::store::builders::{fresh, key, new_run, record};

const DAY: i64 = 86_400 * 1_000_000_000;

/// Records a run that started `day` days after the beginning of 2024.
fn of_day(store: &mut Store, workspace: WorkspaceId, day: i64) -> RunId {
    let mut run = new_run("c0ffee", "main");
    run.started = Timestamp(1_704_067_200 * 1_000_000_000 + day * DAY);
    record(store, workspace, &run, Acceptance::Automatic, &["a", "b"])
}

#[test]
fn a_run_without_samples_keeps_its_place_in_the_history_and_its_verdicts() {
    let (_directory, mut store, workspace) = fresh();
    let runs = [5, 10, 40, 80].map(|day| of_day(&mut store, workspace, day));
    let before: Vec<_> = (runs.iter())
        .map(|run| store.measurements(*run, None).expect("reads"))
        .collect();
    let verdicts = store.verdicts(runs[0]).expect("reads");
    store
        .set_baseline(workspace, "kept", runs[1])
        .expect("names");
    let removed = store.remove_samples(workspace, &runs[..3], &ProgressReporter::silent());
    assert_eq!(removed.expect("removes"), [runs[0], runs[2]]);
    let after = store.measurements_of_runs(&runs, None).expect("reads");
    for (place, run) in runs.iter().enumerate() {
        let (before, after) = (&before[place], &after[run]);
        if [0, 2].contains(&place) {
            for (before, after) in before.iter().zip(after) {
                assert!(after.processes.is_empty());
                assert_eq!(after.expired, Some(run_point(before)));
                let (of_samples, of_rest) = (
                    RunSeries::from_runs(&[Some(before)]),
                    RunSeries::from_runs(&[Some(after)]),
                );
                assert_eq!(of_samples, of_rest);
            }
            assert_eq!(before.len(), after.len());
        } else {
            assert_eq!(before, after);
        }
    }
    assert_eq!(store.verdicts(runs[0]).expect("reads"), verdicts);
    let bytes = |run: RunId| {
        let stored = store.stored_runs(workspace).expect("reads");
        stored
            .iter()
            .find(|one| one.run == run)
            .map(|one| one.bytes)
    };
    assert_eq!((bytes(runs[0]), bytes(runs[2])), (Some(0), Some(0)));
    assert!(bytes(runs[1]) > Some(0) && bytes(runs[3]) > Some(0));
    let query = HistoryQuery {
        branch: BranchFilter::Any,
        runs: RunFilter::Own,
        before: None,
        limit: 10,
    };
    let history = store
        .history(workspace, &[key("a")], &query)
        .expect("reads");
    assert_eq!(history.benchmarks[&key("a")].len(), 4);
    store.check().expect("whole");
    // Removing the samples again has no effect, and the remaining data can be removed with the run.
    let again = store.remove_samples(workspace, &runs[..1], &ProgressReporter::silent());
    assert_eq!(again.expect("removes"), [runs[0]]);
    assert_eq!(
        store.measurements_of_runs(&runs, None).expect("reads"),
        after
    );
    store.remove_runs(workspace, &[runs[0]]).expect("removes");
    assert_eq!(of_day(&mut store, workspace, 5), RunId(runs[3].0 + 1));
}

#[test]
fn a_limit_is_a_moment_in_a_file_and_a_month_in_a_team_s_store() {
    let (_directory, store, _) = fresh();
    let moment = Timestamp(1_709_251_199_123_456_789);
    let until = store.removal_limit(moment).expect("tells");
    let month = Timestamp(1_706_745_600 * 1_000_000_000);
    let is_file = store.path().is_absolute();
    assert_eq!(until, if is_file { moment } else { month });
}
