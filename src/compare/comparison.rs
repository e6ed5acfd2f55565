//! The answer to a question.

use serde::{Deserialize, Serialize};

use super::alternative::{Centers, Effects, Tested};
use super::beside::{AllocationComparison, LatencyComparison, SharedLevel};
use super::grounds::Grounds;
use super::launch_values::Location;
use super::note::Note;
use super::paired::Paired;
use super::uncertainty::Uncertainties;
use crate::model::Verdict;
use perfcheck_stats::{Interval, IntervalMethod, PairedRatio, Resampling, Scale, Statistic};

/// A value with its interval. A bound that the data do not give is infinite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub estimate: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl Estimate {
    /// The relative change that a difference of logarithms means.
    pub(super) fn from_logarithms(estimate: f64, lower: f64, upper: f64) -> Self {
        Self {
            estimate: estimate.exp_m1(),
            lower: lower.exp_m1(),
            upper: upper.exp_m1(),
        }
    }

    pub(super) fn with(estimate: f64, interval: Interval) -> Self {
        Self {
            estimate,
            lower: interval.lower,
            upper: interval.upper,
        }
    }

    /// The relative change of a statistic, with its interval: a bootstrap's, or Student's where a side has few clusters. `None` where it has
    /// no finite value. A side of one cluster says nothing of its spread: unbounded.
    pub(super) fn relative_change(
        candidate: &impl Statistic,
        base: &impl Statistic,
        level: f64,
        resampling: Resampling<'_>,
    ) -> Option<Self> {
        let estimate = candidate.observed() / base.observed() - 1.0;
        if !estimate.is_finite() {
            return None;
        }
        let fewer = candidate.clusters().min(base.clusters());
        let interval =
            IntervalMethod::for_clusters(fewer).ratio_interval(candidate, base, level, resampling);
        Some(interval.map_or(Self::unbounded(estimate), |found| {
            Self::with(estimate, found)
        }))
    }

    /// The same where cluster i of both sides are a pair: what both share does not widen the interval.
    pub(super) fn relative_change_of_pairs(
        ratio: &PairedRatio<impl Statistic>,
        level: f64,
        resampling: Resampling<'_>,
    ) -> Option<Self> {
        let estimate = ratio.observed() - 1.0;
        if !estimate.is_finite() {
            return None;
        }
        let method = IntervalMethod::for_clusters(ratio.clusters());
        let interval = method.interval(ratio, Scale::Logarithmic, level, resampling);
        Some(interval.map_or(Self::unbounded(estimate), |found| Self {
            estimate,
            lower: found.lower - 1.0,
            upper: found.upper - 1.0,
        }))
    }

    /// A value without bounds.
    pub fn unbounded(estimate: f64) -> Self {
        Self {
            estimate,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }
}

/// What was found about one question. Changes are fractions: 0.05 is 5 % slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The change of the location, with the interval that decided: its lower bound lies beyond the noise threshold
    /// exactly when the verdict is `regressed`, its upper one exactly when it is `improved`. `None` where nothing was tested.
    pub change: Option<Estimate>,
    /// p of the deciding test in the direction seen, adjusted for the family.
    pub p_value: Option<f64>,
    /// p of the t-score in the direction seen, adjusted for the family.
    pub t_score_p: Option<f64>,
    /// The change of the mean of all samples, with its interval at the confidence level.
    pub change_mean: Option<Estimate>,
    /// The change of the median of all samples, likewise.
    pub change_median: Option<Estimate>,
    /// How far these two may be off, at any level.
    pub uncertainties: Uncertainties,
    /// The noise threshold in force, a fraction.
    pub noise_threshold: f64,
    /// The smallest slowdown that this comparison could have called, a fraction.
    pub smallest_callable: Option<f64>,
    /// What was taken of each launch.
    pub location: Option<Location>,
    /// Launches used of the new run.
    pub launches_candidate: usize,
    /// Launches used of the reference.
    pub launches_base: usize,
    /// Runs whose mean is the reference value.
    pub runs_averaged: usize,
    /// Runs from which the drift was estimated.
    pub runs_spread: usize,
    /// The standard deviation between runs that was assumed, a fraction.
    pub run_sd: Option<f64>,
    /// How an A/B comparison went; `None` of stored runs.
    pub paired: Option<Paired>,
    /// What the verdict rests on besides the change; `None` where nothing was tested.
    pub grounds: Option<Grounds>,
    /// The level of a verdict that is not about the time, and who shares it.
    pub shared_level: Option<SharedLevel>,
    /// What the test of a published system said, where one decided.
    pub tested: Option<Tested>,
    /// How large the difference is; `None` of A/B and where a side has no samples.
    pub effects: Option<Effects>,
    /// The summary that was asked for.
    pub centers: Option<Centers>,
    /// How allocations differ, where both sides counted them.
    pub allocations: Option<AllocationComparison>,
    /// How latencies of single operations differ, where both sides measured them.
    pub latencies: Option<LatencyComparison>,
    /// What else a reader must know.
    pub notes: Vec<Note>,
}

impl Comparison {
    /// One about which nothing is known yet.
    pub(super) fn undecided(noise_threshold: f64) -> Self {
        Self {
            verdict: Verdict::Inconclusive,
            change: None,
            p_value: None,
            t_score_p: None,
            change_mean: None,
            change_median: None,
            uncertainties: Uncertainties::default(),
            noise_threshold,
            smallest_callable: None,
            location: None,
            launches_candidate: 0,
            launches_base: 0,
            runs_averaged: 0,
            runs_spread: 0,
            run_sd: None,
            paired: None,
            grounds: None,
            shared_level: None,
            tested: None,
            effects: None,
            centers: None,
            allocations: None,
            latencies: None,
            notes: Vec::new(),
        }
    }
}
