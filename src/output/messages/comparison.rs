//! Messages about comparisons: of one benchmark, of `compare` for several runs (the columns), of `compare --group-by`, and of `compare --pivot` (one
//! for each row, and one that describes the table).

use serde::{Serialize, Serializer};

use super::measured::LatencyChanges;
use super::run::VerdictCounts;
use crate::output::view::ValueForm;
use crate::output::words::remarks;
use crate::output::words::remarks::{describe_limit_remark, describe_run_remark};
use perfcheck_analysis::compare::{
    AllocationComparison, BLOCK, Centers, Comparison, Contender, Difference, Effects, Estimate,
    Extent, GateGroup, InstructionComparison, Location, Note, PublishedDecision, SampledTime,
    SharedLevel,
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
    /// Runs that it was compared with, newest first; for builds measured side by side, the run of the base. In an imported run, null stands for each
    /// run that is not in this store.
    reference_runs: &'a [Option<RunId>],
    /// The change that was judged, as a fraction, with its interval. Usually the verdict is `regressed` if the lower bound is beyond the threshold;
    /// `paired`, `tested` and `notes` show what else decided. Null if nothing was tested.
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
    processes: Option<SideCounts>,
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
    /// Share of the candidate's samples that are more than 10 % above the candidate's floor (its 1st percentile).
    share_candidate: f64,
    /// Share of the base's samples that are more than 10 % above the base's floor (its 1st percentile).
    share_base: f64,
    /// P-value of the slow-path test, adjusted for the number of looks and benchmarks.
    p_value: f64,
}

impl PairedDetails {
    /// Returns the details of a side-by-side measurement; `None` if the sides were measured at different times.
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
            processes: found.map(SideCounts::from),
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
            candidate: found.extent.processes_candidate(),
            base: found.extent.processes_base(),
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

/// The statistics that a table of runs shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownStatistics {
    /// The value that was compared, and the change that was judged.
    Judged,
    /// A single statistic, and its change.
    One(Statistic),
    /// The block of statistics that mmtests shows for each benchmark.
    Block,
}

impl ShownStatistics {
    /// Returns the statistics in display order.
    pub fn statistics(self) -> Vec<Statistic> {
        match self {
            Self::Judged => vec![Statistic::Median],
            Self::One(figure) => vec![figure],
            Self::Block => BLOCK.to_vec(),
        }
    }

    /// Reports whether the line of `figure` carries the verdict's mark. In a block only the mean does.
    pub(crate) fn has_mark(self, figure: Statistic) -> bool {
        self != Self::Block || figure == Statistic::Mean
    }
}

/// A table that compares several runs with the first one.
#[derive(Debug, Clone)]
pub struct RunTable {
    /// The statistics shown.
    pub shown: ShownStatistics,
    /// The form of the values.
    pub terms: ValueForm,
    /// The reference, then the other runs in the order of the command line.
    pub columns: Vec<RunColumn>,
    /// Benchmarks that any of the runs has, in display order.
    pub lines: Vec<ColumnsLine>,
    /// Number of benchmarks that a filter hides.
    pub hidden: usize,
    /// Settings of the decision, such as the confidence and significance levels.
    pub decision: DecisionSettings,
    /// Exit status of the command.
    pub exit_code: u8,
}

/// A run in a table of runs.
#[derive(Debug, Clone)]
pub struct RunColumn {
    /// Number of the run.
    pub run: RunId,
    /// The user's name for the run, or its number.
    pub name: String,
    /// Method of the comparison; `None` for the reference.
    pub method: Option<Method>,
    /// Number of benchmarks with each verdict.
    pub tally: Tally,
    /// Differences from the reference that do not prevent a comparison.
    pub warnings: Vec<Difference>,
    /// Notes on the comparison.
    pub remarks: Vec<RunNote>,
    /// Results of checking the limits.
    pub limits: LimitReport,
    /// Geometric mean of the run's ratios to the reference.
    pub together: Option<ColumnGeometricMean>,
    /// Samples that a filter leaves out of the values; `None` without a filter.
    pub left_out: Option<FilterReport>,
}

/// The geometric mean of the ratios of all benchmarks in a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColumnGeometricMean {
    /// The mean; above 1 is worse.
    pub ratio: f64,
    /// Number of benchmarks that have a ratio.
    pub used: usize,
    /// Number of benchmarks without a ratio, or with a ratio of zero.
    pub excluded: usize,
}

/// A benchmark in several runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkColumns"))]
pub struct ColumnsLine {
    /// The benchmark.
    #[serde(rename = "benchmark")]
    pub key: BenchmarkKey,
    /// Metric of the samples.
    pub metric: Metric,
    /// Test of all runs together, made before they are compared in pairs; null unless `--test kruskal` is given and there are at least three runs.
    pub gate: Option<GateGroup>,
    /// One entry for each run, the reference first.
    #[serde(rename = "columns")]
    pub cells: Vec<ColumnCell>,
}

