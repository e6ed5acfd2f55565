//! The result of comparing one benchmark with its reference, with the numbers behind the verdict.
//!
//! Invariant: the numbers are stored as they were computed for the decision, so that the verdict can be explained later.

use serde::{Deserialize, Serialize};

use super::alternative::PublishedDecision;
use super::description::ChangeDescription;
use super::estimate::Estimate;
use super::extras::{
    AllocationComparison, FunctionCost, InstructionComparison, LatencyComparison, SampledTime,
    SharedLevel, UsageComparison,
};
use super::note::Note;
use super::process_values::Location;
use crate::model::{BySide, Side, Verdict};
use perfcheck_stats::{Correction, normal};

/// The result of comparing one benchmark. Changes are fractions: 0.05 is 5 % slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The change, with the interval that the verdict is based on. If the whole interval lies beyond the noise threshold, the verdict is `regressed`
    /// or `improved`, unless a note says why not. The interval is unbounded if the change was not tested. `None` if there is no value.
    pub change: Option<Estimate>,
    /// The values of both sides that were compared. The candidate's value is the base's value with the change applied, so that candidate / base - 1
    /// is the estimate of the change. Both are in nanoseconds per iteration, or in the unit of the metric that the verdict is about.
    #[serde(default)]
    pub compared: Option<BySide<f64>>,
    /// The p-value of the deciding test in the direction of the change, adjusted for the number of benchmarks.
    pub p_value: Option<f64>,
    /// The noise threshold that was used, as a fraction.
    pub noise_threshold: f64,
    /// The smallest slowdown that this comparison would have reported as `regressed`, as a fraction.
    pub smallest_callable: Option<f64>,
    /// How many runs, processes or rounds were compared.
    pub extent: Extent,
    /// The kind of decision behind the verdict, with its numbers.
    pub basis: Decision,
    /// Differences between the two sides that are only shown to the reader. No verdict depends on them.
    pub description: ChangeDescription,
    /// How allocations differ, if both sides counted them.
    pub allocations: Option<AllocationComparison>,
    /// How the instructions of an iteration differ, if both sides counted them.
    pub instructions: Option<InstructionComparison>,
    /// How the time of an iteration differs by function, if both sides have samples of a profiler. A profiler is used if instructions cannot be
    /// counted.
    #[serde(default)]
    pub sampled_time: Option<SampledTime>,
    /// How latencies of single operations differ, if both sides measured them.
    pub latencies: Option<LatencyComparison>,
    /// How the CPU time and the peak memory of a run differ, if the benchmark is a program.
    #[serde(default)]
    pub usage: Option<UsageComparison>,
    /// Notes for the reader.
    pub notes: Vec<Note>,
}

/// The amount of data behind a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Runs that were measured at different times.
    Runs {
        /// The number of the candidate's processes that were used.
        processes_candidate: usize,
        /// The number of the reference's processes that were used.
        processes_base: usize,
        /// Number of runs whose mean is the reference value.
        averaged: usize,
        /// The number of runs from which the drift between runs was estimated.
        spread: usize,
    },
    /// Both sides were measured side by side.
    SideBySide {
        /// Number of rounds behind the verdict.
        rounds: usize,
        /// Whether the verdict was settled before the last planned look at the rounds.
        stopped_early: bool,
        /// Number of code layouts that were measured; 0 if executables ran as they were built.
        layouts: usize,
    },
}

/// How the verdict on a question was reached, with the numbers of the deciding test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// No test was made. The notes say what was missing.
    Untested {
        /// The statistic whose change is given without bounds; `None` if there is no change.
        location: Option<Location>,
    },
    /// Decided by the project's own procedure for stored runs.
    Runs(StoredDecision),
    /// Decided at a look: an analysis, planned in advance, of the rounds that had been measured side by side until then.
    Look(PairedDecision),
    /// Decided by the test of a published system.
    Published(PublishedDecision),
    /// Decided about another metric than the time, at this confidence or significance level. `None` if nothing was tested, for example because the
    /// counts do not vary.
    OtherMetric(Option<SharedLevel>),
}

impl Comparison {
    /// Creates a comparison without a decision.
    pub(super) fn undecided(noise_threshold: f64, extent: Extent) -> Self {
        Self {
            verdict: Verdict::Inconclusive,
            change: None,
            compared: None,
            p_value: None,
            noise_threshold,
            smallest_callable: None,
            extent,
            basis: Decision::Untested { location: None },
            description: ChangeDescription::default(),
            allocations: None,
            instructions: None,
            sampled_time: None,
            latencies: None,
            usage: None,
            notes: Vec::new(),
        }
    }

