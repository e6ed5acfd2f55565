//! A run: all processes of one invocation with their measurements, and facts about the machine, the build and the checkout.
//!
//! A run can also have counts for each function of a benchmark, which come from separate processes. A count is either the number of instructions in
//! an iteration, or the number of CPU-time samples that a profiler took while the function ran. Instructions depend neither on a clock nor on the
//! load of the machine.

use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use super::{
    Benchmark, BenchmarkKey, DecisionSettings, Extras, FilteredSamples, Nanos, SamplingSettings,
    Series, Shard, Side, Source, Verdict, limits,
};

/// Number of a run in its store. The two runs of a side-by-side measurement share a number: the candidate is N and the base is -N, which texts write
/// as `N/base`.
///
/// Runs are ordered by this number without its sign, and a base comes just before its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RunId(pub i64);

/// The suffix of a base when its run number is written as text. It follows the number that the base shares with its candidate.
const BASE_SUFFIX: &str = "/base";

impl RunId {
    /// Returns the base that was measured side by side with this candidate.
    #[must_use]
    pub const fn base(self) -> Self {
        Self(-self.0)
    }
}

impl Ord for RunId {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |run: &Self| (run.0.unsigned_abs(), run.0);
        place(self).cmp(&place(other))
    }
}

impl PartialOrd for RunId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.0 < 0 { BASE_SUFFIX } else { "" };
        write!(f, "{}{suffix}", self.0.unsigned_abs())
    }
}

impl FromStr for RunId {
    type Err = ParseIntError;

    fn from_str(word: &str) -> Result<Self, ParseIntError> {
        let base = word
            .strip_suffix(BASE_SUFFIX)
            .or_else(|| word.strip_prefix('-'));
        // Reject signs, which `parse` would accept.
        let digits = base.unwrap_or(word);
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let run = Self(if is_number { digits } else { "" }.parse()?);
        Ok(if base.is_some() { run.base() } else { run })
    }
}

/// Nanoseconds since the Unix epoch, UTC.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Whether a run ended normally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// The run has not ended, or it was interrupted or killed. Every process that it stored is complete, but some may be missing.
    Incomplete,
    /// The run ended normally.
    Complete,
}

/// Whether later runs may be compared with a run without the user naming it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// The run is not accepted, for example because something became worse, because it was compared with a run that is not accepted, or because it
    /// has not ended.
    Pending,
    /// The run was accepted without a command of the user, because nothing became worse.
    Automatic,
    /// The user accepted the run. A history starts a new segment with it.
    ByCommand,
}

/// The purpose of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A comparison that the user asked for.
    Comparison,
    /// A comparison of an executable with itself, which shows how large a difference the host can cause.
    Control,
    /// A step of `bisect`, which searches the history for the commit that changed a benchmark.
    Search,
    /// A commit of the past that `history --measure` measured against an older one. In a history, the run stands at the time of its commit. It never
    /// becomes a reference by itself.
    Past,
    /// One part of a suite, judged together with the other parts. Runs of a part have this purpose even if they are not measured side by side.
    Part,
}

/// Connects a run with the other side of the same side-by-side measurement. A round consists of the processes with the same number on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Number of the other side's run.
    pub partner: RunId,
    /// The side that this run measured.
    pub side: Side,
}

/// The facts known when a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// Time at which the run began.
    pub started: Timestamp,
    /// The checkout, if any.
    pub git: Option<GitState>,
    /// Machine and build.
    pub environment: Environment,
    /// One-minute load average at the start, if the system reports it.
    pub load: Option<f64>,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// Decision settings of the run as a whole.
    pub decision: DecisionSettings,
    /// Version of cargo-perfcheck.
    pub tool_version: String,
    /// Name of the build in this machine's build cache, if the executables come from there.
    pub build: Option<String>,
    /// The part of a suite that the run measures, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Shard>,
    /// The place of the run in the history of commits, if it was measured for that history later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past: Option<PastCommit>,
}

