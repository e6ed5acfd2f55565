//! Prints the progress and the result of `bisect`: a line for each commit, then the first slow commit.

use std::io::{self, Write};

use super::status::write_wrapped_event;
use crate::output::layout::{Column, Table};
use crate::output::messages::{
    BisectFindings, BisectOutcome, BisectStep, CommitFinding, CommitOutcome, JsonMessage,
    write_message,
};
use crate::output::view::{MessageFormat, wrap_prose};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::Commit;

/// Reports what was found about one commit: as a line on `progress`, and as a message on `result` if the format is JSON.
pub fn write_bisect_step(
    progress: Option<&mut dyn Write>,
    result: &mut dyn Write,
    step: &BisectStep,
    format: MessageFormat,
) -> io::Result<()> {
    if let Some(progress) = progress {
        write_step(progress, step, units::terminal_width())?;
    }
    if format == MessageFormat::Json {
        write_message(result, JsonMessage::BisectStep(step))?;
    }
    Ok(())
}

fn write_step(progress: &mut dyn Write, step: &BisectStep, columns: usize) -> io::Result<()> {
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
    let step = format!(
        "{} ({} of {}) {}: {}{again}",
        step.commit.short(),
        step.place,
        step.of,
        terminal::escape_terminal_text(&step.commit.subject),
        describe_outcome(&step.found)
    );
    write_wrapped_event(progress, word, &step, columns)
}

/// Describes what was found about a commit: `+101 % [+99.0 %, +103 %], more than the threshold of 1 %`.
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
        MessageFormat::Human => write_for_people(writer, findings, units::terminal_width()),
        MessageFormat::Json => write_message(writer, JsonMessage::BisectFinished(findings)),
    }
}

fn write_for_people(
    writer: &mut dyn Write,
    findings: &BisectFindings,
    columns: usize,
) -> io::Result<()> {
    let [id, good, bad] = printable_names(findings);
    let Some((last, others)) = findings.commits.split_last() else {
        return Ok(());
    };
    match findings.outcome {
        BisectOutcome::NotSlower => {
            let answer = format!(
                "`{id}` is not slower in {bad} than in {good}: {}. There is nothing to bisect.",
                describe_outcome(&last.found)
            );
            writeln!(writer, "{}", wrap_prose(&answer, columns, ""))
        }
        BisectOutcome::Undecided => {
            let answer = format!(
                "It is unclear whether `{id}` is slower in {bad} than in {good}: {}.\nTry more --rounds, a longer --time-budget or a quieter machine.",
                describe_outcome(&last.found)
            );
            writeln!(writer, "{}", wrap_prose(&answer, columns, ""))
        }
        BisectOutcome::Found | BisectOutcome::Narrowed => {
            write_possible(writer, findings, last, others, columns)
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
    columns: usize,
) -> io::Result<()> {
    let [id, good, bad] = printable_names(findings);
    if others.is_empty() {
        let title = format!(
            "{} is the first slow commit, {} of {}:",
            slow.commit.short(),
            slow.place,
            slow.of
        );
        writeln!(writer, "{}", terminal::heading(title))?;
    } else {
        let title = format!(
            "The first slow commit is one of these {}:",
            findings.commits.len()
        );
        writeln!(writer, "{}", terminal::heading(title))?;
        for step in others {
            writeln!(writer)?;
            let outcome = wrap_prose(&describe_outcome(&step.found), columns, "  ");
            for line in outcome.lines() {
                writeln!(writer, "  {}", terminal::faint(line.trim_start()))?;
            }
            write_commit(writer, &step.commit, columns)?;
        }
        writeln!(writer, "\n  {}", terminal::faint("known to be slow"))?;
    }
    write_commit(writer, &slow.commit, columns)?;
    writeln!(writer)?;
    let until = |change: &Option<Estimate>, commit: &str| {
        let change = change.as_ref().map(units::change_with_interval);
        change.map(|change| format!("{change} at {commit}"))
    };
    let there = until(&slow.found.change, "this commit");
    let total = until(&findings.total_change, &bad).filter(|_| slow.place < slow.of);
    let changes: Vec<String> = there.into_iter().chain(total).collect();
    let changes = format!("`{id}` since {good}: {}.", changes.join(", "));
    writeln!(writer, "{}", wrap_prose(&changes, columns, ""))?;
    let command = match others.first() {
        None => format!("git show {}", slow.commit.short()),
        Some(first) => format!(
            "git log -p {}~1..{}",
            first.commit.short(),
            slow.commit.short()
        ),
    };
    // The command stays on one line, so that it can be copied.
    writeln!(writer, "See the changes: {command}")
}

fn write_commit(writer: &mut dyn Write, commit: &Commit, columns: usize) -> io::Result<()> {
    let facts = [
        commit.hash.clone(),
        format!("{}, {}", commit.authored, commit.author),
        commit.subject.clone(),
    ];
    Table::new(vec![
        Column::fact("", ["  commit", "  date", "  subject"]),
        Column::prose("", facts),
    ])
    .write(writer, columns)
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
    fn answers_and_steps_fit_the_terminal() {
        let mut step = slow();
        step.commit.subject = "Replace the parser by one that reads a whole line at a time".into();
        step.found.finding = CommitFinding::Skipped;
        let all = [
            (BisectOutcome::NotSlower, vec![step.clone()]),
            (BisectOutcome::Undecided, vec![step.clone()]),
            (BisectOutcome::Found, vec![step.clone()]),
            (BisectOutcome::Narrowed, vec![step.clone(), slow()]),
        ];
        for columns in [50, 80] {
            let answers = all.clone().map(|(outcome, commits)| {
                let findings = findings(outcome, commits);
                shown(|writer| write_for_people(writer, &findings, columns))
            });
            let step = shown(|progress| write_step(progress, &step, columns));
            for line in answers.iter().chain([&step]).flat_map(|text| text.lines()) {
                // Hashes and commands stay whole, so that they can be copied.
                let is_whole = line.contains(&"a".repeat(40)) || line.contains(": git ");
                assert!(
                    is_whole || units::width(line) <= columns,
                    "{columns}: {line}"
                );
            }
        }
        insta::assert_snapshot!(shown(|progress| write_step(progress, &step, 80)));
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
