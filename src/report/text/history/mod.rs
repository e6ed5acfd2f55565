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
    BenchmarkHistory, HistoryPoint, LeftOut, LeftOutReason, ProcessorChange, Processors,
    SinceBaseline, TrendOfRuns,
};
pub(in crate::report) use words::side_by_side_in_words;
pub use write::write_histories;
