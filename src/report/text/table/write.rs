//! Writes the table of results: the selected rows, notes and the conclusion.

use std::io::{self, Write};

use super::cells::columns;
use super::conclusion::write_conclusion;
use super::notes::notes;
use crate::report::layout::Table;
use crate::report::theme;
use crate::report::view::{RowOrder, Verbosity, View};
use crate::report::words::{analysis, extras, sentences};
use perfcheck_analysis::findings::{Findings, Order, Row};
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Verdict};

/// Writes a table for each bench target, notes and the conclusion.
pub fn write_table(writer: &mut dyn Write, findings: &Findings<'_>, view: &View) -> io::Result<()> {
    let mut shown: Vec<&Row<'_>> = select_rows(findings, view);
    let mut arrangement = view.arrangement;
    if findings.verdicts.is_some() && shown.len() > view.screenful {
        shown.sort_by(|a, b| Order::WorstFirst.compare(&a.sort_key(), &b.sort_key()));
        arrangement = RowOrder::List;
    }
    if view.verbosity != Verbosity::Quiet && view.only.is_none() {
        for sentence in sentences::describe_called_changes(findings) {
            writeln!(
                writer,
                "{}",
                view.wrap_prose(&theme::escape_terminal_text(&sentence), "")
            )?;
        }
    }
    let keys: Vec<&BenchmarkKey> = shown.iter().map(|row| &row.key).collect();
    Table::from_benchmarks(&keys, arrangement, columns(&shown, findings, view))
        .with_remarks(|places| {
            let rows: Vec<&Row<'_>> = places.iter().map(|at| shown[*at]).collect();
            notes(&rows, view)
        })
        .write(writer, view.columns)?;
    if !shown.is_empty() {
        writeln!(writer)?;
    }
    write_caveat(writer, &shown, view)?;
    match &findings.verdicts {
        Some(verdicts) => {
            let told = findings.rows.iter().filter(|row| is_summarized(row, view));
            let hidden = findings.rows.len() - shown.len() - told.count();
            write_conclusion(writer, findings, verdicts, hidden, view)
        }
        None => analysis::write_thresholds(writer, &findings.thresholds(), view.columns),
    }
}

/// Reports whether a summary sentence already covers this row: unchanged code was not measured.
fn is_summarized(row: &Row<'_>, view: &View) -> bool {
    view.verbosity != Verbosity::Verbose && view.only.is_none() && row.is_same_code()
}

/// Returns the rows that the view selects.
fn select_rows<'f>(findings: &'f Findings<'_>, view: &View) -> Vec<&'f Row<'f>> {
    let results_alone = findings.rows.iter().all(|row| row.comparison.is_none());
    let is_shown = |row: &&Row<'_>| match (&view.only, row.verdict, view.verbosity) {
        (Some(only), verdict, _) => verdict.is_some_and(|verdict| only.contains(&verdict)),
        (None, Some(verdict), Verbosity::Quiet) => results_alone || needs_attention(verdict),
        (None, ..) => true,
    };
    let rows = findings.rows.iter().filter(|row| !is_summarized(row, view));
    rows.filter(is_shown).collect()
}

/// Reports whether a verdict is shown even with `--quiet`.
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

/// Explains how latencies were measured, if any are shown.
fn write_caveat(writer: &mut dyn Write, rows: &[&Row<'_>], view: &View) -> io::Result<()> {
    let measurements: Vec<&Measurement> = rows.iter().filter_map(|row| row.measurement).collect();
    if let Some(caveat) = extras::latency_caveat(&measurements) {
        for line in view.wrap_prose(&caveat, "").split('\n') {
            writeln!(writer, "{}", theme::faint(line))?;
        }
    }
    Ok(())
}
