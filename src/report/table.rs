//! The table of results, for people.

use comfy_table::{CellAlignment, Table, presets};
use std::io::{self, Write};

use super::content::{Findings, Row, Verdicts};
use super::{theme, units};
use crate::compare::{Comparison, Decider, Note, Summary};
use crate::model::{Run, RunStatus, Throughput, Verdict};

/// A message after which nothing follows, as cargo writes them.
pub fn write_error(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(writer, "{}: {message}", theme::error())
}

/// A message after which the work goes on.
pub fn write_warning(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(writer, "{}: {message}", theme::warning())
}

/// Where and how a run was measured.
pub fn write_run_head(writer: &mut dyn Write, run: &Run) -> io::Result<()> {
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
    let (host, build) = (&run.environment.host, &run.environment.build);
    writeln!(
        writer,
        "{}, {} cores, {} {}{}",
        host.cpu,
        host.cores,
        host.os,
        host.kernel,
        if host.shared {
            ", shared or virtual"
        } else {
            ""
        }
    )?;
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
    match &findings.verdicts {
        Some(verdicts) => write_conclusion(writer, findings, verdicts, compared),
        None => Ok(()),
    }
}

fn write_rows(
    writer: &mut dyn Write,
    rows: &[Row<'_>],
    findings: &Findings<'_>,
    compared: bool,
) -> io::Result<()> {
    let throughput = rows.iter().any(|row| throughput_cell(row).is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let time_interval = format!("{} interval", units::percent(findings.confidence_level));
    let mut header = vec!["  benchmark".to_owned(), "median".to_owned(), time_interval];
    if throughput {
        header.push("throughput".to_owned());
    }
    header.push("outliers".to_owned());
    if compared {
        header.extend(["change", "interval", "p"].map(str::to_owned));
    }
    if findings.verdicts.is_some() {
        header.push("verdict".to_owned());
    }
    table.set_header(header.iter().map(theme::faint));
    for row in rows {
        let mut cells = vec![format!("  {}", row.key.id.escape_debug())];
        cells.extend(time_cells(row.summary.as_ref()));
        if throughput {
            cells.push(throughput_cell(row).unwrap_or_default());
        }
        cells.push(row.summary.as_ref().map_or_else(String::new, outlier_cell));
        if compared {
            cells.extend(comparison_cells(row.comparison.as_ref()));
        }
        if let (Some(verdict), true) = (row.verdict, findings.verdicts.is_some()) {
            cells.push(verdict_cell(row, verdict));
        }
        table.add_row(cells);
    }
    let last = header.len() - 1;
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let left = index == 0 || (index == last && findings.verdicts.is_some());
        if !left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(writer, "{}", line.trim_end())?;
    }
    Ok(())
}

fn time_cells(summary: Option<&Summary>) -> [String; 2] {
    let Some(summary) = summary else {
        return ["-".to_owned(), String::new()];
    };
    let median = &summary.median;
    let interval = if median.lower.is_finite() && median.upper.is_finite() {
        format!(
            "[{}, {}]",
            units::time(median.lower),
            units::time(median.upper)
        )
    } else {
        "-".to_owned()
    };
    [units::time(median.estimate), interval]
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

/// `12+3 of 1950`: mild and severe.
fn outlier_cell(summary: &Summary) -> String {
    let mild = summary.outliers.low_mild + summary.outliers.high_mild;
    let severe = summary.outliers.low_severe + summary.outliers.high_severe;
    if mild + severe == 0 {
        "-".to_owned()
    } else {
        theme::faint(format!(
            "{mild} mild, {severe} severe of {}",
            summary.samples
        ))
    }
}

fn comparison_cells(comparison: Option<&Comparison>) -> [String; 3] {
    let Some(comparison) = comparison else {
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
    [
        units::change(change.estimate),
        format!("[{}, {}]", bound(change.lower), bound(change.upper)),
        comparison.p_value.map_or_else(|| "-".to_owned(), p_value),
    ]
}

fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

fn verdict_cell(row: &Row<'_>, verdict: Verdict) -> String {
    let word = theme::verdict(verdict);
    let smallest = row
        .comparison
        .as_ref()
        .and_then(|comparison| comparison.smallest_callable);
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
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let differences = row.blocking.iter().map(ToString::to_string);
        let remarks = row
            .comparison
            .iter()
            .flat_map(|comparison| &comparison.notes)
            .map(Note::to_string);
        let failures = row
            .measurement
            .iter()
            .flat_map(|measurement| &measurement.failures);
        let failures = failures
            .map(|failure| format!("launch {} failed: {}", failure.launch + 1, failure.message));
        for text in differences.chain(remarks).chain(failures) {
            let id = row.key.id.escape_debug().to_string();
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
            theme::faint(format!("{subject}: {}", text.replace('\n', "\n    ")))
        )?;
    }
    Ok(())
}

fn write_conclusion(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    verdicts: &Verdicts,
    compared: bool,
) -> io::Result<()> {
    if compared {
        let decision = &verdicts.decision;
        let decider = match verdicts.decider {
            Decider::RunLevel => "drift between runs included",
            Decider::Screen => "t-score alone (--screen)",
        };
        writeln!(
            writer,
            "Compared with {}; {} family-wise, {decider}.",
            verdicts.reference,
            units::percent(decision.significance_level),
        )?;
    }
    for warning in &verdicts.warnings {
        write_warning(writer, &format!("the sides differ in {warning}"))?;
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
    for line in &verdicts.advice {
        writeln!(writer, "{line}")?;
    }
    Ok(())
}
