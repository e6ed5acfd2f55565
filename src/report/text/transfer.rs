//! Prints the results of importing exported runs, exporting and pushing.

use std::io::{self, Write};

use crate::report::messages::{
    ExportFinished, ImportedRun, JsonMessage, PushResult, write_message,
};
use crate::report::view::MessageFormat;
use crate::report::{theme, units};
use perfcheck_analysis::model::RunId;

/// Writes a line or a message for each imported run.
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
            units::counted(run.launches, "launch"),
            run.started,
            if run.is_base {
                ", base of an A/B measurement"
            } else {
                ""
            }
        );
        let names: Vec<String> = run
            .baselines
            .iter()
            .map(|name| format!("`{}`", theme::escape_terminal_text(name)))
            .collect();
        let named = if names.is_empty() {
            String::new()
        } else {
            format!(", baseline {}", names.join(", "))
        };
        let file = theme::escape_terminal_text(&run.file);
        match (run.run, run.known) {
            (Some(number), true) => writeln!(
                writer,
                "{file}: {what}: here already as run {number}{named}."
            )?,
            (Some(number), false) => {
                writeln!(writer, "{file}: {what}: stored as run {number}{named}.")?;
            }
            (None, _) => writeln!(writer, "{file}: {what}: not stored (--dry-run).")?,
        }
    }
    Ok(())
}

/// Says where the export was written. Not for exports to stdout, which are the result themselves.
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
        theme::escape_terminal_text(path)
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
        1 => "; 1 was there already".to_owned(),
        more => format!("; {more} were there already"),
    };
    writeln!(
        writer,
        "Sent {sent} to {}{already}.",
        theme::escape_terminal_text(&pushed.store)
    )
}
