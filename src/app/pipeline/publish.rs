//! Gives a concluded run its name, adds advice, and writes the result and its reports.

use crate::app::context::Context;
use crate::app::context::World;
use crate::app::deliver::next_steps::{
    AdvisedRun, NextReference, explain_nothing_compared, next_steps, workspace_flags,
};
use crate::app::deliver::reports::{ReportOptions, ReportWriter};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::app::stored::names::give_name_unless_worse;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Conclusion, Findings};
use perfcheck_analysis::model::{RunId, Verdict};
use perfcheck_engine::store::{Store, WorkspaceId};

/// Where and how a result is written.
pub(in crate::app) struct Publication<'a> {
    pub(in crate::app) context: &'a Context,
    pub(in crate::app) common: &'a StoreOptions,
    pub(in crate::app) reports: &'a ReportOptions,
    /// The verdicts that reports mark as failures.
    pub(in crate::app) fail_on: &'a [Verdict],
    pub(in crate::app) advice: Advice<'a>,
}

/// The lines below a result that say what to do next.
pub(in crate::app) enum Advice<'a> {
    /// Nothing is decided yet: this line alone.
    Line(String),
    /// The result is the run's whole suite, or what there is of it.
    NextSteps(NextSteps<'a>),
}

/// What advice depends on.
pub(in crate::app) struct NextSteps<'a> {
    /// The run that the user named as the reference, and its name.
    pub(in crate::app) baseline: Option<&'a (RunId, String)>,
    /// The name that the user gives to the run.
    pub(in crate::app) save_as: Option<&'a str>,
    /// The command line that measures again, up to a filter.
    pub(in crate::app) again: String,
    pub(in crate::app) next: NextReference<'a>,
    /// Whether parts of the suite are missing: such a run gets no name.
    pub(in crate::app) is_whole: bool,
}

impl Publication<'_> {
    /// Writes everything, and returns the exit status that was concluded.
    pub(in crate::app) fn publish(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
        run: RunId,
        mut concluded: Conclusion<'_>,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
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
                let of = (workspace, run);
                Some(give_name_unless_worse(
                    store, of, name, concluded, baseline, &place,
                )?)
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
