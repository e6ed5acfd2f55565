//! A trial of the machine and the settings (`doctor --benches`).

use serde::Serialize;
use std::time::Duration;

use super::run::VerdictCounts;
use perfcheck_analysis::model::{BenchmarkKey, Tally, Verdict};

/// How often something happened, with one-sided bounds of its rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    /// How often it happened.
    pub count: usize,
    /// How often it could have happened.
    pub of: usize,
    /// The rate is at least this.
    pub lower: f64,
    /// The rate is at most this.
    pub upper: f64,
}

/// What the trials of `doctor --benches` say about the machine; after the benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "SelfTestFinished"))]
pub struct SelfTestFindings {
    /// The benchmarks in the order in which they are to be shown.
    #[serde(skip)]
    pub rows: Vec<SelfTestRow>,
    /// By how much one side was slowed down, a fraction.
    pub slowdown: f64,
    /// How many comparisons of each kind were asked for.
    pub trials: u32,
    /// How many rounds a comparison had at most.
    pub rounds: u32,
    /// The one-sided level for all benchmarks of a comparison together.
    pub significance_level: f64,
    /// The changes that were called where there was none.
    pub false_alarms: Rate,
    /// The slowdowns that were called `regressed`.
    pub found: Rate,
    /// The one-sided level of the bounds of both rates.
    pub bound_level: f64,
    /// The benchmarks that could not be tested.
    pub skipped: Vec<SkippedBenchmark>,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether the user stopped it before all trials had ended.
    pub interrupted: bool,
    /// The status that the process ends with.
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

/// What is known of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfTestRow {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Changes up to this are noise, a fraction.
    pub noise_threshold: f64,
    /// What was said of it against itself.
    pub same: Vec<Verdict>,
    /// What was said of it against itself, slowed down.
    pub slowed: Vec<Verdict>,
    /// How long all of it took.
    pub time: Duration,
}

impl SelfTestRow {
    /// Nothing is known yet.
    pub fn new(key: &BenchmarkKey, noise_threshold: f64) -> Self {
        Self {
            key: key.clone(),
            noise_threshold,
            same: Vec::new(),
            slowed: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// How often a change was called where there was none.
    pub fn false_alarms(&self) -> usize {
        let alarm = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        self.same.iter().copied().filter(|v| alarm(*v)).count()
    }

    /// How often it was compared with itself.
    pub fn compared_same(&self) -> usize {
        compared(&self.same)
    }

    /// How often the slowdown was found.
    pub fn found(&self) -> usize {
        times(&self.slowed, Verdict::Regressed)
    }

    /// How often it was compared with itself, slowed down.
    pub fn compared_slowed(&self) -> usize {
        compared(&self.slowed)
    }

    /// How often it was called faster although it was slowed down.
    pub(crate) fn wrong_direction(&self) -> usize {
        times(&self.slowed, Verdict::Improved)
    }

    /// Whether it could not be measured in any of the comparisons.
    pub fn has_failed(&self) -> bool {
        times(&self.same, Verdict::Failed) + times(&self.slowed, Verdict::Failed) > 0
    }

    /// Mean time of a comparison.
    pub(crate) fn seconds_per_verdict(&self) -> Option<f64> {
        let verdicts = self.same.len() + self.slowed.len();
        (verdicts > 0).then(|| self.time.as_secs_f64() / verdicts as f64)
    }
}

/// How often a benchmark was called what.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SelfTestBenchmark<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// Each verdict with its count, of comparisons of the benchmark with itself.
    same: VerdictCounts,
    /// Each verdict with its count, of comparisons of the benchmark with itself slowed down.
    slowed: VerdictCounts,
    /// Changes up to this are noise, a fraction.
    noise_threshold: f64,
    /// The mean time of a comparison in seconds; null without one.
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

fn compared(verdicts: &[Verdict]) -> usize {
    verdicts.len() - times(verdicts, Verdict::Failed)
}

fn times(verdicts: &[Verdict], wanted: Verdict) -> usize {
    verdicts
        .iter()
        .filter(|verdict| **verdict == wanted)
        .count()
}
