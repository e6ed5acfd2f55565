//! What a run comes to: its end, exceeded limits, counts of verdicts.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::report::words::remarks::run_remark;
use crate::report::words::sentences;
use perfcheck_analysis::compare::{Difference, Estimate, HostSigns, SharedLevel};
use perfcheck_analysis::findings::{CodeChange, Exceeded, Findings, RunRemark};
use perfcheck_analysis::model::{
    BenchmarkKey, Environment, GitState, Nanos, RunId, RunStatus, Source, Statistic, SuitePart,
    Tally, Thresholds, Verdict,
};

/// A limit (`--limit`, `limit` in Cargo.toml) that a benchmark exceeds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LimitExceeded<'a> {
    /// The number of the run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The limit as it was written.
    limit: &'a str,
    /// The statistic that it is about.
    statistic: Statistic,
    /// What of the statistic it limits.
    of: Limited,
    /// What it allows at most: a fraction, nanoseconds, bytes or a number.
    bound: f64,
    /// What was found, all of it above the limit; its members are null where there was none before and there is some now.
    found: Estimate,
    /// The level that this shares with other numbers that the limits of the run ask for; null where it rests on no chance or on the level of the
    /// verdict.
    shared_level: Option<SharedLevel>,
}

/// What a limit is about.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Limited {
    /// The change against the reference, a fraction.
    Change,
    /// The value.
    Value,
}

/// What a run comes to; after its benchmarks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RunFinished<'a> {
    /// The number of the run.
    run: RunId,
    /// How far the run came.
    status: RunStatus,
    /// The status that the process ends with.
    exit_code: u8,
    /// How many benchmarks this is about.
    benchmarks: usize,
    /// Each verdict with its count.
    verdicts: VerdictCounts,
    /// How many of the inconclusive look slower by more than noise and their own uncertainty.
    look_slower: usize,
    /// What the run was compared with, in words; null where nothing was compared.
    reference: Option<&'a str>,
    /// The facts that differ without making the sides incomparable.
    warnings: &'a [Difference],
    /// What to know of the comparison as a whole, a sentence each.
    remarks: Vec<String>,
    /// In which functions the executables of both sides differ, by bench target, where that is known.
    code: Vec<&'a CodeChange>,
    /// How many limits are exceeded, counted for each benchmark.
    limits_exceeded: usize,
    /// The thresholds that are not the default, by name.
    thresholds: ChangedThresholds,
    /// The seed of everything random in the run; below 2^53 unless the user set a larger one.
    seed: u64,
    /// The checkout that was measured; null outside of a repository.
    git: Option<&'a GitState>,
    /// The machine and the build.
    environment: &'a Environment,
    /// The one-minute load average at the start; null where the system does not tell.
    load: Option<f64>,
    /// The largest step of the benches' clocks, nanoseconds; null where no clock is known.
    clock_step_ns: Option<Nanos>,
    /// The mean time of a pass of the control workload before the launches, nanoseconds; null with A/B and where the system does not tell how
    /// launches ran.
    control_ns: Option<f64>,
    /// How much longer the slowest launch found the control workload than the fastest, a fraction.
    control_range: Option<f64>,
    /// The largest jitter of the control workload before a launch: median distance from the median over the median, a fraction. Below 0.05 is
    /// quiet, 0.10 to 0.30 typical of shared machines.
    jitter: Option<f64>,
    /// The version of cargo-perfcheck.
    tool_version: &'a str,
    /// Where an imported run comes from; null for a run that was measured here.
    source: Option<&'a Source>,
    /// Which part of a suite it measured (`--partition`), about which nothing is decided yet; null for a run of all.
    part: Option<SuitePart>,
}

/// Each verdict with its count, also 0.
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

/// Thresholds that are not the default, by name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub(crate) struct ChangedThresholds(BTreeMap<&'static str, f64>);

impl<'a> LimitExceeded<'a> {
    pub fn of(run: RunId, exceeded: &'a Exceeded) -> Self {
        Self {
            run,
            benchmark: &exceeded.key,
            limit: &exceeded.text,
            statistic: exceeded.statistic,
            of: if exceeded.ceiling.is_change() {
                Limited::Change
            } else {
                Limited::Value
            },
            bound: exceeded.ceiling.most(),
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
        let code = remarks.clone().filter_map(RunRemark::code);
        let signs = HostSigns::of(findings.rows.iter().filter_map(|row| row.measurement));
        Self {
            run: run.id,
            status: run.status,
            exit_code: findings.exit_code,
            benchmarks: findings.rows.len(),
            verdicts: (&findings.tally()).into(),
            look_slower: sentences::look_slower(&findings.rows),
            reference: verdicts.map(|verdicts| verdicts.reference.as_str()),
            warnings: verdicts.map_or(&[], |verdicts| &verdicts.warnings),
            remarks: remarks
                .filter(|remark| remark.code().is_none())
                .map(run_remark)
                .collect(),
            code: code.collect(),
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
        let changed = thresholds.changed().into_iter();
        Self(changed.map(|(name, value, _)| (name, value)).collect())
    }
}
