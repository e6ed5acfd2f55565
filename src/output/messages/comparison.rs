//! Messages about comparisons: of one benchmark, of `compare` for several runs (the columns), of `compare --group-by`, of `rank`, and of `compare
//! --pivot` (one for each row, and one that describes the table).

use serde::{Serialize, Serializer};

use super::measured::{LatencyChanges, UsageChanges};
use super::run::VerdictCounts;
use crate::output::view::ValueForm;
use crate::output::words::remarks::{describe_limit_remark, describe_run_remark};
use crate::output::words::{extras, remarks, sentences};
use perfcheck_analysis::compare::{
    AllocationComparison, BLOCK, Centers, Comparison, Contender, Difference, Effects, Estimate,
    Extent, GateGroup, InstructionComparison, Location, Note, PublishedDecision, SampledTime,
    SharedLevel, Standing,
};
use perfcheck_analysis::findings::{
    ComparisonContext, Findings, LimitReport, Method, Row, RunNote, Sameness,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, DecisionSettings, FilterReport, Metric, RunId, Side, Statistic, Tally,
    Verdict,
};

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
    /// Numbers of the runs that the benchmark was compared with, newest first. If two builds were measured side by side, the only entry is the run of
    /// the base. In an imported run, null stands for each run that is not in this store.
    reference_runs: &'a [Option<RunId>],
    /// The change that the verdict is about, as a fraction with its interval. Usually the verdict is `regressed` if the lower bound is beyond the
    /// threshold; `paired`, `tested` and `notes` show what else decided. Null if nothing was tested.
    change: Option<Estimate>,
    /// The two values that the change relates: `base` is the value of the base, and `candidate` is that value with the change applied, so that
    /// `candidate` / `base` - 1 is the estimated change. In nanoseconds per iteration; for another `metric` a count, bytes or nanoseconds. Null
    /// without a change.
    compared: Option<BySide<f64>>,
    /// P-value of the deciding test in the direction of the change, adjusted for all benchmarks of the run; null without a test.
    p_value: Option<f64>,
    /// P-value of the bootstrap t-score in the direction of the change, adjusted for all benchmarks of the run; null without that test.
    t_score_p_value: Option<f64>,
    /// Change of the mean of all samples, as a fraction, with its interval at the confidence level. Null if nothing was compared, or if the samples
    /// give no finite value.
    change_of_mean: Option<Estimate>,
    /// Change of the median of all samples, as a fraction, with its interval at the confidence level. Null if nothing was compared, or if the samples
    /// give no finite value.
    change_of_median: Option<Estimate>,
    /// Noise threshold, as a fraction: smaller changes are noise. Null if nothing was compared.
    noise_threshold: Option<f64>,
    /// Smallest slowdown that this comparison would have reported as `regressed`, as a fraction; null if unknown.
    smallest_callable: Option<f64>,
    /// Significance level that all benchmarks of the run share. It is two-sided if `tested` is given, otherwise one-sided.
    significance_level: f64,
    /// Number of bootstrap resamples.
    resamples: u32,
    /// Method that decided the verdict. `bootstrap-t` is the default for stored runs, `t-score` replaces it with `--ignore-drift`. `paired`: both
    /// builds were measured side by side. `metric`: the verdict follows the rules for the statistic that `metric` names. Otherwise it is the test
    /// that `--test` names.
    decided_by: &'static str,
    /// The statistic that stands for the samples of each process, or for all samples of a side if the builds were measured side by side. Null if
    /// nothing was tested.
    location: Option<Location>,
    /// Number of processes that the comparison used on each side, or of rounds if the builds were measured side by side. Null if nothing was
    /// compared.
    processes: Option<SideCounts>,
    /// Number of runs that make up the reference; null if nothing was compared.
    runs_averaged: Option<usize>,
    /// Number of runs from which the drift between runs was estimated; null if nothing was compared.
    runs_spread: Option<usize>,
    /// Standard deviation between runs that the test assumed, as a fraction; null if it assumed none.
    run_std_dev: Option<f64>,
    /// Duration of all rounds of this benchmark in seconds. It includes the processes of both sides. Null unless this command measured the builds
    /// side by side.
    seconds: Option<f64>,
    /// Why the benchmark was not measured, if both sides are the same: `executable`: the executables are identical byte for byte; `reachable`: all
    /// code that the benchmark can reach is the same; `run`: all code that ran with the benchmark is the same. Null if there is no such reason.
    same: Option<Sameness>,
    /// Remarks about this verdict, a sentence each.
    remarks: Vec<String>,
    /// Details of a side-by-side measurement; null for a comparison of stored runs.
    paired: Option<PairedDetails>,
    /// Result of the test that `--test` names; null without `--test`.
    tested: Option<&'a PublishedDecision>,
    /// Effect sizes, which do not depend on p-values; null unless stored runs were compared.
    effects: Option<&'a Effects>,
    /// Both sides summarized as `--outliers`, `--center` or `--quantile` asks; null without these flags.
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
    /// Changes of the resources that a run of a program uses; null for a bench, and unless both sides measured them.
    usage: Option<UsageChanges>,
    /// Changes of latencies; null unless both sides timed single operations.
    latencies: Option<LatencyChanges>,
    /// Facts that make the two sides incomparable, with both values. Empty if nothing prevents a comparison.
    differences: &'a [Difference],
    /// Notes about the measurements and the comparison, such as that samples are too short for the clock. Empty if there are none.
    notes: &'a [Note],
}

