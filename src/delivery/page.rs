//! The content of a page: verdicts of a run or of two compared runs, with the measurements of both sides and the evidence.
//!
//! The page has the same statistics as `show --stats` prints for the run. They use the confidence levels and the seed of the run.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::AppError;
use crate::output::{
    BenchmarkHistory, Explanation, LabeledSentence, MeasuredSide, Page, PageBenchmark, PageRun,
    PageSide, labeled_sentences,
};
use crate::stored::comparison::summarize_side;
use crate::stored::conclusions::parse_plan;
use crate::stored::histories::{HistoryRequest, histories};
use perfcheck_analysis::compare::{
    BenchmarkRecord, ChangeShape, Comparability, Difference, HostControls, Plan, Shape,
    ShapeDetail, find_differences, summarize_with,
};
use perfcheck_analysis::findings::{Findings, LimitReport, Method, Order, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, Measurement, Metric, ProgressReporter, Run, RunId, Statistic, WorkStage,
    map_with_progress,
};
use perfcheck_store::{BranchFilter, Store, StoreError, WorkspaceId};

/// How many samples per side all benchmarks of a page show together. This bounds the size of the page.
const POINTS_OF_ALL: usize = 12_000;
/// Minimum number of samples drawn per side of a benchmark. `MOST_POINTS` is the maximum.
const FEWEST_POINTS: usize = 60;
const MOST_POINTS: usize = 1_500;

/// Maximum number of runs in histories, summed over all benchmarks of a page. Each run costs reading, analysis and space.
const RUNS_OF_ALL: usize = 6_000;
/// Minimum number of runs for a history on the page. Shorter histories have no band and hardly any change points. `MOST_RUNS` is the maximum.
const FEWEST_RUNS: usize = 10;
const MOST_RUNS: usize = 60;

/// Returns the maximum number of runs in each benchmark's history, or `None` if the page has too many benchmarks for histories.
fn history_length(benchmarks: usize) -> Option<usize> {
    let limit = (RUNS_OF_ALL / benchmarks.max(1)).min(MOST_RUNS);
    (limit >= FEWEST_RUNS).then_some(limit)
}

/// The findings for a page, without measurements, which are read later for both sides.
pub(crate) struct PageFindings {
    head: Run,
    rows: Vec<Row<'static>>,
    reference: Option<String>,
    /// The changes that the store has beside the verdicts, for a run whose conclusion is not stored. Rows without details of a comparison show these
    /// changes.
    changes: BTreeMap<BenchmarkKey, f64>,
    plan: Option<Plan>,
    method: Option<Method>,
    warnings: Vec<Difference>,
    remarks: Vec<RunNote>,
    limits: LimitReport,
}

impl PageFindings {
    /// Extracts the content of a page from these findings.
    pub(crate) fn from_findings(
        store: &Store,
        findings: &Findings<'_>,
    ) -> Result<Self, StoreError> {
        let rows: Vec<Row<'static>> = findings
            .rows
            .iter()
            .cloned()
            .map(Row::without_measurement)
            .collect();
        let mut head = findings.run.clone();
        let changes = if let Some(verdicts) = &findings.verdicts {
            head.begun.decision = verdicts.decision;
            BTreeMap::new()
        } else {
            let columns = store.verdicts(head.id)?.into_iter();
            columns
                .filter_map(|known| Some((known.key, known.change?)))
                .collect()
        };
        let mut subject = Self {
            reference: describe_references(&rows),
            changes,
            plan: parse_plan(&head).filter(|_| head.pair.is_some()),
            method: None,
            warnings: Vec::new(),
            remarks: Vec::new(),
            limits: LimitReport::default(),
            rows,
            head,
        };
        if let Some(verdicts) = findings.verdicts.clone() {
            subject.method = Some(verdicts.method);
            // Name a reference only if something was compared with it.
            subject.reference = subject.reference.map(|_| verdicts.reference);
            subject.warnings = verdicts.warnings;
            subject.remarks = verdicts.remarks;
            subject.limits = verdicts.limits;
        }
        Order::WorstFirst.sort(&mut subject.rows);
        Ok(subject)
    }

