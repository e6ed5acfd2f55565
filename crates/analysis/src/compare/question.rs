//! Questions (a candidate, its reference and a noise threshold) and the rules that decide them.

use serde::{Deserialize, Serialize};

use super::note::Note;
use crate::model::{DecisionSettings, MIN_PROCESSES, Measurement, Side, Test, Verdict};

/// The class of a host. It determines how far apart runs of identical code are assumed to be before any of them was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostClass {
    /// A machine that nobody else uses.
    Dedicated,
    /// A virtual machine, a container host or a CI runner.
    Shared,
}

impl HostClass {
    /// Classifies a machine by whether others use it, too. An unknown machine counts as shared: if a shared machine were treated as dedicated, its
    /// drift would be called a change.
    pub fn from_shared(shared: Option<bool>) -> Self {
        match shared {
            Some(false) => Self::Dedicated,
            Some(true) | None => Self::Shared,
        }
    }

    /// Returns the assumed (prior) standard deviation between the values of runs, a fraction.
    pub fn prior_sd(self) -> f64 {
        match self {
            Self::Dedicated => 0.01,
            Self::Shared => 0.03,
        }
    }
}

/// The stored runs that a measurement is compared with.
#[derive(Debug, Clone)]
pub struct Reference<'a> {
    /// The runs whose mean is the reference value, at least one; for a named baseline, its one run.
    pub averaged: Vec<&'a Measurement>,
    /// The runs from which the drift between runs is estimated, including those averaged.
    pub spread: Vec<&'a Measurement>,
    /// Runs of earlier levels, grouped by level, which also contribute to the estimate of the drift.
    pub earlier: Vec<Vec<&'a Measurement>>,
}

/// The question whether `candidate` is slower or faster than `reference` by more than the noise threshold.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The measurement to judge.
    pub candidate: &'a Measurement,
    /// The runs that it is compared with.
    pub reference: &'a Reference<'a>,
    /// Relative change that counts as noise, a fraction.
    pub noise_threshold: f64,
}

impl Question<'_> {
    /// Returns `Failed` if the candidate has too few processes with samples to be tested; otherwise `None`. `good` is the number of these processes.
    /// Adds notes about what is missing.
    pub(super) fn failure_verdict(&self, good: usize, notes: &mut Vec<Note>) -> Option<Verdict> {
        let failed = self.candidate.failures.len();
        if failed > 0 {
            notes.push(Note::ProcessesFailed {
                side: Side::Candidate,
                failed,
                good,
            });
        }
        if good == 0 {
            notes.push(Note::NoSamples {
                side: Side::Candidate,
            });
        }
        (good == 0 || failed > 0 && good < MIN_PROCESSES).then_some(Verdict::Failed)
    }
}

/// The rules that decide all questions of a family.
#[derive(Debug, Clone, Copy)]
pub struct TestPolicy {
    /// The test, its levels and the number of resamples. Each question has its own noise threshold.
    pub decision: DecisionSettings,
    /// Class of the host that measured the runs.
    pub host: HostClass,
    /// Base seed of all random numbers.
    pub seed: u64,
}

impl TestPolicy {
    /// Returns the test that decides.
    pub fn test(&self) -> Test {
        self.decision.analysis.test
    }
}