/// The place of a commit in a history that was measured later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastCommit {
    /// Time of the commit, but later than that of its parent, so that the order of these times is the order of the commits.
    pub committed: Timestamp,
    /// Identifies what was to be measured: machine, build settings and benchmarks. A pair of commits that has been measured for this is not measured
    /// again.
    pub series: String,
}

impl NewRun {
    /// Returns the facts for another store: without the build, which exists only in the cache of one machine.
    #[must_use]
    pub fn without_build(&self) -> Self {
        Self {
            build: None,
            ..self.clone()
        }
    }
}

/// A run without its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The number of the run.
    pub id: RunId,
    /// The facts known when the run began.
    pub begun: NewRun,
    /// Time at which the run ended normally. `None` if it has not ended, or was interrupted or killed.
    pub finished: Option<Timestamp>,
    /// How far the run got.
    pub status: RunStatus,
    /// Whether the run may become a reference.
    pub acceptance: Acceptance,
    /// The other side, if the run was measured side by side.
    pub pair: Option<Pair>,
    /// The boundaries and budgets of the sequential test, which were fixed before the first round. `None` if the run was not measured side by side.
    pub plan: Option<String>,
    /// The origin of the numbers, if another program measured them.
    pub source: Option<Source>,
}

/// The facts known when a run ends normally.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Time at which the run ended.
    pub finished: Timestamp,
    /// Whether the run may become a reference from now on.
    pub acceptance: Acceptance,
    /// The exit code of the command.
    pub exit_code: u8,
    /// The verdicts, including those on benchmarks that the run did not measure.
    pub verdicts: Vec<RunVerdict>,
    /// The conclusion of the run, as bytes that the store does not interpret.
    pub conclusion: Option<Vec<u8>>,
}

/// The verdict of a run on one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// Median time of one iteration in this run, in nanoseconds. Lists and histories show it. `None` if the run did not measure the benchmark.
    pub typical_ns: Option<f64>,
    /// Change relative to the reference, as a fraction.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change). `None` if it cannot be computed.
    pub standard_error: Option<f64>,
    /// The run used as the reference. It may have been deleted since.
    pub reference: Option<RunId>,
}

/// Facts of one bench target in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Features of the package as cargo built it, sorted.
    pub features: Vec<String>,
    /// Size of the executable. `None` if it could not be read from the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ExecutableSize>,
}

/// Size of an executable in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutableSize {
    /// Code and constants, as the program `size` prints them.
    pub text: u64,
    /// Variables with an initial value.
    pub data: u64,
    /// Variables that are zero at the start, which take no space in the file.
    pub bss: u64,
    /// Size of the file without symbols and debug information, as `strip` leaves it. Null if it is unknown, as on macOS.
    pub stripped: Option<u64>,
}

impl ExecutableSize {
    /// Returns the size that is compared: that of the file without symbols or, if it is unknown, that of code, constants and variables with an initial
    /// value.
    pub fn compared_bytes(&self) -> u64 {
        let loaded = self.text.saturating_add(self.data);
        self.stripped.unwrap_or(loaded)
    }
}

/// Resources that a process used, as the system reported at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// Number of threads that were alive.
    pub threads: u32,
    /// CPU time of the process and of the children that it waited for, in nanoseconds. The time of the children is known only in clock ticks of 10
    /// ms.
    pub cpu: Nanos,
    /// Time that the process spent on requests, in nanoseconds.
    // Stores that were written before the first release have the old name.
    #[serde(alias = "asked")]
    pub working_time: Nanos,
    /// Number of involuntary context switches of its threads.
    pub involuntary_switches: u64,
    /// Time that the hypervisor gave to other machines during the process, in nanoseconds, summed over all processors.
    pub stolen: Option<Nanos>,
    /// The processor that the process was pinned to during benchmarks for which one processor is enough.
    pub processor: Option<u32>,
    /// Result of the control workload just before the process, if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The resources of a single run, if the process is a program that was run several times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunUsage>,
}

