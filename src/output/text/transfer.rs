//! Prints the results of commands that move runs between stores and files: exports, pushes, imports of exported runs, and imports of values that
//! other programs measured. For the last, it prints a row or message for each benchmark, and how many values are used and left out.

use std::io::{self, Write};

use crate::output::layout::{Column, Table, cell_builder};
use crate::output::messages::{
    BenchmarkImported, ExportFinished, ImportFindings, ImportedBenchmark, ImportedRun, JsonMessage,
    PushResult, write_message,
};
use crate::output::view::MessageFormat;
use crate::output::words::source::describe_skipped_rows;
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::model::RunId;

/// Writes a line or a message for each run that was imported from an export of another store.
pub fn write_taken_over(
    writer: &mut dyn Write,
    runs: &[ImportedRun],
    format: MessageFormat,
) -> io::Result<()> {
    for run in runs {
        if format == MessageFormat::Json {
            write_message(writer, JsonMessage::RunImported(run))?;
            continue;
        }
        let what = format!(
            "{} in {}, measured {}{}",
            units::counted(run.benchmarks, "benchmark"),
            units::counted(run.processes, "process"),
            run.started,
            if run.is_base {
                ", reference of a side-by-side run"
            } else {
                ""
            }
        );
        let names: Vec<String> = run
            .baselines
            .iter()
            .map(|name| format!("`{}`", terminal::escape_terminal_text(name)))
            .collect();
        let named = if names.is_empty() {
            String::new()
        } else {
            format!(", baseline {}", names.join(", "))
        };
        let file = terminal::escape_terminal_text(&run.file);
        match (run.run, run.known) {
            (Some(number), true) => writeln!(
                writer,
                "{file}: {what}: already here as run {number}{named}."
            )?,
            (Some(number), false) => {
                writeln!(writer, "{file}: {what}: stored as run {number}{named}.")?;
            }
            (None, _) => writeln!(writer, "{file}: {what}: not stored (--dry-run).")?,
        }
    }
    Ok(())
}

/// Reports the file to which runs were exported. Must not be called for an export to stdout, where any other text would become part of the export.
pub fn write_exported(
    writer: &mut dyn Write,
    runs: &[RunId],
    format_name: &str,
    path: &str,
    format: MessageFormat,
) -> io::Result<()> {
    if format == MessageFormat::Json {
        let message = ExportFinished {
            runs,
            format: format_name,
            path,
        };
        return write_message(writer, JsonMessage::ExportFinished(message));
    }
    let numbers: Vec<String> = runs.iter().map(ToString::to_string).collect();
    writeln!(
        writer,
        "Exported {} {} to {} ({format_name}).",
        units::plural(runs.len(), "run"),
        numbers.join(", "),
        terminal::escape_terminal_text(path)
    )
}

/// Writes the number of runs sent to a team's store.
pub fn write_pushed(
    writer: &mut dyn Write,
    pushed: &PushResult,
    format: MessageFormat,
) -> io::Result<()> {
    if format == MessageFormat::Json {
        return write_message(writer, JsonMessage::RunsPushed(pushed));
    }
    let sent = units::counted(pushed.sent.len(), "run");
    let already = match pushed.already {
        0 => String::new(),
        1 => "; 1 was already there".to_owned(),
        more => format!("; {more} were already there"),
    };
    writeln!(
        writer,
        "Sent {sent} to {}{already}.",
        terminal::escape_terminal_text(&pushed.store)
    )
}

/// Writes the benchmarks whose values were imported, and a summary.
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
        sanitize::one_line(&source.summary()),
        units::counted(counts.runs_raw as usize, "value"),
        units::counted(findings.rows.len(), "benchmark"),
        units::counted(findings.processes, "process"),
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
            "Outliers are left out of summaries. Every value is stored; `--outliers none` uses all values except warm-up."
        )?;
    }
    if let Some(skipped) = describe_skipped_rows(source) {
        writeln!(writer, "{skipped}.")?;
    }
    match (findings.run, findings.baseline) {
        (None, _) => writeln!(writer, "Nothing was stored (--dry-run)."),
        (Some(run), Some(name)) => {
            let name = sanitize::one_line(name);
            writeln!(writer, "Stored as run {run}, baseline `{name}`.")
        }
        (Some(run), None) => writeln!(writer, "Stored as run {run}."),
    }
}
