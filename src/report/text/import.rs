//! Prints the result of `import`: a row or message for each benchmark, and how many values were used or left out.

use std::io::{self, Write};

use crate::escape;
use crate::report::layout::{Column, Table, cell_builder};
use crate::report::messages::{
    BenchmarkImported, ImportFindings, ImportedBenchmark, JsonMessage, write_message,
};
use crate::report::units;
use crate::report::view::MessageFormat;

/// Writes the imported benchmarks and a summary.
pub fn write_import(
    writer: &mut dyn Write,
    findings: &ImportFindings<'_>,
    format: MessageFormat,
) -> io::Result<()> {
    match format {
        MessageFormat::Json => write_messages(writer, findings),
        MessageFormat::Human => {
            if !findings.quiet {
                write_rows(writer, findings)?;
            }
            write_conclusion(writer, findings)
        }
    }
}

fn write_messages(writer: &mut dyn Write, findings: &ImportFindings<'_>) -> io::Result<()> {
    for row in &findings.rows {
        let message = BenchmarkImported {
            run: findings.run,
            row,
        };
        write_message(writer, JsonMessage::BenchmarkImported(message))?;
    }
    write_message(writer, JsonMessage::ImportFinished(findings.into()))
}

fn write_rows(writer: &mut dyn Write, findings: &ImportFindings<'_>) -> io::Result<()> {
    let rows = &findings.rows[..];
    let level = units::percent(findings.source.interval.confidence_level);
    let cells = cell_builder(rows);
    let interval = |row: &ImportedBenchmark| {
        let interval = row.summary.mean_interval;
        units::or_dash(interval.map(|mean| units::interval(&row.metric, mean.lower, mean.upper)))
    };
    let rate = |row: &ImportedBenchmark| {
        let rate = row.metric.is_time().then_some(row.summary.per_second.mean);
        rate.map_or_else(String::new, units::per_second)
    };
    Table::new(vec![
        Column::name("benchmark", cells(&|row| units::escape_id(&row.key.id))),
        Column::number(
            "values",
            cells(&|row| row.summary.counts.runs_raw.to_string()),
        )
        .dispensable(1),
        Column::number("used", cells(&|row| row.summary.counts.runs.to_string())),
        Column::number(
            "mean",
            cells(&|row| units::value(&row.metric, row.summary.mean)),
        ),
        Column::number(&format!("{level} interval"), cells(&interval)).dispensable(3),
        Column::number("per second", cells(&rate)).dispensable(2),
    ])
    .write(writer, units::terminal_width())?;
    writeln!(writer)
}

fn write_conclusion(writer: &mut dyn Write, findings: &ImportFindings<'_>) -> io::Result<()> {
    let source = findings.source;
    let counts = &source.counts;
    writeln!(
        writer,
        "{}: {} of {}, {}.",
        escape::one_line(&source.summary()),
        units::counted(counts.runs_raw as usize, "value"),
        units::counted(findings.rows.len(), "benchmark"),
        units::counted(findings.launches, "launch"),
    )?;
    writeln!(
        writer,
        "{} ({})",
        counts.describe(),
        source.filter.policy_name()
    )?;
    if counts.outliers_removed > 0 {
        writeln!(
            writer,
            "Outliers are left out wherever the run is described. Every value is stored, and `--outliers none` takes all but warm-up."
        )?;
    }
    if source.rows_skipped > 0 {
        writeln!(
            writer,
            "{} could not be read and {} skipped.",
            units::counted(source.rows_skipped as usize, "row"),
            if source.rows_skipped == 1 {
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
