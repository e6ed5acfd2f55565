//! Messages of `doctor`, which checks the machine, and of `doctor --self-test`, which tries the machine and the settings with the user's benches.

use serde::{Serialize, Serializer};
use std::time::Duration;

use super::run::VerdictCounts;
use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{
    BenchmarkKey, HostActivity, HostFacts, MachineState, Nanos, Tally, Verdict,
};

/// The effect of a fact about the machine on measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The fact is as it should be.
    Good,
    /// The system does not reveal the fact.
    Unknown,
    /// The fact can be improved.
    Improvable,
    /// The fact makes results unsteady.
    Bad,
}

/// A fact about the machine, with advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorFinding {
    /// Topic of the fact.
    pub topic: &'static str,
    /// Effect of the fact on measurements.
    pub severity: Severity,
    /// The fact, in words.
    pub found: String,
    /// Why the fact matters and how to change it; null if there is nothing to do.
    pub advice: Option<String>,
    /// Commands that follow the advice.
    pub commands: Vec<String>,
}

/// A description of the machine. It follows the messages about single facts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorFinished"))]
pub struct DoctorFindings {
    /// Processor, architecture and operating system of the machine.
    #[serde(rename = "machine", serialize_with = "serialize_machine_name")]
    #[cfg_attr(test, schemars(with = "MachineDescription<'static>"))]
    pub host: HostFacts,
    /// State of the machine, read before the measurement.
    pub state: MachineState,
    /// Events on the machine during the measurement.
    #[serde(rename = "meanwhile")]
    pub happenings: HostActivity,
    /// The findings, in the order in which they are shown.
    #[serde(skip)]
    pub findings: Vec<DoctorFinding>,
    /// The noise of each workload.
    #[serde(skip)]
    pub noise: Vec<NoiseFindings>,
    /// Maximum number of rounds of a side-by-side comparison, if the user sets none.
    pub usual_rounds: u32,
    /// Noise threshold of a side-by-side comparison, as a fraction, if the user sets none.
    pub usual_threshold: f64,
    /// Statistical power: the share of comparisons that must find a slowdown for it to count as found.
    pub power: f64,
    /// Two-sided confidence level of `difference`.
    pub confidence_level: f64,
    /// Random seed.
    pub seed: u64,
    /// Exit code of the command.
    pub exit_code: u8,
}

/// The noise of one workload, which was compared with itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorNoise"))]
pub struct NoiseFindings {
    /// Resource that limits the workload: `processor` or `memory`.
    pub workload: String,
    /// Step of the clock that timed the workload, in nanoseconds.
    #[serde(rename = "clock_step_ns")]
    pub clock_step: Option<Nanos>,
    /// Number of rounds that compared the workload with itself.
    pub rounds: usize,
    /// Duration of the rounds in seconds.
    pub seconds: f64,
    /// Difference between both sides of the workload, as a fraction; null with fewer than five rounds.
    pub difference: Option<Estimate>,
    /// Smallest slowdown that a comparison of `usual_rounds` finds, as a fraction; null with fewer than five rounds.
    pub smallest_change: Option<f64>,
    /// Effort to find slowdowns of several sizes.
    pub resolvable: Vec<Resolvable>,
}

/// The effort to find a slowdown of a given size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Resolvable {
    /// The slowdown, as a fraction.
    pub change: f64,
    /// Noise threshold that is needed to find it, as a fraction.
    pub noise_threshold: f64,
    /// Number of rounds that find it; null if 1000 are too few.
    pub rounds: Option<u32>,
    /// Maximum number of rounds to allow for the comparison; null if 1000 are too few.
    pub rounds_at_most: Option<u32>,
    /// Duration of the rounds in seconds; null if 1000 rounds are too few.
    pub seconds: Option<f64>,
}

/// The processor, architecture and operating system of a machine.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MachineDescription<'a> {
    /// Model of the processor, as the system names it.
    cpu: &'a str,
    /// Instruction set, such as `x86_64`.
    architecture: &'a str,
    /// Operating system, such as `linux`.
    os: &'a str,
    /// Release of the kernel.
    kernel: &'a str,
}

fn serialize_machine_name<S: Serializer>(
    host: &HostFacts,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let name = MachineDescription {
        cpu: &host.cpu,
        architecture: &host.architecture,
        os: &host.os,
        kernel: &host.kernel,
    };
    name.serialize(serializer)
}

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

/// A summary of the trials of `doctor --self-test`. It follows the messages about the benchmarks.
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
