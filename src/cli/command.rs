//! What a command line means, in plain values.

use clap_complete::Shell;

use crate::app::{
    AcceptOptions, BaselineAction, BisectOptions, CompareOptions, CreateOptions, DoctorOptions,
    ExplainOptions, ExportOptions, HistoryOptions, ImportOptions, InitOptions, ListOptions,
    MergeOptions, OutputOptions, PageOptions, PruneOptions, PushOptions, RunOptions,
    SelfTestOptions, ShowOptions, StoreOptions,
};
use perfcheck_analysis::model::Verdict;
use perfcheck_engine::cargo::CargoOptions;

/// What the user wants.
#[derive(Debug)]
pub enum Command {
    /// Measure, compare, store.
    Run(Box<RunOptions>),
    /// Compare stored runs.
    Compare(Box<CompareOptions>),
    /// Search a history.
    Bisect(Box<BisectOptions>),
    /// Measure known differences.
    SelfTest(Box<SelfTestOptions>),
    /// Look at the machine.
    Doctor(DoctorOptions),
    /// Look at what can be measured, and set it up.
    Init(InitOptions),
    /// Make one run of the parts of a suite.
    Merge(Box<MergeOptions>),
    /// List what would be measured.
    List(ListOptions),
    /// List runs.
    Runs(usize),
    /// Take over another workspace's runs; without a name: list the workspaces.
    Adopt(Option<String>),
    /// Show a run.
    Show(ShowOptions),
    /// Explain a verdict.
    Explain(ExplainOptions),
    /// Write a page.
    Report(PageOptions),
    /// Benchmarks over runs.
    History(HistoryOptions),
    /// Accept a run, or levels of benchmarks.
    Accept(AcceptOptions),
    /// Remove runs by a policy.
    Prune(PruneOptions),
    /// Send runs to a team's store.
    Push(PushOptions),
    /// Make a team's store.
    CreateStore(CreateOptions),
    /// Remove these runs.
    RemoveRuns(Vec<String>),
    /// Write stored runs for other programs.
    Export(ExportOptions),
    /// Store what another program measured.
    Import(Box<ImportOptions>),
    /// Work on names of runs.
    Baseline(BaselineAction),
    /// Print completions.
    Completions(Shell),
    /// Print the manual page of a command, by its words.
    ManualPage(Vec<String>),
}

impl Command {
    /// Whether it changes nothing but the places that its result goes to.
    pub fn only_reads(&self) -> bool {
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

/// A command line in plain values.
#[derive(Debug)]
pub struct Parsed {
    /// What to do.
    pub command: Command,
    /// With which store and workspace, and how to print.
    pub common: StoreOptions,
}

impl Parsed {
    /// A command that needs neither a store nor a workspace.
    pub(super) fn without_workspace(command: Command) -> Self {
        Self::without_store(command, CargoOptions::default())
    }

    /// A command that needs a workspace alone, and writes text.
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

    /// The same, showing the rows of these verdicts alone.
    pub(super) fn showing(mut self, only: Option<Vec<Verdict>>) -> Self {
        self.common.output.only = only;
        self
    }
}
