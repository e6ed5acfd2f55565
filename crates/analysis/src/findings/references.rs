//! What each benchmark of a run is compared with among stored runs.

use std::collections::BTreeMap;

use crate::compare::Difference;
use crate::model::{BenchmarkKey, RunId};

/// What a benchmark is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen {
    /// There is nothing to compare it with.
    New,
    /// There is this run, but the differences forbid the comparison.
    Incomparable(RunId, Vec<Difference>),
    /// There are runs to compare it with, newest first.
    Runs {
        /// The runs whose mean is the reference.
        averaged: Vec<RunId>,
        /// The runs from which drift is estimated.
        spread: Vec<RunId>,
        /// Runs of earlier levels that tell of drift, too: what was accepted as a new level keeps the noise of the old one.
        earlier: Vec<Vec<RunId>>,
        /// Facts that differ without forbidding the comparison.
        warnings: Vec<Difference>,
    },
}

impl Chosen {
    /// The runs whose mean is the reference.
    pub fn averaged(&self) -> &[RunId] {
        match self {
            Self::Runs { averaged, .. } => averaged,
            Self::New | Self::Incomparable(..) => &[],
        }
    }

    /// All runs that drift is estimated from.
    pub fn drift(&self) -> Vec<RunId> {
        match self {
            Self::Runs {
                spread, earlier, ..
            } => [spread.as_slice(), &earlier.concat()].concat(),
            Self::New | Self::Incomparable(..) => Vec::new(),
        }
    }
}

/// The choice for all benchmarks.
#[derive(Debug, Clone)]
pub struct References {
    /// What each benchmark is compared with.
    pub chosen: BTreeMap<BenchmarkKey, Chosen>,
    /// The run whose benchmarks should all be there again, if there is one.
    pub expected: Option<RunId>,
    /// What was chosen, as people call it.
    pub words: String,
}

impl References {
    /// Facts that differ without forbidding the comparison, each once.
    pub fn warnings(&self) -> Vec<Difference> {
        let mut found: Vec<Difference> = Vec::new();
        for choice in self.chosen.values() {
            if let Chosen::Runs { warnings, .. } = choice {
                for warning in warnings {
                    if !found.contains(warning) {
                        found.push(warning.clone());
                    }
                }
            }
        }
        found
    }
}
