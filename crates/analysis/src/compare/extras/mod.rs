//! Compares numbers other than the time: allocations and instructions (exactly if they do not vary), latencies by percentile, sampled time by
//! function, and the resources that a run of a program uses.
//!
//! These numbers have verdicts of their own, which do not affect the verdict about the time of an iteration. If the user asks for a verdict about one
//! of them instead of the time, all benchmarks together share its significance or confidence level. The unit of replication is the process.
//! Operations of different processes are never pooled for a test.

mod counts;
mod description;
mod family;
mod latencies;
mod resampled;
mod rules;
mod usage;

pub(in crate::compare) use counts::per_iteration;
pub use counts::{
    AllocationComparison, CountChange, FunctionCost, InstructionComparison, InstructionSummary,
    SampledTime,
};
pub use description::{
    AllocationSummary, LatencyOverTime, LatencySummary, OverProcesses, PercentileSummary,
    WindowSummary,
};
pub use latencies::{LatencyComparison, PercentileChange};
pub use resampled::{ObservationKind, ProcessPercentile, ProcessStatistics};
pub use rules::{LevelShare, SharedLevel};
pub(in crate::compare) use usage::values as usage_values;
pub use usage::{UsageChange, UsageComparison, UsageSummary, start_up_ns};

#[cfg(test)]
mod tests;
