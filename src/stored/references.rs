//! Selects the reference of each benchmark. If the benchmark is compared with stored numbers, the reference consists of one or more runs that have
//! such numbers. If builds are measured side by side, it is the run whose build is measured again.
//!
//! The reference is the run that the user named. If the user named none, accepted runs are searched in this order: on the current branch, on the
//! branch from which it forked, and among runs from before the first commit. The runs that provide numbers are those of a segment: runs at one level,
//! of which the last is the newest comparable run. The run that provides a build is the newest one that knows the level of the benchmark. Invariant:
//! the reference of an old run never changes. Therefore segments depend only on what was known when each run ended, and on what the user accepted.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::AppError;
use crate::session::NamedRun;
use perfcheck_analysis::compare::{Comparability, Difference, Differences, Fact, find_differences};
use perfcheck_analysis::findings::{ReferenceChoice, References};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, Measurement, Metric, Run, RunId, TargetFacts, Verdict,
};
use perfcheck_host::{Checkout, GitError};
use perfcheck_store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, StoreError, WorkspaceId,
};

/// Maximum number of runs that make up the reference of a benchmark. It includes runs at other levels, which only show how much runs drift.
const MOST_RUNS: usize = 20;
/// How many accepted runs of the current branch are searched for references.
const OWN_BRANCH_HORIZON: usize = 100;
/// How many accepted runs of another branch are searched for references. This is more than for the current branch: the search prefers runs whose
/// commit `HEAD` contains, and the other branch may have had many newer runs since the fork.
const FORK_HORIZON: usize = 400;

/// A benchmark that needs a reference.
#[derive(Debug, Clone)]
pub(crate) struct ReferenceQuery {
    pub(crate) key: BenchmarkKey,
    pub(crate) target_facts: TargetFacts,
    pub(crate) version: Option<String>,
    pub(crate) metric: Metric,
}

impl ReferenceQuery {
    /// Makes the query for a benchmark that was measured.
    pub(crate) fn from_measurement(measurement: &Measurement) -> Self {
        Self {
            key: measurement.benchmark.key.clone(),
            target_facts: measurement.target_facts.clone(),
            version: measurement.benchmark.version.clone(),
            metric: measurement.benchmark.metric.clone(),
        }
    }
}

/// The reference that the user wants.
#[derive(Debug, Clone)]
pub(crate) enum ReferenceSelector<'a> {
    Named(&'a NamedRun),
    /// The last accepted run of `branch`. If the compared run is stored already, `before` is its number, and only older runs are considered.
    LastAccepted {
        before: Option<RunId>,
        branch: Option<&'a str>,
    },
}

impl<'a> ReferenceSelector<'a> {
    /// Selects the run that the user named, else the last accepted one.
    pub(crate) fn new(
        named: Option<&'a NamedRun>,
        before: Option<RunId>,
        branch: Option<&'a str>,
    ) -> Self {
        match named {
            Some(named) => Self::Named(named),
            None => Self::LastAccepted { before, branch },
        }
    }
}

/// The run that is compared with stored numbers.
pub(crate) struct ComparedCandidate<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) allowed: &'a [Fact],
    /// Number of the run if it is stored already. It is left out when the drift between runs is estimated, because its own numbers must not affect
    /// that estimate.
    pub(crate) id: Option<RunId>,
}

/// An earlier run, with the benchmarks that are measured side by side with its build.
pub(crate) struct EarlierRun {
    pub(crate) run: Run,
    pub(crate) benchmarks: BTreeSet<BenchmarkKey>,
}

/// The stored runs from which references are selected.
pub(crate) struct ReferenceResolver<'a> {
    pub(crate) store: &'a Store,
    pub(crate) workspace: WorkspaceId,
    pub(crate) checkout: Option<&'a Checkout>,
}

