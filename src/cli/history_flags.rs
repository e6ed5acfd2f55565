//! The command line of `history`.

use clap::Args;

use super::command::{Command, Parsed};
use super::store_flags::StoredArguments;
use crate::app::{HistoryBranch, HistoryOptions};
use perfcheck_analysis::compare::Fact;
use perfcheck_engine::measure::Filter;

const AFTER_HISTORY: &str = "\
The value of a run is what later runs are compared with: its fastest launch's 1st percentile where there are samples enough. \
Levels are told apart by change points (E-divisive, p <= 0.001, four runs on each side) and by what was accepted; the band is \
where the newest run was to be expected (99.8 %). It describes and decides nothing: the exit status is 0.

Examples:
  cargo perfcheck history                       every benchmark on a line, with a row of bars
  cargo perfcheck history sort/10               one benchmark, run by run
  cargo perfcheck history json --since 90d --branch main
  cargo perfcheck history sort/10 --message-format json

Exit status: 0, 2 usage or no such benchmark, 5 store unusable.";

/// The command line of `history`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HISTORY)]
pub(super) struct HistoryArguments {
    /// Only benchmarks whose id contains one of these; a single whole id means that benchmark alone
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// FILTERs are whole ids
    #[arg(long)]
    exact: bool,
    /// Runs of this branch [default: the present one, or the one that it forked from]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Runs of all branches
    #[arg(long, conflicts_with = "branch")]
    all_branches: bool,
    /// At most so many runs of each benchmark, the newest
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = runs_of_history)]
    limit: usize,
    /// Only runs since this date, or for so long: 2026-01-31, 90d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Facts that may differ among the runs, e.g. rustc,profile
    #[arg(long, value_name = "FACTS", value_delimiter = ',', value_parser = str::parse::<Fact>)]
    allow_different: Vec<Fact>,
    #[command(flatten)]
    stored: StoredArguments,
}

/// The search for change points takes time that grows with the square of the number of runs.
fn runs_of_history(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs @ 1..=200) => Ok(runs),
        _ => Err("from 1 to 200 runs".to_owned()),
    }
}

impl HistoryArguments {
    pub(super) fn translate(self) -> Parsed {
        let branch = match (self.branch, self.all_branches) {
            (Some(name), _) => HistoryBranch::Named(name),
            (None, true) => HistoryBranch::All,
            (None, false) => HistoryBranch::Present,
        };
        self.stored.with(Command::History(HistoryOptions {
            filter: Filter {
                words: self.filters,
                exact: self.exact,
            },
            branch,
            limit: self.limit,
            since: self.since,
            allow_different: self.allow_different,
        }))
    }
}
