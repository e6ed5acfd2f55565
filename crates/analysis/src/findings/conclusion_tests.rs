//! Tests of the evidence of a run and of its conclusion.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::compare::fixtures::{ITERATIONS, PLAN, changed_by, flat_process, key, measurement, run};
use crate::compare::{
    Difference, Estimate, Extent, FunctionCost, HostClass, Plan, SampledTime, TestPolicy,
    summarize_with,
};
use crate::exit_code::ExitCode;
use crate::findings::limit::{Ceiling, ExceededLimit};
use crate::findings::remark::{ChangedFunction, CodeChange};
use crate::findings::row::{ComparisonContext, Method, Row};
use crate::findings::{ReferenceChoice, References};
use crate::model::{
    BenchmarkKey, BySide, DecisionSettings, FilterReport, RunId, SampleCounts, SampleFilter,
    Statistic, Test, Verdict,
};

#[test]
fn remarks_name_the_builds_of_no_bench_target_that_was_not_measured() {
    let of = |package: &str, target: &str| {
        let (package, target) = (package.to_owned(), target.to_owned());
        [
            RunNote::CodeDiffers(CodeChange::new(
                package.clone(),
                target.clone(),
                std::iter::empty(),
            )),
            RunNote::CodeUnknown {
                package: package.clone(),
                target: target.clone(),
                reference: None,
                reason: "stripped".to_owned(),
            },
            RunNote::BenchDiffers {
                package,
                target,
                files: Vec::new(),
                current_does_not_build: false,
            },
        ]
    };
    let key = |package: &str, target: &str| BenchmarkKey {
        package: package.to_owned(),
        target: target.to_owned(),
        id: "id".to_owned(),
    };
    let rows = vec![
        Row::unmeasured(key("p", "measured"), Verdict::Failed, None),
        Row::unmeasured(key("p", "same"), Verdict::Unchanged, None),
    ];
    let decision = DecisionSettings::default();
    let mut basis = ComparisonContext::new(
        String::new(),
        Method::Paired,
        decision,
        HostClass::Dedicated,
    );
    basis.remarks = [of("p", "measured"), of("p", "same"), of("q", "measured")].concat();
    let concluded = conclude(rows, basis, GatePolicy::verdicts_only(&[]));
    assert_eq!(concluded.verdicts.remarks, of("p", "measured"));
}

#[test]
fn any_one_thing_that_was_not_measured_is_a_failure() {
    let status = |terms: GatePolicy<'_>| {
        let rows = vec![Row::unmeasured(
            BenchmarkKey {
                package: "p".to_owned(),
                target: "t".to_owned(),
                id: "id".to_owned(),
            },
            Verdict::Unchanged,
            None,
        )];
        let basis = ComparisonContext::new(
            String::new(),
            Method::Paired,
            DecisionSettings::default(),
            HostClass::Dedicated,
        );
        conclude(rows, basis, terms).exit_code
    };
    let terms = || GatePolicy::verdicts_only(&[]);
    assert_eq!(status(terms()), ExitCode::Clean);
    let failed_target = FailedTarget {
        package: "p".to_owned(),
        target: "u".to_owned(),
        message: "it died".to_owned(),
    };
    for incomplete in [
        GatePolicy {
            coverage: Coverage::Gaps,
            ..terms()
        },
        GatePolicy {
            failed_targets: vec![failed_target],
            ..terms()
        },
        GatePolicy {
            measured_nothing: true,
            ..terms()
        },
    ] {
        assert_eq!(status(incomplete), ExitCode::BenchmarkFailed);
    }
}

#[test]
fn a_conclusion_with_an_infinite_bound_is_read_as_it_was_written() {
    let key = BenchmarkKey {
        package: "p".to_owned(),
        target: "t".to_owned(),
        id: "id".to_owned(),
    };
    let basis = ComparisonContext::new(
        "run 3".to_owned(),
        Method::Paired,
        DecisionSettings::default(),
        HostClass::Shared,
    );
    let rows = vec![Row::unmeasured(key.clone(), Verdict::Missing, None)];
    let mut concluded = conclude(rows, basis, GatePolicy::verdicts_only(&[]));
    concluded.verdicts.limits.exceeded.push(ExceededLimit {
        key,
        text: "mean:5%".to_owned(),
        statistic: Statistic::Mean,
        ceiling: Ceiling::Change(0.05),
        found: Estimate {
            estimate: 0.2,
            lower: 0.1,
            upper: f64::INFINITY,
        },
        shared_level: None,
    });
    let read = Conclusion::from_bytes(&concluded.to_bytes());
    assert_eq!(read, Ok(concluded));
    assert!(Conclusion::from_bytes(&[1]).is_err());
}

