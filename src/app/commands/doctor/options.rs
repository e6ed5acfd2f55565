//! What `cargo perfcheck doctor` is asked for.

use std::time::Duration;

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoctorOptions {
    /// How long to measure the noise.
    pub time: Duration,
    /// Rounds of each workload at most; `None`: as many as fit.
    pub rounds: Option<u32>,
    /// Seed of everything random.
    pub seed: Option<u64>,
}
