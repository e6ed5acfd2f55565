//! Messages of `explain`. By default, these are the sentences that explain a verdict, with their numbers. With `--asm`, they show the machine code of
//! a function in two builds, and with `--flamegraph`, they name the file with the picture.

use serde::Serialize;

use super::measured::{LatencyChanges, UsageChanges};
use perfcheck_analysis::compare::{
    AllocationComparison, Centers, Comparison, Difference, Effects, Estimate,
    InstructionComparison, Location, Note, PublishedDecision, SampledTime, SharedLevel,
};
use perfcheck_analysis::findings::ChangedFunction;
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Nanos, Observations, RunId, Statistic, Verdict,
};

/// An explanation of how the verdict about a benchmark was reached.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Explanation"))]
pub(crate) struct ExplanationMessage<'a> {
    /// Run that has the verdict; for builds measured side by side, the run of the candidate.
    pub run: RunId,
    /// The benchmark.
    pub benchmark: &'a BenchmarkKey,
    /// The stored verdict.
    pub verdict: Verdict,
    /// Method of the verdict, as `decided_by` of `benchmark-compared`; null if nothing was compared.
    pub decided_by: Option<&'static str>,
    /// The sentences, in reading order.
    pub sentences: &'a [Statement],
}

/// One or more sentences on one topic, with the numbers that they mention.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Sentence"))]
pub(crate) struct Statement {
    /// The sentences.
    pub text: String,
    #[serde(flatten)]
    pub numbers: Numbers,
}

