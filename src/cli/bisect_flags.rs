//! The command line of `bisect`.

use clap::Args;

use super::cargo_flags::CompilationFlags;
use super::command::{Command, ParsedCommand};
use super::store_flags::StoreFlags;
use crate::app::{BisectOptions, OutputOptions, StoreOptions};

/// The arguments of `bisect`.
#[derive(Debug, Args)]
pub(super) struct BisectArguments {
    #[command(flatten)]
    options: BisectOptions,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: CompilationFlags,
}

impl BisectArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = self.build.options(&self.output);
        ParsedCommand {
            common: StoreOptions {
                store: self.store.store,
                output: self.output,
                cargo,
            },
            command: Command::Bisect(Box::new(self.options)),
        }
    }
}
