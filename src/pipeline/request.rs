//! The common input of every measurement.
//!
//! The lock that keeps measurements on this machine from overlapping.
//!
//! Prepares a run: builds the bench targets and discovers their benchmarks.

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use super::build::cache_directory;
use crate::error::AppError;
use crate::naming::no_match_message;
use crate::options::{ComparisonOptions, Effort, StoreOptions};
use crate::output::{self, MessageFormat, Progress, write_build_event};
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{BuildFacts, DecisionSettings, GitState};
use perfcheck_engine::cargo::{BenchTarget, BuildOrder, SkipReason, SkippedTarget};
use perfcheck_engine::child::{ChildError, LATENCY_DIGITS, ProcessContext};
use perfcheck_engine::host::GitError;
use perfcheck_engine::measure::{DiscoveredBenches, Filter, ReferenceContext, discover};
use perfcheck_engine::sides::MeasuringLock;

/// The benchmarks to measure and the circumstances of the measurement.
pub(crate) struct Request<'a> {
    pub(crate) context: &'a Context,
    pub(crate) common: &'a StoreOptions,
    /// The filter of benchmarks
    pub(crate) filter: &'a Filter,
    pub(crate) comparison: &'a ComparisonOptions,
    /// Maximum amount of measurement
    pub(crate) effort: Effort,
    /// The part of every deadline that does not depend on the request to a bench
    pub(crate) timeout: Duration,
    /// Load average before the build, which is a load itself
    pub(crate) load: Option<f64>,
    /// Seed of all randomness
    pub(crate) seed: u64,
    /// State of the checkout
    pub(crate) git: Option<GitState>,
}

impl Request<'_> {
    /// Sets the environment of `target` as configured for whole executables.
    pub(crate) fn configure(&self, target: &mut BenchTarget) {
        configure_target(self.context, target);
    }

    /// Returns the state of the checkout after building in place. It counts as changed if git's answer changed during the build.
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
        what: String,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if self.common.output.quiet {
            return Ok(());
        }
        Ok(write_build_event(world.stderr, &(status, what))?)
    }

    /// Returns the decision settings of a side-by-side measurement.
    pub(crate) fn paired_decision(&self) -> DecisionSettings {
        self.comparison
            .paired_decision(&self.context.tables.workspace)
    }
}

/// Sets the environment of `target` as configured for whole executables.
pub(crate) fn configure_target(context: &Context, target: &mut BenchTarget) {
    let layers = &context.tables.layers;
    if let Some(digits) = layers.latency_digits(&target.package) {
        let digits = OsString::from(digits.to_string());
        target
            .variables
            .insert(LATENCY_DIGITS.to_owned(), Some(digits));
    }
}

/// Returns the state of the workspace's checkout, with the CI system's branch if git knows none.
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
            let said = format!("commit and branch are not known: {why}");
            output::write_warning(world.stderr, &said)?;
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
    /// Waits until no other cargo-perfcheck that uses this cache is measuring, and blocks others while the returned value lives. Commands take the
    /// lock after building and before they begin a run, and release it after measuring.
    pub(crate) fn measuring_lock(
        &self,
        world: &mut World<'_>,
    ) -> Result<Option<MeasuringLock>, AppError> {
        // Without a cache directory, processes have no place for a common lock.
        let Ok(cache) = cache_directory(world) else {
            return Ok(None);
        };
        let interrupt = world.interrupt;
        let mut told = Ok(());
        let lock = MeasuringLock::acquire(&cache, interrupt, &mut |holder| {
            let whose = match holder {
                Some(process) => format!("the run of process {process}"),
                None => "another run".to_owned(),
            };
            let words = format!("for {whose} to end: two measurements at once disturb each other");
            told = self.announce("Waiting", words, world);
        })?;
        told?;
        Ok(Some(lock))
    }
}

/// Default for the part of every deadline that does not depend on the request.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn build(
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<(BuildFacts, Vec<BenchTarget>), AppError> {
    refuse_no_targets(context, common, world)?;
    let order = order_in_place(context, common, world)?;
    let facts = order.toolchain.facts.clone();
    let built = order.build()?;
    warn_of_skipped(&built.skipped, world.stderr);
    Ok((facts, built.targets))
}

