//! What a measurement of two builds gave, and the rows that it comes to.

use std::collections::{BTreeMap, BTreeSet};

use perfcheck_analysis::compare::{HostClass, Plan};
use perfcheck_analysis::findings::{RoundsCost, RoundsEvidence, Row, RunRemark, Verdicts};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, DecisionSettings, Measurement, RunId, Verdict,
};

/// What a measurement of two builds gave.
pub(in crate::app) struct MeasuredInTurn {
    pub(in crate::app) runs: BySide<RunId>,
    pub(in crate::app) measured: BySide<Vec<Measurement>>,
    pub(in crate::app) plan: Plan,
    pub(in crate::app) decision: DecisionSettings,
    /// The earlier runs whose builds the base is.
    pub(in crate::app) earlier: BTreeMap<BenchmarkKey, RunId>,
    /// The cost of each benchmark's rounds.
    pub(in crate::app) cost: BTreeMap<BenchmarkKey, RoundsCost>,
    /// What a reader must know of it.
    pub(in crate::app) remarks: Vec<RunRemark>,
}

impl MeasuredInTurn {
    /// The rows of what was measured and of what needed no measurement.
    pub(in crate::app) fn rows(&self, settled: &[Row<'static>]) -> Vec<Row<'_>> {
        self.evidence(settled).rows()
    }

    fn evidence<'e, 'm>(&'m self, settled: &'e [Row<'static>]) -> RoundsEvidence<'e, 'm>
    where
        'm: 'e,
    {
        RoundsEvidence {
            runs: self.runs,
            earlier: &self.earlier,
            base: &self.measured.base,
            candidate: &self.measured.candidate,
            plan: &self.plan,
            decision: &self.decision,
            noise_threshold: None,
            settled,
            cost: Some(&self.cost),
        }
    }

    /// What the verdicts rest on, where the base is called `reference`.
    pub(in crate::app) fn basis(&self, reference: String, host: HostClass) -> Verdicts {
        Verdicts {
            remarks: self.remarks.clone(),
            ..self.evidence(&[]).basis(reference, host)
        }
    }

    /// The benchmarks whose time has changed; where they are more than `most`, those that have changed most.
    pub(super) fn changed(&self, most: usize) -> BTreeSet<BenchmarkKey> {
        let is_changed = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        let mut changed = self.rows(&[]);
        changed.retain(|row| row.verdict.is_some_and(is_changed));
        let size = |row: &Row<'_>| {
            let change = row.comparison.as_ref().and_then(|found| found.change);
            change.map_or(0.0, |change| change.estimate.abs())
        };
        changed.sort_by(|one, two| size(two).total_cmp(&size(one)));
        changed.truncate(most);
        changed.into_iter().map(|row| row.key).collect()
    }
}
