//! The built work tree, paired with builds of earlier runs.

use std::time::Duration;
use tracing::info_span;

use super::build::{BuildPair, pair_with_revision};
use super::cache_build::CacheBuild;
use super::prepare::{TargetName, build, find_benchmarks, refuse_no_targets};
use super::request::Request;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::session::{Context, World};
use perfcheck_analysis::compare::{Comparability, Fact, find_differences};
use perfcheck_analysis::model::{BySide, Environment, GitState, Metric, Run, TargetFacts};
use perfcheck_bench::measure::{DiscoveredBenches, Filter};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::sides::{BenchesFrom, BuiltSide, PreparedSides, SidesError};
use perfcheck_host::Checkout;

/// The work tree after it was built and its benchmarks were listed.
pub(crate) struct WorkTree {
    /// The build in the cache, or the reason why the work tree was built in place.
    pub(crate) build: Result<BuiltSide, String>,
    pub(crate) environment: Environment,
    /// The selected benchmarks.
    pub(crate) found: DiscoveredBenches,
}

/// The build of an earlier run to measure beside the work tree, if there is one.
pub(crate) enum EarlierBuild {
    Available(Box<BuildPair>),
    /// The run has no build to measure against, for this reason.
    Gone {
        reason: String,
    },
}

impl WorkTree {
    /// Builds the work tree, in the cache if `is_kept` and if possible, else in place, and discovers its benchmarks.
    pub(crate) fn build(
        context: &Context,
        common: &CommonOptions,
        filter: &Filter,
        timeout: Duration,
        is_kept: bool,
        world: &mut World<'_>,
    ) -> Result<Self, AppError> {
        let _stage = info_span!("build").entered();
        refuse_no_targets(context, common, world)?;
        let in_cache = if is_kept {
            match CacheBuild::new(context, common).build_work_tree(world) {
                Err(AppError::Sides(error)) if must_build_in_place(&error) => {
                    Err(error.to_string())
                }
                built => Ok(built?),
            }
        } else {
            Err("stored numbers were requested".to_owned())
        };
        let (build, facts, targets) = match in_cache {
            Ok((side, facts)) => {
                let targets = side.bench_targets();
                (Ok(side), facts, targets)
            }
            Err(reason) => {
                let (facts, targets) = build(context, common, world)?;
                (Err(reason), facts, targets)
            }
        };
        Ok(Self {
            build,
            environment: Environment {
                host: perfcheck_host::read_host_facts(world.variables.ci),
                build: facts,
            },
            found: find_benchmarks(filter, timeout, targets, None, world)?,
        })
    }

    /// Returns the name under which the build is kept; `None` if the work tree was built in place.
    pub(crate) fn name(&self) -> Option<&str> {
        self.build.as_ref().ok().map(|build| &*build.name)
    }