/// Resources that a run of a program used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUsage {
    /// CPU time of a run in user and system mode, in nanoseconds: the mean over the runs in the samples. It includes the children that the program
    /// waited for.
    pub cpu: Nanos,
    /// The most memory that the program or one of these children had at any time of a run, in bytes. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// The shortest time of a program that does nothing, in nanoseconds. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_up: Option<Nanos>,
}

/// The control workload: a fixed amount of work that no code change affects, done several times between two processes. Its time changes only if the
/// speed of the host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Median time of one pass of the workload, in nanoseconds.
    pub pass: Nanos,
    /// Median distance of the passes from their median time, in nanoseconds.
    pub spread: Nanos,
}

impl Control {
    /// Returns how unsteady the host was: `spread` as a fraction of `pass`.
    pub fn jitter(self) -> f64 {
        self.spread.as_f64() / self.pass.as_f64().max(1.0)
    }
}

/// Says why a process has no samples of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Number of the process in the run, counted from 0.
    pub process: u32,
    /// The side that failed, or `candidate` if only one build was measured. A benchmark that fails on one side has no samples in this process on
    /// either side.
    pub side: Side,
    /// What went wrong, as text for people.
    pub message: String,
}

/// A benchmark's series in one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSeries {
    /// Ordinal of the process in the run, from 0.
    pub process: u32,
    /// Smallest step of the process's clock. It is 0 if the clock is unknown, as for imported values.
    pub quantum: Nanos,
    /// Resources that the process used, if the system reported them.
    pub conduct: Option<ProcessUsage>,
    /// Number of the code layout of the executable, from 0. `None` if the executable ran as it was built.
    pub layout: Option<u32>,
    /// The samples.
    pub series: Series,
    /// What the process recorded besides the samples, such as allocations and latencies.
    pub extras: Extras,
}

/// The data of a run about one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The benchmark as the executable announced it.
    pub benchmark: Benchmark,
    /// Facts of its bench target.
    pub target_facts: TargetFacts,
    /// The settings with which it was sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold that applies to the benchmark, as a fraction.
    pub noise_threshold: f64,
    /// The series of the benchmark in each process, in ascending order of the processes.
    pub processes: Vec<ProcessSeries>,
    /// The processes that have no series of the benchmark, with the reasons.
    pub failures: Vec<Failure>,
    /// Counts from separate processes, which ran only to count instructions or CPU-time samples.
    pub counts: BenchmarkCounts,
    /// The run's verdict on the benchmark, once there is one.
    pub verdict: Option<Verdict>,
    /// The samples that the filter of an import keeps. If there is a filter, statistics that describe the run, such as means, use only these samples.
    pub described: Option<FilteredSamples>,
    /// The summary that replaces the samples, if they were removed from the store.
    pub expired: Option<RunPoint>,
}

/// The summary of a benchmark in a run that remains after its samples were removed from the store. A history shows it like any other run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPoint {
    /// Number of processes whose samples are long enough to be compared.
    pub processes: usize,
    /// Smallest number of samples in a process.
    pub samples: usize,
    /// Whether the samples come from the linear phase.
    pub from_ramp: bool,
    /// Natural logarithm of the run value that is computed from low quantiles, in nanoseconds per iteration. `None` if there were no samples.
    pub low_quantile: Option<f64>,
    /// Natural logarithm of the run value that is computed from medians, in nanoseconds per iteration. `None` if there were no samples.
    pub median: Option<f64>,
}

/// The identity of a run across stores, in which its number may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableRunId {
    /// Start of the run.
    pub started: Timestamp,
    /// Seed of the run.
    pub seed: u64,
    /// Side of the run, if it belongs to a pair.
    pub side: Option<Side>,
}

