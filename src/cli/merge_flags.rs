//! The command line of `merge`.

use clap::Args;
use std::path::PathBuf;

use super::command::{Command, Parsed};
use super::run_flags::RowFlags;
use super::store_flags::StoredArguments;
use crate::app::{ComparisonOptions, FailureOptions, MergeOptions, ReportOptions};

const AFTER_MERGE: &str = "\
Each file is what `cargo perfcheck store export` wrote in the job of one part, in any order. All benchmarks are decided together, as one run would have \
decided about them, and stored as one run. A part that is missing makes that run incomplete, and the exit status 4.

Examples:
  cargo perfcheck --partition 2/8 --against main           in the job of part 2: measure it
  cargo perfcheck store export latest --output part-2.jsonl
  cargo perfcheck merge part-*.jsonl                       in the last job: decide about all parts

Exit status: 0 clean, 1 regression, 2 usage, or files that do not belong together, 4 a benchmark failed or a part is missing, 5 store unusable, 6 baseline missing or not comparable.";

/// The command line of `merge`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_MERGE)]
pub(super) struct MergeArguments {
    /// The files of all parts
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Name the run
    #[arg(short, long, value_name = "NAME")]
    save_baseline: Option<String>,
    /// Send the run to the team's store afterwards, as `store push` does
    #[arg(long)]
    push: bool,
    #[command(flatten)]
    reports: ReportOptions,
    #[command(flatten)]
    rows: RowFlags,
    #[command(flatten)]
    stored: StoredArguments,
    #[command(flatten)]
    failure: FailureOptions,
}

impl MergeArguments {
    pub(super) fn translate(self) -> Parsed {
        let options = MergeOptions {
            files: self.files,
            comparison: ComparisonOptions {
                failure: self.failure,
                ..ComparisonOptions::default()
            },
            save_baseline: self.save_baseline,
            push: self.push,
            reports: self.reports,
        };
        let parsed = self.stored.with(Command::Merge(Box::new(options)));
        parsed.showing(self.rows.only())
    }
}
