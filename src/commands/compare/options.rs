//! Options of `compare`, and the context of a call: its store, options and runs.

use clap::Args;
use std::io::{self, Write};

use super::grouping::GroupPattern;
use super::pivot::PivotRequest;
use crate::delivery::files::write_result;
use crate::delivery::reports::ReportOptions;
use crate::error::AppError;
use crate::options::{ComparisonOptions, OutputOptions};
use crate::output::{MessageFormat, ShownStatistics, TableFormat, ValueForm, View};
use crate::session::World;
use crate::stored::comparison::StoredComparison;
use perfcheck_analysis::compare::apply_filter;
use perfcheck_analysis::model::{Measurement, Run, SampleFilter, Statistic, StatisticSet};
use perfcheck_bench::measure::Filter;
use perfcheck_store::StoreError;

/// A call of `compare`.
pub(super) struct CompareCall<'a> {
    /// The comparison of stored runs
    pub(super) stored: StoredComparison<'a>,
    pub(super) options: &'a CompareOptions,
    pub(super) base: &'a str,
    pub(super) candidates: Vec<&'a str>,
}

impl CompareCall<'_> {
    /// Reads the selected measurements of `run`, with its own filter or the one of the command line.
    pub(super) fn read_measurements(&self, run: &Run) -> Result<Vec<Measurement>, StoreError> {
        let mut measurements = self.stored.store.measurements(run.id, None)?;
        let workspace = &self.stored.context.tables.workspace;
        if let Some(filter) = self.options.comparison.filter(workspace) {
            let source = run.source.as_ref();
            let paired = source.is_some_and(|source| source.filter.paired);
            apply_filter(
                &mut measurements,
                source,
                &SampleFilter { paired, ..filter },
            );
        }
        let wanted = |found: &Measurement| self.stored.filter.matches(&found.benchmark.key);
        measurements.retain(wanted);
        Ok(measurements)
    }

    /// Writes the result to stdout, unless a report replaces it there, and to each requested file. Writes as much as possible, then returns the first
    /// error.
    pub(super) fn write(
        &self,
        output: &OutputOptions,
        world: &mut World<'_>,
        write: impl Fn(&mut dyn Write, MessageFormat, TableFormat, &View) -> io::Result<()>,
    ) -> Result<(), AppError> {
        let reports = &self.options.reports;
        let mut result = Ok(());
        if !reports.replaces_table() {
            let view = output.view();
            result = write_result(None, world, |writer| {
                write(writer, output.format, TableFormat::Text, &view)
            });
        }
        for (form, file) in reports.tables() {
            let view = output.view_in(file);
            let written = write_result(file, world, |writer| {
                write(writer, MessageFormat::Human, form, &view)
            });
            result = result.and(written);
        }
        result
    }
}

const AFTER_COMPARE: &str = "\
With one CANDIDATE it prints verdicts, as a run does. With several it prints a column for each run, and compares each of them with the
first one as if it were the only one. Nothing is built or run.

Examples:
  cargo perfcheck compare main                         the latest run with `main`
  cargo perfcheck compare main 12 latest               three runs side by side
  cargo perfcheck compare main 12 latest --show ratio  ratios to `main`, with their geometric mean
  cargo perfcheck compare main latest --statistic all  every statistic of both, line by line
  cargo perfcheck compare v1 v2 v3 --statistic p95 --report csv=tails.csv
  cargo perfcheck compare main --pivot rows=group,cols=function,value=ratio
  cargo perfcheck compare v1 v2 --pivot rows=id,cols=run,value=time+change --report markdown-table
  cargo perfcheck compare latest --group-by 'sort/([^/]+)'  functions of one run side by side, the fastest marked
  cargo perfcheck compare log --group-by '(ser|deser)$' --report svg=split.svg
                                                       two series per row, as split violins
  cargo perfcheck compare v1 v2 --report markdown-table  change, adjusted p and effect sizes
  cargo perfcheck compare main --report junit=out.xml  verdicts for a CI system

Exit status: 0 clean, 1 a column has a regression (or what --fail-on names), 2 usage, 4 a benchmark failed or nothing was compared, 5 store unusable, 6 no such run, or a column with nothing comparable.";

/// Flags without effect on a pivot, which has no verdicts and a fixed test.
const ABOUT_VERDICTS: [&str; 8] = [
    "statistic",
    "limits",
    "fail_on",
    "ignore_drift",
    "test",
    "metric",
    "observations",
    "center",
];

/// The run to compare if the user names none.
const LATEST: &str = "latest";

