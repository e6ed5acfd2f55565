//! The command line of `init`.

use clap::Args;
use clap_cargo::Workspace;

use super::cargo_flags::WorkspaceFlags;
use super::command::{Command, Parsed};
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
    pub(super) fn translate(self) -> Parsed {
        let cargo = CargoOptions {
            packages: self.packages.package,
            workspace: self.packages.workspace || self.packages.all,
            exclude: self.packages.exclude,
            ..self.at.options()
        };
        Parsed::without_store(Command::Init(self.options), cargo)
    }
}
