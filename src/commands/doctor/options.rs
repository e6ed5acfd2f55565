//! Options of `cargo perfcheck doctor`.

use std::time::Duration;

/// Options of `cargo perfcheck doctor`.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// Duration of the noise measurement
    pub time: Duration,
    /// Maximum rounds of each workload; `None` for as many as fit
    pub rounds: Option<u32>,
    /// Seed of all randomness; `None` for a fresh one
    pub seed: Option<u64>,
}
