//! `cargo perfcheck compare`: compares stored runs with each other. Shows verdicts on one candidate, or another view of the selected runs.

mod columns;
mod grouping;
mod options;
mod pivot;
mod pivot_request;

pub use self::options::{CompareOptions, GroupPattern};
pub use self::pivot_request::{PivotRequest, PivotValue, Versus};

use self::columns::compare_columns;
use self::grouping::group_by;
use self::options::CompareCall;
use self::pivot::show_pivot;
use crate::delivery::method::explain_method;
use crate::delivery::reports::{ReportWriter, RequestedReportKind};
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{
    MessageFormat, ShownStatistics, TableFormat, VersionDifference, write_json, write_table,
    write_versions,
};
use crate::pipeline::next_steps::explain_nothing_compared;
use crate::session::{Context, NamedRun, World};
use crate::stored::comparison::StoredComparison;
use perfcheck_analysis::compare::Readings;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Findings, Method, Row};
use perfcheck_analysis::model::{Measurement, Thresholds, Verdict};
use perfcheck_stats::{EffectSize, cliffs_delta, hedges_g};

/// Carries out `cargo perfcheck compare`.
pub fn compare(
    options: &CompareOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if options.comparison.analysis.explain {
        return explain_method(&options.comparison, common, world);
    }
    check_reports(options, common)?;
    let context = Context::load(common, world)?;
    // A pivot has its own test; clap rejects flags that do not apply to it.
    if options.pivot.is_none() {
        options.comparison.check(&context.tables.workspace)?;
    }
    let (store, workspace) = context.open_required()?;
    let call = CompareCall {
        stored: StoredComparison {
            store: &store,
            workspace,
            context: &context,
            filter: &options.filter(),
            options: &options.comparison,
        },
        options,
        base: options.base(),
        candidates: options.candidates(),
    };
    if let Some(pattern) = &options.group_by {
        return group_by(&call, pattern, common, world);
    }
    if let Some(request) = &options.pivot {
        return show_pivot(&call, request, common, world);
    }
    match call.candidates[..] {
        [candidate] if options.has_verdicts() => compare_two(&call, candidate, common, world),
        _ => compare_columns(
            &call,
            options.statistic.unwrap_or(ShownStatistics::Judged),
            common,
            world,
        ),
    }
}

/// Refuses reports on verdicts unless there is exactly one candidate, and pictures unless benchmarks are grouped.
fn check_reports(options: &CompareOptions, common: &CommonOptions) -> Result<(), AppError> {
    let has_verdicts = options.has_verdicts();
    let has_picture = options.group_by.is_some();
    let is_known = |kind: RequestedReportKind| match kind {
        RequestedReportKind::Findings(_) | RequestedReportKind::Page => has_verdicts,
        RequestedReportKind::Picture => has_picture,
        RequestedReportKind::Table(_) => true,
        RequestedReportKind::Tracefile => false,
    };
    options.reports.refuse(
        is_known,
        if has_verdicts {
            "needs groups\n  help: add `--group-by REGEX`, or draw one benchmark with `cargo perfcheck show RUN ID --report svg`"
        } else {
            "not available for this comparison\n  help: use `text`, `csv` or `markdown-table`, or compare exactly one candidate"
        },
    )?;
    options.reports.check(common.output.format)
}

/// Compares two runs and writes the verdicts.
fn compare_two(
    call: &CompareCall<'_>,
    word: &str,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let (store, options) = (call.stored.store, call.options);
    let named = NamedRun::resolve(store, call.stored.workspace, call.base)?;
    let candidate = NamedRun::resolve(store, call.stored.workspace, word)?;
    let comparison = &call.stored;
    let both = comparison.read(named.clone(), &candidate)?;
    let count = both.measured.candidate.len();
    let mut concluded = world.with_progress("Comparing", count, |progress| {
        comparison.conclude(&both, progress)
    })?;
    let exit_code = concluded.exit_code;
    if concluded.verdicts.method != Method::Paired {
        let why = explain_nothing_compared(exit_code, Some(&named), &concluded.rows);
        concluded.verdicts.advice.extend(why);
    }
    common.output.order().sort(&mut concluded.rows);
    let findings = Findings::new(&both.heads.candidate, concluded);
    let difference = |row: &Row<'_>| {
        let mut before = both.measured.base.iter();
        let base = before.find(|found| found.benchmark.key == row.key);
        version_difference(row, base, &findings.thresholds())
    };
    let shown = call.write(&common.output, world, |writer, format, form, view| {
        match (format, form) {
            (MessageFormat::Json, _) => write_json(writer, &findings),
            (MessageFormat::Human, TableFormat::Text) => write_table(writer, &findings, view),
            (MessageFormat::Human, form) => write_versions(writer, &findings, &difference, form),
        }
    });
    let fail_on = options
        .comparison
        .failure
        .fail_on(&call.stored.context.tables.workspace);
    let reporting = ReportWriter {
        options: &options.reports,
        fail_on: &fail_on,
        context: call.stored.context,
        store,
        workspace: call.stored.workspace,
    };
    // Write the reports even if writing the result failed.
    shown.and(reporting.write_reports(&findings, world))?;
    Ok(exit_code)
}

/// Returns how much a benchmark differs from its measurement `base`, as effect sizes. The conclusion of a side-by-side measurement has no effect
/// sizes, so they are computed from the samples then.
fn version_difference(
    row: &Row<'_>,
    base: Option<&Measurement>,
    thresholds: &Thresholds,
) -> VersionDifference {
    let compared = row.verdict.is_some_and(Verdict::is_compared);
    let base = base
        .filter(|_| compared)
        .and_then(Readings::from_measurement);
    let candidate = row.measurement.and_then(Readings::from_measurement);
    let (Some(base), Some(candidate)) = (base, candidate) else {
        return VersionDifference::default();
    };
    let known = row
        .comparison
        .as_ref()
        .and_then(|found| found.description.effects.as_ref());
    if let Some(known) = known {
        return VersionDifference {
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
        cliffs_delta: delta,
        size: delta.map(|delta| EffectSize::classify(delta, bounds).label()),
        hedges_g: hedges_g(&candidate, &base),
    }
}
