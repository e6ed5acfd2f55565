//! Options of `compare`, and the context of a call: its store, options and runs.

use clap::Args;
use regex::Regex;
use std::io::{self, Write};
use std::str::FromStr;

use super::pivot_request::PivotRequest;
use crate::delivery::files::write_result;
use crate::delivery::reports::ReportOptions;
use crate::error::AppError;
use crate::options::{ComparisonOptions, OutputOptions};
use crate::output::{MessageFormat, ShownStatistics, TableFormat, ValueForm, View};
use crate::session::{NamedRun, World, resolve_run};
use crate::stored::comparison::{StoredComparison, describe_absurdities, same_run_error};
use perfcheck_analysis::compare::apply_filter;
use perfcheck_analysis::model::{Measurement, Run, SampleFilter, Statistic, StatisticSet};
use perfcheck_bench::measure::Filter;
use perfcheck_store::StoreError;

/// A call of `cargo perfcheck compare`, with the words by which the user selected the runs.
pub(super) struct CompareCall<'a> {
    /// The store to read the runs from, and the rules for comparing them.
    pub(super) stored: StoredComparison<'a>,
    pub(super) options: &'a CompareOptions,
    pub(super) base: &'a str,
    pub(super) candidates: Vec<&'a str>,
}

/// A selected run with its measurements.
pub(super) struct SelectedRun {
    pub(super) head: Run,
    /// The word by which the user selected the run.
    pub(super) name: String,
    pub(super) measurements: Vec<Measurement>,
}

impl CompareCall<'_> {
    /// Reads the reference and all candidates, which must be different runs.
    pub(super) fn read_runs(&self) -> Result<Vec<SelectedRun>, AppError> {
        let mut runs: Vec<SelectedRun> = Vec::new();
        for word in std::iter::once(&self.base).chain(&self.candidates) {
            let run = resolve_run(self.stored.store, self.stored.workspace, word)?;
            if let Some(same) = runs.iter().find(|other| other.head.id == run) {
                return Err(same_run_error(&NamedRun::new(run, &same.name), word));
            }
            let head = self.stored.store.run(run)?;
            runs.push(SelectedRun {
                measurements: self.read_measurements(&head)?,
                name: (*word).to_owned(),
                head,
            });
        }
        Ok(runs)
    }

    /// Returns warnings about values of a run that are so implausible that the user should inspect their samples.
    pub(super) fn describe_absurdities(&self, run: &SelectedRun) -> Vec<String> {
        let thresholds = &self.stored.context.tables.workspace.thresholds;
        describe_absurdities(&run.name, &run.measurements, thresholds)
    }

    /// Reads the selected measurements of `run`. The run's own filter of samples applies unless the user sets another.
    fn read_measurements(&self, run: &Run) -> Result<Vec<Measurement>, StoreError> {
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
With one CANDIDATE, prints verdicts, as a run does. With several, prints a column for each run, and compares each CANDIDATE with BASE
separately. Nothing is built or run.

Examples:
  cargo perfcheck compare main                         the latest run with `main`
  cargo perfcheck compare main 12 latest               three runs in columns
  cargo perfcheck compare main 12 latest --show ratio  ratios to `main`, with their geometric mean
  cargo perfcheck compare main latest --statistic all  every statistic of both runs, one per line
  cargo perfcheck compare v1 v2 v3 --statistic p95 --report csv=tails.csv
  cargo perfcheck compare main --pivot rows=group,cols=function,value=ratio
  cargo perfcheck compare v1 v2 --pivot rows=id,cols=run,value=time+change --report markdown-table
  cargo perfcheck compare latest --group-by 'sort/([^/]+)'  functions of one run in columns, the fastest marked
  cargo perfcheck compare log --group-by '(ser|deser)$' --report svg=split.svg
                                                       two series per row, as split violins
  cargo perfcheck compare v1 v2 --report markdown-table  change, adjusted p and effect sizes
  cargo perfcheck compare main --report junit=out.xml  verdicts for a CI system

Exit status: 0 clean; 1 a column has a regression (or a verdict that --fail-on names); 2 usage error; 4 a benchmark failed or nothing was compared; 5 store unusable; 6 no such run, or nothing in a column is comparable.";

/// Flags that conflict with `--pivot` and `--group-by`, because these views have a fixed test and no verdicts.
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
    /// Compare each of these runs with BASE [default: latest]
    #[arg(value_name = "CANDIDATE", allow_negative_numbers = true)]
    candidates: Vec<String>,
    /// Compare only benchmarks whose id contains one of these words
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Show this statistic of each run in a column, e.g. median or p95; `all` shows every statistic [default: judged]
    ///
    /// judged: the values that were compared, and their change. all: every statistic, one per line. Others: min, mean (harmonic for rates), median,
    /// std-dev, process-std-dev, cv, max, best-95 (mean of the best 95 %), p95 (or any other percentile), subselection (as in mmtests).
    #[arg(long, value_name = "STATISTIC", value_parser = shown)]
    pub(super) statistic: Option<ShownStatistics>,
    /// Show measured values, or ratios to the first column (with --group-by: to the fastest in the row)
    #[arg(long = "show", value_name = "TERMS", default_value = "time")]
    pub(super) terms: ValueForm,
    /// Lay out measurements as a pivot table, without verdicts: rows=DIMENSION,cols=DIMENSION,value=VALUE
    ///
    /// The table covers BASE (default: latest) and all CANDIDATEs; `+` joins several dimensions or values. Dimensions: run, package, target, id;
    /// parts of ids: group (the first), function (the second), input (the rest), part1, part2, ...; for imported runs, also column names.
    /// Values: time (the mean), ops, min-ops, max-ops, samples and every STATISTIC. Relative values: ratio and change (of means), cliffs-delta,
    /// hedges-g, p-value. `versus=` sets their reference: fastest-in-column, fastest-in-row, first-column or first-row [default: the first run if
    /// runs are columns or rows, else the fastest of each column]. A cell with several benchmarks shows their geometric mean. --quantile affects
    /// percentiles and medians; --rank-p and --correction affect p-values. The exit status does not depend on the values of a pivot.
    #[arg(long, value_name = "PIVOT", conflicts_with_all = ABOUT_VERDICTS)]
    pub(super) pivot: Option<PivotRequest>,
    /// Compare benchmarks of one run: the part of an id that REGEX captures is the column, and the rest is the row
    ///
    /// BASE is the run to show (default: latest). If REGEX has named groups, the column is the text that they capture. If it has only unnamed groups,
    /// the column is the text of the first; without groups, it is the whole match. In each row, the fastest benchmark is marked, and so are those
    /// that cannot be distinguished from it. The table has no verdicts, and the exit status does not depend on it.
    #[arg(long, value_name = "REGEX", conflicts_with_all = ABOUT_VERDICTS, conflicts_with_all = ["candidates", "pivot", "quantile", "correction", "rank_p"])]
    pub(super) group_by: Option<GroupPattern>,
    #[command(flatten)]
    pub(super) reports: ReportOptions,
    #[command(flatten)]
    pub(super) comparison: ComparisonOptions,
}

