//! The decision about a family of questions.
//!
//! Two families are tested by Holm's procedure, worsening and improvement, each at the whole level. A question's bounds are
//! taken at the level of the step at which it was decided, so that verdict and interval never disagree.

use rayon::prelude::*;

use super::alternative;
use super::comparison::{Comparison, Estimate};
use super::disturbance;
use super::evidence::{Evidence, Tests};
use super::grounds::{Directions, FamilyTest, Grounds, TScoreGrounds};
use super::note::Note;
use super::question::{Decider, Question, Rules};
use crate::model::Verdict;
use perfcheck_stats::{TScore, adjusted_p_values, step_levels};

/// Decides all `questions` as one family; the answers come in their order.
///
/// Pure and seeded: the same input gives the same bytes for any number of threads.
pub fn compare(questions: &[Question<'_>], rules: &Rules) -> Vec<Comparison> {
    let analysis = &rules.decision.analysis;
    let mut comparisons = match rules.decider {
        Decider::RunLevel => by_the_project(questions, rules, Procedure::RunLevel),
        Decider::Screen => by_the_project(questions, rules, Procedure::TScore),
        Decider::Test(_) => alternative::compare(questions, rules),
    };
    comparisons
        .par_iter_mut()
        .zip(questions)
        .for_each(|(comparison, question)| {
            let thresholds = &rules.decision.thresholds;
            let notes = disturbance::notes(question, comparison, thresholds);
            comparison.notes.extend(notes);
            comparison.effects = alternative::effects(question, rules);
            comparison.centers = alternative::centers(question, rules);
        });
    Comparison::about(&mut comparisons, analysis.subject, &rules.decision);
    comparisons
}

/// Which test of the project's own procedure decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Procedure {
    RunLevel,
    TScore,
}

