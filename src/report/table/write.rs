//! Writes a table: bench targets, the groups in them, and rows, whose names have a line of their own where they are too long.

use std::io::{self, Write};

use super::column::{Cell, Column, Side};
use super::conclusion::write_conclusion;
use super::fit::{Fitted, GAP, fit};
use super::notes::write_notes;
use crate::model::{Measurement, Verdict};
use crate::report::content::{Findings, Row};
use crate::report::view::{Arrangement, Verbosity, View};
use crate::report::{analysis, beside, theme, units};

/// Rows below one heading.
struct Section<'f> {
    heading: Option<String>,
    groups: Vec<Group<'f>>,
}

/// Rows whose ids begin alike.
struct Group<'f> {
    name: Option<String>,
    rows: Vec<&'f Row<'f>>,
}

/// A row with the name that it has below its headings.
struct Labelled<'f> {
    label: String,
    row: &'f Row<'f>,
}

/// Writes everything: a table for each bench target, notes, and what it comes to.
pub fn write_table(writer: &mut dyn Write, findings: &Findings<'_>, view: &View) -> io::Result<()> {
    let shown: Vec<&Row<'_>> = shown(findings, view);
    let sections = sections(&shown, view.arrangement);
    let labelled: Vec<Vec<Labelled<'_>>> = sections.iter().map(labels).collect();
    let all = || labelled.iter().flatten();
    let rows: Vec<&Row<'_>> = all().map(|line| line.row).collect();
    let widths: Vec<usize> = all().map(|line| units::width(&line.label)).collect();
    let fitted = fit(&rows, &widths, findings, view);
    let mut at = 0;
    for (section, lines) in sections.iter().zip(&labelled) {
        write_heading(writer, section.heading.as_deref(), &fitted)?;
        let mut lines = lines.iter();
        for group in &section.groups {
            if let Some(name) = &group.name {
                for part in units::wrapped(&format!("  {name}/"), view.columns) {
                    writeln!(writer, "{part}")?;
                }
            }
            for line in lines.by_ref().take(group.rows.len()) {
                write_row(writer, &line.label, at, &fitted, view)?;
                at += 1;
            }
        }
        let rows: Vec<&Row<'_>> = section
            .groups
            .iter()
            .flat_map(|group| group.rows.iter().copied())
            .collect();
        write_notes(writer, &rows, view)?;
        writeln!(writer)?;
    }
    write_caveat(writer, &rows, view)?;
    match &findings.verdicts {
        Some(verdicts) => {
            let hidden = findings.rows.len() - shown.len();
            write_conclusion(writer, findings, verdicts, hidden, view)
        }
        None => analysis::write_thresholds(writer, &findings.thresholds(), view.columns),
    }
}

/// Rows that the user wants to see.
fn shown<'f>(findings: &'f Findings<'_>, view: &View) -> Vec<&'f Row<'f>> {
    let results_alone = findings.rows.iter().all(|row| row.comparison.is_none());
    let is_shown = |row: &&Row<'_>| match (&view.only, row.verdict, view.verbosity) {
        (Some(only), verdict, _) => verdict.is_some_and(|verdict| only.contains(&verdict)),
        (None, Some(verdict), Verbosity::Quiet) => results_alone || needs_attention(verdict),
        (None, ..) => true,
    };
    findings.rows.iter().filter(is_shown).collect()
}

/// Whether somebody who wants to know little wants to know this.
fn needs_attention(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Regressed
        | Verdict::Suspect
        | Verdict::Failed
        | Verdict::Incomparable
        | Verdict::Missing
        | Verdict::Improved => true,
        Verdict::Inconclusive | Verdict::New | Verdict::Unchanged => false,
    }
}

fn sections<'f>(rows: &[&'f Row<'f>], arrangement: Arrangement) -> Vec<Section<'f>> {
    let target = |row: &Row<'_>| format!("{}/{}", row.key.package, row.key.target);
    let mut targets: Vec<(String, Vec<&'f Row<'f>>)> = Vec::new();
    for row in rows {
        let name = target(row);
        match targets.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => targets.push((name, vec![row])),
        }
    }
    if arrangement == Arrangement::List && targets.len() > 1 {
        return vec![Section {
            heading: None,
            groups: vec![Group {
                name: None,
                rows: rows.to_vec(),
            }],
        }];
    }
    let sections = targets.into_iter().map(|(heading, rows)| Section {
        heading: Some(units::on_one_line(&heading)),
        groups: match arrangement {
            Arrangement::Groups => groups(rows),
            Arrangement::Targets | Arrangement::List => vec![Group { name: None, rows }],
        },
    });
    sections.collect()
}