    /// Sets the change, and the values of both sides that follow from it. `base` is the base's value, to which the change is relative.
    pub(super) fn set_change(&mut self, base: f64, change: Option<Estimate>) {
        self.change = change;
        let values = change.map(|change| BySide {
            base,
            candidate: base * (1.0 + change.estimate),
        });
        self.compared =
            values.filter(|values| values.base.is_finite() && values.candidate.is_finite());
    }

    /// Returns the smallest noise threshold that would contain the whole interval, so that the benchmark could be `unchanged`. It is a fraction,
    /// rounded up to a tenth of a percent. Returns `None` if the present threshold contains the interval already, if the estimate exceeds the present
    /// threshold and so may be a real change, or if a slow path is suspected.
    pub fn sufficient_threshold(&self) -> Option<f64> {
        let change = self.change?;
        let in_force = self.noise_threshold.ln_1p();
        let is_small = change.estimate.ln_1p().abs() <= in_force;
        let widest = change.lower.ln_1p().abs().max(change.upper.ln_1p().abs());
        let threshold = (widest.exp_m1() * 1000.0).ceil() / 1000.0;
        let is_suspected = (self.look()).is_some_and(|look| look.slow_path.is_suspected());
        (is_small && !is_suspected && widest > in_force && threshold.is_finite())
            .then_some(threshold)
    }

    /// Returns true if the benchmark looks slower, even if the verdict does not say so. The estimate must exceed the noise threshold. If there is a
    /// prediction interval, the estimate must exceed the threshold by more than its standard error, which includes the drift. Otherwise the interval
    /// must also exclude 0.
    pub fn seems_slower(&self) -> bool {
        let Some(change) = self.change else {
            return false;
        };
        let beyond = change.estimate.ln_1p() - self.noise_threshold.ln_1p();
        match self.run_grounds().and_then(|grounds| grounds.prediction) {
            Some(prediction) => beyond > prediction.standard_error,
            None => beyond > 0.0 && change.lower > 0.0,
        }
    }

    /// Returns the standard error of ln(1 + change) for a side-by-side measurement. Each bound of the interval implies a standard error: the bound's
    /// distance from the estimate, divided by the normal quantile of the bound's level. The larger of the two is returned, or the standard error that
    /// the look itself computed if that is larger still. Returns `None` if there are no bounds, or for stored runs.
    pub fn standard_error(&self) -> Option<f64> {
        let (change, look) = (self.change?, self.look()?);
        let middle = change.estimate.ln_1p();
        let error = |bound: f64, level: f64| {
            let z = normal::quantile(level * look.share)?;
            Some((bound.ln_1p() - middle).abs() / -z)
        };
        let lower = error(change.lower, look.test.step_level.slower)?;
        let upper = error(change.upper, look.test.step_level.faster)?;
        let error = lower.max(upper).max(look.standard_error);
        (error > 0.0 && error.is_finite()).then_some(error)
    }

    /// Reports whether both sides were measured side by side.
    pub fn is_paired(&self) -> bool {
        matches!(self.extent, Extent::SideBySide { .. })
    }

    /// Returns the numbers of the project's own procedure if it decided about stored runs.
    pub fn run_grounds(&self) -> Option<&StoredDecision> {
        match &self.basis {
            Decision::Runs(grounds) => Some(grounds),
            _ => None,
        }
    }

    /// Returns the numbers of the deciding look if both sides were measured side by side.
    pub fn look(&self) -> Option<&PairedDecision> {
        match &self.basis {
            Decision::Look(grounds) => Some(grounds),
            _ => None,
        }
    }

    /// Returns the numbers behind the verdict if the test of a published system decided.
    pub fn published_decision(&self) -> Option<&PublishedDecision> {
        match &self.basis {
            Decision::Published(tested) => Some(tested),
            _ => None,
        }
    }

    /// Returns the confidence or significance level behind a verdict about another metric than the time, with the number of benchmarks that share it.
    pub fn shared_level(&self) -> Option<SharedLevel> {
        match self.basis {
            Decision::OtherMetric(level) => level,
            _ => None,
        }
    }

