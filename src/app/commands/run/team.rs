//! Baselines that only the team's store has: builds their commit here, as `--against` would.

use std::borrow::Cow;

use super::options::{AgainstOptions, RunOptions};
use crate::app::context::{Context, World, resolve_reference};
use crate::app::error::AppError;
use crate::app::measuring::builds::Against;
use crate::app::stored::team::{TeamBaseline, find_team_baseline};
use crate::report::write_build_event;
use perfcheck_engine::sides::BenchesFrom;

/// Returns the options, with the commit to measure against if the baseline exists only in the team's store.
pub(super) fn against_team_baseline<'o>(
    options: &'o RunOptions,
    context: &Context,
    world: &mut World<'_>,
) -> Result<Cow<'o, RunOptions>, AppError> {
    let asked = options.baseline.as_ref();
    let asked =
        asked.filter(|_| !options.is_about_stored_numbers(&context.tables.workspace, world));
    let Some(name) = asked else {
        return Ok(Cow::Borrowed(options));
    };
    let is_here = match context.open_stored()? {
        Some((store, workspace)) => resolve_reference(&store, workspace, name).is_ok(),
        None => false,
    };
    let found = if is_here {
        None
    } else {
        find_team_baseline(context, name, world)?
    };
    let Some(TeamBaseline { run, commit }) = found else {
        return Ok(Cow::Borrowed(options));
    };
    let said = format!("`{name}` of the team's store: its run {run}, commit {commit:.10}");
    write_build_event(world.stderr, &("Reference", said))?;
    Ok(Cow::Owned(RunOptions {
        baseline: None,
        against: Some(AgainstOptions {
            reference: Against::Revision(commit),
            benches_from: BenchesFrom::default(),
        }),
        ..options.clone()
    }))
}
