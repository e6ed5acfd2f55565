//! Benchmarks over many runs: the data that all outputs share, and its text and messages.

mod content;
mod detail;
mod overview;
mod scale;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use content::{
    BaselineChange, BenchmarkHistory, ExcludedRun, ExclusionReason, HistoryPoint, ProcessorChange,
    ProcessorDisagreement, RunTrend,
};
pub(in crate::report) use words::describe_side_by_side;
pub use write::write_histories;
