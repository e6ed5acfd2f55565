//! `cargo perfcheck baseline list|save|rename|remove`: manages the names of runs.

use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{BaselineLine, write_baselines};
use crate::pipeline::record::{give_name, refuse_incomplete};
use crate::session::{Context, World, resolve_reference};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_store::check_baseline_name;

/// What to do with the names of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineAction {
    /// List all names.
    List,
    /// Save a run as a baseline.
    Save {
        /// Name of the baseline.
        name: String,
        /// The run to save: a number, a baseline, `latest` or `@commit`.
        run: String,
    },
    /// Rename a baseline.
    Rename {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Remove a baseline and keep its run.
    Remove {
        /// Name of the baseline to remove.
        name: String,
    },
}

/// Carries out `cargo perfcheck baseline`.
pub fn baseline(
    action: &BaselineAction,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let done = match action {
        BaselineAction::List => return list(&context, common, world),
        BaselineAction::Save { name, run } => {
            check_baseline_name(name)?;
            let (mut store, workspace) = context.open_required_for_writing()?;
            let run = resolve_reference(&store, workspace, run)?;
            refuse_incomplete(&store, run)?;
            give_name(&mut store, workspace, name, run)?
        }
        BaselineAction::Rename { from, to } => {
            let (mut store, workspace) = context.open_required_for_writing()?;
            store.rename_baseline(workspace, from, to)?;
            format!("Renamed baseline `{from}` to `{to}`.")
        }
        BaselineAction::Remove { name } => {
            let (mut store, workspace) = context.open_required_for_writing()?;
            let run = store.remove_baseline(workspace, name)?;
            format!("Removed baseline `{name}`; run {run} stays in the store.")
        }
    };
    if !common.output.quiet {
        writeln!(world.stderr, "{done}")?;
    }
    Ok(ExitCode::Clean)
}

fn list(
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let mut lines = Vec::new();
    if let Some((store, workspace)) = context.open_stored()? {
        for baseline in store.baselines(workspace)? {
            let run = store.run(baseline.run)?;
            lines.push(BaselineLine {
                name: baseline.name,
                run: baseline.run,
                started: perfcheck_host::to_rfc3339(run.begun.started),
                ago: perfcheck_host::format_ago(run.begun.started),
                git: run.begun.git,
                pair: run.pair,
            });
        }
    }
    let columns = common.output.view().columns;
    write_baselines(world.stdout, &lines, common.output.format, columns)?;
    Ok(ExitCode::Clean)
}
