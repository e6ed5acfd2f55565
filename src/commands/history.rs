//! The `history` command: selects benchmarks and a branch, then reads and shows their histories. Without a benchmark, it lists all benchmarks in the
//! store with their latest times. With `--measure`, it first measures commits of the past.

mod measure;
mod options;
mod refine;
mod scope;

pub use self::options::HistoryOptions;

use self::measure::measure_past;
use self::scope::{Branch, HistoryScope};
use crate::error::AppError;
use crate::naming::{find_candidates, list_keys, similar_keys};
use crate::options::CommonOptions;
use crate::output::{BenchmarkLine, write_benchmarks};
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{BenchmarkKey, ProgramBenchmark, RunStatus, Verdict};
use perfcheck_store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, WorkspaceId,
};

/// Carries out `cargo perfcheck history`.
pub fn history(
    options: &HistoryOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(range) = &options.measuring.measure {
        if options.is_about_builds() {
            return Err(AppError::Usage(
                "`--measure` measures benchmarks, not builds\n  help: leave out `--metric build-time`".to_owned(),
            ));
        }
        return measure_past(range, options, common, world);
    }
    if options.is_overview() {
        return overview(&options.verdict, common, world);
    }
    let context = Context::load(common, world)?;
    let since = match &options.since {
        Some(text) => Some(perfcheck_host::parse_moment(text).map_err(AppError::Usage)?),
        None => None,
    };
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let keys = selected_benchmarks(options, &store, workspace)?;
    let scope = HistoryScope {
        branch: Branch::resolve(options, &keys, &context, &store, workspace, world)?,
        limit: options.limit(),
        since,
    };
    scope.write_histories(&keys, options, (&store, workspace), common, world)?;
    Ok(ExitCode::Clean)
}

/// Returns the benchmarks that the filters select.
fn selected_benchmarks(
    options: &HistoryOptions,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Vec<BenchmarkKey>, AppError> {
    let stored = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = stored.iter().map(|benchmark| &benchmark.key).collect();
    let filter = options.filter();
    let found: Vec<&BenchmarkKey> = match &filter.words[..] {
        // A complete id selects only that benchmark, even if other ids contain it.
        [word] if !filter.exact => find_candidates(word, &all),
        _ => all
            .iter()
            .copied()
            .filter(|key| filter.matches(key))
            .collect(),
    };
    if found.is_empty() && !all.is_empty() {
        let words = filter.words.join("`, `");
        let near = filter
            .words
            .first()
            .map_or_else(Vec::new, |word| similar_keys(word, &all));
        return Err(AppError::Usage(format!(
            "no benchmark in the store has `{words}` in its id{}\n  help: `cargo perfcheck history` lists all benchmarks",
            list_keys("did you mean", &near)
        )));
    }
    let is_shown =
        |key: &&BenchmarkKey| !options.is_about_builds() || ProgramBenchmark::is_build(&key.target);
    Ok(found.into_iter().filter(is_shown).cloned().collect())
}

/// In the list of all benchmarks, the values of this many newest runs are drawn.
const LAST_RUNS: usize = 16;

/// Lists all benchmarks in the store. If `only` is not empty, lists only those whose latest verdict is in `only`.
fn overview(
    only: &[Verdict],
    common: &CommonOptions,
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
            last_started: perfcheck_host::to_rfc3339(found.last_started),
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

/// Returns the values that are drawn for a benchmark, oldest first: those of complete runs on the branch of the newest complete run. Leaves out runs
/// from before the last change of the benchmark's version or metric.
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
