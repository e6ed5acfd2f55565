//! Allocations of two sides: numbers that do not vary differ or do not; others are tested by launch.

use serde::Serialize;

use crate::model::Verdict;

/// How the allocations of an iteration differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AllocationComparison {
    /// How often memory was allocated.
    pub count: CountChange,
    /// How many bytes.
    pub bytes: CountChange,
    /// How many bytes were alive at once, at most.
    pub peak_bytes: CountChange,
}

/// One number per iteration on both sides, each the mean of the means of the launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CountChange {
    /// That of the reference.
    pub base: f64,
    /// That of the run.
    pub new: f64,
    /// Whether no iteration of either side differed from the others of its side: then a difference is a difference, whatever its size.
    pub exact: bool,
    /// p of the two-sided permutation test over launches; `None` where the numbers are exact.
    pub p_value: Option<f64>,
    /// `regressed`: more; `improved`: fewer.
    pub verdict: Verdict,
}
