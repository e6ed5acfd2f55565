//! Prints the runs that pruning removes and keeps, as a list or as messages.

use std::io::{self, Write};

use crate::report::layout::{Cell, Column, Table};
use crate::report::messages::{
    JsonMessage, PruneDecision, PruneFinished, PruneLine, write_message,
};
use crate::report::units;
use crate::report::view::MessageFormat;
use perfcheck_analysis::model::shorten_hash;

/// The part of the selected runs that pruning removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneScope {
    /// The whole runs
    Runs,
    /// Their samples only
    Samples,
}

/// The result of pruning.
#[derive(Debug, Clone, Copy)]
pub struct PruneSummary {
    /// Number of runs removed; `None` for a dry run
    pub removed: Option<usize>,
    /// Bytes freed on disk
    pub freed_bytes: Option<u64>,
    /// The part of the runs that is removed
    pub goes: PruneScope,
    /// Whether `--quiet` suppresses the list for people
    pub is_quiet: bool,
}

/// Writes the plan, newest run first, and the result.
pub fn write_prune(
    writer: &mut dyn Write,
    lines: &[PruneLine],
    summary: &PruneSummary,
    format: MessageFormat,
) -> io::Result<()> {
    let going: Vec<&PruneLine> = lines
        .iter()
        .filter(|line| line.fate == PruneDecision::Goes)
        .collect();
    let bytes: u64 = going.iter().map(|line| line.bytes).sum();
    if format == MessageFormat::Json {
        for line in lines.iter().filter(|line| line.fate != PruneDecision::Kept) {
            write_message(writer, JsonMessage::RunPruned(line))?;
        }
        let message = PruneFinished {
            executed: summary.removed.is_some(),
            samples_only: summary.goes == PruneScope::Samples,
            going: going.len(),
            staying: lines.len() - going.len(),
            bytes,
            removed: summary.removed,
            freed_bytes: summary.freed_bytes,
        };
        return write_message(writer, JsonMessage::PruneFinished(message));
    }
    if summary.is_quiet {
        return Ok(());
    }
    let told = |fate: PruneDecision| fate == PruneDecision::Goes || reason_to_keep(fate).is_some();
    if !going.is_empty() {
        let told: Vec<&PruneLine> = lines.iter().filter(|line| told(line.fate)).collect();
        fate_table(&told, summary).write(writer, units::terminal_width())?;
        writeln!(writer)?;
    }
    let staying = lines.len() - going.len();
    let by_rule = lines.iter().filter(|line| line.fate == PruneDecision::Kept);
    let by_rule = match (by_rule.count(), summary.removed) {
        (kept, None) if kept < staying => {
            format!(" ({kept} by the rules given, the others as above)")
        }
        _ => String::new(),
    };
    if summary.goes == PruneScope::Samples {
        return write_samples(writer, (going.len(), bytes), summary);
    }
    match (summary.removed, summary.freed_bytes) {
        (Some(removed), Some(freed)) => writeln!(
            writer,
            "{} removed, {staying} left; {} given back.",
            units::counted(removed, "run"),
            units::bytes(freed as f64)
        ),
        _ if going.is_empty() => {
            writeln!(
                writer,
                "Nothing has to go: all {} stay.",
                units::counted(staying, "run")
            )
        }
        _ => writeln!(
            writer,
            "{} would go with {} of samples, {staying} stay{by_rule}. Nothing was removed: `--yes` does it.",
            units::counted(going.len(), "run"),
            units::bytes(bytes as f64)
        ),
    }
}

/// Summarizes the pruning of samples: the number of runs that lose theirs, and the bytes.
fn write_samples(
    writer: &mut dyn Write,
    (runs, bytes): (usize, u64),
    summary: &PruneSummary,
) -> io::Result<()> {
    let bytes = units::bytes(bytes as f64);
    match (summary.removed, summary.freed_bytes) {
        (Some(removed), Some(freed)) => writeln!(
            writer,
            "The samples of {} were removed; {} given back. The runs stay in the history.",
            units::counted(removed, "run"),
            units::bytes(freed as f64)
        ),
        _ if runs == 0 => writeln!(writer, "Nothing has to go: all samples stay."),
        _ => writeln!(
            writer,
            "The samples of {} would go, {bytes}; the runs stay in the history. Nothing was removed: `--yes` does it.",
            units::counted(runs, "run")
        ),
    }
}

/// Returns a table that says of each run whether it is removed, or why it stays.
fn fate_table(lines: &[&PruneLine], summary: &PruneSummary) -> Table {
    let cells = |cell: &dyn Fn(&PruneLine) -> String| -> Vec<Cell> {
        lines.iter().map(|line| cell(line).into()).collect()
    };
    let commit = |line: &PruneLine| {
        let commit = line.commit.as_deref();
        units::or_dash(commit.map(|hash| shorten_hash(hash, 7).to_owned()))
    };
    let branch = |line: &PruneLine| units::or_dash(line.branch.clone());
    let fate = |line: &PruneLine| match reason_to_keep(line.fate) {
        None if summary.removed.is_some() => "removed".to_owned(),
        None => "goes".to_owned(),
        Some(reason) if line.baselines.is_empty() => format!("stays: {reason}"),
        Some(_) => format!("stays: baseline {}", line.baselines.join(", ")),
    };
    Table::new(vec![
        Column::fact("run", cells(&|line| line.run.to_string())),
        Column::fact(
            "when",
            cells(&|line| line.started.get(..10).unwrap_or(&line.started).to_owned()),
        ),
        Column::name("branch", cells(&branch)),
        Column::fact("commit", cells(&commit)).dispensable(1),
        Column::number("benchmarks", cells(&|line| line.benchmarks.to_string())).dispensable(2),
        Column::number("samples", cells(&|line| units::bytes(line.bytes as f64))),
        Column::words("", cells(&fate)),
    ])
}

/// Returns the reason for which a run stays although no rule of the policy keeps it.
fn reason_to_keep(fate: PruneDecision) -> Option<&'static str> {
    match fate {
        PruneDecision::Goes | PruneDecision::Kept => None,
        PruneDecision::Named => Some("named by a baseline"),
        PruneDecision::Reference => Some("later runs of its branch are compared with it"),
        PruneDecision::UnderWay => Some("incomplete and younger than a day"),
        PruneDecision::Together => Some("belongs to a run that stays"),
    }
}
