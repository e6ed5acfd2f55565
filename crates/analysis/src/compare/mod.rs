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
    AcrossRuns, Centers, Effects, GateGroup, SideCenter, Tested, across_runs, value_of,
};
pub use call_tree::{CallFrame, CallTree};
pub use comparison::{Basis, Comparison, Extent};
pub use course::{Band, Course, CoursePoint, CourseRules, Level, Position, Step};
pub use curve::Curve;
pub use decide::{compare, compare_telling};
pub use description::{ChangeDescription, DescribedChange};
pub use diagnostics::{Diagnostic, absurd, diagnostics};
pub use differences::{Circumstances, Difference, Differences, Fact, differences};
pub use disturbance::{Disturbance, HostSigns, Steadiness};
pub use each::each;
pub use edges::{ClassChange, Disagreement, Edge, Network, Placement, Trend};
pub use estimate::Estimate;
pub use extras::{
    AllocationComparison, AllocationSummary, CountChange, FunctionCost, InstructionComparison,
    InstructionSummary, LatencyComparison, LatencyCourse, LatencySummary, LaunchObservations,
    LaunchPercentile, LaunchStatistics, OverLaunches, PercentileChange, PercentileSummary,
    SampledTime, Share, SharedLevel, WindowSummary,
};
pub use fastest::{Contender, LaunchMedians, Rank, against_fastest};
pub use filter::{clean, counts_of, left_out_of, policy_of};
pub use grounds::{
    Directions, FamilyTest, LookGrounds, Prediction, RunGrounds, SlowPathGrounds, TScoreGrounds,
};
pub use host_note::HostNote;
pub use launch_values::{LOW_QUANTILE, Location, MIN_SAMPLES_FOR_LOW_QUANTILE};
pub use limited::value_at;
pub use note::Note;
pub use outliers::outlier_policy;
pub use paired::{
    Demand, Guard, HostNoise, PairedMethod, PairedSeries, Plan, Resolution, RoundsNeeded, Standing,
    judge, judge_by, standing,
};
pub use perfcheck_stats::{
    IntervalMethod, OutlierCounts, OutlierLabel, TukeyFences, Variability, WeightedEcdf,
};
pub use question::{HostClass, Question, Reference, Rules};
pub use readings::{BLOCK, Readings, column_label};
pub use record::BenchmarkRecord;
pub use run_series::{RunSeries, point_of};
pub use sample_length::{ASSUMED_CLOCK_STEP_NS, ProcessSampling, typical_iteration_ns};
pub use samples::SampleDescription;
pub use shape::{ChangeShape, LaunchShape, PROBABILITIES, Ramp, Shape, ShapeDetail};
pub use summary::{Summary, described_launches, summarize, summarize_by};
pub use uncertainty::Uncertainty;
pub use value_summary::{PerSecond, ValueBounds, ValueSummary};

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;
