//! Plain data that every layer uses: benchmark keys, samples and series, settings, facts, runs, verdicts.
//!
//! This module must not do I/O, read a clock or use a third-party crate other than serde and, for the schema, schemars. All records can be compared,
//! cloned and stored exactly: measured counts and times are integers.

mod benchmark;
mod import;
pub mod limits;
mod machine_state;
mod partition;
mod program;
mod progress;
mod quantity;
mod run;
mod series;
mod settings;
mod statistic;
mod thresholds;
mod verdict;

pub use benchmark::{Benchmark, BenchmarkKey, Metric, SkipSupport, Throughput, natural_cmp};
pub use import::{
    CriterionBenchmark, CriterionSamples, DeclaredThroughput, FilterReport, FilteredSamples,
    SampleCounts, SampleFilter, Source, SourceDimension, SourceFile, SourceInterval, SourceValue,
    as_in_cells,
};
pub use machine_state::{
    BusyProgram, FrequencyState, HeatState, HostActivity, MachineState, MemoryState, PowerState,
    ProcessorState, SystemEnvironment, SystemFeature, TimerState,
};
pub use partition::{RequestedReference, Shard, ShardId};
pub use perfcheck_stats::{
    Correction, HdrCounter, MannWhitneyMethod, Quantile, TrimmedError, WordMeanings, worded,
};
pub use program::{ProgramBenchmark, TimedBuild, split_command_line};
pub use progress::{
    EstimateKind, Event, EventBuffer, NullObserver, Observer, ProgressReporter, VisitPlan,
    WorkStage, map_with_progress,
};
pub use quantity::{parse_duration, parse_fraction, parse_slowdown};
pub use run::{
    Acceptance, BenchmarkCounts, BenchmarkInProcess, BuildFacts, Commit, Control, CountedBenchmark,
    Environment, ExecutableSize, Failure, FunctionCount, GitState, Harness, HostFacts,
    InstructionCount, LineCounts, Measurement, NewRun, Pair, PastCommit, PortableRunId,
    ProcessHead, ProcessOutcome, ProcessRecord, ProcessSeries, ProcessUsage, Purpose, Run, RunEnd,
    RunId, RunPoint, RunStatus, RunUsage, RunVerdict, StackCounts, TargetFacts, TimeSamples,
    Timestamp, shorten_hash,
};
pub use series::{Allocations, Extras, Latencies, LatencyWindow, Nanos, Round, Sample, Series};
pub use settings::{
    Analysis, AuthorSettings, DecisionSettings, Interleaving, MIN_PROCESSES, Observations,
    Outliers, SamplingMode, SamplingSettings, System, Test, WarmUpGoal,
};
pub use statistic::{Statistic, StatisticSet, Unit};
pub use thresholds::{ThresholdKind, ThresholdOrder, Thresholds};
pub use verdict::{BenchesFrom, BySide, CriterionHarness, Side, Tally, Verdict};
