//! What only Linux has. Elsewhere these functions do nothing, and return `None` or an error.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::readings::{TimeSample, TimeSamplingError, UsageSnapshot};

/// Does nothing: processes that leave their group do not become children of this process.
pub fn adopt_orphans() {}

/// Returns no processes: this system does not tell.
pub fn list_children() -> Vec<u32> {
    Vec::new()
}

/// Does nothing: the children of this process are not known.
pub fn kill_children_except(_: &[u32]) {}

/// Does nothing: the environment of another process cannot be read.
pub fn kill_marked(_: &str) {}

/// Returns `None`: not known on this system.
pub fn read_usage(_: u32) -> Option<UsageSnapshot> {
    None
}

/// Returns `None`: not known on this system.
pub fn stolen_time() -> Option<Duration> {
    None
}

/// Returns `None`: this system does not tell whose connection it is.
pub fn owns_connection(_: u32, _: SocketAddr, _: u16) -> Option<bool> {
    None
}

/// Does nothing: this system acknowledges when it wants to.
pub fn acknowledge_at_once(_: &TcpStream) {}

/// The binding of systems without support. There is none.
#[derive(Debug)]
pub enum AbsentPinning {}

pub use AbsentPinning as ThreadPinning;

impl AbsentPinning {
    /// Returns `None`: nothing is bound on this system.
    pub fn to_one(_: &[u32], _: impl FnOnce(u32) -> usize) -> Option<Self> {
        None
    }

    /// Returns the number of the processor.
    pub fn processor(&self) -> u32 {
        match *self {}
    }
}

/// Returns an error: this system has no sampling.
pub fn try_time_samples() -> Result<(), TimeSamplingError> {
    Err(TimeSamplingError::System)
}

/// The sampler of systems without support.
#[derive(Debug)]
pub struct AbsentSampler {}

pub use AbsentSampler as TimeSampler;

impl AbsentSampler {
    /// Returns an error: this system has no sampling.
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
