//! Makes the result rows of two builds that were measured side by side.

use std::collections::BTreeMap;

use super::remark::BenchmarkNote;
use super::row::{ComparisonContext, Method, Row};
use super::stored::{note_start_up, summarize_all};
use crate::compare::{Comparison, HostClass, Note, PairedSeries, Plan, judge};
use crate::model::{
    BenchmarkKey, BySide, DecisionSettings, Measurement, ProcessUsage, ProgressReporter, Round,
    Run, RunId, Sample, Side, Verdict,
};

/// If processes used at least this many times as much CPU time as they spent on requests, they used several processors. The CPU time includes the
/// startup of a process, but startup alone does not reach this ratio.
const SEVERAL_PROCESSORS: f64 = 1.3;

/// The input for the rows of two builds that were measured side by side.
pub struct PairedEvidence<'a, 'm> {
    /// The runs of both sides.
    pub runs: BySide<RunId>,
    /// For each benchmark whose base is the build of an earlier run: the number of that run.
    pub earlier: &'a BTreeMap<BenchmarkKey, RunId>,
    /// The measurements of the base.
    pub base: &'a [Measurement],
    /// The measurements of the candidate. Process r of each side belongs to round r.
    pub candidate: &'m [Measurement],
    /// The plan of the measurement, fixed before its first round.
    pub plan: &'a Plan,
    /// The decision settings.
    pub decision: &'a DecisionSettings,
    /// The noise threshold that the user set for all benchmarks, as a fraction. If it is `None`, each benchmark has its own threshold.
    pub noise_threshold: Option<f64>,
    /// Rows of benchmarks whose verdict needed no measurement.
    pub settled: &'a [Row<'static>],
    /// The time that each benchmark's rounds took, if known.
    pub cost: Option<&'a BTreeMap<BenchmarkKey, RoundsCost>>,
    /// The name of the base that is shown to users.
    pub reference: &'a str,
    /// The kind of host that measured.
    pub host: HostClass,
}

/// The time that one benchmark's rounds took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundsCost {
    /// Duration of all rounds, in seconds.
    pub seconds: f64,
    /// Whether the time budget ended before the benchmark was settled.
    pub ran_out_of_time: bool,
}

