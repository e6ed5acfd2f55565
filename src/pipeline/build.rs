//! Both builds of a side-by-side measurement: the work tree with a revision or with an executable.
//!
//! Builds revisions and work trees in the cache, with progress on stderr in cargo's style.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::machine_code::ExecutableComparison;
use super::machine_code::Relinking;
use super::pairing::{CodeByTarget, target_name};
use super::request::Request;
use super::request::{build, find_benchmarks, warn_of_skipped};
use crate::error::AppError;
use crate::output;
use crate::output::counted;
use crate::session::{Context, World};
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BuildFacts, BySide, Environment, GitState, Run};
use perfcheck_engine::cargo::{BenchTarget, CargoError, CargoOptions};
use perfcheck_engine::host::{self, Revision};
use perfcheck_engine::measure::{DiscoveredBenches, ReferenceContext};
use perfcheck_engine::sides::{
    BenchesFrom, BuildEvent, BuildOrigin, BuiltSide, PreparedSides, SideTarget, SidesError,
    SidesRequest, StagedExecutables, TargetPair, UncopiedFile, UncopiedReason, build_commit,
    build_sides, build_work_tree, default_cache, find_kept_build, find_kept_builds,
    read_kept_executables,
};

/// The reference build of a side-by-side measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    /// A git revision
    Revision(String),
    /// The commit where the work tree's history left this branch
    MergeBase(String),
    /// A bench executable
    Executable(PathBuf),
}

/// Both builds, with the user's name for the reference.
pub(crate) struct BuildPair {
    pub(crate) targets: BySide<Vec<BenchTarget>>,
    /// Targets whose executables run the same code on both sides
    pub(crate) alike: CodeByTarget,
    pub(crate) environment: Environment,
    /// Names under which the builds are kept
    pub(crate) builds: BySide<Option<String>>,
    pub(crate) git: BySide<Option<GitState>>,
    pub(crate) words: String,
    /// Executables that can be linked again
    pub(crate) relinking: Relinking,
    /// Notes on the builds
    pub(crate) remarks: Vec<RunNote>,
    pub(crate) _in_use: ExecutablesGuard,
}

