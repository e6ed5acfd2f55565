//! What a page is about: verdicts of a run, or of two that are compared, with both sides of each and how they came about.
//!
//! Statistics are those of `show --stats` of the run that they are of: its levels, its seed.

use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Stored, nothing_to_compare, refuse_itself};
use super::context::{Context, resolve_run};
use super::error::AppError;
use super::explain::{asked_for, side};
use super::findings::warnings;
use super::history::gather::{HistoryRequest, histories};
use super::options::{CompareOptions, CompareView, ComparisonOptions};
use super::page_remarks::{differing, of_benchmark, of_whole};
use super::paired::paired_rows;
use super::replay::Replay;
use super::reports::ReportOptions;
use crate::compare::{
    BenchmarkRecord, ChangeShape, Difference, HostSigns, Plan, Shape, summarize_by,
};
use crate::findings::{Findings, Gates, Method, Row, Verdicts};
use crate::host;
use crate::measure::Filter;
use crate::model::{BenchmarkKey, Measurement, Metric, Run, RunId, Verdict};
use crate::report::{
    BenchmarkHistory, Explanation, MeasuredSide, Page, PageBenchmark, PageRun, PageSide, Replayed,
    Terms, explained,
};
use crate::store::{BranchFilter, Store, StoreError, WorkspaceId};

/// Samples of a side that are drawn, over all benchmarks of a page: its size stays within bounds.
const POINTS_OF_ALL: usize = 12_000;
/// Of each benchmark no fewer and no more than so many.
const FEWEST_POINTS: usize = 60;
const MOST_POINTS: usize = 1_500;

/// Runs of histories, over all benchmarks of a page: each is read, analysed, and takes room.
const RUNS_OF_ALL: usize = 6_000;
/// A history of fewer runs has no band and hardly a change point: the page has none.
const FEWEST_RUNS: usize = 10;
const MOST_RUNS: usize = 60;

/// How many runs of each benchmark its history has at most; `None`: there are too many benchmarks to look back far enough.
fn runs_of_each(benchmarks: usize) -> Option<usize> {
    let limit = (RUNS_OF_ALL / benchmarks.max(1)).min(MOST_RUNS);
    (limit >= FEWEST_RUNS).then_some(limit)
}

/// A benchmark and what was decided about it.
pub(super) struct Judged {
    key: BenchmarkKey,
    pub(super) verdict: Option<Verdict>,
    pub(super) change: Option<f64>,
    reference: Option<RunId>,
    pub(super) replayed: Option<Replayed>,
    /// The runs whose measurements are the two sides.
    pub(super) candidate: Option<RunId>,
    base: Option<RunId>,
    remarks: Vec<String>,
}

/// What a page is about.
pub(super) struct Subject {
    head: Run,
    reference: Option<String>,
    judged: Vec<Judged>,
    plan: Option<Plan>,
    warnings: Vec<Difference>,
    remarks: Vec<String>,
    /// Said of the whole, and nothing to worry about.
    notes: Vec<String>,
    gates: Gates,
}

impl Subject {
    /// A run with the verdicts that it has; of an A/B measurement the candidate has them.
    pub(super) fn of_run(
        store: &Store,
        workspace: WorkspaceId,
        context: &Context,
        run: RunId,
    ) -> Result<Self, AppError> {
        let head = asked_for(store, run)?;
        let mut replay = Replay::of(store, workspace, context, &head)?;
        let measured: BTreeSet<&BenchmarkKey> = replay
            .measurements
            .iter()
            .map(|measurement| &measurement.benchmark.key)
            .collect();
        let keys: BTreeSet<&BenchmarkKey> = measured
            .iter()
            .copied()
            .chain(replay.stored.keys())
            .collect();
        let mut judged: Vec<Judged> = keys
            .into_iter()
            .map(|key| {
                let stored = replay.stored.get(key);
                let replayed = replay.found.remove(key);
                let confirmed = replayed.as_ref().and_then(|found| found.confirmed.as_ref());
                let candidate = confirmed.map(|confirmed| confirmed.candidate);
                let compared = replayed.as_ref().and_then(|found| found.reference.first());
                let reference = stored.and_then(|stored| stored.reference);
                Judged {
                    key: key.clone(),
                    verdict: stored.map(|stored| stored.verdict),
                    change: stored.and_then(|stored| stored.change),
                    reference,
                    candidate: candidate.or(measured.contains(key).then_some(head.id)),
                    base: compared.copied().or(reference),
                    replayed,
                    remarks: Vec::new(),
                }
            })
            .collect();
        for one in &mut judged {
            one.remarks = of_benchmark(one, &head);
        }
        let (remarks, notes) = of_whole(&judged, &head);
        let mut subject = Self {
            reference: references(&judged),
            judged,
            plan: replay.plan,
            warnings: Vec::new(),
            remarks,
            notes,
            gates: Gates::default(),
            head,
        };
        subject.sort();
        Ok(subject)
    }

