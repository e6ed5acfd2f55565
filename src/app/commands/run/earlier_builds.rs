//! The builds of earlier runs that the work tree is measured in turn with.

use std::collections::BTreeSet;

use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::measuring::builds::{BothBuilds, discover_both};
use crate::app::measuring::request::Request;
use crate::app::measuring::work_tree::{WorkTree, could_launch};
use crate::app::stored::earlier::{Earlier, earlier_runs};
use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::{BenchmarkKey, BySide, Run, RunId};
use perfcheck_engine::measure::Discovered;

/// A build to measure in turn with the work tree, and what both have.
pub(super) struct OtherBuild {
    pub(super) built: BothBuilds,
    pub(super) found: BySide<Discovered>,
    /// The run that it is the build of, and the benchmarks that are measured beside it.
    pub(super) earlier: Option<Earlier>,
}

/// The builds of earlier runs to measure in turn with the work tree: of the named run, else of those that were accepted last; none where nothing was
/// stored yet. A text says why stored numbers have to do.
pub(super) fn earlier_builds(
    tree: &WorkTree,
    baseline: Option<&(RunId, String)>,
    request: &Request<'_>,
    world: &mut World<'_>,
) -> Result<Result<Vec<OtherBuild>, String>, AppError> {
    let Some((store, workspace)) = request.context.stored()? else {
        return Ok(Ok(Vec::new()));
    };
    let benchmarks = tree
        .found
        .targets
        .iter()
        .flat_map(|found| &found.benchmarks);
    let benchmarks = benchmarks.map(|benchmark| benchmark.key.clone()).collect();
    let git = request.git.as_ref();
    let branch = git.and_then(|git| git.branch.as_deref());
    let mut all = if let Some((run, _)) = baseline {
        let run = store.run(*run)?;
        vec![Earlier { run, benchmarks }]
    } else {
        let checkout = request.context.checkout();
        let mut can_launch = |run: &Run| could_launch(run, request, world);
        earlier_runs(
            &store,
            workspace,
            checkout,
            branch,
            benchmarks,
            &mut can_launch,
        )?
    };
    let baseline = baseline.map(|(_, name)| name.as_str());
    let mut turns: Vec<OtherBuild> = Vec::new();
    // The newest one comes last, as it takes what no other has taken.
    all.reverse();
    let mut of_others: BTreeSet<BenchmarkKey> = BTreeSet::new();
    let count = all.len();
    for (place, earlier) in all.into_iter().enumerate() {
        let words = called(&earlier.run, baseline, branch);
        let mut built = match tree.beside(&earlier.run, &words, request, world)? {
            Ok(built) => built,
            Err(reason) => return Ok(Err(reason)),
        };
        let is_newest = place + 1 == count;
        let mut here = tree.found.clone();
        here.retain(|key| earlier.benchmarks.contains(key));
        if !is_newest {
            here.targets.retain(|target| !target.benchmarks.is_empty());
        }
        if built.builds.candidate.as_deref() == tree.name() {
            built.listed = Some(here);
        }
        let mut found = discover_both(&mut built, request, world)?;
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
        turns.push(OtherBuild {
            built,
            found,
            earlier: Some(earlier),
        });
    }
    turns.reverse();
    Ok(Ok(turns))
}

/// A run as the user calls it, by `name` or number, and what about its sources a user may have forgotten: another branch, or changes that are in no commit.
fn called(run: &Run, name: Option<&str>, own: Option<&str>) -> String {
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

/// Adds what a reader must know of a build to what is `known`; `run` is named where there are several builds.
pub(super) fn add_remarks(known: &mut Vec<RunRemark>, remarks: &[RunRemark], run: Option<RunId>) {
    for remark in remarks.iter().cloned() {
        let remark = match run {
            Some(run) => remark.beside(run),
            None => remark,
        };
        if !known.contains(&remark) {
            known.push(remark);
        }
    }
}
