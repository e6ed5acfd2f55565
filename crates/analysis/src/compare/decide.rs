//! Answers questions about stored runs by the project's own procedure. A question asks whether one benchmark of a run is slower or faster than its
//! reference by more than the noise threshold.
//!
//! All questions are answered together, because the probability of a false result is limited for all of them together: by Holm's procedure or another
//! [`Correction`](crate::model::Correction). Slowdowns and speedups are corrected separately, each at the whole level. Invariant: the bounds of a
//! change are at the level at which its question was decided, so verdict and interval never disagree.

use super::{alternative, disturbance};
use crate::model::{WorkStage, map_with_progress};
use rayon::prelude::*;

use super::comparison::{
    ByDirection, Comparison, Decision, Extent, FamilyTest, Prediction, StoredDecision, TScoreResult,
};
use super::description::ChangeDescription;
use super::estimate::{ChangeBounds, Estimate};
use super::note::{Note, note_widest_gap};
use super::process_values::{
    Location, MIN_SAMPLES_FOR_LOW_QUANTILE, ProcessTimes, RunTimes, first_samples, has_samples,
    shortest_usable_sample_ns,
};
use super::question::{Question, TestPolicy};
use super::run_level::{RunLevel, RunValue, RunValues};
use crate::model::{BySide, MIN_PROCESSES, Measurement, ProgressReporter, Side, Test, Verdict};
use perfcheck_stats::{Resampling, Stream, TScore, derived_seed, mean, median};

