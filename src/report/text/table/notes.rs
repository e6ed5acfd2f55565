//! What a reader must know of single benchmarks, each thing once for all that it applies to.

use super::cells::metric;
use crate::report::view::{Verbosity, View};
use crate::report::words::analysis;
use crate::report::words::beside;
use crate::report::words::remarks;
use crate::report::{theme, units};
use perfcheck_analysis::compare::Note;
use perfcheck_analysis::findings::Row;
use perfcheck_analysis::model::Verdict;

/// Below a table there are no more remarks than this, unless more are asked for.
const MOST_NOTES: usize = 6;

/// A remark, and the rows that it is about.
struct SharedNote {
    text: String,
    rows: Vec<usize>,
    /// The worst verdict of these rows.
    verdict: Option<Verdict>,
}

/// The remarks on `rows`: those on benchmarks with the worst verdicts first.
pub(super) fn notes(rows: &[&Row<'_>], view: &View) -> Vec<String> {
    let mut notes: Vec<SharedNote> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for text in of_row(row, view.verbosity) {
            match notes.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.rows.push(at);
                    known.verdict = known.verdict.min(row.verdict);
                }
                None => notes.push(SharedNote {
                    text,
                    rows: vec![at],
                    verdict: row.verdict,
                }),
            }
        }
    }
    let most = match view.verbosity {
        Verbosity::Verbose => usize::MAX,
        Verbosity::Quiet | Verbosity::Usual => MOST_NOTES,
    };
    // Without verdicts there is no worst one: rows stay as they are.
    notes.sort_by_key(|note| note.verdict);
    let shown = notes.iter().take(most).map(|note| {
        let text = theme::printable(&note.text);
        format!("{}: {text}", subject(&note.rows, rows, view))
    });
    let hidden = notes.len().saturating_sub(most);
    let plural = if hidden == 1 { "" } else { "s" };
    let more = (hidden > 0).then(|| format!("{hidden} more remark{plural} with --verbose"));
    shown.chain(more).collect()
}

/// What a remark is about that some of `rows` have.
fn subject(some: &[usize], rows: &[&Row<'_>], view: &View) -> String {
    let id = |at: usize| units::name_in_prose(&rows[at].key.id, view.columns);
    match some {
        [at] => id(*at),
        some if some.len() == rows.len() => "all".to_owned(),
        [first, others @ ..] => format!("{} and {} more", id(*first), others.len()),
        [] => String::new(),
    }
}

/// What is said of a row. What limits a comparison is of interest where it did not come out clearly well.
fn of_row(row: &Row<'_>, verbosity: Verbosity) -> Vec<String> {
    let is_fine = matches!(
        row.verdict,
        Some(Verdict::Unchanged | Verdict::Improved | Verdict::New)
    );
    let limits = match verbosity {
        Verbosity::Quiet => false,
        Verbosity::Usual => !is_fine,
        Verbosity::Verbose => true,
    };
    let comparison = row.comparison.as_ref();
    let moved = comparison.map(beside::changes).unwrap_or_default();
    let differences = row.blocking.iter().map(ToString::to_string);
    let notes = comparison.filter(|_| limits).map(|found| &found.notes);
    let center = comparison.and_then(|found| found.description.centers.as_ref());
    moved
        .into_iter()
        .chain(differences)
        .chain(notes.into_iter().flatten().map(Note::to_string))
        .chain(remarks::of_row(row))
        .chain(center.map(|found| analysis::centers(found, metric(row))))
        .chain(failures(row))
        .collect()
}

/// Each failure once, with the launches it happened in.
fn failures(row: &Row<'_>) -> Vec<String> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for failure in row
        .measurement
        .iter()
        .flat_map(|measurement| &measurement.failures)
    {
        let launch = (failure.launch + 1).to_string();
        match found
            .iter_mut()
            .find(|(message, _)| *message == failure.message)
        {
            Some((_, launches)) => launches.push(launch),
            None => found.push((&failure.message, vec![launch])),
        }
    }
    let in_words = |(message, launches): (&str, Vec<String>)| {
        let plural = if launches.len() == 1 {
            "launch"
        } else {
            "launches"
        };
        format!("failed in {plural} {}: {message}", launches.join(", "))
    };
    found.into_iter().map(in_words).collect()
}
