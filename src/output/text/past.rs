//! Prints the progress and the result of `history --measure`: a line for each commit, the steps that were found, and a summary.

use std::io::{self, Write};

use super::status::write_wrapped_event;
use super::table::describe_slow_path;
use crate::output::layout::{Cell, Column, Table};
use crate::output::messages::{
    JsonMessage, PastChange, PastCommitMeasured, PastFinished, PastOutcome, PastStep, write_message,
};
use crate::output::view::MessageFormat;
use crate::output::{terminal, units};

/// Maximum number of benchmarks that the line of a commit names.
const MOST_NAMED: usize = 3;

/// Reports what was found about one commit: as a line on `progress`, and as a message on `result` if the format is JSON.
pub fn write_past_commit(
    progress: Option<&mut dyn Write>,
    result: &mut dyn Write,
    found: &PastCommitMeasured,
    format: MessageFormat,
) -> io::Result<()> {
    if let Some(progress) = progress {
        write_commit(progress, found, units::terminal_width())?;
    }
    if format == MessageFormat::Json {
        write_message(result, JsonMessage::CommitMeasured(found))?;
    }
    Ok(())
}

fn write_commit(
    progress: &mut dyn Write,
    found: &PastCommitMeasured,
    columns: usize,
) -> io::Result<()> {
    let word = match found.outcome {
        PastOutcome::Measured => "Measured",
        PastOutcome::SameCode => "Same code",
        PastOutcome::PassedOver => "Passed over",
    };
    let place = found
        .place
        .map_or_else(String::new, |place| format!(" ({place} of {})", found.of));
    let subject = terminal::escape_terminal_text(&found.commit.subject);
    let commit = found.commit.short();
    let text = format!("{commit}{place} {subject}: {}", describe(found));
    write_wrapped_event(progress, word, &text, columns)
}

/// Describes what was found about a commit: `sort/10 +5.10 % [+4.40 %, +5.80 %], 12 s`.
fn describe(found: &PastCommitMeasured) -> String {
    let why = found.why.as_deref().map(terminal::escape_terminal_text);
    let mut parts: Vec<String> = why.into_iter().collect();
    if found.outcome == PastOutcome::Measured {
        let named = found.changed.iter().take(MOST_NAMED).map(describe_change);
        parts.extend(named);
        match found.changed.len() {
            0 => parts.push(format!(
                "no change in {}",
                units::counted(found.benchmarks, "benchmark")
            )),
            some if some > MOST_NAMED => {
                parts.push(format!("{} more changed", some - MOST_NAMED));
            }
            _ => {}
        }
    }
    if found.outcome == PastOutcome::SameCode
        && let Some(against) = &found.against
    {
        parts.push(format!("as {}", against.short()));
    }
    if found.remembered {
        parts.push("known from an earlier call".to_owned());
    }
    parts.extend(found.seconds.map(|seconds| format!("{seconds:.0} s")));
    parts.join(", ")
}

fn describe_change(one: &PastChange) -> String {
    let id = units::escape_id(&one.benchmark.id);
    let change = one.change.as_ref().map(units::change_with_interval);
    format!(
        "{id} {}{}",
        change.unwrap_or_else(|| one.verdict.word().to_owned()),
        describe_slow_path(one.slow_side)
    )
}

/// Writes the steps that were found, oldest first for each benchmark: as a table, or as a message each.
pub fn write_past_steps(
    writer: &mut dyn Write,
    steps: &[PastStep],
    format: MessageFormat,
    columns: usize,
) -> io::Result<()> {
    match format {
        MessageFormat::Json => steps
            .iter()
            .try_for_each(|step| write_message(writer, JsonMessage::StepFound(step))),
        MessageFormat::Human if steps.is_empty() => {
            writeln!(
                writer,
                "No benchmark changed between the measured commits.\n"
            )
        }
        MessageFormat::Human => {
            steps_table(steps).write(writer, columns)?;
            writeln!(writer)
        }
    }
}