/// A number for each side of a comparison.
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
    /// Whether the measurement stopped before the last planned test of the data (look), because the verdict was settled or was unlikely to be
    /// settled.
    stopped_early: bool,
    /// Number of code layouts that the rounds were distributed over. 0 means that the executables ran with the layout in which they were built.
    layouts: usize,
    /// Standard error of the natural logarithm of the ratio of candidate to base; null if nothing was tested.
    standard_error: Option<f64>,
    /// Number of rounds in which the sides differ in the direction of the estimate; null if nothing was tested.
    agreeing_rounds: Option<usize>,
    /// The slow path that the slow-path test found; null if it found none.
    slow_path: Option<SlowPath>,
    /// Total number of rounds that would probably settle an inconclusive comparison; null if no number would.
    rounds_needed: Option<u64>,
}

/// A slow path: many samples of one side are slower than the neighboring samples of the other side, although its fastest samples are not.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SlowPath {
    /// The slower side.
    side: Side,
    /// Share of the candidate's samples that are more than 10 % above the candidate's floor (its 1st percentile).
    share_candidate: f64,
    /// Share of the base's samples that are more than 10 % above the base's floor (its 1st percentile).
    share_base: f64,
    /// P-value of the slow-path test, adjusted for the number of looks and benchmarks.
    p_value: f64,
}

impl PairedDetails {
    /// Returns the details of a side-by-side measurement. Returns `None` if the sides were measured at different times.
    fn from_comparison(comparison: &Comparison) -> Option<Self> {
        let Extent::SideBySide {
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
            agreeing_rounds: look.and_then(|look| look.agreeing_rounds),
            slow_path,
            rounds_needed: look.and_then(|look| look.rounds_needed),
        })
    }
}

