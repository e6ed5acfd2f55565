//! The `history` command and its options: selects benchmarks and a branch, then reads and shows their histories. Without a benchmark, it lists all
//! benchmarks in the store with their latest times. With `--measure`, it first measures commits of the past.

mod measure;
mod refine;

use clap::Args;

use self::measure::{MeasureOptions, measure_past};
use crate::error::AppError;
use crate::naming::{find_candidates, list_keys, similar_keys};
use crate::options::CommonOptions;
use crate::output::{BenchmarkHistory, BenchmarkLine, write_benchmarks, write_histories};
use crate::session::{Context, World};
use crate::stored::histories::{HistoryRequest, histories};
use crate::stored::references::{branches_by_distance, branches_of};
use perfcheck_analysis::compare::{Fact, Position};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{BenchmarkKey, RunStatus, Timestamp, Verdict};
use perfcheck_bench::measure::Filter;
use perfcheck_store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, WorkspaceId,
};

/// To find the branches that have runs, look at this many of the newest runs.
const HORIZON: usize = 400;

/// Carries out `cargo perfcheck history`.
pub fn history(
    options: &HistoryOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(range) = options.measuring.range() {
        return measure_past(range, options, common, world);
    }
    if options.is_overview() {
        return overview(&options.verdict, common, world);
    }
    let context = Context::load(common, world)?;
    let since = match &options.since {
        Some(text) => Some(perfcheck_host::parse_moment(text).map_err(AppError::Usage)?),
        None => None,
    };
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let keys = selected_benchmarks(options, &store, workspace)?;
    let scope = HistoryScope {
        branch: Branch::resolve(options, &keys, &context, &store, workspace, world)?,
        limit: options.limit(),
        since,
    };
    drop(store);
    scope.write_histories(&keys, options, &context, common, world)?;
    Ok(ExitCode::Clean)
}

/// The runs that a history shows.
struct HistoryScope {
    branch: Branch,
    /// How many of the newest runs of each benchmark are shown at most.
    limit: usize,
    /// Runs from before this time are not shown.
    since: Option<Timestamp>,
}

impl HistoryScope {
    /// Reads and writes the histories of these benchmarks.
    fn write_histories(
        &self,
        keys: &[BenchmarkKey],
        options: &HistoryOptions,
        context: &Context,
        common: &CommonOptions,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let Some((store, workspace)) = context.open_stored()? else {
            return Ok(());
        };
        let branch = &self.branch;
        let request = HistoryRequest {
            branch: branch.filter(),
            limit: self.limit,
            since: self.since,
            allowed: &options.allow_different,
            medians: keys.len() == 1,
        };
        let mut found = histories(&store, workspace, keys, &request)?;
        sort_histories(&mut found, common.output.order());
        if found.is_empty() && !common.output.quiet {
            writeln!(
                world.stderr,
                "No run {} measured the selected benchmarks{}; use `--all-branches` to include other branches.",
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
            &branch.describe(),
            common.output.format,
            &common.output.view(),
        )?;
        Ok(())
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
        // A complete id selects only that benchmark, even if other ids contain it.
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
            "no benchmark in the store has `{words}` in its id{}\n  help: `cargo perfcheck history` lists all benchmarks",
            list_keys("did you mean", &near)
        )));
    }
    Ok(found.into_iter().cloned().collect())
}

/// The branch whose runs are shown.
enum Branch {
    All,
    /// The runs of one branch, or with `None` those of a detached `HEAD`.
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
            let branches = branches_of(&all).into_iter();
            let parents = branches_by_distance(checkout, own.as_deref(), branches)?;
            if let Some(parent) = parents.first() {
                return Ok(Self::One(Some((*parent).to_owned())));
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
            Self::One(None) => "without a branch".to_owned(),
        }
    }
}

const AFTER_HISTORY: &str = "\
Without FILTER or flags that select runs, history lists every stored benchmark with its latest time and verdict.

With --measure, history first measures commits that nobody measured: those of the range, or N+1 of them (--steps N), or the releases (--releases). Each is \
built in the cache and measured side by side with its older neighbor; your work tree is untouched. --time-budget limits the whole series. --refine then searches for \
the commit of each change as `bisect` does. A table of the changes precedes the history.

The value of a run is the 1st percentile of its fastest process or, if any process has fewer than 100 samples, the mean of the process medians. A level is a \
series of runs with neither a change point (E-divisive, p <= 0.001, at least four runs on each side) nor an accepted change between them. If nothing changed, \
the newest run is within the expected range with 99.8 % probability. The exit status does not depend on the result.

Examples:
  cargo perfcheck history                       list all benchmarks with their latest times
  cargo perfcheck history sort/10               show one benchmark, run by run
  cargo perfcheck history sort                  show one line for each benchmark with `sort` in its id
  cargo perfcheck history json --since 90d --branch main
  cargo perfcheck history sort/10 --message-format json
  cargo perfcheck history --measure v1.0..HEAD --steps 20 --refine
                                                measure 21 commits, then find the commit of each change
  cargo perfcheck history parse --measure v1.0..HEAD --releases --time-budget 2h

Exit status: 0 success; 2 usage error or no such benchmark; 5 store unusable; with --measure, 3 build failed, 4 no commit could be measured, 130 interrupted.";

