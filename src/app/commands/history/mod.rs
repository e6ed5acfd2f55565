//! `cargo perfcheck history`: benchmarks over many runs.

mod command;
pub(super) mod options;

pub use command::history;
pub use options::{HistoryBranch, HistoryOptions};
