//! `cargo perfcheck store prune --executables`: makes room among the kept executables.

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::report::{KeptLine, write_kept};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_engine::host;
use perfcheck_engine::store::{DEFAULT_QUOTA_BYTES, Reason};

/// Which executables go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutablesOptions {
    /// What they may take, in MiB; `None`: the default.
    pub quota_mib: Option<u64>,
    /// Also those of runs that a baseline names.
    pub named: bool,
    /// Do it; else only say what would go.
    pub execute: bool,
}

/// Kept executables lie beside the store, for all its workspaces together: so does this look at all of them.
pub fn prune_executables(
    options: &ExecutablesOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    if context.existing_store()?.is_none() {
        return context.note_nothing_stored(common, world);
    }
    let mut store = context.whole_store()?;
    let quota = options
        .quota_mib
        .map_or(DEFAULT_QUOTA_BYTES, |mib| mib << 20);
    let most = if options.named {
        Reason::Named
    } else {
        Reason::Unnamed
    };
    let plan = store.plan_removal(quota, most)?;
    let lines: Vec<KeptLine> = plan
        .removals
        .iter()
        .map(|removal| KeptLine {
            run: removal.run,
            started: host::to_rfc3339(removal.started),
            workspace: removal.workspace.clone(),
            baselines: removal.baselines.clone(),
            targets: removal.targets.len(),
            freed_bytes: removal.freed_bytes,
        })
        .collect();
    let columns = common.output.view().columns;
    write_kept(world.stdout, &lines, common.output.format, columns)?;
    let words = if plan.is_empty() {
        format!(
            "Kept executables take {} MiB of {} MiB: nothing has to go.",
            plan.stored_bytes >> 20,
            quota >> 20
        )
    } else if options.execute {
        let summary = store.execute(&plan)?;
        format!("Removed {} MiB.", summary.freed_bytes >> 20)
    } else {
        format!(
            "Kept executables take {} MiB, {} MiB are allowed: `--yes` removes these, and {} MiB are left.",
            plan.stored_bytes >> 20,
            quota >> 20,
            plan.remaining_bytes >> 20
        )
    };
    if !common.output.quiet {
        writeln!(world.stderr, "{words}")?;
        if !plan.spared.is_empty() && plan.remaining_bytes > quota {
            writeln!(
                world.stderr,
                "The rest belongs to runs that a baseline names; `--named` takes those, too."
            )?;
        }
    }
    Ok(ExitCode::Clean)
}
