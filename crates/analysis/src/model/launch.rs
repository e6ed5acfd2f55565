//! One process of a bench executable, with its measurements of each benchmark.

use serde::{Deserialize, Serialize};

use super::{
    Benchmark, Extras, Nanos, ProcessUsage, SamplingSettings, Series, TargetFacts, Timestamp,
};

/// A process of a bench executable, with its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRecord {
    /// The process without its measurements.
    pub head: ProcessHead,
    /// Facts of its bench target.
    pub target_facts: TargetFacts,
    /// The benchmarks that the process was to run, in the order of the requests.
    pub benchmarks: Vec<BenchmarkInProcess>,
}

/// A process without its measurements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessHead {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// Ordinal of the process in the run, from 0.
    pub ordinal: u32,
    /// Number of processes that died before this one took over the rest of their work.
    pub attempt: u32,
    /// Time at which the process was started.
    pub started: Timestamp,
    /// Bytes of padding in the environment of the process.
    pub padding_bytes: u32,
    /// The code layout of the executable, from 0; `None` if it ran as built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
    /// The harness that the executable reported; `None` if it reported none.
    pub harness: Option<Harness>,
    /// Resources that the process used, if the system reports them.
    pub conduct: Option<ProcessUsage>,
    /// Why the process as a whole failed.
    pub failure: Option<String>,
}

/// The harness of a bench executable, as reported by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harness {
    /// Name of the harness.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Smallest step of its clock.
    #[serde(rename = "quantum_ns")]
    pub quantum: Nanos,
}

/// One benchmark in one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkInProcess {
    /// The benchmark as the executable announced it.
    pub benchmark: Benchmark,
    /// The settings with which it was sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold in force for the benchmark, a fraction.
    pub noise_threshold: f64,
    /// The samples, or the reason why there are none.
    pub outcome: ProcessOutcome,
    /// Measurements besides the samples.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// The outcome of a benchmark in a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessOutcome {
    /// It was measured.
    Measured(Series),
    /// It failed, for the reason given.
    Failed(String),
}
