//! What a verdict rests on besides its interval: the numbers that explaining it needs, as the decision left them.
//!
//! Nothing here decides: `decide` and `paired::judge` fill it in from what they have compared.

use serde::{Deserialize, Serialize};

use super::comparison::Estimate;

/// A number for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Directions {
    /// Of "slower by more than the threshold".
    pub slower: f64,
    /// Of "faster by more than the threshold".
    pub faster: f64,
}

/// One test of a benchmark within its family.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FamilyTest {
    /// The level of the whole family, one-sided.
    pub family_level: f64,
    /// p before the family; with A/B over the share of the look.
    pub p: Directions,
    /// p adjusted for the family by Holm's procedure.
    pub adjusted: Directions,
    /// The level of the step of that procedure at which the benchmark was decided.
    pub step_level: Directions,
}

/// The t-score of stored runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TScoreGrounds {
    /// The change of the mean over launches, with its bounds at the levels of the steps.
    pub change: Estimate,
    /// The test.
    pub test: FamilyTest,
}

/// The look that decided an A/B comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LookGrounds {
    /// The share of each level that is this look's own.
    pub share: f64,
    /// The slow-path test.
    pub slow_path: FamilyTest,
    /// Its p for a slow path of the candidate, before look and family.
    pub slow_path_p: f64,
    /// Up to this p nothing is called unchanged.
    pub suspicion: f64,
    /// Share of the candidate's samples more than 10 % above its floor.
    pub share_candidate: f64,
    /// The same of the base.
    pub share_base: f64,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Grounds {
    /// Benchmarks in the family.
    pub family: usize,
    /// The test whose interval is the change's.
    pub test: FamilyTest,
    /// Standard error of the difference of logarithms, where it has one.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of Student's t, where stored runs are decided by it.
    pub degrees_of_freedom: Option<f64>,
    /// The t-score of stored runs.
    pub t_score: Option<TScoreGrounds>,
    /// The look of an A/B comparison.
    pub look: Option<LookGrounds>,
}

#[cfg(test)]
mod tests {
    use crate::compare::fixtures::{ITERATIONS, flat_launch, measurement};
    use crate::compare::{Comparison, Decider, HostClass, Question, Reference, Rules, compare};
    use crate::model::{DecisionSettings, Measurement, Verdict};

    fn measured(factor: f64) -> Measurement {
        let launch = |k: u32| {
            let times: Vec<f64> = (0..40)
                .map(|i| factor * (100.0 + f64::from(k) * 0.1 + f64::from(i % 7) * 0.01))
                .collect();
            flat_launch(k, ITERATIONS, &times)
        };
        measurement((0..5).map(launch).collect())
    }

    fn compared(factors: &[f64], decider: Decider) -> Vec<Comparison> {
        let base = measured(1.0);
        let reference = Reference {
            averaged: vec![&base],
            spread: vec![&base],
            earlier: vec![],
        };
        let candidate: Vec<Measurement> = factors.iter().map(|factor| measured(*factor)).collect();
        let questions: Vec<Question<'_>> = candidate
            .iter()
            .map(|candidate| Question {
                candidate,
                reference: &reference,
                noise_threshold: 0.02,
            })
            .collect();
        let rules = Rules {
            decision: DecisionSettings {
                resamples: 2_000,
                ..DecisionSettings::default()
            },
            decider,
            host: HostClass::Dedicated,
            seed: 7,
        };
        compare(&questions, &rules)
    }

    #[test]
    fn the_grounds_tell_the_verdict_that_the_interval_tells() {
        for decider in [Decider::RunLevel, Decider::Screen] {
            for comparison in compared(&[0.5, 0.97, 1.001, 1.05, 1.2], decider) {
                let grounds = comparison.grounds.expect("tested");
                let test = grounds.test;
                assert_eq!(grounds.family, 5);
                assert_eq!(
                    test.p.slower <= test.step_level.slower,
                    comparison.verdict == Verdict::Regressed,
                    "{comparison:?}"
                );
                assert_eq!(
                    test.adjusted.faster <= test.family_level,
                    comparison.verdict == Verdict::Improved,
                    "{comparison:?}"
                );
                let seen = comparison.change.expect("tested").estimate;
                let adjusted = if seen >= 0.0 {
                    test.adjusted.slower
                } else {
                    test.adjusted.faster
                };
                assert_eq!(comparison.p_value, Some(adjusted));
            }
        }
    }

    #[test]
    fn a_question_that_cannot_be_tested_has_no_grounds() {
        let base = measured(1.0);
        let reference = Reference {
            averaged: vec![&base],
            spread: vec![&base],
            earlier: vec![],
        };
        let nothing = measurement(vec![]);
        let question = Question {
            candidate: &nothing,
            reference: &reference,
            noise_threshold: 0.02,
        };
        let rules = Rules {
            decision: DecisionSettings::default(),
            decider: Decider::RunLevel,
            host: HostClass::Shared,
            seed: 7,
        };
        assert_eq!(compare(&[question], &rules)[0].grounds, None);
    }
}
