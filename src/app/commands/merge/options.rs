//! Options of `merge`.

use clap::Args;
use std::path::PathBuf;

use crate::app::deliver::reports::ReportOptions;
use crate::app::error::AppError;
use crate::app::options::{FailureOptions, StoreOptions};
use perfcheck_engine::store::check_baseline_name;

const AFTER_MERGE: &str = "\
Each file is what `cargo perfcheck store export` wrote in the job of one part, in any order. All benchmarks are decided together, as one run would have \
decided about them, and stored as one run. A part that is missing makes that run incomplete, and the exit status 4.

Examples:
  cargo perfcheck --partition 2/8 --against main           in the job of part 2: measure it
  cargo perfcheck store export latest --output part-2.jsonl
  cargo perfcheck merge part-*.jsonl                       in the last job: decide about all parts

Exit status: 0 clean, 1 regression, 2 usage, or files that do not belong together, 4 a benchmark failed or a part is missing, 5 store unusable, 6 baseline missing or not comparable.";

/// Options of `merge`: the shards, and the conditions of failure. Everything else was set when the shards were measured.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_MERGE)]
pub struct MergeOptions {
    /// The files of all parts
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Name the run
    #[arg(short, long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Send the run to the team's store afterwards, as `store push` does
    #[arg(long)]
    pub push: bool,
    #[command(flatten)]
    pub(super) reports: ReportOptions,
    #[command(flatten)]
    pub(super) failure: FailureOptions,
}

impl MergeOptions {
    /// Refuses options that could not be carried out before anything is read.
    pub(super) fn check(&self, common: &StoreOptions) -> Result<(), AppError> {
        self.reports.check_for_run(common.output.format)?;
        if let Some(name) = &self.save_baseline {
            check_baseline_name(name)?;
        }
        Ok(())
    }
}
