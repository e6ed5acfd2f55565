//! Orders the statements of an explanation and writes them: a summary of a few lines, text that fits 80 columns, or one JSON message.

use crate::output::explanation::unmeasured;
use crate::output::{BenchmarkSelector, Explanation, terminal, units};
use std::io::{self, Write};

use super::unmeasured::sameness;
use super::{extras, measured, paired, unpaired};
use crate::output::layout::{Cell, Column, Table};
use crate::output::messages::{ExplanationMessage, JsonMessage, Numbers, Statement, write_message};
use crate::output::view::{MessageFormat, wrap_prose};
use crate::output::words::remarks::describe_code_change;
use crate::output::words::sentences::{self, capitalize};
use crate::output::words::{analysis, remarks};
use perfcheck_analysis::compare::{Comparison, Difference};
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
                _ if subject != Statistic::Time => unpaired::statements_about(subject, comparison),
                Method::Paired => paired::statements(explanation, comparison),
                Method::Stored(test) if test.is_foreign() => {
                    unpaired::alternative_statements(explanation, comparison)
                }
                Method::Stored(test) => unpaired::statements(explanation, comparison, test),
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
            " Compare run {reference} with run {} to see how they differ now.",
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
            &terminal::escape_terminal_text(&text),
            columns,
            &" ".repeat(MARGIN),
        );
        let subject = terminal::faint(format!("{subject:MARGIN$}"));
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
            terminal::faint(terminal::escape_terminal_text(&line))
        )?;
    }
    Ok(())
}

fn write_head(writer: &mut dyn Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let key = explanation.key;
    writeln!(
        writer,
        "{} {}, run {}: {}\n",
        terminal::heading(format!("{}/{}", key.package, key.target)),
        units::id_in_prose(&key.id, units::terminal_width()),
        explanation.run.id,
        terminal::verdict(explanation.verdict)
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

/// Maximum number of functions that the summary names if only their machine code is known to differ.
const MOST_NAMED: usize = 3;

/// Returns the lines, each with its subject; `bench` serves the commands among them.
pub(super) fn summary_lines(
    explanation: &Explanation<'_>,
    bench: &BenchmarkSelector,
) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("change", describe_change(explanation)),
        ("reference", describe_reference(explanation)),
        ("certainty", describe_certainty(explanation)),
    ];
    lines.extend(describe_functions(explanation).map(|text| ("where", text)));
    lines.push(("next", next_step(explanation, bench)));
    lines
}

/// Names the functions whose instructions or time changed; if no such numbers exist, those whose machine code differs.
fn describe_functions(explanation: &Explanation<'_>) -> Option<String> {
    let has_changed = matches!(
        explanation.verdict,
        Verdict::Regressed | Verdict::Suspect | Verdict::Improved
    );
    let counted = explanation.comparison().and_then(|found| {
        let counted = found.instructions.as_ref();
        let sampled = found.sampled_time.as_ref();
        let sampled = sampled.filter(|found| !found.functions.is_empty());
        counted
            .map(crate::output::words::extras::describe_instruction_change)
            .or_else(|| sampled.map(crate::output::words::extras::describe_sampled_time))
    });
    let differs = || Some(remarks::describe_code_change(explanation.code?, MOST_NAMED));
    let text = counted.or_else(differs).filter(|_| has_changed)?;
    Some(format!("{}.", capitalize(&text)))
}

