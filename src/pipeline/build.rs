//! Makes the two builds of a side-by-side measurement: the work tree, and a revision or an executable as its reference.

use crate::pipeline::cache_build::{CacheBuild, cache_directory, describe_revision};
use std::env::consts::EXE_SUFFIX;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::info_span;

use super::machine_code::{CodeByTarget, compare_code, compare_sides, compare_sizes};
use super::prepare::{TargetName, build, find_benchmarks};
use super::relinking::Relinking;
use super::request::Request;
use crate::error::AppError;
use crate::output;
use crate::sanitize::shell_quoted;
use crate::session::World;
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BySide, Environment, GitState, ProgramBenchmark};
use perfcheck_bench::measure::{DiscoveredBenches, ReferenceContext};
use perfcheck_build::cargo::{BenchTarget, CargoError};
use perfcheck_build::sides::{
    BenchesFrom, BuiltSide, PreparedSides, SidesError, StagedExecutables, TargetPair,
};
use perfcheck_host::Revision;

/// How the user names the build to measure beside the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    /// A git revision.
    Revision(String),
    /// The commit where the work tree's history left this branch.
    MergeBase(String),
    /// A bench executable.
    Executable(PathBuf),
}

/// The builds of both sides, with what is known about how their code differs.
pub(crate) struct BuildPair {
    pub(crate) targets: BySide<Vec<BenchTarget>>,
    /// For each bench target, how much of its code is known to be the same on both sides. A target has no entry if nothing is known to be the same.
    pub(crate) code_equality: CodeByTarget,
    pub(crate) environment: Environment,
    /// Names under which the builds are kept in the cache. `None` for a build that is not kept.
    pub(crate) kept_names: BySide<Option<String>>,
    pub(crate) git: BySide<Option<GitState>>,
    pub(crate) words: String,
    /// Whether and how the executables can be relinked.
    pub(crate) relinking: Relinking,
    /// Notes on the builds.
    pub(crate) remarks: Vec<RunNote>,
    pub(crate) _in_use: ExecutablesGuard,
}

