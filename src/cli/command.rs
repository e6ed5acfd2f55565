//! Commands and their options after parsing, independent of clap.

use clap_complete::Shell;

use crate::commands::{
    AcceptOptions, BaselineAction, BisectOptions, CompareOptions, CoverageOptions, DoctorOptions,
    ExplainOptions, ExportOptions, HistoryOptions, ImportOptions, InitOptions, ListOptions,
    MergeOptions, PruneOptions, PushOptions, RankOptions, ReportCommandOptions, RunOptions,
    SelfTestOptions, ShowOptions, StoreInitOptions,
};
use crate::options::{CommonOptions, OutputOptions};
use perfcheck_analysis::model::Verdict;
use perfcheck_build::cargo::CargoOptions;

/// A command that the user can give, with its options.
#[derive(Debug)]
pub enum Command {
    /// Measure, compare and store
    Run(Box<RunOptions>),
    /// Compare stored runs
    Compare(Box<CompareOptions>),
    /// Find the first slow commit
    Bisect(Box<BisectOptions>),
    /// Show which functions could become slower without any benchmark noticing
    Coverage(Box<CoverageOptions>),
    /// Rank benchmarks of one build by their speed
    Rank(Box<RankOptions>),
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
    /// Take over the runs of the workspace that has this key or path. `None` lists the workspaces
    Adopt(Option<String>),
    /// Show a run
    Show(ShowOptions),
    /// Explain a verdict
    Explain(ExplainOptions),
    /// Write a page or another report
    Report(ReportCommandOptions),
    /// Show how benchmarks changed from run to run
    History(Box<HistoryOptions>),
    /// Accept runs or single benchmarks, or undo an acceptance
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
    /// Reports whether the command only reads the store and computes, so that an interrupt may end it at any time.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::History(options) => !options.measures(),
            Self::Compare(_)
            | Self::Runs(_)
            | Self::Show(_)
            | Self::Explain(_)
            | Self::Report(_)
            | Self::Export(_) => true,
            _ => false,
        }
    }
}

/// A parsed command line.
#[derive(Debug)]
pub struct ParsedCommand {
    /// The command
    pub command: Command,
    /// Store, workspace and output options
    pub common: CommonOptions,
}

impl ParsedCommand {
    /// Creates a command that needs no store and no workspace.
    pub(super) fn without_workspace(command: Command) -> Self {
        Self::without_store(command, CargoOptions::default())
    }

    /// Creates a command that needs a workspace but no store, with the default output options.
    pub(super) fn without_store(command: Command, cargo: CargoOptions) -> Self {
        Self {
            command,
            common: CommonOptions {
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
