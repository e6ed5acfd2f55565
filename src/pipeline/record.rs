//! Ends a run in the store: stores its conclusion, its name, and whether later runs may use it as their reference.

use crate::error::AppError;
use perfcheck_analysis::compare::Comparison;
use perfcheck_analysis::findings::{Conclusion, Row};
use perfcheck_analysis::model::{
    Acceptance, BySide, GitState, RunEnd, RunId, RunStatus, RunVerdict, Verdict,
};
use perfcheck_store::{Store, StoreError, WorkspaceId};
use tracing::info_span;

/// A run in the store: of one build, or of both builds of a side-by-side measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RecordedRun {
    Single(RunId),
    Pair(BySide<RunId>),
}

/// Whether a run may become a reference without a command of the user.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AcceptancePolicy<'a> {
    /// The run waits for `cargo perfcheck accept`.
    Never,
    /// The run is accepted if its conclusion allows it.
    IfGood {
        /// The run that the user named as the reference.
        named: Option<RunId>,
        git: Option<&'a GitState>,
    },
}

impl RecordedRun {
    /// Returns the stored run `run` or, if it is the candidate of a side-by-side measurement, both runs of that measurement. `run` must not be the
    /// base of one.
    pub(crate) fn read(store: &Store, run: RunId) -> Result<Self, StoreError> {
        Ok(match store.run(run)?.pair {
            Some(pair) => Self::Pair(BySide {
                base: pair.partner,
                candidate: run,
            }),
            None => Self::Single(run),
        })
    }

    /// Returns the number by which users know the run.
    pub(crate) fn id(&self) -> RunId {
        match self {
            Self::Single(run) => *run,
            Self::Pair(runs) => runs.candidate,
        }
    }

    /// Returns the end of the error message for a command that is interrupted before the run has ended.
    pub(crate) fn left_incomplete(&self) -> String {
        let run = self.id();
        let what = match self {
            Self::Single(_) => "processes",
            Self::Pair(_) => "rounds",
        };
        format!("; run {run} is stored as incomplete, with its complete {what}")
    }

    /// Stores the conclusion and ends the run. Only the candidate of a pair has verdicts and can be accepted.
    pub(crate) fn record(
        &self,
        store: &mut Store,
        concluded: &Conclusion<'_>,
        policy: AcceptancePolicy<'_>,
    ) -> Result<(), AppError> {
        let _stage = info_span!("record").entered();
        let end = RunEnd {
            finished: perfcheck_host::now(),
            acceptance: self.decide_acceptance(store, concluded, policy)?,
            exit_code: concluded.exit_code.number(),
            verdicts: concluded
                .rows
                .iter()
                .filter_map(to_stored_verdict)
                .collect(),
            conclusion: Some(concluded.to_bytes()),
        };
        match self {
            Self::Single(run) => store.finish_run(*run, &end)?,
            Self::Pair(runs) => {
                let base = RunEnd {
                    verdicts: Vec::new(),
                    conclusion: None,
                    ..end.clone()
                };
                let ends = BySide {
                    base: &base,
                    candidate: &end,
                };
                store.finish_pair(*runs, ends)?;
            }
        }
        Ok(())
    }

    fn decide_acceptance(
        &self,
        store: &Store,
        concluded: &Conclusion<'_>,
        policy: AcceptancePolicy<'_>,
    ) -> Result<Acceptance, StoreError> {
        let AcceptancePolicy::IfGood { named, git } = policy else {
            return Ok(Acceptance::Pending);
        };
        let has = |wanted| concluded.rows.iter().any(|row| row.verdict == Some(wanted));
        // Uncommitted changes that made something faster may be discarded, so a run with them does not become the reference.
        let is_trial = matches!(self, Self::Pair(_))
            && git.is_some_and(|git| git.dirty)
            && has(Verdict::Improved);
        // A run that is compared with a run which is not accepted is not accepted either. Otherwise slow code could become the reference by being
        // compared with itself.
        let is_outside_history = match named.map(|named| store.run(named)) {
            Some(Ok(run)) => run.acceptance == Acceptance::Pending,
            // The named run was removed during the measurement, so its acceptance is unknown.
            Some(Err(StoreError::NoSuchRun(_))) => true,
            Some(Err(error)) => return Err(error),
            None => false,
        };
        let mut verdicts = concluded.rows.iter().filter_map(|row| row.verdict);
        let is_empty =
            verdicts.all(|verdict| matches!(verdict, Verdict::Missing | Verdict::Failed));
        Ok(
            if is_trial || concluded.is_worse() || is_outside_history || is_empty {
                Acceptance::Pending
            } else {
                Acceptance::Automatic
            },
        )
    }
}

/// Converts the verdict of a row to the form that the store keeps.
pub(crate) fn to_stored_verdict(row: &Row<'_>) -> Option<RunVerdict> {
    Some(RunVerdict {
        key: row.key.clone(),
        verdict: row.verdict?,
        typical_ns: row.summary.as_ref().map(|found| found.median.estimate),
        change: row.change(),
        standard_error: row.comparison.as_ref().and_then(Comparison::standard_error),
        reference: row.reference.first().copied().flatten(),
    })
}

/// Saves a run as the baseline `name`, which moves if it named another run. Returns a message that says so.
pub(crate) fn give_name(
    store: &mut Store,
    workspace: WorkspaceId,
    name: &str,
    run: RunId,
) -> Result<String, StoreError> {
    Ok(match store.set_baseline(workspace, name, run)? {
        Some(before) if before != run => {
            format!("Baseline `{name}` is now run {run}; it was run {before}.")
        }
        _ => format!("Baseline `{name}` is run {run}."),
    })
}

/// Refuses an interrupted run: later runs would be compared with only a part of the suite.
pub(crate) fn refuse_incomplete(store: &Store, run: RunId) -> Result<(), AppError> {
    if store.run(run)?.status == RunStatus::Incomplete {
        return Err(AppError::Usage(format!(
            "run {run} is incomplete and cannot be a reference\n  help: use `cargo perfcheck` to measure a complete run, or `cargo perfcheck store runs` to list the stored runs"
        )));
    }
    Ok(())
}
