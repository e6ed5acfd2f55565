//! Messages of `compare` for several runs, which are the columns.

use serde::Serialize;

use super::compared::decided_by;
use super::run::VerdictCounts;
use crate::report::text::columns::{
    ColumnCell, ColumnGeometricMean, ColumnsLine, RunColumn, RunTable,
};
use crate::report::words::limits::describe_limit_remark;
use crate::report::words::remarks::describe_run_remark;
use perfcheck_analysis::compare::{Difference, Estimate, GateGroup};
use perfcheck_analysis::model::{BenchmarkKey, FilterReport, Metric, RunId, Statistic, Verdict};

/// A benchmark in several runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BenchmarkColumns<'a> {
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// Metric of the samples.
    metric: &'a Metric,
    /// Test of all runs together, made before they are compared in pairs; null unless `--test kruskal` is given and there are at least three runs.
    gate: Option<&'a GateGroup>,
    /// One entry for each run, the reference first.
    columns: Vec<BenchmarkColumn<'a>>,
}

/// A benchmark in one of the runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BenchmarkColumn<'a> {
    /// Number of the run.
    run: RunId,
    /// The statistics that `--statistic` selects.
    statistics: Vec<ColumnStatistic>,
    /// The verdict, as in `benchmark-compared`; null for the reference, and if no run of the pair measured the benchmark.
    verdict: Option<Verdict>,
    /// The change against the reference that was judged; null if none was.
    change: Option<Estimate>,
    /// P-value of the deciding test, adjusted for all benchmarks of the column; null without a test.
    p_value: Option<f64>,
    /// Facts that make the run incomparable with the reference.
    differences: &'a [Difference],
}

/// A statistic of a benchmark in one run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ColumnStatistic {
    /// Name of the statistic, as in `--statistic`.
    statistic: String,
    /// Unit of the value: `ns`, `fraction`, or the unit of the metric.
    unit: String,
    /// The value; null if the run has none.
    value: Option<f64>,
    /// How much worse the value is than the reference's, as a fraction. Positive means slower, more, or a lower rate. Null if unknown.
    worse_by: Option<f64>,
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
    /// Samples that are left out of the run's figures; null if all samples are used.
    left_out: Option<FilterReport>,
}

impl<'a> BenchmarkColumns<'a> {
    pub fn from_line(found: &'a RunTable, line: &'a ColumnsLine) -> Self {
        let columns = found.columns.iter().zip(&line.cells);
        Self {
            benchmark: &line.key,
            metric: &line.metric,
            gate: line.gate.as_ref(),
            columns: columns
                .map(|(column, cell)| BenchmarkColumn::from_cell(found, line, column, cell))
                .collect(),
        }
    }
}

impl<'a> BenchmarkColumn<'a> {
    fn from_cell(
        found: &RunTable,
        line: &ColumnsLine,
        column: &RunColumn,
        cell: &'a ColumnCell,
    ) -> Self {
        let figures = found.shown.statistics().into_iter().zip(&cell.figures);
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

/// Returns the unit of the unrounded values of a statistic.
pub(crate) fn unit_of_statistic(figure: Statistic, metric: &Metric) -> String {
    match metric {
        _ if figure == Statistic::Variation => "fraction".to_owned(),
        Metric::Time => "ns".to_owned(),
        Metric::Rate { unit } => format!("{unit}/s"),
        Metric::Amount { unit } => unit.clone(),
    }
}
