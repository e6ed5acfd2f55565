//! `cargo perfcheck history --measure A..B`: measures commits of the past, newest first, each against its older neighbor.
//!
//! A pair that is in the store is not measured again, so an interrupted series continues where it was. Commits that cannot be measured are passed
//! over. A file in the cache keeps those that do not compile or have no selected benchmark, and the pairs that cannot be compared. The next call tries
//! commits again that failed for a reason that may pass. With the benches of the work tree, the name of this file depends on the build of the newest
//! commit, so a newest commit that cannot be built is not kept.
//!
//! Invariant: nothing is measured that the store already has for the same series.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::options::{HistoryOptions, MeasureOptions};
use super::scope::{Branch, HistoryScope};
use crate::error::AppError;
use crate::options::{CommonOptions, Effort, RevisionRange};
use crate::output::{
    self, PastChange, PastCommitMeasured, PastFinished, PastOutcome, ProgressMode,
};
use crate::pipeline::cache_build::{CommitBuild, cache_directory};
use crate::pipeline::past::{
    BuiltCommit, CommitChoice, PairResult, PairRow, PastSeries, SeriesKey, StoredPair,
    place_commits,
};
use crate::pipeline::prepare::{select_programs, timeout};
use crate::pipeline::request::git_state;
use crate::pipeline::search::SearchState;
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{BenchmarkKey, BySide, Environment, Timestamp, Verdict};
use perfcheck_host::Revision;
use perfcheck_store::{HistoryQuery, RunFilter};

/// The subdirectory of the cache with the files that keep the commits and pairs of commits that cannot be measured.
const MEMORIES: &str = "past";
/// Maximum number of commits of a series.
const MOST_COMMITS: usize = 201;

/// Carries out `cargo perfcheck history --measure`.
pub(super) fn measure_past(
    range: &RevisionRange,
    options: &HistoryOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    measure_range(range, options, common, world).map_err(|error| {
        // Ctrl-C may end git or cargo before this process notices it. Report the interruption then, rather than the error of that program.
        let is_interrupted = error.exit_code() == ExitCode::Interrupted;
        if is_interrupted || world.interrupt.is_requested_after_delay() {
            AppError::Interrupted(
                "; the commits measured so far are stored, and the same command continues"
                    .to_owned(),
            )
        } else {
            error
        }
    })
}

fn measure_range(
    range: &RevisionRange,
    options: &HistoryOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let begun = perfcheck_host::now();
    let load = perfcheck_host::load_average();
    let wishes = &options.measuring;
    let paired = &wishes.paired;
    let context = Context::load(common, world)?
        .with_command_line(paired.layer())
        .for_writing();
    context.require_local_store()?;
    let commits = list_commits(range, &context)?;
    let chosen = choose_commits(wishes, &commits, &context)?;
    // Report an unusable store before anything is built.
    context.open_store()?;
    let filter = options.filter();
    let comparison = paired.comparison();
    let series = PastSeries {
        context: &context,
        common,
        filter: &filter,
        comparison: &comparison,
        effort: Effort {
            time_budget: None,
            ..paired.effort
        },
        timeout: timeout(paired.timeout, &context),
        benches_from: wishes.benches_from,
        programs: select_programs(&context, &common.cargo)?,
        branch: find_branch(&commits, &context, world)?,
        times: commit_times(&commits, &context)?,
        environment: Environment {
            host: perfcheck_host::read_host_facts(world.variables.ci),
            build: (context.toolchain(&common.cargo, world.supervisor)?.facts).clone(),
        },
        load: load.into(),
        seed: paired.seed.unwrap_or_else(perfcheck_host::fresh_seed),
    };
    if world.progress == ProgressMode::Lines {
        // The lines of the commits already show the progress.
        world.progress = ProgressMode::Quiet;
    }
    if !common.output.quiet {
        let words = format!(
            "{} of {} in {}..{}",
            output::counted(chosen.len(), "commit"),
            commits.len(),
            range.from,
            range.to
        );
        output::write_build_event(world.stderr, "Measuring", &words)?;
    }
    let mut measurement = RangeMeasurement::new(&series, commits, chosen, begun, wishes);
    measurement.measure_chosen(world)?;
    let steps = measurement.find_steps(wishes.refine, world)?;
    let finished = measurement.summarize();
    let newest = measurement.newest_commit().to_owned();
    let pairs = measurement.pairs;
    let format = common.output.format;
    let view = common.output.view();
    output::write_past_finished(
        (!common.output.quiet).then_some(&mut *world.stderr),
        &mut *world.stdout,
        &finished,
        format,
    )?;
    if pairs.is_empty() && finished.left > 0 {
        return Ok(ExitCode::Clean);
    }
    output::write_past_steps(world.stdout, &steps, format, view.columns)?;
    let rows = pairs.iter().flat_map(|pair| &pair.stored.rows);
    let keys: BTreeSet<&BenchmarkKey> = rows
        .filter(|row| is_on_both(row))
        .map(|row| &row.key)
        .collect();
    let keys: Vec<BenchmarkKey> = keys.into_iter().cloned().collect();
    if let Some((store, workspace)) = context.open_stored()? {
        let branch = series.branch.clone();
        let scope = HistoryScope {
            branch: Branch::with_past(branch, &newest, &context, &store, workspace)?,
            limit: MOST_COMMITS,
            since: None,
        };
        scope.write_histories(&keys, options, (&store, workspace), common, world)?;
    }
    Ok(ExitCode::Clean)
}