/// A benchmark in one of the runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "BenchmarkColumn"))]
pub struct ColumnCell {
    /// Number of the run.
    pub run: RunId,
    /// The statistics that `--statistic` selects.
    pub statistics: Vec<ColumnStatistic>,
    /// The verdict, as in `benchmark-compared`; null for the reference, and if no run of the pair measured the benchmark.
    pub verdict: Option<Verdict>,
    /// The change against the reference that was judged; null if none was.
    pub change: Option<Estimate>,
    /// P-value of the deciding test, adjusted for all benchmarks of the column; null without a test.
    pub p_value: Option<f64>,
    /// Facts that make the run incomparable with the reference.
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
    /// Creates the entry of a statistic, with the name by which `--statistic` selects it.
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
    /// Number of benchmarks.
    benchmarks: usize,
    /// One-sided significance level for all benchmarks of a column together.
    significance_level: f64,
    /// Exit code of the command.
    exit_code: u8,
}

/// A summary of one of the runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ColumnSummary<'a> {
    /// Number of the run.
    run: RunId,
    /// The name under which the user gave the run.
    name: &'a str,
    /// Method of the verdicts, as in `benchmark-compared`; null for the reference.
    decided_by: Option<&'static str>,
    /// Number of benchmarks with each verdict.
    verdicts: VerdictCounts,
    /// Differences from the reference that do not prevent a comparison.
    warnings: &'a [Difference],
    /// Remarks about the comparison, a sentence each.
    remarks: Vec<String>,
    /// Geometric mean of the changes of all benchmarks, as a ratio; null for the reference, and if there are no ratios.
    geometric_mean: Option<ColumnGeometricMean>,
    /// Samples that are left out of the run's statistics; null if all samples are used.
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
    /// The name under which the user gave the run.
    #[serde(skip)]
    pub name: String,
    /// The regular expression.
    pub pattern: String,
    /// Captured texts, in the order of the columns.
    pub columns: Vec<String>,
    /// The rows, in the order in which they are shown.
    #[serde(skip)]
    pub rows: Vec<GroupedRow>,
    /// Geometric mean of the ratios of each column, over the rows that have all columns; null if there are fewer than two such rows.
    pub geometric_means: Option<Vec<f64>>,
    /// Number of benchmarks that the expression does not match.
    pub left_out: usize,
    /// Number of matching benchmarks without a cell, because they have no value above zero, or another metric than the first benchmark of their row.
    pub without_value: usize,
    /// Samples that are left out by the filter of the run or by `--outliers`; null if all samples are used.
    pub filtered: Option<FilterReport>,
    /// Significance level: 1 minus the confidence that the truly fastest benchmark is among those called `fastest` or `open`.
    pub level: f64,
    /// Whether times or ratios are shown.
    #[serde(skip)]
    pub terms: ValueForm,
}

/// A row of benchmarks that are alternatives to each other.
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

/// Leaves out the columns without a benchmark.
fn serialize_known<S: Serializer>(
    cells: &[Option<GroupedCell>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(cells.iter().flatten())
}

/// A benchmark with its column.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "GroupCell"))]
pub struct GroupedCell {
    /// Captured text of the column.
    pub column: String,
    /// Complete id of the benchmark.
    pub id: String,
    /// Number of processes with samples.
    pub processes: usize,
    /// Its standing among the alternatives.
    #[serde(flatten)]
    pub contender: Contender,
}

/// A description of a pivot table. It follows the rows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PivotFinished"))]
pub struct PivotTable {
    /// Dimensions of the rows.
    #[serde(rename = "rows")]
    pub row_names: Vec<String>,
    /// Dimensions of the columns.
    #[serde(rename = "columns")]
    pub column_names: Vec<String>,
    /// Names of the values in each cell.
    #[serde(skip)]
    pub values: Vec<String>,
    /// Labels of each column, by dimension.
    #[serde(skip)]
    pub columns: Vec<Vec<String>>,
    /// The rows.
    #[serde(skip)]
    pub rows: Vec<PivotRow>,
    /// Reference of relative values; null if no value is relative.
    pub versus: Option<String>,
    /// Samples that filters left out: one entry for each run with a filter, its own or that of `--outliers`.
    pub filters: Vec<PivotFilter>,
    /// Remarks about the table, a sentence each.
    #[serde(rename = "remarks")]
    pub notes: Vec<String>,
    /// Warnings, a sentence each.
    pub warnings: Vec<String>,
}

/// A run of a pivot table with a filter, and the samples that the filter left out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotFilter {
    /// Number of the run.
    pub run: RunId,
    /// The name under which the user gave the run.
    pub name: String,
    /// The filter and its counts of samples.
    #[serde(flatten)]
    pub left_out: FilterReport,
}

/// A row of a pivot table, as a message.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PivotRow {
    /// Labels of the row, by dimension.
    #[serde(rename = "row")]
    pub labels: Vec<String>,
    /// The cells, column by column.
    pub cells: Vec<PivotCell>,
}

/// A cell with its column and the name of its value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PlacedCell"))]
pub struct PivotCell {
    /// Labels of the column, by dimension.
    pub column: Vec<String>,
    /// Name of the value, as the pivot table names it.
    pub value: String,
    /// The number, not rounded; null if there is none.
    pub number: Option<f64>,
    /// Unit of the number: `ns`, `ops/s` or another rate, `count`, `fraction`, `ratio`, `effect-size`, `probability`, or the unit of the metric.
    #[serde(rename = "unit", serialize_with = "serialize_unit")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: PivotKind,
    /// Size of Cliff's delta in a word, or `significant` if the adjusted p-value is below the threshold `test-level`; else null.
    pub word: Option<&'static str>,
    /// Whether other cells are relative to this one.
    pub is_reference: bool,
    /// Whether the number is missing because the run cannot be compared with the reference's.
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
