//! The numbers behind a verdict besides its interval, kept as the decision computed them, so that it can be explained.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::launch_values::Location;
use crate::model::Side;
use perfcheck_stats::Correction;

/// A number for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ByDirection {
    /// The number for "slower by more than the threshold".
    pub slower: f64,
    /// The number for "faster by more than the threshold".
    pub faster: f64,
}

impl ByDirection {
    /// p = 1, for a benchmark that cannot be tested but stays in its family.
    pub(super) const ONE: Self = Self {
        slower: 1.0,
        faster: 1.0,
    };

    /// Returns the number for the direction of `change`; no change counts as slower.
    pub fn in_direction_of(&self, change: f64) -> f64 {
        if change >= 0.0 {
            self.slower
        } else {
            self.faster
        }
    }
}

/// One test of a benchmark within its family.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FamilyTest {
    /// Number of benchmarks in the family.
    pub family: usize,
    /// One-sided level of the whole family.
    pub family_level: f64,
    /// p before adjustment for the family; at a look, already divided by the look's share of the level.
    pub p: ByDirection,
    /// The correction that keeps that level.
    pub rule: Correction,
    /// p adjusted for the family by that correction.
    pub adjusted: ByDirection,
    /// The level of the step of the correction at which the benchmark was decided.
    pub step_level: ByDirection,
}

impl FamilyTest {
    /// Tests all benchmarks as one family, at the whole `level` in each direction.
    pub(super) fn test_all(p: &[ByDirection], level: f64, rule: Correction) -> Vec<Self> {
        let one_sided = |pick: fn(&ByDirection) -> f64| {
            let p: Vec<f64> = p.iter().map(pick).collect();
            rule.adjust(&p).into_iter().zip(rule.levels(&p, level))
        };
        one_sided(|p| p.slower)
            .zip(one_sided(|p| p.faster))
            .zip(p)
            .map(|((slower, faster), own)| Self {
                family: p.len(),
                family_level: level,
                rule,
                p: *own,
                adjusted: ByDirection {
                    slower: slower.0,
                    faster: faster.0,
                },
                step_level: ByDirection {
                    slower: slower.1,
                    faster: faster.1,
                },
            })
            .collect()
    }

    /// Reports whether the test shows "slower" within the family.
    pub fn shows_slower(&self) -> bool {
        self.p.slower <= self.step_level.slower
    }

    /// Reports whether the test shows "faster" within the family.
    pub fn shows_faster(&self) -> bool {
        self.p.faster <= self.step_level.faster
    }

    /// Reports whether the test would show "slower" if the benchmark were the only one.
    pub fn would_show_slower_alone(&self) -> bool {
        self.p.slower <= self.family_level
    }
}

/// The numbers of the project's own procedure for stored runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoredDecision {
    /// The statistic that was computed from the samples of each process.
    pub location: Location,
    /// The standard deviation between runs that was assumed, a fraction.
    pub run_sd: f64,
    /// The test whose interval is that of the change.
    pub test: FamilyTest,
    /// The prediction interval; `None` if the t-score alone decided.
    pub prediction: Option<Prediction>,
    /// The t-score; `None` if it could not be computed.
    pub t_score: Option<TScoreResult>,
}

impl StoredDecision {
    /// Returns p of the t-score in the direction of its change, adjusted for the family.
    pub fn t_score_p(&self) -> Option<f64> {
        let found = self.t_score?;
        Some(found.test.adjusted.in_direction_of(found.change.estimate))
    }
}

/// The prediction interval between runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Standard error of the difference of logarithms.
    pub standard_error: f64,
    /// Degrees of freedom of Student's t.
    pub degrees_of_freedom: f64,
}

/// The t-score of stored runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TScoreResult {
    /// The change of the mean over processes, with its bounds at the levels of the steps.
    pub change: Estimate,
    /// The test.
    pub test: FamilyTest,
}

/// The numbers of the look that decided about sides that were measured side by side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedDecision {
    /// The statistic that the floor test computed from the samples of a side.
    pub location: Location,
    /// The share of each level that this look may spend.
    pub share: f64,
    /// The speed test, whose interval is that of the change.
    pub test: FamilyTest,
    /// Standard error of the difference of logarithms.
    pub standard_error: f64,
    /// The slow-path test.
    pub slow_path: SlowPathResult,
    /// Number of rounds in all that would settle an inconclusive comparison, if further rounds resemble the present ones.
    pub rounds_needed: Option<u64>,
}