impl<'a> BenchmarkCompared<'a> {
    /// Creates the message about `row`, which has the verdict `verdict`. `verdicts` has the settings and the method that all verdicts of the run
    /// share.
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
            processes: found.map(SideCounts::from),
            runs_averaged: found.map(|found| found.extent.runs_averaged()),
            runs_spread: found.map(|found| found.extent.runs_spread()),
            run_std_dev: found.and_then(|found| Some(found.run_grounds()?.run_sd)),
            seconds: row.seconds,
            same: row.sameness(),
            remarks: remarks::row_remarks(row)
                .chain(found.and_then(|found| {
                    extras::describe_contradiction(found, sentences::metric(row))
                }))
                .collect(),
            paired: found.and_then(PairedDetails::from_comparison),
            tested: found.and_then(Comparison::published_decision),
            effects: found.and_then(|found| found.description.effects.as_ref()),
            centers: found.and_then(|found| found.description.centers),
            metric: decision.analysis.subject,
            shared_level: found.and_then(Comparison::shared_level),
            allocations: found.and_then(|found| found.allocations.as_ref()),
            instructions: found.and_then(|found| found.instructions.as_ref()),
            sampled_time: found.and_then(|found| found.sampled_time.as_ref()),
            usage: found
                .and_then(|found| found.usage.as_ref())
                .map(UsageChanges::from),
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
            candidate: found.extent.processes_candidate(),
            base: found.extent.processes_base(),
        }
    }
}

/// Returns the name that `decided_by` has in messages for the method of a verdict about `subject`.
pub(crate) fn decided_by(method: Method, subject: Statistic) -> &'static str {
    if subject != Statistic::Time {
        return "metric";
    }
    match method {
        Method::Stored(test) => test.word(),
        Method::Paired => "paired",
    }
}

/// The statistics that `compare` with several runs shows for each benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownStatistics {
    /// The value that the verdict compared, and the change that it is about.
    Judged,
    /// One statistic that `--statistic` names, and the change of that statistic.
    One(Statistic),
    /// The block of statistics that mmtests shows for each benchmark.
    Block,
}

impl ShownStatistics {
    /// Returns the statistics to show, in display order. `Judged` shows a single value, which is the median if nothing was compared.
    pub fn statistics(self) -> Vec<Statistic> {
        match self {
            Self::Judged => vec![Statistic::Median],
            Self::One(figure) => vec![figure],
            Self::Block => BLOCK.to_vec(),
        }
    }

    /// Returns true if the line of the statistic `figure` shows the mark of the verdict. In a block of several statistics, only the line of the mean
    /// does, so that each verdict is shown once.
    pub(crate) fn has_mark(self, figure: Statistic) -> bool {
        self != Self::Block || figure == Statistic::Mean
    }
}

/// A table that compares several runs with the first one.
#[derive(Debug, Clone)]
pub struct RunTable {
    /// The statistics that the table shows for each benchmark.
    pub shown: ShownStatistics,
    /// Whether the table shows values or ratios to the reference.
    pub terms: ValueForm,
    /// The reference, then the other runs in the order of the command line.
    pub columns: Vec<RunColumn>,
    /// The rows: each benchmark that any of the runs has, in display order.
    pub lines: Vec<ColumnsLine>,
    /// Number of benchmarks that `--verdict` hides.
    pub hidden: usize,
    /// Settings by which the verdicts were reached, such as the confidence and significance levels.
    pub decision: DecisionSettings,
    /// Exit status of the command.
    pub exit_code: u8,
}

/// One column of a table of runs: a run, and how it compares with the reference.
#[derive(Debug, Clone)]
pub struct RunColumn {
    /// Number of the run.
    pub run: RunId,
    /// The user's name for the run, or its number.
    pub name: String,
    /// Method of the comparison; `None` for the reference.
    pub method: Option<Method>,
    /// How many benchmarks of the run got each verdict.
    pub tally: Tally,
    /// Facts that differ from the reference without making the runs incomparable.
    pub warnings: Vec<Difference>,
    /// Remarks on the comparison of this run with the reference as a whole.
    pub remarks: Vec<RunNote>,
    /// The limits (`--limit`) that benchmarks of this run exceed, and the limits that decided nothing.
    pub limits: LimitReport,
    /// Geometric mean of the ratios of this run to the reference. `None` for the reference itself, and if there are no ratios.
    pub together: Option<ColumnGeometricMean>,
    /// Counts of the samples that an outlier filter leaves out of the shown values; `None` without a filter.
    pub left_out: Option<FilterReport>,
}

