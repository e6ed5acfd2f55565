//! Messages about a run as a whole, such as its end, exceeded limits and counts of verdicts. Also the message of `--method SYSTEM --explain`: the
//! conventions of a published system as they apply in this workspace.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::output::words::remarks::describe_run_remark;
use crate::output::words::sentences;
use perfcheck_analysis::compare::{Difference, Estimate, HostControls, SharedLevel};
use perfcheck_analysis::findings::{CodeChange, ExceededLimit, Findings, RunNote, SizeChange};
use perfcheck_analysis::model::{
    BenchmarkKey, Environment, GitState, Nanos, RunId, RunStatus, ShardId, Source, Statistic,
    System, Tally, Thresholds, Verdict,
};

/// A limit (`--limit`, `limit` in Cargo.toml) that a benchmark exceeds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LimitExceeded<'a> {
    /// Number of the run.
    run: RunId,
    /// The benchmark. Its id is empty if the limit is about the size of the executable.
    benchmark: &'a BenchmarkKey,
    /// The limit as written by the user.
    limit: &'a str,
    /// Statistic that is limited.
    statistic: Statistic,
    /// Whether the limit applies to the value of the statistic or to its change.
    of: LimitedQuantity,
    /// Maximum that the limit allows. A change is a fraction; a value is in nanoseconds, in bytes or a count, depending on the statistic.
    bound: f64,
    /// The value or change that was found, with its interval, all of which is above the limit. The members are null if the statistic was 0 in the
    /// reference but is not 0 now.
    found: Estimate,
    /// Error level that this finding shares with other statistics that the run's limits name; null if the finding does not depend on chance, or
    /// shares the level of the verdict.
    shared_level: Option<SharedLevel>,
}

/// The quantity to which a limit applies.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum LimitedQuantity {
    /// The change against the reference, as a fraction.
    Change,
    /// The value of the statistic, in its unit.
    Value,
}

/// A summary of a run. It follows the messages about the benchmarks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RunFinished<'a> {
    /// Number of the run.
    run: RunId,
    /// Whether the run is complete.
    status: RunStatus,
    /// Exit code of the command.
    exit_code: u8,
    /// Number of benchmarks of the run.
    benchmarks: usize,
    /// How many benchmarks got each verdict.
    verdicts: VerdictCounts,
    /// Number of inconclusive benchmarks that look slower although this is not certain enough for `regressed`. Their estimated slowdown exceeds the
    /// noise threshold, either by more than its standard error (stored runs) or with an interval that excludes 0.
    look_slower: usize,
    /// Reference of the comparison, in words; null if nothing was compared.
    reference: Option<&'a str>,
    /// Facts that differ between the two sides without making them incomparable.
    warnings: &'a [Difference],
    /// Remarks about the comparison as a whole, a sentence each.
    remarks: Vec<String>,
    /// The functions that differ between the executables of both sides: an entry for each bench target whose code differs. Empty if nothing differs
    /// or if the code was not compared.
    code: Vec<&'a CodeChange>,
    /// The sizes of the executables that both sides have: an entry for each bench target. Empty if the sizes of a side are unknown.
    sizes: &'a [SizeChange],
    /// Number of exceeded limits, counted for each benchmark.
    limits_exceeded: usize,
    /// Thresholds whose values differ from their defaults: an object that has the value of each such threshold under its name.
    thresholds: ChangedThresholds,
    /// Seed of the random numbers of the run. It is below 2^53, which JSON numbers hold exactly, unless the user set a larger one.
    seed: u64,
    /// Checkout that was measured; null outside a repository.
    git: Option<&'a GitState>,
    /// Host and build of the run.
    environment: &'a Environment,
    /// One-minute load average at the start; null if the system does not report it.
    load: Option<f64>,
    /// Largest step of the benches' clocks, in nanoseconds; null if unknown.
    clock_step_ns: Option<Nanos>,
    /// Mean time of a pass of the control workload before the processes, in nanoseconds; null for builds measured side by side, and if the system
    /// does not report how processes ran.
    control_ns: Option<f64>,
    /// Range of the control workload's times before the processes: the longest divided by the shortest, minus 1. Null if unknown.
    control_range: Option<f64>,
    /// Largest jitter of the control workload before a process: the median absolute deviation divided by the median, as a fraction. Below 0.05 is
    /// quiet; 0.10 to 0.30 is typical of shared machines.
    jitter: Option<f64>,
    /// Version of cargo-perfcheck.
    tool_version: &'a str,
    /// Source of an imported run; null for a run that was measured here.
    source: Option<&'a Source>,
    /// Part of the suite that the run measured (`--partition`); null if it measured all. Nothing is decided before the parts are merged.
    part: Option<ShardId>,
}

