//! New numbers for the runs that a conclusion names, when it moves to another store.

use std::collections::BTreeSet;

use super::code::CodeChange;
use super::conclude::Conclusion;
use super::remark::RunNote;
use crate::model::RunId;

impl Conclusion<'_> {
    /// Replaces the number of each run that is named by the one that `number` returns. `None` marks a run that the other store does not have.
    pub fn renumber(&mut self, number: &mut dyn FnMut(RunId) -> Option<RunId>) {
        let mut again = |run: &mut Option<RunId>| *run = run.and_then(&mut *number);
        for row in &mut self.rows {
            row.reference.iter_mut().for_each(&mut again);
            row.spread.iter_mut().for_each(&mut again);
        }
        let remarks = &mut self.verdicts.remarks;
        remarks.retain_mut(|remark| renumber_remark(remark, &mut again).is_some());
    }

    /// Returns the runs that finished sentences name. These sentences keep the old numbers: `run 3`.
    pub fn runs_in_sentences(&self) -> BTreeSet<RunId> {
        let of_run = self.verdicts.remarks.iter();
        let of_run = of_run.filter_map(|remark| match remark {
            RunNote::StoredAlone { reason } => Some(reason),
            _ => None,
        });
        let named = |text: &str| {
            let digits = text.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok().map(RunId)
        };
        std::iter::once(&self.verdicts.reference)
            .chain(of_run)
            .flat_map(|text| text.split("run ").skip(1).filter_map(named))
            .collect()
    }

    /// Adds a remark on the comparison as a whole, once.
    pub fn add_remark(&mut self, remark: RunNote) {
        if !self.verdicts.remarks.contains(&remark) {
            self.verdicts.remarks.push(remark);
        }
    }
}

/// Renumbers the run that a remark names. Returns `None` if the other store does not have it: the remark is then meaningless.
fn renumber_remark(remark: &mut RunNote, again: &mut dyn FnMut(&mut Option<RunId>)) -> Option<()> {
    let mut known = |run: &mut RunId| {
        let mut found = Some(*run);
        again(&mut found);
        *run = found?;
        Some(())
    };
    match remark {
        RunNote::SampledDifferently { in_turn, alone } => {
            known(in_turn)?;
            known(alone)
        }
        RunNote::CodeDiffers(CodeChange { reference, .. })
        | RunNote::CodeUnknown { reference, .. } => {
            again(reference);
            Some(())
        }
        RunNote::Incomplete { run } | RunNote::LeftOut { run, .. } => known(run),
        RunNote::StoredAlone { .. }
        | RunNote::BenchDiffers { .. }
        | RunNote::NotCounted { .. }
        | RunNote::NotSampled { .. }
        | RunNote::Skipped { .. }
        | RunNote::DependencyDiffers { .. }
        | RunNote::NotForRounds { .. }
        | RunNote::Stolen { .. }
        | RunNote::Imported
        | RunNote::LaunchesUnknown
        | RunNote::HostUnknown
        | RunNote::RoundsAsLaunches
        | RunNote::AsBuilt { .. }
        | RunNote::SmallChanges
        | RunNote::PartsMissing { .. }
        | RunNote::HostsDiffer { .. }
        | RunNote::ConcludedElsewhere => Some(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::HostClass;
    use crate::exit_code::ExitCode;
    use crate::findings::row::{ComparisonContext, Method, Row};
    use crate::model::{BenchmarkKey, DecisionSettings, Verdict};

    fn concluded(reference: &str, remarks: Vec<RunNote>) -> Conclusion<'static> {
        let key = BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: "b".to_owned(),
        };
        Conclusion {
            rows: vec![Row {
                reference: vec![Some(RunId(1)), Some(RunId(2)), None],
                spread: vec![Some(RunId(2)), Some(RunId(1))],
                ..Row::unmeasured(key, Verdict::Unchanged, None)
            }],
            verdicts: ComparisonContext {
                remarks,
                ..ComparisonContext::new(
                    reference.to_owned(),
                    Method::Paired,
                    DecisionSettings::default(),
                    HostClass::Dedicated,
                )
            },
            failed_targets: Vec::new(),
            exit_code: ExitCode::Clean,
        }
    }

    #[test]
    fn runs_get_the_numbers_of_the_other_store_and_remarks_about_an_unknown_run_go() {
        let incomplete = |run| RunNote::Incomplete { run: RunId(run) };
        let unknown = |run: Option<i64>| RunNote::CodeUnknown {
            package: "p".to_owned(),
            target: "t".to_owned(),
            reference: run.map(RunId),
            reason: "stripped".to_owned(),
        };
        let sampled = |in_turn, alone| RunNote::SampledDifferently {
            in_turn: RunId(in_turn),
            alone: RunId(alone),
        };
        let remarks = vec![
            incomplete(1),
            incomplete(2),
            unknown(Some(1)),
            unknown(Some(2)),
            sampled(1, 1),
            sampled(1, 2),
            RunNote::SmallChanges,
        ];
        let mut moved = concluded("run 1", remarks);
        moved.renumber(&mut |run| (run == RunId(1)).then_some(RunId(11)));
        let other = Some(RunId(11));
        assert_eq!(moved.rows[0].reference, [other, None, None]);
        assert_eq!(moved.rows[0].spread, [None, other]);
        let left = [
            incomplete(11),
            unknown(Some(11)),
            unknown(None),
            sampled(11, 11),
            RunNote::SmallChanges,
        ];
        assert_eq!(moved.verdicts.remarks, left);
    }

    #[test]
    fn sentences_name_the_runs_that_they_were_written_with() {
        let alone = RunNote::StoredAlone {
            reason: "the build of run 12 is not kept".to_owned(),
        };
        let mut found = concluded("run 3 and run 45 (main)", vec![alone.clone()]);
        assert_eq!(found.runs_in_sentences(), [3, 12, 45].map(RunId).into());
        found.add_remark(alone.clone());
        found.add_remark(RunNote::Imported);
        assert_eq!(found.verdicts.remarks, [alone, RunNote::Imported]);
    }
}
