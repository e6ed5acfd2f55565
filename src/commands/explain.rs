//! `cargo perfcheck explain ID`: explains a stored verdict in sentences, with the machine code of both builds, or as flame graphs.

mod kept_builds;

use self::kept_builds::{check_graph_destination, compare_machine_code, draw_flame_graph};
use crate::error::AppError;
use crate::naming::{find_candidates, list_keys, similar_keys, unambiguous_word};
use crate::options::CommonOptions;
use crate::output::{
    BenchmarkSelector, CodeExtent, Explanation, ExplanationDepth, terminal_width,
    write_explanation, write_machine_code,
};
use crate::pipeline::counting::counting_request;
use crate::pipeline::next_steps::workspace_flags;
use crate::pipeline::record::to_stored_verdict;
use crate::sanitize::shell_command;
use crate::session::{Context, World, resolve_run};
use crate::stored::comparison::{read_side, run_with_verdicts, summarize_side};
use crate::stored::conclusions::{parse_plan, read_findings};
use clap::Args;
use perfcheck_analysis::compare::HostControls;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{CodeChange, Findings, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Metric, ProgressReporter, Run, RunId, RunStatus, Side,
};
use perfcheck_store::{Store, WorkspaceId};
use std::path::PathBuf;

const AFTER_EXPLAIN: &str = "\
Says in a few lines what changed, what the run was compared with, how certain the change is, where in the code it happened, and what
to do. With --full, it also says what was measured, which values were used, which condition decided, and what would have led to another
verdict. Nothing is built; only --flamegraph runs the benchmark.

With --asm, it instead prints the machine code of one function in both builds side by side, and marks the differences. It reads
the executables that a run keeps (Linux on x86-64 or 64-bit ARM, with symbols). Long identical parts are printed only with --full.

With --flamegraph, it runs the benchmark in both executables under valgrind to count instructions, and draws two flame graphs on the
same scale in an SVG file. They are red where the new build executes more instructions, and blue where it executes fewer.

Examples:
  cargo perfcheck explain sort/10               the newest verdict about `sort/10`
  cargo perfcheck explain json --run 12         run 12's verdict on the only benchmark with `json` in its id
  cargo perfcheck explain sort/10 --full        the whole derivation (JSON always includes it)
  cargo perfcheck explain sort/10 --asm merge   the machine code of `sorts::merge` before and after
  cargo perfcheck explain sort/10 --flamegraph sort.svg
                                                where the benchmark executes instructions, before and after

Exit status: 0 whatever the verdict is; 2 usage error, no such benchmark or no such function; 4 instructions cannot be counted;
5 store or output file unusable; 6 no such run, no verdict yet, or no readable executable kept.";

/// Options of `explain`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_EXPLAIN)]
pub struct ExplainOptions {
    /// The benchmark: its id, part of its id, or the name of a bench target that has only one benchmark
    #[arg(value_name = "ID")]
    pub bench: String,
    /// Explain the verdict of this run: a number, baseline, `latest` or `@commit` [default: the newest run with a verdict]
    #[arg(long, value_name = "RUN", allow_negative_numbers = true)]
    pub run: Option<String>,
    /// Print the whole derivation of the verdict
    #[arg(long)]
    pub full: bool,
    /// Print the machine code of this function in both builds side by side; part of its name is enough
    #[arg(long, value_name = "FUNCTION")]
    pub asm: Option<String>,
    /// Count the instructions of both builds under valgrind and draw them as flame graphs in an SVG file; `-` is stdout
    #[arg(long, value_name = "FILE", conflicts_with_all = ["asm", "full"])]
    pub flamegraph: Option<PathBuf>,
}

