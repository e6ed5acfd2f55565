//! `cargo perfcheck compare BASE [CANDIDATE]`: stored runs only.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use super::columns::columns;
use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::findings::{Evidence, host_class, rows, sort, warnings};
use super::grouping::group_by;
use super::imported::{limits, suited};
use super::naming::{alike, list};
use super::next_steps::nothing_compared;
use super::options::{CompareOptions, CompareView, StoreOptions};
use super::paired::{Paired, paired_rows};
use super::pairing::Settled;
use super::pivot::pivot;
use super::prepare::no_match;
use super::reference::{Chooser, References, Subject, Wanted};
use super::replay::judged_again;
use super::reports::{Reporting, Told, is_same_file};
use super::whole_file::write_whole;
use crate::compare::{Plan, Readings, Rules};
use crate::exit_code::ExitCode;
use crate::findings::{Findings, Method, Row, Verdicts, gates, status_of_gates as exit_code};
use crate::model::{
    BenchmarkKey, BySide, DecisionSettings, Measurement, Run, RunId, Side, Thresholds, Verdict,
};
use crate::report::{
    MessageFormat, Shown, TableFormat, VersionDifference, incomplete, without_colours, write_json,
    write_table, write_versions,
};
use crate::store::{Store, StoreError, WorkspaceId};
use perfcheck_stats::{EffectSize, cliffs_delta, hedges_g, median};

/// Runs the command.
pub fn compare(
    options: &CompareOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.comparison.check()?;
    check_reports(options, common)?;
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let stored = Stored {
        store: &store,
        workspace,
        context: &context,
        options,
    };
    if options.format.is_some() && common.output.format == MessageFormat::Json {
        return Err(AppError::Usage(
            "`--format` and `--message-format json` are two forms of one result: give one of them"
                .to_owned(),
        ));
    }
    match (&options.view, &options.candidates[..]) {
        (CompareView::Verdicts, [candidate]) => two(&stored, candidate, common, world),
        (CompareView::Verdicts, _) => columns(&stored, Shown::Judged, common, world),
        (CompareView::Pivot(request), _) => pivot(&stored, request, common, world),
        (CompareView::GroupBy(pattern), _) => group_by(&stored, pattern, common, world),
        (CompareView::Columns(shown), _) => columns(&stored, *shown, common, world),
    }
}

/// Reports are about verdicts, which one candidate has.
fn check_reports(options: &CompareOptions, common: &StoreOptions) -> Result<(), AppError> {
    let has_verdicts = options.view == CompareView::Verdicts && options.candidates.len() == 1;
    if !has_verdicts && !options.reports.wanted.is_empty() {
        return Err(AppError::Usage(
            "`--report` is about the verdicts of one candidate, not about columns or pivots\n  help: for those there are `--format` and `--output`".to_owned(),
        ));
    }
    options.reports.check(common.output.format)?;
    let Some(output) = &options.output else {
        return Ok(());
    };
    let mut files = options.reports.wanted.iter().map(|wanted| &wanted.file);
    if files.any(|file| file.as_ref().is_some_and(|file| is_same_file(file, output))) {
        return Err(AppError::Usage(format!(
            "`--report` and `--output` are both written to {}\n  help: give each a file of its own",
            output.display()
        )));
    }
    Ok(())
}

