//! `cargo perfcheck store runs`: lists the stored runs, newest first.

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::report::{MessageFormat, RunLine, write_older_runs, write_runs};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::RunId;
use perfcheck_engine::host;
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// Runs the command.
pub fn runs(
    limit: usize,
    common: &StoreOptions,
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

/// Returns the newest runs with their names, at most `limit`.
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
            started: host::to_rfc3339(summary.run.begun.started),
            ago: host::format_ago(summary.run.begun.started),
            names: of_run.map(|baseline| baseline.name.clone()).collect(),
            benchmarks: summary.benchmarks,
            tally: summary.tally,
            run: summary.run,
        });
    }
    Ok(lines)
}
