//! `cargo perfcheck store push` and `store init`: this machine's runs in a team's store.

use std::collections::HashMap;

use clap::Args;

use crate::app::context::{Context, World};
use crate::app::deliver::working::working;
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::app::stored::transfer::{ReferencePlace, portable_runs, transferred};
use crate::exchange::PortableReference;
use crate::report::{Pushed, write_pushed};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{Run, RunId, RunStatus, Work};
use perfcheck_engine::store::{KnownRun, Store, StoreError, WorkspaceId};

const AFTER_PUSH: &str = "\
Sends every complete run that the team's store lacks, each whole or not at all. Runs that were removed from the team's store are not sent again. \
Baselines and levels that you accepted are not sent.

Examples:
  cargo perfcheck store push postgres://ci@db.example/perf
  PERFCHECK_TEAM_STORE=postgres://ci@db.example/perf cargo perfcheck store push

Exit status: 0, 2 usage, 5 a store unusable or the server not reached.";

const AFTER_INIT: &str = "\
The tables lie in a schema named `perfcheck`. Where the store is there already, it stays as it is.

Examples:
  cargo perfcheck store init postgres://owner@db.example/perf
  cargo perfcheck store init --roles postgres://owner@db.example/perf    then, in psql: GRANT perfcheck_writer TO ci

Exit status: 0, 2 usage, 5 the server not reached, or the schema made by another program.";

/// Where the team's store is.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_PUSH)]
pub struct PushOptions {
    /// The address of the store; as the environment says where none is given.
    #[arg(
        value_name = "ADDRESS",
        help = "Send the runs to this store, e.g. `postgres://user@host/database` [env: PERFCHECK_TEAM_STORE]"
    )]
    pub address: Option<String>,
}

/// Which store is made.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_INIT)]
pub struct CreateOptions {
    /// The address of the store; as the environment says where none is given.
    #[arg(
        value_name = "ADDRESS",
        help = "Create the store in this database, e.g. `postgres://user@host/database` [env: PERFCHECK_TEAM_STORE]"
    )]
    pub address: Option<String>,
    /// Create the roles `perfcheck_reader`, `perfcheck_writer` (sends runs) and `perfcheck_admin` (names, accepts, removes)
    #[arg(long)]
    pub roles: bool,
}

/// Runs `store init`.
pub fn create(options: &CreateOptions, world: &mut World<'_>) -> Result<ExitCode, AppError> {
    let address = address(options.address.as_deref(), world)?;
    let said = if Store::create_in(&address, options.roles)? {
        "The store is made."
    } else {
        "The store is there already."
    };
    writeln!(world.stderr, "{said}")?;
    Ok(ExitCode::Clean)
}

/// Runs `store push`.
pub fn push(
    options: &PushOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let address = address(options.address.as_deref(), world)?;
    let context = Context::load(&world.variables, common)?;
    let key = context.team_key()?;
    let (local, workspace) = context.require_stored()?;
    let mut team = Store::open(address.as_ref())?;
    let of_team = team.workspace(&key, key.trim_start_matches("id:"))?;
    let runs = local.runs(workspace, None)?;
    let runs: Vec<Run> = runs.into_iter().rev().map(|summary| summary.run).collect();
    let mut transfer = Transfer::between(&local, workspace, &runs, &team, of_team)?;
    let waiting = transfer.waiting(&runs);
    let already = transfer.stored();
    let count = waiting.len();
    let outcome = working("Sending", count, world, |told| {
        for (done, group) in waiting.into_iter().enumerate() {
            told.reached(done, count);
            transfer.send(&group, &mut team)?;
        }
        Ok::<_, AppError>(())
    });
    let pushed = Pushed {
        store: team.path().display().to_string(),
        sent: transfer.sent,
        already,
    };
    write_pushed(world.stdout, &pushed, common.output.format)?;
    outcome.map(|()| ExitCode::Clean)
}

