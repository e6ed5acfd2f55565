//! Options of `cargo perfcheck [FILTER]...`.

use std::time::Duration;

use crate::app::context::World;
use crate::app::deliver::reports::ReportOptions;
use crate::app::error::AppError;
use crate::app::measuring::builds::Against;
use crate::app::options::{ComparisonOptions, Effort, StoreOptions};
use crate::settings::{Layer, WorkspaceSettings};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{RequestedReference, ShardId};
use perfcheck_engine::measure::Filter;
use perfcheck_engine::sides::BenchesFrom;
use perfcheck_engine::store::check_baseline_name;

/// Options of a side-by-side measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgainstOptions {
    /// The reference build
    pub reference: Against,
    /// The origin of the benchmarks on the base side
    pub benches_from: BenchesFrom,
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The filter of benchmarks
    pub filter: Filter,
    /// The first filter and the command that it resembles, if it may be a typing error
    pub doubt: Option<(String, String)>,
    /// Name of the reference run
    pub baseline: Option<String>,
    /// The shard to measure; `None` for the whole suite
    pub part: Option<ShardId>,
    /// The build to measure side by side with the work tree
    pub against: Option<AgainstOptions>,
    /// Whether to measure identical executables, too
    pub measure_identical: bool,
    /// Maximum amount of side-by-side measurement
    pub effort: Effort,
    /// Whether to compare with stored numbers only, without measuring references again
    pub no_rerun: bool,
    /// Name for this run
    pub save_baseline: Option<String>,
    /// Whether to send the run to the team's store
    pub push: bool,
    /// The part of every deadline that does not depend on the request to a bench
    pub timeout: Option<Duration>,
    /// Sampling settings and noise threshold of the command line
    pub layer: Layer,
    /// Comparison options
    pub comparison: ComparisonOptions,
    /// Reports in addition to the result
    pub reports: ReportOptions,
}

impl RunOptions {
    /// Refuses contradictory options before anything is built.
    pub(super) fn check(&self, common: &StoreOptions) -> Result<(), AppError> {
        // Options for comparisons with stored runs are checked later, together with the workspace's tables.
        if self.against.is_some() {
            self.comparison.check_paired()?;
            if self
                .effort
                .rounds
                .is_some_and(|rounds| rounds < Plan::FEWEST_ROUNDS)
            {
                let least = Plan::FEWEST_ROUNDS;
                return Err(AppError::Usage(format!(
                    "two builds are compared over at least {least} rounds\n  help: `--rounds {least}`, or more; `--time-budget` shortens a run, too"
                )));
            }
        }
        self.reports.check_for_run(common.output.format)?;
        if let Some(name) = &self.save_baseline {
            check_baseline_name(name)?;
            if self.part.is_some() {
                return Err(AppError::Usage(format!(
                    "a part is no baseline\n  help: name the run of all parts: cargo perfcheck merge --save-baseline {name} FILE..."
                )));
            }
        }
        Ok(())
    }

    /// Returns the requested reference.
    pub(super) fn asked_reference(&self) -> RequestedReference {
        match (&self.against, &self.baseline) {
            (Some(_), _) => RequestedReference::Beside,
            (None, Some(name)) => RequestedReference::Named(name.clone()),
            (None, None) => RequestedReference::Accepted,
        }
    }

    /// Reports whether to compare with stored numbers only.
    pub(super) fn is_about_stored_numbers(
        &self,
        workspace: &WorkspaceSettings,
        world: &World<'_>,
    ) -> bool {
        self.no_rerun || world.variables.no_rerun || self.comparison.needs_stored_numbers(workspace)
    }
}
