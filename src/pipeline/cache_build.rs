//! Builds revisions and work trees in the cache, with progress on stderr in cargo's style.

use std::io::Write;
use std::path::PathBuf;

use super::prepare::{select_programs, warn_of_skipped};
use crate::error::{AppError, first_line};
use crate::options::CommonOptions;
use crate::output;
use crate::output::counted;
use crate::session::{Context, World};
use perfcheck_analysis::model::{BenchmarkKey, BuildFacts, BySide, Run};
use perfcheck_build::cargo::CargoOptions;
use perfcheck_build::sides::{
    BenchesFrom, BuildEvent, BuildOrigin, BuiltSide, PreparedSides, SidesError, SidesRequest,
    TimedSides, UncopiedFile, UncopiedReason, build_commit, build_sides, build_work_tree,
    default_cache, find_kept_build, find_kept_builds, prepare_timed_sides, read_kept_executables,
};
use perfcheck_host::Revision;

/// Name of the candidate in messages.
const WORK_TREE: &str = "the work tree";

/// Default size limit of kept builds, in MiB.
const DEFAULT_KEPT_BUILDS_MIB: u32 = 2048;

/// The result of building a commit in order to measure it.
pub(crate) enum CommitBuild<T> {
    Ready(T),
    Unmeasurable {
        reason: String,
        /// Whether another attempt would fail for the same reason. Otherwise, the machine or the network may be the cause.
        is_lasting: bool,
    },
}

/// A request to build something in the cache, with the settings.
pub(crate) struct CacheBuild<'a> {
    pub(crate) context: &'a Context,
    /// Options for cargo.
    pub(crate) cargo: &'a CargoOptions,
    pub(crate) benches_from: BenchesFrom,
    pub(crate) quiet: bool,
}

impl<'a> CacheBuild<'a> {
    /// Prepares builds with the user's flags. Revisions use their own benchmarks.
    pub(crate) fn new(context: &'a Context, common: &'a CommonOptions) -> Self {
        Self {
            context,
            cargo: &common.cargo,
            benches_from: BenchesFrom::Revision,
            quiet: common.output.quiet,
        }
    }

