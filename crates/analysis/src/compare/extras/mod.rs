//! Comparisons of numbers besides the time: allocations and instructions by an exact rule, latencies by percentile, sampled time by function.
//!
//! Pure, like the rest of `compare`. They do not affect the verdict about the time of an iteration: a comparison holds them with verdicts of their
//! own. If the user asks for a verdict about one of them instead of the time, all benchmarks form one family. The unit of replication is the process;
//! operations of different processes are never pooled for a test.

mod allocations;
mod carried;
mod description;
mod family;
mod function_cost;
mod instructions;
mod latencies;
mod resampled;
mod rules;
mod sampled_time;
mod shared_level;

pub use allocations::{AllocationComparison, CountChange};
pub use description::{
    AllocationSummary, LatencyOverTime, LatencySummary, OverProcesses, PercentileSummary,
    WindowSummary,
};
pub use function_cost::FunctionCost;
pub(in crate::compare) use instructions::per_iteration;
pub use instructions::{InstructionComparison, InstructionSummary};
pub use latencies::{LatencyComparison, PercentileChange};
pub use resampled::{ObservationKind, ProcessPercentile, ProcessStatistics};
pub use sampled_time::SampledTime;
pub use shared_level::{LevelShare, SharedLevel};

#[cfg(test)]
mod family_tests;
#[cfg(test)]
mod tests;
