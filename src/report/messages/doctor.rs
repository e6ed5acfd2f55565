//! What is known of the machine (`doctor`).

use serde::{Serialize, Serializer};

use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{Happenings, HostFacts, MachineState, Nanos};

/// What a fact means for measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It is as it should be.
    Good,
    /// The system does not tell.
    Unknown,
    /// It can be better.
    Improvable,
    /// It makes results unsteady.
    Bad,
}

/// A fact about the machine and what to think of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorFinding {
    /// What the fact is about.
    pub topic: &'static str,
    /// What it means for measurements.
    pub severity: Severity,
    /// The fact, in words.
    pub found: String,
    /// Why it matters and what to do; null where nothing has to be done.
    pub advice: Option<String>,
    /// The commands that do it.
    pub commands: Vec<String>,
}

/// The machine as a whole; after all findings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorFinished"))]
pub struct DoctorFindings {
    /// The machine by name.
    #[serde(rename = "machine", serialize_with = "by_name")]
    #[cfg_attr(test, schemars(with = "MachineName<'static>"))]
    pub host: HostFacts,
    /// What was read of it before the measurement.
    pub state: MachineState,
    /// What it did during the measurement.
    #[serde(rename = "meanwhile")]
    pub happenings: Happenings,
    /// The findings, in the order in which they are shown.
    #[serde(skip)]
    pub findings: Vec<DoctorFinding>,
    /// The noise, workload by workload.
    #[serde(skip)]
    pub noise: Vec<NoiseFindings>,
    /// How many rounds an A/B comparison has at most where the user says nothing.
    pub usual_rounds: u32,
    /// The noise threshold of an A/B comparison where the user says nothing, a fraction.
    pub usual_threshold: f64,
    /// The share of comparisons that find a slowdown which is said to be found.
    pub power: f64,
    /// The two-sided level of `difference`.
    pub confidence_level: f64,
    /// The seed of everything random.
    pub seed: u64,
    /// The status that the process ends with.
    pub exit_code: u8,
}

/// What one workload against itself has shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorNoise"))]
pub struct NoiseFindings {
    /// What the time of the workload hangs on: `processor` or `memory`.
    pub workload: String,
    /// The step of the clock that it was timed by, nanoseconds.
    #[serde(rename = "clock_step_ns")]
    pub clock_step: Option<Nanos>,
    /// How many rounds the workload was measured against itself.
    pub rounds: usize,
    /// How many seconds they took.
    pub seconds: f64,
    /// The difference of its two sides, a fraction; null with fewer than five rounds.
    pub difference: Option<Estimate>,
    /// The smallest slowdown that a comparison of `usual_rounds` finds, a fraction; null with fewer than five rounds.
    pub smallest_change: Option<f64>,
    /// What it takes to find slowdowns of some sizes.
    pub resolvable: Vec<Resolvable>,
}

/// What it takes to find a slowdown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Resolvable {
    /// The slowdown, a fraction.
    pub change: f64,
    /// The noise threshold that it needs, a fraction.
    pub noise_threshold: f64,
    /// How many rounds find it; null where 1000 are too few.
    pub rounds: Option<u32>,
    /// How many rounds the comparison must be allowed; null where 1000 are too few.
    pub rounds_at_most: Option<u32>,
    /// How many seconds the rounds take; null where 1000 rounds are too few.
    pub seconds: Option<f64>,
}

/// A machine by name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MachineName<'a> {
    /// The model of the processor, as the system names it.
    cpu: &'a str,
    /// The instruction set, e.g. `x86_64`.
    architecture: &'a str,
    /// The operating system, e.g. `linux`.
    os: &'a str,
    /// The release of the kernel.
    kernel: &'a str,
}

fn by_name<S: Serializer>(host: &HostFacts, serializer: S) -> Result<S::Ok, S::Error> {
    let name = MachineName {
        cpu: &host.cpu,
        architecture: &host.architecture,
        os: &host.os,
        kernel: &host.kernel,
    };
    name.serialize(serializer)
}
