//! The table of results, for people.

use comfy_table::{CellAlignment, Table, presets};
use std::io::{self, Write};

use super::beside;
use super::content::{Findings, Method, Row, Verdicts};
use super::source::write_source;
use super::units::Room;
use super::{analysis, theme, units};
use crate::compare::{AllocationSummary, Decider, HostSigns, LatencySummary, Note};
use crate::model::{Measurement, Metric, Run, RunStatus, Subject, Throughput, Verdict};

/// A message after which nothing follows, as cargo writes them.
pub fn write_error(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(writer, "{}: {}", theme::error(), theme::printable(message))
}

/// A message after which the work goes on.
pub fn write_warning(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(
        writer,
        "{}: {}",
        theme::warning(),
        theme::printable(message)
    )
}

/// What a build is about: a verb as cargo writes it, and the rest.
pub fn write_build_event(writer: &mut dyn Write, event: &(&str, String)) -> io::Result<()> {
    writeln!(
        writer,
        "{} {}",
        theme::status(event.0),
        theme::printable(&event.1)
    )
}

/// Where and how a run was measured.
pub fn write_run_head(writer: &mut dyn Write, run: &Run, signs: &HostSigns) -> io::Result<()> {
    let git = run.git.as_ref().map_or_else(String::new, |git| {
        let branch = git.branch.as_deref().unwrap_or("detached");
        let dirty = if git.dirty { ", modified" } else { "" };
        format!(
            ", commit {} ({branch}{dirty})",
            git.commit.get(..12).unwrap_or(&git.commit)
        )
    });
    let status = match run.status {
        RunStatus::Complete => "",
        RunStatus::Incomplete => ", incomplete",
    };
    writeln!(
        writer,
        "{}{git}{status}",
        theme::heading(format!("run {}", run.id))
    )?;
    if let Some(source) = &run.source {
        return write_source(writer, run, source);
    }
    let (host, build) = (&run.environment.host, &run.environment.build);
    writeln!(writer, "{}", units::host(host))?;
    let signs = host_signs(signs);
    if !signs.is_empty() {
        writeln!(writer, "{}", signs.join("; "))?;
    }
    let flags = if build.rustflags.is_empty() {
        String::new()
    } else {
        format!(", flags {}", build.rustflags)
    };
    writeln!(
        writer,
        "{}, profile {}, {}{flags}, seed {}\n",
        build.rustc, build.profile, build.target, run.seed
    )
}

/// What a run saw of its host beyond the facts.
fn host_signs(signs: &HostSigns) -> Vec<String> {
    let resolution = signs.clock_step.map(|step| {
        let ticks = 1e9 / step.as_f64();
        format!(
            "Timer resolution: {ticks:.0} ticks/s ({} ns per tick)",
            step.0
        )
    });
    let control = signs.control_ns.map(|pass| {
        let range = signs.control_range.unwrap_or(0.0) * 100.0;
        let jitter = units::jitter(signs).unwrap_or_default();
        format!(
            "control workload {}, {range:.1} % apart between launches, {jitter}",
            units::time(pass)
        )
    });
    resolution.into_iter().chain(control).collect()
}

/// Writes everything: a table for each bench target, notes, and what it comes to.
pub fn write_table(writer: &mut dyn Write, findings: &Findings<'_>) -> io::Result<()> {
    let compared = findings.rows.iter().any(|row| row.comparison.is_some());
    let mut rest = &findings.rows[..];
    while let Some(first) = rest.first() {
        let same_target = |row: &Row<'_>| {
            row.key.package == first.key.package && row.key.target == first.key.target
        };
        let length = rest.iter().take_while(|row| same_target(row)).count();
        let (rows, others) = rest.split_at(length);
        writeln!(
            writer,
            "{}",
            theme::heading(format!("{}/{}", first.key.package, first.key.target))
        )?;
        write_rows(writer, rows, findings, compared)?;
        write_notes(writer, rows)?;
        writeln!(writer)?;
        rest = others;
    }
    let measurements: Vec<&Measurement> = findings
        .rows
        .iter()
        .filter_map(|row| row.measurement)
        .collect();
    if let Some(caveat) = beside::caveat(&measurements) {
        writeln!(writer, "{}", theme::faint(caveat))?;
    }
    match &findings.verdicts {
        Some(verdicts) => write_conclusion(writer, findings, verdicts, compared),
        None => analysis::write_thresholds(writer, &findings.thresholds()),
    }
}

