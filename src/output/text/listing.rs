//! Lists what the store has, for people and as JSON lines: benchmarks, runs, baselines and workspaces. Also lists the runs that pruning removes and
//! keeps.

use std::io::{self, Write};

use super::bar::sparkline;
use crate::output::layout::{Cell, ColoredText, Column, Table, cell_builder};
use crate::output::messages::{
    BaselineLine, BenchmarkFound, BenchmarkLine, JsonMessage, PruneDecision, PruneFinished,
    PruneLine, RunLine, WorkspaceLine, write_message, write_messages,
};
use crate::output::terminal;
use crate::output::terminal::TextRole;
use crate::output::units::{self, NO_BREAK};
use crate::output::view::{MessageFormat, RowOrder, View};
use crate::sanitize;
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, GitState, Pair, RunStatus, Side, Source, Tally, shorten_hash,
};

/// Number of runs in the sparkline of a benchmark.
const SPARKLINE: usize = 16;

/// Writes benchmarks that were found but not measured, each as `PACKAGE/TARGET: ID` on a line.
pub fn write_discovered<'a>(
    writer: &mut dyn Write,
    keys: impl Iterator<Item = &'a BenchmarkKey>,
    format: MessageFormat,
) -> io::Result<()> {
    if format == MessageFormat::Json {
        let found = keys.map(|benchmark| BenchmarkFound { benchmark });
        return write_messages(writer, found.map(JsonMessage::BenchmarkFound));
    }
    for key in keys {
        writeln!(writer, "{}", sanitize::one_line(&key.to_string()))?;
    }
    Ok(())
}

/// Writes the list of stored benchmarks. `view` is the layout for people.
pub fn write_benchmarks(
    writer: &mut dyn Write,
    lines: &[BenchmarkLine],
    format: MessageFormat,
    view: &View,
) -> io::Result<()> {
    if format == MessageFormat::Json {
        return write_messages(writer, lines.iter().map(JsonMessage::Benchmark));
    }
    let keys: Vec<&BenchmarkKey> = lines.iter().map(|line| &line.key).collect();
    write_keyed(writer, &keys, columns_of(lines), view)
}

/// Writes a table with a row for each benchmark in `keys`, below headings with targets and groups. `columns` are the columns beside the names. A name
/// takes one line at most, unless the width is unlimited.
pub(crate) fn write_keyed(
    writer: &mut dyn Write,
    keys: &[&BenchmarkKey],
    columns: Vec<Column>,
    view: &View,
) -> io::Result<()> {
    // Output to a file is not grouped, so that a search in it finds the whole name of a benchmark.
    let arrangement = match view.columns {
        usize::MAX => RowOrder::List,
        _ => view.arrangement,
    };
    Table::from_benchmarks(keys, arrangement, columns)
        .with_names_on_one_line(view.columns)
        .write(writer, view.columns)
}

/// Returns the columns of the list of benchmarks without their names.
fn columns_of(lines: &[BenchmarkLine]) -> Vec<Column> {
    let cells = cell_builder(lines);
    let typical = |line: &BenchmarkLine| {
        let typical = line.typical_ns;
        units::or_dash(typical.map(|typical| units::value(&line.metric, typical)))
    };
    let verdicts = lines.iter().map(|line| {
        line.verdict.map_or_else(Cell::default, |verdict| {
            let text = format!("{} {}", terminal::symbol(verdict), verdict.word());
            Cell::colored_by_verdict(verdict, text)
        })
    });
    vec![
        Column::number("last median", cells(&typical)),
        Column::fact(
            "trend",
            cells(&|line| sparkline(&line.last_values_ns, SPARKLINE)),
        )
        .dispensable(1),
        Column::number(
            "change",
            cells(&|line| units::or_dash(line.change.map(units::change))),
        ),
        Column::fact("verdict", verdicts),
        Column::number("runs", cells(&|line| line.runs.to_string())).dispensable(3),
        Column::number("last run", cells(&|line| line.last_run.to_string())).dispensable(2),
        Column::fact("when", cells(&|line| line.last_started.clone())).dispensable(4),
    ]
}

/// The text that replaces an empty list of runs.
const NO_RUNS: &str = "No runs yet: use `cargo perfcheck` to measure one.";

