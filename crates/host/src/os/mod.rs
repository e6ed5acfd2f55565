//! The code that differs between operating systems: groups of processes, pipes, files, facts about the machine, and the usage of processors.
//!
//! Each system has a file of its own, Windows two. `unix.rs` has the functions that Linux and macOS share, and `absent.rs` has stand-ins for those that only Linux
//! has, so this module exports the same functions on every system. If a system cannot do something, the function returns `None` or an error, and the
//! caller goes on without it.
//!
//! Invariants: code outside of this folder does not depend on the operating system, apart from the exceptions in `tests/architecture/systems.rs`. The
//! code in this folder imports nothing from outside of it; only its tests do.

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod types;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
mod windows_processors;

pub use dunce::canonicalize;
pub use types::{
    EndedUsage, FileFacts, LeftoverPolicy, OutputPipes, TimeSample, TimeSamplingError,
    UsageSnapshot,
};

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
#[cfg(windows)]
pub use windows_processors::*;