/// Where accepted runs are searched: on one of two branches, or among runs from before the first commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchPlace<'a> {
    OwnBranch(Option<&'a str>),
    /// The branch from which the run's own branch forked.
    Parent(&'a str),
    BeforeFirstCommit,
}

impl<'a> SearchPlace<'a> {
    fn branch(self) -> Option<&'a str> {
        match self {
            Self::OwnBranch(branch) => branch,
            Self::Parent(branch) => Some(branch),
            Self::BeforeFirstCommit => None,
        }
    }

    fn horizon(self) -> usize {
        match self {
            Self::OwnBranch(_) => OWN_BRANCH_HORIZON,
            Self::Parent(_) | Self::BeforeFirstCommit => FORK_HORIZON,
        }
    }

    /// Returns the conditions under which a run found here may be a reference. They are alternatives, and the preferred one comes first.
    fn eligible(self) -> &'static [Eligibility] {
        match self {
            Self::OwnBranch(_) => &[Eligibility::Any],
            Self::Parent(_) => &[Eligibility::Contained, Eligibility::Any],
            Self::BeforeFirstCommit => &[Eligibility::BeforeFirstCommit],
        }
    }

    fn describe(self) -> String {
        match self {
            Self::OwnBranch(None) => "the last accepted run".to_owned(),
            Self::OwnBranch(Some(branch)) => format!("the last accepted run of `{branch}`"),
            Self::Parent(parent) => {
                format!("the last accepted run of `{parent}`, which this branch forked from")
            }
            Self::BeforeFirstCommit => {
                "the last accepted run from before the first commit".to_owned()
            }
        }
    }
}

/// A filter for the runs of a search: only runs that pass it may be references.
#[derive(Debug, Clone, Copy)]
enum Eligibility {
    Any,
    /// `HEAD` contains the run's commit.
    Contained,
    /// The run was measured before the repository had its first commit, so the run has no branch.
    BeforeFirstCommit,
}

/// Progress of a search after a place was examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchProgress {
    /// Every benchmark has a reference.
    Complete,
    /// Some benchmarks have no reference yet.
    Incomplete,
    /// The place has no runs that could be references.
    NoRuns,
}

/// Tells for each commit that was asked about whether `HEAD` contains it, so that git is asked only once.
type KnownCommits = BTreeMap<String, bool>;

