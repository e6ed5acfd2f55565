//! Puts the sentences in order and writes them: as text that fits 80 columns, or as one JSON message.

use std::io::{self, Write};

use super::content::Explanation;
use super::{alternative, extras, measured, paired, stored, unmeasured};
use crate::report::layout::{Cell, Column, Table};
use crate::report::messages::{ExplanationMessage, JsonMessage, Numbers, Statement, write_message};
use crate::report::view::MessageFormat;
use crate::report::words::remarks::code_differs;
use crate::report::words::sentences::capital;
use crate::report::{theme, units};
use perfcheck_analysis::findings::{CodeChange, Method};
use perfcheck_analysis::model::{Statistic, Verdict};

/// Columns of the text, and of the words at its left.
const WIDTH: usize = 80;
const MARGIN: usize = 11;

/// Writes how a verdict came about.
pub fn write_explanation(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    format: MessageFormat,
) -> io::Result<()> {
    let statements = statements(explanation);
    match format {
        MessageFormat::Human => write_text(writer, explanation, &statements),
        MessageFormat::Json => {
            let message = ExplanationMessage::of(explanation, &statements);
            write_message(writer, JsonMessage::Explanation(message))
        }
    }
}

/// The sentences in order, each with what it is about: for readers that lay them out themselves.
pub fn explained(explanation: &Explanation<'_>) -> Vec<(&'static str, String)> {
    let statements = statements(explanation).into_iter();
    statements
        .map(|statement| (statement.numbers.about(), statement.text))
        .collect()
}

fn statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let mut statements = vec![verdict(explanation)];
    statements.extend(measured::sides(explanation));
    statements.extend(explanation.code.map(changed_code));
    let subject = explanation.run.decision.analysis.subject;
    match (explanation.method, explanation.comparison()) {
        (Some(method), Some(comparison)) if explanation.verdict != Verdict::Failed => {
            statements.extend(match method {
                _ if subject != Statistic::Time => alternative::about(subject, comparison),
                Method::Paired => paired::statements(explanation, comparison),
                Method::Stored(test) if test.is_of_another_system() => {
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
                statements.push(unknown(explanation));
            }
        }
    }
    statements
}

fn verdict(explanation: &Explanation<'_>) -> Statement {
    let meaning = match explanation.verdict {
        Verdict::Regressed => "slower by more than noise",
        Verdict::Suspect => "it looks slower, and that is not shown",
        Verdict::Failed => "it could not be measured",
        Verdict::Incomparable => "measured under conditions that cannot be compared",
        Verdict::Missing => "the reference has it, this run has not",
        Verdict::Inconclusive => "neither a change nor its absence could be shown",
        Verdict::New => "there is nothing to compare it with",
        Verdict::Unchanged => "no change beyond noise, and that is shown",
        Verdict::Improved => "faster by more than noise",
    };
    Statement::new(
        format!("{}: {meaning}.", capital(explanation.verdict.word())),
        Numbers::Verdict {
            change: explanation.change,
            reference_run: explanation.reference,
        },
    )
}

/// All that is known of the functions that differ.
fn changed_code(change: &CodeChange) -> Statement {
    let text = format!("{}.", capital(&code_differs(change, usize::MAX)));
    Statement::new(
        text,
        Numbers::Code {
            functions: change.functions.clone(),
            left_out: change.left_out,
        },
    )
}

/// Says that nothing is stored of how the verdict was reached.
fn unknown(explanation: &Explanation<'_>) -> Statement {
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

fn write_text(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    statements: &[Statement],
) -> io::Result<()> {
    let key = explanation.key;
    writeln!(
        writer,
        "{} {}, run {}: {}\n",
        theme::heading(format!("{}/{}", key.package, key.target)),
        units::name_in_prose(&key.id, units::terminal_width()),
        explanation.run.id,
        theme::verdict(explanation.verdict)
    )?;
    let subjects = statements.iter().scan("", |before, statement| {
        let subject = if statement.numbers.about() == *before {
            ""
        } else {
            statement.numbers.about()
        };
        *before = statement.numbers.about();
        Some(Cell::faint(subject))
    });
    let texts = statements.iter().map(|statement| statement.text.as_str());
    Table::new(vec![
        Column::fact("", subjects).at_least(MARGIN),
        Column::prose("", texts),
    ])
    .write(writer, WIDTH)
}
