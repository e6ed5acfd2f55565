//! Benches under callgrind, valgrind's counter of instructions: which functions bound what is counted, and what was counted between them.
//!
//! The process writes a file each time it comes to such a bound, before it goes on. So what stands between two of them is known as soon as the process has
//! said what it did. Neither the harness nor Criterion is changed or asked for anything: the bounds are functions of theirs, found by name.

mod profile;
mod recording;
mod valgrind;
mod windows;

pub use profile::Profile;
pub use recording::Recording;
pub use valgrind::{CountedBy, MOST_CALLERS, NoValgrind, Valgrind};
pub use windows::{NoWindows, Windows};
