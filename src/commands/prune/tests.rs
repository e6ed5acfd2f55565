//! Tests of pruning policies on lists of runs.

use super::*;
use perfcheck_analysis::model::Acceptance;

const DAY: i64 = 24 * 3_600_000_000_000;

/// Returns run 10 of today, run 9 of yesterday, and so on, on alternating branches.
fn runs() -> Vec<StoredRun> {
    (1..=10)
        .rev()
        .map(|number| StoredRun {
            run: RunId(number),
            started: Timestamp((100 - 10 + number) * DAY),
            status: RunStatus::Complete,
            acceptance: Acceptance::Automatic,
            branch: Some(if number % 2 == 0 { "main" } else { "side" }.to_owned()),
            commit: None,
            partner: None,
            benchmarks: 1,
            baselines: Vec::new(),
            bytes: 1,
        })
        .collect()
}

fn fates(
    options: &PruneOptions,
    limit: Option<i64>,
    runs: &[StoredRun],
) -> BTreeMap<RunId, PruneDecision> {
    fates_beside(options, limit, runs, &BTreeSet::new(), &BTreeMap::new())
}

fn fates_beside(
    options: &PruneOptions,
    limit: Option<i64>,
    runs: &[StoredRun],
    references: &BTreeSet<RunId>,
    behind: &BTreeMap<RunId, Vec<RunId>>,
) -> BTreeMap<RunId, PruneDecision> {
    let there = BTreeSet::from(["main".to_owned()]);
    PrunePolicy {
        options,
        limit: limit.map(|day| Timestamp(day * DAY)),
        now: Timestamp(100 * DAY),
        branches: Some(&there),
        references,
        behind,
    }
    .fates(runs)
}

fn going(fates: &BTreeMap<RunId, PruneDecision>) -> Vec<i64> {
    let goes = fates
        .iter()
        .filter(|(_, fate)| **fate == PruneDecision::Goes);
    goes.map(|(run, _)| run.0).collect()
}

fn keep_last(keep: usize) -> PruneOptions {
    PruneOptions {
        keep_last: Some(keep),
        ..PruneOptions::default()
    }
}

#[test]
fn a_run_goes_if_no_rule_keeps_it() {
    let runs = runs();
    assert_eq!(going(&fates(&keep_last(7), None, &runs)), [1, 2, 3]);
    let per_branch = PruneOptions {
        keep_per_branch: Some(3),
        ..PruneOptions::default()
    };
    assert_eq!(going(&fates(&per_branch, None, &runs)), [1, 2, 3, 4]);
    let old = PruneOptions {
        older_than: Some("5d".to_owned()),
        ..PruneOptions::default()
    };
    assert_eq!(going(&fates(&old, Some(95), &runs)), [1, 2, 3, 4]);
    let both = PruneOptions {
        keep_last: Some(8),
        ..old
    };
    assert_eq!(going(&fates(&both, Some(95), &runs)), [1, 2]);
    let of_branch = PruneOptions {
        branch: Some("side".to_owned()),
        ..keep_last(4)
    };
    assert_eq!(going(&fates(&of_branch, None, &runs)), [1, 3, 5]);
}

#[test]
fn names_references_of_branches_that_are_there_and_what_may_be_under_way_stay() {
    let mut runs = runs();
    runs[9].baselines = vec!["v1".to_owned()];
    runs[0].status = RunStatus::Incomplete;
    runs[1].status = RunStatus::Incomplete;
    let references = BTreeSet::from([RunId(2), RunId(3)]);
    let found = fates_beside(&keep_last(0), None, &runs, &references, &BTreeMap::new());
    assert_eq!(found[&RunId(1)], PruneDecision::Named);
    assert_eq!(found[&RunId(2)], PruneDecision::Reference);
    assert_eq!(found[&RunId(3)], PruneDecision::Goes, "its branch is gone");
    assert_eq!(found[&RunId(10)], PruneDecision::UnderWay);
    assert_eq!(found[&RunId(9)], PruneDecision::Goes, "begun a day ago");
}

#[test]
fn what_passes_on_the_level_of_another_run_keeps_that_on_whatever_branch() {
    let runs = runs();
    // Runs 6 and 3 measured nothing themselves; no kept run relies on run 4.
    let behind = [(6, 3), (3, 1), (5, 4)].map(|(run, of)| (RunId(run), vec![RunId(of)]));
    let references = BTreeSet::from([RunId(6)]);
    let found = fates_beside(&keep_last(1), None, &runs, &references, &behind.into());
    assert_eq!(going(&found), [2, 4, 5, 7, 8, 9]);
}

#[test]
fn sides_of_a_pair_stay_together() {
    let mut runs = runs();
    let pair = |runs: &mut [StoredRun], a: usize, b: usize| {
        runs[a].partner = Some(runs[b].run);
        runs[b].partner = Some(runs[a].run);
    };
    // Of the pair of runs 7 and 6, the first is among the newest four. Of the pair 5 and 4, none is.
    pair(&mut runs, 3, 4);
    pair(&mut runs, 5, 6);
    let found = fates(&keep_last(4), None, &runs);
    assert_eq!(found[&RunId(6)], PruneDecision::Together);
    assert_eq!(going(&found), [1, 2, 3, 4, 5]);
}