/// A process of a bench executable, with its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRecord {
    /// The facts about the process, without its measurements.
    pub head: ProcessHead,
    /// Facts of its bench target.
    pub target_facts: TargetFacts,
    /// The benchmarks that the process was to run, in the order of the requests.
    pub benchmarks: Vec<BenchmarkInProcess>,
}

/// The facts about a process, without its measurements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessHead {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// Ordinal of the process in the run, from 0.
    pub ordinal: u32,
    /// Number of processes that died before this one took over the rest of their work.
    pub attempt: u32,
    /// Time at which the process was started.
    pub started: Timestamp,
    /// Bytes of padding in the environment of the process.
    pub padding_bytes: u32,
    /// Number of the code layout of the executable, from 0. `None` if the executable ran as it was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
    /// The harness that the executable reported. `None` if it reported none.
    pub harness: Option<Harness>,
    /// Resources that the process used, if the system reports them.
    pub conduct: Option<ProcessUsage>,
    /// The reason why the process as a whole failed, if it did.
    pub failure: Option<String>,
}

/// The harness of a bench executable, as reported by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harness {
    /// Name of the harness.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Smallest step of its clock.
    #[serde(rename = "quantum_ns")]
    pub quantum: Nanos,
}

/// One benchmark in one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkInProcess {
    /// The benchmark as the executable announced it.
    pub benchmark: Benchmark,
    /// The settings with which it was sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold that applies to the benchmark, as a fraction.
    pub noise_threshold: f64,
    /// The samples, or the reason why there are none.
    pub outcome: ProcessOutcome,
    /// What the process recorded besides the samples, such as allocations and latencies.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// The outcome of a benchmark in a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessOutcome {
    /// The benchmark was measured.
    Measured(Series),
    /// The benchmark was not measured, because one side failed.
    Failed {
        /// The side that failed.
        side: Side,
        /// Description of the failure.
        message: String,
    },
}

/// A benchmark and its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedBenchmark {
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// Its counts.
    pub counts: BenchmarkCounts,
}

/// The instruction counts or CPU-time samples of a benchmark. Both are empty unless the user asked for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkCounts {
    /// Instruction counts, one for each counting process, in the order in which the processes ran.
    pub instructions: Vec<InstructionCount>,
    /// Samples of the benchmark's CPU time, if instructions could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSamples>,
}

/// The instructions that one process counted for a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Number of iterations in which these instructions were counted, at least 1.
    pub iterations: u64,
    /// Instructions in user space, of all threads, without those of the harness.
    pub instructions: u64,
    /// The functions with the most instructions, in descending order. Their names are readable, without hashes.
    pub functions: Vec<FunctionCount>,
}

/// The instructions that one process counted for a benchmark, by call stack. They are not stored, because there are many stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackCounts {
    /// Number of iterations in which these instructions were counted, at least 1.
    pub iterations: u64,
    /// Instructions by call stack. A stack is a list of readable names, the outermost caller first. Only the instructions of the last function in the
    /// list are counted, without those of the functions that it calls.
    pub instructions: BTreeMap<Vec<String>, u64>,
}

/// The instructions of one process by source line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LineCounts {
    /// All instructions. They exceed the sum of `lines` if code outside the workspace was not called by code of the workspace.
    pub instructions: f64,
    /// The instructions of each line, by file and number of the line. The paths of the files are relative to the directory of the sources.
    pub lines: BTreeMap<String, BTreeMap<u32, f64>>,
}

/// The functions in which a benchmark spends its time, found by sampling after equal amounts of CPU time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSamples {
    /// Number of samples in user space, of all threads. It is at least 1.
    pub samples: u64,
    /// The functions with the most samples, in descending order. Their names are readable, without hashes.
    pub functions: Vec<FunctionCount>,
}

/// The instructions or samples of a function, without those of the functions that it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Readable name of the function.
    pub name: String,
    /// Instructions in all counted iterations, or number of CPU-time samples.
    pub count: u64,
}

