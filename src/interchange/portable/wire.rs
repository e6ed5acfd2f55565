//! The lines of the format as types, the run that they form, and its writer.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::sanitize;
use perfcheck_analysis::findings::Conclusion;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkInProcess, BenchmarkKey, CountedBenchmark, NewRun, PortableRunId,
    ProcessHead, ProcessRecord, ProgressReporter, Purpose, RunId, Side, Source, TargetFacts,
    Timestamp, Verdict,
};

/// Version of the format. It must grow if a member is added or changes its meaning, so that earlier versions of this program refuse the file instead
/// of losing data.
pub(super) const FORMAT: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub(super) enum PortableLine {
    /// The first line.
    PerfcheckExport(Header),
    /// The head of a run.
    Run(Box<PortableHead>),
    /// The head of a process of the run.
    Process(WireProcess),
    /// The series of a benchmark in the process.
    Series(Box<BenchmarkInProcess>),
    /// Instruction counts and sampled time of a benchmark of the run.
    CountsOfBenchmark(CountedBenchmark),
    /// The verdict about a benchmark of the run.
    Verdict(PortableVerdict),
    /// The conclusion of the run.
    Conclusion(WireConclusion),
    /// The last line.
    End(Footer),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) tool_version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Footer {
    /// Number of all lines, including the first and this one.
    pub(super) lines: u64,
}

/// A run with everything that the store has about it, except executables.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableRun {
    /// Facts about the whole run.
    pub head: PortableHead,
    /// Processes, sorted by package, target, ordinal and attempt.
    pub processes: Vec<ProcessRecord>,
    /// Instruction counts and sampled times, sorted by benchmark.
    pub counted: Vec<CountedBenchmark>,
    /// Verdicts, sorted by benchmark.
    pub verdicts: Vec<PortableVerdict>,
    /// Conclusion at the end of the run, if it is known.
    pub conclusion: Option<PortableConclusion>,
}

/// The conclusion of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableConclusion {
    /// The conclusion, as stored.
    pub concluded: Conclusion<'static>,
    /// The runs that the conclusion names. The keys are the numbers by which it names them.
    pub runs: BTreeMap<RunId, PortableRunId>,
}

/// The facts about a whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableHead {
    /// Facts that were known when the run began.
    pub begun: NewRun,
    /// End of the run.
    pub finished: Timestamp,
    /// Whether the run may be a reference.
    pub acceptance: Acceptance,
    /// Exit code of the command that measured the run.
    pub exit_code: u8,
    /// The other side of the measurement, if the run was measured side by side with another build.
    pub pair: Option<PortablePair>,
    /// Plan of a side-by-side measurement, as the store encodes it.
    pub plan: Option<String>,
    /// Where the run was imported from, if it was imported.
    pub source: Option<Source>,
    /// Baselines that name the run.
    pub baselines: Vec<String>,
}

/// One side of a side-by-side measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortablePair {
    /// Index of the other side among the runs of the file.
    pub partner: usize,
    /// Side of this run.
    pub side: Side,
    /// Purpose of the measurement.
    pub purpose: Purpose,
}

/// The head of a process as a line. The lines that follow have the results of the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireProcess {
    pub(super) head: ProcessHead,
    pub(super) target_facts: TargetFacts,
}

/// The verdict of a run about a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortableVerdict {
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// The verdict.
    pub verdict: Verdict,
    /// Median of the run, in nanoseconds per iteration or in the unit of the metric. `None` if there are no samples.
    pub typical_ns: Option<f64>,
    /// Change against the reference, as a fraction. `None` if there was no comparison.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change); `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// The run that the benchmark was compared with; `None` if there was none.
    pub reference: Option<PortableRunId>,
    /// Whether the user accepted the measured value as a new level for this benchmark without accepting the whole run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
}

/// A conclusion as a line. It is encoded as CBOR, because bounds may be infinite and JSON has no infinity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireConclusion {
    /// Each run number in the conclusion, with the run that it stands for.
    runs: Vec<(RunId, PortableRunId)>,
    /// CBOR in hexadecimal digits.
    cbor: String,
}

impl PortableHead {
    /// Returns the identification of the run, which is the same in every store.
    pub fn reference(&self) -> PortableRunId {
        PortableRunId {
            started: self.begun.started,
            seed: self.begun.seed,
            side: self.pair.map(|pair| pair.side),
        }
    }
}

impl PortableRun {
    /// Returns how many benchmarks the processes of the run started.
    pub fn count_benchmarks(&self) -> usize {
        let keys: HashSet<_> = (self.processes.iter())
            .flat_map(|process| &process.benchmarks)
            .map(|in_process| &in_process.benchmark.key)
            .collect();
        keys.len()
    }

    /// Reports whether both are the same measurement. Baselines, acceptance, references and conclusions may differ: users can change them
    /// later.
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
            // Writing to a string never fails.
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
        let bytes = bytes.ok_or("`cbor` must be pairs of hexadecimal digits")?;
        let concluded = Conclusion::from_bytes(&bytes).map_err(|error| error.0)?;
        Ok(Self {
            concluded,
            runs: wire.runs.into_iter().collect(),
        })
    }
}

/// Writes runs as lines. `PortablePair::partner` must be an index in `runs`.
pub fn write_portable(
    writer: &mut dyn Write,
    runs: &[PortableRun],
    tool_version: &str,
    progress: &ProgressReporter<'_>,
) -> io::Result<()> {
    let processes = runs.iter().flat_map(|run| &run.processes);
    let all: usize = processes.map(|process| process.benchmarks.len()).sum();
    let mut done = 0;
    let mut lines = LineWriter { writer, count: 0 };
    lines.write_line(&PortableLine::PerfcheckExport(Header {
        format: FORMAT,
        tool_version: tool_version.to_owned(),
    }))?;
    for run in runs {
        lines.write_line(&PortableLine::Run(Box::new(run.head.clone())))?;
        for process in &run.processes {
            lines.write_line(&PortableLine::Process(WireProcess {
                head: process.head.clone(),
                target_facts: process.target_facts.clone(),
            }))?;
            for benchmark in &process.benchmarks {
                progress.report(done, all);
                done += 1;
                lines.write_line(&PortableLine::Series(Box::new(benchmark.clone())))?;
            }
        }
        for counted in &run.counted {
            lines.write_line(&PortableLine::CountsOfBenchmark(counted.clone()))?;
        }
        for verdict in &run.verdicts {
            lines.write_line(&PortableLine::Verdict(verdict.clone()))?;
        }
        if let Some(conclusion) = &run.conclusion {
            lines.write_line(&PortableLine::Conclusion(conclusion.into()))?;
        }
    }
    let end = PortableLine::End(Footer {
        lines: lines.count + 1,
    });
    lines.write_line(&end)
}

struct LineWriter<'a> {
    writer: &'a mut dyn Write,
    count: u64,
}

impl LineWriter<'_> {
    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(line)?;
        self.writer.write_all(sanitize::json(&text).as_bytes())?;
        self.count += 1;
        self.writer.write_all(b"\n")
    }
}
