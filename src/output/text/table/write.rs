//! Writes the table of results: the selected rows, notes on single benchmarks, and the text below with the two sides, the method, warnings, advice
//! and the outcome.
//!
//! Invariant: a note that applies to several benchmarks is written once.

use std::io::{self, Write};

use super::cells::columns;
use crate::output::layout::Table;
use crate::output::text::status::write_warning_within;
use crate::output::view::{RowOrder, Verbosity, View};
use crate::output::words::remarks::describe_run_remark;
use crate::output::words::sentences::{RunOutcome, write_outcome};
use crate::output::words::{analysis, extras, remarks, sentences};
use crate::output::{terminal, units};
use perfcheck_analysis::compare::Note;
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, Order, Row, RunNote};
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Metric, Statistic, Test, Verdict};

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
                view.wrap_prose(&terminal::escape_terminal_text(&sentence), "")
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
            writeln!(writer, "{}", terminal::faint(line))?;
        }
    }
    Ok(())
}

/// Maximum number of notes without `--verbose`.
const MOST_NOTES: usize = 6;

/// A note, and the rows it applies to.
struct GroupedNote {
    text: String,
    rows: Vec<usize>,
    /// The worst verdict of these rows
    verdict: Option<Verdict>,
}

/// Returns the notes on `rows`, those of the worst verdicts first.
pub(super) fn notes(rows: &[&Row<'_>], view: &View) -> Vec<String> {
    let mut notes: Vec<GroupedNote> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for text in notes_on_row(row, view.verbosity) {
            match notes.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.rows.push(at);
                    known.verdict = known.verdict.min(row.verdict);
                }
                None => notes.push(GroupedNote {
                    text,
                    rows: vec![at],
                    verdict: row.verdict,
                }),
            }
        }
    }
    let most = match view.verbosity {
        Verbosity::Verbose => usize::MAX,
        Verbosity::Quiet | Verbosity::Usual => MOST_NOTES,
    };
    // The sort is stable: rows keep their order if there are no verdicts.
    notes.sort_by_key(|note| note.verdict);
    let shown = notes.iter().take(most).map(|note| {
        let text = terminal::escape_terminal_text(&note.text);
        format!("{}: {text}", subject(&note.rows, rows, view))
    });
    let hidden = notes.len().saturating_sub(most);
    let more = (hidden > 0).then(|| {
        format!(
            "{hidden} more {} with --verbose",
            units::plural(hidden, "remark")
        )
    });
    shown.chain(more).collect()
}

