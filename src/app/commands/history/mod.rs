//! `cargo perfcheck history`: shows benchmarks over many runs.

mod command;
pub(super) mod options;
mod overview;

pub use command::history;
pub use options::HistoryOptions;
