//! What every measurement of a command starts from.

use std::ffi::OsString;
use std::time::Duration;

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::{ComparisonOptions, Effort, StoreOptions};
use crate::report::{self, write_build_event};
use perfcheck_analysis::model::{DecisionSettings, GitState};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::child::LATENCY_DIGITS;
use perfcheck_engine::host::GitError;
use perfcheck_engine::measure::Filter;

/// What is to be measured, and under which circumstances.
pub(in crate::app) struct Request<'a> {
    pub(in crate::app) context: &'a Context,
    pub(in crate::app) common: &'a StoreOptions,
    /// Which benchmarks are wanted.
    pub(in crate::app) filter: &'a Filter,
    pub(in crate::app) comparison: &'a ComparisonOptions,
    /// How much may be measured.
    pub(in crate::app) effort: Effort,
    /// The part of every deadline that does not depend on what a bench is asked.
    pub(in crate::app) timeout: Duration,
    /// The load average before anything was built, which is a load of its own.
    pub(in crate::app) load: Option<f64>,
    /// Seed of everything random.
    pub(in crate::app) seed: u64,
    /// The checkout as it is.
    pub(in crate::app) git: Option<GitState>,
}

impl Request<'_> {
    /// Lets `target` know what is set for whole executables.
    pub(in crate::app) fn instruct(&self, target: &mut BenchTarget) {
        instruct(self.context, target);
    }

    /// The checkout after the work tree was built in its place: changed where git tells something else than before.
    pub(in crate::app) fn git_after_build(&self) -> Result<Option<GitState>, AppError> {
        let now = match self.context.checkout() {
            Some(checkout) => checkout.state()?,
            None => None,
        };
        Ok(now.map(|now| {
            let before = self.git.as_ref();
            let is_same = before.is_some_and(|before| before.commit == now.commit);
            self.with_branch(GitState {
                dirty: now.dirty || !is_same || before.is_some_and(|before| before.dirty),
                ..now
            })
        }))
    }

    /// Names the branch that a CI system names where git knows none.
    pub(in crate::app) fn with_branch(&self, git: GitState) -> GitState {
        let branch = git.branch.clone();
        GitState {
            branch: branch.or_else(|| self.git.as_ref()?.branch.clone()),
            ..git
        }
    }

    /// Says what begins, as cargo does, unless it is to be quiet.
    pub(in crate::app) fn announce(
        &self,
        status: &str,
        what: String,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if self.common.output.quiet {
            return Ok(());
        }
        Ok(write_build_event(world.stderr, &(status, what))?)
    }

    /// The settings of a decision about two builds that are measured in turn.
    pub(in crate::app) fn decision_in_turn(&self) -> DecisionSettings {
        self.comparison
            .decision_in_turn(&self.context.tables.workspace)
    }
}

/// Lets `target` know what is set for whole executables.
pub(in crate::app) fn instruct(context: &Context, target: &mut BenchTarget) {
    let layers = &context.tables.layers;
    if let Some(digits) = layers.latency_digits(&target.package) {
        let digits = OsString::from(digits.to_string());
        target
            .variables
            .insert(LATENCY_DIGITS.to_owned(), Some(digits));
    }
}

/// The checkout of a workspace; the branch is the one that a CI system names where git knows none.
///
/// Where git cannot tell, a warning says so, and the run is stored without commit and branch.
pub(in crate::app) fn git_state(
    context: &Context,
    world: &mut World<'_>,
) -> Result<Option<GitState>, AppError> {
    let Some(checkout) = context.checkout() else {
        return Ok(None);
    };
    let mut state = match checkout.state() {
        Ok(state) => state,
        Err(why @ GitError::Interrupted) => return Err(why.into()),
        Err(why) => {
            let said = format!("commit and branch are not known: {why}");
            report::write_warning(world.stderr, &said)?;
            None
        }
    };
    if let Some(state) = &mut state
        && state.branch.is_none()
    {
        state.branch.clone_from(&world.variables.ci_branch);
    }
    Ok(state)
}

/// The warning that others keep the machine busy: more than half of the cores, by the one-minute load average.
pub(in crate::app) fn busy(load: Option<f64>, cores: u32) -> Option<String> {
    let load = load?;
    let plural = if cores == 1 { "" } else { "s" };
    (load > f64::from(cores) / 2.0).then(|| {
        format!(
            "the machine is busy (load {load:.1} on {cores} core{plural}): intervals will be wide"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::busy;

    #[test]
    fn a_machine_is_busy_when_more_than_half_of_its_cores_are() {
        assert_eq!(
            busy(Some(2.66), 2).as_deref(),
            Some("the machine is busy (load 2.7 on 2 cores): intervals will be wide")
        );
        assert!(busy(Some(0.51), 1).is_some());
        assert_eq!(busy(Some(1.0), 2), None);
        assert_eq!(busy(Some(0.0), 64), None);
    }
}
