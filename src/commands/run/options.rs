//! Options of `cargo perfcheck [FILTER]...`. Also hints on the next run (the command line that measures again, and its reference), and a lookup of
//! baselines that only the team's store has: the commit of such a baseline is built as with `--against`.

use std::borrow::Cow;
use std::time::Duration;

use crate::config::{Layer, WorkspaceSettings};
use crate::delivery::reports::ReportOptions;
use crate::error::AppError;
use crate::options::{CommonOptions, ComparisonOptions, Effort};
use crate::output::write_build_event;
use crate::pipeline::build::Against;
use crate::pipeline::next_steps::{NextReference, format_flags};
use crate::session::{Context, NamedRun, World, resolve_reference};
use crate::stored::transfer::{TeamBaseline, find_team_baseline};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{RequestedReference, ShardId};
use perfcheck_bench::measure::Filter;
use perfcheck_build::cargo::CargoOptions;
use perfcheck_build::sides::BenchesFrom;
use perfcheck_store::check_baseline_name;

/// The profile in which builds are timed, unless the user names another: that of `cargo build`.
const BUILD_PROFILE: &str = "dev";

/// Default number of rounds of builds.
const BUILD_ROUNDS: u32 = 20;

/// How long a build may take, in addition to ten times the longest one so far, unless the user says so.
const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// Options of a side-by-side measurement with a build that the user names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgainstOptions {
    /// The build to measure beside the work tree.
    pub reference: Against,
    /// Whether the reference is built with its own benchmarks or with those of the work tree.
    pub benches_from: BenchesFrom,
}

/// A filter that may be a mistyped command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleTypo {
    /// The filter as typed.
    pub word: String,
    /// The command that it resembles.
    pub command: String,
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The filter that selects the benchmarks to measure.
    pub filter: Filter,
    /// The first filter, if it may be a mistyped command.
    pub possible_typo: Option<PossibleTypo>,
    /// The user's word for the reference run.
    pub baseline: Option<String>,
    /// The part of the suite to measure. `None` means the whole suite.
    pub part: Option<ShardId>,
    /// The build to measure side by side with the work tree.
    pub against: Option<AgainstOptions>,
    /// Whether to measure identical executables as well, which shows the noise of this machine.
    pub measure_identical: bool,
    /// How much to measure side by side.
    pub effort: Effort,
    /// Whether to compare with stored numbers only, without measuring references again.
    pub no_rerun: bool,
    /// The baseline to save this run as.
    pub save_baseline: Option<String>,
    /// Whether to send the run to the team's store.
    pub push: bool,
    /// How long a request to a bench may take, in addition to ten times its expected duration, before the bench counts as hung. `None` selects the
    /// configured or default value.
    pub timeout: Option<Duration>,
    /// Sampling settings and noise threshold of the command line.
    pub layer: Layer,
    /// Options that set how the run is compared with its reference.
    pub comparison: ComparisonOptions,
    /// The reports to write in addition to the result.
    pub reports: ReportOptions,
}

impl RunOptions {
    /// Refuses contradictory options before anything is built.
    pub(super) fn check(&self, common: &CommonOptions) -> Result<(), AppError> {
        // Options for comparisons with stored runs are checked later, together with the workspace's tables.
        self.check_build_time()?;
        if self.against.is_some() {
            self.comparison.check_paired()?;
            if self
                .effort
                .rounds
                .is_some_and(|rounds| rounds < Plan::FEWEST_ROUNDS)
            {
                let least = Plan::FEWEST_ROUNDS;
                return Err(AppError::Usage(format!(
                    "a side-by-side comparison needs at least {least} rounds\n  help: use `--rounds {least}` or more; `--time-budget` also shortens a run"
                )));
            }
        }
        self.reports.check_for_run(common.output.format)?;
        if let Some(name) = &self.save_baseline {
            check_baseline_name(name)?;
            if self.part.is_some() {
                return Err(AppError::Usage(format!(
                    "a part of a suite cannot be a baseline\n  help: save the merged run of all parts: cargo perfcheck merge --save-baseline {name} FILE..."
                )));
            }
        }
        Ok(())
    }