/// Returns the commits of the range with both ends, oldest first.
fn list_commits(range: &RevisionRange, context: &Context) -> Result<Vec<Revision>, AppError> {
    let checkout = context.require_checkout()?;
    let (from, later) = checkout.range(&range.from, &range.to)?;
    if later.is_empty() {
        return Err(AppError::Usage(format!(
            "`{}` and `{}` are the same commit, so there is nothing to measure\n  help: begin the range at an older commit",
            range.from, range.to
        )));
    }
    Ok(std::iter::once(from).chain(later).collect())
}

/// Returns the indices of the commits to measure, oldest first.
fn choose_commits(
    wishes: &MeasureOptions,
    commits: &[Revision],
    context: &Context,
) -> Result<Vec<usize>, AppError> {
    let tagged = if wishes.releases {
        context.require_checkout()?.tagged_commits()?
    } else {
        BTreeSet::new()
    };
    let choice = match wishes.steps {
        Some(steps) => CommitChoice::Steps(steps as usize),
        None if wishes.releases => CommitChoice::Releases(&tagged),
        None => CommitChoice::All,
    };
    let chosen = choice.choose(commits);
    if chosen.len() > MOST_COMMITS {
        return Err(AppError::Usage(format!(
            "the range has {} commits to measure, but at most {MOST_COMMITS} are allowed\n  help: use `--steps N` to choose commits that are spread evenly over the range, or give a shorter range",
            chosen.len()
        )));
    }
    Ok(chosen)
}

/// Returns the branch to which the commits belong. On CI, git may not know the name of the checked out branch.
fn find_branch(
    commits: &[Revision],
    context: &Context,
    world: &mut World<'_>,
) -> Result<Option<String>, AppError> {
    let checkout = context.require_checkout()?;
    let newest = &commits[commits.len() - 1];
    let known = checkout.branch_of_range(newest)?;
    if known.is_some() || !checkout.is_ancestor(&newest.commit)? {
        return Ok(known);
    }
    Ok(git_state(context, world)?.and_then(|state| state.branch))
}

fn commit_times(
    commits: &[Revision],
    context: &Context,
) -> Result<BTreeMap<String, Timestamp>, AppError> {
    let newest = &commits[commits.len() - 1];
    let line = context.require_checkout()?.commit_times(&newest.commit)?;
    Ok(place_commits(&line, perfcheck_host::now()))
}

