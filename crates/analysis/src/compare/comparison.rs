//! The answer to a question.

use serde::{Deserialize, Serialize};

use super::alternative::Tested;
use super::description::ChangeDescription;
use super::estimate::Estimate;
use super::extras::{
    AllocationComparison, FunctionCost, InstructionComparison, LatencyComparison, SampledTime,
    SharedLevel,
};
use super::grounds::{LookGrounds, RunGrounds};
use super::launch_values::Location;
use super::note::Note;
use crate::model::{BySide, Side, Verdict};
use perfcheck_stats::normal;

/// What was found about one question. Changes are fractions: 0.05 is 5 % slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The change of what decided, with the interval that decided: its lower bound lies beyond the noise threshold
    /// exactly when the verdict is `regressed`, its upper one exactly when it is `improved`. `None` where nothing was tested.
    pub change: Option<Estimate>,
    /// The value of the base, and that value with the change: candidate / base - 1 is its estimate. Nanoseconds per iteration, or what else the verdict is about.
    #[serde(default)]
    pub compared: Option<BySide<f64>>,
    /// p of the deciding test in the direction seen, adjusted for the family.
    pub p_value: Option<f64>,
    /// The noise threshold in force, a fraction.
    pub noise_threshold: f64,
    /// The smallest slowdown that this comparison could have called, a fraction.
    pub smallest_callable: Option<f64>,
    /// How much was compared.
    pub extent: Extent,
    /// What decided, with its numbers.
    pub basis: Basis,
    /// How both sides differ whatever decided.
    pub description: ChangeDescription,
    /// How allocations differ, where both sides counted them.
    pub allocations: Option<AllocationComparison>,
    /// How the instructions of an iteration differ, where both sides counted them.
    pub instructions: Option<InstructionComparison>,
    /// How the time of an iteration differs by function, where both sides were sampled because instructions could not be counted.
    #[serde(default)]
    pub sampled_time: Option<SampledTime>,
    /// How latencies of single operations differ, where both sides measured them.
    pub latencies: Option<LatencyComparison>,
    /// What else a reader must know.
    pub notes: Vec<Note>,
}

/// How much a comparison rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Runs that were measured at different times.
    Runs {
        /// Launches used of the candidate.
        launches_candidate: usize,
        /// Launches used of the reference.
        launches_base: usize,
        /// Runs whose mean is the reference value.
        averaged: usize,
        /// Runs from which the drift was estimated.
        spread: usize,
    },
    /// Both sides, measured in turn.
    InTurn {
        /// Rounds that the verdict rests on.
        rounds: usize,
        /// Whether it was settled before the last look.
        stopped_early: bool,
        /// How many layouts of the code they had; 0: executables ran as they were built.
        layouts: usize,
    },
}

/// What decided about a question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Nothing did: the notes say what was missing.
    Untested {
        /// What the change, which has no bounds, is of; `None` where there is no change.
        location: Option<Location>,
    },
    /// The project's own procedure about stored runs.
    Runs(RunGrounds),
    /// The look at rounds that were measured in turn.
    Look(LookGrounds),
    /// The test of a published system.
    Published(Tested),
    /// Something else than the time, at this level; counts that do not vary rest on no chance and have none.
    OtherMetric(Option<SharedLevel>),
}

impl Comparison {
    /// A comparison about whose question nothing is known yet.
    pub(super) fn undecided(noise_threshold: f64, extent: Extent) -> Self {
        Self {
            verdict: Verdict::Inconclusive,
            change: None,
            compared: None,
            p_value: None,
            noise_threshold,
            smallest_callable: None,
            extent,
            basis: Basis::Untested { location: None },
            description: ChangeDescription::default(),
            allocations: None,
            instructions: None,
            sampled_time: None,
            latencies: None,
            notes: Vec::new(),
        }
    }

    /// Notes the change with the value of the base that it is relative to.
    pub(super) fn change_from(&mut self, base: f64, change: Option<Estimate>) {
        self.change = change;
        let values = change.map(|change| BySide {
            base,
            candidate: base * (1.0 + change.estimate),
        });
        self.compared =
            values.filter(|values| values.base.is_finite() && values.candidate.is_finite());
    }

    /// The noise threshold, a fraction rounded up to a tenth of a per cent, that the whole interval lies within; `None` where the change is beyond
    /// the threshold in force, so that it may be real, where a slow path is suspected, or where the interval is within that.
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

    /// Whether the estimate is slower than noise by more than the comparison's own uncertainty, although that shows nothing at its level: beyond the
    /// threshold by more than the standard error of stored runs, drift included; else with bounds that leave out 0.
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

    /// The standard error of ln(1 + change) where both sides were measured in turn: the distance of the farther bound over the normal quantile of its level, and
    /// no less than what the look found. `None` without bounds.
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

