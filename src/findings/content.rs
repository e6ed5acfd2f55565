//! What a run measured and how it compares: rows with verdicts, what they rest on, rules that were broken.

use crate::compare::{Comparison, Decider, Difference, Estimate, SharedLevel, Summary};
use crate::model::{
    BenchmarkKey, DecisionSettings, Measurement, Run, RunId, Tally, Thresholds, Unit, Verdict,
};

/// What a run measured and how it compares.
#[derive(Debug, Clone)]
pub struct Findings<'a> {
    /// The run.
    pub run: &'a Run,
    /// In the order in which they are to be shown.
    pub rows: Vec<Row<'a>>,
    /// Verdicts and what they rest on; `None` where nothing was compared.
    pub verdicts: Option<Verdicts>,
    /// Bench targets of which not all benchmarks are in the rows.
    pub failed_targets: Vec<FailedTarget>,
    /// Level of the intervals of times.
    pub confidence_level: f64,
    /// The status that the process ends with.
    pub exit_code: u8,
}

/// A bench target that died, or broke the rules, before all of its benchmarks were known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// What happened.
    pub message: String,
}

impl FailedTarget {
    /// A key that stands for the target as a whole.
    pub fn key(&self) -> BenchmarkKey {
        BenchmarkKey {
            package: self.package.clone(),
            target: self.target.clone(),
            id: String::new(),
        }
    }
}

/// How the verdicts of [`Findings`] were reached.
#[derive(Debug, Clone)]
pub struct Verdicts {
    /// What was compared with, in words.
    pub reference: String,
    /// Levels in force.
    pub decision: DecisionSettings,
    /// How they were reached.
    pub method: Method,
    /// Facts that differ without making the sides incomparable, each once.
    pub warnings: Vec<Difference>,
    /// What else a reader must know of the comparison as a whole, a sentence each.
    pub remarks: Vec<String>,
    /// What to do next, a line each.
    pub advice: Vec<String>,
    /// What the rules of `--fail` made of it.
    pub gates: Gates,
}

/// What the rules of `--fail` and of Cargo.toml say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gates {
    /// Rules that a benchmark did not keep, in the order of the benchmarks.
    pub violations: Vec<Violation>,
    /// Rules that said nothing, and why, a sentence each.
    pub remarks: Vec<String>,
}

/// A rule that a benchmark did not keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The rule as it was written.
    pub rule: String,
    /// The statistic's word.
    pub statistic: String,
    /// What its numbers are.
    pub unit: Unit,
    /// Whether it is about the change, a fraction, or about the value.
    pub is_change: bool,
    /// The limit.
    pub limit: f64,
    /// What was found, all of it above the limit.
    pub found: Estimate,
    /// The level of the interval or test that this rests on, and who shares it; `None` of counts that do not vary, and of the change that the
    /// verdict rests on, which has its own.
    pub shared_level: Option<SharedLevel>,
}

/// How verdicts are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Runs that were stored at different times, by this test.
    Stored(Decider),
    /// Both sides were measured in turn.
    Paired,
}

/// What is known of one benchmark.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// Which.
    pub key: BenchmarkKey,
    /// What was measured; `None` for a missing benchmark.
    pub measurement: Option<&'a Measurement>,
    /// Its description; `None` without samples.
    pub summary: Option<Summary>,
    /// The verdict, where there is one.
    pub verdict: Option<Verdict>,
    /// How it was reached, where two measurements were compared.
    pub comparison: Option<Comparison>,
    /// The runs it was compared with.
    pub reference: Vec<RunId>,
    /// What makes the sides incomparable.
    pub blocking: Vec<Difference>,
    /// How long its rounds took, in seconds, where two builds were measured in turn.
    pub seconds: Option<f64>,
    /// What else a reader must know, a sentence each.
    pub remarks: Vec<String>,
}

impl Row<'_> {
    /// A benchmark of which the run has a verdict and no measurement.
    pub fn unmeasured(key: BenchmarkKey, verdict: Verdict, reference: RunId) -> Self {
        Self {
            key,
            measurement: None,
            summary: None,
            verdict: Some(verdict),
            comparison: None,
            reference: vec![reference],
            blocking: Vec::new(),
            seconds: None,
            remarks: Vec::new(),
        }
    }
}

impl Findings<'_> {
    /// The thresholds in force.
    pub fn thresholds(&self) -> Thresholds {
        let decision = self.verdicts.as_ref().map(|verdicts| verdicts.decision);
        decision.unwrap_or(self.run.decision).thresholds
    }

    /// How often each verdict was given.
    pub fn tally(&self) -> Tally {
        self.rows.iter().filter_map(|row| row.verdict).collect()
    }
}