/// Compares two runs and writes the verdicts.
fn two(
    stored: &Stored<'_>,
    word: &str,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let (store, options) = (stored.store, stored.options);
    let base = resolve_run(store, stored.workspace, &options.base)?;
    let candidate = resolve_run(store, stored.workspace, word)?;
    refuse_itself((&options.base, base), (word, candidate))?;
    let head = store.run(candidate)?;
    let in_turn = head.pair.is_some_and(|pair| pair.partner == base);
    if in_turn && !options.comparison.is_of_other_systems() {
        return measured_in_turn(stored, base, &head, common, world);
    }
    let measurements = stored.measurements(candidate)?;
    let StoredComparison {
        mut rows,
        references,
        rules,
        mut limits,
    } = stored.compare(base, &options.base, &head, &measurements)?;
    let (settings, decision) = (&stored.context.tables.workspace, rules.decision);
    if rows.is_empty() {
        return Err(nothing_to_compare(store, options, &head, base));
    }
    let gates = gates(
        &rows,
        options.comparison.fail_rules(&stored.context.tables),
        &decision,
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
            remarks: {
                limits.extend(in_turn.then(rounds_as_launches));
                limits
            },
            advice: Vec::new(),
            gates,
        }),
        failed_targets: Vec::new(),
        confidence_level: decision.confidence_level,
        exit_code: ExitCode::Clean.number(),
    };
    let fail_on = options.comparison.fail_on(settings);
    let exit_code = ExitCode::of_verdicts(&findings.tally(), &fail_on, true).and(broken);
    findings.exit_code = exit_code.number();
    let named = (base, options.base.clone());
    let why = nothing_compared(exit_code, Some(&named), &findings.rows);
    if let Some(verdicts) = &mut findings.verdicts {
        verdicts.advice.extend(why);
    }
    let told = Told::Compared(None);
    write_two(stored, base, &findings, (&fail_on, told), common, world)?;
    Ok(exit_code)
}

/// Writes two runs in the form that the user wants, and the reports about them.
fn write_two(
    stored: &Stored<'_>,
    base: RunId,
    findings: &Findings<'_>,
    (fail_on, told): (&[Verdict], Told<'_>),
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let reporting = Reporting {
        options: &stored.options.reports,
        fail_on,
        context: stored.context,
        told,
    };
    let is_elsewhere = stored.options.output.is_some();
    let shown = if is_elsewhere || !stored.options.reports.replaces_table() {
        write_result(stored, base, findings, common, world)
    } else {
        Ok(())
    };
    // Where the result has no room, the reports may have some.
    shown.and(reporting.write_reports(findings, world))
}

/// The result itself.
fn write_result(
    stored: &Stored<'_>,
    base: RunId,
    findings: &Findings<'_>,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let options = stored.options;
    let format = match (common.output.format, options.format) {
        (MessageFormat::Json, _) => {
            return deliver(options, world, |writer| write_json(writer, findings));
        }
        (MessageFormat::Human, None | Some(TableFormat::Text)) => {
            let view = common.output.view_in(options.output.as_deref());
            return deliver(options, world, |writer| {
                write_table(writer, findings, &view)
            });
        }
        (MessageFormat::Human, Some(format)) => format,
    };
    let before = stored.measurements(base)?;
    let difference = |row: &Row<'_>| {
        let base = before.iter().find(|found| found.benchmark.key == row.key);
        version_difference(row, base, &findings.thresholds())
    };
    deliver(options, world, |writer| {
        write_versions(writer, findings, &difference, format)
    })
}

/// How large the difference to `base` is. Rounds of an A/B measurement have no effect sizes of their own: there they are of all samples.
fn version_difference(
    row: &Row<'_>,
    base: Option<&Measurement>,
    thresholds: &Thresholds,
) -> VersionDifference {
    let compared = row.verdict.is_some_and(Verdict::is_compared);
    let base = base.filter(|_| compared).and_then(Readings::of);
    let candidate = row.measurement.and_then(Readings::of);
    let (Some(base), Some(candidate)) = (base, candidate) else {
        return VersionDifference::default();
    };
    let (base_median, candidate_median) = (median(base.values()), median(candidate.values()));
    let known = row
        .comparison
        .as_ref()
        .and_then(|found| found.description.effects.as_ref());
    if let Some(known) = known {
        return VersionDifference {
            base_median,
            median: candidate_median,
            cliffs_delta: known.cliffs_delta,
            size: known.label.map(EffectSize::label),
            hedges_g: known.hedges_g,
        };
    }
    let (base, candidate) = (base.costs(), candidate.costs());
    let bounds = [
        thresholds.cliff_negligible,
        thresholds.cliff_small,
        thresholds.cliff_medium,
    ];
    let delta = cliffs_delta(&candidate, &base);
    VersionDifference {
        base_median,
        median: candidate_median,
        cliffs_delta: delta,
        size: delta.map(|delta| EffectSize::within(delta, bounds).label()),
        hedges_g: hedges_g(&candidate, &base),
    }
}

