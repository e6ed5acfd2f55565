//! Runs side by side (`compare` of several runs).

use serde::Serialize;

use super::compared::decided_by;
use super::run::VerdictCounts;
use crate::report::text::columns::{ColumnCell, ColumnsLine, RunColumn, SideBySide, Together};
use crate::report::words::limits::limit_remark;
use crate::report::words::remarks::run_remark;
use perfcheck_analysis::compare::{Difference, Estimate, GateGroup};
use perfcheck_analysis::model::{BenchmarkKey, LeftOutSamples, Metric, RunId, Statistic, Verdict};

/// A benchmark in several runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkColumns<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// What its samples mean.
    metric: &'a Metric,
    /// What a test of all runs together says before they are compared one by one; null unless `--test kruskal` has three runs or more.
    gate: Option<&'a GateGroup>,
    /// One for each run, the reference first.
    columns: Vec<BenchmarkColumn<'a>>,
}

/// A benchmark in one of the runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BenchmarkColumn<'a> {
    /// The number of the run.
    run: RunId,
    /// The statistics that were asked for.
    statistics: Vec<ColumnStatistic>,
    /// The verdict, as in `benchmark-compared`; null in the reference and where neither run measured the benchmark.
    verdict: Option<Verdict>,
    /// The change against the reference that was judged; null where nothing was.
    change: Option<Estimate>,
    /// The p-value of the deciding test, adjusted for the benchmarks of the column; null without a test.
    p_value: Option<f64>,
    /// The facts that make the run incomparable with the reference.
    differences: &'a [Difference],
}

/// A statistic of a benchmark in one run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ColumnStatistic {
    /// The name of the statistic, as `--statistic` has it.
    statistic: String,
    /// The unit of the value: `ns`, `fraction`, or the unit of the metric.
    unit: String,
    /// The value; null where the run has none.
    value: Option<f64>,
    /// How much worse it is than the reference's, a fraction: positive is slower, more, or a lower rate; null where it cannot be told.
    worse_by: Option<f64>,
}

/// What is known of the runs as a whole; after all benchmarks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ColumnsFinished<'a> {
    /// One for each run, the reference first.
    columns: Vec<ColumnSummary<'a>>,
    /// How many benchmarks there are.
    benchmarks: usize,
    /// The one-sided level for all benchmarks of a column together.
    significance_level: f64,
    /// The status that the process ends with.
    exit_code: u8,
}

/// One of the runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ColumnSummary<'a> {
    /// The number of the run.
    run: RunId,
    /// What the user called it.
    name: &'a str,
    /// How its verdicts were reached, as in `benchmark-compared`; null for the reference.
    decided_by: Option<&'static str>,
    /// Each verdict with its count.
    verdicts: VerdictCounts,
    /// The facts in which it differs from the reference without being incomparable.
    warnings: &'a [Difference],
    /// What else to know of its comparison, a sentence each.
    remarks: Vec<String>,
    /// What its benchmarks changed by together; null for the reference and without ratios.
    geometric_mean: Option<Together>,
    /// What is left out of its figures; null where all samples are described.
    left_out: Option<LeftOutSamples>,
}

impl<'a> BenchmarkColumns<'a> {
    pub fn of(found: &'a SideBySide, line: &'a ColumnsLine) -> Self {
        let columns = found.columns.iter().zip(&line.cells);
        Self {
            benchmark: &line.key,
            metric: &line.metric,
            gate: line.gate.as_ref(),
            columns: columns
                .map(|(column, cell)| BenchmarkColumn::of(found, line, column, cell))
                .collect(),
        }
    }
}

impl<'a> BenchmarkColumn<'a> {
    fn of(
        found: &SideBySide,
        line: &ColumnsLine,
        column: &RunColumn,
        cell: &'a ColumnCell,
    ) -> Self {
        let figures = found.shown.figures().into_iter().zip(&cell.figures);
        let statistics = figures.map(|(figure, (value, change))| ColumnStatistic {
            statistic: found.shown.name_of(figure),
            unit: unit_of_statistic(figure, &line.metric),
            value: *value,
            worse_by: *change,
        });
        Self {
            run: column.run,
            statistics: statistics.collect(),
            verdict: cell.verdict,
            change: cell.judged,
            p_value: cell.p_value,
            differences: &cell.blocking,
        }
    }
}

impl<'a> From<&'a SideBySide> for ColumnsFinished<'a> {
    fn from(found: &'a SideBySide) -> Self {
        let columns = found.columns.iter();
        Self {
            columns: columns
                .map(|column| ColumnSummary::of(found, column))
                .collect(),
            benchmarks: found.lines.len(),
            significance_level: found.decision.significance_level,
            exit_code: found.exit_code,
        }
    }
}

impl<'a> ColumnSummary<'a> {
    fn of(found: &SideBySide, column: &'a RunColumn) -> Self {
        let subject = found.decision.analysis.subject;
        let remarks = column.remarks.iter().map(run_remark);
        Self {
            run: column.run,
            name: &column.name,
            decided_by: column.method.map(|method| decided_by(method, subject)),
            verdicts: (&column.tally).into(),
            warnings: &column.warnings,
            remarks: remarks
                .chain(column.limits.remarks.iter().map(limit_remark))
                .collect(),
            geometric_mean: column.together,
            left_out: column.left_out,
        }
    }
}

/// The unit of exact values.
pub(crate) fn unit_of_statistic(figure: Statistic, metric: &Metric) -> String {
    match metric {
        _ if figure == Statistic::Variation => "fraction".to_owned(),
        Metric::Time => "ns".to_owned(),
        Metric::Rate { unit } => format!("{unit}/s"),
        Metric::Amount { unit } => unit.clone(),
    }
}