/// Guard that keeps the executables in place.
pub(crate) enum ExecutablesGuard {
    /// Builds in the cache.
    Sides(#[expect(dead_code, reason = "held")] Vec<BuiltSide>),
    /// Copies of executables.
    Stage(#[expect(dead_code, reason = "held")] StagedExecutables),
    /// The lock on the directories of builds that are timed.
    Folder(#[expect(dead_code, reason = "held")] Arc<File>),
}

impl BuildPair {
    /// Combines two builds from the cache. `current_does_not_build` means that the benchmarks of the work tree do not compile with the code of the
    /// base, so the base has its own benchmarks.
    pub(crate) fn from_sides(
        built: PreparedSides,
        words: String,
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
            // Two executables with equal code behave the same only if the programs and data files that they use are equal, too. The input of a program is
            // the same on both sides, but after it has changed, a measurement shows how long the program takes now.
            if base.has_same_companions(candidate) && base.differing_data(candidate).is_empty() {
                alike.extend(
                    code.same
                        .map(|same| (TargetName::from_target(&candidate.target), same)),
                );
            }
            remarks.extend(code.remark);
            remarks.extend(compare_sizes(&base.target, &candidate.target));
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
            code_equality: alike,
            environment: Environment {
                host: perfcheck_host::read_host_facts(world.variables.ci),
                build: built.facts.clone(),
            },
            kept_names: BySide {
                base: Some(built.base.name.clone()),
                candidate: Some(built.candidate.name.clone()),
            },
            git: BySide {
                base: built.base.git.clone(),
                candidate: built.candidate.git.clone(),
            },
            words,
            relinking,
            remarks,
            _in_use: ExecutablesGuard::Sides(vec![built.base, built.candidate]),
        })
    }
}

/// Discovers the benchmarks of both sides. `listed` has the benchmarks of the candidate if they are known already.
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
    let _stage = info_span!("build").entered();
    let path = resolve_executable(path)?;
    let (toolchain, candidate) = build(request.context, request.common, world)?;
    let base = with_executable(&candidate, &path)?;
    let mut alike = CodeByTarget::new();
    let mut remarks = Vec::new();
    if let Some(target) = candidate
        .iter()
        .find(|one| TargetName::from_target(one) == TargetName::from_target(&base))
    {
        let code = world
            .interrupt
            .while_computing("", || compare_code(&base, target));
        alike.extend(
            code.same
                .map(|same| (TargetName::from_target(target), same)),
        );
        remarks.extend(code.remark);
        remarks.extend(compare_sizes(&base, target));
    }
    let stage = StagedExecutables::open(&cache_directory(world)?)?;
    let mut targets = BySide {
        base: vec![base],
        candidate,
    };
    stage_copies(&stage, &mut targets)?;
    Ok(BuildPair {
        code_equality: alike,
        targets,
        environment: Environment {
            host: perfcheck_host::read_host_facts(world.variables.ci),
            build: toolchain,
        },
        kept_names: BySide::default(),
        git: BySide {
            base: None,
            candidate: request.git_after_build()?,
        },
        words: format!("the executable {}", path.display()),
        relinking: Relinking::Impossible("the object files of the executable are unknown"),
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
    let _stage = info_span!("build").entered();
    let order = CacheBuild {
        benches_from,
        ..CacheBuild::new(request.context, request.common)
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
                    "{} does not build with the current benchmarks; using its own instead",
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
    let words = describe_revision(revision);
    BuildPair::from_sides(built, words, current_does_not_build, request, world)
}

/// Prepares builds of a revision and of the work tree, to measure how long they take.
pub(crate) fn pair_timed_builds(
    revision: &Revision,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<BuildPair, AppError> {
    let _stage = info_span!("build").entered();
    let order = CacheBuild::new(request.context, request.common);
    let sides = order.prepare_timed_sides(revision, world)?;
    Ok(BuildPair {
        targets: BySide {
            base: vec![sides.targets.base],
            candidate: vec![sides.targets.candidate],
        },
        code_equality: CodeByTarget::new(),
        environment: Environment {
            host: perfcheck_host::read_host_facts(world.variables.ci),
            build: sides.facts,
        },
        kept_names: BySide::default(),
        git: sides.git,
        words: describe_revision(revision),
        relinking: Relinking::Unwanted,
        remarks: Vec::new(),
        _in_use: ExecutablesGuard::Folder(sides.lock),
    })
}

/// Returns the canonical path of an executable. Called before the builds, so that a wrong path is reported at once.
fn resolve_executable(path: &Path) -> Result<PathBuf, AppError> {
    let found = perfcheck_host::os::canonicalize(path).map_err(|error| error.to_string());
    let found = found.and_then(|found| {
        if found.is_file() {
            Ok(found)
        } else {
            Err("it is not a file".to_owned())
        }
    });
    found.map_err(|error| {
        AppError::Usage(format!(
            "cannot use the executable {}: {error}\n  help: cargo puts the executables of benches in `target/release/deps`",
            path.display()
        ))
    })
}

/// Finds the bench target from which `path` was built earlier, and returns this target with `path` as its executable.
fn with_executable(targets: &[BenchTarget], path: &Path) -> Result<BenchTarget, AppError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(EXE_SUFFIX).unwrap_or(&name);
    // Cargo appends a hash to the target's name.
    let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
    let called = |target: &&BenchTarget| {
        let program = ProgramBenchmark::binary_of_target(&target.target);
        let own = program.unwrap_or(&target.target);
        own == stem || own == name
    };
    let found: Vec<&BenchTarget> = targets.iter().filter(called).collect();
    let target = match (&found[..], targets) {
        ([target], _) => *target,
        (_, [target]) => target,
        _ => {
            let help = match targets.first() {
                Some(BenchTarget { programs, .. }) if !programs.is_empty() => {
                    let id = shell_quoted(&programs[0].id);
                    format!("name the program, e.g. `--program {id}`")
                }
                first => {
                    let name = first.map_or("NAME", |target| &target.target);
                    format!("name the bench target, e.g. `--bench {name}`")
                }
            };
            return Err(AppError::Usage(format!(
                "cannot tell which bench target {} was built from\n  help: {help}",
                path.display()
            )));
        }
    };
    Ok(target.clone().with_executable(path.to_owned()))
}

/// Copies both sides of each target to paths of equal length, because the length of an executable's path shifts addresses in its memory.
pub(crate) fn stage_copies(
    stage: &StagedExecutables,
    targets: &mut BySide<Vec<BenchTarget>>,
) -> Result<(), AppError> {
    for (ordinal, base) in targets.base.iter_mut().enumerate() {
        let copy = stage.copy_base(ordinal, base.executable())?;
        let beside = copy.file_name().unwrap_or_default().to_owned();
        *base = base.clone().with_executable(copy);
        let same = |target: &&mut BenchTarget| {
            TargetName::from_target(target) == TargetName::from_target(base)
        };
        if let Some(candidate) = targets.candidate.iter_mut().find(same) {
            let copy = stage.copy_candidate(ordinal, Path::new(&beside), candidate.executable())?;
            *candidate = candidate.clone().with_executable(copy);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{SkipSupport, TargetFacts};
    use std::collections::BTreeMap;

    fn target(name: &str, programs: &[&str]) -> BenchTarget {
        let program = |id: &&str| ProgramBenchmark {
            package: "p".into(),
            binary: "rg".into(),
            id: (*id).into(),
            arguments: Vec::new(),
            stdin: None,
            prepare: Vec::new(),
            exit: 0,
            build: None,
        };
        BenchTarget {
            package: "p".into(),
            target: name.into(),
            program: "/work".into(),
            first_arguments: Vec::new(),
            directory: "/".into(),
            variables: BTreeMap::new(),
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
            programs: programs.iter().map(program).collect(),
        }
    }

    #[test]
    fn the_file_name_tells_the_target_or_the_error_names_a_flag_that_does() {
        let program = target("program:rg", &["rg -c fn"]);
        let benches = [target("costs", &[]), target("others", &[])];
        let with_program = [&[program][..], &benches].concat();
        let find = |targets: &[BenchTarget], name: &str| {
            let path = Path::new("/old").join(format!("{name}{EXE_SUFFIX}"));
            let found = with_executable(targets, &path);
            found
                .map(|found| found.target)
                .map_err(|error| error.to_string())
        };
        assert_eq!(find(&with_program, "rg"), Ok("program:rg".to_owned()));
        assert_eq!(find(&with_program, "costs-0123abc"), Ok("costs".to_owned()));
        let help = |targets: &[BenchTarget]| find(targets, "old").expect_err("it is unknown");
        let error = help(&with_program);
        assert!(error.ends_with("e.g. `--program 'rg -c fn'`"), "{error}");
        let error = help(&benches);
        assert!(error.ends_with("e.g. `--bench costs`"), "{error}");
    }
}
