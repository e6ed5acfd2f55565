//! What differs between operating systems: groups of processes, pipes, files, facts about the machine, usage of processors.
//!
//! Each system has one file, and all of these export the same functions; `unix.rs` has what Linux and macOS share, `absent.rs` what only Linux has.
//! Invariants: no code above this folder asks which system it was compiled for, and nothing here imports anything above it. What a system cannot do
//! is `None` or an error, and the caller goes on without it.

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod readings;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use dunce::canonicalize;
pub use readings::{FileFacts, TimeSample, TimeSamplingError, UsageSnapshot};

#[cfg(not(target_os = "linux"))]
pub use absent::*;
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(target_os = "macos")]
pub use macos::*;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;
