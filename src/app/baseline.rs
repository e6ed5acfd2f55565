//! `cargo perfcheck baseline list|save|rename|remove`: names for runs.

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::options::{BaselineAction, StoreOptions};
use crate::exit_code::ExitCode;
use crate::host;
use crate::report::{BaselineLine, write_baselines};
use crate::store::check_baseline_name;

/// Runs the command.
pub fn baseline(
    action: &BaselineAction,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let done = match action {
        BaselineAction::List => return list(&context, common, world),
        BaselineAction::Save { name, run } => {
            check_baseline_name(name)?;
            let (mut store, workspace) = context.stored_for_writing()?;
            let run = resolve_run(&store, workspace, run)?;
            match store.set_baseline(workspace, name, run)? {
                Some(before) if before != run => {
                    format!("Baseline `{name}` is run {run} now; it was run {before}.")
                }
                _ => format!("Baseline `{name}` is run {run}."),
            }
        }
        BaselineAction::Rename { from, to } => {
            let (mut store, workspace) = context.stored_for_writing()?;
            store.rename_baseline(workspace, from, to)?;
            format!("Baseline `{from}` is called `{to}` now.")
        }
        BaselineAction::Remove { name } => {
            let (mut store, workspace) = context.stored_for_writing()?;
            let run = store.remove_baseline(workspace, name)?;
            format!("Baseline `{name}` is forgotten; it was run {run}, which stays.")
        }
    };
    if !common.output.quiet {
        writeln!(world.stderr, "{done}")?;
    }
    Ok(ExitCode::Clean)
}

fn list(
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let mut lines = Vec::new();
    if let Some((store, workspace)) = context.stored()? {
        for baseline in store.baselines(workspace)? {
            let run = store.run(baseline.run)?;
            lines.push(BaselineLine {
                name: baseline.name,
                run: baseline.run,
                started: host::to_rfc3339(run.started),
                git: run.git,
            });
        }
    }
    write_baselines(world.stdout, &lines, common.output.format)?;
    Ok(ExitCode::Clean)
}
