//! What an explanation is made from, and the sentences that it is made of.

use serde_json::Value;

use crate::compare::{Comparison, Difference, HostSigns, Plan};
use crate::findings::Method;
use crate::model::{BenchmarkKey, Failure, GitState, Metric, Run, RunId, Verdict};

/// A verdict reached again from what is stored.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// Which test decided.
    pub method: Method,
    /// The comparison; `None` where there was nothing to compare.
    pub comparison: Option<Comparison>,
    /// The runs it was compared with, newest first.
    pub reference: Vec<RunId>,
    /// The runs from which the drift between runs was estimated.
    pub spread: Vec<RunId>,
    /// What makes the sides incomparable.
    pub blocking: Vec<Difference>,
    /// Whether it gives the stored verdict and change.
    pub agrees: bool,
    /// The second measurement, where one took the place of the first.
    pub confirmed: Option<Confirmed>,
}

/// A hit that was measured again, both sides in turn.
#[derive(Debug, Clone)]
pub struct Confirmed {
    /// The run of the reference's side.
    pub base: RunId,
    /// The run of the candidate's side.
    pub candidate: RunId,
    /// What the stored numbers alone had said, where they are still there.
    pub first_verdict: Option<Verdict>,
    /// And which change.
    pub first_change: Option<f64>,
}

/// What one run measured of the benchmark.
#[derive(Debug, Clone)]
pub struct MeasuredSide {
    /// The run.
    pub run: RunId,
    /// When it began, RFC 3339.
    pub started: String,
    /// The checkout.
    pub git: Option<GitState>,
    /// Launches with samples; with A/B rounds.
    pub launches: usize,
    /// Samples that decide, of all launches together.
    pub samples: usize,
}

/// Everything that is known of one verdict.
#[derive(Debug, Clone)]
pub struct Explanation<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// What its samples mean.
    pub metric: &'a Metric,
    /// The run that has the verdict.
    pub run: &'a Run,
    /// The verdict, as it was written down.
    pub verdict: Verdict,
    /// The change, as it was written down, a fraction.
    pub change: Option<f64>,
    /// The run that it was compared with, as it was written down.
    pub reference: Option<RunId>,
    /// What the run in question measured; with A/B the candidate's side. `None` without measurement.
    pub candidate: Option<MeasuredSide>,
    /// What the runs measured that it was compared with, newest first, as far as they are still there.
    pub base: Vec<MeasuredSide>,
    /// What the run saw of its host.
    pub signs: HostSigns,
    /// The launches that failed.
    pub failures: &'a [Failure],
    /// How the verdict was reached; `None` where that is not known any more.
    pub replayed: Option<&'a Replayed>,
    /// The plan of an A/B measurement.
    pub plan: Option<&'a Plan>,
}

/// A sentence or a few about one thing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// What it is about, one word.
    pub about: &'static str,
    /// In words.
    pub text: String,
    /// Its numbers, an object.
    pub numbers: Value,
}

impl Statement {
    pub(super) fn new(about: &'static str, text: impl Into<String>, numbers: Value) -> Self {
        Self {
            about,
            text: text.into(),
            numbers,
        }
    }
}