fn concluded(reference: &str, remarks: Vec<RunNote>) -> Conclusion<'static> {
    let key = BenchmarkKey {
        package: "p".to_owned(),
        target: "t".to_owned(),
        id: "b".to_owned(),
    };
    Conclusion {
        rows: vec![Row {
            reference: vec![Some(RunId(1)), Some(RunId(2)), None],
            spread: vec![Some(RunId(2)), Some(RunId(1))],
            ..Row::unmeasured(key, Verdict::Unchanged, None)
        }],
        verdicts: ComparisonContext {
            remarks,
            ..ComparisonContext::new(
                reference.to_owned(),
                Method::Paired,
                DecisionSettings::default(),
                HostClass::Dedicated,
            )
        },
        failed_targets: Vec::new(),
        exit_code: ExitCode::Clean,
    }
}

#[test]
fn runs_get_the_numbers_of_the_other_store_and_remarks_about_an_unknown_run_go() {
    let incomplete = |run| RunNote::Incomplete { run: RunId(run) };
    let unknown = |run: Option<i64>| RunNote::CodeUnknown {
        package: "p".to_owned(),
        target: "t".to_owned(),
        reference: run.map(RunId),
        reason: "stripped".to_owned(),
    };
    let sampled = |side_by_side, alone| RunNote::SampledDifferently {
        side_by_side: RunId(side_by_side),
        alone: RunId(alone),
    };
    let remarks = vec![
        incomplete(1),
        incomplete(2),
        unknown(Some(1)),
        unknown(Some(2)),
        sampled(1, 1),
        sampled(1, 2),
        RunNote::SmallChanges,
    ];
    let mut moved = concluded("run 1", remarks);
    moved.renumber(&mut |run| (run == RunId(1)).then_some(RunId(11)));
    let other = Some(RunId(11));
    assert_eq!(moved.rows[0].reference, [other, None, None]);
    assert_eq!(moved.rows[0].spread, [None, other]);
    let left = [
        incomplete(11),
        unknown(Some(11)),
        unknown(None),
        sampled(11, 11),
        RunNote::SmallChanges,
    ];
    assert_eq!(moved.verdicts.remarks, left);
}

#[test]
fn sentences_name_the_runs_that_they_were_written_with() {
    let alone = RunNote::StoredAlone {
        reason: "the build of run 12 is not kept".to_owned(),
    };
    let mut found = concluded("run 3 and run 45 (main)", vec![alone.clone()]);
    assert_eq!(found.runs_in_sentences(), [3, 12, 45].map(RunId).into());
    found.add_remark(alone.clone());
    found.add_remark(RunNote::Imported);
    assert_eq!(found.verdicts.remarks, [alone, RunNote::Imported]);
}

#[test]
fn a_run_is_good_if_it_succeeded_and_nothing_looks_slower() {
    let is_good = |verdict| {
        let key = BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: "id".to_owned(),
        };
        let basis = ComparisonContext::new(
            String::new(),
            Method::Paired,
            DecisionSettings::default(),
            HostClass::Dedicated,
        );
        let rows = vec![Row::unmeasured(key, verdict, None)];
        // With this policy, no verdict makes the run fail.
        conclude(rows, basis, GatePolicy::verdicts_only(&[])).is_good()
    };
    assert!(is_good(Verdict::Unchanged) && is_good(Verdict::Improved));
    assert!(!is_good(Verdict::Regressed) && !is_good(Verdict::Suspect));
}

#[test]
fn a_run_is_worse_if_a_benchmark_looks_slower_or_changed_more_than_a_limit_allows() {
    let is_worse = |verdict, exceeded: Option<Ceiling>| {
        let mut found = concluded("run 1", Vec::new());
        found.rows[0].verdict = Some(verdict);
        let key = found.rows[0].key.clone();
        let exceeded = exceeded.map(|ceiling| ExceededLimit {
            key,
            text: "mean".to_owned(),
            statistic: Statistic::Mean,
            ceiling,
            found: Estimate {
                estimate: 0.2,
                lower: 0.1,
                upper: 0.3,
            },
            shared_level: None,
        });
        found.verdicts.limits.exceeded.extend(exceeded);
        found.is_worse()
    };
    let (change, value) = (Ceiling::Change(0.05), Ceiling::Value(0.05));
    assert!(!is_worse(Verdict::Unchanged, None));
    assert!(is_worse(Verdict::Regressed, None));
    assert!(is_worse(Verdict::Unchanged, Some(change)));
    assert!(is_worse(Verdict::Regressed, Some(change)));
    // A value above its limit may have been above it before, so it does not show that the benchmark became worse.
    assert!(!is_worse(Verdict::Unchanged, Some(value)));
}