/// Carries out `cargo perfcheck explain`.
pub fn explain(
    options: &ExplainOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(file) = &options.flamegraph {
        check_graph_destination(file, common.output.format)?;
    }
    let context = Context::load(common, world)?;
    let (store, workspace) = context.open_required()?;
    let bench = &options.bench;
    let (key, head) = match &options.run {
        Some(word) => {
            let head = run_with_verdicts(&store, resolve_run(&store, workspace, word)?)?;
            (resolve_in_run(&store, workspace, bench, &head)?, head)
        }
        None => resolve_newest(&store, workspace, bench)?,
    };
    let measured = store.measurements(head.id, None)?;
    let findings = read_findings(
        &context,
        &store,
        &head,
        &measured,
        &ProgressReporter::silent(),
    )?;
    let row = findings.rows.iter().find(|row| row.key == key);
    let columns = store.verdicts(head.id)?.into_iter();
    // The store has no verdicts of an interrupted run, so derive them from its rows.
    let known = columns
        .chain(row.and_then(to_stored_verdict))
        .find(|known| known.key == key);
    let (Some(row), Some(known)) = (row, known) else {
        return Err(no_verdict_error(&key, &head));
    };
    let code = find_code_change(&findings, row);
    if let Some(file) = &options.flamegraph {
        let base = find_base_run(&store, &head, row)?;
        let runs = BySide {
            base: &base,
            candidate: &head,
        };
        let wanted = counting_request(&key, row.measurement);
        draw_flame_graph(file, &wanted, runs, &context, common, world)?;
        return Ok(ExitCode::Clean);
    }
    if let Some(function) = &options.asm {
        let base = find_base_run(&store, &head, row)?;
        let runs = BySide {
            base: &base,
            candidate: &head,
        };
        let found = compare_machine_code(function, &key, runs, code, &context, common, world)?;
        let shown = if options.full {
            CodeExtent::Whole
        } else {
            CodeExtent::Differences
        };
        let columns = terminal_width();
        write_machine_code(world.stdout, &found, shown, columns, common.output.format)?;
        return Ok(ExitCode::Clean);
    }
    let candidate = row
        .measurement
        .map(|measurement| summarize_side(&head, measurement));
    let mut base = Vec::new();
    for run in row.compared_runs(&head).into_iter().flatten() {
        base.extend(read_side(&store, run, &key)?);
    }
    let method = findings.verdicts.as_ref().map(|found| found.method);
    let plan = parse_plan(&head);
    let explanation = Explanation {
        key: &key,
        metric: row
            .measurement
            .map_or(&Metric::Time, |found| &found.benchmark.metric),
        run: &head,
        verdict: known.verdict,
        change: known.change,
        reference: known.reference,
        candidate,
        base,
        signs: HostControls::from_measurements(measured.iter()),
        failures: row.measurement.map_or(&[][..], |found| &found.failures),
        row: method.map(|_| row),
        method,
        code,
        plan: plan.as_ref().filter(|_| head.pair.is_some()),
    };
    let depth = if options.full {
        ExplanationDepth::Full
    } else {
        ExplanationDepth::Summary(BenchmarkSelector {
            word: unambiguous_word(&key, findings.rows.iter().map(|row| &row.key)),
            place: workspace_flags(common),
        })
    };
    write_explanation(world.stdout, &explanation, depth, common.output.format)?;
    Ok(ExitCode::Clean)
}

/// Returns the run that `head` was compared with: the other side of its pair, or else the first run that the comparison used.
fn find_base_run(store: &Store, head: &Run, row: &Row<'_>) -> Result<Run, AppError> {
    let of_pair = head.pair.map(|pair| pair.partner);
    let compared = || row.compared_runs(head).into_iter().flatten().next();
    let Some(base) = of_pair.or_else(compared) else {
        return Err(AppError::NothingToLookInto(format!(
            "run {} did not compare `{}` with anything\n  help: use `cargo perfcheck --against REV` to measure it side by side with a revision and to keep both builds",
            head.id,
            row.key.id.escape_debug()
        )));
    };
    Ok(store.run(base)?)
}

/// Returns the functions whose code differs between both executables of the benchmark, if the run recorded them.
fn find_code_change<'f>(findings: &'f Findings<'_>, row: &Row<'_>) -> Option<&'f CodeChange> {
    let remarks = findings.verdicts.iter().flat_map(|found| &found.remarks);
    remarks
        .filter_map(RunNote::code)
        .find(|code| code.builds().covers(&row.key, &row.reference))
}