    /// Reads the measurements that the page shows or mentions, and the histories of the benchmarks.
    pub(crate) fn gather(
        self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<PageData, AppError> {
        let mut wanted: BTreeMap<RunId, BTreeSet<&BenchmarkKey>> = BTreeMap::new();
        for row in &self.rows {
            let sides = row.sides(&self.head);
            let shown = sides.candidate.into_iter().chain(sides.base);
            for run in row.reference.iter().copied().flatten().chain(shown) {
                wanted.entry(run).or_default().insert(&row.key);
            }
        }
        let mut heads =
            BTreeMap::from([(self.head.id, (self.head.clone(), HostControls::default()))]);
        let mut shown = BTreeMap::new();
        let mut sides = BTreeMap::new();
        for (run, keys) in wanted {
            // The run may have been deleted meanwhile.
            let Ok(head) = store.run(run) else { continue };
            let keys: Vec<BenchmarkKey> = keys.into_iter().cloned().collect();
            let measurements = store.measurements(run, Some(&keys))?;
            let signs = HostControls::from_measurements(measurements.iter());
            let described = |found: &Measurement| {
                let key = found.benchmark.key.clone();
                ((run, key), summarize_side(&head, found))
            };
            sides.extend(measurements.iter().map(described));
            let by_key = |found: Measurement| ((run, found.benchmark.key.clone()), found);
            shown.extend(measurements.into_iter().map(by_key));
            heads.insert(run, (head, signs));
        }
        let is_side: BTreeSet<(RunId, &BenchmarkKey)> = self
            .rows
            .iter()
            .flat_map(|row| {
                let sides = row.sides(&self.head);
                let both = sides.candidate.into_iter().chain(sides.base);
                both.map(|run| (run, &row.key))
            })
            .collect();
        shown.retain(|(run, key), _| is_side.contains(&(*run, key)));
        Ok(PageData {
            histories: self.histories(store, workspace)?,
            subject: self,
            heads,
            shown,
            sides,
        })
    }
}

impl PageFindings {
    /// Reads the histories on the run's branch. Returns none if the page has too many benchmarks for histories.
    fn histories(
        &self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<BTreeMap<BenchmarkKey, BenchmarkHistory>, AppError> {
        let Some(limit) = history_length(self.rows.len()) else {
            return Ok(BTreeMap::new());
        };
        let git = self.head.begun.git.as_ref();
        let request = HistoryRequest {
            branch: git.map_or(BranchFilter::Any, |git| {
                BranchFilter::Only(git.branch.as_deref())
            }),
            limit,
            since: None,
            allowed: &[],
            metric: Statistic::Time,
            medians: false,
        };
        let keys: Vec<BenchmarkKey> = self.rows.iter().map(|one| one.key.clone()).collect();
        let found = histories(store, workspace, &keys, &request)?.into_iter();
        Ok(found
            .filter(|history| history.counted.len() > 1)
            .map(|history| (history.key.clone(), history))
            .collect())
    }
}

/// Describes the runs that the verdicts compare with; `None` if nothing was compared.
fn describe_references(rows: &[Row<'_>]) -> Option<String> {
    let first = |row: &Row<'_>| row.reference.first().copied().flatten();
    let runs: BTreeSet<RunId> = rows.iter().filter_map(first).collect();
    let mut runs = runs.iter().rev().map(ToString::to_string);
    let first = runs.next()?;
    let others: Vec<String> = runs.collect();
    Some(match &others[..] {
        [] => format!("run {first}"),
        [second] => format!("runs {first} and {second}"),
        [.., last] => format!("runs {first} to {last}"),
    })
}

/// The findings of a page with the measurements to show.
pub(crate) struct PageData {
    subject: PageFindings,
    heads: BTreeMap<RunId, (Run, HostControls)>,
    shown: BTreeMap<(RunId, BenchmarkKey), Measurement>,
    /// Summary of each measurement that the page mentions, even if its samples are not drawn.
    sides: BTreeMap<(RunId, BenchmarkKey), MeasuredSide>,
    histories: BTreeMap<BenchmarkKey, BenchmarkHistory>,
}

impl PageData {
    /// Returns the number of benchmarks on the page.
    pub(crate) fn benchmarks(&self) -> usize {
        self.subject.rows.len()
    }

    /// Builds the page. `workspace` is the name shown for the workspace.
    pub(crate) fn page(&self, workspace: String, progress: &ProgressReporter<'_>) -> Page<'_> {
        let subject = &self.subject;
        let points = (POINTS_OF_ALL / subject.rows.len().max(1)).clamp(FEWEST_POINTS, MOST_POINTS);
        let stage = WorkStage::whole(subject.rows.len());
        let benchmarks = map_with_progress(&subject.rows, stage, progress, |one| {
            self.benchmark(one, points)
        });
        let used: BTreeSet<RunId> = benchmarks
            .iter()
            .flat_map(PageBenchmark::sides)
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
                    started: perfcheck_host::to_rfc3339(head.begun.started),
                    signs: *signs,
                })
                .collect(),
            confidence_level: subject.head.begun.decision.confidence_level,
            warnings: if subject.warnings.is_empty() {
                self.warnings(&benchmarks)
            } else {
                subject.warnings.clone()
            },
            remarks: subject.remarks.clone(),
            limits: subject.limits.clone(),
            omissions: self.omissions(points, &benchmarks),
            benchmarks,
        }
    }

