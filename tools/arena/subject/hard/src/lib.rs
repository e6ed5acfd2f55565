//! Workloads whose times are hard to compare: threads, bodies of milliseconds, memory, and waiting for the system.
//!
//! Each takes `slow::percent()` hundredths of its base cost, as those of `arena_subject` do.

pub mod memory;
pub mod millis;
pub mod threads;
pub mod waits;
