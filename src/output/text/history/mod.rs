//! Benchmarks over many runs: the data that all outputs share, and its text and messages.

mod content;
mod text;

#[cfg(test)]
mod tests;

pub use content::{
    BaselineChange, BenchmarkHistory, ExcludedRun, ExclusionReason, HistoryPoint, ProcessorChange,
    ProcessorDisagreement, RunTrend,
};
pub(in crate::output) use text::describe_side_by_side;
pub use text::write_histories;