/// The rows by group, in the order in which groups come first. A benchmark alone in its group needs no heading.
fn groups<'f>(rows: Vec<&'f Row<'f>>) -> Vec<Group<'f>> {
    let mut groups: Vec<(Option<&str>, Vec<&'f Row<'f>>)> = Vec::new();
    for row in rows {
        let name = row.key.id.rsplit_once('/').map(|(group, _)| group);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    let mut arranged: Vec<Group<'f>> = Vec::new();
    for (name, rows) in groups {
        let name = name.filter(|_| rows.len() > 1).map(units::whole_name);
        match arranged.last_mut() {
            Some(before) if before.name.is_none() && name.is_none() => before.rows.extend(rows),
            _ => arranged.push(Group { name, rows }),
        }
    }
    // What stands below no group's heading must not stand behind a group's rows.
    arranged.sort_by_key(|group| group.name.is_some());
    arranged
}

/// The rows of a section with what they are called below its headings.
fn labels<'f>(section: &Section<'f>) -> Vec<Labelled<'f>> {
    let mut labelled = Vec::new();
    for group in &section.groups {
        for row in &group.rows {
            let id = &row.key.id;
            let label = match (&group.name, &section.heading) {
                (Some(_), _) => {
                    let name = id.rsplit_once('/').map_or(&**id, |(_, name)| name);
                    format!("    {}", units::whole_name(name))
                }
                (None, Some(_)) => format!("  {}", units::whole_name(id)),
                (None, None) => {
                    let target = format!("{}/{}", row.key.package, row.key.target);
                    format!(
                        "  {}: {}",
                        units::on_one_line(&target),
                        units::whole_name(id)
                    )
                }
            };
            labelled.push(Labelled { label, row });
        }
    }
    labelled
}

/// The name of the bench target with the headings of the columns beside it, where there is room.
fn write_heading(writer: &mut dyn Write, target: Option<&str>, fitted: &Fitted) -> io::Result<()> {
    let headings = |column: &Column| column.heading.clone();
    let target = target.unwrap_or_default();
    if units::width(target) > fitted.name_room {
        writeln!(writer, "{}", theme::heading(target))?;
        return write_line(writer, &Cell::default(), fitted, headings);
    }
    let heading = match target {
        "" => Cell::default(),
        _ => Cell::coloured(target, theme::heading(target)),
    };
    write_line(writer, &heading, fitted, headings)
}

fn write_row(
    writer: &mut dyn Write,
    label: &str,
    at: usize,
    fitted: &Fitted,
    view: &View,
) -> io::Result<()> {
    let cell = |column: &Column| column.cells[at].clone();
    if units::width(label) <= fitted.name_room {
        return write_line(writer, &Cell::plain(label.to_owned()), fitted, cell);
    }
    for part in units::wrapped(label, view.columns) {
        writeln!(writer, "{part}")?;
    }
    write_line(writer, &Cell::default(), fitted, cell)
}

fn write_line(
    writer: &mut dyn Write,
    label: &Cell,
    fitted: &Fitted,
    cell: impl Fn(&Column) -> Cell,
) -> io::Result<()> {
    let mut line = label.padded(fitted.name_room, Side::Left);
    let last = fitted.columns.len().saturating_sub(1);
    for (at, column) in fitted.columns.iter().enumerate() {
        line += &" ".repeat(GAP);
        let width = match (at == last, column.side) {
            // Nothing stands behind it.
            (true, Side::Left) => 0,
            _ => column.width(),
        };
        line += &cell(column).padded(width, column.side);
    }
    writeln!(writer, "{}", line.trim_end())
}

/// What latencies are, where some are shown.
fn write_caveat(writer: &mut dyn Write, rows: &[&Row<'_>], view: &View) -> io::Result<()> {
    let measurements: Vec<&Measurement> = rows.iter().filter_map(|row| row.measurement).collect();
    if let Some(caveat) = beside::caveat(&measurements) {
        for line in view.prose(&caveat, "").split('\n') {
            writeln!(writer, "{}", theme::faint(line))?;
        }
    }
    Ok(())
}
