//! Orders the statements of an explanation and writes them: a few lines, text that fits 80 columns, or one JSON message.

use std::io::{self, Write};

use super::content::{BenchmarkSelector, Explanation};
use super::summary::{summary_lines, verdict_meaning};
use super::{alternative, extras, measured, paired, stored, unmeasured};
use crate::report::layout::{Cell, Column, Table};
use crate::report::messages::{ExplanationMessage, JsonMessage, Numbers, Statement, write_message};
use crate::report::view::{MessageFormat, wrap_prose};
use crate::report::words::remarks::describe_code_change;
use crate::report::words::sentences::capitalize;
use crate::report::{theme, units};
use perfcheck_analysis::findings::{CodeChange, Method};
use perfcheck_analysis::model::{Statistic, Verdict};

/// Width of the text and of its left margin, in columns.
const WIDTH: usize = 80;
const MARGIN: usize = 11;

/// The length of an explanation for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExplanationDepth {
    /// A few lines, with commands for the benchmark
    Summary(BenchmarkSelector),
    /// The whole derivation
    Full,
}

/// Writes how a verdict was reached; the JSON message always has the whole derivation.
pub fn write_explanation(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    depth: ExplanationDepth,
    format: MessageFormat,
) -> io::Result<()> {
    let statements = statements(explanation);
    match (format, depth) {
        (MessageFormat::Human, ExplanationDepth::Summary(bench)) => {
            write_summary(writer, explanation, &bench)
        }
        (MessageFormat::Human, ExplanationDepth::Full) => {
            write_derivation(writer, explanation, &statements)
        }
        (MessageFormat::Json, _) => {
            let message = ExplanationMessage::from_explanation(explanation, &statements);
            write_message(writer, JsonMessage::Explanation(message))
        }
    }
}

/// Returns the sentences in order, each with its subject, for outputs with a layout of their own.
pub fn labeled_sentences(explanation: &Explanation<'_>) -> Vec<(&'static str, String)> {
    let statements = statements(explanation).into_iter();
    statements
        .map(|statement| (statement.numbers.topic(), statement.text))
        .collect()
}

fn statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let mut statements = vec![verdict_statement(explanation)];
    statements.extend(measured::side_statements(explanation));
    statements.extend(explanation.code.map(code_statement));
    let subject = explanation.run.begun.decision.analysis.subject;
    match (explanation.method, explanation.comparison()) {
        (Some(method), Some(comparison)) if explanation.verdict != Verdict::Failed => {
            statements.extend(match method {
                _ if subject != Statistic::Time => {
                    alternative::statements_about(subject, comparison)
                }
                Method::Paired => paired::statements(explanation, comparison),
                Method::Stored(test) if test.is_foreign() => {
                    alternative::statements(explanation, comparison)
                }
                Method::Stored(test) => stored::statements(explanation, comparison, test),
            });
            statements.extend(extras::statements(comparison, method, subject));
        }
        _ => {
            let decided = unmeasured::statements(explanation);
            let known = decided
                .iter()
                .any(|statement| matches!(statement.numbers, Numbers::Decision(_)));
            statements.extend(decided);
            if !known {
                statements.push(unknown_statement(explanation));
            }
        }
    }
    statements
}

fn verdict_statement(explanation: &Explanation<'_>) -> Statement {
    let meaning = verdict_meaning(explanation);
    Statement::new(
        format!("{}: {meaning}.", capitalize(explanation.verdict.word())),
        Numbers::Verdict {
            change: explanation.change,
            reference_run: explanation.reference,
        },
    )
}

/// Lists all functions that differ.
fn code_statement(change: &CodeChange) -> Statement {
    let text = format!("{}.", capitalize(&describe_code_change(change, usize::MAX)));
    Statement::new(
        text,
        Numbers::Code {
            functions: change.functions.clone(),
            left_out: change.left_out,
        },
    )
}

/// Says that the store does not know how the verdict was reached.
fn unknown_statement(explanation: &Explanation<'_>) -> Statement {
    let compare = explanation.reference.map_or_else(String::new, |reference| {
        format!(
            " Comparing run {reference} with run {} says how the two differ as they are now.",
            explanation.run.id
        )
    });
    Statement::new(
        format!(
            "How the verdict was reached is not stored with the run: another program measured it, or it was exported without its conclusion.{compare}"
        ),
        Numbers::Origin {},
    )
}

fn write_summary(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    bench: &BenchmarkSelector,
) -> io::Result<()> {
    write_head(writer, explanation)?;
    let columns = units::terminal_width();
    for (subject, text) in summary_lines(explanation, bench) {
        let text = wrap_prose(
            &theme::escape_terminal_text(&text),
            columns,
            &" ".repeat(MARGIN),
        );
        let subject = theme::faint(format!("{subject:MARGIN$}"));
        writeln!(writer, "{subject}{text}")?;
    }
    let run = explanation.run.id;
    let explain = |flag: &str| {
        let flags = format!(" --run {run} {flag}");
        bench.command("cargo perfcheck explain", &flags)
    };
    let mut more = vec![format!("In full: {}", explain("--full"))];
    let is_named = |code: &CodeChange| !code.functions.is_empty();
    if explanation.code.is_some_and(is_named) {
        more.push(format!("Machine code: {}", explain("--asm FUNCTION")));
        more.push(format!(
            "Flame graphs: {}",
            explain("--flamegraph FILE.svg")
        ));
    }
    writeln!(writer)?;
    for line in more {
        writeln!(
            writer,
            "{}",
            theme::faint(theme::escape_terminal_text(&line))
        )?;
    }
    Ok(())
}

fn write_head(writer: &mut dyn Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let key = explanation.key;
    writeln!(
        writer,
        "{} {}, run {}: {}\n",
        theme::heading(format!("{}/{}", key.package, key.target)),
        units::id_in_prose(&key.id, units::terminal_width()),
        explanation.run.id,
        theme::verdict(explanation.verdict)
    )
}

fn write_derivation(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    statements: &[Statement],
) -> io::Result<()> {
    write_head(writer, explanation)?;
    let subjects = statements.iter().scan("", |before, statement| {
        let subject = if statement.numbers.topic() == *before {
            ""
        } else {
            statement.numbers.topic()
        };
        *before = statement.numbers.topic();
        Some(Cell::faint(subject))
    });
    let texts = statements.iter().map(|statement| statement.text.as_str());
    Table::new(vec![
        Column::fact("", subjects).with_min_width(MARGIN),
        Column::prose("", texts),
    ])
    .write(writer, WIDTH)
}
