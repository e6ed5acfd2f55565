//! A round of a side-by-side measurement: the samples of one benchmark from both sides.

use super::{Sample, Side};

/// The samples of a benchmark in one round, in the order taken; samples 2q and 2q + 1 of each side form quad q.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The samples of the base.
    pub base: Vec<Sample>,
    /// The samples of the candidate.
    pub candidate: Vec<Sample>,
    /// For each quad, whether the candidate was sampled first; empty if unknown.
    pub led: Vec<bool>,
    /// The code layout of the executables, from 0; `None` if they ran as built.
    pub layout: Option<u32>,
}

impl Round {
    /// Returns the samples of `side`.
    pub fn samples(&self, side: Side) -> &[Sample] {
        match side {
            Side::Base => &self.base,
            Side::Candidate => &self.candidate,
        }
    }
}
