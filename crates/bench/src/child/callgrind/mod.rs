//! Runs benches under callgrind, valgrind's instruction counter: finds the functions that delimit the timed code, and
//! reads the counts between them.
//!
//! Callgrind writes a file each time the process reaches such a function, before the process goes on. The counts of a
//! window are therefore on disk by the time the process reports its result. The harness and Criterion run unchanged:
//! the delimiting functions are found by name.

mod profile;
mod valgrind;
mod windows;

pub use profile::Profile;
pub use valgrind::{CountBy, MOST_CALLERS, Recording, Valgrind, ValgrindError};
pub use windows::{TimedWindows, TimedWindowsError};