    /// Builds a revision and the work tree.
    pub(crate) fn build_sides(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<PreparedSides, AppError> {
        let built = self.with_cache(world, |request, events| {
            build_sides(request, revision, events)
        })?;
        self.report_ready(&describe_revision(revision), &built.base, world)?;
        self.report_ready(WORK_TREE, &built.candidate, world)?;
        Ok(built)
    }

    /// Prepares a revision and the work tree for measuring how long their builds take.
    pub(crate) fn prepare_timed_sides(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<TimedSides, AppError> {
        self.with_cache(world, |request, events| {
            prepare_timed_sides(request, revision, events)
        })
    }

    /// Builds only the work tree. Returns it with the facts of its build.
    pub(crate) fn build_work_tree(
        &self,
        world: &mut World<'_>,
    ) -> Result<(BuiltSide, BuildFacts), AppError> {
        let (built, facts) =
            self.with_cache(world, |request, events| build_work_tree(request, events))?;
        self.report_ready(WORK_TREE, &built, world)?;
        Ok((built, facts))
    }

    /// Returns the build `name` if the cache still has it.
    pub(crate) fn find_kept(
        &self,
        name: &str,
        world: &mut World<'_>,
    ) -> Result<Option<BuiltSide>, AppError> {
        self.with_cache(world, |request, events| {
            find_kept_build(request, name, events)
        })
    }

    /// Returns the builds of two runs, if they are still kept.
    pub(crate) fn kept_of_runs(
        &self,
        runs: &BySide<&Run>,
        world: &mut World<'_>,
    ) -> Result<BySide<Option<BuiltSide>>, AppError> {
        self.with_cache(world, |request, events| {
            find_kept_builds(request, &names(runs), events)
        })
    }

    /// Returns the executables of the bench target of `key` in the builds of two runs, if they are still kept.
    pub(crate) fn kept_executables(
        &self,
        runs: &BySide<&Run>,
        key: &BenchmarkKey,
        world: &mut World<'_>,
    ) -> Result<BySide<Option<Vec<u8>>>, AppError> {
        let target = (&*key.package, &*key.target);
        self.with_cache(world, |request, events| {
            read_kept_executables(request, &names(runs), target, events)
        })
    }

    /// Builds only a revision.
    pub(crate) fn build_commit(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<BuiltSide, AppError> {
        let built = self.with_cache(world, |request, events| {
            build_commit(request, revision, events)
        })?;
        self.report_ready(&describe_revision(revision), &built, world)?;
        Ok(built)
    }

    /// Builds only a revision. `Unmeasurable` has the reason if the revision itself cannot be built.
    pub(crate) fn try_build_commit(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<CommitBuild<BuiltSide>, AppError> {
        match self.build_commit(revision, world) {
            Ok(side) => Ok(CommitBuild::Ready(side)),
            Err(AppError::Sides(error)) if error.is_caused_by_revision() => {
                // An interrupted build does not prove that the commit cannot be built.
                if world.interrupt.is_requested_after_delay() {
                    return Err(AppError::Interrupted(String::new()));
                }
                Ok(CommitBuild::Unmeasurable {
                    reason: why_not_built(&error),
                    is_lasting: error.is_lasting(),
                })
            }
            Err(other) => Err(other),
        }
    }

    /// Calls `build` with the cache and the compiler of the workspace, and shows the events of the build.
    fn with_cache<T>(
        &self,
        world: &mut World<'_>,
        build: impl FnOnce(&SidesRequest<'_>, &mut dyn FnMut(BuildEvent<'_>)) -> Result<T, SidesError>,
    ) -> Result<T, AppError> {
        let cache = cache_directory(world)?;
        let room = self.context.tables.workspace.kept_builds_mib;
        let spared = match self.context.open_stored()? {
            Some((store, workspace)) => store.needed_builds(workspace)?,
            None => Vec::new(),
        };
        let programs = select_programs(self.context, self.cargo)?;
        let stand_in = std::env::current_exe().ok();
        let request = SidesRequest {
            cache: &cache,
            cargo: &world.variables.cargo,
            options: self.cargo,
            programs: &programs,
            toolchain: self.context.toolchain(self.cargo, world.supervisor)?,
            workspace: &self.context.workspace,
            checkout: self.context.checkout(),
            benches_from: self.benches_from,
            harness: (self.cargo.harness)
                .or(self.context.tables.workspace.harness)
                .unwrap_or_default(),
            room: u64::from(room.unwrap_or(DEFAULT_KEPT_BUILDS_MIB)) << 20,
            spared: &spared,
            stand_in: stand_in.as_deref(),
            supervisor: world.supervisor,
        };
        let stderr = &mut *world.stderr;
        let mut show = |event: BuildEvent<'_>| {
            let is_warning = matches!(
                event,
                BuildEvent::LeftOut(_) | BuildEvent::Diagnostics(_) | BuildEvent::CriterionAsIs(_)
            );
            if !self.quiet || is_warning {
                write_event(&event, stderr);
            }
        };
        Ok(build(&request, &mut show)?)
    }

    fn report_ready(
        &self,
        what: &str,
        side: &BuiltSide,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if !self.quiet && side.provenance == BuildOrigin::Built {
            let seconds = (side.checkout_time + side.build_time).as_secs_f64();
            let words = format!("{what}, built in {seconds:.1} s");
            output::write_build_event(world.stderr, "Ready", &words)?;
        }
        Ok(())
    }
}

fn why_not_built(error: &SidesError) -> String {
    match error {
        SidesError::Revision { source, .. } => {
            first_line(&format!("the commit cannot be built: {source}"))
        }
        SidesError::CheckOut { source, .. } => {
            first_line(&format!("the commit cannot be checked out: {source}"))
        }
        other => first_line(other),
    }
}

/// Returns the names under which the builds of two runs are kept.
fn names<'r>(runs: &BySide<&'r Run>) -> BySide<Option<&'r str>> {
    BySide {
        base: runs.base.begun.build.as_deref(),
        candidate: runs.candidate.begun.build.as_deref(),
    }
}

