//! Messages of `doctor`, which checks the machine, and of `doctor --self-test`, which tries the machine and the settings with the user's benches.

use serde::{Serialize, Serializer};
use std::time::Duration;

use super::run::VerdictCounts;
use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{
    BenchmarkKey, HostActivity, HostFacts, MachineState, Nanos, Tally, Verdict,
};

/// How a fact about the machine affects measurements.
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

/// A fact about the machine that affects measurements, with advice on how to change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorFinding {
    /// Topic of the fact in one or two words, such as `frequency`.
    pub topic: &'static str,
    /// Effect of the fact on measurements.
    pub severity: Severity,
    /// The fact, in words.
    pub found: String,
    /// Why the fact matters and how to change it; null if there is nothing to do.
    pub advice: Option<String>,
    /// Shell commands that carry out the advice; empty if there are none.
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
    /// What happened on the machine during the measurement, such as the load that other programs caused.
    #[serde(rename = "meanwhile")]
    pub happenings: HostActivity,
    /// The facts about the machine, in the order in which they are shown.
    #[serde(skip)]
    pub findings: Vec<DoctorFinding>,
    /// How much each workload differs from itself on this machine.
    #[serde(skip)]
    pub noise: Vec<NoiseFindings>,
    /// Maximum number of rounds of a side-by-side comparison, if the user sets none.
    pub usual_rounds: u32,
    /// Noise threshold of a side-by-side comparison, as a fraction, if the user sets none.
    pub usual_threshold: f64,
    /// Statistical power, as a fraction: the share of comparisons that must find a slowdown for it to count as found.
    pub power: f64,
    /// Two-sided confidence level of `difference` in `doctor-noise`, as a fraction.
    pub confidence_level: f64,
    /// Seed of the random numbers that the measurement used.
    pub seed: u64,
    /// Exit code of the command.
    pub exit_code: u8,
}

/// The noise of one workload: how much it differs when it is compared with itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorNoise"))]
pub struct NoiseFindings {
    /// Resource that limits the workload: `processor` or `memory`.
    pub workload: String,
    /// Step of the clock that timed the workload, in nanoseconds; null if unknown.
    #[serde(rename = "clock_step_ns")]
    pub clock_step: Option<Nanos>,
    /// Number of rounds that compared the workload with itself.
    pub rounds: usize,
    /// Duration of the rounds in seconds.
    pub seconds: f64,
    /// Difference that was measured between the two sides, which ran the same executable, as a fraction with its interval. Null with fewer than five
    /// rounds.
    pub difference: Option<Estimate>,
    /// Smallest slowdown that a comparison finds within `usual_rounds` rounds, as a fraction; null with fewer than five rounds.
    pub smallest_change: Option<f64>,
    /// How many rounds and how much time it takes to find slowdowns, with an entry for each of several sizes.
    pub resolvable: Vec<Resolvable>,
}

/// How many rounds and how much time it takes to find a slowdown of a given size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Resolvable {
    /// The slowdown, as a fraction.
    pub change: f64,
    /// Noise threshold that is needed to find the slowdown, as a fraction.
    pub noise_threshold: f64,
    /// Number of rounds after which a comparison finds the slowdown; null if 1000 are too few.
    pub rounds: Option<u32>,
    /// Maximum number of rounds that the comparison must be allowed (`--rounds`) to find the slowdown: its tests are spread over all of them. Null if
    /// 1000 are too few.
    pub rounds_at_most: Option<u32>,
    /// Duration of the rounds in `rounds`, in seconds; null if 1000 rounds are too few.
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

/// How often an event happened, with one-sided confidence bounds of its rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    /// Number of times that the event happened.
    pub count: usize,
    /// Number of times that the event could have happened.
    pub of: usize,
    /// Lower bound of the rate, as a fraction, at the level `bound_level`.
    pub lower: f64,
    /// Upper bound of the rate, as a fraction, at the level `bound_level`.
    pub upper: f64,
}

