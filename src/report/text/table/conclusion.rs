//! The text below a table: the two sides, the method, warnings, advice and the outcome.

use std::io::{self, Write};

use crate::report::text::status::write_warning_within;
use crate::report::view::{Verbosity, View};
use crate::report::words::outcome::{RunOutcome, write_outcome};
use crate::report::words::remarks::describe_run_remark;
use crate::report::words::sentences;
use crate::report::words::{analysis, limits};
use crate::report::{theme, units};
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, RunNote};
use perfcheck_analysis::model::{Metric, Statistic, Test};

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
        line(writer, &theme::escape_terminal_text(&sentence))?;
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
                    &theme::escape_terminal_text(&sentences::capitalize(&text)),
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
        writeln!(writer, "{}", theme::faint(text))?;
    }
    limits::write_limits(writer, &verdicts.limits, view.columns)?;
    for advice in &verdicts.advice {
        line(writer, &theme::escape_terminal_text(advice))?;
    }
    write_outcome(writer, &RunOutcome::from_findings(findings), view.columns)
}

/// Names the reference, and describes how the sides were compared.
fn describe_comparison(verdicts: &ComparisonContext) -> String {
    let decision = &verdicts.decision;
    let subject = decision.analysis.subject;
    let reference = theme::escape_terminal_text(&verdicts.reference);
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
