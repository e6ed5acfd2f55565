//! `cargo perfcheck baseline list|save|rename|remove|prune`: names for runs, and what is kept with them.

use crate::app::context::{Context, World, resolve_run};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::app::stored::names::give_name;
use crate::report::{BaselineLine, KeptLine, write_baselines, write_kept};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_engine::host;
use perfcheck_engine::store::{DEFAULT_QUOTA_BYTES, Reason, check_baseline_name};

/// Work on names of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineAction {
    /// Show them.
    List,
    /// Name a run.
    Save {
        /// The name.
        name: String,
        /// The run.
        run: String,
    },
    /// Change a name.
    Rename {
        /// The name.
        from: String,
        /// The new one.
        to: String,
    },
    /// Forget a name.
    Remove {
        /// The name.
        name: String,
    },
    /// Make room among the kept executables.
    Prune {
        /// What they may take, in MiB; `None`: the default.
        quota_mib: Option<u64>,
        /// Also those of runs that a baseline names.
        named: bool,
        /// Do it; else only say what would go.
        execute: bool,
    },
}

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
            give_name(&mut store, workspace, name, run)?
        }
        BaselineAction::Prune {
            quota_mib,
            named,
            execute,
        } => return prune(*quota_mib, *named, *execute, &context, common, world),
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
                pair: run.pair,
            });
        }
    }
    let columns = common.output.view().columns;
    write_baselines(world.stdout, &lines, common.output.format, columns)?;
    Ok(ExitCode::Clean)
}

/// Kept executables lie beside the store, for all its workspaces together: so does this look at all of them.
fn prune(
    quota_mib: Option<u64>,
    named: bool,
    execute: bool,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if context.existing_store()?.is_none() {
        return context.note_nothing_stored(common, world);
    }
    let mut store = context.whole_store()?;
    let quota = quota_mib.map_or(DEFAULT_QUOTA_BYTES, |mib| mib << 20);
    let most = if named {
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
    } else if execute {
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