/// Options of `history`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HISTORY)]
pub struct HistoryOptions {
    /// Show only benchmarks whose id contains one of these words; a complete id selects only that benchmark
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Show runs of this branch [default: the current branch or, if it has no runs, the branch it forked from]
    #[arg(long, value_name = "NAME")]
    pub(super) branch: Option<String>,
    /// Show runs of all branches
    #[arg(long, conflicts_with = "branch")]
    pub(super) all_branches: bool,
    /// Show at most the newest N runs of each benchmark [default: 50]
    #[arg(long, value_name = "N", value_parser = runs_of_history)]
    last: Option<usize>,
    /// Show only runs since this date or of at most this age, e.g. 2026-01-31 or 90d
    #[arg(long, value_name = "WHEN")]
    pub(super) since: Option<String>,
    /// Show runs in one history even if these facts differ, e.g. rustc,profile
    #[arg(long, value_name = "FACTS", value_delimiter = ',', value_parser = str::parse::<Fact>)]
    pub(super) allow_different: Vec<Fact>,
    /// Show only benchmarks whose latest verdict is one of these (comma-separated); not with FILTER or flags that select runs
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = str::parse::<Verdict>,
        conflicts_with_all = ["filters", "branch", "all_branches", "last", "since", "allow_different"])]
    pub(super) verdict: Vec<Verdict>,
    #[command(flatten)]
    measuring: MeasureOptions,
}

impl HistoryOptions {
    pub(super) fn filter(&self) -> Filter {
        Filter {
            words: self.filters.clone(),
            exact: self.exact,
        }
    }

    /// Reports whether the command measures before it shows the history.
    pub fn measures(&self) -> bool {
        self.measuring.range().is_some()
    }

    /// Returns how many of the newest runs of each benchmark are shown at most.
    pub(super) fn limit(&self) -> usize {
        self.last.unwrap_or(USUAL_LAST)
    }

    /// Returns true if no option selects runs or benchmarks. In that case, the command lists all benchmarks.
    pub(super) fn is_overview(&self) -> bool {
        self.filters.is_empty()
            && self.branch.is_none()
            && !self.all_branches
            && self.last.is_none()
            && self.since.is_none()
            && self.allow_different.is_empty()
    }
}

/// Default number of runs shown of each benchmark.
const USUAL_LAST: usize = 50;

/// Parses a number of runs. The number is limited because the search for change points takes quadratic time.
fn runs_of_history(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs @ 1..=200) => Ok(runs),
        _ => Err("expected 1 to 200 runs".to_owned()),
    }
}

/// In the list of all benchmarks, the values of this many newest runs are drawn.
const LAST_RUNS: usize = 16;

/// Lists all benchmarks in the store. If `only` is not empty, lists only those whose latest verdict is in `only`.
pub(super) fn overview(
    only: &[Verdict],
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let Some((store, workspace)) = context.open_stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let found = store.benchmarks(workspace)?;
    let keys: Vec<BenchmarkKey> = found.iter().map(|found| found.key.clone()).collect();
    let query = HistoryQuery {
        branch: BranchFilter::Any,
        runs: RunFilter::Own,
        before: None,
        limit: LAST_RUNS,
    };
    let history = store.history(workspace, &keys, &query)?;
    let mut lines: Vec<BenchmarkLine> = found
        .into_iter()
        .filter(|found| {
            let is_wanted = |verdict: Verdict| only.contains(&verdict);
            only.is_empty() || found.verdict.is_some_and(is_wanted)
        })
        .map(|found| BenchmarkLine {
            last_values_ns: last_values(&history, &found.key),
            key: found.key,
            runs: found.runs,
            last_run: found.last_run,
            last_started: perfcheck_host::to_rfc3339(found.last_started),
            typical_ns: found.typical_ns,
            metric: found.metric,
            change: found.change,
            verdict: found.verdict,
        })
        .collect();
    let change = |line: &BenchmarkLine| line.change.unwrap_or(f64::NEG_INFINITY);
    let time = |line: &BenchmarkLine| line.typical_ns.unwrap_or(f64::NEG_INFINITY);
    let rank = |line: &BenchmarkLine| (line.verdict.is_none(), line.verdict);
    // The sorts below are stable, so ties stay in this order.
    lines.sort_by(|a, b| a.key.cmp_natural(&b.key));
    match common.output.order() {
        Order::Name => {}
        Order::Change => lines.sort_by(|a, b| change(b).total_cmp(&change(a))),
        Order::Time => lines.sort_by(|a, b| time(b).total_cmp(&time(a))),
        Order::WorstFirst => {
            lines.sort_by(|a, b| (rank(a).cmp(&rank(b))).then(change(b).total_cmp(&change(a))));
        }
    }
    let view = common.output.view();
    write_benchmarks(world.stdout, &lines, common.output.format, &view)?;
    Ok(ExitCode::Clean)
}

/// Returns the values that are drawn for a benchmark, oldest first: those of complete runs on the branch of the newest complete run. Leaves out runs
/// from before the last change of the benchmark's version or metric.
fn last_values(history: &History, key: &BenchmarkKey) -> Vec<Option<f64>> {
    let past = history.benchmarks.get(key).map_or(&[][..], Vec::as_slice);
    let is_complete = |found: &&PastMeasurement| {
        let head = history.runs.get(&found.run);
        head.is_some_and(|head| head.status == RunStatus::Complete)
    };
    let mut past = past.iter().filter(is_complete).peekable();
    let Some(newest) = past.peek().copied() else {
        return Vec::new();
    };
    let branch = |found: &PastMeasurement| {
        let git = history
            .runs
            .get(&found.run)
            .map(|head| head.begun.git.as_ref());
        git.map(|git| git.and_then(|git| git.branch.as_deref()))
    };
    let alike = past
        .filter(|run| branch(run) == branch(newest))
        .take_while(|run| {
            let (then, now) = (&run.conditions, &newest.conditions);
            then.version == now.version && then.metric == now.metric
        });
    let mut values: Vec<Option<f64>> = alike.map(|run| run.typical_ns).collect();
    values.reverse();
    values
}