/// How many benchmarks got each verdict. Verdicts that no benchmark got are listed with 0.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VerdictCounts {
    regressed: usize,
    suspect: usize,
    failed: usize,
    incomparable: usize,
    missing: usize,
    inconclusive: usize,
    new: usize,
    unchanged: usize,
    improved: usize,
}

/// Thresholds whose values differ from their defaults: the value of each such threshold under its name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub(crate) struct ChangedThresholds(BTreeMap<&'static str, f64>);

impl<'a> LimitExceeded<'a> {
    pub fn from_exceeded(run: RunId, exceeded: &'a ExceededLimit) -> Self {
        Self {
            run,
            benchmark: &exceeded.key,
            limit: &exceeded.text,
            statistic: exceeded.statistic,
            of: if exceeded.ceiling.is_change() {
                LimitedQuantity::Change
            } else {
                LimitedQuantity::Value
            },
            bound: exceeded.ceiling.value(),
            found: exceeded.found,
            shared_level: exceeded.shared_level,
        }
    }
}

impl<'a> From<&'a Findings<'_>> for RunFinished<'a> {
    fn from(findings: &'a Findings<'_>) -> Self {
        let run = findings.run;
        let verdicts = findings.verdicts.as_ref();
        let remarks = verdicts.iter().flat_map(|verdicts| &verdicts.remarks);
        let code = remarks.clone().filter_map(RunNote::code);
        let signs =
            HostControls::from_measurements(findings.rows.iter().filter_map(|row| row.measurement));
        Self {
            run: run.id,
            status: run.status,
            exit_code: findings.exit_code,
            benchmarks: findings.rows.len(),
            verdicts: (&findings.tally()).into(),
            look_slower: sentences::count_looking_slower(&findings.rows),
            reference: verdicts.map(|verdicts| verdicts.reference.as_str()),
            warnings: verdicts.map_or(&[], |verdicts| &verdicts.warnings),
            remarks: remarks
                .filter(|remark| remark.code().is_none() && remark.size().is_none())
                .map(describe_run_remark)
                .collect(),
            code: code.collect(),
            sizes: verdicts.map_or(&[], |verdicts| &verdicts.sizes),
            limits_exceeded: verdicts.map_or(0, |verdicts| verdicts.limits.exceeded.len()),
            thresholds: (&findings.thresholds()).into(),
            seed: run.begun.seed,
            git: run.begun.git.as_ref(),
            environment: &run.begun.environment,
            load: run.begun.load,
            clock_step_ns: signs.clock_step,
            control_ns: signs.control_ns,
            control_range: signs.control_range,
            jitter: signs.jitter,
            tool_version: &run.begun.tool_version,
            source: run.source.as_ref(),
            part: run.begun.partition.as_ref().map(|found| found.part),
        }
    }
}

impl From<&Tally> for VerdictCounts {
    fn from(tally: &Tally) -> Self {
        Self {
            regressed: tally.count(Verdict::Regressed),
            suspect: tally.count(Verdict::Suspect),
            failed: tally.count(Verdict::Failed),
            incomparable: tally.count(Verdict::Incomparable),
            missing: tally.count(Verdict::Missing),
            inconclusive: tally.count(Verdict::Inconclusive),
            new: tally.count(Verdict::New),
            unchanged: tally.count(Verdict::Unchanged),
            improved: tally.count(Verdict::Improved),
        }
    }
}

impl From<&Thresholds> for ChangedThresholds {
    fn from(thresholds: &Thresholds) -> Self {
        let changed = thresholds.non_default().into_iter();
        Self(changed.map(|(name, value, _)| (name, value)).collect())
    }
}

/// The conventions of a published system as they apply here (`--method SYSTEM --explain`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodExplained {
    /// The published system, as `--method` names it.
    pub method: System,
    /// All settings of the comparison, with their sources.
    pub settings: Vec<MethodSetting>,
}

/// A setting of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodSetting {
    /// The flag that sets the value, or the key of a threshold in Cargo.toml.
    pub setting: String,
    /// The value that applies, in the syntax of the flag; null if it depends on the test.
    pub value: Option<String>,
    /// Where the value comes from.
    pub from: SettingSource,
}

/// Where a setting comes from. Sources are listed from the strongest to the weakest: if several give a value, the first one applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SettingSource {
    /// The value comes from a flag on the command line.
    Flag,
    /// The value comes from the conventions of the system.
    Method,
    /// The value comes from a table in Cargo.toml.
    Table,
    /// The value is the built-in default.
    Default,
}