impl ReferenceResolver<'_> {
    /// Selects the reference run of each benchmark in `subjects`, for a comparison with stored numbers.
    pub(crate) fn resolve_numbers(
        &self,
        wanted: &ReferenceSelector<'_>,
        compared: &ComparedCandidate<'_>,
        subjects: &[ReferenceQuery],
    ) -> Result<References, AppError> {
        match *wanted {
            ReferenceSelector::Named(named) => self.resolve_named(named, compared, subjects),
            ReferenceSelector::LastAccepted { before, branch } => {
                self.resolve_last_accepted(before, branch, compared, subjects)
            }
        }
    }

    /// Selects the runs whose builds are measured side by side with `benchmarks`, newest first. A benchmark that none of these runs knows is assigned
    /// to the newest of them. Returns no runs if no run is accepted yet.
    ///
    /// `can_build` reports whether a run still has a build or its commit can be built again. If neither is true, the benchmarks that this run found
    /// unchanged are assigned to an older run at the same level.
    pub(crate) fn resolve_builds(
        &self,
        wanted: &ReferenceSelector<'_>,
        benchmarks: BTreeSet<BenchmarkKey>,
        can_build: &mut dyn FnMut(&Run) -> bool,
    ) -> Result<Vec<EarlierRun>, AppError> {
        let (before, branch) = match *wanted {
            ReferenceSelector::Named(named) => {
                let run = self.store.run(named.run)?;
                return Ok(vec![EarlierRun { run, benchmarks }]);
            }
            ReferenceSelector::LastAccepted { before, branch } => (before, branch),
        };
        let mut open = benchmarks;
        let mut found: Vec<EarlierRun> = Vec::new();
        let mut newest = None;
        let mut seen = BTreeSet::new();
        let mut commits = KnownCommits::new();
        self.search(branch, &mut |place| {
            let mut runs =
                (self.store).accepted_runs(self.workspace, place.branch(), place.horizon())?;
            runs.retain(|run| before.is_none_or(|before| run.id < before));
            let mut progress = SearchProgress::NoRuns;
            for eligibility in place.eligible() {
                for run in &runs {
                    if !self.is_eligible(*eligibility, run, &mut commits)? {
                        continue;
                    }
                    progress = SearchProgress::Incomplete;
                    if !seen.insert(run.id) {
                        continue;
                    }
                    let known = self.known_levels(run)?;
                    let is_older = |key: &BenchmarkKey| known.get(key) == Some(&KnownLevel::Older);
                    let passes_on = open.iter().any(is_older) && !can_build(run);
                    let (taken, rest): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(&mut open)
                        .into_iter()
                        .partition(|key| known.contains_key(key) && !(passes_on && is_older(key)));
                    open = rest;
                    newest.get_or_insert_with(|| run.clone());
                    // Keep a run if benchmarks are assigned to it. Also keep the newest run without any: the benchmarks that no run knows are
                    // assigned to it below, and its build shows which benchmarks are missing now.
                    if found.is_empty() && !passes_on || !taken.is_empty() {
                        found.push(EarlierRun {
                            run: run.clone(),
                            benchmarks: taken,
                        });
                    }
                    if open.is_empty() {
                        return Ok(SearchProgress::Complete);
                    }
                }
            }
            Ok(progress)
        })?;
        match (found.first_mut(), newest) {
            (Some(first), _) => first.benchmarks.append(&mut open),
            (None, Some(run)) => found.push(EarlierRun {
                run,
                benchmarks: open,
            }),
            (None, None) => {}
        }
        Ok(found)
    }

    /// Calls `examine` for one set of runs after the other, until every benchmark has a reference. If the current branch does not suffice, the
    /// nearest other branch that has runs counts as its parent.
    fn search(
        &self,
        branch: Option<&str>,
        examine: &mut dyn FnMut(SearchPlace<'_>) -> Result<SearchProgress, AppError>,
    ) -> Result<(), AppError> {
        if examine(SearchPlace::OwnBranch(branch))? == SearchProgress::Complete {
            return Ok(());
        }
        if let Some(checkout) = self.checkout {
            let branches = self.store.accepted_branches(self.workspace)?;
            let branches = branches.iter().map(String::as_str);
            for parent in branches_by_distance(checkout, branch, branches)? {
                match examine(SearchPlace::Parent(parent))? {
                    SearchProgress::Complete => return Ok(()),
                    SearchProgress::Incomplete => break,
                    SearchProgress::NoRuns => {}
                }
            }
        }
        if branch.is_some() {
            examine(SearchPlace::BeforeFirstCommit)?;
        }
        Ok(())
    }

    fn is_eligible(
        &self,
        eligibility: Eligibility,
        run: &Run,
        commits: &mut KnownCommits,
    ) -> Result<bool, GitError> {
        match (eligibility, &run.begun.git, self.checkout) {
            (Eligibility::Any, _, _) => Ok(true),
            (Eligibility::BeforeFirstCommit, git, _) => Ok(git.is_none()),
            (Eligibility::Contained, Some(git), Some(checkout)) => {
                if let Some(known) = commits.get(&git.commit) {
                    return Ok(*known);
                }
                let is_contained = checkout.is_ancestor(&git.commit)?;
                commits.insert(git.commit.clone(), is_contained);
                Ok(is_contained)
            }
            (Eligibility::Contained, _, _) => Ok(false),
        }
    }

    /// Returns the benchmarks for which a build of this run can be the reference, each with the kind of its level. If the run is not accepted as a
    /// whole, these are the benchmarks that the user accepted individually.
    fn known_levels(&self, run: &Run) -> Result<BTreeMap<BenchmarkKey, KnownLevel>, StoreError> {
        let mut known = BTreeMap::new();
        if run.acceptance != Acceptance::Pending {
            let is_by_user = run.acceptance == Acceptance::ByCommand;
            for found in self.store.verdicts(run.id)? {
                let level = KnownLevel::new(Some(found.verdict), is_by_user);
                let level = level.filter(|level| *level != KnownLevel::Undecided);
                known.extend(level.map(|level| (found.key, level)));
            }
        }
        let steps = self.store.accepted_steps(run.id)?;
        known.extend(steps.into_iter().map(|key| (key, KnownLevel::Own)));
        Ok(known)
    }

    fn resolve_named(
        &self,
        NamedRun { run, name }: &NamedRun,
        compared: &ComparedCandidate<'_>,
        subjects: &[ReferenceQuery],
    ) -> Result<References, AppError> {
        let named = self.store.run(*run)?;
        let keys: Vec<BenchmarkKey> = subjects.iter().map(|subject| subject.key.clone()).collect();
        let measured = self.measured_for(&named, keys.clone(), compared.id)?;
        let candidate = compared.id.map(|candidate| self.store.run(candidate));
        let is_paired = candidate.transpose()?.is_some_and(|run| run.pair.is_some());
        // Exclude runs after the candidate: they must not change its verdicts.
        let branch = named
            .begun
            .git
            .as_ref()
            .and_then(|git| git.branch.as_deref());
        let branch = BranchFilter::Only(branch);
        let history = self.history(&keys, branch, compared.id, OWN_BRANCH_HORIZON)?;
        let mut chosen = BTreeMap::new();
        for subject in subjects {
            let choice = match measured.get(&subject.key) {
                None => ReferenceChoice::New,
                Some((head, base)) => {
                    let circumstances = Comparability {
                        environment: &head.begun.environment,
                        target: &base.target_facts,
                        version: base.benchmark.version.as_deref(),
                        metric: &base.benchmark.metric,
                    };
                    let mut found = compared.differences(subject, &circumstances);
                    if head.pair.is_some() && !is_paired {
                        found.warnings.push(Difference::paired_reference());
                    }
                    if found.is_comparable() {
                        let level = compared.spread_around(head, subject, &history);
                        ReferenceChoice::Runs {
                            averaged: vec![head.id],
                            spread: level.runs,
                            earlier: level.earlier,
                            warnings: found.warnings,
                        }
                    } else {
                        ReferenceChoice::Incomparable(head.id, found.blocking)
                    }
                }
            };
            chosen.insert(subject.key.clone(), choice);
        }
        Ok(References {
            chosen,
            expected: Some(*run),
            words: if name.parse() == Ok(*run) {
                format!("run {run}")
            } else {
                format!("`{name}` (run {run})")
            },
        })
    }

    /// Returns the measurements of the run `named`. If the run did not measure a benchmark because it had the same code as an earlier run, the
    /// measurement of the earlier run is returned.
    fn measured_for(
        &self,
        named: &Run,
        keys: Vec<BenchmarkKey>,
        candidate: Option<RunId>,
    ) -> Result<BTreeMap<BenchmarkKey, (Run, Measurement)>, StoreError> {
        let mut found = BTreeMap::new();
        let mut wanted = BTreeMap::from([(named.id, keys)]);
        // Process the newest run first: a reference is always older than the runs that rely on it.
        while let Some((at, keys)) = wanted.pop_last() {
            let head = match at {
                at if at == named.id => named.clone(),
                at => match self.store.run(at) {
                    // The run may have been deleted since.
                    Err(StoreError::NoSuchRun(_)) => continue,
                    head => head?,
                },
            };
            let mut left: BTreeSet<BenchmarkKey> = keys.iter().cloned().collect();
            for measured in self.store.measurements(at, Some(&keys))? {
                left.remove(&measured.benchmark.key);
                let key = measured.benchmark.key.clone();
                if measured.expired.is_some_and(|point| point.processes > 0) {
                    return Err(StoreError::SamplesRemoved(at));
                }
                if !measured.processes.is_empty() && Some(at) != candidate {
                    found.insert(key, (head.clone(), measured));
                }
            }
            if left.is_empty() {
                continue;
            }
            for known in self.store.verdicts(at)? {
                let earlier = known.reference.filter(|earlier| *earlier < at);
                if let (Verdict::Unchanged, Some(earlier)) = (known.verdict, earlier)
                    && left.contains(&known.key)
                {
                    wanted.entry(earlier).or_default().push(known.key);
                }
            }
        }
        Ok(found)
    }

    fn resolve_last_accepted(
        &self,
        before: Option<RunId>,
        branch: Option<&str>,
        compared: &ComparedCandidate<'_>,
        subjects: &[ReferenceQuery],
    ) -> Result<References, AppError> {
        let new = |subject: &ReferenceQuery| (subject.key.clone(), ReferenceChoice::New);
        let mut found = References {
            chosen: subjects.iter().map(new).collect(),
            expected: None,
            words: SearchPlace::OwnBranch(branch).describe(),
        };
        let mut commits = KnownCommits::new();
        self.search(branch, &mut |place| {
            let is_open =
                |subject: &&ReferenceQuery| found.chosen[&subject.key].averaged_runs().is_empty();
            let open: Vec<&ReferenceQuery> = subjects.iter().filter(is_open).collect();
            if open.is_empty() {
                return Ok(SearchProgress::Complete);
            }
            let keys: Vec<BenchmarkKey> = open.iter().map(|subject| subject.key.clone()).collect();
            let filter = BranchFilter::Only(place.branch());
            let history = self.history(&keys, filter, before, place.horizon())?;
            let mut progress = SearchProgress::NoRuns;
            for eligibility in place.eligible() {
                let mut eligible = BTreeSet::new();
                for run in history.runs.values() {
                    if self.is_eligible(*eligibility, run, &mut commits)? {
                        eligible.insert(run.id);
                    }
                }
                if eligible.is_empty() {
                    continue;
                }
                progress = SearchProgress::Incomplete;
                for subject in &open {
                    if !found.chosen[&subject.key].averaged_runs().is_empty() {
                        continue;
                    }
                    let choice = compared.newest_segment(subject, &history, &eligible);
                    if choice != ReferenceChoice::New {
                        found.chosen.insert(subject.key.clone(), choice);
                    }
                }
            }
            if found.expected.is_none() && progress != SearchProgress::NoRuns {
                found.expected = newest(&found.chosen);
                found.words = place.describe();
            }
            let mut choices = found.chosen.values();
            if choices.all(|choice| !choice.averaged_runs().is_empty()) {
                return Ok(SearchProgress::Complete);
            }
            Ok(progress)
        })?;
        Ok(found)
    }

    fn history(
        &self,
        keys: &[BenchmarkKey],
        branch: BranchFilter<'_>,
        before: Option<RunId>,
        limit: usize,
    ) -> Result<History, StoreError> {
        let query = HistoryQuery {
            branch,
            runs: RunFilter::Accepted,
            before,
            limit,
        };
        self.store.history(self.workspace, keys, &query)
    }
}

