//! Turns measurements into the conclusion of a run.

use std::collections::{BTreeMap, BTreeSet};
use tracing::info_span;

use super::record::RecordedRun;
use crate::stored::references::StoredReferences;
use perfcheck_analysis::compare::{Fact, HostClass, Plan, TestPolicy};
use perfcheck_analysis::findings::{
    Conclusion, Evidence, FailedTarget, GatePolicy, PairedEvidence, RoundsCost, Row, RunNote,
    StoredEvidence,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, DecisionSettings, Measurement, ProgressReporter, RunId, Verdict,
};
use perfcheck_host::process::Interrupt;

/// The measurements of a run, with all that its verdicts depend on.
pub(crate) enum Measured {
    Single(SingleMeasured),
    Paired(PairedMeasured),
}

/// The measurements of one build, which are compared with stored runs.
pub(crate) struct SingleMeasured {
    pub(crate) run: RunId,
    pub(crate) measurements: Vec<Measurement>,
    pub(crate) stored: StoredReferences,
    pub(crate) rules: TestPolicy,
    /// Facts that may differ between the run and its references.
    pub(crate) allowed: Vec<Fact>,
    pub(crate) failed_targets: Vec<FailedTarget>,
    /// Whether a time budget may have left out processes.
    pub(crate) had_time_budget: bool,
    pub(crate) remarks: Vec<RunNote>,
}

/// The measurements of two builds that ran side by side.
pub(crate) struct PairedMeasured {
    pub(crate) runs: BySide<RunId>,
    pub(crate) measured: BySide<Vec<Measurement>>,
    pub(crate) plan: Plan,
    pub(crate) decision: DecisionSettings,
    /// For each benchmark whose base is the build of an earlier run, that run.
    pub(crate) earlier: BTreeMap<BenchmarkKey, RunId>,
    pub(crate) cost: BTreeMap<BenchmarkKey, RoundsCost>,
    /// The rows of benchmarks whose verdict needed no measurement.
    pub(crate) settled: Vec<Row<'static>>,
    /// The name of the base in messages.
    pub(crate) reference: String,
    pub(crate) host: HostClass,
    pub(crate) remarks: Vec<RunNote>,
}

impl Measured {
    /// Returns the stored run or pair to which the measurements belong.
    pub(crate) fn run(&self) -> RecordedRun {
        match self {
            Self::Single(single) => RecordedRun::Single(single.run),
            Self::Paired(paired) => RecordedRun::Pair(paired.runs),
        }
    }

    /// Judges all benchmarks together, because they share the significance level. If the user interrupts this, the process ends with a message that
    /// names the incomplete run.
    pub(crate) fn judge(&self, gate: GatePolicy<'_>, interrupt: &Interrupt) -> Conclusion<'_> {
        let _stage = info_span!("judge").entered();
        let left = self.run().left_incomplete();
        interrupt.while_computing(&left, || match self {
            Self::Single(single) => single.judge(gate),
            Self::Paired(paired) => {
                let remarks = paired.remarks.clone();
                paired
                    .evidence()
                    .judge(remarks, gate, &ProgressReporter::silent())
            }
        })
    }
}

impl SingleMeasured {
    fn judge(&self, gate: GatePolicy<'_>) -> Conclusion<'_> {
        let failed = self.failed_targets.iter();
        let failed = failed.map(|one| (one.package.clone(), one.target.clone()));
        let noise_threshold = |measurement: &Measurement| measurement.noise_threshold;
        let evidence = Evidence::Stored(StoredEvidence {
            measurements: &self.measurements,
            references: &self.stored.references,
            past: &self.stored.past,
            expected: &self.stored.expected,
            rules: &self.rules,
            noise_threshold: &noise_threshold,
            allowed: &self.allowed,
            failed_targets: &failed.collect(),
            had_time_budget: self.had_time_budget,
        });
        evidence.judge(self.remarks.clone(), gate, &ProgressReporter::silent())
    }
}

impl PairedMeasured {
    fn evidence(&self) -> Evidence<'_, '_> {
        Evidence::Paired(PairedEvidence {
            runs: self.runs,
            earlier: &self.earlier,
            base: &self.measured.base,
            candidate: &self.measured.candidate,
            plan: &self.plan,
            decision: &self.decision,
            noise_threshold: None,
            settled: &self.settled,
            cost: Some(&self.cost),
            reference: &self.reference,
            host: self.host,
        })
    }

    /// Lists the benchmarks that became slower or faster, at most `most` of them, the largest changes first.
    pub(crate) fn changed(&self, most: usize) -> BTreeSet<BenchmarkKey> {
        let is_changed = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        let mut changed = self.evidence().rows(&ProgressReporter::silent());
        changed.retain(|row| row.verdict.is_some_and(is_changed));
        let size = |row: &Row<'_>| row.change().map_or(0.0, f64::abs);
        changed.sort_by(|one, two| size(two).total_cmp(&size(one)));
        changed.truncate(most);
        changed.into_iter().map(|row| row.key).collect()
    }
}
