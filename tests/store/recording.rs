//! Recorded data is read back unchanged.

use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Failure, Nanos, ProcessOutcome, RunId, RunStatus, Sample, Series,
    Side, TargetFacts, Verdict,
};
use perfcheck_store::StoreError;

use crate::store::builders::{
    end, fresh, key, measured, new_run, process, record, series, verdict,
};

#[test]
fn the_head_of_a_run_comes_back_as_it_was() {
    let (_directory, mut store, workspace) = fresh();
    let new = new_run("c0ffee", "main");
    let id = store.begin_run(workspace, &new).expect("begins");
    let run = store.run(id).expect("reads");
    assert_eq!(
        (run.status, run.acceptance, run.finished),
        (RunStatus::Incomplete, Acceptance::Pending, None)
    );
    let end = end(Acceptance::Automatic, vec![]);
    store.finish_run(id, &end).expect("ends");
    let run = store.run(id).expect("reads");
    assert_eq!(
        (run.status, run.acceptance),
        (RunStatus::Complete, Acceptance::Automatic)
    );
    assert_eq!(run.begun, new);
    assert_eq!(run.finished, Some(end.finished));
}

#[test]
fn a_run_outside_of_git_has_no_checkout() {
    let (_directory, mut store, workspace) = fresh();
    let mut new = new_run("c0ffee", "main");
    new.git = None;
    new.load = None;
    let id = store.begin_run(workspace, &new).expect("begins");
    let run = store.run(id).expect("reads");
    assert_eq!((run.begun.git, run.begun.load), (None, None));
}

#[test]
fn processes_and_measurements_come_back_as_they_were() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    let processes = [process(0, &["b", "a"]), process(1, &["a", "b"])];
    // Record processes out of order: their order is determined by the ordinal.
    store.record_process(run, &processes[1]).expect("records");
    store.record_process(run, &processes[0]).expect("records");
    let heads = processes.each_ref().map(|process| process.head.clone());
    assert_eq!(store.processes(run).expect("reads"), heads);

    let measurements = store.measurements(run, None).expect("reads");
    let keys: Vec<_> = measurements
        .iter()
        .map(|measurement| &measurement.benchmark.key)
        .collect();
    assert_eq!(keys, [&key("a"), &key("b")]);
    let a = &measurements[0];
    let given = &processes[0].benchmarks[1];
    assert_eq!(a.benchmark, given.benchmark);
    assert_eq!(
        (a.sampling, a.noise_threshold),
        (given.sampling, given.noise_threshold)
    );
    assert_eq!(a.target_facts, processes[0].target_facts);
    assert_eq!((&a.failures[..], a.verdict), (&[][..], None));
    let read: Vec<_> = a
        .processes
        .iter()
        .map(|process| (process.process, process.quantum, &process.series))
        .collect();
    let (first, second) = (series(1), series(1000));
    assert_eq!(read, [(0, Nanos(20), &first), (1, Nanos(20), &second)]);
    for process in &a.processes {
        assert_eq!(process.extras, given.extras);
    }
}

#[test]
fn the_largest_and_smallest_numbers_come_back() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    let extreme = [0, 1, u64::MAX, i64::MAX.cast_unsigned(), 1 << 63];
    let samples: Vec<Sample> = extreme
        .iter()
        .flat_map(|a| {
            extreme.iter().map(move |b| Sample {
                iterations: *a,
                elapsed: Nanos(*b),
            })
        })
        .collect();
    let all = Series {
        warm_up: samples[24],
        linear: samples.clone(),
        flat: samples,
    };
    let mut record = process(u32::MAX, &[]);
    record.head.padding_bytes = u32::MAX;
    record.benchmarks = vec![measured("extreme", all.clone())];
    store.record_process(run, &record).expect("records");
    let measurement = store.measurements(run, None).expect("reads").remove(0);
    assert_eq!(measurement.processes[0].series, all);
    assert_eq!(measurement.processes[0].process, u32::MAX);
    assert_eq!(measurement.benchmark.throughput.bytes, Some(u64::MAX));
}

#[test]
fn ids_of_two_packages_and_of_two_targets_do_not_collide() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    let mut expected = Vec::new();
    for (salt, (package, target)) in [("one", "t"), ("one", "u"), ("two", "t")]
        .into_iter()
        .enumerate()
    {
        let key = BenchmarkKey {
            package: package.into(),
            target: target.into(),
            id: "same".into(),
        };
        let mut record = process(0, &["same"]);
        record.head.package = package.into();
        record.head.target = target.into();
        record.benchmarks[0].benchmark.key = key.clone();
        record.benchmarks[0].outcome = ProcessOutcome::Measured(series(salt as u64));
        store.record_process(run, &record).expect("records");
        expected.push((key, series(salt as u64)));
    }
    let read: Vec<_> = store
        .measurements(run, None)
        .expect("reads")
        .into_iter()
        .map(|mut measurement| {
            (
                measurement.benchmark.key,
                measurement.processes.remove(0).series,
            )
        })
        .collect();
    assert_eq!(read, expected);
    let one = store
        .measurements(run, Some(&[expected[1].0.clone()]))
        .expect("reads");
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].benchmark.key, expected[1].0);
}

