//! Stand-ins for the functions that only Linux has. On other systems they do nothing, and return `None` or an error.

use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use super::types::{TimeSample, TimeSamplingError};

/// Does nothing. On this system, a process that leaves its group cannot be made a child of this process.
pub fn adopt_orphans() {}

/// Returns an empty list, because this system does not list the children of a process.
pub fn list_children() -> Vec<u32> {
    Vec::new()
}

/// Does nothing, because the children of this process are not known on this system.
pub fn kill_children_except(_: &[u32]) {}

/// Does nothing, because the environment of another process cannot be read on this system.
pub fn kill_marked(_: &str) {}

/// Whether the system reports the peak memory of a process that has ended. Here it does not.
pub const REPORTS_PEAK_MEMORY: bool = false;

/// Changes nothing, because the peak memory of a process is not read on this system.
pub fn copy_at_start(command: &mut Command) -> &mut Command {
    command
}

/// Returns zero: how long this thread waited for a processor is unknown.
pub fn own_waiting_time() -> Duration {
    Duration::ZERO
}

/// Returns `None`, because the time that a hypervisor gave to other machines is not read on this system.
pub fn stolen_time() -> Option<Duration> {
    None
}

/// Returns `None`, because this system does not tell which process has a connection.
pub fn owns_connection(_: u32, _: SocketAddr, _: u16) -> Option<bool> {
    None
}

/// Does nothing, because this system decides by itself when it acknowledges data.
pub fn acknowledge_at_once(_: &TcpStream) {}

/// Returns an error, because processes are not sampled on this system.
pub fn try_time_samples() -> Result<(), TimeSamplingError> {
    Err(TimeSamplingError::System)
}

/// The sampler of processes on systems that do not support sampling. It has no values.
#[derive(Debug)]
pub struct AbsentSampler {}

pub use AbsentSampler as TimeSampler;

impl AbsentSampler {
    /// Returns an error, because processes are not sampled on this system.
    pub fn new(_: u32, _: Duration) -> Result<Self, TimeSamplingError> {
        Err(TimeSamplingError::System)
    }

    /// Does nothing.
    pub fn start(&self) {}

    /// Does nothing.
    pub fn stop(&self) {}

    /// Returns no samples.
    pub fn take(&mut self) -> Vec<TimeSample> {
        Vec::new()
    }
}