/// Writes to where the user wants the result.
pub(super) fn deliver(
    options: &CompareOptions,
    world: &mut World<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), AppError> {
    let file = options
        .output
        .as_ref()
        .filter(|path| **path != Path::new("-"));
    let Some(path) = file else {
        return Ok(write(world.stdout)?);
    };
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(write_whole(path, &without_colours(&text))?)
}

/// That no benchmark is left.
pub(super) fn nothing_to_compare(
    store: &Store,
    options: &CompareOptions,
    head: &Run,
    base: RunId,
) -> AppError {
    let candidate = head.id;
    AppError::NothingToCompare(if options.filter.words.is_empty() {
        format!("neither run {base} nor run {candidate} has a benchmark")
    } else {
        // A store that cannot be read now could be a moment ago: the names are a help alone.
        let verdicts = store.verdicts(candidate).unwrap_or_default();
        let all: Vec<&BenchmarkKey> = verdicts.iter().map(|found| &found.key).collect();
        let mut near: Vec<&BenchmarkKey> = Vec::new();
        for key in options
            .filter
            .words
            .iter()
            .flat_map(|word| alike(word, &all))
        {
            if !near.contains(&key) {
                near.push(key);
            }
        }
        let offered = if near.is_empty() {
            list("it has", &all)
        } else {
            list("did you mean", &near)
        };
        format!(
            "run {candidate} has {}{offered}\n  help: `cargo perfcheck show {candidate}` lists its benchmarks",
            no_match(&options.filter)
        )
    })
}

/// A comparison of stored runs, with what it needs to know.
pub(super) struct Stored<'a> {
    pub(super) store: &'a Store,
    pub(super) workspace: WorkspaceId,
    pub(super) context: &'a Context,
    pub(super) options: &'a CompareOptions,
}

/// What a comparison of two stored runs gave.
pub(super) struct StoredComparison<'m> {
    pub(super) rows: Vec<Row<'m>>,
    pub(super) references: References,
    pub(super) rules: Rules,
    /// What a reader must know of it as a whole.
    pub(super) limits: Vec<String>,
}

