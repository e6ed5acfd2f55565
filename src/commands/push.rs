//! `cargo perfcheck store push`, `--push` and `store init`: sends this machine's runs to a team's store.

use std::collections::HashMap;
use std::path::Path;

use clap::Args;

use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{MessageFormat, PushResult, write_pushed, write_warning};
use crate::session::{Context, World};
use crate::stored::transfer::{
    ReferencePlace, portable_reference, portable_runs, referenced_runs, resolve_team_address,
    to_record,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{PortableRunId, ProgressReporter, Run, RunId, RunStatus};
use perfcheck_store::{
    ExistingStore, KnownRun, Store, StoreError, WorkspaceId, is_address, public_location,
};

const AFTER_PUSH: &str = "\
Sends every complete run that the team's store does not have yet. A run is sent as a whole or not at all. Runs that were removed from the team's store are not \
sent again. Baselines and accepted benchmarks are never sent.

Examples:
  cargo perfcheck store push postgres://ci@db.example/perf
  PERFCHECK_TEAM_STORE=postgres://ci@db.example/perf cargo perfcheck store push

Exit status: 0 success, 2 usage error, 5 a store is unusable or the server cannot be reached.";

const AFTER_INIT: &str = "\
Creates the store's tables in a schema named `perfcheck`. Tables of an older cargo-perfcheck are upgraded; current tables are left unchanged.

Examples:
  cargo perfcheck store init postgres://owner@db.example/perf
  cargo perfcheck store init --roles postgres://owner@db.example/perf    then, in psql: GRANT perfcheck_writer TO ci

Exit status: 0 success; 2 usage error; 5 the server cannot be reached, or another program created the schema.";

/// Options of `store push`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_PUSH)]
pub struct PushOptions {
    /// Address of the store; `None` to use the environment.
    #[arg(
        value_name = "ADDRESS",
        help = "Send the runs to this store, e.g. `postgres://user@host/database` [env: PERFCHECK_TEAM_STORE] [default: `team-store` in Cargo.toml]"
    )]
    pub address: Option<String>,
}

/// Options of `store init`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_INIT)]
pub struct StoreInitOptions {
    /// Address of the store; `None` to use the environment.
    #[arg(
        value_name = "ADDRESS",
        help = "Create the store in this database, e.g. `postgres://user@host/database` [env: PERFCHECK_TEAM_STORE]"
    )]
    pub address: Option<String>,
    /// Create the roles `perfcheck_reader`, `perfcheck_writer` (may send runs) and `perfcheck_admin` (may name, accept and remove runs)
    #[arg(long)]
    pub roles: bool,
}

/// Runs `store init`.
pub fn create(options: &StoreInitOptions, world: &mut World<'_>) -> Result<ExitCode, AppError> {
    let given = options.address.clone();
    let address = require_address(given.or_else(|| world.variables.team_store.clone()))?;
    let message = match Store::create_in(&address, options.roles)? {
        ExistingStore::None => "Created the store.".to_owned(),
        ExistingStore::Older(version) => {
            format!("Upgraded the store from version {version}.")
        }
        ExistingStore::Present => "The store already exists.".to_owned(),
    };
    writeln!(world.stderr, "{message}")?;
    Ok(ExitCode::Clean)
}

/// Runs `store push`.
pub fn push(
    options: &PushOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let address = require_address(resolve_team_address(
        &context,
        options.address.as_deref(),
        world,
    )?)?;
    let (pushed, outcome) = send(&address, &context, world)?;
    write_pushed(world.stdout, &pushed, common.output.format)?;
    outcome.map(|()| ExitCode::Clean)
}