/// The geometric mean of the ratios of a run to the reference, over all benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColumnGeometricMean {
    /// The mean of the ratios. Above 1, the run is worse than the reference.
    pub ratio: f64,
    /// Number of benchmarks whose ratios the mean covers.
    pub used: usize,
    /// Number of benchmarks that the mean leaves out, because they have no ratio or a ratio of zero.
    pub excluded: usize,
}

/// One benchmark, as several runs measured it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkColumns"))]
pub struct ColumnsLine {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// Metric of the samples.
    pub metric: Metric,
    /// Result of the test of all runs together, which is made before runs are compared in pairs. Null unless `--test kruskal` is given and there are
    /// at least three runs.
    pub gate: Option<GateGroup>,
    /// One entry for each run, the reference first.
    #[serde(rename = "columns")]
    pub cells: Vec<ColumnCell>,
}

/// The results of a benchmark in one of the compared runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkColumn"))]
pub struct ColumnCell {
    /// Number of the run.
    pub run: RunId,
    /// The statistics that `--statistic` selects.
    pub statistics: Vec<ColumnStatistic>,
    /// The verdict, as in `benchmark-compared`. Null for the reference, and if neither this run nor the reference measured the benchmark.
    pub verdict: Option<Verdict>,
    /// The change against the reference that the verdict is about, as a fraction with its interval; null if nothing was tested.
    pub change: Option<Estimate>,
    /// P-value of the deciding test, adjusted for all benchmarks of this run; null without a test.
    pub p_value: Option<f64>,
    /// Facts that make the run incomparable with the reference. Empty if nothing prevents a comparison.
    pub differences: Vec<Difference>,
}

/// A statistic of a benchmark in one run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColumnStatistic {
    /// Name of the statistic, as in `--statistic`.
    pub statistic: String,
    /// Unit of the value: `ns`, `fraction`, or the unit of the metric.
    pub unit: String,
    /// The value; null if the run has none.
    pub value: Option<f64>,
    /// How much worse the value is than the reference's, as a fraction. Positive means slower, more, or a lower rate. Null if unknown.
    pub worse_by: Option<f64>,
}

impl ColumnStatistic {
    /// Creates the entry of a statistic. Its name is the one by which `--statistic` selects it, and its unit follows from `metric`.
    pub fn new(
        shown: ShownStatistics,
        statistic: Statistic,
        metric: &Metric,
        value: Option<f64>,
        worse_by: Option<f64>,
    ) -> Self {
        let unit = match metric {
            _ if statistic == Statistic::Variation => "fraction".to_owned(),
            Metric::Time => "ns".to_owned(),
            Metric::Rate { unit } => format!("{unit}/s"),
            Metric::Amount { unit } => unit.clone(),
        };
        Self {
            statistic: match shown {
                ShownStatistics::Judged => "judged".to_owned(),
                ShownStatistics::One(_) | ShownStatistics::Block => statistic.to_string(),
            },
            unit,
            value,
            worse_by,
        }
    }
}

/// A summary of all compared runs. It follows the messages about the benchmarks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ColumnsFinished<'a> {
    /// One entry for each run, the reference first.
    columns: Vec<ColumnSummary<'a>>,
    /// Number of benchmarks that are reported.
    benchmarks: usize,
    /// One-sided significance level that all benchmarks of a run share.
    significance_level: f64,
    /// Exit code of the command.
    exit_code: u8,
}

/// A summary of the comparison of one run with the reference.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ColumnSummary<'a> {
    /// Number of the run.
    run: RunId,
    /// The name by which the user selected the run.
    name: &'a str,
    /// Method of the verdicts, as in `benchmark-compared`; null for the reference.
    decided_by: Option<&'static str>,
    /// How many benchmarks of the run got each verdict.
    verdicts: VerdictCounts,
    /// Facts that differ from the reference without making the runs incomparable.
    warnings: &'a [Difference],
    /// Remarks about the comparison, a sentence each.
    remarks: Vec<String>,
    /// Geometric mean of the ratios to the reference, over all benchmarks. Null for the reference, and if there are no ratios.
    geometric_mean: Option<ColumnGeometricMean>,
    /// Counts of the samples that a filter leaves out of the run's statistics; null if all samples are used.
    left_out: Option<FilterReport>,
}

