//! Flags of all commands that open the store.

use clap::Args;
use std::path::PathBuf;

use super::cargo_flags::WorkspaceFlags;
use super::command::{Command, ParsedCommand};
use super::run_flags::RowFlags;
use crate::app::{OutputOptions, StoreOptions};

#[derive(Debug, Clone, Args)]
pub(super) struct StoreFlags {
    // clap's `env` would accept an empty variable as a value.
    #[arg(
        long,
        value_name = "PATH",
        help = "Use this file; commands that do not measure also take the address of a team's store [env: PERFCHECK_STORE] [default: perfcheck.db in the user's data directory]"
    )]
    pub(super) store: Option<PathBuf>,
}

/// Arguments of every command that only reads or edits the store.
#[derive(Debug, Args)]
pub(super) struct StoredArguments {
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    at: WorkspaceFlags,
}

/// The options of a command that are flags, with those of the store.
#[derive(Debug, Args)]
pub(super) struct WithStore<O: Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    stored: StoredArguments,
}

impl<O: Args> WithStore<O> {
    pub(super) fn into_parsed(self, command: impl FnOnce(O) -> Command) -> ParsedCommand {
        self.stored.into_parsed(command(self.options))
    }
}

/// Like [`WithStore`], for commands that print rows with verdicts.
#[derive(Debug, Args)]
pub(super) struct WithRows<O: Args> {
    #[command(flatten)]
    on_store: WithStore<O>,
    #[command(flatten)]
    rows: RowFlags,
}

impl<O: Args> WithRows<O> {
    pub(super) fn into_parsed(self, command: impl FnOnce(O) -> Command) -> ParsedCommand {
        self.on_store
            .into_parsed(command)
            .with_verdicts(self.rows.verdicts())
    }
}

impl StoredArguments {
    pub(super) fn into_parsed(self, command: Command) -> ParsedCommand {
        ParsedCommand {
            command,
            common: StoreOptions {
                store: self.store.store,
                output: self.output,
                cargo: self.at.options(),
            },
        }
    }
}
