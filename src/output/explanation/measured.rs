//! Explains the measurement: runs, sides, host and time, and failed processes.
//!
//! Explains verdicts without a comparison: new, missing, failed, incomparable, and identical executables.

use super::unpaired::note_statements;
use super::write::{Explanation, MeasuredSide};
use crate::output::messages::{DecisionNumbers, Numbers, Statement};
use crate::output::units;
use crate::output::words::remarks::describe_sameness;
use crate::output::words::sentences::capitalize;
use crate::output::words::{remarks, sentences};
use perfcheck_analysis::compare::HostControls;
use perfcheck_analysis::findings::{Method, Row, Sameness};
use perfcheck_analysis::model::{Failure, MIN_LAUNCHES, Verdict, shorten_hash};

/// Maximum number of reference runs listed one by one.
const MOST_RUNS_NAMED: usize = 3;

/// Describes the sides of a comparison.
pub(super) fn side_statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let Some(candidate) = &explanation.candidate else {
        return Vec::new();
    };
    let method = explanation.method;
    let mut statements = vec![if method == Some(Method::Paired) {
        paired_statement(candidate, explanation.base.first())
    } else {
        single_statement(candidate)
    }];
    let compared_with = explanation
        .row
        .map_or_else(Vec::new, |row| row.compared_runs(explanation.run));
    if method != Some(Method::Paired) && !(explanation.base.is_empty() && compared_with.is_empty())
    {
        statements.push(reference_statement(explanation));
    }
    let environment = &explanation.run.begun.environment;
    let host = &environment.host;
    let text = match &explanation.run.source {
        Some(imported) => format!(
            "Another program measured it ({}): {}.",
            imported.summary(),
            remarks::describe_environment(environment)
        ),
        None => format!(
            "On {}; {}, profile {}.{}",
            units::host(host),
            environment.build.rustc,
            environment.build.profile,
            describe_host_signs(&explanation.signs),
        ),
    };
    statements.push(Statement::new(
        text,
        Numbers::Place {
            cores: host.cores,
            shared: host.shared,
            load: explanation.run.begun.load,
            clock_step_ns: explanation.signs.clock_step,
            jitter: explanation.signs.jitter,
            control_range: explanation.signs.control_range,
        },
    ));
    statements
}

/// Describes clock and control workload, a sentence each.
fn describe_host_signs(signs: &HostControls) -> String {
    let clock = signs
        .clock_step
        .map(|step| format!(" The clock has steps of {} ns.", step.0));
    let control = signs.steadiness().and_then(|steadiness| {
        Some(format!(
            " Equal work varied by up to {:.1} % within 3 ms ({}), and by {:.1} % from launch to launch.",
            signs.jitter? * 100.0,
            steadiness.word(),
            signs.control_range? * 100.0,
        ))
    });
    clock.into_iter().chain(control).collect()
}

fn single_statement(candidate: &MeasuredSide) -> Statement {
    Statement::new(
        format!(
            "{} measured it in {} with {}.",
            sentences::capitalize(&describe_run(candidate)),
            units::counted(candidate.launches, "launch"),
            units::counted(candidate.samples, "sample"),
        ),
        Numbers::Measured {
            run: candidate.run,
            base_run: None,
            launches: candidate.launches,
            samples: candidate.samples,
        },
    )
}

fn paired_statement(candidate: &MeasuredSide, base: Option<&MeasuredSide>) -> Statement {
    let beside = base.map_or_else(
        || "its base, which is not in this store".to_owned(),
        |base| format!("the base, {}", describe_run(base)),
    );
    Statement::new(
        format!(
            "The candidate, {}, and {beside}, were measured side by side: {}, each with a fresh process of both sides, {} of the candidate.",
            describe_run(candidate),
            units::counted(candidate.launches, "round"),
            units::counted(candidate.samples, "sample"),
        ),
        Numbers::Measured {
            run: candidate.run,
            base_run: base.map(|base| base.run),
            launches: candidate.launches,
            samples: candidate.samples,
        },
    )
}