/// Writes the list of runs. Lines for people have at most `columns` columns.
pub fn write_runs(
    writer: &mut dyn Write,
    lines: &[RunLine],
    format: MessageFormat,
    columns: usize,
) -> io::Result<()> {
    match format {
        MessageFormat::Json => {
            let runs = lines.iter().map(Into::into);
            write_messages(writer, runs.map(JsonMessage::Run))
        }
        MessageFormat::Human if lines.is_empty() => writeln!(writer, "{NO_RUNS}"),
        MessageFormat::Human => runs_table(lines, columns).write(writer, columns),
    }
}

fn runs_table(lines: &[RunLine], columns: usize) -> Table {
    let cells = cell_builder(lines);
    let commits = cells(&|line| format_commit(line.run.begun.git.as_ref(), columns));
    let branches = cells(&|line| format_branch(line.run.begun.git.as_ref(), line.run.pair));
    // In a narrow terminal, these columns are left out before a cell is broken into lines.
    let soon = |dispensable: u8| dispensable + if columns < WIDE { 2 } else { 0 };
    Table::new(vec![
        Column::fact("run", cells(&|line| line.run.id.to_string())),
        Column::fact(
            "when",
            cells(&|line| format_start(&line.started, &line.ago, columns)),
        ),
        Column::words("commit", commits).dispensable(soon(2)),
        Column::name("branch", branches).dispensable(soon(3)),
        Column::number("benchmarks", cells(&|line| line.benchmarks.to_string()))
            .dispensable(soon(4)),
        Column::words("state", cells(&|line| describe_state(line, columns))),
        Column::words("baselines", cells(&|line| line.names.join(", "))).dispensable(1),
        Column::words(
            "verdicts",
            lines
                .iter()
                .map(|line| format_tally_within(&line.tally, columns)),
        ),
    ])
}

/// Formats how many benchmarks got each verdict: `4 regressed, 1 inconclusive`. A number and its word stay on one line.
pub(crate) fn format_tally(tally: &Tally) -> Cell {
    let mut pieces = Vec::new();
    for (verdict, count) in tally.iter() {
        let comma = if pieces.is_empty() { "" } else { ", " };
        pieces.push(ColoredText::plain(format!("{comma}{count}{NO_BREAK}")));
        pieces.push(ColoredText::new(TextRole::Verdict(verdict), verdict.word()));
    }
    Cell::from_pieces(pieces)
}

/// Formats how many benchmarks got each verdict. In a narrow terminal, only the worst verdict is named, and the others are summed:
/// `4 regressed, 9 others`.
fn format_tally_within(tally: &Tally, columns: usize) -> Cell {
    let all: Vec<_> = tally.iter().collect();
    match &all[..] {
        [(worst, count), others @ ..] if columns < WIDE && others.len() > 1 => {
            let others: usize = others.iter().map(|(_, count)| count).sum();
            Cell::from_pieces([
                ColoredText::plain(format!("{count}{NO_BREAK}")),
                ColoredText::new(TextRole::Verdict(*worst), worst.word()),
                ColoredText::plain(format!(", {others}{NO_BREAK}others")),
            ])
        }
        _ => format_tally(tally),
    }
}

/// Says how many older runs are not listed, if any.
pub fn write_older_runs(writer: &mut dyn Write, older: usize) -> io::Result<()> {
    if older == 0 {
        return Ok(());
    }
    let text = format!(
        "{older} older {} not shown: use `--last N` to show more.",
        units::plural(older, "run")
    );
    writeln!(writer, "{}", terminal::faint(text))
}