fn seconds_since(begun: Timestamp) -> f64 {
    perfcheck_host::now().0.saturating_sub(begun.0).max(0) as f64 / 1e9
}

/// Reports whether both commits of a pair have the benchmark.
fn is_on_both(row: &PairRow) -> bool {
    !matches!(row.verdict, Verdict::New | Verdict::Missing)
}

/// A pair of measured commits, by their indices in the range.
pub(super) struct CommitPair {
    pub(super) older: usize,
    pub(super) newer: usize,
    pub(super) stored: StoredPair,
}

/// The outcome of measuring a pair of commits.
pub(super) enum PairStatus {
    /// The store has the pair.
    Stored(StoredPair),
    /// The commit at this index could not be measured.
    PassedOver(usize),
    /// The commits cannot be measured against each other.
    Incomparable {
        reason: String,
        /// Whether an earlier call found this.
        remembered: bool,
    },
    /// The time budget is used up.
    OutOfTime,
}

/// The measurement of a range of commits.
pub(super) struct RangeMeasurement<'a> {
    pub(super) series: &'a PastSeries<'a>,
    /// The commits of the range, oldest first.
    pub(super) commits: Vec<Revision>,
    /// Indices of the commits to measure, in ascending order.
    chosen: Vec<usize>,
    begun: Timestamp,
    budget: Option<Duration>,
    forgets: bool,
    /// The key of the series, and why commits and pairs of commits cannot be measured. Both are known once the newest commit is built, if not before.
    known: Option<(SeriesKey, SearchState<String>)>,
    /// The builds that the next pair may need.
    built: BTreeMap<usize, Box<BuiltCommit>>,
    /// The commits that this call could not build, or that have no selected benchmark.
    unmeasurable: BTreeSet<usize>,
    /// The measured pairs of the chosen commits, newest first.
    pub(super) pairs: Vec<CommitPair>,
    /// The commits that were passed over.
    passed_over: BTreeSet<usize>,
    /// The commits that the time budget left unmeasured.
    left: BTreeSet<usize>,
    finished: PastFinished,
}

impl<'a> RangeMeasurement<'a> {
    fn new(
        series: &'a PastSeries<'a>,
        commits: Vec<Revision>,
        chosen: Vec<usize>,
        begun: Timestamp,
        wishes: &MeasureOptions,
    ) -> Self {
        Self {
            series,
            commits,
            chosen,
            begun,
            budget: wishes.paired.effort.time_budget,
            forgets: wishes.restart,
            known: None,
            built: BTreeMap::new(),
            unmeasurable: BTreeSet::new(),
            pairs: Vec::new(),
            passed_over: BTreeSet::new(),
            left: BTreeSet::new(),
            finished: PastFinished {
                measured: 0,
                same_code: 0,
                remembered: 0,
                passed_over: 0,
                left: 0,
                seconds: 0.0,
            },
        }
    }

