//! What a comparison says of a benchmark.

use serde::Serialize;

use super::extras::LatencyChanges;
use crate::report::words::remarks;
use perfcheck_analysis::compare::{
    AllocationComparison, Centers, Comparison, Difference, Effects, Estimate, Extent,
    InstructionComparison, Location, Note, SampledTime, SharedLevel, Tested,
};
use perfcheck_analysis::findings::{Findings, Method, Row, Sameness, Verdicts};
use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId, Side, Statistic, Verdict};

/// What a comparison says of a benchmark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkCompared<'a> {
    /// The number of the run in question.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// What was found.
    verdict: Verdict,
    /// The runs that it was compared with, newest first; with A/B the base. Of an imported run null for each that the store does not have.
    reference_runs: &'a [Option<RunId>],
    /// The change that was judged, a fraction; its interval decided: the lower bound lies beyond the threshold exactly when the verdict is
    /// `regressed`. Null where nothing was tested.
    change: Option<Estimate>,
    /// The value of the base, and that value with the change: `candidate` / `base` - 1 is its estimate. Nanoseconds per iteration (of `metric` a count, bytes or
    /// nanoseconds); null without a change.
    compared: Option<BySide<f64>>,
    /// The p-value of the deciding test, in the direction seen, adjusted for all benchmarks of the run; null without a test.
    p_value: Option<f64>,
    /// The p-value of the bootstrap t-score, likewise.
    t_score_p_value: Option<f64>,
    /// The change of the mean of all samples, a fraction, with its interval at the confidence level.
    change_of_mean: Option<Estimate>,
    /// The change of the median of all samples, a fraction, with its interval at the confidence level.
    change_of_median: Option<Estimate>,
    /// Changes up to this are noise, a fraction; null where nothing was compared.
    noise_threshold: Option<f64>,
    /// The smallest slowdown that this comparison could have called, a fraction; null where it is not known.
    smallest_callable: Option<f64>,
    /// The level for all benchmarks of the run together: one-sided, with `tested` two-sided.
    significance_level: f64,
    /// How many resamples the bootstrap draws.
    resamples: u32,
    /// How the verdict was reached: `bootstrap-t`; `t-score` (with `--ignore-drift`); `paired`: both sides were measured in turn; `metric`: by the rules
    /// for what `metric` names; or the word of `--test`.
    decided_by: &'static str,
    /// What was taken of each launch, with A/B of all samples of a side; null where nothing was tested.
    location: Option<Location>,
    /// The launches used, with A/B rounds; null where nothing was compared.
    launches: Option<SideCounts>,
    /// How many runs make up the reference; null where nothing was compared.
    runs_averaged: Option<usize>,
    /// From how many runs the drift between runs was estimated; null where nothing was compared.
    runs_spread: Option<usize>,
    /// The standard deviation between runs that was assumed, a fraction; null where none was.
    run_std_dev: Option<f64>,
    /// How many seconds the rounds of this benchmark took, both sides and their launches; null where nothing was measured in turn now.
    seconds: Option<f64>,
    /// In what both sides are the same, where nothing was measured for that reason: `executable`, byte for byte; `reachable`: nothing that they can
    /// come to differs; `run`: nothing that differs ran with the benchmark.
    same: Option<Sameness>,
    /// What else to know of this verdict, a sentence each.
    remarks: Vec<String>,
    /// How an A/B comparison went; null of stored runs.
    paired: Option<InTurnNumbers>,
    /// What the test of `--test` said; null without it.
    tested: Option<&'a Tested>,
    /// How large the difference is, whatever its p; null unless stored runs were compared.
    effects: Option<&'a Effects>,
    /// The summary that `--outliers`, `--center` or `--quantile` asked for; null without them.
    centers: Option<Centers>,
    /// What change and verdict are about.
    metric: Statistic,
    /// The level that the verdict shares with others; null of times and of counts that do not vary.
    shared_level: Option<SharedLevel>,
    /// How allocations changed; null unless both sides counted.
    allocations: Option<&'a AllocationComparison>,
    /// How instructions changed; null unless both sides counted them.
    instructions: Option<&'a InstructionComparison>,
    /// How the time changed by function; null unless both sides were sampled, because instructions could not be counted.
    sampled_time: Option<&'a SampledTime>,
    /// How latencies changed; null unless both sides timed operations.
    latencies: Option<LatencyChanges>,
    /// The facts that make the sides incomparable.
    differences: &'a [Difference],
    /// What to know of the numbers.
    notes: &'a [Note],
}

/// A count on both sides.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SideCounts {
    /// The count of the run in question.
    candidate: usize,
    /// The count of the reference.
    base: usize,
}

/// How an A/B comparison went.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct InTurnNumbers {
    /// How many rounds the verdict rests on.
    rounds: usize,
    /// Whether it was settled before the last look.
    stopped_early: bool,
    /// How many layouts of the code the rounds had; 0: the executables ran as they were built.
    layouts: usize,
    /// The standard error of the difference of logarithms; null where nothing was tested.
    standard_error: Option<f64>,
    /// The finding of the slow-path test; null where it has none.
    slow_path: Option<SlowPath>,
    /// How many rounds in all would settle an inconclusive comparison; null where none would.
    rounds_needed: Option<u64>,
}

/// Samples of one side that are slower than their neighbours of the other, while its fastest ones are not.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SlowPath {
    /// The slower side.
    side: Side,
    /// The share of the candidate's samples that lie more than 10 % above its floor.
    share_candidate: f64,
    /// The same share of the base's samples.
    share_base: f64,
    /// The p-value of the slow-path test, adjusted for looks and family.
    p_value: f64,
}

impl InTurnNumbers {
    /// `None` of runs that were measured at different times.
    fn of(comparison: &Comparison) -> Option<Self> {
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
    /// What `row` says, whose verdict is `verdict`.
    pub fn of(
        findings: &Findings<'_>,
        row: &'a Row<'_>,
        verdict: Verdict,
        verdicts: &Verdicts,
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
            same: row.same(),
            remarks: remarks::of_row(row).collect(),
            paired: found.and_then(InTurnNumbers::of),
            tested: found.and_then(Comparison::published),
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

/// The word for how a verdict was reached.
pub(crate) fn decided_by(method: Method, subject: Statistic) -> &'static str {
    if subject != Statistic::Time {
        return "metric";
    }
    match method {
        Method::Stored(test) => test.word(),
        Method::Paired => "paired",
    }
}
