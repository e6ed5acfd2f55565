//! The command line of `store`: management of stored runs.

use clap::Subcommand;

use super::command::{Command, ParsedCommand};
use super::store_flags::{StoredArguments, WithStore};
use crate::app::{ExportOptions, ImportOptions, PruneOptions, PushOptions, StoreInitOptions};

const AFTER_RUNS: &str = "\
Examples:
  cargo perfcheck store runs                   list the newest 20 runs
  cargo perfcheck store runs --last 100

Exit status: 0, 2 usage, 5 store unusable.";
const AFTER_REMOVE: &str = "\
Both sides of an A/B measurement go together.

Examples:
  cargo perfcheck store remove 12 13           remove runs 12 and 13, at once

Exit status: 0, 2 usage, 5 store unusable, 6 no such run.";
const AFTER_ADOPT: &str = "\
Examples:
  cargo perfcheck store adopt                  list the workspaces in the store
  cargo perfcheck store adopt /old/path        move the runs of that workspace to this one

Exit status: 0, 2 usage, 5 store unusable.";
const AFTER_PRUNE: &str = "\
A run goes if none of the given rules keeps it. These stay in any case: runs that a baseline names; runs that the next run of a branch would be compared \
with, if git still knows the branch (the present level of each benchmark, up to 20 runs: they say how far runs drift); runs whose level one that stays has, as its code was the same; and incomplete runs of the last day. \
Both sides of an A/B measurement go or stay together. \
With --samples only the samples go; in a team's store, those of whole months.

Examples:
  cargo perfcheck store prune --keep-last 100                    show what would go
  cargo perfcheck store prune --older-than 90d --keep-per-branch 10 --yes
  cargo perfcheck store prune --branch old-idea --keep-last 0 --yes
  cargo perfcheck store prune --samples --older-than 365d --yes  keep the history, remove old samples

Exit status: 0, 2 usage, 5 store unusable.";

#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// List the stored runs, newest first
    #[command(after_long_help = AFTER_RUNS)]
    Runs {
        /// List at most this many
        #[arg(long, value_name = "N", default_value = "20", value_parser = parse_run_count)]
        last: usize,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Remove runs with everything they measured
    #[command(after_long_help = AFTER_REMOVE)]
    Remove {
        /// Remove these runs: numbers, `latest` or `@commit`
        #[arg(value_name = "RUN", required = true, allow_negative_numbers = true)]
        runs: Vec<String>,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Adopt the runs of a workspace that moved, or of another clone
    #[command(after_long_help = AFTER_ADOPT)]
    Adopt {
        /// Adopt the runs of this workspace: its key or path, as listed by `store adopt` without arguments
        from: Option<String>,
        #[command(flatten)]
        stored: StoredArguments,
    },
    /// Show which runs a rule would remove; remove them with --yes
    #[command(after_long_help = AFTER_PRUNE)]
    Prune(WithStore<PruneOptions>),
    /// Create a team's store in a PostgreSQL database
    Init(StoreInitOptions),
    /// Send complete runs to a team's store
    Push(WithStore<PushOptions>),
    /// Import results from other tools or machines
    Import(Box<WithStore<ImportOptions>>),
    /// Export runs for other machines and tools
    Export(WithStore<ExportOptions>),
}

fn parse_run_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs @ 1..) => Ok(runs),
        _ => Err("at least 1 run".to_owned()),
    }
}

impl StoreCommand {
    pub(super) fn translate(self) -> ParsedCommand {
        match self {
            Self::Runs { last, stored } => stored.into_parsed(Command::Runs(last)),
            Self::Remove { runs, stored } => stored.into_parsed(Command::RemoveRuns(runs)),
            Self::Adopt { from, stored } => stored.into_parsed(Command::Adopt(from)),
            Self::Prune(arguments) => arguments.into_parsed(Command::Prune),
            Self::Init(options) => ParsedCommand::without_workspace(Command::CreateStore(options)),
            Self::Push(arguments) => arguments.into_parsed(Command::Push),
            Self::Import(arguments) => {
                arguments.into_parsed(|options| Command::Import(Box::new(options)))
            }
            Self::Export(arguments) => arguments.into_parsed(Command::Export),
        }
    }
}
