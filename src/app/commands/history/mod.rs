//! `cargo perfcheck history`: benchmarks over many runs.

mod command;
pub(super) mod options;
mod overview;

pub use command::history;
pub use options::HistoryOptions;
