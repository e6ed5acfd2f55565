//! Allocations of two sides: numbers that do not vary are compared exactly, others are tested over processes.

use serde::{Deserialize, Serialize};

use super::rules::ExtrasPolicy;
use crate::model::{Allocations, Measurement, Verdict};
use perfcheck_stats::{MannWhitney, mean};

/// How the allocations of an iteration differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocationComparison {
    /// How often memory was allocated.
    pub count: CountChange,
    /// How many bytes were allocated.
    pub bytes: CountChange,
    /// The most bytes that were alive at once.
    pub peak_bytes: CountChange,
}

/// One number per iteration on both sides, each the mean of the means of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountChange {
    /// The number of the reference.
    pub base: f64,
    /// The number of the run.
    pub candidate: f64,
    /// Whether all iterations of a side agree, on both sides. Then every difference is real, however small.
    pub exact: bool,
    /// p of the two-sided test over processes: by permutation for allocations, Welch's for instructions; `None` if the numbers are exact.
    pub p_value: Option<f64>,
    /// `regressed` means more, `improved` means fewer.
    pub verdict: Verdict,
}

/// Computes the p of a test of two sides: candidate, base.
pub(super) type TwoSidedP = fn(&[f64], &[f64]) -> Option<f64>;

impl AllocationComparison {
    /// Compares with the newest of the runs in `base` that counted: code does not drift, and an older run may be of other code. `None` if a side
    /// counted nothing.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let base = base
            .iter()
            .map(|run| allocation_counts(run))
            .find(|found| !found.is_empty())?;
        let candidate = allocation_counts(candidate);
        if candidate.is_empty() {
            return None;
        }
        let change = |pick: fn(&Allocations) -> u64| {
            CountChange::from_allocations(&base, &candidate, pick, rules)
        };
        Some(Self {
            count: change(|found| found.count)?,
            bytes: change(|found| found.bytes)?,
            peak_bytes: change(|found| found.peak_bytes)?,
        })
    }

    /// Returns its numbers with their names, the most significant first.
    pub fn with_names(&self) -> [(&'static str, CountChange); 3] {
        [
            ("allocations", self.count),
            ("bytes", self.bytes),
            ("peak bytes", self.peak_bytes),
        ]
    }

    /// Reports whether any number changed.
    pub fn has_changed(&self) -> bool {
        self.with_names()
            .iter()
            .any(|(_, found)| found.has_changed())
    }
}

impl CountChange {
    /// Reports whether the number changed.
    pub fn has_changed(&self) -> bool {
        matches!(self.verdict, Verdict::Regressed | Verdict::Improved)
    }

    /// Returns new / base - 1, a fraction: 0 if both are 0, infinite if only the reference is 0.
    pub fn relative(&self) -> f64 {
        if self.candidate == self.base {
            0.0
        } else {
            self.candidate / self.base - 1.0
        }
    }

    fn from_allocations(
        base: &[&[Allocations]],
        candidate: &[&[Allocations]],
        pick: fn(&Allocations) -> u64,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let sides = [base, candidate];
        let is_exact = sides.iter().all(|side| is_constant(side, pick));
        let [base, candidate] = sides.map(|side| launch_means(side, pick));
        Self::from_process_means(
            &base,
            &candidate,
            is_exact,
            MannWhitney::permutation_p,
            rules,
        )
    }

    /// Compares one number per process. Numbers that are known not to vary (`exact`) are compared directly, others are tested.
    pub(super) fn from_process_means(
        base: &[f64],
        candidate: &[f64],
        exact: bool,
        two_sided_p: TwoSidedP,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let found = Self {
            base: mean(base)?,
            candidate: mean(candidate)?,
            exact,
            p_value: None,
            verdict: Verdict::Unchanged,
        };
        if found.exact {
            return Some(Self {
                verdict: found.direction(),
                ..found
            });
        }
        let p = two_sided_p(candidate, base)?;
        let beyond = found.relative().abs() > rules.noise_threshold;
        let verdict = if p < rules.significance_level && beyond {
            found.direction()
        } else if all_within(base, candidate, rules.noise_threshold) {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        };
        Some(Self {
            p_value: Some(p),
            verdict,
            ..found
        })
    }

    fn direction(&self) -> Verdict {
        if self.candidate > self.base {
            Verdict::Regressed
        } else if self.candidate < self.base {
            Verdict::Improved
        } else {
            Verdict::Unchanged
        }
    }
}

/// Returns the counts of the processes that counted.
pub(super) fn allocation_counts(measurement: &Measurement) -> Vec<&[Allocations]> {
    measurement
        .launches
        .iter()
        .map(|launch| &launch.extras.allocations[..])
        .filter(|found| !found.is_empty())
        .collect()
}

pub(super) fn launch_means(launches: &[&[Allocations]], pick: fn(&Allocations) -> u64) -> Vec<f64> {
    launches
        .iter()
        .filter_map(|launch| {
            mean(
                &launch
                    .iter()
                    .map(|found| pick(found) as f64)
                    .collect::<Vec<_>>(),
            )
        })
        .collect()
}

fn is_constant(launches: &[&[Allocations]], pick: fn(&Allocations) -> u64) -> bool {
    let mut values = launches.iter().copied().flatten().map(pick);
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// Reports whether no process of one side differs from any of the other by more than the threshold.
fn all_within(base: &[f64], candidate: &[f64], noise_threshold: f64) -> bool {
    let ends = |values: &[f64]| {
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (lowest, highest)
    };
    let ((base_low, base_high), (candidate_low, candidate_high)) = (ends(base), ends(candidate));
    candidate_high <= base_low * (1.0 + noise_threshold)
        && candidate_low >= base_high * (1.0 - noise_threshold)
}