impl ComparedCandidate<'_> {
    /// Returns the runs from which the drift between runs is estimated if `named` is the reference. These are the runs of the same segment, or else
    /// of the same commit, and runs at earlier levels.
    fn spread_around(&self, named: &Run, subject: &ReferenceQuery, history: &History) -> LevelRuns {
        let comparable: Vec<&PastMeasurement> = measured_runs(subject, history)
            .filter(|past| Some(past.run) != self.id)
            .filter(|past| {
                self.differences_from_past(subject, past, history)
                    .is_comparable()
            })
            .collect();
        let segments = segments(&comparable, history);
        let place = segments
            .iter()
            .position(|segment| segment.ids().any(|run| run == named.id));
        let mut spread = vec![named.id];
        match place {
            Some(place) => spread.extend(segments[place].ids()),
            None => spread.extend(
                comparable
                    .iter()
                    .map(|past| past.run)
                    .filter(|run| same_clean_commit(&history.runs[run], named))
                    .filter(|run| history.runs[run].pair.is_none()),
            ),
        }
        let mut seen = BTreeSet::new();
        spread.retain(|run| seen.insert(*run));
        spread.truncate(MOST_RUNS);
        let earlier = place.map_or_else(Vec::new, |place| {
            earlier_of_same_noise(&segments, place, MOST_RUNS - spread.len())
        });
        LevelRuns {
            runs: spread,
            earlier,
        }
    }

    /// Chooses the reference of a benchmark among the `eligible` runs: the newest comparable runs that are all at the same level.
    fn newest_segment(
        &self,
        subject: &ReferenceQuery,
        history: &History,
        eligible: &BTreeSet<RunId>,
    ) -> ReferenceChoice {
        let mut refused = None;
        let mut comparable = Vec::new();
        let mut warnings = Vec::new();
        for past in measured_runs(subject, history).filter(|past| eligible.contains(&past.run)) {
            let found = self.differences_from_past(subject, past, history);
            if found.is_comparable() {
                if comparable.is_empty() {
                    warnings = found.warnings;
                }
                comparable.push(past);
            } else if refused.is_none() {
                refused = Some(ReferenceChoice::Incomparable(past.run, found.blocking));
            }
        }
        match (newest_level_runs(&comparable, history), comparable.first()) {
            (None, None) => refused.unwrap_or(ReferenceChoice::New),
            // All runs at the present level were measured side by side. An older segment would have a different level.
            (None, Some(past)) => {
                ReferenceChoice::Incomparable(past.run, vec![Difference::paired_reference()])
            }
            (Some(level), _) => ReferenceChoice::Runs {
                averaged: level.runs.clone(),
                spread: level.runs,
                earlier: level.earlier,
                warnings,
            },
        }
    }

    fn differences_from_past(
        &self,
        subject: &ReferenceQuery,
        past: &PastMeasurement,
        history: &History,
    ) -> Differences {
        let circumstances = Comparability {
            environment: &history.runs[&past.run].begun.environment,
            target: &past.conditions.target,
            version: past.conditions.version.as_deref(),
            metric: &past.conditions.metric,
        };
        self.differences(subject, &circumstances)
    }

    fn differences(&self, subject: &ReferenceQuery, base: &Comparability<'_>) -> Differences {
        let candidate = Comparability {
            environment: self.environment,
            target: &subject.target_facts,
            version: subject.version.as_deref(),
            metric: &subject.metric,
        };
        find_differences(&candidate, base).allowing(self.allowed)
    }
}

