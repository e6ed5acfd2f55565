//! `cargo perfcheck merge`: combines the shards of a suite, which several jobs measured, into one run.

mod combine;
mod command;
mod options;
mod parts;

pub use command::merge;
pub use options::MergeOptions;
