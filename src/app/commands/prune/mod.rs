//! `cargo perfcheck store prune`: which runs a policy removes, and what the next run rests on, which stays.

mod command;
mod references;

pub use command::{PruneOptions, prune, remove_runs};
