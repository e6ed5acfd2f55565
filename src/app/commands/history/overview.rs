//! `cargo perfcheck history` without a benchmark: lists all benchmarks in the store with their latest times.

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::report::{BenchmarkLine, write_benchmarks};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{BenchmarkKey, RunStatus, Verdict};
use perfcheck_engine::store::{BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter};

/// Number of latest runs whose values are drawn.
const LAST_RUNS: usize = 16;

/// Runs the command.
pub(super) fn overview(
    only: &[Verdict],
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let found = store.benchmarks(workspace)?;
    let keys: Vec<BenchmarkKey> = found.iter().map(|found| found.key.clone()).collect();
    let query = HistoryQuery {
        branch: BranchFilter::Any,
        runs: RunFilter::Own,
        before: None,
        limit: LAST_RUNS,
    };
    let history = store.history(workspace, &keys, &query)?;
    let mut lines: Vec<BenchmarkLine> = found
        .into_iter()
        .filter(|found| {
            let is_wanted = |verdict: Verdict| only.contains(&verdict);
            only.is_empty() || found.verdict.is_some_and(is_wanted)
        })
        .map(|found| BenchmarkLine {
            last_values_ns: last_values(&history, &found.key),
            key: found.key,
            runs: found.runs,
            last_run: found.last_run,
            last_started: perfcheck_engine::host::to_rfc3339(found.last_started),
            typical_ns: found.typical_ns,
            metric: found.metric,
            change: found.change,
            verdict: found.verdict,
        })
        .collect();
    let change = |line: &BenchmarkLine| line.change.unwrap_or(f64::NEG_INFINITY);
    let time = |line: &BenchmarkLine| line.typical_ns.unwrap_or(f64::NEG_INFINITY);
    let rank = |line: &BenchmarkLine| (line.verdict.is_none(), line.verdict);
    // The sorts below are stable, so ties stay in this order.
    lines.sort_by(|a, b| a.key.cmp_natural(&b.key));
    match common.output.order() {
        Order::Name => {}
        Order::Change => lines.sort_by(|a, b| change(b).total_cmp(&change(a))),
        Order::Time => lines.sort_by(|a, b| time(b).total_cmp(&time(a))),
        Order::WorstFirst => {
            lines.sort_by(|a, b| (rank(a).cmp(&rank(b))).then(change(b).total_cmp(&change(a))));
        }
    }
    let view = common.output.view();
    write_benchmarks(world.stdout, &lines, common.output.format, &view)?;
    Ok(ExitCode::Clean)
}

/// Returns the values of the last runs on the newest run's branch, oldest first. They start anew at a change of version or metric.
fn last_values(history: &History, key: &BenchmarkKey) -> Vec<Option<f64>> {
    let past = history.benchmarks.get(key).map_or(&[][..], Vec::as_slice);
    let is_complete = |found: &&PastMeasurement| {
        let head = history.runs.get(&found.run);
        head.is_some_and(|head| head.status == RunStatus::Complete)
    };
    let mut past = past.iter().filter(is_complete).peekable();
    let Some(newest) = past.peek().copied() else {
        return Vec::new();
    };
    let branch = |found: &PastMeasurement| {
        let git = history
            .runs
            .get(&found.run)
            .map(|head| head.begun.git.as_ref());
        git.map(|git| git.and_then(|git| git.branch.as_deref()))
    };
    let alike = past
        .filter(|run| branch(run) == branch(newest))
        .take_while(|run| {
            let (then, now) = (&run.conditions, &newest.conditions);
            then.version == now.version && then.metric == now.metric
        });
    let mut values: Vec<Option<f64>> = alike.map(|run| run.typical_ns).collect();
    values.reverse();
    values
}