impl FunctionCount {
    /// Returns the functions with the highest counts, in descending order. Functions beyond the number that a run stores are left out.
    pub fn top_functions(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<Self> {
        let counts = counts.into_iter();
        let mut functions: Vec<Self> = counts.map(|(name, count)| Self { name, count }).collect();
        functions.sort_by_key(|one| Reverse(one.count));
        functions.truncate(limits::MOST_COUNTED_FUNCTIONS);
        functions
    }
}

impl InstructionCount {
    /// Returns the instructions per iteration.
    pub fn per_iteration(&self) -> f64 {
        self.instructions as f64 / self.iterations as f64
    }
}

/// The machine on which a run was measured. Runs with a different `cpu` or `architecture` are not comparable. Other differences cause
/// warnings. Texts that an import does not state are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostFacts {
    /// CPU model, as the system reports it.
    pub cpu: String,
    /// Instruction set, e.g. `x86_64`.
    pub architecture: String,
    /// Operating system, e.g. `linux`.
    pub os: String,
    /// Number of logical processors that `cargo perfcheck` could use. It is 0 if an import does not state it.
    pub cores: u32,
    /// Release of the kernel, e.g. `6.8.0-45-generic`.
    pub kernel: String,
    /// Frequency governor of the first processor, e.g. `performance`. Null if the system does not report it.
    pub governor: Option<String>,
    /// Microcode revision of the processor. Null if the system does not report it.
    pub microcode: Option<String>,
    /// Whether others use the machine, too, which is assumed of a virtual machine or a CI runner. Null if an import does not state it.
    pub shared: Option<bool>,
}

/// How the bench executables of a run were built. Runs with any difference here are not comparable. Members that an import does not state are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildFacts {
    /// First line of `rustc -vV`, e.g. `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub rustc: String,
    /// Target triple, e.g. `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// Name of the cargo profile, e.g. `bench`.
    pub profile: String,
    /// The flags that cargo passes to rustc (`RUSTFLAGS` or configuration), followed by `--config` options. They are separated by spaces.
    pub rustflags: String,
}

/// The machine on which a run was measured, and how its executables were built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The machine on which the run was measured.
    pub host: HostFacts,
    /// How the executables were built.
    pub build: BuildFacts,
}

/// Returns the first digits of a commit hash, for display.
pub fn shorten_hash(hash: &str, digits: usize) -> &str {
    hash.get(..digits).unwrap_or(hash)
}

/// A git commit, with what people need to recognize it. All members but `hash` are empty if git does not know the commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commit {
    /// Full hash of the commit.
    pub hash: String,
    /// Name of the author.
    pub author: String,
    /// Time at which the commit was authored, in the format of RFC 3339.
    pub authored: String,
    /// First line of the commit message.
    pub subject: String,
}

impl Commit {
    /// Returns the first digits of the hash.
    pub fn short(&self) -> &str {
        shorten_hash(&self.hash, 10)
    }
}

/// The state of the git checkout that was measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GitState {
    /// Full hash of the commit that is checked out (`HEAD`).
    pub commit: String,
    /// Name of the branch. Null if `HEAD` is detached.
    pub branch: Option<String>,
    /// Whether tracked files differ from `HEAD`.
    pub dirty: bool,
}

impl GitState {
    /// Returns the first digits of the commit.
    pub fn short(&self) -> &str {
        shorten_hash(&self.commit, 10)
    }
}

#[cfg(test)]
mod tests {
    use super::{RunId, *};

