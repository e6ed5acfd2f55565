//! From the store to the histories of benchmarks: which runs count, their values, and the course that these take.

use std::collections::{BTreeMap, BTreeSet};

use super::conclusions::conclusion_of;
use crate::app::error::AppError;
use crate::app::naming::shell_quoted;
use crate::report::{BenchmarkHistory, HistoryPoint, LeftOut, SinceBaseline};
use perfcheck_analysis::compare::{
    Chain, ChainLink, Circumstances, Course, CoursePoint, CourseRules, Difference, Fact, RunSeries,
    differences, summarize,
};
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Run, RunId, Timestamp, Verdict};
use perfcheck_engine::host;
use perfcheck_engine::store::{
    BranchFilter, History, HistoryQuery, PastMeasurement, RunFilter, RunLink, Store, StoreError,
    WorkspaceId,
};

/// So many runs of a benchmark are followed back.
const MOST_LINKS: usize = 10_000;
/// Series of so many benchmarks are in memory at once.
const AT_ONCE: usize = 16;
/// Of the intervals of medians, which are for the eye.
const RESAMPLES: u32 = 1_000;
/// The permutations of a history do not depend on its newest run.
const SEED: u64 = 0;

/// Which part of the history is wanted.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct HistoryRequest<'a> {
    pub(in crate::app) branch: BranchFilter<'a>,
    /// At most so many runs of each benchmark, the newest.
    pub(in crate::app) limit: usize,
    /// Only runs that began then or later.
    pub(in crate::app) since: Option<Timestamp>,
    /// Facts that may differ.
    pub(in crate::app) allowed: &'a [Fact],
    /// Whether the median of each run is wanted with its interval, which takes time.
    pub(in crate::app) medians: bool,
}

/// The histories of `benchmarks`, in their order; those that no such run measured are left out.
///
/// A history has the complete runs that a user asked for, oldest first. Runs that the newest one cannot be compared with are in it, but not in its course.
/// A run that was measured in turn with an earlier build is placed by its change against that, however fast the machine was in each.
pub(in crate::app) fn histories(
    store: &Store,
    workspace: WorkspaceId,
    benchmarks: &[BenchmarkKey],
    request: &HistoryRequest<'_>,
) -> Result<Vec<BenchmarkHistory>, AppError> {
    let query = HistoryQuery {
        branch: request.branch,
        runs: RunFilter::Own,
        before: None,
        limit: request.limit,
    };
    let baselines = store.baselines(workspace)?;
    let mut found = Vec::new();
    for keys in benchmarks.chunks(AT_ONCE) {
        let mut history = store.history(workspace, keys, &query)?;
        let mut chains = BTreeMap::new();
        for key in keys {
            let links = store.links(workspace, key, MOST_LINKS)?;
            add_unmeasured(&mut history, key, &links, store, request)?;
            chains.insert(key, Chained::of(key, &links, &history, store)?);
        }
        let mut measured: BTreeMap<(RunId, BenchmarkKey), Measurement> = BTreeMap::new();
        for run in history.runs.keys() {
            for measurement in store.measurements(*run, Some(keys))? {
                measured.insert((*run, measurement.benchmark.key.clone()), measurement);
            }
        }
        for key in keys {
            let past = chronological(key, &history, request.since);
            let runs: Vec<Option<&Measurement>> = past
                .iter()
                .map(|past| measured.get(&(past.run, key.clone())))
                .collect();
            let named = baselines.iter().map(|one| (one.name.as_str(), one.run));
            let chained = &chains[key];
            found.extend(history_of(
                key, &past, &runs, chained, &history, named, request,
            ));
        }
    }
    Ok(found)
}

