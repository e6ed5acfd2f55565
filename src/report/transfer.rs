//! What an import of exported runs brought, and what an export wrote.

use serde_json::json;
use std::io::{self, Write};

use super::json::{SCHEMA, write_object};
use super::theme;
use crate::model::RunId;
use crate::report::view::MessageFormat;

/// A run that was exported elsewhere.
#[derive(Debug, Clone)]
pub struct TakenOver {
    /// Its number here; `None` where nothing was to be stored.
    pub run: Option<RunId>,
    /// Whether it was here before.
    pub known: bool,
    /// The file that it is in.
    pub file: String,
    /// When it was measured, RFC 3339.
    pub started: String,
    /// Benchmarks in it.
    pub benchmarks: usize,
    /// Launches in it.
    pub launches: usize,
    /// Whether it is the base of an A/B measurement.
    pub is_base: bool,
    /// The names that it got.
    pub baselines: Vec<String>,
}

/// A line or message for each run.
pub fn write_taken_over(
    writer: &mut dyn Write,
    runs: &[TakenOver],
    format: MessageFormat,
) -> io::Result<()> {
    for run in runs {
        if format == MessageFormat::Json {
            let object = json!({
                "reason": "run-imported", "schema": SCHEMA, "run": run.run, "known": run.known,
                "file": run.file, "started": run.started, "benchmarks": run.benchmarks,
                "launches": run.launches, "baselines": run.baselines,
            });
            write_object(writer, &object)?;
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
        let object = json!({
            "reason": "export-finished", "schema": SCHEMA, "runs": runs, "format": format_name, "path": path,
        });
        return write_object(writer, &object);
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
