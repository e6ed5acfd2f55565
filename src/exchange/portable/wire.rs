//! The lines of the format as types, and a run put together from them.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use perfcheck_analysis::findings::Conclusion;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, CountedBenchmark, LaunchHead, LaunchRecord, LaunchedBenchmark,
    NewRun, Purpose, RunId, Side, Source, TargetFacts, Timestamp, Verdict,
};

/// Counts up where a line gets a new member or meaning: earlier programs refuse it rather than lose something.
pub(super) const FORMAT: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub(super) enum PortableLine {
    /// The first one.
    PerfcheckExport(Header),
    /// A run begins.
    Run(Box<PortableHead>),
    /// A launch of the run begins.
    Launch(WireLaunch),
    /// What the launch gave of a benchmark.
    Series(Box<LaunchedBenchmark>),
    /// What was counted of a benchmark of the run.
    CountsOfBenchmark(CountedBenchmark),
    /// What the run found of a benchmark.
    Verdict(PortableVerdict),
    /// What was concluded of the run.
    Conclusion(WireConclusion),
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
    pub launches: Vec<LaunchRecord>,
    /// What was counted, by benchmark.
    pub counted: Vec<CountedBenchmark>,
    /// By benchmark.
    pub verdicts: Vec<PortableVerdict>,
    /// What was concluded at its end, where that is known.
    pub conclusion: Option<PortableConclusion>,
}

/// What was concluded of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableConclusion {
    /// The conclusion, as it was stored.
    pub concluded: Conclusion<'static>,
    /// The runs that it names, by the numbers that they have in it.
    pub runs: BTreeMap<RunId, PortableReference>,
}

/// What is known of a run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableHead {
    /// What was known when it began.
    pub begun: NewRun,
    /// When it ended.
    pub finished: Timestamp,
    /// Whether it may be a reference.
    pub acceptance: Acceptance,
    /// The exit code that it ended with.
    pub exit_code: u8,
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

/// A launch as a line; the lines after it are what it gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireLaunch {
    pub(super) head: LaunchHead,
    pub(super) target_facts: TargetFacts,
}

/// What a run found about a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableVerdict {
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// The run's value.
    pub typical_ns: Option<f64>,
    /// Relative change, a fraction.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The run that it was compared with, by what no other run shares with it.
    pub reference: Option<PortableReference>,
    /// Whether the user accepted what was measured as a new level of this benchmark alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
}

/// A conclusion as a line: its bytes, as bounds may be infinite, which JSON does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireConclusion {
    /// Each run number in it, with the run that it stands for.
    runs: Vec<(RunId, PortableReference)>,
    /// CBOR, in hexadecimal digits.
    cbor: String,
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
            started: self.begun.started,
            seed: self.begun.seed,
            side: self.pair.map(|pair| pair.side),
        }
    }
}

impl PortableRun {
    /// How many benchmarks were asked for.
    pub fn benchmarks(&self) -> usize {
        let keys: HashSet<_> = (self.launches.iter())
            .flat_map(|launch| &launch.benchmarks)
            .map(|launched| &launched.benchmark.key)
            .collect();
        keys.len()
    }

    /// Whether both are the same measurement: apart from names, acceptance and what else users may change later, and from what was concluded of it.
    pub fn is_same_measurement(&self, other: &Self) -> bool {
        let bare = |run: &Self| {
            let mut run = run.clone();
            run.head.baselines.clear();
            run.conclusion = None;
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

impl From<&PortableConclusion> for WireConclusion {
    fn from(conclusion: &PortableConclusion) -> Self {
        let mut cbor = String::new();
        for byte in conclusion.concluded.to_bytes() {
            // A string takes everything.
            let _ = write!(cbor, "{byte:02x}");
        }
        Self {
            runs: conclusion.runs.clone().into_iter().collect(),
            cbor,
        }
    }
}

impl TryFrom<WireConclusion> for PortableConclusion {
    type Error = String;

    fn try_from(wire: WireConclusion) -> Result<Self, String> {
        let nibble = |digit: &u8| char::from(*digit).to_digit(16);
        let byte = |pair: &[u8]| match pair {
            [high, low] => u8::try_from(nibble(high)? << 4 | nibble(low)?).ok(),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = wire.cbor.as_bytes().chunks(2).map(byte).collect();
        let bytes = bytes.ok_or("`cbor` is pairs of hexadecimal digits")?;
        let concluded = Conclusion::from_bytes(&bytes).map_err(|error| error.0)?;
        Ok(Self {
            concluded,
            runs: wire.runs.into_iter().collect(),
        })
    }
}
