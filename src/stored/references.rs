//! Selection of the reference runs for each benchmark from the history.
//!
//! The reference is the run that the user named, else the accepted runs of the segment that ends with the newest comparable accepted run of the
//! branch, else of the branch that this one forked from. Invariant: the reference of an old run never changes, so segments depend only on facts known
//! at the end of each run and on acceptances by the user.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::AppError;
use perfcheck_analysis::compare::{Comparability, Difference, Differences, Fact, find_differences};
use perfcheck_analysis::findings::{ReferenceChoice, References};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, Measurement, Metric, Run, RunId, TargetFacts, Verdict,
};
use perfcheck_host::{Checkout, GitError};
use perfcheck_store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, Store, StoreError, WorkspaceId,
};

/// Maximum number of runs in a reference and its spread.
pub(crate) const MOST_RUNS: usize = 20;
/// Number of runs searched for comparable ones: on the same branch, and on any branch.
const BRANCH_HORIZON: usize = 100;
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
    /// Describes a measured benchmark.
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
    /// This run, with the user's name for it
    Named(RunId, &'a str),
    /// The last accepted run of this branch, before this run if it is stored already
    LastAccepted {
        before: Option<RunId>,
        branch: Option<&'a str>,
    },
}

/// The context in which references are selected.
pub(crate) struct ReferenceResolver<'a> {
    pub(crate) store: &'a Store,
    pub(crate) workspace: WorkspaceId,
    pub(crate) checkout: Option<&'a Checkout>,
    pub(crate) environment: &'a Environment,
    pub(crate) allowed: &'a [Fact],
    /// The compared run if it is stored already: it is excluded from estimating the drift of its references
    pub(crate) candidate: Option<RunId>,
}

