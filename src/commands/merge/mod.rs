//! `cargo perfcheck merge`: combines the shards of a suite, which several jobs measured, into one run.

mod command;
mod suite;

pub use command::{MergeOptions, merge};
