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
    /// Computes the result rows of all benchmarks, sorted by key.
    pub fn rows(&self, work: &ProgressReporter<'_>) -> Vec<Row<'m>> {
        match self {
            Self::Stored(stored) => stored.rows(work),
            Self::Paired(paired) => paired.rows(),
        }
    }

    /// Describes how `rows` were compared: by which method, with which reference, and with which settings.
    pub fn basis(&self, rows: &[Row<'_>]) -> ComparisonContext {
        match self {
            Self::Stored(stored) => stored.context(rows),
            Self::Paired(paired) => paired.context(),
        }
    }

    /// Computes the conclusion of the run from the rows. All benchmarks are judged together, because they share one error budget.
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_process, measurement};
    use crate::compare::{HostClass, Plan, TestPolicy};
    use crate::exit_code::ExitCode;
    use crate::findings::fixtures::{PLAN, key};
    use crate::findings::{Method, ReferenceChoice, References};
    use crate::model::{BySide, DecisionSettings, RunId, Test, Verdict};

    /// Judges `evidence`. Returns the conclusion found, and the conclusion that is expected from `rows` and `basis`.
    fn judged<'m>(
        evidence: &Evidence<'_, 'm>,
        rows: Vec<Row<'m>>,
        basis: ComparisonContext,
    ) -> [Conclusion<'m>; 2] {
        let silent = ProgressReporter::silent();
        let remarks = vec![RunNote::Imported, RunNote::HostUnknown];
        assert_eq!(evidence.rows(&silent), rows);
        assert_eq!(evidence.basis(&rows), basis);
        let gate = || GatePolicy::verdicts_only(&[Verdict::Missing]);
        let found = evidence.judge(remarks.clone(), gate(), &silent);
        assert_eq!(found.verdicts.remarks, remarks);
        let basis = ComparisonContext { remarks, ..basis };
        [found, conclude(rows, basis, gate())]
    }

    #[test]
    fn a_conclusion_about_stored_runs_has_their_rows_and_basis_with_the_remarks() {
        let process = |k| flat_process(k, ITERATIONS, &[100.0; 3]);
        let measurements = [measurement((0..5).map(process).collect())];
        let stored = StoredEvidence {
            measurements: &measurements,
            references: &References {
                chosen: [(key("b"), ReferenceChoice::New)].into(),
                expected: Some(RunId(4)),
                words: "run 4".to_owned(),
            },
            past: &BTreeMap::new(),
            expected: &[key("gone")],
            rules: &TestPolicy {
                decision: DecisionSettings {
                    analysis: Test::Welch.into(),
                    ..DecisionSettings::default()
                },
                host: HostClass::Shared,
                seed: 7,
            },
            noise_threshold: &|_| 0.02,
            allowed: &[],
            failed_targets: &BTreeSet::new(),
            had_time_budget: false,
        };
        let rows = stored.rows(&ProgressReporter::silent());
        let verdicts: Vec<_> = rows.iter().filter_map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::New, Verdict::Missing]);
        let basis = stored.context(&rows);
        assert_eq!(basis.method, Method::Stored(Test::Welch));
        let [found, expected] = judged(&Evidence::Stored(stored), rows, basis);
        assert_eq!(found, expected);
        assert_eq!(found.exit_code, ExitCode::Regression);
    }

    #[test]
    fn a_conclusion_about_two_builds_has_their_rows_and_basis_with_the_remarks() {
        let settled = [Row::unmeasured(key("same"), Verdict::Unchanged, None)];
        let plan = Plan { planned: 3, ..PLAN };
        let decision = DecisionSettings {
            noise_threshold: 0.03,
            ..DecisionSettings::default()
        };
        let paired = PairedEvidence {
            runs: BySide {
                base: RunId(1),
                candidate: RunId(2),
            },
            earlier: &BTreeMap::new(),
            base: &[],
            candidate: &[],
            plan: &plan,
            decision: &decision,
            noise_threshold: None,
            settled: &settled,
            cost: None,
            reference: "main",
            host: HostClass::Dedicated,
        };
        let (rows, basis) = (paired.rows(), paired.context());
        let expected = Row::unmeasured(key("same"), Verdict::Unchanged, Some(RunId(1)));
        assert_eq!(rows, [expected]);
        let of_plan = ComparisonContext {
            family: 3,
            ..ComparisonContext::new(
                "main".to_owned(),
                Method::Paired,
                decision,
                HostClass::Dedicated,
            )
        };
        assert_eq!(basis, of_plan);
        let [found, expected] = judged(&Evidence::Paired(paired), rows, basis);
        assert_eq!(found, expected);
        assert_eq!(found.exit_code, ExitCode::Clean);
    }
}