    /// Two runs, compared as `compare BASE CANDIDATE` does it.
    pub(super) fn of_two(
        store: &Store,
        workspace: WorkspaceId,
        context: &Context,
        [base_word, candidate_word]: [&String; 2],
    ) -> Result<Self, AppError> {
        let base = resolve_run(store, workspace, base_word)?;
        let candidate = resolve_run(store, workspace, candidate_word)?;
        refuse_itself((base_word, base), (candidate_word, candidate))?;
        let options = CompareOptions {
            base: base_word.clone(),
            candidates: vec![candidate_word.clone()],
            filter: Filter {
                words: Vec::new(),
                exact: false,
            },
            comparison: ComparisonOptions::default(),
            view: CompareView::Verdicts,
            terms: Terms::Values,
            format: None,
            output: None,
            reports: ReportOptions::default(),
        };
        let stored = Stored {
            store,
            workspace,
            context,
            options: &options,
        };
        let mut head = store.run(candidate)?;
        let name = if base.to_string() == **base_word {
            format!("run {base}")
        } else {
            format!("`{base_word}` (run {base})")
        };
        let in_turn = head.pair.is_some_and(|pair| pair.partner == base);
        let mut subject = if in_turn {
            let (found, settled, plan) = stored.judged_in_turn(base, &head)?;
            let rows = paired_rows(&found, &settled, &head.decision, plan.seed);
            Self {
                judged: judged_of(rows, Method::Paired, candidate),
                reference: Some(name),
                plan: Some(plan),
                warnings: Vec::new(),
                remarks: Vec::new(),
                notes: Vec::new(),
                gates: Gates::default(),
                head,
            }
        } else {
            let measurements = stored.measurements(candidate)?;
            let found = stored.compare(base, base_word, &head, &measurements)?;
            head.decision = found.rules.decision;
            Self {
                warnings: warnings(&found.references),
                judged: judged_of(found.rows, Method::Stored(found.rules.decider), candidate),
                reference: Some(name),
                plan: None,
                remarks: found.limits,
                notes: Vec::new(),
                gates: Gates::default(),
                head,
            }
        };
        if subject.judged.is_empty() {
            return Err(nothing_to_compare(store, &options, &subject.head, base));
        }
        subject.sort();
        Ok(subject)
    }

    /// Two stored runs as `compare` found them, whose verdicts these are; `plan`: of rounds that were measured in turn.
    pub(super) fn of_findings(
        findings: &Findings<'_>,
        verdicts: &Verdicts,
        plan: Option<&Plan>,
    ) -> Self {
        let mut head = findings.run.clone();
        head.decision = verdicts.decision;
        let mut subject = Self {
            judged: judged_of(findings.rows.clone(), verdicts.method, head.id),
            reference: Some(verdicts.reference.clone()),
            plan: plan.cloned(),
            warnings: verdicts.warnings.clone(),
            remarks: verdicts.remarks.clone(),
            notes: Vec::new(),
            gates: verdicts.gates.clone(),
            head,
        };
        subject.sort();
        subject
    }

