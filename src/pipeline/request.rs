//! The common input of every measurement, and the lock that keeps measurements on this machine from overlapping.

use std::ffi::OsString;
use std::time::Duration;

use super::cache_build::cache_directory;
use crate::error::AppError;
use crate::options::{CommonOptions, ComparisonOptions, Effort};
use crate::output::{self, write_build_event};
use crate::session::{Context, World};
use perfcheck_analysis::model::{DecisionSettings, GitState};
use perfcheck_bench::child::LATENCY_DIGITS;
use perfcheck_bench::measure::Filter;
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::sides::MeasuringLock;
use perfcheck_host::GitError;

/// The benchmarks to measure and the circumstances of the measurement.
pub(crate) struct Request<'a> {
    pub(crate) context: &'a Context,
    pub(crate) common: &'a CommonOptions,
    /// The filter that selects the benchmarks.
    pub(crate) filter: &'a Filter,
    pub(crate) comparison: &'a ComparisonOptions,
    /// How much to measure.
    pub(crate) effort: Effort,
    /// How long a request to a bench may take, in addition to ten times its expected duration, before the bench counts as hung.
    pub(crate) timeout: Duration,
    /// One-minute load average before the build, because the build itself adds load. `None` if it is unknown.
    pub(crate) load: Option<f64>,
    /// Seed of all random choices.
    pub(crate) seed: u64,
    /// State of the checkout; `None` outside git or if git fails.
    pub(crate) git: Option<GitState>,
}

impl Request<'_> {
    /// Passes settings that apply to a whole executable to the bench `target`, as environment variables.
    pub(crate) fn configure(&self, target: &mut BenchTarget) {
        configure_target(self.context, target);
    }

    /// Returns the commit, branch and changes of the checkout after it was built in place. The checkout also counts as changed if it had changes
    /// before the build, or if another commit was checked out during the build.
    pub(crate) fn git_after_build(&self) -> Result<Option<GitState>, AppError> {
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

    /// Fills in the CI system's branch if git knows none.
    pub(crate) fn with_branch(&self, git: GitState) -> GitState {
        let branch = git.branch.clone();
        GitState {
            branch: branch.or_else(|| self.git.as_ref()?.branch.clone()),
            ..git
        }
    }

    /// Announces a phase in cargo's style, unless quiet.
    pub(crate) fn announce(
        &self,
        status: &str,
        what: &str,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if self.common.output.quiet {
            return Ok(());
        }
        Ok(write_build_event(world.stderr, status, what)?)
    }

    /// Returns the decision settings of a side-by-side measurement.
    pub(crate) fn paired_decision(&self) -> DecisionSettings {
        self.comparison
            .paired_decision(&self.context.tables.workspace)
    }
}

/// Passes settings that apply to a whole executable to the bench `target`, as environment variables.
pub(crate) fn configure_target(context: &Context, target: &mut BenchTarget) {
    let layers = &context.tables.layers;
    if let Some(digits) = layers.latency_digits(&target.package) {
        let digits = OsString::from(digits.to_string());
        target
            .variables
            .insert(LATENCY_DIGITS.to_owned(), Some(digits));
    }
}

/// Returns the commit, branch and changes of the workspace's checkout. If git knows no branch, as is usual in CI, this is the branch that the CI
/// system names.
///
/// If git fails, prints a warning; the run is then stored without commit and branch.
pub(crate) fn git_state(
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
            let warning = format!("commit and branch are unknown: {why}");
            output::write_warning(world.stderr, &warning)?;
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

/// Returns a warning if other programs keep more than half of the cores busy, by the one-minute load average.
pub(crate) fn busy_warning(load: Option<f64>, cores: u32) -> Option<String> {
    let load = load?;
    let plural = if cores == 1 { "" } else { "s" };
    (load > f64::from(cores) / 2.0).then(|| {
        format!(
            "the machine is busy (load {load:.1} on {cores} core{plural}): intervals will be wide"
        )
    })
}

impl Request<'_> {
    /// Waits until no other cargo-perfcheck that uses this cache is measuring. As long as the returned value exists, the others wait in turn.
    /// Commands take this lock after the build and before they begin a run, and release it when they have measured.
    pub(crate) fn measuring_lock(
        &self,
        world: &mut World<'_>,
    ) -> Result<Option<MeasuringLock>, AppError> {
        // Without a cache directory, processes have no place for a common lock.
        let Ok(cache) = cache_directory(world) else {
            return Ok(None);
        };
        let interrupt = world.interrupt;
        let mut outcome = Ok(());
        let lock = MeasuringLock::acquire(&cache, interrupt, &mut |holder| {
            let whose = match holder {
                Some(process) => format!("the run of process {process}"),
                None => "another run".to_owned(),
            };
            let words =
                format!("for {whose} to end: two measurements at the same time disturb each other");
            outcome = self.announce("Waiting", &words, world);
        })?;
        outcome?;
        Ok(Some(lock))
    }
}

#[cfg(test)]
mod tests {
    use super::busy_warning;

    #[test]
    fn a_machine_is_busy_when_more_than_half_of_its_cores_are() {
        assert_eq!(
            busy_warning(Some(2.66), 2).as_deref(),
            Some("the machine is busy (load 2.7 on 2 cores): intervals will be wide")
        );
        assert!(busy_warning(Some(0.51), 1).is_some());
        assert_eq!(busy_warning(Some(1.0), 2), None);
        assert_eq!(busy_warning(Some(0.0), 64), None);
    }
}
