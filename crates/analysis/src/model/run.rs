//! A run: all launches of one invocation.

use std::cmp::Ordering;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{
    Benchmark, BenchmarkKey, CountsOfBenchmark, DecisionSettings, DescribedSamples, Environment,
    Extras, GitState, Nanos, Partition, SamplingSettings, Series, Side, Source, Verdict,
};

/// Number of a run in its store. An A/B measurement has one number: its base is -N where its candidate is N, and is written `N/base`.
///
/// Runs are ordered by number, a base just before its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RunId(pub i64);

/// Ends the name of a base, after the number of its pair.
const BASE_SUFFIX: &str = "/base";

impl RunId {
    /// The base of an A/B measurement that has this run as its candidate.
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
        // Another sign is no part of a number.
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

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Under way, interrupted or killed: what is stored is whole, but something may be missing.
    Incomplete,
    /// Ended by itself.
    Complete,
}

/// Whether a run may serve as a reference by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// Not a reference: it found something worse, was compared with what need not be one, may be given up again, or has not ended.
    Pending,
    /// It found nothing worse than a reference.
    Automatic,
    /// The user said so; it starts a new segment of the history.
    ByCommand,
}

/// What a measurement was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The user asked for it.
    Comparison,
    /// The same: both sides are the same executables, so that it tells how much the host differs from itself.
    Control,
    /// A step of a search through the history.
    Search,
    /// One part of a suite, which is decided with the others. Also a run of its own has this purpose.
    Part,
}

/// The other side of an A/B measurement, seen from one of them: round r of the pair is launch r of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The run of the other side.
    pub partner: RunId,
    /// What this run is in the pair.
    pub side: Side,
}

/// What is known when a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// When it began.
    pub started: Timestamp,
    /// The checkout, where there is one.
    pub git: Option<GitState>,
    /// Machine and build.
    pub environment: Environment,
    /// One-minute load average at the start, where the system tells.
    pub load: Option<f64>,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// Settings of the decision at the level of the run.
    pub decision: DecisionSettings,
    /// Version of cargo-perfcheck.
    pub tool_version: String,
    /// The name of its build in the cache of this machine, if it was built there.
    pub build: Option<String>,
    /// Which part of a suite it measures, if it is one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
}

impl NewRun {
    /// The same for another store: without its build, which lies in the cache of one machine.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self {
            build: None,
            ..self.clone()
        }
    }
}

/// The head of a run, without its series.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// What was known when it began.
    pub begun: NewRun,
    /// When it ended, if it did.
    pub finished: Option<Timestamp>,
    /// How far it came.
    pub status: RunStatus,
    /// Whether it may be a reference.
    pub acceptance: Acceptance,
    /// The other side, if this run is one side of an A/B measurement.
    pub pair: Option<Pair>,
    /// The sequential plan of an A/B measurement as it was written down when it began.
    pub plan: Option<String>,
    /// Where its numbers come from, if another program measured them.
    pub source: Option<Source>,
}

/// What is known when a run ends by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// When it ended.
    pub finished: Timestamp,
    /// Whether it may serve as a reference from now on.
    pub acceptance: Acceptance,
    /// The exit code that it ends with.
    pub exit_code: u8,
    /// What was found, also about benchmarks that the run did not measure.
    pub verdicts: Vec<RunVerdict>,
    /// What was concluded of the run, in bytes that the store keeps without reading them.
    pub conclusion: Option<Vec<u8>>,
}

/// What a run found about one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// The run's value: nanoseconds of one iteration, for lists and for the spread between runs.
    pub typical_ns: Option<f64>,
    /// Relative change against the reference, a fraction.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change); `None` where the data do not give one.
    pub standard_error: Option<f64>,
    /// The run that it was compared with. That run may since have been deleted.
    pub reference: Option<RunId>,
}

/// Facts of one bench target in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Features of the package as cargo built it, sorted.
    pub features: Vec<String>,
}

/// How the process of a launch ran, as the system told at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// Threads that were alive.
    pub threads: u32,
    /// CPU time of the process and of those that it has waited for, nanoseconds; of these in clock ticks of 10 ms.
    pub cpu: Nanos,
    /// Time in which it worked on requests, nanoseconds.
    pub asked: Nanos,
    /// How often its threads had to leave their processor to others.
    pub involuntary_switches: u64,
    /// Time that the hypervisor gave to others meanwhile, nanoseconds summed over all processors.
    pub stolen: Option<Nanos>,
    /// The processor that it was bound to for those of its benchmarks for which one is enough.
    pub processor: Option<u32>,
    /// What the control workload took just before, where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
}

/// A fixed amount of work that no change of code touches, done several times between two launches: what moves it is the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Median of the passes, nanoseconds.
    pub pass: Nanos,
    /// Median distance of a pass from that, nanoseconds.
    pub spread: Nanos,
}

impl Control {
    /// How unsteady the host was: spread over median, a fraction.
    pub fn jitter(self) -> f64 {
        self.spread.as_f64() / self.pass.as_f64().max(1.0)
    }
}

/// Why a launch gave no series of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Ordinal of the launch in the run, from 0.
    pub launch: u32,
    /// What happened, in words.
    pub message: String,
}

/// How the message of a failure begins that is the base's and not the benchmark's own.
pub const BASE_FAILED: &str = "the reference failed: ";

/// A benchmark's series in one launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSeries {
    /// Ordinal of the launch in the run, from 0.
    pub launch: u32,
    /// Smallest step of the child's clock; 0 where no clock is known, as of imported values.
    pub quantum: Nanos,
    /// How the process ran, where the system told.
    pub conduct: Option<Conduct>,
    /// Which layout of its code the executable had, from 0; `None`: it ran as it was built.
    pub layout: Option<u32>,
    /// What was measured.
    pub series: Series,
    /// What was measured besides the samples.
    pub extras: Extras,
}

/// Everything that a run knows of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The benchmark as announced.
    pub benchmark: Benchmark,
    /// Facts of its target.
    pub target_facts: TargetFacts,
    /// How it was sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold in force for it, a fraction.
    pub noise_threshold: f64,
    /// Its series by launch, ascending.
    pub launches: Vec<LaunchSeries>,
    /// Launches that failed.
    pub failures: Vec<Failure>,
    /// What processes counted that were launched for nothing else.
    pub counts: CountsOfBenchmark,
    /// The verdict of the run about it, once there is one.
    pub verdict: Option<Verdict>,
    /// What a filter leaves to be described, where there is a filter.
    pub described: Option<DescribedSamples>,
    /// What is left of its samples, where these were removed.
    pub expired: Option<RunPoint>,
}

/// What is left of the samples of a benchmark in a run once they are removed: its place in the history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPoint {
    /// How many launches had samples that count.
    pub launches: usize,
    /// How many of them the shortest of these had.
    pub samples: usize,
    /// Whether they were those of a ramp.
    pub from_ramp: bool,
    /// ln of the run's value from low quantiles, in nanoseconds of one iteration; `None` without samples.
    pub low_quantile: Option<f64>,
    /// The same from medians.
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
