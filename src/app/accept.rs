//! `cargo perfcheck accept RUN`: a change of level that was meant.

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::options::StoreOptions;
use crate::exit_code::ExitCode;
use crate::model::RunStatus;

/// Runs the command.
pub fn accept(
    run: &str,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let (mut store, workspace) = context.stored_for_writing()?;
    let run = resolve_run(&store, workspace, run)?;
    if store.run(run)?.status == RunStatus::Incomplete {
        return Err(AppError::Usage(format!(
            "run {run} is incomplete and cannot be a reference"
        )));
    }
    store.accept(run)?;
    if !common.output.quiet {
        writeln!(
            world.stderr,
            "Run {run} is accepted: later runs are compared with it."
        )?;
    }
    Ok(ExitCode::Clean)
}
