//! What is asked, and by which rules it is decided.

use serde::{Deserialize, Serialize};

use super::note::Note;
use crate::model::{DecisionSettings, MIN_LAUNCHES, Measurement, Side, Test, Verdict};

/// How far runs of identical code drift apart on a host, before any run has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostClass {
    /// A machine of one's own.
    Dedicated,
    /// A virtual machine, a container host, a CI runner.
    Shared,
}

impl HostClass {
    /// Classifies a machine of which it is known, or not, whether others use it. An unknown machine counts as shared:
    /// to take it for a quiet one would call its drift a change.
    pub fn from_shared(shared: Option<bool>) -> Self {
        match shared {
            Some(false) => Self::Dedicated,
            Some(true) | None => Self::Shared,
        }
    }

    /// The prior standard deviation of a run's value, as a fraction.
    pub fn prior_sd(self) -> f64 {
        match self {
            Self::Dedicated => 0.01,
            Self::Shared => 0.03,
        }
    }
}

/// What a measurement is compared with.
#[derive(Debug, Clone)]
pub struct Reference<'a> {
    /// The runs whose mean is the reference value: one for a named baseline. Never empty.
    pub averaged: Vec<&'a Measurement>,
    /// The runs from which the drift between runs is estimated; contains those averaged.
    pub spread: Vec<&'a Measurement>,
    /// Runs of earlier levels, level by level, from which it is estimated as well.
    pub earlier: Vec<Vec<&'a Measurement>>,
}

/// Is `new` slower or faster than `reference` by more than the threshold?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The measurement in question.
    pub candidate: &'a Measurement,
    /// What it is compared with.
    pub reference: &'a Reference<'a>,
    /// Relative change that counts as noise, a fraction.
    pub noise_threshold: f64,
}

impl Question<'_> {
    /// The verdict of a candidate that has too few launches with samples, `good` of them, to be tested; with notes on what is missing.
    pub(super) fn candidate_failed(&self, good: usize, notes: &mut Vec<Note>) -> Option<Verdict> {
        let failed = self.candidate.failures.len();
        if failed > 0 {
            notes.push(Note::LaunchesFailed {
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
        (good == 0 || failed > 0 && good < MIN_LAUNCHES).then_some(Verdict::Failed)
    }
}

/// How all questions of a family are decided.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The test, its levels and the number of resamples. The noise threshold is that of each question.
    pub decision: DecisionSettings,
    /// Where the runs were measured.
    pub host: HostClass,
    /// Base seed of everything random.
    pub seed: u64,
}

impl Rules {
    /// The test that decides.
    pub fn test(&self) -> Test {
        self.decision.analysis.test
    }
}