    /// Measures the chosen commits, newest first. A commit that cannot be measured is passed over, and its older neighbor takes its place. If two commits
    /// in a row cannot be compared with a newer one, for example because a benchmark was renamed after them, the series continues from the first of them.
    fn measure_chosen(&mut self, world: &mut World<'_>) -> Result<(), AppError> {
        let mut rest = self.chosen.clone();
        let mut newest = None;
        while newest.is_none()
            && let Some(place) = rest.pop()
        {
            newest = self.begin_with(place, world)?.then_some(place);
        }
        let Some(mut newer) = newest else {
            return Err(AppError::NothingToMeasure(
                "every chosen commit either cannot be built or lacks the selected benchmarks\n  help: use `--benches-from worktree` to build all commits with the current benchmarks".to_owned(),
            ));
        };
        // The commit that cannot be compared with `newer`, if its older neighbor has not been tried yet.
        let mut incomparable = None;
        while let Some(older) = rest.pop() {
            let pair = BySide {
                base: older,
                candidate: newer,
            };
            match self.measure_pair(pair, None, world)? {
                PairStatus::Stored(stored) => {
                    // A commit with which the series continues was passed over at first.
                    self.passed_over.remove(&newer);
                    self.pairs.push(CommitPair {
                        older,
                        newer,
                        stored,
                    });
                    (newer, incomparable) = (older, None);
                }
                PairStatus::PassedOver(place) if place == newer => {
                    (newer, incomparable) = (older, None);
                }
                PairStatus::PassedOver(_) => {}
                PairStatus::Incomparable { reason, remembered } => {
                    if let Some(first) = incomparable.take() {
                        newer = first;
                        rest.push(older);
                    } else {
                        self.report_passed_over(older, reason, remembered, world)?;
                        incomparable = Some(older);
                    }
                }
                PairStatus::OutOfTime => {
                    self.leave_unmeasured(rest.into_iter().chain([older]));
                    break;
                }
            }
        }
        if self.pairs.is_empty() && self.left.is_empty() {
            return Err(AppError::NothingToMeasure(
                "no two commits of the range could be compared\n  help: the line of each commit says why (not with `--quiet`); `--benches-from worktree` builds all commits with the current benchmarks".to_owned(),
            ));
        }
        Ok(())
    }

    /// Counts commits that the time budget leaves unmeasured.
    pub(super) fn leave_unmeasured(&mut self, places: impl IntoIterator<Item = usize>) {
        self.left.extend(places);
    }

    /// Returns the counts of the whole measurement.
    fn summarize(&self) -> PastFinished {
        PastFinished {
            passed_over: self.passed_over.len(),
            left: self.left.len(),
            seconds: seconds_since(self.begun),
            ..self.finished
        }
    }

    /// Builds the newest commit of the series. Returns false if it cannot be measured.
    fn begin_with(&mut self, place: usize, world: &mut World<'_>) -> Result<bool, AppError> {
        self.load_reasons(None, world)?;
        if let Some(reason) = self.remembered_reason(&self.commits[place].commit) {
            self.report_passed_over(place, reason, true, world)?;
            return Ok(false);
        }
        if !self.build(place, world)? {
            return Ok(false);
        }
        let built = self.built.remove(&place);
        self.load_reasons(built.as_deref(), world)?;
        self.built.extend(built.map(|built| (place, built)));
        Ok(true)
    }

    /// Loads why commits of the series cannot be measured, once. Does nothing if this needs the build of the `newest` commit and there is none.
    fn load_reasons(
        &mut self,
        newest: Option<&BuiltCommit>,
        world: &World<'_>,
    ) -> Result<(), AppError> {
        if self.known.is_none()
            && let Some(key) = self.series.key(newest)
        {
            let directory = cache_directory(world)?.join(MEMORIES);
            let mut memory = SearchState::load(&directory, key.as_str());
            if self.forgets {
                memory.clear()?;
            }
            self.known = Some((key, memory));
        }
        Ok(())
    }

