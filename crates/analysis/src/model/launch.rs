//! A launch: one process of a bench executable, and what it gave of each benchmark.

use serde::{Deserialize, Serialize};

use super::{Benchmark, Conduct, Extras, Nanos, SamplingSettings, Series, TargetFacts, Timestamp};

/// What one process of a bench executable was and gave.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchRecord {
    /// Its head.
    pub head: LaunchHead,
    /// Facts of its target.
    pub target_facts: TargetFacts,
    /// The benchmarks that it was asked for, in the order of asking.
    pub benchmarks: Vec<LaunchedBenchmark>,
}

/// A launch without what it measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchHead {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// Ordinal in the run, from 0.
    pub ordinal: u32,
    /// 0; counts up when a process died and another one took over what was left.
    pub attempt: u32,
    /// When the process was started.
    pub started: Timestamp,
    /// Bytes of padding in its environment.
    pub padding_bytes: u32,
    /// Which layout of its code the executable had, from 0; `None`: it ran as it was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
    /// What it said about itself; `None` if it never did.
    pub harness: Option<Harness>,
    /// How the process ran, where the system tells.
    pub conduct: Option<Conduct>,
    /// Why the launch as a whole went wrong, in words.
    pub failure: Option<String>,
}

/// What a bench executable says about itself.
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

/// One benchmark in one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchedBenchmark {
    /// The benchmark as announced.
    pub benchmark: Benchmark,
    /// How it was sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold in force for it, a fraction.
    pub noise_threshold: f64,
    /// What came of it.
    pub outcome: LaunchOutcome,
    /// What was measured besides the samples.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// What came of a benchmark in a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchOutcome {
    /// It was measured.
    Measured(Series),
    /// It was not, for the reason given.
    Failed(String),
}
