//! Other numbers for the runs that a conclusion names, as it moves from one store to another.

use std::collections::BTreeSet;

use super::code::CodeChange;
use super::conclude::Conclusion;
use super::remark::RunRemark;
use crate::model::RunId;

impl Conclusion<'_> {
    /// Puts the number that `number` knows in the place of that of each run that is named; `None` stands for a run that nobody knows.
    pub fn renumber(&mut self, number: &mut dyn FnMut(RunId) -> Option<RunId>) {
        let mut again = |run: &mut Option<RunId>| *run = run.and_then(&mut *number);
        for row in &mut self.rows {
            row.reference.iter_mut().for_each(&mut again);
            row.spread.iter_mut().for_each(&mut again);
        }
        let remarks = &mut self.verdicts.remarks;
        remarks.retain_mut(|remark| of_run(remark, &mut again).is_some());
    }

    /// The runs that sentences name, which keep the number that they were written with: `run 3`.
    pub fn in_prose(&self) -> BTreeSet<RunId> {
        let of_run = self.verdicts.remarks.iter();
        let of_run = of_run.filter_map(|remark| match remark {
            RunRemark::StoredAlone { reason } => Some(reason),
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

    /// Says this of the comparison as a whole, once.
    pub fn remark(&mut self, remark: RunRemark) {
        if !self.verdicts.remarks.contains(&remark) {
            self.verdicts.remarks.push(remark);
        }
    }
}

/// `None` where the remark is about a run that nobody knows: it says nothing any more.
fn of_run(remark: &mut RunRemark, again: &mut dyn FnMut(&mut Option<RunId>)) -> Option<()> {
    let mut known = |run: &mut RunId| {
        let mut found = Some(*run);
        again(&mut found);
        *run = found?;
        Some(())
    };
    match remark {
        RunRemark::SampledDifferently { in_turn, alone } => {
            known(in_turn)?;
            known(alone)
        }
        RunRemark::CodeDiffers(CodeChange { reference, .. })
        | RunRemark::CodeUnknown { reference, .. } => {
            again(reference);
            Some(())
        }
        RunRemark::Incomplete { run } | RunRemark::LeftOut { run, .. } => known(run),
        RunRemark::StoredAlone { .. }
        | RunRemark::BenchDiffers { .. }
        | RunRemark::NotCounted { .. }
        | RunRemark::NotSampled { .. }
        | RunRemark::Skipped { .. }
        | RunRemark::DependencyDiffers { .. }
        | RunRemark::NotForRounds { .. }
        | RunRemark::Stolen { .. }
        | RunRemark::Imported
        | RunRemark::LaunchesUnknown
        | RunRemark::HostUnknown
        | RunRemark::RoundsAsLaunches
        | RunRemark::AsBuilt { .. }
        | RunRemark::SmallChanges
        | RunRemark::PartsMissing { .. }
        | RunRemark::HostsDiffer { .. }
        | RunRemark::ConcludedElsewhere => Some(()),
    }
}
