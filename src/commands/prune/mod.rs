//! `cargo perfcheck store prune`: removes runs by a policy, except those that the next run depends on.

mod command;

pub use command::{PruneOptions, prune, remove_runs};
