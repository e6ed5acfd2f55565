//! `cargo perfcheck compare BASE [CANDIDATE]`: stored runs only.

use std::collections::BTreeSet;

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::findings::{Evidence, host_class, rows, sort, warnings};
use super::gates::{exit_code, gates};
use super::options::{CompareOptions, StoreOptions};
use super::paired::{Paired, paired_rows};
use super::pairing::Settled;
use super::prepare::no_match;
use super::reference::{Chooser, Subject, Wanted};
use super::replay::judged_again;
use super::run::write;
use crate::compare::Rules;
use crate::exit_code::ExitCode;
use crate::measure::BySide;
use crate::model::{BenchmarkKey, DecisionSettings, Measurement, Role, Run, RunId};
use crate::report::{Findings, Method, Verdicts};
use crate::store::{Store, StoreError};

/// Runs the command.
pub fn compare(
    options: &CompareOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.comparison.check()?;
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let base = resolve_run(&store, workspace, &options.base)?;
    let candidate = resolve_run(&store, workspace, &options.candidate)?;
    if base == candidate {
        return Err(AppError::Usage(format!(
            "`{}` and `{}` are the same run ({base}): a run cannot be compared with itself",
            options.base, options.candidate
        )));
    }
    let head = store.run(candidate)?;
    let in_turn = head.pair.is_some_and(|pair| pair.partner == base);
    if in_turn && !options.comparison.is_of_other_systems() {
        return measured_in_turn(&store, base, &head, options, &context, common, world);
    }
    let measurements: Vec<Measurement> = store
        .measurements(candidate, None)?
        .into_iter()
        .filter(|measurement| options.filter.wants(&measurement.benchmark.key.id))
        .collect();
    let subjects: Vec<Subject> = measurements
        .iter()
        .map(|measurement| Subject {
            key: measurement.benchmark.key.clone(),
            target_facts: measurement.target_facts.clone(),
            version: measurement.benchmark.version.clone(),
        })
        .collect();
    let chooser = Chooser {
        store: &store,
        workspace,
        checkout: context.checkout.as_ref(),
        environment: &head.environment,
        allowed: &options.comparison.allow_different,
        candidate: Some(candidate),
    };
    let references = chooser.choose(&Wanted::Named(base, &options.base), &subjects)?;
    let settings = &context.tables.workspace;
    let decision = options.comparison.decision(settings);
    let rules = Rules {
        decision,
        decider: options.comparison.decider(),
        host: host_class(settings.shared_host, head.environment.host.shared),
        // A comparison of stored runs is always the same: the seed is stored too.
        seed: options.comparison.seed.unwrap_or(head.seed),
    };
    let threshold = options.comparison.noise_threshold;
    let mut rows = rows(&Evidence {
        store: &store,
        measurements: &measurements,
        references: &references,
        rules: &rules,
        noise_threshold: &|measurement: &Measurement| {
            threshold.unwrap_or(measurement.noise_threshold)
        },
        in_scope: &|key: &BenchmarkKey| options.filter.wants(&key.id),
        failed_targets: &BTreeSet::new(),
    })?;
    if rows.is_empty() {
        return Err(AppError::NothingToCompare(
            if options.filter.words.is_empty() {
                format!("neither run {base} nor run {candidate} has a benchmark")
            } else {
                format!(
                    "run {candidate} has {}\n  help: `cargo perfcheck show {candidate}` lists its benchmarks",
                    no_match(&options.filter)
                )
            },
        ));
    }
    let gates = gates(
        &rows,
        options.comparison.fail_rules(&context.tables),
        decision.confidence_level,
    );
    let broken = exit_code(&gates);
    sort(&mut rows, common.output.order);
    let mut findings = Findings {
        run: &head,
        rows,
        verdicts: Some(Verdicts {
            reference: references.words.clone(),
            decision,
            method: Method::Stored(rules.decider),
            warnings: warnings(&references),
            remarks: in_turn.then(rounds_as_launches).into_iter().collect(),
            advice: Vec::new(),
            gates,
        }),
        confidence_level: decision.confidence_level,
        exit_code: 0,
    };
    let fail_on = options.comparison.fail_on(settings);
    let exit_code = ExitCode::of_verdicts(&findings.tally(), &fail_on, true).and(broken);
    findings.exit_code = exit_code.number();
    write(&findings, common, world)?;
    Ok(exit_code)
}

/// The two sides of an A/B measurement: the verdict of that time, reached again from what is stored.
fn measured_in_turn(
    store: &Store,
    base: RunId,
    head: &Run,
    options: &CompareOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if head.pair.is_some_and(|pair| pair.role == Role::Base) {
        return Err(AppError::Usage(format!(
            "run {} is the base that run {base} was measured against\n  help: cargo perfcheck compare {} {base}",
            head.id, head.id
        )));
    }
    let runs = BySide { base, new: head.id };
    let (mut found, plan) = judged_again(store, &runs, head, |measurements| {
        measurements.retain(|measurement| options.filter.wants(&measurement.benchmark.key.id));
        for measurement in measurements {
            let said = options.comparison.noise_threshold;
            measurement.noise_threshold = said.unwrap_or(measurement.noise_threshold);
        }
    })?;
    found.about(options.comparison.analysis.subject);
    let settled = without_measurement(store, head.id, &found)?;
    let settled: Vec<Settled> = settled
        .into_iter()
        .filter(|settled| options.filter.wants(&settled.key.id))
        .collect();
    let mut rows = paired_rows(&found, &settled, &head.decision, plan.seed);
    let gates = gates(
        &rows,
        options.comparison.fail_rules(&context.tables),
        head.decision.confidence_level,
    );
    let broken = exit_code(&gates);
    sort(&mut rows, common.output.order);
    let mut findings = Findings {
        run: head,
        rows,
        verdicts: Some(Verdicts {
            reference: format!("run {base}"),
            decision: DecisionSettings {
                analysis: options.comparison.analysis,
                ..head.decision
            },
            method: Method::Paired,
            warnings: Vec::new(),
            remarks: Vec::new(),
            advice: Vec::new(),
            gates,
        }),
        confidence_level: head.decision.confidence_level,
        exit_code: 0,
    };
    let fail_on = options.comparison.fail_on(&context.tables.workspace);
    let exit_code = ExitCode::of_verdicts(&findings.tally(), &fail_on, true).and(broken);
    findings.exit_code = exit_code.number();
    write(&findings, common, world)?;
    Ok(exit_code)
}

/// What to know of another test of runs that were measured in turn.
fn rounds_as_launches() -> String {
    "both sides were measured in turn; this compares them as runs of their own, each round as a launch, and makes nothing of what they shared".to_owned()
}

/// The verdicts of that time that needed no measurement.
fn without_measurement(
    store: &Store,
    run: RunId,
    found: &Paired,
) -> Result<Vec<Settled>, StoreError> {
    let measured: BTreeSet<&BenchmarkKey> = found
        .measured
        .new
        .iter()
        .map(|measurement| &measurement.benchmark.key)
        .collect();
    let verdicts = store.verdicts(run)?.into_iter();
    Ok(verdicts
        .filter(|known| !measured.contains(&known.key))
        .map(|known| Settled {
            key: known.key,
            verdict: known.verdict,
            remark: None,
        })
        .collect())
}