    /// Returns facts that differ between the runs without making the sides incomparable.
    fn warnings(&self, benchmarks: &[PageBenchmark<'_>]) -> Vec<Difference> {
        let sides = benchmarks
            .iter()
            .filter(|one| one.row.comparison.is_some())
            .filter_map(|one| one.candidate.as_ref().zip(one.base.as_ref()));
        let run = |side: &PageSide<'_>| self.heads.get(&side.run).map(|(run, _)| run);
        differing_facts(sides.filter_map(|(candidate, base)| {
            Some([
                (run(candidate)?, candidate.measurement),
                (run(base)?, base.measurement),
            ])
        }))
    }

    /// Says what the page leaves out because it would become too large, and where to find that.
    fn omissions(&self, points: usize, benchmarks: &[PageBenchmark<'_>]) -> Vec<String> {
        let count = benchmarks.len();
        let mut sides = benchmarks.iter().flat_map(PageBenchmark::sides);
        let samples = sides
            .any(|side| points < MOST_POINTS && side.shape.samples > points)
            .then(|| format!("Each of the {count} benchmarks shows about {points} samples per side; statistics and curves use all samples."));
        let histories = match history_length(count) {
            None => Some(format!(
                "The histories of all {count} benchmarks are left out because the page would otherwise be too large."
            )),
            Some(limit) => {
                let mut histories = self.histories.values();
                histories
                    .any(|history| history.points.len() >= limit)
                    .then(|| format!("Each history shows at most the last {limit} runs."))
            }
        };
        samples.into_iter().chain(histories).collect()
    }

    fn benchmark<'a>(&'a self, row: &'a Row<'static>, points: usize) -> PageBenchmark<'a> {
        let sides = row.sides(&self.subject.head);
        let of = |run: Option<RunId>| self.shown.get(&(run?, row.key.clone()));
        let (candidate, base) = (of(sides.candidate), of(sides.base));
        let side = |measurement: Option<&'a Measurement>, run: Option<RunId>| {
            self.side(measurement?, run?, points)
        };
        let metric = candidate
            .or(base)
            .map_or(&Metric::Time, |found| &found.benchmark.metric);
        let seed = self.subject.head.begun.seed;
        PageBenchmark {
            row,
            metric,
            stored_change: self.stored_change(row),
            method: self.subject.method,
            candidate: side(candidate, sides.candidate),
            base: side(base, sides.base),
            change: candidate.zip(base).and_then(|(candidate, base)| {
                ChangeShape::from_measurements(candidate, base, seed)
            }),
            history: self.histories.get(&row.key),
            sentences: self.sentences(row, metric, candidate),
        }
    }

    /// Returns the change of a benchmark: from its row, or else from the verdict in the store.
    fn stored_change(&self, row: &Row<'_>) -> Option<f64> {
        let known = || self.subject.changes.get(&row.key).copied();
        row.change().or_else(known)
    }

    fn side<'a>(
        &'a self,
        measurement: &'a Measurement,
        run: RunId,
        points: usize,
    ) -> Option<PageSide<'a>> {
        let (head, _) = self.heads.get(&run)?;
        let summary = summarize_with(measurement, &head.begun.decision, head.begun.seed)?;
        Some(PageSide {
            run,
            measurement,
            record: BenchmarkRecord::from_measurement(
                measurement,
                &summary,
                &head.begun.decision,
                head.begun.seed,
            )?,
            shape: Shape::from_measurement(measurement, &ShapeDetail::reduced(points))?,
        })
    }

    /// Describes how the verdict came about, as `explain` does.
    fn sentences(
        &self,
        row: &Row<'_>,
        metric: &Metric,
        candidate: Option<&Measurement>,
    ) -> Vec<LabeledSentence> {
        let Some(verdict) = row.verdict else {
            return Vec::new();
        };
        let head = &self.subject.head;
        let measured = |run: RunId| self.sides.get(&(run, row.key.clone())).cloned();
        labeled_sentences(&Explanation {
            key: &row.key,
            metric,
            run: head,
            verdict,
            change: self.stored_change(row),
            reference: row.reference.first().copied().flatten(),
            candidate: row.sides(head).candidate.and_then(measured),
            base: row
                .compared_runs(head)
                .into_iter()
                .flatten()
                .filter_map(measured)
                .collect(),
            signs: self
                .heads
                .get(&head.id)
                .map_or_else(HostControls::default, |(_, signs)| *signs),
            failures: candidate.map_or(&[][..], |found| &found.failures),
            row: self.subject.method.map(|_| row),
            method: self.subject.method,
            // The page names changed functions once, for all benchmarks of a target.
            code: None,
            plan: self.subject.plan.as_ref(),
        })
    }
}

/// Lists facts that differ between two sides, each once. Facts that make sides incomparable appear at the benchmark instead.
fn differing_facts<'a>(
    sides: impl Iterator<Item = [(&'a Run, &'a Measurement); 2]>,
) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for both in sides {
        let [candidate, base] = both.map(|(run, measurement)| Comparability {
            environment: &run.begun.environment,
            target: &measurement.target_facts,
            version: measurement.benchmark.version.as_deref(),
            metric: &measurement.benchmark.metric,
        });
        for warning in find_differences(&candidate, &base).warnings {
            if !found.contains(&warning) {
                found.push(warning);
            }
        }
    }
    found
}