/// Answers all `questions`, in the same order. They must be given together, because their p-values are adjusted for the number of questions.
///
/// All random numbers come from the seed in `rules`, so the same input gives the same bytes for any number of threads.
pub fn compare(questions: &[Question<'_>], rules: &TestPolicy) -> Vec<Comparison> {
    compare_with_progress(
        questions,
        rules,
        WorkStage::whole(questions.len()),
        &ProgressReporter::silent(),
    )
}

/// Like [`compare`], but reports to `progress`, which counts each question as one part of the work.
pub fn compare_with_progress(
    questions: &[Question<'_>],
    rules: &TestPolicy,
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
) -> Vec<Comparison> {
    let analysis = &rules.decision.analysis;
    let mut comparisons = match rules.test() {
        Test::BootstrapT | Test::TScore => {
            compare_by_project_test(questions, rules, stage, progress)
        }
        _ => alternative::compare(questions, rules, stage, progress),
    };
    comparisons
        .par_iter_mut()
        .zip(questions)
        .for_each(|(comparison, question)| {
            let thresholds = &rules.decision.thresholds;
            let notes = disturbance::disturbance_notes(question, comparison, thresholds);
            comparison.notes.extend(notes);
            comparison.description.effects = alternative::compute_effects(question, rules);
            comparison.description.centers = alternative::compute_centers(question, rules);
        });
    Comparison::judge_by_metric(&mut comparisons, analysis.subject, &rules.decision);
    comparisons
}

/// Decides by the project's own procedure for stored runs. It has two tests: a prediction interval that allows for drift between runs, and the
/// t-score. For `Test::TScore`, only the t-score decides.
fn compare_by_project_test(
    questions: &[Question<'_>],
    rules: &TestPolicy,
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
) -> Vec<Comparison> {
    let evidence = map_with_progress(questions, stage, progress, |question| {
        QuestionEvidence::from_question(question, rules)
    });
    let run_level = test_family(&evidence, rules, |tests, threshold| {
        let test = &tests.run_level;
        Some(ByDirection {
            slower: test.p_greater(threshold),
            faster: test.p_less(threshold),
        })
    });
    let t_score = test_family(&evidence, rules, |tests, threshold| {
        let score = tests.t_score.as_ref()?;
        // If a run is faster on average but not at its floor, it was only disturbed less. Its code is not faster.
        let floor_is_faster = tests.run_level.difference < -threshold;
        Some(ByDirection {
            slower: score.p_greater,
            faster: if floor_is_faster { score.p_less } else { 1.0 },
        })
    });
    evidence
        .into_iter()
        .zip(questions)
        .zip(run_level.iter().zip(&t_score))
        .map(|((evidence, question), (run_level, t_score))| {
            build_comparison(evidence, question, rules, run_level, t_score)
        })
        .collect()
}

/// Computes the p-values of one test for all questions and adjusts them for the number of questions. `p` returns the p-values of a question in both
/// directions. A question that cannot be tested counts with p-values of 1.
fn test_family(
    evidence: &[QuestionEvidence],
    rules: &TestPolicy,
    p: impl Fn(&QuestionTests, f64) -> Option<ByDirection>,
) -> Vec<FamilyTest> {
    let all: Vec<ByDirection> = evidence
        .iter()
        .map(|one| {
            let tests = one.tests.as_ref().ok();
            tests
                .and_then(|tests| p(tests, one.threshold))
                .unwrap_or(ByDirection::ONE)
        })
        .collect();
    let decision = &rules.decision;
    FamilyTest::test_all(
        &all,
        decision.significance_level,
        decision.analysis.correction,
    )
}

/// A difference of logarithms with its bounds.
#[derive(Clone, Copy)]
struct Bounds {
    /// The logarithm of the reference value.
    base: f64,
    difference: f64,
    lower: f64,
    upper: f64,
}

impl Bounds {
    /// Computes the bounds of the change of the mean over processes, from the t-score. The upper bound is at least the difference of the run values,
    /// so an improvement must show both in the t-score and in the run values.
    fn from_t_score(tests: &QuestionTests, score: &TScore, test: &FamilyTest) -> Self {
        Self {
            base: tests.t_score_base,
            difference: score.difference,
            lower: score.lower_bound(test.step_level.slower),
            upper: score
                .upper_bound(test.step_level.faster)
                .max(tests.run_level.difference),
        }
    }

    fn from_run_level(tests: &QuestionTests, test: &FamilyTest) -> Self {
        let level = &tests.run_level;
        if tests.identical {
            // All process values of both sides are equal. That would hardly happen if the runs had drifted, so no margin for drift is needed.
            return Self {
                base: level.base,
                difference: 0.0,
                lower: 0.0,
                upper: 0.0,
            };
        }
        Self {
            base: level.base,
            difference: level.difference,
            lower: level.difference - level.margin(test.step_level.slower),
            upper: level.difference + level.margin(test.step_level.faster),
        }
    }

    fn verdict(self, threshold: f64) -> Verdict {
        let Self { lower, upper, .. } = self;
        ChangeBounds { lower, upper }.judge(threshold)
    }

    fn change(self) -> Estimate {
        Estimate::from_logarithms(self.difference, self.lower, self.upper)
    }
}

/// The decision about a question that could be tested.
struct BoundedVerdict {
    verdict: Verdict,
    bounds: Bounds,
    p_value: f64,
    /// How far a slowdown must lie beyond the noise threshold before the verdict can be `regressed`, as a difference of logarithms.
    margin: f64,
}

fn build_comparison(
    evidence: QuestionEvidence,
    question: &Question<'_>,
    rules: &TestPolicy,
    run_level: &FamilyTest,
    t_score: &FamilyTest,
) -> Comparison {
    let QuestionEvidence {
        threshold,
        tests,
        extent,
        mut notes,
    } = evidence;
    let mut comparison = Comparison::undecided(question.noise_threshold, extent);
    match tests {
        Err(verdict) => comparison.verdict = verdict,
        Ok(tests) => {
            note_resolution(&tests, rules, t_score, &mut notes);
            let of_runs = rules.test() == Test::BootstrapT;
            let decision = if of_runs {
                Some(decide_by_runs(
                    &tests, threshold, run_level, t_score, &mut notes,
                ))
            } else {
                tests
                    .t_score
                    .as_ref()
                    .map(|score| decide_by_t_score(&tests, score, threshold, t_score))
            };
            comparison.basis = Decision::Runs(build_decision(&tests, of_runs, run_level, t_score));
            if let Some(decision) = decision {
                comparison.verdict = decision.verdict;
                let bounds = decision.bounds;
                comparison.set_change(bounds.base.exp(), Some(bounds.change()));
                comparison.p_value = Some(decision.p_value);
                comparison.smallest_callable = Some((threshold + decision.margin).exp_m1());
            }
            comparison.description = tests.description;
        }
    }
    comparison.notes = notes;
    comparison.with_stored_extras(question, rules)
}

fn build_decision(
    tests: &QuestionTests,
    of_runs: bool,
    run_level: &FamilyTest,
    t_score: &FamilyTest,
) -> StoredDecision {
    StoredDecision {
        location: tests.location,
        run_sd: tests.run_level.run_sd,
        test: *if of_runs { run_level } else { t_score },
        prediction: of_runs.then_some(Prediction {
            standard_error: tests.run_level.standard_error,
            degrees_of_freedom: tests.run_level.df,
        }),
        t_score: tests.t_score.as_ref().map(|score| TScoreResult {
            change: Bounds::from_t_score(tests, score, t_score).change(),
            test: *t_score,
        }),
    }
}

fn decide_by_t_score(
    tests: &QuestionTests,
    score: &TScore,
    threshold: f64,
    test: &FamilyTest,
) -> BoundedVerdict {
    let bounds = Bounds::from_t_score(tests, score, test);
    BoundedVerdict {
        verdict: bounds.verdict(threshold),
        bounds,
        p_value: test.adjusted.in_direction_of(score.difference),
        margin: bounds.difference - bounds.lower,
    }
}

fn decide_by_runs(
    tests: &QuestionTests,
    threshold: f64,
    run_level: &FamilyTest,
    t_score: &FamilyTest,
    notes: &mut Vec<Note>,
) -> BoundedVerdict {
    let bounds = Bounds::from_run_level(tests, run_level);
    let mut verdict = bounds.verdict(threshold);
    let seen = tests
        .t_score
        .as_ref()
        .map(|score| Bounds::from_t_score(tests, score, t_score).verdict(threshold));
    match (verdict, seen) {
        (Verdict::Inconclusive | Verdict::Unchanged, Some(Verdict::Regressed)) => {
            verdict = Verdict::Suspect;
            if let Some(score) = tests
                .t_score
                .as_ref()
                .filter(|_| bounds.difference <= threshold)
            {
                let change = score.difference.exp_m1();
                notes.push(Note::SlowerButForTheFastest { change });
            }
        }
        (Verdict::Inconclusive | Verdict::Unchanged, Some(Verdict::Improved)) => {
            verdict = Verdict::Inconclusive;
            notes.push(Note::FasterByTScoreOnly);
        }
        _ => {}
    }
    let is_change = matches!(verdict, Verdict::Regressed | Verdict::Improved);
    let is_withheld = is_change && bounds.verdict(threshold + tests.withheld_change) != verdict;
    if tests.is_of_lone_processes || is_withheld {
        verdict = Verdict::Inconclusive;
    }
    BoundedVerdict {
        verdict,
        bounds,
        p_value: if tests.identical {
            1.0
        } else {
            run_level.adjusted.in_direction_of(bounds.difference)
        },
        margin: tests.run_level.margin(run_level.step_level.slower),
    }
}

/// Adds a note if there are too few resamples for the t-score to show a change. Its smallest possible p-value is 1 / (resamples + 1). If many
/// benchmarks share the significance level, this may not be small enough.
fn note_resolution(
    tests: &QuestionTests,
    rules: &TestPolicy,
    test: &FamilyTest,
    notes: &mut Vec<Note>,
) {
    let Some(score) = &tests.t_score else { return };
    let level = test.step_level.slower.min(test.step_level.faster);
    if level * ((score.kept + 1) as f64) < 1.0 && rules.decision.significance_level > 0.0 {
        notes.push(Note::TooFewResamples {
            needed: (1.0 / level).ceil() as u64,
        });
    }
}

/// The results of the tests of one question.
pub(super) struct QuestionTests {
    pub location: Location,
    pub run_level: RunLevel,
    pub t_score: Option<TScore>,
    /// The reference value of the t-score: the mean logarithm of the base's process values, or of its samples if a side has fewer than two processes.
    pub t_score_base: f64,
    pub description: ChangeDescription,
    /// Whether all process values of both sides are equal.
    pub identical: bool,
    /// Whether there are only two processes in all, one of each side, and both were timed by a clock. Then no run shows how much processes differ.
    pub is_of_lone_processes: bool,
    /// How far a change must lie beyond the noise threshold before it is reported, as a difference of logarithms. It is above 0 only if the fastest
    /// processes of a side disagree.
    pub withheld_change: f64,
}

/// The test results of one question, with the other parts of a comparison.
pub(super) struct QuestionEvidence {
    /// The noise threshold as a logarithm: ln(1 + threshold).
    pub threshold: f64,
    /// The tests, or the verdict of a question that cannot be tested.
    pub tests: Result<QuestionTests, Verdict>,
    pub extent: Extent,
    pub notes: Vec<Note>,
}

/// The usable samples of the candidate and of the runs that it is compared with.
struct Sides {
    candidate: RunTimes,
    averaged: Vec<RunTimes>,
    spread: Vec<SpreadRun>,
    /// Runs of earlier levels of the history, one list for each level. They also show how much runs drift.
    earlier: Vec<Vec<RunTimes>>,
}

/// A run from which the drift between runs is estimated.
enum SpreadRun {
    /// A run that is in [`Sides::averaged`], by its index there.
    Averaged(usize),
    /// A run that is not in [`Sides::averaged`].
    Other(RunTimes),
}

impl QuestionEvidence {
    /// Computes the tests of `question`.
    pub(super) fn from_question(question: &Question<'_>, rules: &TestPolicy) -> Self {
        let sides = Sides::from_question(question);
        let mut notes = Vec::new();
        let tests = match find_refusal(question, &sides, &mut notes) {
            Some(verdict) => Err(verdict),
            None => sides
                .run_tests(question, rules, &mut notes)
                .ok_or(Verdict::Inconclusive),
        };
        Self {
            threshold: question.noise_threshold.ln_1p(),
            tests,
            extent: Extent::Runs {
                processes_candidate: sides.candidate.processes.len(),
                processes_base: sides.averaged.iter().map(|run| run.processes.len()).sum(),
                averaged: sides.averaged.len(),
                spread: sides.spread.len() + sides.earlier.iter().map(Vec::len).sum::<usize>(),
            },
            notes,
        }
    }
}

/// Checks whether a question can be tested. If it cannot, returns its verdict and adds notes about what is missing.
fn find_refusal(question: &Question<'_>, sides: &Sides, notes: &mut Vec<Note>) -> Option<Verdict> {
    let good = question
        .candidate
        .processes
        .iter()
        .filter(|process| has_samples(process))
        .count();
    if let Some(verdict) = question.failure_verdict(good, notes) {
        return Some(verdict);
    }
    let candidate_is_short = sides.candidate.processes.is_empty();
    if candidate_is_short {
        notes.push(Note::SamplesTooShort {
            side: Side::Candidate,
            needed_ns: shortest_usable_sample_ns(question.candidate),
        });
    }
    if sides.averaged.is_empty() {
        notes.push(note_missing_base(&question.reference.averaged));
    }
    (candidate_is_short || sides.averaged.is_empty()).then_some(Verdict::Inconclusive)
}

fn note_missing_base(runs: &[&Measurement]) -> Note {
    let has_any = runs.iter().any(|run| run.processes.iter().any(has_samples));
    if has_any {
        let needed_ns = runs
            .iter()
            .map(|run| shortest_usable_sample_ns(run))
            .fold(0.0, f64::max);
        Note::SamplesTooShort {
            side: Side::Base,
            needed_ns,
        }
    } else {
        Note::NoSamples { side: Side::Base }
    }
}

impl Sides {
    fn from_question(question: &Question<'_>) -> Self {
        let usable =
            |run: &Measurement| Some(RunTimes::from_measurement(run)).filter(RunTimes::takes_time);
        let reference = question.reference;
        let (runs, averaged): (Vec<&Measurement>, Vec<RunTimes>) = reference
            .averaged
            .iter()
            .filter_map(|run| Some((*run, usable(run)?)))
            .unzip();
        let spread = reference.spread.iter().filter_map(|run| {
            let place = runs.iter().position(|known| std::ptr::eq(*known, *run));
            place
                .map(SpreadRun::Averaged)
                .or_else(|| usable(run).map(SpreadRun::Other))
        });
        Self {
            candidate: RunTimes::from_measurement(question.candidate),
            spread: spread.collect(),
            earlier: (reference.earlier.iter())
                .map(|level| level.iter().filter_map(|run| usable(run)).collect())
                .collect(),
            averaged,
        }
    }

    fn run_tests(
        &self,
        question: &Question<'_>,
        rules: &TestPolicy,
        notes: &mut Vec<Note>,
    ) -> Option<QuestionTests> {
        let count = self
            .compared_runs()
            .filter_map(RunTimes::fewest_samples)
            .min()?;
        let location = self.choose_location(count, notes);
        self.note_processes(notes);
        self.note_left_out(notes);
        self.note_lengths(notes);
        let values = |run: &RunTimes| RunValues {
            processes: run.values(location, count),
        };
        let candidate = values(&self.candidate);
        let averaged: Vec<RunValues> = self.averaged.iter().map(values).collect();
        let spread: Vec<RunValues> = self
            .spread
            .iter()
            .map(|run| match run {
                SpreadRun::Averaged(place) => averaged[*place].clone(),
                SpreadRun::Other(run) => values(run),
            })
            .collect();
        let earlier: Vec<Vec<RunValues>> = (self.earlier.iter())
            .map(|level| level.iter().map(values).collect())
            .collect();
        let kind = location.run_value();
        let run_level =
            RunLevel::estimate(&candidate, &averaged, &spread, &earlier, kind, rules.host)?;
        let base: Vec<f64> = averaged.into_iter().flat_map(|run| run.processes).collect();
        let withholding = match kind {
            RunValue::Floor => note_widest_gap(BySide {
                base: &base[..],
                candidate: &candidate.processes,
            }),
            RunValue::Mean => None,
        };
        let lone_floor = withholding.or(run_level.lone_floor.map(|floor| Note::LoneFloor {
            side: floor.side,
            gap: floor.gap.exp_m1(),
        }));
        let withheld_change = lone_floor.as_ref().map_or(0.0, Note::withheld_change);
        notes.extend(lone_floor);
        let identical = base
            .iter()
            .chain(&candidate.processes)
            .all(|value| *value == base[0]);
        let is_of_lone_processes = self.has_lone_processes();
        if is_of_lone_processes {
            notes.push(Note::LoneProcesses);
        }
        let random = Random::for_question(question, rules);
        let units = if candidate.processes.len() < 2 || base.len() < 2 {
            notes.push(Note::SamplesAsUnits);
            (self.candidate_samples(count), self.base_samples(count))
        } else {
            (candidate.processes, base)
        };
        let t_score = TScore::test(
            &units.0,
            &units.1,
            question.noise_threshold.ln_1p(),
            self.resolution(),
            rules.decision.significance_level,
            random.resampling("t-score"),
        );
        match &t_score {
            None => notes.push(Note::NoTScore),
            Some(score) if score.is_constant() => notes.push(Note::NoVariance),
            Some(_) => {}
        }
        Some(QuestionTests {
            location,
            run_level,
            t_score,
            t_score_base: mean(&units.1).unwrap_or(f64::NAN),
            description: ChangeDescription::from_stored_runs(question, rules),
            identical,
            is_of_lone_processes,
            withheld_change,
        })
    }

    /// Returns true if there are only two processes in all, one of each side, and both were timed by a clock. Then no run shows how much processes
    /// differ.
    fn has_lone_processes(&self) -> bool {
        let others = self.spread.iter().filter_map(|run| match run {
            SpreadRun::Averaged(_) => None,
            SpreadRun::Other(run) => Some(run),
        });
        let runs = self
            .compared_runs()
            .chain(others)
            .chain(self.earlier.iter().flatten());
        let processes: Vec<&ProcessTimes> = runs.flat_map(|run| &run.processes).collect();
        processes.len() == 2 && processes.iter().all(|process| process.quantum_ns > 0.0)
    }

    /// Yields the candidate and the reference runs that are averaged.
    fn compared_runs(&self) -> impl Iterator<Item = &RunTimes> {
        self.averaged.iter().chain([&self.candidate])
    }

    /// Chooses which statistic stands for the samples of a process. `count` is the number of samples of each process that are used.
    fn choose_location(&self, count: usize, notes: &mut Vec<Note>) -> Location {
        let base: usize = self.averaged.iter().map(|run| run.processes.len()).sum();
        let samples = count * base.min(self.candidate.processes.len());
        let mut processes = self.compared_runs().flat_map(|run| &run.processes);
        if processes.any(|process| process.from_ramp) {
            notes.push(Note::MedianOfRamp);
            Location::Median
        } else if samples < MIN_SAMPLES_FOR_LOW_QUANTILE {
            notes.push(Note::MedianOfFewSamples { samples });
            Location::Median
        } else {
            Location::LowQuantile
        }
    }

    fn note_processes(&self, notes: &mut Vec<Note>) {
        let base = self.averaged.iter().map(|run| run.processes.len()).sum();
        for (side, processes) in [
            (Side::Candidate, self.candidate.processes.len()),
            (Side::Base, base),
        ] {
            if processes < MIN_PROCESSES {
                notes.push(Note::FewProcesses { side, processes });
            }
        }
    }

    fn note_left_out(&self, notes: &mut Vec<Note>) {
        let sides = [
            (Side::Candidate, std::slice::from_ref(&self.candidate)),
            (Side::Base, &self.averaged[..]),
        ];
        for (side, runs) in sides {
            let left_out = runs.iter().map(|run| run.left_out).sum();
            if left_out > 0 {
                notes.push(Note::ProcessesLeftOut {
                    side,
                    left_out,
                    used: processes(runs).count(),
                });
            }
        }
    }

    fn note_lengths(&self, notes: &mut Vec<Note>) {
        // Values that no clock timed are stored as fractions: `elapsed` holds only the numerator. Such samples have no length that could be compared.
        if self
            .compared_runs()
            .flat_map(|run| &run.processes)
            .any(|process| process.quantum_ns == 0.0)
        {
            return;
        }
        let typical = |runs: &[RunTimes]| {
            let lengths: Vec<f64> = processes(runs).map(|process| process.sample_ns).collect();
            median(&lengths)
        };
        let candidate = typical(std::slice::from_ref(&self.candidate));
        if let (Some(candidate), Some(base)) = (candidate, typical(&self.averaged)) {
            let ratio = (candidate / base).max(base / candidate);
            if ratio > MAX_LENGTH_RATIO {
                notes.push(Note::SampleLengthsDiffer { ratio });
            }
        }
    }

    /// Returns the smallest relative difference that the clock can show in a typical sample. If it differs between processes, the largest one is
    /// returned.
    fn resolution(&self) -> f64 {
        self.compared_runs()
            .flat_map(|run| &run.processes)
            .map(|process| process.quantum_ns / process.sample_ns)
            .fold(0.0, f64::max)
    }

    fn candidate_samples(&self, count: usize) -> Vec<f64> {
        sample_logarithms(std::slice::from_ref(&self.candidate), count)
    }

    fn base_samples(&self, count: usize) -> Vec<f64> {
        sample_logarithms(&self.averaged, count)
    }
}

/// If one side's samples are longer than the other's by more than this factor, the reader gets a note.
const MAX_LENGTH_RATIO: f64 = 4.0;

fn processes(runs: &[RunTimes]) -> impl Iterator<Item = &ProcessTimes> {
    runs.iter().flat_map(|run| &run.processes)
}

fn sample_logarithms(runs: &[RunTimes], count: usize) -> Vec<f64> {
    processes(runs)
        .flat_map(|process| first_samples(&process.times, count))
        .map(|time| time.ln())
        .collect()
}

/// Gives each benchmark its own random numbers, so that they do not depend on the other benchmarks.
struct Random {
    seed: u64,
    resamples: usize,
}

impl Random {
    fn for_question(question: &Question<'_>, rules: &TestPolicy) -> Self {
        let name = question.candidate.benchmark.key.to_string();
        Self {
            seed: derived_seed(rules.seed, &name),
            resamples: rules.decision.resamples as usize,
        }
    }

    fn resampling<'a>(&self, name: &'a str) -> Resampling<'a> {
        Resampling {
            resamples: self.resamples,
            stream: Stream {
                seed: self.seed,
                name,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_must_lie_wholly_and_strictly_beyond_the_threshold() {
        let verdict = |lower, upper| {
            Bounds {
                base: 0.0,
                difference: 0.0,
                lower,
                upper,
            }
            .verdict(0.01)
        };
        assert_eq!(verdict(0.011, 0.02), Verdict::Regressed);
        assert_eq!(verdict(0.01, 0.02), Verdict::Inconclusive);
        assert_eq!(verdict(0.004, 0.018), Verdict::Inconclusive);
        assert_eq!(verdict(-0.02, -0.012), Verdict::Improved);
        assert_eq!(verdict(-0.02, -0.01), Verdict::Inconclusive);
        assert_eq!(verdict(-0.01, 0.01), Verdict::Unchanged);
        assert_eq!(verdict(-0.011, 0.005), Verdict::Inconclusive);
        assert_eq!(verdict(0.004, 0.009), Verdict::Unchanged);
        assert_eq!(
            verdict(f64::NEG_INFINITY, f64::INFINITY),
            Verdict::Inconclusive
        );
    }
}
