//! The message about the comparison of one benchmark.

use serde::Serialize;

use super::extras::LatencyChanges;
use crate::report::words::remarks;
use perfcheck_analysis::compare::{
    AllocationComparison, Centers, Comparison, Difference, Effects, Estimate, Extent,
    InstructionComparison, Location, Note, PublishedDecision, SampledTime, SharedLevel,
};
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, Row, Sameness};
use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId, Side, Statistic, Verdict};

/// The comparison of a benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkCompared<'a> {
    /// Number of the candidate run.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The verdict.
    verdict: Verdict,
    /// Runs that it was compared with, newest first; for builds measured side by side, the run of the base. In an imported run, null stands for each
    /// run that is not in this store.
    reference_runs: &'a [Option<RunId>],
    /// The change that was judged, as a fraction. Its interval decides: its lower bound is beyond the threshold exactly when the verdict is
    /// `regressed`. Null if nothing was tested.
    change: Option<Estimate>,
    /// Value of the base, and for the candidate that value with the change applied, so that `candidate` / `base` - 1 is the estimated change. In
    /// nanoseconds per iteration; for another `metric` a count, bytes or nanoseconds. Null without a change.
    compared: Option<BySide<f64>>,
    /// P-value of the deciding test in the direction of the change, adjusted for all benchmarks of the run; null without a test.
    p_value: Option<f64>,
    /// P-value of the bootstrap t-score in the direction of the change, adjusted for all benchmarks of the run; null without that test.
    t_score_p_value: Option<f64>,
    /// Change of the mean of all samples, as a fraction, with its interval at the confidence level.
    change_of_mean: Option<Estimate>,
    /// Change of the median of all samples, as a fraction, with its interval at the confidence level.
    change_of_median: Option<Estimate>,
    /// Noise threshold, as a fraction: smaller changes are noise. Null if nothing was compared.
    noise_threshold: Option<f64>,
    /// Smallest slowdown that this comparison could have reported, as a fraction; null if unknown.
    smallest_callable: Option<f64>,
    /// Significance level for all benchmarks of the run together: one-sided, but two-sided if `tested` is given.
    significance_level: f64,
    /// Number of bootstrap resamples.
    resamples: u32,
    /// Method of the verdict: `bootstrap-t`; `t-score` (with `--ignore-drift`); `paired`: both builds were measured side by side; `metric`: the rules
    /// for the statistic that `metric` names; or the test that `--test` names.
    decided_by: &'static str,
    /// Location statistic of the samples, taken of each process, or of all samples of a side if measured side by side; null if nothing was tested.
    location: Option<Location>,
    /// Number of processes used, or of rounds if measured side by side; null if nothing was compared.
    launches: Option<SideCounts>,
    /// Number of runs that make up the reference; null if nothing was compared.
    runs_averaged: Option<usize>,
    /// Number of runs from which the drift between runs was estimated; null if nothing was compared.
    runs_spread: Option<usize>,
    /// Standard deviation between runs that the test assumed, as a fraction; null if it assumed none.
    run_std_dev: Option<f64>,
    /// Duration of this benchmark's rounds in seconds, all processes of both sides included; null unless this command measured builds side by side.
    seconds: Option<f64>,
    /// Reason not to measure, because both sides are the same: `executable`: the executables are identical byte for byte; `reachable`: all code that
    /// the benchmark can reach is the same; `run`: all code that ran with the benchmark is the same. Null if there is no such reason.
    same: Option<Sameness>,
    /// Remarks about this verdict, a sentence each.
    remarks: Vec<String>,
    /// Details of a side-by-side measurement; null for a comparison of stored runs.
    paired: Option<PairedDetails>,
    /// Result of the test that `--test` names; null without `--test`.
    tested: Option<&'a PublishedDecision>,
    /// Effect sizes, which do not depend on p-values; null unless stored runs were compared.
    effects: Option<&'a Effects>,
    /// Summary according to `--outliers`, `--center` or `--quantile`; null without these flags.
    centers: Option<Centers>,
    /// The statistic that the change and the verdict are about.
    metric: Statistic,
    /// The error level that the verdict shares with other verdicts; null for times and for counts that do not vary.
    shared_level: Option<SharedLevel>,
    /// Changes of allocations; null unless both sides counted them.
    allocations: Option<&'a AllocationComparison>,
    /// Changes of executed instructions; null unless both sides counted them.
    instructions: Option<&'a InstructionComparison>,
    /// Changes of the time by function; null unless both sides were sampled, which is done if instructions cannot be counted.
    sampled_time: Option<&'a SampledTime>,
    /// Changes of latencies; null unless both sides timed single operations.
    latencies: Option<LatencyChanges>,
    /// Facts that make the sides incomparable.
    differences: &'a [Difference],
    /// Notes about the measurements.
    notes: &'a [Note],
}

/// A count for each side.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SideCounts {
    /// Count of the candidate.
    candidate: usize,
    /// Count of the reference.
    base: usize,
}