/// The topic of one or more sentences, with the numbers that they mention.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "about", content = "numbers", rename_all = "kebab-case")]
pub(crate) enum Numbers {
    /// The stored verdict.
    Verdict {
        /// The change, as a fraction; null without a comparison.
        change: Option<f64>,
        /// Run that the benchmark was compared with; null without a comparison.
        reference_run: Option<RunId>,
    },
    /// The measurement of the run that has the verdict.
    Measured {
        /// Number of the run; for builds measured side by side, the run of the candidate.
        run: RunId,
        /// Run of the base if both builds were measured side by side; else null.
        base_run: Option<RunId>,
        /// Number of processes with samples, or of rounds if measured side by side.
        processes: usize,
        /// Number of samples that the verdict is based on.
        samples: usize,
    },
    /// The measurements of the reference.
    Reference {
        /// Numbers of the runs that make up the reference, newest first.
        runs: Vec<RunId>,
        /// Number of processes of these runs that have samples.
        processes: usize,
        /// Number of samples of these runs that the verdict is based on.
        samples: usize,
        /// Number of runs from which the drift between runs was estimated.
        runs_spread: usize,
    },
    /// The host on which the benchmark was measured.
    Place {
        /// Number of logical processors.
        cores: u32,
        /// Whether the machine was shared with other users; null if unknown.
        shared: Option<bool>,
        /// One-minute load average at the start; null if the system does not report it.
        load: Option<f64>,
        /// Largest step of the benches' clocks, in nanoseconds; null if unknown.
        clock_step_ns: Option<Nanos>,
        /// Jitter of the control workload, as in `run-finished`.
        jitter: Option<f64>,
        /// Range of the control workload, as in `run-finished`.
        control_range: Option<f64>,
    },
    /// Functions that differ between the executables of both sides.
    Code {
        /// The functions that differ. First come those whose cost changed, in instructions or sampled time; then changed, added and removed
        /// functions, each kind with the longest first; then functions whose own code is the same.
        functions: Vec<ChangedFunction>,
        /// Number of functions that are not listed.
        left_out: usize,
    },
    /// A failure of one or more processes.
    Failure {
        /// Numbers of the processes that failed, from 1.
        processes: Vec<u32>,
    },
    /// The test of the data (look) that decided a side-by-side measurement. Several such tests are planned, each after a certain number of rounds.
    Look {
        /// Number of rounds that were measured before this test.
        rounds: usize,
        /// Whether the measurement stopped at this test although later ones were planned.
        stopped_early: bool,
        /// Number of code layouts that the rounds were distributed over. 0 means that the executables ran with the layout in which they were built.
        layouts: usize,
        /// Share of each significance level that this test may spend, as a fraction.
        share: f64,
        /// Numbers of rounds after which tests were planned; null if the plan is unknown.
        looks: Option<Vec<u32>>,
    },
    /// The statistic that stands for the samples of a process or of a side.
    Location {
        /// The statistic.
        location: Location,
    },
    /// The observed change and its uncertainty.
    Estimate {
        /// The change, as a fraction.
        change: f64,
        /// Standard error of the natural logarithm of the ratio of candidate to base; null if unknown.
        standard_error: Option<f64>,
        /// Degrees of freedom of Student's t; null if measured side by side, or if unknown.
        degrees_of_freedom: Option<f64>,
        /// Standard deviation between runs that the test assumed, as a fraction; null if the builds were measured side by side.
        run_std_dev: Option<f64>,
    },
    /// The interval that decided the verdict, with the levels of its bounds.
    Interval {
        /// The change with its interval, as a fraction.
        change: Estimate,
        /// Number of benchmarks of the run that share the significance level.
        family: usize,
        /// One-sided significance level for all these benchmarks together.
        family_level: f64,
        /// One-sided significance level of the lower bound, which decides whether the benchmark is slower.
        level_slower: f64,
        /// One-sided significance level of the upper bound, which decides whether the benchmark is faster.
        level_faster: f64,
        /// P-value for slower, not adjusted for the number of benchmarks. If the builds were measured side by side, it is already divided by the
        /// share of the look.
        p_slower: f64,
        /// P-value for faster, with the same adjustment as `p_slower`.
        p_faster: f64,
        /// P-value for slower, adjusted for the number of benchmarks.
        adjusted_p_slower: f64,
        /// P-value for faster, adjusted for the number of benchmarks.
        adjusted_p_faster: f64,
    },
    /// The observations that the test compared which `--test` names.
    Observations {
        /// Whether one observation is a process or a single sample.
        observations: Observations,
        /// The statistic of its samples that represents a process in the test.
        center: Statistic,
        /// Number of observations of the run that has the verdict.
        candidate: usize,
        /// Number of observations of the reference.
        base: usize,
    },
    /// Result of the test that `--test` names.
    Test {
        /// The test, as in `benchmark-compared`.
        tested: PublishedDecision,
        /// The change with its interval, as a fraction; null if nothing was tested.
        change: Option<Estimate>,
    },
    /// Effect sizes, which describe a change independently of p-values.
    Effect(Effects),
    /// Both sides summarized as `--outliers`, `--center` or `--quantile` asks.
    Summary {
        /// The summary, as in `benchmark-compared`.
        centers: Centers,
    },
    /// The statistic that the verdict is about, if it is not the time.
    Metric {
        /// The statistic.
        metric: Statistic,
        /// The change with its interval, as a fraction; null if there is none.
        change: Option<Estimate>,
        /// Error level that the verdict shares with other verdicts, as in `benchmark-compared`.
        shared_level: Option<SharedLevel>,
    },
    /// The noise threshold of the comparison.
    Threshold {
        /// The threshold, as a fraction: smaller changes are noise.
        noise_threshold: f64,
    },
    /// The result of the t-score test, which ignores drift between runs.
    TScore {
        /// The change with its interval, as a fraction.
        change: Estimate,
        /// P-value for slower, adjusted for the number of benchmarks.
        adjusted_p_slower: f64,
        /// P-value for faster, adjusted for the number of benchmarks.
        adjusted_p_faster: f64,
    },
    /// The result of the slow-path test of a side-by-side measurement, which looks for samples of one side that are slower than their neighbors of
    /// the other side.
    SlowPath {
        /// Share of the candidate's samples that are more than 10 % above its floor (the time of its fastest samples).
        share_candidate: f64,
        /// Share of the base's samples that are more than 10 % above its floor (the time of its fastest samples).
        share_base: f64,
        /// One-sided significance level for all benchmarks together.
        family_level: f64,
        /// P-value for a slow path of the candidate, not adjusted for the number of looks and benchmarks.
        p_slower: f64,
        /// If `p_slower` is at or below this level, a slow path is suspected, so the verdict is not `unchanged`.
        suspicion: f64,
        /// P-value for a slow path of the candidate, adjusted for the number of looks and benchmarks.
        adjusted_p_slower: f64,
        /// P-value for a slow path of the base, adjusted for the number of looks and benchmarks.
        adjusted_p_faster: f64,
    },
    /// Fact that makes the sides incomparable.
    Difference(Difference),
    /// The numbers by which the verdict was decided.
    Decision(DecisionNumbers),
    /// How the allocations per iteration changed.
    Allocations(AllocationComparison),
    /// How the number of executed instructions per iteration changed.
    Instructions(InstructionComparison),
    /// How the time per iteration changed, function by function.
    SampledTime(SampledTime),
    /// Changes of the resources that a run of a program uses.
    Usage(UsageChanges),
    /// The start of a program's process, if it is a large part of the program's time.
    StartUp {
        /// Time of a program that does nothing, in nanoseconds.
        empty_ns: f64,
        /// Median time of the program, in nanoseconds.
        median_ns: f64,
    },
    /// How the latencies of single operations changed.
    Latencies(LatencyChanges),
    /// A note about the measurements or the comparison.
    Note {
        /// An array with this one note, in the form of `notes` in `benchmark-compared`.
        notes: [Note; 1],
    },
    /// What would have led to another verdict.
    Otherwise {
        /// Smallest slowdown that the comparison would have reported as `regressed`, as a fraction; null if unknown.
        smallest_callable: Option<f64>,
        /// Number of rounds that would probably settle a side-by-side measurement; null if no number would.
        rounds_needed: Option<u64>,
    },
    /// The store has only the verdict, without the numbers from which it follows.
    Origin {},
}

