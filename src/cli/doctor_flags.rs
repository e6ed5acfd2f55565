//! `cargo perfcheck doctor`.

use clap::Args;

use super::command::{Command, Parsed};
use super::run_flags::OutputFlags;
use crate::app::{DoctorOptions, StoreOptions};
use perfcheck_engine::cargo::CargoOptions;

/// The command line of `doctor`, which needs neither a store nor a workspace.
#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    #[command(flatten)]
    options: DoctorOptions,
    #[command(flatten)]
    output: OutputFlags,
}

impl DoctorArguments {
    pub(super) fn translate(self) -> Parsed {
        Parsed {
            color: self.output.color.word(),
            common: StoreOptions {
                store: None,
                output: self.output.options(),
                cargo: CargoOptions::default(),
            },
            command: Command::Doctor(self.options),
        }
    }
}