impl Stored<'_> {
    /// What `run` measured of the benchmarks that are wanted.
    pub(super) fn measurements(&self, run: RunId) -> Result<Vec<Measurement>, StoreError> {
        let measurements = self.store.measurements(run, None)?.into_iter();
        Ok(measurements
            .filter(|measurement| self.options.filter.wants(&measurement.benchmark.key.id))
            .collect())
    }

    /// Compares `measurements` of `head` with the run that the user calls `name`.
    pub(super) fn compare<'m>(
        &self,
        base: RunId,
        name: &str,
        head: &Run,
        measurements: &'m [Measurement],
    ) -> Result<StoredComparison<'m>, AppError> {
        let options = self.options;
        let subjects: Vec<Subject> = measurements
            .iter()
            .map(|measurement| Subject {
                key: measurement.benchmark.key.clone(),
                target_facts: measurement.target_facts.clone(),
                version: measurement.benchmark.version.clone(),
                metric: measurement.benchmark.metric.clone(),
            })
            .collect();
        let chooser = Chooser {
            store: self.store,
            workspace: self.workspace,
            checkout: self.context.checkout.as_ref(),
            environment: &head.environment,
            allowed: &options.comparison.allow_different,
            candidate: Some(head.id),
        };
        let references = chooser.choose(&Wanted::Named(base, name), &subjects)?;
        let settings = &self.context.tables.workspace;
        let base = self.store.run(base)?;
        let comparison = suited(&options.comparison, &base, head);
        let rules = Rules {
            decision: comparison.decision(settings),
            decider: comparison.decider(),
            host: host_class(settings.shared_host, head.environment.host.shared),
            // A comparison of stored runs is always the same: the seed is stored too.
            seed: options.comparison.seed.unwrap_or(head.seed),
        };
        let threshold = options.comparison.noise_threshold;
        let rows = rows(&Evidence {
            store: self.store,
            measurements,
            references: &references,
            rules: &rules,
            noise_threshold: &|measurement: &Measurement| {
                threshold.unwrap_or(measurement.noise_threshold)
            },
            in_scope: &|key: &BenchmarkKey| options.filter.wants(&key.id),
            failed_targets: &BTreeSet::new(),
        })?;
        Ok(StoredComparison {
            rows,
            references,
            rules,
            limits: limits(&base, head)
                .into_iter()
                .chain(sampled_differently(&base, head))
                // The table says it of the candidate.
                .chain(incomplete(&base))
                .collect(),
        })
    }

    /// The two sides of an A/B measurement: the verdict of that time, reached again from what is stored.
    pub(super) fn judged_in_turn(
        &self,
        base: RunId,
        head: &Run,
    ) -> Result<(Paired, Vec<Settled>, Plan), AppError> {
        let options = self.options;
        if head.pair.is_some_and(|pair| pair.side == Side::Base) {
            return Err(AppError::Usage(format!(
                "run {} is the base that run {base} was measured against\n  help: cargo perfcheck compare {} {base}",
                head.id, head.id
            )));
        }
        let runs = BySide {
            base,
            candidate: head.id,
        };
        let (mut found, plan) = judged_again(self.store, &runs, head, |measurements| {
            measurements.retain(|measurement| options.filter.wants(&measurement.benchmark.key.id));
            for measurement in measurements {
                let said = options.comparison.noise_threshold;
                measurement.noise_threshold = said.unwrap_or(measurement.noise_threshold);
            }
        })?;
        found.about(options.comparison.analysis.subject, &head.decision);
        let settled = without_measurement(self.store, head.id, &found)?;
        let settled: Vec<Settled> = settled
            .into_iter()
            .filter(|settled| options.filter.wants(&settled.key.id))
            .collect();
        Ok((found, settled, plan))
    }
}

/// That a run is no reference for itself.
pub(super) fn refuse_itself(base: (&str, RunId), candidate: (&str, RunId)) -> Result<(), AppError> {
    if base.1 != candidate.1 {
        return Ok(());
    }
    Err(AppError::Usage(format!(
        "`{}` and `{}` are the same run ({}): a run cannot be compared with itself",
        base.0, candidate.0, base.1
    )))
}

/// Writes what the two sides of an A/B measurement say.
fn measured_in_turn(
    stored: &Stored<'_>,
    base: RunId,
    head: &Run,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let (options, context) = (stored.options, stored.context);
    let (found, settled, plan) = stored.judged_in_turn(base, head)?;
    let mut rows = paired_rows(&found, &settled, &head.decision, plan.seed);
    if rows.is_empty() {
        return Err(nothing_to_compare(stored.store, options, head, base));
    }
    let gates = gates(
        &rows,
        options.comparison.fail_rules(&context.tables),
        &head.decision,
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
        failed_targets: Vec::new(),
        confidence_level: head.decision.confidence_level,
        exit_code: 0,
    };
    let fail_on = options.comparison.fail_on(&context.tables.workspace);
    let exit_code = ExitCode::of_verdicts(&findings.tally(), &fail_on, true).and(broken);
    findings.exit_code = exit_code.number();
    let told = Told::Compared(Some(&plan));
    write_two(stored, base, &findings, (&fail_on, told), common, world)?;
    Ok(exit_code)
}

/// That one of two runs is a side of an A/B measurement and the other none.
fn sampled_differently(base: &Run, head: &Run) -> Option<String> {
    let (side, plain) = match (base.pair, head.pair) {
        (Some(_), None) => (base.id, head.id),
        (None, Some(_)) => (head.id, base.id),
        _ => return None,
    };
    Some(format!(
        "run {side} was sampled in turn with another build, in many short rounds, run {plain} alone: small changes may come from that"
    ))
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
        .candidate
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
