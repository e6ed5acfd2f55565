//! Whether a run becomes a reference by itself.

use perfcheck_analysis::findings::Conclusion;
use perfcheck_analysis::model::{Acceptance, GitState, RunId, Verdict};
use perfcheck_engine::store::{Store, StoreError};

/// Whether the run may be a reference from now on: it found nothing worse, and what it was compared with may be one too.
/// Otherwise a comparison of slow code with itself would turn a regression green.
pub(in crate::app) fn acceptance(
    store: &Store,
    concluded: &Conclusion<'_>,
    named: Option<RunId>,
) -> Result<Acceptance, StoreError> {
    let beside_the_history = match named {
        Some(named) => match store.run(named) {
            Ok(run) => run.acceptance == Acceptance::Pending,
            // It was removed while this run was measured, so nobody knows whether it was in the history.
            Err(StoreError::NoSuchRun(_)) => true,
            Err(error) => return Err(error),
        },
        None => false,
    };
    let mut verdicts = concluded.rows.iter().filter_map(|row| row.verdict);
    let is_about_nothing =
        verdicts.all(|verdict| matches!(verdict, Verdict::Missing | Verdict::Failed));
    Ok(
        if concluded.is_worse() || beside_the_history || is_about_nothing {
            Acceptance::Pending
        } else {
            Acceptance::Automatic
        },
    )
}

/// The same of a run that was measured in turn with an earlier one.
pub(in crate::app) fn acceptance_in_turn(
    store: &Store,
    concluded: &Conclusion<'_>,
    git: Option<&GitState>,
    named: Option<RunId>,
) -> Result<Acceptance, StoreError> {
    // What is tried out and faster may be given up again.
    let is_trial = git.is_some_and(|git| git.dirty)
        && (concluded.rows.iter()).any(|row| row.verdict == Some(Verdict::Improved));
    if is_trial {
        Ok(Acceptance::Pending)
    } else {
        acceptance(store, concluded, named)
    }
}
