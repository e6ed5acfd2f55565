//! `cargo perfcheck store adopt [FROM]`: assigns the runs of a moved workspace to its new location.

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::report::{WorkspaceLine, write_workspaces};
use perfcheck_analysis::exit_code::ExitCode;

/// Runs the command.
pub fn adopt(
    from: Option<&str>,
    common: &StoreOptions,
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
    let path = std::path::Path::new(from).canonicalize().ok();
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
            "`{from}` is {} workspace in the store\n  help: `cargo perfcheck store adopt` lists them with their keys",
            if matching.is_empty() {
                "no"
            } else {
                "more than one"
            }
        )));
    };
    if found.key == context.key() {
        return Err(AppError::Usage(format!(
            "`{from}` is this workspace itself"
        )));
    }
    let (mut store, own) = context.open_store()?;
    let adopted = store.adopt(found.id, own)?;
    if !common.output.quiet {
        writeln!(
            world.stderr,
            "Adopted {} runs and {} baselines of {}.",
            adopted.runs, adopted.baselines, found.label
        )?;
    }
    Ok(ExitCode::Clean)
}