/// Resolves the user's word to a benchmark of this run.
fn resolve_in_run(
    store: &Store,
    workspace: WorkspaceId,
    bench: &str,
    head: &Run,
) -> Result<BenchmarkKey, AppError> {
    let mut keys: Vec<BenchmarkKey> = store
        .verdicts(head.id)?
        .into_iter()
        .map(|verdict| verdict.key)
        .collect();
    if is_interrupted_comparison(head) {
        keys.extend(measured_benchmarks(store, head.id)?);
    }
    let with_verdict: Vec<&BenchmarkKey> = keys.iter().collect();
    if let Some(key) = only_match(&find_candidates(bench, &with_verdict), bench)? {
        return Ok(key.clone());
    }
    let all = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = all.iter().map(|benchmark| &benchmark.key).collect();
    Err(match only_match(&find_candidates(bench, &all), bench)? {
        Some(key) => no_verdict_error(key, head),
        None => no_such_error(bench, &with_verdict, &format!("run {} has", head.id)),
    })
}

/// Resolves the user's word to a benchmark, and finds the newest run with a verdict on it.
fn resolve_newest(
    store: &Store,
    workspace: WorkspaceId,
    bench: &str,
) -> Result<(BenchmarkKey, Run), AppError> {
    let measured = store.benchmarks(workspace)?;
    // Benchmarks without measurements may have verdicts, too: `missing`, or `new` in a side-by-side measurement.
    let latest = match store.latest_run(workspace)? {
        Some(run) => store.verdicts(run)?,
        None => Vec::new(),
    };
    let mut all: Vec<&BenchmarkKey> = measured
        .iter()
        .map(|benchmark| &benchmark.key)
        .chain(latest.iter().map(|verdict| &verdict.key))
        .collect();
    all.sort_unstable();
    all.dedup();
    let Some(key) = only_match(&find_candidates(bench, &all), bench)? else {
        return Err(no_such_error(bench, &all, "the store has"));
    };
    let newest = store.newest_verdict(workspace, key)?;
    // If the newest run was interrupted, the user has just seen its output and means that run.
    let last = store.runs(workspace, Some(1))?.pop().map(|last| last.run);
    if let Some(last) = last
        && newest.is_none_or(|newest| newest < last.id)
        && is_interrupted_comparison(&last)
        && measured_benchmarks(store, last.id)?.contains(key)
    {
        return Ok((key.clone(), last));
    }
    match newest {
        Some(run) => Ok((key.clone(), store.run(run)?)),
        None => Err(AppError::NoVerdict(format!(
            "no complete run has a verdict about `{}` yet\n  help: `{}` measures and compares it; `cargo perfcheck show` prints what was measured",
            key.id.escape_debug(),
            shell_command(
                "cargo perfcheck --exact",
                &[&unambiguous_word(key, all.iter().copied())],
                ""
            )
        ))),
    }
}

/// Reports whether the run is the candidate of an interrupted side-by-side measurement.
fn is_interrupted_comparison(run: &Run) -> bool {
    let is_candidate = run.pair.is_some_and(|pair| pair.side == Side::Candidate);
    is_candidate && run.status == RunStatus::Incomplete
}

fn measured_benchmarks(store: &Store, run: RunId) -> Result<Vec<BenchmarkKey>, AppError> {
    let measured = store.measurements(run, None)?.into_iter();
    Ok(measured.map(|found| found.benchmark.key).collect())
}

/// Returns the benchmark that was found, or `None` if there is none. It is an error if there are several.
fn only_match<'k>(
    found: &[&'k BenchmarkKey],
    bench: &str,
) -> Result<Option<&'k BenchmarkKey>, AppError> {
    match found {
        [] => Ok(None),
        [key] => Ok(Some(*key)),
        _ => Err(AppError::Usage(format!(
            "`{bench}` matches {} benchmarks{}",
            found.len(),
            list_keys("name one of", found)
        ))),
    }
}

fn no_such_error(bench: &str, all: &[&BenchmarkKey], whose: &str) -> AppError {
    let near = similar_keys(bench, all);
    let named = if near.is_empty() {
        list_keys("it has", all)
    } else {
        list_keys("did you mean", &near)
    };
    AppError::Usage(format!(
        "{whose} no benchmark `{bench}`{named}\n  help: `cargo perfcheck history` lists the benchmarks in the store"
    ))
}

fn no_verdict_error(key: &BenchmarkKey, head: &Run) -> AppError {
    let why = match head.status {
        RunStatus::Incomplete => "the run was interrupted",
        RunStatus::Complete => "the run does not have this benchmark",
    };
    AppError::NoVerdict(format!(
        "run {} has no verdict about `{}`: {why}\n  help: omit `--run` to explain the newest verdict",
        head.id,
        key.id.escape_debug()
    ))
}