    /// Returns the side on which some samples take a slow path, a cost that the other samples do not have. Returns `None` if no slow path was found,
    /// or if a plain change of speed explains the finding.
    pub fn slow_side(&self) -> Option<Side> {
        self.look()?.slow_path.side
    }

    /// Returns the functions whose cost differs most between the two sides. The cost is the number of instructions if instructions were compared, and
    /// otherwise the time that a profiler sampled.
    pub fn functions(&self) -> &[FunctionCost] {
        let instructions = self.instructions.as_ref().map(|found| &*found.functions);
        let time = || self.sampled_time.as_ref().map(|found| &*found.functions);
        instructions.or_else(time).unwrap_or_default()
    }

    /// Returns which statistic of the samples was compared. Returns `None` if there is no such statistic, as for the tests of published systems and
    /// for metrics other than the time.
    pub fn location(&self) -> Option<Location> {
        match &self.basis {
            Decision::Untested { location } => *location,
            Decision::Runs(grounds) => Some(grounds.location),
            Decision::Look(grounds) => Some(grounds.location),
            Decision::Published(_) | Decision::OtherMetric(_) => None,
        }
    }
}

impl Extent {
    /// Reports whether a side-by-side measurement was settled before its last look.
    pub fn stopped_early(&self) -> bool {
        matches!(
            self,
            Self::SideBySide {
                stopped_early: true,
                ..
            }
        )
    }

    /// Returns how many code layouts were measured. It is 0 for stored runs, and if executables ran as they were built.
    pub fn layouts(&self) -> usize {
        match self {
            Self::Runs { .. } => 0,
            Self::SideBySide { layouts, .. } => *layouts,
        }
    }

    /// Returns how many processes of the candidate were used. Each round of a side-by-side measurement has one.
    pub fn processes_candidate(&self) -> usize {
        match self {
            Self::Runs {
                processes_candidate,
                ..
            } => *processes_candidate,
            Self::SideBySide { rounds, .. } => *rounds,
        }
    }

    /// Returns how many processes of the reference were used. Each round of a side-by-side measurement has one.
    pub fn processes_base(&self) -> usize {
        match self {
            Self::Runs { processes_base, .. } => *processes_base,
            Self::SideBySide { rounds, .. } => *rounds,
        }
    }

    /// Returns how many runs were averaged into the reference value.
    pub fn runs_averaged(&self) -> usize {
        match self {
            Self::Runs { averaged, .. } => *averaged,
            Self::SideBySide { .. } => 1,
        }
    }

    /// Returns from how many runs the drift was estimated.
    pub fn runs_spread(&self) -> usize {
        match self {
            Self::Runs { spread, .. } => *spread,
            Self::SideBySide { .. } => 1,
        }
    }
}

/// A number for each direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ByDirection {
    /// The number for "slower by more than the threshold".
    pub slower: f64,
    /// The number for "faster by more than the threshold".
    pub faster: f64,
}

impl ByDirection {
    /// A p-value of 1 in both directions. A benchmark that cannot be tested gets it, because such a benchmark still counts when p-values are adjusted
    /// for the number of benchmarks.
    pub(super) const ONE: Self = Self {
        slower: 1.0,
        faster: 1.0,
    };

    /// Returns `faster` if `change` is negative, and `slower` otherwise.
    pub fn in_direction_of(&self, change: f64) -> f64 {
        if change >= 0.0 {
            self.slower
        } else {
            self.faster
        }
    }
}

/// The result of a test of one benchmark, which is corrected for the number of benchmarks that are tested with it (the family).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FamilyTest {
    /// Number of benchmarks in the family.
    pub family: usize,
    /// The one-sided significance level of the whole family.
    pub family_level: f64,
    /// The p-values before they are adjusted for the number of benchmarks. If they come from a look, they have been divided by the share of the
    /// significance level that this look may spend.
    pub p: ByDirection,
    /// The correction that keeps the probability of any false result in the family below the level.
    pub rule: Correction,
    /// The p-values after `rule` has adjusted them for the family.
    pub adjusted: ByDirection,
    /// The level at which this benchmark was decided in each direction. The correction derives it from the level of the whole family.
    pub step_level: ByDirection,
}

impl FamilyTest {
    /// Adjusts the p-values of all benchmarks for the number of benchmarks. Slowdowns and speedups are adjusted separately, each with the whole
    /// `level`.
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

