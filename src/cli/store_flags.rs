//! Flags of all commands that open the store.

use clap::Args;
use std::path::PathBuf;

use super::cargo_flags::WorkspaceFlags;
use super::command::{Command, Parsed};
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
pub(super) struct OnStore<O: Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    stored: StoredArguments,
}

impl<O: Args> OnStore<O> {
    pub(super) fn with(self, command: impl FnOnce(O) -> Command) -> Parsed {
        self.stored.with(command(self.options))
    }
}

/// Like [`OnStore`], for commands that print rows with verdicts.
#[derive(Debug, Args)]
pub(super) struct OnRows<O: Args> {
    #[command(flatten)]
    on_store: OnStore<O>,
    #[command(flatten)]
    rows: RowFlags,
}

impl<O: Args> OnRows<O> {
    pub(super) fn with(self, command: impl FnOnce(O) -> Command) -> Parsed {
        self.on_store.with(command).showing(self.rows.only())
    }
}

impl StoredArguments {
    pub(super) fn with(self, command: Command) -> Parsed {
        Parsed {
            command,
            common: StoreOptions {
                store: self.store.store,
                output: self.output,
                cargo: self.at.options(),
            },
        }
    }
}