/// The result of the slow-path test: whether samples of one side are slower than their neighbors of the other while its fastest ones are not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowPathResult {
    /// The test.
    pub test: FamilyTest,
    /// p for a slow path of the candidate, before adjustment for looks and family.
    pub p: f64,
    /// Nothing is called unchanged while p is at most this large.
    pub suspicion: f64,
    /// Share of the candidate's samples that lie more than 10 % above its floor.
    pub share_candidate: f64,
    /// Share of the base's samples that lie more than 10 % above its floor.
    pub share_base: f64,
    /// The side that takes a slow path; `None` if a plain change of speed explains the finding, or if there is none.
    pub side: Option<Side>,
}

impl SlowPathResult {
    /// Reports whether a slow path is suspected, so that nothing is called unchanged.
    pub fn is_suspected(&self) -> bool {
        self.p <= self.suspicion
    }

    /// Returns p of the test for a slow path of `side`, adjusted for looks and family.
    pub fn adjusted_p(&self, side: Side) -> f64 {
        match side {
            Side::Candidate => self.test.adjusted.slower,
            Side::Base => self.test.adjusted.faster,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::fixtures::{ITERATIONS, compare_two, flat_launch, measurement};
    use crate::compare::{
        Comparison, Decision, HostClass, Question, Reference, TestPolicy, compare,
    };
    use crate::model::{DecisionSettings, Measurement, Test, Verdict};

    fn measured(factor: f64) -> Measurement {
        let launch = |k: u32| {
            let times: Vec<f64> = (0..40)
                .map(|i| factor * (100.0 + f64::from(k) * 0.1 + f64::from(i % 7) * 0.01))
                .collect();
            flat_launch(k, ITERATIONS, &times)
        };
        measurement((0..5).map(launch).collect())
    }

    fn compared(factors: &[f64], test: Test) -> Vec<Comparison> {
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
        let rules = TestPolicy {
            decision: DecisionSettings {
                resamples: 2_000,
                analysis: test.into(),
                ..DecisionSettings::default()
            },
            host: HostClass::Dedicated,
            seed: 7,
        };
        compare(&questions, &rules)
    }

    #[test]
    fn the_grounds_tell_the_verdict_that_the_interval_tells() {
        for test in [Test::BootstrapT, Test::TScore] {
            for comparison in compared(&[0.5, 0.97, 1.001, 1.05, 1.2], test) {
                let grounds = comparison.run_grounds().expect("tested");
                let test = grounds.test;
                assert_eq!(grounds.test.family, 5);
                assert_eq!(
                    test.shows_slower(),
                    comparison.verdict == Verdict::Regressed,
                    "{comparison:?}"
                );
                assert_eq!(
                    test.adjusted.faster <= test.family_level,
                    comparison.verdict == Verdict::Improved,
                    "{comparison:?}"
                );
                let seen = comparison.change.expect("tested").estimate;
                assert_eq!(
                    comparison.p_value,
                    Some(test.adjusted.in_direction_of(seen))
                );
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
        let rules = TestPolicy {
            decision: DecisionSettings::default(),
            host: HostClass::Shared,
            seed: 7,
        };
        assert_eq!(
            compare(&[question], &rules)[0].basis,
            Decision::Untested { location: None }
        );
    }

    #[test]
    fn a_slowdown_can_be_called_that_is_beyond_the_threshold_by_the_margin_of_the_interval() {
        for test in [Test::BootstrapT, Test::TScore] {
            for comparison in compared(&[0.97, 1.001, 1.05], test) {
                let change = comparison.change.expect("tested");
                let margin = change.estimate.ln_1p() - change.lower.ln_1p();
                let expected = (0.02_f64.ln_1p() + margin).exp_m1();
                let smallest = comparison.smallest_callable.expect("tested");
                assert!((smallest - expected).abs() < 1e-9, "{comparison:?}");
            }
        }
    }

    #[test]
    fn the_samples_of_a_single_launch_stand_for_launches() {
        let [base, candidate] = [1.0, 1.2].map(|factor| {
            let mut run = measured(factor);
            run.launches.truncate(1);
            run
        });
        let rules = TestPolicy {
            decision: DecisionSettings {
                resamples: 2_000,
                analysis: Test::TScore.into(),
                ..DecisionSettings::default()
            },
            host: HostClass::Dedicated,
            seed: 7,
        };
        let found = compare_two(&candidate, &base, &rules);
        let change = found.change.expect("tested").estimate;
        assert!((change - 0.2).abs() < 1e-6, "{change}");
        // Forty samples, evenly from 100 to 100.06 ns.
        let base = found.compared.expect("tested").base;
        assert!((base - 100.03).abs() < 0.005, "{base}");
    }
}