/// Runs `command`, which stores a run, then sends new runs to the team's store if `wanted`. The command's exit status does not depend on the server:
/// unsent runs stay in the local store.
pub(super) fn run_then_push(
    wanted: bool,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
    command: impl FnOnce(&mut World<'_>) -> Result<ExitCode, AppError>,
) -> Result<ExitCode, AppError> {
    if !wanted {
        return command(world);
    }
    // Report problems with the address before measuring anything.
    let address = require_address(resolve_team_address(context, None, world)?)?;
    context.team_key()?;
    Store::check_address(&address)?;
    let exit_code = command(world)?;
    let outcome = send(&address, context, world).and_then(|(pushed, outcome)| {
        match common.output.format {
            MessageFormat::Json => write_pushed(world.stdout, &pushed, MessageFormat::Json)?,
            MessageFormat::Human => write_pushed(world.stderr, &pushed, MessageFormat::Human)?,
        }
        outcome
    });
    match outcome {
        Ok(()) => Ok(exit_code),
        Err(AppError::Interrupted(left)) => Err(AppError::Interrupted(left)),
        Err(error) => {
            let text = format!(
                "the run was stored locally, but not sent: {error}\n  help: `cargo perfcheck store push` sends it later"
            );
            write_warning(&mut world.stderr, &text)?;
            Ok(exit_code)
        }
    }
}

/// Sends every complete run that the team's store lacks. Returns the runs sent, and the error that ended the transfer, if any.
fn send(
    address: &str,
    context: &Context,
    world: &mut World<'_>,
) -> Result<(PushResult, Result<(), AppError>), AppError> {
    let key = context.team_key()?;
    let Some((local, workspace)) = context.open_stored()? else {
        let pushed = PushResult {
            store: public_location(Path::new(address)).display().to_string(),
            sent: Vec::new(),
            already: 0,
        };
        return Ok((pushed, Ok(())));
    };
    let mut team = Store::open(address.as_ref())?;
    let of_team = team.ensure_workspace(&key, key.trim_start_matches("id:"))?;
    let runs = local.runs(workspace, None)?;
    let runs: Vec<Run> = runs.into_iter().rev().map(|summary| summary.run).collect();
    let mut transfer = Transfer::new(&local, workspace, &runs, &team, of_team)?;
    let waiting = transfer.unsent_groups(&runs);
    let already = transfer.count_stored();
    let count = waiting.len();
    let outcome = world.with_progress("Sending", count, |progress| {
        for (done, group) in waiting.into_iter().enumerate() {
            progress.report(done, count);
            transfer.send(&group, &mut team)?;
        }
        Ok::<_, AppError>(())
    });
    let pushed = PushResult {
        store: team.path().display().to_string(),
        sent: transfer.sent,
        already,
    };
    Ok((pushed, outcome))
}

/// Returns the address, or an error with advice if there is none.
fn require_address(address: Option<String>) -> Result<String, AppError> {
    let Some(address) = address else {
        return Err(AppError::Usage(
            "no team store was given\n  help: pass its address, e.g. `postgres://user@host/database`, or set PERFCHECK_TEAM_STORE;\n  for runs, you can also set `team-store` in `[workspace.metadata.perfcheck]`"
                .to_owned(),
        ));
    };
    if is_address(Path::new(&address)) {
        return Ok(address);
    }
    Err(AppError::Usage(format!(
        "`{}` is not the address of a PostgreSQL server\n  help: addresses begin with `postgres://`, e.g. `postgres://user@host/database`",
        address.escape_debug()
    )))
}

/// A transfer of runs from the local store to a team's store.
struct Transfer<'s> {
    local: &'s Store,
    workspace: WorkspaceId,
    of_team: WorkspaceId,
    /// The state of each local run in the team's store.
    known: HashMap<PortableRunId, KnownRun>,
    /// The numbers that the sent runs got in the team's store.
    sent: Vec<RunId>,
}

impl<'s> Transfer<'s> {
    fn new(
        local: &'s Store,
        workspace: WorkspaceId,
        runs: &[Run],
        team: &Store,
        of_team: WorkspaceId,
    ) -> Result<Self, StoreError> {
        let references: Vec<PortableRunId> = runs.iter().map(portable_reference).collect();
        let known = team.known_runs(of_team, &references)?;
        Ok(Self {
            local,
            workspace,
            of_team,
            known: references.into_iter().zip(known).collect(),
            sent: Vec::new(),
        })
    }

    /// Returns the number of runs that the team's store already has.
    fn count_stored(&self) -> usize {
        let known = self.known.values();
        known
            .filter(|known| matches!(known, KnownRun::Stored(_)))
            .count()
    }

    /// Returns groups of complete runs that the team's store lacks, oldest first. The sides of a side-by-side measurement form one group.
    fn unsent_groups(&self, runs: &[Run]) -> Vec<Vec<RunId>> {
        // A shard's run is sent as part of the merged run.
        let is_whole =
            |run: &&Run| run.status == RunStatus::Complete && run.begun.partition.is_none();
        let whole: HashMap<RunId, &Run> = (runs.iter().filter(is_whole))
            .map(|run| (run.id, run))
            .collect();
        let is_waiting = |run: &Run| self.known[&portable_reference(run)] == KnownRun::Unknown;
        let mut groups = Vec::new();
        for run in runs.iter().filter(is_whole) {
            let Some(pair) = run.pair else {
                groups.extend(is_waiting(run).then(|| vec![run.id]));
                continue;
            };
            // A pair is sent when the loop reaches its newer run. One side of a pair is never sent alone.
            let partner = whole.get(&pair.partner).filter(|other| other.id < run.id);
            if partner.is_some_and(|partner| is_waiting(partner) && is_waiting(run)) {
                groups.push(vec![pair.partner, run.id]);
            }
        }
        groups
    }

    /// Sends a group of runs, all or none.
    fn send(&mut self, group: &[RunId], team: &mut Store) -> Result<(), AppError> {
        let portable = portable_runs(
            self.local,
            self.workspace,
            group,
            &ProgressReporter::silent(),
        )?;
        let sent: Vec<PortableRunId> = portable.iter().map(|run| run.head.reference()).collect();
        let place = |reference: &PortableRunId| {
            if let Some(place) = sent.iter().position(|run| run == reference) {
                return ReferencePlace::Together(place);
            }
            match self.known.get(reference) {
                Some(KnownRun::Stored(number)) => ReferencePlace::Stored(*number),
                _ => ReferencePlace::Nowhere,
            }
        };
        let runs: Vec<_> = (portable.into_iter())
            .map(|run| {
                let named = referenced_runs(&run)
                    .map(|one| (one, place(&one)))
                    .collect();
                to_record(run, Vec::new(), named)
            })
            .collect();
        match team.insert_transferred(self.of_team, &runs, &ProgressReporter::silent()) {
            Ok(numbers) => {
                for (run, number) in sent.into_iter().zip(numbers) {
                    self.known.insert(run, KnownRun::Stored(number));
                    self.sent.push(number);
                }
                Ok(())
            }
            // Another machine has sent the same runs meanwhile.
            Err(StoreError::AlreadyThere) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