/// Says whether later runs may be compared with a run, and why. In a narrow terminal, it does so in fewer words.
fn describe_state(line: &RunLine, columns: usize) -> String {
    let is_narrow = columns < WIDE;
    let own = match (line.run.status, line.run.acceptance) {
        (RunStatus::Incomplete, _) => "incomplete",
        (RunStatus::Complete, Acceptance::Pending) => "not accepted",
        (RunStatus::Complete, Acceptance::ByCommand) if !is_narrow => "accepted explicitly",
        (RunStatus::Complete, Acceptance::Automatic | Acceptance::ByCommand) => "accepted",
    };
    let base = line.run.pair.filter(|pair| pair.side == Side::Base);
    let own = match (base, line.run.status) {
        (Some(_), RunStatus::Complete) => "base".to_owned(),
        (None, RunStatus::Complete) => match &line.run.begun.partition {
            Some(found) => format!("part {}", found.part),
            None => own.to_owned(),
        },
        _ => own.to_owned(),
    };
    let levels = line.accepted_benchmarks.len();
    let single = (levels > 0).then(|| {
        if is_narrow {
            format!("{levels}{NO_BREAK}accepted")
        } else {
            format!("{} accepted", units::counted(levels, "benchmark"))
        }
    });
    let source = line.run.source.as_ref();
    let source = source.map(Source::summary);
    let parts: Vec<String> = [Some(own), single, source].into_iter().flatten().collect();
    parts.join("; ")
}

/// Minimum width of a terminal, in columns, for cells to be written in full.
const WIDE: usize = 120;

/// Returns when a run began: the exact time in a file or pipe, its age in a terminal.
fn format_start(started: &str, ago: &str, columns: usize) -> String {
    let text = if columns == usize::MAX { started } else { ago };
    text.to_owned()
}

/// Formats a commit. If tracked files were modified, a star follows in a narrow terminal, and a word in a wide one.
fn format_commit(git: Option<&GitState>, columns: usize) -> String {
    let Some(git) = git else {
        return "-".to_owned();
    };
    let digits = if columns < WIDE { 7 } else { 12 };
    let dirty = match (git.dirty, columns < WIDE) {
        (false, _) => "",
        (true, true) => "*",
        (true, false) => ", modified",
    };
    format!("{}{dirty}", shorten_hash(&git.commit, digits))
}

/// Returns the branch of a run. It is empty for the base of a side-by-side measurement: its worktree is always detached, so that would say nothing.
fn format_branch(git: Option<&GitState>, pair: Option<Pair>) -> String {
    let is_base = pair.is_some_and(|pair| pair.side == Side::Base);
    match git.map(|git| &git.branch) {
        None => String::new(),
        Some(Some(branch)) => branch.clone(),
        Some(None) if is_base => String::new(),
        Some(None) => "(detached)".to_owned(),
    }
}

/// Writes the list of baselines. Lines for people have at most `columns` columns.
pub fn write_baselines(
    writer: &mut dyn Write,
    lines: &[BaselineLine],
    format: MessageFormat,
    columns: usize,
) -> io::Result<()> {
    match format {
        MessageFormat::Json => write_messages(writer, lines.iter().map(JsonMessage::Baseline)),
        MessageFormat::Human if lines.is_empty() => writeln!(
            writer,
            "No baselines yet: use `cargo perfcheck baseline save NAME` to name the newest run."
        ),
        MessageFormat::Human => baselines_table(lines, columns).write(writer, columns),
    }
}

fn baselines_table(lines: &[BaselineLine], columns: usize) -> Table {
    let cells = cell_builder(lines);
    let commits = cells(&|line| format_commit(line.git.as_ref(), columns));
    let branches = cells(&|line| format_branch(line.git.as_ref(), line.pair));
    Table::new(vec![
        Column::name("baseline", cells(&|line| line.name.clone())),
        Column::number("run", cells(&|line| line.run.to_string())),
        Column::fact(
            "when",
            cells(&|line| format_start(&line.started, &line.ago, columns)),
        ),
        Column::words("commit", commits),
        Column::name("branch", branches).dispensable(1),
    ])
}

/// Writes the list of workspaces. Lines for people have at most `columns` columns.
pub fn write_workspaces(
    writer: &mut dyn Write,
    lines: &[WorkspaceLine],
    format: MessageFormat,
    columns: usize,
) -> io::Result<()> {
    match format {
        MessageFormat::Json => write_messages(writer, lines.iter().map(JsonMessage::Workspace)),
        MessageFormat::Human if lines.is_empty() => writeln!(writer, "{NO_RUNS}"),
        MessageFormat::Human => workspaces_table(lines).write(writer, columns),
    }
}

fn workspaces_table(lines: &[WorkspaceLine]) -> Table {
    let cells = cell_builder(lines);
    let own = |line: &WorkspaceLine| if line.own { "this one" } else { "" }.to_owned();
    Table::new(vec![
        // Keys are never shortened: people copy them.
        Column::fact("key", cells(&|line| line.key.clone())),
        Column::name("last seen at", cells(&|line| line.label.clone())),
        Column::number("runs", cells(&|line| line.runs.to_string())),
        Column::fact("", cells(&own)),
    ])
}