/// Guard that keeps the executables in place.
pub(crate) enum ExecutablesGuard {
    /// Builds in the cache
    Sides(#[expect(dead_code, reason = "held")] Vec<BuiltSide>),
    /// Copies of executables
    Stage(#[expect(dead_code, reason = "held")] StagedExecutables),
}

impl BuildPair {
    /// Combines two builds from the cache. `current_does_not_build`: the base has its own benchmarks because the current ones did not compile there.
    pub(crate) fn from_sides(
        built: PreparedSides,
        current_does_not_build: bool,
        request: &Request<'_>,
        world: &mut World<'_>,
    ) -> Result<Self, AppError> {
        let mut alike = CodeByTarget::new();
        let mut remarks = Vec::new();
        let mut on_both = Vec::new();
        for pair in built.pairs() {
            let TargetPair::Both { base, candidate } = pair else {
                continue;
            };
            on_both.push(BySide { base, candidate });
            let differing = base.differing_sources(candidate);
            let code = world
                .interrupt
                .while_computing("", || compare_sides(base, candidate));
            // Equal code runs the same only if accompanying programs and data files are equal, too.
            if base.has_same_companions(candidate) && base.differing_data(candidate).is_empty() {
                alike.extend(code.same.map(|same| (target_name(&candidate.target), same)));
            }
            remarks.extend(code.remark);
            if !differing.is_empty() {
                let files: Vec<String> = differing
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect();
                remarks.push(RunNote::BenchDiffers {
                    package: candidate.target.package.clone(),
                    target: candidate.target.target.clone(),
                    files,
                    current_does_not_build,
                });
            }
        }
        for dependency in &built.dependencies {
            remarks.push(RunNote::DependencyDiffers {
                name: dependency.name.clone(),
                versions: BySide {
                    base: dependency.base.clone(),
                    candidate: dependency.candidate.clone(),
                },
            });
        }
        let relinking = Relinking::plan(on_both.into_iter(), request.effort.as_built, world)?;
        Ok(BuildPair {
            targets: BySide {
                base: built.base.bench_targets(),
                candidate: built.candidate.bench_targets(),
            },
            alike,
            environment: Environment {
                host: host::read_host_facts(world.variables.ci, world.supervisor),
                build: built.facts.clone(),
            },
            builds: BySide {
                base: Some(built.base.name.clone()),
                candidate: Some(built.candidate.name.clone()),
            },
            git: BySide {
                base: built.base.git.clone(),
                candidate: built.candidate.git.clone(),
            },
            words: String::new(),
            relinking,
            remarks,
            _in_use: ExecutablesGuard::Sides(vec![built.base, built.candidate]),
        })
    }
}

/// Discovers the benchmarks of both sides.
pub(crate) fn discover_both(
    built: &BuildPair,
    listed: Option<DiscoveredBenches>,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<BySide<DiscoveredBenches>, AppError> {
    let mut discover = |targets: &[BenchTarget], beside: Option<ReferenceContext<'_>>| {
        let targets = targets.to_vec();
        find_benchmarks(request.filter, request.timeout, targets, beside, world)
    };
    let candidate = match listed {
        Some(listed) => listed,
        None => discover(&built.targets.candidate, None)?,
    };
    let beside = ReferenceContext {
        candidate: &candidate,
        reference: &built.words,
    };
    Ok(BySide {
        base: discover(&built.targets.base, Some(beside))?,
        candidate,
    })
}

pub(crate) fn pair_with_executable(
    path: &Path,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<BuildPair, AppError> {
    let path = resolve_executable(path)?;
    let (toolchain, candidate) = build(request.context, request.common, world)?;
    let base = with_executable(&candidate, &path)?;
    let mut alike = CodeByTarget::new();
    let mut remarks = Vec::new();
    if let Some(target) = candidate
        .iter()
        .find(|one| target_name(one) == target_name(&base))
    {
        let code = world
            .interrupt
            .while_computing("", || compare_code(&base, target));
        alike.extend(code.same.map(|same| (target_name(target), same)));
        remarks.extend(code.remark);
    }
    let stage = StagedExecutables::open(&cache_directory(world)?)?;
    let mut targets = BySide {
        base: vec![base],
        candidate,
    };
    stage_copies(&stage, &mut targets)?;
    Ok(BuildPair {
        alike,
        targets,
        environment: Environment {
            host: host::read_host_facts(world.variables.ci, world.supervisor),
            build: toolchain,
        },
        builds: BySide::default(),
        git: BySide {
            base: None,
            candidate: request.git_after_build()?,
        },
        words: format!("the executable {}", path.display()),
        relinking: Relinking::Impossible("nobody knows what an executable was linked from"),
        remarks,
        _in_use: ExecutablesGuard::Stage(stage),
    })
}

/// Builds the work tree and a revision in the cache.
pub(crate) fn pair_with_revision(
    revision: &Revision,
    benches_from: BenchesFrom,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<BuildPair, AppError> {
    let order = CacheBuild {
        context: request.context,
        cargo: &request.common.cargo,
        benches_from,
        quiet: request.common.output.quiet,
    };
    let (built, current_does_not_build) = match order.build_sides(revision, world) {
        // The current benches may call functions that the revision does not have. Its own benches are better than no measurement.
        Err(AppError::Sides(SidesError::Revision { source, .. }))
            if benches_from == BenchesFrom::WorkTree
                && matches!(source, CargoError::Build { .. }) =>
        {
            output::write_warning(
                world.stderr,
                &format!(
                    "{} does not build with the current benchmarks; it is built with its own",
                    describe_revision(revision)
                ),
            )?;
            let own = CacheBuild {
                benches_from: BenchesFrom::Revision,
                ..order
            };
            (own.build_sides(revision, world)?, true)
        }
        built => (built?, false),
    };
    let both = BuildPair::from_sides(built, current_does_not_build, request, world)?;
    Ok(BuildPair {
        words: describe_revision(revision),
        ..both
    })
}

/// Returns the canonical path of an executable; called before anything is built.
fn resolve_executable(path: &Path) -> Result<PathBuf, AppError> {
    let found = path.canonicalize().map_err(|error| error.to_string());
    let found = found.and_then(|found| {
        if found.is_file() {
            Ok(found)
        } else {
            Err("it is not a file".to_owned())
        }
    });
    found.map_err(|error| {
        AppError::Usage(format!(
            "there is no executable {}: {error}\n  help: cargo puts those of benches in `target/release/deps`",
            path.display()
        ))
    })
}

/// Finds the bench target of which `path` is an earlier build, and replaces its executable by `path`.
fn with_executable(targets: &[BenchTarget], path: &Path) -> Result<BenchTarget, AppError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash to the target's name.
    let stem = name.rsplit_once('-').map_or(&*name, |(stem, _)| stem);
    let called = |target: &&BenchTarget| target.target == stem || target.target == name;
    let found: Vec<&BenchTarget> = targets.iter().filter(called).collect();
    let target = match (&found[..], targets) {
        ([target], _) => *target,
        (_, [target]) => target,
        _ => {
            return Err(AppError::Usage(format!(
                "which bench target is {} an earlier build of?\n  help: name it, e.g. `--bench {}`",
                path.display(),
                targets.first().map_or("NAME", |target| &target.target)
            )));
        }
    };
    Ok(target.clone().with_executable(path.to_owned()))
}

/// Compares the code of two executables.
pub(crate) fn compare_code(base: &BenchTarget, candidate: &BenchTarget) -> ExecutableComparison {
    let read = |target: &BenchTarget| std::fs::read(target.executable());
    match (read(base), read(candidate)) {
        (Ok(base), Ok(other)) => {
            let executables = BySide {
                base,
                candidate: other,
            };
            ExecutableComparison::compare(candidate, &executables)
        }
        // Running the unreadable executable will report the error.
        _ => ExecutableComparison::NONE,
    }
}

/// Compares the code of two built sides. Embedded paths to their own directories do not count as a difference.
pub(crate) fn compare_sides(base: &SideTarget, candidate: &SideTarget) -> ExecutableComparison {
    if base.is_identical_to(candidate) {
        return ExecutableComparison::IDENTICAL;
    }
    match (
        base.with_paths_of(candidate),
        candidate.with_paths_of(candidate),
    ) {
        (Ok(base), Ok(other)) => {
            let executables = BySide {
                base,
                candidate: other,
            };
            ExecutableComparison::compare(&candidate.target, &executables)
        }
        _ => ExecutableComparison::NONE,
    }
}

/// Copies both sides of each target to paths of equal length: the length of an executable's path shifts its memory.
pub(crate) fn stage_copies(
    stage: &StagedExecutables,
    targets: &mut BySide<Vec<BenchTarget>>,
) -> Result<(), AppError> {
    for (ordinal, base) in targets.base.iter_mut().enumerate() {
        let copy = stage.copy_base(ordinal, base.executable())?;
        let beside = copy.file_name().unwrap_or_default().to_owned();
        *base = base.clone().with_executable(copy);
        let same = |target: &&mut BenchTarget| target_name(target) == target_name(base);
        if let Some(candidate) = targets.candidate.iter_mut().find(same) {
            let copy = stage.copy_candidate(ordinal, Path::new(&beside), candidate.executable())?;
            *candidate = candidate.clone().with_executable(copy);
        }
    }
    Ok(())
}

/// Name of the candidate in messages, whatever its commit.
const WORK_TREE: &str = "the work tree";

/// Default size limit of kept builds, in MiB.
const ROOM_MIB: u32 = 2048;

/// The sources to build, and the way to build them.
pub(crate) struct CacheBuild<'a> {
    pub(crate) context: &'a Context,
    /// Build options for cargo
    pub(crate) cargo: &'a CargoOptions,
    pub(crate) benches_from: BenchesFrom,
    pub(crate) quiet: bool,
}

impl CacheBuild<'_> {
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

    /// Builds the work tree alone. Returns it with the facts of its build.
    pub(crate) fn build_work_tree(
        &self,
        world: &mut World<'_>,
    ) -> Result<(BuiltSide, BuildFacts), AppError> {
        let (built, facts) =
            self.with_cache(world, |request, events| build_work_tree(request, events))?;
        self.report_ready(WORK_TREE, &built, world)?;
        Ok((built, facts))
    }

    /// Returns an earlier build if it is still kept.
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

    /// Returns the executables of a bench target (package and name) in the builds of two runs, if they are still kept.
    pub(crate) fn kept_executables(
        &self,
        runs: &BySide<&Run>,
        target: (&str, &str),
        world: &mut World<'_>,
    ) -> Result<BySide<Option<Vec<u8>>>, AppError> {
        self.with_cache(world, |request, events| {
            read_kept_executables(request, &names(runs), target, events)
        })
    }

    /// Builds a revision alone.
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

    /// Calls `build` with the cache and the compiler of the workspace, and shows its events.
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
        let stand_in = std::env::current_exe().ok();
        let request = SidesRequest {
            cache: &cache,
            cargo: &world.variables.cargo,
            options: self.cargo,
            toolchain: self.context.toolchain(self.cargo, world.supervisor)?,
            workspace: &self.context.workspace,
            checkout: self.context.checkout(),
            benches_from: self.benches_from,
            room: u64::from(room.unwrap_or(ROOM_MIB)) << 20,
            spared: &spared,
            stand_in: stand_in.as_deref(),
            supervisor: world.supervisor,
        };
        let stderr = &mut *world.stderr;
        let mut show = |event: BuildEvent<'_>| {
            if let BuildEvent::LeftOut(left_out) = event {
                let _ = output::write_warning(stderr, &left_out_in_words(left_out));
            } else if !self.quiet {
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
            output::write_build_event(world.stderr, &built_in_words(what, side))?;
        }
        Ok(())
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
    let words = match event {
        BuildEvent::TargetsSkipped(skipped) => return warn_of_skipped(skipped, stderr),
        BuildEvent::Waiting(folder) => (
            "Waiting",
            format!("for another cargo perfcheck in {}", folder.display()),
        ),
        BuildEvent::Found(revision) => (
            "Fresh",
            format!("{} (built before)", side_in_words(*revision)),
        ),
        BuildEvent::Removed { builds, bytes } => {
            let builds = counted(*builds, "build");
            let mib = bytes >> 20;
            (
                "Removed",
                format!("{builds} that had not been used for longest ({mib} MiB)"),
            )
        }
        BuildEvent::LeftOut(left_out) => ("Left out", left_out_in_words(left_out)),
        BuildEvent::CheckingOut(revision) => ("Checking out", describe_revision(revision)),
        BuildEvent::Building(revision) => ("Building", side_in_words(*revision)),
    };
    // Ignore a closed stderr.
    let _ = output::write_build_event(stderr, &words);
}

/// Maximum number of files listed in a warning.
const MOST_NAMED: usize = 5;

fn left_out_in_words(left_out: &[UncopiedFile]) -> String {
    let named = left_out.iter().take(MOST_NAMED).map(|one| {
        let reason = match one.reason {
            UncopiedReason::Unreadable => "you may not read it",
            UncopiedReason::TooLarge => "git ignores it, and it is too large",
        };
        format!("`{}` ({reason})", one.path.display())
    });
    let mut named: Vec<String> = named.collect();
    if left_out.len() > MOST_NAMED {
        named.push(format!("{} more", left_out.len() - MOST_NAMED));
    }
    format!(
        "the benchmarks are built from a copy of the sources without {}",
        named.join(", ")
    )
}

fn built_in_words(what: &str, side: &BuiltSide) -> (&'static str, String) {
    let seconds = (side.checkout_time + side.build_time).as_secs_f64();
    ("Ready", format!("{what}, built in {seconds:.1} s"))
}
