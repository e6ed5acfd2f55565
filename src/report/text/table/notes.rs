//! What a reader must know of single benchmarks, each thing once for all that it applies to.

use crate::report::view::{Verbosity, View};
use crate::report::words::{analysis, extras, remarks, sentences};
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
    let more = (hidden > 0).then(|| {
        format!(
            "{hidden} more {} with --verbose",
            units::plural(hidden, "remark")
        )
    });
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

/// What is said of a row. What limits a comparison is of interest where it did not come out clearly well and one can do something about it.
fn of_row(row: &Row<'_>, verbosity: Verbosity) -> Vec<String> {
    let is_told = |note: &Note| match verbosity {
        Verbosity::Quiet => false,
        Verbosity::Usual => !sentences::is_fine(row) && remarks::asks_to_act(note),
        Verbosity::Verbose => true,
    };
    let moved = row.comparison.iter().flat_map(extras::changes);
    let outliers = (row.summary.as_ref())
        .filter(|_| verbosity == Verbosity::Verbose)
        .and_then(analysis::outliers);
    moved
        .chain(row.blocking.iter().map(ToString::to_string))
        .chain(sentences::remarks_on(row, is_told, sentences::metric(row)))
        .chain(sentences::failures(row, sentences::launches_named))
        .chain(outliers)
        .collect()
}