#[test]
fn a_benchmark_that_failed_is_there_with_its_message_and_no_series() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    let mut first = process(0, &["dies", "lives"]);
    first.benchmarks.truncate(1);
    first.benchmarks[0].outcome = ProcessOutcome::Failed {
        side: Side::Candidate,
        message: "killed by signal 9".into(),
    };
    first.head.failure = Some("killed by signal 9".into());
    let mut second = process(0, &["lives"]);
    second.head.attempt = 1;
    store.record_process(run, &first).expect("records");
    store.record_process(run, &second).expect("records");
    let mut silent = process(1, &[]);
    silent.head.harness = None;
    silent.head.failure = Some("no hello".into());
    store.record_process(run, &silent).expect("records");

    let measurements = store.measurements(run, None).expect("reads");
    assert_eq!(
        measurements[0].failures,
        [Failure {
            process: 0,
            side: Side::Candidate,
            message: "killed by signal 9".into()
        }]
    );
    assert_eq!(measurements[0].processes, []);
    assert_eq!(measurements[1].processes.len(), 1);
    let heads = store.processes(run).expect("reads");
    assert_eq!(heads, [first.head, second.head, silent.head]);
}

#[test]
fn the_last_attempt_that_measured_counts() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    for attempt in [1, 0] {
        let mut record = process(3, &["a"]);
        record.head.attempt = attempt;
        record.benchmarks[0].outcome = ProcessOutcome::Measured(series(u64::from(attempt)));
        store.record_process(run, &record).expect("records");
    }
    let processes = store
        .measurements(run, None)
        .expect("reads")
        .remove(0)
        .processes;
    assert_eq!(processes.len(), 1);
    assert_eq!(processes[0].series, series(1));
}

#[test]
fn a_measuring_process_tells_the_conditions_and_a_failing_one_does_not_overrule_it() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    let mut with_features = |ordinal, feature: &str, fails: bool| {
        let mut record = process(ordinal, &["a"]);
        record.target_facts = TargetFacts {
            features: vec![feature.into()],
            size: None,
        };
        if fails {
            record.benchmarks[0].outcome = ProcessOutcome::Failed {
                side: Side::Candidate,
                message: "no".into(),
            };
        }
        store.record_process(run, &record).expect("records");
    };
    with_features(0, "announced", true);
    with_features(1, "measured", false);
    with_features(2, "failed", true);
    let measurement = store.measurements(run, None).expect("reads").remove(0);
    assert_eq!(measurement.target_facts.features, ["measured"]);
}

#[test]
fn a_process_that_cannot_be_recorded_whole_is_not_recorded_at_all() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    // The store refuses the same benchmark twice in one process.
    store
        .record_process(run, &process(0, &["a", "b", "a"]))
        .expect_err("refused");
    assert_eq!(store.processes(run).expect("reads"), []);
    assert_eq!(store.measurements(run, None).expect("reads"), []);
    let mut record = process(0, &["a"]);
    record.benchmarks[0].noise_threshold = f64::NAN;
    assert!(matches!(
        store.record_process(run, &record),
        Err(StoreError::NotFinite(_))
    ));
    assert_eq!(store.processes(run).expect("reads"), []);
    store.check().expect("whole");
}

#[test]
fn an_ended_run_takes_no_more_processes_and_ends_once() {
    let (_directory, mut store, workspace) = fresh();
    let run = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    assert!(matches!(
        store.record_process(run, &process(1, &["a"])),
        Err(StoreError::RunEnded(_))
    ));
    let again = store.finish_run(run, &end(Acceptance::Pending, vec![]));
    assert!(matches!(again, Err(StoreError::RunEnded(_))));
    assert_eq!(
        store.run(run).expect("reads").acceptance,
        Acceptance::Automatic
    );
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let (_directory, mut store, workspace) = fresh();
    let no = RunId(77);
    let is_named = |error: StoreError| matches!(error, StoreError::NoSuchRun(run) if run == no);
    assert!(is_named(store.run(no).expect_err("no run")));
    assert!(is_named(store.measurements(no, None).expect_err("no run")));
    assert!(is_named(
        store
            .record_process(no, &process(0, &[]))
            .expect_err("no run")
    ));
    assert!(is_named(
        store
            .finish_run(no, &end(Acceptance::Pending, vec![]))
            .expect_err("no run")
    ));
    assert!(is_named(store.accept(no).expect_err("no run")));
    assert!(is_named(
        store
            .set_baseline(workspace, "base", no)
            .expect_err("no run")
    ));
}

#[test]
fn verdicts_come_back_also_about_benchmarks_that_the_run_did_not_measure() {
    let (_directory, mut store, workspace) = fresh();
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("begins");
    store
        .record_process(run, &process(0, &["slower", "same", "unjudged"]))
        .expect("records");
    let mut gone = verdict("gone", Verdict::Missing);
    (gone.typical_ns, gone.change, gone.reference) = (None, None, Some(RunId(1)));
    gone.standard_error = None;
    let mut slower = verdict("slower", Verdict::Regressed);
    slower.reference = Some(RunId(1));
    // An infinite change cannot be shown, so it is stored as unknown.
    let mut same = verdict("same", Verdict::Unchanged);
    same.change = Some(f64::INFINITY);
    let given = vec![slower.clone(), same.clone(), gone.clone()];
    store
        .finish_run(run, &end(Acceptance::Pending, given))
        .expect("ends");
    same.change = None;
    assert_eq!(store.verdicts(run).expect("reads"), [gone, same, slower]);

    let summary = store.run_summary(run).expect("reads");
    assert_eq!(
        (summary.benchmarks, summary.exit_code, summary.workspace),
        (3, Some(0), workspace)
    );
    let tally: Vec<_> = summary.tally.iter().collect();
    assert_eq!(
        tally,
        [
            (Verdict::Regressed, 1),
            (Verdict::Missing, 1),
            (Verdict::Unchanged, 1)
        ]
    );
    let measurements = store.measurements(run, None).expect("reads");
    let verdicts: Vec<_> = measurements
        .iter()
        .map(|measurement| measurement.verdict)
        .collect();
    assert_eq!(
        verdicts,
        [Some(Verdict::Unchanged), Some(Verdict::Regressed), None]
    );
}