fn address(given: Option<&str>, world: &World<'_>) -> Result<String, AppError> {
    let named = given.map(str::to_owned);
    named.or_else(|| world.variables.team_store.clone()).ok_or_else(|| {
        AppError::Usage(
            "no team's store is named\n  help: give its address, `postgres://user@host/database`, or set PERFCHECK_TEAM_STORE"
                .to_owned(),
        )
    })
}

/// Runs on their way from one store into another.
struct Transfer<'s> {
    local: &'s Store,
    workspace: WorkspaceId,
    of_team: WorkspaceId,
    /// What the team's store knows of each run of this one.
    known: HashMap<RunId, KnownRun>,
    /// The same runs, as what names them in every store.
    names: HashMap<PortableReference, RunId>,
    /// Those that were sent, by their numbers there.
    sent: Vec<RunId>,
}

impl<'s> Transfer<'s> {
    fn between(
        local: &'s Store,
        workspace: WorkspaceId,
        runs: &[Run],
        team: &Store,
        of_team: WorkspaceId,
    ) -> Result<Self, StoreError> {
        let names: Vec<PortableReference> = runs.iter().map(name_of).collect();
        let identities: Vec<_> = (names.iter())
            .map(|name| (name.started, name.seed, name.side))
            .collect();
        let known = team.known_runs(of_team, &identities)?;
        Ok(Self {
            local,
            workspace,
            of_team,
            known: runs.iter().map(|run| run.id).zip(known).collect(),
            names: names
                .into_iter()
                .zip(runs.iter().map(|run| run.id))
                .collect(),
            sent: Vec::new(),
        })
    }

    /// How many runs are there already.
    fn stored(&self) -> usize {
        let known = self.known.values();
        known
            .filter(|known| matches!(known, KnownRun::Stored(_)))
            .count()
    }

    /// Complete runs that are not there, oldest first; both sides of an A/B measurement together.
    fn waiting(&self, runs: &[Run]) -> Vec<Vec<RunId>> {
        // A part of a suite goes with the run that it is merged to.
        let is_whole = |run: &&Run| run.status == RunStatus::Complete && run.partition.is_none();
        let whole: HashMap<RunId, &Run> = (runs.iter().filter(is_whole))
            .map(|run| (run.id, run))
            .collect();
        let mut groups = Vec::new();
        for run in runs.iter().filter(is_whole) {
            let group = match run.pair {
                // The group stands at its newer side; a side alone is not sent.
                Some(pair) if pair.partner > run.id || !whole.contains_key(&pair.partner) => {
                    continue;
                }
                Some(pair) => vec![pair.partner, run.id],
                None => vec![run.id],
            };
            if group.iter().all(|run| self.known[run] == KnownRun::Unknown) {
                groups.push(group);
            }
        }
        groups
    }

    /// Sends runs that belong together, whole or not at all.
    fn send(&mut self, group: &[RunId], team: &mut Store) -> Result<(), AppError> {
        let portable = portable_runs(self.local, self.workspace, group, &Work::silent())?;
        let places: HashMap<RunId, usize> = group.iter().copied().zip(0..).collect();
        let named: HashMap<PortableReference, ReferencePlace> = (self.names.iter())
            .map(|(name, run)| {
                let place = match (places.get(run), self.known[run]) {
                    (Some(place), _) => ReferencePlace::Together(*place),
                    (None, KnownRun::Stored(number)) => ReferencePlace::Stored(number),
                    (None, _) => ReferencePlace::Nowhere,
                };
                (*name, place)
            })
            .collect();
        let runs: Vec<_> = (portable.into_iter())
            .map(|run| transferred(run, Vec::new(), named.clone()))
            .collect();
        match team.take_over(self.of_team, &runs, &Work::silent()) {
            Ok(numbers) => {
                for (run, number) in group.iter().zip(numbers) {
                    self.known.insert(*run, KnownRun::Stored(number));
                    self.sent.push(number);
                }
                Ok(())
            }
            // Somebody else sent them meanwhile.
            Err(StoreError::AlreadyThere) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn name_of(run: &Run) -> PortableReference {
    PortableReference {
        started: run.started,
        seed: run.seed,
        side: run.pair.map(|pair| pair.side),
    }
}
