//! Pairs: an A/B measurement is two runs that begin, end and go together.
//!
//! Round r of the pair is launch r of both runs, recorded as any other launch.

use rusqlite::params;

use super::access::Survives;
use super::columns::WordColumn;
use super::runs::{end_run, insert_run};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{NewRun, Purpose, RunEnd, RunId, Side};

impl Store {
    /// Begins both sides of an A/B measurement: (base, candidate), incomplete until [`Store::finish_pair`].
    ///
    /// `plan` is kept as it is: the boundaries and budgets that the decision will follow, fixed before the first round.
    pub fn begin_pair(
        &mut self,
        workspace: WorkspaceId,
        base: &NewRun,
        candidate: &NewRun,
        plan: &str,
        purpose: Purpose,
    ) -> Result<(RunId, RunId), StoreError> {
        self.write(Survives::Kill, |connection| {
            // The candidate gets the higher number: lists take the newest run of a benchmark by it.
            let base = insert_run(connection, workspace, base)?;
            let candidate = insert_run(connection, workspace, candidate)?;
            let mut join = connection.prepare(
                "UPDATE runs SET partner = ?2, role = ?3, plan = ?4, purpose = ?5 WHERE id = ?1",
            )?;
            join.execute(params![
                base.0,
                candidate.0,
                WordColumn(Side::Base),
                plan,
                WordColumn(purpose)
            ])?;
            join.execute(params![
                candidate.0,
                base.0,
                WordColumn(Side::Candidate),
                plan,
                WordColumn(purpose)
            ])?;
            Ok((base, candidate))
        })
    }

    /// Ends both sides at once, as [`Store::finish_run`] does with one run. The base side stays `pending`, whatever
    /// its end says.
    pub fn finish_pair(
        &mut self,
        base: (RunId, &RunEnd),
        candidate: (RunId, &RunEnd),
    ) -> Result<(), StoreError> {
        self.write(Survives::PowerLoss, |connection| {
            end_run(connection, base.0, base.1)?;
            end_run(connection, candidate.0, candidate.1)
        })
    }
}