    /// Pairs this build with the build of an earlier run. If that build is no longer kept, the commit of the run is built again. `words` describes
    /// the earlier run.
    pub(crate) fn pair_with_earlier(
        &self,
        earlier: &Run,
        words: &str,
        request: &Request<'_>,
        world: &mut World<'_>,
    ) -> Result<EarlierBuild, AppError> {
        let candidate = match &self.build {
            Ok(build) => build,
            Err(reason) => {
                return Ok(EarlierBuild::Gone {
                    reason: reason.clone(),
                });
            }
        };
        let mut is_alike = self.is_comparable_with(earlier, request);
        let kept = match &earlier.begun.build {
            Some(name) if is_alike => {
                CacheBuild::new(request.context, request.common).find_kept(name, world)?
            }
            _ => None,
        };
        if let Some(base) = &kept {
            is_alike = candidate.criterion.is_same_harness(&base.criterion)
                && (has_features_of(candidate, base) || request.comparison.allows(Fact::Features));
        }
        if let (true, Some(mut base)) = (is_alike, kept) {
            base.targets
                .retain(|target| is_selected(&target.target, candidate, request));
            let facts = self.environment.build.clone();
            let built = PreparedSides::from_builds(base, candidate.clone(), facts);
            let both = BuildPair::from_sides(built, words.to_owned(), false, request, world)?;
            let git = BySide {
                base: earlier.begun.git.clone(),
                candidate: both.git.candidate,
            };
            return Ok(EarlierBuild::Available(Box::new(BuildPair { git, ..both })));
        }
        let reason = match (&earlier.begun.build, is_alike) {
            (None, _) => format!("the build of {words} was not kept"),
            (Some(_), true) => format!("the build of {words} is no longer kept"),
            (Some(_), false) => format!("{words} was built differently"),
        };
        let clean = earlier.begun.git.as_ref().filter(|git| !git.dirty);
        let (Some(git), Some(checkout)) = (clean, request.context.checkout()) else {
            let reason = format!(
                "{reason}, and it cannot be rebuilt because its sources were not fully committed"
            );
            return Ok(EarlierBuild::Gone { reason });
        };
        // The stored commit may be imported text. Git gets only the hash to which it resolves.
        let revision = match checkout.revision(&git.commit) {
            Ok(revision) => revision,
            Err(error) => {
                let reason = format!("{reason}, and {error}");
                return Ok(EarlierBuild::Gone { reason });
            }
        };
        match pair_with_revision(&revision, BenchesFrom::Revision, request, world) {
            Ok(built) => Ok(EarlierBuild::Available(Box::new(BuildPair {
                words: format!("{words}, rebuilt"),
                ..built
            }))),
            Err(AppError::Sides(error)) if !error.is_interruption() => Ok(EarlierBuild::Gone {
                reason: format!("{reason}, and {error}"),
            }),
            Err(other) => Err(other),
        }
    }

    /// Reports whether the run can be compared at all with an earlier run, given the machines and the builds of both.
    fn is_comparable_with(&self, earlier: &Run, request: &Request<'_>) -> bool {
        let target = TargetFacts::default();
        let circumstances = |environment| Comparability {
            environment,
            target: &target,
            version: None,
            metric: &Metric::Time,
        };
        find_differences(
            &circumstances(&self.environment),
            &circumstances(&earlier.begun.environment),
        )
        .allowing(&request.comparison.allow_different)
        .is_comparable()
    }
}

/// Reports whether a build of an earlier run exists, or its commit could be built again.
pub(crate) fn can_build(earlier: &Run, request: &Request<'_>, world: &mut World<'_>) -> bool {
    let clean = earlier.begun.git.as_ref().filter(|git| !git.dirty);
    let checkout = request.context.checkout();
    let is_there = |(git, checkout): (&GitState, &Checkout)| checkout.revision(&git.commit);
    if clean
        .zip(checkout)
        .is_some_and(|both| is_there(both).is_ok())
    {
        return true;
    }
    let builds = CacheBuild::new(request.context, request.common);
    let kept = earlier
        .begun
        .build
        .as_ref()
        .map(|name| builds.find_kept(name, world));
    matches!(kept, Some(Ok(Some(_))))
}

/// Reports whether the bench targets that both builds contain have the same features.
fn has_features_of(candidate: &BuiltSide, base: &BuiltSide) -> bool {
    base.targets.iter().all(|old| {
        let mut targets = candidate.targets.iter();
        let new = targets.find(|new| {
            TargetName::from_target(&new.target) == TargetName::from_target(&old.target)
        });
        new.is_none_or(|new| new.target.facts == old.target.facts)
    })
}

/// Reports whether the user's flags select a target of an earlier build. They do if they select the target of the same name in the work tree. They
/// also do if they select all benches of its package, even if the target does not exist in the work tree anymore.
fn is_selected(target: &BenchTarget, candidate: &BuiltSide, request: &Request<'_>) -> bool {
    let cargo = &request.common.cargo;
    let mut built = candidate.targets.iter();
    built.any(|built| TargetName::from_target(&built.target) == TargetName::from_target(target))
        || cargo.selects_all_benches()
            && (request.context.workspace.selected_packages(cargo)).contains(&target.package)
}

/// Reports whether the workspace can be built only in place.
fn must_build_in_place(error: &SidesError) -> bool {
    matches!(
        error,
        SidesError::Elsewhere { .. } | SidesError::Above { .. } | SidesError::NoCacheDirectory
    )
}
