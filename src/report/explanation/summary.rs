//! Summarizes a verdict in a few lines: the change, the reference, the certainty, the functions behind it, and the next command.

use super::content::{BenchmarkSelector, Explanation};
use super::unmeasured::sameness;
use crate::report::units;
use crate::report::words::sentences::{self, capitalize};
use crate::report::words::{analysis, extras, remarks};
use perfcheck_analysis::compare::{Comparison, Difference};
use perfcheck_analysis::model::Verdict;

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
            .map(extras::describe_instruction_change)
            .or_else(|| sampled.map(extras::describe_sampled_time))
    });
    let differs = || Some(remarks::describe_code_change(explanation.code?, MOST_NAMED));
    let text = counted.or_else(differs).filter(|_| has_changed)?;
    Some(format!("{}.", capitalize(&text)))
}

/// Describes the meaning of the verdict.
pub(super) fn verdict_meaning(explanation: &Explanation<'_>) -> &'static str {
    match explanation.verdict {
        Verdict::Regressed => "slower by more than noise",
        Verdict::Suspect => "it looks slower, and that is not shown",
        Verdict::Failed => "it could not be measured",
        Verdict::Incomparable => "measured under conditions that cannot be compared",
        Verdict::Missing => "the reference has it, this run has not",
        Verdict::Inconclusive => "neither a change nor its absence could be shown",
        Verdict::New => "there is nothing to compare it with",
        Verdict::Unchanged if sameness(explanation).is_some() => {
            "both builds run the same machine code, so nothing was measured"
        }
        Verdict::Unchanged => "no change beyond noise, and that is shown",
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
        Some(_) => ", as it was stored".to_owned(),
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
            format!(
                "Nothing is known of its speed{}.",
                first.unwrap_or_default()
            )
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