    /// Finds the pair in the store, or else measures it. `only` are the benchmarks to measure; `None` stands for all selected ones.
    pub(super) fn measure_pair(
        &mut self,
        pair: BySide<usize>,
        only: Option<&BTreeSet<BenchmarkKey>>,
        world: &mut World<'_>,
    ) -> Result<PairStatus, AppError> {
        let begun = perfcheck_host::now();
        let whole = self.series_key();
        let key = only.map_or_else(|| whole.clone(), |only| whole.for_benchmarks(only));
        let revisions = BySide {
            base: &self.commits[pair.base],
            candidate: &self.commits[pair.candidate],
        };
        let mut stored = self.series.find_stored(revisions, &whole)?;
        if stored.is_none() && only.is_some() {
            stored = self.series.find_stored(revisions, &key)?;
        }
        if let Some(stored) = stored {
            self.report_pair(pair, &stored, None, world)?;
            return Ok(PairStatus::Stored(stored));
        }
        for place in [pair.candidate, pair.base] {
            if let Some(reason) = self.remembered_reason(&self.commits[place].commit) {
                self.report_passed_over(place, reason, true, world)?;
                return Ok(PairStatus::PassedOver(place));
            }
        }
        let describe_pair = |key: &SeriesKey| {
            let BySide { base, candidate } = revisions;
            format!("{}..{} {}", base.commit, candidate.commit, key.as_str())
        };
        let (whole, pair_name) = (describe_pair(&whole), describe_pair(&key));
        // Benchmarks that the whole pair does not have cannot be compared either.
        let reason = self.remembered_reason(&whole);
        if let Some(reason) = reason.or_else(|| self.remembered_reason(&pair_name)) {
            return Ok(PairStatus::Incomparable {
                reason,
                remembered: true,
            });
        }
        let is_in_time = |budget: Duration| seconds_since(self.begun) < budget.as_secs_f64();
        if !self.budget.is_none_or(is_in_time) {
            return Ok(PairStatus::OutOfTime);
        }
        self.built
            .retain(|place, _| [pair.base, pair.candidate].contains(place));
        for place in [pair.candidate, pair.base] {
            if !self.build(place, world)? {
                return Ok(PairStatus::PassedOver(place));
            }
        }
        let (base, candidate) = (&self.built[&pair.base], &self.built[&pair.candidate]);
        let builds = BySide {
            base: base.as_ref(),
            candidate: candidate.as_ref(),
        };
        let measures_all = only.is_none() && self.lacks_measurements(pair.candidate, candidate)?;
        match (self.series).measure(builds, only, &key, measures_all, world)? {
            PairResult::Measured(stored) => {
                self.report_pair(pair, &stored, Some(seconds_since(begun)), world)?;
                Ok(PairStatus::Stored(stored))
            }
            PairResult::Incomparable { reason } => {
                self.remember_reason(&pair_name, &reason)?;
                Ok(PairStatus::Incomparable {
                    reason,
                    remembered: false,
                })
            }
        }
    }

    fn series_key(&self) -> SeriesKey {
        let known = self.known.as_ref();
        known
            .map(|(key, _)| key.clone())
            .expect("the newest commit is built")
    }

    /// Returns why a commit or a pair of commits cannot be measured, if this is known. `name` is the commit's hash or identifies the pair.
    fn remembered_reason(&self, name: &str) -> Option<String> {
        let (_, memory) = self.known.as_ref()?;
        memory.outcomes().get(name).cloned()
    }

    fn remember_reason(&mut self, name: &str, reason: &str) -> Result<(), AppError> {
        if let Some((_, memory)) = &mut self.known {
            memory.record_outcome(name, reason.to_owned())?;
        }
        Ok(())
    }

    /// Builds a commit unless its build is at hand. Returns false if it cannot be measured, and remembers this if another attempt would fail, too.
    fn build(&mut self, place: usize, world: &mut World<'_>) -> Result<bool, AppError> {
        if self.built.contains_key(&place) {
            return Ok(true);
        }
        if self.unmeasurable.contains(&place) {
            return Ok(false);
        }
        let revision = self.commits[place].clone();
        match self.series.build(&revision, world)? {
            CommitBuild::Ready(built) => {
                self.built.insert(place, built);
                Ok(true)
            }
            CommitBuild::Unmeasurable { reason, is_lasting } => {
                let cargo = &self.series.common.cargo;
                // Without the network, cargo may choose older versions of the dependencies.
                if is_lasting && !cargo.offline && !cargo.frozen {
                    self.remember_reason(&revision.commit, &reason)?;
                }
                self.unmeasurable.insert(place);
                self.report_passed_over(place, reason, false, world)?;
                Ok(false)
            }
        }
    }