    #[test]
    fn a_pair_has_one_number_and_its_base_stands_just_before_its_candidate() {
        let (one, two) = (RunId(1), RunId(2));
        let mut runs = [two, one, two.base(), one.base()];
        runs.sort();
        assert_eq!(runs, [one.base(), one, two.base(), two]);
        assert_eq!(
            runs.map(|run| run.to_string()),
            ["1/base", "1", "2/base", "2"]
        );
        for run in runs {
            assert_eq!(run.to_string().parse(), Ok(run));
        }
        assert_eq!("-2".parse(), Ok(two.base()), "as JSON has it");
        for word in [
            "",
            "+2",
            "--2",
            "-2/base",
            "/base",
            "2/candidate",
            "v2",
            "99999999999999999999",
        ] {
            assert!(word.parse::<RunId>().is_err(), "{word}");
        }
    }

    #[test]
    fn a_commit_is_called_by_its_first_ten_digits() {
        let hash = "59807616e1a2b3c4d5e6f708192a3b4c5d6e7f80";
        let commit = Commit {
            hash: hash.to_owned(),
            ..Commit::default()
        };
        let state = GitState {
            commit: "59807".to_owned(),
            ..GitState::default()
        };
        assert_eq!((commit.short(), state.short()), ("59807616e1", "59807"));
    }

    #[test]
    fn a_run_keeps_the_functions_with_the_highest_counts() {
        let all = (0..limits::MOST_COUNTED_FUNCTIONS as u64 + 5).map(|k| (format!("f{k}"), k));
        let kept = FunctionCount::top_functions(all);
        assert_eq!(kept.len(), limits::MOST_COUNTED_FUNCTIONS);
        assert_eq!(kept[0].count, limits::MOST_COUNTED_FUNCTIONS as u64 + 4);
        assert_eq!(kept.last().map(|one| one.count), Some(5));
    }

    #[test]
    fn a_run_for_another_store_differs_only_in_its_build() {
        let begun = NewRun {
            started: Timestamp(5),
            git: Some(GitState::default()),
            environment: Environment::default(),
            load: Some(0.5),
            seed: 7,
            decision: DecisionSettings::default(),
            tool_version: "1.2.3".to_owned(),
            build: Some("b".to_owned()),
            partition: None,
            past: None,
        };
        let expected = NewRun {
            build: None,
            ..begun.clone()
        };
        assert_eq!(begun.without_build(), expected);
    }

    #[test]
    fn a_host_is_as_unsteady_as_its_passes_spread() {
        let jitter = |spread, pass| {
            let control = Control {
                pass: Nanos(pass),
                spread: Nanos(spread),
            };
            control.jitter()
        };
        assert_eq!(jitter(30, 120), 0.25);
        assert_eq!(jitter(300, 120), 2.5);
        assert_eq!(jitter(30, 0), 30.0);
    }

    #[test]
    fn instructions_are_told_per_iteration() {
        let count = InstructionCount {
            iterations: 4,
            instructions: 10,
            functions: Vec::new(),
        };
        assert_eq!(count.per_iteration(), 2.5);
    }

    #[test]
    fn functions_are_kept_with_their_names_highest_count_first() {
        let counts = [("a", 3), ("b", 9), ("c", 3)];
        let counts = counts.map(|(name, count)| (name.to_owned(), count));
        let expected = [1, 0, 2].map(|place| FunctionCount {
            name: counts[place].0.clone(),
            count: counts[place].1,
        });
        assert_eq!(FunctionCount::top_functions(counts), expected);
    }

    #[test]
    fn a_hash_is_cut_to_as_many_digits_as_it_has() {
        assert_eq!(shorten_hash("59807616e1", 4), "5980");
        assert_eq!(shorten_hash("598", 4), "598");
    }

    #[test]
    fn runs_are_compared_alike_in_full_and_in_part() {
        let (one, two) = (RunId(1), RunId(2));
        assert_eq!(one.partial_cmp(&two), Some(Ordering::Less));
        assert_eq!(two.partial_cmp(&two.base()), Some(Ordering::Greater));
        assert_eq!(one.cmp(&one), Ordering::Equal);
        assert_eq!(RunId(0).to_string(), "0");
    }
}