impl<'a> From<&'a RunTable> for ColumnsFinished<'a> {
    fn from(found: &'a RunTable) -> Self {
        let columns = found.columns.iter();
        Self {
            columns: columns
                .map(|column| ColumnSummary::from_column(found, column))
                .collect(),
            benchmarks: found.lines.len(),
            significance_level: found.decision.significance_level,
            exit_code: found.exit_code,
        }
    }
}

impl<'a> ColumnSummary<'a> {
    fn from_column(found: &RunTable, column: &'a RunColumn) -> Self {
        let subject = found.decision.analysis.subject;
        let remarks = column.remarks.iter().map(describe_run_remark);
        Self {
            run: column.run,
            name: &column.name,
            decided_by: column.method.map(|method| decided_by(method, subject)),
            verdicts: (&column.tally).into(),
            warnings: &column.warnings,
            remarks: remarks
                .chain(column.limits.remarks.iter().map(describe_limit_remark))
                .collect(),
            geometric_mean: column.together,
            left_out: column.left_out,
        }
    }
}

/// The benchmarks of one run, arranged in rows and columns by a part of their ids.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "GroupFinished"))]
pub struct GroupComparison {
    /// Number of the run.
    pub run: RunId,
    /// The name by which the user selected the run.
    #[serde(skip)]
    pub name: String,
    /// The regular expression of `--group-by`. The text that it captures from an id selects the column of the benchmark.
    pub pattern: String,
    /// The texts that the expression captured from the ids, one for each column, in the order of the columns.
    pub columns: Vec<String>,
    /// The rows, in the order in which they are shown.
    #[serde(skip)]
    pub rows: Vec<GroupedRow>,
    /// For each column, the geometric mean of the ratios to the fastest benchmark of the row. It covers only rows that have a value in every column;
    /// null if there are fewer than two such rows.
    pub geometric_means: Option<Vec<f64>>,
    /// Number of benchmarks that the expression does not match.
    pub left_out: usize,
    /// Number of benchmarks that the expression matches but that have no cell, because they have no value above zero, or another metric than the
    /// first benchmark of their row.
    pub without_value: usize,
    /// Counts of the samples that the filter of the run or `--outliers` leaves out; null if all samples are used.
    pub filtered: Option<FilterReport>,
    /// Significance level: 1 minus the confidence that the truly fastest benchmark is among those called `fastest` or `open`.
    pub level: f64,
    /// Whether cells show times with ratios, or ratios alone.
    #[serde(skip)]
    pub terms: ValueForm,
}

/// A row of benchmarks whose ids differ only in the captured text, so that they are alternatives to each other.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "GroupMessage"))]
pub struct GroupedRow {
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// Common part of the ids, with `*` in place of the captured text.
    #[serde(rename = "row")]
    pub name: String,
    /// Metric of all samples in the row.
    pub metric: Metric,
    /// One entry for each column that has a benchmark in this row.
    #[serde(serialize_with = "serialize_known")]
    #[cfg_attr(test, schemars(with = "Vec<GroupedCell>"))]
    pub cells: Vec<Option<GroupedCell>>,
}

