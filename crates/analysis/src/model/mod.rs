//! Plain data that every layer uses: benchmark keys, samples and series, settings, facts, runs, verdicts.
//!
//! Must not do I/O, read a clock or use a third-party crate other than serde; choices between statistics are enums of `perfcheck-stats`. Invariant:
//! all values can be compared, cloned and written down exactly; counts and times are integers.

mod benchmark;
mod import;
pub mod limits;
mod machine_state;
mod partition;
mod progress;
mod quantity;
mod run;
mod series;
mod settings;
mod statistic;
mod thresholds;
mod verdict;

pub use benchmark::Metric;
pub use benchmark::{Benchmark, BenchmarkKey, SkipSupport, Throughput, natural_cmp};
pub use import::{CriterionBenchmark, CriterionSamples, DeclaredThroughput};
pub use import::{FilterReport, FilteredSamples, SampleCounts, SampleFilter};
pub use import::{Source, SourceDimension, SourceFile, SourceInterval, SourceValue, as_in_cells};
pub use machine_state::{
    BusyProgram, FrequencyState, HeatState, HostActivity, MachineState, MemoryState, PowerState,
    ProcessorState, SystemEnvironment, TimerState,
};
pub use partition::{RequestedReference, Shard, ShardId};
pub use perfcheck_stats::{
    Correction, MannWhitneyMethod, Quantile, TrimmedError, WordMeanings, worded,
};
pub use progress::ProgressReporter;
pub use progress::{EstimateKind, Event, EventBuffer, NullObserver, Observer, VisitPlan};
pub use quantity::{parse_duration, parse_fraction, parse_slowdown};
pub use run::{
    Acceptance, BASE_FAILED, Control, Failure, Measurement, NewRun, Pair, ProcessSeries,
    ProcessUsage, Purpose, Run, RunEnd, RunId, RunPoint, RunStatus, RunVerdict, TargetFacts,
    Timestamp,
};
pub use run::{
    BenchmarkCounts, CountedBenchmark, FunctionCount, InstructionCount, StackCounts, TimeSamples,
};
pub use run::{BenchmarkInProcess, Harness, ProcessHead, ProcessOutcome, ProcessRecord};
pub use run::{BuildFacts, Commit, Environment, GitState, HostFacts, shorten_hash};
pub use series::Round;
pub use series::{Allocations, Extras, Latencies, LatencyWindow};
pub use series::{Nanos, Sample, Series};
pub use settings::System;
pub use settings::{Analysis, Observations, Outliers, Test};
pub use settings::{
    AuthorSettings, DecisionSettings, Interleaving, MIN_LAUNCHES, SamplingMode, SamplingSettings,
    WarmUpGoal,
};
pub use statistic::{Statistic, StatisticSet, Unit};
pub use thresholds::{ThresholdKind, Thresholds};
pub use verdict::{BenchesFrom, BySide, Side};
pub use verdict::{Tally, Verdict};
