//! `cargo perfcheck history`: shows benchmarks over many runs.

pub(super) mod command;

pub use command::{HistoryOptions, history};