/// The details of a side-by-side measurement.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PairedDetails {
    /// Number of rounds that the verdict is based on.
    rounds: usize,
    /// Whether the verdict was certain before the last planned look at the data.
    stopped_early: bool,
    /// Number of code layouts that the rounds were distributed over; 0: the executables ran as they were built.
    layouts: usize,
    /// Standard error of the difference of logarithms; null if nothing was tested.
    standard_error: Option<f64>,
    /// Slow path that the test found; null if it found none.
    slow_path: Option<SlowPath>,
    /// Total number of rounds that would settle an inconclusive comparison; null if no number would.
    rounds_needed: Option<u64>,
}

/// A slow path: many samples of one side are slower than the neighboring samples of the other side, although its fastest samples are not.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SlowPath {
    /// The slower side.
    side: Side,
    /// Share of the candidate's samples that are more than 10 % above its floor.
    share_candidate: f64,
    /// Share of the base's samples that are more than 10 % above its floor.
    share_base: f64,
    /// P-value of the slow-path test, adjusted for the number of looks and benchmarks.
    p_value: f64,
}

impl PairedDetails {
    /// Returns the details of a side-by-side measurement; `None` if the sides were measured at different times.
    fn from_comparison(comparison: &Comparison) -> Option<Self> {
        let Extent::InTurn {
            rounds,
            stopped_early,
            layouts,
        } = comparison.extent
        else {
            return None;
        };
        let look = comparison.look();
        let slow_path = look.and_then(|look| {
            let found = &look.slow_path;
            let side = found.side?;
            Some(SlowPath {
                side,
                share_candidate: found.share_candidate,
                share_base: found.share_base,
                p_value: found.adjusted_p(side),
            })
        });
        Some(Self {
            rounds,
            stopped_early,
            layouts,
            standard_error: look.map(|look| look.standard_error),
            slow_path,
            rounds_needed: look.and_then(|look| look.rounds_needed),
        })
    }
}

impl<'a> BenchmarkCompared<'a> {
    /// Creates the message about `row`, to which `verdict` was given.
    pub fn from_row(
        findings: &Findings<'_>,
        row: &'a Row<'_>,
        verdict: Verdict,
        verdicts: &ComparisonContext,
    ) -> Self {
        let found = row.comparison.as_ref();
        let decision = &verdicts.decision;
        let method = match row.seconds {
            Some(_) => Method::Paired,
            None => verdicts.method,
        };
        Self {
            run: findings.run.id,
            benchmark: &row.key,
            verdict,
            reference_runs: &row.reference,
            change: found.and_then(|found| found.change),
            compared: found.and_then(|found| found.compared),
            p_value: found.and_then(|found| found.p_value),
            t_score_p_value: found.and_then(|found| found.run_grounds()?.t_score_p()),
            change_of_mean: found.and_then(|found| Some(found.description.mean?.estimate)),
            change_of_median: found.and_then(|found| Some(found.description.median?.estimate)),
            noise_threshold: found.map(|found| found.noise_threshold),
            smallest_callable: found.and_then(|found| found.smallest_callable),
            significance_level: decision.significance_level,
            resamples: decision.resamples,
            decided_by: decided_by(method, decision.analysis.subject),
            location: found.and_then(Comparison::location),
            launches: found.map(SideCounts::from),
            runs_averaged: found.map(|found| found.extent.runs_averaged()),
            runs_spread: found.map(|found| found.extent.runs_spread()),
            run_std_dev: found.and_then(|found| Some(found.run_grounds()?.run_sd)),
            seconds: row.seconds,
            same: row.sameness(),
            remarks: remarks::row_remarks(row).collect(),
            paired: found.and_then(PairedDetails::from_comparison),
            tested: found.and_then(Comparison::published_decision),
            effects: found.and_then(|found| found.description.effects.as_ref()),
            centers: found.and_then(|found| found.description.centers),
            metric: decision.analysis.subject,
            shared_level: found.and_then(Comparison::shared_level),
            allocations: found.and_then(|found| found.allocations.as_ref()),
            instructions: found.and_then(|found| found.instructions.as_ref()),
            sampled_time: found.and_then(|found| found.sampled_time.as_ref()),
            latencies: found
                .and_then(|found| found.latencies.as_ref())
                .map(LatencyChanges::from),
            differences: &row.blocking,
            notes: found.map_or(&[], |found| &found.notes),
        }
    }
}

impl From<&Comparison> for SideCounts {
    fn from(found: &Comparison) -> Self {
        Self {
            candidate: found.extent.launches_candidate(),
            base: found.extent.launches_base(),
        }
    }
}

/// Returns the name of the method that reached a verdict.
pub(crate) fn decided_by(method: Method, subject: Statistic) -> &'static str {
    if subject != Statistic::Time {
        return "metric";
    }
    match method {
        Method::Stored(test) => test.word(),
        Method::Paired => "paired",
    }
}