/// A summary of all comparisons that `doctor --self-test` made. It follows the messages about the benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "SelfTestFinished"))]
pub struct SelfTestFindings {
    /// The benchmarks, in the order in which they are shown.
    #[serde(skip)]
    pub rows: Vec<SelfTestRow>,
    /// Slowdown that was applied to one side, as a fraction.
    pub slowdown: f64,
    /// Number of comparisons that the user requested for each benchmark and kind: with itself, and with itself slowed down.
    pub trials: u32,
    /// Maximum number of rounds of a comparison.
    pub rounds: u32,
    /// One-sided significance level that all benchmarks of a comparison share.
    pub significance_level: f64,
    /// How often a comparison of an executable with itself reported a change.
    pub false_alarms: Rate,
    /// How often a comparison reported the applied slowdown as `regressed`.
    pub found: Rate,
    /// One-sided confidence level of the bounds of `false_alarms` and `found`, as a fraction.
    pub bound_level: f64,
    /// Benchmarks that could not be tested, each with the reason.
    pub skipped: Vec<SkippedBenchmark>,
    /// Seed of the random numbers that the comparisons used.
    pub seed: u64,
    /// Whether the user interrupted the command. If so, only completed comparisons count.
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

/// All comparisons that `doctor --self-test` made of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfTestRow {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Noise threshold, as a fraction.
    pub noise_threshold: f64,
    /// Verdicts of the comparisons of the benchmark with itself, in which any change is a false alarm.
    pub same: Vec<Verdict>,
    /// Verdicts of the comparisons in which one side of the same benchmark was slowed down.
    pub slowed: Vec<Verdict>,
    /// Duration of all these comparisons.
    pub time: Duration,
}

impl SelfTestRow {
    /// Creates a row for a benchmark that has not been compared yet.
    pub fn new(key: &BenchmarkKey, noise_threshold: f64) -> Self {
        Self {
            key: key.clone(),
            noise_threshold,
            same: Vec::new(),
            slowed: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// Returns how often a comparison of the benchmark with itself reported a change.
    pub fn false_alarms(&self) -> usize {
        let alarm = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        self.same.iter().copied().filter(|v| alarm(*v)).count()
    }

    /// Returns how often the benchmark was compared with itself. Comparisons that failed do not count.
    pub fn comparisons_with_itself(&self) -> usize {
        count_compared(&self.same)
    }

    /// Returns how often a comparison reported the applied slowdown.
    pub fn slowdowns_found(&self) -> usize {
        count_verdict(&self.slowed, Verdict::Regressed)
    }

    /// Returns how often the benchmark was compared with itself slowed down. Comparisons that failed do not count.
    pub fn comparisons_with_slowed(&self) -> usize {
        count_compared(&self.slowed)
    }

    /// Returns how often the benchmark was reported as faster although it was slowed down.
    pub(crate) fn wrong_direction(&self) -> usize {
        count_verdict(&self.slowed, Verdict::Improved)
    }

    /// Returns true if any of the comparisons failed to measure the benchmark.
    pub fn has_failed(&self) -> bool {
        count_verdict(&self.same, Verdict::Failed) + count_verdict(&self.slowed, Verdict::Failed)
            > 0
    }

    /// Returns the mean duration of a comparison in seconds. Returns `None` if there were no comparisons.
    pub(crate) fn seconds_per_verdict(&self) -> Option<f64> {
        let verdicts = self.same.len() + self.slowed.len();
        (verdicts > 0).then(|| self.time.as_secs_f64() / verdicts as f64)
    }
}

/// The verdicts of all comparisons that `doctor --self-test` made of one benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SelfTestBenchmark<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// For each verdict, the number of comparisons of the benchmark with itself that had it.
    same: VerdictCounts,
    /// For each verdict, the number of comparisons that had it when one side was slowed down.
    slowed: VerdictCounts,
    /// Noise threshold, as a fraction: smaller changes are noise.
    noise_threshold: f64,
    /// Mean duration of a comparison in seconds; null if there were no comparisons.
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