/// The references of all benchmarks, with everything that a comparison needs to know about them. Afterwards the reference runs may be deleted.
pub(crate) struct StoredReferences {
    pub(crate) references: References,
    /// Measurements of the reference runs, by run and key.
    pub(crate) past: BTreeMap<(RunId, BenchmarkKey), Measurement>,
    /// Benchmarks that the reference run had and that the compared run should have, too. If the compared run does not have one of them, its verdict
    /// is `missing`.
    pub(crate) expected: Vec<BenchmarkKey>,
}

impl StoredReferences {
    /// Reads the measurements of the reference runs. `in_scope` says whether the compared run should have a benchmark that a reference run had.
    pub(crate) fn read(
        store: &Store,
        references: References,
        in_scope: impl Fn(&BenchmarkKey) -> bool,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            past: past_measurements(store, &references)?,
            expected: expected_again(store, &references, in_scope)?,
            references,
        })
    }

    /// Replaces the references of those benchmarks that have a reference in `other`.
    pub(crate) fn replace(&mut self, other: Self) {
        self.references.chosen.extend(other.references.chosen);
        self.past.extend(other.past);
    }
}

/// Reads the measurements of the reference runs for the compared benchmarks, by run and key.
fn past_measurements(
    store: &Store,
    references: &References,
) -> Result<BTreeMap<(RunId, BenchmarkKey), Measurement>, StoreError> {
    let mut wanted: BTreeMap<RunId, Vec<BenchmarkKey>> = BTreeMap::new();
    for (key, choice) in &references.chosen {
        let averaged = choice.averaged_runs().iter().copied();
        let runs: BTreeSet<RunId> = averaged.chain(choice.drift_runs()).collect();
        for run in runs {
            wanted.entry(run).or_default().push(key.clone());
        }
    }
    // Most runs serve the same set of benchmarks, so read them together.
    let mut together: BTreeMap<Vec<BenchmarkKey>, Vec<RunId>> = BTreeMap::new();
    for (run, keys) in wanted {
        together.entry(keys).or_default().push(run);
    }
    let mut past = BTreeMap::new();
    for (keys, runs) in together {
        for (run, found) in store.measurements_of_runs(&runs, Some(&keys))? {
            let found = found.into_iter();
            past.extend(found.map(|one| ((run, one.benchmark.key.clone()), one)));
        }
    }
    Ok(past)
}