/// A column: its heading, how soon it is left out where the terminal is narrow (never: 0), its cells.
struct TableColumn {
    heading: String,
    dispensable: u8,
    right_aligned: bool,
    cells: Vec<String>,
}

impl TableColumn {
    fn right(heading: impl Into<String>, dispensable: u8, cells: Vec<String>) -> Self {
        Self {
            heading: heading.into(),
            dispensable,
            right_aligned: true,
            cells,
        }
    }

    fn left(heading: impl Into<String>, cells: Vec<String>) -> Self {
        Self {
            right_aligned: false,
            ..Self::right(heading, 0, cells)
        }
    }
}

fn write_rows(
    writer: &mut dyn Write,
    rows: &[Row<'_>],
    findings: &Findings<'_>,
    compared: bool,
) -> io::Result<()> {
    let mut columns = columns(rows, findings, compared);
    loop {
        let table = layout(&columns);
        let widths: usize = table
            .column_max_content_widths()
            .iter()
            .map(|width| usize::from(*width) + 2)
            .sum();
        let room = table.width().map_or(usize::MAX, usize::from);
        let most = columns
            .iter()
            .map(|column| column.dispensable)
            .max()
            .unwrap_or(0);
        if widths > room.saturating_add(2) && most > 0 {
            columns.retain(|column| column.dispensable != most);
            continue;
        }
        for line in table.lines() {
            writeln!(writer, "{}", line.trim_end())?;
        }
        return Ok(());
    }
}

fn columns(rows: &[Row<'_>], findings: &Findings<'_>, compared: bool) -> Vec<TableColumn> {
    let room = Room::of_stdout();
    let cells = |cell: &dyn Fn(&Row<'_>) -> String| rows.iter().map(cell).collect::<Vec<_>>();
    let interval = format!("{} interval", units::percent(findings.confidence_level));
    let mut columns = vec![
        TableColumn::left(
            "  benchmark",
            cells(&|row| format!("  {}", units::name(&row.key.id, room))),
        ),
        TableColumn::right("median", 0, cells(&median_cell)),
        TableColumn::right(interval, 3, cells(&interval_cell)),
    ];
    if rows.iter().any(|row| throughput_cell(row).is_some()) {
        let rates = cells(&|row| throughput_cell(row).unwrap_or_default());
        columns.push(TableColumn::right("throughput", 2, rates));
    }
    let percentiles = cells(&|row| latency_cell(row).unwrap_or_default());
    if percentiles.iter().any(|cell| !cell.is_empty()) {
        columns.push(TableColumn::right("p50, p99", 2, percentiles));
    }
    let allocations = cells(&|row| allocations_cell(row).unwrap_or_default());
    if allocations.iter().any(|cell| !cell.is_empty()) {
        columns.push(TableColumn::right("allocations", 2, allocations));
    }
    columns.push(TableColumn::right("outliers", 4, cells(&outlier_cell)));
    if let (true, Some(verdicts)) = (compared, &findings.verdicts) {
        let level = units::percent(analysis::interval_level(&verdicts.decision));
        let part = |index: usize| cells(&move |row| comparison_cells(row)[index].clone());
        columns.push(TableColumn::right("change", 0, part(0)));
        columns.push(TableColumn::right(format!("{level} interval"), 1, part(1)));
        columns.push(TableColumn::right("adjusted p", 2, part(2)));
    }
    if findings.verdicts.is_some() {
        columns.push(TableColumn::left("verdict", cells(&verdict_cell)));
    }
    columns
}

fn layout(columns: &[TableColumn]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns.iter().map(|column| theme::faint(&column.heading)));
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        table.add_row(columns.iter().map(|column| column.cells[row].clone()));
    }
    for (target, column) in table.column_iter_mut().zip(columns) {
        target.set_padding((0, 2));
        if column.right_aligned {
            target.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn median_cell(row: &Row<'_>) -> String {
    row.summary.as_ref().map_or_else(
        || "-".to_owned(),
        |summary| units::value(metric(row), summary.median.estimate),
    )
}

/// What the samples of a row mean.
fn metric<'a>(row: &'a Row<'_>) -> &'a Metric {
    row.measurement
        .map_or(&Metric::Time, |measurement| &measurement.benchmark.metric)
}

fn interval_cell(row: &Row<'_>) -> String {
    let Some(summary) = &row.summary else {
        return String::new();
    };
    let median = &summary.median;
    if median.lower.is_finite() && median.upper.is_finite() {
        units::interval(metric(row), median.lower, median.upper)
    } else {
        "-".to_owned()
    }
}

fn throughput_cell(row: &Row<'_>) -> Option<String> {
    let median = row.summary.as_ref()?.median.estimate;
    let Throughput { bytes, elements } = row.measurement?.benchmark.throughput;
    let rates = [
        bytes.map(|bytes| units::byte_rate(bytes, median)),
        elements.map(|elements| units::element_rate(elements, median)),
    ];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    (!rates.is_empty()).then(|| rates.join(", "))
}

/// The level does not matter: no interval is shown.
fn latency_cell(row: &Row<'_>) -> Option<String> {
    beside::latency_cell(&LatencySummary::of(row.measurement?, 0.95)?)
}

fn allocations_cell(row: &Row<'_>) -> Option<String> {
    let found = AllocationSummary::of(row.measurement?)?;
    Some(beside::allocations_cell(&found))
}

/// Mild and severe outliers together, as a share of the samples, and the severe ones: `4.1 % (1.2 %)`.
fn outlier_cell(row: &Row<'_>) -> String {
    let Some(summary) = &row.summary else {
        return String::new();
    };
    let outliers = &summary.outliers;
    if outliers.total() == 0 {
        return "-".to_owned();
    }
    let share = |count: usize| 100.0 * count as f64 / summary.samples as f64;
    let severe = share(outliers.low_severe + outliers.high_severe);
    theme::faint(format!(
        "{:.1} %, severe {severe:.1} %",
        share(outliers.total())
    ))
}

fn comparison_cells(row: &Row<'_>) -> [String; 3] {
    let Some(comparison) = &row.comparison else {
        return Default::default();
    };
    let Some(change) = &comparison.change else {
        return ["-".to_owned(), String::new(), String::new()];
    };
    let bound = |value: f64| {
        if value.is_finite() {
            units::change(value)
        } else {
            "?".to_owned()
        }
    };
    let interval = if change.lower.is_finite() || change.upper.is_finite() {
        format!("[{}, {}]", bound(change.lower), bound(change.upper))
    } else {
        "-".to_owned()
    };
    [
        units::change(change.estimate),
        interval,
        comparison.p_value.map_or_else(|| "-".to_owned(), p_value),
    ]
}

/// p with four decimals.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

fn verdict_cell(row: &Row<'_>) -> String {
    let Some(verdict) = row.verdict else {
        return String::new();
    };
    let mut word = theme::verdict(verdict);
    let comparison = row.comparison.as_ref();
    if comparison.is_some_and(|found| {
        found
            .paired
            .is_some_and(|paired| paired.slow_path.is_some())
    }) {
        word.push_str(" (slow path)");
    }
    let smallest = comparison.and_then(|comparison| comparison.smallest_callable);
    match (verdict, smallest) {
        (Verdict::Inconclusive | Verdict::Suspect, Some(smallest)) if smallest.is_finite() => {
            format!(
                "{word} {}",
                theme::faint(format!("(callable from {})", units::change(smallest)))
            )
        }
        _ => word,
    }
}

/// What a reader must know of single benchmarks, each thing once for all that it applies to.
fn write_notes(writer: &mut dyn Write, rows: &[Row<'_>]) -> io::Result<()> {
    let room = Room::of_stdout();
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let differences = row.blocking.iter().map(ToString::to_string);
        let remarks = row
            .comparison
            .iter()
            .flat_map(|comparison| &comparison.notes)
            .map(Note::to_string);
        let summary = row
            .comparison
            .iter()
            .filter_map(|found| found.centers.as_ref());
        let summary = summary.map(|found| analysis::centers(found, metric(row)));
        let beside = row.comparison.iter().flat_map(beside::changes);
        for text in beside
            .chain(differences)
            .chain(remarks)
            .chain(row.remarks.iter().cloned())
            .chain(summary)
            .chain(failures(row))
        {
            let id = units::name(&row.key.id, room);
            match notes.iter_mut().find(|(known, _)| *known == text) {
                Some((_, ids)) => ids.push(id),
                None => notes.push((text, vec![id])),
            }
        }
    }
    for (text, ids) in notes {
        let subject = match &ids[..] {
            [id] => id.clone(),
            _ if ids.len() == rows.len() => "all".to_owned(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
            [] => continue,
        };
        writeln!(
            writer,
            "  {}",
            theme::faint(format!(
                "{subject}: {}",
                theme::printable(&text).replace('\n', "\n    ")
            ))
        )?;
    }
    Ok(())
}

/// Each failure once, with the launches it happened in.
fn failures(row: &Row<'_>) -> Vec<String> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for failure in row
        .measurement
        .iter()
        .flat_map(|measurement| &measurement.failures)
    {
        let launch = (failure.launch + 1).to_string();
        match found
            .iter_mut()
            .find(|(message, _)| *message == failure.message)
        {
            Some((_, launches)) => launches.push(launch),
            None => found.push((&failure.message, vec![launch])),
        }
    }
    let in_words = |(message, launches): (&str, Vec<String>)| {
        let plural = if launches.len() == 1 {
            "launch"
        } else {
            "launches"
        };
        format!("failed in {plural} {}: {message}", launches.join(", "))
    };
    found.into_iter().map(in_words).collect()
}

fn write_conclusion(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    verdicts: &Verdicts,
    compared: bool,
) -> io::Result<()> {
    if compared {
        let decision = &verdicts.decision;
        let subject = decision.analysis.subject;
        if subject != Subject::Time {
            writeln!(
                writer,
                "Compared with {}; changes and verdicts are about {subject} (`--metric`), not about the time.",
                verdicts.reference
            )?;
        } else if let Method::Stored(Decider::Test(_)) = verdicts.method {
            let method = analysis::method(decision);
            writeln!(writer, "Compared with {} {method}.", verdicts.reference)?;
        } else {
            let decider = match verdicts.method {
                Method::Stored(Decider::RunLevel | Decider::Test(_)) => {
                    "drift between runs included"
                }
                Method::Stored(Decider::Screen) => "t-score alone (--screen)",
                Method::Paired => "both sides measured in turn",
            };
            writeln!(
                writer,
                "Compared with {}; {} family-wise, {decider}.",
                verdicts.reference,
                units::percent(decision.significance_level),
            )?;
        }
    }
    if compared
        && findings
            .rows
            .iter()
            .any(|row| matches!(metric(row), Metric::Rate { .. }))
    {
        writeln!(
            writer,
            "Changes of rates are those of the time that a unit takes: + is slower, as everywhere; means of rates are harmonic."
        )?;
    }
    analysis::write_thresholds(writer, &findings.thresholds())?;
    for warning in &verdicts.warnings {
        write_warning(writer, &format!("the sides differ in {warning}"))?;
    }
    for remark in &verdicts.remarks {
        write_warning(writer, remark)?;
    }
    let counts: Vec<String> = findings
        .tally()
        .iter()
        .map(|(verdict, count)| format!("{count} {}", theme::verdict(verdict)))
        .collect();
    let total = findings.rows.len();
    let plural = if total == 1 { "" } else { "s" };
    writeln!(
        writer,
        "Run {}: {total} benchmark{plural}: {}.",
        findings.run.id,
        counts.join(", ")
    )?;
    analysis::write_gates(writer, &verdicts.gates)?;
    for line in &verdicts.advice {
        writeln!(writer, "{line}")?;
    }
    Ok(())
}
