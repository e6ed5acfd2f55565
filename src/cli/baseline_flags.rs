//! The command line of `baseline`.

use clap::Subcommand;

use super::command::{Command, ParsedCommand};
use super::store_flags::StoredArguments;
use crate::app::BaselineAction;

const AFTER_LIST: &str = "\
Examples:
  cargo perfcheck baseline list                list every name with its run";
const AFTER_SAVE: &str = "\
Examples:
  cargo perfcheck baseline save main           name the latest run `main`
  cargo perfcheck baseline save v1 12          name run 12 `v1`";
const AFTER_RENAME: &str = "\
Examples:
  cargo perfcheck baseline rename main old     call `main` `old`";
const AFTER_REMOVE: &str = "\
Examples:
  cargo perfcheck baseline remove old          remove the name `old`; its run stays";

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// List baselines
    #[command(after_long_help = AFTER_LIST)]
    List {
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Save a run as a baseline, or move a baseline to it
    #[command(after_long_help = AFTER_SAVE)]
    Save {
        /// Give the run this name
        name: String,
        /// Save this run: a number, baseline, `latest` or `@commit`
        #[arg(default_value = "latest", allow_negative_numbers = true)]
        run: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Rename a baseline
    #[command(after_long_help = AFTER_RENAME)]
    Rename {
        /// Rename this baseline
        from: String,
        /// Give it this name
        to: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Remove a name and keep its run
    #[command(after_long_help = AFTER_REMOVE)]
    Remove {
        /// Remove this name
        name: String,
        #[command(flatten)]
        stored: StoredArguments,
    },
}

impl BaselineCommand {
    pub(super) fn translate(self) -> ParsedCommand {
        let (action, stored) = match self {
            Self::List { stored } => (BaselineAction::List, stored),
            Self::Save { name, run, stored } => (BaselineAction::Save { name, run }, stored),
            Self::Rename { from, to, stored } => (BaselineAction::Rename { from, to }, stored),
            Self::Remove { name, stored } => (BaselineAction::Remove { name }, stored),
        };
        stored.into_parsed(Command::Baseline(action))
    }
}