/// The project's own procedure.
fn by_the_project(
    questions: &[Question<'_>],
    rules: &Rules,
    procedure: Procedure,
) -> Vec<Comparison> {
    let evidence: Vec<Evidence> = questions
        .par_iter()
        .map(|question| Evidence::of(question, rules))
        .collect();
    let level = rules.decision.significance_level;
    let run_level = Families::new(&evidence, level, |tests, threshold| {
        let test = &tests.run_level;
        Some((test.p_greater(threshold), test.p_less(threshold)))
    });
    let t_score = Families::new(&evidence, level, |tests, threshold| {
        let score = tests.t_score.as_ref()?;
        // A run that is faster on average and not at its floor was disturbed less, not faster.
        let floor_is_faster = tests.run_level.difference < -threshold;
        let p_less = if floor_is_faster { score.p_less } else { 1.0 };
        Some((score.p_greater, p_less))
    });
    evidence
        .into_iter()
        .zip(questions)
        .enumerate()
        .map(|(index, (evidence, question))| {
            answer(
                evidence,
                question,
                rules,
                procedure,
                &run_level.of(index),
                &t_score.of(index),
            )
        })
        .collect()
}

/// Holm's procedure in both directions, over all questions.
struct Families {
    level: f64,
    p_greater: Vec<f64>,
    p_less: Vec<f64>,
    adjusted_greater: Vec<f64>,
    adjusted_less: Vec<f64>,
    level_greater: Vec<f64>,
    level_less: Vec<f64>,
}

/// What the families say about one question.
struct Place {
    family: usize,
    family_level: f64,
    p_greater: f64,
    p_less: f64,
    adjusted_greater: f64,
    adjusted_less: f64,
    level_greater: f64,
    level_less: f64,
}

impl Families {
    /// A question that cannot be tested stays in the family, with p = 1.
    fn new(
        evidence: &[Evidence],
        level: f64,
        p: impl Fn(&Tests, f64) -> Option<(f64, f64)>,
    ) -> Self {
        let (greater, less): (Vec<f64>, Vec<f64>) = evidence
            .iter()
            .map(|one| {
                let tests = one.tests.as_ref().ok();
                tests
                    .and_then(|tests| p(tests, one.threshold))
                    .unwrap_or((1.0, 1.0))
            })
            .unzip();
        Self {
            adjusted_greater: adjusted_p_values(&greater),
            adjusted_less: adjusted_p_values(&less),
            level_greater: step_levels(&greater, level),
            level_less: step_levels(&less, level),
            level,
            p_greater: greater,
            p_less: less,
        }
    }

    fn of(&self, index: usize) -> Place {
        Place {
            family: self.p_greater.len(),
            family_level: self.level,
            p_greater: self.p_greater[index],
            p_less: self.p_less[index],
            adjusted_greater: self.adjusted_greater[index],
            adjusted_less: self.adjusted_less[index],
            level_greater: self.level_greater[index],
            level_less: self.level_less[index],
        }
    }
}

impl Place {
    fn adjusted(&self, difference: f64) -> f64 {
        if difference >= 0.0 {
            self.adjusted_greater
        } else {
            self.adjusted_less
        }
    }

    fn test(&self) -> FamilyTest {
        let both = |slower, faster| Directions { slower, faster };
        FamilyTest {
            family_level: self.family_level,
            p: both(self.p_greater, self.p_less),
            adjusted: both(self.adjusted_greater, self.adjusted_less),
            step_level: both(self.level_greater, self.level_less),
        }
    }
}

/// A difference of logarithms with its bounds.
#[derive(Clone, Copy)]
struct Bounds {
    difference: f64,
    lower: f64,
    upper: f64,
}

impl Bounds {
    /// The upper bound reaches as far as the difference of the run values: both must be faster.
    fn of_t_score(tests: &Tests, score: &TScore, place: &Place) -> Self {
        Self {
            difference: score.difference,
            lower: score.lower(place.level_greater),
            upper: score
                .upper(place.level_less)
                .max(tests.run_level.difference),
        }
    }

    fn of_run_level(tests: &Tests, place: &Place) -> Self {
        let test = &tests.run_level;
        if tests.identical {
            // Not one clock step apart in any launch: no drift hides a change so exactly.
            return Self {
                difference: 0.0,
                lower: 0.0,
                upper: 0.0,
            };
        }
        Self {
            difference: test.difference,
            lower: test.difference - test.margin(place.level_greater),
            upper: test.difference + test.margin(place.level_less),
        }
    }

    /// The only place where an interval becomes a verdict.
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

/// What was decided about a question that could be tested.
struct Decision {
    verdict: Verdict,
    bounds: Bounds,
    p_value: f64,
    /// Distance that a slowdown needs beyond the threshold.
    margin: f64,
}

fn answer(
    evidence: Evidence,
    question: &Question<'_>,
    rules: &Rules,
    procedure: Procedure,
    run_level: &Place,
    t_score: &Place,
) -> Comparison {
    let Evidence {
        threshold,
        tests,
        launches_candidate,
        launches_base,
        runs_averaged,
        runs_spread,
        mut notes,
    } = evidence;
    let mut comparison = Comparison {
        launches_candidate,
        launches_base,
        runs_averaged,
        runs_spread,
        ..Comparison::undecided(question.noise_threshold)
    };
    match tests {
        Err(verdict) => comparison.verdict = verdict,
        Ok(tests) => {
            note_resolution(&tests, rules, t_score, &mut notes);
            let decision = match procedure {
                Procedure::RunLevel => Some(decide_by_runs(
                    &tests, threshold, run_level, t_score, &mut notes,
                )),
                Procedure::TScore => tests
                    .t_score
                    .as_ref()
                    .map(|score| screen(&tests, score, threshold, t_score)),
            };
            comparison.grounds = Some(grounds(&tests, procedure, run_level, t_score));
            if let Some(decision) = decision {
                comparison.verdict = decision.verdict;
                comparison.change = Some(decision.bounds.change());
                comparison.p_value = Some(decision.p_value);
                comparison.smallest_callable = Some((threshold + decision.margin).exp_m1());
            }
            comparison.t_score_p = tests
                .t_score
                .as_ref()
                .map(|score| t_score.adjusted(score.difference));
            comparison.change_mean = tests.change_mean;
            comparison.change_median = tests.change_median;
            comparison.uncertainties = tests.uncertainties;
            comparison.location = Some(tests.location);
            comparison.run_sd = Some(tests.run_level.run_sd);
        }
    }
    comparison.notes = notes;
    comparison.beside_of(question, rules)
}

fn grounds(tests: &Tests, procedure: Procedure, run_level: &Place, t_score: &Place) -> Grounds {
    let of_runs = procedure == Procedure::RunLevel;
    let decides = if of_runs { run_level } else { t_score };
    let by_t_score = tests.t_score.as_ref().map(|score| TScoreGrounds {
        change: Bounds::of_t_score(tests, score, t_score).change(),
        test: t_score.test(),
    });
    Grounds {
        family: decides.family,
        test: decides.test(),
        standard_error: of_runs.then_some(tests.run_level.standard_error),
        degrees_of_freedom: of_runs.then_some(tests.run_level.df),
        t_score: by_t_score,
        look: None,
    }
}

fn screen(tests: &Tests, score: &TScore, threshold: f64, place: &Place) -> Decision {
    let bounds = Bounds::of_t_score(tests, score, place);
    Decision {
        verdict: bounds.verdict(threshold),
        bounds,
        p_value: place.adjusted(score.difference),
        margin: bounds.difference - bounds.lower,
    }
}

fn decide_by_runs(
    tests: &Tests,
    threshold: f64,
    run_level: &Place,
    t_score: &Place,
    notes: &mut Vec<Note>,
) -> Decision {
    let bounds = Bounds::of_run_level(tests, run_level);
    let mut verdict = bounds.verdict(threshold);
    let seen = tests
        .t_score
        .as_ref()
        .map(|score| Bounds::of_t_score(tests, score, t_score).verdict(threshold));
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
    Decision {
        verdict,
        bounds,
        p_value: if tests.identical {
            1.0
        } else {
            run_level.adjusted(bounds.difference)
        },
        margin: tests.run_level.margin(run_level.level_greater),
    }
}

/// Says so where p = 1 / (B + 1), the smallest there is, would not be small enough for the family.
fn note_resolution(tests: &Tests, rules: &Rules, place: &Place, notes: &mut Vec<Note>) {
    let Some(score) = &tests.t_score else { return };
    let level = place.level_greater.min(place.level_less);
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
