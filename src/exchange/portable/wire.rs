//! The lines of the format as types, and a run put together from them.

use serde::{Deserialize, Serialize};

use crate::model::{
    Acceptance, Allocations, AuthorSettings, BenchmarkKey, Beside, Conduct, DecisionSettings,
    Environment, GitState, Latencies, Metric, Nanos, Purpose, Sample, SamplingSettings, Series,
    Side, Source, Throughput, Timestamp, Verdict,
};

/// Counts up where a line gets a new member or meaning: earlier programs refuse it rather than lose something.
pub(super) const FORMAT: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub(super) enum Line {
    /// The first one.
    PerfcheckExport(Header),
    /// A run begins.
    Run(Box<PortableHead>),
    /// A launch of the run begins.
    Launch(PortableLaunchHead),
    /// What the launch gave of a benchmark.
    Series(Box<WireBenchmark>),
    /// What the run found of a benchmark.
    Verdict(PortableVerdict),
    /// The last one.
    End(End),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) tool_version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// All lines, with the first and this one.
    pub(super) lines: u64,
}

/// A run with everything that the store keeps of it, but for executables.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableRun {
    /// Its head.
    pub head: PortableHead,
    /// By package, target, ordinal and attempt.
    pub launches: Vec<PortableLaunch>,
    /// By benchmark.
    pub verdicts: Vec<PortableVerdict>,
}

/// The head of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableHead {
    /// When it began, nanoseconds since 1970.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Timestamp,
    /// Whether it may be a reference.
    pub acceptance: Acceptance,
    /// The exit code that it ended with.
    pub exit_code: u8,
    /// The checkout.
    pub git: Option<GitState>,
    /// Machine and build.
    pub environment: Environment,
    /// Load average at its start.
    pub load: Option<f64>,
    /// Seed of all that was random.
    pub seed: u64,
    /// Settings of the decision.
    pub decision: DecisionSettings,
    /// Version of the program that measured.
    pub tool_version: String,
    /// The other side of an A/B measurement.
    pub pair: Option<PortablePair>,
    /// The plan of an A/B measurement.
    pub plan: Option<String>,
    /// Where an imported run came from.
    pub source: Option<Source>,
    /// The baselines that named it.
    pub baselines: Vec<String>,
}

/// One side of an A/B measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortablePair {
    /// Number of the other side among the runs of the file, from 0.
    pub partner: usize,
    /// Which side this is.
    pub side: Side,
    /// What it was measured for.
    pub purpose: Purpose,
}

/// A launch with what it gave.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableLaunch {
    /// Its head.
    pub head: PortableLaunchHead,
    /// In the order of asking.
    pub benchmarks: Vec<PortableBenchmark>,
}

/// The head of a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableLaunchHead {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// Ordinal in the run.
    pub ordinal: u32,
    /// Counts up when a process took over from one that died.
    pub attempt: u32,
    /// When it started.
    pub started: Timestamp,
    /// Bytes of padding in its environment.
    pub padding_bytes: u32,
    /// What it said about itself.
    pub harness: Option<PortableHarness>,
    /// How it ran.
    pub conduct: Option<Conduct>,
    /// Why it went wrong as a whole.
    pub failure: Option<String>,
}

/// What a bench executable says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableHarness {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Smallest step of its clock.
    pub quantum_ns: Nanos,
}

/// One benchmark in one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableBenchmark {
    /// Which.
    pub key: BenchmarkKey,
    /// The author's version of it.
    pub version: Option<String>,
    /// What one iteration processes.
    pub throughput: Throughput,
    /// The same in words, where it is neither bytes nor elements.
    pub other_throughput: Option<String>,
    /// What the author set.
    pub settings: AuthorSettings,
    /// What samples mean.
    pub metric: Metric,
    /// Features of its package.
    pub features: Vec<String>,
    /// How it was sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold in force, a fraction.
    pub noise_threshold: f64,
    /// What came of it.
    pub outcome: PortableOutcome,
    /// What was noted beside the samples.
    pub beside: Beside,
}

/// What came of a benchmark in a launch.
#[derive(Debug, Clone, PartialEq)]
pub enum PortableOutcome {
    /// It was measured.
    Measured(Series),
    /// It was not.
    Failed(String),
}

/// The same as a line: samples are pairs of iterations and nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireBenchmark {
    benchmark: BenchmarkKey,
    version: Option<String>,
    throughput: Throughput,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other_throughput: Option<String>,
    settings: AuthorSettings,
    metric: Metric,
    features: Vec<String>,
    sampling: SamplingSettings,
    noise_threshold: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warm_up: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    linear: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flat: Vec<(u64, u64)>,
    /// A digit for each quad: 1 where this side led.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    led: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allocations: Vec<Allocations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latencies: Option<Latencies>,
}

