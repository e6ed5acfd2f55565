//! Pairs: a side-by-side measurement is stored as two runs that begin, end and are removed together.
//!
//! Round r of the pair is process r of both runs, recorded like any other process.

use rusqlite::params;

use super::access::Durability;
use super::columns::WordColumn;
use super::error::Attempt;
use super::runs::{end_run, insert_base, insert_run};
use super::sql::Sql;
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{NewRun, Purpose, RunEnd, RunId, Side};

impl Store {
    /// Begins both sides of a side-by-side measurement and returns (base, candidate). They are incomplete until
    /// [`Store::finish_pair`].
    ///
    /// `plan` is stored unchanged: the boundaries and budgets of the decision, fixed before the first round.
    pub fn begin_pair(
        &mut self,
        workspace: WorkspaceId,
        base: &NewRun,
        candidate: &NewRun,
        plan: &str,
        purpose: Purpose,
    ) -> Result<(RunId, RunId), StoreError> {
        self.lock_for_measuring();
        self.write(Durability::Kill, |sql| {
            let candidate = insert_run(sql, workspace, candidate)?;
            let base = insert_base(sql, workspace, base, candidate)?;
            for (run, side) in [(base, Side::Base), (candidate, Side::Candidate)] {
                mark_side(sql, run, (side, plan, purpose))?;
            }
            Ok((base, candidate))
        })
    }

    /// Ends both sides in one transaction, as [`Store::finish_run`] ends a run. The base stays `pending`,
    /// even if its end accepts it.
    pub fn finish_pair(
        &mut self,
        base: (RunId, &RunEnd),
        candidate: (RunId, &RunEnd),
    ) -> Result<(), StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            end_run(sql, base.0, base.1)?;
            end_run(sql, candidate.0, candidate.1)
        })
    }
}

/// Marks a run as the given side of a pair with this plan and purpose.
pub(super) fn mark_side(
    sql: Sql<'_>,
    run: RunId,
    (side, plan, purpose): (Side, &str, Purpose),
) -> Attempt<()> {
    sql.run(
        "UPDATE runs SET partner = -id, role = ?2, plan = ?3, purpose = ?4 WHERE id = ?1",
        params![run.0, WordColumn(side), plan, WordColumn(purpose)],
    )?;
    Ok(())
}
