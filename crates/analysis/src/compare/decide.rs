//! The decision about a family of questions on stored runs.
//!
//! Two families are tested, worsening and improvement, each at the whole level, by Holm's procedure or another
//! [`Correction`](crate::model::Correction). A question's bounds are taken at the level of the step at which it was decided, so verdict and interval
//! never disagree.

use rayon::prelude::*;

use super::alternative;
use super::comparison::{Comparison, Decision};
use super::disturbance;
use super::each::map_with_progress;
use super::estimate::Estimate;
use super::evidence::{QuestionEvidence, QuestionTests};
use super::grounds::{ByDirection, FamilyTest, Prediction, StoredDecision, TScoreResult};
use super::note::Note;
use super::question::{Question, TestPolicy};
use crate::model::{ProgressReporter, Test, Verdict};
use perfcheck_stats::TScore;

/// Decides all `questions` as one family; the answers come in the same order.
///
/// Pure and seeded: the same input gives the same bytes for any number of threads.
pub fn compare(questions: &[Question<'_>], rules: &TestPolicy) -> Vec<Comparison> {
    compare_with_progress(
        questions,
        rules,
        (0, questions.len()),
        &ProgressReporter::silent(),
    )
}

/// Like [`compare`], but reports progress to `told`: `parts` holds the index of the first question's part and the number of parts of the whole work.
pub fn compare_with_progress(
    questions: &[Question<'_>],
    rules: &TestPolicy,
    parts: (usize, usize),
    told: &ProgressReporter<'_>,
) -> Vec<Comparison> {
    let analysis = &rules.decision.analysis;
    let mut comparisons = match rules.test() {
        Test::BootstrapT | Test::TScore => compare_by_project_test(questions, rules, parts, told),
        _ => alternative::compare(questions, rules, parts, told),
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

/// Decides by the project's own procedure, or by its t-score alone (`Test::TScore`).
fn compare_by_project_test(
    questions: &[Question<'_>],
    rules: &TestPolicy,
    parts: (usize, usize),
    told: &ProgressReporter<'_>,
) -> Vec<Comparison> {
    let evidence = map_with_progress(questions, parts, told, |question| {
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
        // A run that is faster on average but not at its floor was disturbed less; its code is not faster.
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

/// Tests all questions as one family. `p` gives a question's p in both directions. A question that cannot be tested stays in the family with p = 1.
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
    /// The reference value, a logarithm.
    base: f64,
    difference: f64,
    lower: f64,
    upper: f64,
}

impl Bounds {
    /// Takes the bounds of the t-score. The upper bound is at least the difference of the run values, so an improvement needs both to be faster.
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
            // All values are equal to the clock step. Drift between runs would not cancel a change so exactly, so there is no margin.
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

    /// Turns the interval into a verdict. No other code of this module does.
    fn verdict(self, threshold: f64) -> Verdict {
        if self.lower > threshold {
            Verdict::Regressed
        } else if self.upper < -threshold {
            Verdict::Improved
        } else if self.lower >= -threshold && self.upper <= threshold {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        }
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
    /// Distance beyond the threshold that a slowdown needs to be called, a logarithm.
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
    if tests.is_of_lone_launches || tests.is_disturbed && is_change {
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

/// Adds a note if p = 1 / (B + 1), the smallest possible value, would not be small enough for the family.
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