/// Returns the benchmarks that the compared run should have, because the run in `references.expected` had them and they are in scope.
fn expected_again(
    store: &Store,
    references: &References,
    in_scope: impl Fn(&BenchmarkKey) -> bool,
) -> Result<Vec<BenchmarkKey>, StoreError> {
    let Some(expected) = references.expected else {
        return Ok(Vec::new());
    };
    let there = store.verdicts(expected)?.into_iter();
    Ok(there
        .filter(|there| !matches!(there.verdict, Verdict::Missing | Verdict::Failed))
        .map(|there| there.key)
        .filter(in_scope)
        .collect())
}

/// Returns the runs in which the benchmark neither failed nor was missing, newest first.
fn measured_runs<'h>(
    subject: &ReferenceQuery,
    history: &'h History,
) -> impl Iterator<Item = &'h PastMeasurement> {
    let past = history.benchmarks.get(&subject.key);
    past.into_iter().flatten().filter(|past| has_level(past))
}

/// Reports whether a measurement may be a reference at all.
pub(crate) fn has_level(past: &PastMeasurement) -> bool {
    KnownLevel::new(past.verdict, past.accepted).is_some()
}

/// Returns the newest run among the references of all benchmarks.
fn newest(chosen: &BTreeMap<BenchmarkKey, ReferenceChoice>) -> Option<RunId> {
    chosen
        .values()
        .filter_map(|choice| choice.averaged_runs().first())
        .max()
        .copied()
}

