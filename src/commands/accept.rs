//! `cargo perfcheck accept RUN | FILTER...`: accepts the intentional changes of whole runs or of single benchmarks, or takes an earlier acceptance
//! back.

use crate::error::AppError;
use crate::naming::{find_candidates, full_name, list_keys, similar_keys};
use crate::options::CommonOptions;
use crate::pipeline::record::refuse_incomplete;
use crate::session::{Context, World, resolve_reference};
use clap::Args;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Purpose, RunId, RunVerdict, Side, Verdict,
};
use perfcheck_store::{Store, StoreError, WorkspaceId};

const AFTER_ACCEPT: &str = "\
Accepts an intentional change: later runs are compared with the new value. The noise seen in earlier runs still counts.

Examples:
  cargo perfcheck accept 12               all benchmarks of run 12
  cargo perfcheck accept sort/10          only this benchmark, as the newest run measured it
  cargo perfcheck accept sort --run 12    benchmarks with `sort` in their id that run 12 called regressed or suspect
  cargo perfcheck accept sort/10 --undo   undo it

Exit status: 0 success, 2 usage error or no such benchmark, 5 store unusable, 6 no such run.";

/// Options of `accept`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = AFTER_ACCEPT)]
pub struct AcceptOptions {
    /// Runs (a number, baseline, `latest` or `@commit`) or benchmarks (an id, or part of the id of regressed or suspect ones)
    #[arg(
        value_name = "RUN|FILTER",
        required = true,
        allow_negative_numbers = true
    )]
    pub what: Vec<String>,
    /// Accept the benchmarks as this run measured them [default: the newest]
    #[arg(long, value_name = "RUN", allow_negative_numbers = true)]
    pub run: Option<String>,
    /// Undo an acceptance
    #[arg(long)]
    pub undo: bool,
}

/// The runs or the benchmarks that the user's words select.
enum AcceptTargets {
    Runs(Vec<RunId>),
    Benchmarks(RunId, Vec<BenchmarkKey>),
}

/// Carries out `cargo perfcheck accept`.
pub fn accept(
    options: &AcceptOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let (mut store, workspace) = context.open_required_for_writing()?;
    let message = match (resolve_targets(options, &store, workspace)?, options.undo) {
        (AcceptTargets::Runs(runs), undo) => {
            let one = if undo { withdraw_run } else { accept_run };
            let done = runs.into_iter().map(|run| one(&mut store, run));
            done.collect::<Result<Vec<_>, _>>()?.join("\n")
        }
        (AcceptTargets::Benchmarks(run, keys), false) => {
            let new = store.accept_steps(workspace, run, &keys, perfcheck_host::now())?;
            if new.is_empty() {
                format!("Already accepted from run {run}.")
            } else {
                format!(
                    "Accepted from run {run}: later runs compare {} with it; other benchmarks are unaffected.{}",
                    if let [only] = &new[..] {
                        format!("`{}`", only.id.escape_debug())
                    } else {
                        format!("these {} benchmarks", new.len())
                    },
                    format_lines(&new)
                )
            }
        }
        (AcceptTargets::Benchmarks(run, keys), true) => {
            let gone = store.withdraw_steps(workspace, run, &keys)?;
            if gone.is_empty() {
                format!(
                    "Nothing to undo: none of these benchmarks was accepted individually from run {run}."
                )
            } else {
                format!("No longer accepted from run {run}:{}", format_lines(&gone))
            }
        }
    };
    if !common.output.quiet {
        writeln!(world.stderr, "{message}")?;
    }
    Ok(ExitCode::Clean)
}

fn accept_run(store: &mut Store, run: RunId) -> Result<String, StoreError> {
    store.accept(run)?;
    Ok(format!(
        "Run {run} is accepted: later runs are compared with it."
    ))
}

fn withdraw_run(store: &mut Store, run: RunId) -> Result<String, StoreError> {
    Ok(match store.withdraw_acceptance(run)? {
        None => {
            format!("Nothing to undo: run {run} was not accepted with `cargo perfcheck accept`.")
        }
        Some(Acceptance::Pending) => format!(
            "Run {run} is no longer accepted: later runs are compared with the runs before it."
        ),
        Some(_) => format!(
            "Run {run} is no longer marked as an intentional change, but later runs are still compared with it."
        ),
    })
}

/// Formats the full names of benchmarks, each on a new line.
fn format_lines(keys: &[BenchmarkKey]) -> String {
    let line = |key: &BenchmarkKey| format!("\n    {}", full_name(key));
    keys.iter().map(line).collect()
}