/// The parts of the selected runs that pruning removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneScope {
    /// The runs with all that the store has of them.
    Runs,
    /// Only the samples of the runs. The runs stay in the history.
    Samples,
}

/// The result of pruning, or of a dry run.
#[derive(Debug, Clone, Copy)]
pub struct PruneSummary {
    /// Number of runs that were removed, or that lost their samples. `None` for a dry run.
    pub removed: Option<usize>,
    /// Disk space that was freed, in bytes; `None` for a dry run.
    pub freed_bytes: Option<u64>,
    /// What is removed of the selected runs: the runs themselves or only their samples.
    pub goes: PruneScope,
    /// Whether `--quiet` suppresses all output for people.
    pub is_quiet: bool,
}

/// Writes what pruning does with each run, newest run first, and then a summary. Runs that a rule keeps are only counted.
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
        let shown = lines.iter().filter(|line| line.fate != PruneDecision::Kept);
        write_messages(writer, shown.map(JsonMessage::RunPruned))?;
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
    let is_shown =
        |fate: PruneDecision| fate == PruneDecision::Goes || reason_to_keep(fate).is_some();
    if !going.is_empty() {
        let shown: Vec<&PruneLine> = lines.iter().filter(|line| is_shown(line.fate)).collect();
        fate_table(&shown, summary).write(writer, units::terminal_width())?;
        writeln!(writer)?;
    }
    let staying = lines.len() - going.len();
    let by_rule = lines.iter().filter(|line| line.fate == PruneDecision::Kept);
    let by_rule = match (by_rule.count(), summary.removed) {
        (kept, None) if kept < staying => {
            format!(" ({kept} by the given rules, the others for the reasons above)")
        }
        _ => String::new(),
    };
    if summary.goes == PruneScope::Samples {
        return write_samples(writer, going.len(), bytes, summary);
    }
    match (summary.removed, summary.freed_bytes) {
        (Some(removed), Some(freed)) => writeln!(
            writer,
            "{} removed, {staying} left; {} freed.",
            units::counted(removed, "run"),
            units::bytes(freed as f64)
        ),
        _ if going.is_empty() => {
            writeln!(
                writer,
                "Nothing to remove: {} kept.",
                units::counted(staying, "run")
            )
        }
        _ => writeln!(
            writer,
            "{} ({} of samples) would be removed and {staying} kept{by_rule}. Nothing was removed: add `--yes` to remove them.",
            units::counted(going.len(), "run"),
            units::bytes(bytes as f64)
        ),
    }
}

/// Writes how many runs lose their samples, and how many bytes that frees.
fn write_samples(
    writer: &mut dyn Write,
    runs: usize,
    bytes: u64,
    summary: &PruneSummary,
) -> io::Result<()> {
    let bytes = units::bytes(bytes as f64);
    match (summary.removed, summary.freed_bytes) {
        (Some(removed), Some(freed)) => writeln!(
            writer,
            "The samples of {} were removed; {} freed. The runs stay in the history.",
            units::counted(removed, "run"),
            units::bytes(freed as f64)
        ),
        _ if runs == 0 => writeln!(writer, "Nothing to remove: all samples stay."),
        _ => writeln!(
            writer,
            "The samples of {} ({bytes}) would be removed; the runs stay in the history. Nothing was removed: add `--yes` to remove the samples.",
            units::counted(runs, "run")
        ),
    }
}

/// Returns a table of runs. The last cell of each row says that the run is removed, or why it stays.
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

/// Returns the reason why a run stays although no rule of the policy keeps it. Returns `None` for other runs.
fn reason_to_keep(fate: PruneDecision) -> Option<&'static str> {
    match fate {
        PruneDecision::Goes | PruneDecision::Kept => None,
        PruneDecision::Named => Some("named by a baseline"),
        PruneDecision::Reference => Some("later runs of its branch are compared with it"),
        PruneDecision::UnderWay => Some("incomplete and younger than a day"),
        PruneDecision::Together => Some("a kept run relies on it"),
    }
}
