//! Turns measurements into verdicts. This module does no I/O and reads no clock. It uses only the model and the statistics crate, so its results
//! follow from its arguments.
//!
//! `compare` decides about stored runs and `judge` about side-by-side measurements, both about all benchmarks of a run together. `summarize`
//! describes one measurement, and `find_differences` lists the facts that make two measurements incomparable. A verdict and its printed interval come
//! from the same test, so they agree. docs/internals/src/statistics/ describes the procedure.

mod alternative;
mod call_tree;
mod comparability;
mod comparison;
mod decide;
mod description;
mod diagnostics;
mod disturbance;
mod edges;
mod estimate;
mod extras;
mod fastest;
mod filter;
mod limited;
mod note;
mod paired;
mod process_values;
mod question;
mod readings;
mod record;
mod run_level;
mod samples;
mod shape;
mod summary;
mod trend;

pub use alternative::{
    AcrossRuns, Centers, Effects, GateGroup, PublishedDecision, SideCenter, compare_across_runs,
    estimate_metric,
};
pub use call_tree::{CallFrame, CallTree};
pub use comparability::{Comparability, Difference, Differences, Fact, find_differences};
pub use comparison::{
    ByDirection, Comparison, Decision, Extent, FamilyTest, PairedDecision, Prediction,
    SlowPathResult, StoredDecision, TScoreResult,
};
pub use decide::{compare, compare_with_progress};
pub use description::{ChangeDescription, DescribedChange};
pub use diagnostics::{Diagnostic, diagnose, find_absurd};
pub use disturbance::{Disturbance, HostControls, Steadiness};
pub use edges::{ClassChange, Disagreement, Edge, LevelEstimate, LevelTrend, Network};
pub use estimate::{Estimate, Uncertainty};
pub use extras::{
    AllocationComparison, AllocationSummary, CountChange, FunctionCost, InstructionComparison,
    InstructionSummary, LatencyComparison, LatencyOverTime, LatencySummary, LevelShare,
    ObservationKind, OverProcesses, PercentileChange, PercentileSummary, ProcessPercentile,
    ProcessStatistics, SampledTime, SharedLevel, UsageChange, UsageComparison, UsageSummary,
    WindowSummary, start_up_ns,
};
pub use fastest::{Contender, ProcessMedians, Rank, rank_against_fastest};
pub use filter::{
    PerSecond, ValueBounds, ValueSummary, apply_filter, filter_policy, sample_counts, sum_left_out,
    to_outlier_policy,
};
pub use limited::estimate_at_level;
pub use note::{HostNote, Note};
pub use paired::{
    FloorGuard, HostNoise, HostResolution, LookStatus, PairedMethod, PairedSeries, Plan,
    PowerTarget, RankedBenchmark, Ranking, RoundsNeeded, Standing, check_settled, judge,
    judge_with_method, rank_beside_reference,
};
pub use perfcheck_stats::{
    Interval, IntervalMethod, OutlierCounts, OutlierLabel, TukeyFences, Variability, WeightedEcdf,
};
pub use process_values::{
    ASSUMED_CLOCK_STEP_NS, LOW_QUANTILE, Location, MIN_SAMPLES_FOR_LOW_QUANTILE, ProcessSampling,
    typical_iteration_ns,
};
pub use question::{HostClass, Question, Reference, TestPolicy};
pub use readings::{BLOCK, Readings, column_label};
pub use record::BenchmarkRecord;
pub use samples::SampleDescription;
pub use shape::{
    ChangeShape, Curve, PROBABILITIES, ProcessShape, Ramp, Shape, ShapeDetail, SlopedRamp,
};
pub use summary::{Summary, described_processes, summarize, summarize_with};
pub use trend::{Band, Level, Position, RunSeries, Step, Trend, TrendPoint, TrendRules, run_point};

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;