impl<'m> PairedEvidence<'_, 'm> {
    /// Returns the basis of the verdicts.
    pub(super) fn context(&self) -> ComparisonContext {
        ComparisonContext {
            family: self.plan.planned,
            ..ComparisonContext::new(
                self.reference.to_owned(),
                Method::Paired,
                *self.decision,
                self.host,
            )
        }
    }

    /// Returns the rows, sorted by key.
    pub(super) fn rows(&self) -> Vec<Row<'m>> {
        let measured = self.candidate;
        let summaries = summarize_all(
            measured,
            self.decision,
            self.plan.seed,
            &ProgressReporter::silent(),
        );
        let mut comparisons = self.compare_all();
        let mut rows: Vec<Row<'m>> = measured
            .iter()
            .zip(summaries)
            .map(|(measurement, summary)| {
                let comparison = comparisons.remove(&measurement.benchmark.key);
                let failures = measurement.failures.len();
                let has_enough = |found: &Comparison| {
                    Plan::has_enough_rounds(found.extent.processes_candidate(), failures)
                };
                let (verdict, remark) = match &comparison {
                    Some(found) if has_enough(found) => (
                        found.verdict,
                        self.undecided_remark(&measurement.benchmark.key, found),
                    ),
                    _ if base_failed(measurement) => {
                        (Verdict::New, Some(BenchmarkNote::BaseFailed))
                    }
                    _ => (Verdict::Failed, None),
                };
                let start_up = note_start_up(measurement, summary.as_ref());
                Row {
                    verdict: Some(verdict),
                    remarks: remark.into_iter().chain(start_up).collect(),
                    comparison,
                    reference: self.reference_runs(&measurement.benchmark.key),
                    seconds: self
                        .cost_of(&measurement.benchmark.key)
                        .map(|cost| cost.seconds),
                    ..Row::from_measurement(measurement, summary)
                }
            })
            .collect();
        rows.extend(self.settled.iter().map(|settled| Row {
            reference: self.reference_runs(&settled.key),
            ..settled.clone()
        }));
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        rows
    }

    /// Returns a remark on how to settle an inconclusive comparison.
    fn undecided_remark(
        &self,
        key: &BenchmarkKey,
        comparison: &Comparison,
    ) -> Option<BenchmarkNote> {
        if comparison.verdict != Verdict::Inconclusive {
            return None;
        }
        let rounds = comparison.look()?.rounds_needed;
        let cost = self.cost_of(key);
        let seconds = rounds.and_then(|rounds| {
            let had = comparison.extent.processes_candidate() as f64;
            Some(cost?.seconds / had * rounds as f64)
        });
        let noise_threshold = comparison.sufficient_threshold();
        (rounds.is_some() || noise_threshold.is_some()).then_some(BenchmarkNote::Undecided {
            rounds,
            seconds,
            ran_out_of_time: cost.is_some_and(|cost| cost.ran_out_of_time),
            noise_threshold,
        })
    }

    fn cost_of(&self, key: &BenchmarkKey) -> Option<RoundsCost> {
        self.cost?.get(key).copied()
    }

    /// Returns the run that is named as the reference of a benchmark. That is the earlier run whose build was the base or, if there is none, the run
    /// of the base side.
    fn reference_runs(&self, key: &BenchmarkKey) -> Vec<Option<RunId>> {
        let earlier = self.earlier.get(key).copied();
        vec![Some(earlier.unwrap_or(self.runs.base))]
    }

    /// Returns the measurements of each benchmark that both sides measured.
    pub(super) fn compared_measurements(&self) -> Vec<BySide<&Measurement>> {
        let pairs = self.candidate.iter().filter_map(|candidate| {
            let mut base = self.base.iter();
            let base = base.find(|base| base.benchmark.key == candidate.benchmark.key)?;
            Some(BySide { base, candidate })
        });
        pairs.collect()
    }

    /// Compares each benchmark that both sides measured in complete rounds, by the metric that the user chose.
    fn compare_all(&self) -> BTreeMap<BenchmarkKey, Comparison> {
        let both: Vec<(&Measurement, &Measurement, Vec<Round>)> = self
            .candidate
            .iter()
            .filter_map(|candidate| {
                let key = &candidate.benchmark.key;
                let mut base = self.base.iter();
                let base = base.find(|base| base.benchmark.key == *key)?;
                let rounds = pair_rounds(base, candidate);
                (!rounds.is_empty()).then_some((base, candidate, rounds))
            })
            .collect();
        let series: Vec<PairedSeries<'_>> = both
            .iter()
            .map(|(_, candidate, rounds)| PairedSeries {
                key: &candidate.benchmark.key,
                metric: &candidate.benchmark.metric,
                rounds,
                noise_threshold: self.noise_threshold.unwrap_or(candidate.noise_threshold),
            })
            .collect();
        let judged = judge(&series, self.plan).into_iter();
        let mut comparisons: Vec<Comparison> = judged
            .zip(&both)
            .map(|(mut found, (base, candidate, _))| {
                if found.verdict == Verdict::Inconclusive {
                    found.notes.extend(note_several_processors(candidate));
                }
                found.with_paired_extras(base, candidate, self.plan)
            })
            .collect();
        Comparison::judge_by_metric(
            &mut comparisons,
            self.decision.analysis.subject,
            self.decision,
        );
        let keys = both.iter().map(|(_, found, _)| found.benchmark.key.clone());
        keys.zip(comparisons).collect()
    }
}

/// Reports whether the benchmark has failures and all of them happened on the side of the base.
fn base_failed(candidate: &Measurement) -> bool {
    let mut failures = candidate.failures.iter();
    !candidate.failures.is_empty() && failures.all(|failure| failure.side == Side::Base)
}

