//! Measuring in turn, from the command line to the exit code: revisions, executables, baselines that are run again, what goes wrong on a side.
//!
//! Benchmarks report times of their own making, so that every verdict is exact however busy the machine is.

#[path = "../commands/crates.rs"]
#[allow(dead_code, reason = "git and a directory are what is needed of it")]
mod crates;
#[path = "../commands/scripted.rs"]
#[allow(dead_code, reason = "reading verdicts is what is needed of it")]
mod scripted;
#[path = "../support/mod.rs"]
mod support;

mod baselines;
mod benchmarks;
mod beside;
mod confirming;
mod exchanging;
mod executables;
mod explaining;
mod hosts;
mod mixing;
mod printed;
mod project;
mod revisions;
mod sides;
mod stopping;
mod threads;