/// Serializes only the cells that have a benchmark: in a message, each cell names its column.
fn serialize_known<S: Serializer>(
    cells: &[Option<GroupedCell>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(cells.iter().flatten())
}

/// A benchmark in a row of alternatives, with its column.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "GroupCell"))]
pub struct GroupedCell {
    /// The text that the expression captured from the id. It names the column.
    pub column: String,
    /// Complete id of the benchmark.
    pub id: String,
    /// Number of processes with samples.
    pub processes: usize,
    /// How the benchmark compares with the fastest one of its row.
    #[serde(flatten)]
    pub contender: Contender,
}

/// The benchmarks of one build, ranked by their speed. This message follows those about the benchmarks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "RankFinished"))]
pub struct RankFindings {
    /// The groups. Each has a ranking of its own.
    pub groups: Vec<RankedGroup>,
    /// Upper bound of the chance that any two benchmarks that are equally fast are told apart. It covers all groups and both directions.
    pub significance_level: f64,
    /// Number of selected benchmarks that have nothing to be ranked with, or whose ids lack the part that `--by` names.
    pub left_out: usize,
    /// Remarks about the measurement, a sentence each.
    pub remarks: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Exit status of the command.
    pub exit_code: u8,
}

/// Benchmarks that were ranked with each other.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RankedGroup {
    /// The common part of the ids, with `*` in place of the part that `--by` names; empty without `--by`.
    #[serde(rename = "group")]
    pub name: String,
    /// The benchmark beside which all others of the group were measured.
    pub reference: BenchmarkKey,
    /// The reference of an earlier measurement, which a first look had found fastest. Another benchmark proved faster, so the group was measured
    /// again. Null if the group was measured once.
    pub replaced: Option<BenchmarkKey>,
    /// Time of a program that does nothing, in nanoseconds, which the times of the group include. Null if the benchmarks are not programs, or if it
    /// was not measured.
    pub start_up_ns: Option<f64>,
    /// The benchmarks, the fastest first.
    #[serde(skip)]
    pub rows: Vec<RankedRow>,
}

/// A benchmark in a ranking.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkRanked"))]
pub struct RankedRow {
    /// Name of the group, as in `rank-finished`.
    pub group: String,
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// The text that distinguishes the benchmark from the others of its group.
    pub label: String,
    /// One more than the number of benchmarks of the group that are faster; benchmarks that cannot be told apart may share a rank. Null if the
    /// benchmark is `failed` or `skipped`, and for a reference without other benchmarks that were measured.
    pub rank: Option<usize>,
    /// How the benchmark compares with the reference of its group.
    pub standing: Standing,
    /// Metric of the samples.
    pub metric: Metric,
    /// Value of an iteration in nanoseconds, or in the unit of the metric. The values of a group differ by exactly their changes. Null if unknown.
    pub value_ns: Option<f64>,
    /// Change from the reference to this benchmark, as a fraction with its interval. Null for the reference, and if nothing was tested.
    pub change: Option<Estimate>,
    /// Noise threshold, as a fraction: smaller differences do not count. Null for the reference, and if nothing was compared.
    pub noise_threshold: Option<f64>,
    /// The side that takes a slow path, a cost that only some samples have: `candidate` is this benchmark, `base` the reference. Null if none was
    /// found.
    pub slow_side: Option<Side>,
    /// Number of rounds that the comparison is based on; null for the reference.
    pub rounds: Option<usize>,
    /// Number of code layouts of these rounds, 0 if the executables ran as built; null for the reference.
    pub layouts: Option<usize>,
    /// Duration of the rounds; null for the reference, which is part of all of them.
    pub seconds: Option<f64>,
    /// The reason that the benchmark gave for not being measured; null if it gave none.
    pub skipped: Option<String>,
    /// Message of the first process that failed if the benchmark is `failed`; null otherwise.
    pub failure: Option<String>,
    /// Notes about the comparison. Empty if there are none.
    pub notes: Vec<Note>,
}

