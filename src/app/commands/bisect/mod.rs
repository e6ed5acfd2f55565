//! `cargo perfcheck bisect`: the first commit that is slower, by A/B against the good one at each step.
//!
//! The search is pure, what it learns is kept in a file after each step, and every commit is built and measured as `--against` would.
//! Invariant: a commit about which nothing could be found is never taken for fast or slow.

mod command;
mod memory;
mod options;
mod search;
mod step;

pub use command::bisect;
pub use options::BisectOptions;
