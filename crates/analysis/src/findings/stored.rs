//! The result rows of a run that is compared with stored runs, and the choice of reference runs for each benchmark.

use std::collections::{BTreeMap, BTreeSet};

use super::remark::BenchmarkNote;
use super::row::{ComparisonContext, Method, Row};
use crate::compare::{
    Comparison, Difference, Fact, Question, Reference, Summary, TestPolicy, compare_with_progress,
    start_up_ns, summarize_with,
};
use crate::model::{
    BenchmarkKey, BySide, DecisionSettings, MIN_PROCESSES, Measurement, ProgressReporter, RunId,
    Verdict, WorkStage, map_with_progress,
};

/// The input for the rows of a run that is compared with stored runs.
pub struct StoredEvidence<'a, 'm> {
    /// The measurements of the run, by key.
    pub measurements: &'m [Measurement],
    /// The reference of each benchmark.
    pub references: &'a References,
    /// The measurements of the reference runs, by run and key.
    pub past: &'a BTreeMap<(RunId, BenchmarkKey), Measurement>,
    /// Benchmarks that this run should have, because the run that [`References::expected`] names has them.
    pub expected: &'a [BenchmarkKey],
    /// The test, and the rules by which it decides the comparisons.
    pub rules: &'a TestPolicy,
    /// Returns the noise threshold of a benchmark, as a fraction.
    pub noise_threshold: &'a dyn Fn(&Measurement) -> f64,
    /// Facts that the user allows to differ.
    pub allowed: &'a [Fact],
    /// Bench targets (package, target) that failed as a whole.
    pub failed_targets: &'a BTreeSet<(String, String)>,
    /// Whether the run had a time budget. If so, it may have ended before all planned processes ran.
    pub had_time_budget: bool,
}

impl<'m> StoredEvidence<'_, 'm> {
    /// Returns the context of `rows`: how they were compared, with which reference, and under which settings.
    pub(super) fn context(&self, rows: &[Row<'_>]) -> ComparisonContext {
        let rules = self.rules;
        ComparisonContext {
            allowed: self.allowed.to_vec(),
            family: rows.iter().filter(|row| row.comparison.is_some()).count(),
            warnings: self.references.warnings(),
            ..ComparisonContext::new(
                self.references.words.clone(),
                Method::Stored(rules.test()),
                rules.decision,
                rules.host,
            )
        }
    }

    /// Returns the rows, sorted by key.
    pub(super) fn rows(&self, progress: &ProgressReporter<'_>) -> Vec<Row<'m>> {
        let rules = self.rules;
        let count = self.measurements.len();
        let first = WorkStage::whole(2 * count);
        let second = WorkStage {
            done: count,
            ..first
        };
        let summaries = summarize_stage(
            self.measurements,
            &rules.decision,
            rules.seed,
            first,
            progress,
        );
        let measured = self.measurements.iter().zip(summaries);
        let mut rows: Vec<Row<'m>> = measured
            .zip(self.compare_all(second, progress))
            .map(|((measurement, summary), comparison)| {
                let chosen = &self.references.chosen[&measurement.benchmark.key];
                make_row(measurement, summary, comparison, chosen)
            })
            .collect();
        rows.extend(self.missing_rows());
        if self.had_time_budget {
            rows.iter_mut().for_each(withdraw_if_cut_short);
        }
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        rows
    }

    /// Returns the measurements of each benchmark in this run and in the newest run that it is compared with.
    pub(super) fn compared_measurements(&self) -> Vec<BySide<&Measurement>> {
        let pairs = self.measurements.iter().filter_map(|candidate| {
            let base = *self.reference_for(candidate)?.averaged.first()?;
            Some(BySide { base, candidate })
        });
        pairs.collect()
    }

    /// Compares each measurement that has a reference.
    fn compare_all(
        &self,
        stage: WorkStage,
        progress: &ProgressReporter<'_>,
    ) -> Vec<Option<Comparison>> {
        let references: Vec<Option<Reference<'_>>> = self
            .measurements
            .iter()
            .map(|measurement| self.reference_for(measurement))
            .collect();
        let pairs = self.measurements.iter().zip(&references);
        let questions: Vec<Question<'_>> = pairs
            .filter_map(|(candidate, reference)| {
                Some(Question {
                    candidate,
                    reference: reference.as_ref()?,
                    noise_threshold: (self.noise_threshold)(candidate),
                })
            })
            .collect();
        let mut answers =
            compare_with_progress(&questions, self.rules, stage, progress).into_iter();
        references
            .iter()
            .map(|reference| reference.as_ref().and_then(|_| answers.next()))
            .collect()
    }

    fn reference_for(&self, measurement: &Measurement) -> Option<Reference<'_>> {
        let key = &measurement.benchmark.key;
        let ReferenceChoice::Runs {
            averaged,
            spread,
            earlier,
            ..
        } = &self.references.chosen[key]
        else {
            return None;
        };
        if measurement.processes.is_empty() {
            return None;
        }
        let of = |runs: &[RunId]| -> Vec<&Measurement> {
            runs.iter()
                .filter_map(|run| self.past.get(&(*run, key.clone())))
                .filter(|measurement| !measurement.processes.is_empty())
                .collect()
        };
        let reference = Reference {
            averaged: of(averaged),
            spread: of(spread),
            earlier: earlier.iter().map(|runs| of(runs)).collect(),
        };
        (!reference.averaged.is_empty()).then_some(reference)
    }

    /// Returns rows for the expected benchmarks that the run does not have.
    fn missing_rows(&self) -> impl Iterator<Item = Row<'m>> {
        let measured = self.measurements.iter();
        let here: BTreeSet<&BenchmarkKey> = measured.map(|found| &found.benchmark.key).collect();
        let gone = self.expected.iter().filter(move |key| !here.contains(key));
        gone.map(|key| {
            let target = (key.package.clone(), key.target.clone());
            let verdict = if self.failed_targets.contains(&target) {
                Verdict::Failed
            } else {
                Verdict::Missing
            };
            Row::unmeasured(key.clone(), verdict, self.references.expected)
        })
    }
}

