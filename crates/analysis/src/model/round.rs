//! A round of an A/B measurement: what each side gave of one benchmark in it.

use super::{Sample, Side};

/// The samples of a benchmark in one round, in the order taken; samples 2q and 2q + 1 of each side form quad q.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The samples of the base.
    pub base: Vec<Sample>,
    /// The samples of the candidate.
    pub candidate: Vec<Sample>,
    /// For each quad whether the candidate was sampled first; empty where that is not known.
    pub led: Vec<bool>,
    /// Which layout of the code the executables had, from 0; `None`: they ran as they were built.
    pub layout: Option<u32>,
}

impl Round {
    /// The samples of `side`.
    pub fn samples(&self, side: Side) -> &[Sample] {
        match side {
            Side::Base => &self.base,
            Side::Candidate => &self.candidate,
        }
    }
}
