//! What `cargo perfcheck doctor` is asked for.

use std::time::Duration;

/// Look at the machine.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// How long to measure the noise.
    pub time: Duration,
    /// Rounds of each workload at most; `None`: as many as fit.
    pub rounds: Option<u32>,
    /// Seed of everything random; `None`: a fresh one.
    pub seed: Option<u64>,
}