/// What a run found about a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableVerdict {
    /// Which.
    pub benchmark: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// The run's value.
    pub typical_ns: Option<f64>,
    /// Relative change, a fraction.
    pub change: Option<f64>,
    /// The run that it was compared with, by what no other run shares with it.
    pub reference: Option<PortableReference>,
    /// Whether the user accepted what was measured as a new level of this benchmark alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
}

/// A run named by what stays the same in every store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableReference {
    /// When it began.
    pub started: Timestamp,
    /// Its seed.
    pub seed: u64,
    /// Which side of a pair it is.
    pub side: Option<Side>,
}

impl PortableHead {
    /// What names the run in every store.
    pub fn reference(&self) -> PortableReference {
        PortableReference {
            started: self.started,
            seed: self.seed,
            side: self.pair.map(|pair| pair.side),
        }
    }
}

impl PortableRun {
    /// Whether both are the same measurement: names, acceptance and what else users may change later apart.
    pub fn is_same_measurement(&self, other: &Self) -> bool {
        let bare = |run: &Self| {
            let mut run = run.clone();
            run.head.baselines.clear();
            run.head.acceptance = Acceptance::Pending;
            if let Some(pair) = &mut run.head.pair {
                pair.partner = 0;
            }
            for verdict in &mut run.verdicts {
                verdict.reference = None;
                verdict.accepted = false;
            }
            run
        };
        bare(self) == bare(other)
    }
}

fn pairs(samples: &[Sample]) -> Vec<(u64, u64)> {
    samples.iter().map(pair).collect()
}

fn pair(sample: &Sample) -> (u64, u64) {
    (sample.iterations, sample.elapsed.0)
}

fn samples(pairs: Vec<(u64, u64)>) -> Vec<Sample> {
    pairs.into_iter().map(sample).collect()
}

fn sample((iterations, elapsed): (u64, u64)) -> Sample {
    Sample {
        iterations,
        elapsed: Nanos(elapsed),
    }
}

impl From<&PortableBenchmark> for WireBenchmark {
    fn from(benchmark: &PortableBenchmark) -> Self {
        let (failed, series) = match &benchmark.outcome {
            PortableOutcome::Measured(series) => (None, Some(series)),
            PortableOutcome::Failed(message) => (Some(message.clone()), None),
        };
        let beside = &benchmark.beside;
        Self {
            benchmark: benchmark.key.clone(),
            version: benchmark.version.clone(),
            throughput: benchmark.throughput,
            other_throughput: benchmark.other_throughput.clone(),
            settings: benchmark.settings,
            metric: benchmark.metric.clone(),
            features: benchmark.features.clone(),
            sampling: benchmark.sampling,
            noise_threshold: benchmark.noise_threshold,
            failed,
            warm_up: series.map(|series| pair(&series.warm_up)),
            linear: series.map_or_else(Vec::new, |series| pairs(&series.linear)),
            flat: series.map_or_else(Vec::new, |series| pairs(&series.flat)),
            led: (beside.led.iter())
                .map(|led| if *led { '1' } else { '0' })
                .collect(),
            allocations: beside.allocations.clone(),
            latencies: beside.latencies.clone(),
        }
    }
}

impl TryFrom<WireBenchmark> for PortableBenchmark {
    type Error = String;

    fn try_from(wire: WireBenchmark) -> Result<Self, String> {
        let outcome = match (wire.warm_up, wire.failed) {
            (Some(warm_up), None) => PortableOutcome::Measured(Series {
                warm_up: sample(warm_up),
                linear: samples(wire.linear),
                flat: samples(wire.flat),
            }),
            (None, Some(message)) => PortableOutcome::Failed(message),
            _ => {
                return Err(
                    "a series has either `warm_up` and samples, or `failed` with the reason"
                        .to_owned(),
                );
            }
        };
        let led = (wire.led.chars())
            .map(|digit| match digit {
                '0' => Ok(false),
                '1' => Ok(true),
                other => Err(format!("`led` is digits 0 and 1, not `{other}`")),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            key: wire.benchmark,
            version: wire.version,
            throughput: wire.throughput,
            other_throughput: wire.other_throughput,
            settings: wire.settings,
            metric: wire.metric,
            features: wire.features,
            sampling: wire.sampling,
            noise_threshold: wire.noise_threshold,
            outcome,
            beside: Beside {
                led,
                allocations: wire.allocations,
                latencies: wire.latencies,
            },
        })
    }
}