/// Orders the selected bench targets to be built in the user's own target directory.
fn order_in_place<'a>(
    context: &'a Context,
    common: &'a StoreOptions,
    world: &'a World<'_>,
) -> Result<BuildOrder<'a>, AppError> {
    Ok(BuildOrder {
        cargo: &world.variables.cargo,
        workspace: &context.workspace,
        toolchain: context.toolchain(&common.cargo, world.supervisor)?,
        options: &common.cargo,
        variables: &[],
        supervisor: world.supervisor,
    })
}

/// Returns an error if the workspace has nothing to measure.
pub(crate) fn refuse_no_targets(
    context: &Context,
    common: &StoreOptions,
    world: &World<'_>,
) -> Result<(), AppError> {
    if context.workspace.has_bench_targets(&common.cargo) {
        return Ok(());
    }
    // Cargo's metadata omits targets whose files are missing, but building them names the missing files.
    order_in_place(context, common, world)?.check_selection()?;
    Err(AppError::NothingToMeasure(
        "the selected packages have no bench targets\n  help: `--workspace` selects all packages; `cargo perfcheck init` shows how to write a first benchmark".to_owned(),
    ))
}

/// Warns of bench targets that cargo skipped.
pub(crate) fn warn_of_skipped(skipped: &[SkippedTarget], stderr: &mut dyn Write) {
    for one in skipped {
        let SkippedTarget {
            package, target, ..
        } = &one;
        let (reason, help) = match &one.reason {
            SkipReason::FeaturesOff(features) => {
                let wanted = features
                    .iter()
                    .map(|feature| format!("{package}/{feature}"));
                let wanted: Vec<String> = wanted.collect();
                let help = format!("`--features {}`", wanted.join(","));
                ("it needs features that are off", help)
            }
            SkipReason::BenchIsFalse => (
                "its manifest says `bench = false`",
                format!("`--bench {target}` measures it"),
            ),
        };
        let message = format!(
            "{package}/{target} is left out, as in `cargo bench`: {reason}\n  help: {help}"
        );
        // Ignore a closed stderr.
        let _ = output::write_warning(stderr, &message);
    }
}

/// Starts `targets` and lists the benchmarks that match `filter`. Each answer must arrive within `timeout`.
pub(crate) fn find_benchmarks(
    filter: &Filter,
    timeout: Duration,
    targets: Vec<BenchTarget>,
    beside: Option<ReferenceContext<'_>>,
    world: &mut World<'_>,
) -> Result<DiscoveredBenches, AppError> {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    let launcher = ProcessContext::new(world.supervisor, world.interrupt, &progress, timeout);
    let mut discovered = discover(targets, beside, launcher).map_err(|error| match error {
        ChildError::Interrupted => AppError::Interrupted(String::new()),
        other => AppError::NothingToMeasure(other.to_string()),
    })?;
    for target in &mut discovered.targets {
        target
            .benchmarks
            .retain(|benchmark| filter.matches(&benchmark.key));
    }
    Ok(discovered)
}

pub(crate) fn list_only(
    discovered: &DiscoveredBenches,
    format: MessageFormat,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let keys = discovered
        .targets
        .iter()
        .flat_map(|target| &target.benchmarks)
        .map(|benchmark| &benchmark.key);
    output::write_discovered(world.stdout, keys, format)?;
    Ok(if discovered.failures.is_empty() {
        ExitCode::Clean
    } else {
        ExitCode::BenchmarkFailed
    })
}

pub(crate) fn nothing_found_error(filter: &Filter, discovered: &DiscoveredBenches) -> AppError {
    AppError::NothingToMeasure(if !discovered.failures.is_empty() {
        "no bench target could be driven; the errors are above".to_owned()
    } else if filter.words.is_empty() {
        "the bench targets have no benchmarks\n  help: without `harness = false` in Cargo.toml a bench target has the functions alone that are marked `#[bench]`".to_owned()
    } else {
        format!(
            "there is {}\n  help: `cargo perfcheck list` lists them",
            no_match_message(filter)
        )
    })
}

/// Returns the part of every deadline that does not depend on the request; `said` is the command line's value.
pub(crate) fn timeout(said: Option<Duration>, context: &Context) -> Duration {
    said.or(context.tables.workspace.timeout).unwrap_or(TIMEOUT)
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
