//! What is known of the machine (`doctor`).

use serde::Serialize;

use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::{Happenings, HostFacts, MachineState};

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

/// A fact and what to think of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorFinding {
    /// What it is about.
    pub topic: &'static str,
    /// What it means.
    pub severity: Severity,
    /// The fact.
    pub found: String,
    /// What to do, if anything.
    pub advice: Option<Advice>,
}

/// What to do about a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Why, and what.
    pub what: String,
    /// Commands that do it, one a line.
    pub commands: Vec<String>,
}

/// Everything that is known of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorFindings {
    /// The machine by name.
    pub host: HostFacts,
    /// What was read of it.
    pub state: MachineState,
    /// What it did while the noise was measured.
    pub happenings: Happenings,
    /// The findings, in the order in which they are shown.
    pub findings: Vec<DoctorFinding>,
    /// The noise, workload by workload.
    pub noise: Vec<NoiseFindings>,
    /// Rounds of a comparison at most, where the user says nothing.
    pub usual_rounds: u32,
    /// Noise threshold where the user says nothing.
    pub usual_threshold: f64,
    /// Share of comparisons that find a slowdown which is said to be found.
    pub power: f64,
    /// Level of the intervals.
    pub confidence_level: f64,
    /// The seed.
    pub seed: u64,
    /// The status that the process ends with.
    pub exit_code: u8,
}

/// A fact about the machine and what to think of it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorFinding"))]
pub(crate) struct DoctorFindingMessage<'a> {
    /// What the fact is about.
    topic: &'a str,
    /// What it means for measurements.
    severity: Severity,
    /// The fact, in words.
    found: &'a str,
    /// Why it matters and what to do; null where nothing has to be done.
    advice: Option<&'a str>,
    /// The commands that do it.
    commands: &'a [String],
}

/// What one workload against itself has shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DoctorNoise"))]
pub struct NoiseFindings {
    /// What the time of the workload hangs on: `processor` or `memory`.
    pub workload: String,
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

/// The machine as a whole; after all findings.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DoctorFinished<'a> {
    /// The machine by name.
    machine: MachineName<'a>,
    /// What was read of it before the measurement.
    state: &'a MachineState,
    /// What it did during the measurement.
    meanwhile: &'a Happenings,
    /// How many rounds an A/B comparison has at most where the user says nothing.
    usual_rounds: u32,
    /// The noise threshold of an A/B comparison where the user says nothing, a fraction.
    usual_threshold: f64,
    /// The share of comparisons that find a slowdown which is said to be found.
    power: f64,
    /// The two-sided level of `difference`.
    confidence_level: f64,
    /// The seed of everything random.
    seed: u64,
    /// The status that the process ends with.
    exit_code: u8,
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

impl<'a> From<&'a DoctorFinding> for DoctorFindingMessage<'a> {
    fn from(finding: &'a DoctorFinding) -> Self {
        let advice = finding.advice.as_ref();
        Self {
            topic: finding.topic,
            severity: finding.severity,
            found: &finding.found,
            advice: advice.map(|advice| advice.what.as_str()),
            commands: advice.map_or(&[], |advice| &advice.commands),
        }
    }
}

impl<'a> From<&'a DoctorFindings> for DoctorFinished<'a> {
    fn from(findings: &'a DoctorFindings) -> Self {
        Self {
            machine: (&findings.host).into(),
            state: &findings.state,
            meanwhile: &findings.happenings,
            usual_rounds: findings.usual_rounds,
            usual_threshold: findings.usual_threshold,
            power: findings.power,
            confidence_level: findings.confidence_level,
            seed: findings.seed,
            exit_code: findings.exit_code,
        }
    }
}

impl<'a> From<&'a HostFacts> for MachineName<'a> {
    fn from(host: &'a HostFacts) -> Self {
        Self {
            cpu: &host.cpu,
            architecture: &host.architecture,
            os: &host.os,
            kernel: &host.kernel,
        }
    }
}
