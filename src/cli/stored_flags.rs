//! The command lines of `show` and `explain`.

use clap::Args;
use std::path::PathBuf;

use super::command::{Command, Parsed};
use super::run_flags::RowFlags;
use super::store_flags::StoredArguments;
use crate::app::RunView;

const AFTER_SHOW: &str = "\
Examples:
  cargo perfcheck show                        the latest run, as a table
  cargo perfcheck show main --stats           every statistic of run `main`
  cargo perfcheck show 12 --stats --sort worst
  cargo perfcheck show 12 sort/10             one benchmark of run 12
  cargo perfcheck show latest sort/10 --svg sort.svg
                                              a picture: density with the samples, slope, launches
  cargo perfcheck show @3f2a91 --stats --message-format json

Exit status: 0, 2 usage or no such benchmark, 5 store or file unusable, 6 no such run.";

/// The command line of `show`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_SHOW)]
pub(super) struct ShowArguments {
    /// A run number, baseline, `latest` or `@commit`
    #[arg(default_value = "latest")]
    run: String,
    /// Only this benchmark: its id, the name of a bench target that has no other, or a part of the id
    bench: Option<String>,
    /// Print every statistic: standard error and t interval over launches, percentiles, MAD, slope, outliers, verdict with its p
    #[arg(long)]
    stats: bool,
    /// Draw one benchmark as an SVG file (`-`: stdout): density with the samples, time against iterations with the slope, launches
    #[arg(long, value_name = "FILE", conflicts_with = "stats")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    rows: RowFlags,
    #[command(flatten)]
    stored: StoredArguments,
}

impl ShowArguments {
    pub(super) fn translate(self) -> Parsed {
        let view = match self.svg {
            Some(file) => RunView::Picture(file),
            None if self.stats => RunView::Statistics,
            None => RunView::Table,
        };
        let command = Command::Show {
            run: self.run,
            bench: self.bench,
            view,
        };
        self.stored.with(command).showing(self.rows.only())
    }
}

const AFTER_EXPLAIN: &str = "\
Says in plain words what was measured, what was taken of it, at which level its interval stands, which condition decided, and
what would have made it another verdict. Nothing is built or run: the decision is made again from what is stored.

Examples:
  cargo perfcheck explain sort/10               the newest verdict about `sort/10`
  cargo perfcheck explain json --run 12         what run 12 says of the one benchmark with `json` in its id
  cargo perfcheck explain sort/10 --message-format json

Exit status: 0 whatever the verdict is, 2 usage or no such benchmark, 5 store unusable, 6 no such run or no verdict yet.";

/// The command line of `explain`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_EXPLAIN)]
pub(super) struct ExplainArguments {
    /// The benchmark: its id, the name of a bench target that has no other, or a part of the id
    bench: String,
    /// The run whose verdict is meant: a number, baseline, `latest` or `@commit` [default: the newest with a verdict]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    stored: StoredArguments,
}

impl ExplainArguments {
    pub(super) fn translate(self) -> Parsed {
        self.stored.with(Command::Explain {
            bench: self.bench,
            run: self.run,
        })
    }
}
