//! A benchmark where it is declared, with all that is needed to deal with it.

use std::time::Duration;

use perfcheck::sequence::Declaration;

use crate::command_line::VisitMode;

/// A benchmark to deal with.
pub(crate) struct Visit<'v> {
    pub(crate) declaration: Declaration,
    pub(crate) mode: VisitMode,
    pub(crate) accepts: &'v dyn Fn(&str) -> bool,
    /// Takes a sample: what it came to, in stored units.
    pub(crate) sampler: &'v mut dyn FnMut(u64) -> Duration,
    /// Shows a value of stored units per iteration, and the throughput that it comes to.
    pub(crate) show: &'v dyn Fn(f64) -> (String, String),
    /// Told before and after a profiled benchmark.
    pub(crate) profile: &'v dyn Fn(Profiling, &str),
}

/// A moment of `--profile-time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profiling {
    Starts,
    Stops,
}