    /// Refuses limits that would apply to nothing, because builds are measured and benchmarks are not, or the other way round. Refuses options that have
    /// no meaning for builds.
    fn check_build_time(&self) -> Result<(), AppError> {
        let measures_builds = self.comparison.measures_builds();
        let limits = &self.comparison.failure.limits;
        let other = (limits.iter()).find(|limit| limit.is_on_builds() != measures_builds);
        if let Some(limit) = other {
            let help = if measures_builds {
                "`--limit build-time:5%` limits builds"
            } else {
                "add `--metric build-time`, which measures builds"
            };
            return Err(AppError::Usage(format!(
                "the limit `{}` applies to nothing that this run measures\n  help: {help}",
                limit.text
            )));
        }
        if !measures_builds {
            return Ok(());
        }
        let against = self.against.as_ref().map(|against| &against.reference);
        if let Some(Against::Executable(_)) = against {
            return Err(AppError::Usage(
                "an executable cannot be built again, so `--metric build-time` needs a revision\n  help: use `--against` or `--against-merge-base`".to_owned(),
            ));
        }
        if self.save_baseline.is_some() {
            return Err(AppError::Usage(
                "a run of builds cannot be a baseline, because baselines are for benchmarks\n  help: leave out `--save-baseline`".to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the options of the workspace and the build. Builds are timed in the profile of `cargo build`, unless the user names another.
    pub(super) fn with_profile<'c>(&self, common: &'c CommonOptions) -> Cow<'c, CommonOptions> {
        if !self.comparison.measures_builds() || common.cargo.profile.is_some() {
            return Cow::Borrowed(common);
        }
        let mut common = common.clone();
        common.cargo.profile = Some(BUILD_PROFILE.to_owned());
        Cow::Owned(common)
    }

    /// Returns how much to measure. Builds take long, so they have fewer rounds, however long each of them takes.
    pub(super) fn effort_in_force(&self) -> Effort {
        let usual = (self.comparison.measures_builds()).then_some(BUILD_ROUNDS);
        Effort {
            rounds: self.effort.rounds.or(usual),
            ..self.effort
        }
    }

    /// Returns how long an answer may take, unless the configured or default value applies. A build may take long although none has been timed yet.
    pub(super) fn timeout_in_force(&self) -> Option<Duration> {
        let measures_builds = self.comparison.measures_builds();
        self.timeout.or(measures_builds.then_some(BUILD_TIMEOUT))
    }

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

impl RunOptions {
    /// Returns the reference of the next run with this command line.
    pub(super) fn next_reference<'b>(&self, baseline: Option<&'b NamedRun>) -> NextReference<'b> {
        match baseline {
            _ if self.against.is_some() => NextReference::Fixed,
            None => NextReference::Accepted,
            // A run number, a commit or `latest` does not move when a run is accepted. If this run has just been saved under the name, the output has
            // already said so.
            Some(NamedRun { name, .. })
                if check_baseline_name(name).is_err()
                    || self.save_baseline.as_ref() == Some(name) =>
            {
                NextReference::Fixed
            }
            Some(NamedRun { name, .. }) => NextReference::Named(name),
        }
    }

    /// Returns a command line that measures again with the same reference, features, profile and target. All other options are left out, as is the
    /// selection of benchmarks. `place` has the flags for the workspace and the store.
    pub(super) fn again(&self, place: &str, cargo: &CargoOptions) -> String {
        let features = Some(cargo.features.join(",")).filter(|features| !features.is_empty());
        let profile = cargo.profile.clone().filter(|profile| profile != "bench");
        let (mut revision, mut branch, mut executable) = (None, None, None);
        let mut benches_from = None;
        if let Some(against) = &self.against {
            match &against.reference {
                Against::Revision(named) => revision = Some(named.clone()),
                Against::MergeBase(named) => branch = Some(named.clone()),
                Against::Executable(path) => executable = Some(path.display().to_string()),
            }
            let is_of_work_tree = against.benches_from == BenchesFrom::WorkTree;
            benches_from = is_of_work_tree.then(|| against.benches_from.to_string());
        }
        let metric = self.comparison.analysis.metric;
        let metric = metric.filter(|_| self.comparison.measures_builds());
        let selected = format_flags([
            ("--metric", metric.map(|metric| metric.to_string())),
            ("--baseline", self.baseline.clone()),
            ("--against", revision),
            ("--against-merge-base", branch),
            ("--against-executable", executable),
            ("--benches-from", benches_from),
            ("--features", features),
            ("--profile", profile),
            ("--target", cargo.target.clone()),
            (
                "--harness",
                cargo.harness.map(|harness| harness.to_string()),
            ),
        ]);
        let switches = [
            (cargo.all_features, " --all-features"),
            (cargo.no_default_features, " --no-default-features"),
        ];
        let set = switches.iter().filter(|(is_set, _)| *is_set);
        let set: String = set.map(|(_, flag)| *flag).collect();
        format!("cargo perfcheck{place}{selected}{set}")
    }
}

/// Returns the options of the run. If only the team's store has the baseline, the returned options measure the run against the commit of the
/// baseline.
pub(super) fn against_team_baseline<'o>(
    options: &'o RunOptions,
    context: &Context,
    world: &mut World<'_>,
) -> Result<Cow<'o, RunOptions>, AppError> {
    let requested = options.baseline.as_ref();
    let requested =
        requested.filter(|_| !options.is_about_stored_numbers(&context.tables.workspace, world));
    let Some(name) = requested else {
        return Ok(Cow::Borrowed(options));
    };
    let is_here = match context.open_stored()? {
        Some((store, workspace)) => resolve_reference(&store, workspace, name).is_ok(),
        None => false,
    };
    let found = if is_here {
        None
    } else {
        find_team_baseline(context, name, world)?
    };
    let Some(TeamBaseline { run, commit }) = found else {
        return Ok(Cow::Borrowed(options));
    };
    let text = format!("`{name}` in the team's store: run {run}, commit {commit:.10}");
    write_build_event(world.stderr, "Reference", &text)?;
    Ok(Cow::Owned(RunOptions {
        baseline: None,
        against: Some(AgainstOptions {
            reference: Against::Revision(commit),
            benches_from: BenchesFrom::default(),
        }),
        ..options.clone()
    }))
}