    /// Reports whether a chain of pairs begins with this commit, and the history has no measurement of one of its benchmarks. The first pair of the chain
    /// then measures all benchmarks, because a history needs a time from which the values of all commits follow.
    fn lacks_measurements(&self, place: usize, built: &BuiltCommit) -> Result<bool, AppError> {
        let is_continued = |pair: &CommitPair| pair.older == place;
        if self.pairs.last().is_some_and(is_continued) {
            return Ok(false);
        }
        let Some((store, workspace)) = self.series.context.open_stored()? else {
            return Ok(true);
        };
        let benchmarks = (built.found.targets.iter()).flat_map(|target| &target.benchmarks);
        let keys: Vec<BenchmarkKey> = benchmarks.map(|one| one.key.clone()).collect();
        let (name, context) = (self.series.branch.clone(), self.series.context);
        let branch = Branch::with_past(name, self.newest_commit(), context, &store, workspace)?;
        let query = HistoryQuery {
            branch: branch.filter(),
            runs: RunFilter::Own,
            before: None,
            limit: 1,
        };
        let known = store.history(workspace, &keys, &query)?.benchmarks;
        Ok(keys.iter().any(|key| !known.contains_key(key)))
    }

    /// Returns the hash of the newest commit of the range.
    fn newest_commit(&self) -> &str {
        &self.commits[self.commits.len() - 1].commit
    }

    /// Returns the position of a commit among the chosen ones, newest first.
    fn position(&self, place: usize) -> Option<usize> {
        let mut chosen = self.chosen.iter().rev();
        chosen
            .position(|chosen| *chosen == place)
            .map(|position| position + 1)
    }

    /// Reports and counts a pair. `seconds` is `None` if an earlier call measured it.
    fn report_pair(
        &mut self,
        pair: BySide<usize>,
        stored: &StoredPair,
        seconds: Option<f64>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let checkout = self.series.context.require_checkout()?;
        let outcome = if stored.is_same_code() {
            PastOutcome::SameCode
        } else {
            PastOutcome::Measured
        };
        let counter = match (seconds, outcome) {
            (None, _) => &mut self.finished.remembered,
            (Some(_), PastOutcome::SameCode) => &mut self.finished.same_code,
            (Some(_), _) => &mut self.finished.measured,
        };
        *counter += 1;
        let changed = stored.rows.iter().filter(|row| row.is_step());
        let found = PastCommitMeasured {
            commit: checkout.describe(&self.commits[pair.candidate].commit)?,
            against: Some(checkout.describe(&self.commits[pair.base].commit)?),
            place: self.position(pair.candidate),
            of: self.chosen.len(),
            outcome,
            why: None,
            remembered: seconds.is_none(),
            run: Some(stored.run),
            benchmarks: stored.rows.iter().filter(|row| is_on_both(row)).count(),
            changed: changed.map(past_change).collect(),
            seconds,
        };
        self.report(&found, world)
    }

    /// Reports and counts a commit that cannot be measured, unless this was done before.
    pub(super) fn report_passed_over(
        &mut self,
        place: usize,
        why: String,
        remembered: bool,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if !self.passed_over.insert(place) {
            return Ok(());
        }
        let checkout = self.series.context.require_checkout()?;
        let found = PastCommitMeasured {
            commit: checkout.describe(&self.commits[place].commit)?,
            against: None,
            place: self.position(place),
            of: self.chosen.len(),
            outcome: PastOutcome::PassedOver,
            why: Some(why),
            remembered,
            run: None,
            benchmarks: 0,
            changed: Vec::new(),
            seconds: None,
        };
        self.report(&found, world)
    }

    fn report(&self, found: &PastCommitMeasured, world: &mut World<'_>) -> Result<(), AppError> {
        let output = &self.series.common.output;
        output::write_past_commit(
            (!output.quiet).then_some(&mut *world.stderr),
            &mut *world.stdout,
            found,
            output.format,
        )?;
        Ok(())
    }
}

/// Returns the change of a benchmark for messages.
pub(super) fn past_change(row: &PairRow) -> PastChange {
    PastChange {
        benchmark: row.key.clone(),
        verdict: row.verdict,
        change: row.change,
        slow_side: row.slow_side,
    }
}