/// A description of a pivot table as a whole. This message follows those about the rows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PivotFinished"))]
pub struct PivotTable {
    /// Names of the dimensions by which benchmarks are assigned to rows, such as `id` or `part1`.
    #[serde(rename = "rows")]
    pub row_names: Vec<String>,
    /// Names of the dimensions by which benchmarks are assigned to columns, such as `run`.
    #[serde(rename = "columns")]
    pub column_names: Vec<String>,
    /// Names of the values that each cell has, such as `time` or `p-value`.
    #[serde(skip)]
    pub values: Vec<String>,
    /// The columns. Each has one label for each dimension in `column_names`.
    #[serde(skip)]
    pub columns: Vec<Vec<String>>,
    /// The rows.
    #[serde(skip)]
    pub rows: Vec<PivotRow>,
    /// The cells that relative values refer to: `fastest-in-column`, `fastest-in-row`, `first-column` or `first-row`. Null if no value is relative.
    pub versus: Option<String>,
    /// Counts of the samples that filters left out. There is one entry for each run that has a filter, either its own or that of `--outliers`.
    pub filters: Vec<PivotFilter>,
    /// Remarks about the table, a sentence each.
    #[serde(rename = "remarks")]
    pub notes: Vec<String>,
    /// Warnings, a sentence each.
    pub warnings: Vec<String>,
}

/// A run of a pivot table that has a filter, with the samples that the filter left out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotFilter {
    /// Number of the run.
    pub run: RunId,
    /// The name by which the user selected the run.
    pub name: String,
    /// The filter and its counts of samples.
    #[serde(flatten)]
    pub left_out: FilterReport,
}

/// A row of a pivot table, as a message.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotRow {
    /// Labels of the row: one for each dimension that `rows` of `pivot-finished` names.
    #[serde(rename = "row")]
    pub labels: Vec<String>,
    /// The cells of the row, column by column. A column has one cell for each requested value.
    pub cells: Vec<PivotCell>,
}

/// One value of a pivot table, with its column.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PlacedCell"))]
pub struct PivotCell {
    /// Labels of the column: one for each dimension that `columns` of `pivot-finished` names.
    pub column: Vec<String>,
    /// Name of the value, as the user wrote it in `--pivot`, such as `time` or `ratio`.
    pub value: String,
    /// The number, not rounded; null if the benchmarks of the cell do not have this value.
    pub number: Option<f64>,
    /// Unit of the number: `ns`, `ops/s` or another rate, `count`, `fraction`, `ratio`, `effect-size`, `probability`, or the unit of the metric.
    #[serde(rename = "unit", serialize_with = "serialize_unit")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: PivotKind,
    /// Size of Cliff's delta in a word, or `significant` if the adjusted p-value is below the threshold `test-level`; else null.
    pub word: Option<&'static str>,
    /// Whether this is the cell that relative values of other cells refer to.
    pub is_reference: bool,
    /// Whether the number is missing because the benchmarks of this cell cannot be compared with those of the reference cell.
    pub is_incomparable: bool,
    /// Number of benchmarks that the cell summarizes.
    pub benchmarks: usize,
}

/// The kind of a number, which determines its unit and form.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PivotKind {
    /// A number in the unit of the metric.
    Metric(Metric),
    /// Operations per second.
    OperationRate,
    /// A count.
    #[default]
    Count,
    /// A share of a whole, without a sign.
    Share,
    /// A change, as a fraction.
    Change,
    /// A ratio.
    Ratio,
    /// An effect size with its sign.
    Effect,
    /// A p-value.
    PValue,
}

fn serialize_unit<S: Serializer>(kind: &PivotKind, serializer: S) -> Result<S::Ok, S::Error> {
    match kind {
        PivotKind::Metric(Metric::Time) => serializer.serialize_str("ns"),
        PivotKind::Metric(Metric::Rate { unit }) => serializer.serialize_str(&format!("{unit}/s")),
        PivotKind::Metric(Metric::Amount { unit }) => serializer.serialize_str(unit),
        PivotKind::OperationRate => serializer.serialize_str("ops/s"),
        PivotKind::Count => serializer.serialize_str("count"),
        PivotKind::Share | PivotKind::Change => serializer.serialize_str("fraction"),
        PivotKind::Ratio => serializer.serialize_str("ratio"),
        PivotKind::Effect => serializer.serialize_str("effect-size"),
        PivotKind::PValue => serializer.serialize_str("probability"),
    }
}