/// Returns the summary of each measurement, in the same order. A measurement without samples has `None`.
pub fn summarize_all(
    measurements: &[Measurement],
    decision: &DecisionSettings,
    seed: u64,
    progress: &ProgressReporter<'_>,
) -> Vec<Option<Summary>> {
    let stage = WorkStage::whole(measurements.len());
    summarize_stage(measurements, decision, seed, stage, progress)
}

fn summarize_stage(
    measurements: &[Measurement],
    decision: &DecisionSettings,
    seed: u64,
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
) -> Vec<Option<Summary>> {
    map_with_progress(measurements, stage, progress, |measurement| {
        summarize_with(measurement, decision, seed)
    })
}

fn make_row<'m>(
    measurement: &'m Measurement,
    summary: Option<Summary>,
    comparison: Option<Comparison>,
    chosen: &ReferenceChoice,
) -> Row<'m> {
    let known = |runs: &[RunId]| runs.iter().copied().map(Some).collect();
    let (verdict, reference, blocking) = match (chosen, &comparison) {
        (_, _) if measurement.processes.is_empty() => (Verdict::Failed, Vec::new(), Vec::new()),
        (ReferenceChoice::Runs { averaged, .. }, Some(comparison)) => {
            (comparison.verdict, known(averaged), Vec::new())
        }
        (ReferenceChoice::Incomparable(run, blocking), _) => {
            (Verdict::Incomparable, vec![Some(*run)], blocking.clone())
        }
        (ReferenceChoice::New | ReferenceChoice::Runs { .. }, _)
            if too_many_failed(measurement) =>
        {
            (Verdict::Failed, Vec::new(), Vec::new())
        }
        (ReferenceChoice::New | ReferenceChoice::Runs { .. }, _) => {
            (Verdict::New, Vec::new(), Vec::new())
        }
    };
    Row {
        verdict: Some(verdict),
        remarks: note_start_up(measurement, summary.as_ref())
            .into_iter()
            .collect(),
        spread: match &comparison {
            Some(_) => known(&chosen.drift_runs()),
            None => Vec::new(),
        },
        comparison,
        reference,
        blocking,
        ..Row::from_measurement(measurement, summary)
    }
}

/// The start-up of a process is reported if it is more than this share of a program's time.
const MUCH_START_UP: f64 = 0.1;