fn steps_table(steps: &[PastStep]) -> Table {
    let commit = |step: &PastStep| match &step.commit {
        Some(commit) => commit.short().to_owned(),
        None => format!("{}..{}", step.after.short(), step.until.short()),
    };
    let day = |step: &PastStep| {
        let authored = &step.commit.as_ref().unwrap_or(&step.until).authored;
        authored.get(..10).unwrap_or(authored).to_owned()
    };
    let subject = |step: &PastStep| {
        let commits = units::counted(step.commits, "commit");
        let text = match (&step.commit, &step.why) {
            (Some(commit), _) => commit.subject.clone(),
            (None, Some(why)) => format!("one of {commits}: {why}"),
            (None, None) => format!("one of {commits}"),
        };
        units::escape_line(&text)
    };
    let change = |step: &PastStep| {
        let change = step.change.change.as_ref().map(units::change_with_interval);
        let verdict = step.change.verdict;
        let change = change.unwrap_or_else(|| verdict.word().to_owned());
        let path = describe_slow_path(step.change.slow_side);
        Cell::colored_by_verdict(verdict, format!("{change}{path}"))
    };
    let name = |step: &PastStep| units::escape_id(&step.change.benchmark.id);
    Table::new(vec![
        Column::name("step of", steps.iter().map(name)),
        Column::fact("change", steps.iter().map(change)),
        Column::fact("commit", steps.iter().map(commit)),
        Column::fact("date", steps.iter().map(day)).dispensable(1),
        Column::words("subject", steps.iter().map(subject)),
    ])
}

/// Writes how many commits were measured: as a line on `progress`, and as a message on `result` if the format is JSON.
pub fn write_past_finished(
    progress: Option<&mut dyn Write>,
    result: &mut dyn Write,
    finished: &PastFinished,
    format: MessageFormat,
) -> io::Result<()> {
    if let Some(progress) = progress {
        let columns = units::terminal_width();
        write_wrapped_event(progress, "Finished", &summarize(finished), columns)?;
    }
    if format == MessageFormat::Json {
        write_message(result, JsonMessage::MeasureFinished(finished))?;
    }
    Ok(())
}

