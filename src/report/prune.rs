//! What pruning takes and what it leaves, as a list or as messages.

use serde_json::json;
use std::io::{self, Write};

use super::json::{SCHEMA, write_object};
use super::layout::{Cell, Column, Table};
use super::units;
use crate::model::RunId;
use crate::report::view::MessageFormat;

/// What becomes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFate {
    /// It goes.
    Goes,
    /// A rule of the policy keeps it.
    Kept,
    /// A baseline names it.
    Named,
    /// Later runs are compared with it.
    Reference,
    /// It may still be measuring.
    UnderWay,
    /// It belongs to a run that stays.
    Together,
}

impl RunFate {
    fn word(self) -> &'static str {
        match self {
            Self::Goes => "goes",
            Self::Kept => "kept",
            Self::Named => "named",
            Self::Reference => "reference",
            Self::UnderWay => "under-way",
            Self::Together => "together",
        }
    }

    /// Why a run stays that no rule of the policy keeps.
    fn reason(self) -> Option<&'static str> {
        match self {
            Self::Goes | Self::Kept => None,
            Self::Named => Some("named by a baseline"),
            Self::Reference => Some("later runs of its branch are compared with it"),
            Self::UnderWay => Some("incomplete and younger than a day"),
            Self::Together => Some("belongs to a run that stays"),
        }
    }
}

/// A stored run.
#[derive(Debug, Clone)]
pub struct PruneLine {
    /// Its number.
    pub run: RunId,
    /// When it began, RFC 3339.
    pub started: String,
    /// The branch that it was measured on.
    pub branch: Option<String>,
    /// The commit.
    pub commit: Option<String>,
    /// The baselines that name it.
    pub baselines: Vec<String>,
    /// How many benchmarks it launched.
    pub benchmarks: usize,
    /// Bytes that its samples take.
    pub bytes: u64,
    /// What becomes of it.
    pub fate: RunFate,
}

/// What was done.
#[derive(Debug, Clone, Copy)]
pub struct PruneSummary {
    /// Runs that are gone; `None`: nothing was done yet.
    pub removed: Option<usize>,
    /// Bytes given back on the disk.
    pub freed_bytes: Option<u64>,
    /// Results only.
    pub is_quiet: bool,
}

/// Writes the plan, newest run first, and what was done of it.
pub fn write_prune(
    writer: &mut dyn Write,
    lines: &[PruneLine],
    summary: &PruneSummary,
    format: MessageFormat,
) -> io::Result<()> {
    let going: Vec<&PruneLine> = lines
        .iter()
        .filter(|line| line.fate == RunFate::Goes)
        .collect();
    let bytes: u64 = going.iter().map(|line| line.bytes).sum();
    if format == MessageFormat::Json {
        for line in lines.iter().filter(|line| line.fate != RunFate::Kept) {
            let object = json!({
                "reason": "run-pruned", "schema": SCHEMA, "run": line.run, "started": line.started, "branch": line.branch,
                "commit": line.commit, "baselines": line.baselines, "benchmarks": line.benchmarks,
                "bytes": line.bytes, "fate": line.fate.word(),
            });
            write_object(writer, &object)?;
        }
        let object = json!({
            "reason": "prune-finished", "schema": SCHEMA, "executed": summary.removed.is_some(), "going": going.len(),
            "staying": lines.len() - going.len(), "bytes": bytes, "removed": summary.removed,
            "freed_bytes": summary.freed_bytes,
        });
        return write_object(writer, &object);
    }
    if summary.is_quiet {
        return Ok(());
    }
    let told = |fate: RunFate| fate == RunFate::Goes || fate.reason().is_some();
    if !going.is_empty() {
        let told: Vec<&PruneLine> = lines.iter().filter(|line| told(line.fate)).collect();
        fates(&told, summary).write(writer, units::terminal_width())?;
        writeln!(writer)?;
    }
    let staying = lines.len() - going.len();
    let by_rule = lines.iter().filter(|line| line.fate == RunFate::Kept);
    let by_rule = match (by_rule.count(), summary.removed) {
        (kept, None) if kept < staying => {
            format!(" ({kept} by the rules given, the others as above)")
        }
        _ => String::new(),
    };
    match (summary.removed, summary.freed_bytes) {
        (Some(removed), Some(freed)) => writeln!(
            writer,
            "{} removed, {staying} left; {} given back.",
            counted(removed),
            units::bytes(freed as f64)
        ),
        _ if going.is_empty() => {
            writeln!(writer, "Nothing has to go: all {} stay.", counted(staying))
        }
        _ => writeln!(
            writer,
            "{} would go with {} of samples, {staying} stay{by_rule}. Nothing was removed: `--yes` does it.",
            counted(going.len()),
            units::bytes(bytes as f64)
        ),
    }
}

/// What becomes of these runs, and why.
fn fates(lines: &[&PruneLine], summary: &PruneSummary) -> Table {
    let cells = |cell: &dyn Fn(&PruneLine) -> String| -> Vec<Cell> {
        lines.iter().map(|line| cell(line).into()).collect()
    };
    let commit = |line: &PruneLine| {
        let commit = line.commit.as_deref();
        commit.map_or("-".to_owned(), |hash| {
            hash.get(..7).unwrap_or(hash).to_owned()
        })
    };
    let branch = |line: &PruneLine| line.branch.clone().unwrap_or_else(|| "-".to_owned());
    let fate = |line: &PruneLine| match line.fate.reason() {
        None if summary.removed.is_some() => "removed".to_owned(),
        None => "goes".to_owned(),
        Some(reason) if line.baselines.is_empty() => format!("stays: {reason}"),
        Some(_) => format!("stays: baseline {}", line.baselines.join(", ")),
    };
    Table::new(vec![
        Column::number("run", cells(&|line| line.run.to_string())),
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

fn counted(runs: usize) -> String {
    format!("{runs} run{}", if runs == 1 { "" } else { "s" })
}
