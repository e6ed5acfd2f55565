//! A run: all processes of one invocation.

use std::cmp::Ordering;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{
    Benchmark, BenchmarkCounts, BenchmarkKey, DecisionSettings, Environment, Extras,
    FilteredSamples, GitState, Nanos, SamplingSettings, Series, Shard, Side, Source, Verdict,
};

/// Number of a run in its store. Two sides that were measured side by side share a number: the candidate is N, and its base is -N, written `N/base`.
///
/// Runs are ordered by number, a base just before its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RunId(pub i64);

/// Suffix of the name of a base, after the number of its pair.
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

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Under way, interrupted or killed: each stored process is complete, but some may be missing.
    Incomplete,
    /// Finished normally.
    Complete,
}

/// Whether a run may become a reference without being named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// Not a reference: something became worse, the run was compared with one that is not accepted, an uncommitted improvement may be dropped again,
    /// or the run has not ended.
    Pending,
    /// Accepted because nothing became worse than in a reference.
    Automatic,
    /// Accepted by the user; the run starts a new segment of the history.
    ByCommand,
}

/// The purpose of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A comparison that the user asked for.
    Comparison,
    /// A comparison of the same executable with itself, which shows how much the host differs from itself.
    Control,
    /// A step of a search through the history.
    Search,
    /// One part of a suite, judged together with the other parts. A run that is not measured side by side has this purpose, too.
    Part,
}

/// The other side of a side-by-side measurement, seen from one side. Round r of the pair is process r of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The run of the other side.
    pub partner: RunId,
    /// The side of this run.
    pub side: Side,
}

/// The facts known when a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// Time at which it began.
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
    /// Name of the build in the cache of this machine, if it was built there.
    pub build: Option<String>,
    /// The part of a suite that the run measures, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Shard>,
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
    /// The facts known when it began.
    pub begun: NewRun,
    /// Time at which it ended; `None` if it did not.
    pub finished: Option<Timestamp>,
    /// How far it got.
    pub status: RunStatus,
    /// Whether it may become a reference.
    pub acceptance: Acceptance,
    /// The other side, if it was measured side by side.
    pub pair: Option<Pair>,
    /// The sequential plan of a side-by-side measurement, as stored when it began.
    pub plan: Option<String>,
    /// The origin of the numbers, if another program measured them.
    pub source: Option<Source>,
}

/// The facts known when a run ends normally.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Time at which it ended.
    pub finished: Timestamp,
    /// Whether it may become a reference from now on.
    pub acceptance: Acceptance,
    /// The exit code of the command.
    pub exit_code: u8,
    /// The verdicts, including those on benchmarks that the run did not measure.
    pub verdicts: Vec<RunVerdict>,
    /// The conclusion of the run, as bytes that the store keeps without reading them.
    pub conclusion: Option<Vec<u8>>,
}

/// The verdict of a run on one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// Time of one iteration in this run, in nanoseconds; for lists and for the spread between runs.
    pub typical_ns: Option<f64>,
    /// Relative change against the reference, a fraction.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change); `None` if it cannot be computed.
    pub standard_error: Option<f64>,
    /// The run used as the reference. It may have been deleted since.
    pub reference: Option<RunId>,
}

/// Facts of one bench target in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Features of the package as cargo built it, sorted.
    pub features: Vec<String>,
}

/// Resources that a process used, as the system reported at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// Number of threads that were alive.
    pub threads: u32,
    /// CPU time of the process and of the children that it waited for, in nanoseconds; that of the children in clock ticks of 10 ms.
    pub cpu: Nanos,
    /// Time that the process spent on requests, in nanoseconds.
    pub asked: Nanos,
    /// Number of involuntary context switches of its threads.
    pub involuntary_switches: u64,
    /// Time that the hypervisor gave to other machines during the process, in nanoseconds, summed over all processors.
    pub stolen: Option<Nanos>,
    /// The processor that the process was pinned to during benchmarks for which one processor is enough.
    pub processor: Option<u32>,
    /// Result of the control workload just before the process, if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
}

/// The control workload: a fixed amount of work that no code change affects, done several times between two processes. Its time changes only if the
/// host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Median time of a pass, in nanoseconds.
    pub pass: Nanos,
    /// Median distance of a pass from that median, in nanoseconds.
    pub spread: Nanos,
}

impl Control {
    /// Returns how unsteady the host was: spread over median, a fraction.
    pub fn jitter(self) -> f64 {
        self.spread.as_f64() / self.pass.as_f64().max(1.0)
    }
}

/// Why a process has no series of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Ordinal of the process in the run, from 0.
    pub launch: u32,
    /// Description of the failure.
    pub message: String,
}

/// Prefix of the message of a failure if the base failed, and not the benchmark itself.
pub const BASE_FAILED: &str = "the reference failed: ";

/// A benchmark's series in one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSeries {
    /// Ordinal of the process in the run, from 0.
    pub launch: u32,
    /// Smallest step of the process's clock; 0 if the clock is unknown, as for imported values.
    pub quantum: Nanos,
    /// Resources that the process used, if the system reported them.
    pub conduct: Option<ProcessUsage>,
    /// The code layout of the executable, from 0; `None` if it ran as built.
    pub layout: Option<u32>,
    /// The samples.
    pub series: Series,
    /// Measurements besides the samples.
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
    /// Noise threshold in force for the benchmark, a fraction.
    pub noise_threshold: f64,
    /// Its series by process, ascending.
    pub launches: Vec<ProcessSeries>,
    /// Failures of processes.
    pub failures: Vec<Failure>,
    /// Counts from processes that only counted.
    pub counts: BenchmarkCounts,
    /// The run's verdict on the benchmark, once there is one.
    pub verdict: Option<Verdict>,
    /// The samples that a filter keeps for descriptions, if there is a filter.
    pub described: Option<FilteredSamples>,
    /// The summary that remains after the samples were removed.
    pub expired: Option<RunPoint>,
}

/// The summary of a benchmark in a run that remains after its samples were removed: a point of the history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPoint {
    /// Number of processes with samples that count.
    pub launches: usize,
    /// Number of samples in the process that has fewest.
    pub samples: usize,
    /// Whether the samples were those of a ramp.
    pub from_ramp: bool,
    /// ln of the run's value from low quantiles, in nanoseconds per iteration; `None` without samples.
    pub low_quantile: Option<f64>,
    /// ln of the run's value from medians.
    pub median: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::RunId;

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
}
