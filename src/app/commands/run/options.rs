//! What `cargo perfcheck [FILTER]...` is asked for.

use std::time::Duration;

use crate::app::context::World;
use crate::app::deliver::reports::ReportOptions;
use crate::app::error::AppError;
use crate::app::measuring::builds::Against;
use crate::app::options::{ComparisonOptions, Effort, StoreOptions};
use crate::settings::{Layer, WorkspaceOnly};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{AskedReference, SuitePart};
use perfcheck_engine::measure::Filter;
use perfcheck_engine::sides::BenchesFrom;
use perfcheck_engine::store::check_baseline_name;

/// How two builds are measured in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgainstOptions {
    /// The other build.
    pub reference: Against,
    /// Whose benchmarks it has.
    pub benches_from: BenchesFrom,
}

/// Measure, compare, store.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which benchmarks are wanted.
    pub filter: Filter,
    /// The first filter and the command that it may have been meant for, where that is in doubt.
    pub doubt: Option<(String, String)>,
    /// The run to compare with.
    pub baseline: Option<String>,
    /// Which part of the suite is measured; `None`: all of it.
    pub part: Option<SuitePart>,
    /// The other build to measure in turn with the work tree.
    pub against: Option<AgainstOptions>,
    /// Whether what is byte for byte the same is measured, too.
    pub measure_identical: bool,
    /// How much is measured where two builds are measured in turn.
    pub effort: Effort,
    /// Whether stored numbers alone count: no reference is measured again.
    pub no_rerun: bool,
    /// The name to give to this run.
    pub save_baseline: Option<String>,
    /// Whether the team's store gets it, too.
    pub push: bool,
    /// The part of every deadline that does not depend on what a bench is asked.
    pub timeout: Option<Duration>,
    /// Sampling and noise threshold as the command line has them.
    pub layer: Layer,
    /// How to compare.
    pub comparison: ComparisonOptions,
    /// What is written beside the result.
    pub reports: ReportOptions,
}

impl RunOptions {
    /// Refuses choices that contradict each other, before anything is built.
    pub(super) fn check(&self, common: &StoreOptions) -> Result<(), AppError> {
        // What is asked for against stored runs is checked with the workspace's tables.
        if self.against.is_some() {
            self.comparison.check_in_turn()?;
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
        self.reports.check_of_run(common.output.format)?;
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

    /// What it is compared with.
    pub(super) fn asked_reference(&self) -> AskedReference {
        match (&self.against, &self.baseline) {
            (Some(_), _) => AskedReference::Beside,
            (None, Some(name)) => AskedReference::Named(name.clone()),
            (None, None) => AskedReference::Accepted,
        }
    }

    /// Whether stored numbers alone are to be compared.
    pub(super) fn is_about_stored_numbers(
        &self,
        workspace: &WorkspaceOnly,
        world: &World<'_>,
    ) -> bool {
        self.no_rerun || world.variables.no_rerun || self.comparison.is_judged_elsewhere(workspace)
    }
}