    /// The same with what the run has said at its end and the store does not keep.
    pub(super) fn told(mut self, findings: &Findings<'_>) -> Self {
        if let Some(verdicts) = &findings.verdicts {
            self.remarks = add_new(self.remarks, &verdicts.remarks);
            self.warnings.clone_from(&verdicts.warnings);
            self.gates = verdicts.gates.clone();
        }
        let said: BTreeMap<&BenchmarkKey, &Vec<String>> = findings
            .rows
            .iter()
            .map(|row| (&row.key, &row.remarks))
            .collect();
        for one in &mut self.judged {
            if let Some(remarks) = said.get(&one.key) {
                one.remarks = add_new(std::mem::take(&mut one.remarks), remarks);
            }
        }
        self
    }

    /// Worst first: what a reader looks for.
    fn sort(&mut self) {
        // What has no verdict comes last.
        let rank = |one: &Judged| (one.verdict.is_none(), one.verdict);
        let change = |one: &Judged| one.change.unwrap_or(f64::NEG_INFINITY);
        self.judged.sort_by(|a, b| {
            rank(a)
                .cmp(&rank(b))
                .then(change(b).total_cmp(&change(a)))
                .then_with(|| a.key.in_natural_order(&b.key))
        });
    }

    /// Reads the measurements of all sides.
    pub(super) fn gather(
        self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<Gathered, StoreError> {
        let mut wanted: BTreeMap<RunId, BTreeSet<&BenchmarkKey>> = BTreeMap::new();
        for one in &self.judged {
            let references = one.replayed.iter().flat_map(|found| &found.reference);
            let shown = one.candidate.iter().chain(&one.base);
            for run in references.chain(shown) {
                wanted.entry(*run).or_default().insert(&one.key);
            }
        }
        let mut heads = BTreeMap::from([(self.head.id, (self.head.clone(), HostSigns::default()))]);
        let mut shown = BTreeMap::new();
        let mut sides = BTreeMap::new();
        for (run, keys) in wanted {
            // It may have been deleted since.
            let Ok(head) = store.run(run) else { continue };
            let keys: Vec<BenchmarkKey> = keys.into_iter().cloned().collect();
            let measurements = store.measurements(run, Some(&keys))?;
            let signs = HostSigns::of(measurements.iter());
            for measurement in measurements {
                let key = measurement.benchmark.key.clone();
                sides.insert((run, key.clone()), side(&head, &measurement));
                shown.insert((run, key), measurement);
            }
            heads.insert(run, (head, signs));
        }
        let is_side: BTreeSet<(RunId, &BenchmarkKey)> = self
            .judged
            .iter()
            .flat_map(|one| {
                one.candidate
                    .iter()
                    .chain(&one.base)
                    .map(|run| (*run, &one.key))
            })
            .collect();
        shown.retain(|(run, key), _| is_side.contains(&(*run, key)));
        Ok(Gathered {
            histories: self.histories(store, workspace)?,
            subject: self,
            heads,
            shown,
            sides,
        })
    }
}

impl Subject {
    /// The histories on the branch of the run; none where there are too many benchmarks to look back far enough.
    fn histories(
        &self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<BTreeMap<BenchmarkKey, BenchmarkHistory>, StoreError> {
        let Some(limit) = runs_of_each(self.judged.len()) else {
            return Ok(BTreeMap::new());
        };
        let git = self.head.git.as_ref();
        let request = HistoryRequest {
            branch: git.map_or(BranchFilter::Any, |git| {
                BranchFilter::Only(git.branch.as_deref())
            }),
            limit,
            since: None,
            allowed: &[],
            medians: false,
        };
        let keys: Vec<BenchmarkKey> = self.judged.iter().map(|one| one.key.clone()).collect();
        let found = histories(store, workspace, &keys, &request)?.into_iter();
        Ok(found
            .filter(|history| history.counted.len() > 1)
            .map(|history| (history.key.clone(), history))
            .collect())
    }
}

/// `known`, and of `more` what is not among them.
fn add_new(mut known: Vec<String>, more: &[String]) -> Vec<String> {
    for text in more {
        if !known.contains(text) {
            known.push(text.clone());
        }
    }
    known
}

/// What the verdicts compare with, in words; `None` where nothing was compared.
fn references(judged: &[Judged]) -> Option<String> {
    // What was measured again has another side beside it than what the run was compared with.
    let runs: BTreeSet<RunId> = judged
        .iter()
        .filter_map(|one| one.reference.or(one.base))
        .collect();
    let mut runs = runs.iter().rev().map(ToString::to_string);
    let first = runs.next()?;
    let others: Vec<String> = runs.collect();
    Some(match &others[..] {
        [] => format!("run {first}"),
        [second] => format!("runs {first} and {second}"),
        [.., last] => format!("runs {first} to {last}"),
    })
}

/// Rows of a comparison that was made just now.
fn judged_of(rows: Vec<Row<'_>>, method: Method, candidate: RunId) -> Vec<Judged> {
    rows.into_iter()
        .map(|row| {
            let base = row.reference.first().copied();
            let change = row.comparison.as_ref().and_then(|found| found.change);
            Judged {
                verdict: row.verdict,
                change: change.map(|change| change.estimate),
                reference: base,
                candidate: row.measurement.map(|_| candidate),
                base,
                replayed: Some(Replayed {
                    method,
                    comparison: row.comparison,
                    reference: row.reference,
                    spread: Vec::new(),
                    blocking: row.blocking,
                    agrees: true,
                    confirmed: None,
                }),
                remarks: row.remarks,
                key: row.key,
            }
        })
        .collect()
}

/// A subject with everything that is shown of it.
pub(super) struct Gathered {
    subject: Subject,
    heads: BTreeMap<RunId, (Run, HostSigns)>,
    shown: BTreeMap<(RunId, BenchmarkKey), Measurement>,
    /// What each run measured in short, also of runs whose samples are not drawn.
    sides: BTreeMap<(RunId, BenchmarkKey), MeasuredSide>,
    histories: BTreeMap<BenchmarkKey, BenchmarkHistory>,
}

impl Gathered {
    /// The page. `workspace`: what it is called.
    pub(super) fn page(&self, workspace: String) -> Page<'_> {
        let subject = &self.subject;
        let points =
            (POINTS_OF_ALL / subject.judged.len().max(1)).clamp(FEWEST_POINTS, MOST_POINTS);
        let benchmarks: Vec<PageBenchmark<'_>> = subject
            .judged
            .par_iter()
            .map(|one| self.benchmark(one, points))
            .collect();
        let used: BTreeSet<RunId> = benchmarks
            .iter()
            .flat_map(|one| [&one.candidate, &one.base])
            .flatten()
            .map(|side| side.run)
            .filter(|run| *run != subject.head.id)
            .collect();
        let order = std::iter::once(subject.head.id).chain(used.into_iter().rev());
        Page {
            workspace,
            run: &subject.head,
            reference: subject.reference.clone(),
            runs: order
                .filter_map(|run| self.heads.get(&run))
                .map(|(head, signs)| PageRun {
                    head,
                    started: host::to_rfc3339(head.started),
                    signs: *signs,
                })
                .collect(),
            confidence_level: subject.head.decision.confidence_level,
            warnings: if subject.warnings.is_empty() {
                self.warnings(&benchmarks)
            } else {
                subject.warnings.clone()
            },
            remarks: subject.remarks.clone(),
            notes: subject.notes.clone(),
            gates: subject.gates.clone(),
            omissions: self.omissions(points, &benchmarks),
            benchmarks,
        }
    }