/// Sorts `branches` other than `own` by the number of commits since `HEAD` forked from them. Leaves out those without a common history.
pub(crate) fn branches_by_distance<'b>(
    checkout: &Checkout,
    own: Option<&str>,
    branches: impl Iterator<Item = &'b str>,
) -> Result<Vec<&'b str>, GitError> {
    let mut left = Vec::new();
    for branch in branches.filter(|branch| Some(*branch) != own) {
        let distance = checkout.commits_since(branch)?;
        left.extend(distance.map(|distance| (distance, branch)));
    }
    left.sort_unstable();
    Ok(left.into_iter().map(|(_, branch)| branch).collect())
}

pub(crate) fn branches_of(history: &History) -> BTreeSet<&str> {
    history.runs.values().filter_map(branch_of).collect()
}

fn branch_of(run: &Run) -> Option<&str> {
    run.begun.git.as_ref()?.branch.as_deref()
}

fn same_clean_commit(a: &Run, b: &Run) -> bool {
    match (&a.begun.git, &b.begun.git) {
        (Some(a), Some(b)) => a.commit == b.commit && !a.dirty && !b.dirty,
        _ => false,
    }
}

/// Consecutive runs between which no change of level is known, newest first. The list is empty if all runs at this level were measured side by side.
///
/// Later, a longer history may show that the level changed between two of these runs (`compare::Trend`). This does not divide the segment, because
/// the reference of an old run must not change. Runs that were measured side by side are not part of a segment: they take other samples, so they
/// cannot be compared with a run measured alone. But a change that such a run found ends the segment as usual.
#[derive(Debug, Clone)]
struct Segment<'p> {
    runs: Vec<&'p PastMeasurement>,
    /// Whether the segment begins because the user accepted the level of its oldest run. Then the code has changed, but the drift of the host has
    /// not, so the runs before the segment show the same drift.
    is_accepted: bool,
}

impl Segment<'_> {
    /// Returns the numbers of the segment's runs, newest first.
    fn ids(&self) -> impl Iterator<Item = RunId> {
        self.runs.iter().map(|past| past.run)
    }
}

/// Splits runs, newest first, where the level of the benchmark is known to have changed.
fn segments<'p>(past: &[&'p PastMeasurement], history: &History) -> Vec<Segment<'p>> {
    let mut segments = Vec::new();
    let mut runs = Vec::new();
    for measurement in past {
        let run = &history.runs[&measurement.run];
        if run.pair.is_none() {
            runs.push(*measurement);
        }
        if begins_segment(measurement, run) {
            segments.push(Segment {
                runs: std::mem::take(&mut runs),
                is_accepted: is_accepted(measurement, run),
            });
        }
    }
    if !runs.is_empty() {
        segments.push(Segment {
            runs,
            is_accepted: false,
        });
    }
    segments
}