    /// Returns true if this benchmark is significantly slower, after the correction for the family.
    pub fn shows_slower(&self) -> bool {
        self.p.slower <= self.step_level.slower
    }

    /// Returns true if this benchmark is significantly faster, after the correction for the family.
    pub fn shows_faster(&self) -> bool {
        self.p.faster <= self.step_level.faster
    }

    /// Returns true if this benchmark would be significantly slower if it were the only one that was tested.
    pub fn would_show_slower_alone(&self) -> bool {
        self.p.slower <= self.family_level
    }
}

/// The numbers of the project's own procedure for stored runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoredDecision {
    /// The statistic that was computed from the samples of each process.
    pub location: Location,
    /// The standard deviation between runs, as a fraction, that the test assumed.
    pub run_sd: f64,
    /// The deciding test. The bounds of the change were computed at its `step_level`.
    pub test: FamilyTest,
    /// The numbers of the prediction interval. `None` if only the t-score decided.
    pub prediction: Option<Prediction>,
    /// The result of the t-score, which compares the means over processes. `None` if it could not be computed.
    pub t_score: Option<TScoreResult>,
}

impl StoredDecision {
    /// Returns the p-value of the t-score, adjusted for the number of benchmarks. It is the p-value for a slowdown if the mean became larger, and the
    /// p-value for a speedup otherwise.
    pub fn t_score_p(&self) -> Option<f64> {
        let found = self.t_score?;
        Some(found.test.adjusted.in_direction_of(found.change.estimate))
    }
}

/// The numbers behind the prediction interval: the range in which the difference between a new run and its reference is expected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The standard error of ln(value of the run / reference value).
    pub standard_error: f64,
    /// The degrees of freedom of Student's t, from which the interval is computed.
    pub degrees_of_freedom: f64,
}

/// The t-score of stored runs: a test of the mean over processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TScoreResult {
    /// The change of the mean over processes. Both bounds are one-sided, each at the `step_level` of `test` for its direction. The upper bound is at
    /// least the difference that the comparison of runs found.
    pub change: Estimate,
    /// The p-values of the t-score, with the levels at which they were judged.
    pub test: FamilyTest,
}

/// The numbers behind a verdict about two builds that were measured side by side, from the look at which it was decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedDecision {
    /// The statistic that the floor test computed from the samples of each side.
    pub location: Location,
    /// The share of the significance level that this look may spend.
    pub share: f64,
    /// The test for a change of speed. Its interval is the interval of the change.
    pub test: FamilyTest,
    /// The standard error of ln(candidate / base).
    pub standard_error: f64,
    /// The number of rounds in which the sides differ in the direction of the estimate. Rounds differ in their layouts, so no layout decides the
    /// direction if nearly all rounds agree. `None` if an earlier version of the tool decided.
    #[serde(default)]
    pub agreeing_rounds: Option<usize>,
    /// The test for a cost that only some samples have.
    pub slow_path: SlowPathResult,
    /// The total number of rounds that would probably settle an inconclusive comparison, if further rounds are like the rounds so far.
    pub rounds_needed: Option<u64>,
}

/// The result of the slow-path test, which asks whether samples of one side are slower than their neighbors of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowPathResult {
    /// The p-values of the test, with the levels at which they were judged. `slower` stands for a slow path of the candidate, `faster` for one of the
    /// base.
    pub test: FamilyTest,
    /// The p-value for a slow path of the candidate, before it is adjusted for the number of looks and of benchmarks.
    pub p: f64,
    /// The largest p-value at which a slow path is suspected. If a slow path is suspected, the verdict cannot be `unchanged`.
    pub suspicion: f64,
    /// Share of the candidate's samples that lie more than 10 % above the candidate's floor (its 1st percentile).
    pub share_candidate: f64,
    /// Share of the base's samples that lie more than 10 % above the base's floor (its 1st percentile).
    pub share_base: f64,
    /// The side on which some samples take a slow path. `None` if there is no slow path, or if a plain change of speed explains the finding.
    pub side: Option<Side>,
}

impl SlowPathResult {
    /// Returns true if a slow path is suspected. Then the verdict cannot be `unchanged`.
    pub fn is_suspected(&self) -> bool {
        self.p <= self.suspicion
    }

