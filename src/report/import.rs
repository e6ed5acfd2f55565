//! What an import brought: a row or message for each benchmark, and where every value went.

use serde_json::json;
use std::io::{self, Write};

use super::json::{SCHEMA, key_json, write_object};
use super::layout::{Cell, Column, Table};
use super::units;
use crate::escape;
use crate::model::{BenchmarkKey, Metric, RunId, Source};
use crate::report::view::MessageFormat;

/// A benchmark that was imported, as it would be summarised. All values are stored.
#[derive(Debug, Clone)]
pub struct ImportedBenchmark {
    /// Which.
    pub key: BenchmarkKey,
    /// What its samples mean.
    pub metric: Metric,
    /// Values read.
    pub runs_raw: usize,
    /// Values kept apart as warm-up.
    pub warmup_skipped: usize,
    /// Values that the policy removes from the summary.
    pub outliers_removed: usize,
    /// Values that the summary is of.
    pub runs: usize,
    /// Values that the policy replaced.
    pub replaced: usize,
    /// Bounds beyond which values are outliers.
    pub fences: Option<(f64, f64)>,
    /// Mean, per iteration.
    pub mean: f64,
    /// 95 % interval of the mean.
    pub interval: Option<(f64, f64)>,
    /// Median, per iteration.
    pub median: f64,
    /// 1e9 over mean, longest and shortest value.
    pub per_second: [f64; 3],
    /// Whether the mean is absurdly far above the median.
    pub absurd: bool,
    /// Values of 0.
    pub zeros: usize,
}

/// What an import brought.
#[derive(Debug)]
pub struct ImportFindings<'a> {
    /// The run; `None` where nothing was to be stored.
    pub run: Option<RunId>,
    /// Where it comes from.
    pub source: &'a Source,
    /// How many launches were told apart.
    pub launches: usize,
    /// The name that the run got.
    pub baseline: Option<&'a str>,
    /// In the order in which they are to be shown.
    pub rows: Vec<ImportedBenchmark>,
    /// Only what it comes to.
    pub quiet: bool,
}

/// Writes it.
pub fn write_import(
    writer: &mut dyn Write,
    findings: &ImportFindings<'_>,
    format: MessageFormat,
) -> io::Result<()> {
    match format {
        MessageFormat::Json => write_messages(writer, findings),
        MessageFormat::Human => {
            if !findings.quiet {
                write_rows(writer, &findings.rows)?;
            }
            write_conclusion(writer, findings)
        }
    }
}

fn write_messages(writer: &mut dyn Write, findings: &ImportFindings<'_>) -> io::Result<()> {
    for row in &findings.rows {
        let bounds = |pair: Option<(f64, f64)>| {
            pair.map(|(lower, upper)| json!({"lower": lower, "upper": upper}))
        };
        let [mean, least, most] = row.per_second;
        let object = json!({
            "reason": "benchmark-imported", "schema": SCHEMA, "run": findings.run,
            "benchmark": key_json(&row.key), "metric": row.metric,
            "runs_raw": row.runs_raw, "warmup_skipped": row.warmup_skipped,
            "outliers_removed": row.outliers_removed, "runs": row.runs, "replaced": row.replaced,
            "fences_ns": bounds(row.fences),
            "mean": row.mean, "mean_interval": bounds(row.interval), "median": row.median,
            "per_second": {"mean": mean, "min": least, "max": most},
            "absurd": row.absurd, "zeros": row.zeros,
        });
        write_object(writer, &object)?;
    }
    let object = json!({
        "reason": "import-finished", "schema": SCHEMA, "run": findings.run, "baseline": findings.baseline,
        "benchmarks": findings.rows.len(), "launches": findings.launches, "source": findings.source,
    });
    write_object(writer, &object)
}

fn write_rows(writer: &mut dyn Write, rows: &[ImportedBenchmark]) -> io::Result<()> {
    let cells = |cell: &dyn Fn(&ImportedBenchmark) -> String| -> Vec<Cell> {
        rows.iter().map(|row| cell(row).into()).collect()
    };
    let interval = |row: &ImportedBenchmark| {
        row.interval.map_or_else(
            || "-".to_owned(),
            |(lower, upper)| units::interval(&row.metric, lower, upper),
        )
    };
    let rate = |row: &ImportedBenchmark| {
        let rate = row.metric.is_time().then_some(row.per_second[0]);
        rate.map_or_else(String::new, units::per_second)
    };
    Table::new(vec![
        Column::name("benchmark", cells(&|row| units::whole_name(&row.key.id))),
        Column::number("values", cells(&|row| row.runs_raw.to_string())).dispensable(1),
        Column::number("used", cells(&|row| row.runs.to_string())),
        Column::number("mean", cells(&|row| units::value(&row.metric, row.mean))),
        Column::number("95 % interval", cells(&interval)).dispensable(3),
        Column::number("per second", cells(&rate)).dispensable(2),
    ])
    .write(writer, units::terminal_width())?;
    writeln!(writer)
}

fn write_conclusion(writer: &mut dyn Write, findings: &ImportFindings<'_>) -> io::Result<()> {
    let source = findings.source;
    let counts = &source.counts;
    let plural = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    writeln!(
        writer,
        "{}: {} of {}, {}.",
        escape::one_line(&source.summary()),
        plural(counts.runs_raw as usize, "value", "values"),
        plural(findings.rows.len(), "benchmark", "benchmarks"),
        plural(findings.launches, "launch", "launches"),
    )?;
    let paired = if source.paired { ", paired" } else { "" };
    writeln!(
        writer,
        "runs_raw {} = runs {} + warmup_skipped {} + outliers_removed {} ({}{paired})",
        counts.runs_raw,
        counts.runs,
        counts.warmup_skipped,
        counts.outliers_removed,
        escape::one_line(&source.outliers)
    )?;
    if counts.outliers_removed > 0 {
        writeln!(
            writer,
            "Outliers are left out of the means above alone: every value is stored, and comparisons are of all but warm-up."
        )?;
    }
    if counts.rows_skipped > 0 {
        writeln!(
            writer,
            "{} could not be read and {} skipped.",
            plural(counts.rows_skipped as usize, "row", "rows"),
            if counts.rows_skipped == 1 {
                "was"
            } else {
                "were"
            }
        )?;
    }
    match (findings.run, findings.baseline) {
        (None, _) => writeln!(writer, "Nothing was stored (--dry-run)."),
        (Some(run), Some(name)) => {
            let name = escape::one_line(name);
            writeln!(writer, "Stored as run {run}, baseline `{name}`.")
        }
        (Some(run), None) => writeln!(writer, "Stored as run {run}."),
    }
}