fn reference_statement(explanation: &Explanation<'_>) -> Statement {
    let base = &explanation.base;
    let launches: usize = base.iter().map(|side| side.launches).sum();
    let samples: usize = base.iter().map(|side| side.samples).sum();
    let spread = explanation.row.map_or(0, |row| row.spread.len());
    let held = format!(
        "{} with {}",
        units::counted(launches, "launch"),
        units::counted(samples, "sample")
    );
    let compared_with = explanation
        .row
        .map_or(base.len(), |row| row.compared_runs(explanation.run).len());
    let text = match &base[..] {
        [] => format!(
            "It was compared with {}, which this store does not have.",
            units::counted(compared_with, "run")
        ),
        _ if base.len() < compared_with => format!(
            "It was compared with the mean of {compared_with} runs, of which this store has {} ({}): {held}.",
            base.len(),
            list_runs(base)
        ),
        [only] => format!("It was compared with {}: {held}.", describe_run(only)),
        _ => format!(
            "It was compared with the mean of {} runs ({}): {held}.",
            base.len(),
            list_runs(base)
        ),
    };
    Statement::new(
        text,
        Numbers::Reference {
            runs: base.iter().map(|side| side.run).collect(),
            launches,
            samples,
            runs_spread: spread,
        },
    )
}

