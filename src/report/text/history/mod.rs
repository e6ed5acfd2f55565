//! Benchmarks over many runs: what the sinks are given, as text, as messages.

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
