//! What is known of a run at its two ends: when it begins, and when it ends by itself with its verdicts.

use serde::{Deserialize, Serialize};

use super::{
    Acceptance, BenchmarkKey, DecisionSettings, Environment, GitState, Partition, Run, RunId,
    Timestamp, Verdict,
};

/// What is known when a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// When it began.
    pub started: Timestamp,
    /// The checkout, where there is one.
    pub git: Option<GitState>,
    /// Machine and build.
    pub environment: Environment,
    /// One-minute load average at the start, where the system tells.
    pub load: Option<f64>,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// Settings of the decision at the level of the run.
    pub decision: DecisionSettings,
    /// Version of cargo-perfcheck.
    pub tool_version: String,
    /// The name of its build in the cache of this machine, if it was built there.
    pub build: Option<String>,
    /// Which part of a suite it measures, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
}

impl Run {
    /// What was known when it began, for another store: but for its build, which lies in the cache of one machine.
    pub fn begun(&self) -> NewRun {
        NewRun {
            started: self.started,
            git: self.git.clone(),
            environment: self.environment.clone(),
            load: self.load,
            seed: self.seed,
            decision: self.decision,
            tool_version: self.tool_version.clone(),
            build: None,
            partition: self.partition.clone(),
        }
    }
}

/// What is known when a run ends by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// When it ended.
    pub finished: Timestamp,
    /// Whether it may serve as a reference from now on.
    pub acceptance: Acceptance,
    /// The exit code that it ends with.
    pub exit_code: u8,
    /// What was found, also about benchmarks that the run did not measure.
    pub verdicts: Vec<RunVerdict>,
    /// What was concluded of the run, in bytes that the store keeps without reading them.
    pub conclusion: Option<Vec<u8>>,
}

/// What a run found about one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// The run's value: nanoseconds of one iteration, for lists and for the spread between runs.
    pub typical_ns: Option<f64>,
    /// Relative change against the reference, a fraction.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change); `None` where the data do not give one.
    pub standard_error: Option<f64>,
    /// The run that it was compared with. That run may since have been deleted.
    pub reference: Option<RunId>,
}
