//! Questions and the rules that decide them. A question asks whether a candidate is slower or faster than its reference by more than the noise
//! threshold.

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
    /// drift would be reported as a change.
    pub fn from_shared(shared: Option<bool>) -> Self {
        match shared {
            Some(false) => Self::Dedicated,
            Some(true) | None => Self::Shared,
        }
    }

    /// Returns the standard deviation between runs of identical code, as a fraction, that is assumed before any runs have been measured (the prior).
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
    /// The runs whose mean is the reference value. There is at least one. For a named baseline, it is the run that the name stands for.
    pub averaged: Vec<&'a Measurement>,
    /// The runs from which the drift between runs is estimated. They include the runs in `averaged`.
    pub spread: Vec<&'a Measurement>,
    /// Runs of earlier levels of the history, one list for each level. They also contribute to the estimate of the drift.
    pub earlier: Vec<Vec<&'a Measurement>>,
}

/// The question whether `candidate` is slower or faster than `reference` by more than the noise threshold.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The measurement to judge.
    pub candidate: &'a Measurement,
    /// The runs that the candidate is compared with.
    pub reference: &'a Reference<'a>,
    /// The largest relative change that still counts as noise, as a fraction.
    pub noise_threshold: f64,
}

impl Question<'_> {
    /// Returns `Failed` if the candidate has too few processes with samples to be tested, and `None` otherwise. `good` is the number of the
    /// candidate's processes that have samples. Adds notes about processes that failed and about missing samples.
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

/// The rules that decide questions about stored runs. They are the same for all questions that are decided together.
#[derive(Debug, Clone, Copy)]
pub struct TestPolicy {
    /// The test, its significance and confidence levels, and the number of resamples. The noise threshold is not here because each question has its
    /// own.
    pub decision: DecisionSettings,
    /// The class of the host on which the runs were measured.
    pub host: HostClass,
    /// The seed from which all random numbers are derived.
    pub seed: u64,
}

impl TestPolicy {
    /// Returns the test that decides.
    pub fn test(&self) -> Test {
        self.decision.analysis.test
    }
}
