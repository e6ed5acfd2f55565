//! The command line of `report`.

use clap::Args;

use super::command::{Command, Parsed};
use super::reporting_flags::ReportingFlags;
use super::store_flags::StoredArguments;
use crate::app::PageOptions;

const AFTER_REPORT: &str = "\
The page is one file that needs no network and no server: send it, attach it to a CI job, open it from a disk. It has a table of all
benchmarks, charts and every statistic of each, how each verdict came about, and where and how the runs were measured. Nothing is built or run.

Examples:
  cargo perfcheck report --open                       open the latest run in the browser
  cargo perfcheck report --report html=report.html    write the latest run and what it was compared with
  cargo perfcheck report 12 --report html=public/     write run 12 as public/index.html
  cargo perfcheck report --all --report html=public/  write a page for each run of the branch, and public/index.html
  cargo perfcheck report main latest --report html=a.html --report junit=a.xml
                                                      compare `latest` with `main`, as `compare main latest` does

Exit status: 0 whatever the verdicts are, 2 usage, 4 nothing to compare, 5 store or file unusable, 6 no such run.";

/// The command line of `report`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_REPORT)]
pub(super) struct ReportArguments {
    /// Report this run (default: latest), or compare two: the reference, then the run to report. Numbers, baselines, `latest` or `@commit`
    #[arg(value_name = "RUN", num_args = 0..=2)]
    runs: Vec<String>,
    /// Report the newest 50 runs of the branch: a page for each in the directory of `--report html=DIR/`, and an index of them
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// Open the page in the browser; without `--report html=FILE` it goes to a temporary directory
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    reporting: ReportingFlags,
    #[command(flatten)]
    stored: StoredArguments,
}

impl ReportArguments {
    pub(super) fn translate(self) -> Parsed {
        self.stored.with(Command::Report(PageOptions {
            runs: self.runs,
            reports: self.reporting.options(),
            all: self.all,
            open: self.open,
        }))
    }
}
