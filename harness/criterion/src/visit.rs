//! A benchmark at its declaration, with everything that is needed to run it.

use std::time::Duration;

use crate::command_line::VisitMode;
use perfcheck::sequence::Declaration;

/// A declared benchmark.
pub(crate) struct Visit<'v> {
    pub(crate) declaration: Declaration,
    pub(crate) mode: VisitMode,
    pub(crate) accepts: &'v dyn Fn(&str) -> bool,
    /// Takes a sample of the given number of iterations. Returns its value in stored units.
    pub(crate) sampler: &'v mut dyn FnMut(u64) -> Duration,
    /// Formats a value, given in stored units per iteration, and the throughput that results from it.
    pub(crate) show: &'v dyn Fn(f64) -> (String, String),
    /// Called before and after a profiled benchmark.
    pub(crate) profile: &'v dyn Fn(Profiling, &str),
}

/// The start or the end of a profiled benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profiling {
    Starts,
    Stops,
}