/// Reports whether the start of a process, which takes `empty_ns`, is a large part of the time of a program.
pub fn is_large_start_up(empty_ns: f64, time_ns: f64) -> bool {
    empty_ns > MUCH_START_UP * time_ns
}

/// Returns a note if the start of the process is a large part of the time of a program. Nothing is subtracted from the time, because nobody knows how
/// much of it the program could avoid.
pub(super) fn note_start_up(
    measurement: &Measurement,
    summary: Option<&Summary>,
) -> Option<BenchmarkNote> {
    let median_ns = summary?.median.estimate;
    let empty_ns = start_up_ns(measurement)?;
    is_large_start_up(empty_ns, median_ns).then_some(BenchmarkNote::StartUp {
        empty_ns,
        median_ns,
    })
}

/// Reports whether some processes failed and fewer than [`MIN_PROCESSES`] succeeded.
fn too_many_failed(measurement: &Measurement) -> bool {
    !measurement.failures.is_empty() && measurement.processes.len() < MIN_PROCESSES
}

/// If the time budget ended after too few processes, makes the verdict inconclusive and adds a remark that says why.
fn withdraw_if_cut_short(row: &mut Row<'_>) {
    let Some(processes) = row.measurement.and_then(processes_if_too_few) else {
        return;
    };
    row.remarks.push(BenchmarkNote::CutShort { processes });
    if let Some(Verdict::Regressed | Verdict::Improved | Verdict::Unchanged | Verdict::Suspect) =
        row.verdict
    {
        row.verdict = Some(Verdict::Inconclusive);
        if let Some(comparison) = &mut row.comparison {
            comparison.verdict = Verdict::Inconclusive;
        }
    }
}

/// If there are too few processes because the time budget ended, returns their number. The budget is the cause if more processes were planned and
/// none failed.
fn processes_if_too_few(measurement: &Measurement) -> Option<usize> {
    let processes = measurement.processes.len();
    let wanted = measurement.sampling.processes as usize;
    let few = processes < MIN_PROCESSES.min(wanted) && measurement.failures.is_empty();
    few.then_some(processes)
}

/// The reference of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub enum ReferenceChoice {
    /// There is no run to compare with.
    New,
    /// There is a run, but these differences make it incomparable.
    Incomparable(RunId, Vec<Difference>),
    /// There are runs to compare with, newest first.
    Runs {
        /// The runs whose mean is the reference.
        averaged: Vec<RunId>,
        /// The runs from which drift is estimated.
        spread: Vec<RunId>,
        /// Runs of earlier segments of the history, one list for each segment. They show drift, too, because accepting a new level does not change
        /// the noise.
        earlier: Vec<Vec<RunId>>,
        /// Differences that do not make the runs incomparable.
        warnings: Vec<Difference>,
    },
}

impl ReferenceChoice {
    /// Returns the runs whose mean is the reference.
    pub fn averaged_runs(&self) -> &[RunId] {
        match self {
            Self::Runs { averaged, .. } => averaged,
            Self::New | Self::Incomparable(..) => &[],
        }
    }

    /// Returns all runs from which drift is estimated.
    pub fn drift_runs(&self) -> Vec<RunId> {
        match self {
            Self::Runs {
                spread, earlier, ..
            } => [spread.as_slice(), &earlier.concat()].concat(),
            Self::New | Self::Incomparable(..) => Vec::new(),
        }
    }
}

/// The references of all benchmarks.
#[derive(Debug, Clone)]
pub struct References {
    /// The reference of each benchmark.
    pub chosen: BTreeMap<BenchmarkKey, ReferenceChoice>,
    /// The run whose benchmarks are all expected in the new run, too, if there is such a run.
    pub expected: Option<RunId>,
    /// Description of the references, as it is shown to users.
    pub words: String,
}

