//! The evidence of a run, and the one way from evidence to a conclusion.

use super::conclude::{Conclusion, Terms, conclude};
use super::in_turn::RoundsEvidence;
use super::remark::RunRemark;
use super::row::{Row, Verdicts};
use super::stored::StoredEvidence;
use crate::model::Work;

/// All that the verdicts of a run are made from.
pub enum Evidence<'e, 'm> {
    /// The run is compared with stored runs.
    Stored(StoredEvidence<'e, 'm>),
    /// Both builds were measured side by side.
    Paired(RoundsEvidence<'e, 'm>),
}

impl<'m> Evidence<'_, 'm> {
    /// Computes the rows, sorted by key.
    pub fn rows(&self, work: &Work<'_>) -> Vec<Row<'m>> {
        match self {
            Self::Stored(stored) => stored.rows(work),
            Self::Paired(paired) => paired.rows(),
        }
    }

    /// Describes the comparison that `rows` are the result of.
    pub fn basis(&self, rows: &[Row<'_>]) -> Verdicts {
        match self {
            Self::Stored(stored) => stored.basis(rows),
            Self::Paired(paired) => paired.basis(),
        }
    }

    /// Judges all benchmarks as one family.
    pub fn judge(
        &self,
        remarks: Vec<RunRemark>,
        gate: Terms<'_>,
        work: &Work<'_>,
    ) -> Conclusion<'m> {
        let rows = self.rows(work);
        let basis = Verdicts {
            remarks,
            ..self.basis(&rows)
        };
        conclude(rows, basis, gate)
    }
}
