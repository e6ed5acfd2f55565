//! Prints the progress and the result of `bisect`: a line for each commit, then the first slow commit.

use std::io::{self, Write};

use crate::output::layout::{Column, Table};
use crate::output::messages::{
    BisectFindings, BisectOutcome, BisectStep, CommitFinding, CommitOutcome, JsonMessage,
    write_message,
};
use crate::output::view::MessageFormat;
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::Commit;

/// Reports one measured commit: as a line on `progress`, and as a message on `result` if the format is JSON.
pub fn write_bisect_step(
    progress: Option<&mut dyn Write>,
    result: &mut dyn Write,
    step: &BisectStep,
    format: MessageFormat,
) -> io::Result<()> {
    if let Some(progress) = progress {
        let word = match step.found.finding {
            CommitFinding::Fast => "Fast",
            CommitFinding::Slow => "Slow",
            CommitFinding::Skipped => "Skipped",
        };
        let again = if step.remembered {
            ", measured earlier"
        } else {
            ""
        };
        writeln!(
            progress,
            "{} {} ({} of {}) {}: {}{again}",
            terminal::status(word),
            step.commit.short(),
            step.place,
            step.of,
            terminal::escape_terminal_text(&step.commit.subject),
            describe_outcome(&step.found)
        )?;
    }
    if format == MessageFormat::Json {
        write_message(result, JsonMessage::BisectStep(step))?;
    }
    Ok(())
}

/// Describes an outcome: `+101 % [+99.0 %, +103 %], more than the threshold of 1 %`.
fn describe_outcome(found: &CommitOutcome) -> String {
    let mut parts = Vec::new();
    match (&found.change, found.threshold) {
        (Some(change), Some(threshold)) => {
            let change = units::change_with_interval(change);
            let threshold = units::rounded_percent(threshold);
            parts.push(match found.finding {
                CommitFinding::Fast => format!("{change}, less than the threshold of {threshold}"),
                CommitFinding::Slow => format!("{change}, more than the threshold of {threshold}"),
                CommitFinding::Skipped => {
                    format!("{change}, not clearly more or less than the threshold of {threshold}")
                }
            });
        }
        _ => parts.extend(found.verdict.map(terminal::verdict)),
    }
    parts.extend(found.why.as_deref().map(terminal::escape_terminal_text));
    parts.join(", ")
}

/// Writes the result of the search.
pub fn write_bisect(
    writer: &mut dyn Write,
    findings: &BisectFindings,
    format: MessageFormat,
) -> io::Result<()> {
    match format {
        MessageFormat::Human => write_for_people(writer, findings),
        MessageFormat::Json => write_message(writer, JsonMessage::BisectFinished(findings)),
    }
}

fn write_for_people(writer: &mut dyn Write, findings: &BisectFindings) -> io::Result<()> {
    let [id, good, bad] = printable_names(findings);
    let Some((last, others)) = findings.commits.split_last() else {
        return Ok(());
    };
    match findings.outcome {
        BisectOutcome::NotSlower => writeln!(
            writer,
            "`{id}` is not slower in {bad} than in {good}: {}. There is nothing to bisect.",
            describe_outcome(&last.found)
        ),
        BisectOutcome::Undecided => {
            writeln!(
                writer,
                "It is unclear whether `{id}` is slower in {bad} than in {good}: {}.",
                describe_outcome(&last.found)
            )?;
            writeln!(
                writer,
                "Try more --rounds, a longer --time-budget or a quieter machine."
            )
        }
        BisectOutcome::Found | BisectOutcome::Narrowed => {
            write_possible(writer, findings, last, others)
        }
    }
}

/// Returns the names of the benchmark, the good commit and the bad commit, safe to print.
fn printable_names(findings: &BisectFindings) -> [String; 3] {
    let BisectFindings {
        benchmark,
        good_name,
        bad_name,
        ..
    } = findings;
    [&benchmark.id, good_name, bad_name].map(|name| sanitize::one_line(name))
}

fn write_possible(
    writer: &mut dyn Write,
    findings: &BisectFindings,
    slow: &BisectStep,
    others: &[BisectStep],
) -> io::Result<()> {
    let [id, good, bad] = printable_names(findings);
    if others.is_empty() {
        writeln!(
            writer,
            "{}",
            terminal::heading(format!(
                "{} is the first slow commit, {} of {}:",
                slow.commit.short(),
                slow.place,
                slow.of
            ))
        )?;
    } else {
        writeln!(
            writer,
            "{}",
            terminal::heading(format!(
                "The first slow commit is one of these {}:",
                findings.commits.len()
            ))
        )?;
        for step in others {
            writeln!(
                writer,
                "\n  {}",
                terminal::faint(describe_outcome(&step.found))
            )?;
            write_commit(writer, &step.commit)?;
        }
        writeln!(writer, "\n  {}", terminal::faint("known to be slow"))?;
    }
    write_commit(writer, &slow.commit)?;
    writeln!(writer)?;
    let until = |change: &Option<Estimate>, commit: &str| {
        let change = change.as_ref().map(units::change_with_interval);
        change.map(|change| format!("{change} at {commit}"))
    };
    let there = until(&slow.found.change, "this commit");
    let total = until(&findings.total_change, &bad).filter(|_| slow.place < slow.of);
    let changes: Vec<String> = there.into_iter().chain(total).collect();
    writeln!(writer, "`{id}` since {good}: {}.", changes.join(", "))?;
    let command = match others.first() {
        None => format!("git show {}", slow.commit.short()),
        Some(first) => format!(
            "git log -p {}~1..{}",
            first.commit.short(),
            slow.commit.short()
        ),
    };
    writeln!(writer, "See the changes: {command}")
}