/// A row of a benchmark that was compared side by side.
fn compared(verdict: Verdict, change: f64, layouts: usize) -> Row<'static> {
    let extent = Extent::SideBySide {
        rounds: 5,
        stopped_early: false,
        layouts,
    };
    Row {
        comparison: Some(Comparison {
            extent,
            ..changed_by(change)
        }),
        ..Row::unmeasured(key("b"), verdict, Some(RunId(1)))
    }
}

fn concluded_from(
    rows: Vec<Row<'static>>,
    method: Method,
    remarks: Vec<RunNote>,
) -> Conclusion<'static> {
    let basis = ComparisonContext {
        method,
        ..concluded("run 1", remarks).verdicts
    };
    conclude(rows, basis, GatePolicy::verdicts_only(&[]))
}

#[test]
fn a_small_change_side_by_side_is_remarked_on_if_the_code_has_one_layout() {
    use Verdict::{Improved, Inconclusive, Regressed, Unchanged};
    let is_remarked = |method, verdict, change, layouts| {
        let rows = vec![
            Row::unmeasured(key("a"), Verdict::New, None),
            compared(verdict, change, layouts),
        ];
        let found = concluded_from(rows, method, vec![RunNote::Imported]);
        match &found.verdicts.remarks[..] {
            [RunNote::Imported] => false,
            [RunNote::Imported, RunNote::SmallChanges] => true,
            other => panic!("{other:?}"),
        }
    };
    let paired = Method::Paired;
    assert!(is_remarked(paired, Regressed, 0.029, 0));
    assert!(is_remarked(paired, Improved, -0.029, 0));
    assert!(!is_remarked(paired, Regressed, SMALL_CHANGE, 0));
    assert!(!is_remarked(paired, Improved, -0.2, 0));
    assert!(!is_remarked(paired, Regressed, 0.029, 1));
    assert!(!is_remarked(paired, Unchanged, 0.0, 0));
    assert!(!is_remarked(paired, Inconclusive, 0.029, 0));
    let stored = Method::Stored(Test::BootstrapT);
    assert!(!is_remarked(stored, Regressed, 0.029, 0));
}

#[test]
fn that_stored_numbers_decide_alone_is_told_only_where_there_is_a_reference() {
    let alone = RunNote::StoredAlone {
        reason: "the build of run 12 is not kept".to_owned(),
    };
    let left = |row: Row<'static>| {
        let new = Row::unmeasured(key("a"), Verdict::New, None);
        let remarks = vec![alone.clone(), RunNote::Imported];
        let method = Method::Stored(Test::BootstrapT);
        concluded_from(vec![new, row], method, remarks)
            .verdicts
            .remarks
    };
    let both = [alone.clone(), RunNote::Imported];
    assert_eq!(left(compared(Verdict::Unchanged, 0.0, 0)), both);
    let incomparable = Row {
        blocking: vec![Difference::paired_reference()],
        ..Row::unmeasured(key("b"), Verdict::Incomparable, Some(RunId(1)))
    };
    assert_eq!(left(incomparable), both);
    let new = Row::unmeasured(key("b"), Verdict::New, None);
    assert_eq!(left(new), [RunNote::Imported]);
}

#[test]
fn functions_with_another_cost_come_first_among_those_that_changed() {
    let functions = ["report", "scan"].map(|name| ChangedFunction {
        name: name.to_owned(),
        bytes: BySide::default(),
        same_code: false,
    });
    let code = CodeChange::new("p".to_owned(), "t".to_owned(), functions.into_iter());
    let mut row = compared(Verdict::Unchanged, 0.0, 0);
    if let Some(comparison) = &mut row.comparison {
        comparison.sampled_time = Some(SampledTime {
            samples: BySide::default(),
            functions: vec![FunctionCost {
                name: "scan".to_owned(),
                cost: BySide::default(),
                standard_error: None,
            }],
        });
    }
    let remarks = vec![RunNote::Imported, RunNote::CodeDiffers(code)];
    let found = concluded_from(vec![row], Method::Paired, remarks);
    let of_code = found.verdicts.remarks.iter().find_map(RunNote::code);
    let functions = of_code.expect("the target was measured").functions.iter();
    let names: Vec<&str> = functions.map(|function| &*function.name).collect();
    assert_eq!(names, ["scan", "report"]);
}

