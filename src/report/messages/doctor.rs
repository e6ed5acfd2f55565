//! Messages of `doctor`, which checks the machine.

use serde::{Serialize, Serializer};

use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{HostActivity, HostFacts, MachineState, Nanos};

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
