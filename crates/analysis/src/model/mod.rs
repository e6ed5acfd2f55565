//! Plain data that every layer uses: benchmark keys, samples and series, settings, facts, runs, verdicts.
//!
//! Must not do I/O, read a clock or use a third-party crate other than serde; choices between statistics are enums of `perfcheck-stats`. Invariant:
//! all values can be compared, cloned and written down exactly; counts and times are integers.

mod analysis;
mod benchmark;
mod counts;
mod criterion;
mod described;
mod event;
mod extras;
mod facts;
mod launch;
pub mod limits;
mod machine_state;
mod metric;
mod partition;
mod quantity;
mod round;
mod run;
mod series;
mod settings;
mod side;
mod source;
mod statistic;
mod system;
mod thresholds;
mod verdict;
mod work;

pub use analysis::{Analysis, Observations, Outliers, Test};
pub use benchmark::{Benchmark, BenchmarkKey, SkipSupport, Throughput, natural_cmp};
pub use counts::{
    BenchmarkCounts, CountedBenchmark, FunctionCount, InstructionCount, StackCounts, TimeSamples,
};
pub use criterion::{CriterionBenchmark, CriterionSamples, DeclaredThroughput};
pub use described::{FilterReport, FilteredSamples, SampleCounts, SampleFilter};
pub use event::{EstimateKind, Event, EventBuffer, NullObserver, Observer, VisitPlan};
pub use extras::{Allocations, Extras, Latencies, LatencyWindow};
pub use facts::{BuildFacts, Commit, Environment, GitState, HostFacts, shorten_hash};
pub use launch::{BenchmarkInProcess, Harness, ProcessHead, ProcessOutcome, ProcessRecord};
pub use machine_state::{
    BusyProgram, FrequencyState, HeatState, HostActivity, MachineState, MemoryState, PowerState,
    ProcessorState, SystemEnvironment, TimerState,
};
pub use metric::Metric;
pub use partition::{RequestedReference, Shard, ShardId};
pub use perfcheck_stats::{
    Correction, MannWhitneyMethod, Quantile, TrimmedError, WordMeanings, worded,
};
pub use quantity::{parse_duration, parse_fraction, parse_slowdown};
pub use round::Round;
pub use run::{
    Acceptance, BASE_FAILED, Control, Failure, Measurement, NewRun, Pair, ProcessSeries,
    ProcessUsage, Purpose, Run, RunEnd, RunId, RunPoint, RunStatus, RunVerdict, TargetFacts,
    Timestamp,
};
pub use series::{Nanos, Sample, Series};
pub use settings::{
    AuthorSettings, DecisionSettings, Interleaving, MIN_LAUNCHES, SamplingMode, SamplingSettings,
    WarmUpGoal,
};
pub use side::{BenchesFrom, BySide, Side};
pub use source::{Source, SourceDimension, SourceFile, SourceInterval, SourceValue, as_in_cells};
pub use statistic::{Statistic, StatisticSet, Unit};
pub use system::System;
pub use thresholds::{ThresholdKind, Thresholds};
pub use verdict::{Tally, Verdict};
pub use work::ProgressReporter;