#[test]
fn a_part_of_a_suite_may_have_no_benchmarks_but_its_verdicts_count() {
    let status = |coverage, rows: Vec<Row<'static>>| {
        let basis = concluded("run 1", Vec::new()).verdicts;
        let terms = GatePolicy {
            coverage,
            ..GatePolicy::verdicts_only(&[Verdict::Regressed])
        };
        conclude(rows, basis, terms).exit_code
    };
    let regressed = || vec![compared(Verdict::Regressed, 0.2, 1)];
    assert_eq!(status(Coverage::Part, Vec::new()), ExitCode::Clean);
    assert_eq!(
        status(Coverage::Whole, Vec::new()),
        ExitCode::BenchmarkFailed
    );
    assert_eq!(status(Coverage::Part, regressed()), ExitCode::Regression);
    assert_eq!(status(Coverage::Whole, regressed()), ExitCode::Regression);
    assert_eq!(
        status(Coverage::Gaps, regressed()),
        ExitCode::BenchmarkFailed
    );
}

#[test]
fn a_conclusion_has_the_failed_targets_and_fails_if_a_limit_is_exceeded() {
    let target = FailedTarget {
        package: "p".to_owned(),
        target: "u".to_owned(),
        message: "it died".to_owned(),
    };
    let limit: Limit = "time:5%".parse().expect("a limit");
    let judged = |change, failed_targets| {
        let basis = concluded("run 1", Vec::new()).verdicts;
        let terms = GatePolicy {
            limits: vec![&limit],
            failed_targets,
            ..GatePolicy::verdicts_only(&[])
        };
        conclude(vec![compared(Verdict::Suspect, change, 1)], basis, terms)
    };
    let found = judged(0.2, Vec::new());
    assert_eq!(found.exit_code, ExitCode::Regression);
    assert_eq!(found.verdicts.limits.exceeded.len(), 1);
    assert_eq!(judged(0.01, Vec::new()).exit_code, ExitCode::Clean);
    let failed = judged(0.2, vec![target.clone()]);
    assert_eq!(failed.exit_code, ExitCode::BenchmarkFailed);
    assert!(!failed.is_good());
    assert_eq!(failed.failed_targets, [target]);
    let run = run();
    let findings = Findings::new(&run, failed.clone());
    assert_eq!((findings.run, findings.exit_code), (&run, 4));
    assert_eq!(findings.rows, failed.rows);
    assert_eq!(findings.verdicts, Some(failed.verdicts));
    assert_eq!(findings.failed_targets, failed.failed_targets);
}

#[test]
fn a_run_that_failed_is_not_good_although_nothing_looks_slower() {
    let mut found = concluded("run 1", Vec::new());
    assert!(found.is_good());
    found.exit_code = ExitCode::BenchmarkFailed;
    assert!(!found.is_good());
}

#[test]
fn measurements_are_put_back_with_descriptions_by_the_settings_of_the_run() {
    let process = |k| flat_process(k, ITERATIONS, &[100.0, 101.0, 102.0]);
    let measurements = [measurement((0..3).map(process).collect())];
    let mut run = run();
    run.begun.decision.confidence_level = 0.9;
    let mut stored = concluded("run 1", Vec::new());
    let gone = Row::unmeasured(key("gone"), Verdict::Missing, None);
    stored.rows.push(gone.clone());
    let silent = ProgressReporter::silent();
    let found = stored
        .clone()
        .with_measurements(&measurements, &run, &silent);
    let summary = summarize_with(&measurements[0], &run.begun.decision, run.begun.seed);
    assert!(summary.is_some());
    let measured = Row {
        measurement: Some(&measurements[0]),
        summary,
        ..stored.rows[0].clone()
    };
    assert_eq!(found.rows, [measured, gone]);
    assert_eq!(found.verdicts, stored.verdicts);
}

