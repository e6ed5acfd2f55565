//! `cargo perfcheck store runs`, which lists the stored runs, newest first, and `store adopt [FROM]`, which assigns the runs of a moved workspace to
//! its new location.

use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{
    MessageFormat, RunLine, WorkspaceLine, counted, write_older_runs, write_runs, write_workspaces,
};
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::RunId;
use perfcheck_host::os::canonicalize;
use perfcheck_store::{Store, StoreError, WorkspaceId};

/// Runs `store runs`.
pub fn runs(
    limit: usize,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let lines = run_lines(&store, workspace, limit)?;
    let columns = common.output.view().columns;
    write_runs(world.stdout, &lines, common.output.format, columns)?;
    if lines.len() == limit && common.output.format == MessageFormat::Human && !common.output.quiet
    {
        let all = store.workspaces()?.into_iter();
        let all = all.filter(|one| one.id == workspace).map(|one| one.runs);
        write_older_runs(world.stdout, all.sum::<usize>().saturating_sub(limit))?;
    }
    Ok(ExitCode::Clean)
}

/// Returns the newest runs, at most `limit`, each with the names of the baselines that point to it.
pub(super) fn run_lines(
    store: &Store,
    workspace: WorkspaceId,
    limit: usize,
) -> Result<Vec<RunLine>, StoreError> {
    let baselines = store.baselines(workspace)?;
    let mut lines = Vec::new();
    let summaries = store.runs(workspace, Some(limit))?;
    let ids: Vec<RunId> = summaries.iter().map(|summary| summary.run.id).collect();
    let mut accepted = store.accepted_steps_of_runs(&ids)?;
    for summary in summaries {
        let run = summary.run.id;
        let of_run = baselines.iter().filter(|baseline| baseline.run == run);
        lines.push(RunLine {
            accepted_benchmarks: accepted.remove(&run).unwrap_or_default(),
            started: perfcheck_host::to_rfc3339(summary.run.begun.started),
            ago: perfcheck_host::format_ago(summary.run.begun.started),
            names: of_run.map(|baseline| baseline.name.clone()).collect(),
            benchmarks: summary.benchmarks,
            tally: summary.tally,
            run: summary.run,
        });
    }
    Ok(lines)
}

/// Runs `store adopt`.
pub fn adopt(
    from: Option<&str>,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let known = match context.open_existing_store()? {
        Some(store) => store.workspaces()?,
        None => Vec::new(),
    };
    let Some(from) = from else {
        let own = context.key();
        let lines: Vec<WorkspaceLine> = known
            .into_iter()
            .map(|found| WorkspaceLine {
                own: found.key == own,
                key: found.key,
                label: found.label,
                runs: found.runs,
            })
            .collect();
        let columns = common.output.view().columns;
        write_workspaces(world.stdout, &lines, common.output.format, columns)?;
        return Ok(ExitCode::Clean);
    };
    let path = canonicalize(from).ok();
    let is_meant = |key: &str, label: &str| {
        key == from
            || label == from
            || path
                .as_ref()
                .is_some_and(|path| path.as_path() == std::path::Path::new(label))
    };
    let matching: Vec<_> = known
        .iter()
        .filter(|found| is_meant(&found.key, &found.label))
        .collect();
    let [found] = matching[..] else {
        return Err(AppError::Usage(format!(
            "`{from}` matches {} workspace in the store\n  help: `cargo perfcheck store adopt` lists the workspaces with their keys",
            if matching.is_empty() {
                "no"
            } else {
                "more than one"
            }
        )));
    };
    if found.key == context.key() {
        return Err(AppError::Usage(format!(
            "`{from}` is the current workspace; name the workspace to adopt from"
        )));
    }
    let (mut store, own) = context.open_store()?;
    let adopted = store.adopt(found.id, own)?;
    if !common.output.quiet {
        writeln!(
            world.stderr,
            "Adopted {} and {} from the workspace {}.",
            counted(adopted.runs, "run"),
            counted(adopted.baselines, "baseline"),
            found.label
        )?;
    }
    Ok(ExitCode::Clean)
}
