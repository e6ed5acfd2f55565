//! The command line of `init`.

use clap::Args;
use clap_cargo::Workspace;

use super::cargo_flags::WorkspaceFlags;
use super::command::{Command, ParsedCommand};
use crate::app::InitOptions;
use perfcheck_engine::cargo::CargoOptions;

/// The arguments of `init`.
#[derive(Debug, Args)]
pub(super) struct InitArguments {
    #[command(flatten)]
    options: InitOptions,
    #[command(flatten)]
    packages: Workspace,
    #[command(flatten)]
    at: WorkspaceFlags,
}

impl InitArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = CargoOptions {
            packages: self.packages.package,
            workspace: self.packages.workspace || self.packages.all,
            exclude: self.packages.exclude,
            ..self.at.options()
        };
        ParsedCommand::without_store(Command::Init(self.options), cargo)
    }
}
