//! Access to a team's store from other commands: its address, and its baselines that this machine lacks.

use std::path::Path;

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use perfcheck_analysis::model::RunId;
use perfcheck_engine::store::{Store, public_location};

/// Returns the address of the team's store from the command line, the environment or the workspace's table, in this order.
pub(in crate::app) fn resolve_team_address(
    context: &Context,
    given: Option<&str>,
    world: &World<'_>,
) -> Result<Option<String>, AppError> {
    let named = given.map(str::to_owned);
    if let Some(named) = named.or_else(|| world.variables.team_store.clone()) {
        return Ok(Some(named));
    }
    let table = context.tables.workspace.team_store.as_ref();
    if table.is_some_and(|table| public_location(Path::new(table)) != Path::new(table)) {
        return Err(AppError::Usage(
            "`team-store` in Cargo.toml has a password, which whoever reads the repository could use\n  help: leave it out; PGPASSFILE and PGPASSWORD are obeyed"
                .to_owned(),
        ));
    }
    Ok(table.cloned())
}

/// A named run in the team's store.
pub(in crate::app) struct TeamBaseline {
    /// Number of the run in the team's store
    pub(in crate::app) run: RunId,
    /// Commit of the run, which is built here: the team's store has no executables
    pub(in crate::app) commit: String,
}

/// Returns the run named `name` in the team's store; `None` without such a store or name.
pub(in crate::app) fn find_team_baseline(
    context: &Context,
    name: &str,
    world: &World<'_>,
) -> Result<Option<TeamBaseline>, AppError> {
    let Some(address) = resolve_team_address(context, None, world)? else {
        return Ok(None);
    };
    let Ok(key) = context.team_key() else {
        return Ok(None);
    };
    let Some(team) = Store::open_existing(address.as_ref())? else {
        return Ok(None);
    };
    let Some(workspace) = team.find_workspace(&key)? else {
        return Ok(None);
    };
    let baselines = team.baselines(workspace)?;
    let Some(found) = baselines.iter().find(|found| found.name == name) else {
        return Ok(None);
    };
    match team.run(found.run)?.begun.git.filter(|git| !git.dirty) {
        Some(git) => Ok(Some(TeamBaseline {
            run: found.run,
            commit: git.commit,
        })),
        None => Err(AppError::Usage(format!(
            "`{name}` is run {} of the team's store, which has uncommitted changes, so its code cannot be built here\n  help: name a run of a commit without changes: cargo perfcheck baseline save {name} RUN --store {}",
            found.run,
            team.path().display()
        ))),
    }
}