    /// Facts of the runs that differ without making the sides incomparable.
    fn warnings(&self, benchmarks: &[PageBenchmark<'_>]) -> Vec<Difference> {
        let sides = benchmarks
            .iter()
            .filter(|one| one.comparison.is_some())
            .filter_map(|one| one.candidate.as_ref().zip(one.base.as_ref()));
        let run = |side: &PageSide<'_>| self.heads.get(&side.run).map(|(run, _)| run);
        differing(sides.filter_map(|(candidate, base)| {
            Some([
                (run(candidate)?, candidate.measurement),
                (run(base)?, base.measurement),
            ])
        }))
    }

    /// What is left out of a page about so many benchmarks, and where it is to be had.
    fn omissions(&self, points: usize, benchmarks: &[PageBenchmark<'_>]) -> Vec<String> {
        let count = benchmarks.len();
        let mut sides = benchmarks
            .iter()
            .flat_map(|one| [&one.candidate, &one.base])
            .flatten();
        let samples = sides
            .any(|side| points < MOST_POINTS && side.shape.samples > points)
            .then(|| format!("Of {count} benchmarks about {points} samples a side are drawn; statistics and curves are those of all samples."));
        let histories = match runs_of_each(count) {
            None => Some(format!(
                "Of {count} benchmarks there are no histories here: `cargo perfcheck history FILTER` has them."
            )),
            Some(limit) => {
                let mut histories = self.histories.values();
                histories
                    .any(|history| history.points.len() >= limit)
                    .then(|| format!("Histories go back {limit} runs at most: `cargo perfcheck history` goes further."))
            }
        };
        samples.into_iter().chain(histories).collect()
    }

    fn benchmark<'a>(&'a self, one: &'a Judged, points: usize) -> PageBenchmark<'a> {
        let of = |run: Option<RunId>| self.shown.get(&(run?, one.key.clone()));
        let (candidate, base) = (of(one.candidate), of(one.base));
        let side = |measurement: Option<&'a Measurement>, run: Option<RunId>| {
            self.side(measurement?, run?, points)
        };
        let replayed = one.replayed.as_ref();
        let agreed = replayed.filter(|found| found.agrees);
        let metric = candidate
            .or(base)
            .map_or(&Metric::Time, |found| &found.benchmark.metric);
        let seed = self.subject.head.seed;
        PageBenchmark {
            key: &one.key,
            metric,
            verdict: one.verdict,
            stored_change: one.change,
            comparison: agreed.and_then(|found| found.comparison.as_ref()),
            method: replayed.map(|found| found.method),
            candidate: side(candidate, one.candidate),
            base: side(base, one.base),
            reference_runs: replayed.map_or_else(Vec::new, |found| found.reference.clone()),
            change: candidate
                .zip(base)
                .and_then(|(candidate, base)| ChangeShape::of(candidate, base, seed)),
            history: self.histories.get(&one.key),
            sentences: self.sentences(one, metric, candidate),
            blocking: replayed.map_or_else(Vec::new, |found| found.blocking.clone()),
            remarks: one.remarks.clone(),
        }
    }

    fn side<'a>(
        &'a self,
        measurement: &'a Measurement,
        run: RunId,
        points: usize,
    ) -> Option<PageSide<'a>> {
        let (head, _) = self.heads.get(&run)?;
        let summary = summarize_by(measurement, &head.decision, head.seed)?;
        Some(PageSide {
            run,
            measurement,
            record: BenchmarkRecord::of(measurement, &summary, &head.decision, head.seed)?,
            shape: Shape::of(measurement, points)?,
        })
    }

    /// How the verdict came about, as `explain` tells it.
    fn sentences(
        &self,
        one: &Judged,
        metric: &Metric,
        candidate: Option<&Measurement>,
    ) -> Vec<(&'static str, String)> {
        let Some(verdict) = one.verdict else {
            return Vec::new();
        };
        let measured = |run: RunId| self.sides.get(&(run, one.key.clone())).cloned();
        let references = one.replayed.iter().flat_map(|found| &found.reference);
        explained(&Explanation {
            key: &one.key,
            metric,
            run: &self.subject.head,
            verdict,
            change: one.change,
            reference: one.reference,
            candidate: one.candidate.and_then(measured),
            base: references.filter_map(|run| measured(*run)).collect(),
            signs: self
                .heads
                .get(&self.subject.head.id)
                .map_or_else(HostSigns::default, |(_, signs)| *signs),
            failures: candidate.map_or(&[][..], |found| &found.failures),
            replayed: one.replayed.as_ref(),
            plan: self.subject.plan.as_ref(),
        })
    }
}
