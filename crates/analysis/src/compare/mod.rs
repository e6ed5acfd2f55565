//! From measurements to verdicts. Pure: no I/O and no clock; it uses only the model and the statistics.
//!
//! `compare` decides a family of questions about stored runs, `judge` decides side-by-side measurements, `summarize` describes one measurement, and
//! `differences` lists the facts that make two measurements incomparable. A verdict and its printed interval come from one inversion of one test.
//! docs/internals/src/statistics/ describes the procedure.

mod alternative;
mod call_tree;
mod comparison;
mod course;
mod curve;
mod decide;
mod description;
mod diagnostics;
mod differences;
mod disturbance;
mod each;
mod edges;
mod estimate;
mod evidence;
mod extras;
mod fastest;
mod filter;
mod floor_gap;
mod grounds;
mod host_note;
mod launch_values;
mod limited;
mod note;
mod outliers;
mod paired;
mod question;
mod readings;
mod record;
mod run_level;
mod run_series;
mod sample_length;
mod samples;
mod shape;
mod summary;
mod uncertainty;
mod value_summary;

pub use alternative::{
    AcrossRuns, Centers, Effects, GateGroup, PublishedDecision, SideCenter, compare_across_runs,
    estimate_metric,
};
pub use call_tree::{CallFrame, CallTree};
pub use comparison::{Comparison, Decision, Extent};
pub use course::{Band, Level, Position, Step, Trend, TrendPoint, TrendRules};
pub use curve::Curve;
pub use decide::{compare, compare_with_progress};
pub use description::{ChangeDescription, DescribedChange};
pub use diagnostics::{Diagnostic, diagnose, find_absurd};
pub use differences::{Comparability, Difference, Differences, Fact, find_differences};
pub use disturbance::{Disturbance, HostControls, Steadiness};
pub use each::map_with_progress;
pub use edges::{ClassChange, Disagreement, Edge, LevelEstimate, LevelTrend, Network};
pub use estimate::Estimate;
pub use extras::{
    AllocationComparison, AllocationSummary, CountChange, FunctionCost, InstructionComparison,
    InstructionSummary, LatencyComparison, LatencyOverTime, LatencySummary, LevelShare,
    ObservationKind, OverProcesses, PercentileChange, PercentileSummary, ProcessPercentile,
    ProcessStatistics, SampledTime, SharedLevel, WindowSummary,
};
pub use fastest::{Contender, ProcessMedians, Rank, rank_against_fastest};
pub use filter::{apply_filter, filter_policy, sample_counts, sum_left_out};
pub use grounds::{
    ByDirection, FamilyTest, PairedDecision, Prediction, SlowPathResult, StoredDecision,
    TScoreResult,
};
pub use host_note::HostNote;
pub use launch_values::{LOW_QUANTILE, Location, MIN_SAMPLES_FOR_LOW_QUANTILE};
pub use limited::estimate_at_level;
pub use note::Note;
pub use outliers::to_outlier_policy;
pub use paired::{
    FloorGuard, HostNoise, HostResolution, LookStatus, PairedMethod, PairedSeries, Plan,
    PowerTarget, RoundsNeeded, check_settled, judge, judge_with_method,
};
pub use perfcheck_stats::{
    IntervalMethod, OutlierCounts, OutlierLabel, TukeyFences, Variability, WeightedEcdf,
};
pub use question::{HostClass, Question, Reference, TestPolicy};
pub use readings::{BLOCK, Readings, column_label};
pub use record::BenchmarkRecord;
pub use run_series::{RunSeries, run_point};
pub use sample_length::{ASSUMED_CLOCK_STEP_NS, ProcessSampling, typical_iteration_ns};
pub use samples::SampleDescription;
pub use shape::{ChangeShape, PROBABILITIES, ProcessShape, Ramp, Shape, ShapeDetail};
pub use summary::{Summary, described_launches, summarize, summarize_with};
pub use uncertainty::Uncertainty;
pub use value_summary::{PerSecond, ValueBounds, ValueSummary};

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;