/// The runs of a benchmark, oldest first: imported ones may be older than their numbers say.
fn chronological<'h>(
    key: &BenchmarkKey,
    history: &'h History,
    since: Option<Timestamp>,
) -> Vec<&'h PastMeasurement> {
    let started = |past: &PastMeasurement| history.runs[&past.run].started;
    let of_key = history.benchmarks.get(key).into_iter().flatten();
    let mut past: Vec<&PastMeasurement> = of_key
        .filter(|past| since.is_none_or(|since| started(past) >= since))
        .collect();
    past.sort_by_key(|past| (started(past), past.run));
    past
}

/// The history of one benchmark from what was read of it; `None` without runs.
fn history_of<'n>(
    key: &BenchmarkKey,
    past: &[&PastMeasurement],
    runs: &[Option<&Measurement>],
    chained: &Chained,
    history: &History,
    baselines: impl Iterator<Item = (&'n str, RunId)>,
    request: &HistoryRequest<'_>,
) -> Option<BenchmarkHistory> {
    let newest = *past.last()?;
    let heads: Vec<&Run> = past.iter().map(|past| &history.runs[&past.run]).collect();
    let differing: Vec<Vec<Difference>> = past
        .iter()
        .map(|one| {
            let of = |past: &PastMeasurement| history.runs[&past.run].environment.clone();
            let (candidate, base) = (of(newest), of(one));
            differences(
                &circumstances(newest, &candidate),
                &circumstances(one, &base),
            )
            .allowing(request.allowed)
            .blocking
        })
        .collect();
    let usable: Vec<Option<&Measurement>> = runs
        .iter()
        .zip(past.iter().zip(&differing))
        .map(|(run, (past, differing))| {
            run.filter(|_| differing.is_empty() && past.verdict != Some(Verdict::Failed))
        })
        .collect();
    let series = chained.series(past, runs, &usable);
    let is_elsewhere = elsewhere(&heads, request.branch);
    let counted: Vec<usize> = (0..past.len())
        .filter(|place| series.values[*place].is_some() && !is_elsewhere[*place])
        .collect();
    let points = chained.points(past, &series.values, &counted, &heads);
    let decision = &heads.last()?.decision;
    let rules = CourseRules {
        noise_threshold: runs
            .iter()
            .rev()
            .flatten()
            .next()
            .map_or(decision.noise_threshold, |run| run.noise_threshold),
        confidence_level: decision.confidence_level,
        seed: SEED,
    };
    let course = Course::of(&points, &rules, &key.to_string());
    let place_of = |run: RunId| counted.iter().position(|place| past[*place].run == run);
    let since_baselines = baselines
        .filter_map(|(name, run)| {
            Some(SinceBaseline {
                name: name.to_owned(),
                run,
                change: course.change_since(&points, place_of(run)?, rules.confidence_level)?,
            })
        })
        .collect();
    let points = (0..past.len())
        .map(|place| {
            let (past, head) = (past[place], heads[place]);
            let left_out = match (series.values[place], &differing[place]) {
                (Some(_), _) if is_elsewhere[place] => Some(LeftOut::OtherBranch),
                (Some(_), _) => None,
                (None, differing) if !differing.is_empty() => {
                    Some(LeftOut::Incomparable(differing.clone()))
                }
                _ if past.verdict == Some(Verdict::Failed) => Some(LeftOut::Failed),
                _ => Some(LeftOut::OtherSamples),
            };
            let median = runs[place]
                .filter(|_| request.medians)
                .and_then(|run| summarize(run, rules.confidence_level, RESAMPLES, SEED))
                .map(|summary| summary.median);
            HistoryPoint {
                run: past.run,
                started: host::to_rfc3339(head.started),
                git: head.git.clone(),
                acceptance: head.acceptance,
                accepted: past.accepted || is_accepted(head),
                verdict: past.verdict,
                change: past.change,
                value: series.values[place].map(f64::exp),
                median,
                left_out,
            }
        })
        .collect();
    Some(BenchmarkHistory {
        key: key.clone(),
        metric: newest.metric.clone(),
        location: series.location,
        noise_threshold: rules.noise_threshold,
        confidence_level: rules.confidence_level,
        points,
        counted,
        course,
        since_baselines,
        accept_words: shell_quoted(&key.id),
    })
}

