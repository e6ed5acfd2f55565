//! The command line of `report`.

use clap::Args;
use std::path::PathBuf;

use super::command::{Command, Parsed};
use super::store_flags::StoredArguments;
use crate::app::PageOptions;

const AFTER_REPORT: &str = "\
The page is one file that needs no network and no server: send it, attach it to a CI job, open it from a disk. It has a table of all
benchmarks, charts and every statistic of each, how each verdict came about, and where and how the runs were measured. Nothing is built or run.

Examples:
  cargo perfcheck report --html report.html      the latest run with what it was compared with
  cargo perfcheck report 12 --html public/       run 12, as public/index.html
  cargo perfcheck report main latest --html a.html
                                                 `latest` compared with `main`, as `compare main latest` does it
  cargo perfcheck report --open                  the latest run, in the browser

Exit status: 0 whatever the verdicts are, 2 usage, 4 nothing to compare, 5 store or file unusable, 6 no such run.";

/// The command line of `report`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_REPORT)]
pub(super) struct ReportArguments {
    /// A run (default: latest), or two: the reference and what is compared with it. Numbers, baselines, `latest` or `@commit`
    #[arg(value_name = "RUN", num_args = 0..=2)]
    runs: Vec<String>,
    /// Write the page into this file, or as index.html into this directory (it exists or ends with `/`); `-` is stdout
    #[arg(long, value_name = "FILE|DIR")]
    html: Option<PathBuf>,
    /// Open the page in the browser; without --html it goes to a temporary directory
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    stored: StoredArguments,
}

impl ReportArguments {
    pub(super) fn translate(self) -> Parsed {
        self.stored.with(Command::Report(PageOptions {
            runs: self.runs,
            html: self.html,
            open: self.open,
        }))
    }
}