fn summarize(finished: &PastFinished) -> String {
    let counts = units::counts(&[
        (finished.same_code, "with the same code"),
        (finished.remembered, "known from an earlier call"),
        (finished.passed_over, "passed over"),
    ]);
    let measured = format!("{} measured", units::counted(finished.measured, "commit"));
    let mut parts = vec![measured];
    parts.extend(Some(counts).filter(|counts| !counts.is_empty()));
    let left = match finished.left {
        0 => String::new(),
        left => format!(
            "; the time budget is used up, with {} left; the same command continues",
            units::counted(left, "commit")
        ),
    };
    format!("{}, in {:.0} s{left}", parts.join(", "), finished.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::compare::Estimate;
    use perfcheck_analysis::model::{BenchmarkKey, Commit, RunId, Side, Verdict};

    fn commit(digit: char, subject: &str) -> Commit {
        Commit {
            hash: digit.to_string().repeat(40),
            author: "Ann".to_owned(),
            authored: "2026-01-02T03:04:05+01:00".to_owned(),
            subject: subject.to_owned(),
        }
    }

    fn change(id: &str) -> PastChange {
        PastChange {
            benchmark: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: id.into(),
            },
            verdict: Verdict::Regressed,
            change: Some(Estimate {
                estimate: 0.051,
                lower: 0.044,
                upper: 0.058,
            }),
            slow_side: None,
        }
    }

    fn measured(changed: &[&str]) -> PastCommitMeasured {
        PastCommitMeasured {
            commit: commit('a', "Simplify\u{1b}[2J"),
            against: Some(commit('b', "Begin")),
            place: Some(3),
            of: 20,
            outcome: PastOutcome::Measured,
            why: None,
            remembered: false,
            run: Some(RunId(7)),
            benchmarks: 12,
            changed: changed.iter().map(|id| change(id)).collect(),
            seconds: Some(12.4),
        }
    }

    fn shown(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut text = Vec::new();
        write(&mut text).expect("written");
        let text = String::from_utf8(text).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn the_line_of_a_commit_names_its_changes_or_the_reason() {
        let line =
            |found: &PastCommitMeasured| shown(|progress| write_commit(progress, found, 999));
        assert_eq!(
            line(&measured(&["sort/10"])),
            "    Measured aaaaaaaaaa (3 of 20) Simplify\\u{1b}[2J: sort/10 +5.10 % [+4.40 %, +5.80 %], 12 s\n"
        );
        assert!(line(&measured(&[])).ends_with(": no change in 12 benchmarks, 12 s\n"));
        let mut slow_path = measured(&["sort/10"]);
        slow_path.changed[0].slow_side = Some(Side::Base);
        let slow_path = line(&slow_path);
        assert!(
            slow_path.contains("+5.80 %] (slow path gone), 12 s"),
            "{slow_path}"
        );
        let many = line(&measured(&["a", "b", "c", "d", "e"]));
        assert!(many.ends_with(", 2 more changed, 12 s\n"), "{many}");
        let same = PastCommitMeasured {
            outcome: PastOutcome::SameCode,
            remembered: true,
            seconds: None,
            ..measured(&[])
        };
        let same = line(&same);
        assert!(same.contains("Same code"), "{same}");
        assert!(
            same.ends_with(": as bbbbbbbbbb, known from an earlier call\n"),
            "{same}"
        );
        let passed_over = PastCommitMeasured {
            outcome: PastOutcome::PassedOver,
            place: None,
            why: Some("the commit cannot be built".to_owned()),
            seconds: None,
            ..measured(&[])
        };
        assert_eq!(
            line(&passed_over),
            " Passed over aaaaaaaaaa Simplify\\u{1b}[2J: the commit cannot be built\n"
        );
    }

    #[test]
    fn a_step_has_its_commit_or_the_commits_between_which_it_lies() {
        let found = PastStep {
            change: change("sort/10"),
            commit: Some(commit('c', "Simplify")),
            after: commit('b', "Begin"),
            until: commit('c', "Simplify"),
            commits: 1,
            why: None,
        };
        let open = PastStep {
            commit: None,
            commits: 4,
            why: Some("not measured".to_owned()),
            ..found.clone()
        };
        let table = shown(|writer| {
            write_past_steps(writer, &[found.clone(), open], MessageFormat::Human, 120)
        });
        let lines = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let lines: Vec<String> = lines.collect();
        let change = "sort/10 +5.10 % [+4.40 %, +5.80 %]";
        let expected = [
            "step of change commit date subject".to_owned(),
            format!("{change} cccccccccc 2026-01-02 Simplify"),
            format!("{change} bbbbbbbbbb..cccccccccc 2026-01-02 one of 4 commits: not measured"),
            String::new(),
        ];
        assert_eq!(lines, expected, "{table}");
        let nothing = shown(|writer| write_past_steps(writer, &[], MessageFormat::Human, 120));
        assert_eq!(
            nothing,
            "No benchmark changed between the measured commits.\n\n"
        );
    }

    #[test]
    fn the_summary_says_what_is_left() {
        let finished = PastFinished {
            measured: 18,
            same_code: 2,
            remembered: 0,
            passed_over: 1,
            left: 0,
            seconds: 312.4,
        };
        assert_eq!(
            summarize(&finished),
            "18 commits measured, 2 with the same code, 1 passed over, in 312 s"
        );
        let stopped = PastFinished {
            left: 3,
            ..finished
        };
        assert!(
            summarize(&stopped)
                .ends_with("is used up, with 3 commits left; the same command continues")
        );
    }
}
