//! Saves a run under the name that the user gave, adds advice on what to do next, and writes the result and its reports.

use crate::delivery::reports::{ReportOptions, ReportWriter};
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::pipeline::next_steps::{
    AdvisedRun, NextReference, explain_kept_name, explain_nothing_compared, next_steps,
    workspace_flags,
};
use crate::pipeline::record::give_name;
use crate::session::{Context, NamedRun, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Conclusion, Findings};
use perfcheck_analysis::model::{RunId, Verdict};
use perfcheck_store::{Store, WorkspaceId};
use tracing::info_span;

/// Where and how a result is written.
pub(crate) struct Publication<'a> {
    pub(crate) context: &'a Context,
    pub(crate) common: &'a CommonOptions,
    pub(crate) reports: &'a ReportOptions,
    /// The verdicts that reports mark as failures.
    pub(crate) fail_on: &'a [Verdict],
    pub(crate) advice: Advice<'a>,
}

/// The lines below a result that say what to do next.
pub(crate) enum Advice<'a> {
    /// A single line. A run of a shard gets no other advice, because it decides nothing.
    Line(String),
    /// The commands that can follow.
    NextSteps(NextSteps<'a>),
}

/// The facts that advice depends on.
pub(crate) struct NextSteps<'a> {
    /// The run that the user named as the reference.
    pub(crate) baseline: Option<&'a NamedRun>,
    /// The name that the user gives to the run.
    pub(crate) save_as: Option<&'a str>,
    /// The command line that measures again, without a filter: advice appends the benchmark.
    pub(crate) again: String,
    pub(crate) next: NextReference<'a>,
    /// Whether the run has all parts of the suite. A run without some parts gets no name and no next steps.
    pub(crate) is_whole: bool,
}

impl Publication<'_> {
    /// Writes the result and its reports, and returns the exit status of the conclusion.
    pub(crate) fn publish(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
        run: RunId,
        mut concluded: Conclusion<'_>,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let _stage = info_span!("publish").entered();
        concluded.verdicts.advice = match &self.advice {
            Advice::Line(line) => vec![line.clone()],
            Advice::NextSteps(steps) => self.advise(steps, store, workspace, run, &concluded)?,
        };
        let exit_code = concluded.exit_code;
        self.common.output.order().sort(&mut concluded.rows);
        let head = store.run(run)?;
        let reporting = ReportWriter {
            options: self.reports,
            fail_on: self.fail_on,
            context: self.context,
            store,
            workspace,
        };
        reporting.publish(&Findings::new(&head, concluded), self.common, world)?;
        Ok(exit_code)
    }

    /// Saves the run under the user's name, and returns all advice.
    fn advise(
        &self,
        steps: &NextSteps<'_>,
        store: &mut Store,
        workspace: WorkspaceId,
        run: RunId,
        concluded: &Conclusion<'_>,
    ) -> Result<Vec<String>, AppError> {
        let place = workspace_flags(self.common);
        let baseline = steps.baseline;
        let saved = match steps.save_as.filter(|_| steps.is_whole) {
            Some(name) => {
                let kept = baseline.filter(|named| named.name == name && !concluded.is_good());
                Some(match kept {
                    Some(kept) => explain_kept_name(kept, run, &place),
                    None => give_name(store, workspace, name, run)?,
                })
            }
            None => None,
        };
        let advised = AdvisedRun {
            run,
            again: &steps.again,
            place: &place,
            next: steps.next,
        };
        let rows = &concluded.rows;
        let next = next_steps(rows, &advised).into_iter();
        let nothing = explain_nothing_compared(concluded.exit_code, baseline, rows);
        Ok(saved
            .into_iter()
            .chain(next.filter(|_| steps.is_whole))
            .chain(nothing)
            .collect())
    }
}
