//! The evidence of a run, from which its conclusion is computed.

use super::conclusion::{Conclusion, GatePolicy, conclude};
use super::paired::PairedEvidence;
use super::remark::RunNote;
use super::row::{ComparisonContext, Row};
use super::stored::StoredEvidence;
use crate::model::ProgressReporter;

/// The data from which the verdicts of a run are computed.
pub enum Evidence<'e, 'm> {
    /// The run is compared with stored runs.
    Stored(StoredEvidence<'e, 'm>),
    /// Both builds were measured side by side.
    Paired(PairedEvidence<'e, 'm>),
}

impl<'m> Evidence<'_, 'm> {
    /// Computes the rows, sorted by key.
    pub fn rows(&self, work: &ProgressReporter<'_>) -> Vec<Row<'m>> {
        match self {
            Self::Stored(stored) => stored.rows(work),
            Self::Paired(paired) => paired.rows(),
        }
    }

    /// Describes the comparison that gave `rows`.
    pub fn basis(&self, rows: &[Row<'_>]) -> ComparisonContext {
        match self {
            Self::Stored(stored) => stored.context(rows),
            Self::Paired(paired) => paired.context(),
        }
    }

    /// Judges all benchmarks as one family.
    pub fn judge(
        &self,
        remarks: Vec<RunNote>,
        gate: GatePolicy<'_>,
        work: &ProgressReporter<'_>,
    ) -> Conclusion<'m> {
        let rows = self.rows(work);
        let basis = ComparisonContext {
            remarks,
            ..self.basis(&rows)
        };
        conclude(rows, basis, gate)
    }
}