impl ReferenceResolver<'_> {
    /// Selects the references of all `subjects`.
    pub(crate) fn resolve(
        &self,
        wanted: &ReferenceSelector<'_>,
        subjects: &[ReferenceQuery],
    ) -> Result<References, AppError> {
        match *wanted {
            ReferenceSelector::Named(run, name) => self.resolve_named(run, name, subjects),
            ReferenceSelector::LastAccepted { before, branch } => {
                self.resolve_last_accepted(before, branch, subjects)
            }
        }
    }

    fn resolve_named(
        &self,
        run: RunId,
        name: &str,
        subjects: &[ReferenceQuery],
    ) -> Result<References, AppError> {
        let named = self.store.run(run)?;
        let keys: Vec<BenchmarkKey> = subjects.iter().map(|subject| subject.key.clone()).collect();
        let measured = self.measured_for(&named, keys.clone())?;
        let candidate = self.candidate.map(|candidate| self.store.run(candidate));
        let is_in_turn = candidate.transpose()?.is_some_and(|run| run.pair.is_some());
        // Exclude runs after the candidate: they must not change its verdicts.
        let branch = named
            .begun
            .git
            .as_ref()
            .and_then(|git| git.branch.as_deref());
        let branch = BranchFilter::Only(branch);
        let history = self.history(&keys, branch, self.candidate, BRANCH_HORIZON)?;
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
                    let mut found = self.differences(subject, &circumstances);
                    if head.pair.is_some() && !is_in_turn {
                        found.warnings.push(Difference::paired_reference());
                    }
                    if found.is_comparable() {
                        let (spread, earlier) = self.spread_around(head, subject, &history);
                        ReferenceChoice::Runs {
                            averaged: vec![head.id],
                            spread,
                            earlier,
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
            expected: Some(run),
            words: if name.parse() == Ok(run) {
                format!("run {run}")
            } else {
                format!("`{name}` (run {run})")
            },
        })
    }

    /// Returns the measurements of `named`. For benchmarks that it did not measure because it ran the code of an earlier run, returns those of that
    /// run.
    fn measured_for(
        &self,
        named: &Run,
        keys: Vec<BenchmarkKey>,
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
                if measured.expired.is_some_and(|point| point.launches > 0) {
                    return Err(StoreError::SamplesRemoved(at));
                }
                if !measured.launches.is_empty() && Some(at) != self.candidate {
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

    /// Returns runs for estimating the drift around `named`: those of its commit or its segment, and runs of earlier levels.
    fn spread_around(
        &self,
        named: &Run,
        subject: &ReferenceQuery,
        history: &History,
    ) -> (Vec<RunId>, Vec<Vec<RunId>>) {
        let comparable: Vec<&PastMeasurement> = measured_runs(subject, history)
            .filter(|past| Some(past.run) != self.candidate)
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
        (spread, earlier)
    }

    fn resolve_last_accepted(
        &self,
        before: Option<RunId>,
        branch: Option<&str>,
        subjects: &[ReferenceQuery],
    ) -> Result<References, AppError> {
        let keys: Vec<BenchmarkKey> = subjects.iter().map(|subject| subject.key.clone()).collect();
        let own = self.history(&keys, BranchFilter::Only(branch), before, BRANCH_HORIZON)?;
        let mut chosen: BTreeMap<BenchmarkKey, ReferenceChoice> = subjects
            .iter()
            .map(|subject| {
                (
                    subject.key.clone(),
                    self.newest_segment(subject, &own, |_| true),
                )
            })
            .collect();
        let mut words = branch.map_or_else(
            || "the last accepted run".to_owned(),
            |branch| format!("the last accepted run of `{branch}`"),
        );
        let unserved: Vec<&ReferenceQuery> = subjects
            .iter()
            .filter(|subject| chosen[&subject.key].averaged_runs().is_empty())
            .collect();
        let mut expected = newest(&chosen);
        if let (Some(checkout), false) = (self.checkout, unserved.is_empty()) {
            let keys: Vec<BenchmarkKey> =
                unserved.iter().map(|subject| subject.key.clone()).collect();
            let all = self.history(&keys, BranchFilter::Any, before, FORK_HORIZON)?;
            if let Some(parent) = parent_branch(checkout, branch, branches_of(&all).into_iter())? {
                let ancestors = ancestors(checkout, &parent, &all)?;
                for subject in unserved {
                    let of_parent = |run: &Run| branch_of(run) == Some(parent.as_str());
                    let mut choice = ReferenceChoice::New;
                    if !ancestors.is_empty() {
                        choice = self.newest_segment(subject, &all, |run| {
                            of_parent(run) && ancestors.contains(&run.id)
                        });
                    }
                    if choice.averaged_runs().is_empty() {
                        choice = self.newest_segment(subject, &all, of_parent);
                    }
                    if choice != ReferenceChoice::New {
                        chosen.insert(subject.key.clone(), choice);
                    }
                }
                if expected.is_none() {
                    words = format!(
                        "the last accepted run of `{parent}`, which this branch forked from"
                    );
                    expected = newest(&chosen);
                }
            } else if branch.is_some() {
                for subject in unserved {
                    let choice = self.newest_segment(subject, &all, is_before_commits);
                    if choice != ReferenceChoice::New {
                        chosen.insert(subject.key.clone(), choice);
                    }
                }
                if expected.is_none() {
                    expected = newest(&chosen);
                }
                if own.benchmarks.is_empty() && expected.is_some() {
                    words = String::from("the last accepted run before the first commit");
                }
            }
        }
        Ok(References {
            chosen,
            expected,
            words,
        })
    }

    /// Returns the newest segment of comparable runs among the `eligible` ones.
    fn newest_segment(
        &self,
        subject: &ReferenceQuery,
        history: &History,
        eligible: impl Fn(&Run) -> bool,
    ) -> ReferenceChoice {
        let mut refused = None;
        let mut comparable = Vec::new();
        let mut warnings = Vec::new();
        for past in
            measured_runs(subject, history).filter(|past| eligible(&history.runs[&past.run]))
        {
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
        let segments = segments(&comparable, history);
        let present = segments.first().filter(|one| !one.runs.is_empty());
        match (present, comparable.first()) {
            (None, None) => refused.unwrap_or(ReferenceChoice::New),
            // Only side-by-side runs know the present level; an older segment would have a different level.
            (None, Some(past)) => {
                ReferenceChoice::Incomparable(past.run, vec![Difference::paired_reference()])
            }
            (Some(segment), _) => {
                let runs: Vec<RunId> = segment.ids().take(MOST_RUNS).collect();
                ReferenceChoice::Runs {
                    earlier: earlier_of_same_noise(&segments, 0, MOST_RUNS - runs.len()),
                    averaged: runs.clone(),
                    spread: runs,
                    warnings,
                }
            }
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

/// References with all data that a comparison reads of their runs, which may be deleted afterwards.
pub(crate) struct StoredReferences {
    pub(crate) references: References,
    /// Measurements of the reference runs, by run and key
    pub(crate) past: BTreeMap<(RunId, BenchmarkKey), Measurement>,
    /// Benchmarks expected to exist again
    pub(crate) expected: Vec<BenchmarkKey>,
}

impl StoredReferences {
    /// Reads the reference runs. Of their benchmarks, those `in_scope` are expected again.
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

    /// Replaces the choices for the benchmarks that `other` contains.
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

/// Returns the benchmarks that the expected run had and that are in scope, so that their absence counts as missing.
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

/// Returns the runs that measured a benchmark, newest first, without failed measurements.
fn measured_runs<'h>(
    subject: &ReferenceQuery,
    history: &'h History,
) -> impl Iterator<Item = &'h PastMeasurement> {
    let past = history.benchmarks.get(&subject.key);
    past.into_iter()
        .flatten()
        .filter(|past| past.verdict != Some(Verdict::Failed))
}

/// Returns the newest of all reference runs.
fn newest(chosen: &BTreeMap<BenchmarkKey, ReferenceChoice>) -> Option<RunId> {
    chosen
        .values()
        .filter_map(|choice| choice.averaged_runs().first())
        .max()
        .copied()
}

/// Returns the branch among `branches` from which `HEAD` forked most recently.
pub(crate) fn parent_branch<'b>(
    checkout: &Checkout,
    own: Option<&str>,
    branches: impl Iterator<Item = &'b str>,
) -> Result<Option<String>, GitError> {
    let mut left = Vec::new();
    for branch in branches.filter(|branch| Some(*branch) != own) {
        let distance = checkout.commits_since(branch)?;
        left.extend(distance.map(|distance| (distance, branch)));
    }
    let nearest = left.into_iter().min();
    Ok(nearest.map(|(_, branch)| branch.to_owned()))
}

/// Returns the branches of a history's runs.
pub(crate) fn branches_of(history: &History) -> BTreeSet<&str> {
    history.runs.values().filter_map(branch_of).collect()
}

/// Reports whether `HEAD` contains the commit of a run.
pub(crate) fn is_ancestor(checkout: &Checkout, run: &Run) -> Result<bool, GitError> {
    let git = run.begun.git.as_ref();
    git.map_or(Ok(false), |git| checkout.is_ancestor(&git.commit))
}

/// Reports whether the repository had no commit yet, and so no branch.
pub(super) fn is_before_commits(run: &Run) -> bool {
    run.begun.git.is_none()
}

/// Returns the runs of `branch` whose commit `HEAD` contains.
fn ancestors(
    checkout: &Checkout,
    branch: &str,
    history: &History,
) -> Result<BTreeSet<RunId>, GitError> {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    let mut ancestors = BTreeSet::new();
    for run in history
        .runs
        .values()
        .filter(|run| branch_of(run) == Some(branch))
    {
        let Some(git) = &run.begun.git else { continue };
        let is_ancestor = match known.get(git.commit.as_str()) {
            Some(known) => *known,
            None => checkout.is_ancestor(&git.commit)?,
        };
        known.insert(&git.commit, is_ancestor);
        if is_ancestor {
            ancestors.insert(run.id);
        }
    }
    Ok(ancestors)
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

/// Runs without a known change of level between them, newest first; empty if all were measured side by side.
///
/// Change points found later in a longer history (`compare::Trend`) do not delimit segments: the reference of an old run must not change. Runs
/// measured side by side are excluded, because they are sampled differently and cannot serve as references of single runs. But changes found in such
/// runs end segments as usual.
#[derive(Debug, Clone)]
pub(crate) struct Segment<'p> {
    pub(crate) runs: Vec<&'p PastMeasurement>,
    /// Whether the oldest run begins the segment because the user accepted its level: an intended change on an unchanged host
    is_accepted: bool,
}

impl Segment<'_> {
    /// Returns its runs, newest first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = RunId> {
        self.runs.iter().map(|past| past.run)
    }
}

/// Splits runs, newest first, where the level of the benchmark is known to have changed.
pub(crate) fn segments<'p>(past: &[&'p PastMeasurement], history: &History) -> Vec<Segment<'p>> {
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

/// Returns earlier segments that show the drift as well as the segment at `place`: those that end where the user accepted a new level. Returns at
/// most `most` runs.
pub(crate) fn earlier_of_same_noise(
    segments: &[Segment<'_>],
    place: usize,
    most: usize,
) -> Vec<Vec<RunId>> {
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

fn is_accepted(past: &PastMeasurement, run: &Run) -> bool {
    past.accepted || run.acceptance == Acceptance::ByCommand
}

fn begins_segment(past: &PastMeasurement, run: &Run) -> bool {
    let of_verdict = match past.verdict {
        None
        | Some(
            Verdict::New
            | Verdict::Incomparable
            | Verdict::Improved
            | Verdict::Regressed
            | Verdict::Failed
            | Verdict::Missing,
        ) => true,
        Some(Verdict::Unchanged | Verdict::Inconclusive | Verdict::Suspect) => false,
    };
    of_verdict || is_accepted(past, run)
}