/// Returns a note if the processes of a benchmark used several processors at once. If one processor is enough for a benchmark, all of its processes
/// but the first are pinned to one. There is therefore no note if most processes are pinned.
fn note_several_processors(candidate: &Measurement) -> Option<Note> {
    let conducts = candidate.processes.iter().filter_map(|one| one.conduct);
    let (bound, free): (Vec<ProcessUsage>, Vec<ProcessUsage>) =
        conducts.partition(|conduct| conduct.processor.is_some());
    let working_time: f64 = free
        .iter()
        .map(|conduct| conduct.working_time.as_f64())
        .sum();
    let cpu: f64 = free.iter().map(|conduct| conduct.cpu.as_f64()).sum();
    let processors = cpu / working_time;
    (free.len() > bound.len() && working_time > 0.0 && processors >= SEVERAL_PROCESSORS)
        .then_some(Note::SeveralProcessors { processors })
}

/// Returns the rounds that both sides completed.
fn pair_rounds(base: &Measurement, candidate: &Measurement) -> Vec<Round> {
    let mut of_base: BTreeMap<u32, Vec<Sample>> = base
        .processes
        .iter()
        .map(|process| (process.process, process.series.comparable_samples()))
        .collect();
    candidate
        .processes
        .iter()
        .filter_map(|process| {
            Some(Round {
                base: of_base.remove(&process.process)?,
                candidate: process.series.comparable_samples(),
                led: process.extras.led.clone(),
                layout: process.layout,
            })
        })
        .collect()
}

