//! Notes on single benchmarks below the table. A note that applies to several benchmarks is written once.

use crate::report::view::{Verbosity, View};
use crate::report::words::{analysis, extras, remarks, sentences};
use crate::report::{theme, units};
use perfcheck_analysis::compare::Note;
use perfcheck_analysis::findings::Row;
use perfcheck_analysis::model::Verdict;

/// Maximum number of notes without `--verbose`.
const MOST_NOTES: usize = 6;

/// A note, and the rows it applies to.
struct GroupedNote {
    text: String,
    rows: Vec<usize>,
    /// The worst verdict of these rows
    verdict: Option<Verdict>,
}

/// Returns the notes on `rows`, those of the worst verdicts first.
pub(super) fn notes(rows: &[&Row<'_>], view: &View) -> Vec<String> {
    let mut notes: Vec<GroupedNote> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for text in notes_on_row(row, view.verbosity) {
            match notes.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.rows.push(at);
                    known.verdict = known.verdict.min(row.verdict);
                }
                None => notes.push(GroupedNote {
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
    // The sort is stable: rows keep their order if there are no verdicts.
    notes.sort_by_key(|note| note.verdict);
    let shown = notes.iter().take(most).map(|note| {
        let text = theme::escape_terminal_text(&note.text);
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

/// Names the rows that a note is about.
fn subject(some: &[usize], rows: &[&Row<'_>], view: &View) -> String {
    let id = |at: usize| units::id_in_prose(&rows[at].key.id, view.columns);
    match some {
        [at] => id(*at),
        some if some.len() == rows.len() => "all".to_owned(),
        [first, others @ ..] => format!("{} and {} more", id(*first), others.len()),
        [] => String::new(),
    }
}

/// Returns the notes on a row. By default a row without a problem has none, and only notes that ask for an action are shown.
fn notes_on_row(row: &Row<'_>, verbosity: Verbosity) -> Vec<String> {
    let is_told = |note: &Note| match verbosity {
        Verbosity::Quiet => false,
        Verbosity::Usual => !sentences::is_fine(row) && remarks::asks_to_act(note),
        Verbosity::Verbose => true,
    };
    let moved = row.comparison.iter().flat_map(extras::describe_changes);
    let outliers = (row.summary.as_ref())
        .filter(|_| verbosity == Verbosity::Verbose)
        .and_then(analysis::describe_outliers);
    moved
        .chain(row.blocking.iter().map(ToString::to_string))
        .chain(sentences::remarks_on(row, is_told, sentences::metric(row)))
        .chain(sentences::describe_failures(
            row,
            sentences::format_processes,
        ))
        .chain(outliers)
        .collect()
}
