//! Options of `history`.

use clap::Args;

use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::model::Verdict;
use perfcheck_engine::measure::Filter;

const AFTER_HISTORY: &str = "\
Without FILTER and flags about runs it lists every stored benchmark with its latest time and verdict.

The value of a run is what later runs are compared with: the 1st percentile of its fastest process, given enough samples. A level ends at a change point \
(E-divisive, p <= 0.001, four runs on each side) and where a change was accepted. The expected range covers the newest run with 99.8 %. History describes \
and decides nothing: the exit status is 0.

Examples:
  cargo perfcheck history                       list all benchmarks with their latest times
  cargo perfcheck history sort/10               show one benchmark, run by run
  cargo perfcheck history sort                  show a line for each benchmark with `sort` in its id
  cargo perfcheck history json --since 90d --branch main
  cargo perfcheck history sort/10 --message-format json

Exit status: 0, 2 usage or no such benchmark, 5 store unusable.";

/// Options of `history`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HISTORY)]
pub struct HistoryOptions {
    /// Show only benchmarks whose id contains one of these words; a complete id selects only that benchmark
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Show runs of this branch [default: the current one, or the one it forked from]
    #[arg(long, value_name = "NAME")]
    pub(super) branch: Option<String>,
    /// Show runs of all branches
    #[arg(long, conflicts_with = "branch")]
    pub(super) all_branches: bool,
    /// Show at most the newest N runs of each benchmark [default: 50]
    #[arg(long, value_name = "N", value_parser = runs_of_history)]
    last: Option<usize>,
    /// Show only runs since this date, or within this time: 2026-01-31, 90d
    #[arg(long, value_name = "WHEN")]
    pub(super) since: Option<String>,
    /// Show runs together despite these differing facts, e.g. rustc,profile
    #[arg(long, value_name = "FACTS", value_delimiter = ',', value_parser = str::parse::<Fact>)]
    pub(super) allow_different: Vec<Fact>,
    /// Show only benchmarks with these latest verdicts (comma-separated); only without FILTER and run options
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = str::parse::<Verdict>,
        conflicts_with_all = ["filters", "branch", "all_branches", "last", "since", "allow_different"])]
    pub(super) verdict: Vec<Verdict>,
}

impl HistoryOptions {
    /// Returns the filter of benchmarks.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            words: self.filters.clone(),
            exact: self.exact,
        }
    }

    /// Returns the maximum number of newest runs of each benchmark.
    pub(super) fn limit(&self) -> usize {
        self.last.unwrap_or(USUAL_LAST)
    }

    /// Reports whether no option selects runs or benchmarks; then all benchmarks are listed.
    pub(super) fn is_overview(&self) -> bool {
        self.filters.is_empty()
            && self.branch.is_none()
            && !self.all_branches
            && self.last.is_none()
            && self.since.is_none()
            && self.allow_different.is_empty()
    }
}

/// Default number of runs shown of each benchmark.
const USUAL_LAST: usize = 50;

/// Parses a number of runs. It is limited because the search for change points takes quadratic time.
fn runs_of_history(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs @ 1..=200) => Ok(runs),
        _ => Err("from 1 to 200 runs".to_owned()),
    }
}