impl Row<'_> {
    /// Reports whether the benchmark became slower, may have become slower (suspect), or is inconclusive but seems slower.
    pub fn looks_slower(&self) -> bool {
        match self.verdict {
            Some(Verdict::Regressed | Verdict::Suspect) => true,
            Some(Verdict::Inconclusive) => {
                let comparison = self.comparison.as_ref();
                comparison.is_some_and(Comparison::seems_slower)
            }
            _ => false,
        }
    }

    /// Returns the runs of both sides. The candidate is `run`. The base is the newest run that the benchmark was compared with. It is `None` if there
    /// is no such run, or if this store does not have it.
    pub fn sides(&self, run: &Run) -> BySide<Option<RunId>> {
        BySide {
            base: self.compared_runs(run).first().copied().flatten(),
            candidate: Some(run.id),
        }
    }

    /// Returns the runs that the candidate was compared with, newest first. The candidate's run is `run`. If both sides were measured side by side,
    /// only the other run of the pair is returned.
    pub fn compared_runs(&self, run: &Run) -> Vec<Option<RunId>> {
        let side_by_side = self.comparison.as_ref().is_some_and(Comparison::is_paired);
        match run.pair.filter(|_| side_by_side) {
            Some(pair) => vec![Some(pair.partner)],
            None => self.reference.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{
        ITERATIONS, PLAN, flat_process, key, measurement, run, undecided,
    };
    use crate::compare::{Decision, Estimate, Extent, PairedDecision};
    use crate::model::{Failure, Nanos, Pair};

    /// Creates the twenty processes of one side. They differ by up to 2 %, in an order that `order` sets.
    fn side(factor: f64, order: u32) -> Measurement {
        let process = |k: u32| {
            let process = f64::from(k * order % 20) * 0.001;
            let times: Vec<f64> = (0..30)
                .map(|i| 100.0 * factor * (1.0 + process + 1e-5 * f64::from(i)))
                .collect();
            flat_process(k, ITERATIONS, &times)
        };
        measurement((0..20).map(process).collect())
    }

    #[test]
    fn what_more_rounds_would_take_is_told_at_the_pace_of_those_before() {
        let (base, candidate) = ([side(1.0, 7)], [side(1.007, 3)]);
        let key = &candidate[0].benchmark.key;
        let cost = RoundsCost {
            seconds: 60.0,
            ran_out_of_time: true,
        };
        let evidence = PairedEvidence {
            runs: BySide {
                base: RunId(1),
                candidate: RunId(2),
            },
            earlier: &BTreeMap::new(),
            base: &base,
            candidate: &candidate,
            plan: &Plan {
                looks: vec![20],
                ..PLAN
            },
            decision: &DecisionSettings {
                resamples: 1_000,
                ..DecisionSettings::default()
            },
            noise_threshold: Some(0.01),
            settled: &[],
            cost: Some(&[(key.clone(), cost)].into()),
            reference: "run 1",
            host: HostClass::Shared,
        };
        let rows = evidence.rows();
        assert_eq!(rows[0].verdict, Some(Verdict::Inconclusive));
        assert_eq!(rows[0].seconds, Some(60.0));
        assert_eq!(rows[0].reference, [Some(RunId(1))]);
        let comparison = rows[0].comparison.as_ref().expect("both were measured");
        let needed = comparison.look().expect("a look").rounds_needed;
        let remark = BenchmarkNote::Undecided {
            rounds: needed,
            // Twenty rounds took a minute, so each takes three seconds.
            seconds: Some(needed.expect("a number") as f64 * 3.0),
            ran_out_of_time: true,
            noise_threshold: comparison.sufficient_threshold(),
        };
        assert_eq!(rows[0].remarks, [remark]);
    }

    #[test]
    fn a_remark_says_what_settles_a_comparison_more_rounds_or_a_higher_threshold() {
        let (base, candidate) = ([side(1.0, 7)], [side(1.007, 3)]);
        let evidence = PairedEvidence {
            runs: BySide {
                base: RunId(1),
                candidate: RunId(2),
            },
            earlier: &BTreeMap::new(),
            base: &base,
            candidate: &candidate,
            plan: &Plan {
                looks: vec![20],
                ..PLAN
            },
            decision: &DecisionSettings {
                resamples: 1_000,
                ..DecisionSettings::default()
            },
            noise_threshold: Some(0.01),
            settled: &[],
            cost: None,
            reference: "run 1",
            host: HostClass::Shared,
        };
        let found = evidence.rows().remove(0).comparison.expect("measured");
        let remark = |rounds_needed, change: Option<Estimate>| {
            let decision = PairedDecision {
                rounds_needed,
                ..*found.look().expect("a look")
            };
            let comparison = Comparison {
                basis: Decision::Look(decision),
                change,
                ..found.clone()
            };
            let remark = evidence.undecided_remark(&key("b"), &comparison)?;
            let BenchmarkNote::Undecided {
                rounds,
                seconds: None,
                ran_out_of_time: false,
                noise_threshold,
            } = remark
            else {
                panic!("{remark:?}");
            };
            Some((rounds, noise_threshold))
        };
        let wide = Some(Estimate {
            estimate: 0.005,
            lower: -0.02,
            upper: 0.02,
        });
        let threshold = Comparison {
            change: wide,
            ..found.clone()
        }
        .sufficient_threshold();
        assert!(threshold.is_some());
        assert_eq!(remark(Some(40), wide), Some((Some(40), threshold)));
        assert_eq!(remark(Some(40), None), Some((Some(40), None)));
        assert_eq!(remark(None, wide), Some((None, threshold)));
        assert_eq!(remark(None, None), None);
    }

    #[test]
    fn what_is_inconclusive_looks_slower_if_the_change_is_beyond_its_uncertainty() {
        let looks_slower = |factor| {
            let (base, candidate) = ([side(1.0, 7)], [side(factor, 3)]);
            let evidence = PairedEvidence {
                runs: BySide {
                    base: RunId(1),
                    candidate: RunId(2),
                },
                earlier: &[(candidate[0].benchmark.key.clone(), RunId(9))].into(),
                base: &base,
                candidate: &candidate,
                plan: &Plan {
                    looks: vec![20],
                    ..PLAN
                },
                decision: &DecisionSettings {
                    resamples: 1_000,
                    ..DecisionSettings::default()
                },
                noise_threshold: Some(0.01),
                settled: &[],
                cost: None,
                reference: "run 9",
                host: HostClass::Shared,
            };
            let row = evidence.rows().remove(0);
            // The reference is the earlier run whose build was the base.
            assert_eq!(row.reference, [Some(RunId(9))]);
            let with_verdict = |verdict| Row {
                verdict: Some(verdict),
                ..row.clone()
            };
            let verdicts = [Verdict::Regressed, Verdict::Inconclusive, Verdict::Improved];
            verdicts.map(|verdict| with_verdict(verdict).looks_slower())
        };
        assert_eq!(looks_slower(1.1), [true, true, false]);
        assert_eq!(looks_slower(1.0), [true, false, false]);
    }

    #[test]
    fn processes_that_are_not_bound_use_several_processors_from_a_third_more_on() {
        // For each process: CPU time in ns during 10 ns of work, and whether the process was pinned to one processor.
        let processors = |of_processes: &[(u64, bool)]| {
            let processes = (0..).zip(of_processes).map(|(k, (cpu, is_bound))| {
                let mut process = flat_process(k, ITERATIONS, &[100.0]);
                process.conduct = Some(ProcessUsage {
                    threads: 1,
                    cpu: Nanos(*cpu),
                    working_time: Nanos(10),
                    processor: is_bound.then_some(0),
                    ..ProcessUsage::default()
                });
                process
            });
            match note_several_processors(&measurement(processes.collect())) {
                Some(Note::SeveralProcessors { processors }) => Some(processors),
                _ => None,
            }
        };
        assert_eq!(processors(&[(20, false), (40, false)]), Some(3.0));
        assert_eq!(processors(&[(13, false)]), Some(1.3));
        assert_eq!(processors(&[(12, false)]), None);
        assert_eq!(processors(&[(20, false), (10, true)]), None);
        assert_eq!(
            processors(&[(20, false), (10, true), (20, false)]),
            Some(2.0)
        );
        assert_eq!(processors(&[]), None);
    }

    #[test]
    fn processes_that_did_no_work_tell_nothing_about_processors() {
        let mut process = flat_process(0, ITERATIONS, &[100.0]);
        process.conduct = Some(ProcessUsage {
            threads: 1,
            cpu: Nanos(20),
            ..ProcessUsage::default()
        });
        let idle = measurement(vec![process]);
        assert_eq!(note_several_processors(&idle), None);
    }

    #[test]
    fn only_what_is_inconclusive_is_explained_by_several_processors() {
        let notes = |factor| {
            let [base, mut candidate] = [side(1.0, 7), side(factor, 3)];
            for process in &mut candidate.processes {
                process.conduct = Some(ProcessUsage {
                    threads: 2,
                    cpu: Nanos(20),
                    working_time: Nanos(10),
                    ..ProcessUsage::default()
                });
            }
            let evidence = PairedEvidence {
                runs: BySide {
                    base: RunId(1),
                    candidate: RunId(2),
                },
                earlier: &BTreeMap::new(),
                base: &[base],
                candidate: &[candidate],
                plan: &Plan {
                    looks: vec![20],
                    ..PLAN
                },
                decision: &DecisionSettings {
                    resamples: 1_000,
                    ..DecisionSettings::default()
                },
                noise_threshold: Some(0.01),
                settled: &[],
                cost: None,
                reference: "run 1",
                host: HostClass::Shared,
            };
            let row = evidence.rows().remove(0);
            let comparison = row.comparison.expect("both were measured");
            let note = Note::SeveralProcessors { processors: 2.0 };
            (comparison.verdict, comparison.notes.contains(&note))
        };
        assert_eq!(notes(1.007), (Verdict::Inconclusive, true));
        assert_eq!(notes(1.2), (Verdict::Regressed, false));
    }

    #[test]
    fn only_failures_of_the_base_alone_leave_a_benchmark_new() {
        let failed = |sides: &[Side]| {
            let failures = sides.iter().map(|side| Failure {
                process: 0,
                side: *side,
                message: "it died".to_owned(),
            });
            base_failed(&Measurement {
                failures: failures.collect(),
                ..measurement(Vec::new())
            })
        };
        assert!(failed(&[Side::Base]) && failed(&[Side::Base, Side::Base]));
        assert!(!failed(&[]) && !failed(&[Side::Base, Side::Candidate]));
    }

    #[test]
    fn a_row_looks_slower_that_is_called_or_suspected_so() {
        let looks = |verdict| {
            let key = measurement(Vec::new()).benchmark.key;
            Row::unmeasured(key, verdict, None).looks_slower()
        };
        assert!(looks(Verdict::Regressed) && looks(Verdict::Suspect));
        assert!(!looks(Verdict::Improved) && !looks(Verdict::Unchanged));
        assert!(!looks(Verdict::Inconclusive), "nothing was compared");
    }

    #[test]
    fn a_verdict_after_a_failure_needs_five_complete_rounds() {
        let found = |rounds: usize, failed: Option<Side>| {
            let [mut base, mut candidate] = [side(1.0, 7), side(1.2, 3)];
            base.processes.truncate(rounds);
            candidate.processes.truncate(rounds);
            candidate.failures.extend(failed.map(|side| Failure {
                process: rounds as u32,
                side,
                message: "it died".to_owned(),
            }));
            let evidence = PairedEvidence {
                runs: BySide {
                    base: RunId(1),
                    candidate: RunId(2),
                },
                earlier: &BTreeMap::new(),
                base: &[base],
                candidate: &[candidate],
                plan: &Plan {
                    looks: vec![20],
                    ..PLAN
                },
                decision: &DecisionSettings::default(),
                noise_threshold: Some(0.01),
                settled: &[],
                cost: None,
                reference: "run 1",
                host: HostClass::Shared,
            };
            let row = evidence.rows().remove(0);
            let judged = row.comparison.expect("both were measured").verdict;
            (row.verdict.expect("a verdict"), judged)
        };
        let few = Plan::FEWEST_ROUNDS as usize - 1;
        for (rounds, failed) in [
            (few, None),
            (few + 1, Some(Side::Candidate)),
            (few + 1, Some(Side::Base)),
            (few + 2, Some(Side::Candidate)),
        ] {
            let (verdict, judged) = found(rounds, failed);
            assert_eq!(verdict, judged, "{rounds} {failed:?}");
        }
        assert_eq!(found(few, Some(Side::Candidate)).0, Verdict::Failed);
        assert_eq!(found(few, Some(Side::Base)).0, Verdict::New);
    }

    #[test]
    fn a_row_was_compared_with_the_other_run_of_its_pair_or_with_its_reference() {
        let run = |pair: Option<Pair>| Run { pair, ..run() };
        let partner = RunId(7);
        let side = Side::Candidate;
        let (alone, paired) = (run(None), run(Some(Pair { partner, side })));
        let row = |extent: Option<Extent>| Row {
            reference: vec![Some(RunId(5)), None, Some(RunId(3))],
            comparison: extent.map(|extent| Comparison {
                extent,
                ..undecided()
            }),
            ..Row::unmeasured(key("b"), Verdict::New, None)
        };
        let side_by_side = row(Some(Extent::SideBySide {
            rounds: 5,
            stopped_early: false,
            layouts: 0,
        }));
        let stored = row(Some(Extent::Runs {
            processes_candidate: 5,
            processes_base: 15,
            averaged: 3,
            spread: 3,
        }));
        assert_eq!(side_by_side.compared_runs(&paired), [Some(partner)]);
        assert_eq!(side_by_side.sides(&paired).base, Some(partner));
        // The candidate of a pair may be compared with stored runs, too.
        let reference = [Some(RunId(5)), None, Some(RunId(3))];
        for (row, run) in [
            (&side_by_side, &alone),
            (&stored, &paired),
            (&row(None), &paired),
        ] {
            assert_eq!(row.compared_runs(run), reference);
            let sides = row.sides(run);
            assert_eq!(
                (sides.base, sides.candidate),
                (Some(RunId(5)), Some(RunId(8)))
            );
        }
        let new = Row::unmeasured(stored.key.clone(), Verdict::New, None);
        assert_eq!(new.compared_runs(&alone), []);
        assert_eq!(new.sides(&alone).base, None);
    }
}