/// The numbers by which a verdict was decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum DecisionNumbers {
    /// Two measurements were compared.
    Compared {
        /// Lower bound of the change, as a fraction; null if the data give none.
        lower: Option<f64>,
        /// Upper bound of the change, as a fraction; null if the data give none.
        upper: Option<f64>,
        /// Noise threshold, as a fraction: smaller changes are noise.
        noise_threshold: f64,
    },
    /// Nothing was compared.
    Uncompared {
        /// Run that would have been the reference; null if there is none.
        reference_run: Option<RunId>,
    },
}

impl Statement {
    pub fn new(text: impl Into<String>, numbers: Numbers) -> Self {
        Self {
            text: text.into(),
            numbers,
        }
    }
}

impl Numbers {
    /// Returns the name of the topic, which is the tag in JSON.
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Verdict { .. } => "verdict",
            Self::Measured { .. } => "measured",
            Self::Reference { .. } => "reference",
            Self::Place { .. } => "place",
            Self::Code { .. } => "code",
            Self::Failure { .. } => "failure",
            Self::Look { .. } => "look",
            Self::Location { .. } => "location",
            Self::Estimate { .. } => "estimate",
            Self::Interval { .. } => "interval",
            Self::Observations { .. } => "observations",
            Self::Test { .. } => "test",
            Self::Effect(_) => "effect",
            Self::Summary { .. } => "summary",
            Self::Metric { .. } => "metric",
            Self::Threshold { .. } => "threshold",
            Self::TScore { .. } => "t-score",
            Self::SlowPath { .. } => "slow-path",
            Self::Difference(_) => "difference",
            Self::Decision(_) => "decision",
            Self::Allocations(_) => "allocations",
            Self::Instructions(_) => "instructions",
            Self::SampledTime(_) => "sampled-time",
            Self::Usage(_) => "usage",
            Self::StartUp { .. } => "start-up",
            Self::Latencies(_) => "latencies",
            Self::Note { .. } => "note",
            Self::Otherwise { .. } => "otherwise",
            Self::Origin {} => "origin",
        }
    }

    /// Returns the numbers by which the verdict of `comparison` was decided: the bounds of the change and the noise threshold.
    pub fn from_comparison(comparison: &Comparison) -> Self {
        Self::Decision(DecisionNumbers::Compared {
            lower: comparison.change.map(|change| change.lower),
            upper: comparison.change.map(|change| change.upper),
            noise_threshold: comparison.noise_threshold,
        })
    }
}

/// The machine code of a function in the two builds that a verdict compares.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCode {
    /// Run that has the verdict; its build is the candidate.
    pub run: RunId,
    /// Run whose build is the base.
    pub base_run: RunId,
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// Name of the function, without hashes.
    pub function: String,
    /// The functions with this name whose code differs. If none differs, only the first one. There may be several, because all instances of a generic
    /// function share a name.
    pub pairs: Vec<MachineCodePair>,
    /// Number of functions with this name that are left out because they are the same on both sides.
    pub same_functions: usize,
    /// Whether the data that the function refers to differ, or may differ, although its code is the same.
    pub data_differ: bool,
}

/// A function in the base, in the candidate, or in both.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCodePair {
    /// Size of the function's code in bytes on each side; null for a side that does not have the function.
    pub bytes: BySide<Option<u64>>,
    /// The instructions in the order of the code, aligned row by row.
    pub rows: Vec<MachineCodeRow>,
}

/// One row of the aligned code: an instruction of the base next to one of the candidate.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCodeRow {
    /// Number by which jumps name this row: a jump to it is shown as `L1`, `L2` and so on. Null if no jump leads here.
    pub label: Option<usize>,
    /// Instruction of the base, on x86-64 in Intel syntax; null if only the candidate has one.
    pub base: Option<String>,
    /// Instruction of the candidate, on x86-64 in Intel syntax; null if only the base has one.
    pub candidate: Option<String>,
    /// Whether the sides differ in this row.
    pub differs: bool,
}

/// A differential flame graph was written to a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FlameGraphWritten<'a> {
    /// Run that has the verdict; its build is the candidate.
    pub run: RunId,
    /// Run whose build is the base.
    pub base_run: RunId,
    /// The benchmark.
    pub benchmark: &'a BenchmarkKey,
    /// Path of the file.
    pub path: &'a str,
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Number of instructions that an iteration executes in each build, as the graph shows it.
    pub instructions: BySide<f64>,
}
