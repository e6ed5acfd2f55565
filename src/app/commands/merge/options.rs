//! What `merge` is asked for.

use std::path::PathBuf;

use crate::app::deliver::reports::ReportOptions;
use crate::app::error::AppError;
use crate::app::options::{ComparisonOptions, StoreOptions};
use perfcheck_engine::store::check_baseline_name;

/// Which parts are merged, and what decides how the command ends.
#[derive(Debug, Clone)]
pub struct MergeOptions {
    /// A file for each part.
    pub files: Vec<PathBuf>,
    /// Limits, and the verdicts that fail; all else was said when the parts were measured.
    pub comparison: ComparisonOptions,
    /// The name to give to the run.
    pub save_baseline: Option<String>,
    /// Whether the team's store gets it, too.
    pub push: bool,
    /// What is written beside the result.
    pub reports: ReportOptions,
}

impl MergeOptions {
    /// Refuses what could not be done, before anything is read.
    pub(super) fn check(&self, common: &StoreOptions) -> Result<(), AppError> {
        self.reports.check_of_run(common.output.format)?;
        if let Some(name) = &self.save_baseline {
            check_baseline_name(name)?;
        }
        Ok(())
    }
}
