//! Starts processes in groups of their own, ends them with all their descendants, and handles the signals that end
//! this process.
//!
//! Knows nothing of benches. `cargo` starts its builds here, `child` its benches, and git, rustc and other programs
//! run through [`Supervisor::output`]. Invariant: a group is killed when its [`ProcessGroup`] is dropped, and also
//! when this process dies without dropping anything (see [`reap`]).

mod group;
mod interrupt;
mod peak_memory;
mod reaper;
mod threads;

pub use group::{ProcessGroup, RunError, Supervisor};
pub use interrupt::{INTERRUPTED, Interrupt};
pub use peak_memory::{PEAK_MEMORY_ARGUMENT, peak_memory_command, report_peak_memory};
pub use reaper::{REAPER_ARGUMENT, reap};
pub use threads::{start_scoped_work, start_thread};

pub use crate::os::{
    EndedUsage, LeftoverPolicy, ThreadPinning, TimeSample, TimeSampler, TimeSamplingError,
    UsageSnapshot, private_memory, read_usage, stolen_time, try_time_samples, without_core_dumps,
};
