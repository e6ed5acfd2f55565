//! What an import of exported runs brought, and what an export wrote.

use std::io::{self, Write};

use crate::report::messages::{ExportFinished, Message, TakenOver, write_message};
use crate::report::theme;
use crate::report::view::MessageFormat;
use perfcheck_analysis::model::RunId;

/// A line or message for each run.
pub fn write_taken_over(
    writer: &mut dyn Write,
    runs: &[TakenOver],
    format: MessageFormat,
) -> io::Result<()> {
    for run in runs {
        if format == MessageFormat::Json {
            write_message(writer, Message::RunImported(run))?;
            continue;
        }
        let what = format!(
            "{} benchmark{} in {} launch{}, measured {}{}",
            run.benchmarks,
            if run.benchmarks == 1 { "" } else { "s" },
            run.launches,
            if run.launches == 1 { "" } else { "es" },
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
            .map(|name| format!("`{}`", theme::printable(name)))
            .collect();
        let named = if names.is_empty() {
            String::new()
        } else {
            format!(", baseline {}", names.join(", "))
        };
        let file = theme::printable(&run.file);
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

/// What was written, where it is not the result itself.
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
        return write_message(writer, Message::ExportFinished(message));
    }
    let numbers: Vec<String> = runs.iter().map(ToString::to_string).collect();
    let plural = if runs.len() == 1 { "run" } else { "runs" };
    writeln!(
        writer,
        "Exported {plural} {} to {} ({format_name}).",
        numbers.join(", "),
        theme::printable(path)
    )
}
