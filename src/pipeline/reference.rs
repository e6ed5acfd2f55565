//! Chooses the builds that the work tree is measured against, and builds them.

use std::collections::BTreeSet;
use tracing::info_span;

use crate::error::AppError;
use crate::pipeline::build::{
    Against, BuildPair, discover_both, pair_timed_builds, pair_with_executable, pair_with_revision,
};
use crate::pipeline::cache_build::CacheBuild;
use crate::pipeline::prepare::{find_benchmarks, nothing_found_error};
use crate::pipeline::request::Request;
use crate::pipeline::work_tree::{EarlierBuild, WorkTree, can_build};
use crate::session::{NamedRun, World};
use crate::stored::references::{EarlierRun, ReferenceResolver, ReferenceSelector};
use perfcheck_analysis::model::{BenchmarkKey, BySide, Run};
use perfcheck_bench::measure::DiscoveredBenches;
use perfcheck_build::sides::BenchesFrom;

/// A build to measure beside the work tree, and the benchmarks of both.
pub(crate) struct ReferenceBuild {
    pub(crate) builds: BuildPair,
    pub(crate) found: BySide<DiscoveredBenches>,
    /// The earlier run to which the build belongs, with the benchmarks measured against it. `None` if the user named a revision or an executable.
    pub(crate) earlier: Option<EarlierRun>,
}

/// The builds to measure beside the work tree.
pub(crate) enum ReferenceBuilds {
    /// The available builds, newest first. Empty if nothing was accepted yet.
    Available(Vec<ReferenceBuild>),
    /// No build is available, so the run is compared with stored numbers.
    StoredOnly { reason: String },
}