/// Compare stored runs.
#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = AFTER_COMPARE,
    override_usage = "cargo perfcheck compare [OPTIONS] <BASE> [CANDIDATE]...\n       cargo perfcheck compare [OPTIONS] --pivot <PIVOT> [BASE] [CANDIDATE]...\n       cargo perfcheck compare [OPTIONS] --group-by <REGEX> [BASE]"
)]
pub struct CompareOptions {
    /// The reference: a baseline, a run number, `latest` or `@commit`
    #[arg(required_unless_present_any = ["pivot", "group_by"], value_name = "BASE", allow_negative_numbers = true)]
    base: Option<String>,
    /// Compare each of these runs with it [default: latest]
    #[arg(value_name = "CANDIDATE", allow_negative_numbers = true)]
    candidates: Vec<String>,
    /// Compare only benchmarks whose id contains one of these words
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Show this statistic in columns, e.g. median, p95, all [default: judged]
    ///
    /// judged: the compared values and their change. all: every statistic, line by line. Others: min, mean (harmonic for rates), median, std-dev,
    /// launch-std-dev, cv, max, best-95 (mean of the best 95 %), p95 (any percentile), subselection.
    #[arg(long, value_name = "STATISTIC", value_parser = shown)]
    pub(super) statistic: Option<ShownStatistics>,
    /// Show measured values, or ratios to the first column (with --group-by: to the fastest of the row)
    #[arg(long = "show", value_name = "TERMS", default_value = "time")]
    pub(super) terms: ValueForm,
    /// Lay out measurements as a pivot table, without verdicts: rows=DIMENSION,cols=DIMENSION,value=VALUE
    ///
    /// The table covers BASE (default: latest) and all CANDIDATEs; `+` joins several dimensions or values. Dimensions: run, package, target, id;
    /// parts of ids: group (the first), function (the second), input (the rest), part1, part2, ...; in imported runs also the names of their columns.
    /// Values: time (the mean), ops, min-ops, max-ops, samples and every STATISTIC. Relative values: ratio and change (of means), cliffs-delta,
    /// hedges-g, p-value. They refer to versus=fastest-in-column, fastest-in-row, first-column or first-row [default: the first run if runs are
    /// columns or rows, else the fastest of each column]. Cells of several benchmarks show their geometric mean. --quantile defines percentiles and
    /// medians, --rank-p and --correction the p-values. The exit code does not depend on the values of a pivot.
    #[arg(long, value_name = "PIVOT", conflicts_with_all = ABOUT_VERDICTS)]
    pub(super) pivot: Option<PivotRequest>,
    /// Compare benchmarks of one run: what REGEX captures in an id is the column, the rest the row
    ///
    /// The run is BASE (default: latest). The column consists of the captures of all named groups, else of the first group, else of the whole match.
    /// The fastest of each row is marked, together with those indistinguishable from it. This is exploratory: there are no verdicts, and no result
    /// changes the exit code.
    #[arg(long, value_name = "REGEX", conflicts_with_all = ABOUT_VERDICTS, conflicts_with_all = ["candidates", "pivot", "quantile", "correction", "rank_p"])]
    pub(super) group_by: Option<GroupPattern>,
    #[command(flatten)]
    pub(super) reports: ReportOptions,
    #[command(flatten)]
    pub(super) comparison: ComparisonOptions,
}

impl CompareOptions {
    /// Returns the reference.
    pub(super) fn base(&self) -> &str {
        self.base.as_deref().unwrap_or(LATEST)
    }

    /// Returns the runs to compare with the reference, each separately.
    pub(super) fn candidates(&self) -> Vec<&str> {
        let one_run = self.pivot.is_some() || self.group_by.is_some();
        if self.candidates.is_empty() && !one_run {
            return vec![LATEST];
        }
        self.candidates.iter().map(String::as_str).collect()
    }

    /// Returns the filter of benchmarks.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            words: self.filters.clone(),
            exact: self.exact,
        }
    }

    /// Reports whether to show the verdicts of one candidate. Ratios are shown in columns.
    pub(super) fn has_verdicts(&self) -> bool {
        let other_view =
            self.group_by.is_some() || self.pivot.is_some() || self.statistic.is_some();
        !other_view && self.candidates.len() < 2 && self.terms != ValueForm::Ratios
    }
}

fn shown(text: &str) -> Result<ShownStatistics, String> {
    match text {
        "judged" => Ok(ShownStatistics::Judged),
        "all" => Ok(ShownStatistics::Block),
        other => Statistic::parse(other, StatisticSet::Columns)
            .map(ShownStatistics::One)
            .map_err(|message| format!("{message}; and judged, all")),
    }
}
