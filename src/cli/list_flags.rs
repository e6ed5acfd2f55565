//! The command line of `list`.

use clap::Args;
use std::time::Duration;

use super::cargo_flags::BuildFlags;
use super::command::{Command, ParsedCommand};
use crate::app::{ListOptions, OutputOptions, StoreOptions};
use perfcheck_analysis::model::parse_duration;
use perfcheck_engine::measure::Filter;

const AFTER_LIST: &str = "\
Builds the bench targets and asks them for their benchmarks. Nothing is measured or stored.

Examples:
  cargo perfcheck list                         list every benchmark of the workspace
  cargo perfcheck list -p parser json          list benchmarks of `parser` with `json` in their id

Exit status: 0, 2 usage, 3 build failed, 4 a bench target could not be asked.";

/// The arguments of `list`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_LIST)]
pub(super) struct ListArguments {
    /// List only benchmarks whose id contains one of these words
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match whole ids with FILTER
    #[arg(long)]
    exact: bool,
    /// Extra time allowed before a benchmark counts as hung
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    build: BuildFlags,
}

impl ListArguments {
    pub(super) fn translate(self) -> ParsedCommand {
        let cargo = self.build.options(&self.output);
        ParsedCommand {
            common: StoreOptions {
                // Listing stores nothing.
                store: None,
                output: self.output,
                cargo,
            },
            command: Command::List(ListOptions {
                filter: Filter {
                    words: self.filters,
                    exact: self.exact,
                },
                timeout: self.timeout,
            }),
        }
    }
}