/// Returns runs of earlier segments that show the same drift as the segment at the index `place`. An earlier segment does so if all segments after
/// it, up to this one, begin because the user accepted a new level. Returns at most `most` runs, in one list for each segment.
fn earlier_of_same_noise(segments: &[Segment<'_>], place: usize, most: usize) -> Vec<Vec<RunId>> {
    let mut earlier = Vec::new();
    let mut left = most;
    for pair in segments[place..].windows(2) {
        if !pair[0].is_accepted {
            break;
        }
        let runs: Vec<RunId> = pair[1].ids().take(left).collect();
        left -= runs.len();
        if !runs.is_empty() {
            earlier.push(runs);
        }
    }
    earlier
}

/// The runs that show the present level of a benchmark.
pub(crate) struct LevelRuns {
    /// Runs at the present level, newest first. There is at least one.
    pub(crate) runs: Vec<RunId>,
    /// Runs of earlier levels, which serve only to estimate the drift between runs. Each element has the runs of one level.
    pub(crate) earlier: Vec<Vec<RunId>>,
}

/// Selects the runs that show the present level. Returns `None` if all runs at this level were measured side by side.
pub(crate) fn newest_level_runs(past: &[&PastMeasurement], history: &History) -> Option<LevelRuns> {
    let segments = segments(past, history);
    let present = segments.first().filter(|one| !one.runs.is_empty())?;
    let runs: Vec<RunId> = present.ids().take(MOST_RUNS).collect();
    Some(LevelRuns {
        earlier: earlier_of_same_noise(&segments, 0, MOST_RUNS - runs.len()),
        runs,
    })
}

fn is_accepted(past: &PastMeasurement, run: &Run) -> bool {
    past.accepted || run.acceptance == Acceptance::ByCommand
}

fn begins_segment(past: &PastMeasurement, run: &Run) -> bool {
    KnownLevel::new(past.verdict, is_accepted(past, run))
        .is_none_or(|level| level == KnownLevel::Own)
}

/// Whether a benchmark is at a new level in a run that may serve as a reference, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KnownLevel {
    /// The benchmark is at a new level: it is new, it could not be compared, it differs from its reference, or the user accepted it.
    Own,
    /// The benchmark is unchanged, so it has the level of an older run.
    Older,
    /// The benchmark perhaps has the level of an older run: its verdict is `inconclusive` or `suspect`. Its numbers count as numbers of that level,
    /// but the build of this run does not become a reference.
    Undecided,
}

impl KnownLevel {
    /// Returns what is known about the level, or `None` if the benchmark failed or is missing. `is_by_user` means that the user accepted the whole
    /// run or this benchmark.
    fn new(verdict: Option<Verdict>, is_by_user: bool) -> Option<Self> {
        match verdict {
            Some(Verdict::Missing | Verdict::Failed) => None,
            _ if is_by_user => Some(Self::Own),
            Some(Verdict::Inconclusive | Verdict::Suspect) => Some(Self::Undecided),
            Some(Verdict::Unchanged) => Some(Self::Older),
            None
            | Some(Verdict::New | Verdict::Incomparable | Verdict::Improved | Verdict::Regressed) => {
                Some(Self::Own)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undecided_benchmark_has_a_level_of_its_own_only_if_the_user_accepts_it() {
        let level = |verdict, is_by_user| KnownLevel::new(Some(verdict), is_by_user);
        assert_eq!(
            level(Verdict::Inconclusive, false),
            Some(KnownLevel::Undecided)
        );
        assert_eq!(level(Verdict::Inconclusive, true), Some(KnownLevel::Own));
        assert_eq!(level(Verdict::Unchanged, false), Some(KnownLevel::Older));
        assert_eq!(level(Verdict::Regressed, false), Some(KnownLevel::Own));
        assert_eq!(level(Verdict::Failed, true), None);
    }
}
