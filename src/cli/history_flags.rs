//! The command lines of `history`, `accept` and `prune`.

use clap::Args;

use super::command::{Command, Parsed};
use super::store_flags::StoredArguments;
use crate::app::{AcceptOptions, HistoryBranch, HistoryOptions, PruneOptions};
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

const AFTER_ACCEPT: &str = "\
Says that a change of level was meant: later runs are compared with the new level. What was known of the noise before stays.

Examples:
  cargo perfcheck accept 12               the whole of run 12
  cargo perfcheck accept sort/10          this benchmark alone, as the newest run measured it
  cargo perfcheck accept sort --run 12    what was regressed or suspect in run 12 with `sort` in its id
  cargo perfcheck accept sort/10 --undo   back

Exit status: 0, 2 usage or no such benchmark, 5 store unusable, 6 no such run.";

/// The command line of `accept`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_ACCEPT)]
pub(super) struct AcceptArguments {
    /// A run (number, baseline, `latest` or `@commit`), or benchmarks: ids, or parts of ids of those that were regressed or suspect
    #[arg(value_name = "RUN|BENCH", required = true)]
    what: Vec<String>,
    /// The run whose level of these benchmarks is meant [default: the newest]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Take it back
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    stored: StoredArguments,
}

impl AcceptArguments {
    pub(super) fn translate(self) -> Parsed {
        self.stored.with(Command::Accept(AcceptOptions {
            what: self.what,
            run: self.run,
            undo: self.undo,
        }))
    }
}

const AFTER_PRUNE: &str = "\
A run goes if none of the given rules keeps it. These stay in any case: runs that a baseline names, those that the next run of a \
branch that git still knows would be compared with (the present level of each benchmark, up to 20 runs: how far runs drift is known \
from these), and incomplete runs of the last day. Both sides of an A/B measurement go or stay together, and what confirmed a run \
stays with it. Kept executables that no run needs go, too.

Examples:
  cargo perfcheck prune --keep-last 100                          shows what would go
  cargo perfcheck prune --older-than 90d --keep-per-branch 10 --yes
  cargo perfcheck prune --branch old-idea --keep-last 0 --yes

Exit status: 0, 2 usage, 5 store unusable.";

/// The command line of `prune`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_PRUNE)]
pub(super) struct PruneArguments {
    /// Keep the newest N runs
    #[arg(long, value_name = "N")]
    keep_last: Option<usize>,
    /// Keep the newest N runs of each branch
    #[arg(long, value_name = "N")]
    keep_per_branch: Option<usize>,
    /// Keep runs since this date, or for so long: 2026-01-31, 90d
    #[arg(long, value_name = "WHEN")]
    older_than: Option<String>,
    /// Keep runs of all other branches
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Remove what would go
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    stored: StoredArguments,
}

impl PruneArguments {
    pub(super) fn translate(self) -> Parsed {
        self.stored.with(Command::Prune(PruneOptions {
            keep_last: self.keep_last,
            keep_per_branch: self.keep_per_branch,
            older_than: self.older_than,
            branch: self.branch,
            execute: self.yes,
        }))
    }
}