    /// Returns the p-value of the test for a slow path of `side`, adjusted for the number of looks and of benchmarks.
    pub fn adjusted_p(&self, side: Side) -> f64 {
        match side {
            Side::Candidate => self.test.adjusted.slower,
            Side::Base => self.test.adjusted.faster,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::extras::CountChange;
    use crate::compare::fixtures::{ITERATIONS, compare_two, flat_process, measurement};
    use crate::compare::{
        Comparison, Decision, HostClass, Question, Reference, TestPolicy, compare,
    };
    use crate::model::{DecisionSettings, Measurement, Test, Verdict};
    use perfcheck_stats::Correction;

    /// Creates a comparison of ten rounds, decided at a one-sided level of 2.5 %, with these bounds of the change.
    fn looked_at(lower: f64, estimate: f64, upper: f64, standard_error: f64) -> Comparison {
        let both = |number| ByDirection {
            slower: number,
            faster: number,
        };
        let test = FamilyTest {
            family: 1,
            family_level: 0.025,
            p: both(0.5),
            rule: Correction::Holm,
            adjusted: both(0.5),
            step_level: both(0.025),
        };
        let extent = Extent::SideBySide {
            rounds: 10,
            stopped_early: false,
            layouts: 0,
        };
        Comparison {
            change: Some(Estimate {
                estimate,
                lower,
                upper,
            }),
            basis: Decision::Look(PairedDecision {
                location: Location::LowQuantile,
                share: 1.0,
                test,
                standard_error,
                agreeing_rounds: Some(9),
                slow_path: SlowPathResult {
                    test,
                    p: 0.5,
                    suspicion: 0.05,
                    share_candidate: 0.0,
                    share_base: 0.0,
                    side: None,
                },
                rounds_needed: None,
            }),
            ..Comparison::undecided(0.01, extent)
        }
    }

    #[test]
    fn what_seems_slower_is_beyond_the_threshold_with_bounds_that_leave_out_zero() {
        let seems = |lower, estimate| looked_at(lower, estimate, 0.05, 0.01).seems_slower();
        assert!(seems(0.001, 0.02));
        assert!(!seems(0.0, 0.02) && !seems(-0.001, 0.02));
        assert!(!seems(0.001, 0.01) && !seems(0.001, 0.009));
        // For stored runs only the estimate counts: it must exceed the threshold by more than the standard error.
        let beyond = 0.02_f64.ln_1p() - 0.01_f64.ln_1p();
        let of_runs = |standard_error| {
            let mut comparison = looked_at(-0.1, 0.02, 0.1, 0.01);
            let look = comparison.look().expect("a look");
            comparison.basis = Decision::Runs(StoredDecision {
                location: look.location,
                run_sd: 0.01,
                test: look.test,
                prediction: Some(Prediction {
                    standard_error,
                    degrees_of_freedom: 4.0,
                }),
                t_score: None,
            });
            comparison.seems_slower()
        };
        assert!(of_runs(0.9 * beyond) && !of_runs(beyond) && !of_runs(1.1 * beyond));
    }

    #[test]
    fn the_standard_error_is_that_of_the_farther_bound_and_at_least_what_the_look_found() {
        let error = |lower: f64, upper: f64, of_look| {
            looked_at(lower.exp_m1(), 0.0, upper.exp_m1(), of_look).standard_error()
        };
        // A bound at 2.5 % is 1.96 standard errors away from the estimate.
        let z = 1.959_963_984_540_054;
        for (lower, upper) in [(-0.01 * z, 0.002), (-0.002, 0.01 * z)] {
            let found = error(lower, upper, 0.001).expect("bounds");
            assert!((found - 0.01).abs() < 1e-9, "{found}");
            assert_eq!(error(lower, upper, 0.03), Some(0.03));
        }
        assert_eq!(error(0.0, 0.0, 0.0), None, "no error is none that weighs");
        assert_eq!(error(f64::NEG_INFINITY, f64::INFINITY, 0.01), None);
    }

    fn measured(factor: f64) -> Measurement {
        let process = |k: u32| {
            let times: Vec<f64> = (0..40)
                .map(|i| factor * (100.0 + f64::from(k) * 0.1 + f64::from(i % 7) * 0.01))
                .collect();
            flat_process(k, ITERATIONS, &times)
        };
        measurement((0..5).map(process).collect())
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
    fn the_samples_of_a_single_process_stand_for_processes() {
        let [base, candidate] = [1.0, 1.2].map(|factor| {
            let mut run = measured(factor);
            run.processes.truncate(1);
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
        // The base has forty samples, evenly spread from 100 to 100.06 ns.
        let base = found.compared.expect("tested").base;
        assert!((base - 100.03).abs() < 0.005, "{base}");
    }

    #[test]
    fn values_that_are_compared_are_finite() {
        let extent = Extent::SideBySide {
            rounds: 12,
            stopped_early: false,
            layouts: 0,
        };
        let compared = |base, change| {
            let mut comparison = Comparison::undecided(0.01, extent);
            comparison.set_change(base, Some(Estimate::unbounded(change)));
            comparison.compared.map(|both| (both.base, both.candidate))
        };
        assert_eq!(compared(100.0, 0.5), Some((100.0, 150.0)));
        assert_eq!(compared(100.0, f64::INFINITY), None);
        assert_eq!(compared(f64::INFINITY, -1.0), None);
    }

    #[test]
    fn rounds_were_measured_side_by_side_and_stored_runs_were_not() {
        assert!(looked_at(-0.01, 0.0, 0.01, 0.001).is_paired());
        assert!(!compared(&[1.0], Test::BootstrapT)[0].is_paired());
    }

    #[test]
    fn a_slow_path_of_the_candidate_is_tested_as_slower_and_one_of_the_base_as_faster() {
        let comparison = looked_at(-0.01, 0.0, 0.01, 0.001);
        let mut slow_path = comparison.look().expect("a look").slow_path;
        slow_path.test.adjusted = ByDirection {
            slower: 0.25,
            faster: 0.75,
        };
        assert_eq!(slow_path.adjusted_p(Side::Candidate), 0.25);
        assert_eq!(slow_path.adjusted_p(Side::Base), 0.75);
        let suspected = |p| SlowPathResult { p, ..slow_path }.is_suspected();
        assert!(suspected(0.05) && !suspected(0.051));
    }

    #[test]
    fn the_functions_of_a_comparison_are_those_of_instructions_or_else_of_time() {
        let function = |name: &str| FunctionCost {
            name: name.to_owned(),
            cost: BySide {
                base: 1.0,
                candidate: 2.0,
            },
            standard_error: None,
        };
        let run = measurement(vec![flat_process(0, ITERATIONS, &[100.0; 9])]);
        let rules = TestPolicy {
            decision: DecisionSettings::default(),
            host: HostClass::Dedicated,
            seed: 1,
        };
        let neither = compare_two(&run, &run, &rules);
        assert_eq!(neither.functions(), []);
        let timed = Comparison {
            sampled_time: Some(SampledTime {
                samples: BySide {
                    base: 10,
                    candidate: 10,
                },
                functions: vec![function("timed")],
            }),
            ..neither
        };
        assert_eq!(timed.functions(), [function("timed")]);
        let both = Comparison {
            instructions: Some(InstructionComparison {
                change: CountChange {
                    base: 1.0,
                    candidate: 2.0,
                    exact: true,
                    p_value: None,
                    verdict: Verdict::Regressed,
                },
                functions: vec![function("counted")],
            }),
            ..timed
        };
        assert_eq!(both.functions(), [function("counted")]);
    }

    #[test]
    fn a_threshold_that_just_holds_the_interval_is_in_force_already() {
        let run = measurement(vec![flat_process(0, ITERATIONS, &[100.0; 9])]);
        let rules = TestPolicy {
            decision: DecisionSettings::default(),
            host: HostClass::Dedicated,
            seed: 1,
        };
        let sufficient = |lower: f64, estimate: f64, upper: f64| {
            let found = Comparison {
                noise_threshold: 0.02,
                change: Some(Estimate {
                    estimate,
                    lower,
                    upper,
                }),
                ..compare_two(&run, &run, &rules)
            };
            found.sufficient_threshold()
        };
        assert_eq!(sufficient(-0.01, 0.0, 0.02), None);
        assert_eq!(sufficient(-0.01, 0.0, 0.0201), Some(0.021));
        assert_eq!(sufficient(-0.01, 0.02, 0.0399), Some(0.04));
        assert_eq!(sufficient(-0.01, 0.0201, 0.03), None);
        // Half the time is as far from no change as twice the time is, because distances are logarithms.
        assert_eq!(sufficient(-0.5, 0.0, 0.01), Some(1.0));
        assert_eq!(sufficient(-0.01, 0.0, f64::INFINITY), None);
    }
}
