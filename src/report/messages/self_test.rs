//! Messages of `doctor --benches`, which tries the machine and the settings with the user's benches.

use serde::Serialize;
use std::time::Duration;

use super::run::VerdictCounts;
use perfcheck_analysis::model::{BenchmarkKey, Tally, Verdict};

/// The frequency of an event, with one-sided bounds of its rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    /// Number of times that the event happened.
    pub count: usize,
    /// Number of times that the event could have happened.
    pub of: usize,
    /// Lower bound of the rate.
    pub lower: f64,
    /// Upper bound of the rate.
    pub upper: f64,
}

/// A summary of the trials of `doctor --benches`. It follows the messages about the benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "SelfTestFinished"))]
pub struct SelfTestFindings {
    /// The benchmarks, in the order in which they are shown.
    #[serde(skip)]
    pub rows: Vec<SelfTestRow>,
    /// Slowdown that was applied to one side, as a fraction.
    pub slowdown: f64,
    /// Requested number of comparisons of each kind.
    pub trials: u32,
    /// Maximum number of rounds of a comparison.
    pub rounds: u32,
    /// One-sided significance level for all benchmarks of a comparison together.
    pub significance_level: f64,
    /// Changes that were reported although there was none.
    pub false_alarms: Rate,
    /// Slowdowns that were reported as `regressed`.
    pub found: Rate,
    /// One-sided confidence level of the bounds of both rates.
    pub bound_level: f64,
    /// Benchmarks that could not be tested.
    pub skipped: Vec<SkippedBenchmark>,
    /// Random seed.
    pub seed: u64,
    /// Whether the user interrupted the trials.
    pub interrupted: bool,
    /// Exit code of the command.
    pub exit_code: u8,
}

/// A benchmark that could not be tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SkippedBenchmark {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// The reason, in words.
    pub why: String,
}

/// The trials of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfTestRow {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Noise threshold, as a fraction.
    pub noise_threshold: f64,
    /// Verdicts of comparisons with itself.
    pub same: Vec<Verdict>,
    /// Verdicts of comparisons with itself, one side slowed down.
    pub slowed: Vec<Verdict>,
    /// Duration of all trials.
    pub time: Duration,
}

impl SelfTestRow {
    /// Creates a row without trials.
    pub fn new(key: &BenchmarkKey, noise_threshold: f64) -> Self {
        Self {
            key: key.clone(),
            noise_threshold,
            same: Vec::new(),
            slowed: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// Returns how often a change was reported although there was none.
    pub fn false_alarms(&self) -> usize {
        let alarm = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        self.same.iter().copied().filter(|v| alarm(*v)).count()
    }

    /// Returns how often the benchmark was compared with itself; failures do not count.
    pub fn comparisons_with_itself(&self) -> usize {
        count_compared(&self.same)
    }

    /// Returns how often the slowdown was reported.
    pub fn slowdowns_found(&self) -> usize {
        count_verdict(&self.slowed, Verdict::Regressed)
    }

    /// Returns how often the benchmark was compared with itself slowed down; failures do not count.
    pub fn comparisons_with_slowed(&self) -> usize {
        count_compared(&self.slowed)
    }

    /// Returns how often the benchmark was reported as faster although it was slowed down.
    pub(crate) fn wrong_direction(&self) -> usize {
        count_verdict(&self.slowed, Verdict::Improved)
    }

    /// Reports whether any of the comparisons failed to measure the benchmark.
    pub fn has_failed(&self) -> bool {
        count_verdict(&self.same, Verdict::Failed) + count_verdict(&self.slowed, Verdict::Failed)
            > 0
    }

    /// Returns the mean duration of a comparison, in seconds.
    pub(crate) fn seconds_per_verdict(&self) -> Option<f64> {
        let verdicts = self.same.len() + self.slowed.len();
        (verdicts > 0).then(|| self.time.as_secs_f64() / verdicts as f64)
    }
}

/// The verdicts that a benchmark had in all trials.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SelfTestBenchmark<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// Number of comparisons with itself that had each verdict.
    same: VerdictCounts,
    /// Number of comparisons with itself, one side slowed down, that had each verdict.
    slowed: VerdictCounts,
    /// Noise threshold, as a fraction: smaller changes are noise.
    noise_threshold: f64,
    /// Mean duration of a comparison in seconds; null without one.
    seconds_per_verdict: Option<f64>,
}

impl<'a> From<&'a SelfTestRow> for SelfTestBenchmark<'a> {
    fn from(row: &'a SelfTestRow) -> Self {
        Self {
            benchmark: &row.key,
            same: (&row.same.iter().copied().collect::<Tally>()).into(),
            slowed: (&row.slowed.iter().copied().collect::<Tally>()).into(),
            noise_threshold: row.noise_threshold,
            seconds_per_verdict: row.seconds_per_verdict(),
        }
    }
}

fn count_compared(verdicts: &[Verdict]) -> usize {
    verdicts.len() - count_verdict(verdicts, Verdict::Failed)
}

fn count_verdict(verdicts: &[Verdict], wanted: Verdict) -> usize {
    verdicts
        .iter()
        .filter(|verdict| **verdict == wanted)
        .count()
}