/// Builds the work tree and the reference that the user named, and lists the benchmarks of both.
pub(crate) fn build_against(
    against: &Against,
    benches_from: BenchesFrom,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<ReferenceBuild, AppError> {
    let checkout = || request.context.require_checkout();
    let revision = match against {
        Against::Executable(path) => {
            let builds = pair_with_executable(path, request, world)?;
            return list_both(builds, None, request, world);
        }
        Against::Revision(name) => checkout()?.revision(name)?,
        Against::MergeBase(branch) => checkout()?.merge_base(branch)?,
    };
    if request.comparison.measures_builds() {
        let builds = pair_timed_builds(&revision, request, world)?;
        return list_both(builds, None, request, world);
    }
    let listed = list_before_base(benches_from, request, world)?;
    let builds = pair_with_revision(&revision, benches_from, request, world)?;
    list_both(builds, listed, request, world)
}

fn list_both(
    builds: BuildPair,
    listed: Option<Listed>,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<ReferenceBuild, AppError> {
    // The user may have edited the work tree since the benchmarks were listed.
    let is_same = |listed: &Listed| builds.kept_names.candidate.as_ref() == Some(&listed.build);
    let listed = listed.filter(is_same).map(|listed| listed.benchmarks);
    let found = discover_both(&builds, listed, request, world)?;
    if found.candidate.is_empty() {
        return Err(nothing_found_error(request.filter, &found.candidate));
    }
    Ok(ReferenceBuild {
        builds,
        found,
        earlier: None,
    })
}

/// The benchmarks of the work tree, listed before the base is built, with the name of the build that listed them.
struct Listed {
    build: String,
    benchmarks: DiscoveredBenches,
}

/// Lists the benchmarks of the work tree early if there may be none to measure: the error then appears before the base is built.
fn list_before_base(
    benches_from: BenchesFrom,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<Option<Listed>, AppError> {
    let cargo = &request.common.cargo;
    let has_targets = request.context.workspace.has_bench_targets(cargo);
    if request.filter.words.is_empty() && has_targets {
        return Ok(None);
    }
    let order = CacheBuild {
        benches_from,
        ..CacheBuild::new(request.context, request.common)
    };
    let (side, _) = order.build_work_tree(world)?;
    let targets = side.bench_targets();
    let benchmarks = find_benchmarks(request.filter, request.timeout, targets, None, world)?;
    if benchmarks.is_empty() && benchmarks.failures.is_empty() {
        return Err(nothing_found_error(request.filter, &benchmarks));
    }
    Ok(Some(Listed {
        build: side.name,
        benchmarks,
    }))
}

/// Finds the builds of the run that the user named, else of the runs that were accepted last.
pub(crate) fn find_reference_builds(
    tree: &WorkTree,
    baseline: Option<&NamedRun>,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<ReferenceBuilds, AppError> {
    let _stage = info_span!("reference").entered();
    let Some((store, workspace)) = request.context.open_stored()? else {
        return Ok(ReferenceBuilds::Available(Vec::new()));
    };
    let targets = tree.found.targets.iter();
    let benchmarks = targets.flat_map(|found| &found.benchmarks);
    let benchmarks = benchmarks.map(|benchmark| benchmark.key.clone()).collect();
    let git = request.git.as_ref();
    let branch = git.and_then(|git| git.branch.as_deref());
    let selector = ReferenceSelector::new(baseline, None, branch);
    let resolver = ReferenceResolver {
        store: &store,
        workspace,
        checkout: request.context.checkout(),
    };
    let mut can_build = |run: &Run| can_build(run, request, world);
    let mut all = resolver.resolve_builds(&selector, benchmarks, &mut can_build)?;
    let name = baseline.map(|named| named.name.as_str());
    let mut references: Vec<ReferenceBuild> = Vec::new();
    // Process the newest run last: it also gets the benchmarks that no other run has, and these are known only then.
    all.reverse();
    let mut of_others: BTreeSet<BenchmarkKey> = BTreeSet::new();
    let count = all.len();
    for (place, earlier) in all.into_iter().enumerate() {
        let words = describe_reference(&earlier.run, name, branch);
        let builds = match tree.pair_with_earlier(&earlier.run, &words, request, world)? {
            EarlierBuild::Available(builds) => *builds,
            EarlierBuild::Gone { reason } => return Ok(ReferenceBuilds::StoredOnly { reason }),
        };
        let is_newest = place + 1 == count;
        let mut here = tree.found.clone();
        here.retain(|key| earlier.benchmarks.contains(key));
        if !is_newest {
            here.targets.retain(|target| !target.benchmarks.is_empty());
        }
        let is_same = builds.kept_names.candidate.as_deref() == tree.name();
        let mut found = discover_both(&builds, is_same.then_some(here), request, world)?;
        found
            .candidate
            .retain(|key| earlier.benchmarks.contains(key));
        if is_newest {
            found.base.retain(|key| !of_others.contains(key));
        } else {
            found.candidate.failures.clear();
            found.base.retain(|key| earlier.benchmarks.contains(key));
            of_others.extend(earlier.benchmarks.iter().cloned());
        }
        references.push(ReferenceBuild {
            builds,
            found,
            earlier: Some(earlier),
        });
    }
    references.reverse();
    Ok(ReferenceBuilds::Available(references))
}

/// Describes a run by the user's `name` for it, or else by its number. If its sources are not what the user may expect, the description says so: they
/// come from another branch than `own`, have uncommitted changes, or belong to no commit.
fn describe_reference(run: &Run, name: Option<&str>, own: Option<&str>) -> String {
    let branch = run.begun.git.as_ref().and_then(|git| git.branch.as_deref());
    let branch = branch.filter(|branch| Some(*branch) != own);
    let branch = branch.map(|branch| format!("of `{branch}`"));
    let is_dirty = run.begun.git.as_ref().is_some_and(|git| git.dirty);
    let changes = is_dirty.then(|| "with uncommitted changes".to_owned());
    let is_first = run.begun.git.is_none() && own.is_some();
    let first = is_first.then(|| "before the first commit".to_owned());
    let forgotten: Vec<String> = branch.into_iter().chain(changes).chain(first).collect();
    let number = match name {
        Some(name) if name.parse() != Ok(run.id) => {
            return format!("`{name}` (run {})", run.id);
        }
        _ => format!("run {}", run.id),
    };
    if forgotten.is_empty() {
        number
    } else {
        format!("{number} ({})", forgotten.join(", "))
    }
}