/// The runs in which nothing of a benchmark was measured, as both sides ran the same code: each is at the level of its reference.
fn add_unmeasured(
    history: &mut History,
    key: &BenchmarkKey,
    links: &[RunLink],
    store: &Store,
    request: &HistoryRequest<'_>,
) -> Result<(), StoreError> {
    let Some(past) = history.benchmarks.get_mut(key) else {
        return Ok(());
    };
    let Some(like) = past.first().cloned() else {
        return Ok(());
    };
    let measured: BTreeSet<RunId> = past.iter().map(|past| past.run).collect();
    let same = |link: &&RunLink| {
        link.in_turn && link.verdict == Verdict::Unchanged && !measured.contains(&link.run)
    };
    for link in links.iter().filter(same).take(request.limit) {
        let head = store.run(link.run)?;
        let branch = head.git.as_ref().and_then(|git| git.branch.as_deref());
        if matches!(request.branch, BranchFilter::Only(wanted) if wanted != branch) {
            continue;
        }
        past.push(PastMeasurement {
            run: link.run,
            verdict: Some(link.verdict),
            typical_ns: None,
            change: None,
            reference: link.reference,
            accepted: false,
            ..like.clone()
        });
        history.runs.insert(link.run, head);
    }
    past.sort_by_key(|past| std::cmp::Reverse(past.run));
    past.truncate(request.limit);
    Ok(())
}

/// How the runs of a benchmark hang together, with what is needed to put them on one scale.
struct Chained {
    chain: Chain,
    /// Where chains begin outside of the history.
    roots: BTreeMap<RunId, Measurement>,
    /// Half the widths of the intervals of changes that were called, in logarithms.
    halves: BTreeMap<RunId, f64>,
}

impl Chained {
    fn of(
        key: &BenchmarkKey,
        links: &[RunLink],
        history: &History,
        store: &Store,
    ) -> Result<Self, AppError> {
        let in_turn = links.iter().filter(|link| link.in_turn);
        let links = in_turn.filter_map(|link| {
            let of_chain = ChainLink {
                reference: link.reference?,
                verdict: link.verdict,
                change: link.change,
            };
            Some((link.run, of_chain))
        });
        let chain = Chain {
            links: links.collect(),
        };
        let past = history.benchmarks.get(key).into_iter().flatten();
        let known: BTreeSet<RunId> = past.clone().map(|past| past.run).collect();
        let (mut roots, mut halves) = (BTreeMap::new(), BTreeMap::new());
        for past in past {
            let (root, _) = chain.root(past.run);
            if !known.contains(&root) && !roots.contains_key(&root) {
                let keys = std::slice::from_ref(key);
                // It may have been deleted since.
                let found = store.measurements(root, Some(keys)).unwrap_or_default();
                roots.extend(found.into_iter().map(|found| (root, found)));
            }
            let is_called = matches!(past.verdict, Some(Verdict::Regressed | Verdict::Improved));
            if is_called && chain.links.contains_key(&past.run) {
                let concluded = conclusion_of(store, past.run)?;
                let mut rows = concluded.iter().flat_map(|concluded| &concluded.rows);
                let row = rows.find(|row| row.key == *key);
                let change = row.and_then(|row| row.comparison.as_ref()?.change);
                let half = change.map(|change| (change.upper.ln_1p() - change.lower.ln_1p()) / 2.0);
                halves.extend(half.map(|half| (past.run, half)));
            }
        }
        Ok(Self {
            chain,
            roots,
            halves,
        })
    }

