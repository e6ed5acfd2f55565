//! The stored runs that each benchmark of a run is compared with.

use std::collections::BTreeMap;

use crate::compare::Difference;
use crate::model::{BenchmarkKey, RunId};

/// The reference of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub enum ReferenceChoice {
    /// There is no run to compare with.
    New,
    /// There is a run, but these differences forbid the comparison.
    Incomparable(RunId, Vec<Difference>),
    /// There are runs to compare with, newest first.
    Runs {
        /// The runs whose mean is the reference.
        averaged: Vec<RunId>,
        /// The runs from which drift is estimated.
        spread: Vec<RunId>,
        /// Runs of earlier levels that also show drift: the noise stays the same when a new level is accepted.
        earlier: Vec<Vec<RunId>>,
        /// Differences that do not forbid the comparison.
        warnings: Vec<Difference>,
    },
}

impl ReferenceChoice {
    /// Returns the runs whose mean is the reference.
    pub fn averaged_runs(&self) -> &[RunId] {
        match self {
            Self::Runs { averaged, .. } => averaged,
            Self::New | Self::Incomparable(..) => &[],
        }
    }

    /// Returns all runs from which drift is estimated.
    pub fn drift_runs(&self) -> Vec<RunId> {
        match self {
            Self::Runs {
                spread, earlier, ..
            } => [spread.as_slice(), &earlier.concat()].concat(),
            Self::New | Self::Incomparable(..) => Vec::new(),
        }
    }
}

/// The references of all benchmarks.
#[derive(Debug, Clone)]
pub struct References {
    /// The reference of each benchmark.
    pub chosen: BTreeMap<BenchmarkKey, ReferenceChoice>,
    /// The run whose benchmarks are all expected in the new run, if there is one.
    pub expected: Option<RunId>,
    /// Description of the references, for people.
    pub words: String,
}

impl References {
    /// Returns the differences that do not forbid the comparison, each once.
    pub fn warnings(&self) -> Vec<Difference> {
        let mut found: Vec<Difference> = Vec::new();
        for choice in self.chosen.values() {
            if let ReferenceChoice::Runs { warnings, .. } = choice {
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
