//! `cargo perfcheck merge`: the parts of a suite, which several jobs measured, as one run.

mod combine;
mod command;
mod options;
mod parts;

pub use command::merge;
pub use options::MergeOptions;