/// Lists run numbers as `1, 2, 3`, or many as `from 1 to 9`.
fn list_runs(sides: &[MeasuredSide]) -> String {
    let name = |side: &MeasuredSide| side.run.to_string();
    match sides {
        [newest, .., oldest] if sides.len() > MOST_RUNS_NAMED => {
            format!("from {} to {}", name(oldest), name(newest))
        }
        _ => sides.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

/// Formats `run 3 of 2026-01-01T00:00:00Z (commit 0123456789ab, main, modified)`.
fn describe_run(side: &MeasuredSide) -> String {
    let git = side.git.as_ref().map_or_else(String::new, |git| {
        let hash = shorten_hash(&git.commit, 12);
        let branch = git.branch.as_deref().unwrap_or("detached");
        let dirty = if git.dirty { ", modified" } else { "" };
        format!(" (commit {hash}, {branch}{dirty})")
    });
    format!("run {} of {}{git}", side.run, side.started)
}

/// Returns a statement for each failure.
pub(super) fn failure_statements(failures: &[Failure]) -> Vec<Statement> {
    let failures = sentences::group_by_message(failures).into_iter();
    let statements = failures.map(|(message, launches)| {
        let named = sentences::format_processes(&launches);
        Statement::new(
            format!("It failed in {named}: {message}"),
            Numbers::Failure { launches },
        )
    });
    statements.collect()
}

/// Formats `p = 0.0123`, or `p < ...` below the smallest value that is printed.
pub(super) fn format_p(p: f64) -> String {
    match units::p_value(p) {
        small if small.starts_with('<') => format!("p {}", small.replace('<', "< ")),
        other => format!("p = {other}"),
    }
}

/// Formats a level or share with three significant digits: `0.333 %`.
pub(super) fn format_level(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent <= 0.0 || !percent.is_finite() {
        return units::percent(fraction);
    }
    let decimals = (2.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    let digits = format!("{percent:.decimals$}");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits} %")
}

/// Returns the reason for the verdict, and what would have led to another one.
pub(super) fn statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let mut statements = failure_statements(explanation.failures);
    let in_turn = explanation.run.pair.is_some();
    let reference = explanation.reference;
    let same = sameness(explanation);
    let named = reference.map_or_else(|| "the reference".to_owned(), |run| format!("run {run}"));
    let (decision, otherwise) = match explanation.verdict {
        Verdict::New if in_turn => (
            format!("{named} does not have it, or with another bench target: there is nothing to compare it with."),
            "With `--against REV`, `--benches-from worktree` lays the current benchmarks over the older revision, so that both sides have it.".to_owned(),
        ),
        Verdict::New => (
            "No accepted run before this one has measured it, on its branch or on the one that it forked from, or the run that was named as the reference did not: there is nothing to compare it with.".to_owned(),
            "The next run will be compared with this one, if this one was accepted.".to_owned(),
        ),
        Verdict::Missing => (
            format!("{named} has it, and this run did not find it although its bench target was built: it was removed, renamed or left out by the build."),
            "If it was renamed, the new name is `new`. Once a run without it is accepted it is not missed any more.".to_owned(),
        ),
        Verdict::Incomparable => explain_incomparable(explanation, &named, &mut statements),
        Verdict::Failed => explain_failed(explanation, &mut statements),
        Verdict::Unchanged if let Some(same) = same => {
            (
                format!("{}, so it was not measured beside {named}.", describe_sameness(same)),
                "`--measure-identical` measures all the same.".to_owned(),
            )
        }
        _ => return statements,
    };
    statements.push(Statement::new(
        capitalize(&decision),
        Numbers::Decision(DecisionNumbers::Uncompared {
            reference_run: reference,
        }),
    ));
    statements.push(Statement::new(
        otherwise,
        Numbers::Otherwise {
            smallest_callable: None,
            rounds_needed: None,
        },
    ));
    statements
}

/// Returns in which respect both sides are the same, if that is why nothing was measured.
pub(super) fn sameness(explanation: &Explanation<'_>) -> Option<Sameness> {
    let in_turn = explanation.run.pair.is_some();
    let same = explanation.row.and_then(Row::sameness);
    let is_unmeasured = in_turn && explanation.candidate.is_none();
    same.or(is_unmeasured.then_some(Sameness::Executable))
}

fn explain_incomparable(
    explanation: &Explanation<'_>,
    named: &str,
    statements: &mut Vec<Statement>,
) -> (String, String) {
    let blocking = explanation.row.map_or(&[][..], |row| &row.blocking);
    for difference in blocking {
        statements.push(Statement::new(
            format!("{difference}."),
            Numbers::Difference(difference.clone()),
        ));
    }
    let facts: Vec<&str> = blocking.iter().map(|found| found.fact.word()).collect();
    let facts = if facts.is_empty() {
        // A side-by-side measurement without stored differences can only differ in the benchmark's version.
        "benchmark-version".to_owned()
    } else {
        facts.join(",")
    };
    let again = "measuring the other side again under the same conditions";
    let may_differ = blocking.iter().all(|found| found.fact.may_differ());
    (
        format!(
            "What differs from {named} changes times whatever the code does, so the two were not compared ({facts})."
        ),
        if may_differ {
            format!(
                "`--allow-different {facts}` compares all the same; {again} is better (`--against REV`)."
            )
        } else {
            format!(
                "Only {again} helps (`--against REV`); the next run will be compared with this one."
            )
        },
    )
}

fn explain_failed(
    explanation: &Explanation<'_>,
    statements: &mut Vec<Statement>,
) -> (String, String) {
    let comparison = explanation.comparison();
    statements.extend(note_statements(
        comparison.map_or(&[], |found| &found.notes),
    ));
    let of_pair = explanation.method == Some(Method::Paired) || explanation.run.pair.is_some();
    let good = explanation
        .candidate
        .as_ref()
        .map_or(0, |candidate| candidate.launches);
    let decision = if explanation.candidate.is_none() {
        "Its bench target could not be driven, on one side at least, so nothing of it was measured."
            .to_owned()
    } else if of_pair {
        format!(
            "Too few rounds in which both sides were measured are left for a verdict ({good} of the candidate)."
        )
    } else if good == 0 {
        "None of its launches gave samples.".to_owned()
    } else {
        format!(
            "Of its launches {good} gave samples; with failures beside them at least {MIN_LAUNCHES} are needed for a verdict."
        )
    };
    (
        decision,
        "What the process said is on stderr of the run; `cargo bench` runs the same code without measuring in launches.".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_three_digits_however_small_they_are() {
        assert_eq!(format_level(0.01), "1 %");
        assert_eq!(format_level(0.01 / 3.0), "0.333 %");
        assert_eq!(format_level(0.000_012_345), "0.00123 %");
        assert_eq!(format_level(0.5), "50 %");
        assert_eq!(format_level(1.0), "100 %");
        assert_eq!(format_level(0.0), "0 %");
    }

    #[test]
    fn failures_of_one_kind_are_told_once() {
        let failure = |launch, message: &str| Failure {
            launch,
            message: message.to_owned(),
        };
        let told =
            failure_statements(&[failure(0, "died"), failure(1, "hung"), failure(2, "died")]);
        let texts: Vec<&str> = told.iter().map(|statement| &*statement.text).collect();
        assert_eq!(
            texts,
            [
                "It failed in launches 1, 3: died",
                "It failed in launch 2: hung"
            ]
        );
    }
}
