//! The runs that a history shows: those of a branch, and at most a number of the newest. Reads and writes their histories.

use std::collections::BTreeSet;

use super::options::HistoryOptions;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{BenchmarkHistory, write_histories};
use crate::session::{Context, World};
use crate::stored::histories::{HistoryRequest, histories};
use crate::stored::references::{branches_by_distance, branches_of};
use perfcheck_analysis::compare::Position;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{BenchmarkKey, RunId, Statistic, Timestamp};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, WorkspaceId};

/// To find the branches that have runs, look at this many of the newest runs.
const HORIZON: usize = 400;

/// The runs that a history shows.
pub(super) struct HistoryScope {
    pub(super) branch: Branch,
    /// How many of the newest runs of each benchmark are shown at most.
    pub(super) limit: usize,
    /// Runs from before this time are not shown.
    pub(super) since: Option<Timestamp>,
}

impl HistoryScope {
    /// Reads and writes the histories of these benchmarks.
    pub(super) fn write_histories(
        &self,
        keys: &[BenchmarkKey],
        options: &HistoryOptions,
        (store, workspace): (&Store, WorkspaceId),
        common: &CommonOptions,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let (branch, metric) = (&self.branch, options.metric());
        let request = HistoryRequest {
            branch: branch.filter(),
            limit: self.limit,
            since: self.since,
            allowed: &options.allow_different,
            metric,
            medians: keys.len() == 1,
        };
        let mut found = histories(store, workspace, keys, &request)?;
        sort_histories(&mut found, common.output.order());
        if metric == Statistic::Size {
            // All benchmarks of an executable have the same size.
            let mut seen = BTreeSet::new();
            found.retain(|history| {
                let BenchmarkKey {
                    package, target, ..
                } = &history.key;
                seen.insert((package.clone(), target.clone()))
            });
        }
        let of_metric = describe_metric(metric);
        if found.is_empty() && !common.output.quiet {
            writeln!(
                world.stderr,
                "No run {} measured the selected benchmarks{of_metric}{}; use `--all-branches` to include other branches.",
                branch.describe(),
                if self.since.is_some() {
                    " in this period"
                } else {
                    ""
                }
            )?;
        }
        write_histories(
            world.stdout,
            &found,
            &format!("{}{of_metric}", branch.describe()),
            common.output.format,
            &common.output.view(),
        )?;
        Ok(())
    }
}

/// Returns words for a metric other than the time, after those for a run. Returns an empty text for the time.
fn describe_metric(metric: Statistic) -> &'static str {
    match metric {
        Statistic::Instructions => " with their instructions",
        Statistic::Cpu => " with their CPU time",
        Statistic::Memory => " with their peak memory",
        Statistic::Size => " with the size of their executable",
        _ => "",
    }
}

/// The branch whose runs are shown.
pub(super) enum Branch {
    All,
    One {
        /// Name of the branch; `None` for a detached `HEAD`.
        name: Option<String>,
        /// The measurements of its commits that `history --measure` made on another branch.
        past: BTreeSet<RunId>,
    },
}

impl Branch {
    /// Selects the runs of one branch, and the measurements of the past for all commits on the line of first parents that ends at `tip`. It does not
    /// matter on which branch the past was measured: the branch may have been renamed or merged since.
    pub(super) fn with_past(
        name: Option<String>,
        tip: &str,
        context: &Context,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<Self, AppError> {
        let mut elsewhere = store.past_runs_elsewhere(workspace, name.as_deref())?;
        let mut line = BTreeSet::new();
        if let Some(checkout) = context.checkout().filter(|_| !elsewhere.is_empty())
            && let Some(tip) = checkout.resolve(tip)?
        {
            let commits = checkout.commit_times(&tip)?.into_iter();
            line.extend(commits.map(|one| one.commit));
        }
        elsewhere.retain(|(_, commit)| line.contains(commit));
        Ok(Self::One {
            name,
            past: elsewhere.into_iter().map(|(run, _)| run).collect(),
        })
    }

    /// Selects the runs of the branch `name`, as [`Self::with_past`] does.
    fn named(
        name: &str,
        context: &Context,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<Self, AppError> {
        let tip = format!("refs/heads/{name}");
        Self::with_past(Some(name.to_owned()), &tip, context, store, workspace)
    }

    pub(super) fn resolve(
        options: &HistoryOptions,
        keys: &[BenchmarkKey],
        context: &Context,
        store: &Store,
        workspace: WorkspaceId,
        world: &World<'_>,
    ) -> Result<Self, AppError> {
        if let Some(name) = &options.branch {
            return Self::named(name, context, store, workspace);
        }
        let Some(checkout) = context.checkout().filter(|_| !options.all_branches) else {
            return Ok(Self::All);
        };
        let Some(state) = checkout.state()? else {
            return Ok(Self::All);
        };
        let own = state.branch.or_else(|| world.variables.ci_branch.clone());
        let query = HistoryQuery {
            branch: BranchFilter::Only(own.as_deref()),
            runs: RunFilter::Own,
            before: None,
            limit: 1,
        };
        if store.history(workspace, keys, &query)?.runs.is_empty() {
            let everywhere = HistoryQuery {
                branch: BranchFilter::Any,
                limit: HORIZON,
                ..query
            };
            let all = store.history(workspace, keys, &everywhere)?;
            let branches = branches_of(&all).into_iter();
            let parents = branches_by_distance(checkout, own.as_deref(), branches)?;
            if let Some(parent) = parents.first() {
                return Self::named(parent, context, store, workspace);
            }
        }
        Self::with_past(own, "HEAD", context, store, workspace)
    }

    pub(super) fn filter(&self) -> BranchFilter<'_> {
        match self {
            Self::All => BranchFilter::Any,
            Self::One { name, past } if past.is_empty() => BranchFilter::Only(name.as_deref()),
            Self::One { name, past } => BranchFilter::WithPast {
                branch: name.as_deref(),
                past,
            },
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::All => "of any branch".to_owned(),
            Self::One {
                name: Some(name), ..
            } => format!("of branch `{}`", name.escape_debug()),
            Self::One { name: None, .. } => "without a branch".to_owned(),
        }
    }
}

/// Sorts histories in the order that the user chose: by name, by the last change of level, by the value of the present level, or worst first. Worst
/// first begins with the benchmarks whose newest runs are above the expected range.
fn sort_histories(histories: &mut [BenchmarkHistory], order: Order) {
    let step = |history: &BenchmarkHistory| {
        let step = history.present().and_then(|level| level.step);
        step.map_or(f64::NEG_INFINITY, |step| step.change.estimate)
    };
    let level = |history: &BenchmarkHistory| {
        let level = history.present();
        level.map_or(f64::NEG_INFINITY, |level| level.value)
    };
    let calm = |history: &BenchmarkHistory| match history.course.newest {
        Position::AboveTwice => 0,
        Position::AboveOnce => 1,
        Position::Within => 2,
        Position::BelowOnce => 3,
        Position::BelowTwice => 4,
        Position::Unknown => 5,
    };
    // The sorts below are stable, so ties stay in this order.
    histories.sort_by(|a, b| a.key.cmp_natural(&b.key));
    match order {
        Order::Name => {}
        Order::Change => histories.sort_by(|a, b| step(b).total_cmp(&step(a))),
        Order::Time => histories.sort_by(|a, b| level(b).total_cmp(&level(a))),
        Order::WorstFirst => histories.sort_by(|a, b| {
            let newest = calm(a).cmp(&calm(b));
            newest.then_with(|| step(b).total_cmp(&step(a)))
        }),
    }
}