/// Describes the meaning of the verdict.
pub(super) fn verdict_meaning(explanation: &Explanation<'_>) -> &'static str {
    match explanation.verdict {
        Verdict::Regressed => "slower by more than noise",
        Verdict::Suspect => "it looks slower, but that is not certain",
        Verdict::Failed => "it could not be measured",
        Verdict::Incomparable => "measured under conditions that cannot be compared",
        Verdict::Missing => "the reference has it, but this run does not",
        Verdict::Inconclusive => "neither a change nor its absence is certain",
        Verdict::New => "there is nothing to compare it with",
        Verdict::Unchanged if sameness(explanation).is_some() => {
            "both builds run the same machine code, so nothing was measured"
        }
        Verdict::Unchanged => "no change beyond the noise threshold",
        Verdict::Improved => "faster by more than noise",
    }
}

fn describe_change(explanation: &Explanation<'_>) -> String {
    let subject = explanation.run.begun.decision.analysis.subject;
    let comparison = explanation.comparison();
    let values = comparison
        .and_then(|found| sentences::format_values(found, subject, explanation.metric))
        .map(|values| format!("{} → {}", values.base, values.candidate));
    let change = explanation.change.map(units::change);
    let numbers: Vec<String> = [change, values].into_iter().flatten().collect();
    if numbers.is_empty() {
        return format!("{}.", capitalize(verdict_meaning(explanation)));
    }
    format!("{}: {}.", numbers.join(", "), verdict_meaning(explanation))
}

fn describe_reference(explanation: &Explanation<'_>) -> String {
    let Some(reference) = explanation.reference else {
        return "Nothing.".to_owned();
    };
    let is_in_turn = explanation.comparison().is_some_and(Comparison::is_paired);
    let mut sides = explanation.base.iter();
    // A side-by-side run has one base: the reference's build, measured again.
    let base = sides.find(|side| side.run == reference || is_in_turn);
    let git = base.and_then(|side| side.git.as_ref());
    let commit = git.map_or_else(String::new, |git| {
        let hash = git.short();
        let branch = git.branch.as_deref();
        let branch = branch.map_or_else(String::new, |branch| format!(", {branch}"));
        let changes = if git.dirty {
            " with uncommitted changes"
        } else {
            ""
        };
        format!(" (commit {hash}{changes}{branch})")
    });
    let comparison = explanation.comparison();
    let how = match comparison {
        Some(found) if found.is_paired() => format!(
            ", measured side by side in {}",
            units::counted(found.extent.launches_candidate(), "round")
        ),
        Some(_) => ", as stored".to_owned(),
        None => String::new(),
    };
    format!("Run {reference}{commit}{how}.")
}

fn describe_certainty(explanation: &Explanation<'_>) -> String {
    let decision = &explanation.run.begun.decision;
    let change = explanation.comparison().and_then(|found| found.change);
    let known = change.filter(|change| change.lower.is_finite() || change.upper.is_finite());
    if let Some(change) = known {
        return format!(
            "The change lies within {} ({} interval); {}.",
            units::change_interval(change.lower, change.upper),
            units::percent(analysis::interval_level(decision)),
            analysis::describe_false_alarm_rate(decision)
        );
    }
    if let Some(same) = sameness(explanation) {
        return format!("Certain: {}.", remarks::describe_sameness(same));
    }
    match explanation.verdict {
        Verdict::Incomparable => {
            let blocking = explanation.row.map_or(&[][..], |row| &row.blocking);
            let differences: Vec<String> = blocking.iter().map(Difference::to_string).collect();
            if differences.is_empty() {
                "The two were not compared.".to_owned()
            } else {
                format!("The two were not compared: {}.", differences.join("; "))
            }
        }
        Verdict::Failed => {
            let failures = sentences::group_by_message(explanation.failures);
            let first = failures.first().map(|(message, _)| format!(": {message}"));
            format!("Its speed is unknown{}.", first.unwrap_or_default())
        }
        _ => "Nothing was tested.".to_owned(),
    }
}

fn next_step(explanation: &Explanation<'_>, bench: &BenchmarkSelector) -> String {
    let run = explanation.run.id;
    let again = |flags: &str| bench.command(&format!("cargo perfcheck{flags} --exact"), "");
    match explanation.verdict {
        Verdict::Regressed => {
            let accept = bench.command("cargo perfcheck accept", &format!(" --run {run}"));
            format!("If the change is intended: {accept}")
        }
        Verdict::Suspect => format!("Measure it again: {}", again("")),
        Verdict::Inconclusive => {
            let look = explanation.comparison().and_then(|found| found.look());
            let rounds = look.and_then(|look| look.rounds_needed);
            let rounds = rounds.map_or_else(String::new, |needed| format!(" --rounds {needed}"));
            let settles = explanation.row.and_then(remarks::settlement_of);
            let settles = settles.map_or_else(String::new, |way| format!("{}. ", capitalize(&way)));
            format!("{settles}Measure it again alone: {}", again(&rounds))
        }
        Verdict::Failed => "See what the bench printed: cargo bench".to_owned(),
        Verdict::Incomparable => {
            "Measure both builds under the same conditions: cargo perfcheck --against REV"
                .to_owned()
        }
        Verdict::Missing => format!(
            "If it was removed or renamed: cargo perfcheck accept {run}{}",
            bench.place
        ),
        Verdict::New => "Nothing: later runs are compared with this one.".to_owned(),
        Verdict::Unchanged | Verdict::Improved => "Nothing.".to_owned(),
    }
}