    /// Whether both sides were measured in turn.
    pub fn is_in_turn(&self) -> bool {
        matches!(self.extent, Extent::InTurn { .. })
    }

    /// What the project's own procedure found, where that decided about stored runs.
    pub fn run_grounds(&self) -> Option<&RunGrounds> {
        match &self.basis {
            Basis::Runs(grounds) => Some(grounds),
            _ => None,
        }
    }

    /// What the deciding look found, where both sides were measured in turn.
    pub fn look(&self) -> Option<&LookGrounds> {
        match &self.basis {
            Basis::Look(grounds) => Some(grounds),
            _ => None,
        }
    }

    /// What the test of a published system found, where one decided.
    pub fn published(&self) -> Option<&Tested> {
        match &self.basis {
            Basis::Published(tested) => Some(tested),
            _ => None,
        }
    }

    /// The level of a verdict that is not about the time, and who shares it.
    pub fn shared_level(&self) -> Option<SharedLevel> {
        match self.basis {
            Basis::OtherMetric(level) => level,
            _ => None,
        }
    }

    /// The side whose slow path is what there is to say.
    pub fn slow_side(&self) -> Option<Side> {
        self.look()?.slow_path.side
    }

    /// The functions that instructions or the time were found to differ in.
    pub fn functions(&self) -> &[FunctionCost] {
        let instructions = self.instructions.as_ref().map(|found| &*found.functions);
        let time = || self.sampled_time.as_ref().map(|found| &*found.functions);
        instructions.or_else(time).unwrap_or_default()
    }

    /// What was taken of each launch, or of each side.
    pub fn location(&self) -> Option<Location> {
        match &self.basis {
            Basis::Untested { location } => *location,
            Basis::Runs(grounds) => Some(grounds.location),
            Basis::Look(grounds) => Some(grounds.location),
            Basis::Published(_) | Basis::OtherMetric(_) => None,
        }
    }
}

impl Extent {
    /// Whether both sides were measured in turn and settled before the last look.
    pub fn stopped_early(&self) -> bool {
        matches!(
            self,
            Self::InTurn {
                stopped_early: true,
                ..
            }
        )
    }

    /// How many layouts of the code the rounds had.
    pub fn layouts(&self) -> usize {
        match self {
            Self::Runs { .. } => 0,
            Self::InTurn { layouts, .. } => *layouts,
        }
    }

    /// Launches used of the candidate; with A/B a round has one of each.
    pub fn launches_candidate(&self) -> usize {
        match self {
            Self::Runs {
                launches_candidate, ..
            } => *launches_candidate,
            Self::InTurn { rounds, .. } => *rounds,
        }
    }

    /// Launches used of the reference.
    pub fn launches_base(&self) -> usize {
        match self {
            Self::Runs { launches_base, .. } => *launches_base,
            Self::InTurn { rounds, .. } => *rounds,
        }
    }

    /// Runs whose mean is the reference value.
    pub fn runs_averaged(&self) -> usize {
        match self {
            Self::Runs { averaged, .. } => *averaged,
            Self::InTurn { .. } => 1,
        }
    }

    /// Runs from which the drift was estimated.
    pub fn runs_spread(&self) -> usize {
        match self {
            Self::Runs { spread, .. } => *spread,
            Self::InTurn { .. } => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::grounds::{Directions, FamilyTest, Prediction, SlowPathGrounds};
    use perfcheck_stats::Correction;

    /// Ten rounds, decided at a one-sided level of 2.5 %, with the interval of the change between these bounds.
    fn looked_at(lower: f64, estimate: f64, upper: f64, standard_error: f64) -> Comparison {
        let both = |number| Directions {
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
        let extent = Extent::InTurn {
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
            basis: Basis::Look(LookGrounds {
                location: Location::LowQuantile,
                share: 1.0,
                test,
                standard_error,
                slow_path: SlowPathGrounds {
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
        // Of stored runs the estimate alone, by more than the standard error.
        let beyond = 0.02_f64.ln_1p() - 0.01_f64.ln_1p();
        let of_runs = |standard_error| {
            let mut comparison = looked_at(-0.1, 0.02, 0.1, 0.01);
            let look = comparison.look().expect("a look");
            comparison.basis = Basis::Runs(RunGrounds {
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
        // 1.96 of them lie between the estimate and a bound at 2.5 %.
        let z = 1.959_963_984_540_054;
        for (lower, upper) in [(-0.01 * z, 0.002), (-0.002, 0.01 * z)] {
            let found = error(lower, upper, 0.001).expect("bounds");
            assert!((found - 0.01).abs() < 1e-9, "{found}");
            assert_eq!(error(lower, upper, 0.03), Some(0.03));
        }
        assert_eq!(error(0.0, 0.0, 0.0), None, "no error is none that weighs");
        assert_eq!(error(f64::NEG_INFINITY, f64::INFINITY, 0.01), None);
    }
}