/// Decides whether the words of the command line name runs or benchmarks, and finds these. With `--run`, all words are benchmarks. A single word is a
/// run if there is a run of this name. Several words are runs only if each of them is a number, `latest` or `@commit`.
fn resolve_targets(
    options: &AcceptOptions,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<AcceptTargets, AppError> {
    // Allow an undo for any complete run: an earlier version of the tool may have accepted the base of a pair.
    let refuse = |run| {
        refuse_incomplete(store, run)?;
        if options.undo {
            Ok(())
        } else {
            refuse_side(store, run)
        }
    };
    if options.run.is_none() && options.what.iter().all(|word| is_run_word(word)) {
        let words = options.what.iter();
        let runs = words.map(|word| resolve_reference(store, workspace, word));
        let runs: Vec<RunId> = runs.collect::<Result<_, _>>()?;
        runs.iter().try_for_each(|run| refuse(*run))?;
        return Ok(AcceptTargets::Runs(runs));
    }
    if let ([word], None) = (&options.what[..], &options.run) {
        match resolve_reference(store, workspace, word) {
            Ok(run) => {
                refuse_ambiguity(word, store, workspace)?;
                refuse(run)?;
                return Ok(AcceptTargets::Runs(vec![run]));
            }
            Err(AppError::NoSuchRun { .. }) if !store.benchmarks(workspace)?.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    let run = resolve_reference(store, workspace, options.run.as_deref().unwrap_or("latest"))?;
    refuse_incomplete(store, run)?;
    refuse_side(store, run)?;
    let verdicts = store.verdicts(run)?;
    let mut keys = Vec::new();
    for word in &options.what {
        keys.extend(resolve_benchmarks(word, run, &verdicts, options.undo)?);
    }
    keys.sort();
    keys.dedup();
    Ok(AcceptTargets::Benchmarks(run, keys))
}

fn is_run_word(word: &str) -> bool {
    word == "latest" || word.starts_with('@') || word.parse::<RunId>().is_ok()
}

/// Refuses a word that names both a baseline and a benchmark.
fn refuse_ambiguity(word: &str, store: &Store, workspace: WorkspaceId) -> Result<(), AppError> {
    let benchmarks = store.benchmarks(workspace)?;
    let is_id = benchmarks.iter().any(|benchmark| benchmark.key.id == word);
    if is_id {
        return Err(AppError::Usage(format!(
            "`{word}` is both a baseline and a benchmark\n  help: add `--run latest` to accept the benchmark, or use the run's number to accept the run"
        )));
    }
    Ok(())
}

fn refuse_side(store: &Store, run: RunId) -> Result<(), AppError> {
    if !matches!(store.purpose(run)?, None | Some(Purpose::Comparison))
        || store
            .run(run)?
            .pair
            .is_some_and(|pair| pair.side == Side::Base)
    {
        return Err(AppError::Usage(format!(
            "run {run} cannot be accepted: it measured an earlier build again, was a step of `bisect` or measured a commit of the past\n  help: name another run; use `cargo perfcheck store runs` to list the runs"
        )));
    }
    Ok(())
}

/// Resolves a word to benchmarks that the run measured. If several match, returns only the regressed and suspect ones, or with `undo` all of them.
fn resolve_benchmarks(
    word: &str,
    run: RunId,
    verdicts: &[RunVerdict],
    undo: bool,
) -> Result<Vec<BenchmarkKey>, AppError> {
    let measured: Vec<&BenchmarkKey> = verdicts
        .iter()
        .filter(|found| found.typical_ns.is_some())
        .map(|found| &found.key)
        .collect();
    let found = find_candidates(word, &measured);
    let worse = |key: &&BenchmarkKey| {
        let verdict = verdicts.iter().find(|verdict| verdict.key == **key);
        verdict.is_some_and(|found| matches!(found.verdict, Verdict::Regressed | Verdict::Suspect))
    };
    let chosen: Vec<BenchmarkKey> = match &found[..] {
        [] => {
            let near = similar_keys(word, &measured);
            return Err(AppError::Usage(format!(
                "run {run} measured no benchmark `{word}`, and no run has this name{}\n  help: use `cargo perfcheck show {run}` to see what it measured",
                list_keys("did you mean", &near)
            )));
        }
        [only] => vec![(*only).clone()],
        several if undo => several.iter().map(|key| (*key).clone()).collect(),
        several => {
            let worse = several.iter().copied().filter(worse);
            worse.cloned().collect()
        }
    };
    if chosen.is_empty() {
        return Err(AppError::Usage(format!(
            "run {run} has {} benchmarks with `{word}` in their id, but none is `regressed` or `suspect`{}\n  help: give a complete id to accept a benchmark whatever its verdict",
            found.len(),
            list_keys("they are", &found)
        )));
    }
    Ok(chosen)
}