fn write_commit(writer: &mut dyn Write, commit: &Commit) -> io::Result<()> {
    let facts = [
        commit.hash.clone(),
        format!("{}, {}", commit.authored, commit.author),
        commit.subject.clone(),
    ];
    Table::new(vec![
        Column::fact("", ["  commit", "  date", "  subject"]),
        Column::fact("", facts),
    ])
    .write(writer, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{BenchmarkKey, RunId, Verdict};

    fn commit(digit: char, subject: &str) -> Commit {
        Commit {
            hash: digit.to_string().repeat(40),
            author: "Ann".to_owned(),
            authored: "2026-01-02T03:04:05+01:00".to_owned(),
            subject: subject.to_owned(),
        }
    }

    fn slow() -> BisectStep {
        BisectStep {
            commit: commit('a', "Simplify"),
            place: 11,
            of: 16,
            remembered: false,
            found: CommitOutcome {
                finding: CommitFinding::Slow,
                verdict: Some(Verdict::Regressed),
                change: Some(Estimate {
                    estimate: 1.01,
                    lower: 0.99,
                    upper: f64::INFINITY,
                }),
                threshold: Some(0.505),
                why: None,
                run: Some(RunId(8)),
                seconds: Some(1.0),
            },
        }
    }

    fn skipped() -> BisectStep {
        BisectStep {
            commit: commit('b', "Break\u{1b}[2J"),
            place: 10,
            found: CommitOutcome {
                finding: CommitFinding::Skipped,
                verdict: None,
                change: None,
                threshold: None,
                why: Some("it cannot be built: no".to_owned()),
                ..slow().found
            },
            ..slow()
        }
    }

    fn findings(outcome: BisectOutcome, commits: Vec<BisectStep>) -> BisectFindings {
        BisectFindings {
            benchmark: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: "sort/10".into(),
            },
            outcome,
            change: commits.last().and_then(|step| step.found.change),
            commits,
            good: commit('1', "Release"),
            bad: commit('2', "Latest"),
            commits_in_all: 16,
            measurements: 5,
            good_name: "v1.0 (1111111111)".to_owned(),
            bad_name: "HEAD (2222222222)".to_owned(),
            total_change: Some(Estimate {
                estimate: 1.1,
                lower: 1.0,
                upper: 1.2,
            }),
            exit_code: 0,
        }
    }

    fn shown(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut text = Vec::new();
        write(&mut text).expect("written");
        let text = String::from_utf8(text).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    fn answered(outcome: BisectOutcome, commits: Vec<BisectStep>) -> String {
        let findings = findings(outcome, commits);
        shown(|writer| write_bisect(writer, &findings, MessageFormat::Human))
    }

    #[test]
    fn the_answer_has_the_commit_its_change_and_a_command_to_look_at_it() {
        insta::assert_snapshot!(answered(BisectOutcome::Found, vec![slow()]));
    }

    #[test]
    fn where_commits_cannot_be_told_apart_all_are_named_with_the_reason() {
        insta::assert_snapshot!(answered(BisectOutcome::Narrowed, vec![skipped(), slow()]));
    }

    #[test]
    fn that_there_is_nothing_to_find_is_said_with_the_change() {
        let (fast, open) = (CommitFinding::Fast, CommitFinding::Skipped);
        let [fast, open] = [fast, open].map(|finding| {
            let mut step = slow();
            step.found.finding = finding;
            step
        });
        insta::assert_snapshot!(
            answered(BisectOutcome::NotSlower, vec![fast])
                + &answered(BisectOutcome::Undecided, vec![open])
        );
    }

    #[test]
    fn a_step_is_a_line_of_progress_and_a_message_only_where_messages_are_wanted() {
        for (format, messages) in [(MessageFormat::Human, 0), (MessageFormat::Json, 1)] {
            let mut result = Vec::new();
            let line = shown(|progress| {
                write_bisect_step(Some(progress), &mut result, &skipped(), format)
            });
            assert_eq!(
                line,
                "     Skipped bbbbbbbbbb (10 of 16) Break\\u{1b}[2J: it cannot be built: no\n"
            );
            assert_eq!(result.split(|byte| *byte == b'\n').count() - 1, messages);
        }
    }
}