impl CompareOptions {
    /// Returns the user's word for the reference, by default `latest`.
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

    pub(super) fn filter(&self) -> Filter {
        Filter {
            words: self.filters.clone(),
            exact: self.exact,
        }
    }

    /// Reports whether to show the verdicts of one candidate rather than columns, a pivot or groups. Ratios always need columns.
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
            .map_err(|message| format!("{message}, judged, all")),
    }
}

/// In the name of a row, this replaces the part of the id that names the column.
const ANYTHING: &str = "*";

/// The regular expression of `--group-by`. What it captures from an id names the column of the benchmark, and the rest of the id names the row.
#[derive(Debug, Clone)]
pub struct GroupPattern(Regex);

/// The row and the column of a benchmark, named after parts of its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupPlace {
    pub(super) row: String,
    pub(super) column: String,
}

impl GroupPattern {
    /// Returns the expression as the user wrote it.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the cell of the benchmark with this id, or `None` if the expression does not match the id.
    ///
    /// The column consists of the captures of all named groups, joined by `/`. Without named groups, it is the capture of the first group; without
    /// any group, it is the whole match.
    pub(super) fn place(&self, id: &str) -> Option<GroupPlace> {
        let captures = self.0.captures(id)?;
        let named: Vec<usize> = self
            .0
            .capture_names()
            .enumerate()
            .filter_map(|(at, name)| name.map(|_| at))
            .collect();
        let groups = match (&named[..], captures.len()) {
            ([], 1) => vec![0],
            ([], _) => vec![1],
            (named, _) => named.to_vec(),
        };
        let mut row = String::new();
        let mut end = 0;
        let mut column: Vec<&str> = Vec::new();
        for found in groups.into_iter().filter_map(|group| captures.get(group)) {
            column.push(found.as_str());
            // A nested group is part of its outer group already.
            if found.start() >= end {
                row += &id[end..found.start()];
                row += ANYTHING;
                end = found.end();
            }
        }
        row += &id[end..];
        Some(GroupPlace {
            row,
            column: column.join("/"),
        })
    }
}

/// Patterns are equal if their texts are.
impl PartialEq for GroupPattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl FromStr for GroupPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Regex::new(text)
            .map(Self)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(pattern: &str, id: &str) -> Option<(String, String)> {
        let pattern: GroupPattern = pattern.parse().expect("an expression");
        pattern.place(id).map(|found| (found.row, found.column))
    }

    fn at(row: &str, column: &str) -> (String, String) {
        (row.to_owned(), column.to_owned())
    }

    #[test]
    fn a_group_names_the_column_and_the_rest_of_the_id_the_row() {
        assert_eq!(
            place("^sort/([^/]+)", "sort/heap/10"),
            Some(at("sort/*/10", "heap"))
        );
        assert_eq!(
            place("[^/]+$", "sort/heap/10"),
            Some(at("sort/heap/*", "10"))
        );
        assert_eq!(place("^sort/([^/]+)", "parse/json"), None);
        assert_eq!(
            place("^(?<what>[^/]+)/.*/(?<size>\\d+)$", "sort/heap/10"),
            Some(at("*/heap/*", "sort/10"))
        );
        assert_eq!(place("(größe)", "a/größe"), Some(at("a/*", "größe")));
        assert_eq!(place("a(b)?", "a"), Some(at("a", "")));
    }

    #[test]
    fn what_is_no_expression_is_refused_with_the_place() {
        let error = "sort/(".parse::<GroupPattern>().expect_err("unclosed");
        assert!(error.contains("unclosed group"), "{error}");
    }
}