    /// The values of runs, oldest first, on one scale: that of the runs which were measured alone, at which chains begin.
    ///
    /// Of `runs` those are `usable` that can be compared with the newest. Others count where a chain begins with them: what was measured in turn could be compared.
    fn series(
        &self,
        past: &[&PastMeasurement],
        runs: &[Option<&Measurement>],
        usable: &[Option<&Measurement>],
    ) -> RunSeries {
        let is_root = |run: RunId| !self.chain.links.contains_key(&run);
        let chained = past.iter().filter(|past| !is_root(past.run));
        let begun: BTreeSet<RunId> = chained.map(|past| self.chain.root(past.run).0).collect();
        let own = past.iter().zip(runs.iter().zip(usable));
        let own = own.map(|(past, (run, usable))| {
            let run = run.filter(|_| begun.contains(&past.run));
            (past.run, usable.or(run))
        });
        let roots = self
            .roots
            .iter()
            .map(|(run, measured)| (*run, Some(measured)));
        let mut beginnings: Vec<(RunId, Option<&Measurement>)> =
            roots.chain(own.filter(|(run, _)| is_root(*run))).collect();
        // The beginning of the newest run decides how values are taken, or few samples there would leave out all that hangs from it.
        let newest = past.last().map(|past| self.chain.root(past.run).0);
        beginnings.sort_by_key(|(run, _)| Some(*run) == newest);
        let measured: Vec<Option<&Measurement>> =
            beginnings.iter().map(|(_, measured)| *measured).collect();
        let of_beginnings = RunSeries::of(&measured);
        let known: BTreeMap<RunId, f64> = beginnings
            .iter()
            .zip(&of_beginnings.values)
            .filter_map(|((run, _), value)| Some((*run, (*value)?)))
            .collect();
        let value = |past: &&PastMeasurement| {
            let (root, ratio) = self.chain.root(past.run);
            Some(known.get(&root)? + ratio)
        };
        RunSeries {
            location: of_beginnings.location,
            values: past
                .iter()
                .map(|past| value(past).filter(|_| past.verdict != Some(Verdict::Failed)))
                .collect(),
        }
    }

    /// The points of the course: those runs that count.
    fn points(
        &self,
        past: &[&PastMeasurement],
        values: &[Option<f64>],
        counted: &[usize],
        heads: &[&Run],
    ) -> Vec<CoursePoint> {
        let of = |place: &usize| values[*place];
        let before = [None].into_iter().chain(counted.iter().map(Some));
        let pairs = counted.iter().zip(before);
        pairs
            .filter_map(|(here, before)| {
                let value = of(here)?;
                let begins = before.filter(|before| of(before) != Some(value));
                Some(CoursePoint {
                    value,
                    accepted: past[*here].accepted || is_accepted(heads[*here]),
                    shown: begins
                        .and_then(|before| self.shown([past[*before].run, past[*here].run])),
                })
            })
            .collect()
    }

    /// Half the width of the interval of the change between two runs that follow one another, in logarithms, where a measurement in turn showed it.
    fn shown(&self, runs: [RunId; 2]) -> Option<f64> {
        let [before, here] = runs;
        if !self.chain.links.contains_key(&here) || self.chain.says_the_same(before, here) {
            return None;
        }
        let half = self.halves.get(&here).or_else(|| self.halves.get(&before));
        half.copied()
    }
}

/// Which runs are of another branch than the newest, where all are asked for: branches may be at levels that no commit led from one to the other.
fn elsewhere(heads: &[&Run], asked: BranchFilter<'_>) -> Vec<bool> {
    let branch = |run: &&Run| run.git.as_ref().map(|git| git.branch.clone());
    let newest = heads.last().map(branch);
    let differs = |run: &&Run| matches!(asked, BranchFilter::Any) && Some(branch(run)) != newest;
    heads.iter().map(differs).collect()
}

fn circumstances<'a>(
    past: &'a PastMeasurement,
    environment: &'a perfcheck_analysis::model::Environment,
) -> Circumstances<'a> {
    Circumstances {
        environment,
        target: &past.target_facts,
        version: past.version.as_deref(),
        metric: &past.metric,
    }
}

fn is_accepted(run: &Run) -> bool {
    run.acceptance == perfcheck_analysis::model::Acceptance::ByCommand
}
