//! Explains verdicts without a comparison: new, missing, failed, incomparable, and identical executables.

use super::content::Explanation;
use super::unpaired::note_statements;
use crate::output::explanation::measured::failure_statements;
use crate::output::messages::{DecisionNumbers, Numbers, Statement};
use crate::output::words::remarks::describe_sameness;
use crate::output::words::sentences::capitalize;
use perfcheck_analysis::findings::{Method, Row, Sameness};
use perfcheck_analysis::model::{MIN_LAUNCHES, Verdict};

/// Returns the reason for the verdict, and what would have led to another one.
pub(super) fn statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let mut statements = failure_statements(explanation.failures);
    let in_turn = explanation.run.pair.is_some();
    let reference = explanation.reference;
    let same = sameness(explanation);
    let named = reference.map_or_else(|| "the reference".to_owned(), |run| format!("run {run}"));
    let (decision, otherwise) = match explanation.verdict {
        Verdict::New if in_turn => (
            format!("{named} does not have it, or has it in another bench target, so there is nothing to compare it with."),
            "`--against REV --benches-from worktree` builds REV with the current benchmarks, so that both sides have it.".to_owned(),
        ),
        Verdict::New => (
            "There is nothing to compare it with: no earlier accepted run on its branch, or on the one it forked from, has measured it, or the named reference did not.".to_owned(),
            "If this run is accepted, the next one will be compared with it.".to_owned(),
        ),
        Verdict::Missing => (
            format!("{named} has it, but this run did not find it although its bench target was built: it was removed, renamed or left out of the build."),
            "If it was renamed, the benchmark with the new name is `new`. Once a run without it is accepted, it is no longer `missing`.".to_owned(),
        ),
        Verdict::Incomparable => explain_incomparable(explanation, &named, &mut statements),
        Verdict::Failed => explain_failed(explanation, &mut statements),
        Verdict::Unchanged if let Some(same) = same => {
            (
                format!("{}, so it was not measured side by side with {named}.", describe_sameness(same)),
                "`--measure-identical` measures it anyway.".to_owned(),
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
            "It was not compared with {named} because the conditions differ ({facts}), which changes times whatever the code does."
        ),
        if may_differ {
            format!(
                "`--allow-different {facts}` compares it anyway, but {again} is better (`--against REV`)."
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
        "Its bench target could not be run on at least one side, so nothing was measured."
            .to_owned()
    } else if of_pair {
        format!("Too few rounds measured both sides for a verdict (the new build has {good}).")
    } else if good == 0 {
        "None of its processes gave samples.".to_owned()
    } else {
        format!(
            "{good} of its processes gave samples; because others failed, a verdict needs at least {MIN_LAUNCHES}."
        )
    };
    (
        decision,
        "The run printed the output of the process to stderr; `cargo bench` runs the same code in one process.".to_owned(),
    )
}
