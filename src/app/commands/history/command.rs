//! The `history` command: selects benchmarks and a branch, then reads and shows their histories.

use super::options::HistoryOptions;
use super::overview::overview;
use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::naming::{find_candidates, list_keys, similar_keys};
use crate::app::options::StoreOptions;
use crate::app::stored::histories::{HistoryRequest, histories};
use crate::app::stored::references::{branches_of, parent_branch};
use crate::report::{BenchmarkHistory, write_histories};
use perfcheck_analysis::compare::Position;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::BenchmarkKey;
use perfcheck_engine::host;
use perfcheck_engine::store::{BranchFilter, HistoryQuery, RunFilter, Store, WorkspaceId};

/// Number of newest runs searched for branches.
const HORIZON: usize = 400;

/// Runs the command.
pub fn history(
    options: &HistoryOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if options.is_overview() {
        return overview(&options.verdict, common, world);
    }
    let context = Context::load(common, world)?;
    let since = match &options.since {
        Some(text) => Some(host::parse_moment(text).map_err(AppError::Usage)?),
        None => None,
    };
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let keys = selected_benchmarks(options, &store, workspace)?;
    let branch = Branch::resolve(options, &keys, &context, &store, workspace, world)?;
    let request = HistoryRequest {
        branch: branch.filter(),
        limit: options.limit(),
        since,
        allowed: &options.allow_different,
        medians: keys.len() == 1,
    };
    let mut found = histories(&store, workspace, &keys, &request)?;
    sort_histories(&mut found, common.output.order());
    if found.is_empty() && !common.output.quiet {
        writeln!(
            world.stderr,
            "No run {} has measured this{}: `--all-branches` looks at all of them.",
            branch.describe(),
            if since.is_some() { " since then" } else { "" }
        )?;
    }
    write_histories(
        world.stdout,
        &found,
        &branch.describe(),
        common.output.format,
        &common.output.view(),
    )?;
    Ok(ExitCode::Clean)
}

/// Sorts histories by the last step of their levels, by their present level, or by the deviation of the newest run.
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

/// Returns the benchmarks that the filters select.
fn selected_benchmarks(
    options: &HistoryOptions,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Vec<BenchmarkKey>, AppError> {
    let stored = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = stored.iter().map(|benchmark| &benchmark.key).collect();
    let filter = options.filter();
    let found: Vec<&BenchmarkKey> = match &filter.words[..] {
        // A complete id selects that benchmark alone, even if other ids contain it.
        [word] if !filter.exact => find_candidates(word, &all),
        _ => all
            .iter()
            .copied()
            .filter(|key| filter.matches(key))
            .collect(),
    };
    if found.is_empty() && !all.is_empty() {
        let words = filter.words.join("`, `");
        let near = filter
            .words
            .first()
            .map_or_else(Vec::new, |word| similar_keys(word, &all));
        return Err(AppError::Usage(format!(
            "no benchmark in the store has `{words}` in its id{}\n  help: `cargo perfcheck history` lists all",
            list_keys("did you mean", &near)
        )));
    }
    Ok(found.into_iter().cloned().collect())
}

/// The branch whose runs are shown.
enum Branch {
    All,
    /// `None` for a detached `HEAD`
    One(Option<String>),
}

impl Branch {
    fn resolve(
        options: &HistoryOptions,
        keys: &[BenchmarkKey],
        context: &Context,
        store: &Store,
        workspace: WorkspaceId,
        world: &World<'_>,
    ) -> Result<Self, AppError> {
        if let Some(name) = &options.branch {
            return Ok(Self::One(Some(name.clone())));
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
            if let Some(parent) =
                parent_branch(checkout, own.as_deref(), branches_of(&all).into_iter())?
            {
                return Ok(Self::One(Some(parent)));
            }
        }
        Ok(Self::One(own))
    }

    fn filter(&self) -> BranchFilter<'_> {
        match self {
            Self::All => BranchFilter::Any,
            Self::One(name) => BranchFilter::Only(name.as_deref()),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::All => "of any branch".to_owned(),
            Self::One(Some(name)) => format!("of branch `{}`", name.escape_debug()),
            Self::One(None) => "of no branch".to_owned(),
        }
    }
}
