//! Commands and their options after parsing, independent of clap.
//!
//! Generates shell completions and manual pages from the command line.

use clap_complete::Shell;
use std::io::{self, Write};

use super::arguments::command_line;
use crate::{
    AcceptOptions, BaselineAction, BisectOptions, CompareOptions, DoctorOptions, ExplainOptions,
    ExportOptions, HistoryOptions, ImportOptions, InitOptions, ListOptions, MergeOptions,
    OutputOptions, PruneOptions, PushOptions, ReportCommandOptions, RunOptions, SelfTestOptions,
    ShowOptions, StoreInitOptions, StoreOptions,
};
use perfcheck_analysis::model::Verdict;
use perfcheck_engine::cargo::CargoOptions;

/// A command of the user.
#[derive(Debug)]
pub enum Command {
    /// Measure, compare and store
    Run(Box<RunOptions>),
    /// Compare stored runs
    Compare(Box<CompareOptions>),
    /// Find the first slow commit
    Bisect(Box<BisectOptions>),
    /// Measure detection and false-alarm rates with known differences
    SelfTest(Box<SelfTestOptions>),
    /// Inspect the machine and measure its noise
    Doctor(DoctorOptions),
    /// Find benchmarks that work as they are, and set up what is missing
    Init(InitOptions),
    /// Merge the parts of a suite into one run
    Merge(Box<MergeOptions>),
    /// List the benchmarks that a run would measure
    List(ListOptions),
    /// List the newest runs, at most this many
    Runs(usize),
    /// Take over the runs of another workspace, or list the workspaces
    Adopt(Option<String>),
    /// Show a run
    Show(ShowOptions),
    /// Explain a verdict
    Explain(ExplainOptions),
    /// Write a page or another report
    Report(ReportCommandOptions),
    /// Show benchmarks over runs
    History(HistoryOptions),
    /// Accept a run, or the levels of benchmarks
    Accept(AcceptOptions),
    /// Remove runs by rules
    Prune(PruneOptions),
    /// Send runs to a team's store
    Push(PushOptions),
    /// Create a team's store
    CreateStore(StoreInitOptions),
    /// Remove these runs
    RemoveRuns(Vec<String>),
    /// Export runs for other programs
    Export(ExportOptions),
    /// Import the results of another program
    Import(Box<ImportOptions>),
    /// Manage baselines
    Baseline(BaselineAction),
    /// Print completions
    Completions(Shell),
    /// Print the manual page of the command that these words name
    ManualPage(Vec<String>),
}

impl Command {
    /// Reports whether the command leaves the store unchanged.
    pub fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::Compare(_)
                | Self::Runs(_)
                | Self::Show(_)
                | Self::Explain(_)
                | Self::Report(_)
                | Self::History(_)
                | Self::Export(_)
        )
    }
}

/// A parsed command line.
#[derive(Debug)]
pub struct ParsedCommand {
    /// The command
    pub command: Command,
    /// Store, workspace and output options
    pub common: StoreOptions,
}

impl ParsedCommand {
    /// Creates a command that needs no store and no workspace.
    pub(super) fn without_workspace(command: Command) -> Self {
        Self::without_store(command, CargoOptions::default())
    }

    /// Creates a command that needs a workspace but no store, and writes text.
    pub(super) fn without_store(command: Command, cargo: CargoOptions) -> Self {
        Self {
            command,
            common: StoreOptions {
                store: None,
                output: OutputOptions::default(),
                cargo,
            },
        }
    }

    /// Limits the output to rows with these verdicts.
    pub(super) fn with_verdicts(mut self, only: Option<Vec<Verdict>>) -> Self {
        self.common.output.only = only;
        self
    }
}

/// The executable that cargo calls; shells complete its arguments.
const EXECUTABLE: &str = "cargo-perfcheck";

/// Writes the completions for `shell`.
pub fn write_completions(shell: Shell, writer: &mut dyn Write) -> io::Result<()> {
    // Writing directly would panic if the reader closes the pipe.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command_line(), EXECUTABLE, &mut text);
    writer.write_all(&text)
}

/// Writes the manual page of the command that `words` name, or of the whole program. Returns `false` if there is no such command.
pub fn write_manual_page(words: &[String], writer: &mut dyn Write) -> io::Result<bool> {
    let mut line = command_line();
    line.build();
    let mut command = &line;
    for word in words {
        match command.find_subcommand(word) {
            Some(found) => command = found,
            None => return Ok(false),
        }
    }
    let name = [&[EXECUTABLE.to_owned()], words].concat().join("-");
    let page = clap_mangen::Man::new(command.clone().display_name(name));
    let mut text = Vec::new();
    page.render(&mut text)?;
    writer.write_all(&text)?;
    Ok(true)
}