/// Returns the directory of kept builds: from the environment, else in the user's cache directory.
pub(crate) fn cache_directory(world: &World<'_>) -> Result<PathBuf, AppError> {
    match &world.variables.cache {
        Some(path) => Ok(path.clone()),
        None => Ok(default_cache()?),
    }
}

/// Describes a revision by its name and commit.
pub(crate) fn describe_revision(revision: &Revision) -> String {
    if revision.commit.starts_with(&revision.name) {
        format!("commit {}", revision.short())
    } else {
        format!("`{}` (commit {})", revision.name, revision.short())
    }
}

fn side_in_words(revision: Option<&Revision>) -> String {
    revision.map_or_else(|| WORK_TREE.to_owned(), describe_revision)
}

fn write_event(event: &BuildEvent<'_>, stderr: &mut dyn Write) {
    let (verb, object) = match event {
        BuildEvent::TargetsSkipped(skipped) => return warn_of_skipped(skipped, stderr),
        BuildEvent::LeftOut(left_out) => {
            // A closed stderr is no reason to stop the build, so ignore the error.
            let _ = output::write_warning(stderr, &left_out_in_words(left_out));
            return;
        }
        BuildEvent::Diagnostics(messages) => {
            for message in *messages {
                let _ = write!(stderr, "{message}");
            }
            return;
        }
        BuildEvent::CriterionAsIs(reason) => {
            let words = format!(
                "Criterion runs as it is, which makes measuring slower: perfcheck's harness cannot replace it, because {reason}\n  help: use `--harness as-is` to hide this warning"
            );
            let _ = output::write_warning(stderr, &words);
            return;
        }
        BuildEvent::CriterionReplaced(versions) => (
            "Harness",
            format!(
                "{} runs on perfcheck's harness, without plots (use `--harness as-is` for Criterion itself)",
                versions.join(", ")
            ),
        ),
        BuildEvent::Waiting(folder) => (
            "Waiting",
            format!("for another cargo perfcheck in {}", folder.display()),
        ),
        BuildEvent::Found(revision) => (
            "Fresh",
            format!("{} (already built)", side_in_words(*revision)),
        ),
        BuildEvent::Removed { builds, bytes } => {
            let builds = counted(*builds, "least recently used build");
            let mib = bytes >> 20;
            ("Removed", format!("{builds} ({mib} MiB)"))
        }
        BuildEvent::CheckingOut(revision) => ("Checking out", describe_revision(revision)),
        BuildEvent::Building(revision) => ("Building", side_in_words(*revision)),
    };
    // A closed stderr is no reason to stop the build, so ignore the error.
    let _ = output::write_build_event(stderr, verb, &object);
}

/// Maximum number of files listed in a warning.
const MAX_NAMED_FILES: usize = 5;

fn left_out_in_words(left_out: &[UncopiedFile]) -> String {
    let named = left_out.iter().take(MAX_NAMED_FILES).map(|one| {
        let reason = match one.reason {
            UncopiedReason::Unreadable => "no permission to read it",
            UncopiedReason::TooLarge => "too large, and ignored by git",
        };
        format!("`{}` ({reason})", one.path.display())
    });
    let mut named: Vec<String> = named.collect();
    if left_out.len() > MAX_NAMED_FILES {
        named.push(format!("{} more", left_out.len() - MAX_NAMED_FILES));
    }
    format!(
        "the benchmarks are built from a copy of the sources that lacks {}",
        named.join(", ")
    )
}