impl References {
    /// Returns the differences that do not make runs incomparable. A difference of several benchmarks is returned once.
    pub fn warnings(&self) -> Vec<Difference> {
        let mut found: Vec<Difference> = Vec::new();
        for choice in self.chosen.values() {
            if let ReferenceChoice::Runs { warnings, .. } = choice {
                for warning in warnings {
                    if !found.contains(warning) {
                        found.push(warning.clone());
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_process, key, measurement, undecided};
    use crate::compare::{Difference, HostClass, compare};
    use crate::model::{Event, Failure, Nanos, Observer, ProcessUsage, RunUsage, Side};
    use std::cell::RefCell;

    #[test]
    fn a_start_that_takes_more_than_a_tenth_of_the_time_is_noted() {
        let note = |start_up: u64| {
            let mut process = flat_process(0, ITERATIONS, &[100.0; 4]);
            process.conduct = Some(ProcessUsage {
                threads: 1,
                run: Some(RunUsage {
                    cpu: Nanos(90),
                    peak_memory: None,
                    start_up: Some(Nanos(start_up)),
                }),
                ..ProcessUsage::default()
            });
            let run = measurement(vec![process]);
            let summary = summarize_with(&run, &DecisionSettings::default(), 7);
            note_start_up(&run, summary.as_ref())
        };
        assert_eq!(note(10), None);
        let expected = BenchmarkNote::StartUp {
            empty_ns: 11.0,
            median_ns: 100.0,
        };
        assert_eq!(note(11), Some(expected));
    }

    #[test]
    fn a_benchmark_that_should_be_there_again_is_missing_only_where_the_run_does_not_have_it() {
        let here = measurement(Vec::new());
        let key = |target: &str| BenchmarkKey {
            target: target.to_owned(),
            ..here.benchmark.key.clone()
        };
        let evidence = StoredEvidence {
            expected: &[here.benchmark.key.clone(), key("gone"), key("died")],
            measurements: std::slice::from_ref(&here),
            references: &References {
                chosen: BTreeMap::new(),
                expected: None,
                words: String::new(),
            },
            past: &BTreeMap::new(),
            rules: &TestPolicy {
                decision: DecisionSettings::default(),
                host: HostClass::Shared,
                seed: 7,
            },
            noise_threshold: &|_| 0.02,
            allowed: &[],
            failed_targets: &[("p".to_owned(), "died".to_owned())].into(),
            had_time_budget: false,
        };
        let rows = evidence.missing_rows().map(|row| (row.key, row.verdict));
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [
                (key("gone"), Some(Verdict::Missing)),
                (key("died"), Some(Verdict::Failed)),
            ]
        );
    }

    #[test]
    fn a_benchmark_that_is_compared_with_nothing_has_the_reason_as_its_verdict() {
        let process = |k| flat_process(k, ITERATIONS, &[100.0; 3]);
        let measured = |processes: u32, has_failed: bool| Measurement {
            failures: Vec::from_iter(has_failed.then(|| Failure {
                process: processes,
                side: Side::Candidate,
                message: "it died".to_owned(),
            })),
            ..measurement((0..processes).map(process).collect())
        };
        let verdict =
            |run: &Measurement, chosen: &ReferenceChoice| make_row(run, None, None, chosen).verdict;
        let new = |processes, has_failed| {
            verdict(&measured(processes, has_failed), &ReferenceChoice::New)
        };
        assert_eq!(new(1, false), Some(Verdict::New));
        assert_eq!(new(MIN_PROCESSES as u32, true), Some(Verdict::New));
        assert_eq!(new(MIN_PROCESSES as u32 - 1, true), Some(Verdict::Failed));
        assert_eq!(new(0, false), Some(Verdict::Failed));
        let (differs, run) = (Difference::paired_reference(), measured(5, false));
        let incomparable = ReferenceChoice::Incomparable(RunId(3), vec![differs.clone()]);
        let found = make_row(&run, None, None, &incomparable);
        assert_eq!(found.verdict, Some(Verdict::Incomparable));
        assert_eq!(found.reference, [Some(RunId(3))]);
        assert_eq!(found.blocking, [differs]);
    }

    #[test]
    fn processes_are_too_few_if_more_were_planned_and_none_failed() {
        let too_few = |processes: u32, planned: u32, has_failed: bool| {
            let process = |k| flat_process(k, ITERATIONS, &[100.0; 3]);
            let mut run = measurement((0..processes).map(process).collect());
            run.sampling.processes = planned;
            run.failures = Vec::from_iter(has_failed.then(|| Failure {
                process: processes,
                side: Side::Candidate,
                message: "it died".to_owned(),
            }));
            processes_if_too_few(&run)
        };
        let fewest = MIN_PROCESSES as u32;
        assert_eq!(too_few(fewest - 1, 5, false), Some(MIN_PROCESSES - 1));
        assert_eq!(too_few(fewest, 5, false), None);
        assert_eq!(too_few(1, 1, false), None, "as many as planned");
        assert_eq!(too_few(fewest - 1, 5, true), None);
    }

    #[test]
    fn the_reference_is_the_mean_of_the_averaged_runs() {
        let chosen = ReferenceChoice::Runs {
            averaged: vec![RunId(4), RunId(3)],
            spread: vec![RunId(4), RunId(3), RunId(2)],
            earlier: Vec::new(),
            warnings: Vec::new(),
        };
        assert_eq!(chosen.averaged_runs(), [RunId(4), RunId(3)]);
        assert_eq!(ReferenceChoice::New.averaged_runs(), []);
    }

    #[test]
    fn the_row_of_a_comparison_has_it_with_its_verdict_and_its_runs() {
        let run = |time: f64| {
            let process = |k| flat_process(k, ITERATIONS, &[time, 1.001 * time, 1.002 * time]);
            measurement((0..5).map(process).collect())
        };
        let (base, candidate) = (run(100.0), run(200.0));
        let reference = Reference {
            averaged: vec![&base],
            spread: vec![&base],
            earlier: vec![],
        };
        let question = Question {
            candidate: &candidate,
            reference: &reference,
            noise_threshold: 0.02,
        };
        let rules = TestPolicy {
            decision: DecisionSettings::default(),
            host: HostClass::Dedicated,
            seed: 7,
        };
        let comparison = compare(&[question], &rules).remove(0);
        let chosen = ReferenceChoice::Runs {
            averaged: vec![RunId(4)],
            spread: vec![RunId(4), RunId(3)],
            earlier: vec![vec![RunId(2)], vec![RunId(1)]],
            warnings: Vec::new(),
        };
        let row = make_row(&candidate, None, Some(comparison.clone()), &chosen);
        assert_eq!(row.verdict, Some(Verdict::Regressed));
        assert_eq!(row.comparison, Some(comparison));
        assert_eq!(row.reference, [Some(RunId(4))]);
        assert_eq!(row.spread, [4, 3, 2, 1].map(|run| Some(RunId(run))));
        assert_eq!((row.blocking, &row.key), (vec![], &candidate.benchmark.key));
        // The reference runs do not have this benchmark.
        let new = make_row(&candidate, None, None, &chosen);
        assert_eq!((new.verdict, new.comparison), (Some(Verdict::New), None));
        assert_eq!((new.reference, new.spread), (vec![], vec![]));
    }

    #[test]
    fn only_a_benchmark_that_a_reference_run_has_samples_of_is_compared_and_counts_in_the_family() {
        let run = |id: &str, times: &[f64]| {
            let process = |k| flat_process(k, ITERATIONS, times);
            let mut found = measurement((0..5).map(process).collect());
            found.benchmark.key.id = id.to_owned();
            found
        };
        let times = [100.0, 100.1, 100.2];
        let ids = ["added", "hollow", "kept", "lost"];
        let mut measurements = ids.map(|id| run(id, &times));
        measurements[3].processes.clear();
        // No run has `added`, and run 4 has no processes of `hollow`.
        let mut hollow = run("hollow", &times);
        hollow.processes.clear();
        let past = [hollow, run("kept", &times), run("lost", &times)];
        let past = past.map(|found| ((RunId(4), found.benchmark.key.clone()), found));
        let differs = Difference::paired_reference();
        let chosen = measurements.each_ref().map(|found| {
            let runs = ReferenceChoice::Runs {
                averaged: vec![RunId(4)],
                spread: vec![RunId(4), RunId(3)],
                earlier: vec![vec![RunId(2)]],
                warnings: vec![differs.clone()],
            };
            (found.benchmark.key.clone(), runs)
        });
        let evidence = StoredEvidence {
            measurements: &measurements,
            references: &References {
                chosen: chosen.into(),
                expected: None,
                words: "run 4".to_owned(),
            },
            past: &past.into(),
            expected: &[],
            rules: &TestPolicy {
                decision: DecisionSettings::default(),
                host: HostClass::Shared,
                seed: 7,
            },
            noise_threshold: &|_| 0.02,
            allowed: &[Fact::Turns],
            failed_targets: &BTreeSet::new(),
            had_time_budget: false,
        };
        let rows = evidence.rows(&ProgressReporter::silent());
        let found: Vec<(&str, bool)> = (rows.iter())
            .map(|row| (&*row.key.id, row.comparison.is_some()))
            .collect();
        let compared = [false, false, true, false];
        assert!(
            found.iter().copied().eq(ids.into_iter().zip(compared)),
            "{found:?}"
        );
        let verdicts: Vec<_> = rows.iter().map(|row| row.verdict).collect();
        assert_eq!(verdicts[..2], [Some(Verdict::New); 2]);
        assert_eq!(verdicts[3], Some(Verdict::Failed));
        let comparison = rows[2].comparison.as_ref().expect("run 4 has it");
        assert_eq!(verdicts[2], Some(comparison.verdict));
        assert_eq!(comparison.extent.runs_averaged(), 1);
        assert_eq!(comparison.extent.runs_spread(), 1, "the others have none");
        let context = evidence.context(&rows);
        assert_eq!((context.family, &*context.reference), (1, "run 4"));
        assert_eq!(context.allowed, [Fact::Turns]);
        assert_eq!(context.warnings, [differs]);
        assert_eq!(context.host, HostClass::Shared);
    }

    fn five_processes(time: f64) -> Measurement {
        let times = [time, 1.001 * time, 1.002 * time];
        let process = |k| flat_process(k, ITERATIONS, &times);
        measurement((0..5).map(process).collect())
    }

    #[test]
    fn summaries_are_those_of_the_measurements_in_their_order() {
        let decision = DecisionSettings {
            resamples: 1_000,
            ..DecisionSettings::default()
        };
        let all = [
            five_processes(100.0),
            measurement(Vec::new()),
            five_processes(200.0),
        ];
        let found = summarize_all(&all, &decision, 7, &ProgressReporter::silent());
        let expected = all.each_ref().map(|one| summarize_with(one, &decision, 7));
        assert_eq!(found, expected);
        assert_eq!(found[1], None);
        let medians = [&found[0], &found[2]].map(|one| one.as_ref().map(|one| one.median.estimate));
        assert_eq!(medians, [Some(100.1), Some(200.2)]);
    }

    #[test]
    fn a_verdict_after_too_few_processes_is_withdrawn_if_the_time_budget_ended() {
        let cut = |verdict, processes: usize| {
            let mut found = five_processes(100.0);
            found.processes.truncate(processes);
            let mut row = Row {
                verdict: Some(verdict),
                comparison: Some(Comparison {
                    verdict,
                    ..undecided()
                }),
                ..Row::from_measurement(&found, None)
            };
            withdraw_if_cut_short(&mut row);
            let of_comparison = row.comparison.expect("still there").verdict;
            (row.verdict.expect("a verdict"), of_comparison, row.remarks)
        };
        let note = || vec![BenchmarkNote::CutShort { processes: 2 }];
        let open = Verdict::Inconclusive;
        for verdict in [
            Verdict::Regressed,
            Verdict::Improved,
            Verdict::Unchanged,
            Verdict::Suspect,
        ] {
            assert_eq!(cut(verdict, 2), (open, open, note()));
            assert_eq!(cut(verdict, MIN_PROCESSES), (verdict, verdict, vec![]));
        }
        for verdict in [Verdict::New, Verdict::Incomparable, open] {
            assert_eq!(cut(verdict, 2), (verdict, verdict, note()));
        }
        let mut missing = Row::unmeasured(key("gone"), Verdict::Missing, None);
        withdraw_if_cut_short(&mut missing);
        let expected = Row::unmeasured(key("gone"), Verdict::Missing, None);
        assert_eq!(missing, expected);
    }

    /// An observer that records how many parts of the work were done at each event.
    #[derive(Default)]
    struct Parts(RefCell<Vec<(usize, usize)>>);

    impl Observer for Parts {
        fn observe(&self, event: &Event<'_>) {
            if let Event::Working { done, of, .. } = event {
                self.0.borrow_mut().push((*done, *of));
            }
        }
    }

    #[test]
    fn rows_are_by_key_with_those_cut_short_and_half_of_the_work_is_to_summarize() {
        let cut = |id: &str, processes: usize| {
            let mut found = five_processes(100.0);
            found.benchmark.key.id = id.to_owned();
            found.processes.truncate(processes);
            found
        };
        let measurements = [cut("c", 5), cut("b", 2), cut("d", 5)];
        let past = ["b", "c", "d"].map(|id| ((RunId(4), key(id)), cut(id, 5)));
        let chosen = ["b", "c", "d"].map(|id| {
            let runs = ReferenceChoice::Runs {
                averaged: vec![RunId(4)],
                spread: vec![RunId(4)],
                earlier: Vec::new(),
                warnings: Vec::new(),
            };
            (key(id), runs)
        });
        let rows = |had_time_budget, parts: &Parts| {
            let evidence = StoredEvidence {
                measurements: &measurements,
                references: &References {
                    chosen: chosen.clone().into(),
                    expected: Some(RunId(4)),
                    words: "run 4".to_owned(),
                },
                past: &past.clone().into(),
                expected: &[key("a")],
                rules: &TestPolicy {
                    decision: DecisionSettings::default(),
                    host: HostClass::Dedicated,
                    seed: 7,
                },
                noise_threshold: &|_| 0.02,
                allowed: &[],
                failed_targets: &BTreeSet::new(),
                had_time_budget,
            };
            let work = ProgressReporter::begin(parts, "Comparing", 3);
            evidence.rows(&work)
        };
        let parts = Parts::default();
        let found = rows(true, &parts);
        let keys: Vec<&str> = found.iter().map(|row| &*row.key.id).collect();
        assert_eq!(keys, ["a", "b", "c", "d"]);
        assert_eq!(found[0].verdict, Some(Verdict::Missing));
        assert_eq!(found[0].reference, [Some(RunId(4))]);
        let note = BenchmarkNote::CutShort { processes: 2 };
        assert_eq!(found[1].remarks, [note]);
        assert_eq!(found[2].remarks, []);
        let summaries: Vec<bool> = found.iter().map(|row| row.summary.is_some()).collect();
        assert_eq!(summaries, [false, true, true, true]);
        assert_eq!(*parts.0.borrow(), [(0, 1), (0, 6), (3, 6), (1, 1)]);
        let found = rows(false, &Parts::default());
        assert_eq!(found[1].remarks, [], "nobody set a time");
    }

    #[test]
    fn differences_that_forbid_nothing_are_told_once() {
        let fact = |fact| Difference {
            fact,
            ..Difference::paired_reference()
        };
        let (turns, kernel) = (fact(Fact::Turns), fact(Fact::Kernel));
        let with = |warnings: &[Difference]| ReferenceChoice::Runs {
            averaged: vec![RunId(4)],
            spread: vec![RunId(4)],
            earlier: Vec::new(),
            warnings: warnings.to_vec(),
        };
        let references = References {
            chosen: [
                (key("a"), with(std::slice::from_ref(&turns))),
                (key("b"), with(&[kernel.clone(), turns.clone()])),
                (key("c"), ReferenceChoice::New),
                (
                    key("d"),
                    ReferenceChoice::Incomparable(RunId(4), vec![fact(Fact::Rustc)]),
                ),
            ]
            .into(),
            expected: None,
            words: String::new(),
        };
        assert_eq!(references.warnings(), [turns, kernel]);
    }

    #[test]
    fn drift_is_estimated_from_all_runs_since_the_first_segment() {
        let runs = ReferenceChoice::Runs {
            averaged: vec![RunId(4)],
            spread: vec![RunId(4), RunId(3)],
            earlier: vec![vec![RunId(2)], vec![RunId(1)]],
            warnings: Vec::new(),
        };
        assert_eq!(runs.drift_runs(), [4, 3, 2, 1].map(RunId));
        let differs = vec![Difference::paired_reference()];
        let incomparable = ReferenceChoice::Incomparable(RunId(3), differs);
        for none in [ReferenceChoice::New, incomparable] {
            assert_eq!((none.drift_runs(), none.averaged_runs()), (vec![], &[][..]));
        }
    }
}