#[test]
fn remarks_about_code_and_about_samples_left_out_get_new_numbers_too() {
    let code = |reference: Option<i64>| {
        let change = CodeChange::new("p".to_owned(), "t".to_owned(), std::iter::empty());
        RunNote::CodeDiffers(CodeChange {
            reference: reference.map(RunId),
            ..change
        })
    };
    let left_out = |run| RunNote::LeftOut {
        run: RunId(run),
        left_out: FilterReport {
            filter: SampleFilter::default(),
            counts: SampleCounts::default(),
        },
    };
    let remarks = vec![code(Some(1)), code(Some(2)), left_out(1), left_out(2)];
    let mut moved = concluded("run 1", remarks);
    moved.renumber(&mut |run| (run == RunId(1)).then_some(RunId(11)));
    let expected = [code(Some(11)), code(None), left_out(11)];
    assert_eq!(moved.verdicts.remarks, expected);
}

/// Judges `evidence`. Returns the conclusion found, and the conclusion that is expected from `rows` and `basis`.
fn judged<'m>(
    evidence: &Evidence<'_, 'm>,
    rows: Vec<Row<'m>>,
    basis: ComparisonContext,
) -> [Conclusion<'m>; 2] {
    let silent = ProgressReporter::silent();
    let remarks = vec![RunNote::Imported, RunNote::HostUnknown];
    assert_eq!(evidence.rows(&silent), rows);
    assert_eq!(evidence.basis(&rows), basis);
    let gate = || GatePolicy::verdicts_only(&[Verdict::Missing]);
    let found = evidence.judge(remarks.clone(), gate(), &silent);
    assert_eq!(found.verdicts.remarks, remarks);
    let basis = ComparisonContext { remarks, ..basis };
    [found, conclude(rows, basis, gate())]
}

#[test]
fn a_conclusion_about_stored_runs_has_their_rows_and_basis_with_the_remarks() {
    let process = |k| flat_process(k, ITERATIONS, &[100.0; 3]);
    let measurements = [measurement((0..5).map(process).collect())];
    let stored = StoredEvidence {
        measurements: &measurements,
        references: &References {
            chosen: [(key("b"), ReferenceChoice::New)].into(),
            expected: Some(RunId(4)),
            words: "run 4".to_owned(),
        },
        past: &BTreeMap::new(),
        expected: &[key("gone")],
        rules: &TestPolicy {
            decision: DecisionSettings {
                analysis: Test::Welch.into(),
                ..DecisionSettings::default()
            },
            host: HostClass::Shared,
            seed: 7,
        },
        noise_threshold: &|_| 0.02,
        allowed: &[],
        failed_targets: &BTreeSet::new(),
        had_time_budget: false,
    };
    let rows = stored.rows(&ProgressReporter::silent());
    let verdicts: Vec<_> = rows.iter().filter_map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::New, Verdict::Missing]);
    let basis = stored.context(&rows);
    assert_eq!(basis.method, Method::Stored(Test::Welch));
    let [found, expected] = judged(&Evidence::Stored(stored), rows, basis);
    assert_eq!(found, expected);
    assert_eq!(found.exit_code, ExitCode::Regression);
}

#[test]
fn a_conclusion_about_two_builds_has_their_rows_and_basis_with_the_remarks() {
    let settled = [Row::unmeasured(key("same"), Verdict::Unchanged, None)];
    let plan = Plan { planned: 3, ..PLAN };
    let decision = DecisionSettings {
        noise_threshold: 0.03,
        ..DecisionSettings::default()
    };
    let paired = PairedEvidence {
        runs: BySide {
            base: RunId(1),
            candidate: RunId(2),
        },
        earlier: &BTreeMap::new(),
        base: &[],
        candidate: &[],
        plan: &plan,
        decision: &decision,
        noise_threshold: None,
        settled: &settled,
        cost: None,
        reference: "main",
        host: HostClass::Dedicated,
    };
    let (rows, basis) = (paired.rows(), paired.context());
    let expected = Row::unmeasured(key("same"), Verdict::Unchanged, Some(RunId(1)));
    assert_eq!(rows, [expected]);
    let of_plan = ComparisonContext {
        family: 3,
        ..ComparisonContext::new(
            "main".to_owned(),
            Method::Paired,
            decision,
            HostClass::Dedicated,
        )
    };
    assert_eq!(basis, of_plan);
    let [found, expected] = judged(&Evidence::Paired(paired), rows, basis);
    assert_eq!(found, expected);
    assert_eq!(found.exit_code, ExitCode::Clean);
}