/// Names the rows that a note is about.
fn subject(some: &[usize], rows: &[&Row<'_>], view: &View) -> String {
    let id = |at: usize| units::id_in_prose(&rows[at].key.id, view.columns);
    match some {
        [at] => id(*at),
        some if some.len() == rows.len() => "all".to_owned(),
        [first, others @ ..] => format!("{} and {} more", id(*first), others.len()),
        [] => String::new(),
    }
}

/// Returns the notes on a row. By default a row without a problem has none, and only notes that ask for an action are shown.
fn notes_on_row(row: &Row<'_>, verbosity: Verbosity) -> Vec<String> {
    let is_told = |note: &Note| match verbosity {
        Verbosity::Quiet => false,
        Verbosity::Usual => !sentences::is_fine(row) && remarks::asks_to_act(note),
        Verbosity::Verbose => true,
    };
    let moved = row.comparison.iter().flat_map(extras::describe_changes);
    let outliers = (row.summary.as_ref())
        .filter(|_| verbosity == Verbosity::Verbose)
        .and_then(analysis::describe_outliers);
    moved
        .chain(row.blocking.iter().map(ToString::to_string))
        .chain(sentences::remarks_on(row, is_told, sentences::metric(row)))
        .chain(sentences::describe_failures(
            row,
            sentences::format_processes,
        ))
        .chain(outliers)
        .collect()
}

/// Writes the conclusion. `hidden` is the number of rows not shown.
pub(super) fn write_conclusion(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    verdicts: &ComparisonContext,
    hidden: usize,
    view: &View,
) -> io::Result<()> {
    let compared = findings.rows.iter().any(|row| row.comparison.is_some());
    let line =
        |writer: &mut dyn Write, text: &str| writeln!(writer, "{}", view.wrap_prose(text, ""));
    if compared && view.verbosity != Verbosity::Quiet {
        if let Some(together) = sentences::describe_geometric_mean(findings) {
            line(writer, &together)?;
        }
        line(writer, &describe_comparison(verdicts))?;
        let rates = findings
            .rows
            .iter()
            .any(|row| matches!(sentences::metric(row), Metric::Rate { .. }));
        if rates {
            line(
                writer,
                "Changes of rates are those of the time that a unit takes: + is slower, as everywhere; means of rates are harmonic.",
            )?;
        }
    }
    if let (Some(sentence), true) = (
        sentences::describe_references(findings),
        view.verbosity != Verbosity::Quiet,
    ) {
        line(writer, &terminal::escape_terminal_text(&sentence))?;
    }
    analysis::write_thresholds(writer, &findings.thresholds(), view.columns)?;
    for warning in &verdicts.warnings {
        let text = format!("the sides differ in {warning}");
        write_warning_within(writer, &text, view.columns)?;
    }
    for remark in &verdicts.remarks {
        let text = describe_run_remark(remark);
        match remark {
            RunNote::CodeDiffers(_) => {
                line(
                    writer,
                    &terminal::escape_terminal_text(&sentences::capitalize(&text)),
                )?;
            }
            _ => write_warning_within(writer, &text, view.columns)?,
        }
    }
    if let Some(sentence) = sentences::summarize_unmeasured(findings) {
        line(writer, &sentence)?;
    }
    if sentences::count_looking_slower(&findings.rows) > 0 {
        line(
            writer,
            &sentences::summarize_undecided(findings).unwrap_or_default(),
        )?;
    }
    let has_gaps = |remark: &RunNote| matches!(remark, RunNote::PartsMissing { .. });
    // The remark about missing parts already explains an incomplete run.
    let incomplete = sentences::describe_incomplete_run(findings.run);
    if let Some(sentence) = incomplete.filter(|_| !verdicts.remarks.iter().any(has_gaps)) {
        write_warning_within(writer, &sentence, view.columns)?;
    }
    if hidden > 0 {
        let reason = match view.only {
            Some(_) => "--verdict",
            None => "--quiet",
        };
        let text = format!(
            "{} not shown ({reason}).",
            units::counted(hidden, "benchmark")
        );
        writeln!(writer, "{}", terminal::faint(text))?;
    }
    remarks::write_limits(writer, &verdicts.limits, view.columns)?;
    for advice in &verdicts.advice {
        line(writer, &terminal::escape_terminal_text(advice))?;
    }
    write_outcome(writer, &RunOutcome::from_findings(findings), view.columns)
}

/// Names the reference, and describes how the sides were compared.
fn describe_comparison(verdicts: &ComparisonContext) -> String {
    let decision = &verdicts.decision;
    let subject = decision.analysis.subject;
    let reference = terminal::escape_terminal_text(&verdicts.reference);
    if subject != Statistic::Time {
        return format!(
            "Compared with {reference}; changes and verdicts are about {subject} (`--metric`), not about the time."
        );
    }
    let (how, drift) = match verdicts.method {
        Method::Stored(Test::BootstrapT) => (" as stored", ", drift between runs included"),
        Method::Stored(Test::TScore) => (
            " as stored",
            ", drift between runs ignored (--ignore-drift)",
        ),
        Method::Stored(_) => {
            return format!(
                "Compared with {reference} {}.",
                analysis::describe_method(decision)
            );
        }
        Method::Paired => (", measured side by side", ""),
    };
    let alarms = analysis::describe_false_alarm_rate(decision);
    format!("Compared with {reference}{how}; {alarms}{drift}.")
}
