//! What an A/B comparison found besides the change and its verdict.

use serde::{Deserialize, Serialize};

use crate::model::Side;

/// Samples of one side that are slower than their neighbours of the other, while its fastest ones are not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowPath {
    /// The slower side.
    pub side: Side,
    /// Share of the new side's samples that lie more than 10 % above its floor.
    pub share_candidate: f64,
    /// The same of the reference.
    pub share_base: f64,
    /// p of the slow-path test, adjusted for looks and family.
    pub p_value: f64,
}

/// How an A/B comparison went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Rounds that the verdict rests on.
    pub rounds: usize,
    /// Whether it was settled before the last look.
    pub stopped_early: bool,
    /// Standard error of the difference of logarithms.
    pub standard_error: Option<f64>,
    /// The finding of the slow-path test, if it has one.
    pub slow_path: Option<SlowPath>,
    /// Of an inconclusive comparison: how many rounds in all would settle it, if they are as those seen.
    pub rounds_needed: Option<u64>,
}
